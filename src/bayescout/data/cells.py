"""Add one whole column of any kind, from a frame, an array or a list, to a `Column`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.absent import MISSING
from bayescout.data.columns import Column
from bayescout.data.pieces import add_array, add_categories, add_objects, add_polars, is_exact
from bayescout.errors import DataError
from bayescout.wording import setting


def add_source(column: Column, source: Any) -> None:
    """Add one whole column of any type that a frame, dict or array may hold."""
    import narwhals as nw
    from narwhals import dependencies as kind_of

    source = nw.to_native(source, pass_through=True)
    if isinstance(source, Coded):
        add_categories(column, source.states, source.codes)
    elif isinstance(source, np.ndarray):
        if source.ndim != 1:
            raise DataError(f"column {column.name!r} has {source.ndim} dimensions: give one value a row")
        add_array(column, source)
    elif kind_of.is_polars_series(source):
        add_polars(column, source)
    elif kind_of.is_pandas_like_series(source):
        _add_pandas(column, source)
    elif kind_of.is_pyarrow_chunked_array(source):
        _add_pyarrow(column, source)
    elif is_pyarrow(source, "Array"):
        import pyarrow as pa

        _add_pyarrow(column, pa.chunked_array([source]))
    elif isinstance(source, set | frozenset | Mapping):
        raise DataError(
            f"column {column.name!r} is a {type(source).__name__}, which has no order of rows to trust: "
            f"give a sequence with one value a row"
        )
    elif isinstance(source, str | bytes) or not hasattr(source, "__iter__"):
        raise DataError(f"column {column.name!r} is {source!r}: give a sequence with one value a row")
    else:
        add_objects(column, list(source))


class Coded:
    """A discrete column of a table: its states are declared, its codes known."""

    def __init__(self, states: Sequence[Any], codes: NDArray[Any]) -> None:
        self.states, self.codes = tuple(states), codes


def is_pyarrow(value: Any, kind: str) -> bool:
    """Return True for an instance of this pyarrow class, without importing pyarrow if the user has not."""
    from narwhals import dependencies

    pyarrow = dependencies.get_pyarrow()
    return pyarrow is not None and isinstance(value, getattr(pyarrow, kind))


def _add_pandas(column: Column, series: Any) -> None:
    """Add a pandas series by its own codes, which respect its types; -1 is missing."""
    dtype = series.dtype
    kind, written = getattr(dtype, "kind", "O"), str(dtype)
    if written.startswith("Sparse["):
        _add_pandas(column, series.sparse.to_dense())
    elif written == "category":
        add_categories(column, dtype.categories.tolist(), np.asarray(series.array.codes))
    elif isinstance(dtype, np.dtype) and kind in "biuf":
        add_array(column, series.to_numpy())
    elif kind == "f":
        column.add_floats(series.to_numpy(dtype=np.float64, na_value=np.nan).copy())
    elif isinstance(dtype, np.dtype) and kind == "O" and not _only_strings(series):
        add_objects(column, series.tolist())
    elif hasattr(dtype, "pyarrow_dtype"):
        _add_pandas_arrow(column, series)
    else:
        _add_factorised(column, series)


def _add_factorised(column: Column, series: Any) -> None:
    # The array of a text column does without the index that a series makes of the distinct values.
    codes, distinct = (series.array if str(series.dtype) in ("str", "string") else series).factorize()
    codes = np.asarray(codes)
    values = distinct.tolist()
    column.add_coded([*values, MISSING] if len(codes) and codes.min() < 0 else values, codes)


def _add_pandas_arrow(column: Column, series: Any) -> None:
    """Add an Arrow column inside pandas: by the values of pandas, or those of Arrow where pandas has none."""
    import pyarrow as pa

    kind = series.dtype.pyarrow_dtype
    if not pa.types.is_time(kind):  # pandas truncates times to microseconds
        try:
            _add_factorised(column, series)
            return
        except (pa.ArrowException, NotImplementedError, OverflowError):
            pass
    chunked = pa.chunked_array(pa.array(series.array))
    if pa.types.is_decimal(kind):
        add_objects(column, chunked.to_pylist())
    else:
        _add_pyarrow(column, chunked)


def _only_strings(series: Any) -> bool:
    """Return True if all values are strings or missing; a float other than NaN is neither."""
    types = set(map(type, series.tolist()))
    if types <= {str, type(None)}:
        return True
    return types <= {str, type(None), float} and all(
        isinstance(v, str) for v in series.dropna().unique().tolist()
    )


def _add_pyarrow(column: Column, chunked: Any) -> None:
    """Add an Arrow column: a dictionary column by its dictionary, any other through polars without a copy."""
    import polars as pl
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = chunked.type
    if isinstance(kind, pa.BaseExtensionType):
        _add_pyarrow(column, pa.chunked_array([chunk.storage for chunk in chunked.chunks], kind.storage_type))
    elif pa.types.is_run_end_encoded(kind):
        decoded = [pc.run_end_decode(chunk) for chunk in chunked.chunks]
        _add_pyarrow(column, pa.chunked_array(decoded, kind.value_type))
    elif pa.types.is_dictionary(kind):
        _add_dictionary(column, chunked)
    elif pa.types.is_decimal(kind) and (pa.types.is_decimal256(kind) or kind.scale < 0):
        _add_decimals(column, chunked)
    elif any(test(kind) for test in (pa.types.is_interval, pa.types.is_union, _is_list_view)):
        raise DataError(_unusable(column, kind))
    else:
        try:
            series = pl.from_arrow(chunked)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, TypeError):
            raise DataError(_unusable(column, kind)) from None
        assert isinstance(series, pl.Series)
        add_polars(column, series)


def _is_list_view(kind: Any) -> bool:
    return "list_view" in str(kind)


def _unusable(column: Column, kind: Any) -> str:
    return (
        f"column {column.name!r} is of the Arrow type {kind}, which cannot be read: "
        f"cast it to numbers or text, or {setting('drop', column.name)}"
    )


def _add_decimals(column: Column, chunked: Any) -> None:
    """Add decimals that polars has no type for: numbers, or states if the column is declared discrete."""
    import pyarrow as pa

    if is_exact(column):
        add_objects(column, chunked.to_pylist())
        return
    numbers = chunked.cast(pa.float64()).to_numpy()
    column.add_floats(np.where(chunked.is_null().to_numpy(), np.nan, numbers))


def _add_dictionary(column: Column, chunked: Any) -> None:
    """Add an Arrow dictionary column; each chunk has its own dictionary, read as a column for its values."""
    import pyarrow as pa

    try:
        chunks = chunked.unify_dictionaries().chunks
    except pa.ArrowException:
        raise DataError(_unusable(column, chunked.type)) from None
    categories = _values_of(column, chunks[0].dictionary) if chunks else []
    codes = [chunk.indices.cast(pa.int64(), safe=False).fill_null(-1).to_numpy() for chunk in chunks]
    add_categories(column, categories, np.concatenate([*codes, np.empty(0, dtype=np.int64)]))


def _values_of(column: Column, dictionary: Any) -> list[Any]:
    """The entries of an Arrow dictionary, as the cells of a discrete column."""
    import pyarrow as pa

    if not pa.types.is_temporal(dictionary.type):
        return list(dictionary.to_pylist())
    entries = Column(column.name, "discrete")
    _add_pyarrow(entries, pa.chunked_array([dictionary]))
    values = [None if value is MISSING else value for value in entries.values]
    return [values[code] for chunk in entries.chunks for code in chunk.tolist()]
