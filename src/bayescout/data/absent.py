"""Missing cells: recognise them in any frame and by the user's declaration; refuse tables that hold any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.numerals import as_number
from bayescout.data.table import Label, Table
from bayescout.errors import DataError, MissingValueError, warn
from bayescout.graph.labels import quoted
from bayescout.wording import setting


class _Missing:
    """Type with a single instance, which pickling between processes preserves."""

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()
"""Marker of a missing cell among the distinct values of a column."""


def is_missing(value: Any) -> bool:
    """Return True for None, NaN, NaT and pandas' NA; never for a string."""
    if value is None:
        return True
    if isinstance(value, float | complex | np.inexact):
        return bool(value != value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return type(value).__name__ in ("NAType", "NaTType")


def python_value(value: Any) -> Any:
    """The Python value of a NumPy scalar; dates more precise than Python's stay as they are."""
    if isinstance(value, np.floating):
        return float(value)  # a long double's own item() is a long double
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        return value.item()
    return value


def complete_rows(table: Table, names: Sequence[Label]) -> tuple[Table, int]:
    """Some columns of the rows that have a value in each of them, and how many rows have not."""
    asked = table.select(names)
    complete = ~np.logical_or.reduce([asked.missing_cells(name) for name in names])
    rows = np.flatnonzero(complete)
    if not len(rows):
        raise DataError(f"no row has a value in all of {quoted(names)}; ask about fewer columns at a time")
    left_out = asked.n_rows - len(rows)
    return (asked.take(rows) if left_out else asked), left_out


USUAL_MARKS = ("?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL")
"""Texts that mean missing in a text file, beside the empty cell, unless the user declares others.

Not None and none: those are states of well-known benchmark networks.
"""


class Marks:
    """The values the user declares to mean missing, and which of them the data hold.

    A text that reads as a number stands for that number too: "-999" matches that text in a cell of a
    text file, and the number -999 in any column of numbers. `usual` holds texts that mean missing without
    being declared; `states` those of the usual ones that are states because others are declared. `asked` is
    True if the user has said what means missing, be it nothing, so that no further texts are suspected.
    """

    def __init__(self, declared: Sequence[Any] = (), usual: Sequence[str] = (), asked: bool = False) -> None:
        self.asked = asked
        self.declared = tuple(python_value(value) for value in declared)
        self.usual = frozenset(usual)
        self.states: list[tuple[Label, str]] = []
        self._meanings = [_meanings(value) for value in self.declared]
        self._met = [is_missing(value) or value == "" for value in self.declared]

    def hold(self, value: Any) -> bool:
        """Return True if a value found in a column means missing, and note that it occurs."""
        found = False
        for position, meanings in enumerate(self._meanings):
            if _is_one_of(value, meanings):
                self._met[position] = found = True
        return found

    def match(self, value: Any) -> bool:
        """Return True if a value would mean missing, were it in a column."""
        return any(_is_one_of(value, meanings) for meanings in self._meanings)

    def hold_text(self, text: str) -> bool:
        """Return True if the text of a file's cell, as written, means missing, and note that it occurs."""
        found = False
        for position, value in enumerate(self.declared):
            if str(value) == text:
                self._met[position] = found = True
        return found

    def clear(self, array: NDArray[np.float64]) -> NDArray[np.float64]:
        """The floats of a column, with NaN for the numbers that mean missing."""
        for position, meanings in enumerate(self._meanings):
            for number in _floats(meanings):
                gone = array == number
                if gone.any():
                    self._met[position] = True
                    array = np.where(gone, np.nan, array)
        return array

    @property
    def numbers(self) -> list[float]:
        """The numbers that mean missing."""
        return [number for meanings in self._meanings for number in _floats(meanings)]

    @property
    def replace_usual(self) -> bool:
        """True if values are declared, other than the empty text, in place of the usual ones."""
        return not self.usual and any(value != "" for value in self.declared)

    def warn(self) -> None:
        """Warn of declared values that no cell has, and of usual ones that are states in their place."""
        self._warn_unmet()
        if self.states:
            name, mark = self.states[0]
            more = f" (and {len(self.states) - 1:,} more such)" if len(self.states) > 1 else ""
            warn(
                f"{mark!r} is a state of column {name!r}{more}, since the declared missing values replace "
                f"the usual ones: {setting('missing_values', (*self.declared, mark))} if it means missing"
            )

    def _warn_unmet(self) -> None:
        """Warn of declared values that no cell has: a misspelt one would leave the intended value a state."""
        unmet = [value for value, met in zip(self.declared, self._met, strict=True) if not met]
        if unmet:
            warn(
                f"the declared missing {'values' if len(unmet) > 1 else 'value'} {quoted(unmet)} "
                f"{'occur' if len(unmet) > 1 else 'occurs'} in no cell of the data: check the spelling"
            )


def _is_one_of(value: Any, meanings: Sequence[Any]) -> bool:
    """Return True if the value equals one of these; True and 1 are not equal here."""
    return any(value == m and isinstance(value, bool) == isinstance(m, bool) for m in meanings)


def _floats(meanings: Sequence[Any]) -> Iterator[float]:
    for value in meanings:
        if isinstance(value, int | float) and not isinstance(value, bool):
            with suppress(OverflowError):  # an integer that no float equals
                yield float(value)


def _meanings(value: Any) -> tuple[Any, ...]:
    number = as_number(value) if isinstance(value, str) else None
    return (value,) if number is None else (value, number)


def require_complete(table: Table, names: Iterable[Label] | None = None) -> None:
    """Refuse a table with missing cells, or with missing cells in the named columns."""
    if table.has_missing:
        wanted = set(table.names if names is None else names)
        refuse_missing(
            [(name, count) for name, count in table.missing.counts if name in wanted], table.n_rows
        )


def refuse_missing(found: Sequence[tuple[Label, int]], n_rows: int) -> None:
    """Raise if any column has missing cells; `found` holds (column, number of missing cells)."""
    if not found:
        return
    shown = ", ".join(f"{name!r} ({count:,})" for name, count in found[:8])
    more = f" and {len(found) - 8} more columns" if len(found) > 8 else ""
    raise MissingValueError(
        f"missing values in {shown}{more} of {n_rows:,} rows: {setting('missing', 'drop')} leaves those "
        f"rows out, {setting('missing', 'state')} gives discrete columns a state of their own for it; "
        f"learn draws them, and result.completed is the table without missing cells that it scored"
    )
