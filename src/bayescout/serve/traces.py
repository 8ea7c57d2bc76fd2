"""The steps of a run in a file: of each the numbers and the arcs that changed, so that any can be shown.

One JSON array per line: [step, seconds, score, best, added, removed], arcs as positions of the nodes. Every
so many steps a line ends with all arcs, [step, seconds, score, best, [], [], arcs], so that a graph in the
middle of a long run is found without reading all of it. A line of four numbers alone is a step whose
graph was not kept, as of a result that was learned elsewhere.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Any

KEYFRAME = 256
"""The steps from one line with all arcs to the next."""

TRACE = "trace.jsonl"
"""The file of a run's steps, in its folder."""

MOST_POINTS = 1500
"""The most points of a curve."""

Arcs = frozenset[tuple[int, int]]


class TraceWriter:
    """Adds steps to the file of a run, and takes the last ones off when the run goes back.

    A step that a full disk does not take waits, and is written before the next ones.
    """

    def __init__(self, path: Path) -> None:
        self._starts = array("q")
        self._arcs: Arcs = frozenset()
        self._end = 0
        self._waiting = bytearray()
        self._stream = open(path, "ab", buffering=0)  # noqa: SIM115 - held until the end
        self._find_lines(path)

    def _find_lines(self, path: Path) -> None:
        with open(path, "rb") as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                self._starts.append(self._end)
                self._end += len(line)
        self._stream.truncate(self._end)

    @property
    def steps(self) -> int:
        return len(self._starts)

    @property
    def _written(self) -> int:
        return self._end - len(self._waiting)

    def add(self, step: int, seconds: float, score: float, best: float, arcs: Arcs) -> None:
        """Add a step, in place of those from its number on."""
        if step < self.steps:
            self.cut(step)
        line: list[Any] = [self.steps, round(seconds, 6), score, best]
        if self.steps % KEYFRAME:
            line += [sorted(arcs - self._arcs), sorted(self._arcs - arcs)]
        else:
            line += [[], [], sorted(arcs)]
        text = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        self._starts.append(self._end)
        self._end += len(text)
        self._waiting += text
        self._arcs = arcs
        self.flush()

    def cut(self, steps: int) -> None:
        """Keep so many steps."""
        if steps < self.steps:
            end, written = self._starts[steps], self._written
            del self._waiting[max(0, end - written) :]
            self._stream.truncate(min(end, written))
            self._end = end
            del self._starts[steps:]

    def now(self, arcs: Arcs) -> None:
        """Say what graph the last step has, after a cut."""
        self._arcs = arcs

    def flush(self) -> None:
        """Write what waits."""
        while self._waiting:
            del self._waiting[: self._stream.write(self._waiting)]

    def close(self) -> None:
        try:
            self.flush()
        finally:
            self._stream.close()


class TraceReader:
    """Reads the file of a run as it grows, in bounded memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._place = 0
        self._read = 0
        self._every = 1
        self._frames: dict[int, int] = {}
        self._points: list[list[float]] = []
        self._last: list[float] | None = None

    def points(self) -> list[list[float]]:
        """[step, seconds, score, best] of the run, thinned evenly if it is long; the last is always there."""
        self._catch_up()
        last = self._last
        more = last is not None and (not self._points or self._points[-1][0] != last[0])
        return [*self._points, last] if more and last is not None else list(self._points)

    def _catch_up(self) -> None:
        if not self.path.exists():
            return
        last = b""
        with open(self.path, "rb") as stream:
            stream.seek(self._place)
            for line in stream:
                if not line.endswith(b"\n"):
                    break
                if self._read % KEYFRAME == 0:
                    self._frames[self._read] = self._place
                if self._read % self._every == 0:
                    self._keep(json.loads(line)[:4])
                self._place += len(line)
                self._read += 1
                last = line
        if last:
            self._last = json.loads(last)[:4]

    def _keep(self, point: list[float]) -> None:
        self._points.append(point)
        if len(self._points) > MOST_POINTS:
            self._points = self._points[::2]
            self._every *= 2

    def at(self, step: int) -> tuple[list[float], Arcs] | None:
        """The numbers and the arcs of a step; None if the run has no such step, or its graph was not kept."""
        self._catch_up()
        if not 0 <= step < self._read:
            return None
        arcs: set[tuple[int, int]] = set()
        with open(self.path, "rb") as stream:
            stream.seek(self._frames[step - step % KEYFRAME])
            for _ in range(step % KEYFRAME + 1):
                line = json.loads(stream.readline())
                if len(line) == 4:
                    return None
                if len(line) > 6:
                    arcs = set(_pairs(line[6]))
                arcs = (arcs - set(_pairs(line[5]))) | set(_pairs(line[4]))
        return line[:4], frozenset(arcs)


def _pairs(arcs: Iterable[Any]) -> Iterable[tuple[int, int]]:
    return ((int(a), int(b)) for a, b in arcs)
