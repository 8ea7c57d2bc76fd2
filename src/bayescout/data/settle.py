"""Settle the kind of each column once all its cells are there: by declaration, by type, or by its numbers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bayescout.data.absent import MISSING
from bayescout.data.columns import Column
from bayescout.data.kinds import (
    IDENTIFIER_ROWS,
    TOO_FEW_ROWS,
    Verdict,
    are_dates,
    are_decimals,
    are_durations,
    are_identifiers,
    are_inexact,
    are_measurements,
    counts_the_rows,
    kind_of_numbers,
    kind_of_texts,
    kind_of_whole,
    whole_numbers,
)
from bayescout.data.reading import WORDS, Notes, in_words, marks_in_words
from bayescout.data.table import Kind, Label
from bayescout.errors import BayescoutWarning, DataError
from bayescout.graph.labels import counted
from bayescout.wording import setting

IDENTIFIES, DATES, NO_VALUES = "identifies rows", "dates", "no values"
INDEX = "no name, an index of the rows"
NUMBERS_IN_TEXT = "numbers kept as text, all distinct"


@dataclass(frozen=True)
class Settled:
    """The reading of a column, and the reason to leave it out, if there is one."""

    verdict: Verdict
    left_out: str = ""


def settle_columns(columns: Sequence[Column]) -> tuple[list[Column], Notes]:
    """The columns that are used, each of its kind, and what is to be noted; warns of what was decided."""
    settled = [_settle(column) for column in columns]
    kept = [column for column, one in zip(columns, settled, strict=True) if not one.left_out]
    left_out = tuple(
        (column.name, one.left_out) for column, one in zip(columns, settled, strict=True) if one.left_out
    )
    if columns and not kept:
        raise DataError(
            f"no column is left to use: {in_words(left_out)}; declare the kind of those that are meant, "
            f"{setting('kinds', {left_out[0][0]: 'discrete'})}"
        )
    read = [(c, one.verdict) for c, one in zip(columns, settled, strict=True) if not one.left_out]
    notes = Notes(
        tuple((column.name, verdict.reason, verdict.close) for column, verdict in read),
        left_out,
        tuple((column.name, mark, cells) for column in kept for mark, cells in sorted(column.marked.items())),
        commas=tuple(column.name for column in kept if column.decimal_commas),
        strange=tuple((column.name, *column.strange) for column in kept if column.strange is not None),
    )
    _warn_left_out(left_out)
    _warn_close([(column.name, verdict) for column, verdict in read if verdict.close])
    _warn_marks(notes, [column.name for column in kept])
    return kept, notes


def _settle(column: Column) -> Settled:
    """The reading of one column."""
    if column.unnamed:
        return _of_index(column)
    found = _of_named(column)
    if not column.decimal_commas or column.declared or found.left_out:
        return found
    close = found.verdict.close or (column.like_thousands and column.n_rows >= TOO_FEW_ROWS)
    which = "decimal commas, or thousands" if column.like_thousands else "decimal commas"
    reason = f"{found.verdict.reason}, written with {which}"
    return replace(found, verdict=replace(found.verdict, reason=reason, close=close))


def _of_index(column: Column) -> Settled:
    """A first column without a name: left out if it is an index of the rows, else refused."""
    if column.floats is not None:
        cells = np.concatenate([*column.floats, np.empty(0)])
        distinct = len(np.unique(cells[~np.isnan(cells)]))
    else:
        distinct = len([value for value in column.values if value is not MISSING])
    if column.abandoned or distinct == column.n_rows:
        return Settled(Verdict("discrete", ""), INDEX)
    raise DataError(
        f"column 1 has no name, and is no index of the rows, as its values repeat: name it, or "
        f"{setting('drop', column.name)}"
    )


def _of_named(column: Column) -> Settled:
    if column.declared:
        if column.wanted == "discrete" and column.states is None:
            _make_whole(column)
        kind: Kind = "continuous" if column.floats is not None else "discrete"
        return Settled(Verdict(kind, column.origin))
    if column.abandoned:
        dates = are_dates(column.values)
        return Settled(
            Verdict("discrete", ""), DATES if dates else "more distinct values than a column can have"
        )
    return _of_floats(column) if column.floats is not None else _of_codes(column)


def _of_floats(column: Column) -> Settled:
    assert column.floats is not None
    if column.durations:
        return Settled(Verdict("continuous", "lengths of time, in seconds"))
    verdict, whole, are_row_numbers = kind_of_numbers(column.numbers())
    if verdict.reason == NO_VALUES and not column.chosen:
        return Settled(verdict, NO_VALUES)
    if are_row_numbers and not column.chosen:
        return Settled(verdict, IDENTIFIES)
    if verdict.kind == "discrete":
        assert whole is not None
        column.become_discrete(whole)
    return Settled(verdict)


def _of_codes(column: Column) -> Settled:
    values = [value for value in column.values if value is not MISSING]
    rows = column.n_rows - column.count_missing()
    if not rows and not column.chosen:
        return Settled(Verdict("discrete", NO_VALUES), NO_VALUES)
    if are_decimals(values) or are_durations(values):
        column.become_continuous()
        return _of_floats(column)
    whole = whole_numbers(values)
    if whole is None or not rows:
        if not column.chosen and are_dates(values):
            return Settled(Verdict("discrete", ""), DATES)
        if not column.chosen and are_identifiers(values, rows):
            reason = NUMBERS_IN_TEXT if are_measurements(values, rows) else IDENTIFIES
            return Settled(Verdict("discrete", ""), reason)
        verdict = kind_of_texts(values, rows)
        doubtful = not column.chosen or are_identifiers(values, rows)
        return Settled(replace(verdict, close=verdict.close and doubtful))
    if not column.chosen and counts_the_rows(min(whole), max(whole), len(whole), rows):
        return Settled(Verdict("discrete", ""), IDENTIFIES)
    if are_inexact(whole):
        if len(whole) == rows > IDENTIFIER_ROWS and not column.chosen:
            return Settled(Verdict("discrete", ""), IDENTIFIES)
        told = f"{counted(len(whole), 'number')} of 16 digits or more, kept exactly"
        return Settled(Verdict("discrete", told, rows >= TOO_FEW_ROWS))
    verdict = kind_of_whole(whole, rows)
    if verdict.kind == "continuous":
        column.become_continuous()
    return Settled(verdict)


def _make_whole(column: Column) -> None:
    """Turn states that are whole floats, all of them, into integers."""
    values = [value for value in column.values if value is not MISSING]
    whole = whole_numbers(values)
    if whole is not None and any(type(value) is float for value in values):
        meaning = dict(zip(values, whole, strict=True))
        column.retype([value if value is MISSING else meaning[value] for value in column.values])


def _warn_left_out(left_out: Sequence[tuple[Label, str]]) -> None:
    if not left_out:
        return
    name, reason = left_out[0]
    kind = "continuous" if reason == NUMBERS_IN_TEXT else "discrete"
    ways = [f"{setting('kinds', {name: kind})} keeps it"]
    dates = [name for name, reason in left_out if reason == DATES]
    if dates:
        ways.append(f"a month, weekday or age made of {dates[0]!r} could be used")
    one = len(left_out) == 1
    what = "column" if one else f"{len(left_out):,} columns"
    warnings.warn(
        f"{what} left out: {in_words(left_out)}; {', '.join(ways)}",
        BayescoutWarning,
        stacklevel=4,
    )


def _warn_close(close: Sequence[tuple[Label, Verdict]]) -> None:
    if not close:
        return
    told = [(name, f"{WORDS[one.kind]}: {one.reason}") for name, one in close]
    name, first = close[0]
    other = "continuous" if first.kind == "discrete" else "discrete"
    numbers = "numbers" in first.reason
    way = (
        f"{setting('kinds', {name: other})} turns it"
        if numbers
        else f"{setting('drop', name)} if that is no use"
    )
    warnings.warn(
        f"close calls in how columns are read: {in_words(told)}; {way}", BayescoutWarning, stacklevel=4
    )


def _warn_marks(notes: Notes, names: Sequence[Label]) -> None:
    marks = notes.marked(names)
    if marks:
        warnings.warn(
            f"cells that count as missing: {marks_in_words(marks)}; {setting('missing_values', ())} keeps "
            f"such texts as states",
            BayescoutWarning,
            stacklevel=4,
        )
