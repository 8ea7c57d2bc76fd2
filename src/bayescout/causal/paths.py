"""Causal paths from x to y, in a DAG or a class of DAGs, as what adjustment needs to know of them."""

from __future__ import annotations

from dataclasses import dataclass

from bayescout.errors import GraphError
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Label
from bayescout.graph.orders import reach
from bayescout.graph.pdag import Pdag

Positions = frozenset[int]


@dataclass(frozen=True)
class CausalPaths:
    """What lies on the causal paths from x to y, in positions of nodes.

    dag        a DAG of the class, or the graph itself
    between    the nodes on causal paths, y among them and x not; in a class: on possibly causal ones
    forbidden  x, and all descendants of those between, and in a class those possible: never adjusted for
    """

    dag: Dag
    x: int
    y: int
    between: Positions
    forbidden: Positions

    @property
    def without_them(self) -> tuple[tuple[int, ...], ...]:
        """The parent sets of the DAG without the arcs from x that begin a causal path."""
        return tuple(
            tuple(parent for parent in parents if not (parent == self.x and child in self.between))
            for child, parents in enumerate(self.dag.parents)
        )


def causal_paths(graph: Dag | Pdag, x: Label, y: Label) -> CausalPaths:
    """The causal paths, refused if there are none or if the class does not tell which way they go."""
    one, other = graph.index(x), graph.index(y)
    if one == other:
        raise GraphError(f"the effect of {x!r} on itself is no question; name two variables")
    forward = _forward(graph)
    cut = tuple(() if node == one else targets for node, targets in enumerate(forward))
    ahead = reach(cut, forward[one])
    behind = _leading_to(cut, other)
    between = frozenset(v for v in range(len(graph)) if ahead[v] and behind[v] and v != one)
    if other not in between:
        raise GraphError(
            f"no causal path leads from {x!r} to {y!r}, so acting on {x!r} leaves {y!r} as it is; the effect "
            f"of {y!r} on {x!r} is another question"
        )
    if isinstance(graph, Pdag):
        _require_direction(graph, one, between)
    beyond = reach(forward, between)
    forbidden = frozenset(v for v in range(len(graph)) if beyond[v]) | {one}
    dag = graph if isinstance(graph, Dag) else graph.to_dag()
    return CausalPaths(dag, one, other, between, forbidden)


def _forward(graph: Dag | Pdag) -> tuple[tuple[int, ...], ...]:
    """For each node the children, and in a class those that may be children."""
    if isinstance(graph, Dag):
        return graph.children
    targets: list[set[int]] = [set() for _ in graph.nodes]
    for a, b in graph.directed:
        targets[a].add(b)
    for a, b in graph.undirected:
        targets[a].add(b)
        targets[b].add(a)
    return tuple(tuple(sorted(some)) for some in targets)


def _leading_to(forward: tuple[tuple[int, ...], ...], end: int) -> list[bool]:
    """For each node, True if it is the end or leads to it."""
    backward: list[list[int]] = [[] for _ in forward]
    for node, targets in enumerate(forward):
        for target in targets:
            backward[target].append(node)
    return reach(tuple(tuple(some) for some in backward), [end])


def _require_direction(graph: Pdag, x: int, between: Positions) -> None:
    """Refuse a class in which a possibly causal path begins with an edge that may point either way."""
    if not graph.is_cpdag() and graph.is_narrowed_class():
        raise GraphError(
            "knowledge, interventions or the score's model (in which no number is a parent of a category) "
            "have ruled out some DAGs of this class, and sets are found for whole classes or for a DAG: give "
            "the DAG, or ask bayescout.effect for the possible effects"
        )
    if not graph.is_cpdag():
        raise GraphError("a partially directed graph must be a class of DAGs: use dag.cpdag(), or a DAG")
    for a, b in graph.undirected:
        if x in (a, b) and (a + b - x) in between:
            one, other = graph.nodes[x], graph.nodes[a + b - x]
            raise GraphError(
                f"the graph leaves open whether {one!r} acts on {other!r} or {other!r} on {one!r}, so no set "
                f"is right for all its DAGs; give a DAG, or ask bayescout.effect for the possible effects"
            )
