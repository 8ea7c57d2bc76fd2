"""The best parents of each node given an order: greedily, or among all sets up to a size."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import TooLargeError
from bayescout.search.hill_climb import MIN_GAIN
from bayescout.search.problem import Problem
from bayescout.wording import setting

MAX_SETS = 3_000_000
"""Parent sets that are enumerated at most, over all nodes."""


def greedy_parents(
    problem: Problem, child: int, before: Sequence[int], limit: int | None = None
) -> tuple[tuple[int, ...], float]:
    """Add the predecessor that gains most until none does (Cooper & Herskovits 1992); parents and score.

    Begins with the required parents; ties go to the lower index.
    """
    rules, score = problem.rules, problem.score
    parents = rules.required_parents[child]
    local = score.local(child, parents)
    most = int(rules.max_parents[child]) if limit is None else min(limit, int(rules.max_parents[child]))
    free = [v for v in sorted(before) if rules.allowed[v, child] and v not in parents]
    while free and len(parents) < most:
        found = score.extensions(child, parents, np.array(free, dtype=np.int64))
        best = int(np.argmax(found))
        if found[best] <= local + MIN_GAIN:
            break
        local = float(found[best])
        parents = tuple(sorted((*parents, free.pop(best))))
    return parents, local


class ParentLists:
    """For every child all allowed parent sets up to a size, best first.

    The best set within the predecessors of an order is then the first one that fits (Mauá 2015).
    """

    def __init__(self, problem: Problem, size: int) -> None:
        self.problem = problem
        self.words = (problem.n + 63) // 64
        lists = [self._sets_of(child, size) for child in range(problem.n)]
        total = sum(len(sets) for sets in lists)
        if total > MAX_SETS:
            raise TooLargeError(
                f"there are {total:,} parent sets of up to {size} parents, more than the {MAX_SETS:,} "
                f"that are enumerated; use a smaller size, forbid arcs, or {setting('parents', 'greedy')}"
            )
        scores = problem.score.many([(child, own) for child, sets in enumerate(lists) for own in sets])
        ends = np.cumsum([len(sets) for sets in lists])
        self.sets: list[list[tuple[int, ...]]] = []
        self.scores: list[NDArray[np.float64]] = []
        self.masks: list[NDArray[np.uint64]] = []
        for child, end in enumerate(ends.tolist()):
            found = scores[end - len(lists[child]) : end]
            # A stable sort: of equal sets the one listed first, which is the smaller, comes first.
            order = np.argsort(-found, kind="stable")
            self.sets.append([lists[child][i] for i in order.tolist()])
            self.scores.append(found[order])
            self.masks.append(self._masks(self.sets[child]))

    def _sets_of(self, child: int, size: int) -> list[tuple[int, ...]]:
        rules = self.problem.rules
        required = rules.required_parents[child]
        free = [int(v) for v in np.flatnonzero(rules.allowed[:, child]) if v not in required]
        most = min(size, int(rules.max_parents[child]))
        found: list[tuple[int, ...]] = []
        for k in range(max(0, most - len(required)) + 1):
            found += [tuple(sorted((*required, *some))) for some in combinations(free, k)]
            if len(found) > MAX_SETS:
                break
        return found

    def _masks(self, sets: Sequence[tuple[int, ...]]) -> NDArray[np.uint64]:
        masks = np.zeros((len(sets), self.words), dtype=np.uint64)
        for i, own in enumerate(sets):
            for v in own:
                masks[i, v >> 6] |= np.uint64(1 << (v & 63))
        return masks

    def best(self, child: int, before: NDArray[np.uint64]) -> tuple[tuple[int, ...], float]:
        """The best set within the predecessors, given as a bit mask, and its score."""
        from bayescout.kernels.orders import first_within

        position = int(first_within(self.masks[child], before))
        return self.sets[child][position], float(self.scores[child][position])
