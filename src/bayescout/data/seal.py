"""The seal on the columnar files we write: a note of what the format cannot express, and a digest of all.

Parquet and Arrow files are read from their end: the last bytes give the length of a footer, and the
footer gives the place of everything else from the start of the file. So the seal is just before
the footer, where no reader looks. It holds a note in JSON, padded so that the footer keeps its alignment,
then the SHA-256 digest of every other byte of the file, the length of the note, and a mark. A damaged file
does not match its digest; a file written by other software has no seal. The digest guards against
accidents only: whoever forges a file can forge its seal.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from bayescout.errors import FormatError

if TYPE_CHECKING:
    from typing_extensions import Buffer

MARK = b"\nbayescout1\n"
DIGEST_BYTES = 32
LENGTH_BYTES = 4
ALIGNMENT = 64
MOST_NOTE = 1 << 28
CHUNK = 1 << 20

_TAILS = ((b"PAR1", 4), (b"ARROW1", 6))
"""The last bytes of each format, after a footer length of four bytes."""


@dataclass(frozen=True)
class Seal:
    """The note in a file of ours: the kinds of columns that might be read otherwise, or left out."""

    discrete: tuple[str, ...] = ()
    continuous: tuple[str, ...] = ()


def write_sealed(content: memoryview, seal: Seal, stream: IO[bytes]) -> None:
    """Write a columnar file with its seal."""
    footer = _footer_start(bytes(content[-16:]), len(content))
    assert footer is not None, "not a columnar file"
    fixed = DIGEST_BYTES + LENGTH_BYTES + len(MARK)
    note = json.dumps({"discrete": seal.discrete, "continuous": seal.continuous}).encode()
    note += b" " * (-(len(note) + fixed) % ALIGNMENT)
    before: list[Buffer] = [content[:footer], note]
    after: list[Buffer] = [struct.pack("<I", len(note)), MARK, content[footer:]]
    digest = hashlib.sha256()
    for part in (*before, *after):
        digest.update(part)
    for part in (*before, digest.digest(), *after):
        stream.write(part)


def read_seal(path: Path) -> Seal | None:
    """The seal of an undamaged file of ours, or None for any other software's file; refuse a damaged one."""
    with open(path, "rb") as stream:
        found = _find(stream)
        if found is None:
            return None
        note, digest, at = found
        if _digest_without(stream, at) == digest:
            return _seal_from(note)
    raise FormatError("is damaged: its content does not match the digest it was written with", path=path)


def _seal_from(note: bytes) -> Seal | None:
    """The seal, or None if the note has the right digest but other content: not written by us."""
    try:
        said: Any = json.loads(note)
        kinds = said["discrete"], said.get("continuous", [])  # old files have no second list
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None
    if not all(isinstance(k, list) and all(isinstance(name, str) for name in k) for k in kinds):
        return None
    return Seal(*map(tuple, kinds))


def _footer_start(tail: bytes, size: int) -> int | None:
    for magic, length in _TAILS:
        if tail.endswith(magic) and len(tail) >= length + 4:
            start = size - length - 4 - int.from_bytes(tail[-length - 4 : -length], "little")
            return start if start >= 0 else None
    return None


def _find(stream: IO[bytes]) -> tuple[bytes, bytes, int] | None:
    """The note, the digest, and the place of the digest."""
    size = stream.seek(0, 2)
    stream.seek(max(0, size - 16))
    footer = _footer_start(stream.read(16), size)
    fixed = DIGEST_BYTES + LENGTH_BYTES + len(MARK)
    if footer is None or footer < fixed:
        return None
    stream.seek(footer - fixed)
    block = stream.read(fixed)
    length = int.from_bytes(block[DIGEST_BYTES : DIGEST_BYTES + LENGTH_BYTES], "little")
    if not block.endswith(MARK):
        return None
    begin = footer - fixed - length
    if begin < 0 or length > MOST_NOTE:
        return b"", b"", footer - fixed
    stream.seek(begin)
    return stream.read(length), block[:DIGEST_BYTES], footer - fixed


def _digest_without(stream: IO[bytes], at: int) -> bytes:
    """The digest of the whole file except the digest in it."""
    digest = hashlib.sha256()
    stream.seek(0)
    for part in _parts(stream, at):
        digest.update(part)
    stream.seek(at + DIGEST_BYTES)
    for part in _parts(stream, None):
        digest.update(part)
    return digest.digest()


def _parts(stream: IO[bytes], left: int | None) -> Iterator[bytes]:
    while left is None or left > 0:
        part = stream.read(CHUNK if left is None else min(CHUNK, left))
        if not part:
            return
        left = None if left is None else left - len(part)
        yield part
