"""The meaning of the cells of a text file: integers, numbers or text, one type per column.

`numerals` defines which texts are which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.absent import MISSING, USUAL_MARKS, Marks
from bayescout.data.blocks import IN_QUOTES
from bayescout.data.columns import Column
from bayescout.data.declared import OpenNumbers, RawStates
from bayescout.data.kinds import DISTINCT, are_inexact, is_number_with_more
from bayescout.data.numerals import (
    COMMA_NUMBER,
    NUMBER,
    as_number,
    have_decimal_commas,
    is_comma_number,
    is_integer,
    is_like_thousands,
    is_number,
    typed,
)
from bayescout.data.pieces import add_strings
from bayescout.data.table import MAX_STATES, Kind, Label, States
from bayescout.errors import DataError
from bayescout.wording import setting

if TYPE_CHECKING:
    import polars as pl


MOST_NAMED = 6
"""The most texts of a column of numbers that an error names as what may mean missing."""


class ReadAgain(Exception):
    """A column taken for numbers turned out to be text: the file must be read again."""

    def __init__(self, name: Label) -> None:
        self.name = name


class TextColumn(Column):
    """A column of cells that are text until every one has been seen.

    A column with only numbers, too many to be states, is stored as floats from then on; a text
    found later makes the reader start again, with `as_text` for that column. A text that usually means
    missing, but stands in quotes, arrives with `IN_QUOTES` before it: it is that text, except among numbers.
    With `commas`, as in files that are separated by something else, the numbers of a column may have decimal
    commas, but not some a comma and others a point.
    """

    def __init__(
        self,
        name: Label,
        wanted: Kind | None = None,
        states: States | None = None,
        marks: Marks | None = None,
        as_text: bool = False,
        commas: bool = False,
    ) -> None:
        super().__init__(name, wanted, states, marks)
        self.as_text = as_text
        self.commas = commas
        self.like_thousands = True
        self.points = False
        self.settled = False
        self.n_seen = 0

    def add(self, texts: pl.Series) -> None:
        """Add one batch of cells, null where the cell is empty."""
        if self.abandoned:
            self.add_coded((), np.empty(len(texts)))
        elif self.floats is not None:
            self._add_numbers(texts)
        else:
            add_strings(self, texts)
        self.n_seen += len(texts)

    def may_be_plain(self, texts: pl.Series) -> bool:
        """Return True if the cells of a batch may be added by `add_plain`."""
        if self.abandoned or not len(texts):
            return False
        if self.floats is not None:
            return True
        first = None if self.n_seen or self.declared or self.as_text else texts[0]
        if first is None:
            return False
        marked = self._is_usual(first) or first in map(str, self.marks.declared)
        return marked or is_number(first) is not None or (self.commas and is_comma_number(first) is not None)

    def add_plain(
        self, numbers: NDArray[np.float64], points: bool, marked: Mapping[str, int], thousands: bool | None
    ) -> None:
        """Add one batch of numbers, NaN where the cell was empty or one of the marks.

        points     True if one of the texts had a point
        marked     in how many cells each mark was
        thousands  True if all decimal commas could separate thousands; None if there are none
        """
        if self.floats is None:
            self.floats = self.keep()
        for mark, cells in marked.items():
            if mark in self.marks.usual:
                self._count_mark(mark, cells)
            elif cells:
                self.marks.hold_text(mark)
        self.points = self.points or points
        if thousands is not None:
            self.decimal_commas = True
            self.like_thousands &= thousands
        self.add_floats(numbers)
        self.n_seen += len(numbers)

    def add_coded(self, values: Iterable[Any], codes: NDArray[Any]) -> None:
        values = list(values)
        if not self.settled:
            for place, value in enumerate(values):
                if value is not MISSING and self._is_usual(value):
                    self._count_mark(value, int((codes == place).sum()))
        super().add_coded(values, codes)

    def _is_usual(self, text: str) -> bool:
        """Return True for a text that means missing without being declared, and is no declared state."""
        return text in self.marks.usual and (self.states is None or text not in self.states)

    def _count_mark(self, text: str, cells: int) -> None:
        if cells:
            self.marked[text] = self.marked.get(text, 0) + cells

    def settle(self) -> None:
        """Give the distinct texts their type, now that all are known."""
        if self.floats is not None or self.abandoned:
            return
        texts = [value for value in self.values if value is not MISSING]
        meaning = self._meanings(texts)
        self.settled = True
        self.retype([MISSING if text is MISSING else meaning[text] for text in self.values])

    def _meanings(self, texts: Sequence[str]) -> dict[str, Any]:
        """The value of each text; those in quotes that usually mean missing do so among numbers only."""
        plain = [text for text in texts if not text.startswith(IN_QUOTES)]
        protected = [text for text in texts if text.startswith(IN_QUOTES)]
        values = self._typed(plain)
        if protected and values and not isinstance(values[0], str):
            for text in protected:
                code = self.values.index(text)
                self._count_mark(text[1:], sum(int((chunk == code).sum()) for chunk in self.chunks))
            return dict(zip(plain, values, strict=True)) | dict.fromkeys(protected, MISSING)
        if self.marks.replace_usual and (not values or isinstance(values[0], str)):
            self.marks.states += [(self.name, text) for text in plain if text in USUAL_MARKS]
        return dict(zip(plain, values, strict=True)) | {text: text[1:] for text in protected}

    def _typed(self, texts: Sequence[str]) -> list[Any]:
        """The values of the texts; where -999 means missing, "-999.0" does not affect the type."""
        decimals = self._with_decimal_commas(texts)
        if decimals is not None:
            return decimals
        if self.as_text or (self.states is not None and all(isinstance(s, str) for s in self.states)):
            return list(texts)
        others = [text for text in texts if not self._is_marked(text)]
        values = typed(others)
        if len(others) == len(texts) or (values and isinstance(values[0], str | bool)):
            return typed(texts)
        known = dict(zip(others, values, strict=True))
        return [known[text] if text in known else self._mark(text) for text in texts]

    def _with_decimal_commas(self, texts: Sequence[str]) -> list[Any] | None:
        """The values of numbers with decimal commas, beside intervals if those are declared; else None."""
        cut = isinstance(self.states, RawStates) and self.states.cuts is not None
        if not self.commas or self.as_text or (self.declared and not cut):
            return None
        known: dict[str, Any] = {text: text for text in texts if text in (self.states or ())}
        others = [text for text in texts if text not in known and not self._is_marked(text)]
        if not have_decimal_commas(others):
            return None
        self._note_commas(others)
        known |= {text: float(text.replace(",", ".")) for text in others}
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
        return value == "" or self.marks.hold_text(value) or self._is_usual(value)

    def _review(self) -> None:
        distinct = len(self.values) - (MISSING in self.values)
        if self._is_wide(distinct):
            self._become_numbers()
        elif distinct > MAX_STATES:
            self._refuse_mostly_numbers()
            self.abandon()

    def _is_wide(self, distinct: int) -> bool:
        if self.declared or self.as_text or distinct <= DISTINCT:
            return False
        texts = [v for v in self.values if v is not MISSING and not v.startswith(IN_QUOTES)]
        if self.commas and have_decimal_commas(texts):
            return True
        return all(map(is_number, texts)) and not self._are_keys(texts)

    def _are_keys(self, texts: Sequence[str]) -> bool:
        return all(map(is_integer, texts)) and are_inexact([int(text) for text in texts])

    def _note_commas(self, texts: Iterable[str]) -> None:
        self.decimal_commas = True
        self.like_thousands &= all(is_like_thousands(text) for text in texts if "," in text)

    def _become_numbers(self) -> None:
        for code, text in enumerate(self.values):
            if text is not MISSING and text.startswith(IN_QUOTES):
                self._count_mark(text[1:], sum(int((chunk == code).sum()) for chunk in self.chunks))
        gone = [v is MISSING or v.startswith(IN_QUOTES) for v in self.values]
        texts = ["nan" if no else v for v, no in zip(self.values, gone, strict=True)]
        if any("," in text for text in texts):
            self._note_commas(texts)
        self.points = any("." in text for text in texts)
        numbers = np.array([float(text.replace(",", ".")) for text in texts])
        chunks, self.chunks, self.floats = self.chunks, [], []
        for chunk in chunks:
            self.add_floats(numbers[chunk])

    def _add_numbers(self, texts: pl.Series) -> None:
        import polars as pl

        for mark in dict.fromkeys(map(str, self.marks.declared)):
            gone = (texts == mark).fill_null(False)
            if gone.any():
                self.marks.hold_text(mark)
                texts = texts.set(gone, None)
        for mark in sorted(self.marks.usual):
            gone = texts.is_in([mark, IN_QUOTES + mark]).fill_null(False)
            if gone.any():
                self._count_mark(mark, int(gone.sum()))
                texts = texts.set(gone, None)
        texts = texts.set((texts == "").fill_null(False), None)
        texts = self._with_points(texts)
        # \A and \z, since a cell may hold a line end, at which ^ and $ would match.
        bad = ~texts.str.contains(rf"\A{NUMBER}\z").fill_null(True)
        if bad.any():
            if not isinstance(self.wanted, OpenNumbers):
                self._refuse_text(texts, int(bad.arg_max() or 0))
            self.count_strange(int(bad.sum()), texts[int(bad.arg_max() or 0)])
            texts = texts.set(bad, None)
        self.add_floats(texts.str.strip_chars(" ").cast(pl.Float64).to_numpy(writable=True))

    def _with_points(self, texts: pl.Series) -> pl.Series:
        """The texts with points for decimal commas, unless other numbers of the column have points."""
        self.points = self.points or bool(_have_points(texts).any())
        if not self.commas or not texts.str.contains(",", literal=True).any():
            return self._without_points(texts)
        commas = texts.str.contains(rf"\A{COMMA_NUMBER}\z").fill_null(False)
        if self.points or not commas.any():
            return texts
        self._note_commas(texts.filter(commas).to_list())
        return texts.set(commas, None).fill_null(texts.str.replace(",", ".", literal=True))

    def _without_points(self, texts: pl.Series) -> pl.Series:
        """Refuse points among numbers that had decimal commas so far."""
        points = _have_points(texts)
        if self.decimal_commas and points.any():
            self._refuse_text(texts, int(points.arg_max() or 0))
        return texts

    def _refuse_text(self, texts: pl.Series, row: int) -> None:
        if self.wanted != "continuous":
            raise ReadAgain(self.name)
        odd = texts.filter(~texts.str.contains(rf"\A{NUMBER}\z").fill_null(True)).unique(maintain_order=True)
        few = odd.to_list() if len(odd) <= MOST_NAMED else [texts[row]]
        declared = (*dict.fromkeys([texts[row], *few]), *sorted(set(self.marked) - set(few)))
        missing = f"{setting('missing_values', declared)} if that marks a missing value"
        way = "write such cells as plain numbers" if is_number_with_more(texts[row]) else f"give {missing}"
        raise DataError(
            f"column {self.name!r} is to hold numbers but has {texts[row]!r} in row "
            f"{self.n_seen + row} (counting from 0): {way}"
        )

    def _mostly_numbers(self, texts: Sequence[str]) -> list[str]:
        """The few texts that prevent a column of many numbers from being numeric."""
        others = [text for text in texts if not is_number(text)]
        return others if len(texts) > DISTINCT and 10 * len(others) <= len(texts) else []

    def _refuse_mostly_numbers(self) -> None:
        others = self._mostly_numbers([value for value in self.values if value is not MISSING])
        if others:
            raise DataError(
                f"column {self.name!r} has more than {MAX_STATES:,} distinct texts, the most a column "
                f"can have: nearly all are numbers; {setting('missing_values', (others[0],))} if that means "
                f"missing"
            )


def _have_points(texts: pl.Series) -> pl.Series:
    """True for the texts that are numbers with a point; "k.A." among numbers is none."""
    numbers = texts.str.contains(rf"\A{NUMBER}\z")
    return (numbers & texts.str.contains(".", literal=True)).fill_null(False)
