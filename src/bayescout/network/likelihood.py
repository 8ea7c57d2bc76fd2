"""The log-likelihood of data under a network, with what it could not explain counted."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import BayescoutWarning, NetworkError

if TYPE_CHECKING:
    from bayescout.network.discrete import DiscreteNetwork
    from bayescout.network.gaussian import GaussianNetwork

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LogLikelihood:
    """The log-likelihood of a table, in nats; `float()` gives the total.

    total            the weighted sum over rows; minus infinity only where a row is impossible
    finite_total     the same over the rows that are possible
    rows             the number of rows
    weight           the sum of the row weights (the number of rows where there are none)
    unseen_rows      rows that meet a parent configuration which maximum likelihood left
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
        """The log-likelihood of a row on average; 0 for no rows."""
        return self.total / self.weight if self.weight else 0.0

    def __float__(self) -> float:
        return self.total


def summed(rows: Array, weights: Array | None, unseen: NDArray[np.bool_]) -> LogLikelihood:
    """Add up the rows; a row of weight zero is as good as absent."""
    counted = np.ones(len(rows), dtype=bool) if weights is None else weights > 0
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


# ---- discrete


def configurations(
    network: DiscreteNetwork, node: int, columns: Mapping[int, NDArray[Any]] | NDArray[Any]
) -> NDArray[np.int64]:
    """For each row the number of the node's parent configuration, the last parent varying fastest.

    `columns` has the codes of the node and its parents, by index.
    """
    parents = network.dag.parents[node]
    config = np.zeros(len(columns[node]), dtype=np.int64)
    for parent in parents:
        config *= network.sizes[parent]
        config += columns[parent]
    return config


def discrete_rows(
    network: DiscreteNetwork, columns: Mapping[int, NDArray[Any]]
) -> tuple[Array, NDArray[np.bool_]]:
    """log P(row) for each row, and which rows meet an undefined parent configuration."""
    n_rows = len(columns[0]) if columns else 0
    total = np.zeros(n_rows)
    unseen = np.zeros(n_rows, dtype=bool)
    for node, table in enumerate(network.tables):
        config = configurations(network, node, columns)
        if network.undefined[node].any():
            unseen |= network.undefined[node].ravel()[config]
        with np.errstate(divide="ignore"):
            logs = np.log(table).ravel()
        config *= network.sizes[node]
        config += columns[node]
        total += logs[config]
    return total, unseen


def warn_impossible(
    network: DiscreteNetwork, columns: Mapping[int, NDArray[Any]], rows: NDArray[np.intp], n_rows: int
) -> None:
    """Say how many rows are impossible, and the first of them with the node that makes it so."""
    row = int(rows[0])
    node = next(
        n
        for n, table in enumerate(network.tables)
        if table[tuple(int(columns[v][row]) for v in (*network.dag.parents[n], n))] == 0
    )
    state = network.states[node][int(columns[node][row])]
    warnings.warn(
        f"{len(rows):,} of {n_rows:,} rows have probability zero, so the log-likelihood is minus "
        f"infinity; the first is row {row} (counting from 0), where {network.dag.nodes[node]!r} is "
        f"{state!r}: fit with prior='laplace' to leave nothing impossible, or use finite_total",
        BayescoutWarning,
        stacklevel=3,
    )


# ---- Gaussian


def gaussian_rows(network: GaussianNetwork, columns: Mapping[int, Array]) -> Array:
    """The log-density of each row: the sum over nodes of log N(residual; 0, variance)."""
    total = np.zeros(len(columns[0]) if columns else 0)
    for node, label in enumerate(network.dag.nodes):
        variance = float(network.variances[node])
        if variance == 0:
            raise NetworkError(
                f"node {label!r} has variance 0 (a point mass), so rows have no density; leave the node out, "
                f"or give it a positive variance"
            )
        residual = columns[node] - network.intercepts[node]
        for parent, weight in zip(network.dag.parents[node], network.coefficients[node], strict=True):
            residual -= weight * columns[parent]
        total -= 0.5 * (math.log(2 * math.pi * variance) + residual * residual / variance)
    return total
