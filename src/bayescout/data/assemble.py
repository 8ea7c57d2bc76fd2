"""Assemble columns into a checked `Table`: missing-value policy, order of states, weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescout.data.about_rows import NOTHING_SAID, AboutRows
from bayescout.data.absent import MISSING, refuse_missing
from bayescout.data.columns import Column, in_order
from bayescout.data.declared import RawStates, is_open
from bayescout.data.reading import Notes, cut_notes
from bayescout.data.settle import settle_columns
from bayescout.data.states import StateFinder
from bayescout.data.table import (
    CONSTANT,
    MAX_STATES,
    Label,
    MissingPolicy,
    MissingReport,
    States,
    Table,
    check_weights,
    narrowest,
)
from bayescout.errors import DataError, MissingValueError, SettingError, warn
from bayescout.graph.labels import quoted
from bayescout.wording import setting

MISSING_STATE = "missing"


class Settled(NamedTuple):
    """Columns whose kinds, states and missing cells are settled, ready to be copied into a table.

    keep     the rows that are kept, as a mask or as `keep_by` has it, or None for all
    n_rows   how many these are
    """

    columns: Sequence[Column]
    states: Sequence[States | None]
    policy: MissingPolicy
    keep: Any
    n_rows: int
    report: MissingReport
    notes: Notes

    @property
    def code_type(self) -> type[np.unsignedinteger[Any]]:
        """The type of the codes, the same for all columns."""
        after = int(self.policy == "keep")
        pairs = zip(self.columns, self.states, strict=True)
        return narrowest(max((len(s) + _codes_after(c, after) for c, s in pairs if s is not None), default=0))

    def lookup(self, place: int) -> NDArray[Any]:
        """The final code of each provisional code of a discrete column."""
        column, states = self.columns[place], self.states[place]
        assert states is not None
        after = int(self.policy == "keep")
        missing = len(states) - 1 + after if MISSING in column.values else 0
        return _final_codes(column, states, missing).astype(self.code_type)

    def check_finite(self, place: int) -> None:
        refuse_infinite(self.columns[place], self.keep)


MadeBy = Callable[[Settled], Table]


def assemble(
    columns: Sequence[Column],
    policy: MissingPolicy = "keep",
    about: AboutRows = NOTHING_SAID,
    made_by: MadeBy | None = None,
    keep_by: Callable[[Sequence[Column]], Any] | None = None,
) -> Table:
    """Settle the kinds of the columns, apply the missing-value policy, and check the whole table.

    Columns are emptied as they are copied, so that only one column's codes are in memory twice.
    `made_by` makes the table from what is settled, where its cells are not to be in memory; `keep_by` finds
    the rows without missing cells, where these are not here.
    """
    weights, beside = about.weights, about.columns
    if about.weight_name is not None:
        weights = _weight_column(next(c for c in columns if c.name == about.weight_name))
    every, columns = columns, [column for column in columns if column.name not in beside]
    n_rows = _check_extent(columns)
    if weights is not None:
        check_weights(weights, n_rows)
    interventions = about.interventions(every, n_rows)
    columns, notes = settle_columns(columns)
    for column in columns:
        _fill_empty(column)
    raw = {column.name: column.states for column in columns if isinstance(column.states, RawStates)}
    notes = cut_notes(notes, {name: own.cuts for name, own in raw.items() if own.cuts is not None})
    given = {name: own.empty for name, own in raw.items() if own.empty is not None}
    counts = {column.name: column.count_missing() for column in columns}
    found = tuple((name, count) for name, count in counts.items() if count)
    if policy == "error":
        refuse_missing(found, n_rows)
    keep = None
    if policy == "drop" and found:
        keep = _rows_to_keep(columns, n_rows) if keep_by is None else keep_by(columns)
    kept = n_rows if keep is None else int(keep.sum())
    if not kept:
        raise DataError(
            f"every one of the {n_rows:,} rows has a missing value, so {setting('missing', 'drop')} leaves "
            f"none"
        )
    if kept < n_rows:
        _warn_dropped(found, n_rows - kept, n_rows)
    report = MissingReport(policy, found, n_rows - kept)
    states = tuple(_settle(column, policy, keep) for column in columns)
    if policy == "state":
        given |= {name: own[-1] for (name, own) in zip(counts, states, strict=True) if own and counts[name]}
    notes = replace(notes, missing_states=tuple(given.items()))
    if made_by is not None:
        table = made_by(Settled(columns, states, policy, keep, kept, report, notes))
        _warn_constant(table, [column.name for column in columns if not column.declared])
        return table
    codes, values = _fill(columns, states, policy, keep, kept)
    if weights is not None and keep is not None:
        weights = weights[keep]
    names = tuple(column.name for column in columns)
    if interventions is not None:
        interventions = interventions.select(names)
    if interventions is not None and keep is not None:
        interventions = interventions.take(keep)
    table = Table(names, states, codes, values, weights, report, notes, interventions=interventions)
    _warn_constant(table, [column.name for column in columns if not column.declared])
    return table


def _fill_empty(column: Column) -> None:
    """Give the missing cells of a column the state that its declaration has for them, if it has one."""
    if isinstance(column.states, RawStates) and column.states.empty is not None and MISSING in column.values:
        column.retype([column.states.empty if value is MISSING else value for value in column.values])


def check_policy(policy: object) -> None:
    if policy not in ("error", "drop", "state", "keep"):
        raise SettingError(f"missing must be 'error', 'drop', 'state' or 'keep', not {policy!r}")


def _weight_column(column: Column) -> NDArray[np.float64]:
    assert column.floats is not None  # weight columns are declared continuous
    weights = np.concatenate(column.floats) if column.floats else np.empty(0)
    gone = np.flatnonzero(np.isnan(weights))
    if len(gone):
        raise MissingValueError(
            f"the weight column {column.name!r} has {len(gone)} missing values, first in row {gone[0]} "
            f"(counting from 0): fill them or drop the rows"
        )
    return weights


def _check_extent(columns: Sequence[Column]) -> int:
    if not columns:
        raise DataError("the data have no columns: at least one variable is needed")
    n_rows = columns[0].n_rows
    for column in columns:
        if column.n_rows != n_rows:
            raise DataError(
                f"column {column.name!r} has {column.n_rows} rows but column {columns[0].name!r} has "
                f"{n_rows}: all columns must have the same length"
            )
    if not n_rows:
        raise DataError("the data have no rows: at least one is needed")
    return n_rows


def _warn_dropped(found: Sequence[tuple[Label, int]], dropped: int, n_rows: int) -> None:
    """Tell how many rows a policy leaves out, and which columns have most of the missing cells."""
    most = sorted(found, key=lambda pair: -pair[1])
    shown = ", ".join(f"{name!r} ({count:,})" for name, count in most[:4])
    more = f" and {len(most) - 4} more columns" if len(most) > 4 else ""
    warn(f"{dropped:,} of {n_rows:,} rows are left out, as they have missing values: in {shown}{more}")


def _rows_to_keep(columns: Sequence[Column], n_rows: int) -> NDArray[np.bool_]:
    keep = np.ones(n_rows, dtype=np.bool_)
    for column in columns:
        start = 0
        code = column.values.index(MISSING) if column.floats is None and MISSING in column.values else None
        for chunk in column.chunks if column.floats is None else column.floats:
            stop = start + len(chunk)
            if column.floats is not None:
                keep[start:stop] &= ~np.isnan(chunk)
            elif code is not None:
                keep[start:stop] &= chunk != code
            start = stop
    return keep


def _settle(column: Column, policy: MissingPolicy, keep: Any) -> States | None:
    """The states of one column in order, or None where it is continuous."""
    if column.floats is not None:
        if policy == "state" and column.count_missing():
            raise DataError(
                f"column {column.name!r} is continuous and has missing values, which "
                f"{setting('missing', 'state')} cannot hold: use {setting('missing', 'drop')}"
            )
        return None
    occurring = [value for value in column.values if value is not MISSING]
    if column.states is not None and is_open(column.states):
        known = StateFinder(column.states, f"column {column.name!r}")
        states = [*column.states, *(value for value in occurring if known.find(value) is None)]
    elif column.states is not None:
        _check_declared(column, occurring)
        states = list(column.states)
    else:
        states = in_order(occurring if keep is None else column.occurring(keep))
    missing = MISSING in column.values
    if policy == "state" and missing:
        states.append(_free_name(states))
    if not states:
        raise DataError(
            f"column {column.name!r} has no values, all {column.n_rows:,} are missing: "
            f"{setting('drop', column.name)}, or declare its states or its kind"
        )
    if len(states) + (policy == "keep" and missing) > MAX_STATES:
        also = " and missing values" if policy == "keep" and missing else ""
        raise DataError(
            f"column {column.name!r} has {len(states):,} states{also}, more than the {MAX_STATES:,} allowed"
        )
    return tuple(states)


def _check_declared(column: Column, occurring: Sequence[Any]) -> None:
    assert column.states is not None
    exact = {(type(state), state) for state in column.states}
    known = StateFinder(column.states, f"column {column.name!r}")
    for value in occurring:
        if (type(value), value) not in exact and known.find(value) is None:
            raise DataError(
                f"column {column.name!r} has the value {value!r} ({type(value).__name__}) in row "
                f"{_first_row(column, value)} (counting from 0), which is not among its "
                f"declared states: {quoted(column.states, 12)}"
            )


def _first_row(column: Column, value: Any) -> int:
    code = next(i for i, known in enumerate(column.values) if known is value)
    start = 0
    for chunk in column.chunks:
        hits = np.flatnonzero(chunk == code)
        if len(hits):
            return start + int(hits[0])
        start += len(chunk)
    raise AssertionError("a value among the distinct ones occurs in no row")


def _free_name(states: Sequence[Any]) -> str:
    name, number = MISSING_STATE, 1
    while name in states:
        number += 1
        name = f"{MISSING_STATE}_{number}"
    return name


def _warn_constant(table: Table, names: Sequence[Label]) -> None:
    """Warn of the named columns that have a single value; columns that the user declared are not named."""
    if table.n_rows < 2:
        return
    constant = [name for name in names if _is_constant(table, name)]
    if constant:
        discrete = any(table.states[table.index(name)] is not None for name in constant)
        table.warn_once(
            CONSTANT,
            f"constant columns carry no information: {quoted(constant)}"
            f"{'; leave them out, or declare their states if others can occur' if discrete else ''}",
        )


def _is_constant(table: Table, name: Label) -> bool:
    states = table.states[table.index(name)]
    if states is not None:
        return len(states) == 1
    limits = table.limits(name)
    return limits is None or limits[0] == limits[1]


def _fill(
    columns: Sequence[Column],
    states: Sequence[States | None],
    policy: MissingPolicy,
    keep: NDArray[np.bool_] | None,
    n_rows: int,
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The codes and values; a missing discrete cell has the last state, or under "keep" the code after it."""
    after = int(policy == "keep")
    pairs = list(zip(columns, states, strict=True))
    widest = max((len(s) + _codes_after(c, after) for c, s in pairs if s is not None), default=0)
    discrete = sum(s is not None for s in states)
    codes = np.empty((discrete, n_rows), dtype=narrowest(widest))
    values = np.empty((len(columns) - discrete, n_rows))
    next_code, next_value = iter(codes), iter(values)
    for column, of_column in pairs:
        if of_column is None:
            assert column.floats is not None
            out = next(next_value)
            refuse_infinite(column, keep)
            _copy(column.floats, None, keep, out)
            column.floats = []
        else:
            out_codes = next(next_code)
            missing = len(of_column) - 1 + after if MISSING in column.values else 0
            final = _final_codes(column, of_column, missing)
            _copy(column.chunks, final.astype(codes.dtype), keep, out_codes)
            column.chunks = []
    return codes, values


def _codes_after(column: Column, after: int) -> int:
    return after if MISSING in column.values else 0


def _final_codes(column: Column, states: States, missing: int) -> NDArray[np.int64]:
    """The final code of each provisional code; 0 for values that no kept row has."""
    position = {(type(value), value): code for code, value in enumerate(states)}
    known = None if column.states is None else StateFinder(column.states, f"column {column.name!r}")
    found = []
    for value in column.values:
        place = missing if value is MISSING else position.get((type(value), value))
        if place is None and known is not None:
            place = known.find(value)
        found.append(0 if place is None else place)
    return np.array(found, dtype=np.int64)


def _copy(
    chunks: Sequence[NDArray[Any]],
    lookup: NDArray[Any] | None,
    keep: NDArray[np.bool_] | None,
    out: NDArray[Any],
) -> None:
    start = position = 0
    for chunk in chunks:
        rows = chunk if keep is None else chunk[keep[start : start + len(chunk)]]
        start += len(chunk)
        stop = position + len(rows)
        out[position:stop] = rows if lookup is None else lookup[rows]
        position = stop


def refuse_infinite(column: Column, keep: NDArray[np.bool_] | None) -> None:
    start = 0
    for chunk in column.floats or ():
        bad = np.isinf(chunk)
        if keep is not None:
            bad &= keep[start : start + len(chunk)]
        if bad.any():
            at = int(np.flatnonzero(bad)[0])
            raise DataError(
                f"column {column.name!r} holds {chunk[at]} in row {start + at} (counting from 0): "
                f"continuous values must be finite; clip it, drop the row, or declare it among missing_values"
            )
        start += len(chunk)
