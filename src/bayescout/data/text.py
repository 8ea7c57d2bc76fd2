"""What the cells of a text file mean: integers, booleans, numbers or text, one type a column.

Two different texts never become one state, unless they are the same number in a
column of numbers: "007" keeps its column text, and so does "True" beside "true".
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescout.data.columns import MAX_INTEGER_STATES, MISSING, Column
from bayescout.data.pieces import add_strings
from bayescout.data.table import MAX_STATES, Kind, Label, States
from bayescout.errors import BayescoutWarning, DataError

if TYPE_CHECKING:
    import polars as pl

# An integer of more than 300 digits is text: it has no float of its own.
_DIGITS = r"(?:0|[1-9][0-9]{0,299})"
_INTEGER = rf" *[+-]?{_DIGITS} *"
_FINITE = rf" *[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|{_DIGITS})(?:[eE][+-]?[0-9]{{1,4}})? *"
_INFINITE = r" *[+-]?(?:inf|Inf|INF|infinity|Infinity) *"
_NUMBER = rf"(?:{_FINITE}|{_INFINITE})"
_BOOLEANS = (("false", "true"), ("False", "True"), ("FALSE", "TRUE"))

_is_integer = re.compile(_INTEGER).fullmatch
_is_finite = re.compile(_FINITE).fullmatch
_is_number = re.compile(_NUMBER).fullmatch


def typed(texts: Sequence[str]) -> list[Any]:
    """The values that the distinct texts of one column stand for, in the same order.

    All integers: integers. All true and false in one spelling: booleans. All numbers, one
    of them not an integer: floats. Otherwise the texts themselves.
    """
    if not texts:
        return []
    if all(map(_is_integer, texts)):
        return [int(text) for text in texts]
    for spelling in _BOOLEANS:
        if set(texts) <= set(spelling):
            return [text == spelling[1] for text in texts]
    if all(map(_is_number, texts)) and any(_is_finite(t) and not _is_integer(t) for t in texts):
        numbers = [float(text) for text in texts]
        overflowed = any(math.isinf(n) and _is_finite(t) for n, t in zip(numbers, texts, strict=True))
        return list(texts) if overflowed else numbers
    return list(texts)


class ReadAgain(Exception):
    """A column taken for numbers turned out to be text: the file must be read again."""

    def __init__(self, name: Label) -> None:
        self.name = name


class TextColumn(Column):
    """A column of cells that are text until every one has been seen.

    One that shows only numbers, too many to be states, is held as floats from then on; a text
    that comes later (`as_text` then says so) makes the reader start again.
    """

    def __init__(
        self,
        name: Label,
        wanted: Kind | None = None,
        states: States | None = None,
        absent: Sequence[Any] = (),
        as_text: bool = False,
    ) -> None:
        # A cell is empty whether or not it is quoted: writers that quote everything quote it too.
        super().__init__(name, wanted, states, ["", *map(str, absent)])
        self.absent_texts, self.absent_values = self.absent, tuple(absent)
        self.as_text = as_text
        self.n_seen = 0

    def add(self, texts: pl.Series) -> None:
        """Add one batch of cells, null where the cell is empty."""
        if self.floats is not None:
            self._add_numbers(texts)
        else:
            add_strings(self, texts)
        self.n_seen += len(texts)

    def settle(self) -> None:
        """Give the distinct texts their type, now that all are known."""
        if self.floats is not None:
            return
        texts = [value for value in self.values if value is not MISSING]
        if self.as_text or (self.states is not None and all(isinstance(s, str) for s in self.states)):
            values: list[Any] = texts
        else:
            values = typed(texts)
        self._warn_mostly_numbers(texts, values)
        meaning = dict(zip(texts, values, strict=True))
        self.absent = self.absent_values
        self.retype([MISSING if text is MISSING else meaning[text] for text in self.values])

    def _review(self) -> None:
        distinct = len(self.values) - (MISSING in self.values)
        if self._is_wide(distinct):
            self._become_numbers()
        elif distinct > MAX_STATES:
            raise DataError(self._too_many())

    def _is_wide(self, distinct: int) -> bool:
        if self.declared or self.as_text or distinct <= MAX_INTEGER_STATES:
            return False
        return all(value is MISSING or _is_number(value) for value in self.values)

    def _become_numbers(self) -> None:
        numbers = np.array([np.nan if v is MISSING else float(v) for v in self.values])
        chunks, self.chunks, self.floats = self.chunks, [], []
        self.absent = self.absent_values
        for chunk in chunks:
            self.add_floats(numbers[chunk])

    def _add_numbers(self, texts: pl.Series) -> None:
        import polars as pl

        self.absent = self.absent_values
        texts = texts.set(texts.is_in(self.absent_texts).fill_null(False), None)
        # \A and \z, since a cell may hold a line end that ^ and $ would look past.
        bad = ~texts.str.contains(rf"\A{_NUMBER}\z").fill_null(True)
        if bad.any():
            self._refuse_text(texts, int(bad.arg_max() or 0))
        self.add_floats(texts.str.strip_chars(" ").cast(pl.Float64).to_numpy(writable=True))

    def _refuse_text(self, texts: pl.Series, row: int) -> None:
        if self.wanted != "continuous":
            raise ReadAgain(self.name)
        raise DataError(
            f"column {self.name!r} is to hold numbers but has {texts[row]!r} in row "
            f"{self.n_seen + row} (counting from 0): declare "
            f"missing_values=({texts[row]!r},) if that marks a missing value"
        )

    def _mostly_numbers(self, texts: Sequence[str]) -> list[str]:
        """The few texts that keep a column of many numbers from being one."""
        others = [text for text in texts if not _is_number(text)]
        return others if len(texts) > MAX_INTEGER_STATES and 10 * len(others) <= len(texts) else []

    def _too_many(self) -> str:
        others = self._mostly_numbers([value for value in self.values if value is not MISSING])
        message = (
            f"column {self.name!r} has more than {MAX_STATES:,} distinct texts, the most a column can have: "
        )
        if others:
            return (
                message
                + f"nearly all are numbers; declare missing_values=({others[0]!r},) if that means missing"
            )
        return message + "drop the column from the file"

    def _warn_mostly_numbers(self, texts: Sequence[str], values: Sequence[Any]) -> None:
        if self.declared or not values or not isinstance(values[0], str):
            return
        others = self._mostly_numbers(texts)
        if others:
            warnings.warn(
                f"column {self.name!r} is read as {len(texts)} text states because of {others[0]!r} "
                f"among its numbers: declare missing_values=({others[0]!r},) if that means missing",
                BayescoutWarning,
                stacklevel=2,
            )
