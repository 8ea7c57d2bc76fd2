"""Fast coding of whole arrays, lists and series: each becomes distinct values and codes, or floats.

A polars series is first turned into a piece, a plain value that is independent of its column: so one process
can make it and another add it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import time
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescout.data.absent import MISSING, is_missing
from bayescout.data.columns import Column
from bayescout.data.kinds import DISTINCT, are_inexact
from bayescout.errors import DataError
from bayescout.graph.labels import is_hashable

if TYPE_CHECKING:
    import polars as pl

HEAD = 10_000
"""Number of cells examined first: enough to find most columns' states, or to see that they are many."""

DIRECT_RANGE = 1 << 18
"""Integers spanning less than this are coded by a lookup table over the range instead of a sort."""


def add_array(column: Column, array: NDArray[Any], mask: NDArray[np.bool_] | None = None) -> None:
    """Add a one-dimensional NumPy array; `mask` marks missing cells."""
    if isinstance(array, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(array)
        array = np.asarray(array.filled() if array.dtype.kind in "OUSV" else array.data)
    kind = array.dtype.kind
    if kind == "f":
        floats = np.ascontiguousarray(array, dtype=np.float64)
        if array.dtype.itemsize > floats.dtype.itemsize and (column.wanted == "discrete" or column.states):
            _require_exact(column, array, floats)
        column.add_floats(floats.copy() if mask is None else np.where(mask, np.nan, floats))
    elif kind == "b":
        _add_integers(column, array.astype(np.uint8), mask, as_value=bool)
    elif kind in "iu":
        _add_integers(column, np.ascontiguousarray(array), mask, as_value=int)
    else:
        cells = _dates(array) if kind in "mM" else array.tolist()
        if mask is not None:
            cells = [None if gone else cell for cell, gone in zip(cells, mask.tolist(), strict=True)]
        add_objects(column, cells)


def _require_exact(column: Column, array: NDArray[Any], floats: NDArray[np.float64]) -> None:
    """Refuse long doubles that float64 cannot hold exactly: distinct ones could become one state."""
    if ((floats != array) & (array == array)).any():
        raise DataError(
            f"column {column.name!r} is discrete and has numbers of more digits than a float holds, some of "
            f"which would become one state: round them, or give them as text"
        )


def _dates(array: NDArray[Any]) -> list[Any]:
    """The cells as datetime and date objects; what these cannot represent stays NumPy scalars."""
    listed = array.tolist()
    return list(array) if any(isinstance(cell, int) for cell in listed) else list(listed)


def _add_integers(
    column: Column, array: NDArray[Any], mask: NDArray[np.bool_] | None, as_value: type[int] = int
) -> None:
    if column.wanted == "continuous" or (
        not column.declared and as_value is int and _has_many(column, array)
    ):
        floats = array.astype(np.float64)
        column.add_floats(floats if mask is None else np.where(mask, np.nan, floats))
        return
    if not len(array):
        return
    values, codes = _code_masked(array, mask)
    column.add_coded([v if v is MISSING else as_value(v) for v in values], codes)


def _code_masked(array: NDArray[Any], mask: NDArray[np.bool_] | None) -> tuple[list[Any], NDArray[Any]]:
    """The distinct integers, MISSING for what the mask hides, and codes into them."""
    values: list[Any]
    values, codes = _code_integers(array)
    if mask is None or not mask.any():
        return values, codes
    # A masked cell may hold anything, so a value that occurs only under the mask is no state.
    shown = np.bincount(codes[~mask], minlength=len(values)) > 0
    hidden = np.where(mask, len(values), codes)
    return [v if seen else MISSING for v, seen in zip(values, shown.tolist(), strict=True)] + [
        MISSING
    ], hidden


def _has_many(column: Column, array: NDArray[Any]) -> bool:
    """Return True if the first cells alone have more values than a discrete integer column may have."""
    many = len(np.unique(array[:HEAD])) > DISTINCT + len(column.marks.declared) + 1
    return many and not are_inexact(np.unique(array[:HEAD]).tolist())


def _code_integers(array: NDArray[Any]) -> tuple[list[int], NDArray[Any]]:
    low, high = int(array.min()), int(array.max())
    if high - low >= DIRECT_RANGE:
        distinct, inverse = np.unique(array, return_inverse=True)
        return distinct.tolist(), inverse.ravel()
    # The difference fits: unsigned arithmetic wraps to it whatever the array's own type is.
    offsets = (
        array.astype(np.int64) - low if high < 2**63 else (array - array.dtype.type(low)).astype(np.int64)
    )
    present = np.flatnonzero(np.bincount(offsets, minlength=high - low + 1))
    lookup = np.zeros(high - low + 1, dtype=np.uint32)
    lookup[present] = np.arange(len(present), dtype=np.uint32)
    return (present + low).tolist() if high < 2**63 else [int(p) + low for p in present], lookup[offsets]


def add_objects(column: Column, cells: Sequence[Any]) -> None:
    """Add values of any hashable type; a column of numbers with at least one float is continuous."""
    one_type = len(set(map(type, cells)) - {type(None)}) <= 1
    try:
        # With several types the key needs the type, or True, 1 and 1.0 would be one value.
        keys: Sequence[Any] = cells if one_type else list(zip(map(type, cells), cells, strict=True))
        index = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    except (TypeError, ValueError):  # NumPy's durations without a unit raise ValueError
        row, cell = next((i, cell) for i, cell in enumerate(cells) if not is_hashable(cell))
        raise DataError(
            f"column {column.name!r} holds {_short(cell)} ({type(cell).__name__}) in row {row} "
            f"(counting from 0), which is not hashable and so cannot be a state: "
            f"convert it, for instance to a tuple or a string"
        ) from None
    codes = np.fromiter(map(index.__getitem__, keys), dtype=np.int64, count=len(cells))
    values = [column.meaning(value) for value in (index if one_type else (value for _, value in index))]
    types = {type(value) for value in values if value is not MISSING}
    if types == {float} or (types == {int, float} and not column.declared):
        column.add_floats(column.as_floats(values)[codes])
    else:
        column.add_coded(values, codes)


def _short(cell: Any) -> str:
    text = " ".join(repr(cell).split())
    return text if len(text) <= 60 else text[:57] + "..."


# ---- polars


class Piece(Protocol):
    """Some cells of one column, ready to be added to it."""

    def add_to(self, column: Column) -> None: ...


@dataclass(frozen=True)
class Floats:
    """Numbers, NaN where missing."""

    array: NDArray[Any]

    def add_to(self, column: Column) -> None:
        column.add_floats(self.array.astype(np.float64, copy=False))


@dataclass(frozen=True)
class Integers:
    """Integers or booleans; `mask` marks missing cells."""

    array: NDArray[Any]
    mask: NDArray[np.bool_] | None

    def add_to(self, column: Column) -> None:
        add_array(column, self.array, self.mask)


@dataclass(frozen=True)
class Coded:
    """Distinct values, MISSING among them, and codes into them."""

    values: Sequence[Any]
    codes: NDArray[Any]

    def add_to(self, column: Column) -> None:
        column.add_coded(self.values, self.codes)


@dataclass(frozen=True)
class Categories:
    """The categories of a categorical column and codes into them, -1 where missing."""

    categories: Sequence[Any]
    codes: NDArray[Any]

    def add_to(self, column: Column) -> None:
        add_categories(column, self.categories, self.codes)


@dataclass(frozen=True)
class Objects:
    """Values of any type, one per cell."""

    cells: Sequence[Any]

    def add_to(self, column: Column) -> None:
        add_objects(column, self.cells)


@dataclass(frozen=True)
class Unusable:
    """Cells that cannot be used, and the reason."""

    reason: str

    def add_to(self, column: Column) -> None:
        raise DataError(f"column {column.name!r} {self.reason}")


def add_polars(column: Column, series: pl.Series) -> None:
    """Add a polars series of any type."""
    known = [value for value in column.values if isinstance(value, str)]
    polars_piece(series, is_exact(column), known).add_to(column)
    settle_times(column)


def is_exact(column: Column) -> bool:
    """Return True if decimals are states of the column; otherwise they are numbers."""
    return column.wanted == "discrete" or column.states is not None


def polars_piece(series: pl.Series, exact: bool, known: Sequence[str] = ()) -> Piece:
    """The cells of a polars series of any type; `known` are the texts found in the column so far."""
    import polars as pl

    dtype = series.dtype
    if dtype == pl.String or dtype == pl.Categorical:
        return Coded(*code_strings(series.cast(pl.String), known))
    if isinstance(dtype, pl.Enum):
        codes = series.to_physical()
        if codes.null_count():
            codes = codes.cast(pl.Int64).fill_null(-1)
        return Categories(dtype.categories.to_list(), codes.to_numpy())
    if dtype.is_float() or (dtype.is_decimal() and not exact):
        return Floats(series.cast(pl.Float64).to_numpy(writable=True))
    if dtype == pl.Boolean or (dtype.is_integer() and dtype not in (pl.Int128, getattr(pl, "UInt128", None))):
        return Integers(*_filled(series))
    if dtype.is_temporal():
        return _time_piece(series)
    return Objects(series.to_list())


def _filled(series: pl.Series) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """The numbers of a series of integers or booleans, and the mask of missing ones."""
    import polars as pl

    if not series.null_count():
        return series.to_numpy(), None
    return series.fill_null(
        False if series.dtype == pl.Boolean else 0
    ).to_numpy(), series.is_null().to_numpy()


# ---- times, which Python represents to the microsecond and from year 1 to 9999 only


def _time_piece(series: pl.Series) -> Piece:
    """Code dates, times and durations by their distinct integers, without rounding.

    Those without a time zone become NumPy values, which represent them all; `settle_times` converts them to
    Python's once all are known to fit. NumPy has no type for times of day, or times with a zone: they are
    refused if finer than a microsecond.
    """
    import polars as pl

    array, mask = _filled(series.to_physical())
    if not len(array):
        return Coded([], np.empty(0, dtype=np.int64))
    numbers, codes = _code_masked(array, mask)
    known = np.array([n for n in numbers if n is not MISSING], dtype=array.dtype)
    dtype = series.dtype
    if dtype == pl.Time:
        values, fits = _times_of_day(known), not (known % 1000).any()
    elif getattr(dtype, "time_zone", None) is not None:
        values, fits = _with_zone(known, dtype)
    else:
        values, fits = list(pl.Series(known).cast(dtype).to_numpy()), True
    if not fits:
        return Unusable(
            f"is of type {dtype} and has a value that Python's times cannot hold, finer than a microsecond "
            f"or beyond the years 1 to 9999: cast it to microseconds, to a time without a zone, or to text"
        )
    found = iter(values)
    return Coded([MISSING if n is MISSING else next(found) for n in numbers], codes)


def _times_of_day(nanoseconds: NDArray[Any]) -> list[time]:
    found = []
    for microseconds in (nanoseconds // 1000).tolist():
        seconds, fraction = divmod(microseconds, 1_000_000)
        found.append(time(seconds // 3600, seconds // 60 % 60, seconds % 60, fraction))
    return found


def _with_zone(numbers: NDArray[Any], dtype: Any) -> tuple[list[Any], bool]:
    import polars as pl

    times = numbers.astype(f"datetime64[{dtype.time_unit}]")
    days = times.astype("datetime64[D]").astype(np.int64)
    within = bool(((days > _FIRST_DAY) & (days < _LAST_DAY)).all())
    if not within or (dtype.time_unit == "ns" and (numbers % 1000).any()):
        return [], False
    return pl.Series(numbers).cast(dtype).to_list(), True


_FIRST_DAY, _LAST_DAY = (np.datetime64(day, "D").astype(np.int64) for day in ("0001-01-02", "9999-12-30"))
"""First and last day that Python represents, less one day for the time zone."""


def settle_times(column: Column) -> None:
    """Convert NumPy's dates and durations to Python's if all those of the column fit."""
    if column.floats is not None or not any(_is_numpy_time(value) for value in column.values):
        return
    plain_values = [_as_python(value) if _is_numpy_time(value) else value for value in column.values]
    if not any(isinstance(value, int) for value in plain_values):
        column.retype(plain_values)


def _is_numpy_time(value: Any) -> bool:
    return isinstance(value, np.datetime64 | np.timedelta64)


def _as_python(value: Any) -> Any:
    """The equal date, datetime or timedelta, or an integer if there is none."""
    coarse = value.astype(value.dtype.str.replace("[ns]", "[us]"))
    return coarse.item() if coarse == value else 0


# ---- categories and texts


def add_categories(column: Column, categories: Sequence[Any], codes: NDArray[Any]) -> None:
    """Add codes into the categories of a categorical column, -1 where missing.

    All categories count as declared states, but only those that occur as values. An Arrow
    dictionary may hold a value more than once: it is one category, at its first position.
    """
    categories, codes = _each_once(column, categories, codes)
    column.take_states(categories)
    missing = bool(len(codes) and codes.min() < 0)
    seen = np.bincount(codes[codes >= 0] if missing else codes, minlength=len(categories)) > 0
    if not missing and seen.all():
        column.add_coded(categories, codes)
        return
    values = [value for value, hit in zip(categories, seen.tolist(), strict=True) if hit]
    lookup = np.append(np.cumsum(seen) - 1, len(values)).astype(np.uint32)
    column.add_coded([*values, MISSING] if missing else values, lookup[codes])


def _each_once(
    column: Column, categories: Sequence[Any], codes: NDArray[Any]
) -> tuple[Sequence[Any], NDArray[Any]]:
    """The categories without repetitions, and the codes into them."""
    try:
        index = {key: place for place, key in enumerate(dict.fromkeys(map(_key, categories)))}
    except TypeError:
        cell = next(cell for cell in categories if not is_hashable(cell))
        raise DataError(
            f"column {column.name!r} has the category {_short(cell)} ({type(cell).__name__}), which is not "
            f"hashable and so cannot be a state: convert it, for instance to a tuple or a string"
        ) from None
    if len(index) == len(categories):
        return categories, codes
    lookup = np.array([*(index[_key(value)] for value in categories), -1])
    distinct: dict[Any, Any] = {}
    for value in categories:
        distinct.setdefault(_key(value), value)
    return list(distinct.values()), lookup[codes]


def _key(value: Any) -> tuple[type, Any]:
    """The key that distinguishes values: True, 1 and 1.0 are three, and two missing values are one."""
    if type(value) is not str and is_missing(value):
        return (type(None), None)
    return (type(value), value)


def add_strings(column: Column, texts: pl.Series) -> None:
    """Add strings, null where missing, coded by the dictionary of those already known."""
    values, codes = code_strings(texts, [v for v in column.values if isinstance(v, str)])
    column.add_coded(values, codes)


def code_strings(texts: pl.Series, known: Sequence[str] = ()) -> tuple[list[Any], NDArray[Any]]:
    """Distinct strings that occur (MISSING among them) and codes into them.

    Casting to an enumeration takes one hash lookup per cell, and the strings of the first rows,
    or of the previous batch, are nearly always all there are.
    """
    import polars as pl

    nulls = texts.null_count()
    names = list(
        dict.fromkeys([*known, *texts.head(HEAD).drop_nulls().unique(maintain_order=True).to_list()])
    )
    coded = texts.cast(pl.Enum(names), strict=False)
    if coded.null_count() > nulls:
        fresh = texts.filter(coded.is_null() & texts.is_not_null()).unique(maintain_order=True).to_list()
        names += fresh
        coded = texts.cast(pl.Enum(names))
    physical = coded.to_physical()
    if nulls:
        physical = physical.cast(pl.UInt32).fill_null(len(names))
    codes = physical.to_numpy()
    seen = np.bincount(codes, minlength=len(names) + (nulls > 0)) > 0
    values: list[Any] = [*names, MISSING] if nulls else list(names)
    if seen.all():
        return values, codes
    lookup = np.cumsum(seen) - 1
    return [v for v, hit in zip(values, seen.tolist(), strict=True) if hit], lookup[codes]
