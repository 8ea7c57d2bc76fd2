"""Candidate parent sets: for every child, each set that can be in an optimal network.

A set is left out if a subset of it scores at least as well: replacing it by the subset keeps a graph
acyclic and loses nothing. Sets are examined by size, and the supersets of a set are skipped if a bound
(`scores/superset_bounds.py`) shows that none of them can beat the sets known already.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from bayescout.arrays import Family, Floats, Ints
from bayescout.errors import TooLargeError
from bayescout.scores.scorer import KernelPath
from bayescout.search.bitsets import members_of, word_count, words_of_sets
from bayescout.search.frame.problem import Problem
from bayescout.search.parent_sets.expansion import BEGIN_SIZE, Expansion, all_counted, expands, narrow
from bayescout.search.parent_sets.frontier import Frontier, count_sets, first_frontiers
from bayescout.search.parent_sets.lists import ParentSetLists
from bayescout.search.parent_sets.pieces import MOST_SETS as PIECE_SETS
from bayescout.search.parent_sets.pieces import pieces_of, work_of_sets

MOST_SETS = 16_000_000
"""The most parent sets held during enumeration, over all children: one or two gigabytes."""

MOST_SCORED = 50_000_000
"""The most parent sets scored if no bound is known that could stop the enumeration early."""

SUBSET_VARIABLES = 20
"""The most variables for which every subset may be visited, to score all families together."""

SUBSET_BITS, LEAST_BITS, SUBSET_ROWS = 12, 4, 100_000_000
"""Variables that subsets scored in one call differ in: SUBSET_BITS, or so many fewer that rows times subsets
are at most SUBSET_ROWS, but LEAST_BITS at least, since the other variables are counted anew in each call."""

STEP_ROWS = 1_000_000_000
"""Rows times parent sets per step of the enumeration: about a second."""

PORTION_ROWS = 200_000_000
"""Rows times parent sets after which a step may end; the clock is checked more often, after every piece."""

HELD_BYTES = 2**30
"""Memory limit for children enumerated together; one child may exceed it alone."""

CHILDREN = 8
"""Children expanded in one step, whatever the number of threads, since runs resume by steps."""

PLAIN_ROWS = 10_000
"""The rows that a parent set counts for if the work is not known: a score computed through Python."""


def candidate_sets(problem: Problem, limit: int | None = None) -> ParentSetLists:
    """All candidate parent sets of up to `limit` parents (None: as many as the rules allow).

    Of equals the smaller comes first, then the lower index. Enumerations too large to fit are refused.
    """
    enumeration = Enumeration(problem, limit)
    for _ in enumeration.steps():
        pass
    return enumeration.found()


def rows_of_subsets(problem: Problem, limit: int | None = None) -> int | None:
    """Rows times subsets, if scoring all families together by the subsets of the variables is less work.

    That is so for BDeu on few variables, as its bound stops late, on tables without weights; else None.
    """
    n, kernel = problem.n, problem.scorer.kernel
    if (
        not _is_plain(problem)
        or kernel is None
        or n > SUBSET_VARIABLES
        or not expands(kernel, n)
        or not all_counted(kernel)
    ):
        return None
    pays = 4 * count_sets(first_frontiers(problem, limit)) > int(2**n) * n
    return kernel.n_rows << n if pays else None


def _is_plain(problem: Problem) -> bool:
    """Return True if there is no user's own structure prior, which compiled code cannot ask."""
    prior = problem.scorer.prior
    return prior is None or prior.own is None


class Enumeration:
    """Parent sets by ascending size, all children in turn; `steps` yields about once per second."""

    def __init__(self, problem: Problem, limit: int | None = None) -> None:
        self.problem = problem
        self.scored = 0
        self._scorer = problem.scorer
        self._bounds = self._scorer.superset_bounds(problem.rules.allowed)
        self._frontiers = first_frontiers(problem, limit)
        self._kernel = self._scorer.kernel
        self._together = rows_of_subsets(problem, limit) is not None
        self._rows = PLAIN_ROWS if self._kernel is None else self._kernel.n_rows
        self._work = 0
        self._check_unbounded()

    # ---- the loop

    def steps(self) -> Iterator[None]:
        for frontier in self._frontiers:
            self._begin(frontier)
        yield
        if self._together:
            yield from self._by_subsets()
        while True:
            growing = [frontier for frontier in self._frontiers if frontier.room and len(frontier.members)]
            if not growing:
                return
            kernel = self._kernel
            able = kernel is not None and expands(kernel, self.problem.n) and _is_plain(self.problem)
            if kernel is not None and able and growing[0].size >= BEGIN_SIZE:
                yield from self._expand(kernel, [one for one in growing if narrow(kernel, one)])
            for frontier in growing:
                if frontier.room:
                    yield from self._grow(frontier)

    def _begin(self, frontier: Frontier) -> None:
        """Score the set of the required parents."""
        score = self._scorer.many([(frontier.child, frontier.base)])
        self._keep(frontier, np.zeros((1, 0), dtype=np.int64), score)
        bound = self._bounds[frontier.child]
        frontier.best = score
        above = bound.above(frontier.base, np.zeros((1, 0), dtype=np.int64), score, None)
        frontier.bound = float(above[0])
        if not frontier.bound > score[0]:
            frontier.members = frontier.members[:0]

    def _grow(self, frontier: Frontier) -> Iterator[None]:
        """Score the sets of the next size of one child, and keep those that matter."""
        bound = self._bounds[frontier.child]
        grown, bests = self._joined(frontier)
        members = np.concatenate([frontier.members[grown[:, 0]], grown[:, 1:]], axis=1)
        worth = bound.worth(frontier.base, frontier.free[members], bests)
        grown, bests, members = grown[worth], bests[worth], members[worth]
        scores = np.empty(len(grown))
        occupied = np.zeros(len(grown), dtype=np.int64)
        for some in self._portions(grown):
            self.problem.check()
            self._score(frontier, grown, some, scores, occupied)
            if self._work >= STEP_ROWS:
                self._work = 0
                yield
        better = scores > bests
        self._keep(frontier, members[better], scores[better])
        frontier.room -= 1
        frontier.best = np.maximum(bests, scores)
        above = bound.above(frontier.base, frontier.free[members], scores, occupied)
        alive = (above > frontier.best) & (frontier.room > 0)
        frontier.members, frontier.best = members[alive], frontier.best[alive]
        frontier.bound = float(above[alive].max(initial=-math.inf))

    def _expand(self, kernel: KernelPath, waiting: list[Frontier]) -> Iterator[None]:
        """Find the larger sets of every child, some per child at a time; only the sets found are held."""
        begun: list[Expansion] = []
        while waiting or begun:
            while waiting and sum(other.held for other in (*begun, *begun[-1:])) <= HELD_BYTES:
                begun.append(Expansion(kernel, waiting.pop(0), self._scorer))
                yield
            for first in range(0, len(begun), CHILDREN):
                self.problem.check()
                self._scorer.in_parallel(Expansion.expand, begun[first : first + CHILDREN])
                yield
            for expansion in begun:
                if expansion.done:
                    self._expanded(self._frontiers[expansion.child], expansion)
            begun = [expansion for expansion in begun if not expansion.done]

    def _expanded(self, frontier: Frontier, expansion: Expansion) -> None:
        masks, scores = expansion.found()
        frontier.masks, frontier.scores = [masks[:, None]], [scores]
        frontier.room, frontier.members = 0, frontier.members[:0]
        self.scored += expansion.looked_at
        self._scorer.meter(expansion.looked_at, expansion.looked_at)

    # ---- few variables

    def _by_subsets(self) -> Iterator[None]:
        """Find the undominated sets from one term per subset, subsets with the same beginning together."""
        from bayescout.kernels.subsets import subset_terms

        assert self._kernel is not None
        n, arrays = self.problem.n, self._kernel.arrays
        bits = min(n, SUBSET_BITS)
        together = max(4, STEP_ROWS // (self._rows << SUBSET_BITS)) << bits
        while bits > LEAST_BITS and self._rows << bits > SUBSET_ROWS:
            bits -= 1
        fixed, family_terms = n - bits, np.empty(1 << n)
        parts, some = range(1 << fixed), together >> bits
        for begin in range(0, len(parts), some):
            self._scorer.in_parallel(
                lambda prefix: subset_terms(arrays, fixed, prefix, family_terms), parts[begin : begin + some]
            )
            yield
        for frontier in self._frontiers:
            self._pick(frontier, family_terms)

    def _pick(self, frontier: Frontier, family_terms: Floats) -> None:
        from bayescout.kernels.subsets import undominated_sets

        required, allowed = (sum(1 << int(v) for v in some) for some in (frontier.base, frontier.free))
        rules = np.array([allowed | required, required, len(frontier.base) + frontier.room], dtype=np.int64)
        best, keep = np.empty(len(family_terms)), np.empty(len(family_terms), dtype=bool)
        prior = self._scorer.prior
        priors = np.zeros(len(family_terms)) if prior is None else prior.of_subsets(frontier.child)
        looked_at = int(undominated_sets(family_terms, priors, frontier.child, rules, best, keep))
        self.scored += looked_at - 1
        self._scorer.meter(looked_at - 1, looked_at - 1)
        found = np.flatnonzero(keep)
        masks = found.astype(np.uint64)[:, None]
        ranks = sorted(range(len(found)), key=lambda i: (int(found[i]).bit_count(), members_of(masks[i])))
        frontier.masks = [masks[ranks]]
        own = family_terms[found | (1 << frontier.child)] - family_terms[found] + priors[found]
        frontier.scores = [own[ranks]]
        frontier.room, frontier.members = 0, frontier.members[:0]

    # ---- sets of the next size

    def _joined(self, frontier: Frontier) -> tuple[Ints, Floats]:
        from bayescout.kernels.candidates import grow_sets, set_keys

        binomials = self._binomials(frontier)
        keys = np.empty(len(frontier.members), dtype=np.int64)
        set_keys(frontier.members, binomials, keys)
        nothing = np.empty((0, 2), dtype=np.int64), np.empty(0)
        count = grow_sets(frontier.members, keys, frontier.best, binomials, *nothing)
        self._check_room(frontier, count)
        grown, bests = np.empty((count, 2), dtype=np.int64), np.empty(count)
        if count:
            grow_sets(frontier.members, keys, frontier.best, binomials, grown, bests)
        return grown, bests

    def _binomials(self, frontier: Frontier) -> Ints:
        f, k = len(frontier.free), frontier.size + 1
        if math.comb(f, k) >= 2**62:
            raise TooLargeError(self._too_many(frontier, math.comb(f, k)))
        return np.array([[math.comb(a, b) for b in range(k + 1)] for a in range(f + 1)], dtype=np.int64)

    # ---- scores

    def _portions(self, grown: Ints) -> list[slice]:
        """Slices of the grown sets, of whole bases each, after which a step may end."""
        most = max(PIECE_SETS, PORTION_ROWS // max(1, self._rows))
        return _whole_slices(grown[:, 0], most)

    def _score(self, frontier: Frontier, grown: Ints, some: slice, scores: Floats, occupied: Ints) -> None:
        count = some.stop - some.start
        self.scored += count
        self._work += count * self._rows
        kernel = self._kernel
        if kernel is None:
            families = self._families(frontier, grown[some])
            scores[some] = self._scorer.many(families)
            return
        self._scorer.meter(count, count)
        self._scorer.in_parallel(
            lambda part: self._score_part(kernel, frontier, grown[part], scores[part], occupied[part]),
            pieces_of(self._work_of(kernel, frontier, grown[some]), some.start),
        )
        if self._scorer.prior is not None:
            members = np.concatenate([frontier.members[grown[some, 0]], grown[some, 1:]], axis=1)
            sets = frontier.free[members]
            scores[some] += self._scorer.prior.of_sets(frontier.child, frontier.base, sets)
        lost = np.flatnonzero((scores[some] == -np.inf) & (occupied[some] > 0))
        if len(lost):
            first = some.start + int(lost[0])
            (child, parents) = self._families(frontier, grown[first : first + 1])[0]
            self._scorer.too_large(child, parents, int(occupied[first]))

    def _work_of(self, kernel: KernelPath, frontier: Frontier, grown: Ints) -> Floats:
        """About the work of scoring each grown set."""
        cards = kernel.cards.astype(np.float64)
        bases = (
            cards[frontier.free[frontier.members]].prod(axis=1)
            * cards[[*frontier.base, frontier.child]].prod()
        )
        cells = bases[grown[:, 0]] * cards[frontier.free[grown[:, 1]]]
        return work_of_sets(kernel, cells, int(kernel.cards[frontier.child]))

    def _score_part(
        self, kernel: KernelPath, frontier: Frontier, grown: Ints, scores: Floats, occupied: Ints
    ) -> None:
        from bayescout.kernels.candidates import score_grown

        rows, first = np.unique(grown[:, 0], return_index=True)
        fixed = np.tile(np.array(frontier.base, dtype=np.int64), (len(rows), 1))
        child = np.full((len(rows), 1), frontier.child, dtype=np.int64)
        families = np.concatenate([fixed, frontier.free[frontier.members[rows]], child], axis=1)
        starts = np.append(first, len(grown)).astype(np.int64)
        limits = np.array([kernel.dense_limit, kernel.most_cells])
        score_grown(kernel.arrays, limits, families, starts, frontier.free[grown[:, 1]], scores, occupied)

    def _families(self, frontier: Frontier, grown: Ints) -> list[Family]:
        members = np.concatenate([frontier.members[grown[:, 0]], grown[:, 1:]], axis=1)
        base = frontier.base
        return [(frontier.child, tuple(sorted((*base, *own)))) for own in frontier.free[members].tolist()]

    # ---- results

    def _keep(self, frontier: Frontier, members: Ints, scores: Floats) -> None:
        masks = np.zeros((len(members), word_count(self.problem.n)), dtype=np.uint64)
        masks[:] = words_of_sets([frontier.base], self.problem.n)
        for column in frontier.free[members].T:
            words, bits = column >> 6, np.uint64(1) << (column & 63).astype(np.uint64)
            masks[np.arange(len(masks)), words] |= bits
        frontier.masks.append(masks)
        frontier.scores.append(scores)

    def found(self) -> ParentSetLists:
        """The candidate sets found so far; all of them once the steps are done.

        The set of the required parents is always included, even if it cannot be scored (minus infinity), so
        some set fits any order of the variables that the required arcs allow.
        """
        sets, scores = [], []
        for frontier in self._frontiers:
            own = np.concatenate(frontier.scores)
            order = np.argsort(-own, kind="stable")
            sets.append(np.concatenate(frontier.masks)[order])
            scores.append(own[order])
        return ParentSetLists.joined(sets, scores)

    def upper_bound(self) -> float:
        """An upper bound on the score of any network that keeps the rules, valid after any step."""
        tops = []
        for frontier in self._frontiers:
            known = max((float(own.max(initial=-math.inf)) for own in frontier.scores), default=-math.inf)
            tops.append(max(known, frontier.bound) if frontier.room and len(frontier.members) else known)
        return math.fsum(tops)

    # ---- sizes

    def _check_unbounded(self) -> None:
        """Refuse too many sets: without a bound their number is known before the work."""
        pairs = zip(self._frontiers, self._bounds, strict=True)
        unbounded = [frontier for frontier, bound in pairs if not bound.stops]
        total = count_sets(unbounded)
        if total <= MOST_SCORED:
            return
        fits = _largest_that_fits([len(frontier.free) for frontier in unbounded])
        raise TooLargeError(
            f"there are {total:,} parent sets, more than the {MOST_SCORED:,} that are scored where no bound "
            f"of this score stops the enumeration early; limit max_parents to {fits}, forbid arcs, or use "
            f"another search"
        )

    def _check_room(self, frontier: Frontier, count: int) -> None:
        held = sum(len(other.members) for other in self._frontiers) + count
        if held > MOST_SETS:
            raise TooLargeError(self._too_many(frontier, held))

    def _too_many(self, frontier: Frontier, count: int) -> str:
        size = frontier.size + 1 + len(frontier.base)
        return (
            f"{count:,} parent sets of {size} parents would have to be held at once, more than the "
            f"{MOST_SETS:,} that are; limit max_parents to {size - 1}, forbid arcs, or use another search"
        )


def _whole_slices(bases: Ints, most: int) -> list[slice]:
    """Slices of about `most` items at most that never split the items of one base."""
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
