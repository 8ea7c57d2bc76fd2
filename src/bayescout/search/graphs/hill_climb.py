"""Steepest-ascent hill climbing, with restarts from perturbed optima."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from bayescout.checks import MOST_PERTURB, settle_count
from bayescout.search.frame.problem import MIN_GAIN, Generator, ParentSets, Problem, State, random_graph
from bayescout.search.graphs.moves import Moves, moves_of


@dataclass(frozen=True)
class ClimbState(State):
    """A climb: the best optimum so far and the number of restarts left."""

    best_parents: ParentSets = ()
    best_score: float = float("-inf")
    restarts_left: int = 0

    def facts(self) -> dict[str, float]:
        return {"restarts_left": self.restarts_left} if self.restarts_left else {}


@dataclass(frozen=True)
class HillClimb:
    """Take the best single-arc addition, removal or reversal until none helps.

    Moves are compared in index order and the first of equals wins, so a run is a function of its inputs. At
    an optimum, `restarts` times: go back to the best optimum so far, make `perturb` random removals
    and reversals (0: begin at a random graph instead) and climb again.
    """

    restarts: int = 0
    perturb: int = 15

    state: ClassVar[type[State]] = ClimbState
    climbs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle_count(self, "restarts")
        settle_count(self, "perturb", most=MOST_PERTURB)

    def start(self, problem: Problem, rng: Generator) -> ClimbState:
        moves = Moves(problem, problem.first_graph(rng), remember=self.restarts > 0)
        return problem.keep(ClimbState(moves.graph, moves.score, restarts_left=self.restarts), moves)

    def advance(self, problem: Problem, state: ClimbState, rng: Generator) -> ClimbState:
        moves = moves_of(problem, state, remember=self.restarts > 0)
        best = moves.best()
        if best is not None and best.gain > MIN_GAIN:
            moves.apply(best)
            return _moved(state, moves)
        return self._at_optimum(state, moves, rng)

    def _at_optimum(self, state: ClimbState, moves: Moves, rng: Generator) -> ClimbState:
        best = max((state.score, state.parents), (state.best_score, state.best_parents), key=lambda b: b[0])
        if state.restarts_left == 0:
            return ClimbState(best[1], best[0], True, state.operations)
        moves = restarted(moves, best[1], self.perturb, rng)
        left = state.restarts_left - 1
        return _moved(replace(state, best_parents=best[1], best_score=best[0], restarts_left=left), moves)


def _moved(state: ClimbState, moves: Moves) -> ClimbState:
    after = state.with_values(parents=moves.graph, score=moves.score, operations=state.operations + 1)
    return moves.problem.keep(after, moves)


def restarted(moves: Moves, best: ParentSets, perturb: int, rng: Generator) -> Moves:
    """The next start: the best graph after random moves, or a random graph if `perturb` is 0."""
    if perturb == 0:
        return Moves(moves.problem, random_graph(moves.problem.rules, rng))
    moves = moves.moved_to(best)
    moves.perturb(perturb, rng)
    return moves
