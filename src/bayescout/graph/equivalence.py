"""Markov equivalence: v-structures, covered arcs, the CPDAG, Meek's rules, consistent extensions.

`Dag` and `Pdag` use this module: it takes parent sets or a graph, and returns parent sets and pairs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import TYPE_CHECKING

from bayescout.errors import GraphError
from bayescout.graph.labels import quoted
from bayescout.graph.orders import ParentSets

if TYPE_CHECKING:
    from bayescout.graph.dag import Dag
    from bayescout.graph.pdag import Pdag

Pair = tuple[int, int]
Pairs = tuple[Pair, ...]


def skeleton(parents: ParentSets) -> Pairs:
    """The adjacent pairs, lower index first, sorted."""
    return tuple(sorted((min(p, c), max(p, c)) for c, ps in enumerate(parents) for p in ps))


def v_structures(parents: ParentSets) -> tuple[tuple[int, int, int], ...]:
    """The unshielded colliders (a, c, b): a -> c <- b with a < b not adjacent; by c, a, b."""
    return tuple(collider for collider, is_shielded in _colliders(parents) if not is_shielded)


def shielded_colliders(parents: ParentSets) -> tuple[tuple[int, int, int], ...]:
    """The colliders (a, c, b): a -> c <- b with a < b adjacent; by c, a, b."""
    return tuple(collider for collider, is_shielded in _colliders(parents) if is_shielded)


def _colliders(parents: ParentSets) -> Iterator[tuple[tuple[int, int, int], bool]]:
    """Each collider, and whether its two parents are adjacent."""
    families = [frozenset(ps) for ps in parents]
    for child, ps in enumerate(parents):
        for a, b in combinations(ps, 2):
            yield (a, child, b), a in families[b] or b in families[a]


def moral(parents: ParentSets) -> Pairs:
    """The skeleton, with the parents of every child joined: pairs, lower index first, sorted."""
    married = {pair for ps in parents for pair in combinations(ps, 2)}
    return tuple(sorted(married.union(skeleton(parents))))


def is_covered(parents: ParentSets, parent: int, child: int) -> bool:
    """Return True if the child's parents are the parent and the parent's own parents.

    Exactly such arcs can be reversed within the equivalence class (Chickering 1995).
    """
    return set(parents[child]) == {parent, *parents[parent]}


def equivalent(one: ParentSets, other: ParentSets) -> bool:
    """Return True for the same skeleton and v-structures (Verma & Pearl 1990); nodes in the same order."""
    return skeleton(one) == skeleton(other) and v_structures(one) == v_structures(other)


def cpdag(dag: Dag) -> tuple[Pairs, Pairs]:
    """The directed and the undirected edges of the completed graph of a DAG's equivalence class.

    An edge is directed if every member of the class agrees on it, otherwise undirected.
    Chickering's label-edges (1995): children in topological order, each compared with its
    latest parent x. If the child lacks a compelled parent of x, or has a parent other than x
    that x lacks, all arcs into the child are compelled; otherwise those from the compelled
    parents of x are, and the rest can be reversed.
    """
    place = {node: k for k, node in enumerate(dag.order_indices)}
    compelled: list[frozenset[int]] = [frozenset()] * len(dag)
    for child in dag.order_indices:
        family = frozenset(dag.parents[child])
        if not family:
            continue
        latest = max(family, key=place.__getitem__)
        shared = {latest, *dag.parents[latest]}
        if compelled[latest] <= family <= shared:
            compelled[child] = compelled[latest]
        else:
            compelled[child] = family
    arcs = [(parent, child) for child, ps in enumerate(dag.parents) for parent in ps]
    directed = tuple(arc for arc in arcs if arc[0] in compelled[arc[1]])
    undirected = tuple(arc for arc in arcs if arc[0] not in compelled[arc[1]])
    return directed, undirected


def consistent_extension(pdag: Pdag) -> tuple[tuple[int, ...], ...]:
    """Parent sets of a DAG with the same skeleton and directed arcs, and no new v-structure.

    Dor & Tarsi (1992): take the lowest node without outgoing arcs whose undirected
    neighbours are adjacent to all its other neighbours, direct its edges to it, remove it,
    repeat. Only the neighbours of a removed node need to be tested again.
    """
    marks = Marks(pdag)
    left = [set(marks.adjacent(node)) for node in range(len(pdag))]
    parents: list[tuple[int, ...]] = [()] * len(pdag)
    waiting = list(range(len(pdag)))
    heapify(waiting)
    removed = [False] * len(pdag)
    while waiting:
        node = heappop(waiting)
        if removed[node] or not _can_be_sink(marks, left, node):
            continue
        removed[node] = True
        parents[node] = tuple(sorted(left[node]))
        for neighbour in parents[node]:
            left[neighbour].remove(node)
            heappush(waiting, neighbour)
    if not all(removed):
        stuck = [pdag.nodes[i] for i, done in enumerate(removed) if not done]
        raise GraphError(
            f"no DAG extends this graph without a new v-structure or a cycle: "
            f"{quoted(stuck)} cannot be oriented; direct or remove some edges between them"
        )
    return tuple(parents)


def _can_be_sink(marks: Marks, left: list[set[int]], node: int) -> bool:
    """Return True if Dor & Tarsi's two conditions hold within the nodes not yet removed."""
    around = left[node]
    if not marks.children[node].isdisjoint(around):
        return False
    return all(
        other == friend or other in left[friend]
        for friend in around
        if friend in marks.friends[node]
        for other in around
    )


def meek(pdag: Pdag) -> Pdag:
    """The graph after directing every edge that Meek's four rules (1995) direct.

    An edge a - b becomes a -> b if the other direction would make a new v-structure or a
    cycle. Rules 1 to 3 complete a pattern into a CPDAG; rule 4 is needed once background
    knowledge has directed further edges. No new v-structure is ever made: arcs that force
    an edge both ways, or close a cycle, are refused.
    """
    marks = Marks(pdag)
    waiting = deque(pdag.undirected)
    while waiting:
        one, two = waiting.popleft()
        if two not in marks.friends[one]:
            continue
        forward, backward = _must_point(marks, one, two), _must_point(marks, two, one)
        if forward and backward:
            raise GraphError(
                f"the arcs contradict each other: {quoted([pdag.nodes[one], pdag.nodes[two]])} are joined by "
                f"an edge that makes a new v-structure or a cycle either way; remove or reverse an arc there"
            )
        if forward or backward:
            a, b = (one, two) if forward else (two, one)
            marks.direct(a, b)
            waiting.extend(_touched(marks, b))
    directed, undirected = marks.pairs()
    return replace(pdag, directed=directed, undirected=undirected)


def _touched(marks: Marks, child: int) -> list[Pair]:
    """The undirected edges that a rule may direct after a new arc into child.

    They end in the child itself, or in one of its children, where the new arc is the first
    of two successive arcs (rules 2 and 4).
    """
    ends = [child, *sorted(marks.children[child])]
    return [(end, friend) for end in ends for friend in sorted(marks.friends[end])]


def _must_point(marks: Marks, a: int, b: int) -> bool:
    """Return True if one of the four rules turns a - b into a -> b."""
    parents, friends, linked = marks.parents, marks.friends, marks.linked
    through = combinations(friends[a] & parents[b], 2)
    before = (c for d in parents[b] for c in parents[d] & friends[a])
    return (
        any(not linked(c, b) for c in parents[a])  # rule 1: c -> a - b
        or not marks.children[a].isdisjoint(parents[b])  # rule 2: a -> c -> b
        or any(not linked(c, d) for c, d in through)  # rule 3: a - c -> b and a - d -> b
        or any(not linked(c, b) for c in before)  # rule 4: a - c -> d -> b
    )


class Marks:
    """The edges of a Pdag as mutable sets for each node."""

    def __init__(self, pdag: Pdag) -> None:
        self.parents: list[set[int]] = [set() for _ in pdag.nodes]
        self.children: list[set[int]] = [set() for _ in pdag.nodes]
        self.friends: list[set[int]] = [set() for _ in pdag.nodes]
        for a, b in pdag.directed:
            self.parents[b].add(a)
            self.children[a].add(b)
        for a, b in pdag.undirected:
            self.friends[a].add(b)
            self.friends[b].add(a)

    def adjacent(self, node: int) -> set[int]:
        return self.parents[node] | self.children[node] | self.friends[node]

    def linked(self, a: int, b: int) -> bool:
        return a in self.parents[b] or a in self.children[b] or a in self.friends[b]

    def direct(self, a: int, b: int) -> None:
        """Turn a - b into a -> b."""
        self.friends[a].remove(b)
        self.friends[b].remove(a)
        self.parents[b].add(a)
        self.children[a].add(b)

    def pairs(self) -> tuple[Pairs, Pairs]:
        """The directed and the undirected edges."""
        directed = tuple((a, b) for b, ps in enumerate(self.parents) for a in ps)
        undirected = tuple((a, b) for a, others in enumerate(self.friends) for b in others if a < b)
        return directed, undirected
