"""A campaign: many inputs over many targets, in workers that are replaced when an input ends them."""

from __future__ import annotations

import json
import os
import selectors
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.fuzz.target import generator
from tests.fuzz.targets import TARGETS
from tests.fuzz.worker import (
    BEGUN,
    NUMBER,
    PIECE,
    PREPARING,
    Finding,
    Piece,
    Settings,
    Shared,
    examine,
    keep,
    prepare,
    work,
)

LOG = 20_000
"""How many characters of what a dying worker wrote are looked at."""

PATIENCE = 15
"""How many times its CPU seconds an input may take by the clock, for a busy machine."""

CONFIRMED = 3
"""How many of a target's hangs, each at another place, are run again to be sure."""


@dataclass
class Report:
    """What a campaign found."""

    findings: list[Finding] = field(default_factory=list)
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        return not self.findings and not self.failures

    def kinds(self, target: str) -> Counter[str]:
        return Counter(found.kind for found in self.findings if found.target == target)


def shared_out(inputs: int, targets: Sequence[str]) -> dict[str, int]:
    """How many inputs each target gets, by weight; at least one."""
    total = sum(TARGETS[name].weight for name in targets)
    return {name: max(1, round(inputs * TARGETS[name].weight / total)) for name in targets}


def run(counts: dict[str, int], settings: Settings, workers: int = 2, seconds: float | None = None) -> Report:
    """Run so many inputs of each target; `seconds` is for all together, and the same for each target.

    Ctrl-C ends it with what was found so far.
    """
    begin = time.monotonic()
    share = None if seconds is None else seconds / len(counts)
    report = Report(counts={name: Counter() for name in counts})
    pieces = [
        [
            Piece(name, *bounds, share)
            for name, count in counts.items()
            for bounds in _bounds(count, workers, worker)
        ]
        for worker in range(workers)
    ]
    with (
        tempfile.TemporaryDirectory(dir=_quick_folder(), prefix="fuzz-") as folder,
        selectors.DefaultSelector() as ready,
    ):
        crews = [_Crew(i, some, settings, Path(folder), report) for i, some in enumerate(pieces)]
        try:
            for crew in crews:
                crew.begin(ready)
            while any(crew.alive for crew in crews):
                for key, _ in ready.select(timeout=0.5):
                    key.data.hear(ready)
                for crew in crews:
                    crew.watch()
        except KeyboardInterrupt:
            report.failures.append("interrupted")
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            for crew in crews:
                crew.end()
    report.seconds = time.monotonic() - begin
    return report


def _bounds(count: int, workers: int, worker: int) -> Iterable[tuple[int, int]]:
    """The numbers that one of the workers runs."""
    start, stop = count * worker // workers, count * (worker + 1) // workers
    if stop > start:
        yield start, stop


def _quick_folder() -> str | None:
    """A folder in memory, where there is one: inputs that are files are many and small."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class _Crew:
    """One worker and those that come after it, and what they have left to do."""

    def __init__(
        self, number: int, pieces: list[Piece], settings: Settings, folder: Path, report: Report
    ) -> None:
        self.pieces, self.settings, self.report = pieces, settings, report
        self.log, self.folder = folder / f"{number}.log", folder / str(number)
        self.folder.mkdir()
        self.alive = False
        self._process, self._pipe, self._heard = 0, -1, b""
        self._shared = Shared()
        self._killed = False

    def begin(self, ready: selectors.BaseSelector) -> None:
        """Fork a worker for what is left, if anything is."""
        if not self.pieces:
            return
        self._pipe, other_end = os.pipe()
        self._shared, self._heard, self._killed = Shared(), b"", False
        self._process = os.fork()
        if self._process == 0:
            os.close(self._pipe)
            work(self.pieces, self.settings, self._shared, other_end, self.log, self.folder)
        os.close(other_end)
        self.alive = True
        ready.register(self._pipe, selectors.EVENT_READ, self)

    def hear(self, ready: selectors.BaseSelector) -> None:
        """Take in what the worker says; at the end of it, see how it ended."""
        heard = os.read(self._pipe, 1 << 16)
        if heard:
            *lines, self._heard = (self._heard + heard).split(b"\n")
            for line in lines:
                self._note(json.loads(line))
            return
        ready.unregister(self._pipe)
        os.close(self._pipe)
        self.alive = False
        self._count()
        status = os.waitpid(self._process, 0)[1]
        if os.WIFSIGNALED(status):
            self._died(os.WTERMSIG(status))
            self.begin(ready)

    def watch(self) -> None:
        """End a worker that waits for ever: one that works for ever ends itself."""
        values = self._shared.values
        if not self.alive or self._killed or values[PREPARING] or not values[BEGUN]:
            return
        if time.monotonic_ns() - values[BEGUN] > PATIENCE * self.settings.limit * 1e9:
            self._killed = True
            os.kill(self._process, signal.SIGPROF)

    def end(self) -> None:
        """End a worker that is still there, as after Ctrl-C."""
        if self.alive:
            os.kill(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)
            self._count()

    def _note(self, message: dict[str, object]) -> None:
        if "failure" in message:
            self.report.failures.append(str(message["failure"]))
        else:
            self.report.findings.append(Finding(**message))  # type: ignore[arg-type]

    def _count(self) -> None:
        for name, counts in self.report.counts.items():
            counts.update(self._shared.of(name))

    def _died(self, number: int) -> None:
        """Note the input that ended the worker, and leave it out of what is left."""
        values = self._shared.values
        here, at = self.pieces[values[PIECE]], values[NUMBER]
        name, said = signal.Signals(number).name, self.log.read_text(errors="replace")[-LOG:]
        if values[PREPARING]:
            self.report.failures.append(f"{name} from a seed of {here.target}\n{said}")
            self.pieces = []
            return
        hung = number == signal.SIGPROF
        kind = f"hang of more than {self.settings.limit:g} s" if hung else name
        finding = Finding(here.target, at, f"{kind} {_place_in(said)}", said)
        self.pieces = [replace(here, start=at + 1), *self.pieces[values[PIECE] + 1 :]]
        if (
            hung
            and not self._known(finding)
            and not _hangs_again(here.target, at, self.settings, self.folder)
        ):
            self.report.counts[here.target]["slow once"] += 1
            return
        _in_a_process(lambda: keep(finding, TARGETS[finding.target], self.settings))
        self.report.findings.append(finding)

    def _known(self, finding: Finding) -> bool:
        """Whether others like it have been found: they need not be run again to be sure."""
        hangs = [
            f.kind for f in self.report.findings if f.target == finding.target and f.kind.startswith("hang")
        ]
        return finding.kind in hangs or len(hangs) >= CONFIRMED


def _place_in(said: str) -> str:
    """The innermost line of the package in what a dying process wrote."""
    lines = [line.strip() for line in said.splitlines() if line.strip().startswith("File ")]
    ours = [line for line in lines if "/bayescout/" in line] or lines[:1]
    return ours[0].replace("File ", "at ").replace(str(Path.cwd()) + "/", "") if ours else ""


def _hangs_again(target: str, number: int, settings: Settings, folder: Path) -> bool:
    """Whether an input takes too long once all the code it needs has been loaded: the second time counts."""

    def act() -> None:
        prepare(TARGETS[target], folder)
        examine(TARGETS[target], settings.seed, number, folder)
        signal.setitimer(signal.ITIMER_PROF, settings.limit)
        examine(TARGETS[target], settings.seed, number, folder)

    return _in_a_process(act, settings.limit * PATIENCE) != 0


def _in_a_process(act: object, seconds: float = 60.0) -> int:
    """Do something in a process of its own, for so long at most; how it ended."""
    process = os.fork()
    if process == 0:
        code = 1
        try:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(int(seconds) + 1)
            act()  # type: ignore[operator]
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(process, 0)[1]


def run_one(target: str, number: int, settings: Settings) -> Finding | str:
    """One input in this process, where a debugger can follow it."""
    with tempfile.TemporaryDirectory(dir=_quick_folder(), prefix="fuzz-") as folder:
        found = examine(TARGETS[target], settings.seed, number, Path(folder))
    if isinstance(found, Finding):
        keep(found, TARGETS[target], settings)
    return found


def input_of(target: str, seed: int, number: int) -> bytes:
    """The bytes of one input."""
    return TARGETS[target].kept(TARGETS[target].draw(generator(target, seed, number)))


def table(report: Report) -> str:
    """What was run and what was found, by target."""
    lines = [f"{'target':<14}{'inputs':>10}{'accepted':>10}{'refused':>10}{'findings':>10}{'per second':>12}"]
    for name, counts in report.counts.items():
        kinds = report.kinds(name)
        done = counts["accepted"] + counts["refused"] + counts["slow once"] + kinds.total()
        rate = 1e9 * done / counts["nanoseconds"] if counts["nanoseconds"] else 0.0
        lines.append(
            f"{name:<14}{done:>10,}{counts['accepted']:>10,}{counts['refused']:>10,}{kinds.total():>10,}{rate:>12,.0f}"
        )
    total = sum(counts["accepted"] + counts["refused"] for counts in report.counts.values()) + len(
        report.findings
    )
    lines.append(f"{total:,} inputs in {report.seconds:.0f} s, {len(report.findings):,} findings")
    for name in report.counts:
        for kind, count in report.kinds(name).most_common():
            first = next(f for f in report.findings if f.target == name and f.kind == kind)
            lines.append(f"  {name}: {count:,} x {kind}; the first is --only {first.number}")
    lines += [f"failure of the campaign itself: {text}" for text in report.failures]
    return "\n".join(lines) + "\n"


__all__ = ["Report", "Settings", "input_of", "run", "run_one", "shared_out", "table"]
