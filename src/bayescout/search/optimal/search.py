"""The search for the best network, with a proof or a bound."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from bayescout.checks import require_choice
from bayescout.errors import TooLargeError
from bayescout.graph.orders import peel_roots
from bayescout.search.frame.problem import Generator, ParentSets, Problem, State
from bayescout.search.graphs.tabu import Tabu, TabuState
from bayescout.search.optimal.components import Part, parts_of
from bayescout.search.optimal.dynamic import bytes_needed, fits, solve_dynamic
from bayescout.search.optimal.program import PROOF, Program, climbed
from bayescout.search.parent_sets.enumeration import CandidateSets, Enumeration
from bayescout.search.parent_sets.growing import indexed
from bayescout.statistics.families import Ints

METHODS = ("auto", "dynamic", "program")

STEP_BYTES = 64 << 20
"""Parts are solved in one step as long as their tables of dynamic programming together take no more."""

RESTARTS = 10
"""Of the first climb."""

STEP_MOVES = 100_000
"""Moves of the first climb in one step, divided by the square of the number of variables."""

CLIMBS = 2000
"""Climbs over orders, divided by the number of variables."""

CLIMB_AFTER = (3, 10, 100)
"""Steps of a long enumeration after which there are climbs over orders of the sets known so far."""


@dataclass
class OptimalState(State):
    """How far an exact search has come.

    stage       "climb", "sets", "order", "parts" and then "done"
    enumerated  steps of the enumeration of parent sets
    complete    whether every parent set that matters has been looked at
    bound       no network scores more, as far as is known
    settled     how many parts are solved, and `bounds` of them
    walk        the first climb, while it goes on
    """

    stage: str = "climb"
    enumerated: int = 0
    complete: bool = True
    bound: float = math.inf
    settled: int = 0
    bounds: tuple[float, ...] = ()
    program: dict[str, Any] | None = field(default=None, repr=False)
    walk: TabuState | None = field(default=None, repr=False)

    def upper_bound(self) -> float | None:
        return self.bound if math.isfinite(self.bound) else None

    def facts(self) -> dict[str, float]:
        return {"bound": self.bound} if math.isfinite(self.bound) else {}

    def to_json(self) -> dict[str, Any]:
        program = getattr(self.work, "program", None)
        return super().to_json() | {
            "program": None if program is None else program.to_json(),
            "walk": None if self.walk is None else self.walk.to_json(),
        }

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> State:
        walk = saved["walk"]
        return super().from_json(saved | {"walk": None if walk is None else TabuState.from_json(walk)})


class Work:
    """What can be rebuilt: the enumeration, its sets, their parts, and the program of the part in hand."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.enumeration: Enumeration | None = None
        self.steps: Iterator[None] = iter(())
        self.candidates: CandidateSets | None = None
        self.parts: list[Part] = []
        self.program: Program | None = None

    def enumerate(self) -> None:
        self.enumeration = Enumeration(self.problem)
        self.steps = self.enumeration.steps()

    def divide(self) -> list[Part]:
        assert self.enumeration is not None
        if self.candidates is None:
            self.candidates = self.enumeration.found()
            self.parts = parts_of(self.candidates)
        return self.parts


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
        return OptimalState(graph, problem.total(graph), work=Work(problem))

    def advance(self, problem: Problem, state: OptimalState, rng: Generator) -> OptimalState:
        if state.work is None:
            with problem.score.suspended():
                state.work = self._rebuilt(problem, state)
        step = {"climb": _climb, "sets": _enumerate, "order": _climb_orders, "parts": self._solve}[
            state.stage
        ]
        after = step(problem, state, rng)
        return replace(after, operations=state.operations + 1, work=state.work, program=None)

    def _rebuilt(self, problem: Problem, state: OptimalState) -> Work:
        work = Work(problem)
        if state.stage == "climb":
            return work
        work.enumerate()
        for _ in range(state.enumerated):
            try:
                next(work.steps, None)
            except TooLargeError:
                break
        if state.stage == "parts":
            part = work.divide()[min(state.settled, len(work.parts) - 1)]
            if state.program is not None:
                work.program = Program.from_json(part, state.program)
        return work

    def _solve(self, problem: Problem, state: OptimalState, rng: Generator) -> OptimalState:
        """Solve the next parts by dynamic programming, or go on with the program of one."""
        work: Work = state.work
        parts, room, after = work.divide(), STEP_BYTES, state
        while after.settled < len(parts) and room > 0:
            part = parts[after.settled]
            if part.n == 1 or self.method == "dynamic" or (self.method == "auto" and fits(part.n)):
                picks = np.zeros(1, dtype=np.int64) if part.n == 1 else solve_dynamic(part)
                room -= bytes_needed(part.n)
                after = _settled(problem, after, part, picks, None)
                continue
            if work.program is None:
                work.program = Program(part, _picks_of(part, after.parents))
            program = work.program
            program.advance()
            if not program.done:
                return _bounded(problem, _with_picks(problem, after, part, program.picks), program.bound)
            work.program, room = None, 0
            after = _settled(problem, after, part, program.picks, program.bound)
        return _bounded(problem, after, None)


# ---- stages


def _climb(problem: Problem, state: OptimalState, rng: Generator) -> OptimalState:
    """Tabu search with some restarts, so many moves of it: a good answer at once."""
    if not math.isfinite(state.score):
        return _listing(state)
    tabu, walk = Tabu(restarts=RESTARTS), state.walk
    if walk is None:
        walk = tabu.start(replace(problem, start=state.parents), rng)
    for _ in range(max(1, STEP_MOVES // problem.n**2)):
        walk = tabu.advance(problem, walk, rng)
        if walk.done:
            return _listing(_better(problem, replace(state, walk=None), walk.parents))
    if walk.best_score > state.score:
        state = replace(state, parents=walk.best_parents, score=walk.best_score)
    return replace(state, walk=walk)


def _listing(state: OptimalState) -> OptimalState:
    """On to the enumeration of parent sets."""
    state.work.enumerate()
    return replace(state, stage="sets")


def _enumerate(problem: Problem, state: OptimalState, rng: Generator) -> OptimalState:
    work: Work = state.work
    assert work.enumeration is not None
    stage, complete = "sets", True
    try:
        if next(work.steps, work) is work:
            stage = "order"
    except TooLargeError:
        # What is known so far is solved, and the bound says what may have been missed.
        stage, complete = "order", False
    after = replace(state, stage=stage, enumerated=state.enumerated + 1, complete=complete)
    if stage == "sets" and after.enumerated in CLIMB_AFTER:
        after = _climb_over(problem, after, work.enumeration.found(), rng)
    bound = min(state.bound, max(work.enumeration.upper_bound(), after.score))
    return replace(after, bound=bound)


def _climb_orders(problem: Problem, state: OptimalState, rng: Generator) -> OptimalState:
    """Climb over orders of the candidate sets."""
    work: Work = state.work
    work.divide()
    assert work.candidates is not None
    if any(own[0] == -math.inf for own in work.candidates.scores):
        # A variable that cannot be scored with any parents: so it is with every network.
        return replace(state, stage="done", done=True)
    return replace(_climb_over(problem, state, work.candidates, rng), stage="parts")


def _climb_over(
    problem: Problem, state: OptimalState, candidates: CandidateSets, rng: Generator
) -> OptimalState:
    """Climb over orders from the best graph, and again from near the best order."""
    n = problem.n
    lists = indexed(candidates.masks, candidates.scores)
    order, chosen, total = climbed(lists, np.array(peel_roots(state.parents), dtype=np.int64))
    for swaps in rng.integers(0, n, size=(max(5, CLIMBS // n), max(2, n // 8), 2)):
        other = order.copy()
        for one, two in swaps.tolist():
            other[one], other[two] = other[two], other[one]
        problem.check()
        other, picks, score = climbed(lists, other)
        if score >= total:
            order, chosen, total = other, picks, score
    if not math.isfinite(total):
        return state
    places = chosen - lists[1][:-1]
    return _better(problem, state, tuple(candidates.parents(i, int(p)) for i, p in enumerate(places)))


def _better(problem: Problem, state: OptimalState, graph: ParentSets) -> OptimalState:
    """The state with the better of its graph and another one."""
    score = problem.total(graph)
    return replace(state, parents=graph, score=score) if score > state.score else state


# ---- parts


def _picks_of(part: Part, parents: ParentSets) -> Ints | None:
    """The best sets of the part in an order of the graph; None where one has none that can be scored."""
    from bayescout.kernels.insertions import choose_all

    place = {variable: i for i, variable in enumerate(part.variables)}
    order = np.array([place[v] for v in peel_roots(parents) if v in place], dtype=np.int64)
    chosen = np.empty(part.n, dtype=np.int64)
    return chosen if math.isfinite(choose_all(part.lists, order, chosen)) else None


def _with_picks(problem: Problem, state: OptimalState, part: Part, picks: Ints | None) -> OptimalState:
    """The state with the part's variables given these sets, where that is better."""
    if picks is None:
        return state
    assert state.work.candidates is not None
    chosen = part.chosen(state.work.candidates, picks.tolist())
    graph = tuple(chosen.get(child, own) for child, own in enumerate(state.parents))
    if graph == state.parents or len(peel_roots(graph)) < problem.n:
        return state
    return _better(problem, state, graph)


def _settled(
    problem: Problem, state: OptimalState, part: Part, picks: Ints | None, bound: float | None
) -> OptimalState:
    """The state with one part solved; without a bound of its own the part's sets are the best there are."""
    best = -math.inf if picks is None else float(np.sum(part.lists[2][picks]))
    after = _with_picks(problem, state, part, picks)
    known = best if bound is None else bound
    return replace(after, settled=state.settled + 1, bounds=(*state.bounds, known))


def _bounded(problem: Problem, state: OptimalState, current: float | None) -> OptimalState:
    """The bound of the whole: of the solved parts, of the one in hand, and the best sets of the others."""
    parts = state.work.parts
    done = state.settled == len(parts)
    begin = state.settled + (current is not None)
    rest = [float(np.sum(part.tops())) for part in parts[begin:]]
    bound = state.bound
    if state.complete:
        bound = min(bound, math.fsum([*state.bounds, *([] if current is None else [current]), *rest]))
        bound = max(bound, state.score)
        if bound <= state.score + PROOF * len(parts):
            bound = state.score
    return replace(state, bound=bound, done=done, stage="done" if done else "parts")
