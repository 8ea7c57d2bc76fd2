"""Lists of parent sets, best first: all that matter if these can be enumerated, else a share that grows.

Every set up to a size that the work allows is enumerated. If these are not all, the lists grow around the
sets in use, by one parent more, one less or one exchanged, and around their own best sets by one more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from bayescout.arrays import Family, Floats, Parents
from bayescout.search.bitsets import Words, members_of, words_of_sets
from bayescout.search.frame.problem import Problem
from bayescout.search.parent_sets.enumeration import Enumeration, rows_of_subsets
from bayescout.search.parent_sets.lists import ParentSetLists

LISTED_WORK = 3_000_000_000
"""The most rows times parent sets that are enumerated: about a second."""

SUBSET_COST = 10
"""Time per row to score all families by subsets of the variables, as a multiple of that to score one set."""

GROWTH_WORK = 60_000_000
"""Rows times parent sets that are scored around the best sets of the lists each time they grow."""

Found = list[tuple[Parents, float]]


class GrowingLists:
    """The known parent sets of every child, best first; of equals the smaller, then by their bits.

    complete  True if no other set can be in an optimal network
    effort    the work to put into them, as a multiple of the usual
    """

    def __init__(self, problem: Problem, effort: float = 1.0) -> None:
        self.problem = problem
        self.effort = effort
        limit, self.complete = _size_limit(problem, effort)
        enumeration = Enumeration(problem, limit)
        for _ in enumeration.steps():
            pass
        found = enumeration.found()
        self._sets: list[Words] = [found.sets_of(child) for child in range(found.n)]
        self._scores: list[Floats] = [found.scores_of(child) for child in range(found.n)]
        self._expanded: dict[Family, None] = {}
        self._lists: ParentSetLists | None = found

    @classmethod
    def around(cls, problem: Problem, expanded: Sequence[Family], effort: float = 1.0) -> GrowingLists:
        """The lists after growing around these families."""
        made = cls(problem, effort)
        made.expand(expanded)
        return made

    @property
    def lists(self) -> ParentSetLists:
        """The lists now."""
        if self._lists is None:
            self._lists = ParentSetLists.joined(self._sets, self._scores)
        return self._lists

    @property
    def total(self) -> int:
        """The number of sets over all children."""
        return sum(map(len, self._scores))

    @property
    def expanded(self) -> tuple[Family, ...]:
        """The families that the lists have grown around."""
        return tuple(self._expanded)

    # ---- growing

    def grow(self, families: Iterable[Family]) -> bool:
        """Grow around families in use, and some more of the best ones; return True if a list has changed."""
        if self.complete:
            return False
        bases: dict[Family, None] = {}
        for child, parents in families:
            bases[child, parents] = None
            for lost in parents:
                if not self.problem.rules.required[lost, child]:
                    bases[child, tuple(p for p in parents if p != lost)] = None
        return self.expand([*(base for base in bases if base not in self._expanded), *self._best(bases)])

    def _best(self, others: dict[Family, None]) -> list[Family]:
        """The first families of all lists that are not yet expanded, as many as the work allows."""
        most = int(self.effort * GROWTH_WORK) // (self.problem.scorer.planned_rows * self.problem.n)
        found: list[Family] = []
        for rank in range(max(map(len, self._scores))):
            for child, masks in enumerate(self._sets):
                if len(found) >= most:
                    return found
                if rank < len(masks):
                    family = child, members_of(masks[rank])
                    if family not in self._expanded and family not in others:
                        found.append(family)
        return found

    def expand(self, bases: Sequence[Family]) -> bool:
        """List families, and those with one more parent that score more; return True if a list changed."""
        fresh: dict[int, Found] = {}
        for (child, parents), own in zip(bases, self.problem.scorer.many(bases).tolist(), strict=True):
            self._expanded[child, parents] = None
            found = fresh.setdefault(child, [])
            found.append((parents, own))
            found += self._extended(child, parents, own)
        changed = [self._add(child, found) for child, found in fresh.items()]
        return any(changed)

    def _extended(self, child: int, parents: Parents, own: float) -> Found:
        rules = self.problem.rules
        able = rules.allowed[:, child].copy()
        able[list(parents)] = False
        candidates = np.flatnonzero(able)
        if len(parents) >= rules.max_parents[child] or not len(candidates):
            return []
        scores = self.problem.scorer.extensions(child, parents, candidates)
        better = scores > own
        pairs = zip(candidates[better].tolist(), scores[better].tolist(), strict=True)
        return [(tuple(sorted((*parents, more))), score) for more, score in pairs]

    def _add(self, child: int, found: Found) -> bool:
        """List further sets of a child; return True if any of them is not beaten by a subset of it."""
        from bayescout.kernels.insertions import undominated

        masks = np.concatenate([self._sets[child], words_of_sets([own for own, _ in found], self.problem.n)])
        scores = np.concatenate([self._scores[child], [score for _, score in found]])
        order = np.lexsort((*masks.T, np.bitwise_count(masks).sum(axis=1), -scores))
        masks, scores = masks[order], scores[order]
        keep = np.empty(len(masks), dtype=bool)
        undominated(masks, keep)
        if np.array_equal(masks[keep], self._sets[child]):
            return False
        self._sets[child], self._scores[child] = masks[keep], scores[keep]
        self._lists = None
        return True


def _size_limit(problem: Problem, effort: float = 1.0) -> tuple[int, bool]:
    """The size up to which all sets can be enumerated within LISTED_WORK, and True if those are all."""
    most_work = int(effort * LISTED_WORK)
    rules = problem.rules
    required = rules.required.sum(axis=0)
    allowed = rules.allowed.sum(axis=0)
    together = rows_of_subsets(problem)
    if together is not None and SUBSET_COST * together <= most_work:
        return int(np.minimum(rules.max_parents, allowed).max()), True
    largest = np.minimum(rules.max_parents, allowed)
    children = list(zip((allowed - required).tolist(), required.tolist(), largest.tolist(), strict=True))
    least, most, work = int(required.max()) + 1, int(largest.max()), 0
    for size in range(1, most + 1):
        sets = sum(math.comb(free, size - own) for free, own, limit in children if own < size <= limit)
        work += sets * problem.scorer.planned_rows
        if work > most_work and size > least:
            return size - 1, False
    return most, True


def can_list_all(problem: Problem) -> bool:
    """Return True if all parent sets that matter can be enumerated in about a second."""
    return _size_limit(problem)[1]
