"""Pairs of variables that are candidates of each other: those of a screening, and those that join them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayescout.arrays import Ints, Parents
from bayescout.search.frame.problem import Pairs
from bayescout.statistics.screening import Neighbourhood

MOST_SINGLE, FEWER = 2000, 200
"""With more variables a step is several moves, one for every `FEWER` of them: what a state holds is
proportional to the variables."""


def moves_per_step(n: int) -> int:
    """The moves of one step of a search on candidates."""
    return 1 if n <= MOST_SINGLE else n // FEWER


def arcs_of(parents: Sequence[Parents]) -> Ints:
    """The parents and the children of all arcs, (2, k)."""
    sizes = np.fromiter(map(len, parents), np.int64, len(parents))
    children = np.repeat(np.arange(len(parents)), sizes)
    above = np.fromiter((v for own in parents for v in own), np.int64, int(sizes.sum()))
    return np.stack([above, children])


def coparents(parents: Sequence[Parents]) -> Ints:
    """All pairs of parents of one child, (2, k)."""
    pairs = [(a, b) for own in parents for i, a in enumerate(own) for b in own[:i]]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T


def outside(candidates: Neighbourhood, pairs: Ints) -> Ints:
    """The pairs, (2, k), that are no candidates of each other, each once: (k, 2)."""
    return candidates.lacks(pairs.T)


def ordered(pairs: Ints) -> Pairs:
    """Pairs, (k, 2), as a value: the lower variable first, each pair once."""
    if not len(pairs):
        return ()
    low_high = np.unique(np.sort(pairs, axis=1), axis=0)
    return tuple([(a, b) for a, b in low_high.tolist()])


def widened(candidates: Neighbourhood, joined: Pairs) -> Neighbourhood:
    """The candidates with further pairs."""
    if not joined:
        return candidates
    listed = np.array(joined, dtype=np.int64)
    return candidates.with_pairs(listed[:, 0], listed[:, 1])
