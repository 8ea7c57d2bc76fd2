"""The divergence of linear-Gaussian networks."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import NetworkError
from bayescout.evaluate.distance import Divergence, Impossible
from bayescout.graph.labels import quoted
from bayescout.network import GaussianNetwork, Network

Floats = NDArray[np.float64]

ROUNDING = 1e-12
"""A residual below this share of its terms counts as zero."""


def gaussian_divergence(truth: Network, learned: Network) -> Divergence:
    r"""The exact divergence, by families of the learned network.

    $$ KL = \tfrac12 \sum_i \log\frac{v_i}{v^0_i} + \frac{E[r_i^2]}{v_i} - 1 $$

    with the residual $r_i$ and the variance $v_i$ of the learned network, and the truth's variance $v^0_i$,
    as the determinant of a covariance is the product of the noise variances.
    """
    learned = aligned(learned, truth)
    squares, negligible = _residuals(truth, learned)
    noiseless = learned.variances == 0
    without = truth.variances == 0
    ruled_out = noiseless & ~negligible
    if ruled_out.any():
        return _infinite(truth, np.flatnonzero(ruled_out))
    if noiseless.sum() < without.sum():
        return _infinite(truth, np.flatnonzero(without & ~noiseless))
    if (noiseless != without).any():
        odd = np.flatnonzero(noiseless != without)
        raise NetworkError(
            f"{quoted([truth.nodes[i] for i in odd])} have no noise in one network only, though both are "
            f"certain of the same relations; leave these nodes out, or give them a positive variance"
        )
    v, own, expected = learned.variances[~without], truth.variances[~without], squares[~without]
    terms: Floats = 0.5 * (np.log(v / own) + expected / v - 1)
    return Divergence(max(math.fsum(terms.tolist()), 0.0), exact=True)


def gaussian_sampled(truth: Network, learned: Network, samples: int, seed: int) -> Divergence:
    """The mean log-ratio of the densities over rows drawn from the truth."""
    rows = truth.sample(samples, seed)
    ratios = truth.row_log_likelihood(rows) - learned.row_log_likelihood(rows)
    error = float(ratios.std(ddof=1)) / math.sqrt(samples)
    return Divergence(math.fsum(ratios.tolist()) / samples, False, error, samples)


def aligned(network: Network, truth: Network) -> Network:
    """The network with its nodes in the truth's order."""
    dag = network.dag.reordered(truth.nodes)
    old = [network.dag.index(label) for label in truth.nodes]
    coefficients = []
    for node, parents in enumerate(dag.parents):
        own = dict(zip(network.dag.parents[old[node]], network.coefficients[old[node]], strict=True))
        coefficients.append(np.array([own[old[p]] for p in parents], dtype=np.float64))
    return GaussianNetwork(dag, network.intercepts[old], tuple(coefficients), network.variances[old])


def _residuals(truth: Network, learned: Network) -> tuple[Floats, NDArray[np.bool_]]:
    """E[r_i^2] in truth for each residual of the learned network, and which are zero up to rounding.

    A row of the truth is mean + L z with independent standard normal z, so a residual a·x has the variance
    |a L|^2: a sum of squares, in which nothing cancels.
    """
    p = len(truth.dag)
    spread = np.zeros((p, p))
    mean = np.zeros(p)
    for node in truth.dag.order_indices:
        parents, weights = list(truth.dag.parents[node]), truth.coefficients[node]
        spread[node] = weights @ spread[parents]
        spread[node, node] += math.sqrt(truth.variances[node])
        mean[node] = truth.intercepts[node] + weights @ mean[parents]
    squares, sizes = np.empty(p), np.empty(p)
    for node, (parents_of, weights) in enumerate(zip(learned.dag.parents, learned.coefficients, strict=True)):
        some = list(parents_of)
        loads = spread[node] - weights @ spread[some]
        shift = mean[node] - learned.intercepts[node] - weights @ mean[some]
        squares[node] = loads @ loads + shift * shift
        terms = np.abs(spread[node]) + np.abs(weights) @ np.abs(spread[some])
        shifts = abs(mean[node]) + abs(learned.intercepts[node]) + np.abs(weights) @ np.abs(mean[some])
        sizes[node] = terms @ terms + shifts * shifts
    return squares, np.asarray(squares <= ROUNDING**2 * sizes)


def _infinite(truth: Network, nodes: NDArray[np.intp]) -> Divergence:
    causes = tuple(Impossible(truth.nodes[i], None, (), 1.0, is_noise=True) for i in nodes.tolist())
    return Divergence(math.inf, exact=True, impossible=causes)
