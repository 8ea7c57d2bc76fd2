"""Write files so that a reader sees the old file or the whole new one, never a part."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

from bayescout.errors import FormatError

BEGIN, END = ".bayescout-", ".tmp"
"""Prefix and suffix of the names of temporary files."""

REPLACES_OPEN_FILES = os.name != "nt"
"""False on Windows, which neither replaces nor deletes a file that is open."""

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
"""What the system says of a full disk, and of a share of it that is used up."""

FAR = 2**31 - 2
"""Position of the byte locked on Windows: a locked byte cannot be read, so it is beyond the content."""


@contextmanager
def atomic_write(path: str | os.PathLike[str], text: bool = False, durable: bool = True) -> Iterator[IO[Any]]:
    """Give a stream whose content becomes the file at `path` when the block ends without an error.

    The content goes to a temporary file in the same folder, is flushed to the disk, and
    takes the place of `path` in one step; when the block raises, nothing is left behind and an
    old file stays as it was. Text is UTF-8 with "\\n" line ends. A link is followed; a
    device or pipe such as /dev/stdout is written directly, since it cannot be replaced.
    An old file's permissions are kept, and one that is read-only is refused. Without `durable` there is
    no wait for the disk: the file then survives the killing of the process, but not always a power cut.

    A killed process leaves its temporary file; the next process that writes to the folder removes it.
    A temporary file is locked until it is renamed, which distinguishes one in use from one left behind.
    """
    target = Path(os.path.realpath(path))
    mode = _mode_of(target, path)
    if mode is not None and not stat.S_ISREG(mode):
        with _refusing(path), _open(target, text) as stream:
            yield stream
        return
    with _refusing(path), _temporary(target.parent) as (temporary, descriptor):
        with _open(temporary, text, descriptor) as stream:
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
            yield stream
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        os.replace(temporary, target)


def check_regular(path: str | os.PathLike[str]) -> Path:
    """The file that `path` resolves to; raises unless it can be written or created."""
    target = Path(os.path.realpath(path))
    mode = _mode_of(target, path)
    if mode is not None and not stat.S_ISREG(mode):
        raise FormatError("cannot be used: it is a device or a pipe; give the name of a file", path=path)
    return target


def lock(descriptor: int) -> None:
    """Lock an open file for this process until the file is closed or the process ends in any way.

    Raises BlockingIOError if another process has it, and another OSError if the file system has no locks.
    """
    try:
        import fcntl
    except ImportError:  # not there on Windows
        import msvcrt

        place = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError as error:
            raise BlockingIOError(*error.args) from None
        finally:
            os.lseek(descriptor, place, os.SEEK_SET)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_at(descriptor: int, path: str | os.PathLike[str]) -> bool:
    """Return True if the open file is the one at `path`, which may have been replaced or removed since."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


# ---- temporary files


@contextmanager
def _temporary(folder: Path) -> Iterator[tuple[Path, int]]:
    """Give a new locked file and its descriptor, which the block closes; removed if the block raises."""
    _remove_abandoned(str(folder))
    path, descriptor = _locked(folder)
    held = os.dup(descriptor) if REPLACES_OPEN_FILES else -1  # the lock outlasts the stream
    try:
        yield path, descriptor
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
    finally:
        if held >= 0:
            os.close(held)


def _locked(folder: Path) -> tuple[Path, int]:
    """A new locked file; retried if another process takes it for abandoned before it is locked."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        path = folder / f"{BEGIN}{secrets.token_hex(8)}{END}"
        descriptor = os.open(path, flags, 0o666)
        try:
            if not REPLACES_OPEN_FILES:
                return path, descriptor
            lock(descriptor)
        except BlockingIOError:
            pass
        except OSError:  # without locks nothing is ever taken for abandoned
            return path, descriptor
        else:
            if is_at(descriptor, path):
                return path, descriptor
        os.close(descriptor)


@cache
def _remove_abandoned(folder: str) -> None:
    """Remove the temporary files that killed processes left in a folder; done once per process."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(BEGIN) and entry.name.endswith(END):
                with suppress(OSError):
                    _remove_if_abandoned(entry.path)


def _remove_if_abandoned(path: str) -> None:
    """Remove a file that no running process has locked; raises OSError if one has, or if that is unknown."""
    if not REPLACES_OPEN_FILES:
        os.unlink(path)  # refused while it is open
        return
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    try:
        lock(descriptor)
        os.unlink(path)
    finally:
        os.close(descriptor)


# ---- refusals


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse, before any work, a path that `atomic_write` would refuse later; leaves nothing behind."""
    target = Path(os.path.realpath(path))
    mode = _mode_of(target, path)
    if mode is not None and not stat.S_ISREG(mode):
        if not os.access(target, os.W_OK):
            raise FormatError("cannot be written: permission denied; choose another name", path=path)
        return
    with _refusing(path), _temporary(target.parent) as (probe, descriptor):
        with _open(probe, text=False, descriptor=descriptor) as stream:
            stream.write(b"\n")  # a full disk may take a new name, but not this byte
        probe.unlink()


def refusal(error: OSError, path: object = None) -> FormatError:
    """The error for a file that the system did not let us write; of a full disk with the way out."""
    path = error.filename if path is None else path
    way_out = "; make room on the disk" if error.errno in NO_ROOM else ""
    if way_out and path is not None:
        way_out += f" of {os.path.dirname(os.path.realpath(str(path)))}"
    return FormatError(f"cannot be written: {error.strerror or error}{way_out}", path=path)


def _mode_of(target: Path, shown: object) -> int | None:
    """The mode bits of the file at `target`, or None if there is none yet."""
    if not target.name or not target.parent.is_dir():
        folder = repr(str(target.parent))
        raise FormatError(
            f"cannot be written: the folder {folder} does not exist; make the folder", path=shown
        )
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror}", path=shown) from None
    if stat.S_ISDIR(mode):
        raise FormatError("cannot be written: it is a folder; give the name of a file", path=shown)
    # The mode bits too: the superuser may write anything, but a file marked read-only is meant to stay.
    if stat.S_ISREG(mode) and not (mode & 0o222 and os.access(target, os.W_OK)):
        raise FormatError("cannot be written: it is read-only; choose another name", path=shown)
    return mode


def _open(path: Path, text: bool, descriptor: int | None = None) -> IO[Any]:
    """Open the file at `path` for writing, through its descriptor if it is open already."""
    opener = None if descriptor is None else lambda *_: descriptor
    if text:
        return open(path, "w", encoding="utf-8", newline="\n", opener=opener)
    return open(path, "wb", opener=opener)


@contextmanager
def _refusing(path: object) -> Iterator[None]:
    """Turn errors of the operating system and the encoder into one clear line.

    BrokenPipeError, raised when a pipe's reader goes away, is not a mistake and passes unchanged.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise refusal(error, path) from error
    except UnicodeEncodeError as error:
        piece = error.object[error.start : error.end]
        raise FormatError(
            f"cannot be written as UTF-8: the text {piece!r} is not valid", path=path
        ) from error
