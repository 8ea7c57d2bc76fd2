"""A file from which a killed run goes on as if nothing had happened.

The file consists of lines that are only ever appended. The first identifies the run; each other one is a
record: the state of the run, and the steps since the record before. A line ends with a digest of itself and
of all lines before it, so that damage is noticed: an incomplete last line, which a kill in the middle of
writing leaves, is dropped, and any other damage is refused. (Damage, not forgery: whoever changes a
checkpoint on purpose can compute the digests too.)

Records are written so seldom that they take about a tenth of the time at most; a kill loses ten times the
time of writing a record, and the step in hand. When the file has grown to several times the size it needs,
it is rewritten with a single record.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

from bayescout.data.files import REPLACES_OPEN_FILES, atomic_write, check_regular, is_at, lock
from bayescout.errors import FormatError, SettingError, warn

FORMAT, VERSION = "bayescout-checkpoint", 3
BEGIN = f'{{"format":"{FORMAT}","version":{VERSION},'.encode()
EARLIER = re.compile(rf'{{"format": ?"{FORMAT}", ?"version": ?([12]),'.encode())

PAUSE = 10.0
"""The least time between two records, as a multiple of the time the last one took to write."""

GROWTH, SMALL = 4, 2**20
"""A file of over SMALL bytes is rewritten when it has GROWTH times the bytes that it needs."""

WAY_OUT = "delete it to begin anew, or use another path"


class Checkpoint:
    """The file of a run, open and locked between `__enter__` and `__exit__`.

    `identity` identifies the run (data, search, score, knowledge, seed): a file of another run is refused
    rather than continued or overwritten.
    """

    def __init__(self, path: str | os.PathLike[str], identity: dict[str, Any]) -> None:
        self.path = self._target = Path(path)
        self.identity: dict[str, Any] = json.loads(json.dumps(identity))
        self._file = -1
        self._ours = False
        """True if the file was made by this run and is still empty."""
        self._size = 0
        self._needed = 0
        """About how many bytes the file would have if rewritten; 0 if it will be rewritten next."""
        self._chain = ""
        self._steps = 0
        self._top: list[Any] = []
        self._written = -float("inf")
        self._took = 0.0
        self._warned = False

    def __enter__(self) -> Self:
        self._target = check_regular(self.path)
        new = not self._target.exists()
        try:
            self._file = self._opened()
            self._size = os.fstat(self._file).st_size
            self._ours = new and self._size == 0
        except OSError as error:
            raise FormatError(f"cannot be written: {error.strerror or error}", self.path) from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._file >= 0 and self._ours and is_at(self._file, self._target):
            self._target.unlink()
        self._close()

    # ---- reading

    def load(self) -> dict[str, Any] | None:
        """The values saved last, with the whole trace, or None if there are none."""
        last: dict[str, Any] | None = None
        trace: list[Any] = []
        top: list[Any] = []
        try:
            for record in self._records():
                trace += record["steps"]
                top = [top[entry] if isinstance(entry, int) else entry for entry in record["top"]]
                last = record
        except OSError as error:
            raise FormatError(f"cannot be read: {error.strerror or error}", self.path) from None
        except (TypeError, KeyError, IndexError):
            raise self.not_a_run() from None
        self._steps = len(trace)
        return None if last is None else last | {"trace": trace, "top": top}

    def not_a_run(self) -> FormatError:
        """The error for a file that is undamaged, and yet not what a run writes."""
        return FormatError(f"does not hold a run of this search; {WAY_OUT}", self.path)

    def _records(self) -> Iterator[dict[str, Any]]:
        with open(self._target, "rb") as stream:
            begin = stream.read(len(BEGIN))
            if begin != BEGIN[: len(begin)]:
                raise FormatError(_what_else(begin + stream.readline(len(BEGIN))), self.path)
            first = begin + stream.readline()
            if not first.endswith(b"\n"):  # cut off before there was a record
                return
            header, chain = self._checked(first, "", 1)
            self._check_identity(header["identity"])
            for number, line in enumerate(stream, start=2):
                if line.endswith(b"\n"):
                    record, chain = self._checked(line, chain, number)
                    yield record

    def _checked(self, line: bytes, chain: str, number: int) -> tuple[Any, str]:
        """The content of an undamaged line, and its digest."""
        content, _, digest = line[:-1].rpartition(b" ")
        if _digest(chain, content).encode() != digest:
            raise FormatError(f"the checkpoint is damaged in this line; {WAY_OUT}", self.path, number)
        try:
            return json.loads(content), digest.decode()
        except (ValueError, RecursionError):
            raise FormatError(f"is not JSON, or too deeply nested; {WAY_OUT}", self.path, number) from None

    def _check_identity(self, found: dict[str, Any]) -> None:
        for name, value in self.identity.items():
            if found[name] != value:
                raise SettingError(
                    f"{self.path} is the checkpoint of another run: its {name} is not this run's; "
                    f"use another path, or delete the file"
                )

    # ---- writing

    def due(self) -> bool:
        """Return True if it is time for another record."""
        return time.perf_counter() - self._written >= PAUSE * self._took

    def save(self, saved: Callable[[], dict[str, Any]]) -> None:
        """Write a record of the values that `saved` returns, if it has steps that no record has.

        If that fails, as on a full disk, a warning says so once: the run is worth more than its
        checkpoint. Earlier records stay, and later ones are still tried.
        """
        begin = time.perf_counter()
        values = saved()
        top, trace = values.pop("top"), values.pop("trace")
        if len(trace) == self._steps:
            return
        try:
            if self._needed and self._is_in_place() and self._size <= max(SMALL, GROWTH * self._needed):
                self._append(values, top, trace[self._steps :])
                self._took = time.perf_counter() - begin
            else:
                self._write_anew(values, top, trace)
        except (OSError, FormatError) as error:
            self._took = time.perf_counter() - begin
            self._warn(error)
        else:
            self._steps, self._top = len(trace), list(top)
        self._written = time.perf_counter()

    def write(self, values: dict[str, Any]) -> None:
        """Replace the file's content by the values that a run needs to go on; refuse if that fails."""
        try:
            if self._size:  # of this run, or not ours to write over
                next(self._records(), None)
            self._write_anew(values, values.pop("top"), values.pop("trace"))
        except OSError as error:
            raise FormatError(f"cannot be written: {error.strerror or error}", self.path) from None

    def _append(self, values: dict[str, Any], top: Sequence[Any], steps: Sequence[Any]) -> None:
        places = {id(entry): place for place, entry in enumerate(self._top)}
        shown = _json(steps)
        line, chain = _line(
            _record(values, [places.get(id(entry), entry) for entry in top], shown), self._chain
        )
        try:
            _write(self._file, line)
        except BaseException:
            os.ftruncate(self._file, self._size)
            os.lseek(self._file, self._size, os.SEEK_SET)
            raise
        self._size, self._chain = self._size + len(line), chain
        self._needed = max(self._needed + len(shown), len(line))

    def _write_anew(self, values: dict[str, Any], top: Sequence[Any], trace: Sequence[Any]) -> None:
        """Replace the file by one with a single record, keeping the lock where the system allows it."""
        if self._file >= 0 and not is_at(self._file, self._target) and self._target.exists():
            raise FormatError("cannot be written: another file has taken its place", self.path)
        first, chain = _line(_json({"format": FORMAT, "version": VERSION, "identity": self.identity}), "")
        record, chain = _line(_record(values, top, _json(trace)), chain)
        fresh, self._needed = -1, 0
        if not REPLACES_OPEN_FILES:
            self._close()
        try:
            with atomic_write(self._target, durable=self._size > 0) as stream:
                stream.write(first + record)
                if REPLACES_OPEN_FILES:
                    stream.flush()
                    fresh = os.dup(stream.fileno())  # and with it the lock that the new file has
        except BaseException:
            if fresh >= 0:
                os.close(fresh)
            raise
        self._close()
        self._file = fresh if fresh >= 0 else self._opened()
        self._size = self._needed = os.lseek(self._file, 0, os.SEEK_END)
        self._chain, self._ours = chain, False

    def _warn(self, error: OSError | FormatError) -> None:
        if self._warned:
            return
        self._warned = True
        if isinstance(error, OSError):
            error = FormatError(f"cannot be written: {error.strerror or error}", self.path)
        warn(
            f"{error}; the run goes on and tries again, but a kill now loses its steps from {self._steps} on"
        )

    # ---- the open file

    def _opened(self) -> int:
        """The descriptor of the file, created if there is none, locked against every other run."""
        while True:
            file = os.open(self._target, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
            try:
                lock(file)
            except BlockingIOError:
                os.close(file)
                raise SettingError(
                    f"{self.path} is in use: {self._user()} works on this checkpoint; "
                    f"wait for it, or use another path"
                ) from None
            except OSError:  # a file system without locks
                return file
            if is_at(file, self._target):  # and was not replaced in between
                return file
            os.close(file)

    def _user(self) -> str:
        """The process that wrote the last record, named as the one that holds the file."""
        found = None
        with open(self._target, "rb") as stream:
            for line in stream:
                found = re.match(rb'\{"pid":(\d+),', line) or found
        number = None if found is None else int(found[1])
        if number == os.getpid():
            return "another run of this process"
        return "another process" if number is None else f"another process, {number} by its last record,"

    def _is_in_place(self) -> bool:
        """Return True if the file is still as this run left it."""
        return is_at(self._file, self._target) and os.fstat(self._file).st_size == self._size

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _record(values: dict[str, Any], top: Sequence[Any], steps: str) -> str:
    """A record as JSON, from steps as JSON; a number in `top` is the index of an entry in the last record."""
    return f'{_json({"pid": os.getpid(), **values, "top": top})[:-1]},"steps":{steps}}}'


def _line(content: str, chain: str) -> tuple[bytes, str]:
    """The line of a content that follows lines of digest `chain`, and its own digest."""
    encoded = content.encode()
    digest = _digest(chain, encoded)
    return encoded + b" " + digest.encode() + b"\n", digest


def _digest(chain: str, content: bytes) -> str:
    return blake2b(content, digest_size=16, key=chain.encode()).hexdigest()


def _write(file: int, content: bytes) -> None:
    """Write all of the content; one system call may write only a part."""
    left = memoryview(content)
    while left:
        left = left[os.write(file, left) :]


def _what_else(begin: bytes) -> str:
    """A description of a file that does not begin as a checkpoint of this version does."""
    if earlier := EARLIER.match(begin):
        return (
            f"is a checkpoint of version {earlier[1].decode()}, which is not read any more; finish its run "
            f"with the bayescout that began it, or use another path"
        )
    return "is not a checkpoint of this version; use another path"
