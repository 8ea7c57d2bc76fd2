"""Empty cells of rows in linear-Gaussian networks: means and covariances given the row's other cells.

The joint normal has the precision matrix K = (I - B)' D^-1 (I - B) for coefficients B and noise variances D.
Given the other cells o, the empty ones m are normal with covariance C = K_mm^-1 and mean
mu_m - C K_mo (x_o - mu_o), so a row costs a matrix as large as its empty cells are many, and rows with the
same empty cells share it. Without noise somewhere there is no K, and the covariance matrix is conditioned
pattern by pattern instead. So are rows of a wide network that have cells of few nodes: those of the others
would be many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data import memory
from bayescout.errors import NetworkError
from bayescout.network import conditioning
from bayescout.network.encode import patterns
from bayescout.network.junction import Rows
from bayescout.network.likelihood import row_terms
from bayescout.network.node import Array

if TYPE_CHECKING:
    from bayescout.network.network import Network

BATCH_NUMBERS = 2**21
"""Numbers in the matrices of rows that are solved together."""

INVERSE_BYTES = 32
"""Bytes, about, for each pair of empty cells of a row."""

Columns = Mapping[int, NDArray[np.float64]]


@dataclass(frozen=True)
class Gaps:
    """Some rows with equally many empty cells, and the distribution of these given the others.

    rows         (n,)
    nodes        (n, m) the nodes whose cells are empty, ascending
    means        (n, m)
    pattern      (n,) which of the patterns each row has
    covariances  (k, m, m) for each pattern
    """

    rows: Rows
    nodes: NDArray[np.intp]
    means: Array
    pattern: NDArray[np.intp]
    covariances: Array


def conditional_gaps(network: Network, values: Array) -> Iterator[Gaps]:
    """The distribution of the empty cells (NaN) of each row of (n, p) values, in batches."""
    empty = np.isnan(values)
    first, number = patterns(empty)
    counts = empty[first].sum(axis=1)
    by_pattern = np.argsort(number, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(number))])
    mean = conditioning.means(network)
    precision = _precision(network)
    most = int(counts.max(initial=0))
    memory.require(
        INVERSE_BYTES * most**2,
        f"a row with {most:,} empty cells takes about",
        "leave such rows out, or give the columns of fewer than half of the nodes",
    )
    for m in np.unique(counts[counts > 0]).tolist():
        alike = np.flatnonzero(counts == m)
        step = max(1, BATCH_NUMBERS // (m * m + values.shape[1]))
        for some in np.array_split(alike, -(-len(alike) // step)):
            nodes = np.nonzero(empty[first[some]])[1].reshape(len(some), m)
            rows = [by_pattern[ends[k] : ends[k + 1]] for k in some.tolist()]
            solved = None if precision is None else _inverses(precision, nodes)
            if precision is None or solved is None:
                yield from _by_covariance(network, values, rows, nodes)
            else:
                yield from _by_precision(mean, precision, values, rows, nodes, solved)


def _by_precision(
    mean: Array,
    precision: Any,
    values: Array,
    patterns_rows: list[Rows],
    nodes: NDArray[np.intp],
    solved: Array,
) -> Iterator[Gaps]:
    """The rows of a few patterns, no more of them at once than fit."""
    which = np.repeat(np.arange(len(nodes)), [len(rows) for rows in patterns_rows])
    rows = np.concatenate(patterns_rows)
    step = max(1, BATCH_NUMBERS // (nodes.shape[1] ** 2 + values.shape[1]))
    for start in range(0, len(rows), step):
        here, pattern = rows[start : start + step], which[start : start + step]
        at = nodes[pattern]
        away = np.nan_to_num(values[here] - mean, nan=0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            pulls = np.take_along_axis(away @ precision, at, axis=1)
            shifts = np.matmul(solved[pattern], pulls[:, :, None])[:, :, 0]
        _require_finite(shifts)
        yield Gaps(here, at, mean[at] - shifts, pattern, solved)


def _precision(network: Network) -> Any:
    """K, sparse in a wide network, or None if a node has no noise of its own."""
    if not (network.variances > 0).all():
        return None
    p = len(network.dag)
    with np.errstate(over="ignore", invalid="ignore"):
        if conditioning.is_wide(network):
            from scipy import sparse

            children = np.repeat(np.arange(p), [len(own) for own in network.dag.parents])
            parents = np.concatenate([np.array(own, dtype=np.intp) for own in network.dag.parents])
            arcs = sparse.csr_array((np.concatenate(network.coefficients), (children, parents)), shape=(p, p))
            structure = sparse.eye_array(p, format="csr") - arcs
            found = (sparse.diags_array(1 / network.variances) @ structure).T @ structure
            found, numbers = ((found + found.T) / 2).tocsr(), found.data
        else:
            rows = np.eye(p)
            for child, own in enumerate(network.dag.parents):
                rows[child, list(own)] = -network.coefficients[child]
            found = (rows / network.variances[:, None]).T @ rows
            found = numbers = (found + found.T) / 2
    return found if np.isfinite(numbers).all() else None


def _inverses(precision: Any, nodes: NDArray[np.intp]) -> Array | None:
    """K_mm^-1 of each pattern, scaled to ones on the diagonal in between; None if one is not to be had."""
    if isinstance(precision, np.ndarray):
        blocks = precision[nodes[:, :, None], nodes[:, None, :]]
    else:
        blocks = np.stack([precision[own][:, own].toarray() for own in nodes])
    scale = 1 / np.sqrt(precision.diagonal()[nodes])
    blocks *= scale[:, :, None] * scale[:, None, :]
    try:
        np.linalg.cholesky(blocks)
        found = np.linalg.inv(blocks)
    except np.linalg.LinAlgError:
        return None
    found = (found + found.transpose(0, 2, 1)) / 2 * (scale[:, :, None] * scale[:, None, :])
    return np.asarray(found) if np.isfinite(found).all() else None


def _by_covariance(
    network: Network, values: Array, patterns_rows: list[Rows], nodes: NDArray[np.intp]
) -> Iterator[Gaps]:
    """The same where some variables determine others."""
    for rows, empty in zip(patterns_rows, nodes, strict=True):
        others = np.setdiff1d(np.arange(values.shape[1]), empty)
        found = conditioning.condition(network, empty.tolist(), others.tolist())
        means = found.mean(values[np.ix_(rows, others)].T).T
        at = np.broadcast_to(empty, (len(rows), len(empty)))
        yield Gaps(rows, at, means, np.zeros(len(rows), dtype=np.intp), found.covariance[None])


def _require_finite(shifts: Array) -> None:
    if not np.isfinite(shifts).all():
        raise NetworkError(
            "the evidence is so large that the mean of a target is more than a number holds; rescale it"
        )


# ---- rows with cells of few nodes


def has_few(network: Network, columns: Columns) -> bool:
    """Return True if a network is wide and most of its nodes have no column."""
    return conditioning.is_wide(network) and 2 * len(columns) < len(network.dag)


def by_observed(columns: Columns, n_rows: int) -> Iterator[tuple[Rows, list[int], Array]]:
    """The rows that have the same cells, the nodes of these, and their values, (m, n)."""
    nodes = np.array(list(columns), dtype=np.intp)
    values = np.array(list(columns.values())).reshape(len(nodes), n_rows)
    empty = np.isnan(values)
    first, number = patterns(empty.T)
    for pattern in range(len(first)):
        rows = np.flatnonzero(number == pattern)
        there = np.flatnonzero(~empty[:, first[pattern]])
        yield rows, nodes[there].tolist(), values[np.ix_(there, rows)]


def log_densities(network: Network, columns: Columns, n_rows: int) -> Array:
    """The log-density of the observed cells of each row, by their own joint distribution."""
    from scipy.linalg import solve_triangular

    _refuse_without_noise(network)
    found = np.zeros(n_rows)
    for rows, nodes, values in by_observed(columns, n_rows):
        mean, weights, variances = conditioning.in_noise(network, nodes)
        root = np.asarray(np.linalg.qr((weights * np.sqrt(variances)).T, mode="r"))  # R'R is the covariance
        with np.errstate(over="ignore"):
            away = solve_triangular(root.T, values - mean[:, None], lower=True)
            squares = np.square(away).sum(axis=0)
        found[rows] = (
            -0.5 * (squares + len(nodes) * np.log(2 * np.pi)) - np.log(np.abs(np.diagonal(root))).sum()
        )
    return found


# ---- answers


def log_likelihoods(network: Network, values: Array) -> Array:
    """The log-density of the observed cells of each row of (n, p) values; empty cells are NaN.

    log p(x_o) = log p(x_o, x_m) at the mean of the empty cells, less log N at its own mean.
    """
    _refuse_without_noise(network)
    whole = values.copy()
    spreads = np.zeros(len(values))
    for gaps in conditional_gaps(network, values):
        whole[gaps.rows[:, None], gaps.nodes] = gaps.means
        logs = np.linalg.slogdet(2 * np.pi * gaps.covariances)[1]
        spreads[gaps.rows] = 0.5 * logs[gaps.pattern]
    terms, _ = row_terms(network, dict(enumerate(np.ascontiguousarray(whole.T))))
    return terms + spreads


def _refuse_without_noise(network: Network) -> None:
    row_terms(network, {node: np.empty(0) for node in range(len(network.dag))})
