"""The search for the best network, with a proof or a bound."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from bayescout.arrays import Ints
from bayescout.checks import require_choice
from bayescout.errors import TooLargeError
from bayescout.graph.orders import peel_roots
from bayescout.scores.scorer import PLANNED_ROWS
from bayescout.search.frame.problem import Generator, ParentSets, Problem, State
from bayescout.search.graphs.tabu import Tabu, TabuState
from bayescout.search.optimal.components import Component, components_of
from bayescout.search.optimal.dynamic import bytes_needed, fits, solve_dynamic
from bayescout.search.optimal.program import PROOF, Program, Progress, climbed
from bayescout.search.parent_sets.enumeration import Enumeration
from bayescout.search.parent_sets.lists import ParentSetLists

METHODS = ("auto", "dynamic", "program")

STEP_BYTES = 64 << 20
"""Components are solved in one step as long as their dynamic programming tables take no more in total."""

RESTARTS = 10
"""Restarts of the first climb."""

STEP_MOVES = 100_000
"""Moves of the first climb per step, to be divided by the square of the number of variables; fewer where
there are more than PLANNED_ROWS rows."""

CLIMBS = 2000
"""Climbs over orders, to be divided by the number of variables."""

CLIMB_AFTER = (3, 10, 100)
"""Steps of a long enumeration after which the sets known so far are searched by climbs over orders."""


@dataclass(frozen=True)
class OptimalState(State):
    """The progress of an exact search.

    stage       "climb", "sets", "order", "parts" and then "done"
    enumerated  steps of the enumeration of parent sets
    complete    True if every parent set that matters has been examined
    bound       an upper bound on the score of any network, as far as is known
    settled     the number of components solved; `bounds` are theirs
    program     the progress of the program of the component in hand
    walk        the first climb, while it goes on
    """

    stage: str = "climb"
    enumerated: int = 0
    complete: bool = True
    bound: float = math.inf
    settled: int = 0
    bounds: tuple[float, ...] = ()
    program: Progress | None = field(default=None, repr=False)
    walk: TabuState | None = field(default=None, repr=False)

    def upper_bound(self) -> float | None:
        return self.bound if math.isfinite(self.bound) else None

    def facts(self) -> dict[str, float]:
        return {"bound": self.bound} if math.isfinite(self.bound) else {}

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {
            "program": None if self.program is None else self.program.to_json(),
            "walk": None if self.walk is None else self.walk.to_json(),
        }

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> State:
        walk, program = saved["walk"], saved["program"]
        made = {
            "walk": None if walk is None else TabuState.from_json(walk),
            "program": None if program is None else Progress.from_json(program),
        }
        return super().from_json(saved | made)


class ExactWork:
    """Scratch that can be rebuilt: the enumeration, its sets, their components, and the program in hand."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.enumeration: Enumeration | None = None
        self.steps: Iterator[None] = iter(())
        self.candidates: ParentSetLists | None = None
        self.components: list[Component] = []
        self.program: Program | None = None

    @classmethod
    def rebuilt(cls, problem: Problem, state: OptimalState) -> ExactWork:
        work = cls(problem)
        if state.stage == "climb":
            return work
        work.enumerate()
        for _ in range(state.enumerated):
            try:
                next(work.steps, None)
            except TooLargeError:
                break
        if state.stage == "parts":
            component = work.divide()[min(state.settled, len(work.components) - 1)]
            if state.program is not None:
                work.program = Program.resumed(component, state.program)
        return work

    def enumerate(self) -> None:
        self.enumeration = Enumeration(self.problem)
        self.steps = self.enumeration.steps()

    def divide(self) -> list[Component]:
        assert self.enumeration is not None
        if self.candidates is None:
            self.candidates = self.enumeration.found()
            self.components = components_of(self.candidates)
        return self.components


@dataclass(frozen=True)
class Optimal:
    """The best network of all, proven; or, when stopped, the best so far and how far from best it can be.

    Candidate parent sets are enumerated under bounds, variables that cannot be each other's ancestors are
    parted, and each part is solved: by dynamic programming over subsets (Silander & Myllymäki 2006) while its
    tables fit a gigabyte (23 variables), else by an integer program with cluster cuts (Jaakkola et al. 2010;
    Cussens 2011) and branch and bound. `method` is "auto", "dynamic" or "program". A proof holds to a
    millionth of a nat.
    """

    method: str = "auto"

    state: ClassVar[type[State]] = OptimalState
    climbs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_choice("method", self.method, METHODS)

    def start(self, problem: Problem, rng: Generator) -> OptimalState:
        graph = problem.first_graph(rng)
        return problem.keep(OptimalState(graph, problem.total(graph)), ExactWork(problem))

    def advance(self, problem: Problem, state: OptimalState, rng: Generator) -> OptimalState:
        work = problem.scratch(state, lambda: ExactWork.rebuilt(problem, state))
        stages = {"climb": _climb, "sets": _enumerate, "order": _climb_orders, "parts": self._solve}
        after = stages[state.stage](problem, state, work, rng)
        program = None if work.program is None else work.program.progress()
        after = replace(after, operations=state.operations + 1, program=program)
        return problem.keep(after, work)

    def _solve(self, problem: Problem, state: OptimalState, work: ExactWork, rng: Generator) -> OptimalState:
        """Solve the next components by dynamic programming, or go on with the program of one."""
        components, room, after = work.divide(), STEP_BYTES, state
        while after.settled < len(components) and room > 0:
            one = components[after.settled]
            if one.n == 1 or self.method == "dynamic" or (self.method == "auto" and fits(one.n)):
                picks = np.zeros(1, dtype=np.int64) if one.n == 1 else solve_dynamic(one, problem.check)
                room -= bytes_needed(one.n)
                after = _settled(problem, after, work, picks, None)
                continue
            if work.program is None:
                work.program = Program(one, _picks_of(one, after.parents))
            program = work.program
            program.advance(problem.watch)
            if not program.done:
                return _bounded(_with_picks(problem, after, work, program.picks), work, program.bound)
            work.program, room = None, 0
            after = _settled(problem, after, work, program.picks, program.bound)
        return _bounded(after, work, None)


# ---- stages


def _climb(problem: Problem, state: OptimalState, work: ExactWork, rng: Generator) -> OptimalState:
    """Take so many moves of a tabu search with some restarts: a good answer at once."""
    if not math.isfinite(state.score):
        return _begin_sets(state, work)
    tabu, walk = Tabu(restarts=RESTARTS), state.walk
    if walk is None:
        walk = tabu.start(replace(problem, start=state.parents), rng)
    share = PLANNED_ROWS / problem.scorer.planned_rows
    for _ in range(max(1, int(share * (STEP_MOVES // problem.n**2)))):
        walk = tabu.advance(problem, walk, rng)
        if walk.done:
            return _begin_sets(_better(problem, replace(state, walk=None), walk.parents), work)
    if walk.best_score > state.score:
        state = replace(state, parents=walk.best_parents, score=walk.best_score)
    return replace(state, walk=walk)


def _begin_sets(state: OptimalState, work: ExactWork) -> OptimalState:
    """Go on to the enumeration of parent sets."""
    work.enumerate()
    return replace(state, stage="sets")


def _enumerate(problem: Problem, state: OptimalState, work: ExactWork, rng: Generator) -> OptimalState:
    assert work.enumeration is not None
    stage, complete = "sets", True
    try:
        if next(work.steps, work) is work:
            stage = "order"
    except TooLargeError:
        # The sets known so far are solved, and the bound covers those that may have been missed.
        stage, complete = "order", False
    after = replace(state, stage=stage, enumerated=state.enumerated + 1, complete=complete)
    if stage == "sets" and after.enumerated in CLIMB_AFTER:
        after = _climb_over(problem, after, work.enumeration.found(), rng)
    bound = min(state.bound, max(work.enumeration.upper_bound(), after.score))
    return replace(after, bound=bound)


def _climb_orders(problem: Problem, state: OptimalState, work: ExactWork, rng: Generator) -> OptimalState:
    """Climb over orders of the candidate sets."""
    work.divide()
    assert work.candidates is not None
    if (work.candidates.tops() == -math.inf).any():
        # A variable cannot be scored with any parents, so no network can be scored.
        return replace(state, stage="done", done=True)
    return replace(_climb_over(problem, state, work.candidates, rng), stage="parts")


def _climb_over(
    problem: Problem, state: OptimalState, candidates: ParentSetLists, rng: Generator
) -> OptimalState:
    """Climb over orders from the best graph, and again from orders near the best one."""
    n = problem.n
    first = np.array(peel_roots(state.parents), dtype=np.int64)
    order, chosen, total = climbed(candidates, first, problem.check)
    for swaps in rng.integers(0, n, size=(max(5, CLIMBS // n), max(2, n // 8), 2)):
        other = order.copy()
        for one, two in swaps.tolist():
            other[one], other[two] = other[two], other[one]
        other, picks, score = climbed(candidates, other, problem.check)
        if score >= total:
            order, chosen, total = other, picks, score
    if not math.isfinite(total):
        return state
    return _better(problem, state, candidates.network(chosen)[0])


def _better(problem: Problem, state: OptimalState, graph: ParentSets) -> OptimalState:
    """The state with the better of its own graph and the given one."""
    score = problem.total(graph)
    return replace(state, parents=graph, score=score) if score > state.score else state


# ---- components


def _picks_of(component: Component, parents: ParentSets) -> Ints | None:
    """The best sets of a component in an order of the graph; None if a variable has no set with a score."""
    from bayescout.kernels.insertions import choose_all

    place = {variable: i for i, variable in enumerate(component.variables)}
    order = np.array([place[v] for v in peel_roots(parents) if v in place], dtype=np.int64)
    chosen = np.empty(component.n, dtype=np.int64)
    return chosen if math.isfinite(choose_all(component.lists.arrays, order, chosen)) else None


def _with_picks(problem: Problem, state: OptimalState, work: ExactWork, picks: Ints | None) -> OptimalState:
    """The state with these sets for the variables of the component in hand, if that scores more."""
    if picks is None:
        return state
    assert work.candidates is not None
    chosen = work.components[state.settled].chosen(work.candidates, picks.tolist())
    graph = tuple(chosen.get(child, own) for child, own in enumerate(state.parents))
    if graph == state.parents or len(peel_roots(graph)) < problem.n:
        return state
    return _better(problem, state, graph)


def _settled(
    problem: Problem, state: OptimalState, work: ExactWork, picks: Ints | None, bound: float | None
) -> OptimalState:
    """The state with one component solved; without a bound of its own, its sets are optimal."""
    lists = work.components[state.settled].lists
    best = -math.inf if picks is None else float(np.sum(lists.scores[picks]))
    after = _with_picks(problem, state, work, picks)
    known = best if bound is None else bound
    return replace(after, settled=state.settled + 1, bounds=(*state.bounds, known))


def _bounded(state: OptimalState, work: ExactWork, current: float | None) -> OptimalState:
    """The bound of the whole: the solved components, the one in hand, and the best sets of the others."""
    components = work.components
    done = state.settled == len(components)
    begin = state.settled + (current is not None)
    rest = [float(np.sum(one.lists.tops())) for one in components[begin:]]
    bound = state.bound
    if state.complete:
        bound = min(bound, math.fsum([*state.bounds, *([] if current is None else [current]), *rest]))
        bound = max(bound, state.score)
        if bound <= state.score + PROOF * len(components):
            bound = state.score
    return replace(state, bound=bound, done=done, stage="done" if done else "parts")
