"""The card of an arc: what it is worth, the counts behind it, what forces it; and turning it in its class."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bayescout.errors import GraphError
from bayescout.graph.dag import Dag
from bayescout.graph.equivalence import meek
from bayescout.report.worth import MOST_CELLS, moments
from bayescout.scores.network_score import total
from bayescout.search.frame.knowledge import Knowledge
from bayescout.serve.subject import Subject

MOST_RIVALS = 2000
"""The most parent sets that are compared with a node's own."""


def card(values: dict[str, Any], _: Any) -> dict[str, Any]:
    """The worth of the arc between two variables, or of its absence."""
    subject = Subject.of(values)
    one, two = subject.label(values["from"]), subject.label(values["to"])
    result = subject.result
    said = result.explain(one, two)
    closed = " \N{RIGHTWARDS ARROW} ".join(map(str, said.cycle))
    worth: dict[str, Any] = {"remove": said.remove, "reverse": said.reverse, "add": said.add}
    if said.cycle:
        worth["refused"] = f"it would close the cycle {closed}"
    elif said.barred:
        worth["refused"] = "a discrete variable has no continuous parents under this score"
    elif said.forbidden:
        worth["refused"] = "the knowledge forbids it"
    edge = (result.dag.index(said.parent), result.dag.index(said.child))
    free = said.present and (edge in result.cpdag.undirected or edge[::-1] in result.cpdag.undirected)
    return {
        "present": said.present,
        "direction": [str(said.parent), str(said.child)],
        "worth": worth,
        "prior": said.prior,
        "counts": _counts(said.counts),
        **moments(said),
        "rival": _rival(subject, said.child),
        "kind": None
        if not said.present
        else "required"
        if said.required
        else "reversible"
        if free
        else "compelled",
        "knowledge": bearing(result.settings.knowledge, one, two),
        "decided": said.decided,
        "turn": free,
        "sentence": str(said),
    }


def _counts(counts: dict[Any, dict[Any, float]]) -> dict[str, Any] | None:
    rows = [list(row.values()) for row in counts.values()]
    if not rows or len(rows) * len(rows[0]) > MOST_CELLS:
        return None
    return {
        "parents": [str(state) for state in counts],
        "states": [str(state) for state in next(iter(counts.values()))],
        "table": rows,
    }


def _rival(subject: Subject, child: Any) -> dict[str, Any] | None:
    """The best other parent set one arc away that closes no cycle, and what it would lose."""
    dag, table, scorer = subject.result.dag, subject.table, subject.scorer
    rules = subject.result._rules
    place, own = dag.index(child), dag.parents[dag.index(child)]
    below = set(dag.descendants(child))
    others = [
        node
        for node in range(len(dag))
        if node != place and node not in own and dag.nodes[node] not in below and rules.allowed[node, place]
    ]
    needed = [parent for parent in own if rules.required[parent, place]]
    sets = [tuple(p for p in own if p != gone) for gone in own if gone not in needed]
    if len(own) < rules.max_parents[place]:
        sets += [tuple(sorted((*own, new))) for new in others]
    swaps = [(gone, new) for gone in own if gone not in needed for new in others]
    sets += [tuple(sorted({*own, new} - {gone})) for gone, new in swaps]
    if not sets:
        return None
    sets = sets[:MOST_RIVALS]
    at = [table.index(node) for node in dag.nodes]
    asked = [(at[place], tuple(sorted(at[p] for p in one))) for one in (tuple(own), *sets)]
    found = scorer.many(asked)
    best = int(found[1:].argmax()) + 1
    parents = [str(dag.nodes[p]) for p in sets[best - 1]]
    return {"parents": parents, "child": str(child), "loss": float(found[0] - found[best])}


def bearing(known: Knowledge, one: Any, two: Any) -> list[str]:
    """The statements of the knowledge that bear on a pair of variables."""
    pair = {one, two}
    found = [f"require {a} -> {b}" for a, b in known.required if {a, b} == pair]
    found += [f"forbid {a} -> {b}" for a, b in known.forbidden if {a, b} == pair]
    found += [
        f"belief {a} {'--' if isinstance(key, frozenset) else '->'} {b} = {value:g}"
        for key, value in known.beliefs.items()
        for a, b in [tuple(key)]
        if {a, b} == pair
    ]
    tier = {label: i for i, labels in enumerate(known.tiers) for label in labels}
    if one in tier and two in tier:
        early, late = sorted((one, two), key=tier.__getitem__)
        if tier[early] < tier[late]:
            found.append(f"tiers: {early} is before {late}, so there is no arc {late} -> {early}")
        elif known.is_closed(tier[one]):
            found.append(f"tiers: {one} and {two} are in one closed tier, so there is no arc between them")
    if known.order is not None and one in known.order and two in known.order:
        early, late = sorted((one, two), key=known.order.index)
        found.append(f"order: {early} is before {late}")
    limits = known.max_parents
    if isinstance(limits, int):
        found.append(f"max_parents {limits}")
    elif limits is not None:
        found += [f"max_parents {label} {limits[label]}" for label in (one, two) if label in limits]
    return found


def turn(values: dict[str, Any], _: Any) -> dict[str, Any]:
    """The graph of the same class in which an arc is turned; the others as few as have to follow."""
    subject = Subject.of(values)
    parent, child = subject.at(values["from"]), subject.at(values["to"])
    graph = subject.cpdag
    names = f"{values['from']} -> {values['to']}"
    if [parent, child] not in [list(arc) for arc in subject.arcs]:
        raise GraphError(f"the graph has no arc {names}")
    edge = (min(parent, child), max(parent, child))
    if edge not in graph.undirected:
        raise GraphError(
            f"{names} cannot be turned within its class: every graph of the class has it so, or the "
            f"knowledge does"
        )
    graph = _directed(graph, child, parent)
    for a, b in map(tuple, subject.arcs):  # the others stay as they are where they can
        if (min(a, b), max(a, b)) in graph.undirected:
            graph = _directed(graph, a, b)
    dag = graph.to_dag()
    score = total(subject.scorer, subject.dag_of(arcs_of(dag)).reordered(subject.table.names))
    return {"arcs": arcs_of(dag), "score": score}


def arcs_of(dag: Dag) -> list[tuple[int, int]]:
    return sorted((p, c) for c, own in enumerate(dag.parents) for p in own)


def _directed(graph: Any, parent: int, child: int) -> Any:
    edge = (min(parent, child), max(parent, child))
    rest = tuple(one for one in graph.undirected if one != edge)
    return meek(replace(graph, directed=tuple(sorted((*graph.directed, (parent, child)))), undirected=rest))
