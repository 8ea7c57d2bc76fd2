"""The divergence of linear-Gaussian networks."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import NetworkError
from bayescout.evaluate.distance import Divergence, Impossible
from bayescout.graph.labels import quoted
from bayescout.network import GaussianNetwork, Network
from bayescout.network.conditioning import means

Floats = NDArray[np.float64]

ROUNDING = 1e-12
"""A residual below this share of its terms counts as zero."""

BLOCK_NUMBERS = 2**25
"""The most numbers of a covariance factor at once: the whole of one of 5,792 nodes."""


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
    |a L|^2: a sum of squares, in which nothing cancels. Columns of L are taken some at a time.
    """
    p = len(truth.dag)
    mean = means(truth)
    families = list(zip(map(list, learned.dag.parents), learned.coefficients, strict=True))
    squares, sizes = np.empty(p), np.empty(p)
    for node, (some, weights) in enumerate(families):
        shift = mean[node] - learned.intercepts[node] - weights @ mean[some]
        shifts = abs(mean[node]) + abs(learned.intercepts[node]) + np.abs(weights) @ np.abs(mean[some])
        squares[node], sizes[node] = shift * shift, shifts * shifts
    step = max(1, BLOCK_NUMBERS // p)
    for begin in range(0, p, step):
        spread = _spread(truth, begin, min(begin + step, p))
        for node, (some, weights) in enumerate(families):
            loads = spread[node] - weights @ spread[some]
            squares[node] += loads @ loads
            terms = np.abs(spread[node]) + np.abs(weights) @ np.abs(spread[some])
            sizes[node] += terms @ terms
    return squares, np.asarray(squares <= ROUNDING**2 * sizes)


def _spread(network: Network, begin: int, end: int) -> Floats:
    """Some columns of L: what the noise of these nodes adds to each node, in standard deviations."""
    spread = np.zeros((len(network.dag), end - begin))
    for node in network.dag.order_indices:
        spread[node] = network.coefficients[node] @ spread[list(network.dag.parents[node])]
        if begin <= node < end:
            spread[node, node - begin] += math.sqrt(network.variances[node])
    return spread


def _infinite(truth: Network, nodes: NDArray[np.intp]) -> Divergence:
    causes = tuple(Impossible(truth.nodes[i], None, (), 1.0, is_noise=True) for i in nodes.tolist())
    return Divergence(math.inf, exact=True, impossible=causes)
