"""Greedy climbing beside a search: what a run that is stopped early has to reach."""

from __future__ import annotations

from bayescout.checks import generator
from bayescout.search.frame.problem import ParentSets, Problem
from bayescout.search.frame.watch import StepAbandoned
from bayescout.search.graphs.hill_climb import HillClimb


class Floor:
    """Greedy climbing from the start graph: what a run that is stopped early has to reach.

    Searches that take long to get anywhere (a first population, all tests of a level, a hot walk) would
    else answer with next to nothing. It climbs when a tenth of the time is over and the search is not, and
    what it finds is no part of the search: it is the answer only where the time ends the run.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.found: tuple[float, ParentSets] | None = None

    def climb(self) -> None:
        start = "empty" if self.problem.start == "random" else self.problem.start
        problem = Problem(self.problem.scorer, self.problem.rules, start, self.problem.watch)
        climb, rng = HillClimb(), generator(0)
        try:
            with problem.scorer.suspended():
                state = climb.start(problem, rng)
                while not state.done:
                    self.found = state.score, state.parents
                    state = climb.advance(problem, state, rng)
                self.found = state.score, state.parents
        except StepAbandoned:
            pass  # with what was found by now
