"""The search protocol: a problem in integers, a state, and a search with two methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from bayescout.arrays import Bools, Parents
from bayescout.scores.gain_rows import GainRows
from bayescout.scores.scorer import Scorer
from bayescout.search.frame.knowledge import Rules
from bayescout.search.frame.watch import Watch
from bayescout.statistics.dependencies import DependencyRecord
from bayescout.statistics.screening import Screening

ParentSets = tuple[Parents, ...]
Pairs = tuple[tuple[int, int], ...]
Edges = tuple[Pairs, Pairs]
Generator = np.random.Generator
AnyState = TypeVar("AnyState", bound="State")
Work = TypeVar("Work")

MIN_GAIN = 1e-6
"""The smallest gain that counts: below it, by rounding, two inverse reversals could both gain for ever."""


MOST_KEPT = 4
"""States whose scratch is kept: that of a run, and of what it runs inside."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A score to be maximised over the graphs that keep the rules.

    `start` is a graph, "empty" (the required arcs alone) or "random". `watch` is the clock
    of the run. `screening` finds the pairs that may be joined in a wide table; None if all may.

    What can be rebuilt from a state, its scratch, is kept beside the latest states and not in them. Whoever
    takes it may change it: asked for again, it is rebuilt. Losing it costs time, never the answer.
    """

    scorer: Scorer
    rules: Rules
    start: ParentSets | str = "empty"
    watch: Watch = field(default_factory=Watch)
    screening: Screening | None = None
    _kept: dict[int, tuple[State, Any]] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return self.rules.n

    def check(self) -> None:
        """Abandon the step in hand if the run is over; called between two pieces of work of a long step."""
        self.watch.check()

    @cached_property
    def gain_rows(self) -> GainRows:
        """The gains of single-arc moves, remembered for the whole run."""
        return GainRows(self.scorer, self.rules)

    def scratch(self, state: State, rebuild: Callable[[], Work]) -> Work:
        """The scratch of a state, for the next one to change; rebuilt if it is not at hand.

        Rebuilding does not count as evaluations: a resumed run has the same counts as one never stopped.
        """
        kept = self._kept.pop(id(state), None)
        if kept is not None:
            found: Work = kept[1]
            return found
        with self.scorer.suspended():
            return rebuild()

    def keep(self, state: AnyState, work: Any) -> AnyState:
        """The state, with its scratch kept beside it."""
        kept = self._kept
        if len(kept) >= MOST_KEPT:
            del kept[next(iter(kept))]
        kept[id(state)] = state, work
        return state

    def total(self, parents: Sequence[Parents]) -> float:
        """The score of a whole graph."""
        return float(np.sum(self.scorer.many(list(enumerate(parents)))))

    def first_graph(self, rng: Generator) -> ParentSets:
        """The graph a search begins with."""
        if self.start == "random":
            return random_graph(self.rules, rng)
        if isinstance(self.start, str):
            return self.rules.required_parents
        return self.start


def transient(default: Any) -> Any:
    """A field of a state that describes only the step that made it: it is neither saved nor compared."""
    return field(default=default, repr=False, compare=False, metadata={"transient": True})


@dataclass(frozen=True)
class State:
    """The state of a search: a value, so that it can be saved, resumed, and gone back to.

    Work that can be rebuilt from it is kept beside it (`Problem.scratch`). The answer of a run is the best
    graph met, unless `answers_with_last`: then it is the graph in hand, whatever it scores.
    """

    parents: ParentSets
    score: float
    done: bool = False
    operations: int = 0

    answers_with_last: ClassVar[bool] = False

    def with_values(self: AnyState, **fields: Any) -> AnyState:
        """The state with other values of some fields; as `dataclasses.replace`, in a third of its time."""
        after = object.__new__(type(self))
        after.__dict__.update(self.__dict__, **fields)
        return after

    def visited(self) -> Sequence[tuple[float, ParentSets]]:
        """The graphs met in this step, with their scores: the current one unless there are more."""
        return ((self.score, self.parents),)

    def facts(self) -> dict[str, float]:
        """Further numbers of this step for the trace, besides score, arcs, operations and evaluations."""
        return {}

    def upper_bound(self) -> float | None:
        """An upper bound on the score of any graph that keeps the rules; None if not known."""
        return None

    def found_class(self) -> Edges | None:
        """The directed and undirected pairs, if the answer is an equivalence class and not one graph."""
        return None

    def dependencies(self) -> DependencyRecord | None:
        """The tests of independence made so far; None for a search that makes none."""
        return None

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return {f.name: getattr(self, f.name) for f in fields(self) if "transient" not in f.metadata}

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> State:
        return cls(**{name: _tuples(value) for name, value in saved.items()})


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


class Search(Protocol):
    """A frozen dataclass of settings with two methods; `state` is the class of its states.

    A search whose states are no answers before its end has a third, `conclude(problem, state)`: the state
    to answer with when the run is stopped early. A search that climbs greedily from the start graph sets
    `climbs`; any other, if stopped early, answers with at least what such a climb reaches in that time.

    `advance` makes a new state and leaves the given one unchanged, so that two calls with the same arguments
    give the same. A step that may take long calls `problem.check()` between pieces of its work.
    """

    @property
    def state(self) -> type[State]:
        """The class of its states: a variable of the class."""

    def start(self, problem: Problem, rng: Generator) -> State:
        """The first state."""

    def advance(self, problem: Problem, state: Any, rng: Generator) -> State:
        """The state after one more step; `state` is of the class that it names."""


def random_graph(rules: Rules, rng: Generator, mean_parents: float = 1.0) -> ParentSets:
    """A random graph that keeps the rules: a random order, then each forward arc with equal probability."""
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
    """A random order that respects the required arcs and a known order; uniform if there are none."""
    if rules.order is not None:
        return rules.order
    shuffled = rng.permutation(rules.n)
    if not any(rules.required_parents):
        return tuple(shuffled.tolist())
    left = [len(own) for own in rules.required_parents]
    children: list[list[int]] = [[] for _ in range(rules.n)]
    for child, own in enumerate(rules.required_parents):
        for parent in own:
            children[parent].append(child)
    order: list[int] = []
    waiting = shuffled.tolist()
    while waiting:
        node = next(v for v in waiting if left[v] == 0)
        waiting.remove(node)
        order.append(node)
        for child in children[node]:
            left[child] -= 1
    return tuple(order)


def arcs_in(parents: Sequence[Sequence[int]]) -> int:
    return sum(map(len, parents))


def as_matrix(parents: Sequence[Sequence[int]], n: int) -> Bools:
    """The adjacency matrix, adjacent[parent, child]."""
    adjacent = np.zeros((n, n), dtype=bool)
    for child, own in enumerate(parents):
        if own:
            adjacent[list(own), child] = True
    return adjacent
