"""The continuous nodes of a mixed network, given a configuration of the discrete ones: normal distributions.

Nodes that share an unobserved continuous variable make a part. Given the discrete parents of its nodes,
the unobserved variables of a part are jointly normal, and its evidence has a density. Both are computed node
by node, parents first, for many rows and configurations at once: an unobserved node joins the joint
distribution, an observed one has a density given those before it and then changes the belief about the
unobserved (Kalman's update, in Joseph's form, which stays accurate where the noise is small).

A node without noise has, given what is known before it, either a value that is not determined yet (and so
a density), or a determined one: then the observed value agrees with it, which counts one infinite density
(see `leading`), or contradicts it, and the configuration is impossible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import NetworkError
from bayescout.network.conditional_gaussian import ConditionalGaussian
from bayescout.network.conditioning import CONTRADICTION
from bayescout.network.elimination import Array, Scope
from bayescout.network.linear_gaussian import LinearGaussian

if TYPE_CHECKING:
    from bayescout.network.network import Network

DETERMINED = 1e-13
"""The share of its variance without evidence below which a node without noise counts as determined."""

ROUNDED = 1e-9
"""The largest relative difference between a constant and a value that counts as equal to it."""

Codes = Mapping[int, NDArray[Any]]
"""For each discrete node its codes: (n, 1) if it is observed, (1, q) if it is summed over."""


@dataclass(frozen=True)
class Part:
    """Continuous nodes linked by unobserved ones.

    nodes      parents first
    latent     the unobserved ones, in the same order
    interface  the unobserved discrete parents, ascending
    """

    nodes: tuple[int, ...]
    latent: tuple[int, ...]
    interface: Scope


@dataclass(frozen=True)
class Belief:
    """What the evidence of a part says, for n rows and q configurations (an axis of length 1 serves all).

    logs         (n, q)        log-density of the evidence; minus infinity if it is impossible
    orders       (n, q)        the number of infinite densities, which `logs` leaves out; None if none
    means        (n, q, m)     of the unobserved nodes given the evidence
    covariances  (n, q, m, m)
    """

    logs: Array
    orders: Array | None
    means: Array
    covariances: Array


def parts(network: Network, nodes: Sequence[int], values: Iterable[int], fixed: Iterable[int]) -> list[Part]:
    """The continuous nodes grouped by shared unobserved ones; `values` and `fixed` are observed nodes."""
    numbers, states = set(values), set(fixed)
    wanted = set(nodes)
    order = [n for n in network.dag.order_indices if n in wanted and network.distributions[n].states is None]
    home: dict[int, list[int]] = {}
    groups: list[list[int]] = []
    for node in order:
        linked = [v for v in (*continuous_parents(network, node), node) if v not in numbers]
        group: list[int] = []
        for other in linked:
            found = home.get(other)
            if found is not None and found is not group:
                group += found
                groups = [one for one in groups if one is not found]
                home.update({v: group for v, one in home.items() if one is found})
        group.append(node)
        home.update(dict.fromkeys(linked, group))
        groups = [one for one in groups if one is not group] + [group]
    place = {node: i for i, node in enumerate(order)}
    made = []
    for group in groups:
        members = tuple(sorted(group, key=place.__getitem__))
        free = {p for node in members for p in discrete_parents(network, node) if p not in states}
        made.append(Part(members, tuple(n for n in members if n not in numbers), tuple(sorted(free))))
    return sorted(made, key=lambda part: part.nodes)


def continuous_parents(network: Network, node: int) -> list[int]:
    return [p for p in network.dag.parents[node] if network.distributions[p].states is None]


def discrete_parents(network: Network, node: int) -> list[int]:
    return [p for p in network.dag.parents[node] if network.distributions[p].states is not None]


def grid(interface: Scope, sizes: Sequence[int]) -> dict[int, NDArray[Any]]:
    """The codes of every configuration of some nodes, the last fastest, each (1, q)."""
    shape = [sizes[v] for v in interface]
    codes = np.unravel_index(np.arange(prod(shape)), shape) if interface else ()
    return {v: np.asarray(one)[None, :] for v, one in zip(interface, codes, strict=True)}


# ---- beliefs


def believe(network: Network, part: Part, values: Mapping[int, Array], codes: Codes) -> Belief:
    """The belief of a part; `values` has (n,) numbers of observed nodes."""
    with np.errstate(over="ignore", invalid="ignore"):
        state = _State(network, part, values, codes)
        for node in part.nodes:
            if node in values:
                state.observe(node)
            else:
                state.join(node)
    state.require_finite()
    orders = state.orders if state.has_orders else None
    return Belief(state.logs, orders, state.means, state.covariances)


class _State:
    """The belief while the nodes of a part are taken one by one.

    deviations  (g, q, m)  bounds on the standard deviation of each unobserved node without evidence
    sizes       (n, q, m)  bounds on the terms that its mean is the sum of, for rounding
    """

    def __init__(self, network: Network, part: Part, values: Mapping[int, Array], codes: Codes) -> None:
        self.network, self.values, self.codes = network, values, codes
        self.place = {node: i for i, node in enumerate(part.latent)}
        m = len(part.latent)
        given = [codes[p] for node in part.nodes for p in discrete_parents(network, node)]
        numbers = [values[v] for n in part.nodes for v in (n, *continuous_parents(network, n)) if v in values]
        g = max((one.shape[0] for one in given), default=1)
        q = max((one.shape[1] for one in given), default=1)
        n = max([g, *(len(one) for one in numbers)])
        self.logs, self.orders, self.has_orders = np.zeros((n, q)), np.zeros((n, q)), False
        self.overflows = False
        self.means, self.sizes = np.zeros((n, q, m)), np.zeros((n, q, m))
        self.covariances, self.deviations = np.zeros((g, q, m, m)), np.zeros((g, q, m))

    def regression(self, node: int) -> tuple[Array, Array, Array, Array]:
        """The mean, the bound on its terms, the coefficients of the unobserved nodes, the variance."""
        intercept, weights, variance = parameters(self.network, node, self.codes)
        mean, size = intercept, np.abs(intercept)
        load = np.zeros((*self.covariances.shape[:2], len(self.place)))
        for j, parent in enumerate(continuous_parents(self.network, node)):
            weight = weights[..., j]
            if parent in self.values:
                term = weight * self.values[parent][:, None]
                mean, size = mean + term, size + np.abs(term)
            else:
                i = self.place[parent]
                load[..., i] = weight
                mean = mean + weight * self.means[..., i]
                size = size + np.abs(weight) * self.sizes[..., i]
        return mean, size, load, variance

    def join(self, node: int) -> None:
        """Add an unobserved node to the joint distribution."""
        mean, size, load, variance = self.regression(node)
        i = self.place[node]
        across = np.einsum("gqi,gqij->gqj", load, self.covariances)
        self.means[..., i], self.sizes[..., i] = mean, size
        self.covariances[..., i, :] = self.covariances[..., :, i] = across
        self.covariances[..., i, i] = variance + np.einsum("gqi,gqi->gq", load, across)
        self.deviations[..., i] = np.sqrt(variance) + np.einsum("gqi,gqi->gq", np.abs(load), self.deviations)

    def observe(self, node: int) -> None:
        """Take the density of an observed node, and change the belief about the unobserved."""
        mean, size, load, variance = self.regression(node)
        own = self.values[node][:, None]
        residual = own - mean
        across = np.einsum("gqij,gqj->gqi", self.covariances, load)
        before = np.maximum(np.einsum("gqi,gqi->gq", load, across), 0.0)
        bound = np.einsum("gqi,gqi->gq", np.abs(load), self.deviations)
        certain = (variance == 0) & (before <= DETERMINED * bound**2)
        spread = np.where(certain, 1.0, before + variance)
        density = -0.5 * (np.log(2 * np.pi * spread) + residual * (residual / spread))
        self.overflows |= not np.isfinite(density).all()
        if certain.any():
            agrees = np.abs(residual) <= CONTRADICTION * bound + ROUNDED * np.maximum(size, np.abs(own))
            density = np.where(certain, np.where(agrees, 0.0, -np.inf), density)
            self.orders = self.orders + (certain & agrees)
            self.has_orders = True
        self.logs = self.logs + density
        if not self.place:
            return
        gain = np.where(certain[..., None], 0.0, across / spread[..., None])
        self.means = self.means + residual[..., None] * gain
        turn = np.eye(len(self.place)) - gain[..., :, None] * load[..., None, :]
        noise = np.asarray(variance)[..., None, None] * (gain[..., :, None] * gain[..., None, :])
        self.covariances = turn @ self.covariances @ np.swapaxes(turn, -1, -2) + noise

    def require_finite(self) -> None:
        """Refuse evidence so far away that numbers do not hold its density or what follows from it."""
        if self.overflows or not np.isfinite(self.means).all():
            raise NetworkError(
                "the evidence is so large that its density or the mean of a target is more than a number "
                "holds; rescale it"
            )


def parameters(network: Network, node: int, codes: Codes) -> tuple[Array, Array, Array]:
    """Intercept (g, q), coefficients (g, q, k) and variance (g, q) of one node at the discrete parents."""
    found = network.distributions[node]
    if isinstance(found, LinearGaussian):
        one = np.ones((1, 1))
        return one * found.intercept, found.coefficients[None, None, :], one * found.variance
    assert isinstance(found, ConditionalGaussian)
    config: Any = np.zeros((1, 1), dtype=np.int64)
    for size, parent in zip(found.intercepts.shape, discrete_parents(network, node), strict=True):
        config = config * size + codes[parent]
    variances = found.variances.ravel()[config]
    return found.intercepts.ravel()[config], found.by_configuration[config], variances
