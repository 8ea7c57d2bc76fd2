"""Lau & Bush's two genetic algorithms over parent sets (2004)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayescout.checks import (
    MOST_PERTURB,
    MOST_POPULATION,
    settle_amount,
    settle_count,
    settle_share,
    shown,
)
from bayescout.errors import SettingError
from bayescout.graph.orders import peel_roots
from bayescout.search.first_ascent import shuffled_operators
from bayescout.search.hill_climb import MIN_GAIN
from bayescout.search.moves import Moves
from bayescout.search.population.operators import by_score, ranking, with_parents_of
from bayescout.search.problem import Generator, ParentSets, Problem, State, random_graph

Population = list[Moves]


@dataclass
class MatingState(State):
    """A generation of graphs, best first, and how long the best has not risen."""

    population: tuple[ParentSets, ...] = ()
    scores: tuple[float, ...] = ()
    generation: int = 0
    idle: int = 0

    def visited(self) -> Sequence[tuple[float, ParentSets]]:
        return tuple(zip(self.scores, self.population, strict=True))

    def facts(self) -> dict[str, float]:
        return {
            "generation": self.generation,
            "best_in_population": self.scores[0],
            "mean": float(np.mean(self.scores)),
            "worst": self.scores[-1],
        }


@dataclass(frozen=True)
class Mating:
    """What the two share: random beginnings, mating by whole parent sets, the rule of stopping.

    The first generation is the start graph (unconnected unless said otherwise) and population - 1 random
    graphs in which a node has `mean_parents` parents in the mean. Mating replaces the parent sets of N
    nodes, N uniform from 1 to n, by the partner's; while the child is cyclic it is drawn again, `tries`
    times in all, and then there is none. The search stops after `patience` generations without progress.
    With `shake`, a child that equals a graph before it makes so many random removals and reversals.
    """

    population: int = 16
    tries: int = 20
    patience: int = 5
    mean_parents: float = 2.0
    shake: int = 0

    state: ClassVar[type[State]] = MatingState

    def __post_init__(self) -> None:
        settle_count(self, "population", 2, MOST_POPULATION)
        settle_count(self, "tries", 1, MOST_PERTURB)
        settle_count(self, "patience", 1)
        settle_amount(self, "mean_parents")
        settle_count(self, "shake", most=MOST_PERTURB)

    def start(self, problem: Problem, rng: Generator) -> MatingState:
        graphs = [problem.first_graph(rng)]
        graphs += [random_graph(problem.rules, rng, self.mean_parents) for _ in range(self.population - 1)]
        return _generation([Moves(problem, graph) for graph in graphs])

    def _advanced(self, state: MatingState, population: Population, considered: int) -> MatingState:
        """The next state: ranked, and done when the best has not risen for long enough."""
        after = _generation(population)
        after.generation = state.generation + 1
        after.operations = state.operations + considered
        after.idle = 0 if after.score > state.score + MIN_GAIN else state.idle + 1
        after.done = after.idle >= self.patience
        return after

    def _part(self, population: Population, rng: Generator) -> None:
        """Shake every graph that equals one before it, so that not all become one graph."""
        seen: set[ParentSets] = set()
        for own in population if self.shake else ():
            if own.graph in seen:
                own.perturb(self.shake, rng)
            seen.add(own.graph)

    def _mate(self, own: Moves, partner: ParentSets, rng: Generator) -> None:
        """Give some nodes the partner's parents, if a few tries find a child without cycles."""
        n = len(partner)
        for _ in range(self.tries):
            nodes = rng.permutation(n)[: rng.integers(1, n + 1)]
            child = with_parents_of(own.graph, partner, nodes.tolist())
            if len(peel_roots(child)) == n:
                own.moved_to(child)
                return


@dataclass(frozen=True)
class GeneticGreedy(Mating):
    """Mate a small population with its best and improve every graph by one operator (Lau & Bush 2004).

    Each generation drops the `dropped` worst and carries the `promoted` best over; each of the rest mates
    with one of the best at random, the best of the rest once more in the places of the dropped (the
    document's counts leave those places open). Then every graph, the best too, takes the first of all
    operators, shuffled, that raises its score.

    The first generation is the start graph (unconnected unless said otherwise) and random graphs of
    `mean_parents` parents a node. A child takes the parent sets of N nodes from its partner, drawn again
    while it is cyclic, `tries` times in all. Stop after `patience` generations without progress.

    With the document's settings, the defaults, all graphs soon are one: on asia with 5,000 rows the best
    known score is found by one run in twenty. shake=2, patience=30 finds it in 19 of 20: a graph that equals
    one before it makes `shake` random removals and reversals.
    """

    promoted: int = 3
    dropped: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        settle_count(self, "promoted", 1)
        settle_count(self, "dropped")
        if self.promoted + self.dropped >= self.population:
            raise SettingError(
                f"promoted and dropped make {self.promoted + self.dropped} of a population of "
                f"{self.population}; some must be left to mate"
            )

    def advance(self, problem: Problem, state: MatingState, rng: Generator) -> MatingState:
        population = population_of(problem, state)
        best = state.population[: self.promoted]
        rest = state.population[self.promoted : self.population - self.dropped]
        for place, own in enumerate(population[self.promoted :]):
            own.moved_to(rest[place % len(rest)])
            self._mate(own, best[rng.integers(self.promoted)], rng)
        self._part(population, rng)
        considered = sum(improve(own, rng) for own in population)
        return self._advanced(state, population, considered)


@dataclass(frozen=True)
class Genetic(Mating):
    """Carry the best graph over and mate every other with one drawn by score (Lau & Bush 2004).

    The classical form of genetic-greedy. A partner is drawn in proportion to how far its score is above
    the worst, since scores are logarithms of any sign; it may be the graph itself. With `mutation`
    "improving" every graph then takes the first operator, shuffled, that raises its score; with "random"
    every graph but the best takes any legal operator with probability `chance`. The other settings are
    those of genetic-greedy.
    """

    mutation: str = "improving"
    chance: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.mutation, str) or self.mutation not in ("improving", "random"):
            raise SettingError(f'mutation must be "improving" or "random", not {shown(self.mutation)}')
        settle_share(self, "chance")

    def advance(self, problem: Problem, state: MatingState, rng: Generator) -> MatingState:
        population = population_of(problem, state)
        partners = by_score(np.array(state.scores), len(population) - 1, rng)
        for own, partner in zip(population[1:], partners.tolist(), strict=True):
            self._mate(own, state.population[partner], rng)
        self._part(population, rng)
        if self.mutation == "improving":
            considered = sum(improve(own, rng) for own in population)
        else:
            considered = sum(wander(own, rng) for own in population[1:] if rng.random() < self.chance)
        return self._advanced(state, population, considered)


def improve(own: Moves, rng: Generator) -> int:
    """Take the first of all operators, shuffled, that raises the score; how many were considered."""
    move, considered = own.first(shuffled_operators(own.problem.n, rng), MIN_GAIN)
    if move is not None:
        own.apply(move)
    return considered


def wander(own: Moves, rng: Generator) -> int:
    """Take any legal operator; how many were considered."""
    legal = own.legal_operators()
    if not len(legal):
        return 0
    own.apply(own.move_of(int(legal[rng.integers(len(legal))])))
    return 1


def population_of(problem: Problem, state: MatingState) -> Population:
    """The neighbourhoods of a state's graphs, rebuilt where the state was read from a file."""
    if state.work is None:
        with problem.score.suspended():
            state.work = [Moves(problem, graph) for graph in state.population]
    population: Population = state.work
    return population


def _generation(population: Population) -> MatingState:
    order = ranking(np.array([own.score for own in population])).tolist()
    ranked = [population[i] for i in order]
    said: dict[str, Any] = {
        "population": tuple(own.graph for own in ranked),
        "scores": tuple(own.score for own in ranked),
    }
    return MatingState(ranked[0].graph, ranked[0].score, work=ranked, **said)
