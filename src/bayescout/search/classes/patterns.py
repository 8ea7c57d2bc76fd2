"""Equivalence classes as searches handle them: sets of nodes as the bits of integers.

A `Pattern` has directed arcs and undirected edges. Extending it to a DAG and completing a DAG to its class
work as in `graph.equivalence`, but by kernels on rows of bits, since they are needed at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, compress
from operator import ne

import numpy as np

from bayescout.arrays import Ints
from bayescout.scores.scorer import Scorer
from bayescout.search.bitsets import (
    Words,
    bits,
    mask_of,
    masks_of_rows,
    masks_of_words,
    words_of_masks,
)
from bayescout.search.frame.knowledge import Rules
from bayescout.search.frame.problem import Pairs, ParentSets


def differing(before: Sequence[object], after: Sequence[object]) -> list[int]:
    """The positions at which two lists differ."""
    return list(compress(range(len(before)), map(ne, before, after)))


@dataclass
class Pattern:
    """A partially directed graph: for each node its parents, children and undirected neighbours."""

    parents: list[int]
    children: list[int]
    undirected: list[int]

    @classmethod
    def of_pairs(cls, n: int, directed: Pairs, edges: Pairs) -> Pattern:
        made = cls([0] * n, [0] * n, [0] * n)
        for a, b in directed:
            made.parents[b] |= 1 << a
            made.children[a] |= 1 << b
        for a, b in edges:
            made.undirected[a] |= 1 << b
            made.undirected[b] |= 1 << a
        return made

    def pairs(self) -> tuple[Pairs, Pairs]:
        """The directed pairs, parent first, and the undirected, lower first; sorted."""
        directed = tuple((a, b) for a, own in enumerate(self.children) for b in bits(own))
        return directed, tuple((a, b) for a, own in enumerate(self.undirected) for b in bits(own) if a < b)

    @property
    def n(self) -> int:
        return len(self.parents)

    def lists(self) -> tuple[list[int], list[int], list[int]]:
        return self.parents, self.children, self.undirected

    def rows(self, nodes: Sequence[int] | None = None) -> Words:
        """The parents, children and undirected neighbours of each node as rows of bits (3, nodes, words)."""
        chosen = range(self.n) if nodes is None else nodes
        masks = [plane[node] for plane in self.lists() for node in chosen]
        rows = words_of_masks(masks, self.n)
        return rows.reshape(3, len(chosen), rows.shape[1])

    def copy(self) -> Pattern:
        return Pattern(self.parents[:], self.children[:], self.undirected[:])

    def adjacent(self) -> list[int]:
        """The nodes adjacent to each node."""
        return [p | c | u for p, c, u in zip(self.parents, self.children, self.undirected, strict=True)]

    def cut(self, a: int, b: int) -> None:
        """Remove the arc or edge between two nodes."""
        for one, two in ((a, b), (b, a)):
            self.parents[one] &= ~(1 << two)
            self.children[one] &= ~(1 << two)
            self.undirected[one] &= ~(1 << two)

    def direct(self, a: int, b: int) -> None:
        """Make it a -> b, in whichever way they were joined."""
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


def extension_of(pattern: Pattern, limits: Ints | None = None) -> Extension | None:
    """A DAG with the same adjacencies, the directed arcs kept and no new v-structure; None if there is none.

    Dor & Tarsi (1992), as in `graph.equivalence.consistent_extension`: the lowest node that can be a sink.
    `limits` are the largest numbers of parents, by node.
    """
    found = _extended(pattern.rows(), limits)
    return None if found is None else Extension(masks_of_words(found[0]), found[1].tolist())


def completed(dag: Extension, telling: Words | None = None) -> Pattern:
    """The class of a DAG: Chickering's (1995) labelling, as in `graph.equivalence.cpdag`."""
    rows = _completed(
        words_of_masks(dag.parents, len(dag.parents)), np.array(dag.sinks_first, dtype=np.int64), telling
    )
    return Pattern(*(masks_of_words(plane) for plane in rows))


def _extended(rows: Words, limits: Ints | None = None) -> tuple[Words, Ints] | None:
    from bayescout.kernels.classes import extend

    n = rows.shape[1]
    parents, order = np.empty_like(rows[0]), np.empty(n, dtype=np.int64)
    most = np.full(n, n, dtype=np.int64) if limits is None else limits
    return (parents, order) if extend(rows, most, parents, order) == n else None


def _completed(parents: Words, order: Ints, telling: Words | None = None) -> Words:
    """The class of a DAG in rows of bits; `telling` marks the pairs whose arc keeps its direction in it."""
    from bayescout.kernels.classes import complete

    rows = np.zeros((3, *parents.shape), dtype=np.uint64)
    complete(parents, order, rows)
    if telling is None or not (told := rows[2] & telling & parents).any():
        return rows
    pattern = Pattern(*(masks_of_words(plane) for plane in rows))
    for child, own in enumerate(masks_of_words(told)):
        for parent in bits(own):
            pattern.direct(parent, child)
    direct_by_rules(pattern)
    return pattern.rows()


class ClassPosition:
    """The class a search is at, in integers and in rows of bits.

    Moving to a neighbour costs Python only what differs: the rest of the lists is shared.
    """

    def __init__(self, pattern: Pattern, telling: Words | None = None) -> None:
        self.pattern = pattern
        self.telling = telling
        self.rows = pattern.rows()
        self.adjacent = pattern.adjacent()
        self._steps = self.rows[1] | self.rows[2]
        self._member = [0] * pattern.n, np.zeros_like(self._steps)

    def neighbour(self, changed: Pattern, nodes: Sequence[int]) -> tuple[Pattern, Extension] | None:
        """The class of a pattern that differs from this one only at `nodes`, and a member of it."""
        rows = self.rows.copy()
        rows[:, nodes] = changed.rows(nodes)
        found = _extended(rows)
        if found is None:
            return None
        parents, order = found
        after = _completed(parents, order, self.telling)
        reached = Pattern(*map(_renewed, self.pattern.lists(), self.rows, after))
        member = Extension(_renewed(*self._member, parents), order.tolist())
        self._member = member.parents, parents
        return reached, member

    def move(self, after: Pattern) -> tuple[int, int]:
        """Move to another class; return the nodes that differ, and those that lost an outgoing step."""
        before = self.pattern
        changed, lost = 0, 0
        for one, two in zip(before.lists(), after.lists(), strict=True):
            changed |= mask_of(differing(one, two))
        nodes = bits(changed)
        self.pattern = after
        self.rows[:, nodes] = after.rows(nodes)
        self._steps[nodes] = self.rows[1, nodes] | self.rows[2, nodes]
        for node in nodes:
            steps = after.children[node] | after.undirected[node]
            self.adjacent[node] = after.parents[node] | steps
            if (before.children[node] | before.undirected[node]) & ~steps:
                lost |= 1 << node
        return changed, lost

    def semi_directed_path(self, source: int, target: int, blocked: int, length: int = 1) -> int:
        """See the function of the same name."""
        return _path(self._steps, source, target, blocked, length)


def _renewed(masks: list[int], before: Words, after: Words) -> list[int]:
    """The sets of the rows in `after`, given those of the rows in `before`."""
    masks = masks[:]
    changed = (before != after).any(axis=1).nonzero()[0]
    for node, mask in zip(changed.tolist(), masks_of_words(after[changed]), strict=True):
        masks[node] = mask
    return masks


def telling_words(scorer: Scorer) -> Words | None:
    """The pairs that the data tell apart (`Scorer.telling`) as rows of bits."""
    told = scorer.telling
    return None if told is None else words_of_masks(masks_of_rows(told), scorer.n_variables)


def class_of(parents: ParentSets, telling: Words | None = None) -> Pattern:
    """The equivalence class of a graph; an arc between two that the data tell apart keeps its direction."""
    n = len(parents)
    arcs = tuple((parent, child) for child, own in enumerate(parents) for parent in own)
    dag = extension_of(Pattern.of_pairs(n, arcs, ()))
    if dag is None:
        raise ValueError("the graph has a cycle")
    return completed(dag, telling)


def cliques_within(members: int, adjacent: list[int]) -> list[int]:
    """Every set of these nodes whose members are pairwise adjacent, the empty one first."""
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

    0 if the blocked nodes cut every such path. With a `length` of 2 the step from source straight to
    target does not count. The path is a shortest one, so that few changes of the graph can touch it.
    """
    steps = [own | either for own, either in zip(pattern.children, pattern.undirected, strict=True)]
    return _path(words_of_masks(steps, pattern.n), source, target, blocked, length)


def _path(steps: Words, source: int, target: int, blocked: int, length: int) -> int:
    from bayescout.kernels.classes import find_path

    everyone = (1 << len(steps)) - 1
    seen, path = words_of_masks([blocked & everyone, 0], len(steps))
    find_path(steps, np.array((source, target, length)), seen, path)
    return int.from_bytes(path.tobytes(), "little")


Triple = tuple[int, int, int]


def direct_by_rules(
    pattern: Pattern, ambiguous: Set[Triple] = frozenset(), check: Callable[[], None] = lambda: None
) -> None:
    """Apply Meek's four rules (1995); an edge that they direct both ways, or into a cycle, is left.

    As `graph.equivalence.meek`, but for patterns that may contradict themselves, as tests can. An ambiguous
    triple may be a collider, so rules 1 and 3 do not rely on it.
    """
    unsure = ambiguous | {(b, c, a) for a, c, b in ambiguous}
    changed = True
    while changed:
        changed = False
        for a, b in pattern.pairs()[1]:
            check()
            forward = _must_point(pattern, a, b, unsure) and directable(pattern, a, b)
            backward = _must_point(pattern, b, a, unsure) and directable(pattern, b, a)
            if forward != backward:
                pattern.direct(*((a, b) if forward else (b, a)))
                changed = True


def _must_point(pattern: Pattern, a: int, b: int, unsure: Set[Triple]) -> bool:
    """Return True if one of the rules directs a - b as a -> b."""
    parents, children, undirected = pattern.parents, pattern.children, pattern.undirected
    far = ~(parents[b] | children[b] | undirected[b] | 1 << b)  # not joined to b
    through = bits(undirected[a] & parents[b])
    return (
        any((c, a, b) not in unsure for c in bits(parents[a] & far))
        or bool(children[a] & parents[b])
        or any(
            not (parents[c] | children[c] | undirected[c]) >> d & 1 and (c, a, d) not in unsure
            for c, d in combinations(through, 2)
        )
        or any(parents[d] & undirected[a] & far for d in bits(parents[b]))
    )


def directable(pattern: Pattern, a: int, b: int) -> bool:
    """Return True if a -> b is there, or a - b can be made so without a directed cycle."""
    arcs = Pattern(pattern.parents, pattern.children, [0] * len(pattern.parents))
    there = bool(pattern.parents[b] >> a & 1)
    return there or (bool(pattern.undirected[b] >> a & 1) and not semi_directed_path(arcs, b, a, 0))


def member_keeping(pattern: Pattern, rules: Rules, telling: Words | None = None) -> Extension | None:
    """A member of the class that keeps the rules; None if there is none.

    Each edge is directed as required and forbidden arcs demand, and the rest extended within the limits.
    """
    required, into, out_of = _rule_masks(rules)
    known = pattern.copy()
    for a, b in required:
        if not known.undirected[a] >> b & 1 and not known.children[a] >> b & 1:
            return None
        known.direct(a, b)
    if any(own & ~may for own, may in zip(known.parents, into, strict=True)):
        return None
    for a, others in enumerate(pattern.undirected):
        for b in bits(others & known.undirected[a] & ~out_of[a]):
            if not out_of[b] >> a & 1:
                return None
            known.direct(b, a)
    found = _extended(known.rows(), rules.max_parents)
    # The knowledge may itself create a new v-structure.
    if found is None or (_completed(*found, telling) != pattern.rows()).any():
        return None
    return Extension(masks_of_words(found[0]), found[1].tolist())


@lru_cache(maxsize=4)
def _rule_masks(rules: Rules) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """The required arcs, and the nodes that may be parents and children of each node."""
    required = [(int(a), int(b)) for a, b in zip(*rules.required.nonzero(), strict=True)]
    return required, masks_of_rows(rules.allowed.T), masks_of_rows(rules.allowed)
