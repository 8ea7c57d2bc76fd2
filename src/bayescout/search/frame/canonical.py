"""An order of the columns that depends on their content, not on their positions or names."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from bayescout.data.past.stored import StoredTable
from bayescout.data.table import Table
from bayescout.search.frame.stored_content import ROUNDS, stored_signatures

KEPT_CELLS = 1 << 20
"""Tables of at most this many cells keep their canonical form, for the next time they are learned from."""

_kept: WeakKeyDictionary[Table, Table] = WeakKeyDictionary()

FINE = 2.0**-20
"""The unit in which fractional weights are counted."""


def canonical_table(table: Table) -> Table:
    """The table with its columns in canonical order; the same object each time for a small table."""
    found = _kept.get(table)
    if found is None:
        found = table.reordered(canonical_order(table))
        if table.n_rows * table.n_columns <= KEPT_CELLS or isinstance(table, StoredTable):
            _kept[table] = found
    return found


def canonical_order(table: Table) -> list[int]:
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
        marks = _signatures(table)
    apart = np.zeros_like(marks)
    if continuous.any() and not continuous.all():
        apart[continuous] = _signatures(table.select([table.names[i] for i in np.flatnonzero(continuous)]))
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


def _signatures(table: Table) -> NDArray[np.uint64]:
    """One number per column, from its cells and from the other cells of their rows."""
    if isinstance(table, StoredTable):
        return stored_signatures(table)
    from bayescout.kernels.content import mark_columns, mark_rows

    discrete, continuous = np.flatnonzero(table.discrete_columns), np.flatnonzero(~table.discrete_columns)
    weights = _weights(table)[0]
    # A code and a float may have the same bits: in a table with both, the kind tells them apart.
    both = len(discrete) > 0 and len(continuous) > 0
    colours = (~table.discrete_columns & both).astype(np.uint64)

    def parts() -> Iterator[tuple[NDArray[Any], NDArray[np.intp]]]:
        if len(discrete):
            yield table.codes, discrete
        for begin, end in table.column_blocks():
            yield table.doubles(begin, end).view(np.uint64), continuous[begin:end]

    for _ in range(ROUNDS):
        rows = np.zeros(table.n_rows, dtype=np.uint64)
        for cells, where in parts():
            mark_rows(cells, colours[where], rows)
        for cells, where in parts():
            out = np.empty(len(cells), dtype=np.uint64)
            mark_columns(cells, colours[where], weights, rows, out)
            colours[where] = out
    return colours


def _weights(table: Table) -> tuple[NDArray[np.int64], float]:
    """The rows' weights as whole numbers of a unit, and that unit."""
    if table.weights is None:
        return np.empty(0, dtype=np.int64), 1.0
    whole = np.rint(table.weights)
    unit = 1.0 if (whole == table.weights).all() else FINE
    return np.rint(np.minimum(table.weights / unit, 2.0**40)).astype(np.int64), unit
