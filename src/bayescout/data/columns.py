"""One column on its way into a `Table`: distinct values, provisional codes, or floats.

Sources hand over pieces (a whole column, or one batch of a file); a `Column` merges them.
Codes are provisional, in order of first appearance: the table's own order of states is
settled once, when every piece has been seen.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.about_rows import AboutRows
from bayescout.data.absent import MISSING, Marks, is_missing, python_value
from bayescout.data.declared import OpenNumbers, RawStates
from bayescout.data.kinds import DISTINCT, Numbers, Present, are_decimals, are_durations, are_inexact
from bayescout.data.numerals import (
    as_number,
    is_comma_number,
    is_like_thousands,
    number_with_comma,
    seconds_in,
)
from bayescout.data.table import MAX_STATES, Kind, Label, OpenStates, States
from bayescout.errors import DataError, SettingError, UnknownNameError
from bayescout.wording import setting

CATEGORICAL = "categorical type"
"""The reason for the kind of a column whose own type lists its states."""


class Column:
    """The cells of one column seen so far, under the user's declarations.

    values   the distinct values, MISSING among them where a cell was missing
    chunks   codes into `values`, one array per piece; None once the column is continuous
    floats   float64 with NaN for missing, one array per piece; None while it is discrete
    wanted   the declared kind, or None to infer it
    states   the declared states, or None to take those that occur
    marks    the values declared to mean missing, shared by all columns of a table
    marked   the number of cells of each text that means missing without being declared
    origin   the reason for its kind, where that is known before its cells are
    chosen   True if the user asked for this column, which then is never left out
    unnamed  True for a first column of a file without a name, which has to be an index of the rows
    maybe_index  True for such a column of a frame, which is one if all its cells differ
    durations  True if its numbers were lengths of time, and are seconds
    decimal_commas  True if numbers in text have them; `like_thousands` if all of these could be thousands
    strange  the number of cells that are no numbers, and the first, of a column of `OpenNumbers`
    abandoned  True once it has more values than a column can have; it is left out, so its cells are not kept
    """

    def __init__(
        self,
        name: Label,
        wanted: Kind | None = None,
        states: States | None = None,
        marks: Marks | None = None,
    ) -> None:
        self.name = name
        self.wanted = wanted
        self.states = states
        self.marks = Marks() if marks is None else marks
        self.values: list[Any] = []
        self.chunks: list[NDArray[Any]] = self.keep()
        self.floats: list[NDArray[np.float64]] | None = self.keep() if wanted == "continuous" else None
        self.marked: dict[str, int] = {}
        self.origin = "declared"
        self.chosen = False
        self.unnamed = self.maybe_index = self.durations = False
        self.decimal_commas = self.like_thousands = False
        self.strange: tuple[int, Any] | None = None
        self.abandoned = False
        self._rows_abandoned = 0
        self._index: dict[Any, int] = {}

    def keep(self, arrays: Iterable[NDArray[Any]] = ()) -> list[NDArray[Any]]:
        """The arrays as a list; a column past memory keeps them in a file."""
        return list(arrays)

    @property
    def declared(self) -> bool:
        return self.wanted is not None or self.states is not None

    @property
    def n_rows(self) -> int:
        kept = sum(len(chunk) for chunk in (self.chunks if self.floats is None else self.floats))
        return kept + self._rows_abandoned

    def count_missing(self) -> int:
        """The number of missing cells."""
        if self.floats is not None:
            return sum(int(np.isnan(chunk).sum()) for chunk in self.floats)
        if MISSING not in self._index:
            return 0
        code = self._index[MISSING]
        return sum(int((chunk == code).sum()) for chunk in self.chunks)

    def add_coded(self, values: Iterable[Any], codes: NDArray[Any]) -> None:
        """Append cells given as codes into `values`; a piece may name a value more than once."""
        if self.abandoned:
            self._rows_abandoned += len(codes)
            return
        if self.floats is not None:
            meanings = [self.meaning(value) for value in values]
            numbers_ = self.as_floats(meanings)
            self._note_strange(meanings, numbers_, codes)
            self.floats.append(numbers_[codes])
            return
        lookup = np.array([self._code(value) for value in values], dtype=np.int64)
        self.chunks.append(lookup.astype(code_type(len(self.values)))[codes])
        self._review()

    def _note_strange(
        self, values: Sequence[Any], numbers_: NDArray[np.float64], codes: NDArray[Any]
    ) -> None:
        """Count the cells that are no numbers."""
        odd = [i for i, value in enumerate(values) if value is not MISSING and np.isnan(numbers_[i])]
        cells = int(np.isin(codes, odd).sum()) if odd else 0
        if cells:
            self.count_strange(cells, values[odd[0]])

    def count_strange(self, cells: int, example: Any) -> None:
        known, first = (0, example) if self.strange is None else self.strange
        self.strange = known + cells, first

    def _review(self) -> None:
        """Make the column continuous or report an error once the values seen so far decide it."""
        if not self.declared and self._is_wide_number():
            self.become_continuous()
        elif len(self.values) - (MISSING in self._index) > MAX_STATES:
            self.abandon()

    def abandon(self) -> None:
        """Forget the cells of a column that has too many values to be used; an error if it is asked for."""
        if self.declared or self.chosen:
            raise DataError(
                f"column {self.name!r} has more than {MAX_STATES:,} distinct values, "
                f"the most a discrete column can have: {setting('drop', self.name)}, or "
                f"{setting('kinds', {self.name: 'continuous'})} if it holds numbers"
            )
        self._rows_abandoned = self.n_rows
        self.abandoned = True
        self.values, self.chunks, self._index = self.values[:100], self.keep(), {}

    def pass_over(self, rows: int) -> None:
        """Count rows of an abandoned column that need not be read."""
        self._rows_abandoned += rows

    def add_floats(self, array: NDArray[np.float64]) -> None:
        """Append numbers, NaN where missing; they become states if the column is declared discrete."""
        array = self.marks.clear(array)
        if self.abandoned:
            self._rows_abandoned += len(array)
            return
        if isinstance(self.states, RawStates) and self.states.cuts is not None:
            self.add_coded(*self.states.coded(array))
            return
        if self.wanted == "discrete" or self.states is not None:
            distinct, codes = np.unique(array, return_inverse=True, equal_nan=True)
            distinct += 0.0  # so that -0.0 and 0.0 are one state, under one name
            self.add_coded([MISSING if v != v else v for v in distinct.tolist()], codes.ravel())
            return
        if self.floats is None:
            self.become_continuous()
        assert self.floats is not None
        self.floats.append(array)

    def retype(self, values: Sequence[Any]) -> None:
        """Replace each distinct value by the one at its position; equal ones merge."""
        chunks, self.chunks, self.values, self._index = self.chunks, self.keep(), [], {}
        wide = self.wanted is None and any(isinstance(v, float) for v in values)
        if wide and self.states is None:
            self.floats = self.keep()
        lookup = np.array([self._code(value) for value in values], dtype=np.int64)
        if self.floats is None:
            dtype = code_type(len(self.values))
            self.chunks = self.keep(lookup.astype(dtype)[chunk] for chunk in chunks)
        else:
            numbers_ = self.as_floats(self.values)[lookup]
            self.floats = self.keep(numbers_[chunk] for chunk in chunks)

    def take_states(self, categories: Sequence[Any]) -> None:
        """Take the categories of a categorical column as declared states, except those that mean missing.

        Pieces may have categories of their own: all of them count, in order of first appearance.
        """
        known = self.states if self.origin == CATEGORICAL else None
        if known is not None or not self.declared:
            self.origin = CATEGORICAL
            more = (value for value in categories if self.meaning(value) is not MISSING)
            self.states = tuple(dict.fromkeys((*(known or ()), *more)))

    def _code(self, value: Any) -> int:
        value = self.meaning(value)
        if isinstance(self.states, RawStates):
            value = self.states.state_of(value)
        code = self._index.setdefault(value, len(self.values))
        if code == len(self.values):
            self.values.append(value)
        elif type(self.values[code]) is not type(value):
            known = self.values[code]
            raise DataError(
                f"column {self.name!r} holds both {known!r} ({type(known).__name__}) and {value!r} "
                f"({type(value).__name__}), which are equal: convert the column to one type"
            )
        return code

    def meaning(self, value: Any) -> Any:
        """The Python value of a NumPy scalar, or MISSING for a missing value."""
        if type(value) is not str:
            if value is MISSING or is_missing(value):
                return MISSING
            value = python_value(value)
        return MISSING if self.is_absent(value) else value

    def is_absent(self, value: Any) -> bool:
        """Return True if the user declared this value to mean missing."""
        return self.marks.hold(value)

    def _is_wide_number(self) -> bool:
        if len(self.values) - (MISSING in self._index) <= DISTINCT:
            return False
        found = [value for value in self.values if value is not MISSING]
        whole = all(type(value) is int for value in found)
        return (whole and not are_inexact(found)) or are_decimals(found) or are_durations(found)

    def numbers(self) -> Numbers:
        """The numbers of a column of floats."""
        assert self.floats is not None
        return Present(self.floats)

    def occurring(self, keep: Any) -> list[Any]:
        """The values that occur in the kept rows: a state seen only in dropped rows was not observed."""
        seen = np.zeros(len(self.values), dtype=np.bool_)
        start = 0
        for chunk in self.chunks:
            seen[chunk[keep[start : start + len(chunk)]]] = True
            start += len(chunk)
        return [value for value, hit in zip(self.values, seen.tolist(), strict=True) if hit]

    def become_continuous(self) -> None:
        """Turn states that are numbers, or lengths of time, into measurements."""
        self.durations = are_durations([value for value in self.values if value is not MISSING])
        numbers_ = self.as_floats(self.values)
        self.floats = self.keep(numbers_[chunk] for chunk in self.chunks)
        self.chunks = self.keep()

    def become_discrete(self, whole: Sequence[float]) -> None:
        """Turn floats, all of them among these ascending numbers, into states."""
        assert self.floats is not None
        numbers_ = np.array(whole, dtype=np.float64)
        floats, self.floats = self.floats, None
        self.values, self._index = [], {}
        for chunk in floats:
            codes = np.where(np.isnan(chunk), len(whole), np.searchsorted(numbers_, chunk))
            seen = bool((codes == len(whole)).any())
            self.add_coded([*whole, MISSING] if seen else list(whole), codes)

    def as_floats(self, values: Sequence[Any]) -> NDArray[np.float64]:
        """The values as numbers, NaN for MISSING.

        A comma in a text is a decimal one, unless it could separate thousands in all of them.
        """
        floats = np.empty(len(values))
        with_commas = [value for value in values if isinstance(value, str) and is_comma_number(value)]
        clear = not all(map(is_like_thousands, with_commas))
        for position, value in enumerate(values):
            value = _number_in(value, clear)
            if isinstance(self.wanted, OpenNumbers) and not _is_real(value):
                floats[position] = np.nan
                continue
            if value is not MISSING and not isinstance(value, numbers.Number) and not _is_decimal(value):
                raise DataError(
                    f"column {self.name!r} is declared continuous but holds {value!r} "
                    f"({type(value).__name__}): declare it discrete, or give "
                    f"{setting('missing_values', (value,))} if that marks a missing value"
                )
            try:
                floats[position] = np.nan if value is MISSING else float(value)
            except (OverflowError, TypeError, ValueError):
                raise DataError(
                    f"column {self.name!r} holds {value!r}, which is not a real number of float range"
                ) from None
        return floats


def _number_in(value: Any, commas: bool) -> Any:
    """The number that a text is, if it is one; of a length of time, its seconds."""
    if not isinstance(value, str):
        return seconds_in(value)
    number = number_with_comma(value) if commas else as_number(value)
    return value if number is None else number


def _is_real(value: Any) -> bool:
    """Return True for a number that a float can hold."""
    try:
        return isinstance(value, numbers.Number | Decimal) and float(value) == float(value)  # type: ignore[arg-type]
    except (OverflowError, TypeError, ValueError):
        return False


def _is_decimal(value: Any) -> bool:
    return type(value).__name__ == "Decimal"


def code_type(states: int) -> type[np.unsignedinteger[Any]]:
    """The narrowest type for that many codes; it may be wider than a table's only while data are read."""
    if states <= 256:
        return np.uint8
    return np.uint16 if states <= MAX_STATES else np.uint32


def in_order(values: Sequence[Any]) -> list[Any]:
    """Ascending where the values can be compared, otherwise by type name and then repr."""
    types = {type(value) for value in values}
    if len(types) <= 1 or types <= {int, float}:
        try:
            ordered = sorted(values)
        except TypeError:
            ordered = []
        if all(not (b < a) and a < b for a, b in pairwise(ordered)) and ordered:
            return ordered
    return sorted(values, key=lambda value: (type(value).__name__, repr(value)))


def check_declarations(
    names: Sequence[Label],
    kinds: Any,
    states: Any,
    about: AboutRows,
) -> tuple[dict[Label, Kind], dict[Label, States]]:
    """The user's kinds and states, checked, for each column that has them."""
    if kinds is not None and not isinstance(kinds, dict):
        kinds = dict.fromkeys(names, kinds)
    kinds, states = dict(kinds or {}), dict(states or {})
    known = set(names)
    for name in [*kinds, *states]:
        if name not in known:
            raise UnknownNameError("column", name, names, "the declared kinds or states")
    for name, kind in kinds.items():
        if kind not in ("discrete", "continuous"):
            raise SettingError(
                f"the kind of column {name!r} must be 'discrete' or 'continuous', not {kind!r}"
            )
        if kind == "continuous" and name in states:
            raise SettingError(
                f"column {name!r} is declared continuous and given states: declare one of the two"
            )
    checked = {name: _check_states(name, of_column) for name, of_column in states.items()}
    for name, kind in ((about.weight_name, "continuous"), (about.acting_name, "discrete")):
        if name is not None:
            kinds[name] = kind
            checked.pop(name, None)
    return kinds, checked


def _check_states(name: Label, states: Any) -> States:
    if isinstance(states, str) or not isinstance(states, Iterable):
        raise SettingError(
            f"the states of column {name!r} must be a sequence such as ['no', 'yes'], not {states!r}"
        )
    listed = tuple(python_value(value) for value in states)
    if not listed:
        raise SettingError(f"column {name!r} is given no states: name at least one")
    if len(listed) > MAX_STATES:
        raise SettingError(
            f"column {name!r} is given {len(listed):,} states, more than the {MAX_STATES:,} allowed"
        )
    seen: dict[Any, Any] = {}
    for value in listed:
        if is_missing(value):
            raise SettingError(f"column {name!r} is given the state {value!r}, which means a missing value")
        if value in seen:
            raise SettingError(f"column {name!r} is given the state {value!r} twice, or as {seen[value]!r}")
        seen[value] = value
    if isinstance(states, RawStates):
        return states
    return OpenStates(listed) if isinstance(states, OpenStates) else listed
