"""Settle the kind of each column once all its cells are there: by declaration, by type, or by its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from bayescout.data.absent import MISSING
from bayescout.data.columns import Column
from bayescout.data.declared import OpenNumbers
from bayescout.data.kinds import (
    IDENTIFIER_ROWS,
    TOO_FEW_ROWS,
    Present,
    Verdict,
    are_dates,
    are_decimals,
    are_durations,
    are_identifiers,
    are_inexact,
    are_measurements,
    counts_the_rows,
    hardly_repeat,
    kind_of_numbers,
    kind_of_texts,
    kind_of_whole,
    lone_marks,
    look_alike,
    number_with_more,
    odd_among_numbers,
    whole_numbers,
)
from bayescout.data.numerals import as_number
from bayescout.data.reading import WORDS, Notes, in_words, marks_in_words, shortened
from bayescout.data.table import Label
from bayescout.errors import DataError, is_told, warn
from bayescout.graph.labels import counted, quoted
from bayescout.wording import setting

IDENTIFIES, DATES, NO_VALUES = "identifies rows", "dates", "no values"
INDEX = "no name, an index of the rows"
TOO_MANY = "more distinct values than a column can have"
NUMBERS_IN_TEXT = "numbers kept as text, all distinct"
MOSTLY_ONCE = "texts most of which occur once"
NUMBERS_MOSTLY_ONCE = "numbers kept as text, most of which occur once"


@dataclass(frozen=True)
class Settled:
    """The reading of a column, and the reason to leave it out, if there is one.

    odd    the few texts that keep it from being a column of numbers
    marks  a state without letters or digits, which may mean missing
    alike  states that differ in case or blanks alone
    more   a text of a column of numbers with units or marks of thousands, which are read as text
    nines  a number such as 999, far from all others, which may mean missing
    """

    verdict: Verdict
    left_out: str = ""
    odd: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    more: str = ""
    nines: float | None = None


def settle_columns(columns: Sequence[Column]) -> tuple[list[Column], Notes]:
    """The columns that are used, each of its kind, and what is to be noted; warns of what was decided."""
    settled = [_settle(column) for column in columns]
    kept = [column for column, one in zip(columns, settled, strict=True) if not one.left_out]
    left_out = tuple(
        (column.name, one.left_out) for column, one in zip(columns, settled, strict=True) if one.left_out
    )
    if columns and not kept:
        ways = ", ".join(_ways_to_keep(left_out))
        raise DataError(
            f"no column is left to use: {in_words(left_out)}"
            f"{'; declare the kind of those that are meant: ' if ways else ''}{ways}"
        )
    read = [(c, one.verdict) for c, one in zip(columns, settled, strict=True) if not one.left_out]
    notes = Notes(
        tuple((column.name, verdict.reason, verdict.close) for column, verdict in read),
        left_out,
        tuple((column.name, mark, cells) for column in kept for mark, cells in sorted(column.marked.items())),
        commas=tuple(column.name for column in kept if column.decimal_commas),
        strange=tuple((column.name, *column.strange) for column in kept if column.strange is not None),
    )
    warn_left_out(left_out)
    _warn_close([(column.name, verdict) for column, verdict in read if verdict.close])
    _warn_marks(notes, [column.name for column in kept])
    named = [(column.name, one) for column, one in zip(columns, settled, strict=True)]
    _warn_suspects(named, {mark for column in columns for mark in column.marked})
    _warn_alike([(name, one.alike) for name, one in named if one.alike])
    _warn_numbers([(name, f"such as {shortened(one.more)!r}") for name, one in named if one.more])
    _warn_first_row(kept)
    return kept, notes


def _settle(column: Column) -> Settled:
    """The reading of one column."""
    if column.unnamed:
        return _of_index(column)
    if column.maybe_index and not column.chosen and not column.declared and _is_index(column):
        return Settled(Verdict("discrete", ""), INDEX)
    found = _of_named(column)
    if not column.decimal_commas or column.declared or found.left_out:
        return found
    close = found.verdict.close or (column.like_thousands and column.n_rows >= TOO_FEW_ROWS)
    which = "decimal commas, or thousands" if column.like_thousands else "decimal commas"
    reason = f"{found.verdict.reason}, written with {which}"
    return replace(found, verdict=replace(found.verdict, reason=reason, close=close))


def _of_index(column: Column) -> Settled:
    """A first column without a name: left out if it is an index of the rows, else refused."""
    if _is_index(column):
        return Settled(Verdict("discrete", ""), INDEX)
    raise DataError(
        f"column 1 has no name, and is no index of the rows, as its values repeat: name it, or "
        f"{setting('drop', column.name)}"
    )


def _is_index(column: Column) -> bool:
    """Return True if no two rows have the same cell."""
    if column.floats is not None:
        cells = np.concatenate([*column.floats, np.empty(0)])
        distinct = len(np.unique(cells[~np.isnan(cells)]))
    else:
        distinct = len([value for value in column.values if value is not MISSING])
    return column.abandoned or distinct == column.n_rows


def _of_named(column: Column) -> Settled:
    if column.declared:
        if column.wanted == "discrete" and column.states is None:
            _make_whole(column)
        if column.floats is None:
            return Settled(Verdict("discrete", column.origin))
        told = isinstance(column.wanted, OpenNumbers) and not column.marks.asked  # rows for a network
        nines = column.numbers().far_nines() if told and column.n_rows >= TOO_FEW_ROWS else None
        return Settled(Verdict("continuous", column.origin), nines=nines)
    if column.abandoned:
        dates = are_dates(column.values)
        reason = DATES if dates else TOO_MANY
        return Settled(Verdict("discrete", ""), reason, more="" if dates else number_with_more(column.values))
    if column.floats is not None:
        return _of_floats(column)
    found = _of_codes(column)
    if column.chosen or column.floats is not None or found.left_out in (DATES, NO_VALUES):
        return found
    return replace(found, more=number_with_more([v for v in column.values if v is not MISSING]))


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
        return Settled(verdict, nines=_nines_among(column, whole))
    return Settled(verdict, nines=None if column.marks.asked else column.numbers().far_nines())


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
            odd = tuple(odd_among_numbers(values, rows))
            numbers = odd or are_measurements(values, rows)
            return Settled(Verdict("discrete", ""), NUMBERS_IN_TEXT if numbers else IDENTIFIES, odd)
        return _of_texts(column, values, rows)
    if not column.chosen and counts_the_rows(min(whole), max(whole), len(whole), rows):
        return Settled(Verdict("discrete", ""), IDENTIFIES)
    if are_inexact(whole):
        if len(whole) == rows > IDENTIFIER_ROWS and not column.chosen:
            return Settled(Verdict("discrete", ""), IDENTIFIES)
        told = f"{counted(len(whole), 'number')} of 16 digits or more, kept exactly"
        return Settled(Verdict("discrete", told, rows >= TOO_FEW_ROWS))
    verdict = kind_of_whole(whole, rows)
    if verdict.kind == "discrete":
        return Settled(verdict, nines=_nines_among(column, whole))
    column.become_continuous()
    return Settled(verdict, nines=None if column.marks.asked else column.numbers().far_nines())


def _nines_among(column: Column, states: Sequence[float]) -> float | None:
    """A code such as 99 among grades from 1 to 5."""
    return None if column.marks.asked else Present([np.array(states, dtype=np.float64)]).far_nines()


def _of_texts(column: Column, values: Sequence[Any], rows: int) -> Settled:
    """States, unless most of them occur once: the cells of a row would then say which row it is."""
    verdict = kind_of_texts(values, rows)
    odd = tuple(odd_among_numbers(values, rows))
    marks = () if odd or column.marks.asked else tuple(lone_marks(values, rows))
    all_text = all(isinstance(value, str) for value in values)
    if all_text and not column.chosen and hardly_repeat(len(values), rows):
        numbers = odd or are_measurements(values, rows)
        return Settled(verdict, NUMBERS_MOSTLY_ONCE if numbers else MOSTLY_ONCE, odd, marks)
    if odd:
        reason = f"{verdict.reason}, numbers but for {quoted(odd, 3)}"
        return Settled(Verdict("discrete", reason), "", odd)
    doubtful = not column.chosen or are_identifiers(values, rows)
    read = replace(verdict, close=verdict.close and doubtful)
    twice = tuple(look_alike(values)) if all_text and rows >= TOO_FEW_ROWS else ()
    return Settled(read, "", (), marks, twice)


def reason_to_leave_out(values: Sequence[Any], rows: int) -> str:
    """The reason why a column of these states is left out unless it is asked for; empty if it is not.

    rows  those that have a value
    """
    if are_dates(values):
        return DATES
    identifies = are_identifiers(values, rows)
    all_text = all(isinstance(value, str) for value in values)
    if not identifies and not (all_text and hardly_repeat(len(values), rows)):
        return ""
    if odd_among_numbers(values, rows) or are_measurements(values, rows):
        return NUMBERS_IN_TEXT if identifies else NUMBERS_MOSTLY_ONCE
    return IDENTIFIES if identifies else MOSTLY_ONCE


def _make_whole(column: Column) -> None:
    """Turn states that are whole floats, all of them, into integers."""
    values = [value for value in column.values if value is not MISSING]
    whole = whole_numbers(values)
    if whole is not None and any(type(value) is float for value in values):
        meaning = dict(zip(values, whole, strict=True))
        column.retype([value if value is MISSING else meaning[value] for value in column.values])


def warn_left_out(left_out: Sequence[tuple[Label, str]]) -> None:
    """Warn of columns that are not used, each with the reason."""
    if not left_out:
        return
    ways = _ways_to_keep(left_out)
    dates = [name for name, reason in left_out if reason == DATES]
    if dates:
        ways.append(f"a month, weekday or age made of {dates[0]!r} could be used")
    one = len(left_out) == 1
    what = "column" if one else f"{len(left_out):,} columns"
    warn(f"{what} left out: {in_words(left_out)}{'; ' if ways else ''}{', '.join(ways)}")
    for name, _ in left_out:
        is_told(name)


def _ways_to_keep(left_out: Sequence[tuple[Label, str]]) -> list[str]:
    """How to keep the first column of each kind that was left out."""
    of_numbers = [name for name, reason in left_out if reason in (NUMBERS_IN_TEXT, NUMBERS_MOSTLY_ONCE)]
    others = [name for name, reason in left_out if name not in of_numbers]
    others = [name for name in others if (name, INDEX) not in left_out] or others
    others = [name for name in others if (name, TOO_MANY) not in left_out]  # nothing keeps these
    ways = [f"{setting('kinds', {name: 'discrete'})} keeps it" for name in others[:1]]
    ways += [f"{setting('kinds', {name: 'continuous'})} reads its numbers" for name in of_numbers[:1]]
    return ways


def _warn_close(close: Sequence[tuple[Label, Verdict]]) -> None:
    if not close:
        return
    told = [(name, f"{WORDS[one.kind]}: {one.reason}") for name, one in close]
    ways = []
    numbers = [(name, one.kind) for name, one in close if "numbers" in one.reason]
    if numbers:
        name, kind = numbers[0]
        other = "continuous" if kind == "discrete" else "discrete"
        ways.append(f"{setting('kinds', {name: other})} turns it")
    texts = [name for name, one in close if "numbers" not in one.reason]
    if texts:
        ways.append(f"{setting('drop', texts[0])} if that is no use")
    warn(f"close calls in how columns are read: {in_words(told)}; {', '.join(ways)}")


def _warn_alike(found: Sequence[tuple[Label, tuple[str, ...]]]) -> None:
    if found:
        told = "; ".join(f"{name!r} ({quoted(states, 3)})" for name, states in found[:6])
        more = f" and {len(found) - 6} more" if len(found) > 6 else ""
        warn(
            f"states that differ in case or blanks alone: in {told}{more}; make them one if they mean the "
            f"same"
        )


def _warn_numbers(found: Sequence[tuple[Label, str]]) -> None:
    """Warn of numbers that are read as text for what is written beside them."""
    if found:
        warn(
            f"numbers with a unit or marks of thousands are read as text: {in_words(found)}; write them as "
            f"plain numbers"
        )


def _warn_first_row(kept: Sequence[Column]) -> None:
    """Warn of names that could be cells: each a number over numbers, or else one of the states.

    Whole numbers that rise, such as years, are names.
    """
    names = [column.name for column in kept]
    numbers = [as_number(name) if isinstance(name, str) else None for name in names]
    if len(names) < 2 or all(number is None for number in numbers):
        return
    for column, number in zip(kept, numbers, strict=True):
        if (number is None) if column.floats is not None else column.name not in [*map(str, column.values)]:
            return
    rising = all(isinstance(a, int) and isinstance(b, int) and a < b for a, b in pairwise(numbers))
    if not rising:
        warn(
            f"the names of the columns read like a row ({quoted(names, 3)}): if the data have no line of "
            f"names, put one above the first row"
        )


def _warn_marks(notes: Notes, names: Sequence[Label]) -> None:
    marks = notes.marked(names)
    if marks:
        warn(
            f"cells that count as missing: {marks_in_words(marks)}; {setting('missing_values', ())} keeps "
            f"such texts as states"
        )


def _warn_suspects(named: Sequence[tuple[Label, Settled]], usual: set[str]) -> None:
    """Warn once of all that may mean missing: texts among numbers, states without letters, numbers like 999.

    What is declared replaces the texts `usual`, which count as missing now, so these are declared with it.
    """
    odd = _by_texts([(name, one.odd) for name, one in named])
    marks = _by_texts([(name, one.marks) for name, one in named])
    nines = {name: f"{one.nines:.0f}" for name, one in named if one.nines is not None}
    told = [
        f"{_of(names, 'is', 'are')} read as text because of {quoted(texts, 3)} among "
        f"{'their' if len(names) > 1 else 'its'} numbers"
        for texts, names in odd.items()
    ]
    told += [f"{_of(names, 'has', 'have')} a state {quoted(texts, 3)}" for texts, names in marks.items()]
    if nines:
        shown = ", ".join(f"{mark} in {name!r}" for name, mark in list(nines.items())[:6])
        told.append(f"numbers far from all others: {shown}")
    if told:
        found = dict.fromkeys([text for texts in (*odd, *marks) for text in texts] + list(nines.values()))
        declared = (*found, *sorted(usual - set(found)))
        warn(f"{'; '.join(told)}: {setting('missing_values', declared)} if that means missing")


def _by_texts(found: Sequence[tuple[Label, tuple[str, ...]]]) -> dict[tuple[str, ...], list[Label]]:
    """The columns by the texts found in them, whatever the order of these."""
    grouped: dict[tuple[str, ...], list[Label]] = {}
    for name, texts in found:
        if texts:
            grouped.setdefault(tuple(sorted(texts)), []).append(name)
    return grouped


def _of(names: Sequence[Label], one: str, more: str) -> str:
    return f"columns {quoted(names, 6)} {more}" if len(names) > 1 else f"column {quoted(names)} {one}"
