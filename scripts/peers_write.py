"""Write the small files of other tools that the tests of formats read: python scripts/peers_write.py

Runs where pyAgrum and pgmpy are installed (`make peers`). The network is drawn once, with four decimals, and
kept as JSON beside the files; `tests/formats/files/README.md` names the versions.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bayescout.formats import write_network
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, Network

FILES = Path(__file__).parent.parent / "tests" / "formats" / "files"
PYAGRUM = ("bif", "bifxml", "net", "dsl", "xdsl", "uai")


def small() -> Network:
    """Five nodes of two and three states; one has three parents, so that their order matters."""
    dag = Dag(("rain", "season", "pump", "flood", "alert"), ((1,), (), (), (0, 1, 2), (3,)))
    states = (("no", "yes"), ("dry", "wet", "cold"), ("off", "on"), ("none", "low", "high"), ("no", "yes"))
    rng = np.random.default_rng(19)
    tables = []
    for child, parents in enumerate(dag.parents):
        sizes = [len(states[p]) for p in parents]
        counts = rng.multinomial(9_980, rng.dirichlet(np.ones(len(states[child])), size=sizes)) + 0.0
        counts += 20 / len(states[child]) if len(states[child]) == 2 else 0
        counts[..., 0] += 10_000 - counts.sum(axis=-1)
        tables.append(counts / 10_000)
    return DiscreteNetwork(dag, states, tables, name="small")


def write_graphs(network: Network) -> None:
    """The graph alone, by the tools that write a format of graphs."""
    import igraph
    import networkx
    from causallearn.graph.GeneralGraph import GeneralGraph
    from causallearn.graph.GraphNode import GraphNode

    nodes = {label: GraphNode(str(label)) for label in network.nodes}
    graph = GeneralGraph(list(nodes.values()))
    for parent, child in network.dag.arcs():
        graph.add_directed_edge(nodes[parent], nodes[child])
    (FILES / "causal-learn.tetrad").write_text(str(graph))
    (FILES / "pgmpy.dagitty").write_text(network.to_pgmpy().to_dagitty())
    networkx.write_graphml(network.dag.to_networkx(), FILES / "networkx.graphml")
    igraph.Graph.write_graphml(network.dag.to_igraph(), str(FILES / "igraph.graphml"))


def main() -> None:
    import pgmpy.readwrite as pgmpy
    import pyagrum

    FILES.mkdir(parents=True, exist_ok=True)
    network = small()
    write_network(network, FILES / "small.json")
    theirs = network.to_pyagrum()
    for ending in PYAGRUM:
        pyagrum.saveBN(theirs, str(FILES / f"pyagrum.{ending}"))
    model = network.to_pgmpy()
    pgmpy.BIFWriter(model).write(str(FILES / "pgmpy.bif"))
    pgmpy.XMLBIFWriter(model).write(str(FILES / "pgmpy.xmlbif"))
    pgmpy.NETWriter(model).write(str(FILES / "pgmpy.net"))
    pgmpy.UAIWriter(model).write(str(FILES / "pgmpy.uai"))
    pgmpy.XDSLWriter(model).write(str(FILES / "pgmpy.xdsl"))
    write_graphs(network)


if __name__ == "__main__":
    main()
