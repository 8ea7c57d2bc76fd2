"""Tabu search: keep moving past optima, without going back at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayescout.checks import MOST_PERTURB, settle_count
from bayescout.search.frame.problem import MIN_GAIN, Generator, Pairs, ParentSets, Problem, State
from bayescout.search.graphs.hill_climb import restarted
from bayescout.search.graphs.moves import Move
from bayescout.search.graphs.neighbourhood import ClimbingState, Neighbours, neighbours_from, neighbours_of


@dataclass(frozen=True)
class TabuState(ClimbingState):
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
    screens: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle_count(self, "length", 1)
        settle_count(self, "patience", 1)
        settle_count(self, "restarts")
        settle_count(self, "perturb", most=MOST_PERTURB)

    def start(self, problem: Problem, rng: Generator) -> TabuState:
        moves = neighbours_from(problem, problem.first_graph(rng))
        graph, score = moves.graph, moves.score
        state = TabuState(
            graph,
            score,
            joined=moves.joined,
            best_parents=graph,
            best_score=score,
            restarts_left=self.restarts,
        )
        return problem.keep(state, moves)

    def advance(self, problem: Problem, state: TabuState, rng: Generator) -> TabuState:
        moves = neighbours_of(problem, state)
        recent, best = state.recent, state.best_score
        move = self._choose(moves, state.score, best, recent)
        if move is None or state.idle >= self.patience:
            return self._restart(state, moves, rng)
        taken = 0
        while move is not None:
            moves.apply(move)
            taken += 1
            score, recent = moves.score, (*recent, (move.child, move.parent))[-self.length :]
            if taken == moves.per_step or not score > best + MIN_GAIN:
                break
            best = score  # several moves are one step only as long as each gives a new best graph
            move = self._choose(moves, score, best, recent)
            if move is not None and not score + move.gain > best + MIN_GAIN:
                break
        return problem.keep(self._stepped(state, moves, taken, score, recent), moves)

    def _stepped(
        self, state: TabuState, moves: Neighbours, taken: int, score: float, recent: Pairs
    ) -> TabuState:
        graph, better = moves.graph, score > state.best_score + MIN_GAIN
        # Patience does not count while no graph could be scored yet.
        forward = score > state.walk_best + MIN_GAIN or score == -np.inf
        return state.with_values(
            parents=graph,
            score=score,
            operations=state.operations + taken,
            best_parents=graph if better else state.best_parents,
            best_score=score if better else state.best_score,
            recent=recent,
            walk_best=score if forward else state.walk_best,
            idle=0 if forward else state.idle + 1,
        )

    def _choose(self, moves: Neighbours, score: float, best: float, recent: Pairs) -> Move | None:
        """The best move that is not tabu, or a tabu one that gives a new best graph."""
        free = moves.best()
        if free is None or score + free.gain > best + MIN_GAIN:
            return free
        return moves.best(recent)

    def _restart(self, state: TabuState, moves: Neighbours, rng: Generator) -> TabuState:
        """Go on from the best graph, if wider candidates serve there; else begin again, or end."""
        left, wider = state.restarts_left, False
        if moves.is_partial:
            moves = moves.moved_to(state.best_parents)
            wider = moves.gaining() is not None
        if not wider and left == 0:
            return TabuState(
                state.best_parents, state.best_score, True, state.operations, joined=moves.joined
            )
        if not wider:
            moves, left = restarted(moves, state.best_parents, self.perturb, rng), left - 1
        after = TabuState(
            moves.graph,
            moves.score,
            operations=state.operations + 1,
            joined=moves.joined,
            looked_at=moves.looked_at,
            best_parents=state.best_parents,
            best_score=state.best_score,
            restarts_left=left,
        )
        return moves.problem.keep(after, moves)
