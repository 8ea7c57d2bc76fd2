"""Numbers on a line with least gaps between them and the least total distance along given links.

Both the layers of a drawing and the places within them are such a problem (Gansner, Koutsofios, North & Vo,
"A technique for drawing directed graphs", 1993).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Gap = tuple[int, int, int]
"""(a, b, least): b lies at least so much after a."""
Link = tuple[int, int, int, int]
"""(a, b, offset, weight): weight is paid for each unit between b and a + offset."""


def leftmost(size: int, gaps: Sequence[Gap], links: Sequence[Link]) -> list[int]:
    """The smallest whole numbers from 0 that keep all gaps and pay the least in total.

    The best solutions form a lattice, so that there is one below all others: the answer is a function of
    the problem alone and not of the solver. It is found as the prices of a flow of least cost, the dual
    linear program: every link carries at most its weight either way, every number asks for a small inflow,
    which makes small numbers cheaper and is too little to move a whole unit of weight.
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
    """The middle between the leftmost and the rightmost best solution, which is as good as they are."""
    left = leftmost(size, gaps, links)
    width = max(left, default=0)
    mirrored = leftmost(
        size, [(b, a, gap) for a, b, gap in gaps], [(b, a, offset, w) for a, b, offset, w in links]
    )
    return [(low + width - high) / 2 for low, high in zip(left, mirrored, strict=True)]
