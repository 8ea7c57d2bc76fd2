"""Two or more graphs in one drawing: how each has every pair, and how far each is from the truth."""

from __future__ import annotations

from typing import Any

from bayescout.errors import SettingError
from bayescout.formats import load_network, networks, read_structure
from bayescout.graph.compare import compare
from bayescout.graph.dag import Dag
from bayescout.serve.subject import Subject

TRUTH = "truth"


def compared(values: dict[str, Any], _: Any) -> dict[str, Any]:
    """The pairs that any graph joins, with the mark that each gives them; measures against the truth.

    Without a truth they are against the first run.
    """
    graphs: dict[str, Dag] = {}
    for number, one in values["runs"].items():
        subject = Subject.of(one)
        graphs[number] = subject.dag_of(subject.arcs, subject.names)
    nodes = next(iter(graphs.values())).nodes
    for number, dag in graphs.items():
        if set(dag.nodes) != set(nodes):
            raise SettingError(
                f"run {number} has other variables than the others; compare runs of the same data"
            )
        graphs[number] = dag.reordered(nodes)
    if values.get("truth"):
        graphs[TRUTH] = truth_of(values["truth"], values.get("truth_file"), nodes)
    marks = {name: _marks(dag) for name, dag in graphs.items()}
    pairs = sorted({pair for own in marks.values() for pair in own})
    arcs = [
        [nodes[a], nodes[b], {name: own.get((a, b), "") for name, own in marks.items()}] for a, b in pairs
    ]
    reference = graphs.get(TRUTH) or next(iter(graphs.values()))
    return {
        "nodes": nodes,
        "arcs": arcs,
        "against": TRUTH if TRUTH in graphs else next(iter(graphs)),
        "measures": [
            _measures(number, dag, reference, values["scores"].get(number))
            for number, dag in graphs.items()
            if number != TRUTH
        ],
    }


def network(values: dict[str, Any], _: Any) -> dict[str, Any]:
    """The size of the network in a file, which can be read if there is an answer."""
    dag = read_structure(values["path"])
    return {"nodes": len(dag), "arcs": dag.n_arcs}


def truth_of(name: str, file: str | None, nodes: tuple[Any, ...]) -> Dag:
    """The graph of a network file, or of a shipped network, over these variables."""
    if file is None and name not in [info.name for info in networks()]:
        raise SettingError(f"the truth is a network file of the project or a shipped network, not {name!r}")
    dag = load_network(name).dag if file is None else read_structure(file)
    named = Dag(tuple(str(node) for node in dag.nodes), dag.parents)
    for one, there, lacks in ((nodes, named.nodes, f"the network {name}"), (named.nodes, nodes, "the data")):
        without = next((node for node in one if node not in there), None)
        if without is not None:
            raise SettingError(
                f"the network {name} has other variables than the data: {lacks} has no {without!r}"
            )
    return named.reordered(nodes)


def _marks(dag: Dag) -> dict[tuple[int, int], str]:
    """The mark of each pair, the lower index first."""
    return {(min(p, c), max(p, c)): "->" if p < c else "<-" for c, own in enumerate(dag.parents) for p in own}


def _measures(number: str, dag: Dag, reference: Dag, score: float | None) -> dict[str, Any]:
    found = compare(dag, reference)
    return {
        "run": number,
        "shd": found.shd,
        "shd_class": found.shd_cpdag,
        "precision": found.precision,
        "recall": found.recall,
        "missing": [list(arc) for arc in found.missing],
        "extra": [list(arc) for arc in found.extra],
        "reversed": [list(arc) for arc in found.reversed],
        "score": score,
    }
