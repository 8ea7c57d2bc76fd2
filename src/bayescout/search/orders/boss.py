"""Best order score search: each variable to its best place in the order, then deletions on the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bayescout.checks import settle_count
from bayescout.graph.orders import peel_roots
from bayescout.search.classes.ges import ClassWalk
from bayescout.search.classes.sparse import SparseWalk
from bayescout.search.frame.candidates import moves_per_step
from bayescout.search.frame.knowledge import Rules
from bayescout.search.frame.problem import (
    MIN_GAIN,
    Generator,
    Pairs,
    ParentSets,
    Problem,
    State,
    random_order,
)
from bayescout.search.orders.candidate_orders import CandidateStanding, CandidateTrees, outsiders
from bayescout.search.orders.k2 import OrderState
from bayescout.search.orders.trees import Trees

STARTING, MOVING, DELETING = 0, 1, 2

DELETIONS = 1
"""The phase of `ges` that deletes."""


@dataclass(frozen=True)
class BossState(OrderState):
    """An order and the graph in hand; `tried` counts the start orders so far.

    phase  0: at the start graph; 1: moving variables; 2: deleting on the class
    turn   the variable to be moved next; `still` counts those in a row that have stayed in place
    joined pairs that became candidates of each other during a search of a wide table
    """

    best_parents: ParentSets = ()
    best_score: float = float("-inf")
    restarts_left: int = 0
    phase: int = STARTING
    turn: int = 0
    still: int = 0
    joined: Pairs = ()

    def facts(self) -> dict[str, float]:
        return {"tried": self.tried, "phase": self.phase}


@dataclass(frozen=True)
class Boss:
    """Best order score search (Andrews, Ramsey, Sanchez-Romero, Camchong & Kummerfeld 2023).

    One variable after the other is moved to its best place in the order, until none has a better one; its
    parents are grown and shrunk among its predecessors. If the score is equivalent, deletions on the class
    follow, as in the backward phase of `ges`, and the order of what they leave is tried in turn, until that
    raises the score no more. `restarts` times, begin again at a random order. A step is a move, a deletion,
    or the network of a new order; on candidates of many variables, several of the first two.
    """

    restarts: int = 0

    state: ClassVar[type[State]] = BossState
    screens: ClassVar[bool] = True
    walks_classes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle_count(self, "restarts")

    def start(self, problem: Problem, rng: Generator) -> BossState:
        graph = problem.first_graph(rng)
        score = problem.total(graph)
        return BossState(
            graph,
            score,
            order=problem.rules.order or tuple(peel_roots(graph)),
            best_parents=graph,
            best_score=score,
            restarts_left=self.restarts,
            joined=() if problem.screening is None else outsiders(problem, graph),
        )

    def advance(self, problem: Problem, state: BossState, rng: Generator) -> BossState:
        if state.phase == STARTING:
            return _begun(problem, state, _trees(problem, state), state.order)
        work = problem.scratch(state, lambda: BossWork.rebuilt(problem, state))
        if work.standing is not None:
            moved = self._move(problem, state, work.standing)
            if moved is not None:
                return moved
        return self._delete(problem, state, work, rng)

    def _move(
        self, problem: Problem, state: BossState, standing: Standing | CandidateStanding
    ) -> BossState | None:
        """Move the first variable that has a better place, beginning with the one whose turn it is.

        If none has one, look at further candidates, if that serves.
        """
        turn, still, moves = standing.improve(state.turn, state.still, state.score)
        if moves:
            return _stood(problem, replace(state, turn=turn, still=still), standing, moves)
        wider = standing.wider()
        if wider is None:
            return None
        return _stood(problem, replace(_noted(state), turn=0, still=0), wider)

    def _delete(self, problem: Problem, state: BossState, work: BossWork, rng: Generator) -> BossState:
        """Take the best deletion on the class; if none is left, go on to the next order or to the end."""
        if problem.scorer.equivalent:
            walk = work.deleting or _class_walk(problem, state)
            taken = _deleted(walk, state.score)
            if taken:
                after = replace(
                    state,
                    parents=walk.parents,
                    score=walk.score,
                    operations=state.operations + taken,
                    phase=DELETING,
                )
                return problem.keep(after, BossWork(work.trees, None, walk))
        return self._next_order(problem, state, work.trees, rng)

    def _next_order(self, problem: Problem, state: BossState, trees: Trees, rng: Generator) -> BossState:
        before, state = state.best_score, _noted(state)
        if state.best_score > before and state.phase == DELETING:
            return _begun(problem, state, trees, order_near(state.parents, state.order))
        if state.restarts_left:
            state = replace(state, restarts_left=state.restarts_left - 1)
            return _begun(problem, state, trees, random_order(problem.rules, rng))
        return replace(state, parents=state.best_parents, score=state.best_score, done=True)


@dataclass(frozen=True, eq=False)
class BossWork:
    """The scratch of a state: the trees of the run, and the order or the deletions in hand."""

    trees: Trees
    standing: Standing | CandidateStanding | None
    deleting: ClassWalk | SparseWalk | None

    @classmethod
    def rebuilt(cls, problem: Problem, state: BossState) -> BossWork:
        trees = _trees(problem, state)
        if state.phase == MOVING:
            return cls(trees, _standing(problem, trees, state.order), None)
        return cls(trees, None, _class_walk(problem, state))


class Standing:
    """An order with its network: the parents of each variable among its predecessors, and their scores."""

    joined: Pairs = ()

    def __init__(self, problem: Problem, trees: Trees, order: Sequence[int]) -> None:
        self.rules = problem.rules
        self.trees = trees
        self.order = list(order)
        graph, self.local = trees.network(order)
        self.graph = list(graph)

    def improve(self, turn: int, still: int, score: float) -> tuple[int, int, int]:
        """Move the first variable that has a better place, beginning with the one whose turn it is.

        Returns whose turn is next, how many have stayed in place in a row by then, and how many were moved.
        """
        n, moved = len(self.order), False
        while still < n and not moved:
            moved = self._move(turn, score)
            turn, still = (turn + 1) % n, 0 if moved else still + 1
        return turn, still, int(moved)

    def wider(self) -> None:
        """Return None: there are no further candidates."""

    def _move(self, variable: int, score: float) -> bool:
        """Move a variable to its best place; return True if that is a better one."""
        place = self.order.index(variable)
        lowest, highest = reach(self.rules, self.order, place)
        if lowest == highest:
            return False
        if self.trees.is_full():
            self.trees.forget()
        move = np.array((place, lowest, highest))
        best, _, nodes = self.trees.places(np.array(self.order), move, self.local, score)
        if best < 0:
            return False
        self._take(variable, int(nodes[0, best]))
        for passed in range(best, place) if best < place else range(place + 1, best + 1):
            self._take(self.order[passed], int(nodes[1, passed]))
        self.order.insert(best, self.order.pop(place))
        return True

    def _take(self, variable: int, node: int) -> None:
        self.graph[variable] = self.trees.parents_at(node)
        self.local[variable] = self.trees.score_at(node)


def reach(rules: Rules, order: Sequence[int], place: int) -> tuple[int, int]:
    """The first and last place open to the variable at a place: between required parents and children."""
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


def _begun(problem: Problem, state: BossState, trees: Trees, order: Sequence[int]) -> BossState:
    """The state with the network of a new order, every variable still to be moved."""
    state = replace(state, phase=MOVING, tried=state.tried + 1, turn=0, still=0)
    return _stood(problem, state, _standing(problem, trees, order))


def _stood(
    problem: Problem, state: BossState, standing: Standing | CandidateStanding, moves: int = 1
) -> BossState:
    after = replace(
        state,
        parents=tuple(standing.graph),
        score=float(np.sum(standing.local)),
        operations=state.operations + moves,
        order=tuple(standing.order),
        joined=standing.joined,
    )
    return problem.keep(after, BossWork(standing.trees, standing, None))


def _noted(state: BossState) -> BossState:
    """The state, with its graph as the best one so far if it is."""
    if state.score > state.best_score + MIN_GAIN:
        return replace(state, best_parents=state.parents, best_score=state.score)
    return state


# ---- over all pairs, or on the candidates of a wide table


def _trees(problem: Problem, state: BossState) -> Trees:
    return Trees(problem) if problem.screening is None else CandidateTrees(problem, state.joined)


def _standing(problem: Problem, trees: Trees, order: Sequence[int]) -> Standing | CandidateStanding:
    if isinstance(trees, CandidateTrees):
        return CandidateStanding(problem, trees, order)
    return Standing(problem, trees, order)


def _class_walk(problem: Problem, state: BossState) -> ClassWalk | SparseWalk:
    """The class of the state's graph, from which to delete."""
    if problem.screening is None:
        return ClassWalk(problem, state.parents, DELETIONS)
    return SparseWalk(problem, state.parents, DELETIONS, state.joined)


def _deleted(walk: ClassWalk | SparseWalk, score: float) -> int:
    """Take the best deletions of one step; returns their number, 0 if none raises the score."""
    if isinstance(walk, ClassWalk):
        return int(walk.take_best())
    with walk.problem.scorer.suspended():  # what is asked for depends on the operators still known
        taken = walk.take(moves_per_step(walk.problem.n))
    return taken if walk.score > score else 0  # it may not, with columns that are functions of others
