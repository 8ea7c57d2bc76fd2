"""Convert any frame, array or dict of columns to a `Table`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.about_rows import AboutRows
from bayescout.data.absent import MISSING, Marks
from bayescout.data.assemble import assemble, check_policy
from bayescout.data.columns import Column, check_declarations
from bayescout.data.declared import DeclaredStates, Kinds, RawStates, chosen, listed
from bayescout.data.pieces import add_array, add_categories, add_objects, add_polars, is_exact
from bayescout.data.read import names_in, read_table
from bayescout.data.table import Kind, Label, MissingPolicy, Table
from bayescout.errors import DataError
from bayescout.graph.labels import is_hashable
from bayescout.wording import setting

Data = Any
"""A `Table`, a pandas, polars or pyarrow frame, a NumPy array, a dict of columns, or a path."""


def as_table(
    data: Data,
    kinds: Kinds | None = None,
    states: DeclaredStates | None = None,
    missing: MissingPolicy = "keep",
    weights: Any = None,
    missing_values: Sequence[Any] | None = None,
    columns: Sequence[Any] | None = None,
    drop: Sequence[Any] | None = None,
    interventions: Any = None,
) -> Table:
    """Convert any data to a checked `Table`; labels and values are kept as they are.

    kinds    one kind for all columns, or {name: "discrete" | "continuous"}. Otherwise numbers are read
             by one rule (docs/decisions/columns.md): few whole numbers, each with several rows, are
             states, other numbers are continuous; all else is discrete. `Table.columns` shows the reasons.
    states   {name: states in order}: a state absent from these rows still counts, and a value outside
             them is an error; 0, 0.0, False and "0" find one another. Categories of a categorical column
             count as declared.
    missing  policy for None, null, NaN, NaT and `missing_values`: keep them in the table ("keep"),
             refuse them ("error"), leave the row out ("drop"), or give discrete columns one more, last
             state for them ("state").
    weights  one number per row, or the name of the column that holds them.
    columns  the names of the columns to take, in this order; by default all. Others may hold anything.
    drop     the names of columns to leave out.
    interventions  the variables that were set from outside in each row, as in an experiment: the name of a
             column whose cells name them (several separated by commas; empty where none was set), one entry
             per row, or {variable: its rows}. A row tells nothing about how a variable set in it comes about.

    Columns that identify rows, dates, and columns without values are left out, with a warning, unless they
    are declared or listed in `columns`. A declared missing value that reads as a number, such as "-999",
    also stands for that number; see `read_table` for those of text files.
    Inferred states are sorted where they can be compared, otherwise ordered by type name and repr.
    """
    check_policy(missing)
    if isinstance(data, str | os.PathLike):
        return read_table(
            data, kinds, states, missing, weights, missing_values, None, columns, drop, interventions
        )
    absent = listed(missing_values)
    if isinstance(data, Table) and _is_ready(data, kinds, states, missing, (weights, interventions), absent):
        listed_all = columns is None and drop is None
        return data if listed_all else data.select(chosen(data.names, columns, drop=drop))
    sources = dict(_checked(_sources(data)))
    names = list(sources)
    about = AboutRows.of(weights, interventions, names)
    if isinstance(data, Table):
        about = about.after(data)
    declared_kinds, declared_states = check_declarations(names, kinds, states, about)
    marks = Marks(absent)
    made = []
    if isinstance(data, Table):
        declared_kinds = _kinds_of(data, declared_states) | declared_kinds
    for name in chosen(names, columns, about.columns, drop):
        column = Column(name, declared_kinds.get(name), declared_states.get(name), marks)
        column.chosen = columns is not None or isinstance(data, Table)
        add_source(column, sources[name])
        made.append(column)
    table = assemble(made, missing, about)
    marks.warn()
    return _with_history(table, data) if isinstance(data, Table) else table


def _with_history(table: Table, before: Table) -> Table:
    """A table made of another one: the reasons for kinds that stayed, and its report if none is missing."""
    old, kinds = before.notes.why(), dict(zip(before.names, before.kinds, strict=True))
    old |= {name: table.notes.why()[name] for name, _ in table.notes.cuts}
    kinds |= {name: "discrete" for name, _ in table.notes.cuts}
    reasons = tuple(
        (name, *old[name]) if name in old and kinds[name] == kind else (name, "declared", False)
        for name, kind in zip(table.names, table.kinds, strict=True)
    )
    cuts = tuple(pair for pair in before.notes.cuts if pair[0] not in dict(table.notes.cuts))
    notes = replace(
        table.notes,
        reasons=reasons,
        left_out=before.notes.left_out,
        cuts=(*table.notes.cuts, *cuts),
        missing_states=tuple((before.missing_states | dict(table.notes.missing_states)).items()),
    )
    # its report of missing cells still holds
    return replace(table, notes=notes, missing=table.missing if table.missing.counts else before.missing)


def column_names(data: Data) -> list[Label]:
    """The column labels of any data; only the beginning of a file is read."""
    from narwhals import dependencies as kind_of

    if isinstance(data, str | os.PathLike):
        return list(names_in(data))
    if kind_of.is_polars_lazyframe(data):
        return list(data.collect_schema().names())
    return [name for name, _ in _checked(_sources(data))]


def _kinds_of(table: Table, states: Mapping[Any, Any]) -> dict[Label, Kind]:
    """The kinds known from a table: its continuous columns, except those that states are declared for."""
    continuous = (name for name, own in zip(table.names, table.states, strict=True) if own is None)
    return {name: "continuous" for name in continuous if name not in states}


def _is_ready(
    table: Table, kinds: Any, states: DeclaredStates | None, missing: str, rows: tuple[Any, Any], absent: Any
) -> bool:
    """Return True if a table can be used as it is."""
    settled = missing == "keep" or not table.has_missing
    said = any(one is not None for one in rows)
    return settled and kinds is None and not said and not absent and _has(table, states)


def _has(table: Table, states: DeclaredStates | None) -> bool:
    """Return True if the states declared for a table are those it has."""
    for name, declared in (states or {}).items():
        if name not in table.names or not isinstance(declared, list | tuple):
            return False
        own = table.states[table.index(name)]
        if own is None or not same_states(own, declared):
            return False
        if isinstance(declared, RawStates) and declared.empty is not None and table.has_missing:
            return False
    return True


def same_states(one: Sequence[Any], two: Sequence[Any]) -> bool:
    """Return True if the states are equal and of the same types; 1, 1.0 and True are three states."""
    return len(one) == len(two) and all(a == b and type(a) is type(b) for a, b in zip(one, two, strict=True))


def _checked(sources: Iterator[tuple[Label, Any]]) -> Iterator[tuple[Label, Any]]:
    """Pass columns on; refuse duplicate names and names that are not hashable."""
    seen: set[Label] = set()
    for name, source in sources:
        if not is_hashable(name):
            raise DataError(f"column name {name!r} is not hashable: use a string, a number or a tuple")
        if name in seen:
            raise DataError(f"column name {name!r} occurs more than once; rename one of the columns")
        seen.add(name)
        yield name, source


def add_source(column: Column, source: Any) -> None:
    """Add one whole column of any type that a frame, dict or array may hold."""
    import narwhals as nw
    from narwhals import dependencies as kind_of

    source = nw.to_native(source, pass_through=True)
    if isinstance(source, _Coded):
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
    elif _is_pyarrow(source, "Array"):
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


class _Coded:
    """A discrete column of a table: its states are declared, its codes known."""

    def __init__(self, states: Sequence[Any], codes: NDArray[Any]) -> None:
        self.states, self.codes = tuple(states), codes


def _sources(data: Data) -> Iterator[tuple[Label, Any]]:
    """The label of each column and the object that holds its values."""
    import narwhals as nw
    from narwhals import dependencies as kind_of

    data = nw.to_native(data, pass_through=True)
    if isinstance(data, Table):
        for name, states in zip(data.names, data.states, strict=True):
            yield name, data.array(name) if states is None else _Coded(states, data.signed_codes(name))
    elif isinstance(data, Mapping):
        yield from data.items()
    elif isinstance(data, np.ndarray):
        yield from _array_sources(data)
    elif kind_of.is_pandas_like_dataframe(data):
        yield from zip(data.columns.tolist(), (series for _, series in data.items()), strict=True)
    elif kind_of.is_pyarrow_table(data) or _is_pyarrow(data, "RecordBatch"):
        yield from zip(data.schema.names, data.columns, strict=True)
    elif kind_of.is_polars_lazyframe(data):
        yield from ((series.name, series) for series in data.collect().get_columns())
    elif kind_of.is_polars_dataframe(data):
        yield from ((series.name, series) for series in data.get_columns())
    else:
        yield from _other_sources(data)


def _is_pyarrow(value: Any, kind: str) -> bool:
    """Return True for an instance of this pyarrow class, without importing pyarrow if the user has not."""
    from narwhals import dependencies

    pyarrow = dependencies.get_pyarrow()
    return pyarrow is not None and isinstance(value, getattr(pyarrow, kind))


def _array_sources(data: NDArray[Any]) -> Iterator[tuple[Label, Any]]:
    if data.dtype.names:
        if data.ndim != 1:
            raise DataError(f"a structured array must have one dimension, not {data.ndim}")
        yield from ((name, data[name]) for name in data.dtype.names)
        return
    if data.ndim != 2:
        raise DataError(
            f"the array has {data.ndim} dimensions: give two, one row a sample and one column a variable"
        )
    for index in range(data.shape[1]):
        column = data[:, index]
        # An object array does not tell its columns' types, so each is examined by itself.
        yield index, column.tolist() if data.dtype.kind == "O" and not np.ma.isMaskedArray(data) else column


def _other_sources(data: Data) -> Iterator[tuple[Label, Any]]:
    import narwhals as nw

    try:
        frame = nw.from_native(data)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        yield from ((name, frame[name].to_native()) for name in frame.columns)
    except TypeError:
        raise DataError(
            f"cannot read data from a {type(data).__name__}: give a pandas, polars or pyarrow frame, "
            f"a two-dimensional NumPy array, a dict of columns, or a path"
        ) from None


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
