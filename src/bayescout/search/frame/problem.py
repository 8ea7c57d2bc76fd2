"""What a search sees and what it is: a problem in integers, a state, and two methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescout.scores.base import LocalScores
from bayescout.search.frame.knowledge import Rules
from bayescout.search.frame.watch import Watch
from bayescout.search.graphs.gain_rows import Rows
from bayescout.statistics.dependencies import DependencyCache
from bayescout.statistics.families import Family, Floats, Ints

ParentSets = tuple[tuple[int, ...], ...]
Pairs = tuple[tuple[int, int], ...]
Edges = tuple[Pairs, Pairs]
Generator = np.random.Generator


class CountingScore:
    """A score that counts the families it is asked for, from memory or not.

    The count is a function of the search alone, so that it is the same for any number of workers, any
    cache and after a resumed run; `suspended` leaves out what only rebuilds a search's scratch space.
    `compiled` counts families that a kernel scored by itself, without asking this object. `watch` is the
    clock of the run.
    """

    def __init__(self, score: LocalScores) -> None:
        self.score = score
        self.n_variables = score.n_variables
        self.asked = 0
        self.compiled = 0
        self.watch = Watch()

    def local(self, child: int, parents: tuple[int, ...]) -> float:
        self.asked += 1
        return self.score.local(child, parents)

    def extensions(self, child: int, parents: tuple[int, ...], candidates: Ints) -> Floats:
        self.asked += len(candidates)
        return self.score.extensions(child, parents, candidates)

    def many(self, families: Sequence[Family]) -> Floats:
        self.asked += len(families)
        return self.score.many(families)

    @contextmanager
    def suspended(self) -> Iterator[None]:
        before = self.asked
        try:
            yield
        finally:
            self.asked = before


@dataclass(frozen=True, eq=False)
class Problem:
    """A score to be maximised over the graphs that keep the rules.

    `start` is where to begin: a graph, "empty" (the required arcs alone) or "random".
    """

    score: CountingScore
    rules: Rules
    start: ParentSets | str = "empty"

    @property
    def n(self) -> int:
        return self.rules.n

    def check(self) -> None:
        """Between two pieces of work of a long step: give the step up where the run is over."""
        self.score.watch.check()

    @cached_property
    def rows(self) -> Rows:
        """The gains of single-arc moves, remembered for the whole run."""
        return Rows(self.score, self.rules)

    def total(self, parents: Sequence[tuple[int, ...]]) -> float:
        """The score of a whole graph."""
        return float(np.sum(self.score.many(list(enumerate(parents)))))

    def first_graph(self, rng: Generator) -> ParentSets:
        """The graph a search begins with."""
        if self.start == "random":
            return random_graph(self.rules, rng)
        if isinstance(self.start, str):
            return self.rules.required_parents
        return self.start


@dataclass
class State:
    """Where a search stands: plain values, so that it can be saved and resumed.

    `work` is scratch space that can be rebuilt from the rest; it is not saved. The answer of a run is the
    best graph met, unless `latest_counts`: then it is the graph in hand, whatever it scores.
    """

    parents: ParentSets
    score: float
    done: bool = False
    operations: int = 0
    work: Any = field(default=None, repr=False, compare=False)

    latest_counts: ClassVar[bool] = False

    def visited(self) -> Sequence[tuple[float, ParentSets]]:
        """The graphs this step came to, with their scores: the current one unless there are more."""
        return ((self.score, self.parents),)

    def facts(self) -> dict[str, float]:
        """What the trace shows of this step besides score, arcs, operations and evaluations."""
        return {}

    def upper_bound(self) -> float | None:
        """What no graph that keeps the rules can score more than, where that is known."""
        return None

    def found_class(self) -> Edges | None:
        """The directed and undirected pairs, where the answer is a class of graphs and not one."""
        return None

    def dependencies(self) -> DependencyCache | None:
        """The tests of independence made so far, by a search that makes any."""
        return None

    def to_json(self) -> dict[str, Any]:
        """The plain values."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "work"}

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> State:
        return cls(**{name: _tuples(value) for name, value in saved.items()})


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


class Search(Protocol):
    """A frozen dataclass of settings with two methods; `state` is the class of its states.

    A search whose states are no answers before its end has a third, `conclude(problem, state)`: the state
    to answer with when the run is stopped early. One that climbs greedily from the start graph sets
    `climbs`; the others, stopped early, answer at least with what such a climb gives in that time.

    A step that may take long calls `problem.check()` between pieces of its work. That may give the step up,
    so `advance` leaves the fields of the state it was given alone.
    """

    state: type[State]

    def start(self, problem: Problem, rng: Generator) -> State:
        """The first state."""

    def advance(self, problem: Problem, state: State, rng: Generator) -> State:
        """The state after one more step."""


def random_graph(rules: Rules, rng: Generator, mean_parents: float = 1.0) -> ParentSets:
    """A random graph that keeps the rules: a random order, then each forward arc with equal chance."""
    order = random_order(rules, rng)
    n = rules.n
    chance = min(1.0, 2.0 * mean_parents / max(1, n - 1))
    parents: list[tuple[int, ...]] = [()] * n
    for place, child in enumerate(order):
        required = rules.required_parents[child]
        before = np.array(order[:place], dtype=np.int64)
        free = before[rules.allowed[before, child] & ~rules.required[before, child]]
        drawn = free[rng.random(len(free)) < chance]
        room = int(rules.max_parents[child]) - len(required)
        if len(drawn) > room:
            drawn = rng.permutation(drawn)[: max(0, room)]
        parents[child] = tuple(sorted([*required, *drawn.tolist()]))
    return tuple(parents)


def random_order(rules: Rules, rng: Generator) -> tuple[int, ...]:
    """A random order that the required arcs and a known order allow; uniform where there are none."""
    if rules.order is not None:
        return rules.order
    shuffled = rng.permutation(rules.n)
    if not rules.required.any():
        return tuple(shuffled.tolist())
    left = rules.required.sum(axis=0)
    order: list[int] = []
    waiting = shuffled.tolist()
    while waiting:
        node = next(v for v in waiting if left[v] == 0)
        waiting.remove(node)
        order.append(node)
        left = left - rules.required[node]
    return tuple(order)


LEAST_ROWS = 10_000
"""The rows that scoring a family counts for at least: with fewer, other work than counting takes the time."""


def rows_of(problem: Problem) -> int:
    """What scoring a family counts for, where the work of a step is planned."""
    statistics = getattr(problem.score.score, "statistics", None)
    return max(LEAST_ROWS, int(getattr(statistics, "n_rows", 0)))


def arcs_in(parents: Sequence[Sequence[int]]) -> int:
    return sum(map(len, parents))


def as_matrix(parents: Sequence[Sequence[int]], n: int) -> NDArray[np.bool_]:
    """adjacent[parent, child]."""
    adjacent = np.zeros((n, n), dtype=bool)
    for child, own in enumerate(parents):
        if own:
            adjacent[list(own), child] = True
    return adjacent
