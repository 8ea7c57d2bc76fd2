"""The default search: several in turn, each from the best graph that the ones before it have found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from bayescout.checks import settle_flag
from bayescout.search.classes.ges import Ges
from bayescout.search.frame.overlooked import MOST_LOOKED_AT
from bayescout.search.frame.problem import Generator, Pairs, ParentSets, Problem, State
from bayescout.search.graphs.hill_climb import HillClimb
from bayescout.search.graphs.tabu import Tabu
from bayescout.search.optimal.search import Optimal
from bayescout.search.orders.boss import Boss
from bayescout.search.orders.memetic import Memetic
from bayescout.search.parent_sets.growing import can_list_all

PARTS = ("hill-climb", "ges", "tabu", "boss", "ges again", "memetic", "optimal")
"""The names of the parts, in their order; the trace's facts `part` and `found_by` count them from 0."""

HILL_CLIMB, GES, TABU, BOSS, GES_AGAIN, MEMETIC, OPTIMAL = range(len(PARTS))

SAME_FOR_ALL: dict[str, Any] = {
    "hill-climb": HillClimb(),
    "ges": Ges(),
    "boss": Boss(),
    "ges again": Ges(),
    "memetic": Memetic(patience=10, effort=0.1),
    "optimal": Optimal(),
}
"""The searches of the parts whose settings do not depend on the problem."""

TABU_WORK = 40_000
"""Restarts of the tabu search, to be divided by the square of the number of variables; at most 20."""

ORDER_VARIABLES = 100
"""The most variables for searches over orders."""

PROVEN_VARIABLES = 20
"""The most variables for an exact search, where all parent sets that matter can be listed."""


@dataclass(frozen=True)
class AutoState(State):
    """The best graph so far, and the state of the part in hand.

    part      which part is in hand; `found_by` which one found the best graph
    inner     its state; None before it begins
    bound     an upper bound on the score of any graph, as far as is known
    joined    the pairs that parts before this one made candidates, where pairs are screened
    """

    part: int = 0
    found_by: int = 0
    inner: State | None = field(default=None, repr=False)
    bound: float = math.inf
    joined: Pairs = ()

    @property
    def all_joined(self) -> Pairs:
        """The pairs that any part made candidates."""
        return tuple(sorted({*self.joined, *getattr(self.inner, "joined", ())}))

    def visited(self) -> Sequence[tuple[float, ParentSets]]:
        here = ((self.score, self.parents),)
        return here if self.inner is None else (*here, *self.inner.visited())

    def facts(self) -> dict[str, float]:
        bound = {"bound": self.bound} if math.isfinite(self.bound) else {}
        return {"part": self.part, "found_by": self.found_by} | bound

    def upper_bound(self) -> float | None:
        return self.bound if math.isfinite(self.bound) else None

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"inner": None if self.inner is None else self.inner.to_json()}

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> State:
        inner = saved["inner"]
        kind: type[State] = _search(PARTS[saved["part"]], 1).state
        return super().from_json(saved | {"inner": None if inner is None else kind.from_json(inner)})


@dataclass(frozen=True)
class Auto:
    """Several searches in turn, each from the best graph that the ones before it have found.

    Hill climbing gives an answer at once, and greedy equivalence search (if the score is equivalent) a good
    one. Where all parent sets that matter can be listed quickly, up to 20 variables, exact search follows,
    with a proof. Elsewhere tabu search with restarts and, up to 100 variables, moving variables in an order
    (`boss`) and a memetic search over orders, with parent sets around all good networks met. How much each
    part does depends on the numbers of variables and rows alone, never on the clock. A step is a step of
    the part in hand. With `thorough` off it ends after the tabu search. Between screened pairs it is greedy
    equivalence search and then, in tables that are not very wide, tabu search.
    """

    thorough: bool = True

    state: ClassVar[type[State]] = AutoState
    climbs: ClassVar[bool] = True
    screens: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle_flag(self, "thorough")

    def start(self, problem: Problem, rng: Generator) -> AutoState:
        first = GES if problem.screening is not None and _has_classes(problem) else HILL_CLIMB
        return _begun(problem, AutoState((), -math.inf), first, rng, problem.first_graph(rng))

    def advance(self, problem: Problem, state: AutoState, rng: Generator) -> AutoState:
        assert state.inner is not None
        if not state.inner.done:
            search = _search(PARTS[state.part], problem.n)
            return _taken(state, search.advance(problem, state.inner, rng))
        part = _next_part(problem, state, self.thorough)
        state = replace(state, joined=state.all_joined)
        if part == len(PARTS):
            return replace(state, done=True, inner=None)
        first = problem.first_graph(rng) if part == GES else state.parents
        return _begun(problem, state, part, rng, first)


def _search(name: str, n: int) -> Any:
    """The search of a part, for a number of variables."""
    if name == "tabu":
        return Tabu(restarts=max(1, min(20, TABU_WORK // n**2)))
    return SAME_FOR_ALL[name]


def _next_part(problem: Problem, state: AutoState, thorough: bool) -> int:
    """The next part that is worth its time on the problem; the number of parts if there is none."""
    if problem.screening is not None:
        return TABU if state.part < TABU and problem.n <= MOST_LOOKED_AT else len(PARTS)
    equivalent, ordered = problem.scorer.equivalent is True, problem.n <= ORDER_VARIABLES
    exact = thorough and problem.n <= PROVEN_VARIABLES and can_list_all(problem)
    more = thorough and not exact  # where it is quick, exact search leaves nothing to the others
    serves = {
        GES: equivalent,
        TABU: not exact,
        BOSS: more and ordered,
        GES_AGAIN: more and equivalent and state.found_by != GES,
        MEMETIC: more and ordered,
        OPTIMAL: exact,
    }
    return next((part for part, worth in serves.items() if worth and part > state.part), len(PARTS))


def _has_classes(problem: Problem) -> bool:
    """Return True if a search over classes on candidates is possible."""
    return problem.scorer.equivalent is True and problem.scorer.telling is None


def _begun(problem: Problem, state: AutoState, part: int, rng: Generator, graph: ParentSets) -> AutoState:
    """The state at the first step of a part, which begins with a graph."""
    search = _search(PARTS[part], problem.n)
    inner = search.start(replace(problem, start=graph), rng)
    if part == OPTIMAL:  # it has a good graph, and need not climb
        inner = replace(inner, stage="sets")
    return _taken(replace(state, part=part), inner)


def _taken(state: AutoState, inner: State) -> AutoState:
    """The state after a step of the part in hand."""
    best = max(inner.visited(), key=lambda graph: graph[0])
    bound = inner.upper_bound()
    after = replace(
        state,
        inner=inner,
        operations=state.operations + 1,
        bound=state.bound if bound is None else min(state.bound, bound),
    )
    if best[0] > state.score or not state.parents:
        return replace(after, parents=best[1], score=best[0], found_by=state.part)
    return after
