"""The meaning of the cells of a text file: integers, booleans, numbers or text, one type per column.

`numerals` defines which texts are which.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescout.data.absent import MISSING, Marks
from bayescout.data.columns import MAX_INTEGER_STATES, Column
from bayescout.data.numerals import NUMBER, as_number, is_number, typed
from bayescout.data.pieces import add_strings
from bayescout.data.table import MAX_STATES, Kind, Label, States
from bayescout.errors import BayescoutWarning, DataError
from bayescout.wording import setting

if TYPE_CHECKING:
    import polars as pl


class ReadAgain(Exception):
    """A column taken for numbers turned out to be text: the file must be read again."""

    def __init__(self, name: Label) -> None:
        self.name = name


class TextColumn(Column):
    """A column of cells that are text until every one has been seen.

    A column with only numbers, too many to be states, is stored as floats from then on; a text
    found later makes the reader start again, with `as_text` for that column.
    """

    def __init__(
        self,
        name: Label,
        wanted: Kind | None = None,
        states: States | None = None,
        marks: Marks | None = None,
        as_text: bool = False,
    ) -> None:
        super().__init__(name, wanted, states, marks)
        self.as_text = as_text
        self.settled = False
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
        values = self._typed(texts)
        self._warn_mostly_numbers(texts, values)
        meaning = dict(zip(texts, values, strict=True))
        self.settled = True
        self.retype([MISSING if text is MISSING else meaning[text] for text in self.values])

    def _typed(self, texts: Sequence[str]) -> list[Any]:
        """The values of the texts; where -999 means missing, "-999.0" does not affect the type."""
        if self.as_text or (self.states is not None and all(isinstance(s, str) for s in self.states)):
            return list(texts)
        others = [text for text in texts if not self._is_marked(text)]
        values = typed(others)
        if len(others) == len(texts) or (values and isinstance(values[0], str | bool)):
            return typed(texts)
        known = dict(zip(others, values, strict=True))
        return [known[text] if text in known else self._mark(text) for text in texts]

    def _is_marked(self, text: str) -> bool:
        number = as_number(text)
        return number is not None and self.marks.match(number)

    def _mark(self, text: str) -> Any:
        self.marks.hold(as_number(text))
        return MISSING

    def is_absent(self, value: Any) -> bool:
        """Return True for a missing value; until the type is settled, an empty text is one, quoted or not."""
        if self.settled:
            return super().is_absent(value)
        return value == "" or self.marks.hold_text(value)

    def _review(self) -> None:
        distinct = len(self.values) - (MISSING in self.values)
        if self._is_wide(distinct):
            self._become_numbers()
        elif distinct > MAX_STATES:
            raise DataError(self._too_many())

    def _is_wide(self, distinct: int) -> bool:
        if self.declared or self.as_text or distinct <= MAX_INTEGER_STATES:
            return False
        return all(value is MISSING or is_number(value) for value in self.values)

    def _become_numbers(self) -> None:
        numbers = np.array([np.nan if v is MISSING else float(v) for v in self.values])
        chunks, self.chunks, self.floats = self.chunks, [], []
        for chunk in chunks:
            self.add_floats(numbers[chunk])

    def _add_numbers(self, texts: pl.Series) -> None:
        import polars as pl

        for mark in self.marks.declared:
            gone = (texts == str(mark)).fill_null(False)
            if gone.any():
                self.marks.hold_text(str(mark))
                texts = texts.set(gone, None)
        texts = texts.set((texts == "").fill_null(False), None)
        # \A and \z, since a cell may hold a line end, at which ^ and $ would match.
        bad = ~texts.str.contains(rf"\A{NUMBER}\z").fill_null(True)
        if bad.any():
            self._refuse_text(texts, int(bad.arg_max() or 0))
        self.add_floats(texts.str.strip_chars(" ").cast(pl.Float64).to_numpy(writable=True))

    def _refuse_text(self, texts: pl.Series, row: int) -> None:
        if self.wanted != "continuous":
            raise ReadAgain(self.name)
        raise DataError(
            f"column {self.name!r} is to hold numbers but has {texts[row]!r} in row "
            f"{self.n_seen + row} (counting from 0): give "
            f"{setting('missing_values', (texts[row],))} if that marks a missing value"
        )

    def _mostly_numbers(self, texts: Sequence[str]) -> list[str]:
        """The few texts that prevent a column of many numbers from being numeric."""
        others = [text for text in texts if not is_number(text)]
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
