"""What the driver costs a step, what checkpoints cost, and the memory that learning takes beside the data."""

from __future__ import annotations

import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import bayescout as bs
from bayescout.search import HillClimb, State


@dataclass(frozen=True)
class Idle:
    """A search that does nothing, so many times."""

    steps: int = 100_000
    state: ClassVar[type[State]] = State

    def start(self, problem, rng):
        graph = problem.first_graph(rng)
        return State(graph, problem.total(graph))

    def advance(self, problem, state, rng):
        return State(state.parents, state.score, state.operations + 1 == self.steps, state.operations + 1)


def driver():
    table = bs.load_network("alarm").sample(1000, seed=1)
    bs.learn(table, Idle(steps=10))
    begin = time.perf_counter()
    bs.learn(table, Idle())
    print(f"driver: {(time.perf_counter() - begin) / Idle().steps * 1e6:.2f} us a step")


def checkpoints():
    """The same run without and with a checkpoint, in turns; CPU time, as others may use the machine."""
    table, search = bs.load_network("alarm").sample(3000, seed=1), HillClimb(restarts=400)
    bs.learn(table, HillClimb(restarts=2))
    without, kept = [], []
    for _ in range(7):
        without.append(_seconds(table, search))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run"
            kept.append(_seconds(table, search, checkpoint=path))
            size = path.stat().st_size / 2**20
    print(
        f"alarm, 3,000 rows, {search.restarts} restarts: {min(without):.2f} s of CPU without a checkpoint, "
        f"{min(kept):.2f} s with one, {min(kept) / min(without):.2f} times; a file of {size:.1f} MiB"
    )


def _seconds(table, search, **options):
    begin = time.process_time()
    bs.learn(table, search, **options)
    return time.process_time() - begin


def memory():
    table = bs.load_network("alarm").sample(1_000_000, seed=1)
    bs.learn(table.take(range(1000)))
    encoded = table.codes.nbytes / 2**20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    begin = time.perf_counter()
    bs.learn(table)
    seconds = time.perf_counter() - begin
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before
    print(
        f"alarm, 1,000,000 rows: {seconds:.2f} s, at most {more + encoded:.0f} MiB, "
        f"{(more + encoded) / encoded:.2f} times the {encoded:.0f} MiB of encoded data"
    )


if __name__ == "__main__":
    driver()
    checkpoints()
    memory()
