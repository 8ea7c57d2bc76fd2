"""One partition of rows on a Dask cluster: what its worker makes of it, and says of it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescout.data.cells import add_source
from bayescout.data.columns import CATEGORICAL, Column, code_type
from bayescout.data.kinds import DISTINCT, Present
from bayescout.data.past.sources import Files
from bayescout.data.pieces import settle_times
from bayescout.data.table import Label
from bayescout.errors import DataError
from bayescout.graph.labels import quoted

if TYPE_CHECKING:
    from bayescout.arrays import Bools, Floats, Ints

READER_BYTES = 1 << 30
"""Memory of the process that reads a file for a worker, at most."""


class Wide(NamedTuple):
    """What is known of numbers that are too many to list."""

    missing: int
    decimals: bool
    low: float
    high: float


class ColumnFacts(NamedTuple):
    """What a worker says of one column of a partition.

    values  in order of their provisional codes; of numbers, the distinct ones, ascending, NaN last
    counts  how many rows have each
    states  if its own type lists them
    numbers True if its cells are floats; `wide` if they are too many to list
    """

    values: list[Any]
    counts: Ints
    states: Any
    numbers: bool
    wide: Wide | None
    durations: bool
    abandoned: bool


class Facts(NamedTuple):
    """What a worker says of one partition.

    types   of its columns, to be compared with those of others
    digest  tells its cells from others
    """

    rows: int
    columns: list[ColumnFacts]
    types: dict[str, str]
    digest: bytes


@dataclass(frozen=True)
class Cells:
    """The provisional codes, or the floats, of each column of one partition; they stay on its worker."""

    columns: list[NDArray[Any]]
    facts: Facts


class Block(NamedTuple):
    """The final cells of some rows: (discrete columns, rows) codes and (continuous columns, rows) values."""

    codes: NDArray[Any]
    values: Floats

    @property
    def rows(self) -> int:
        return int(self.codes.shape[1])

    def of(self, numbers: bool) -> NDArray[Any]:
        return self.values if numbers else self.codes


class Asked(NamedTuple):
    """The columns of a partition that are read, and what the user declared of them.

    floats  columns that are floats in other partitions, and so are here
    """

    names: Sequence[Label]
    kinds: dict[Any, Any]
    states: dict[Any, Any]
    chosen: bool
    floats: frozenset[Any] = frozenset()


def encoded(source: Any, number: int, asked: Asked) -> Cells:
    """The cells of one partition: a frame, or the path of a file."""
    try:
        return _encoded(source, asked)
    except DataError as error:  # rows are counted within the partition
        where = source if isinstance(source, Path) else f"partition {number} (counting from 0)"
        raise DataError(f"{where}: {error}") from None


def _encoded(source: Any, asked: Asked) -> Cells:
    columns = [Column(name, asked.kinds.get(name), asked.states.get(name)) for name in asked.names]
    for column in columns:
        column.chosen = asked.chosen
    if isinstance(source, Path):
        types = read_file(source, columns, asked.floats)
    else:
        types = _read_frame(source, columns, asked.floats)
    arrays, facts = [], []
    for column in columns:
        settle_times(column)
        array = _array_of(column)
        arrays.append(array)
        facts.append(_facts_of(column, array))
    return Cells(arrays, Facts(columns[0].n_rows, facts, types, _digest_of(arrays, facts)))


def _digest_of(arrays: Sequence[NDArray[Any]], facts: Sequence[ColumnFacts]) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for array, own in zip(arrays, facts, strict=True):
        digest.update(f"{array.dtype}{len(array)}{own.values!r}{own.states!r};".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.digest()


def read_file(path: Path, columns: Sequence[Column], floats: frozenset[Any]) -> dict[str, str]:
    """Add the cells of a file to the columns; the types of all its columns."""
    with Files([path], READER_BYTES, may_be_empty=True).opened() as files:
        files.floats |= set(floats)
        missing = [column.name for column in columns if column.name not in files.types]
        if not missing:
            for unit in files.units(range(len(columns))):
                for _ in files.read(unit, [columns[place] for place in unit.columns]):
                    pass
        return dict(files.types)


def _read_frame(frame: Any, columns: Sequence[Column], floats: frozenset[Any]) -> dict[str, str]:
    """Add the cells of a frame to the columns; whether they are whole numbers or floats."""
    missing = [column.name for column in columns if column.name not in frame.columns]
    if missing:
        raise DataError(
            f"has no column {quoted(missing)}, which others have: give all partitions the same columns"
        )
    types: dict[str, str] = {}
    for column in columns:
        cells = frame[column.name]
        kind = getattr(getattr(cells, "dtype", None), "kind", "O")
        types[str(column.name)] = {"i": "Int", "u": "Int", "f": "Float"}.get(kind, "")
        add_source(column, _as_floats(cells) if column.name in floats else cells)
    return types


def _as_floats(cells: Any) -> Any:
    """Whole numbers as floats; missing ones, which have a mark of their own in some types, as NaN."""
    return cells.to_numpy(dtype="float64", na_value=np.nan)


def _array_of(column: Column) -> NDArray[Any]:
    kept = column.chunks if column.floats is None else column.floats
    dtype = code_type(len(column.values)) if column.floats is None else np.float64
    return np.concatenate([*kept, np.empty(0, dtype=dtype)])


def _facts_of(column: Column, array: NDArray[Any]) -> ColumnFacts:
    states = column.states if column.origin == CATEGORICAL else None
    values, wide = list(column.values), None
    if column.floats is None:
        counts = np.bincount(array.astype(np.int64), minlength=len(values))
    else:
        present = Present([array])
        distinct = present.distinct(DISTINCT)
        if distinct is None:
            low, high = present.limits()
            missing = len(array) - present.rows
            values, wide = [], Wide(missing, present.have_decimals(), low, high)
            counts = np.empty(0, dtype=np.int64)
        else:
            values = [*distinct.tolist(), *([np.nan] if present.rows < len(array) else [])]
            counts = np.bincount(places_of(values, array), minlength=len(values))
    return ColumnFacts(
        values, counts, states, column.floats is not None, wide, column.durations, column.abandoned
    )


def places_of(values: Sequence[float], array: Floats) -> Ints:
    """The place of each number among the distinct ones, of which NaN is the last."""
    return np.searchsorted(np.array(values, dtype=np.float64), array)


def facts_of(cells: Cells) -> Facts:
    return cells.facts


def numbering_of(cells: Cells, place: int, lookup: Floats | None, begin: float) -> NDArray[np.uint64]:
    """The sum of marks of a column's numbers, less that of as many consecutive ones from `begin` on."""
    own = cells.columns[place] if lookup is None else lookup[cells.columns[place]]
    own = own[~np.isnan(own)]
    return np.asarray([_marks(own).sum() - _marks(begin + np.arange(len(own), dtype=np.float64)).sum()])


def _marks(whole: Floats) -> NDArray[np.uint64]:
    """A number of 64 bits for each, which tell one sum of them from another."""
    x = whole.astype(np.int64).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


# ---- rows that are left out


class Complete(NamedTuple):
    """The rows of a partition without missing cells, which stay on its worker."""

    mask: Bools
    counts: list[Ints]


def complete(cells: Cells, gone: Sequence[tuple[int, Ints]]) -> Complete:
    """The rows that have all cells: of some columns with the codes that mean missing there."""
    mask = np.ones(cells.facts.rows, dtype=bool)
    for place, codes in gone:
        own = cells.columns[place]
        mask &= ~np.isnan(own) if own.dtype == np.float64 else ~np.isin(own, codes)
    counts = []
    for own, facts in zip(cells.columns, cells.facts.columns, strict=True):
        if facts.abandoned or facts.wide is not None:
            counts.append(np.empty(0, dtype=np.int64))
            continue
        codes = places_of(facts.values, own[mask]) if facts.numbers else own[mask].astype(np.int64)
        counts.append(np.bincount(codes, minlength=len(facts.values)))
    return Complete(mask, counts)


def counts_of(found: Complete) -> tuple[int, list[Ints]]:
    return int(found.mask.sum()), found.counts


# ---- the final cells


class Finish(NamedTuple):
    """How one column becomes final: what each provisional code means; None for floats that stay."""

    place: int
    numbers: bool
    lookup: NDArray[Any] | None


def finished(
    cells: Cells, found: Complete | None, columns: Sequence[Finish], dtype: str, number: int, digest: bytes
) -> Block:
    """The final cells of one partition, which are still those of which `digest` was said."""
    if cells.facts.digest != digest:
        raise DataError(
            f"partition {number} (counting from 0) had other rows when it was read again, as after the loss "
            f"of a worker: what it is read from has changed, or is drawn at random; write it to files, or "
            f"persist it"
        )
    rows = cells.facts.rows if found is None else int(found.mask.sum())
    discrete = sum(not column.numbers for column in columns)
    block = Block(np.empty((discrete, rows), dtype=dtype), np.empty((len(columns) - discrete, rows)))
    places = [0, 0]
    for column in columns:
        own = cells.columns[column.place]
        own = own if found is None else own[found.mask]
        if column.lookup is not None:
            facts = cells.facts.columns[column.place]
            own = places_of(facts.values, own) if facts.numbers else own
            own = column.lookup[own] if len(column.lookup) else own
        block.of(column.numbers)[places[column.numbers]] = own
        places[column.numbers] += 1
    return block


def limits_of(block: Block) -> tuple[Floats, Floats, Ints]:
    """The least and greatest value of each continuous column, and its first row that is not finite, or -1."""
    if not block.rows:
        empty = np.empty(len(block.values))
        return np.full_like(empty, np.inf), np.full_like(empty, -np.inf), np.full(len(empty), -1)
    wrong = ~np.isfinite(block.values)
    first = np.where(wrong.any(axis=1), wrong.argmax(axis=1), -1)
    return block.values.min(axis=1), block.values.max(axis=1), first


def some_rows(block: Block, places: Sequence[int], numbers: bool, begin: int, end: int) -> NDArray[Any]:
    return np.ascontiguousarray(block.of(numbers)[list(places), begin:end])


def taken(block: Block, rows: Ints) -> Block:
    return Block(block.codes[:, rows], block.values[:, rows])


def nth_kept(found: Complete, number: int) -> int:
    """The row of a partition that is the one of this number among those without missing cells."""
    return int(np.flatnonzero(found.mask)[number])


def rows_in(block: Block) -> int:
    return block.rows


def added(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.asarray(np.sum(parts, axis=0))
