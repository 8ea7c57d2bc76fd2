"""The joint normal distribution of a linear-Gaussian network, and conditioning on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayescout.data import memory
from bayescout.data.table import Label
from bayescout.errors import NetworkError, warn
from bayescout.network.distribution import GaussianDistribution
from bayescout.network.encode import Matched
from bayescout.network.node import Array

if TYPE_CHECKING:
    from bayescout.network.network import Network

CONTRADICTION = 1e-6
"""The largest distance, in standard deviations, of evidence from what determined variables allow."""

MOST_TOGETHER = 1000
"""In a network of more nodes a node is predicted from its neighbours alone, where that is the same."""

JOINT_BYTES = 32
"""Bytes, about, for each pair of nodes, while a joint distribution is conditioned."""


def joint(network: Network) -> tuple[Array, Array]:
    """Mean and covariance, node by node in topological order.

    For node i with parents P and weights w: the mean is b + w·mean[P], the covariance with earlier nodes
    is w·cov[P], and the variance is v + w·cov[P, P]·w.
    """
    p = len(network.dag)
    memory.require(
        JOINT_BYTES * p**2,
        f"the joint distribution of {p:,} nodes takes about",
        "a node is predicted without it from rows that have all of its parents, its children and their "
        "parents; else fit a network of fewer columns",
    )
    mean, covariance = np.zeros(p), np.zeros((p, p))
    before: list[int] = []
    for node in network.dag.order_indices:
        parents = list(network.dag.parents[node])
        weights = network.coefficients[node]
        mean[node] = network.intercepts[node] + weights @ mean[parents]
        across = weights @ covariance[np.ix_(parents, before)]
        covariance[node, before] = covariance[before, node] = across
        own = weights @ covariance[np.ix_(parents, parents)] @ weights
        covariance[node, node] = network.variances[node] + own
        before.append(node)
    return mean, covariance


@dataclass(frozen=True)
class Conditional:
    """The targets given the evidence e: mean `start + weights · (e - centre)`, constant covariance.

    `gaps` maps e - centre, where evidence variables determine one another, to its distance (in
    standard deviations) from the values that are possible together.
    """

    start: Array
    weights: Array
    centre: Array
    covariance: Array
    gaps: Array

    def mean(self, evidence: Array) -> Array:
        """(k, n) means of the targets for (m, n) evidence."""
        with np.errstate(over="ignore", invalid="ignore"):
            found: Array = self.start[:, None] + self.weights @ (evidence - self.centre[:, None])
        if not np.isfinite(found).all():
            raise NetworkError(
                "the evidence is so large that the mean of a target is more than a number holds; rescale it"
            )
        return found

    def contradicts(self, evidence: Array) -> NDArray[np.bool_]:
        """For each column of the (m, n) evidence, True if its density is zero."""
        with np.errstate(over="ignore", invalid="ignore"):
            distance = self.gaps @ (evidence - self.centre[:, None])
        return np.asarray((~(np.abs(distance) <= CONTRADICTION)).any(axis=0))


def condition(network: Network, targets: Sequence[int], evidence: Sequence[int]) -> Conditional:
    """The conditional distribution of some nodes given others.

    The evidence covariance is scaled to correlations and decomposed by eigenvalues; those that are zero to
    rounding belong to combinations that cannot vary, which carry no information and are left out.
    """
    mean, covariance = joint(network)
    t, e = list(targets), list(evidence)
    within = covariance[np.ix_(e, e)]
    deviations = np.sqrt(np.diagonal(within))
    scale = np.where(deviations > 0, deviations, 1.0)
    values, vectors = np.linalg.eigh(within / np.outer(scale, scale))
    floor = len(e) * np.finfo(float).eps * max(1.0, float(values.max(initial=0.0)))
    free = values > floor
    half = vectors[:, free] / np.sqrt(values[free])
    across = covariance[np.ix_(t, e)] / scale
    loads = across @ half
    rest = covariance[np.ix_(t, t)] - loads @ loads.T
    rest = (rest + rest.T) / 2
    rest[np.diag_indices_from(rest)] = np.maximum(np.diagonal(rest), 0.0)
    return Conditional(mean[t], loads @ half.T / scale, mean[e], rest, vectors[:, ~free].T / scale)


def answer(network: Network, targets: Sequence[int], evidence: Mapping[int, float]) -> GaussianDistribution:
    """The distribution of the targets given the evidence, with its labels.

    Evidence that is impossible because some variables have no noise of their own is refused.
    """
    found = condition(network, targets, list(evidence))
    column = np.array(list(evidence.values()), dtype=np.float64)[:, None]
    if found.contradicts(column).any():
        shown = ", ".join(f"{network.nodes[node]}={value:g}" for node, value in evidence.items())
        raise NetworkError(
            f"the evidence has density zero: {shown} cannot happen together, as some of these variables "
            f"determine one another; correct a value or leave one out"
        )
    given = tuple((network.nodes[node], value) for node, value in evidence.items())
    variables = tuple(network.nodes[i] for i in targets)
    return GaussianDistribution(variables, found.mean(column)[:, 0], found.covariance, given)


def all_marginals(network: Network, evidence: Mapping[int, float]) -> dict[Label, GaussianDistribution]:
    """The distribution of every node given the evidence."""
    found = answer(network, range(len(network.dag)), evidence)
    return {
        label: GaussianDistribution(
            (label,), found.means[i : i + 1], found.covariance[i : i + 1, i : i + 1], found.evidence
        )
        for i, label in enumerate(network.nodes)
    }


def predict_rows(network: Network, target: int, matched: Matched) -> Array:
    """The mean of the target given the row's evidence, for each row.

    A row whose values contradict one another is predicted from the combinations that can vary, and a warning
    counts such rows.
    """
    means, wrong = predict(network, target, matched.columns)
    warn_contradictions(network, target, wrong)
    return means


def warn_contradictions(network: Network, target: int, wrong: NDArray[np.bool_]) -> None:
    """Warn of the rows whose values contradict one another."""
    if wrong.any():
        warn(
            f"{int(wrong.sum()):,} of {len(wrong):,} rows have density zero in the network, the "
            f"first is row {int(np.argmax(wrong))} (counting from 0); {network.nodes[target]!r} is predicted "
            f"there from what can vary"
        )


def predict(
    network: Network, target: int, columns: Mapping[int, NDArray[np.float64]]
) -> tuple[Array, NDArray[np.bool_]]:
    """The mean of the target for each row of complete evidence, and a mask of the impossible rows."""
    if len(network.dag) > MOST_TOGETHER and _has_all_that_tells(network, target, columns):
        means = _mean_given_neighbours(network, target, columns)
        return means, np.zeros(means.shape, dtype=np.bool_)
    found = condition(network, (target,), list(columns))
    evidence = np.stack(list(columns.values()))
    return found.mean(evidence)[0], found.contradicts(evidence)


def _has_all_that_tells(network: Network, target: int, columns: Mapping[int, NDArray[np.float64]]) -> bool:
    """Return True if the Markov blanket is there, and each node has noise, so that all rows are possible."""
    dag = network.dag
    near = map(dag.index, dag.markov_blanket(dag.nodes[target]))
    return columns.keys() >= set(near) and bool((network.variances > 0).all())


def _mean_given_neighbours(
    network: Network, target: int, columns: Mapping[int, NDArray[np.float64]]
) -> Array:
    """The mean of a node given its Markov blanket.

    Its own regression says N(m, v), and each child c, whose weight for it is w and whose value less what its
    other parents contribute is r, adds a measurement of w times the node with variance v_c: the mean is
    (m / v + sum of w r / v_c) / (1 / v + sum of w^2 / v_c).
    """

    def expected(node: int) -> Array:
        """The mean of a node given its parents, the target counted as zero."""
        found = np.full(len(next(iter(columns.values()))), network.intercepts[node])
        for parent, weight in zip(network.dag.parents[node], network.coefficients[node], strict=True):
            if parent != target:
                found = found + weight * columns[parent]
        return found

    precision = 1 / network.variances[target]
    pull = expected(target) * precision
    for child in network.dag.children[target]:
        weight = network.coefficients[child][network.dag.parents[child].index(target)]
        pull += weight * (columns[child] - expected(child)) / network.variances[child]
        precision += weight**2 / network.variances[child]
    found: Array = pull / precision
    return found
