"""Randomized first-ascent hill climbing (Lau & Bush 2004)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayescout.arrays import Ints
from bayescout.search.frame.problem import MIN_GAIN, Generator, Problem, State
from bayescout.search.graphs.moves import Moves, moves_of


@dataclass(frozen=True)
class FirstAscent:
    """In every iteration try all operators in random order and keep the first that helps.

    The 3n(n-1) operators add, remove and reverse an arc on each ordered pair. The first legal one that
    raises the score is kept; the search stops when none does. `operations` counts operators considered,
    legal or not, as the document does.
    """

    state: ClassVar[type[State]] = State

    def start(self, problem: Problem, rng: Generator) -> State:
        moves = Moves(problem, problem.first_graph(rng))
        return problem.keep(State(moves.graph, moves.score), moves)

    def advance(self, problem: Problem, state: State, rng: Generator) -> State:
        moves = moves_of(problem, state)
        move, considered = moves.first(shuffled_operators(problem.n, rng), MIN_GAIN)
        operations = state.operations + considered
        if move is None:
            return State(state.parents, state.score, True, operations)
        moves.apply(move)
        return problem.keep(State(moves.graph, moves.score, operations=operations), moves)


def shuffled_operators(n: int, rng: Generator) -> Ints:
    """Every operator on every ordered pair, in random order; numbered as in `Moves.move_of`."""
    pairs = np.flatnonzero(~np.eye(n, dtype=bool))
    operators = np.concatenate([pairs, pairs + n * n, pairs + 2 * n * n])
    return rng.permutation(operators)
