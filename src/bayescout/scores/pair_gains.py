"""Which pairs of discrete columns have an arc that gains by itself, under the score.

Every pair is counted and weighed with rounded terms, in tiles on threads, which sorts out those that are
surely below their bar. What is left is scored as searches score it, and these numbers decide: so the pairs do
not depend on tiles, threads or what counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bayescout.arrays import Bools, Floats, Ints
from bayescout.kernels.limits import LIKELIHOOD
from bayescout.scores.formula import Terms
from bayescout.scores.table_scorer import TableScorer
from bayescout.scores.threads import worked
from bayescout.statistics.counts import Counts
from bayescout.statistics.families import FamilyTables
from bayescout.statistics.screening import NONE_ALIKE

TILE = 2048
"""Columns per side of a tile at most."""

TILE_WORK = 1 << 27
"""Words and cells that a tile goes through, about: a tenth of a second."""

MOST_TERMS = 1 << 24
"""The most terms of cells that are tabulated; with more rows every pair is scored."""

EXACT_CELLS = 1 << 20
"""Cells of the pairs that are scored at a time."""

ROUNDING = 1e-10
"""More than a sum of terms can be off, as a share of the largest one."""


class Tile(NamedTuple):
    """Two runs of positions in the order of the columns, and what their pairs must come to.

    terms  (total + 1,) float64   the term of a cell by its count
    bars   (2, 2, p) float64      as in `kernels.pairs`
    """

    terms: Floats
    bars: Floats
    begin: int
    end: int
    first: int
    last: int


class CountPairs:
    """The pairs of a discrete table, for a `Screening`.

    scorer  with counts in memory
    least   None: a pair remains if an arc between the two, one way or the other, raises the score, with the
            structure prior in it. A number: if it gains so much log-likelihood, in nats
    """

    def __init__(self, scorer: TableScorer, least: float | None = None) -> None:
        assert isinstance(scorer.statistics, Counts)
        self.scorer, self.least, self.statistics = scorer, least, scorer.statistics

    @property
    def n_variables(self) -> int:
        return self.scorer.n_variables

    def alike(self) -> Ints:
        return NONE_ALIKE

    # ---- sorting out

    def coarse(self, between: Callable[[], None]) -> Iterator[tuple[Ints, Ints]]:
        """Pairs that may remain, piece by piece: the lower variable and the higher."""
        from bayescout.kernels.pairs import Rows, pairs_above

        view, terms = self.statistics.kernel_view(), self._terms
        if view is None or terms is None or self.statistics.total >= MOST_TERMS:
            yield from self._every(between)
            return
        single = self._single
        order = self._telling(terms)
        rows = Rows(*view[:4], single.counts, single.starts[:-1], order)

        def work(tile: Tile) -> Ints:
            found = np.empty((4096, 2), dtype=np.int64)
            many = pairs_above(rows, *tile, found)
            if many > len(found):
                found = np.empty((many, 2), dtype=np.int64)
                pairs_above(rows, *tile, found)
            return np.sort(order[found[:many]], axis=1)

        for tiles in self._tiles(order, terms):
            for pairs in worked(work, tiles, self.scorer.workers, between):
                yield pairs[:, 0], pairs[:, 1]

    def _every(self, between: Callable[[], None]) -> Iterator[tuple[Ints, Ints]]:
        """All pairs, where there is no table of terms."""
        for one in range(self.n_variables - 1):
            between()
            later = np.arange(one + 1, self.n_variables)
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
        order = np.argsort(cards, kind="stable")
        return order[able[order]]

    def _tiles(self, order: Ints, terms: Terms) -> Iterator[list[Tile]]:
        """Tiles of columns of one number of states and of another, band by band."""
        cards, words = self.statistics.cards[order], self.statistics.n_rows / 64
        edges = [*np.flatnonzero(np.diff(cards, prepend=-1)).tolist(), len(order)]
        for i, (begin, end) in enumerate(pairwise(edges)):
            for first, last in pairwise(edges[i:]):
                r, s = int(cards[begin]), int(cards[first])
                weighed = self._weighed(r, s, terms)
                side = int(math.sqrt(TILE_WORK / (r * s + (r - 1) * (s - 1) * words)))
                side = min(TILE, max(16, side))
                for a in range(begin, end, side):
                    across = range(max(first, a), last, side)
                    yield [Tile(*weighed, a, min(end, a + side), b, min(last, b + side)) for b in across]

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
        cards = self.statistics.cards
        ends = np.cumsum(cards[lefts] * cards[rights])
        begin = 0
        while begin < len(lefts):
            base = int(ends[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, base + EXACT_CELLS)))
            kept[begin:end] = self._gain(lefts[begin:end], rights[begin:end])
            begin = end
        return kept

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


def _xlogx(count: Floats | Ints) -> Floats:
    """N log N."""
    found = np.asarray(count, dtype=np.float64)
    return found * np.log(np.maximum(found, 1.0))


def _rise(count: Floats | Ints, prior: float) -> Floats:
    """log Γ(N + a) - log Γ(a)."""
    from scipy.special import gammaln

    found: Floats = gammaln(count + prior) - gammaln(prior)
    return found
