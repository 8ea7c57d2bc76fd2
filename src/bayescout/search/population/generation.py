"""A generation of graphs as genes, its scores, and the state that carries it from step to step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np

from bayescout.arrays import Family
from bayescout.checks import MOST_POPULATION, require_count, shown
from bayescout.errors import SettingError, TooLargeError
from bayescout.search.frame.problem import Generator, ParentSets, Problem, State, transient
from bayescout.search.population.genome import Bools, Floats, Genome, Ints, from_hex, to_hex
from bayescout.search.population.operators import draw_genes, ranking, repair, slices
from bayescout.wording import setting

MOST_GENES, COPIES = 1 << 29, 6
"""The most genes in a population, one byte each, and the copies in memory while the next one is made."""

SPARE = 8
"""Divisor of that limit for the default size: some 400 MB. It matters from 190 variables on."""


@dataclass(frozen=True, eq=False)
class Generation:
    """Individuals, best first, with their scores; `graphs` are their parent sets.

    `newcomers` are the scored graphs that were made for it, even those that did not stay.
    """

    genome: Genome
    genes: Bools
    scores: Floats
    graphs: tuple[ParentSets, ...]
    newcomers: tuple[tuple[float, ParentSets], ...] = ()

    def __len__(self) -> int:
        return len(self.scores)

    def taken(self, positions: Ints) -> Generation:
        """The individuals at these positions, in the order given."""
        graphs = tuple(self.graphs[i] for i in positions.tolist())
        return replace(self, genes=self.genes[positions], scores=self.scores[positions], graphs=graphs)

    def joined(self, other: Generation) -> Generation:
        """These individuals followed by others, with the newcomers of both."""
        return Generation(
            self.genome,
            np.concatenate([self.genes, other.genes]),
            np.concatenate([self.scores, other.scores]),
            self.graphs + other.graphs,
            self.newcomers + other.newcomers,
        )

    def silent(self) -> Generation:
        """The same without newcomers, as these have been reported before."""
        return replace(self, newcomers=())

    def ranked(self) -> Generation:
        return self.taken(ranking(self.scores))


def evaluated(problem: Problem, genome: Genome, genes: Bools) -> Generation:
    """New individuals with their scores, from one batch of their distinct families."""
    families: list[Family] = []
    where = np.empty((len(genes), genome.n), dtype=np.int64)
    packed = np.zeros((len(genes), genome.n, -(-genome.n // 64) * 8), dtype=np.uint8)
    for some in slices(len(genes), genome.n**2):
        problem.check()
        packed[some, :, : (genome.n + 7) // 8] = np.packbits(
            genome.matrices(genes[some]).transpose(0, 2, 1), axis=2
        )
    for child in range(genome.n if len(genes) else 0):
        first, number = distinct_rows(packed[:, child])
        where[:, child] = len(families) + number
        families += [(child, one) for one in members(packed[first, child])]
    scores = problem.scorer.many(families)[where].sum(axis=1) if families else np.zeros(len(genes))
    sets = [one for _, one in families]
    graphs = tuple(tuple(map(sets.__getitem__, row)) for row in where.tolist())
    newcomers = tuple(zip(scores.tolist(), graphs, strict=True))
    return Generation(genome, genes, scores, graphs, newcomers)


def distinct_rows(rows: Any) -> tuple[Ints, Ints]:
    """For rows of whole 64-bit words, as bytes: the first of each distinct kind, and the kind of each row."""
    words = np.ascontiguousarray(rows).view(np.uint64)
    whole = words[:, 0] if words.shape[1] == 1 else words.view(np.dtype((np.void, words.shape[1] * 8)))[:, 0]
    _, first, number = np.unique(whole, return_index=True, return_inverse=True)
    return first, number


def members(rows: Any) -> list[tuple[int, ...]]:
    """The positions of the bits that are set in each row of bytes, by one search over all rows."""
    row, position = np.nonzero(np.unpackbits(rows, axis=1))
    ends = np.searchsorted(row, np.arange(len(rows) + 1)).tolist()
    found = position.tolist()
    return [tuple(found[begin:end]) for begin, end in pairwise(ends)]


def first_generation(problem: Problem, size: int, chances: Floats, rng: Generator) -> Generation:
    """The start graph, and individuals drawn gene by gene and repaired."""
    genome = Genome.of(problem.rules)
    begin = genome.of_graph(problem.first_graph(rng))
    drawn = repair(genome, draw_genes(chances, size - 1, rng, problem.check), rng, problem.check)
    return evaluated(problem, genome, np.concatenate([begin[None], drawn])).ranked()


@dataclass(frozen=True)
class PopulationState(State):
    """A generation: individuals as hexadecimal genes, best first, and their scores.

    `newcomers` are the scored graphs that this step made.
    """

    population: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    generation: int = 0
    newcomers: tuple[tuple[float, ParentSets], ...] = transient(())

    def visited(self) -> Sequence[tuple[float, ParentSets]]:
        return tuple(dict.fromkeys(((self.score, self.parents), *self.newcomers)))

    def facts(self) -> dict[str, float]:
        return {
            "generation": self.generation,
            "best_in_population": self.scores[0],
            "mean": float(np.mean(self.scores)),
            "worst": self.scores[-1],
        }


def carried(living: Generation, generation: int, operations: int) -> dict[str, Any]:
    """The fields that every state has of its generation, as arguments of its class."""
    return {
        "parents": living.graphs[0],
        "score": float(living.scores[0]),
        "operations": operations + len(living.newcomers),
        "newcomers": living.newcomers,
        "population": to_hex(living.genes),
        "scores": tuple(living.scores.tolist()),
        "generation": generation,
    }


def living_of(problem: Problem, state: PopulationState) -> Generation:
    """The generation of a state."""

    def rebuilt() -> Generation:
        genome = Genome.of(problem.rules)
        genes = from_hex(state.population, genome.size)
        return Generation(genome, genes, np.array(state.scores), tuple(genome.graphs(genes)))

    return problem.scratch(state, rebuilt)


def first_size(genome: Genome, asked: int) -> int:
    """The size of a population: as asked, or for 0 ten times the number of variables as far as that fits.

    Sizes that would take too much memory are refused.
    """
    fits = max(2, MOST_GENES // max(1, genome.size))
    size = asked or max(2, min(10 * genome.n, fits // SPARE))
    if size > fits:
        raise TooLargeError(
            f"a population of {size:,} graphs of {genome.n:,} variables has {size * genome.size:,} genes, "
            f"more than the {MOST_GENES:,} that are held, about {COPIES * MOST_GENES / 2**30:.0f} GiB; "
            f"{setting('population', fits)} is the largest that fits"
        )
    return size


def require_population(size: Any) -> int:
    """The checked size of a population: 0 for ten times the number of variables, or at least 2."""
    if isinstance(size, bool) or not isinstance(size, Integral) or size < 0 or size == 1:
        raise SettingError(f"population must be 0 (ten times the variables) or at least 2, not {shown(size)}")
    return require_count("population", size, most=MOST_POPULATION)
