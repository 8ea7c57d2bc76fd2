"""Candidate parent sets: for every child each set that can be in an optimal network.

A set is left out when a subset of it scores at least as well: putting the subset in its place keeps a graph
acyclic and loses nothing. Sets are looked at by size, and none is looked at above a set of which a bound
(`search/parent_sets/superset_bounds.py`) says that no superset can beat what is known already.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescout.errors import TooLargeError
from bayescout.search.bitsets import Masks, mask_words, masks_of, members_of
from bayescout.search.frame.problem import Problem
from bayescout.search.parent_sets.expansion import BEGIN_SIZE, Refinement, all_counted, narrow, refines
from bayescout.search.parent_sets.frontier import Level, count_sets, first_levels
from bayescout.search.parent_sets.superset_bounds import ceilings_of
from bayescout.statistics.counts import DENSE_CEILING
from bayescout.statistics.families import Floats, Ints

MOST_SETS = 16_000_000
"""Parent sets held at once while they are enumerated, over all children: one or two gigabytes."""

MOST_SCORED = 50_000_000
"""Parent sets that are scored at most where no bound is known that could stop the enumeration early."""

SUBSET_VARIABLES = 20
"""Variables up to which every subset of them may be looked at, to score all families together."""

STEP_ROWS = 1_000_000_000
"""Rows times parent sets of one step of the enumeration: about a second."""

PORTION_ROWS = 200_000_000
"""Rows times parent sets between two looks at the clock."""

HELD_BYTES = 2**30
"""What the children whose larger sets are looked for at the same time hold, unless one alone holds more."""

CHILDREN = 8
"""Children whose larger sets are looked for in one step, for any number of threads: runs resume by steps."""

PLAIN_ROWS = 10_000
"""What a parent set counts for where a step's work is not known: a score asked through Python."""

SLICE = 2048
"""Parent sets scored by one thread at a time."""


@dataclass(frozen=True, eq=False)
class CandidateSets:
    """The candidate parent sets of every child, best first; of equals the smaller, then the lower index.

    masks    for each child (k, words) uint64: bit v of word v // 64 is set where v is a parent
    scores   for each child (k,) local scores, falling
    scored   parent sets that were scored to find them

    The set of the required parents is always there, even where it cannot be scored (minus infinity), so
    some set fits any order of the variables that the required arcs allow.
    """

    masks: tuple[Masks, ...]
    scores: tuple[Floats, ...]
    scored: int = 0

    @property
    def n(self) -> int:
        return len(self.masks)

    @property
    def total(self) -> int:
        """The number of sets over all children."""
        return sum(map(len, self.scores))

    def parents(self, child: int, place: int) -> tuple[int, ...]:
        """The members of one set, rising."""
        return members_of(self.masks[child][place])

    def best(self, child: int, before: Masks) -> tuple[tuple[int, ...], float]:
        """The best set within some variables, given as a bit mask, and its score."""
        from bayescout.kernels.orders import first_within

        place = int(first_within(self.masks[child], before))
        return self.parents(child, place), float(self.scores[child][place])


def candidate_sets(problem: Problem, limit: int | None = None) -> CandidateSets:
    """All candidate parent sets of up to `limit` parents (None: as many as the rules allow).

    Refuses, with the size, what would not fit.
    """
    enumeration = Enumeration(problem, limit)
    for _ in enumeration.steps():
        pass
    return enumeration.found()


def kernel_data(problem: Problem) -> Any:
    """What kernels score from, or None for a score that they cannot."""
    bound: Any = problem.score.score
    return bound.for_kernel() if hasattr(bound, "for_kernel") else None


def rows_of_subsets(problem: Problem, limit: int | None = None) -> int | None:
    """Rows times subsets, where a term for each subset of all variables is less work than a score a set.

    So it is for BDeu of few variables, whose bound stops late, on tables without weights; else None.
    """
    n, data = problem.n, kernel_data(problem)
    if n > SUBSET_VARIABLES or not refines(data, n) or not all_counted(data):
        return None
    pays = 4 * count_sets(first_levels(problem, limit)) > int(2**n) * n
    return int(data[0].shape[1]) << n if pays else None


class Enumeration:
    """Parent sets by rising size, all children in turn; `steps` yields about once a second."""

    def __init__(self, problem: Problem, limit: int | None = None) -> None:
        self.problem = problem
        self.scored = 0
        bound: Any = problem.score.score
        self._bound = bound
        self._ceilings = ceilings_of(bound, problem.rules)
        self._levels = first_levels(problem, limit)
        self._data = kernel_data(problem)
        self._together = rows_of_subsets(problem, limit) is not None
        self._rows = PLAIN_ROWS if self._data is None else int(bound.statistics.n_rows)
        self._work = 0
        self._check_unbounded()

    # ---- the loop

    def steps(self) -> Iterator[None]:
        for level in self._levels:
            self._begin(level)
        yield
        if self._together:
            yield from self._by_subsets()
        while True:
            growing = [level for level in self._levels if level.room and len(level.members)]
            if not growing:
                return
            if refines(self._data, self.problem.n) and growing[0].size >= BEGIN_SIZE:
                yield from self._refine([level for level in growing if narrow(self._data, level)])
            for level in growing:
                if level.room:
                    yield from self._grow(level)

    def _begin(self, level: Level) -> None:
        """The set of the required parents."""
        score = self.problem.score.many([(level.child, level.base)])
        self._keep(level, np.zeros((1, 0), dtype=np.int64), score)
        ceiling = self._ceilings[level.child]
        level.best = score
        above = ceiling.above(level.base, np.zeros((1, 0), dtype=np.int64), score, None)
        level.ceiling = float(above[0])
        if not level.ceiling > score[0]:
            level.members = level.members[:0]

    def _grow(self, level: Level) -> Iterator[None]:
        """Score the sets of the next size of one child, and keep those that matter."""
        ceiling = self._ceilings[level.child]
        grown, bests = self._joined(level)
        members = np.concatenate([level.members[grown[:, 0]], grown[:, 1:]], axis=1)
        worth = ceiling.worth(level.base, level.free[members], bests)
        grown, bests, members = grown[worth], bests[worth], members[worth]
        scores = np.empty(len(grown))
        occupied = np.zeros(len(grown), dtype=np.int64)
        for some in self._portions(grown):
            self.problem.check()
            self._score(level, grown, some, scores, occupied)
            if self._work >= STEP_ROWS:
                self._work = 0
                yield
        better = scores > bests
        self._keep(level, members[better], scores[better])
        level.room -= 1
        level.best = np.maximum(bests, scores)
        above = ceiling.above(level.base, level.free[members], scores, occupied)
        alive = (above > level.best) & (level.room > 0)
        level.members, level.best = members[alive], level.best[alive]
        level.ceiling = float(above[alive].max(initial=-math.inf))

    def _refine(self, waiting: list[Level]) -> Iterator[None]:
        """The larger sets of every child, some of each at a time; nothing but what is found is held."""
        begun: list[Refinement] = []
        while waiting or begun:
            while waiting and sum(other.held for other in (*begun, *begun[-1:])) <= HELD_BYTES:
                begun.append(Refinement(self._data, waiting.pop(0)))
                yield
            for first in range(0, len(begun), CHILDREN):
                self.problem.check()
                self._run(Refinement.look_on, begun[first : first + CHILDREN])
                yield
            for refinement in begun:
                if refinement.done:
                    self._refined(self._levels[refinement.child], refinement)
            begun = [refinement for refinement in begun if not refinement.done]

    def _refined(self, level: Level, refinement: Refinement) -> None:
        masks, scores = refinement.found()
        level.masks, level.scores = [masks[:, None]], [scores]
        level.room, level.members = 0, level.members[:0]
        self.scored += refinement.looked_at
        self.problem.score.asked += refinement.looked_at
        self.problem.score.compiled += refinement.looked_at

    # ---- few variables

    def _by_subsets(self) -> Iterator[None]:
        """The undominated sets from a term for each subset, subsets with the same beginning together."""
        from bayescout.kernels.subsets import subset_terms

        n = self.problem.n
        fixed = max(0, n - 12)
        family_terms = np.empty(1 << n)
        parts = [slice(prefix, prefix + 1) for prefix in range(1 << fixed)]
        together = max(4, STEP_ROWS // (self._rows << 12))
        for begin in range(0, len(parts), together):
            some = parts[begin : begin + together]
            self.problem.check()
            self._run(lambda part: subset_terms(self._data, fixed, part.start, family_terms), some)
            yield
        for level in self._levels:
            self._pick(level, family_terms)

    def _pick(self, level: Level, family_terms: Floats) -> None:
        from bayescout.kernels.subsets import undominated_sets

        required, allowed = (sum(1 << int(v) for v in some) for some in (level.base, level.free))
        rules = np.array([allowed | required, required, len(level.base) + level.room], dtype=np.int64)
        best, keep = np.empty(len(family_terms)), np.empty(len(family_terms), dtype=bool)
        looked_at = int(undominated_sets(family_terms, level.child, rules, best, keep))
        self.scored += looked_at - 1
        self.problem.score.asked += looked_at - 1
        self.problem.score.compiled += looked_at - 1
        found = np.flatnonzero(keep)
        masks = found.astype(np.uint64)[:, None]
        ranks = sorted(range(len(found)), key=lambda i: (int(found[i]).bit_count(), members_of(masks[i])))
        level.masks = [masks[ranks]]
        level.scores = [(family_terms[found | (1 << level.child)] - family_terms[found])[ranks]]
        level.room, level.members = 0, level.members[:0]

    # ---- sets of one size from those of the last

    def _joined(self, level: Level) -> tuple[Ints, Floats]:
        from bayescout.kernels.candidates import grow_sets, set_keys

        binomials = self._binomials(level)
        keys = np.empty(len(level.members), dtype=np.int64)
        set_keys(level.members, binomials, keys)
        nothing = np.empty((0, 2), dtype=np.int64), np.empty(0)
        count = grow_sets(level.members, keys, level.best, binomials, *nothing)
        self._check_room(level, count)
        grown, bests = np.empty((count, 2), dtype=np.int64), np.empty(count)
        if count:
            grow_sets(level.members, keys, level.best, binomials, grown, bests)
        return grown, bests

    def _binomials(self, level: Level) -> Ints:
        f, k = len(level.free), level.size + 1
        if math.comb(f, k) >= 2**62:
            raise TooLargeError(self._too_many(level, math.comb(f, k)))
        return np.array([[math.comb(a, b) for b in range(k + 1)] for a in range(f + 1)], dtype=np.int64)

    # ---- scores

    def _portions(self, grown: Ints) -> list[slice]:
        """Slices of the grown sets, each with whole bases, between which the run may be ended."""
        most = max(SLICE, PORTION_ROWS // max(1, self._rows))
        return _whole_slices(grown[:, 0], most)

    def _score(self, level: Level, grown: Ints, some: slice, scores: Floats, occupied: Ints) -> None:
        count = some.stop - some.start
        self.scored += count
        self._work += count * self._rows
        data = self._data
        if data is None:
            families = self._families(level, grown[some])
            scores[some] = self.problem.score.many(families)
            return
        self.problem.score.asked += count
        self.problem.score.compiled += count
        parts = [
            slice(some.start + p.start, some.start + p.stop) for p in _whole_slices(grown[some, 0], SLICE)
        ]
        self._run(
            lambda part: self._score_part(data, level, grown[part], scores[part], occupied[part]), parts
        )
        lost = np.flatnonzero((scores[some] == -np.inf) & (occupied[some] > 0))
        if len(lost):
            first = some.start + int(lost[0])
            (child, parents) = self._families(level, grown[first : first + 1])[0]
            self._bound.hooks.too_large(
                self._bound.statistics.too_large(child, parents, int(occupied[first]))
            )

    def _score_part(self, data: Any, level: Level, grown: Ints, scores: Floats, occupied: Ints) -> None:
        from bayescout.kernels.candidates import score_grown

        rows, first = np.unique(grown[:, 0], return_index=True)
        fixed = np.tile(np.array(level.base, dtype=np.int64), (len(rows), 1))
        child = np.full((len(rows), 1), level.child, dtype=np.int64)
        families = np.concatenate([fixed, level.free[level.members[rows]], child], axis=1)
        starts = np.append(first, len(grown)).astype(np.int64)
        limits = np.array([self._bound.statistics.dense_limit, DENSE_CEILING])
        score_grown(data, limits, families, starts, level.free[grown[:, 1]], scores, occupied)

    def _families(self, level: Level, grown: Ints) -> list[tuple[int, tuple[int, ...]]]:
        members = np.concatenate([level.members[grown[:, 0]], grown[:, 1:]], axis=1)
        base = level.base
        return [(level.child, tuple(sorted((*base, *own)))) for own in level.free[members].tolist()]

    def _run(self, work: Callable[[Any], None], parts: Sequence[Any]) -> None:
        workers = min(int(getattr(self._bound, "workers", 1)), len(parts))
        if workers <= 1:
            for part in parts:
                work(part)
            return
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(work, parts))

    # ---- what is found

    def _keep(self, level: Level, members: Ints, scores: Floats) -> None:
        masks = np.zeros((len(members), mask_words(self.problem.n)), dtype=np.uint64)
        masks[:] = masks_of([level.base], self.problem.n)
        for column in level.free[members].T:
            words, bits = column >> 6, np.uint64(1) << (column & 63).astype(np.uint64)
            masks[np.arange(len(masks)), words] |= bits
        level.masks.append(masks)
        level.scores.append(scores)

    def found(self) -> CandidateSets:
        """The candidate sets met so far, all of them when the steps have come to their end."""
        masks, scores = [], []
        for level in self._levels:
            own = np.concatenate(level.scores)
            order = np.argsort(-own, kind="stable")
            masks.append(np.concatenate(level.masks)[order])
            scores.append(own[order])
        return CandidateSets(tuple(masks), tuple(scores), self.scored)

    def upper_bound(self) -> float:
        """No network that keeps the rules scores more, whatever has been looked at so far."""
        tops = []
        for level in self._levels:
            known = max((float(own.max(initial=-math.inf)) for own in level.scores), default=-math.inf)
            tops.append(max(known, level.ceiling) if level.room and len(level.members) else known)
        return math.fsum(tops)

    # ---- sizes

    def _check_unbounded(self) -> None:
        """Without a bound the number of sets is known before the work."""
        levels = [(lv, c) for lv, c in zip(self._levels, self._ceilings, strict=True) if not c.stops]
        total = count_sets([lv for lv, _ in levels])
        if total <= MOST_SCORED:
            return
        fits = _largest_that_fits([len(lv.free) for lv, _ in levels])
        raise TooLargeError(
            f"there are {total:,} parent sets, more than the {MOST_SCORED:,} that are scored where no bound "
            f"of this score stops the enumeration early; limit max_parents to {fits}, forbid arcs, or use "
            f"another search"
        )

    def _check_room(self, level: Level, count: int) -> None:
        held = sum(len(other.members) for other in self._levels) + count
        if held > MOST_SETS:
            raise TooLargeError(self._too_many(level, held))

    def _too_many(self, level: Level, count: int) -> str:
        size = level.size + 1 + len(level.base)
        return (
            f"{count:,} parent sets of {size} parents would have to be held at once, more than the "
            f"{MOST_SETS:,} that are; limit max_parents to {size - 1}, forbid arcs, or use another search"
        )


def _whole_slices(bases: Ints, most: int) -> list[slice]:
    """Slices of at most about `most` items that never part the items of one base."""
    slices, begin = [], 0
    while begin < len(bases):
        end = min(len(bases), begin + most)
        if end < len(bases):
            end = int(np.searchsorted(bases, bases[end - 1], side="right"))
        slices.append(slice(begin, end))
        begin = end
    return slices


def _largest_that_fits(free: Sequence[int]) -> int:
    size = 0
    while sum(math.comb(f, k) for f in free for k in range(size + 2)) <= MOST_SCORED:
        size += 1
    return size


__all__ = [
    "CandidateSets",
    "Enumeration",
    "Masks",
    "candidate_sets",
    "mask_words",
    "masks_of",
    "members_of",
]
