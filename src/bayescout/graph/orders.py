"""Orders and reachability over plain integers, used by every other graph module."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

ParentSets = Sequence[Sequence[int]]


def peel_roots(parents: ParentSets) -> list[int]:
    """Nodes in the order in which they lose their last incoming arc, lowest index first (Lau & Bush).

    It lists every node if and only if the graph is acyclic; then it is a topological order.
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

    Every node that peeling leaves has a parent among these nodes, so walking up parents closes a cycle.
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
    """The children of each node, in increasing order, from the parents of each node (or the reverse)."""
    children: list[list[int]] = [[] for _ in parents]
    for child, ps in enumerate(parents):
        for parent in ps:
            children[parent].append(child)
    return children


def reach(neighbours: ParentSets, starts: Iterable[int]) -> list[bool]:
    """For each node, True if it is a start or can be reached from one; linear time."""
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
