"""A worker: a forked process that runs inputs one after the other and may die of any of them.

Before an input runs, its place is written to memory shared with the parent, so that a death is known to be
that input's; counts are kept there too. Findings that the worker survives go through a pipe, a line of JSON
each.
"""

from __future__ import annotations

import faulthandler
import json
import mmap
import os
import re
import resource
import shutil
import signal
import time
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from bayescout.errors import BayescoutError
from tests.fuzz.target import Broken, Refused, Target, check_message, generator
from tests.fuzz.targets import TARGETS

PIECE, NUMBER, PREPARING, BEGUN, FIRST = range(5)
COUNTS = ("accepted", "refused", "nanoseconds")


@dataclass(frozen=True)
class Piece:
    """Some inputs of one target: the numbers from `start` to before `stop`, in `seconds` at most."""

    target: str
    start: int
    stop: int
    seconds: float | None = None


@dataclass(frozen=True)
class Settings:
    """What all workers have in common."""

    seed: int
    limit: float = 2.0
    """CPU seconds that one input may take."""
    memory: int = 3 << 30
    """Bytes that one input may take."""
    keep: Path | None = None


@dataclass(frozen=True)
class Finding:
    """Something that should not be: `kind` is the same for all that have the same root."""

    target: str
    number: int
    kind: str
    detail: str


class Shared:
    """The memory that a worker and its parent share: where the worker is, and its counts by target."""

    def __init__(self) -> None:
        self.values = memoryview(mmap.mmap(-1, 8 * (FIRST + len(COUNTS) * len(TARGETS)))).cast("q")
        self._places = {name: FIRST + i * len(COUNTS) for i, name in enumerate(TARGETS)}

    def add(self, target: str, count: str, amount: int = 1) -> None:
        self.values[self._places[target] + COUNTS.index(count)] += amount

    def of(self, target: str) -> dict[str, int]:
        start = self._places[target]
        return dict(zip(COUNTS, self.values[start : start + len(COUNTS)].tolist(), strict=True))


def work(
    pieces: Sequence[Piece], settings: Settings, shared: Shared, pipe: int, log: Path, folder: Path
) -> NoReturn:
    """Run the pieces, in a process that is there for nothing else."""
    code = 1
    try:
        _take_precautions(log)
        for place, piece in enumerate(pieces):
            shared.values[PIECE] = place
            _run_piece(piece, settings, shared, pipe, folder)
        code = 0
    except BaseException:
        _send(pipe, {"failure": traceback.format_exc()})
    os._exit(code)


def _take_precautions(log: Path) -> None:
    """Say in the log where a signal struck; SIGPROF, of the timer, ends the process as it does by itself."""
    stream = open(log, "w")  # noqa: SIM115 - for as long as the process lives
    for descriptor in (1, 2):  # what libraries say there is no output of the campaign
        os.dup2(stream.fileno(), descriptor)
    faulthandler.enable(stream)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent sees to it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    faulthandler.register(signal.SIGPROF, stream, all_threads=False, chain=True)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    warnings.filterwarnings("error", category=RuntimeWarning)  # of NumPy: numbers that went wrong


def _run_piece(piece: Piece, settings: Settings, shared: Shared, pipe: int, folder: Path) -> None:
    target = TARGETS[piece.target]
    shared.values[PREPARING] = 1
    prepare(target, folder)
    shared.values[PREPARING] = 0
    end = None if piece.seconds is None else time.monotonic() + piece.seconds
    _limit_memory(settings.memory)
    parent = os.getppid()
    for number in range(piece.start, piece.stop):
        if end is not None and time.monotonic() > end:
            break
        if os.getppid() != parent:
            os._exit(1)  # there is nobody left to tell
        begin = time.perf_counter_ns()
        shared.values[BEGUN] = time.monotonic_ns()
        shared.values[NUMBER] = number
        signal.setitimer(signal.ITIMER_PROF, settings.limit)
        found = examine(target, settings.seed, number, folder)
        signal.setitimer(signal.ITIMER_PROF, 0)
        shared.add(piece.target, "nanoseconds", time.perf_counter_ns() - begin)
        if isinstance(found, Finding):
            keep(found, target, settings)
            _send(pipe, asdict(found))
        else:
            shared.add(piece.target, found)
    _limit_memory(None)


def prepare(target: Target, folder: Path) -> None:
    """Check the seeds themselves, which are valid, so that what follows is about what was changed in them."""
    for seed in target.seeds():
        try:
            target.check(seed, emptied(folder))
        except (BayescoutError, Refused) as error:
            raise AssertionError(
                f"target {target.name} refuses its own seed {target.kept(seed)[:200]!r}"
            ) from error


def examine(target: Target, seed: int, number: int, folder: Path) -> Finding | str:
    """Run one input: "accepted", "refused", or a finding."""
    value = target.draw(generator(target.name, seed, number))
    try:
        try:
            target.check(value, emptied(folder))
            return "accepted"
        except BayescoutError as error:
            check_message(error)
            return "refused"
    except Refused:
        return "refused"
    except BaseException as error:
        return Finding(target.name, number, kind_of(error), traceback.format_exc())


def emptied(folder: Path) -> Path:
    """The folder with nothing in it."""
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)
    return folder


def kind_of(error: BaseException) -> str:
    """The law that is broken; or the exception, and the line of the package that it came through last."""
    if isinstance(error, Broken):
        return f"law: {error.law}"
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "bayescout" in Path(frame.filename).parts] or frames
    name = "/".join(Path(ours[-1].filename).parts[-2:])
    return f"{type(error).__name__} at {name}:{ours[-1].lineno} in {ours[-1].name}"


def keep(finding: Finding, target: Target, settings: Settings) -> None:
    """Write down the input and what became of it."""
    if settings.keep is None:
        return
    value = target.draw(generator(target.name, settings.seed, finding.number))
    stem = settings.keep / f"{finding.target}-{settings.seed}-{finding.number}"
    stem.with_suffix(".input").write_bytes(target.kept(value))
    stem.with_suffix(".txt").write_text(
        f"{finding.kind}\n\n{finding.detail}", encoding="utf-8", errors="backslashreplace"
    )


def _limit_memory(more: int | None) -> None:
    """Allow so much memory more than there is now; of data, as the package asks after that of addresses."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    there = _data_bytes()
    resource.setrlimit(resource.RLIMIT_DATA, (hard if more is None or not there else there + more, hard))


def _data_bytes() -> int:
    """What the limit counts, or 0 where the system does not say."""
    status = Path("/proc/self/status")
    found = re.search(r"VmData:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return int(found[1]) * 1024 if found else 0


def _send(pipe: int, message: dict[str, Any]) -> None:
    os.write(pipe, (json.dumps(message) + "\n").encode())
