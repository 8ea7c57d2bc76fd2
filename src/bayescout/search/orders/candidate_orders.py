"""Orders of the variables of a wide table, where only candidates of each other are joined.

The same trees, moves and ties as over all pairs, in memory proportional to the candidates. A variable that
moves past others that are no candidates of it changes no parents, so it is tried only between its candidates;
of the equal places between two of them it goes to the first. See docs/decisions/wide-tables.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Family, Floats, Ints, Parents
from bayescout.search.frame.candidates import arcs_of, coparents, moves_per_step, ordered, outside, widened
from bayescout.search.frame.overlooked import MOST_LOOKED_AT, overlooked
from bayescout.search.frame.problem import MIN_GAIN, Pairs, ParentSets, Problem
from bayescout.search.orders.trees import Trees
from bayescout.statistics.screening import Neighbourhood

VISITS = 5000
"""Variables tried between two looks at the clock."""

MOST_AHEAD = 64
"""The most variables looked at ahead, to grow their trees together: twice as many each time, until a variable
is moved, which changes what the others need."""

LEAST_ROOM = 1 << 12
"""The fewest missing items, and changes of parents, for which there is room."""


class CandidateTrees(Trees):
    """Grow-shrink trees in which a child's parents are among its candidates.

    `joined` are the pairs that were added to those of the screening.
    """

    def __init__(self, problem: Problem, joined: Pairs = ()) -> None:
        assert problem.screening is not None
        known = problem.screening.neighbourhood(problem.check)
        required = [
            (parent, child) for child, own in enumerate(problem.rules.required_parents) for parent in own
        ]
        self.problem, self.joined = problem, joined
        self._rules = problem.rules
        self._lay_out(widened(widened(known, tuple(required)), joined))
        super().__init__(problem)

    def _lay_out(self, candidates: Neighbourhood) -> None:
        self.candidates = candidates
        owners = np.repeat(np.arange(candidates.n), np.diff(candidates.starts))
        self.owners = owners
        self._allowed = np.asarray(self._rules.allowed[candidates.ends, owners], bool)

    def widen(self, graph: ParentSets, scores: Floats) -> bool:
        """Add candidates that matter given the graph; return False if there are none.

        First parents of a common child. When there are no more of these, and variables are not too many,
        pairs that were screened out, but whose arc would gain as the graph now is.

        scores  (n,) that of each family of the graph
        """
        n = self.problem.n
        found = outside(self.candidates, coparents(graph))
        if not len(found) and n <= MOST_LOOKED_AT and self.candidates.n_pairs < n * (n - 1) // 2:
            found = overlooked(self.problem, graph, (), scores, self.candidates)
        if not len(found):
            return False
        self.joined = (*self.joined, *ordered(found))
        self._lay_out(widened(self.candidates, self.joined))
        self.replant(np.unique(found))
        return True

    def _ranked(self, families: Sequence[Family], own: Floats) -> tuple[Ints, Ints, Floats, Ints]:
        bounds, candidates = self._open_to(families)
        values = self.scorer.extensions_of_each(families, bounds, candidates)
        rows = np.repeat(np.arange(len(families)), np.diff(bounds))
        better = np.flatnonzero(values > own[rows] + MIN_GAIN)
        # A stable sort: of equal branches the lower variable comes first.
        ranked = better[np.lexsort((-values[better], rows[better]))]
        counts = np.bincount(rows[better], minlength=len(families))
        return counts, candidates[ranked], values[ranked], np.diff(bounds)

    def _open_to(self, families: Sequence[Family]) -> tuple[Ints, Ints]:
        """The candidates that may be further parents of each family, and where those of each begin."""
        n = self.n
        children = np.array([child for child, _ in families], dtype=np.int64)
        sizes = np.array([len(parents) for _, parents in families], dtype=np.int64)
        begins, ends = self.candidates.starts[children], self.candidates.starts[children + 1]
        counts = np.where(sizes < self.rules.max_parents[children], ends - begins, 0)
        rows = np.repeat(np.arange(len(families)), counts)
        entries = np.arange(len(rows)) + np.repeat(begins - np.cumsum(counts) + counts, counts)
        candidates = self.candidates.ends[entries].astype(np.int64)
        taken = np.repeat(np.arange(len(families)), sizes) * n
        taken += np.fromiter((v for _, parents in families for v in parents), np.int64, len(taken))
        kept = self._allowed[entries] & ~np.isin(rows * n + candidates, taken)
        bounds = np.concatenate(([0], np.cumsum(np.bincount(rows[kept], minlength=len(families)))))
        return bounds, candidates[kept]


class CandidateStanding:
    """An order with its network: the parents of each variable among its predecessors, and their scores."""

    def __init__(self, problem: Problem, trees: CandidateTrees, order: Sequence[int]) -> None:
        from bayescout.kernels import trees as kernels

        self.problem, self.trees = problem, trees
        self.per_step = moves_per_step(problem.n)
        graph, local = trees.network(order)
        self.graph = list(graph)
        self._kernels, self._ahead = kernels, 1
        self._lay_out(np.array(order, dtype=np.int64), local)

    def _lay_out(self, order: Ints, local: Floats) -> None:
        n, candidates, owners = self.problem.n, self.trees.candidates, self.trees.owners
        places = np.empty(n, dtype=np.int64)
        places[order] = np.arange(n) * self._kernels.SPACE
        near = candidates.ends[np.lexsort((places[candidates.ends], owners))]
        before, after = np.full(n, -1), np.full(n, -1)
        before[order[1:]], after[order[:-1]] = order[:-1], order[1:]
        told = np.array((order[0] if n else -1, np.count_nonzero(local == -np.inf)))
        most = int(np.diff(candidates.starts).max(initial=0))
        self.line = self._kernels.Line(
            candidates.starts, near, self._held(near), places, before, after, local.copy(), told,
            np.empty((2, most + 1), np.int64), np.empty(most + 1),
        )  # fmt: skip
        self._changed = np.empty((2, max(LEAST_ROOM, most + 1)), dtype=np.int64)
        self._missing = np.empty(max(LEAST_ROOM, 2 * most), dtype=np.int64)

    def _held(self, near: NDArray[np.int32]) -> NDArray[np.int8]:
        """For each candidate of each variable on which side of it required arcs hold it."""
        required, owners = self.problem.rules.required, self.trees.owners
        held = np.zeros(len(near), dtype=np.int8)
        if any(self.problem.rules.required_parents):
            held[np.asarray(required[near, owners])] = self._kernels.FIRST
            held[np.asarray(required[owners, near])] = self._kernels.LAST
        return held

    @property
    def order(self) -> tuple[int, ...]:
        return tuple(np.argsort(self.line.places).tolist())

    @property
    def local(self) -> Floats:
        """The score of each variable."""
        found: Floats = self.line.local
        return found

    @property
    def joined(self) -> Pairs:
        return self.trees.joined

    def improve(self, turn: int, still: int, score: float) -> tuple[int, int, int]:
        """Move variables in turn, each to its best place, until a step is full or none has a better one.

        turn   the first one; `still` have stayed in place before it
        score  that of the order
        Returns whose turn is next, how many have stayed by then, and how many were moved.
        """
        n, trees, taken = self.problem.n, self.trees, 0
        if self.problem.rules.order is not None:
            return turn, n, 0
        visited, span = 1, np.array((turn, still, VISITS, 0, self._ahead))
        while span[1] < n and taken < self.per_step:
            self.problem.check()
            if visited and trees.is_full():
                trees.forget()
            span[3] = self.per_step - taken
            listed, moves, changes, families, visited = self._kernels.move_in_turn(
                trees.for_kernel(), self.line, span, score, MIN_GAIN, self._changed, self._missing
            )
            taken += moves
            self._ahead = span[4] = max(1, self._ahead // 2) if moves else min(MOST_AHEAD, 2 * self._ahead)
            trees.scorer.meter(families)
            for variable, node in self._changed[:, :changes].T.tolist():
                self.graph[variable] = trees.parents_at(node)
            trees.supply(self._missing[:listed])
        return int(span[0]), int(span[1]), taken

    def wider(self) -> CandidateStanding | None:
        """The same order with further candidates that matter given its graph; None if there are none."""
        if not self.trees.widen(tuple(self.graph), self.local):
            return None
        return CandidateStanding(self.problem, self.trees, self.order)


def outsiders(problem: Problem, graph: Sequence[Parents]) -> Pairs:
    """The arcs of a graph between variables that are no candidates of each other."""
    assert problem.screening is not None
    return ordered(outside(problem.screening.neighbourhood(problem.check), arcs_of(graph)))
