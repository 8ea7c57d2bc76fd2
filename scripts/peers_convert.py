"""Turn networks and graphs into those of other libraries and back: python scripts/peers_convert.py

Runs where pgmpy, pyAgrum and igraph are installed (`make peers`). Every table must come back to the bit,
labels and states with it; posteriors of the other library must be ours.
"""

from __future__ import annotations

import logging
import warnings

import numpy as np

import bayescout as bs
from bayescout.network import Network


def same(one: Network, other: Network) -> bool:
    """Equal graphs, states and tables."""
    tables = all(np.array_equal(a, b) for a, b in zip(one.tables, other.tables, strict=True))
    return one.dag == other.dag and one.states == other.states and tables


def same_gaussian(one: Network, other: Network) -> bool:
    """Equal graphs and regressions; a standard deviation squared is only nearly the variance."""
    weights = zip(one.coefficients, other.coefficients, strict=True)
    return (
        one.dag == other.dag
        and np.array_equal(one.intercepts, other.intercepts)
        and all(np.array_equal(a, b) for a, b in weights)
        and np.allclose(one.variances, other.variances, rtol=1e-14)
    )


def posteriors(network: Network) -> float:
    """The largest difference of pyAgrum's posteriors from ours, given one observation."""
    import pyagrum

    engine = pyagrum.LazyPropagation(network.to_pyagrum())
    observed = network.nodes[-1]
    state = network.states[-1][0]
    engine.setEvidence({str(observed): str(state)})
    engine.makeInference()
    worst = 0.0
    for label in network.nodes[:-1]:
        ours = network.query(label, {observed: state}).probabilities
        worst = max(worst, float(np.abs(engine.posterior(str(label)).toarray() - np.asarray(ours)).max()))
    return worst


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    for name in ("asia", "child", "alarm"):
        network = bs.load_network(name)
        assert same(bs.as_network(network.to_pgmpy()), network), f"{name}: pgmpy"
        assert same(bs.as_network(network.to_pyagrum()), network), f"{name}: pyAgrum"
        for graph in (
            network.to_pgmpy(),
            network.to_pyagrum(),
            network.dag.to_igraph(),
            network.dag.to_networkx(),
        ):
            assert bs.as_dag(graph) == network.dag, f"{name}: {type(graph)}"
        assert posteriors(network) < 1e-9, f"{name}: posteriors"
        print(
            f"{name}: pgmpy, pyAgrum, igraph and networkx and back, the same; posteriors of pyAgrum, the same"
        )
    gaussian = bs.load_network("ecoli70")
    assert same_gaussian(bs.as_network(gaussian.to_pgmpy()), gaussian), "ecoli70: pgmpy"
    print("ecoli70: pgmpy and back, the same")


if __name__ == "__main__":
    main()
