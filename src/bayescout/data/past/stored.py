"""A table whose cells are in files, one file per column, and read a block of rows at a time."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Generator, Iterator, Sequence
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bayescout.data.assemble import Settled
from bayescout.data.past.budget import Budget, in_units
from bayescout.data.past.cache import Folder, disk_full
from bayescout.data.reading import Notes
from bayescout.data.table import Label, Table, narrowest
from bayescout.errors import MissingValueError, TooLargeError
from bayescout.graph.labels import quoted
from bayescout.wording import setting

if TYPE_CHECKING:
    import polars as pl

BLOCK_ROWS = 1 << 20
"""The most rows of a block; a power of two, so that blocks begin at a whole word of a bitmap."""

CELL, FLOAT = 6, 40
"""Bytes in memory of a code and of a float while a table is read, ordered and counted."""


class StoredColumn(NamedTuple):
    """The file of one column and what is known of its cells.

    counts  of its codes, if it is discrete
    low, high  of its values, if it is continuous
    place   of the column where its cells are, if that is no file
    """

    path: Path
    type: str
    counts: NDArray[np.int64] | None
    low: float | None = None
    high: float | None = None
    place: int = 0


class StoredTable(Table):
    """A table whose cells are on disk; rows are read in blocks, and the whole is never in memory.

    folder   holds the files, and is removed when the last table over it goes
    stored   one file per column
    budget   the memory that may be taken
    """

    folder: Folder
    stored: tuple[StoredColumn, ...]
    budget: Budget
    stored_rows: int

    @classmethod
    def made(cls, settled: Settled, folder: Folder, budget: Budget) -> StoredTable:
        """The table of settled columns, whose cells are written in their final form, column by column."""
        found = settled.report.counts
        if settled.policy == "keep" and found:
            names = quoted([name for name, _ in found], 6)
            raise MissingValueError(
                f"columns with missing cells: {names}; drawing or keeping them needs all rows in memory, and "
                f"these are past it: {setting('missing', 'drop')} leaves such rows out, "
                f"{setting('missing', 'state')} gives missing cells of discrete columns a state, "
                f"or give more memory="
            )
        stored = []
        for place, column in enumerate(settled.columns):
            one = _written(settled, place, folder)
            stored.append(one)
            for part in (column.chunks, column.floats):
                _forget(part)
            column.chunks, column.floats = column.keep(), None
        table = object.__new__(cls)
        table.__dict__.update(
            {field.name: field.default for field in fields(Table)},
            names=tuple(column.name for column in settled.columns),
            states=tuple(settled.states),
            missing=settled.report,
            notes=settled.notes,
            folder=folder,
            stored=tuple(stored),
            budget=budget,
            stored_rows=settled.n_rows,
        )
        return table

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    # ---- the cells

    @property
    def n_rows(self) -> int:
        return self.stored_rows

    @property
    def codes(self) -> NDArray[Any]:
        return self._loaded("discrete")

    @property
    def values(self) -> NDArray[np.float64]:
        return self._loaded("continuous")

    def _loaded(self, kind: str) -> NDArray[Any]:
        """The cells of one kind in memory, if they fit beside what else is there."""
        places = [i for i, own in enumerate(self.kinds) if own == kind]
        dtype = self.code_type if kind == "discrete" else np.dtype(np.float64)
        self.require_room()
        found = np.empty((len(places), self.n_rows), dtype=dtype)
        for i, place in enumerate(places):
            found[i] = np.fromfile(self.stored[place].path, dtype=dtype)
        found.flags.writeable = False
        return found

    def require_room(self, beside: int = 0) -> None:
        """Refuse work that needs all rows here and takes so many bytes per row beside the cells."""
        cells = sum(np.dtype(one.type).itemsize for one in self.stored)
        size = self.n_rows * (cells + beside)
        if self.n_rows * cells > self.budget.spare // 4 or size > self.budget.spare // 2:
            raise TooLargeError(
                f"this needs all {self.n_rows:,} rows by {self.n_columns:,} columns in memory, "
                f"{in_units(size)}, and they are on disk since memory is limited to "
                f"{in_units(self.budget.limit)}: give more memory=, or fewer rows"
            )

    @property
    def code_type(self) -> np.dtype[Any]:
        found = [np.dtype(one.type) for one in self.stored if one.counts is not None]
        return found[0] if found else np.dtype(np.uint8)

    def to_polars(self) -> pl.DataFrame:
        self.require_room(8 * self.n_columns)
        return super().to_polars()

    def to_pandas(self) -> Any:
        self.require_room(8 * self.n_columns)
        return super().to_pandas()

    def to_dict(self) -> dict[Label, list[Any]]:
        self.require_room(8 * self.n_columns)
        return super().to_dict()

    def array(self, name: Label) -> NDArray[Any]:
        """The codes or the floats of one column, mapped from its file."""
        one = self.stored[self.index(name)]
        return np.asarray(np.memmap(one.path, dtype=one.type, mode="r", shape=(self.n_rows,)))

    def limits(self, name: Label) -> tuple[float, float] | None:
        one = self.stored[self.index(name)]
        return None if one.low is None or one.high is None else (one.low, one.high)

    def blocks(self, places: Sequence[int], rows: int = BLOCK_ROWS) -> Generator[NDArray[Any]]:
        """The cells of some columns of one kind, (columns, rows) of each block; one array, used again."""
        with OpenColumns(self, places) as files:
            kind = np.dtype(self.stored[places[0]].type) if places else np.dtype(np.uint8)
            room = np.empty(len(places) * min(rows, self.n_rows), dtype=kind)
            for begin in range(0, self.n_rows, rows):
                width = min(rows, self.n_rows - begin)
                block = room[: len(places) * width].reshape(len(places), width)
                for i, descriptor in enumerate(files):
                    read_into(descriptor, block[i], begin * kind.itemsize)
                yield block

    def family_counts(self, child: int, parents: Sequence[int]) -> NDArray[np.int64]:
        """The whole table of one family, (configurations, states of the child)."""
        family = [*parents, child]
        cards = [int(self.cardinalities[v]) for v in family]
        found = sum(cell_counts(codes, cards) for codes in self.blocks(family))
        return np.asarray(found, dtype=np.int64).reshape(-1, cards[-1])

    # ---- what a table says of itself

    @cached_property
    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for name, states in zip(self.names, self.states, strict=True):
            digest.update(f"{name!r}:{states!r};".encode())
        codes = np.dtype(narrowest(int(self.n_codes.max(initial=0))))
        for kind, dtype in (("discrete", codes), ("continuous", np.dtype(np.float64))):
            places = [i for i, own in enumerate(self.kinds) if own == kind]
            digest.update(f"{dtype}{(len(places), self.n_rows)}".encode())
            for place in places:
                for block in self.blocks([place]):
                    digest.update(np.ascontiguousarray(block.astype(dtype, copy=False)).data)
        digest.update(b"-")
        return digest.hexdigest()

    def _all_limits(self) -> Iterator[tuple[float | None, float | None]]:
        return ((one.low, one.high) for one in self.stored if one.counts is None)

    # ---- tables taken from it

    def take(self, rows: NDArray[Any]) -> Table:
        taken = int(np.count_nonzero(rows)) if np.asarray(rows).dtype == bool else len(rows)
        continuous = self.states.count(None)
        held = CELL * (self.n_columns - continuous) + FLOAT * continuous
        self.require_room(held * taken // self.n_rows)
        return super().take(rows)

    def all_columns(self) -> Self:
        """Another table over the same cells."""
        return self.select(self.names)

    def with_notes(self, notes: Notes) -> Self:
        found = self.all_columns()
        found.__dict__["notes"] = notes
        return found

    def select(self, names: Sequence[Label]) -> Self:
        where = [self.index(name) for name in names]
        taken = object.__new__(type(self))
        kept = {key: value for key, value in self.__dict__.items() if key in _LASTING}
        taken.__dict__.update(
            kept,
            names=tuple(self.names[i] for i in where),
            states=tuple(self.states[i] for i in where),
            stored=tuple(self.stored[i] for i in where),
        )
        taken.__dict__["_told"] = self._told
        return taken


_LASTING = {field.name for field in fields(Table)} | {"folder", "stored", "budget", "stored_rows"}


class OpenColumns:
    """The open files of some columns of a stored table."""

    def __init__(self, table: StoredTable, places: Sequence[int]) -> None:
        self.paths = [table.stored[place].path for place in places]
        self.files: list[int] = []

    def __enter__(self) -> list[int]:
        self.files = [os.open(path, os.O_RDONLY) for path in self.paths]
        return self.files

    def __exit__(self, *_: object) -> None:
        for descriptor in self.files:
            os.close(descriptor)


def cell_counts(codes: NDArray[Any], cards: Sequence[int]) -> NDArray[np.int64]:
    """How many rows have each combination of codes, the last column varying fastest."""
    numbers = np.zeros(codes.shape[1], dtype=np.int64)
    for column, r in zip(codes, cards, strict=True):
        numbers = numbers * r + column
    return np.bincount(numbers, minlength=math.prod(cards)).astype(np.int64)


def as_bytes(array: NDArray[Any]) -> memoryview:
    """The bytes of an array, to be written or filled."""
    whole: Any = np.ascontiguousarray(array)
    return memoryview(whole).cast("B")


def read_into(descriptor: int, out: NDArray[Any], offset: int) -> None:
    """Fill an array from an open file."""
    view = as_bytes(out)
    while len(view):
        count = os.preadv(descriptor, [view], offset)
        if count <= 0:
            raise OSError("a file of rows past memory ends early; was its folder changed?")
        view, offset = view[count:], offset + count


def _forget(part: Any) -> None:
    path = getattr(part, "path", None)
    if path is not None:
        path.unlink(missing_ok=True)


def _written(settled: Settled, place: int, folder: Folder) -> StoredColumn:
    """One column in its final form in a file."""
    column = settled.columns[place]
    lookup: NDArray[Any] | None = None
    counts: NDArray[np.int64] | None = None
    low = high = None
    if settled.states[place] is None:
        settled.check_finite(place)
    else:
        lookup = settled.lookup(place)
        counts = np.zeros(len(settled.states[place] or ()), dtype=np.int64)
    path = folder.path / f"final-{place}"
    begin = 0
    try:
        with open(path, "wb", buffering=1 << 20) as stream:
            for chunk in column.chunks if column.floats is None else column.floats:
                rows = chunk if settled.keep is None else chunk[settled.keep[begin : begin + len(chunk)]]
                begin += len(chunk)
                if not len(rows):
                    continue
                if lookup is None:
                    low = min(float(rows.min()), np.inf if low is None else low)
                    high = max(float(rows.max()), -np.inf if high is None else high)
                else:
                    rows = lookup[rows]
                    assert counts is not None
                    counts += np.bincount(rows, minlength=len(counts))
                stream.write(as_bytes(rows))
    except OSError as error:
        raise disk_full(path, error) from error
    dtype = np.dtype(np.float64 if lookup is None else settled.code_type)
    return StoredColumn(path, dtype.str, counts, low, high)
