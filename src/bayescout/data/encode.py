"""Convert any frame, array or dict of columns to a `Table`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.about_rows import AboutRows
from bayescout.data.absent import Marks
from bayescout.data.assemble import assemble, check_policy
from bayescout.data.cells import Coded, add_source, is_pyarrow
from bayescout.data.columns import Column, check_declarations
from bayescout.data.declared import DeclaredStates, Kinds, RawStates, chosen, listed
from bayescout.data.matrix import numbers_in, table_of
from bayescout.data.past.batches import evaluating
from bayescout.data.past.dask_rows import dask_names, is_dask, read_dask
from bayescout.data.past.scan import is_past, names_past, read_past
from bayescout.data.read import names_in, read_table
from bayescout.data.table import Kind, Label, MissingPolicy, Table
from bayescout.errors import DataError, SettingError, about, from_outside
from bayescout.graph.labels import is_hashable

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
    memory: int | float | str | None = None,
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
    memory   the most that may be resident while rows are read and learned from, such as "2 GB", for data
             that are not in memory yet: several Parquet or Arrow files (a folder, a pattern such as
             "rows/*.parquet", a list), a lazy frame, a DuckDB relation, an Arrow dataset. By default what
             this process holds and half of what is free. Rows that would not fit are kept on disk as codes

    Columns that identify rows, dates, and columns without values are left out, with a warning, unless they
    are declared or listed in `columns`. A declared missing value that reads as a number, such as "-999",
    also stands for that number; see `read_table` for those of text files.
    Inferred states are sorted where they can be compared, otherwise ordered by type name and repr.
    """
    with about(data, again=from_outside()):
        return _made(
            data, kinds, states, missing, weights, missing_values, columns, drop, interventions, memory
        )


def _made(
    data: Data,
    kinds: Kinds | None,
    states: DeclaredStates | None,
    missing: MissingPolicy,
    weights: Any,
    missing_values: Sequence[Any] | None,
    columns: Sequence[Any] | None,
    drop: Sequence[Any] | None,
    interventions: Any,
    memory: int | float | str | None,
) -> Table:
    check_policy(missing)
    if is_dask(data):
        refused = {
            "weights": weights,
            "interventions": interventions,
            "missing_values": missing_values,
            "memory": memory,
        }
        for what, value in refused.items():
            if value is not None:
                raise SettingError(f"rows on a cluster cannot have {what}: leave it out")
        return read_dask(data, None, kinds, states, missing, columns, drop)
    if is_past(data, memory):
        return read_past(
            data, kinds, states, missing, weights, missing_values, columns, drop, interventions, memory
        )
    if isinstance(data, str | os.PathLike):
        return read_table(
            data, kinds, states, missing, weights, missing_values, None, columns, drop, interventions, memory
        )
    absent = listed(missing_values)
    if isinstance(data, Table) and _is_ready(data, kinds, states, missing, (weights, interventions), absent):
        listed_all = columns is None and drop is None
        return data if listed_all else data.select(chosen(data.names, columns, drop=drop))
    if isinstance(data, Table):
        data.require_room(8 * data.n_columns)  # each column is read anew
    said = (states, weights, interventions, columns, drop)
    if kinds in (None, "continuous") and all(one is None for one in said) and not absent:
        found = _all_numbers(data, missing, "" if kinds is None else "declared")
        if found is not None:
            return found
    sources = dict(_checked(_sources(data)))
    names = list(sources)
    rows = AboutRows.of(weights, interventions, names)
    if isinstance(data, Table):
        rows = rows.after(data)
    declared_kinds, declared_states = check_declarations(names, kinds, states, rows)
    marks = Marks(absent, asked=missing_values is not None)
    made = []
    if isinstance(data, Table):
        declared_kinds = _kinds_of(data, declared_states) | declared_kinds
    for name in chosen(names, columns, rows.columns, drop):
        column = Column(name, declared_kinds.get(name), declared_states.get(name), marks)
        column.chosen = columns is not None or isinstance(data, Table)
        column.maybe_index = name == names[0] and name in ("", "Unnamed: 0")
        add_source(column, sources[name])
        made.append(column)
    table = assemble(made, missing, rows)
    marks.warn()
    return _with_history(table, data) if isinstance(data, Table) else table


def _all_numbers(data: Data, missing: MissingPolicy, known: str) -> Table | None:
    """The table of data with many columns of floats and nothing declared; None for all other data."""
    import narwhals as nw

    numbers = numbers_in(nw.to_native(data, pass_through=True))
    if numbers is None:
        return None
    dict(_checked((name, None) for name in numbers.names))
    return table_of(numbers, missing, known)


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
        separator=before.notes.separator,
        cuts=(*table.notes.cuts, *cuts),
        missing_states=tuple((before.missing_states | dict(table.notes.missing_states)).items()),
    )
    # its report of missing cells still holds
    return replace(table, notes=notes, missing=table.missing if table.missing.counts else before.missing)


def column_names(data: Data) -> list[Label]:
    """The column labels of any data; only the beginning of a file is read, and of a table nothing."""
    if isinstance(data, Table):
        return list(data.names)
    past = dask_names(data) if is_dask(data) else names_past(data)
    if past is not None:
        return past
    if isinstance(data, str | os.PathLike):
        return list(names_in(data))
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


def _sources(data: Data) -> Iterator[tuple[Label, Any]]:
    """The label of each column and the object that holds its values."""
    import narwhals as nw
    from narwhals import dependencies as kind_of

    data = nw.to_native(data, pass_through=True)
    if isinstance(data, Table):
        for name, states in zip(data.names, data.states, strict=True):
            yield name, data.array(name) if states is None else Coded(states, data.signed_codes(name))
    elif isinstance(data, Mapping):
        yield from data.items()
    elif isinstance(data, np.ndarray):
        yield from _array_sources(data)
    elif kind_of.is_pandas_like_dataframe(data):
        yield from zip(data.columns.tolist(), (series for _, series in data.items()), strict=True)
    elif kind_of.is_pyarrow_table(data) or is_pyarrow(data, "RecordBatch"):
        yield from zip(data.schema.names, data.columns, strict=True)
    elif kind_of.is_polars_dataframe(data):
        yield from ((series.name, series) for series in data.get_columns())
    else:
        yield from _other_sources(data)


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


ANY_DATA = (
    "a pandas, polars or pyarrow frame, a two-dimensional NumPy array, a dict of columns, a lazy frame, "
    "a DuckDB relation, an Arrow dataset, a path or a list of paths"
)

WAY_OUT = {
    "DuckDBPyConnection": 'the query as a relation, which can be read again: connection.sql("select ...")',
    "Scanner": "the Arrow dataset itself, or dataset.filter(...)",
    "generator": "a list of it",
}
"""What is to be given in place of some kinds of data."""


def _other_sources(data: Data) -> Iterator[tuple[Label, Any]]:
    import narwhals as nw

    try:
        frame = nw.from_native(data)
    except TypeError:
        kind = type(data).__name__
        raise DataError(f"cannot read data from a {kind}: give {WAY_OUT.get(kind, ANY_DATA)}") from None
    if isinstance(frame, nw.LazyFrame):
        with evaluating(f"the {type(data).__module__.split('.')[0]} {type(data).__name__}", "its evaluation"):
            frame = frame.collect()
    yield from ((name, frame[name].to_native()) for name in frame.columns)
