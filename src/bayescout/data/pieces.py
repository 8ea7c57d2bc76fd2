"""Fast coding of whole arrays, lists and series: each becomes distinct values and codes, or floats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.absent import MISSING
from bayescout.data.columns import MAX_INTEGER_STATES, Column
from bayescout.errors import DataError
from bayescout.graph.labels import is_hashable

if TYPE_CHECKING:
    import polars as pl

HEAD = 10_000
"""How many cells are looked at first: enough to know most columns' states, or that they are many."""

DIRECT_RANGE = 1 << 18
"""Integers spanning less than this are coded through a lookup of the range instead of a sort."""


def add_array(column: Column, array: NDArray[Any], mask: NDArray[np.bool_] | None = None) -> None:
    """Add a one-dimensional NumPy array; `mask` marks missing cells."""
    if isinstance(array, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(array)
        array = np.asarray(array.filled() if array.dtype.kind in "OUSV" else array.data)
    kind = array.dtype.kind
    if kind == "f":
        floats = np.ascontiguousarray(array, dtype=np.float64)
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


def _dates(array: NDArray[Any]) -> list[Any]:
    """datetime and date objects; units finer than they hold stay NumPy scalars."""
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
    distinct, codes = _code_integers(array)
    values: list[Any] = [as_value(value) for value in distinct]
    if mask is not None and mask.any():
        # A cell under the mask holds anything, so a value that only occurs there is not one.
        shown = np.bincount(codes[~mask], minlength=len(values)) > 0
        codes = np.where(mask, len(values), codes)
        values = [v if seen else MISSING for v, seen in zip(values, shown.tolist(), strict=True)] + [MISSING]
    column.add_coded(values, codes)


def _has_many(column: Column, array: NDArray[Any]) -> bool:
    """Whether the first cells alone show more values than a discrete integer column has."""
    return len(np.unique(array[:HEAD])) > MAX_INTEGER_STATES + len(column.marks.declared) + 1


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
    """Add values of any hashable type; a column of numbers, one of them a float, is continuous."""
    one_type = len(set(map(type, cells)) - {type(None)}) <= 1
    try:
        # One type needs no type in the key; several do, or True, 1 and 1.0 would be one.
        keys: Sequence[Any] = cells if one_type else list(zip(map(type, cells), cells, strict=True))
        index = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    except TypeError:
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


def add_polars(column: Column, series: pl.Series) -> None:
    """Add a polars series of any type."""
    import polars as pl

    dtype = series.dtype
    if dtype == pl.String or dtype == pl.Categorical:
        add_strings(column, series.cast(pl.String))
    elif isinstance(dtype, pl.Enum):
        codes = series.to_physical()
        if codes.null_count():
            codes = codes.cast(pl.Int64).fill_null(-1)
        add_categories(column, dtype.categories.to_list(), codes.to_numpy())
    elif dtype.is_float() or (dtype.is_decimal() and column.wanted != "discrete" and column.states is None):
        column.add_floats(series.cast(pl.Float64).to_numpy(writable=True))
    elif dtype == pl.Boolean or (
        dtype.is_integer() and dtype not in (pl.Int128, getattr(pl, "UInt128", None))
    ):
        mask = series.is_null().to_numpy() if series.null_count() else None
        filled = series if mask is None else series.fill_null(False if dtype == pl.Boolean else 0)
        add_array(column, filled.to_numpy(), mask)
    else:
        add_objects(column, series.to_list())


def add_categories(column: Column, categories: Sequence[Any], codes: NDArray[Any]) -> None:
    """Add codes into the categories of a categorical column, -1 where missing.

    The categories count as declared states, and only those that occur as values.
    """
    column.take_states(categories)
    gone = codes < 0
    missing = bool(gone.any())
    seen = np.bincount(codes[~gone] if missing else codes, minlength=len(categories)) > 0
    values = [value for value, hit in zip(categories, seen.tolist(), strict=True) if hit]
    lookup = np.append(np.cumsum(seen) - 1, len(values)).astype(np.uint32)
    column.add_coded([*values, MISSING] if missing else values, lookup[codes])


def add_strings(column: Column, texts: pl.Series) -> None:
    """Add strings, null where missing, by the dictionary of those already known."""
    values, codes = code_strings(texts, [v for v in column.values if isinstance(v, str)])
    column.add_coded(values, codes)


def code_strings(texts: pl.Series, known: Sequence[str] = ()) -> tuple[list[Any], NDArray[Any]]:
    """Distinct strings that occur (MISSING among them) and codes into them.

    Casting to an enumeration is one hash lookup a cell, and the strings of the first rows,
    or of the batch before, are nearly always all of them.
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
