"""The choice of the score of categories where none is named: the one under which the data are most probable.

Each candidate is the log probability of the data under a code, so that their values can be compared
(docs/decisions/defaults.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bayescout.checks import generator
from bayescout.scores import Formula
from bayescout.search import Problem, search_named
from bayescout.search.frame.outcome import Limits
from bayescout.search.frame.run import drive

MOST_VARIABLES = 100
"""With more variables the first candidate is taken: to try all would take long."""


@dataclass(frozen=True)
class Choice:
    """The score chosen and its problem; `interrupted` if Ctrl-C was pressed meanwhile."""

    score: Formula
    problem: Problem
    interrupted: bool = False


def choose(
    candidates: Sequence[Formula], problem_of: Callable[[Formula], Problem], until: float | None = None
) -> Choice:
    """The score whose greedy climb ends highest, the first of equals.

    `until` is the time, by `time.perf_counter`, at which to stop; the first candidate is taken then.
    """
    first = problem_of(candidates[0])
    if len(candidates) == 1 or first.n > MOST_VARIABLES:
        return Choice(candidates[0], first)
    ends: list[float] = []
    for score in candidates:
        problem = problem_of(score) if ends else first
        left = None if until is None else until - time.perf_counter()
        if left is not None and left <= 0:
            break
        outcome = drive(search_named("hill-climb"), problem, generator(0), Limits(left))
        if outcome.stop_reason == "interrupted":
            return Choice(candidates[0], first, True)
        if outcome.stop_reason != "converged":
            break
        ends.append(outcome.best[0])
    best = candidates[ends.index(max(ends))] if len(ends) == len(candidates) else candidates[0]
    return Choice(best, problem_of(best))
