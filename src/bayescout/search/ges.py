"""Greedy equivalence search: from class to class of graphs, by inserting and deleting edges."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from bayescout.errors import SettingError
from bayescout.scores.base import Formula, FunctionFormula
from bayescout.search.classes import Pattern, class_of
from bayescout.search.operators import MIN_GAIN, Deletions, Insertions, Operators, Step, Turns
from bayescout.search.problem import Edges, Generator, Pairs, ParentSets, Problem, State

PHASES: tuple[type[Operators], ...] = (Insertions, Deletions, Turns)


@dataclass
class GesState(State):
    """A class, as its directed and undirected pairs; `parents` is a member that keeps the knowledge.

    `phase` counts from 0: insert, delete, turn; `changed` is whether this round has changed anything.
    """

    directed: Pairs = ()
    undirected: Pairs = ()
    phase: int = 0
    changed: bool = False

    def facts(self) -> dict[str, float]:
        return {"phase": self.phase, "undirected": len(self.undirected)}

    def found_class(self) -> Edges:
        return self.directed, self.undirected


@dataclass(frozen=True)
class Ges:
    """Greedy equivalence search (Chickering 2002): the best insertion until none helps, then deletions.

    Each step goes to the best neighbouring equivalence class. `turning` adds a third phase that turns arcs
    (Hauser & Buehlmann 2012); `repeat` goes round the phases until a whole round changes nothing. The
    score must be equivalent. With knowledge, a class is visited only if a member of it keeps the knowledge.
    """

    turning: bool = False
    repeat: bool = True

    state: ClassVar[type[State]] = GesState
    needs_equivalent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("turning", "repeat"):
            if not isinstance(getattr(self, name), bool):
                raise SettingError(f"{name} must be True or False, not {getattr(self, name)!r}")

    def start(self, problem: Problem, rng: Generator) -> GesState:
        require_equivalent(problem)
        graph = problem.first_graph(rng)
        work = Work(problem, graph, class_of(graph), 0)
        return _state(work, 0, 0, False)

    def advance(self, problem: Problem, state: GesState, rng: Generator) -> GesState:
        work, phase, changed = _work(problem, state), state.phase, state.changed
        while True:
            step = work.operators.best()
            if step is not None:
                work.take(step)
                return _state(work, state.operations + 1, phase, True)
            phase += 1
            if phase == (3 if self.turning else 2):
                if not (self.repeat and changed):
                    state.done = True
                    return state
                phase, changed = 0, False
            work.enter(phase)


class Work:
    """A class, a member of it with its local scores, and the operators of the phase it is in."""

    def __init__(self, problem: Problem, graph: ParentSets, pattern: Pattern, phase: int) -> None:
        self.problem = problem
        self.graph = graph
        self.pattern = pattern
        self.locals = problem.score.many(list(enumerate(graph)))
        self.enter(phase)

    @property
    def score(self) -> float:
        return float(self.locals.sum())

    def enter(self, phase: int) -> None:
        self.operators = PHASES[phase](self.problem, self.pattern)

    def take(self, step: Step) -> None:
        """Go to the class that a step leads to."""
        before, graph = self.score, step.member.parent_sets()
        changed = [c for c, (a, b) in enumerate(zip(self.graph, graph, strict=True)) if a != b]
        self.locals[changed] = self.problem.score.many([(child, graph[child]) for child in changed])
        self.graph, self.pattern = graph, step.pattern
        _require_promise(step.gain, before, self.score)
        self.operators.moved(step)


def _require_promise(gain: float, before: float, after: float) -> None:
    """An equivalent score gains in every member of a class what the operator said."""
    if math.isfinite(gain) and abs(after - before - gain) > MIN_GAIN * max(1.0, abs(before)):
        raise SettingError(
            f"the score is not equivalent: graphs of one class differ by {abs(after - before - gain):.3g}; "
            f"ges needs a score that is, such as bic, bdeu or bge"
        )


def require_equivalent(problem: Problem) -> None:
    """Refuse a formula that says it is not equivalent; what a user's own is shows as the search goes."""
    formula = getattr(problem.score.score, "formula", None)
    if isinstance(formula, Formula) and not isinstance(formula, FunctionFormula) and not formula.equivalent:
        raise SettingError(
            f"score {type(formula).__name__} differs between graphs of one class, and ges searches "
            f"classes; use an equivalent score such as bic, bdeu or bge, or search with hill-climb"
        )


def _state(work: Work, operations: int, phase: int, changed: bool) -> GesState:
    directed, undirected = work.pattern.pairs()
    return GesState(
        work.graph,
        work.score,
        operations=operations,
        work=work,
        directed=directed,
        undirected=undirected,
        phase=phase,
        changed=changed,
    )


def _work(problem: Problem, state: GesState) -> Work:
    """The scratch space of a state, rebuilt where the state was read from a file."""
    if state.work is None:
        with problem.score.suspended():
            pattern = Pattern.of_pairs(problem.n, state.directed, state.undirected)
            state.work = Work(problem, state.parents, pattern, state.phase)
    work: Work = state.work
    return work
