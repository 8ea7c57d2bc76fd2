"""Lists of scored parent sets, best first: the form in which searches hold and exchange them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from bayescout.arrays import Family, Floats, Ints, Parents
from bayescout.errors import TooLargeError
from bayescout.search.bitsets import Words, members_of, words_of_sets
from bayescout.search.frame.problem import ParentSets, Problem
from bayescout.wording import setting

MAX_SETS = 3_000_000
"""The most parent sets listed, over all children, if all up to a size are."""


@dataclass(frozen=True, eq=False)
class ParentSetLists:
    """The parent sets of every child with their scores, best first for each child.

    sets    (m, words) uint64   the sets of the first child, then those of the next
    starts  (n + 1,) int64      the start of each child's sets
    scores  (m,) float64
    """

    sets: Words
    starts: Ints
    scores: Floats
    _decoded: dict[int, Parents] = field(default_factory=dict, repr=False)

    @classmethod
    def joined(cls, sets: Sequence[Words], scores: Sequence[Floats]) -> ParentSetLists:
        """The lists of all children, from one list per child."""
        starts = np.concatenate(([0], np.cumsum([len(own) for own in scores]))).astype(np.int64)
        return cls(np.concatenate(sets), starts, np.concatenate(scores))

    @property
    def n(self) -> int:
        return len(self.starts) - 1

    def sets_of(self, child: int) -> Words:
        return self.sets[self.starts[child] : self.starts[child + 1]]

    def scores_of(self, child: int) -> Floats:
        return self.scores[self.starts[child] : self.starts[child + 1]]

    def tops(self) -> Floats:
        """The best score of each child, whatever the parents of the others."""
        return self.scores[self.starts[:-1]]

    def parents_in(self, row: int) -> Parents:
        """The parents in a row."""
        found = self._decoded.get(row)
        if found is None:
            found = self._decoded[row] = members_of(self.sets[row])
        return found

    def parents(self, child: int, place: int) -> Parents:
        """The parents of the set at a place in a child's list."""
        return self.parents_in(int(self.starts[child]) + place)

    def best(self, child: int, before: Words) -> tuple[Parents, float]:
        """The best set within some variables, given as words, and its score."""
        from bayescout.kernels.orders import first_within

        row = int(self.starts[child]) + int(first_within(self.sets_of(child), before))
        return self.parents_in(row), float(self.scores[row])

    def network(self, rows: Ints) -> tuple[ParentSets, float]:
        """The graph of the rows chosen for every child, and its score."""
        return tuple(self.parents_in(row) for row in rows.tolist()), float(np.sum(self.scores[rows]))

    @property
    def arrays(self) -> tuple[Words, Ints, Floats]:
        """The argument `lists` of `kernels.optimal`."""
        return self.sets, self.starts, self.scores

    @cached_property
    def indexed(self) -> tuple[Any, ...]:
        """The argument `lists` of `kernels.insertions`: the arrays, and where each variable's sets are."""
        from bayescout.kernels.insertions import index_lists

        begins = np.empty(self.n * self.n + 1, dtype=np.int64)
        holders = np.empty(int(np.bitwise_count(self.sets).sum()), dtype=np.int64)
        index_lists(self.sets, self.starts, begins, holders)
        return *self.arrays, begins, holders


def all_sets(problem: Problem, size: int) -> ParentSetLists:
    """For every child all allowed parent sets up to a size (Mauá 2015)."""
    lists = [_allowed_sets(problem, child, size) for child in range(problem.n)]
    total = sum(map(len, lists))
    if total > MAX_SETS:
        raise TooLargeError(
            f"there are {total:,} parent sets of up to {size} parents, more than the {MAX_SETS:,} "
            f"that are enumerated; use a smaller size, forbid arcs, or {setting('parents', 'greedy')}"
        )
    families: list[Family] = [(child, own) for child, sets in enumerate(lists) for own in sets]
    scores = np.split(problem.scorer.many(families), np.cumsum([len(sets) for sets in lists])[:-1])
    masks, ranked = [], []
    for sets, own in zip(lists, scores, strict=True):
        # A stable sort: of sets with equal scores the one listed first, the smaller, comes first.
        order = np.argsort(-own, kind="stable")
        masks.append(words_of_sets(sets, problem.n)[order])
        ranked.append(own[order])
    return ParentSetLists.joined(masks, ranked)


def _allowed_sets(problem: Problem, child: int, size: int) -> list[Parents]:
    rules = problem.rules
    required = rules.required_parents[child]
    free = [int(v) for v in np.flatnonzero(rules.allowed[:, child]) if v not in required]
    most = min(size, int(rules.max_parents[child]))
    found: list[Parents] = []
    for k in range(max(0, most - len(required)) + 1):
        found += [tuple(sorted((*required, *some))) for some in combinations(free, k)]
        if len(found) > MAX_SETS:
            break
    return found
