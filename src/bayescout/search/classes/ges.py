"""Greedy equivalence search: from class to class of graphs, by inserting and deleting edges."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from bayescout.checks import settle_flag
from bayescout.errors import SettingError
from bayescout.search.bitsets import bits, mask_of
from bayescout.search.classes.operators import ClassMove, Deletions, Insertions, Operators
from bayescout.search.classes.patterns import class_of, differing, telling_words
from bayescout.search.classes.reversals import Reversals
from bayescout.search.classes.sparse import SparseWalk, class_pairs
from bayescout.search.frame.problem import MIN_GAIN, Edges, Generator, Pairs, ParentSets, Problem, State

PHASES: tuple[type[Operators], ...] = (Insertions, Deletions, Reversals)

LEAST_STEPS = 5000
"""The operators of one step of a search on candidates: at least so many, or an eighth of the variables."""

MOST_BITS = 2000
"""With more variables classes are found on lists, not on sets of bits."""


@dataclass(frozen=True)
class GesState(State):
    """An equivalence class: `parents` is a member that keeps the knowledge; `undirected` counts its edges.

    `phase` counts from 0: insert, delete, turn; `changed` is True if this round has changed anything.
    On candidates `joined` are pairs that became candidates of each other during the search, and `looked_at`
    is the graph for which pairs that were screened out were last looked at.
    """

    undirected: int = 0
    phase: int = 0
    changed: bool = False
    joined: Pairs = ()
    looked_at: ParentSets = ()

    def facts(self) -> dict[str, float]:
        return {"phase": self.phase, "undirected": self.undirected}

    def found_class(self) -> Edges:
        if len(self.parents) > MOST_BITS:
            return class_pairs(self.parents)
        return class_of(self.parents).pairs()


@dataclass(frozen=True)
class Ges:
    """Greedy equivalence search (Chickering 2002): the best insertion until none helps, then deletions.

    Each step goes to the best neighbouring equivalence class. `turning` adds a third phase that turns arcs
    (Hauser & Buehlmann 2012); `repeat` goes round the phases until a whole round changes nothing. Both are on
    because they cost little and often end higher; without either it is Chickering's own search. The score
    must be equivalent. With knowledge, a class is visited only if a member of it keeps the knowledge.
    """

    turning: bool = True
    repeat: bool = True

    state: ClassVar[type[State]] = GesState
    needs_equivalent: ClassVar[bool] = True
    screens: ClassVar[bool] = True
    walks_classes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("turning", "repeat"):
            settle_flag(self, name)

    def start(self, problem: Problem, rng: Generator) -> GesState:
        require_equivalent(problem)
        if problem.screening is not None:
            return _sparse_state(
                SparseWalk(problem, problem.first_graph(rng), 0), GesState((), 0.0), 0, False, 0
            )
        return _state(ClassWalk(problem, problem.first_graph(rng), 0), 0, 0, False)

    def advance(self, problem: Problem, state: GesState, rng: Generator) -> GesState:
        if problem.screening is not None:
            return self._advance_sparsely(problem, state)
        walk = problem.scratch(state, lambda: ClassWalk(problem, state.parents, state.phase))
        phase, changed = state.phase, state.changed
        while True:
            if walk.take_best():
                return _state(walk, state.operations + 1, phase, True)
            phase += 1
            if phase == (3 if self.turning else 2):
                if not (self.repeat and changed):
                    return replace(state, done=True)
                phase, changed = 0, False
            walk.enter(phase)

    def _advance_sparsely(self, problem: Problem, state: GesState) -> GesState:
        """As `advance`, on candidates: many operators in a step, and more candidates in every round.

        A round that changes nothing is the last only if no pair that was screened out would gain by now.
        """
        walk = problem.scratch(
            state,
            lambda: SparseWalk(problem, state.parents, state.phase, state.joined, state.looked_at),
        )
        phase, changed, most = state.phase, state.changed, max(LEAST_STEPS, problem.n // 8)
        while True:
            taken = walk.take(most)
            if taken and walk.score <= state.score:  # columns that are linear functions of others
                return replace(state, done=True)
            if taken:
                return _sparse_state(walk, state, phase, True, taken)
            phase += 1
            if phase == (3 if self.turning else 2):
                if not (self.repeat and (changed or walk.look_again())):
                    return replace(state, done=True, joined=walk.joined, looked_at=walk.looked_at)
                phase, changed = 0, False
                walk.widen()
            walk.enter(phase)


class ClassWalk:
    """A class, a member of it with its local scores, and the operators of the phase it is in."""

    def __init__(self, problem: Problem, graph: ParentSets, phase: int) -> None:
        self.problem = problem
        self.graph = graph
        self.masks = [mask_of(own) for own in graph]
        self.pattern = class_of(graph, telling_words(problem.scorer))
        self.locals = problem.scorer.many(list(enumerate(graph)))
        self.enter(phase)

    @property
    def parents(self) -> ParentSets:
        return self.graph

    @property
    def score(self) -> float:
        return float(self.locals.sum())

    def enter(self, phase: int) -> None:
        self.operators = PHASES[phase](self.problem, self.pattern)

    def take_best(self) -> bool:
        """Go to the class that the best step leads to; return False if there is no step."""
        step = self.operators.best()
        while step is not None and not self.take(step):
            step = self.operators.best()
        return step is not None

    def take(self, step: ClassMove) -> bool:
        """Go to the class that a step leads to; if its member does not score more, set the step aside."""
        after, values = step.member.parents, self.locals.copy()
        changed = differing(self.masks, after)
        families = [(child, tuple(bits(after[child]))) for child in changed]
        values[changed] = self.problem.scorer.many(families)
        if not self._keeps_promise(step.gain, float(values.sum())):
            self.operators.set_aside(step)
            return False
        graph = list(self.graph)
        for child, own in families:
            graph[child] = own
        self.graph, self.masks, self.pattern, self.locals = tuple(graph), after, step.pattern, values
        self.operators.moved(step)
        return True

    def _keeps_promise(self, gain: float, after: float) -> bool:
        """Return True if the gain is the operator's: an equivalent score gains the same in all members.

        Columns that are linear functions of others are an exception: they leave no residual, and the number
        used for it is not the same for all members. So are families whose tables are too large to count,
        which depends on which of their variables is the child. Then a step must gain in the member in hand.
        """
        gained = after - self.score
        apart = abs(gained - gain) if math.isfinite(gain) else 0.0
        if apart <= MIN_GAIN * max(1.0, abs(self.score)):
            return True
        if self.problem.scorer.equivalent is None:
            raise SettingError(
                f"the score is not equivalent: graphs of one class differ by {apart:.3g}; "
                f"ges needs a score that is, such as bic, bdeu or bge"
            )
        return gained > MIN_GAIN


def require_equivalent(problem: Problem) -> None:
    """Refuse a score that says it is not equivalent; a user's own score is checked as the search goes."""
    prior = problem.scorer.prior
    if prior is not None and prior.equivalent is False:
        raise SettingError(
            "the structure prior differs between graphs of one class, as beliefs about a direction do, and "
            "this search works on classes; give beliefs about either direction, or search with hill-climb"
        )
    if problem.scorer.equivalent is False:
        raise SettingError(
            f"score {problem.scorer.name} differs between graphs of one class, and this search works on "
            f"classes; use an equivalent score such as bic, bdeu or bge, or search with hill-climb"
        )


def _sparse_state(walk: SparseWalk, before: GesState, phase: int, changed: bool, taken: int) -> GesState:
    state = GesState(
        walk.parents,
        walk.score,
        operations=before.operations + taken,
        undirected=walk.undirected,
        phase=phase,
        changed=changed,
        joined=walk.joined,
        looked_at=walk.looked_at,
    )
    return walk.problem.keep(state, walk)


def _state(walk: ClassWalk, operations: int, phase: int, changed: bool) -> GesState:
    state = GesState(
        walk.graph,
        walk.score,
        operations=operations,
        undirected=sum(map(int.bit_count, walk.pattern.undirected)) // 2,
        phase=phase,
        changed=changed,
    )
    return walk.problem.keep(state, walk)
