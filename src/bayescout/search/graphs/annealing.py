"""Simulated annealing over graphs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayescout.checks import MOST_AMOUNT, as_plain, settle, settle_count, shown
from bayescout.errors import SettingError
from bayescout.search.frame.problem import MIN_GAIN, Generator, ParentSets, Problem, State
from bayescout.search.graphs.moves import Moves, moves_of

STEP_PROPOSALS = 20_000
"""The most proposals per step."""

MOST_PROPOSALS = 10_000_000
"""The most proposals per sweep."""


@dataclass(frozen=True)
class AnnealingState(State):
    """The walk, its temperature and the best graph so far; `proposed` counts those of this sweep."""

    best_parents: ParentSets = ()
    best_score: float = float("-inf")
    sweep: int = 0
    proposed: int = 0

    def facts(self) -> dict[str, float]:
        return {"sweep": self.sweep} if self.sweep else {}


@dataclass(frozen=True)
class Annealing:
    """Accept a random legal move with probability min(1, exp(gain / temperature)) (Kirkpatrick et al. 1983).

    A step is a sweep of `proposals` proposals (0: as many as there are ordered pairs) at one temperature, or
    a part of one where they are many. The temperature falls geometrically from `hot` to `cold` nats over
    `sweeps` sweeps. At the end the best graph met is climbed to its optimum.
    """

    sweeps: int = 60
    proposals: int = 0
    hot: float = 30.0
    cold: float = 0.3

    state: ClassVar[type[State]] = AnnealingState

    def __post_init__(self) -> None:
        settle_count(self, "sweeps", 1)
        settle_count(self, "proposals", most=MOST_PROPOSALS)
        cold, hot = as_plain(self.cold), as_plain(self.hot)
        if cold is None or hot is None or not 0 < cold <= hot <= MOST_AMOUNT:
            raise SettingError(
                f"temperatures must be numbers with 0 < cold <= hot <= {MOST_AMOUNT:g}, not "
                f"cold={shown(self.cold)}, hot={shown(self.hot)}"
            )
        settle(self, cold=cold, hot=hot)

    def start(self, problem: Problem, rng: Generator) -> AnnealingState:
        moves = Moves(problem, problem.first_graph(rng))
        graph, score = moves.graph, moves.score
        return problem.keep(AnnealingState(graph, score, best_parents=graph, best_score=score), moves)

    def advance(self, problem: Problem, state: AnnealingState, rng: Generator) -> AnnealingState:
        moves = moves_of(problem, state)
        if state.sweep == self.sweeps:
            return self._quench(state, moves)
        best_parents, best_score = state.best_parents, state.best_score
        n = problem.n
        proposals = self.proposals or n * (n - 1)
        count = min(STEP_PROPOSALS, proposals - state.proposed)
        through = state.proposed + count == proposals
        operators = rng.integers(3 * n * n, size=count)
        chances = np.log(rng.random(count)) * self.temperature(state.sweep)
        for operator, chance in zip(operators.tolist(), chances.tolist(), strict=True):
            problem.check()
            move = moves.move_of(operator)
            if move.gain > -math.inf and move.gain >= chance:
                moves.apply(move)
                if moves.score > best_score:
                    best_parents, best_score = moves.graph, moves.score
        after = AnnealingState(
            moves.graph,
            moves.score,
            operations=state.operations + count,
            best_parents=best_parents,
            best_score=best_score,
            sweep=state.sweep + through,
            proposed=0 if through else state.proposed + count,
        )
        return problem.keep(after, moves)

    def temperature(self, sweep: int) -> float:
        """The temperature of a sweep, in nats."""
        return float(self.hot * (self.cold / self.hot) ** (sweep / max(1, self.sweeps - 1)))

    def _quench(self, state: AnnealingState, moves: Moves) -> AnnealingState:
        moves = moves.moved_to(state.best_parents)
        move = moves.best()
        while move is not None and move.gain > MIN_GAIN:
            moves.apply(move)
            move = moves.best()
        return AnnealingState(moves.graph, moves.score, True, state.operations)
