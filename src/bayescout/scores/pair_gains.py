"""Which pairs of discrete columns have an arc that gains by itself, under the score.

A sieve counts every pair and weighs it with rounded terms, which sorts out those that are surely below their
bar. What is left is scored as searches score it, and these numbers decide: so the pairs do not depend on the
sieve.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Bools, Floats, Ints
from bayescout.kernels.limits import LIKELIHOOD
from bayescout.scores.formula import Terms
from bayescout.scores.table_scorer import TableScorer
from bayescout.scores.threads import worked_on
from bayescout.statistics.counts import Counts
from bayescout.statistics.families import FamilyTables
from bayescout.statistics.screening import NONE_ALIKE
from bayescout.statistics.sieve import CpuSieve, Sieve, Tile

MOST_TERMS = 1 << 24
"""The most terms of cells that are tabulated; with more rows every pair is scored."""

EXACT_CELLS = 1 << 20
"""Cells of the pairs that are scored at a time."""

BLOCK_CELLS = 1 << 22
"""Cells that are summed at a time."""

ROUNDING = 1e-10
"""More than a sum of terms can be off, as a share of the largest one."""


class CountPairs:
    """The pairs of a discrete table, for a `Screening`.

    scorer  with counts in memory
    least   None: a pair remains if an arc between the two, one way or the other, raises the score, with the
            structure prior in it. A number: if it gains so much log-likelihood, in nats

    Of columns that are copies, the first stands for all, as with columns of numbers.
    """

    def __init__(self, scorer: TableScorer, least: float | None = None, sieve: Sieve | None = None) -> None:
        assert isinstance(scorer.statistics, Counts)
        self.scorer, self.least, self.statistics = scorer, least, scorer.statistics
        self.sieve = sieve or CpuSieve(partial(worked_on, scorer.workers))

    @property
    def n_variables(self) -> int:
        return self.scorer.n_variables

    def alike(self) -> Ints:
        return self._copies

    @cached_property
    def _copies(self) -> Ints:
        """(k, 2): columns whose states follow from those of an earlier one, and the other way round."""
        view = self.statistics.kernel_view()
        if view is None:
            return NONE_ALIKE
        found = suspected_copies(view.codes, self.statistics.cards)
        observed = np.add.reduceat(self._single.counts > 0, self._single.starts[:-1], dtype=np.int64)
        later, first = found[(observed[found] > 1).all(axis=1)].T  # constants tell nothing of each other
        same = np.empty(len(later), dtype=bool)
        for some in self._parts(later, first):
            tables = self.statistics.pairs(later[some], first[some])
            cells = np.add.reduceat(tables.counts > 0, tables.starts[:-1], dtype=np.int64)
            same[some] = (cells == observed[later[some]]) & (cells == observed[first[some]])
        return np.stack([later[same], first[same]], axis=1)

    # ---- sorting out

    def coarse(self, between: Callable[[], None]) -> Iterator[tuple[Ints, Ints]]:
        """Pairs that may remain, piece by piece: the lower variable and the higher."""
        from bayescout.kernels.pairs import Rows

        view, terms = self.statistics.kernel_view(), self._terms
        if view is None or terms is None or self.statistics.total >= MOST_TERMS:
            yield from self._every(between)
            return
        single = self._single
        order = self._telling(terms)
        rows = Rows(*view[:4], single.counts, single.starts[:-1], order)
        for found in self.sieve.counted(rows, self._runs(order, terms), between):
            pairs = np.sort(order[found], axis=1)
            yield pairs[:, 0], pairs[:, 1]

    def _every(self, between: Callable[[], None]) -> Iterator[tuple[Ints, Ints]]:
        """All pairs, where there is no table of terms."""
        columns = np.delete(np.arange(self.n_variables), self._copies[:, 0])
        for place, one in enumerate(columns.tolist()):
            between()
            later = columns[place + 1 :]
            if len(later):
                yield np.full(len(later), one), later

    @cached_property
    def _single(self) -> FamilyTables:
        """The tables of the variables without parents."""
        return self.statistics.many([(v, ()) for v in range(self.n_variables)])

    @cached_property
    def _terms(self) -> Terms | None:
        """The terms by which pairs are weighed; None if the score is not a sum of terms of its cells."""
        if self.least is not None:
            return Terms.on(self.statistics.grid, LIKELIHOOD)
        prior, path = self.scorer.prior, self.scorer.kernel
        plain = prior is None or (prior.weights is None and prior.own is None)
        return path.formula if plain and path is not None else None

    def _telling(self, terms: Terms) -> Ints:
        """The columns an arc of which may gain, by their number of states: constant ones gain nothing."""
        cards, single = self.statistics.cards, self._single
        if terms.form == LIKELIHOOD:
            able = np.maximum.reduceat(single.counts, single.starts[:-1]) < self.statistics.total
        else:
            able = cards > 1
        able[self._copies[:, 0]] = False
        order = np.argsort(cards, kind="stable")
        return order[able[order]]

    def _runs(self, order: Ints, terms: Terms) -> Iterator[Tile]:
        """The pairs of columns with one number of states and columns with another, or the same."""
        cards = self.statistics.cards[order]
        edges = [*np.flatnonzero(np.diff(cards, prepend=-1)).tolist(), len(order)]
        for i, (begin, end) in enumerate(pairwise(edges)):
            for first, last in pairwise(edges[i:]):
                weighed = self._weighed(int(cards[begin]), int(cards[first]), terms)
                yield Tile(*weighed, begin, end, first, last)

    def _weighed(self, r: int, s: int, terms: Terms) -> tuple[Floats, Floats]:
        """The terms and bars of pairs of a column with r states and one with s; others have no meaning."""
        single, total = self._single, self.statistics.total
        counts = np.arange(total + 1)
        likelihood = terms.form == LIKELIHOOD

        def term(count: Floats | Ints, prior: float) -> Floats:
            return _xlogx(count) if likelihood else _rise(count, prior)

        def sums(prior: float) -> Floats:
            found: Floats = np.add.reduceat(term(single.counts, prior), single.starts[:-1])
            return found

        def prior_of(configurations: int, states: int) -> tuple[float, float]:
            """The prior count of a cell, and that of a configuration."""
            cell = terms.ess / (configurations * states) if terms.ess else terms.amount
            return cell, cell * states

        cell = prior_of(r, s)[0]
        values = term(counts, cell)
        bars = np.empty((2, 2, self.n_variables))
        for way, (parent, child) in enumerate(((r, s), (s, r))):
            alone, root = prior_of(1, child)
            bars[way, way] = sums(prior_of(parent, child)[1])
            bars[way, 1 - way] = sums(alone) - term(np.array([total]), root)
        bars[:, 0] += self._charge(r, s, terms)
        bars[:, 0] -= ROUNDING * (1 + total * (math.log(total + 2) + abs(float(values[1]))))
        return values, bars

    def _charge(self, r: int, s: int, terms: Terms) -> float:
        """What the sums of terms of an arc must come to."""
        if self.least is not None:
            return self.least
        prior = self.scorer.prior
        charge = 0.0 if prior is None else float(prior.by_size[0] - prior.by_size[min(1, prior.n - 1)])
        return charge + (terms.amount * (r - 1) * (s - 1) if terms.form == LIKELIHOOD else 0.0)

    # ---- deciding

    def remaining(self, lefts: Ints, rights: Ints) -> Bools:
        """Which of these pairs remain."""
        kept = np.empty(len(lefts), dtype=bool)
        for some in self._parts(lefts, rights):
            kept[some] = self._gain(lefts[some], rights[some])
        return kept

    def _parts(self, lefts: Ints, rights: Ints) -> Iterator[slice]:
        """Pairs that are counted at a time."""
        cards = self.statistics.cards
        ends = np.cumsum(cards[lefts] * cards[rights])
        begin = 0
        while begin < len(lefts):
            base = int(ends[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, base + EXACT_CELLS)))
            yield slice(begin, end)
            begin = end

    def _gain(self, lefts: Ints, rights: Ints) -> Bools:
        tables = self.statistics.pairs(rights, lefts)
        if self.least is not None:
            enough: Bools = tables.mutual_informations() >= self.least
            return enough
        found = self._scores(tables, rights, lefts) > self._alone[rights]
        if not self.scorer.equivalent:
            found |= self._scores(self.statistics.pairs(lefts, rights), lefts, rights) > self._alone[lefts]
        return found

    def _scores(self, tables: FamilyTables, children: Ints, parents: Ints) -> Floats:
        """The scores of children with one parent each, as a search sees them."""
        found: Floats = self.scorer.formula.evaluate(tables)
        families = [
            (child, (parent,)) for child, parent in zip(children.tolist(), parents.tolist(), strict=True)
        ]
        return found + self.scorer.log_priors(families)

    @cached_property
    def _alone(self) -> Floats:
        """The score of each variable without parents, as a search sees it."""
        families = [(v, ()) for v in range(self.n_variables)]
        found: Floats = self.scorer.formula.evaluate(self._single) + self.scorer.log_priors(families)
        return found


def suspected_copies(codes: NDArray[Any], cards: Ints) -> Ints:
    """(k, 2): columns that seem to split the rows as an earlier one of as many states does, and the first.

    Each row has a random number, and each column the sums over the rows of its states, in any order. Columns
    that split the rows alike have the same sums, and others hardly ever.
    """
    p, n = codes.shape
    rows = np.random.default_rng(0).integers(0, 1 << max(1, 52 - n.bit_length()), n).astype(np.float64)
    marks = np.empty(p, dtype=np.uint64)
    states = int(cards.max(initial=1))
    step = max(1, BLOCK_CELLS // max(n, states))
    for begin in range(0, p, step):
        block = codes[begin : begin + step]
        places = block + (np.arange(len(block)) * states)[:, None]
        sums = np.bincount(places.ravel(), np.tile(rows, len(block)), len(block) * states)
        mixed = sums.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        marks[begin : begin + step] = (
            (mixed ^ (mixed >> np.uint64(32))).reshape(len(block), states).sum(axis=1)
        )
    order = np.lexsort((marks, cards))  # stable: the first of each kind comes first
    begins = np.ones(p, dtype=bool)
    begins[1:] = (np.diff(marks[order]) != 0) | (np.diff(cards[order]) != 0)
    first = np.empty(p, dtype=np.int64)
    first[order] = order[np.maximum.accumulate(np.where(begins, np.arange(p), 0))]
    later = np.flatnonzero(first < np.arange(p))
    return np.stack([later, first[later]], axis=1)


def _xlogx(count: Floats | Ints) -> Floats:
    """N log N."""
    found = np.asarray(count, dtype=np.float64)
    return found * np.log(np.maximum(found, 1.0))


def _rise(count: Floats | Ints, prior: float) -> Floats:
    """log Γ(N + a) - log Γ(a)."""
    from scipy.special import gammaln

    found: Floats = gammaln(count + prior) - gammaln(prior)
    return found
