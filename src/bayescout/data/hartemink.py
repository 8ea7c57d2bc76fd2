"""Intervals that keep what columns tell about one another: Hartemink's (2001) merging of neighbours.

Each column begins with many intervals of equal frequency. In each round, every column that has more than it
should merges the two neighbouring intervals whose merging loses least mutual information with all other
columns together. All columns choose before any merges, so that the order of columns does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import TooLargeError

Array = NDArray[np.float64]

MOST_LEVELS = 20_000
"""The most intervals and states of all columns together: their pairs are counted in one matrix."""

TIE = 1e-9
"""Losses that differ by less, in nats, are equal but for rounding."""


def merged_ends(
    codes: Sequence[NDArray[np.int64]], sizes: Sequence[int], wanted: Mapping[int, int], weights: Array
) -> dict[int, list[int]]:
    """For each column that is merged, the number of first intervals below each of the cuts that stay.

    codes   for each column the interval or state of each row; -1 where it is missing
    sizes   the number of intervals or states of each column
    wanted  for the columns that are merged the number of intervals to end with
    """
    counts = _pair_counts(codes, sizes, weights)
    sizes = list(sizes)
    ends = {column: list(range(1, sizes[column])) for column in wanted}
    while True:
        chosen = {}
        begins = np.concatenate([[0], np.cumsum(sizes)])
        for column, most in wanted.items():
            if sizes[column] > most:
                chosen[column] = _least_loss(counts, begins, column)
        if not chosen:
            return ends
        keep = np.ones(len(counts), dtype=bool)
        for column, place in chosen.items():
            at = int(begins[column]) + place
            counts[at] += counts[at + 1]
            counts[:, at] += counts[:, at + 1]
            keep[at + 1] = False
            del ends[column][place]
            sizes[column] -= 1
        counts = counts[keep][:, keep]


def _pair_counts(codes: Sequence[NDArray[np.int64]], sizes: Sequence[int], weights: Array) -> Array:
    """Counts of the pairs of intervals of all columns, each from the rows where both cells are there."""
    levels = sum(sizes)
    if levels > MOST_LEVELS:
        raise TooLargeError(
            f"{len(sizes):,} columns have {levels:,} intervals and states together, more than the "
            f"{MOST_LEVELS:,} that hartemink can compare: use method 'quantile', or fewer columns"
        )
    counts = np.zeros((levels, levels))
    begins = np.concatenate([[0], np.cumsum(sizes)])
    for i, one in enumerate(codes):
        for j, two in enumerate(codes[:i]):
            both = (one >= 0) & (two >= 0)
            place = one[both] * sizes[j] + two[both]
            found = np.bincount(place, weights[both], sizes[i] * sizes[j]).reshape(sizes[i], sizes[j])
            counts[begins[i] : begins[i + 1], begins[j] : begins[j + 1]] = found
            counts[begins[j] : begins[j + 1], begins[i] : begins[i + 1]] = found.T
    return counts


def _least_loss(counts: Array, begins: NDArray[np.int64], column: int) -> int:
    """The first of the two neighbours of a column whose merging loses least; the lowest of equals."""
    own = counts[begins[column] : begins[column + 1]]
    cells = _by_column(_xlogx(own[:-1] + own[1:]) - _xlogx(own[:-1]) - _xlogx(own[1:]), begins)
    sums = _by_column(own, begins)
    rows = _xlogx(sums[:-1] + sums[1:]) - _xlogx(sums[:-1]) - _xlogx(sums[1:])
    losses = [fsum(line) for line in (rows - cells).tolist()]  # exact, so that no order of columns matters
    least = min(losses) + TIE
    return next(place for place, loss in enumerate(losses) if loss <= least)


def _by_column(values: Array, begins: NDArray[np.int64]) -> Array:
    return np.asarray(np.add.reduceat(values, begins[:-1], axis=1))


def _xlogx(counts: Array) -> Array:
    return counts * np.log(np.where(counts > 0, counts, 1.0))
