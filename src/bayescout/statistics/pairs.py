"""How much every pair of columns has in common, from the rows in which both cells are there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Floats, Ints
from bayescout.data.table import Table
from bayescout.statistics.available import AvailableCounts

ROWS = 4096
"""Rows whose indicators are in memory at a time."""

TILE, TILE_ROWS = 32, 256
"""Columns and rows per tile of a product of numbers: so small that no matrix library uses threads for it,
which might add in another order."""

DIGITS = 20
"""Gains are rounded to 2**-20 nats per row, so that they do not depend on the order of the rows."""

LEAST_SHARE = 1e-10
"""The least part of a variance that another column leaves unexplained; anything smaller is rounding."""


@dataclass(frozen=True)
class PairGains:
    """For each pair of columns, in both orders, from the rows in which both cells are there.

    gains       (p, p) what one column tells of the other, in nats per row: the mutual information, or what
                a linear fit or groups of equal variance explain
    rows        (p, p) those rows, or the sum of their weights
    parameters  (p, p) what the dependence costs in free parameters
    """

    gains: Floats
    rows: Floats
    parameters: Floats

    def charged(self) -> Floats:
        """The gain per row less half a log of the rows per parameter, as BIC charges; -inf without rows."""
        with np.errstate(divide="ignore", invalid="ignore"):
            charged = self.gains - self.parameters * np.log(self.rows) / (2 * self.rows)
        return np.where(self.rows > 1, charged, -np.inf)


def pair_gains(table: Table) -> PairGains:
    """The gains of all pairs of a table's columns, which may have missing cells."""
    discrete = table.discrete_columns
    sums = _Sums.of(table)
    p = table.n_columns
    gains, rows, parameters = np.zeros((p, p)), np.zeros((p, p)), np.ones((p, p))
    cards = table.cardinalities[discrete]
    kinds = (np.flatnonzero(discrete), np.flatnonzero(~discrete))
    for i, j, found in (
        (kinds[0], kinds[0], sums.of_states()),
        (kinds[1], kinds[1], sums.of_numbers()),
        (kinds[0], kinds[1], sums.of_groups()),
    ):
        gains[np.ix_(i, j)], rows[np.ix_(i, j)] = found
        gains[np.ix_(j, i)], rows[np.ix_(j, i)] = found[0].T, found[1].T
    less = (cards - 1).astype(np.float64)
    parameters[np.ix_(kinds[0], kinds[0])] = np.outer(less, less)
    parameters[np.ix_(kinds[0], kinds[1])] = less[:, None]
    parameters[np.ix_(kinds[1], kinds[0])] = less[None, :]
    rounded = np.ldexp(np.rint(np.ldexp(gains, DIGITS)), -DIGITS)
    np.fill_diagonal(rounded, 0.0)
    return PairGains(rounded, rows, parameters)


@dataclass(frozen=True)
class _Sums:
    """Sums over the rows in which both of two cells are there.

    begins   (d,) the first state of each discrete column among all states
    counts   (s, s) rows that have two states of different columns
    there    (c, c) rows that have two numbers
    firsts   (c, c) sum of the first number
    squares  (c, c) sum of its square
    products (c, c)
    groups   (3, s, c) rows that have a state and a number, sum and sum of squares of the number
    """

    begins: Ints
    counts: Floats
    there: Floats
    firsts: Floats
    squares: Floats
    products: Floats
    groups: Floats

    @classmethod
    def of(cls, table: Table) -> _Sums:
        weights = np.ones(table.n_rows) if table.weights is None else table.weights
        cards = table.cardinalities[table.cardinalities > 0]
        ends = np.cumsum(cards)
        states = int(ends[-1]) if len(ends) else 0
        values = _standardised(table.doubles(), weights)
        here = ~np.isnan(values)
        numbers = np.where(here, values, 0.0)
        groups = np.zeros((3, states, len(values)))
        for begin in range(0, table.n_rows if states and len(values) else 0, ROWS):
            some = slice(begin, begin + ROWS)
            shown = _indicators(table.codes[:, some], cards, ends - cards) * weights[some]
            groups[0] += _product(shown, here[:, some].astype(np.float64))
            groups[1] += _product(shown, numbers[:, some])
            groups[2] += _product(shown, np.square(numbers[:, some]))
        there, weighted = here.astype(np.float64), numbers * weights
        return cls(
            ends - cards,
            _pair_counts(table, ends - cards),
            _product(there * weights, there),
            _product(weighted, there),
            _product(weighted * numbers, there),
            _product(weighted, numbers),
            groups,
        )

    def of_states(self) -> tuple[Floats, Floats]:
        """Mutual information per row of two discrete columns, and the rows."""
        if not len(self.begins):
            return np.zeros((0, 0)), np.zeros((0, 0))
        margins = np.add.reduceat(self.counts, self.begins, axis=1)
        rows = np.add.reduceat(margins, self.begins, axis=0)
        cells = np.add.reduceat(_xlogx(self.counts), self.begins, axis=1)
        joint = np.add.reduceat(cells, self.begins, axis=0)
        own = np.add.reduceat(_xlogx(margins), self.begins, axis=0)
        return _per_row(joint - own - own.T + _xlogx(rows), rows), rows

    def of_numbers(self) -> tuple[Floats, Floats]:
        """-log(1 - r^2) / 2 for the correlation r of two continuous columns, and the rows."""
        rows = np.maximum(self.there, 1e-300)
        own = self.squares - np.square(self.firsts) / rows
        shared = self.products - self.firsts * self.firsts.T / rows
        with np.errstate(divide="ignore", invalid="ignore"):
            explained = np.square(shared) / (own * own.T)
        left = np.clip(1 - np.nan_to_num(explained), LEAST_SHARE, 1.0)
        return -np.log(left) / 2, self.there

    def of_groups(self) -> tuple[Floats, Floats]:
        """log(variance / variance within groups) / 2 of continuous columns by discrete ones, and the rows."""
        if not len(self.begins) or not self.groups.shape[2]:
            return (np.zeros((len(self.begins), self.groups.shape[2])),) * 2
        counts, sums, squares = self.groups
        within = squares - np.square(sums) / np.maximum(counts, 1e-300)
        rows, total, square, inside = (
            np.add.reduceat(of_states, self.begins, axis=0) for of_states in (counts, sums, squares, within)
        )
        overall = square - np.square(total) / np.maximum(rows, 1e-300)
        share = np.divide(inside, overall, out=np.ones_like(inside), where=overall > 0)
        return -np.log(np.clip(share, LEAST_SHARE, 1.0)) / 2, rows


def _pair_counts(table: Table, begins: Ints) -> Floats:
    """(states, states) rows that have two states, for all states of all discrete columns."""
    names = [name for name, states in zip(table.names, table.states, strict=True) if states is not None]
    cards = table.cardinalities[table.cardinalities > 0].tolist()
    found = np.zeros((sum(cards), sum(cards)))
    if len(names) < 2:
        return found
    counts = AvailableCounts(table.select(names))
    for child in range(1, len(names)):
        own = slice(begins[child], begins[child] + cards[child])
        for other, shown in enumerate(counts.pairs(child, np.arange(child))):
            found[begins[other] : begins[other] + cards[other], own] = shown
    return found + found.T


def _indicators(codes: NDArray[Any], cards: Ints, begins: Ints) -> Floats:
    """(states, rows) 1 where a row has the state; a missing cell has none."""
    shown = np.zeros((int(cards.sum()), codes.shape[1]))
    for own, begin, states in zip(codes, begins.tolist(), cards.tolist(), strict=True):
        rows = np.flatnonzero(own < states)
        shown[begin + own[rows].astype(np.int64), rows] = 1.0
    return shown


def _standardised(values: Floats, weights: Floats) -> Floats:
    """The columns with a mean of 0 and a variance of 1 over their rows that are there."""
    here = ~np.isnan(values)
    size = np.maximum((here * weights).sum(axis=1), 1e-300)
    scale = np.where(here, np.abs(values), 0.0).max(axis=1, initial=0.0)
    values = values / np.where(scale > 0, scale, 1.0)[:, None]
    means = np.where(here, values * weights, 0.0).sum(axis=1) / size
    centred = values - means[:, None]
    spread = np.sqrt(np.where(here, np.square(centred) * weights, 0.0).sum(axis=1) / size)
    found: Floats = centred / np.where(spread > 0, spread, 1.0)[:, None]
    return found


def _product(left: Floats, right: Floats) -> Floats:
    """left @ right.T, added up in an order that does not depend on the machine's threads."""
    found = np.zeros((len(left), len(right)))
    for begin in range(0, left.shape[1], TILE_ROWS):
        one = np.ascontiguousarray(left[:, begin : begin + TILE_ROWS])
        two = np.ascontiguousarray(right[:, begin : begin + TILE_ROWS].T)
        for i in range(0, len(left), TILE):
            for j in range(0, len(right), TILE):
                found[i : i + TILE, j : j + TILE] += one[i : i + TILE] @ two[:, j : j + TILE]
    return found


def _xlogx(counts: Floats) -> Floats:
    return counts * np.log(np.where(counts > 0, counts, 1.0))


def _per_row(sums: Floats, rows: Floats) -> Floats:
    found: Floats = np.maximum(sums, 0.0) / np.maximum(rows, 1.0)
    return np.minimum(found, math.log(2.0) * 64)
