"""Folders in which rows are kept while they are worked on: locked, measured, and removed afterwards.

A folder belongs to the process that has locked it. It is removed when the last table over it goes, and at
the end of the process at the latest. A killed process leaves its folder, unlocked: the same call takes it
up where it was, and any other call removes it once it is `KEPT_DAYS` old, or at once if it is of no use.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

from bayescout.data.files import is_at, lock
from bayescout.data.past.budget import in_units
from bayescout.errors import TooLargeError

KEPT_DAYS = 2
"""Days for which the folder of a killed process is kept for the same call to go on."""

JOURNAL, LOCK = "journal.json", "lock"

OUR_NAMES = re.compile("run-[0-9a-f]{16}|[0-9a-f]{24}")
"""The names of folders that are made here, and so may be removed."""

RESERVE = 64 << 20
"""Bytes of the disk that are left free."""


class Folder:
    """A locked folder of files; or, in a copy that another process was given, one that is only read.

    keep  True if files are to stay for the same call to go on: the run was interrupted while scanning
    """

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self.keep = False
        self._descriptor = descriptor
        if descriptor is not None:
            self._end = weakref.finalize(self, _remove, path, descriptor, os.getpid())

    def __reduce__(self) -> tuple[Any, ...]:
        return Folder, (self.path, None)

    @property
    def size(self) -> int:
        """The bytes of its files."""
        return _size(self.path)

    def release(self) -> None:
        """Give the folder up: removed, or only unlocked if it is to be kept."""
        if self._descriptor is None:
            return
        if self.keep:
            self._end.detach()
            os.close(self._descriptor)
        else:
            self._end()
        self._descriptor = None


def root() -> Path:
    """Where the folders are: BAYESCOUT_CACHE, or bayescout/rows in the user's folder for caches."""
    own = os.environ.get("BAYESCOUT_CACHE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "bayescout" / "rows"


def opened(key: str | None) -> Folder:
    """The folder of a call by its key, as a killed process left it; or a new one."""
    home = root()
    try:
        home.mkdir(parents=True, exist_ok=True)
        _sweep(home, key)
        found = None if key is None else _locked(home / key)
        while found is None:  # another process has it
            found = _locked(home / f"run-{secrets.token_hex(8)}")
    except OSError as error:
        raise TooLargeError(
            f"{home}: no folder for rows past memory can be made there ({error.strerror or error}): set "
            f"BAYESCOUT_CACHE to another folder"
        ) from error
    return found


def require_room(needed: int, what: str) -> None:
    """Refuse, before any work, what would not fit on the disk."""
    home = root()
    place = next(folder for folder in (home, *home.parents) if folder.is_dir())
    free = shutil.disk_usage(place).free
    if needed + RESERVE > free:
        raise TooLargeError(
            f"{what}, take up to {in_units(needed)} on disk beside {in_units(RESERVE)} that stay free, and "
            f"{home} has {in_units(free)}: make room, or set BAYESCOUT_CACHE to a folder on a larger disk"
        )


def disk_full(path: Path, error: OSError) -> TooLargeError:
    """The error for a write that failed."""
    return TooLargeError(
        f"{path.parent}: rows past memory cannot be written ({error.strerror or error}): make room, or set "
        f"BAYESCOUT_CACHE to a folder on a larger disk; what was written is removed"
    )


def clear() -> int:
    """Remove every folder that no process has locked; the bytes that were freed."""
    home, freed = root(), 0
    if home.is_dir():
        freed = _sweep(home, None, all_of_them=True)
    return freed


def _locked(path: Path) -> Folder | None:
    """The folder, locked; None if another process has it."""
    while True:
        path.mkdir(exist_ok=True)
        try:
            descriptor = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:  # removed in between
            continue
        try:
            lock(descriptor)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError:  # a file system without locks: a folder of one's own is safe
            if path.name.startswith("run-"):
                return Folder(path, descriptor)
            os.close(descriptor)
            return None
        if is_at(descriptor, path / LOCK):
            return Folder(path, descriptor)
        os.close(descriptor)


def _sweep(home: Path, wanted: str | None, all_of_them: bool = False) -> int:
    """Remove the folders of killed processes, but those that a call may still go on with; bytes freed."""
    freed = 0
    for path in sorted(home.iterdir()):
        if path.name == wanted or not OUR_NAMES.fullmatch(path.name) or not path.is_dir():
            continue
        journal = path / JOURNAL
        with suppress(OSError):
            age = time.time() - (journal if journal.exists() else path).stat().st_mtime
            useful = journal.exists() and age < KEPT_DAYS * 86_400
            if useful and not all_of_them:
                continue
            found = _locked(path)
            if found is not None:
                freed += found.size
                found.release()
    return freed


def _size(path: Path) -> int:
    total = 0
    with suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            with suppress(OSError):
                total += entry.stat().st_size
    return total


def _remove(path: Path, descriptor: int, owner: int) -> None:
    if os.getpid() != owner:  # a forked process has a copy of this, and the folder is not its own
        return
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        os.close(descriptor)
