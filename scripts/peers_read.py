"""Read files that we write with other tools, and say what they make of them: python scripts/peers_read.py

Runs where pyAgrum and pgmpy are installed (`make peers`), with R's bnlearn where that is. Each of several
networks, one of them with names and states that no format carries, is written in every format that a tool
reads, opened with it, and every table compared, or every arc. Exits with 1 if a line is neither `same` nor
one of the known defects of `KNOWN`.
"""

from __future__ import annotations

import contextlib
import io
import logging
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import bayescout as bs
from bayescout.formats import (
    bif,
    dagitty,
    dsc,
    dsl,
    graphml,
    net,
    read_network,
    tetrad,
    write_network,
    write_structure,
    xdsl,
    xmlbif,
)
from bayescout.formats.names import Names
from bayescout.formats.numbers import turned
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, Network

BNLEARN = Path(__file__).with_name("peers_bnlearn.R")
SMALL = Path(__file__).parent.parent / "tests" / "formats" / "files" / "small.json"
CARRIED: dict[str, tuple[Names, Names]] = {
    "bif": (bif.NODES, bif.STATES),
    "net": (net.NODES, net.STATES),
    "dsc": (dsc.NAMES, dsc.STATES),
    "bifxml": (xmlbif.NAMES, xmlbif.NAMES),
    "xdsl": (xdsl.NAMES, xdsl.NAMES),
    "dsl": (dsl.NAMES, dsl.NAMES),
}
KNOWN = {
    ("pyagrum", "uai"): "other order",
    ("pyagrum", "xdsl"): "other order",
    ("pgmpy", "uai"): "refused",
    ("pgmpy", "dagitty"): "refused",
}
"""Defects of the tools: pyAgrum lets the first parent be fastest in UAI and XDSL, pgmpy the node slowest, and
pgmpy refuses the comment that keeps names which dagitty cannot carry."""


def awkward() -> Network:
    """Names and states of two words, with dots, of other alphabets, of digits, and reserved words."""
    nodes = ("M. Work", "P. Work", "größe", "日本", "1st", "node", "table", "M__Work", "a-b")
    parents = ((1,), (), (0, 1), (), (2,), (), (5,), (3, 4), (0,))
    states = (
        ("no", "yes"), ("<140", ">140"), ("very low", "high", "ü"), ("0-5", "5+"), ("0", "1"),
        ("true", "false"), ("table", "default"), ("a,b", "(c)"), ("50%", "\"x\""),
    )  # fmt: skip
    rng = np.random.default_rng(7)
    tables = [
        rng.dirichlet(np.ones(len(states[child])), size=[len(states[p]) for p in own])
        for child, own in enumerate(parents)
    ]
    return DiscreteNetwork(Dag(nodes, parents), states, tables, name="two words")


def pgmpy_readers() -> dict[str, Callable[[str], Any]]:
    from pgmpy import readwrite

    names = {"bif": "BIF", "net": "NET", "uai": "UAI", "xdsl": "XDSL", "bifxml": "XMLBIF"}
    return {ending: _pgmpy_reader(getattr(readwrite, f"{name}Reader")) for ending, name in names.items()}


def _pgmpy_reader(reader: Any) -> Callable[[str], Any]:
    return lambda path: reader(path).get_model()


def pyagrum_readers() -> dict[str, Callable[[str], Any]]:
    import pyagrum

    return dict.fromkeys(("bif", "net", "bifxml", "xdsl", "dsl", "uai"), pyagrum.loadBN)


def bnlearn_readers() -> dict[str, Callable[[str], Any]]:
    """What R's bnlearn has read and written again; nothing where R or bnlearn is not installed."""
    asked = [shutil.which("Rscript") or "", "-e", "library(bnlearn)"]
    if not asked[0] or subprocess.run(asked, capture_output=True, check=False).returncode:
        print("R with bnlearn is not installed: its line is left out")
        return {}
    return dict.fromkeys(("bif", "net", "dsc"), _by_bnlearn)


def _by_bnlearn(path: str) -> Network:
    again = f"{path}.again{Path(path).suffix}"
    done = subprocess.run(["Rscript", str(BNLEARN), path, again], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return read_network(again)


def written_names(network: Network, ending: str, peer: str) -> Network:
    """The network with the names and states that the file has."""
    if ending == "uai":
        before = "" if peer == "pyagrum" else "var_"
        nodes = [f"{before}{i}" for i in range(len(network.nodes))]
        states = [list(range(size)) for size in network.sizes]
    else:
        of_nodes, of_states = CARRIED[ending]
        nodes = of_nodes.carried(network.nodes)
        if (peer, ending) == ("pyagrum", "xdsl"):  # which takes the titles, and so the names themselves
            nodes = [str(label) for label in network.nodes]
        states = [of_states.carried(own) for own in network.states]
    return DiscreteNetwork(Dag(tuple(nodes), network.dag.parents), states, network.tables)


def verdict(ours: Network, theirs: Network, peer: str) -> str:
    """`same`, or what differs."""
    if set(theirs.nodes) != set(ours.nodes):
        return f"other names: {sorted(map(str, set(theirs.nodes) ^ set(ours.nodes)))[:4]}"
    worst = turned_worst = 0.0
    for child, label in enumerate(ours.nodes):
        place = theirs.dag.index(label)
        if set(theirs.dag.parents_of(label)) != set(ours.dag.parents_of(label)):
            return f"other parents of {label}"
        if list(map(str, theirs.states[place])) != list(map(str, ours.states[child])):
            return f"other states of {label}: {theirs.states[place]}"
        axes = [theirs.dag.parents_of(label).index(p) for p in ours.dag.parents_of(label)]
        table = theirs.tables[place].transpose(*axes, len(axes))
        if table.shape != ours.tables[child].shape:
            return f"another table of {label}"
        worst = max(worst, float(np.abs(table - ours.tables[child]).max()))
        shape = table.shape
        from_first = np.reshape(turned(ours.tables[child].ravel(), shape), shape)
        turned_worst = max(turned_worst, float(np.abs(table - from_first).max()))
    if worst < 1e-6:
        return "same"
    return "other order" if turned_worst < 1e-6 else "other numbers"


def opened(path: str, reader: Callable[[str], Any]) -> Any:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return reader(path)


def graph_readers() -> dict[tuple[str, str], Callable[[str], set[tuple[str, str]]]]:
    """The arcs that a tool reads, by tool and ending; bayescout's own label keeps what a format cannot."""
    import igraph
    import networkx
    from causallearn.utils.TXT2GeneralGraph import txt2generalgraph
    from pgmpy.base import DAG

    def of_tetrad(path: str) -> set[tuple[str, str]]:
        edges = txt2generalgraph(path).get_graph_edges()
        return {(edge.get_node1().get_name(), edge.get_node2().get_name()) for edge in edges}

    def of_igraph(path: str) -> set[tuple[str, str]]:
        graph = igraph.Graph.Read_GraphML(path)
        return {(graph.vs[edge.source]["id"], graph.vs[edge.target]["id"]) for edge in graph.es}

    return {
        ("causal-learn", "tetrad"): of_tetrad,
        ("pgmpy", "dagitty"): lambda path: set(DAG.from_dagitty(filename=path).edges()),
        ("networkx", "graphml"): lambda path: set(networkx.read_graphml(path).edges()),
        ("igraph", "graphml"): of_igraph,
    }


def compare_graphs(networks: dict[str, Network], folder: str) -> int:
    """Print what tools read of graphs; how many are not the same."""
    of_format = {"tetrad": tetrad.NAMES, "dagitty": dagitty.NAMES, "graphml": graphml.NAMES}
    odd = 0
    for (peer, ending), reader in graph_readers().items():
        found = []
        for name, network in networks.items():
            path = str(Path(folder) / f"{name}.{ending}")
            write_structure(network.dag, path)
            names = dict(zip(network.nodes, of_format[ending].carried(network.nodes), strict=True))
            arcs = {(names[parent], names[child]) for parent, child in network.dag.arcs()}
            try:
                found.append("same" if opened(path, reader) == arcs else "other arcs")
            except Exception as error:
                found.append("refused")
                print(f"  {peer} {ending} {name}: {type(error).__name__}: {str(error)[:200]}")
            odd += found[-1] not in ("same", KNOWN.get((peer, ending)))
        print(f"{peer:14}{ending:10}" + "".join(f"{one:14}" for one in found))
    return odd


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    networks = {"small": bs.read_network(SMALL), "awkward": awkward()}
    networks |= {name: bs.load_network(name) for name in ("asia", "child", "alarm")}
    readers = {"pyagrum": pyagrum_readers(), "pgmpy": pgmpy_readers(), "bnlearn": bnlearn_readers()}
    odd = 0
    print(f"{'peer':14}{'format':10}" + "".join(f"{name:14}" for name in networks))
    with tempfile.TemporaryDirectory() as folder:
        for peer, formats in readers.items():
            for ending, reader in formats.items():
                found = []
                for name, network in networks.items():
                    path = str(Path(folder) / f"{name}.{ending}")
                    write_network(network, path)
                    try:
                        theirs = bs.as_network(opened(path, reader))
                        found.append(verdict(written_names(network, ending, peer), theirs, peer))
                    except Exception as error:
                        found.append("refused")
                        print(f"  {peer} {ending} {name}: {type(error).__name__}: {str(error)[:200]}")
                    odd += found[-1] not in ("same", KNOWN.get((peer, ending)))
                print(f"{peer:14}{ending:10}" + "".join(f"{one:14}" for one in found))
        odd += compare_graphs(networks, folder)
    print(f"{odd} unexpected")
    sys.exit(odd > 0)


if __name__ == "__main__":
    main()
