"""The two genetic algorithms over parent sets of Lau & Bush (2004)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

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
from bayescout.search.frame.problem import MIN_GAIN, Generator, ParentSets, Problem, State, random_graph
from bayescout.search.graphs.first_ascent import shuffled_operators
from bayescout.search.graphs.moves import Moves
from bayescout.search.population.operators import by_score, ranking, with_parents_of

Population = list[Moves]
Ranks = tuple[int, ...]

STEP_WORK = 2_000_000_000
"""Rows times families scored per step, about: a generation of few variables, or one graph of many."""


@dataclass(frozen=True)
class MatingState(State):
    """A generation of graphs, best first, and the number of generations since the best score last rose.

    While the next one is made, `bred` has its graphs so far and `place` counts the work done: below 0 the
    neighbourhoods of the first generation are made, then graphs mate, duplicates are changed, and all mutate.
    `partners` are the mates, if they are drawn together; `considered` counts operators.
    """

    population: tuple[ParentSets, ...] = ()
    scores: tuple[float, ...] = ()
    generation: int = 0
    idle: int = 0
    bred: tuple[ParentSets, ...] = ()
    place: int = 0
    partners: Ranks = ()
    considered: int = 0

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
class Mating(ABC):
    """The base of the two: random start graphs, mating by whole parent sets, the stopping rule.

    The first generation is the start graph (empty unless given) and population - 1 random
    graphs in which a node has `mean_parents` parents on average. Mating replaces the parent sets of N
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
        for _ in range(self.population - 1):
            problem.check()
            graphs.append(random_graph(problem.rules, rng, self.mean_parents))
        with problem.scorer.suspended():
            scores = np.array([problem.total(graph) for graph in graphs])
        order = ranking(scores).tolist()
        ranked = tuple(graphs[i] for i in order)
        own = tuple(float(scores[i]) for i in order)
        state = MatingState(ranked[0], own[0], population=ranked, scores=own, bred=ranked, place=-len(ranked))
        return problem.keep(state, [])

    def advance(self, problem: Problem, state: MatingState, rng: Generator) -> MatingState:
        population = problem.scratch(state, lambda: made_population(problem, state))
        place, partners, considered = state.place, state.partners, state.considered
        mates, room, cost = self._mates(), STEP_WORK, problem.scorer.planned_rows * problem.n**2
        while place <= mates + len(state.bred):
            if place < 0:
                population.append(Moves(problem, state.bred[len(population)]))
            elif place < mates:
                partners = partners or self._partners(state, rng)
                own, partner = self._pair_at(place, population, state, partners, rng)
                self._mate(own, partner, rng)
            elif place == mates:
                self._part(population, rng)
            else:
                considered += self._mutate(place - mates - 1, population, rng)
            place, room = place + 1, room - cost
            if room <= 0 and place <= mates + len(state.bred):
                bred = (*(own.graph for own in population), *state.bred[len(population) :])
                after = replace(state, bred=bred, place=place, partners=partners, considered=considered)
                return problem.keep(after, population)
        return self._advanced(problem, state, population, considered)

    @abstractmethod
    def _mates(self) -> int:
        """The number of graphs that mate per generation."""

    def _partners(self, state: MatingState, rng: Generator) -> Ranks:
        """The partners of all graphs that mate, if they are drawn together."""
        return ()

    @abstractmethod
    def _pair_at(
        self, place: int, population: Population, state: MatingState, partners: Ranks, rng: Generator
    ) -> tuple[Moves, ParentSets]:
        """The next graph to mate and its partner."""

    def _mutate(self, place: int, population: Population, rng: Generator) -> int:
        """Mutate one graph; return the number of operators considered."""
        return improve(population[place], rng)

    def _advanced(
        self, problem: Problem, state: MatingState, population: Population, considered: int
    ) -> MatingState:
        """The next state: ranked, and done if the best has not risen for long enough."""
        order = ranking(np.array([own.score for own in population])).tolist()
        ranked = [population[i] for i in order]
        graphs = tuple(own.graph for own in ranked)
        idle = 0 if ranked[0].score > state.score + MIN_GAIN else state.idle + 1
        after = MatingState(
            graphs[0],
            ranked[0].score,
            done=idle >= self.patience,
            operations=state.operations + considered,
            population=graphs,
            scores=tuple(own.score for own in ranked),
            generation=state.generation + 1,
            idle=idle,
            bred=graphs,
        )
        return problem.keep(after, ranked)

    def _part(self, population: Population, rng: Generator) -> None:
        """Shake every graph that equals one before it, so that they do not all become one graph."""
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

    def _mates(self) -> int:
        return self.population - self.promoted

    def _pair_at(
        self, place: int, population: Population, state: MatingState, partners: Ranks, rng: Generator
    ) -> tuple[Moves, ParentSets]:
        best = state.population[: self.promoted]
        rest = state.population[self.promoted : self.population - self.dropped]
        own = population[self.promoted + place]
        own.moved_to(rest[place % len(rest)])
        return own, best[rng.integers(self.promoted)]


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

    def _mates(self) -> int:
        return self.population - 1

    def _partners(self, state: MatingState, rng: Generator) -> Ranks:
        return tuple(by_score(np.array(state.scores), self.population - 1, rng).tolist())

    def _pair_at(
        self, place: int, population: Population, state: MatingState, partners: Ranks, rng: Generator
    ) -> tuple[Moves, ParentSets]:
        return population[1 + place], state.population[partners[place]]

    def _mutate(self, place: int, population: Population, rng: Generator) -> int:
        if self.mutation == "improving":
            return super()._mutate(place, population, rng)
        if place == 0 or rng.random() >= self.chance:
            return 0
        return wander(population[place], rng)


def improve(own: Moves, rng: Generator) -> int:
    """Take the first operator, in random order, that raises the score; return the number considered."""
    move, considered = own.first(shuffled_operators(own.problem.n, rng), MIN_GAIN)
    if move is not None:
        own.apply(move)
    return considered


def wander(own: Moves, rng: Generator) -> int:
    """Take any legal operator; return the number considered."""
    legal = own.legal_operators()
    if not len(legal):
        return 0
    own.apply(own.move_of(int(legal[rng.integers(len(legal))])))
    return 1


def made_population(problem: Problem, state: MatingState) -> Population:
    """The neighbourhoods made so far of a state's graphs."""
    made = state.bred[: len(state.bred) + min(0, state.place)]
    return [Moves(problem, graph) for graph in made]
