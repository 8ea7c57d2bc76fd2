"""The chest clinic of Lauritzen & Spiegelhalter (1988), with the figures of the paper's table."""

import numpy as np

from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork

NODES = ("asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp")
ARCS = (
    ("asia", "tub"),
    ("smoke", "lung"),
    ("smoke", "bronc"),
    ("tub", "either"),
    ("lung", "either"),
    ("either", "xray"),
    ("bronc", "dysp"),
    ("either", "dysp"),
)


def asia():
    def of_yes(p):
        p = np.array(p, dtype=float)
        return np.stack([p, 1 - p], axis=-1)

    tables = (
        of_yes(0.01),
        of_yes([0.05, 0.01]),
        of_yes(0.5),
        of_yes([0.1, 0.01]),
        of_yes([0.6, 0.3]),
        of_yes([[1, 1], [1, 0]]),
        of_yes([0.98, 0.05]),
        of_yes([[0.9, 0.8], [0.7, 0.1]]),
    )
    return DiscreteNetwork(Dag.from_arcs(ARCS, NODES), (("yes", "no"),) * 8, tables, name="asia")
