"""Minimal sets that separate two nodes: of an undirected graph, and of a DAG by d-separation.

Sets are listed one by one; there may be exponentially many, and the time from each to the next is bounded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from itertools import combinations

from bayescout.graph.orders import ParentSets, reach

Neighbours = dict[int, set[int]]
Nodes = frozenset[int]


def minimal_d_separators(
    parents: ParentSets, a: int, b: int, allowed: Collection[int]
) -> Iterator[tuple[int, ...]]:
    """Every set of allowed nodes that d-separates a from b and of which no subset does, sorted.

    A minimal separator lies among the ancestors of a and b, where d-separation is separation in the moral
    graph (van der Zander, Liskiewicz & Textor 2014). A node that is not allowed is bridged: its neighbours
    are joined.
    """
    graph = moral_ancestors(parents, (a, b))
    for node in sorted(set(graph) - set(allowed) - {a, b}):
        around = graph.pop(node)
        for other in around:
            graph[other] |= around - {other}
            graph[other].discard(node)
    for found in minimal_separators(graph, a, b):
        yield tuple(sorted(found))


def moral_ancestors(parents: ParentSets, ends: Collection[int]) -> Neighbours:
    """The moral graph over the nodes and their ancestors."""
    inside = [node for node, reached in enumerate(reach(parents, ends)) if reached]
    graph: Neighbours = {node: set() for node in inside}
    for child in inside:
        for one, other in combinations((*parents[child], child), 2):
            graph[one].add(other)
            graph[other].add(one)
    return graph


def minimal_separators(graph: Neighbours, a: int, b: int) -> Iterator[Nodes]:
    """Every minimal set of other nodes without which no path joins a and b (after Shen & Liang 1997).

    From each separator S the side of `a` is enlarged by one member of S and what surrounds it; what then
    surrounds the side of b is a minimal separator again, and all are found so.
    """
    if b in graph[a]:
        return
    first = _nearest(graph, {a}, b)
    seen, waiting = {first}, deque([first])
    while waiting:
        here = waiting.popleft()
        yield here
        side = _component(graph, a, here)
        for node in sorted(here):
            if b in graph[node]:
                continue
            further = _nearest(graph, side | {node}, b)
            if further not in seen:
                seen.add(further)
                waiting.append(further)


def _nearest(graph: Neighbours, side: set[int], b: int) -> Nodes:
    """The separator of a connected side and b that is nearest to b among those around the side."""
    around = set().union(*(graph[node] for node in side)) - side
    beyond = _component(graph, b, around)
    return frozenset(set().union(*(graph[node] for node in beyond)) - beyond)


def _component(graph: Neighbours, start: int, removed: Collection[int]) -> set[int]:
    """The nodes joined to start once others are removed."""
    seen, stack = {start}, [start]
    while stack:
        for other in graph[stack.pop()]:
            if other not in seen and other not in removed:
                seen.add(other)
                stack.append(other)
    return seen
