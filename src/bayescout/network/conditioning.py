"""The joint normal distribution of a linear-Gaussian network, and conditioning on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayescout.data import memory
from bayescout.data.table import Label
from bayescout.errors import NetworkError, warn
from bayescout.graph.labels import counted
from bayescout.graph.orders import reach
from bayescout.graph.separation import requisite
from bayescout.network.distribution import GaussianDistribution
from bayescout.network.encode import Matched
from bayescout.network.node import Array
from bayescout.network.parts import ancestral

if TYPE_CHECKING:
    from bayescout.network.network import Network

CONTRADICTION = 1e-6
"""The largest distance, in standard deviations, of evidence from what determined variables allow."""

MOST_TOGETHER = 1000
"""The most nodes whose covariance matrix is made to condition some of them. Where there are more, these are
sums of the noise of their ancestors, and evidence that the targets do not depend on is left out."""

AT_ONCE = 256
"""Nodes of a wide network that are asked for together, where all are."""

JOINT_BYTES = 32
"""Bytes, about, for each pair of nodes, while a joint distribution is conditioned."""

NOISE_BYTES = 48
"""Bytes, about, for each node asked for or observed and each ancestor, while these are conditioned."""


def joint(network: Network, nodes: Sequence[int] | None = None) -> tuple[Array, Array]:
    """Mean and covariance of all nodes, or of some whose parents are among them, ascending.

    For node i with parents P and weights w: the mean is b + w·mean[P], the covariance with earlier nodes
    is w·cov[P], and the variance is v + w·cov[P, P]·w.
    """
    some = range(len(network.dag)) if nodes is None else nodes
    p = len(some)
    memory.require(
        JOINT_BYTES * p**2,
        f"the joint distribution of {p:,} nodes takes about",
        "query() and marginals() answer for some of the nodes without it",
    )
    place = {node: i for i, node in enumerate(some)}
    mean, covariance = np.zeros(p), np.zeros((p, p))
    before: list[int] = []
    for node in network.dag.order_indices:
        if node not in place:
            continue
        i, parents = place[node], [place[parent] for parent in network.dag.parents[node]]
        weights = network.coefficients[node]
        mean[i] = network.intercepts[node] + weights @ mean[parents]
        across = weights @ covariance[np.ix_(parents, before)]
        covariance[i, before] = covariance[before, i] = across
        own = weights @ covariance[np.ix_(parents, parents)] @ weights
        covariance[i, i] = network.variances[node] + own
        before.append(i)
    return mean, covariance


def means(network: Network) -> Array:
    """The mean of each node."""
    found = np.zeros(len(network.dag))
    for node in network.dag.order_indices:
        parents = list(network.dag.parents[node])
        found[node] = network.intercepts[node] + network.coefficients[node] @ found[parents]
    return found


def in_noise(network: Network, nodes: Sequence[int]) -> tuple[Array, Array, Array]:
    """The mean of k nodes, the (k, a) weights of the noise of their ancestors in them, and its variances.

    Each node is its mean and a weighted sum of independent noises, its ancestors' and its own. The weights
    are found from the nodes back to the roots, and W diag(v) W' is the covariance of the nodes.
    """
    reached = reach(network.dag.parents, nodes)
    near = [node for node in reversed(network.dag.order_indices) if reached[node]]
    memory.require(
        NOISE_BYTES * len(near) * len(nodes),
        f"the joint distribution of {counted(len(nodes), 'node')} with {len(near):,} ancestors takes about",
        "ask for fewer nodes at once, or observe fewer",
    )
    place = {node: i for i, node in enumerate(near)}
    weights = np.zeros((len(near), len(nodes)))
    weights[[place[node] for node in nodes], np.arange(len(nodes))] = 1.0
    for i, node in enumerate(near):
        parents = [place[parent] for parent in network.dag.parents[node]]
        if parents:
            weights[parents] += network.coefficients[node][:, None] * weights[i]
    return means(network)[list(nodes)], weights.T, network.variances[near]


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

    def among(self, used: Sequence[int], evidence: Sequence[int]) -> Conditional:
        """The same for evidence of which only that at `used` tells something."""
        place = {node: i for i, node in enumerate(evidence)}
        at = [place[node] for node in used]
        weights, gaps = (np.zeros((len(one), len(evidence))) for one in (self.weights, self.gaps))
        centre = np.zeros(len(evidence))
        weights[:, at], gaps[:, at], centre[at] = self.weights, self.gaps, self.centre
        return Conditional(self.start, weights, centre, self.covariance, gaps)


def condition(network: Network, targets: Sequence[int], evidence: Sequence[int]) -> Conditional:
    """The conditional distribution of some nodes given others.

    Nodes that are no ancestors of either are left out. Where the ancestors are many, so is evidence that the
    targets do not depend on given the other, and no covariance of the ancestors is made.
    The evidence covariance is scaled to correlations and decomposed by eigenvalues; those that are zero to
    rounding belong to combinations that cannot vary, which carry no information and are left out.
    """
    t, e = list(targets), list(evidence)
    near = ancestral(network, (*t, *e))
    if len(near) > MOST_TOGETHER:
        used = requisite(network.dag, t, e) if (network.variances[e] > 0).all() else e
        return _by_noise(network, t, e) if len(used) == len(e) else condition(network, t, used).among(used, e)
    mean, covariance = joint(network, near)
    place = {node: i for i, node in enumerate(near)}
    t, e = [place[node] for node in t], [place[node] for node in e]
    within = covariance[np.ix_(e, e)]
    scale = _scale(np.sqrt(np.diagonal(within)))
    values, vectors = np.linalg.eigh(within / np.outer(scale, scale))
    across = covariance[np.ix_(t, e)] / scale
    return _conditional(mean[t], mean[e], covariance[np.ix_(t, t)], across, scale, values, vectors)


def _by_noise(network: Network, t: list[int], e: list[int]) -> Conditional:
    """As `condition`, from the noise of the ancestors: eigenvalues are squares of singular values."""
    mean, weights, variances = in_noise(network, (*t, *e))
    own, given = weights[: len(t)], weights[len(t) :]
    deviations = np.sqrt(variances)
    scale = _scale(np.linalg.norm(given * deviations, axis=1))
    scaled = given / scale[:, None]
    triangle = np.asarray(np.linalg.qr((scaled * deviations).T, mode="r"))
    vectors, roots, _ = np.linalg.svd(triangle.T)
    within, across = (own * variances) @ own.T, (own * variances) @ scaled.T
    return _conditional(mean[: len(t)], mean[len(t) :], within, across, scale, roots**2, vectors)


def _scale(deviations: Array) -> Array:
    return np.where(deviations > 0, deviations, 1.0)


def _conditional(
    start: Array, centre: Array, own: Array, across: Array, scale: Array, values: Array, vectors: Array
) -> Conditional:
    """The conditional distribution from covariances, those of the evidence scaled and decomposed.

    own     (k, k) covariance of the targets
    across  (k, m) of the targets with the scaled evidence
    """
    floor = len(scale) * np.finfo(float).eps * max(1.0, float(values.max(initial=0.0)))
    free = values > floor
    half = vectors[:, free] / np.sqrt(values[free])
    loads = across @ half
    rest = own - loads @ loads.T
    rest = (rest + rest.T) / 2
    rest[np.diag_indices_from(rest)] = np.maximum(np.diagonal(rest), 0.0)
    return Conditional(start, loads @ half.T / scale, centre, rest, vectors[:, ~free].T / scale)


def is_wide(network: Network) -> bool:
    """Return True if a network has too many nodes for matrices of all their pairs."""
    return len(network.dag) > MOST_TOGETHER


def in_parts(network: Network, nodes: Sequence[int]) -> Iterator[Sequence[int]]:
    """The nodes, in a wide network some at a time."""
    step = AT_ONCE if is_wide(network) else len(nodes)
    for start in range(0, len(nodes), max(1, step)):
        yield nodes[start : start + step]


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


def all_marginals(
    network: Network, evidence: Mapping[int, float], nodes: Sequence[int]
) -> dict[Label, GaussianDistribution]:
    """The distribution of each of some nodes given the evidence."""
    made = {}
    for some in in_parts(network, nodes):
        found = answer(network, some, evidence)
        for i, label in enumerate(found.variables):
            mean, variance = found.means[i : i + 1], found.covariance[i : i + 1, i : i + 1]
            made[label] = GaussianDistribution((label,), mean, variance, found.evidence)
    return made


def most_probable(network: Network, evidence: Mapping[int, float], nodes: Sequence[int]) -> dict[int, float]:
    """The mean of each of some nodes given the evidence; what is observed is as it was."""
    made: dict[int, float] = {}
    for some in in_parts(network, nodes):
        made.update(zip(some, answer(network, some, evidence).means.tolist(), strict=True))
    return {node: evidence.get(node, mean) for node, mean in made.items()}


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
    if is_wide(network) and _has_all_that_tells(network, target, columns):
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
