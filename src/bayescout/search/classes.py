"""Equivalence classes as searches handle them: sets of nodes as the bits of integers.

A `Pattern` has directed arcs and undirected edges. Extending it to a DAG and completing a DAG to its class
are those of `graph.equivalence`, on bits, for they are done at every step.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from bayescout.search.knowledge import Rules
from bayescout.search.problem import Pairs, ParentSets


def bits(mask: int) -> list[int]:
    """The members of a set, ascending."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def positions(mask: int, n: int) -> NDArray[np.int64]:
    """The members of a large set among n nodes, ascending."""
    raw = np.frombuffer(mask.to_bytes((n + 7) // 8, "little"), dtype=np.uint8)
    return np.unpackbits(raw, bitorder="little").nonzero()[0]


def mask_of(members: Iterable[int]) -> int:
    return sum(1 << int(member) for member in members)


@dataclass
class Pattern:
    """A partially directed graph: for each node its parents, children and undirected friends."""

    parents: list[int]
    children: list[int]
    friends: list[int]

    @classmethod
    def of_pairs(cls, n: int, directed: Pairs, undirected: Pairs) -> Pattern:
        made = cls([0] * n, [0] * n, [0] * n)
        for a, b in directed:
            made.parents[b] |= 1 << a
            made.children[a] |= 1 << b
        for a, b in undirected:
            made.friends[a] |= 1 << b
            made.friends[b] |= 1 << a
        return made

    def pairs(self) -> tuple[Pairs, Pairs]:
        """The directed pairs, parent first, and the undirected, lower first; sorted."""
        directed = tuple((a, b) for a, own in enumerate(self.children) for b in bits(own))
        return directed, tuple((a, b) for a, own in enumerate(self.friends) for b in bits(own) if a < b)

    def copy(self) -> Pattern:
        return Pattern(self.parents[:], self.children[:], self.friends[:])

    def adjacent(self) -> list[int]:
        """For each node everything it is joined to."""
        return [p | c | f for p, c, f in zip(self.parents, self.children, self.friends, strict=True)]

    def cut(self, a: int, b: int) -> None:
        """Remove whatever joins two nodes."""
        for one, two in ((a, b), (b, a)):
            self.parents[one] &= ~(1 << two)
            self.children[one] &= ~(1 << two)
            self.friends[one] &= ~(1 << two)

    def direct(self, a: int, b: int) -> None:
        """Make it a -> b, whatever it was."""
        self.cut(a, b)
        self.parents[b] |= 1 << a
        self.children[a] |= 1 << b


@dataclass(frozen=True)
class Extension:
    """A DAG: the parents of each node, and an order with children before parents."""

    parents: list[int]
    sinks_first: list[int]

    def parent_sets(self) -> ParentSets:
        return tuple(tuple(bits(own)) for own in self.parents)


def extension_of(pattern: Pattern) -> Extension | None:
    """A DAG with the same adjacencies, the directed arcs kept and no new v-structure, if there is one.

    Dor & Tarsi (1992), as in `graph.equivalence.consistent_extension`: the lowest node that can be a sink.
    """
    children, friends = pattern.children, pattern.friends
    left = pattern.adjacent()
    parents = [0] * len(left)
    removed: list[int] = []
    gone = bytearray(len(left))
    waiting = list(range(len(left)))
    while waiting:
        node = heappop(waiting)
        around = left[node]
        if gone[node] or children[node] & around:
            continue
        if friends[node] & around and not _may_be_sink(left, node, friends[node] & around):
            continue
        gone[node] = True
        removed.append(node)
        parents[node] = around
        for neighbour in bits(around):
            left[neighbour] ^= 1 << node
            heappush(waiting, neighbour)
    return Extension(parents, removed) if len(removed) == len(left) else None


def _may_be_sink(left: list[int], node: int, friends: int) -> bool:
    """Whether each undirected friend is joined to all the node's other neighbours."""
    around = left[node]
    return all(not around & ~left[friend] & ~(1 << friend) for friend in bits(friends))


def completed(dag: Extension) -> Pattern:
    """The class of a DAG: Chickering's (1995) labelling, as in `graph.equivalence.cpdag`."""
    n = len(dag.parents)
    place = [0] * n
    for position, node in enumerate(dag.sinks_first):
        place[node] = position
    compelled = [0] * n
    pattern = Pattern([0] * n, [0] * n, [0] * n)
    for child in reversed(dag.sinks_first):
        family = dag.parents[child]
        if not family:
            continue
        own = bits(family)
        latest = min(own, key=place.__getitem__)
        known = compelled[latest]
        shared = dag.parents[latest] | 1 << latest
        compelled[child] = family if known & ~family or family & ~shared else known
        for parent in own:
            _join(pattern, parent, child, bool(compelled[child] >> parent & 1))
    return pattern


def _join(pattern: Pattern, parent: int, child: int, directed: bool) -> None:
    if directed:
        pattern.parents[child] |= 1 << parent
        pattern.children[parent] |= 1 << child
    else:
        pattern.friends[child] |= 1 << parent
        pattern.friends[parent] |= 1 << child


def class_of(parents: ParentSets) -> Pattern:
    """The equivalence class of a graph."""
    n = len(parents)
    arcs = tuple((parent, child) for child, own in enumerate(parents) for parent in own)
    dag = extension_of(Pattern.of_pairs(n, arcs, ()))
    if dag is None:
        raise ValueError("the graph has a cycle")
    return completed(dag)


def cliques_within(members: int, adjacent: list[int]) -> list[int]:
    """Every set of these nodes that are all joined to each other, the empty one first."""
    found = [0]
    stack = [(0, members)]
    while stack:
        clique, common = stack.pop()
        for node in bits(common):
            common ^= 1 << node
            found.append(clique | 1 << node)
            stack.append((clique | 1 << node, common & adjacent[node]))
    return found


def semi_directed_path(pattern: Pattern, source: int, target: int, blocked: int, length: int = 1) -> int:
    """The nodes of a path from source to target that follows arcs forwards and edges either way.

    0 where the blocked nodes cut every such path. With a `length` of 2 the step from source straight to
    target does not count. A shortest path, so that few changes of the graph can touch it.
    """
    goal = 1 << target
    if length == 2:
        blocked |= goal
    came_from: dict[int, int] = {}
    seen = blocked | 1 << source
    frontier = [source]
    while frontier:
        following = []
        for node in frontier:
            step = (pattern.children[node] | pattern.friends[node]) & ~seen
            if node != source and length == 2:
                step |= (pattern.children[node] | pattern.friends[node]) & goal
            if step & goal:
                return _traced(came_from, node, source) | goal
            seen |= step
            for reached in bits(step):
                came_from[reached] = node
                following.append(reached)
        frontier = following
    return 0


def _traced(came_from: dict[int, int], node: int, source: int) -> int:
    path = 1 << source
    while node != source:
        path |= 1 << node
        node = came_from[node]
    return path


def member_keeping(pattern: Pattern, rules: Rules) -> Extension | None:
    """A member of the class that keeps the rules, if one is found.

    Exact for required and forbidden arcs: each edge is directed as they demand and the rest extended. A limit
    on parents that is the same for all holds for every member or for none; limits that differ are asked of
    the member found only.
    """
    known = pattern.copy()
    for a, b in zip(*(ends.tolist() for ends in rules.required.nonzero()), strict=True):
        if not known.friends[a] >> b & 1 and not known.children[a] >> b & 1:
            return None
        known.direct(a, b)
    for child, own in enumerate(known.parents):
        if any(not rules.allowed[parent, child] for parent in bits(own)):
            return None
    for a, others in enumerate(pattern.friends):
        for b in bits(others & known.friends[a]):
            if not rules.allowed[a, b]:
                if not rules.allowed[b, a]:
                    return None
                known.direct(b, a)
    found = extension_of(known)
    if found is None or completed(found) != pattern:  # what is known may itself make a new v-structure
        return None
    if any(
        own.bit_count() > most for own, most in zip(found.parents, rules.max_parents.tolist(), strict=True)
    ):
        return None
    return found
