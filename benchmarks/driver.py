"""What the driver costs a step, and the memory that learning takes beside the encoded data."""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass
from typing import ClassVar

import bayescout as bs
from bayescout.search import State


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
    memory()
