"""Cells of tables as arrays: values in place of codes, and numbers in place of intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._set_output import _get_output_config

from bayescout.arrays import Floats
from bayescout.data.absent import is_missing
from bayescout.data.intervals import cut
from bayescout.data.table import Label, Table


def matrix(columns: Sequence[Any]) -> NDArray[Any]:
    """(n, p) the columns side by side: numbers if all are, else objects."""
    arrays = [_array(own) for own in columns]
    if all(own.dtype.kind in "biuf" for own in arrays):
        return np.column_stack(arrays)
    found = np.empty((len(arrays[0]), len(arrays)), dtype=object)
    for place, own in enumerate(arrays):
        found[:, place] = own
    return found


def _array(column: Any) -> NDArray[Any]:
    """A column as an array; a list, or a series of text or categories, as objects unless all are numbers."""
    if isinstance(column, np.ndarray):
        return column
    if not isinstance(column, list):
        try:
            found = np.asarray(column)
        except (TypeError, ValueError):
            found = np.array(list(column), dtype=object)
        return found if found.dtype.kind in "biufO" else np.array(list(column), dtype=object)
    found = np.empty(len(column), dtype=object)
    found[:] = column
    if all(isinstance(cell, int | float | np.number) for cell in column):
        return found.astype(np.float64)
    return found


def like(estimator: Any, rows: Any, columns: Sequence[Any]) -> Any:
    """The columns as an array if all are numbers or the rows are an array, else as a frame.

    A frame keeps the type of each column. It is of the library of the rows, or of the one that `set_output`
    asks for.
    """
    found = matrix(columns)
    library = type(rows).__module__.partition(".")[0]
    if found.dtype != object or library not in ("pandas", "polars"):
        return found
    asked = _get_output_config("transform", estimator)["dense"]
    if asked in ("default", library):
        made = dict(zip(rows.columns, columns, strict=True))
        return type(rows)(made, index=rows.index) if library == "pandas" else type(rows)(made)
    plain = dict(zip(map(str, rows.columns), map(_plain, columns), strict=True))
    if asked == "polars":
        import polars as pl

        return pl.DataFrame(plain)
    import pandas as pd

    return pd.DataFrame(plain)


def _plain(column: Any) -> Any:
    """Numbers as an array, other cells as a list with None for the missing ones."""
    cells = _array(column)
    if cells.dtype.kind in "biuf":
        return cells
    return [None if is_missing(cell) else cell for cell in cells.tolist()]


def completed(table: Table, name: Label, numbers: Floats | None) -> NDArray[Any]:
    """The values of one column without missing cells; `numbers` in place of the intervals it was cut into."""
    states, codes = table.states[table.index(name)], table.array(name)
    if numbers is not None:
        return np.asarray(numbers[codes])
    found: NDArray[Any] = codes if states is None else _array(list(states))[codes]
    return found


def middles(table: Table, used: Table) -> dict[Label, Floats]:
    """For each column that was cut, the median of the values in each interval; that of all if it has none."""
    found = {}
    for name, cuts in used.cuts.items():
        if table.states[table.index(name)] is None:
            values = table.array(name)
            values = values[~np.isnan(values)]
            inside = cut(cuts, values)
            parts = [values[inside == place] for place in range(len(cuts) + 1)]
            found[name] = np.array([np.median(own) if len(own) else np.median(values) for own in parts])
    return found
