"""Greedy climbing beside a search: the least that a run stopped early answers with."""

from __future__ import annotations

from bayescout.checks import generator
from bayescout.search.frame.problem import ParentSets, Problem
from bayescout.search.frame.watch import StepAbandoned
from bayescout.search.graphs.hill_climb import HillClimb


class Floor:
    """Greedy climbing from the start graph: the least that a run stopped early answers with.

    Searches that need long for a first answer (a first population, all tests of a level, a hot walk) would
    otherwise answer with next to nothing. It climbs when a tenth of the time is over and the search is not;
    the graph found is no part of the search: it is the answer only where the time ends the run.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.found: tuple[float, ParentSets] | None = None
        self.begun = problem.screening is not None  # the climb would look at all pairs

    def climb(self) -> None:
        self.begun = True
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
