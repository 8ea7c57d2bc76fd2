"""Text in and out of files: decoding, compression, quoting, and where in the text an error is."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

from bayescout.data.files import atomic_write
from bayescout.errors import FormatError

PathLike = str | os.PathLike[str]

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}
_UNESCAPED = {written: plain for plain, written in _ESCAPES.items()} | {"\\t": "\t"}
_ESCAPE = re.compile(r"\\.", re.DOTALL)


@dataclass(frozen=True)
class Source:
    """The text of a file and its name, so that an error can say where."""

    text: str
    path: str

    def error(self, message: str, at: int) -> FormatError:
        """A FormatError that names the line of the character at position `at`."""
        one_line = " ".join(message.splitlines())
        return FormatError(one_line, self.path, self.text.count("\n", 0, at) + 1)


def read_text(path: PathLike) -> str:
    """The text of a UTF-8 file, unpacked when its name ends in .gz; line ends as they are."""
    try:
        content = Path(path).read_bytes()
        if _is_packed(path):
            content = gzip.decompress(content)
    except FileNotFoundError:
        raise FormatError("no such file", path) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FormatError(f"is not a complete gzip file: {error}", path) from None
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path) from None
    return decode(content, path)


def decode(content: bytes, path: object) -> str:
    """UTF-8 bytes as text, without a byte-order mark."""
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FormatError(
            f"byte 0x{content[error.start]:02x} is not UTF-8 text; save the file as UTF-8", path, line
        ) from None


def write_text(path: PathLike, text: str) -> None:
    """Write UTF-8 text in one step, packed when the name ends in .gz."""
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        piece = error.object[error.start : error.end]
        raise FormatError(
            f"cannot be written as UTF-8: {piece!r} is half a character; rename it", path
        ) from None
    if _is_packed(path):
        content = pack(content)
    with atomic_write(path) as stream:
        stream.write(content)


def pack(content: bytes) -> bytes:
    """Gzip without a time stamp: the same text gives the same bytes."""
    return gzip.compress(content, compresslevel=9, mtime=0)


def quote(name: str) -> str:
    """A name between double quotes, on one line whatever it holds."""
    return '"' + "".join(_ESCAPES.get(character, character) for character in name) + '"'


def unquote(quoted: str) -> str:
    r"""The name inside double quotes; a backslash before any other character stays, as in "C:\d"."""
    return _ESCAPE.sub(lambda pair: _UNESCAPED.get(pair[0], pair[0]), quoted[1:-1])


def _is_packed(path: PathLike) -> bool:
    return os.fspath(path).lower().endswith(".gz")
