"""Parquet and Arrow files, read so that a damaged one cannot end the process.

The polars reader is fast, but not safe on a damaged file: it may request more memory than there is and abort,
and no Python code runs after that. So a file is read by a child process, which sends the cells over a pipe;
if the child dies, one clear error is raised here. Two kinds of files are read without a child: our own whose
digest shows that they are whole (see `seal`), unless the memory of this process is limited; and any file when
Python cannot be started again, as inside another program.
docs/decisions/parquet.md has the reasons and the costs.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from bayescout.data import memory
from bayescout.data.matrix import MANY_COLUMNS
from bayescout.data.pieces import Floats, Piece, polars_piece
from bayescout.data.seal import Seal, read_seal
from bayescout.data.table import MAX_STATES
from bayescout.errors import BayescoutError, FormatError, TooLargeError

if TYPE_CHECKING:
    import polars as pl

BATCH_ROWS = 1 << 16
COLUMNS_AT_ONCE = 4
"""Columns that are read in one go at least."""

CELLS_AT_ONCE = 1 << 20
"""Cells that may be read in one go: each go costs as much as there are columns."""

_CHILD = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from bayescout.data.columnar import serve
serve()
"""

NO_MEMORY = "Cannot allocate memory"

Batch = tuple[int, list[Piece]]
"""Some rows of a few columns: position of the first column among those requested, and the pieces."""


class Columns(Protocol):
    """An open columnar file.

    names  of its columns
    floats  "float32" or "float64" if all of many columns are such, else ""
    rows   how many there are, if they are
    seal   our note from when we wrote the file, or None if it is not ours
    """

    names: list[str]
    floats: str
    rows: int
    seal: Seal | None

    def batches(self, places: Sequence[int], exact: Sequence[bool], narrow: bool = False) -> Iterator[Batch]:
        """The cells of the columns at `places`, a few columns at a time; `exact` ones keep their decimals.

        narrow  floats stay as wide as they are
        """


@contextmanager
def open_columnar(path: Path) -> Iterator[Columns]:
    """Open the columns of a file; errors of the reader become one-line errors of our own."""
    try:
        seal = read_seal(path)
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror or error}", path=path) from None
    alone = not sys.executable or getattr(sys, "frozen", False)
    if alone or (seal is not None and memory.limit() is None):
        yield _Direct(path, seal)
        return
    with tempfile.TemporaryFile() as said, child_process(said) as process:
        yield _InChild(path, seal, process, said)


def refused(path: Path, reason: str) -> FormatError:
    return FormatError(f"cannot be read as {path.suffix[1:]}: {reason}", path=path)


# ---- the reader itself


class _Direct:
    """A file read in this process."""

    def __init__(self, path: Path, seal: Seal | None) -> None:
        self.path, self.seal = path, seal
        with caught() as said:
            self.frame = scan_file(path)
            self.names, self.floats, self.rows = _described(self.frame)
        self._check(said)

    def batches(self, places: Sequence[int], exact: Sequence[bool], narrow: bool = False) -> Iterator[Batch]:
        with caught() as said:
            yield from batches_of(self.frame, places, exact, BATCH_ROWS, narrow)
        self._check(said)

    def _check(self, said: Sequence[str]) -> None:
        if said:
            raise refused(self.path, said[0])


def scan_file(path: Path) -> pl.LazyFrame:
    import polars as pl

    scan = pl.scan_parquet if path.suffix.lower() in (".parquet", ".pq") else pl.scan_ipc
    return scan(path, glob=False)


def _described(frame: pl.LazyFrame) -> tuple[list[str], str, int]:
    """The names of the columns; if they are many floats of one width, that width and the number of rows."""

    schema = frame.collect_schema()
    kinds = {str(kind).lower() for kind in schema.dtypes()}
    if kinds not in ({"float32"}, {"float64"}) or len(schema) < MANY_COLUMNS:
        return schema.names(), "", 0
    return schema.names(), kinds.pop(), _count(frame)


def _count(frame: pl.LazyFrame) -> int:
    import polars as pl

    return int(frame.select(pl.len()).collect().item())


def batches_of(
    frame: pl.LazyFrame, places: Sequence[int], exact: Sequence[bool], rows: int, narrow: bool = False
) -> Iterator[Batch]:
    """Read a few columns at a time, since the engine reads ahead whole row groups of what is requested.

    Rows are counted, since batches may simply end when the engine fails in one of its threads.
    """
    import polars as pl

    count = _count(frame)
    at_once = max(COLUMNS_AT_ONCE, CELLS_AT_ONCE // max(1, count))
    for start in range(0, len(places), at_once):
        some = slice(start, start + at_once)
        known: list[list[str]] = [[] for _ in exact[some]]
        asked = frame.select(pl.nth(list(places[some])))
        seen = 0
        for batch in asked.collect_batches(chunk_size=rows, maintain_order=True, lazy=True):
            pieces = []
            for i, series in enumerate(batch.get_columns()):
                piece: Piece
                if narrow:
                    piece = Floats(series.to_numpy())
                else:
                    piece = polars_piece(series, exact[start + i], known[i])
                known[i] = _with_texts(known[i], getattr(piece, "values", ()))
                pieces.append(piece)
            seen += batch.height
            yield start, pieces
        if seen != count:
            raise OSError(
                f"{seen:,} of {count:,} rows could be read; the file is damaged, or holds a type not known"
            )


def _with_texts(known: list[str], values: Sequence[Any]) -> list[str]:
    """The texts known so far and those of one more batch; none once they are more than a column can have."""
    found = dict.fromkeys([*known, *(value for value in values if isinstance(value, str))])
    return list(found) if len(found) <= MAX_STATES else []


@contextmanager
def caught() -> Iterator[list[str]]:
    """Collect what polars reports against a file, in one line, available once the block has ended."""
    import polars as pl

    said: list[str] = []
    try:
        yield said
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        said.append(" ".join(str(error).split())[:200])


# ---- this side of the pipe


class _InChild:
    """A file read by a child process."""

    def __init__(
        self, path: Path, seal: Seal | None, process: subprocess.Popen[bytes], said: IO[bytes]
    ) -> None:
        self.path, self.seal, self.process, self.said = path, seal, process, said
        self._ask({"path": str(path)})
        said_of: tuple[list[str], str, int] = next(self._answers())
        self.names, self.floats, self.rows = said_of

    def batches(self, places: Sequence[int], exact: Sequence[bool], narrow: bool = False) -> Iterator[Batch]:
        self._ask({"places": list(places), "exact": list(exact), "rows": BATCH_ROWS, "narrow": narrow})
        yield from self._answers()

    def _ask(self, request: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # reading the answer reports that the child died
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()

    def _answers(self) -> Iterator[Any]:
        """The values that the child sends; raises one clear error if it reports one or dies."""
        assert self.process.stdout is not None
        while True:
            try:
                kind, value = pickle.load(self.process.stdout)
            except (EOFError, pickle.UnpicklingError):
                raise self._death() from None
            if kind == "end":
                return
            if kind == "error":
                raise self._too_large() if NO_MEMORY in value else refused(self.path, value)
            yield value

    def _death(self) -> BayescoutError:
        """The reason why the child died, as far as it can be known."""
        code = self.process.wait()
        self.said.seek(0)
        said = self.said.read(1 << 16).decode(errors="replace")
        if any(word in said for word in ("memory allocation of", "MemoryError", NO_MEMORY)):
            return self._too_large()
        return refused(
            self.path, f"its reader ended with code {code}; the file is damaged, or memory ran out"
        )

    def _too_large(self) -> TooLargeError:
        limit = " within the limit set for this process" if memory.limit() is not None else ""
        return TooLargeError(
            f"{self.path}: reading it takes more memory than there is{limit}: raise the limit, read fewer "
            f"columns, or write it anew in smaller row groups; a small file that needs so much is damaged"
        )


@contextmanager
def child_process(
    said: IO[bytes], code: str | None = None, *arguments: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that reads files; it does not outlive the block."""
    # The reader's backtraces take time and are never shown; one thread needs less of a limited memory.
    environment = os.environ | {"RUST_BACKTRACE": "0"}
    if memory.limit() is not None:
        environment |= {"POLARS_MAX_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", _CHILD if code is None else code, json.dumps(sys.path), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=said,
        env=environment,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(BrokenPipeError):
                if pipe is not None:
                    pipe.close()


# ---- the child's side


def serve() -> None:
    """Answer requests from standard input on standard output, as pickles of (kind, value)."""
    limit_resources()
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that printed text cannot mix with the messages
    with caught() as said:
        frame = scan_file(Path(next_request()["path"]))
        send(out, "value", _described(frame))
        asked = next_request()
        for batch in batches_of(frame, asked["places"], asked["exact"], asked["rows"], asked["narrow"]):
            send(out, "value", batch)
        send(out, "end")
    if said:
        send(out, "error", said[0])
    os._exit(0)  # threads of the reader may still be running


def next_request() -> Any:
    return json.loads(sys.stdin.readline() or "null")


def send(out: IO[bytes], kind: str, value: Any = None) -> None:
    pickle.dump((kind, value), out, protocol=5)
    out.flush()


def limit_resources() -> None:
    """Limit memory to the machine's own, so that the system kills no process; write no core files."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ValueError, OSError, AttributeError):
        most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        if soft == resource.RLIM_INFINITY or soft > most:
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))
