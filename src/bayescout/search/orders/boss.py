"""Best order score search: each variable to its best place in the order, then deletions on the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bayescout.checks import settle_count
from bayescout.graph.orders import peel_roots
from bayescout.scores.base import Formula
from bayescout.search.classes.ges import Work as ClassWork
from bayescout.search.frame.knowledge import Rules
from bayescout.search.frame.problem import Generator, ParentSets, Problem, State, random_order
from bayescout.search.graphs.hill_climb import MIN_GAIN
from bayescout.search.orders.orders import OrderState
from bayescout.search.orders.trees import Trees

EPSILON = float(np.finfo(np.float64).eps)
STARTING, MOVING, DELETING = 0, 1, 2

DELETIONS = 1
"""The phase of `ges` that deletes."""


@dataclass
class BossState(OrderState):
    """An order and the graph in hand; `tried` counts the orders that moving began with.

    phase  0: at the start graph; 1: moving variables; 2: deleting on the class
    turn   the variable to be moved next, and `still` how many in a row have stayed where they were
    """

    best_parents: ParentSets = ()
    best_score: float = float("-inf")
    restarts_left: int = 0
    phase: int = STARTING
    turn: int = 0
    still: int = 0

    def facts(self) -> dict[str, float]:
        return {"tried": self.tried, "phase": self.phase}


@dataclass(frozen=True)
class Boss:
    """Best order score search (Andrews, Ramsey, Sanchez-Romero, Camchong & Kummerfeld 2023).

    One variable after the other is moved to its best place in the order, until none has a better one; its
    parents are grown and shrunk among its predecessors. If the score is equivalent, deletions on the class
    follow, as in the backward phase of `ges`, and the order of what they leave is tried in turn, until that
    raises the score no more. `restarts` times, begin again at a random order. A step is a move, a deletion,
    or the network of a new order.
    """

    restarts: int = 0

    state: ClassVar[type[State]] = BossState

    def __post_init__(self) -> None:
        settle_count(self, "restarts")

    def start(self, problem: Problem, rng: Generator) -> BossState:
        graph = problem.first_graph(rng)
        score = problem.total(graph)
        order = problem.rules.order or tuple(peel_roots(graph))
        return BossState(
            graph, score, order=order, best_parents=graph, best_score=score, restarts_left=self.restarts
        )

    def advance(self, problem: Problem, state: BossState, rng: Generator) -> BossState:
        if state.phase == STARTING:
            return _begun(problem, state, Trees(problem), state.order)
        if state.phase == MOVING:
            moved = self._move(problem, state)
            if moved is not None:
                return moved
        return self._delete(problem, state, rng)

    def _move(self, problem: Problem, state: BossState) -> BossState | None:
        """The first variable that has a better place, from the one whose turn it is, moved there."""
        work = _standing(problem, state)
        turn, still = state.turn, state.still
        while still < problem.n:
            moved = work.move(turn)
            turn, still = (turn + 1) % problem.n, 0 if moved else still + 1
            if moved:
                return _stood(replace(state, turn=turn, still=still), work)
        return None

    def _delete(self, problem: Problem, state: BossState, rng: Generator) -> BossState:
        """The best deletion on the class; where none is left, on to the next order or to the end."""
        trees = _trees(problem, state)
        if is_equivalent(problem):
            work = _deleting(problem, state)
            if work.take_best():
                operations = state.operations + 1
                state = replace(state, parents=work.graph, score=work.score, operations=operations)
                return replace(state, phase=DELETING, work=(trees, work))
        return self._next_order(problem, state, trees, rng)

    def _next_order(self, problem: Problem, state: BossState, trees: Trees, rng: Generator) -> BossState:
        better = state.score > state.best_score + MIN_GAIN
        if better:
            state = replace(state, best_parents=state.parents, best_score=state.score)
        if better and state.phase == DELETING:
            return _begun(problem, state, trees, order_near(state.parents, state.order))
        if state.restarts_left:
            state = replace(state, restarts_left=state.restarts_left - 1)
            return _begun(problem, state, trees, random_order(problem.rules, rng))
        return replace(state, parents=state.best_parents, score=state.best_score, done=True, work=None)


class Standing:
    """An order with its network: the parents of each variable among its predecessors, and their scores."""

    def __init__(self, problem: Problem, trees: Trees, order: Sequence[int]) -> None:
        self.rules = problem.rules
        self.trees = trees
        self.order = list(order)
        graph, self.local = trees.network(order)
        self.graph = list(graph)

    def move(self, variable: int) -> bool:
        """Move a variable to its best place; whether there was a better one."""
        place = self.order.index(variable)
        lowest, highest = reach(self.rules, self.order, place)
        if lowest == highest:
            return False
        if self.trees.is_full():
            self.trees.forget()
        move = np.array((place, lowest, highest))
        totals, nodes = self.trees.places(np.array(self.order), move, self.local)
        best = int(np.argmax(totals))
        if not is_better(totals[best], totals[place], len(self.order)):
            return False
        self._take(variable, int(nodes[0, best]))
        for passed in range(best, place) if best < place else range(place + 1, best + 1):
            self._take(self.order[passed], int(nodes[1, passed]))
        self.order.insert(best, self.order.pop(place))
        return True

    def _take(self, variable: int, node: int) -> None:
        self.graph[variable] = self.trees.parents_at(node)
        self.local[variable] = self.trees.score_at(node)


def is_better(after: float, before: float, terms: int) -> bool:
    """Whether a total of so many terms is larger by more than rounding, which could go round for ever."""
    if before == -np.inf:
        return bool(after > before)
    return bool(after > before + max(MIN_GAIN, 2 * terms * EPSILON * abs(before)))


def reach(rules: Rules, order: Sequence[int], place: int) -> tuple[int, int]:
    """The first and the last place that the variable at a place may have: between those it must keep to."""
    if rules.order is not None:
        return place, place
    ahead = np.flatnonzero(rules.required[order, order[place]])
    behind = np.flatnonzero(rules.required[order[place], order])
    return (
        int(ahead[-1]) + 1 if len(ahead) else 0,
        int(behind[0]) - 1 if len(behind) else len(order) - 1,
    )


def order_near(parents: ParentSets, order: Sequence[int]) -> tuple[int, ...]:
    """An order of a graph that follows another order wherever the graph leaves a choice."""
    place = {variable: i for i, variable in enumerate(order)}
    renamed = [[place[parent] for parent in parents[variable]] for variable in order]
    return tuple(order[i] for i in peel_roots(renamed))


def is_equivalent(problem: Problem) -> bool:
    """Whether the score says that equivalent graphs score the same; a user's own does not say."""
    formula = getattr(problem.score.score, "formula", None)
    return isinstance(formula, Formula) and formula.equivalent


def _begun(problem: Problem, state: BossState, trees: Trees, order: Sequence[int]) -> BossState:
    """The network of a new order, every variable still to be moved."""
    state = replace(state, phase=MOVING, tried=state.tried + 1, turn=0, still=0)
    return _stood(state, Standing(problem, trees, order))


def _stood(state: BossState, work: Standing) -> BossState:
    return replace(
        state,
        parents=tuple(work.graph),
        score=float(np.sum(work.local)),
        operations=state.operations + 1,
        order=tuple(work.order),
        work=work,
    )


# ---- scratch space, rebuilt where the state was read from a file


def _trees(problem: Problem, state: BossState) -> Trees:
    if isinstance(state.work, Standing):
        return state.work.trees
    trees: Trees = state.work[0] if isinstance(state.work, tuple) else Trees(problem)
    return trees


def _standing(problem: Problem, state: BossState) -> Standing:
    if state.work is None:
        with problem.score.suspended():
            state.work = Standing(problem, Trees(problem), state.order)
    work: Standing = state.work
    return work


def _deleting(problem: Problem, state: BossState) -> ClassWork:
    """The deletions from the class of the graph in hand."""
    if isinstance(state.work, tuple):
        work: ClassWork = state.work[1]
        return work
    if state.phase == MOVING:
        return ClassWork(problem, state.parents, DELETIONS)
    with problem.score.suspended():
        return ClassWork(problem, state.parents, DELETIONS)
