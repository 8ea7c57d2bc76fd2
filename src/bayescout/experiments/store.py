"""Where records are kept: one line of JSON each, appended and never changed.

A record is one write at the end of `records.jsonl`, so what is whole stays whole through a kill at any
moment; the disk is waited for every `FLUSH_SECONDS`, and a power cut loses what came after the last time.
The piece of a line that a kill or a full disk leaves is recognised and cut off when the folder is opened
again. Only the process that runs the study writes, workers send it their records, and a lock keeps a second
one away.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from bayescout.data.files import atomic_write
from bayescout.errors import FormatError, SettingError
from bayescout.experiments.records import TIMES, Record, Records
from bayescout.experiments.study import Study, canonical, key_of

RECORDS, LOCK, MANIFEST, PARQUET = "records.jsonl", ".lock", "study.json", "records.parquet"
FORMAT, VERSION = "bayescout-study", 1
FLUSH_SECONDS = 0.1
"""Waiting for the disk takes milliseconds, and a run may take one."""

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
        """Keep a record for good."""
        line = (canonical(record.to_json()) + "\n").encode()
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
        """Refuse a folder of another study; note what this one is."""
        saved = read_manifest(self.folder)
        if saved is not None and saved["study"] != self.study.name:
            raise SettingError(
                f"{self.folder} holds the study {saved['study']!r}, not {self.study.name!r}; "
                f"choose another folder"
            )
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "study": self.study.name,
            "settings": self.study.settings(),
        }
        if saved != manifest:
            with atomic_write(self.folder / MANIFEST, text=True) as stream:
                stream.write(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")

    def _read(self) -> None:
        """All whole records; a torn end is cut off, and a line that is no record is left out."""
        with open(self.folder / RECORDS, "rb") as stream:
            content = stream.read()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            self._say(f"{RECORDS}: the last record was cut short; its run is done again")
            os.ftruncate(self._file, whole)
        for number, line in enumerate(content[:whole].split(b"\n")[:-1], start=1):
            record = parse(line)
            if record is None or record.study != self.study.name:
                self._say(f"{RECORDS}, line {number}: not a record of this study; it is left out")
            else:
                self.found[record.key] = record


def parse(line: bytes) -> Record | None:
    """The record of a line, or None where it is not one, whole and unchanged."""
    try:
        record = Record(**json.loads(line))
        whole = record.key == key_of(record.study, record.run)
    except (ValueError, TypeError, RecursionError):
        return None
    return record if whole else None


def check_folder(folder: Path, resume: bool) -> None:
    """A study begins in an empty folder and goes on in its own."""
    if folder.exists() and not folder.is_dir():
        raise SettingError(f"{folder} is a file; give a folder with --out")
    used = folder.is_dir() and any(path.name != LOCK for path in folder.iterdir())
    if used and not resume:
        raise SettingError(f"{folder} is not empty; go on with --resume, or choose another folder with --out")
    if used and not (folder / MANIFEST).exists():
        raise SettingError(f"{folder} holds no study; choose another folder with --out")


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """What study a folder holds, or None where there is none."""
    path = folder / MANIFEST
    try:
        saved: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if saved["format"] != FORMAT or saved["version"] != VERSION or not saved["settings"].items:
            raise ValueError
        str.strip(saved["study"])
        return saved
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        raise FormatError(
            "is not a study of this version of bayescout; choose another folder", path
        ) from None


def _take_lock(descriptor: int, folder: Path) -> None:
    """Keep other processes out until this one ends, however it ends."""
    try:
        try:
            import fcntl
        except ImportError:  # not there on Windows
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            # Not flock: a forked worker would inherit that, and hold it after its parent was killed.
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise SettingError(
            f"another process is running the study in {folder}; wait for it, or choose "
            f"another folder with --out"
        ) from None


# ---- export


def export_parquet(records: Records, path: Path) -> None:
    """The records as a table: each declared and measured value a column, lists as JSON text."""
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
    """Values of one simple type as they are, whole numbers among floats as floats, all else as JSON text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    if len(kinds) <= 1 and kinds <= {str, int, float, bool}:
        return list(values)
    return [None if value is None else canonical(value) for value in values]
