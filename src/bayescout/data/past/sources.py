"""What tables past memory come from, as pieces of columns; files, and which of them a path means."""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from bayescout.data.columns import Column
from bayescout.data.past.files import check_same, reading_files
from bayescout.data.pieces import is_exact
from bayescout.data.seal import Seal, read_seal
from bayescout.errors import FormatError, warn
from bayescout.graph.labels import quoted

COLUMNAR = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
COLUMNS_AT_ONCE = 4

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

    key       tells these rows from others, if they can be read from any unit on; None if not
    cell      bytes that a cell takes while the whole is read into memory
    """

    cell: int

    @property
    def types(self) -> dict[Any, str]:
        """The type of each column by its name."""

    @property
    def rows(self) -> int:
        """How many rows there are."""

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


def refuse_repeated(paths: Sequence[Path]) -> None:
    """Refuse a file that is there twice, under one name or two, since its rows would count twice."""
    seen: dict[object, Path] = {}
    for path in paths:
        identity = _identity_of(path)
        if identity in seen:
            other = seen[identity]
            known = "is given twice" if str(path) == str(other) else f"is the same file as {other}"
            raise FormatError(
                f"{known}, and its rows would count twice: give each file once, or a copy under another name "
                f"if they are meant to",
                path=path,
            )
        seen[identity] = path


def _identity_of(path: Path) -> object:
    """What the names of one file have in common, links included."""
    try:
        found = path.stat()
    except OSError:
        return path.absolute()  # not there, as is said when it is read
    return (found.st_dev, found.st_ino) if found.st_ino else path.resolve()


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
