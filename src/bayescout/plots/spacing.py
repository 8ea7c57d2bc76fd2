"""Positions on a line with minimum gaps between them and the least total distance along given links.

Both the layers of a drawing and the places within them are such a problem (Gansner, Koutsofios, North & Vo,
"A technique for drawing directed graphs", 1993).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Gap = tuple[int, int, int]
"""(a, b, least): b lies at least `least` after a."""
Link = tuple[int, int, int, int]
"""(a, b, offset, weight): the cost is weight per unit of distance between b and a + offset."""


def leftmost(size: int, gaps: Sequence[Gap], links: Sequence[Link]) -> list[int]:
    """The smallest whole numbers from 0 that keep all gaps at the least total cost.

    The best solutions form a lattice, so one of them is below all others: the answer depends on the problem
    alone and not on the solver. It is found as the prices of a minimum-cost flow, the dual linear program:
    every link carries at most its weight either way, and every number requires a small inflow, which makes
    small numbers cheaper but is too little to move a whole unit of weight.
    """
    if not gaps and not links:
        return [0] * size
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    weight = size + 1
    pairs = [(a, b) for a, b, _ in gaps] + [(a, b) for a, b, _, _ in links]
    column = np.arange(len(pairs))
    tails, heads = (np.array([pair[end] for pair in pairs], dtype=np.int64) for end in (0, 1))
    rows = np.concatenate([heads, tails, np.arange(size)])
    columns = np.concatenate([column, column, len(pairs) + np.arange(size)])
    signs = np.concatenate([np.ones(len(pairs)), -np.ones(len(pairs)), np.ones(size)])
    lengths = [gap for _, _, gap in gaps] + [offset for _, _, offset, _ in links] + [0] * size
    limits: list[tuple[float | None, float | None]] = [(0, None)] * len(gaps)
    limits += [(-weight * w, weight * w) for _, _, _, w in links]
    limits += [(0, None)] * size
    found: Any = linprog(
        c=-np.array(lengths, dtype=np.float64),
        A_eq=coo_array((signs, (rows, columns)), shape=(size, len(pairs) + size)).tocsc(),
        b_eq=np.ones(size),
        bounds=limits,
        method="highs-ds",
    )
    return [round(-price) for price in found.eqlin.marginals.tolist()]


def centred(size: int, gaps: Sequence[Gap], links: Sequence[Link]) -> list[float]:
    """The midpoint of the leftmost and the rightmost best solution, which is equally good."""
    left = leftmost(size, gaps, links)
    width = max(left, default=0)
    mirrored = leftmost(
        size, [(b, a, gap) for a, b, gap in gaps], [(b, a, offset, w) for a, b, offset, w in links]
    )
    return [(low + width - high) / 2 for low, high in zip(left, mirrored, strict=True)]
