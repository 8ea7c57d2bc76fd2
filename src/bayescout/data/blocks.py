"""Text files in blocks of whole lines, each parsed to a frame of strings and checked.

Blocks keep memory flat whatever the size of the file, and let an error name its line.
"""

from __future__ import annotations

import atexit
import csv
import gzip
import io
import os
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import FormatError

if TYPE_CHECKING:
    import polars as pl

BLOCK_BYTES = 1 << 23

MAX_LINE_BYTES = 1 << 24
"""Limit on the length of a line, including quoted line ends, and of a run of blank lines, so that endless
input does not fill the memory."""

MAX_COLUMNS = 100_000
"""The most columns of a text file."""

_QUOTE, _LINE_END = ord('"'), ord("\n")

STANDARD_INPUT = Path("standard input")
"""Stands for standard input; a file of this name is another path."""

IN_QUOTES = "\0"
"""Put before a protected text that stands in quotes; no text file holds this character."""

NAMED_ROWS = ": if the first cell of each row is its name, as R writes it, give it a name in the header, too"
"""What a first row of one cell more than the header may mean."""

MARK = b"\xef\xbb\xbf"
"""The byte order mark in UTF-8."""


@dataclass(frozen=True)
class Block:
    """Whole lines, each ending in "\\n", and the number of the first one in the file."""

    lines: bytes
    first_line: int


@dataclass(frozen=True)
class TextFormat:
    """The rules by which a line is split into cells.

    separator  the text between two cells
    quotes     True if a cell may be quoted, and so hold separators and line ends
    loose      the documents' data file format: white space around cells and blank lines are ignored,
               and runs of white space separate cells if there are no commas
    protected  texts that are given with `IN_QUOTES` before them where they stand in quotes
    open       True if the user named no separator, so that the first rows may say another; `found` if they do
    """

    path: Path
    separator: str
    quotes: bool = True
    loose: bool = False
    protected: frozenset[str] = frozenset()
    open: bool = False
    found: bool = False

    def error(self, message: str, line: int | None = None) -> FormatError:
        return FormatError(message, path=self.path, line=line)


def read_blocks(form: TextFormat, size: int = BLOCK_BYTES) -> Generator[Block]:
    """The file's lines in blocks of about `size` bytes, checked to be UTF-8.

    While no line end is found, the amount read doubles, so that a long line is scanned a few times only.
    """
    line = 1
    rest = b""
    with _open(form.path) as stream:
        while True:
            data = _read(form, stream, max(size, min(len(rest), BLOCK_BYTES)))
            if line == 1 and not rest:
                data = data.removeprefix(MARK)
            whole, rest = _cut(form, rest + data, final=not data, line=line)
            if whole:
                _check_text(form, whole, line)
                yield Block(whole, line)
                line += whole.count(b"\n")
            if not data:
                return
            if len(rest) > MAX_LINE_BYTES:
                raise form.error(_too_long(rest), line)


def _too_long(rest: bytes) -> str:
    """The error message for a line that does not end."""
    if not rest.strip(b"\r\n"):
        return f"more than {MAX_LINE_BYTES >> 20} MB of blank lines; delete them"
    hint = "is a quote never closed?" if b"\n" in rest else "is this a table, with line ends of '\\n'?"
    return f"a line of more than {MAX_LINE_BYTES >> 20} MB, the longest that is read; {hint}"


_KEPT: list[tuple[IO[bytes], IO[bytes]]] = []
"""The standard input that was read last, and the file without a name that holds what came on it."""


def _kept(stream: IO[bytes]) -> IO[bytes]:
    """Everything that comes on a stream, in a file that may be read more than once."""
    if not _KEPT or _KEPT[0][0] is not stream:
        while _KEPT:
            _KEPT.pop()[1].close()
        kept = tempfile.TemporaryFile()  # noqa: SIM115 - open until other input takes its place
        atexit.register(kept.close)
        shutil.copyfileobj(stream, kept)
        _KEPT.append((stream, cast(IO[bytes], kept)))
    return _KEPT[0][1]


@contextmanager
def _rewound() -> Iterator[IO[bytes]]:
    stream = _kept(sys.stdin.buffer)
    stream.seek(0)
    yield stream


def _open(path: Path) -> AbstractContextManager[IO[bytes]]:
    if path is STANDARD_INPUT:
        return _rewound()
    if path.suffix.lower() == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    return open(path, "rb")


def _read(form: TextFormat, stream: IO[bytes], size: int) -> bytes:
    try:
        return stream.read(size)
    except (OSError, EOFError, zlib.error) as error:
        raise form.error(f"cannot be read: {error}") from None


def _cut(form: TextFormat, data: bytes, final: bool, line: int) -> tuple[bytes, bytes]:
    """Split after the last whole record; blank lines before the cut go to the next block."""
    if final:
        if form.quotes and data.count(b'"') % 2:
            raise form.error("a quoted cell is never closed", line + _unclosed(data))
        stripped = data.replace(b"\r\n", b"\n").rstrip(b"\n")
        return (stripped + b"\n" if stripped else b""), b""
    end = _last_line_end(data, form.quotes) + 1
    whole = data[:end].replace(b"\r\n", b"\n")
    stripped = whole.rstrip(b"\n")
    if not stripped:
        return b"", whole + data[end:]
    return stripped + b"\n", whole[len(stripped) + 1 :] + data[end:]


def _last_line_end(data: bytes, quotes: bool) -> int:
    if not quotes or b'"' not in data:
        return data.rfind(b"\n")
    ends = np.flatnonzero(outside_quotes(data) & (np.frombuffer(data, dtype=np.uint8) == _LINE_END))
    return int(ends[-1]) if len(ends) else -1


def outside_quotes(data: bytes) -> NDArray[np.bool_]:
    """True for each byte that is outside quotes: an even number of quotes up to and including it."""
    is_quote = np.frombuffer(data, dtype=np.uint8) == _QUOTE
    return ~np.logical_xor.accumulate(is_quote)


def _unclosed(data: bytes) -> int:
    quotes = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == _QUOTE)
    return data.count(b"\n", 0, int(quotes[-1]))


def _check_text(form: TextFormat, whole: bytes, line: int) -> None:
    if not whole.isascii():
        try:
            whole.decode("utf-8")
        except UnicodeDecodeError as error:
            at = line + whole.count(b"\n", 0, error.start)
            raise form.error(
                f"byte 0x{whole[error.start]:02x} is not UTF-8: save the file as UTF-8 ('CSV UTF-8' in a "
                f"spreadsheet), or read it with pandas.read_csv(path, encoding='cp1252') and give the frame",
                at,
            ) from None
    if b"\r" in whole:
        at = line + whole.count(b"\n", 0, whole.index(b"\r"))
        raise form.error("a carriage return without a line feed; save the file with line ends of '\\n'", at)
    if b"\0" in whole:
        at = line + whole.count(b"\n", 0, whole.index(b"\0"))
        raise form.error("a zero byte; this is not a text file in UTF-8", at)


def read_header(form: TextFormat, first: Block) -> tuple[list[str], Block]:
    """The names in the first line, and the block without it."""
    _check_width(form, first)
    reader = csv.reader(io.StringIO(first.lines.decode("utf-8"), newline=""), **_dialect(form))
    if form.loose:
        line, _, rest = first.lines.lstrip().partition(b"\n")
        skipped = first.lines.count(b"\n", 0, len(first.lines) - len(first.lines.lstrip()))
        names = _loosened(line + b"\n", form).decode("utf-8").rstrip("\n").split(form.separator)
        return names, Block(rest, first.first_line + skipped + 1)
    try:
        names = next(reader, [])
    except csv.Error as error:
        raise form.error(str(error), 1) from None
    size = _end_of_line(first.lines, reader.line_num)
    return names, Block(first.lines[size:], first.first_line + reader.line_num)


def _check_width(form: TextFormat, first: Block) -> None:
    """Refuse more names than a table can have, before a list of them is made."""
    end = first.lines.find(b"\n", len(first.lines) - len(first.lines.lstrip()))
    cells = first.lines.count(form.separator.encode(), 0, end) + 1
    if form.loose and form.separator != ",":
        cells = len(first.lines[:end].split(None, MAX_COLUMNS))
    if cells > MAX_COLUMNS:
        raise form.error(f"more than {MAX_COLUMNS:,} columns, the most a file may have: leave some out", 1)


def quoted_cells(form: TextFormat, lines: bytes) -> list[bool]:
    """For each cell of the first record, True if it is in quotes."""
    separator, inside, at_start = ord(form.separator), False, True
    quoted = [False]
    for byte in lines:
        if byte == _LINE_END and not inside:
            break
        if byte == separator and not inside:
            quoted.append(False)
            at_start = True
            continue
        if byte == _QUOTE and form.quotes:
            inside = not inside
            quoted[-1] = quoted[-1] or at_start
        at_start = False
    return quoted


def _end_of_line(lines: bytes, number: int) -> int:
    at = 0
    for _ in range(number):
        at = lines.index(b"\n", at) + 1
    return at


def _dialect(form: TextFormat) -> dict[str, Any]:
    quoting = csv.QUOTE_MINIMAL if form.quotes else csv.QUOTE_NONE
    return {"delimiter": form.separator, "quoting": quoting, "strict": True}


def parse_block(form: TextFormat, block: Block, width: int) -> pl.DataFrame:
    """One string column per variable, null where a cell is empty; every line has `width` cells."""
    import polars as pl

    lines = _loosened(block.lines, form) if form.loose else block.lines
    if not lines:
        return pl.DataFrame(schema=dict.fromkeys(map(str, range(width)), pl.String))
    if not _is_even(form, lines, width):
        _explain(form, block, width)
    lines = _with_protected(form, lines)
    try:
        return pl.read_csv(
            # A byte order mark inside the file is text, but the reader drops one at its beginning.
            io.BytesIO(MARK + lines if lines.startswith(MARK) else lines),
            has_header=False,
            schema=dict.fromkeys(map(str, range(width)), pl.String),
            separator=form.separator,
            quote_char='"' if form.quotes else None,
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        _explain(form, block, width)
        raise form.error(" ".join(str(error).split())[:200], block.first_line) from None


def _with_protected(form: TextFormat, lines: bytes) -> bytes:
    """The lines with a sign before each protected text that is in quotes, which the parser removes."""
    marks = [text.encode() for text in sorted(form.protected) if b'"' + text.encode() + b'"' in lines]
    if not marks or not form.quotes:
        return lines
    edge = re.escape(form.separator.encode())
    pattern = rb'(?<![^\n%b])"(%b)"(?![^\n%b])' % (edge, b"|".join(map(re.escape, marks)), edge)
    return re.sub(pattern, rb'"' + IN_QUOTES.encode() + rb'\1"', lines)


def _is_even(form: TextFormat, lines: bytes, width: int) -> bool:
    """Return True if quotes are well placed and there are `width` cells per line on average.

    The parser itself refuses longer lines; with none longer, none is shorter either.
    """
    separator = form.separator.encode()
    if not form.quotes or b'"' not in lines:
        return lines.count(separator) == (width - 1) * lines.count(b"\n")
    if not _quotes_well_placed(lines, separator):
        return False
    cells = np.frombuffer(lines, dtype=np.uint8)
    outside = outside_quotes(lines)
    separators = int(((cells == ord(separator)) & outside).sum())
    return separators == (width - 1) * int(((cells == _LINE_END) & outside).sum())


def _quotes_well_placed(lines: bytes, separator: bytes) -> bool:
    """Return True if every quote opens a cell, closes one, or is one of a doubled pair inside one."""
    cells = np.frombuffer(b"\n" + lines, dtype=np.uint8)
    at = np.flatnonzero(cells == _QUOTE)
    if len(at) % 2:
        return False
    opening, closing = at[::2], at[1::2]
    edges = np.array([_LINE_END, ord(separator), _QUOTE], dtype=np.uint8)
    before, after = cells[opening - 1], cells[closing + 1]
    # A quote before an opening one, or after a closing one, must be its partner in a doubled pair.
    return bool(np.isin(before, edges).all() and np.isin(after, edges).all())


def _explain(form: TextFormat, block: Block, width: int) -> None:
    """Raise for the first line that does not have `width` cells; return if every line has."""
    if form.loose:
        _explain_loose(form, block, width)
        return
    reader = csv.reader(io.StringIO(block.lines.decode("utf-8"), newline=""), **_dialect(form))
    start = block.first_line
    try:
        for cells in reader:
            if len(cells) != width and not (width == 1 and not cells):
                way = NAMED_ROWS if len(cells) == width + 1 and start == 2 else ""
                raise form.error(f"{_count(len(cells))} where the header has {width}{way}", start)
            if form.quotes and any('"' in cell for cell in cells):
                _check_quotes(form, block, start, block.first_line + reader.line_num)
            start = block.first_line + reader.line_num
    except csv.Error as error:
        raise form.error(
            f"{error}; a quote inside a cell must be doubled, and the cell quoted", start
        ) from None


def _check_quotes(form: TextFormat, block: Block, start: int, stop: int) -> None:
    first = _end_of_line(block.lines, start - block.first_line)
    record = block.lines[first : _end_of_line(block.lines, stop - block.first_line)]
    if not _quotes_well_placed(record, form.separator.encode()):
        raise form.error("a quote inside an unquoted cell; double it, and quote the cell", start)


def _explain_loose(form: TextFormat, block: Block, width: int) -> None:
    for number, line in enumerate(block.lines.split(b"\n"), start=block.first_line):
        if line.strip():
            cells = _loosened(line + b"\n", form).rstrip(b"\n").split(form.separator.encode())
            if len(cells) != width:
                raise form.error(f"{_count(len(cells))} where the header has {width}", number)


def _count(cells: int) -> str:
    return "a blank line" if not cells else f"{cells} cell{'s' if cells > 1 else ''}"


def _loosened(lines: bytes, form: TextFormat) -> bytes:
    """The lines without blank ones and without white space around cells; tabs between cells if no commas."""
    lines = re.sub(rb"[ \t]*\n[\s]*", b"\n", lines.lstrip())
    if form.separator == ",":
        return re.sub(rb"[ \t]*,[ \t]*", b",", lines)
    return re.sub(rb"[ \t]+", b"\t", lines)


def check_file(path: Path) -> None:
    """Raise unless the path is an existing, regular file that is not empty."""
    try:
        there = path.exists()
    except OSError as error:  # for instance, a name that is too long
        raise FormatError(f"cannot be read: {error.strerror or error}", path=path) from None
    if not there:
        raise FormatError("no such file", path=path)
    if path.is_dir():
        raise FormatError("is a folder; give a file", path=path)
    if not os.access(path, os.R_OK):
        raise FormatError("cannot be read: permission denied", path=path)
    if path.is_file() and path.stat().st_size == 0:
        raise FormatError("is empty; a line of names and at least one row are needed", path=path)
