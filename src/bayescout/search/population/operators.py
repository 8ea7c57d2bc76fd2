"""The building blocks of evolutionary searches: small functions of arrays.

Genes are (individuals, genes) bools as `Genome` reads them, scores are sorted best first where rank
matters, and randomness is always an argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from bayescout.search.frame.problem import Generator, ParentSets
from bayescout.search.population.genome import Bools, Floats, Genome, Ints

Check = Callable[[], None]

# ---- drawing


DRAWN = 1 << 20
"""Random numbers drawn at a time."""


def nothing() -> None:
    """The `check` of a caller without a clock; `check` is called between pieces of work."""


def draw_genes(chances: Floats, size: int, rng: Generator, check: Check = nothing) -> Bools:
    """So many individuals, each gene set independently with its own probability."""
    drawn = np.empty((size, len(chances)), dtype=bool)
    for some in slices(len(drawn), len(chances)):
        check()
        np.less(rng.random(drawn[some].shape), chances, out=drawn[some])
    return drawn


def slices(individuals: int, each: int) -> list[slice]:
    """Individuals in slices, so that drawing for a slice takes little memory and time."""
    most = max(1, DRAWN // max(1, each))
    return [slice(begin, begin + most) for begin in range(0, individuals, most)]


# ---- selection


def ranking(scores: Floats) -> Ints:
    """Positions from best to worst; of equals the lower first."""
    return np.argsort(-scores, kind="stable")


def by_rank(size: int, count: int, rng: Generator) -> Ints:
    """Ranks drawn in proportion to size, size - 1, .., 1: the best is drawn most often."""
    return by_weight(np.arange(size, 0, -1).astype(float), count, rng)


def by_score(scores: Floats, count: int, rng: Generator) -> Ints:
    """Positions drawn in proportion to how far each score is above the worst; uniformly among equals.

    Scores are logarithms of any sign, so the worst is the zero. One that is -inf is never drawn while
    another is not.
    """
    finite = np.isfinite(scores)
    lowest = scores[finite].min() if finite.any() else 0.0
    weights = np.where(finite, np.where(finite, scores, lowest) - lowest, 0.0)
    if not weights.any():
        weights = finite.astype(float) if finite.any() else np.ones(len(scores))
    return by_weight(weights, count, rng)


def by_weight(weights: Floats, count: int, rng: Generator) -> Ints:
    """Positions drawn in proportion to weights, of which one is not 0."""
    bounds = np.cumsum(weights)
    drawn: Ints = np.searchsorted(bounds, rng.random(count) * bounds[-1], side="right")
    return drawn


def epsilon_greedy(size: int, count: int, epsilon: float, rng: Generator) -> Ints:
    """The best `count` ranks, each replaced with probability epsilon by any rank; the best itself stays."""
    chosen = np.arange(count)
    replaced = rng.random(count) < epsilon
    replaced[:1] = False
    anyone = rng.integers(size, size=count)
    return np.where(replaced, anyone, chosen)


def random_pairs(size: int, count: int, rng: Generator) -> tuple[Ints, Ints]:
    """Pairs of different positions, uniformly; if there is only one position, it with itself."""
    first = rng.integers(size, size=count)
    apart = rng.integers(1, max(2, size), size=count)
    return first, (first + apart) % size


# ---- crossover


def one_point(mothers: Bools, fathers: Bools, rng: Generator) -> Bools:
    """Both children of every pair, cut at one place: head and tail are exchanged."""
    size = mothers.shape[1]
    cuts = rng.integers(1, max(2, size), size=len(mothers))
    head = np.arange(size) < cuts[:, None]
    children = np.empty((2 * len(mothers), size), dtype=bool)
    children[0::2] = np.where(head, mothers, fathers)
    children[1::2] = np.where(head, fathers, mothers)
    return children


def by_chunks(genome: Genome, mothers: Bools, fathers: Bools, rng: Generator) -> Bools:
    """C = M·P1 + ¬M·P2, the mask M in chunks: a node's outgoing row comes from one parent (Suhas 2016)."""
    mask = rng.random((len(mothers), genome.n)) < 0.5
    child: Bools = np.where(mask[:, genome.parents], mothers, fathers)
    return child


def with_parents_of(graph: ParentSets, other: ParentSets, nodes: Sequence[int]) -> ParentSets:
    """The graph with the parent sets of some nodes replaced by another graph's (Lau & Bush 2004)."""
    taken = set(nodes)
    return tuple(other[v] if v in taken else own for v, own in enumerate(graph))


# ---- mutation


def flip_each(genes: Bools, chance: float, rng: Generator, check: Check = nothing) -> Bools:
    """C ⊕ K: every gene flipped independently with a probability."""
    flipped = np.empty_like(genes)
    for some in slices(*genes.shape):
        check()
        np.logical_xor(genes[some], rng.random(genes[some].shape) < chance, out=flipped[some])
    return flipped


def flip_one(genes: Bools, chance: float, rng: Generator) -> Bools:
    """One uniformly drawn gene of each individual flipped, with a probability."""
    mutated = rng.random(len(genes)) < chance
    if genes.shape[1] == 0:
        return genes
    places = rng.integers(genes.shape[1], size=len(genes))
    flipped = genes.copy()
    flipped[np.flatnonzero(mutated), places[mutated]] ^= True
    return flipped


# ---- repair


def repair(genome: Genome, genes: Bools, rng: Generator, check: Check = nothing) -> Bools:
    """Legal individuals, by deletions alone: surplus parents first, then a random arc of each cycle.

    Required arcs are never deleted. With a known order there are no cycles.
    """
    from bayescout.kernels.population import break_cycles, limit_parents

    rules = genome.rules
    seeds = rng.integers(1, 1 << 32, size=(2, len(genes)))
    limited = (rules.max_parents < rules.allowed.sum(axis=0)).any()
    repaired = np.empty_like(genes)
    for some in slices(len(genes), genome.n**2):
        check()
        matrices = genome.matrices(genes[some])
        if limited:
            limit_parents(matrices, rules.required, rules.max_parents, seeds[0, some])
        if rules.order is None:
            break_cycles(matrices, rules.required, seeds[1, some])
        repaired[some] = genome.genes(matrices)
    return repaired


# ---- replacement


def elitist(old: Floats, new: Floats, size: int) -> Ints:
    """The best of parents and offspring together, best first: positions in old then new; parents first."""
    return ranking(np.concatenate([old, new]))[:size]


def elitist_distinct(old: Floats, new: Floats, genes: Bools, size: int) -> Ints:
    """The same, with individuals equal to an earlier one only if there are too few others.

    genes  those of old and then new
    """
    scores = np.concatenate([old, new])
    order = ranking(scores)
    seen: set[bytes] = set()
    repeated = np.zeros(len(order), dtype=bool)
    for place, row in enumerate(np.packbits(genes[order], axis=1)):
        key = row.tobytes()
        repeated[place] = key in seen
        seen.add(key)
    chosen = np.concatenate([order[~repeated], order[repeated]])[:size]
    return chosen[ranking(scores[chosen])]


def same_sum(one: Floats, other: Floats) -> bool:
    """Return True if two generations have equal sums of scores; scores of -inf are counted instead."""
    finite = [scores[np.isfinite(scores)] for scores in (one, other)]
    return len(finite[0]) == len(finite[1]) and math.fsum(finite[0]) == math.fsum(finite[1])
