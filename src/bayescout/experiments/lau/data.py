"""The two data sets of the study; the document's own files are not available.

A was 100 rows of four binary variables from the structure `G [B] B [] M [B, L] L []`. That is the structure
of the block-lifting robot of Nilsson (1998, chapter 19): a battery B that is charged, its gauge G, a block
that is liftable L, an arm that moves M. His probabilities give 1.86 bits per row and the document's log-
likelihood is 1.90 bits per row, so they are used here; the seed is the first whose 100 rows lack a parent
configuration of M, as the document's do.

B was 5,000 rows of eight binary variables. The structure given with them has 6.86 bits per row and 16
parameters; the networks that the document finds score at least 2,780 bits more, about -31,603, and have 20 or
21 parameters. asia, with 3.2 bits per row, is far from that. Of the random networks of eight nodes and nine
arcs with seeds 0 to 399, B is here the one whose best network (by exact search, with Bayesian correction) has
20 or 21 parameters and a score nearest to -31,603 bits.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescout.checks import generator
from bayescout.experiments.study import Declared
from bayescout.experiments.tools import data_of, file_data, network_of, structure_of
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, Network

if TYPE_CHECKING:
    from bayescout.data.table import Table

ROBOT = "block-lifting robot"
SEED_A, SEED_B = 1, 0
FIRST_OTHER_SEED = 2
"""The first of the seeds of the other data sets like A and B."""

NETWORK_B = {"nodes": 8, "arcs": 9, "states": 2, "seed": 123}
SCORE_B, PARAMETERS_B = -31_603.0, (20, 21)
"""Score in bits and parameters of the networks that the document finds on B, which the choice is made by."""


@lru_cache(maxsize=1)
def robot() -> Network:
    """Nilsson's block-lifting robot (Artificial Intelligence: A New Synthesis, 1998)."""
    dag = Dag.from_arcs([("B", "G"), ("B", "M"), ("L", "M")], nodes=["G", "B", "M", "L"])
    gauge = np.array([[0.95, 0.05], [0.10, 0.90]])
    moves = np.array([[[0.90, 0.10], [0.05, 0.95]], [[0.0, 1.0], [0.0, 1.0]]])
    tables = (gauge, np.array([0.95, 0.05]), moves, np.array([0.7, 0.3]))
    return DiscreteNetwork(dag, (("true", "false"),) * 4, tables, name=ROBOT)


def declared(name: str, rows: int, file: str, structure: str) -> dict[str, Any]:
    """The declaration of a data set: a user's own file, or rows sampled from the network that replaces it."""
    if file:
        own = {"truth": structure} if structure else {}
        return {"name": name, **file_data(file), **own}
    if name == "A":
        return {"name": name, "network": ROBOT, "rows": rows, "seed": SEED_A}
    return {"name": name, "random": NETWORK_B, "rows": rows, "seed": SEED_B}


def others(name: str, rows: int, count: int) -> list[dict[str, Any]]:
    """Data sets like A or B: other rows of the robot, or rows of other random networks of the same size."""
    found: list[dict[str, Any]] = []
    for number in range(count):
        seed = FIRST_OTHER_SEED + number
        own: dict[str, Any] = {"name": f"{name}{number + 1}", "rows": rows}
        if name == "A":
            found.append(own | {"network": ROBOT, "seed": seed})
        else:
            found.append(own | {"random": NETWORK_B | {"seed": seed}, "seed": SEED_B})
    return found


def table_of(data: Declared) -> Table:
    """The rows."""
    if data.get("network") == ROBOT:
        return _robot_rows(data["rows"], data["seed"])
    return data_of({name: value for name, value in data.items() if name != "name"})


@lru_cache(maxsize=32)
def _robot_rows(rows: int, seed: int) -> Table:
    return robot().sample(rows, seed=seed)


def reference_of(data: Declared) -> Dag | None:
    """The structure that the rows are said to come from, or None if unknown."""
    if "truth" in data:
        return structure_of(data)
    if "file" in data:
        return None
    return robot().dag if data.get("network") == ROBOT else network_of(data).dag


def full_graph(nodes: Sequence[Hashable], seed: int) -> Dag:
    """A random order of the nodes with every arc that goes forward."""
    order = [nodes[i] for i in generator(seed, len(nodes)).permutation(len(nodes))]
    arcs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    return Dag.from_arcs(arcs, nodes=nodes)


def title_of(data: Declared) -> str:
    """The name of a data set in tables."""
    source = data.get("file") or f"{data.get('network', 'a random network')}, {data['rows']:,} rows"
    return f"{data['name']} ({source})"
