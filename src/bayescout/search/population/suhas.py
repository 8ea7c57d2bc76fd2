"""Holland's canonical genetic algorithm on adjacency genes (Suhas & Sai Praveen 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayescout.checks import MOST_POPULATION, settle_amount, settle_count, settle_share
from bayescout.errors import SettingError
from bayescout.search.frame.problem import Generator, Problem, State
from bayescout.search.population.generation import (
    PopulationState,
    carried,
    evaluated,
    first_generation,
    first_size,
    living_of,
)
from bayescout.search.population.genome import Bools, Floats, Genome, Ints
from bayescout.search.population.operators import (
    by_chunks,
    epsilon_greedy,
    flip_each,
    random_pairs,
    ranking,
    repair,
)


@dataclass(frozen=True)
class HollandState(PopulationState):
    """A generation, and the remaining generations of each individual's life; empty if that is off."""

    lives: tuple[int, ...] = ()

    def facts(self) -> dict[str, float]:
        return super().facts() | {"size": len(self.scores)}


@dataclass(frozen=True)
class Holland:
    """Keep the fittest share and breed the rest from it by masks over rows (Suhas & Sai Praveen 2016).

    Holland's canonical algorithm: keep the best `accept` share (each place but the first goes with
    probability `epsilon` to any individual instead), breed the rest from random pairs of the kept, a
    node's outgoing row from one parent, and flip every gene of a child with the chance that makes `flips`
    in the mean; then repair. It runs for `generations`. The document gives no accept, epsilon or mutation.

    Off by default, the extensions it proposes. `growth`: the population grows by this share a generation
    up to `largest` (0: ten times the first). `lifetime`: an individual lives 1 generation and a
    Poisson number more, of mean `lifetime` for the fittest at its birth, falling by rank to 0.
    `epidemic`: the chance of an epidemic in a full population as fit as its best, less in a smaller or
    less fit one; it kills with chances that rise by rank from 0 to 1. The best individual survives all.
    """

    population: int = 100
    generations: int = 100
    accept: float = 0.5
    epsilon: float = 0.05
    flips: float = 1.0
    mean_parents: float = 2.0
    growth: float = 0.0
    largest: int = 0
    lifetime: float = 0.0
    epidemic: float = 0.0

    state: ClassVar[type[State]] = HollandState

    def __post_init__(self) -> None:
        settle_count(self, "population", 2, MOST_POPULATION)
        settle_count(self, "generations", 1)
        settle_share(self, "accept", above=True)
        for name in ("epsilon", "epidemic"):
            settle_share(self, name)
        for name in ("flips", "mean_parents", "growth", "lifetime"):
            settle_amount(self, name)
        settle_count(self, "largest", most=MOST_POPULATION)
        if 0 < self.largest < self.population:
            raise SettingError(
                f"largest must be 0 or at least the population of {self.population}, not {self.largest}"
            )

    def start(self, problem: Problem, rng: Generator) -> HollandState:
        genome = Genome.of(problem.rules)
        chances = np.full(genome.size, genome.density(self.mean_parents))
        living = first_generation(problem, first_size(genome, self.population), chances, rng)
        lives = self._lives(np.arange(len(living)), len(living), rng)
        return problem.keep(HollandState(**carried(living, 0, 0), lives=tuple(lives.tolist())), living)

    def advance(self, problem: Problem, state: HollandState, rng: Generator) -> HollandState:
        before = living_of(problem, state)
        lives = np.array(state.lives, dtype=np.int64) - 1
        alive = self._survivors(before.scores, lives, rng)
        count = max(1, min(len(alive), round(self.accept * len(alive))))
        kept = alive[epsilon_greedy(len(alive), count, self.epsilon, rng)]
        places = self._places(len(alive), count)
        first_size(before.genome, count + places)
        genes = self._bred(problem, before.genome, before.genes[kept], places, rng)
        children = evaluated(problem, before.genome, repair(before.genome, genes, rng, problem.check))
        both = before.silent().taken(kept).joined(children)
        order = ranking(both.scores)
        living, number = both.taken(order), state.generation + 1
        after = HollandState(
            **carried(living, number, state.operations),
            done=number >= self.generations,
            lives=self._lives_after(lives[kept] if self.lifetime else lives, count, order, rng),
        )
        return problem.keep(after, living)

    def _places(self, alive: int, kept: int) -> int:
        """The number of individuals to be born."""
        if not self.growth:
            return max(0, self.population - kept)
        largest = self.largest or 10 * self.population
        return max(1, min(largest, round((1 + self.growth) * alive)) - kept)

    def _bred(self, problem: Problem, genome: Genome, parents: Bools, count: int, rng: Generator) -> Bools:
        mothers, fathers = random_pairs(len(parents), count, rng)
        children = by_chunks(genome, parents[mothers], parents[fathers], rng)
        return flip_each(children, min(1.0, self.flips / max(1, genome.size)), rng, problem.check)

    def _survivors(self, scores: Floats, lives: Ints, rng: Generator) -> Ints:
        """The ranks alive after old age and an epidemic; always the best."""
        dead = np.zeros(len(scores), dtype=bool)
        if self.lifetime:
            dead |= lives <= 0
        if self.epidemic:
            share = len(scores) / (self.largest or 10 * self.population if self.growth else self.population)
            if rng.random() < self.epidemic * min(1.0, share) * fitness(scores):
                dead |= rng.random(len(scores)) < np.arange(len(scores)) / max(1, len(scores) - 1)
        dead[0] = False
        return np.flatnonzero(~dead)

    def _lives(self, ranks: Ints, size: int, rng: Generator) -> Ints:
        """Generations to live, by rank at birth; empty if that is off."""
        if not self.lifetime:
            return np.empty(0, dtype=np.int64)
        return 1 + rng.poisson(self.lifetime * (1 - ranks / max(1, size - 1)))

    def _lives_after(self, kept: Ints, count: int, order: Ints, rng: Generator) -> tuple[int, ...]:
        """The remaining lives of the kept and those drawn for the newly born by rank, in ranked order."""
        if not self.lifetime:
            return ()
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order))
        born = self._lives(ranks[count:], len(order), rng)
        return tuple(np.concatenate([kept, born])[order].tolist())


def fitness(scores: Floats) -> float:
    """The fitness of a population, from 0 to 1: its mean score between its worst and its best."""
    finite = scores[np.isfinite(scores)]
    spread = float(np.ptp(finite)) if len(finite) else 0.0
    return float((finite.mean() - finite.min()) / spread) if spread else 1.0
