"""The signatures of columns past memory: the same numbers as in memory, summed over blocks of rows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.past.dask_partition import Block
from bayescout.data.past.dask_table import DaskTable
from bayescout.data.past.stored import BLOCK_ROWS, StoredTable

ROUNDS = 2

Words = NDArray[np.uint64]


def stored_signatures(table: StoredTable, block_rows: int | None = None) -> Words:
    """One number per column, from its cells and from the other cells of their rows."""
    continuous = ~table.discrete_columns
    kinds = [np.flatnonzero(where) for where in (~continuous, continuous) if where.any()]
    # A code and a float may have the same bits: in a table with both, the kind tells them apart.
    colours = (continuous & (len(kinds) == 2)).astype(np.uint64)
    rows = block_rows or max(4096, BLOCK_ROWS // max(1, table.n_columns // 8))
    for _ in range(ROUNDS):
        colours = _next(table, kinds, colours, rows)
    return colours


def _next(table: StoredTable, kinds: list[NDArray[np.intp]], colours: Words, block_rows: int) -> Words:
    """The next signatures."""
    if isinstance(table, DaskTable):
        places = [np.array(table.places(own.tolist())) for own in kinds]
        numbers = [table.states[own[0]] is None for own in kinds]
        return mixed(
            table.total("content", _of_partition, places, numbers, kinds, colours, block_rows) ^ colours
        )
    totals = np.zeros(table.n_columns, dtype=np.uint64)
    with ExitStack() as stack:
        blocks = [stack.enter_context(closing(table.blocks(p.tolist(), block_rows))) for p in kinds]
        for some in zip(*blocks, strict=True):
            totals += _marks_of(some, kinds, colours)
    return mixed(totals ^ colours)


def _of_partition(
    block: Block,
    places: list[NDArray[np.intp]],
    numbers: list[bool],
    kinds: list[NDArray[np.intp]],
    colours: Words,
    block_rows: int,
) -> Words:
    """The sums of one partition of a table on a cluster."""
    totals = np.zeros(len(colours), dtype=np.uint64)
    for begin in range(0, block.rows, block_rows):
        some = [
            np.ascontiguousarray(block.of(kind)[own, begin : begin + block_rows])
            for own, kind in zip(places, numbers, strict=True)
        ]
        totals += _marks_of(some, kinds, colours)
    return totals


def _marks_of(some: Sequence[NDArray[Any]], kinds: list[NDArray[np.intp]], colours: Words) -> Words:
    """The sums over a block of rows; a kernel mixes them, and that is undone before they are added."""
    from bayescout.kernels.content import mark_columns, mark_rows

    totals = np.zeros(len(colours), dtype=np.uint64)
    weights = np.empty(0, dtype=np.int64)
    parts = [part.view(np.uint64) if part.dtype == np.float64 else part for part in some]
    marks = np.zeros(parts[0].shape[1], dtype=np.uint64)
    for places, cells in zip(kinds, parts, strict=True):
        mark_rows(cells, colours[places], marks)
    for places, cells in zip(kinds, parts, strict=True):
        out = np.empty(len(places), dtype=np.uint64)
        mark_columns(cells, np.zeros(len(places), dtype=np.uint64), weights, marks, out)
        totals[places] = unmixed(out)
    return totals


ONE, TWO = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""The factors of `kernels.content`."""


def mixed(x: Words) -> Words:
    """A well-spread number from each, as `kernels.content` makes it."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(ONE)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(TWO)
    return np.asarray(x ^ (x >> np.uint64(31)))


def unmixed(x: Words) -> Words:
    """The numbers that `mixed` made these of."""
    x = _unshifted(x, 31) * np.uint64(pow(TWO, -1, 1 << 64))
    x = _unshifted(x, 27) * np.uint64(pow(ONE, -1, 1 << 64))
    return _unshifted(x, 30)


def _unshifted(x: Words, bits: int) -> Words:
    """The y of which y ^ (y >> bits) is x."""
    y = x
    for _ in range(64 // bits):
        y = x ^ (y >> np.uint64(bits))
    return np.asarray(y)
