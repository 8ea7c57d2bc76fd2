"""Conditional probabilities from counts, observed or expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayescout.network.node import Array, Mask

if TYPE_CHECKING:
    from bayescout.network.network import Network


def estimate(counts: Array, prior: str, ess: float) -> tuple[Array, Mask]:
    """Probabilities (q, r) from counts (q, r), and a mask of the undefined rows (which hold the uniform)."""
    q, r = counts.shape
    cells = counts + pseudo_count(q * r, prior, ess)
    totals = cells.sum(axis=1, keepdims=True)
    undefined = totals[:, 0] == 0
    rows = np.divide(cells, totals, out=np.full((q, r), 1.0 / r), where=totals > 0)
    return rows, undefined


def pseudo_count(entries: int, prior: str, ess: float) -> float:
    """The count that a prior adds to each entry of a table."""
    return {"mle": 0.0, "laplace": 1.0, "bdeu": ess / entries}[prior]


def log_prior(network: Network, prior: str, ess: float) -> float:
    """The log-density of the tables that the pseudo-counts stand for, up to a constant: their sum of logs."""
    total = 0.0
    for table in network.tables:
        weight = pseudo_count(table.size, prior, ess)
        total += weight * float(np.log(table).sum()) if weight else 0.0
    return total
