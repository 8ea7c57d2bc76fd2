"""What tables past memory come from: files, lazy frames, queries and datasets, as pieces of columns."""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from bayescout.checks import first_repeated
from bayescout.data.cells import add_source
from bayescout.data.columns import Column
from bayescout.data.past.files import check_same, reading_files
from bayescout.data.pieces import is_exact, polars_piece
from bayescout.data.seal import Seal, read_seal
from bayescout.errors import DataError, FormatError, MissingExtraError, warn
from bayescout.graph.labels import quoted

COLUMNAR = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
COLUMNS_AT_ONCE = 4
BATCH_ROWS = 1 << 16

DELTA_LOG = "_delta_log"
"""The folder by which a Delta table is known."""

READER_SHARE = 0.5
"""The reader's part of the memory that may be taken."""


class Unit(NamedTuple):
    """A piece of work: some columns of one file, or everything of a source that is read in one go."""

    part: int
    columns: tuple[int, ...]


class Source(Protocol):
    """Rows that can be read in pieces.

    types     the type of each column by its name
    rows      how many there are
    key       tells these rows from others, if they can be read from any unit on; None if not
    cell      bytes that a cell takes while the whole is read into memory
    """

    types: dict[Any, str]
    rows: int
    cell: int

    @property
    def key(self) -> str | None: ...

    def seal(self) -> Seal | None:
        """What our own files say of their columns."""

    def units(self, places: Sequence[int]) -> list[Unit]:
        """The pieces of work, in order, for the columns that are read."""

    def read(self, unit: Unit, columns: Sequence[Column]) -> Iterator[int]:
        """Add the cells of one unit to the columns; yields the rows of each batch."""


# ---- files


def paths_of(data: Any) -> list[Path] | None:
    """The files of a pattern, a folder or a list of paths, in order; None for anything else."""
    if isinstance(data, list | tuple) and data and all(isinstance(one, str | os.PathLike) for one in data):
        return [Path(one) for one in data]
    if not isinstance(data, str | os.PathLike):
        return None
    text = os.fspath(data)
    if os.path.isdir(text):
        found = [path for path in _columnar_in(text) if not _is_aside(path, text)]
        if not found:
            raise FormatError(f"is a folder without files of these kinds: {', '.join(COLUMNAR)}", path=text)
        return found
    if os.path.exists(text) or not glob.has_magic(text):
        return None
    found = [Path(one) for one in sorted(glob.glob(text, recursive=True)) if os.path.isfile(one)]
    if not found:
        brackets = "; [ stands for itself as [[]" if "[" in text else ""
        raise FormatError(
            f"no file has a name of this pattern; check the folder and the ending{brackets}", path=text
        )
    return found


def one_file(data: Any) -> list[Path] | None:
    """A single Parquet or Arrow file, as a list; None for anything else."""
    if not isinstance(data, str | os.PathLike):
        return None
    path = Path(data)
    return [path] if path.suffix.lower() in COLUMNAR and path.is_file() else None


def _columnar_in(folder: str | Path) -> list[Path]:
    return [p for p in sorted(Path(folder).rglob("*")) if p.suffix.lower() in COLUMNAR and p.is_file()]


def _is_aside(path: Path, folder: str | Path) -> bool:
    """Return True for what tools put beside the rows of a folder: names that begin with . or _."""
    return any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)


def tell_of_folders(data: Any, paths: Sequence[Path]) -> None:
    """Refuse files of which some may be out of date, and warn of what of a folder is not read."""
    if isinstance(data, str | os.PathLike):
        folder = Path(data)
        for one in sorted({folder, *(path.parent for path in paths)}):
            if (one / DELTA_LOG).is_dir():
                raise FormatError(
                    "is a Delta table, the files of which may hold rows that were deleted or replaced: give "
                    "polars.scan_delta(...) of it, or the list of the files that count",
                    path=one,
                )
        aside = sum(_is_aside(path, folder) for path in _columnar_in(folder)) if folder.is_dir() else 0
        if aside:
            warn(
                f"{folder}: {aside:,} of its files are left out, since names of files or folders that begin "
                f"with . or _ are not of the table; give a list of paths to read them too"
            )
    pairs = [dict(part.split("=", 1) for part in path.parent.parts if "=" in part) for path in paths]
    names = sorted({name for own in pairs for name in own})
    differ = [name for name in names if len({own.get(name) for own in pairs}) > 1]
    if differ:
        warn(
            f"folders are named by {quoted(differ)}, as {paths[0].parent} is, and that is not read as a "
            f"column: give polars.scan_parquet(..., hive_partitioning=True) to have it"
        )


class Files:
    """Files of one table, read by a child process, a few columns of a file at a time."""

    types: dict[Any, str]
    rows: int
    cell: int = 0
    floats: set[Any]

    def __init__(self, paths: Sequence[Path], most: int, may_be_empty: bool = False) -> None:
        for path in paths:
            if path.suffix.lower() not in COLUMNAR:
                raise FormatError(
                    f"several files are read as one table if they are {', '.join(COLUMNAR)}: write text as "
                    f"Parquet, with bayescout.write_table or polars",
                    path=path,
                )
            if not path.is_file():
                raise FormatError("there is no such file", path=path)
        self.paths = list(paths)
        self._most, self._may_be_empty = most, may_be_empty
        self._reader: Any = None
        self._marks: list[tuple[int, int]] = []

    @contextmanager
    def opened(self) -> Iterator[Files]:
        """Start the reader, and look at every file before any is read."""
        with reading_files(self._most) as reader:
            self._reader = reader
            self._marks = [_marks_of(path) for path in self.paths]
            described = [reader.describe(path) for path in self.paths]
            self.types, _ = described[0]
            self.heights = [rows for _, rows in described]
            self.rows = sum(self.heights)
            for path, (types, _) in zip(self.paths, described, strict=True):
                check_same(self.paths[0], self.types, path, types)
            self.floats = partly_floats([types for types, _ in described])
            self._refuse_empty()
            yield self

    def _refuse_empty(self) -> None:
        if not self.types:
            raise FormatError("has no columns", path=self.paths[0])
        if not self.rows and not self._may_be_empty:
            raise FormatError("has no rows; at least one row is needed", path=self.paths[0])

    @property
    def key(self) -> str:
        stats = [(str(path.absolute()), *_marks_of(path)) for path in self.paths]
        return hashlib.sha256(json.dumps([stats, list(self.types.items())]).encode()).hexdigest()[:24]

    def seal(self) -> Seal | None:
        """What all files of our own say; a damaged one is refused. A kind that some deny is not said."""
        found = [read_seal(path) for path in self.paths]
        if any(one is None for one in found):
            return None
        told = [one for one in found if one is not None]
        discrete = set.intersection(*(set(one.discrete) for one in told))
        continuous = set.intersection(*(set(one.continuous) for one in told))
        return Seal(tuple(sorted(discrete)), tuple(sorted(continuous)))

    def units(self, places: Sequence[int]) -> list[Unit]:
        groups = [tuple(places[i : i + COLUMNS_AT_ONCE]) for i in range(0, len(places), COLUMNS_AT_ONCE)]
        return [Unit(part, group) for part in range(len(self.paths)) for group in groups]

    def read(self, unit: Unit, columns: Sequence[Column]) -> Iterator[int]:
        if not self.heights[unit.part]:
            return
        path = self.paths[unit.part]
        used = [column for column in columns if not column.abandoned]
        for column in columns:
            if column.abandoned:
                column.pass_over(self.heights[unit.part])
        names = [str(column.name) for column in used]
        floats = [name for name in names if name in self.floats]
        exact = [is_exact(column) for column in used]
        for pieces in self._reader.batches(path, names, exact, floats) if used else ():
            rows = used[0].n_rows
            for column, piece in zip(used, pieces, strict=True):
                piece.add_to(column)
            yield used[0].n_rows - rows
        if _marks_of(path) != self._marks[unit.part]:
            raise FormatError(
                "was changed while it was read, and columns of two states of a file are no table: read it "
                "again once it stays as it is",
                path=path,
            )


def partly_floats(described: Sequence[dict[Any, str]]) -> set[Any]:
    """The columns that are floats in some files and whole numbers in others: they are floats in all."""
    kinds: dict[Any, set[str]] = {name: {types[name][:5] for types in described} for name in described[0]}
    return {name for name, own in kinds.items() if "Float" in own and len(own) > 1}


def _marks_of(path: Path) -> tuple[int, int]:
    """The size and the time of change of a file, which tell its states apart."""
    try:
        found = path.stat()
    except OSError:
        return -1, -1  # gone; a file that is read after that is said not to be there
    return found.st_size, found.st_mtime_ns


# ---- frames, queries and datasets, which are read in one go


class Batches:
    """Rows that come as frames of some rows each: a lazy frame, a query of DuckDB, or an Arrow dataset."""

    key: str | None = None
    cell: int = 24

    def __init__(self, data: Any) -> None:
        self.data = data
        schema = list(self._schema())
        twice = first_repeated([name for name, _ in schema])
        if twice is not None:
            raise DataError(
                f"column name {schema[twice][0]!r} occurs more than once; rename one of the columns"
            )
        self.types: dict[Any, str] = dict(schema)
        self.rows = self._count()

    @contextmanager
    def opened(self) -> Iterator[Batches]:
        yield self

    def seal(self) -> Seal | None:
        return None

    def units(self, places: Sequence[int]) -> list[Unit]:
        return [Unit(0, tuple(places))]

    def read(self, unit: Unit, columns: Sequence[Column]) -> Iterator[int]:
        names = [column.name for column in columns]
        with closing(self._frames(names)) as frames:
            for frame in frames:
                for column in columns:
                    _add(column, frame[column.name])
                yield len(frame)

    def whole(self) -> Any:
        """All rows as a frame in memory."""
        raise NotImplementedError

    def _schema(self) -> Iterator[tuple[Any, str]]:
        raise NotImplementedError

    def _count(self) -> int:
        raise NotImplementedError

    def _frames(self, names: Sequence[Any]) -> Any:
        raise NotImplementedError


class LazyRows(Batches):
    """A lazy frame of polars."""

    def _schema(self) -> Iterator[tuple[Any, str]]:
        return ((name, str(kind)) for name, kind in self.data.collect_schema().items())

    def _count(self) -> int:
        import polars as pl

        return int(self.data.select(pl.len()).collect(engine="streaming").item())

    def _frames(self, names: Sequence[Any]) -> Iterator[Any]:
        yield from self.data.select(names).collect_batches(
            chunk_size=BATCH_ROWS, maintain_order=True, lazy=True
        )

    def whole(self) -> Any:
        return self.data.collect()


class DuckRows(Batches):
    """A relation of DuckDB: a table, a view or a query."""

    def _schema(self) -> Iterator[tuple[Any, str]]:
        return ((n, str(t)) for n, t in zip(self.data.columns, self.data.types, strict=True))

    def _count(self) -> int:
        return int(self.data.aggregate("count(*) as n").fetchall()[0][0])

    def _frames(self, names: Sequence[Any]) -> Iterator[Any]:
        quoted = ", ".join('"' + str(name).replace('"', '""') + '"' for name in names)
        reader = self.data.project(quoted)
        fetch = getattr(reader, "to_arrow_reader", None) or reader.fetch_arrow_reader
        for batch in fetch(BATCH_ROWS):
            yield _ArrowFrame(batch)

    def whole(self) -> Any:
        fetch = getattr(self.data, "to_arrow_table", None) or self.data.fetch_arrow_table
        return fetch()


class DatasetRows(Batches):
    """An Arrow dataset."""

    def _schema(self) -> Iterator[tuple[Any, str]]:
        return ((field.name, str(field.type)) for field in self.data.schema)

    def _count(self) -> int:
        return int(self.data.count_rows())

    def _frames(self, names: Sequence[Any]) -> Iterator[Any]:
        batches = self.data.to_batches(
            columns=list(names), batch_size=BATCH_ROWS, batch_readahead=1, fragment_readahead=1
        )
        return (_ArrowFrame(batch) for batch in batches)

    def whole(self) -> Any:
        return self.data.to_table()


def _add(column: Column, cells: Any) -> None:
    """Add the cells of one batch; times are settled once all are known, not batch by batch."""
    import polars as pl

    if not isinstance(cells, pl.Series):
        import pyarrow.types as kinds

        if not kinds.is_temporal(cells.type) or kinds.is_interval(cells.type):
            add_source(column, cells)
            return
        cells = pl.Series(pl.from_arrow(cells))
    known = [value for value in column.values if isinstance(value, str)]
    polars_piece(cells, is_exact(column), known).add_to(column)


class _ArrowFrame:
    """A batch of Arrow, whose columns are found by name."""

    def __init__(self, batch: Any) -> None:
        self.batch = batch

    def __getitem__(self, name: Any) -> Any:
        return self.batch.column(self.batch.schema.get_field_index(name))

    def __len__(self) -> int:
        return int(self.batch.num_rows)


def batches_in(data: Any) -> Batches | None:
    """Rows that are read in batches; None for data of any other kind."""
    module = type(data).__module__.split(".")[0]
    name = type(data).__name__
    if module == "polars" and name == "LazyFrame":
        return LazyRows(data)
    if module in ("duckdb", "_duckdb") and name == "DuckDBPyRelation":
        _require_pyarrow()
        return DuckRows(data)
    if module == "pyarrow" and all(hasattr(data, own) for own in ("to_batches", "count_rows", "schema")):
        return DatasetRows(data)
    return None


def _require_pyarrow() -> None:
    from importlib.util import find_spec

    if find_spec("pyarrow") is None:
        raise MissingExtraError("pyarrow", "duckdb")
