"""Writing files so that a reader sees the old file or the whole new one, never a part."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from bayescout.errors import FormatError


@contextmanager
def atomic_write(path: str | os.PathLike[str], text: bool = False, durable: bool = True) -> Iterator[IO[Any]]:
    """A stream whose content becomes the file at `path` when the block ends well.

    The content goes to a temporary file in the same folder, is flushed to the disk, and
    takes the place of `path` in one step; when the block raises, nothing is left behind and an
    old file stays as it was. Text is UTF-8 with "\\n" line ends. A link is followed; a
    device or pipe such as /dev/stdout is written directly, since it cannot be replaced.
    An old file's permissions are kept, and one that is read-only is refused. Without `durable`
    the disk is not waited for: the file then outlives a killed process, but not always a power cut.
    """
    target = Path(os.path.realpath(path))
    mode = _mode_of(target, path)
    if mode is not None and not stat.S_ISREG(mode):
        with _refusing(path), _open(target, text) as stream:
            yield stream
        return
    temporary = _temporary(target)
    with _refusing(path):
        try:
            with _open(temporary, text, exclusive=True) as stream:
                if mode is not None:
                    os.chmod(temporary, stat.S_IMODE(mode))
                yield stream
                stream.flush()
                if durable:
                    os.fsync(stream.fileno())
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse, before any work, a path that `atomic_write` would refuse after it; nothing is left behind."""
    target = Path(os.path.realpath(path))
    mode = _mode_of(target, path)
    if mode is not None and not stat.S_ISREG(mode):
        if not os.access(target, os.W_OK):
            raise FormatError("cannot be written: permission denied; choose another name", path=path)
        return
    with _refusing(path):
        probe = _temporary(target)
        try:
            with _open(probe, text=False, exclusive=True) as stream:
                stream.write(b"\n")  # a full disk has room for a name, but not for this
        finally:
            with suppress(OSError):
                probe.unlink()


def _temporary(target: Path) -> Path:
    """A name in the folder of the target that no other file has."""
    return target.parent / f".bayescout-{secrets.token_hex(8)}.tmp"


def _mode_of(target: Path, shown: object) -> int | None:
    """The mode bits of what is at `target`, or None where there is nothing yet."""
    if not target.name or not target.parent.is_dir():
        raise FormatError(f"cannot be written: the folder {str(target.parent)!r} does not exist", path=shown)
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


def _open(path: Path, text: bool, exclusive: bool = False) -> IO[Any]:
    mode = "x" if exclusive else "w"
    if text:
        return open(path, mode, encoding="utf-8", newline="\n")
    return open(path, mode + "b")


@contextmanager
def _refusing(path: object) -> Iterator[None]:
    """Turn what the operating system or the encoder refuses into one clear line.

    A reader that goes away from a pipe is nobody's mistake, and stays what it is.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror or error}", path=path) from error
    except UnicodeEncodeError as error:
        piece = error.object[error.start : error.end]
        raise FormatError(
            f"cannot be written as UTF-8: the text {piece!r} is not valid", path=path
        ) from error
