"""Steepest-ascent hill climbing, with restarts from perturbed optima."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from bayescout.checks import MOST_PERTURB, settle_count
from bayescout.search.frame.problem import Generator, ParentSets, Problem, State, random_graph
from bayescout.search.graphs.neighbourhood import ClimbingState, Neighbours, neighbours_from, neighbours_of


@dataclass(frozen=True)
class ClimbState(ClimbingState):
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
    screens: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle_count(self, "restarts")
        settle_count(self, "perturb", most=MOST_PERTURB)

    def start(self, problem: Problem, rng: Generator) -> ClimbState:
        moves = neighbours_from(problem, problem.first_graph(rng), remember=self.restarts > 0)
        state = ClimbState(moves.graph, moves.score, joined=moves.joined, restarts_left=self.restarts)
        return problem.keep(state, moves)

    def advance(self, problem: Problem, state: ClimbState, rng: Generator) -> ClimbState:
        moves = neighbours_of(problem, state, remember=self.restarts > 0)
        taken = 0
        while taken < moves.per_step and (best := moves.gaining()) is not None:
            moves.apply(best)
            taken += 1
        return _moved(state, moves, taken) if taken else self._at_optimum(state, moves, rng)

    def _at_optimum(self, state: ClimbState, moves: Neighbours, rng: Generator) -> ClimbState:
        best = max((state.score, state.parents), (state.best_score, state.best_parents), key=lambda b: b[0])
        if state.restarts_left == 0:
            return ClimbState(best[1], best[0], True, state.operations, joined=moves.joined)
        moves = restarted(moves, best[1], self.perturb, rng)
        left = state.restarts_left - 1
        return _moved(replace(state, best_parents=best[1], best_score=best[0], restarts_left=left), moves, 1)


def _moved(state: ClimbState, moves: Neighbours, taken: int) -> ClimbState:
    after = state.with_values(
        parents=moves.graph,
        score=moves.score,
        operations=state.operations + taken,
        joined=moves.joined,
        looked_at=moves.looked_at,
    )
    return moves.problem.keep(after, moves)


def restarted(moves: Neighbours, best: ParentSets, perturb: int, rng: Generator) -> Neighbours:
    """The next start: the best graph after random moves, or a random graph if `perturb` is 0."""
    if perturb == 0:
        problem = moves.problem
        return neighbours_from(problem, random_graph(problem.rules, rng), True, moves.joined, moves.looked_at)
    moves = moves.moved_to(best)
    moves.perturb(perturb, rng)
    return moves
