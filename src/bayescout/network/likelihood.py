"""The log-likelihood of data under a network, with the unseen and impossible rows counted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import warn
from bayescout.network.encode import Matched
from bayescout.network.node import Array, Mask

if TYPE_CHECKING:
    from bayescout.network.network import Network


@dataclass(frozen=True)
class LogLikelihood:
    """The log-likelihood of a table, in nats; `float()` gives the total.

    total            the weighted sum over rows; minus infinity only if a row is impossible
    finite_total     the same over the rows that are possible
    rows             the number of rows
    weight           the sum of the row weights (the number of rows if there are none)
    unseen_rows      rows with a parent configuration which maximum likelihood left
                     undefined; such a node counts as uniform over its states
    impossible_rows  rows (of weight above zero) to which the network gives probability zero
    """

    total: float
    finite_total: float
    rows: int
    weight: float
    unseen_rows: int = 0
    impossible_rows: int = 0

    @property
    def mean(self) -> float:
        """The average log-likelihood per row; 0 for no rows."""
        return self.total / self.weight if self.weight else 0.0

    def __float__(self) -> float:
        return self.total


def counted_rows(rows: Array, weights: Array | None) -> Mask:
    """A mask of the rows of weight above zero: one of weight zero counts as absent."""
    return np.ones(len(rows), dtype=bool) if weights is None else weights > 0


def summed(rows: Array, weights: Array | None, unseen: Mask) -> LogLikelihood:
    """Add up the rows that count."""
    counted = counted_rows(rows, weights)
    finite = counted & np.isfinite(rows)
    terms = rows[finite] if weights is None else rows[finite] * weights[finite]
    finite_total = math.fsum(terms.tolist())
    impossible = int(counted.sum() - finite.sum())
    return LogLikelihood(
        total=-math.inf if impossible else finite_total,
        finite_total=finite_total,
        rows=len(rows),
        weight=float(len(rows)) if weights is None else math.fsum(weights.tolist()),
        unseen_rows=int((unseen & counted).sum()),
        impossible_rows=impossible,
    )


def row_terms(
    network: Network,
    columns: Mapping[int, NDArray[Any]],
    acted: Mapping[int, Mask] | None = None,
) -> tuple[Array, Mask]:
    """The log-density of each complete row, and a mask of rows with parents' values that have no estimate.

    A node that was set from outside in a row, by `acted`, adds nothing to it.
    """
    n_rows = len(columns[0]) if columns else 0
    total = np.zeros(n_rows)
    unseen = np.zeros(n_rows, dtype=bool)
    for node, distribution in enumerate(network.distributions):
        given = [columns[parent] for parent in network.dag.parents[node]]
        logs, met = distribution.log_densities(network.nodes[node], columns[node], given)
        if acted is not None and node in acted:
            logs = np.where(acted[node], 0.0, logs)
            met = None if met is None else met & ~acted[node]
        total += logs
        if met is not None:
            unseen |= met
    return total, unseen


def warn_impossible(network: Network, matched: Matched, rows: Array) -> None:
    """Warn of the number of impossible rows, if any, and of the first with the node that makes it so."""
    found = np.flatnonzero(np.isneginf(rows) & counted_rows(rows, matched.weights))
    if not len(found):
        return
    row = int(found[0])
    warn(
        f"{len(found):,} of {len(rows):,} rows have probability zero, so the log-likelihood is minus "
        f"infinity; the first is row {row} (counting from 0){_culprit(network, matched, row)}: fit with "
        f"prior='laplace' to leave nothing impossible, or use finite_total"
    )


def _culprit(network: Network, matched: Matched, row: int) -> str:
    """The first node whose cell is impossible given its parents' cells, in words; "" if it takes more."""
    for node, distribution in enumerate(network.distributions):
        if matched.acted is not None and node in matched.acted and matched.acted[node][row]:
            continue
        own, *given = (matched.columns[v][row] for v in (node, *network.dag.parents[node]))
        label, states = network.nodes[node], distribution.states
        if states is None or own == len(states):
            continue
        sizes = [len(network.distributions[v].states or ()) for v in network.dag.parents[node]]
        if any(code == size for code, size in zip(given, sizes, strict=True)):
            continue
        if distribution.log_density(label, own, given) == -math.inf:
            return f", where {label!r} is {states[own]!r}"
    return ""
