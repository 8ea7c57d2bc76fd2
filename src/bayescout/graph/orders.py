"""Orders and reachability over plain integers: what every other graph module stands on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

ParentSets = Sequence[Sequence[int]]


def peel_roots(parents: ParentSets) -> list[int]:
    """Nodes in the order they become free of incoming arcs, lowest index first (Lau & Bush).

    It lists every node exactly when the graph is acyclic; then it is a topological order.
    """
    waiting = [len(p) for p in parents]
    children = invert(parents)
    free = [i for i, count in enumerate(waiting) if count == 0]
    heapify(free)
    order: list[int] = []
    while free:
        node = heappop(free)
        order.append(node)
        for child in children[node]:
            waiting[child] -= 1
            if waiting[child] == 0:
                heappush(free, child)
    return order


def find_cycle(parents: ParentSets) -> list[int]:
    """One directed cycle as indices, first = last; empty when there is none.

    What peeling leaves has a parent in itself for every node, so walking up must return.
    """
    left = set(range(len(parents))) - set(peel_roots(parents))
    if not left:
        return []
    node, walked = min(left), dict[int, int]()
    while node not in walked:
        walked[node] = len(walked)
        node = min(p for p in parents[node] if p in left)
    cycle = [*list(walked)[walked[node] :], node]
    return cycle[::-1]


def invert(parents: ParentSets) -> list[list[int]]:
    """For each node its children, in increasing order, from each node's parents (or the reverse)."""
    children: list[list[int]] = [[] for _ in parents]
    for child, ps in enumerate(parents):
        for parent in ps:
            children[parent].append(child)
    return children


def reach(neighbours: ParentSets, starts: Iterable[int]) -> list[bool]:
    """For each node whether it is a start or can be walked to from one; linear time."""
    seen = [False] * len(neighbours)
    stack = list(starts)
    for start in stack:
        seen[start] = True
    while stack:
        for neighbour in neighbours[stack.pop()]:
            if not seen[neighbour]:
                seen[neighbour] = True
                stack.append(neighbour)
    return seen
