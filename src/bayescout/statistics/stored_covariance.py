"""The scatter matrix of continuous columns on disk, to the bit that of the same columns in memory.

Sums are taken in the order in which they are in memory, whatever the blocks: the mean by the halving of
`numpy.sum`, products in tiles of so many rows, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Floats, Ints
from bayescout.data.past.stored import OpenColumns, StoredTable, read_into
from bayescout.statistics.covariance import LARGE_EXPONENT, SMALL_SPREAD, TILE_ROWS, add_products, mirrored

LEAF_ROWS = 1 << 17
"""Rows that are summed at once; any size gives the same sum."""

BLOCK_CELLS = 1 << 21
"""Values of a block at most: 16 MB, and as much again for what is computed of it."""


def stored_scatter(table: StoredTable) -> tuple[Floats, Ints]:
    """The scatter matrix of the columns divided by 2**exponents, as `covariance.scaled_scatter` has it."""
    largest = np.array([max(abs(one.low or 0.0), abs(one.high or 0.0)) for one in table.stored])
    exponents = np.frexp(largest)[1].astype(np.int64)
    exponents[np.abs(exponents) <= LARGE_EXPONENT] = 0
    columns = [_Column(table, place, int(exponents[place])) for place in range(table.n_columns)]
    for column in columns:
        column.centre()
    scatter = _scatter(table, columns)
    sizes = np.square(np.ldexp(largest, -exponents))
    small = np.flatnonzero(np.diag(scatter) <= sizes * (SMALL_SPREAD * float(table.n_rows)))
    if len(small):
        for place in small.tolist():
            columns[place].centre()
        scatter = _scatter(table, columns)
    return scatter, exponents


class _Column:
    """A column scaled by a power of two and less its mean, which is subtracted once or twice."""

    def __init__(self, table: StoredTable, place: int, exponent: int) -> None:
        self.table, self.place, self.exponent = table, place, exponent
        self.means: list[float] = []

    def changed(self, values: Floats) -> Floats:
        """The values as they are after scaling and centring."""
        if self.exponent:
            values = np.ldexp(values, -self.exponent)
        for mean in self.means:
            values = values - mean
        return values

    def centre(self) -> None:
        """Subtract the mean of what the values are by now."""
        with OpenColumns(self.table, [self.place]) as (descriptor,):

            def read(begin: int, rows: int) -> Floats:
                values = np.empty(rows)
                read_into(descriptor, values, 8 * begin)
                return self.changed(values)

            self.means.append(float(halved_sum(read, 0, self.table.n_rows) / float(self.table.n_rows)))


def halved_sum(
    read: Callable[[int, int], Floats], begin: int, rows: int, leaf: int = LEAF_ROWS
) -> np.float64:
    """The sum of so many values as `numpy.sum` adds them: halves, to a multiple of eight, then their sum."""
    if rows <= max(leaf, 128):
        return np.float64(read(begin, rows).sum())
    half = rows // 2
    half -= half % 8
    return halved_sum(read, begin, half, leaf) + halved_sum(read, begin + half, rows - half, leaf)


def _scatter(table: StoredTable, columns: list[_Column]) -> Floats:
    """The sums of products of the columns, tile after tile of rows."""
    p = len(columns)
    scatter = np.zeros((p, p))
    rows = max(TILE_ROWS, BLOCK_CELLS // p // TILE_ROWS * TILE_ROWS)
    with closing(table.blocks(range(p), rows)) as blocks:
        for block in blocks:
            centred: NDArray[np.float64] = np.empty(block.shape)
            for i, column in enumerate(columns):
                centred[i] = column.changed(block[i])
            add_products(scatter, centred, centred)
    return mirrored(scatter)
