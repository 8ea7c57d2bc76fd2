"""The kind of a column of numbers: states or measurements, decided from its values and how often they occur.

One rule for integers, floats that are all whole, and numbers in text; docs/decisions/columns.md gives the
reasons and a table of cases. It looks at the distinct values, the rows of each and the spacing between
them; never at names, types or the order of rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescout.data.numerals import as_number, number_with_comma
from bayescout.data.table import Kind
from bayescout.graph.labels import counted

FEW = 5
"""So few whole numbers are states, unless they hardly ever repeat."""

SOME = 12
"""So many whole numbers, the months of a year, are states where each has several rows."""

MANY = 24
"""So many whole numbers, the hours of a day, can be states; more are measurements unless declared."""

SEVERAL_ROWS, ENOUGH_ROWS, AMPLE_ROWS = 2, 5, 50
"""Rows per distinct value, on average, at which numbers repeat, are enough for states, and are many."""

FAR = 10
"""Numbers whose distance from zero is more than so many times their span: years, not codes."""

TOO_FEW_ROWS = 10
"""With fewer rows than this no call is close, as nothing could decide it, and no numbers count the rows."""

DISTINCT = 100
"""A column with more distinct numbers than this is known to be measured before all its rows are read."""

MOST_BITS = 1000
"""The longest integers that are numbers: longer ones have no float, and are states."""

EXACT = 2.0**53
"""The largest float that is known to be whole: beyond it every float is."""

DECIMALS = "numbers with decimals"
"""Why a column with more than FEW numbers, not all of them whole, is one of measurements."""

IDENTIFIER_ROWS = 4
"""With more rows than this, a column whose values are all distinct texts identifies rows."""

MOST_CHECKED = 1_000_000
"""In columns of more rows no number that stands apart is looked for, so that reading stays quick."""

NINES = frozenset(sign * (10.0**digits - 1) for sign in (1, -1) for digits in range(2, 10))
"""Numbers that people write for a missing one: 99, -99, 999, ..."""

MOST_ODD = 10
"""One distinct text in so many can be a mark among numbers; more make it a column of text."""


@dataclass(frozen=True)
class Verdict:
    """The kind of a column and the reason for it; `close` where a person might well decide otherwise."""

    kind: Kind
    reason: str
    close: bool = False


@dataclass(frozen=True)
class _Whole:
    """Whole numbers: the number of distinct ones, the least and the greatest, and the rows with one."""

    distinct: int
    low: int
    high: int
    rows: int

    @property
    def each(self) -> float:
        """Rows per distinct value."""
        return self.rows / self.distinct

    @property
    def span(self) -> int:
        return self.high - self.low + 1

    @property
    def look_like_codes(self) -> bool:
        """Start at 0 or 1, or lie around 0, with few gaps."""
        around = self.low < 0 <= self.high and self.span <= SOME
        return (self.low in (0, 1) or around) and self.span <= 2 * self.distinct

    @property
    def are_far_from_zero(self) -> bool:
        return min(abs(self.low), abs(self.high)) > FAR * self.span and self.low * self.high > 0

    def told(self) -> str:
        shown = f"{self.distinct:,} whole numbers" if self.distinct > 1 else "one whole number"
        return f"{shown}, about {self.each:,.0f} {'rows' if round(self.each) != 1 else 'row'} each"


def kind_of_whole(numbers: Sequence[int], rows: int) -> Verdict:
    """The kind of a column whose values are these distinct whole numbers, in `rows` rows."""
    if not numbers:
        return Verdict("continuous", "no values")
    found = _Whole(len(numbers), min(numbers), max(numbers), rows)
    told = found.told()
    if found.distinct <= 2:
        return Verdict("discrete", told)
    kind, close = _of_codes(found) if found.look_like_codes else _of_others(found)
    return Verdict(kind, told, close and rows >= TOO_FEW_ROWS)


def _of_codes(found: _Whole) -> tuple[Kind, bool]:
    """The kind of numbers that count from 0 or 1 with few gaps, and True for a close call."""
    if found.distinct <= FEW:
        return "discrete", False
    if found.distinct <= SOME:
        kind: Kind = "discrete" if found.each >= SEVERAL_ROWS else "continuous"
        return kind, found.each < ENOUGH_ROWS
    if found.distinct <= MANY:
        return ("discrete" if found.each >= AMPLE_ROWS else "continuous"), found.each >= ENOUGH_ROWS
    return "continuous", found.each >= AMPLE_ROWS and found.span == found.distinct


def _of_others(found: _Whole) -> tuple[Kind, bool]:
    """The kind of numbers that start elsewhere, or with wide gaps, and True for a close call."""
    if found.distinct <= FEW:
        few = found.each < ENOUGH_ROWS
        return ("discrete" if found.each >= SEVERAL_ROWS else "continuous"), few or found.are_far_from_zero
    if found.distinct <= SOME:
        states = found.each >= 2 * ENOUGH_ROWS and not found.are_far_from_zero
        return ("discrete" if states else "continuous"), found.each >= ENOUGH_ROWS
    return "continuous", found.distinct <= MANY and found.each >= AMPLE_ROWS


def whole_numbers(values: Sequence[Any]) -> list[int] | None:
    """The values as integers, or None if one of them is not a whole number; booleans are not numbers."""
    found = []
    for value in values:
        if type(value) is float and value.is_integer() and abs(value) <= EXACT:
            value = int(value)
        if type(value) is not int or value.bit_length() > MOST_BITS:
            return None
        found.append(value)
    return found


def counts_the_rows(low: float, high: float, distinct: int, rows: int) -> bool:
    """Return True if distinct whole numbers are consecutive and as many as there are rows."""
    return rows > TOO_FEW_ROWS and distinct == rows and high - low + 1 == rows


# ---- floats


class Numbers(Protocol):
    """The numbers of a column, without missing cells."""

    @property
    def rows(self) -> int: ...

    def have_decimals(self) -> bool:
        """Return True if a number is not whole, or so large that a float does not tell."""

    def distinct(self, most: int) -> NDArray[np.float64] | None:
        """The distinct numbers in order, or None if they are more than `most`."""

    def limits(self) -> tuple[float, float]: ...

    def are_consecutive(self, low: float) -> bool:
        """Return True if whole numbers are those from `low` on, each once."""

    def far_nines(self) -> float | None:
        """The least or greatest number, if it is of nines and apart from the others; see `Present`."""


def kind_of_floats(
    chunks: Sequence[NDArray[np.float64]],
) -> tuple[Verdict, Sequence[float] | None, bool]:
    """The reading of floats, NaN where missing; the numbers if they are states; True if row numbers."""
    return kind_of_numbers(Present(chunks))


def kind_of_numbers(present: Numbers) -> tuple[Verdict, Sequence[float] | None, bool]:
    """The reading of the numbers of a column."""
    rows = present.rows
    if not rows:
        return Verdict("continuous", "no values"), None, False
    if present.have_decimals():
        return (*_kind_of_decimals(present, rows), False)
    low, high = present.limits()
    distinct = present.distinct(DISTINCT)
    if distinct is None:
        numbers = rows > TOO_FEW_ROWS and high - low + 1 == rows and present.are_consecutive(low)
        return Verdict("continuous", f"more than {DISTINCT} whole numbers"), None, bool(numbers)
    whole = [int(value) for value in distinct.tolist()]
    return kind_of_whole(whole, rows), whole, counts_the_rows(low, high, len(whole), rows)


def _has_decimals(array: NDArray[np.float64]) -> bool:
    """Return True if a number is not whole, or so large that a float does not tell."""
    return bool(len(array)) and not bool(((array == np.trunc(array)) & (abs(array) <= EXACT)).all())


def _kind_of_decimals(present: Numbers, rows: int) -> tuple[Verdict, list[float] | None]:
    """The reading of numbers with decimals, and the number itself where it is always the same: a state."""
    distinct = present.distinct(FEW)
    if distinct is None:
        return Verdict("continuous", DECIMALS), None
    if len(distinct) == 1 and np.isfinite(distinct[0]):
        return Verdict("discrete", f"one number, in {counted(rows, 'row')}"), distinct.tolist()
    close = rows >= max(TOO_FEW_ROWS, ENOUGH_ROWS * len(distinct))
    return Verdict("continuous", f"{counted(len(distinct), 'number')} with decimals", close), None


def _distinct(chunks: Iterable[NDArray[np.float64]], most: int) -> NDArray[np.float64] | None:
    """The distinct numbers in order, or None once they are more than `most`."""
    known = np.empty(0)
    for chunk in chunks:
        for start in range(0, len(chunk), 10_000):
            known = np.union1d(known, chunk[start : start + 10_000])
            if len(known) > most:
                return None
    return known


def _count_whole(chunks: Iterable[NDArray[np.float64]], low: float, most: int) -> int:
    """The number of distinct numbers, all of them whole and in [low, low + most)."""
    seen = np.zeros(most, dtype=np.bool_)
    for chunk in chunks:
        seen[(chunk - low).astype(np.int64)] = True
    return int(seen.sum())


class Present:
    """The chunks without their missing cells, made one at a time: all of them may not fit in memory."""

    def __init__(self, chunks: Iterable[NDArray[np.float64]]) -> None:
        self.chunks = chunks

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        return (chunk[~np.isnan(chunk)] for chunk in self.chunks)

    @cached_property
    def rows(self) -> int:
        return sum(len(chunk) for chunk in self)

    def have_decimals(self) -> bool:
        return any(_has_decimals(chunk[:1000]) for chunk in self) or any(map(_has_decimals, self))

    def distinct(self, most: int) -> NDArray[np.float64] | None:
        return _distinct(self, most)

    def limits(self) -> tuple[float, float]:
        return min(c.min() for c in self if len(c)), max(c.max() for c in self if len(c))

    def are_consecutive(self, low: float) -> bool:
        return _count_whole(self, low, self.rows) == self.rows

    def far_nines(self) -> float | None:
        """-99, 999 or the like, if it lies farther from the other numbers than these do from each other."""
        if not 0 < self.rows <= MOST_CHECKED:
            return None
        for mark in sorted(NINES.intersection(self.limits())):
            others = Present([chunk[chunk != mark] for chunk in self])
            if others.rows:
                low, high = others.limits()
                if max(low - mark, mark - high) > high - low > 0:
                    return mark
        return None


# ---- texts and dates

_ONE_TO_31 = r"(?:0?[1-9]|[12][0-9]|3[01])"
_YEAR = r"[12][0-9]{3}"
_OTHER_DAY = rf"(?:{_ONE_TO_31}([./-]){_ONE_TO_31}\1{_YEAR}|{_YEAR}([./-]){_ONE_TO_31}\2{_ONE_TO_31})"
_OTHER_TIME = r"[0-2]?[0-9]:[0-5][0-9](?::[0-6][0-9])?(?: ?[AaPp][Mm])?"
_ISO_DAY = r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_ISO_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-6][0-9](?:[.,][0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
_is_iso_date = re.compile(rf"{_ISO_DAY}(?:[T ]{_ISO_TIME})?").fullmatch
_is_other_date = re.compile(rf"{_OTHER_DAY}(?:,? {_OTHER_TIME})?").fullmatch
_is_key = re.compile(r"\{?[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}\}?").fullmatch


def are_dates(values: Sequence[Any]) -> bool:
    """Return True for dates, dates with times, and texts that are dates, be they 2024-12-31 or 31.12.2024."""
    if not values:
        return False
    if all(isinstance(value, str) for value in values):
        return all(_is_iso_date(value) or _is_other_date(value) for value in values)
    return all(isinstance(value, date | np.datetime64) or _is_period(value) for value in values)


def _is_period(value: Any) -> bool:
    """Return True for a month, quarter or the like, as pandas has them."""
    return type(value).__name__ == "Period"


def are_durations(values: Sequence[Any]) -> bool:
    """Return True for lengths of time."""
    return bool(values) and all(isinstance(value, timedelta | np.timedelta64) for value in values)


def are_decimals(values: Sequence[Any]) -> bool:
    """Return True for numbers some of which are decimals, as databases have them."""
    kinds = {type(value) for value in values}
    return Decimal in kinds and kinds <= {Decimal, int, float}


def are_inexact(whole: Sequence[int]) -> bool:
    """Return True if most whole numbers are too large for a float, as those of keys are."""
    return 2 * sum(abs(value) > EXACT for value in whole) > len(whole)


def are_identifiers(values: Sequence[Any], rows: int) -> bool:
    """Return True for texts that are all distinct, or UUIDs most of which occur once."""
    if rows <= IDENTIFIER_ROWS or not all(isinstance(value, str) for value in values):
        return False
    return len(values) == rows or (2 * len(values) > rows and all(map(_is_key, values)))


def hardly_repeat(distinct: int, rows: int) -> bool:
    """Return True if most of the values of a column occur once, so that they say little of other rows."""
    return rows > 4 * IDENTIFIER_ROWS and distinct * SEVERAL_ROWS > rows


def odd_among_numbers(values: Sequence[Any], rows: int) -> list[str]:
    """The few texts without which a column would be one of measurements.

    Not those of numbers with a unit or with marks of thousands, such as 1,234,567 among 23,288.
    """
    if not all(isinstance(value, str) for value in values) or number_with_more(values):
        return []
    odd = [value for value in values if number_with_comma(value) is None]
    few = 0 < len(odd) <= max(1, len(values) // MOST_ODD)
    return odd if few and are_measurements([v for v in values if v not in odd], rows) else []


def lone_marks(values: Sequence[Any], rows: int) -> list[str]:
    """The text without a letter or digit, if it is the only such one among states that have some."""
    if rows < TOO_FEW_ROWS or not all(isinstance(value, str) for value in values):
        return []
    marks = [value for value in values if not any(map(str.isalnum, value))]
    return marks if len(marks) == 1 < len(values) else []


_CURRENCY = r"[$£¥€]|EUR|USD|GBP|CHF"
_with_more = re.compile(
    rf"\s*({_CURRENCY})?\s*[+-]?(?:0|[1-9][0-9]*)(?:([.,'’ \u00a0\u202f])[0-9]{{3}}(?:\2[0-9]{{3}})*)?"
    rf"(?:[.,][0-9]+)?\s*({_CURRENCY}|[%‰]|[^\W\d_]{{1,4}})?\s*"
).fullmatch


def number_with_more(values: Sequence[Any]) -> str:
    """The first of texts that are numbers with one unit or currency, or with marks of thousands; else ''."""
    if len(values) <= SOME or not all(isinstance(value, str) for value in values):
        return ""
    first, most_odd, more = "", len(values) // MOST_ODD, set()
    for text in values:
        found = _with_more(text)
        if found is None:
            most_odd -= 1
        else:
            more.add((found[1], found[3]))
            first = first or (text if any(found.groups()) and as_number(text) is None else "")
        if most_odd < 0 or len(more) > 1:
            return ""
    return first


def is_number_with_more(text: str) -> bool:
    """Return True for a number with a unit, a currency or marks of thousands, and for no plain number."""
    found = _with_more(text)
    return found is not None and any(found.groups()) and as_number(text) is None


def look_alike(texts: Sequence[str]) -> list[str]:
    """The first texts, of more than one character, that differ in case or in blanks around them alone."""
    first: dict[str, str] = {}
    for text in texts:
        plain = text.strip().casefold()
        if len(plain) > 1 and first.setdefault(plain, text) != text:
            return [first[plain], text]
    return []


def kind_of_texts(values: Sequence[Any], rows: int) -> Verdict:
    """The reading of values that are not numbers: states always.

    A close call if few of them repeat, if they are more than MANY with few rows each, as names of people or
    places are, or if all are texts of numbers that would be measurements as numbers.
    """
    distinct = len(values)
    if all(isinstance(value, bool) for value in values):
        return Verdict("discrete", "true or false")
    if are_measurements(values, rows):
        reason = f"{distinct:,} numbers kept as text in {rows:,} rows"
        return Verdict("discrete", reason, rows >= TOO_FEW_ROWS)
    what = "text" if all(isinstance(value, str) for value in values) else "value"
    thin = distinct > MANY and rows < ENOUGH_ROWS * distinct
    reason = f"{counted(distinct, what)} in {rows:,} rows"
    return Verdict("discrete", reason, thin or hardly_repeat(distinct, rows))


def are_measurements(values: Sequence[Any], rows: int) -> bool:
    """Return True for texts that are all numbers, and such as would be continuous if they were no text."""
    found = [number_with_comma(value) if isinstance(value, str) else None for value in values]
    if len(found) <= FEW or any(number is None for number in found):
        return False
    whole = whole_numbers(found)
    return whole is None or kind_of_whole(sorted(set(whole)), rows).kind == "continuous"
