"""The three searches of Blanco, Inza & Larrañaga (2003): an elitist genetic algorithm, UMDA and PBIL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayescout.checks import settle, settle_amount, settle_count, settle_flag, settle_share
from bayescout.search.frame.problem import Generator, Problem, State
from bayescout.search.population.generation import (
    Generation,
    PopulationState,
    carried,
    evaluated,
    first_generation,
    first_size,
    living_of,
    require_population,
)
from bayescout.search.population.genome import Floats, Genome, Ints
from bayescout.search.population.operators import (
    by_rank,
    draw_genes,
    elitist,
    elitist_distinct,
    flip_each,
    flip_one,
    one_point,
    repair,
    same_sum,
)


@dataclass(frozen=True)
class ElitistState(PopulationState):
    """A generation, and the number of generations for which the sum of scores has been the same."""

    unchanged: int = 0


@dataclass(frozen=True)
class Elitist(ABC):
    """The base of the three: the population, elitist replacement and the rule of convergence.

    The next generation is the best of parents and offspring together, parents first among equals; the
    search has converged when the sum of scores is the same for `patience` generations (the document: 1),
    and gives up after `max_generations`. `population` is 0 for ten times the number of variables, or
    as many as fit if that is less (from 190 variables on).
    The first generation is the start graph and individuals whose genes are set independently with the
    probability that gives a node `mean_parents` parents on average, before repair; the document does not
    state its density, and half-full graphs would have families of n/2 parents. With `distinct`, an
    individual that equals a better or earlier one stays only if there are too few others.
    """

    population: int = 0
    mean_parents: float = 2.0
    distinct: bool = False
    patience: int = 1
    max_generations: int = 1000

    state: ClassVar[type[State]] = ElitistState

    def __post_init__(self) -> None:
        settle(self, population=require_population(self.population))
        settle_amount(self, "mean_parents")
        settle_flag(self, "distinct")
        settle_count(self, "patience", 1)
        settle_count(self, "max_generations", 1)

    def start(self, problem: Problem, rng: Generator) -> ElitistState:
        genome = Genome.of(problem.rules)
        chances = np.full(genome.size, genome.density(self.mean_parents))
        living = first_generation(problem, first_size(genome, self.population), chances, rng)
        return problem.keep(self._state(carried(living, 0, 0), chances), living)

    def advance(self, problem: Problem, state: Any, rng: Generator) -> ElitistState:
        parents = living_of(problem, state)
        genes, chances = self._offspring(problem, parents, state, rng)
        offspring = evaluated(problem, parents.genome, repair(parents.genome, genes, rng, problem.check))
        living = parents.silent().joined(offspring)
        living = living.taken(self._replacement(parents, offspring))
        unchanged = state.unchanged + 1 if same_sum(parents.scores, living.scores) else 0
        number = state.generation + 1
        done = unchanged >= self.patience or number >= self.max_generations
        said = carried(living, number, state.operations)
        return problem.keep(self._state(said | {"done": done, "unchanged": unchanged}, chances), living)

    def _replacement(self, parents: Generation, offspring: Generation) -> Ints:
        if not self.distinct:
            return elitist(parents.scores, offspring.scores, len(parents))
        genes = np.concatenate([parents.genes, offspring.genes])
        return elitist_distinct(parents.scores, offspring.scores, genes, len(parents))

    @abstractmethod
    def _offspring(
        self, problem: Problem, parents: Generation, state: Any, rng: Generator
    ) -> tuple[Any, Floats]:
        """Unrepaired genes of as many individuals, and the probabilities they were drawn with, if any."""

    def _state(self, said: dict[str, Any], chances: Floats) -> ElitistState:
        return ElitistState(**said)


@dataclass(frozen=True)
class ElitistGa(Elitist):
    """Breed by rank with one-point crossover and keep the best of parents and children (Blanco 2003).

    Parents are drawn in proportion to rank, cut at one place with probability `crossover`, and with
    probability `mutation` one gene of a child is flipped; `per_gene` reads the document's 0.1 the other
    way, as the chance of every gene, which fills graphs with noise beyond a few variables. The other
    settings are those of UMDA; distinct=True, patience=3 end better and take longer.
    """

    crossover: float = 1.0
    mutation: float = 0.1
    per_gene: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        settle_share(self, "crossover")
        settle_share(self, "mutation")
        settle_flag(self, "per_gene")

    def _offspring(
        self, problem: Problem, parents: Generation, state: Any, rng: Generator
    ) -> tuple[Any, Floats]:
        size = len(parents)
        drawn = by_rank(size, size + size % 2, rng)
        mothers, fathers = parents.genes[drawn[0::2]], parents.genes[drawn[1::2]]
        crossed = one_point(mothers, fathers, rng)
        uncrossed = np.repeat(rng.random(len(mothers)) >= self.crossover, 2)
        crossed[uncrossed] = parents.genes[drawn][uncrossed]
        if self.per_gene:
            return flip_each(crossed[:size], self.mutation, rng, problem.check), np.empty(0)
        return flip_one(crossed[:size], self.mutation, rng), np.empty(0)


@dataclass(frozen=True)
class EstimationState(ElitistState):
    """A generation and the probabilities of genes it was drawn with."""

    chances: tuple[float, ...] = ()

    def facts(self) -> dict[str, float]:
        return super().facts() | {"entropy": entropy(np.array(self.chances))}


@dataclass(frozen=True)
class Umda(Elitist):
    """Draw arcs from their shares among the better half of the graphs, again and again (Blanco 2003).

    The univariate marginal distribution algorithm: in every generation the chance of each arc becomes its
    share among the best half of the population, and as many new individuals are drawn, gene by gene, and
    repaired. The next generation is the best of old and new, and the search ends when the sum of scores
    is the same for `patience` generations, or after `max_generations`. `population` 0 is ten times the
    number of variables; at first a node has `mean_parents` parents in the mean, before repair.

    `correction` is added to the counts of both values of a gene (1 is Laplace's), so that no arc is lost
    for good. The document has none, as the default here, and then a search without an order ends too
    early: on alarm (10,000 rows, K2) thousands of nats below the generating network's score.
    correction=0.1, distinct=True, patience=10 end there or above in about half of the runs, and
    correction=0.2 with twice the population in somewhat more; `distinct` keeps copies of an individual out.
    """

    correction: float = 0.0

    state: ClassVar[type[State]] = EstimationState

    def __post_init__(self) -> None:
        super().__post_init__()
        settle_amount(self, "correction")

    def _offspring(
        self, problem: Problem, parents: Generation, state: Any, rng: Generator
    ) -> tuple[Any, Floats]:
        best = parents.genes[: max(1, len(parents) // 2)]
        shares = (best.sum(axis=0) + self.correction) / (len(best) + 2 * self.correction)
        chances = self._learned(np.array(state.chances), shares)
        return draw_genes(chances, len(parents), rng, problem.check), chances

    def _learned(self, chances: Floats, shares: Floats) -> Floats:
        return shares

    def _state(self, said: dict[str, Any], chances: Floats) -> EstimationState:
        return EstimationState(**said, chances=tuple(chances.tolist()))


@dataclass(frozen=True)
class Pbil(Umda):
    """Draw arcs from chances that move towards their shares among the better half (Blanco 2003).

    Population-based incremental learning: p ← (1 - α) p + α · share; α = 1 is UMDA, to the bit. The other
    settings, and what helps without an order, are those of UMDA.
    """

    alpha: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        settle_share(self, "alpha", above=True)

    def _learned(self, chances: Floats, shares: Floats) -> Floats:
        return (1 - self.alpha) * chances + self.alpha * shares


def entropy(chances: Floats) -> float:
    """The entropy of independent genes, in nats; 0 if every gene is certain."""
    open_ = chances[(chances > 0) & (chances < 1)]
    return float(-(open_ * np.log(open_) + (1 - open_) * np.log1p(-open_)).sum())
