"""Tables of numbers alone, with many columns: read in blocks, wherever the cells leave nothing to decide.

A column that has more than a few different numbers, one of them with decimals, is continuous by the rule
for all columns (`kinds`): that is seen for a block of columns at once. The few that are not so plain,
constants and whole numbers, are read one by one like the columns of any other table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data import memory
from bayescout.data.assemble import assemble
from bayescout.data.columns import Column
from bayescout.data.kinds import DECIMALS, FEW
from bayescout.data.pieces import add_array
from bayescout.data.reading import Notes
from bayescout.data.table import Label, MissingPolicy, MissingReport, States, Table

MANY_COLUMNS = 64
"""With fewer columns there is nothing to gain."""

HEAD = 64
"""Cells of a column among which a few different numbers are looked for."""

BLOCK_CELLS = 1 << 20
"""Cells that are looked at in one go."""

KINDS = (np.float32, np.float64)


@dataclass(frozen=True)
class Numbers:
    """Columns of floats of one width, and nothing missing that has a mark of its own.

    fill   writes the cells of columns begin to end into an array of one row for each
    whole  the cells of all, one row for each column, if they are there in that order and nobody changes them
    """

    names: Sequence[Label]
    rows: int
    kind: type[np.floating[Any]]
    fill: Callable[[int, int, NDArray[Any]], None] | None = None
    whole: NDArray[Any] | None = None


def numbers_in(data: Any) -> Numbers | None:
    """The columns of an array or a frame if they are many and all floats of one width; else None."""
    from narwhals import dependencies as kind_of

    found = None
    if isinstance(data, np.ndarray):
        found = _of_array(data)
    elif kind_of.is_polars_dataframe(data):
        found = _of_polars(data)
    elif kind_of.is_pandas_dataframe(data):
        found = _of_pandas(data)
    elif kind_of.is_pyarrow_table(data):
        found = _of_arrow(data)
    return found if found is not None and len(found.names) >= MANY_COLUMNS and found.rows else None


def _of_array(data: NDArray[Any]) -> Numbers | None:
    if data.ndim != 2 or isinstance(data, np.ma.MaskedArray) or data.dtype.kind != "f":
        return None
    return _of_cells(data, range(data.shape[1]))


def _of_cells(data: NDArray[Any], names: Sequence[Label]) -> Numbers | None:
    kind = next((one for one in KINDS if data.dtype.itemsize == np.dtype(one).itemsize), None)
    if kind is None or data.dtype.kind != "f":
        return None

    def fill(begin: int, end: int, out: NDArray[Any]) -> None:
        out[...] = data[:, begin:end].T

    fixed = data.T.flags.c_contiguous and data.dtype == kind and never_changes(data)
    return Numbers(names, len(data), kind, fill, np.asarray(data.T) if fixed else None)


def never_changes(data: Any) -> bool:
    """Return True if neither an array nor what it is a view of can be written to in this process."""
    import mmap

    while isinstance(data, np.ndarray):
        if data.flags.writeable:
            return False
        data = data.base
    return isinstance(data, mmap.mmap | bytes)


def _of_polars(data: Any) -> Numbers | None:
    import polars as pl

    kinds = set(data.dtypes)
    kind = np.float32 if kinds == {pl.Float32} else np.float64 if kinds == {pl.Float64} else None
    columns = data.get_columns()
    if kind is None or any(column.null_count() for column in columns):
        return None
    return _of_columns(data.columns, data.height, kind, [column.to_numpy for column in columns])


def _of_pandas(data: Any) -> Numbers | None:
    kinds = {str(one) for one in data.dtypes.unique()}
    if len(kinds) != 1 or not kinds <= {"float32", "float64"} or data.columns.has_duplicates:
        return None
    return _of_cells(data.to_numpy(), data.columns.tolist())


def _of_arrow(data: Any) -> Numbers | None:
    kinds = {str(one) for one in data.schema.types}
    kind = np.float32 if kinds == {"float"} else np.float64 if kinds == {"double"} else None
    if kind is None or any(column.null_count for column in data.columns):
        return None
    return _of_columns(data.schema.names, data.num_rows, kind, [one.to_numpy for one in data.columns])


def _of_columns(
    names: Sequence[Label], rows: int, kind: type[np.floating[Any]], cells: Sequence[Callable[[], Any]]
) -> Numbers:
    def fill(begin: int, end: int, out: NDArray[Any]) -> None:
        for place, of_column in enumerate(cells[begin:end]):
            out[place] = of_column()

    return Numbers(names, rows, kind, fill)


def require_room(columns: int, rows: int, kind: type[np.floating[Any]]) -> None:
    """Refuse a table that memory cannot hold, before it is read."""
    memory.require(
        columns * rows * np.dtype(kind).itemsize,
        f"{columns:,} columns of {rows:,} rows of {np.dtype(kind).name} take",
        "give float32, in half the room of float64, or leave out columns or rows",
    )


def table_of(numbers: Numbers, policy: MissingPolicy, known: str = "") -> Table | None:
    """The table of these columns, or None where cells are missing or infinite: columns are then read alone.

    known  why all columns are continuous, if that is known
    """
    p, rows = len(numbers.names), numbers.rows
    cells = numbers.whole
    if cells is None:
        require_room(p, rows, numbers.kind)
        cells = np.empty((p, rows), dtype=numbers.kind)
    plain = np.empty(p, dtype=np.bool_)
    step = max(1, BLOCK_CELLS // rows)
    for begin in range(0, p, step):
        block = cells[begin : begin + step]
        if numbers.whole is None:
            assert numbers.fill is not None
            numbers.fill(begin, begin + len(block), block)
        if not np.isfinite(block).all():
            return None
        plain[begin : begin + step] = bool(known) or _are_measured(block)
    if not plain.any():
        return None
    names = tuple(numbers.names)
    return (
        _of_plain(names, cells, policy, known or DECIMALS)
        if plain.all()
        else _with_others(names, cells, plain, policy)
    )


def _are_measured(block: NDArray[Any]) -> NDArray[np.bool_]:
    """Which columns have more than a few numbers, one of them with decimals, among their first cells."""
    head = np.sort(block[:, :HEAD], axis=1)
    different = (head[:, 1:] != head[:, :-1]).sum(axis=1)
    found: NDArray[np.bool_] = (different >= FEW) & (head != np.trunc(head)).any(axis=1)
    return found


def _of_plain(names: tuple[Label, ...], cells: NDArray[Any], policy: MissingPolicy, why: str) -> Table:
    reasons = tuple((name, why, False) for name in names)
    none = np.empty((0, cells.shape[1]), dtype=np.uint8)
    report = MissingReport(policy)
    return Table(names, (None,) * len(names), none, cells, None, report, Notes(reasons))


def _with_others(
    names: tuple[Label, ...], cells: NDArray[Any], plain: NDArray[np.bool_], policy: MissingPolicy
) -> Table:
    """The table in which the columns that are not plain are read one by one.

    One plain column is read with them: that there is a column to use is known then, and so what to say.
    """
    alone = ~plain
    alone[np.argmax(plain)] = True
    columns = []
    for place in np.flatnonzero(alone).tolist():
        column = Column(names[place])
        add_array(column, cells[place])
        columns.append(column)
    others = assemble(columns, policy)
    of_other = dict(zip(others.names, others.states, strict=True))
    told = others.notes.why()
    kept = [i for i, name in enumerate(names) if not alone[i] or name in of_other]
    states: list[States | None] = [of_other.get(names[i]) for i in kept]
    reasons = tuple((names[i], *told.get(names[i], (DECIMALS, False))) for i in kept)
    numeric = [i for i, own in zip(kept, states, strict=True) if own is None]
    table = Table(
        tuple(names[i] for i in kept),
        tuple(states),
        others.codes,
        cells if len(numeric) == len(cells) else cells[numeric],
        None,
        others.missing,
        replace(others.notes, reasons=reasons),
    )
    return table.told_as(others)
