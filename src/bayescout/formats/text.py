"""Text in and out of files: decoding, compression, quoting, and the position of an error in the text."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from bayescout.data.files import atomic_write
from bayescout.errors import CycleError, FormatError

PathLike = str | os.PathLike[str]

MAX_TEXT = 2**26
"""The longest text read or written, in bytes and unpacked (64 MiB): the largest of the benchmark networks
takes 4 MB, and reading takes a few times the memory of the text, and seconds per megabyte."""

MAX_NODES = 2**20
"""The most nodes of a network or structure that is read: each takes a few hundred bytes, however short its
name, and no search or query can handle as many."""

_CHUNK = 2**20

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


@contextmanager
def cycles_of(where: str) -> Iterator[None]:
    """Report a cycle found inside as one of the file."""
    try:
        yield
    except CycleError as error:
        raise CycleError(error.cycle, where) from None


def check_number_of_nodes(count: int, path: object) -> None:
    """Refuse more nodes than the limit, as soon as so many are known to be there."""
    if count > MAX_NODES:
        raise FormatError(
            f"has more than {MAX_NODES:,} nodes, the most that are read; check that it is the file you mean",
            path,
        )


DECLARED = ("iso-8859-1", "iso-8859-15", "windows-1252")
"""Encodings beside UTF-8 in which XML is read: older versions of GeNIe write the first."""

_XML_ENCODING = re.compile(rb"<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"']")


def read_text(path: PathLike) -> str:
    """The text of a UTF-8 file, unpacked if its name ends in .gz; line ends unchanged."""
    try:
        with open(path, "rb") as stream:
            if _is_packed(path):
                with gzip.GzipFile(fileobj=stream) as unpacked:
                    content = _bounded(unpacked, path)
            else:
                content = _bounded(stream, path)
    except FormatError:
        raise
    except FileNotFoundError:
        raise FormatError("no such file", path) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FormatError(f"is not a complete gzip file: {error}", path) from None
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path) from None
    return decode(content, path)


def unpack(content: bytes, path: object) -> str:
    """The text of gzipped UTF-8 bytes."""
    return decode(gzip.decompress(content), path)


def _bounded(stream: IO[bytes] | gzip.GzipFile, path: PathLike) -> bytearray:
    """Everything in a stream, refused as soon as it is known to be too much: a packed file may be small."""
    content = bytearray()
    while piece := stream.read(_CHUNK):
        content += piece
        if len(content) > MAX_TEXT:
            raise FormatError(
                f"holds more than {MAX_TEXT:,} bytes{' when unpacked' * _is_packed(path)}, the most that is "
                f"read from one file; check that it is the file you mean, or write it with fewer digits",
                path,
            )
    return content


def decode(content: bytes | bytearray, path: object) -> str:
    """UTF-8 bytes as text, without a byte-order mark; XML that declares one of `DECLARED`, as that."""
    found = _XML_ENCODING.match(content)
    declared = found[1].decode("ascii").lower() if found else ""
    encoding = declared if declared in DECLARED else "utf-8"
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FormatError(
            f"byte 0x{content[error.start]:02x} is not {encoding.upper()} text; save the file as UTF-8",
            path,
            line,
        ) from None


def write_text(path: PathLike, text: str, read_back: bool = False) -> None:
    """Write UTF-8 text in one step, packed if the name ends in .gz.

    With `read_back`, a text that `read_text` would refuse is refused.
    """
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        piece = error.object[error.start : error.end]
        raise FormatError(
            f"cannot be written as UTF-8: {piece!r} is half a character; rename it", path
        ) from None
    if read_back and len(content) > MAX_TEXT:
        raise FormatError(
            f"cannot be written: {len(content):,} bytes of text are more than {MAX_TEXT:,}, the most that is "
            f"read back from one file; use fewer parents or states",
            path,
        )
    if _is_packed(path):
        content = pack(content)
    with atomic_write(path) as stream:
        stream.write(content)


def pack(content: bytes) -> bytes:
    """Gzip without a time stamp: the same text gives the same bytes."""
    return gzip.compress(content, compresslevel=9, mtime=0)


def quote(name: str) -> str:
    """A name between double quotes, on one line whatever it contains."""
    return '"' + "".join(_ESCAPES.get(character, character) for character in name) + '"'


def unquote(quoted: str) -> str:
    r"""The name inside double quotes; a backslash before any other character stays, as in "C:\d"."""
    return _ESCAPE.sub(lambda pair: _UNESCAPED.get(pair[0], pair[0]), quoted[1:-1])


def _is_packed(path: PathLike) -> bool:
    return os.fspath(path).lower().endswith(".gz")
