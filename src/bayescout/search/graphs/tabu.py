"""Tabu search: keep moving past optima, without going back at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayescout.checks import MOST_PERTURB, settle_count
from bayescout.search.frame.problem import MIN_GAIN, Generator, ParentSets, Problem, State
from bayescout.search.graphs.hill_climb import restarted
from bayescout.search.graphs.moves import Move, Moves, moves_of


@dataclass(frozen=True)
class TabuState(State):
    """A walk: the best graph so far, the tabu pairs, and the steps since the walk's own best."""

    best_parents: ParentSets = ()
    best_score: float = float("-inf")
    recent: tuple[tuple[int, int], ...] = ()
    walk_best: float = float("-inf")
    idle: int = 0
    restarts_left: int = 0

    def facts(self) -> dict[str, float]:
        return {"restarts_left": self.restarts_left} if self.restarts_left else {}


@dataclass(frozen=True)
class Tabu:
    """Take the best move even when it loses, but leave the last `length` pairs touched alone (Glover 1989).

    A pair on the list may be touched when that gives a new best graph. A walk ends `patience` steps
    after its best graph; then, `restarts` times, it goes on from the best graph after `perturb` random
    removals and reversals (0: from a random graph).
    """

    length: int = 10
    patience: int = 5
    restarts: int = 0
    perturb: int = 15

    state: ClassVar[type[State]] = TabuState
    climbs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle_count(self, "length", 1)
        settle_count(self, "patience", 1)
        settle_count(self, "restarts")
        settle_count(self, "perturb", most=MOST_PERTURB)

    def start(self, problem: Problem, rng: Generator) -> TabuState:
        moves = Moves(problem, problem.first_graph(rng))
        graph, score = moves.graph, moves.score
        state = TabuState(graph, score, best_parents=graph, best_score=score, restarts_left=self.restarts)
        return problem.keep(state, moves)

    def advance(self, problem: Problem, state: TabuState, rng: Generator) -> TabuState:
        moves = moves_of(problem, state)
        move = self._choose(moves, state)
        if move is None or state.idle >= self.patience:
            return self._restart(state, moves, rng)
        moves.apply(move)
        better = moves.score > state.best_score + MIN_GAIN
        # Patience does not count while no graph could be scored yet.
        forward = moves.score > state.walk_best + MIN_GAIN or moves.score == -np.inf
        after = TabuState(
            moves.graph,
            moves.score,
            operations=state.operations + 1,
            best_parents=moves.graph if better else state.best_parents,
            best_score=moves.score if better else state.best_score,
            recent=(*state.recent, (move.child, move.parent))[-self.length :],
            walk_best=moves.score if forward else state.walk_best,
            idle=0 if forward else state.idle + 1,
            restarts_left=state.restarts_left,
        )
        return problem.keep(after, moves)

    def _choose(self, moves: Moves, state: TabuState) -> Move | None:
        """The best move that is not tabu, or a tabu one that gives a new best graph."""
        free = moves.best()
        if free is None or state.score + free.gain > state.best_score + MIN_GAIN:
            return free
        banned = np.zeros((moves.problem.n, moves.problem.n), dtype=bool)
        for one, other in state.recent:
            banned[one, other] = banned[other, one] = True
        return moves.best(banned)

    def _restart(self, state: TabuState, moves: Moves, rng: Generator) -> TabuState:
        if state.restarts_left == 0:
            return TabuState(state.best_parents, state.best_score, True, state.operations)
        moves = restarted(moves, state.best_parents, self.perturb, rng)
        after = TabuState(
            moves.graph,
            moves.score,
            operations=state.operations + 1,
            best_parents=state.best_parents,
            best_score=state.best_score,
            restarts_left=state.restarts_left - 1,
        )
        return moves.problem.keep(after, moves)
