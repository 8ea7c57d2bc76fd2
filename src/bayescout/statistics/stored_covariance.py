"""The scatter matrix of continuous columns past memory, to the bit that of the same columns in memory.

Sums are those of leaves of rows, which do not depend on blocks. A column is scaled by a power of two and less
its mean, which is subtracted once or twice, as in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np

from bayescout.arrays import Floats, Ints
from bayescout.data.past.stored import StoredTable
from bayescout.statistics import leaves
from bayescout.statistics.covariance import (
    LARGE_EXPONENT,
    SMALL_SPREAD,
    TILE_ROWS,
    add_products,
    mirrored,
    products,
)
from bayescout.statistics.leaves import Sums, put, total

BLOCK_CELLS = 1 << 21
"""Values of a block at most: 16 MB, and as much again for what is computed of it."""


class Shift(NamedTuple):
    """What is done to columns before they are summed: divided by powers of two, and means subtracted."""

    exponents: Ints
    means: tuple[Floats, ...] = ()

    def of(self, values: Floats) -> Floats:
        """The values as they are then; an array of its own."""
        scaled = np.ldexp(values, -self.exponents[:, None]) if self.exponents.any() else values.copy()
        for mean in self.means:
            scaled -= mean[:, None]
        return scaled

    def some(self, columns: Any) -> Shift:
        """The same of some of the columns."""
        return Shift(self.exponents[columns], tuple(mean[columns] for mean in self.means))


Summed = Callable[[Shift, bool], Floats]
"""The sums of columns over all rows after a shift, or of their products."""


def scatter_of(
    low: Sequence[float], high: Sequence[float], rows: int, summed: Summed
) -> tuple[Floats, Shift]:
    """The scatter matrix of the columns after a shift, as `covariance.centred_columns` has both."""
    largest = np.maximum(np.abs(low), np.abs(high))
    exponents = np.frexp(largest)[1].astype(np.int64)
    exponents[np.abs(exponents) <= LARGE_EXPONENT] = 0
    shift = Shift(exponents)
    shift = Shift(exponents, (summed(shift, False) / float(rows),))
    scatter = mirrored(summed(shift, True))
    sizes = np.square(np.ldexp(largest, -exponents))
    small = np.diag(scatter) <= sizes * (SMALL_SPREAD * float(rows))
    if small.any():
        again = np.where(small, summed(shift, False) / float(rows), 0.0)
        shift = Shift(exponents, (*shift.means, again))
        scatter = mirrored(summed(shift, True))
    return scatter, shift


def leaf_sum(values: Floats, shift: Shift, squared: bool) -> Floats:
    """The sums of the columns over the rows of one leaf, or those of their products."""
    moved = shift.of(values)
    return products(moved, moved) if squared else np.asarray(moved.sum(axis=1))


def stored_scatter(table: StoredTable) -> tuple[Floats, Ints]:
    """The scatter matrix of columns on disk, divided by 2**exponents."""
    scatter, shift = stored_centred(table)
    return scatter, shift.exponents


def stored_centred(table: StoredTable) -> tuple[Floats, Shift]:
    """The scatter matrix of columns on disk, and the shift that centres them."""

    def summed(shift: Shift, squared: bool) -> Floats:
        return _products(table, shift) if squared else _sums(table, shift)

    return scatter_of(
        [one.low or 0.0 for one in table.stored], [one.high or 0.0 for one in table.stored],
        table.n_rows, summed,
    )  # fmt: skip


def _sums(table: StoredTable, shift: Shift) -> Floats:
    """The sums of columns, one column at a time: a leaf is read whole."""
    found = np.empty(table.n_columns)
    for place in range(table.n_columns):
        own = shift.some([place])
        sums: Sums = {}
        with closing(table.blocks([place], leaves.LEAF_ROWS)) as blocks:
            for number, block in enumerate(blocks):
                put(sums, 0, number, leaf_sum(block, own, False))
        found[place] = total(sums)[0]
    return found


def _products(table: StoredTable, shift: Shift) -> Floats:
    """The sums of products, in blocks of which a leaf is a multiple."""
    p, sums = table.n_columns, Sums()
    rows = leaves.LEAF_ROWS
    while rows > TILE_ROWS and rows * p > BLOCK_CELLS:
        rows //= 2
    scatter, done = np.zeros((p, p)), 0
    with closing(table.blocks(range(p), rows)) as blocks:
        for block in blocks:
            moved = shift.of(block)
            add_products(scatter, moved, moved)
            done += block.shape[1]
            if done % leaves.LEAF_ROWS == 0 or done == table.n_rows:
                put(sums, 0, (done - 1) // leaves.LEAF_ROWS, scatter)
                scatter = np.zeros((p, p))
    return total(sums)
