"""Parquet and Arrow files of one table, read by one child process a few columns at a time."""

from __future__ import annotations

import json
import os
import pickle
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from bayescout.data.columnar import (
    BATCH_ROWS,
    NO_MEMORY,
    batches_of,
    caught,
    child_process,
    limit_resources,
    next_request,
    refused,
    scan_file,
    send,
)
from bayescout.data.past.budget import in_units
from bayescout.data.pieces import Piece
from bayescout.errors import BayescoutError, FormatError, TooLargeError

_CHILD = """
import json, os, sys
sys.path[:] = json.loads(sys.argv[1])
os.environ.update(POLARS_MAX_THREADS="1", MALLOC_ARENA_MAX="1", POLARS_ROW_GROUP_PREFETCH_SIZE="1")
from bayescout.data.past.files import serve
serve(int(sys.argv[2]))
"""


NEVER_TOUCHED = 160 << 20
"""Bytes that libraries and threads of the reader reserve and do not use, so that they are not resident."""


class FileReader:
    """The child process that reads the files, as this process sees it."""

    def __init__(self, process: Any, said: IO[bytes], most: int) -> None:
        self.process, self.said, self.most = process, said, most

    def describe(self, path: Path) -> tuple[dict[str, str], int]:
        """The type of each column by its name, and the rows; without reading these."""
        [(types, rows)] = self._answers(path, {"path": str(path)})
        return dict(types), int(rows)

    def batches(
        self, path: Path, names: Sequence[str], exact: Sequence[bool], floats: Sequence[str] = ()
    ) -> Iterator[list[Piece]]:
        """The cells of the named columns, some rows at a time; `floats` are read as such if they are not."""
        request = {
            "path": str(path),
            "names": list(names),
            "exact": list(exact),
            "floats": list(floats),
            "rows": BATCH_ROWS,
        }
        for _, pieces in self._answers(path, request):
            yield pieces

    def _answers(self, path: Path, request: dict[str, Any]) -> Iterator[Any]:
        with suppress(BrokenPipeError):  # reading the answer reports that the child died
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        while True:
            try:
                kind, value = pickle.load(self.process.stdout)
            except (EOFError, pickle.UnpicklingError):
                raise self._death(path) from None
            if kind == "end":
                return
            if kind == "error":
                raise self._too_large(path) if NO_MEMORY in value else refused(path, value)
            yield value

    def _death(self, path: Path) -> BayescoutError:
        code = self.process.wait()
        self.said.seek(0)
        said = self.said.read(1 << 16).decode(errors="replace")
        if any(word in said for word in ("memory allocation of", "MemoryError", NO_MEMORY)):
            return self._too_large(path)
        return refused(path, f"its reader ended with code {code}; the file is damaged, or memory ran out")

    def _too_large(self, path: Path) -> TooLargeError:
        return TooLargeError(
            f"{path}: a row group of it does not fit in the {in_units(self.most)} that its reader may take: "
            f"give more memory=, or write it anew in smaller row groups; a small file that needs so much is "
            f"damaged"
        )


@contextmanager
def reading_files(most: int) -> Iterator[FileReader]:
    """A reader that takes at most so many bytes of memory of its own."""
    if not sys.executable or getattr(sys, "frozen", False):
        raise TooLargeError(
            "rows past memory are read by a child process, and Python cannot be started again inside this "
            "program: give a frame, or a single file"
        )
    with tempfile.TemporaryFile() as said, child_process(said, _CHILD, str(most)) as process:
        yield FileReader(process, said, most)


def check_same(first: Path, types: dict[str, str], path: Path, others: dict[str, str]) -> None:
    """Refuse a file whose columns are not those of the first, or of another kind."""
    for name in types:
        if name not in others:
            raise FormatError(
                f"has no column {name!r}, which {first.name} has: the files of one table have the same "
                f"columns",
                path=path,
            )
    for name, kind in others.items():
        if name not in types:
            raise FormatError(
                f"has a column {name!r}, which {first.name} has not: the files of one table have the same "
                f"columns",
                path=path,
            )
        one, two = family_of(types[name]), family_of(kind)
        if one != two and "null" not in (one, two):
            raise FormatError(
                f"has {kind} in column {name!r}, where {first.name} has {types[name]}: cast one to the other",
                path=path,
            )


NUMBERS = ("Int", "UInt", "Float", "Decimal")
TEXTS = ("String", "Categorical", "Enum")


def family_of(kind: str) -> str:
    """The types that may stand for one another: numbers, texts, and any other for itself."""
    if kind.startswith(NUMBERS):
        return "number"
    return "text" if kind.startswith(TEXTS) else kind.lower()


# ---- the child's side


def serve(most: int) -> None:
    """Answer requests on standard input until it ends, as pickles of (kind, value) on standard output."""
    limit_resources()
    _limit_memory(most)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that printed text cannot mix with the messages
    with caught() as said:
        while (asked := next_request()) is not None:
            _answer(out, asked)
            send(out, "end")
    if said:
        with suppress(BrokenPipeError):
            send(out, "error", said[0])
    os._exit(0)  # threads of the reader may still be running


def _answer(out: IO[bytes], asked: dict[str, Any]) -> None:
    import polars as pl

    frame = scan_file(Path(asked["path"]))
    schema = frame.collect_schema()
    if "names" not in asked:
        rows = int(frame.select(pl.len()).collect().item())
        send(out, "value", ([(name, str(kind)) for name, kind in schema.items()], rows))
        return
    places = [schema.names().index(name) for name in asked["names"]]
    if asked["floats"]:
        frame = frame.with_columns(pl.col(asked["floats"]).cast(pl.Float64))
    for batch in batches_of(frame, places, asked["exact"], asked["rows"]):
        send(out, "value", batch)


def _limit_memory(most: int) -> None:
    """Limit the memory that this process writes to; files that are mapped do not count."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        most += NEVER_TOUCHED
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if hard == resource.RLIM_INFINITY or hard > most:
            resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
