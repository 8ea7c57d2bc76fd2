"""Regressions from tables with empty cells, by expectation maximisation.

Columns are worked on in units of their own: less the mean of their observed cells, over their deviation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayescout.data.table import Table
from bayescout.errors import DataError
from bayescout.graph.dag import Dag
from bayescout.network.constructors import GaussianNetwork
from bayescout.network.em import ITERATIONS, TOLERANCE, Fitted, iterate
from bayescout.network.gaussian_rows import conditional_gaps
from bayescout.network.likelihood import row_terms
from bayescout.network.network import Network
from bayescout.network.node import Array
from bayescout.wording import setting

LEAST_VARIANCE = 1e-9
"""The least variance of a node's noise during the iterations, as a share of its column's variance.

A node that ends there is determined by its parents, and its variance is 0, as for complete data.
"""

RANK = 1e-10
"""Eigenvalues of the parents' correlations below this belong to combinations that do not vary."""


@dataclass(frozen=True)
class Moments:
    """Expected means and covariances of all columns, in their units."""

    mean: Array
    covariance: Array


def em_gaussian(dag: Dag, table: Table, tolerance: float = TOLERANCE, iterations: int = ITERATIONS) -> Fitted:
    """Regressions by expectation maximisation, from those of the rows where each pair of columns is there."""
    centre, scale = _units(table)
    rows = np.ascontiguousarray((table.doubles() - centre[:, None]).T / scale)
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    start = _regressions(dag, _pairwise(rows, weights))

    def step(network: Network) -> tuple[Network, float]:
        moments, objective = _expected(network, rows, weights)
        return _regressions(dag, moments), objective

    found, trace, converged = iterate(start, step, tolerance, iterations)
    offset = float(weights @ (~np.isnan(rows) @ np.log(scale)))
    return Fitted(_rescaled(found, centre, scale), tuple(one - offset for one in trace), converged)


def _units(table: Table) -> tuple[Array, Array]:
    """The mean and the deviation of the observed cells of each column; 1 for a constant column."""
    centre, scale = np.empty(len(table.values)), np.empty(len(table.values))
    for i, (name, column) in enumerate(zip(table.names, table.doubles(), strict=True)):
        held = ~np.isnan(column) if table.weights is None else ~np.isnan(column) & (table.weights > 0)
        if not held.any():
            raise DataError(
                f"column {name!r} has no values to fit from, all {table.n_rows:,} are missing; "
                f"{setting('drop', name)}, or take the node out of the graph"
            )
        there = column[held]
        centre[i] = there[0] if there.min() == there.max() else there.mean()
        scale[i] = np.sqrt(((there - centre[i]) ** 2).mean()) or 1.0
    return centre, scale


def _pairwise(rows: Array, weights: Array) -> Moments:
    """Means and covariances from the rows where both cells are there; 0 for a pair that never is."""
    held = (~np.isnan(rows)).astype(np.float64)
    cells = np.nan_to_num(rows, nan=0.0)
    weighted = cells * weights[:, None]
    seen = (held * weights[:, None]).T @ held
    own = np.diagonal(seen)
    mean = weighted.sum(axis=0) / own
    away = (cells - mean) * held
    products = (away * weights[:, None]).T @ away
    covariance = np.divide(products, seen, out=np.zeros_like(products), where=seen > 0)
    return Moments(mean, _definite(covariance))


def _definite(covariance: Array) -> Array:
    """The nearest matrix without negative eigenvalues: pairs of different rows need not fit together."""
    values, vectors = np.linalg.eigh(covariance)
    if values.min(initial=0.0) >= 0:
        return covariance
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _regressions(dag: Dag, moments: Moments) -> Network:
    """Each node on its parents, by the moments; of several solutions the one of least norm."""
    intercepts, variances, coefficients = np.empty(len(dag)), np.empty(len(dag)), []
    for child, given in enumerate(dag.parents):
        parents = list(given)
        within = moments.covariance[np.ix_(parents, parents)]
        across = moments.covariance[parents, child]
        weights = np.linalg.lstsq(within, across, rcond=RANK)[0] if parents else np.empty(0)
        rest = moments.covariance[child, child] - 2 * weights @ across + weights @ within @ weights
        coefficients.append(weights)
        variances[child] = max(float(rest), LEAST_VARIANCE)
        intercepts[child] = moments.mean[child] - float(weights @ moments.mean[parents])
    return GaussianNetwork(dag, intercepts, tuple(coefficients), variances)


def _expected(network: Network, rows: Array, weights: Array) -> tuple[Moments, float]:
    """The expected moments, and the log-density of the observed cells."""
    p = rows.shape[1]
    whole, terms = rows.copy(), np.zeros(len(rows))
    extra = np.zeros(p * p)
    for gaps in conditional_gaps(network, rows):
        whole[gaps.rows[:, None], gaps.nodes] = gaps.means
        terms[gaps.rows] = 0.5 * np.linalg.slogdet(2 * np.pi * gaps.covariances)[1][gaps.pattern]
        share = np.bincount(gaps.pattern, weights=weights[gaps.rows], minlength=len(gaps.covariances))
        first = np.zeros((len(gaps.covariances), gaps.nodes.shape[1]), dtype=np.intp)
        first[gaps.pattern] = gaps.nodes
        places = first[:, :, None] * p + first[:, None, :]
        extra += np.bincount(
            places.ravel(), (share[:, None, None] * gaps.covariances).ravel(), minlength=p * p
        )
    terms += row_terms(network, dict(enumerate(np.ascontiguousarray(whole.T))))[0]
    total = float(weights.sum())
    mean = weights @ whole / total
    away = whole - mean
    covariance = ((away * weights[:, None]).T @ away + extra.reshape(p, p)) / total
    return Moments(mean, covariance), float(weights @ terms)


def _rescaled(network: Network, centre: Array, scale: Array) -> Network:
    """The network in the units of the data; the variance of a determined node is 0."""
    intercepts, variances, coefficients = [], [], []
    for child, given in enumerate(network.dag.parents):
        parents = list(given)
        weights = network.coefficients[child] * scale[child] / scale[parents]
        certain = network.variances[child] <= 2 * LEAST_VARIANCE
        coefficients.append(weights)
        variances.append(0.0 if certain else network.variances[child] * scale[child] ** 2)
        away = centre[child] + scale[child] * network.intercepts[child]
        intercepts.append(away - float(weights @ centre[parents]))
    return GaussianNetwork(network.dag, intercepts, tuple(coefficients), variances)
