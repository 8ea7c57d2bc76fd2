"""An order of the columns that depends on their content, not on their positions or names."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from bayescout.data import memory
from bayescout.data.past.stored import StoredTable
from bayescout.data.table import Table
from bayescout.scores.threads import check_workers, worked
from bayescout.search.frame.stored_content import ROUNDS, stored_signatures
from bayescout.wording import setting

KEPT_CELLS = 1 << 20
"""Tables of at most this many cells keep their canonical form, for the next time they are learned from."""

_kept: WeakKeyDictionary[Table, Table] = WeakKeyDictionary()

BLOCK_CELLS = 1 << 21
"""Cells that a thread goes through at a time."""

NAME_BYTES = 400
"""Bytes, about, for the name and the kind of each column, while they are put in order."""

FINE = 2.0**-20
"""The unit in which fractional weights are counted."""


Block = tuple[Callable[[], NDArray[Any]], NDArray[np.intp]]
"""The cells of some columns, made when asked for, and which columns these are."""


def canonical_table(table: Table, workers: int | None = 1) -> Table:
    """The table with its columns in canonical order; the same object each time for a small table."""
    found = _kept.get(table)
    if found is None:
        _require_room(table)
        found = table.reordered(canonical_order(table, workers))
        if table.n_rows * table.n_columns <= KEPT_CELLS or isinstance(table, StoredTable):
            _kept[table] = found
    return found


def _require_room(table: Table) -> None:
    """Refuse a table of which memory holds no second copy; what is past memory is not copied."""
    if isinstance(table, StoredTable) or table.n_rows * table.n_columns <= KEPT_CELLS:
        return
    memory.require(
        table.values.nbytes + table.codes.nbytes + NAME_BYTES * table.n_columns,
        f"{table.n_columns:,} columns of {table.n_rows:,} rows: putting them in order takes a copy of",
        f"leave out columns or rows, or give files and {setting('memory', '2 GB')}",
    )


def canonical_order(table: Table, workers: int | None = 1) -> list[int]:
    """The columns by falling entropy, equal ones by their content; names decide between identical columns.

    Discrete columns come before continuous ones, which have no entropy and are ordered by content alone. A
    missing cell is content too: one more state, or one more number.

    In a table with both kinds, continuous columns are told apart by the continuous cells first, so that the
    order of the states of other columns does not matter to them.

    Shuffling rows or columns, or renaming variables, does not change it, nor does writing a row of weight 2
    as two rows. Falling entropy because it makes greedy searches end a little better than other orders do;
    see docs/decisions/canonical-order.md.
    """
    continuous = ~table.discrete_columns
    spreads = _spreads(table, continuous)
    marks = np.zeros(table.n_columns, dtype=np.uint64)
    if len(np.unique(spreads)) < table.n_columns or continuous.any():
        marks = _signatures(table, workers)
    apart = np.zeros_like(marks)
    if continuous.any() and not continuous.all():
        numbers = table.select([table.names[i] for i in np.flatnonzero(continuous)])
        apart[continuous] = _signatures(numbers, workers)
    keys = (continuous, spreads, apart, marks, np.array(_rows_acted(table)))
    order = np.lexsort(keys[::-1])
    same = np.ones(max(0, len(order) - 1), dtype=np.bool_)
    for key in keys:
        same &= key[order[1:]] == key[order[:-1]]
    return _equal_by_name(order.tolist(), same, table.names)


def _equal_by_name(order: list[int], same: NDArray[np.bool_], names: Sequence[Hashable]) -> list[int]:
    """The order with runs of columns that are the same as the one before put in the order of names."""
    begins = np.flatnonzero(np.diff(same.astype(np.int8), prepend=0) > 0)
    ends = np.flatnonzero(np.diff(same.astype(np.int8), append=0) < 0) + 2
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        order[begin:end] = sorted(sorted(order[begin:end]), key=lambda at: str(names[at]))
    return order


def _rows_acted(table: Table) -> list[float]:
    """The weight of the rows in which each variable was set from outside: it tells equal columns apart."""
    if table.interventions is None:
        return [0.0] * table.n_columns
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    return [math.fsum(weights[table.interventions.acted(name)].tolist()) for name in table.names]


def _spreads(table: Table, continuous: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each discrete column a number that falls as its entropy rises; 0 for a continuous one."""
    spreads = np.zeros(table.n_columns, dtype=np.int64)
    if continuous.all():
        return spreads
    from bayescout.kernels.content import column_spreads

    if isinstance(table, StoredTable):
        for column in np.flatnonzero(~continuous).tolist():
            counts = table.stored[column].counts
            assert counts is not None
            states = np.arange(len(counts), dtype=np.uint16)[None]
            column_spreads(states, np.array([len(counts)]), counts, 1.0, spreads[column : column + 1])
        return spreads
    out = np.empty(len(table.codes), dtype=np.int64)
    column_spreads(table.codes, table.n_codes[~continuous], *_weights(table), out)
    spreads[~continuous] = out
    return spreads


def _signatures(table: Table, workers: int | None) -> NDArray[np.uint64]:
    """One number per column, from its cells and from the other cells of their rows."""
    if isinstance(table, StoredTable):
        return stored_signatures(table)
    from bayescout.kernels.content import mark_columns, mark_rows

    discrete, continuous = np.flatnonzero(table.discrete_columns), np.flatnonzero(~table.discrete_columns)
    weights = _weights(table)[0]
    # A code and a float may have the same bits: in a table with both, the kind tells them apart.
    both = len(discrete) > 0 and len(continuous) > 0
    colours = (~table.discrete_columns & both).astype(np.uint64)

    step = max(1, BLOCK_CELLS // max(1, table.n_rows))
    codes = [(begin, begin + step) for begin in range(0, len(discrete), step)]
    blocks: list[Block] = [
        *[(partial(_codes, table, begin, end), discrete[begin:end]) for begin, end in codes],
        *[(partial(_bits, table, begin, end), continuous[begin:end]) for begin, end in table.column_blocks()],
    ]
    threads, lock = check_workers(workers), Lock()
    for _ in range(ROUNDS):
        marks = np.zeros(table.n_rows, dtype=np.uint64)

        def add_rows(block: Block, marks: NDArray[np.uint64] = marks) -> None:
            own = np.zeros(table.n_rows, dtype=np.uint64)
            mark_rows(block[0](), colours[block[1]], own)
            with lock:  # whole numbers: the order of the blocks does not matter
                np.add(marks, own, out=marks)

        def set_columns(block: Block, marks: NDArray[np.uint64] = marks) -> None:
            out = np.empty(len(block[1]), dtype=np.uint64)
            mark_columns(block[0](), colours[block[1]], weights, marks, out)
            colours[block[1]] = out

        worked(add_rows, blocks, threads, _between)
        worked(set_columns, blocks, threads, _between)
    return colours


def _codes(table: Table, begin: int, end: int) -> NDArray[Any]:
    return table.codes[begin:end]


def _bits(table: Table, begin: int, end: int) -> NDArray[np.uint64]:
    return table.doubles(begin, end).view(np.uint64)


def _between() -> None:
    """Nothing: there is no session yet whose clock could be looked at."""


def _weights(table: Table) -> tuple[NDArray[np.int64], float]:
    """The rows' weights as whole numbers of a unit, and that unit."""
    if table.weights is None:
        return np.empty(0, dtype=np.int64), 1.0
    whole = np.rint(table.weights)
    unit = 1.0 if (whole == table.weights).all() else FINE
    return np.rint(np.minimum(table.weights / unit, 2.0**40)).astype(np.int64), unit
