"""Greedy equivalence search on candidate lists: near-linear in the number of variables, in compiled code.

The operators, their validity and the ties between them are those of `operators` and `reversals`; only pairs
that are candidates of each other are joined. See docs/decisions/wide-tables.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from bayescout.arrays import Bools, Floats, Ints
from bayescout.search.frame.problem import MIN_GAIN, Edges, Pairs, ParentSets, Problem
from bayescout.search.frame.wide_rules import WideRules
from bayescout.statistics.screening import Neighbourhood

OPERATORS, WATCHES, LOG, LAST = 1 << 16, 1 << 16, 1 << 16, 1 << 12
"""First sizes of stores that grow, and sizes of two that do not."""

PIECE = 2000
"""Operators taken between two looks at the clock."""


class SparseWalk:
    """A class in sparse form, a member of it with its local scores, and the phase that it is in.

    The candidates grow: two parents of one child, which matter to each other only once both arcs are in,
    become candidates of each other in `widen`.
    """

    def __init__(self, problem: Problem, graph: ParentSets, phase: int, joined: Pairs = ()) -> None:
        assert problem.screening is not None
        self.problem = problem
        self.columns, self.terms = problem.scorer.wide_arrays(MIN_GAIN)
        self.graph = graph
        self.locals = self._local_scores(graph, range(problem.n))
        self.joined = joined
        pairs = np.array(joined, dtype=np.int64).reshape(-1, 2)
        known = problem.screening.neighbourhood(problem.check)
        self._lay_out(known.with_pairs(pairs[:, 0], pairs[:, 1]) if joined else known, graph)
        self.enter(phase)

    @property
    def score(self) -> float:
        return float(self.locals.sum())

    @property
    def undirected(self) -> int:
        """The number of edges without direction in the class."""
        return int((self._ways() == 1).sum()) // 2

    # ---- setting up

    def _lay_out(self, neighbourhood: Neighbourhood, graph: ParentSets) -> None:
        """Make the sparse form of a graph, with room for the arcs between candidates and its own."""
        from bayescout.kernels import links as kernels
        from bayescout.kernels.sparse import Rules

        p, rules = self.problem.n, self.problem.rules
        assert isinstance(rules, WideRules)
        parents, children = _arcs(graph)
        self.candidates = neighbourhood.with_pairs(parents, children) if len(parents) else neighbourhood
        starts, ends = self.candidates.starts, self.candidates.ends
        enters = rules.entering(starts, ends)
        self.rules = Rules(rules.is_free, starts, ends, enters, rules.max_parents)
        m = len(ends)
        self.links = kernels.Links(
            starts, np.zeros(p, np.int64), np.empty(m, np.int32), np.empty(m, np.int8), np.zeros(m, np.int64)
        )
        self.work = _work(p, LOG)
        kernels.link_all(self.links, parents, children)
        kernels.label_all(self.links, self.work)

    def enter(self, phase: int) -> None:
        """Begin a phase: no operator of it is known yet."""
        from bayescout.kernels.sparse import Store

        p = self.problem.n
        self.phase = phase
        arrays = [
            *(np.zeros(p, np.int64) for _ in range(4)),
            *_operators(OPERATORS),
            np.full(p, -1, np.int64),
            *_watches(WATCHES),
            np.zeros(p, np.int64),
            np.full(p, -1, np.int64),
            np.arange(p - 1, -1, -1, dtype=np.int64),
            np.ones(p, np.int8),
            np.zeros(8, np.int64),
            np.zeros(LAST, np.int64),
        ]
        self.store = Store(*arrays)
        self.store.counters[3] = p

    # ---- steps

    def take(self, most: int) -> int:
        """Take the best operators of the phase, at most so many; returns their number, 0 if none gains."""
        from bayescout.kernels.sparse import DONE, MORE_OPERATORS, MORE_WATCHES, walk

        before = int(self.store.counters[4])
        while (taken := int(self.store.counters[4]) - before) < most:
            self.problem.check()
            steps = min(PIECE, most - taken)
            why = walk(
                self.links, self.columns, self.terms, self.rules, self.work, self.store, self.phase, steps
            )
            if why == DONE:
                break
            if why == MORE_OPERATORS:
                self._grow(4, _operators(2 * len(self.store.gains)))
            elif why == MORE_WATCHES:
                self._grow(9, _watches(2 * len(self.store.nexts)))
        taken = int(self.store.counters[4]) - before
        if taken:
            self._read()
        return taken

    def _grow(self, first: int, larger: Sequence[Any]) -> None:
        """Replace the arrays of the store from the one at `first` on by larger ones with the same content."""
        fields = list(self.store)
        for at, array in enumerate(larger, first):
            array[: len(fields[at])] = fields[at]
            fields[at] = array
        self.store = type(self.store)(*fields)

    def _read(self) -> None:
        """Take the member that `ges` would have after the last operator, and the scores that changed."""
        from bayescout.kernels.links import extend_sparse

        ways = self._ways()
        p, m = self.problem.n, len(ways)
        self._before_completion(ways)
        parent_of, left = np.zeros(m, np.int8), np.empty(p, np.int8)
        placed = extend_sparse(self.links, ways, left, parent_of)
        free = self.rules.free
        graph = _parent_sets(self.links, parent_of if placed == p and free else self._member())
        changed = [v for v, (one, two) in enumerate(zip(self.graph, graph, strict=True)) if one != two]
        self.locals = self.locals.copy()
        self.locals[changed] = self._local_scores(graph, changed)
        self.graph = graph

    def _member(self) -> Any:
        """1 where the neighbour is a parent of the node in the member in hand."""
        return (self.links.kinds & 1) ^ 1

    def _ways(self) -> Any:
        from bayescout.kernels.links import ways_of

        ways = np.zeros(len(self.links.ends), np.int8)
        ways_of(self.links, ways)
        return ways

    def _before_completion(self, ways: Any) -> None:
        """Change the class into the pattern that the last operator made of the class before it."""
        from bayescout.kernels.sparse import undo_completion

        undo_completion(self.links, self.work, self.store, ways)

    def _local_scores(self, graph: ParentSets, nodes: Sequence[int]) -> Floats:
        """The score of each of these families."""
        return self.problem.scorer.fleeting([(v, graph[v]) for v in nodes])

    def widen(self) -> None:
        """Make parents of one child candidates of each other; the candidates now include all arcs."""
        pairs = _coparents(self.graph)
        wider = self.candidates.with_pairs(pairs[:, 0], pairs[:, 1])
        if wider.n_pairs > self.candidates.n_pairs:
            self.joined = (*self.joined, *map(tuple, pairs.tolist()))
            self._lay_out(wider, self.graph)


def class_pairs(parents: ParentSets) -> Edges:
    """The directed and the undirected pairs of the class of a graph, in time about linear in its arcs."""
    from bayescout.kernels import links as kernels

    n = len(parents)
    above, below = _arcs(parents)
    degrees = np.bincount(np.concatenate((above, below)), minlength=n)
    starts = np.concatenate(([0], np.cumsum(degrees))).astype(np.int64)
    m = int(starts[-1])
    links = kernels.Links(
        starts, np.zeros(n, np.int64), np.empty(m, np.int32), np.empty(m, np.int8), np.zeros(m, np.int64)
    )
    work = _work(n, 1)
    kernels.link_all(links, above, below)
    kernels.label_all(links, work)
    ways = np.empty(m, np.int8)
    kernels.ways_of(links, ways)
    owners = np.repeat(np.arange(n), degrees)
    directed, either = ways == kernels.AWAY, (ways == kernels.EITHER) & (owners < links.ends)
    first, second = (
        tuple(zip(owners[some].tolist(), links.ends[some].tolist(), strict=True))
        for some in (directed, either)
    )
    return first, second


def _work(n: int, log: int) -> Any:
    """Scratch for graphs of n nodes."""
    from bayescout.kernels.links import Work

    arrays: list[Any] = [np.zeros(n, dtype=np.int64) for _ in range(8)]
    arrays += [np.ones(2, np.int64), np.empty((log, 3), np.int64), np.zeros(4, np.int64)]
    return Work(*arrays)


def _operators(size: int) -> list[Any]:
    return [np.empty(size), np.empty(size, np.int32), np.empty(size, np.int32), np.zeros(size, np.int8)]


def _watches(size: int) -> list[Any]:
    return [np.full(size, -2, np.int64), *(np.empty(size, np.int64) for _ in range(3))]


def _arcs(parents: ParentSets) -> tuple[Ints, Ints]:
    """The parents and the children of all arcs."""
    sizes = np.fromiter(map(len, parents), np.int64, len(parents))
    children = np.repeat(np.arange(len(parents)), sizes)
    return np.fromiter((v for own in parents for v in own), np.int64, int(sizes.sum())), children


def _coparents(parents: ParentSets) -> Ints:
    """All pairs of parents of one child, (k, 2)."""
    pairs = [(a, b) for own in parents for i, a in enumerate(own) for b in own[:i]]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _parent_sets(links: Any, marked: Any) -> ParentSets:
    """The parents of each node, where they are marked among its neighbours."""
    there = np.zeros(len(links.ends), dtype=bool)
    _within(links, there)
    chosen = np.flatnonzero(there & (marked == 1))
    owners = np.searchsorted(links.starts, chosen, side="right") - 1
    counts = np.bincount(owners, minlength=len(links.degrees))
    flat = links.ends[chosen].tolist()
    bounds = np.concatenate(([0], np.cumsum(counts))).tolist()
    return tuple([tuple(flat[a:b]) for a, b in pairwise(bounds)])


def _within(links: Any, out: Bools) -> None:
    """Mark the places that hold neighbours."""
    room = np.diff(links.starts)
    place = np.arange(len(out)) - np.repeat(links.starts[:-1], room)
    out[:] = place < np.repeat(links.degrees, room)
