"""The values that a run gives: its steps, its limits, and the outcome of it all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bayescout.checks import is_real, require_count
from bayescout.errors import SettingError
from bayescout.search.frame.problem import ParentSets, Problem, State


class Step(NamedTuple):
    """One step of a run, for the trace and for callbacks.

    `score` is that of the graph in hand and `best` that of the best so far; `operations` and
    `evaluations` (families asked for) are counted from the start; `facts` are further numbers of the search.
    """

    step: int
    score: float
    best: float
    arcs: int
    operations: int
    evaluations: int
    seconds: float
    facts: dict[str, float]


Callback = Callable[[Step], Any]


@dataclass(frozen=True)
class Limits:
    """Limits of a run: its seconds and steps, and how many networks to keep."""

    max_time: float | None = None
    max_steps: int | None = None
    top: int = 1

    def __post_init__(self) -> None:
        if self.max_time is not None and not (is_real(self.max_time) and self.max_time > 0):
            raise SettingError(f"max_time must be a positive number of seconds, not {self.max_time!r}")
        for name, least in (("max_steps", 0), ("top", 1)):
            value = getattr(self, name)
            if value is not None:
                require_count(name, value, least)


ScoredGraph = tuple[float, ParentSets]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run.

    trace        the steps, in order
    top          the best distinct graphs met, best first
    stop_reason  why it ended
    bound        an upper bound on the score of any graph, where one is known
    answer       the last state, or what the search concluded from it
    own_score    the best score of the search itself, where the answer is a greedy climb that got further
    too_large    the first family that was left out because its table is too large, in words
    """

    trace: tuple[Step, ...]
    top: tuple[ScoredGraph, ...]
    stop_reason: str
    bound: float | None
    answer: State
    own_score: float | None = None
    too_large: str = ""

    @property
    def best(self) -> ScoredGraph:
        return self.top[0]


def keep_best(top: list[ScoredGraph], score: float, graph: ParentSets, most: int) -> None:
    """Insert a graph among the best distinct ones, best first; of equals the first found stays first."""
    full = len(top) >= most
    if full and score <= top[-1][0]:
        return
    for _, other in top:
        if graph == other:
            return
    place = len(top)
    while place and top[place - 1][0] < score:
        place -= 1
    top.insert(place, (score, graph))
    if full:
        del top[most:]


def worth_showing(top: Sequence[ScoredGraph], problem: Problem, most: int) -> tuple[ScoredGraph, ...]:
    """The best graphs, without the empty graph that the run began with, unless nothing better was found.

    A start graph given by the user stays: someone thinks it worth something.
    """
    begun = problem.rules.required_parents if problem.start == "empty" else None
    return tuple([entry for place, entry in enumerate(top) if place == 0 or entry[1] != begun][:most])
