"""The store of records: one line of JSON each, appended and never changed.

A record is one write at the end of `records.jsonl`, so complete records survive a kill at any moment; the
file is flushed to disk every `FLUSH_SECONDS`, and a power cut loses what came after the last flush.
A partial line, left by a kill or a full disk, is recognised and cut off when the folder is opened
again. Every record, and the description of the study in `study.json`, carries a digest of its content: a
record that does not match, or is a duplicate, is refused by its line and never becomes part of an outcome.
Only the process that runs the study writes; workers send it their records, and a lock excludes a second one.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec

from bayescout.data.files import atomic_write
from bayescout.errors import FormatError, SettingError
from bayescout.experiments.records import TIMES, Record, Records
from bayescout.experiments.study import Study, canonical, key_of

RECORDS, LOCK, MANIFEST, PARQUET = "records.jsonl", ".lock", "study.json", "records.parquet"
FORMAT, VERSION = "bayescout-study", 2
TEMPORARY = (".bayescout-", ".tmp")
"""Prefix and suffix of files that a kill left half written."""

MOST_LINES = 10
"""Most line numbers named in one error."""

FLUSH_SECONDS = 0.1
"""Interval between flushes: a flush takes milliseconds, and a run may take one millisecond."""

Say = Callable[[str], None]


class Store:
    """The records of a study in a folder, open for reading and appending."""

    def __init__(self, folder: str | os.PathLike[str], study: Study, resume: bool, say: Say) -> None:
        self.folder = Path(folder)
        self.study = study
        self._resume, self._say = resume, say
        self._file = -1
        self._lock = -1
        self._flushed = 0.0
        self.found: dict[str, Record] = {}
        """The last record of every key."""

    def __enter__(self) -> Self:
        check_folder(self.folder, self._resume)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
            _take_lock(self._lock, self.folder)
            self._check_manifest()
            self._file = os.open(self.folder / RECORDS, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            self._read()
        except OSError as error:
            self.__exit__()
            raise FormatError(f"cannot be used: {error.strerror or error}", path=self.folder) from None
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._file >= 0:
            os.fsync(self._file)
        for descriptor in (self._file, self._lock):
            if descriptor >= 0:
                os.close(descriptor)
        self._file = self._lock = -1

    def append(self, record: Record) -> None:
        """Append a record to the file."""
        line = (canonical(sealed(record.to_json())) + "\n").encode()
        before = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, line)
            if written < len(line):
                raise OSError("the disk is full")
            if time.monotonic() - self._flushed > FLUSH_SECONDS:
                os.fsync(self._file)
                self._flushed = time.monotonic()
        except OSError as error:
            os.ftruncate(self._file, before)
            raise FormatError(
                f"a record cannot be written: {error.strerror or error}; make room and go on with --resume",
                path=self.folder / RECORDS,
            ) from None
        self.found[record.key] = record

    def _check_manifest(self) -> None:
        """Refuse a folder of another study; write the description of this one."""
        saved = read_manifest(self.folder)
        if saved is not None and saved["study"] != self.study.name:
            raise SettingError(
                f"{self.folder} holds the study {saved['study']!r}, not {self.study.name!r}; "
                f"choose another folder"
            )
        manifest = manifest_of(self.study)
        if saved != manifest:
            with atomic_write(self.folder / MANIFEST, text=True) as stream:
                stream.write(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")

    def _read(self) -> None:
        """Read all records; cut off a partial last line."""
        self.found, whole = read_records(self.folder / RECORDS, self.study.name)
        if whole < os.fstat(self._file).st_size:
            self._say(f"{RECORDS}: the last record was cut short; its run is done again")
            os.ftruncate(self._file, whole)


# ---- contents of a folder


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content with its digest, which reveals a later change."""
    return {**content, "digest": _digest(content)}


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.blake2b(canonical(content).encode(), digest_size=10).hexdigest()


def _unsealed(text: bytes) -> dict[str, Any] | None:
    """The content sealed in a JSON text, or None if it was changed."""
    try:
        content = json.loads(text)
        return content if isinstance(content, dict) and content.pop("digest") == _digest(content) else None
    except (ValueError, KeyError, RecursionError):
        return None


def parse(line: bytes) -> Record | None:
    """The record of a line, or None if it is not a complete, unchanged record."""
    content = _unsealed(line)
    if content is None or content.keys() != Record.__dataclass_fields__.keys():
        return None
    try:
        record = msgspec.convert(content, Record)
    except msgspec.ValidationError:
        return None
    return record if record.key == key_of(record.study, record.run) else None


def read_records(path: Path, study: str) -> tuple[dict[str, Record], int]:
    """The last record of every key, and the length of the file without a partial last line."""
    content = path.read_bytes() if path.exists() else b""
    whole = content.rfind(b"\n") + 1
    lines = [parse(line) for line in content[:whole].split(b"\n")[:-1]]
    _refuse_damaged([number for number, record in enumerate(lines, 1) if record is None], path)
    found: dict[str, Record] = {}
    places: dict[str, int] = {}
    for number, record in enumerate(lines, 1):
        assert record is not None
        if record.study != study:
            raise FormatError(
                f"is a record of the study {record.study!r}, not of {study!r}; delete the line, or choose "
                f"another folder with --out",
                path,
                number,
            )
        if record.key in found and not found[record.key].failed:  # a failed run may be done again
            raise FormatError(
                f"is a second record of the run of line {places[record.key]}; delete one of the two lines",
                path,
                number,
            )
        found[record.key], places[record.key] = record, number
    return found, whole


def _refuse_damaged(numbers: Sequence[int], path: Path) -> None:
    if not numbers:
        return
    others = ", ".join(map(str, numbers[1:MOST_LINES])) + (", ..." if len(numbers) > MOST_LINES else "")
    also = f", nor are {len(numbers) - 1:,} more lines ({others})" if others else ""
    what = "these lines" if others else "the line"
    raise FormatError(
        f"is not a record as it was written{also}; delete {what}, and --resume does what is missing again",
        path,
        numbers[0],
    )


def check_folder(folder: Path, resume: bool) -> None:
    """Raise unless the study begins in an empty folder or continues in its own."""
    if folder.exists() and not folder.is_dir():
        raise SettingError(f"{folder} is a file; give a folder with --out")
    used = folder.is_dir() and any(not _is_leftover(path.name) for path in folder.iterdir())
    if used and not resume:
        raise SettingError(f"{folder} is not empty; go on with --resume, or choose another folder with --out")
    if used and not holds_study(folder):
        raise SettingError(f"{folder} holds no study; choose another folder with --out")


def holds_study(folder: Path) -> bool:
    """Return True if there is a study to continue: its description or its records are enough."""
    return (folder / MANIFEST).exists() or (folder / RECORDS).exists()


def _is_leftover(name: str) -> bool:
    """Return True for a file that a killed study may leave before the folder has any record."""
    begin, end = TEMPORARY
    return name == LOCK or (name.startswith(begin) and name.endswith(end))


def manifest_of(study: Study) -> dict[str, Any]:
    """The description of a study that is kept in its folder."""
    content = {"format": FORMAT, "version": VERSION, "study": study.name, "settings": study.settings()}
    return sealed(content)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The description of the study in a folder, or None if there is none."""
    path = folder / MANIFEST
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror or error}; choose another folder", path) from None
    content = _unsealed(text)
    if content is None:
        raise FormatError(
            "is damaged, or of an earlier version of bayescout; choose another folder with --out, or delete "
            "it and go on with --resume and the options that the study was begun with",
            path,
        )
    if (content.get("format"), content.get("version")) != (FORMAT, VERSION):
        raise FormatError("is of another version of bayescout; choose another folder with --out", path)
    return sealed(content)


def _take_lock(descriptor: int, folder: Path) -> None:
    """Keep other processes out until this one ends, however it ends."""
    try:
        try:
            import fcntl
        except ImportError:  # not available on Windows
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            # Not flock: a forked worker would inherit that lock, and hold it after its parent was killed.
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise SettingError(
            f"another process is running the study in {folder}; wait for it, or choose "
            f"another folder with --out"
        ) from None


# ---- export


def export_parquet(records: Records, path: Path) -> None:
    """Write the records as a table: one column per declared or measured value, lists as JSON text."""
    import polars as pl

    rows = [_flat(record) for record in records]
    names = list(dict.fromkeys(name for row in rows for name in row))
    frame = pl.DataFrame({name: _column([row.get(name) for row in rows]) for name in names})
    with atomic_write(path) as stream:
        frame.write_parquet(stream)


def _flat(record: Record) -> dict[str, Any]:
    first = {"key": record.key, "study": record.study, "reason": record.reason}
    times = {name: getattr(record, name) for name in TIMES}
    declared = {f"run.{name}": value for name, value in record.run.items()}
    versions = {f"version.{name}": value for name, value in record.versions.items()}
    return first | declared | dict(record.measures) | times | versions


def _column(values: Sequence[Any]) -> list[Any]:
    """Values of one simple type unchanged, whole numbers among floats as floats, all others as JSON text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    if len(kinds) <= 1 and kinds <= {str, int, float, bool}:
        return list(values)
    return [None if value is None else canonical(value) for value in values]
