"""Densities of observed numbers given discrete cells, for many cells with any empty numbers at once.

Where every node has noise, -2 log p(x) is, up to a constant, the squared length of the standardised residuals
of the regressions, and these are linear in the numbers that are empty. Least squares over the empty numbers
therefore gives their means given the observed ones, and what is left over gives the density:

log p(x_o) = -|r|^2 / 2 - sum_i log |R_ii| - sum_v log s_v - n_o log(2 pi) / 2

for the residuals r at those means, the triangle R of the standardised design of the empty numbers, the
standard deviations s of the noise of all nodes v, and n_o observed numbers. The triangle is that of a QR
factorisation, as products of the design with itself would lose half of the digits. A cell costs one
factorisation as wide as its empty numbers are many; cells with equally many are factorised in one call.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayescout.network.gaussian_parts import Codes, continuous_parents, discrete_parents, parameters
from bayescout.network.inference import distinct
from bayescout.network.node import Array, Mask

if TYPE_CHECKING:
    from bayescout.network.network import Network

FLAT = 1e-4
"""The least share of a column of the design that the other columns may leave: below it digits are lost."""

FAR = 1e4
"""The most that residuals may shrink when empty numbers go to their means: above it digits are lost."""


@dataclass(frozen=True)
class Densities:
    """What least squares finds for N cells.

    logs   (N,)    log-density of the observed numbers
    means  (p, N)  the numbers, the empty ones at their means given the others (if these were asked for)
    sound  (N,)    False where digits would be lost, or a node has no noise: then the others say nothing
    """

    logs: Array
    means: Array
    sound: Mask


def densities(
    network: Network,
    nodes: Sequence[int],
    values: Array,
    relevant: Mask,
    codes: Codes,
    with_means: bool = False,
) -> Densities:
    """The density of the observed numbers of each of N cells.

    nodes     p continuous nodes, parents first, with the continuous parents of each
    values    (p, N), NaN where a number is empty
    relevant  (p, N) False for nodes that no observed number depends on, which count as absent
    codes     (N,) codes of the discrete parents of the nodes

    Numbers that overflow are found in `sound`; the caller turns their warnings off.
    """
    system = _System.of(network, nodes, codes, values.shape[1])
    observed = ~np.isnan(values)
    means, residuals, scales = system.residuals(values, observed, relevant)
    sound: Mask = np.asarray(np.isfinite(scales).all(axis=0) & np.isfinite(residuals).all(axis=0))
    scales, residuals = np.where(sound, scales, 0.0), np.where(sound, residuals, 0.0)
    logs: Array = np.log(np.where(scales > 0, scales, 1.0)).sum(axis=0)
    logs -= 0.5 * math.log(2 * math.pi) * observed.sum(axis=0)
    gaps = relevant & ~observed
    counts = gaps.sum(axis=0)
    for m in np.unique(counts).tolist():
        some = np.flatnonzero(counts == m)
        if m == 0:
            logs[some] -= 0.5 * np.square(residuals[:, some]).sum(axis=0)
            continue
        at = np.nonzero(gaps[:, some].T)[1].reshape(len(some), m)
        design = system.columns[system.number[some][:, None], at] * scales[:, some].T[:, None, :]
        found = _Solved.of(design, residuals[:, some].T)
        logs[some] += found.logs
        sound[some] &= found.sound
        if with_means:
            means[at.T, some] -= found.shifts().T
    return Densities(logs, means, sound & np.isfinite(logs) & np.isfinite(means).all(axis=0))


@dataclass(frozen=True)
class _System:
    """The regressions of p nodes at C configurations of their discrete parents.

    number       (N,)       the configuration of each cell
    intercepts   (p, C)
    weights      for each node the place of each parent and its (C,) coefficients
    deviations   (p, C)     of the noise
    columns      (C, p, p)  for each node v what one more of it adds to the residual of each node
    """

    number: NDArray[np.intp]
    intercepts: Array
    weights: Sequence[Sequence[tuple[int, Array]]]
    deviations: Array
    columns: Array

    @classmethod
    def of(cls, network: Network, nodes: Sequence[int], codes: Codes, n_cells: int) -> _System:
        given = sorted({v for node in nodes for v in discrete_parents(network, node)})
        sizes = [len(network.distributions[v].states or ()) for v in given]
        first, number = distinct([codes[v] for v in given], sizes, n_cells)
        some = {v: codes[v][first][:, None] for v in given}
        place = {node: i for i, node in enumerate(nodes)}
        shape = (len(nodes), len(first))
        intercepts, deviations = np.empty(shape), np.empty(shape)
        columns = np.zeros((len(first), len(nodes), len(nodes)))
        weights: list[list[tuple[int, Array]]] = []
        for i, node in enumerate(nodes):
            intercept, own, variance = parameters(network, node, some)
            intercepts[i], deviations[i] = intercept[:, 0], np.sqrt(variance[:, 0])
            columns[:, i, i] = 1.0
            weights.append([])
            for j, parent in enumerate(continuous_parents(network, node)):
                weight = np.broadcast_to(own[:, 0, j], len(first))
                columns[:, place[parent], i] = -weight
                weights[i].append((place[parent], weight))
        return cls(number, intercepts, weights, deviations, columns)

    def residuals(self, values: Array, observed: Mask, relevant: Mask) -> tuple[Array, Array, Array]:
        """The numbers with the empty ones at their means given the parents, residuals, and their scales.

        Residuals are in standard deviations of the noise. Scales are one over these; zero if not relevant.
        """
        filled, residuals, scales = values.copy(), np.zeros_like(values), np.zeros_like(values)
        for i, own in enumerate(self.weights):
            mean = self.intercepts[i][self.number]
            for parent, weight in own:
                mean += weight[self.number] * filled[parent]
            scales[i] = np.where(relevant[i], (1 / self.deviations[i])[self.number], 0.0)
            residuals[i] = np.where(observed[i], (values[i] - mean) * scales[i], 0.0)
            filled[i] = np.where(observed[i], values[i], mean)
        return filled, residuals, scales


@dataclass(frozen=True)
class _Solved:
    """Least squares of k cells with m empty numbers each.

    triangle  (k, m, m)  R
    turned    (k, m)     the residuals in the directions of R
    """

    triangle: Array
    turned: Array
    logs: Array
    sound: Mask

    @classmethod
    def of(cls, design: Array, residuals: Array) -> _Solved:
        """design (k, m, p), residuals (k, p)."""
        m, p = design.shape[1:]
        whole = np.concatenate([design, residuals[:, None, :]], axis=1)
        made = np.asarray(np.linalg.qr(np.swapaxes(whole, 1, 2), mode="r"))
        left = np.abs(made[:, m, m]) if p > m else np.zeros(len(made))
        triangle, turned = made[:, :m, :m], made[:, :m, m]
        pivots = np.abs(np.diagonal(triangle, axis1=1, axis2=2))
        lengths = np.sqrt(np.square(design).sum(axis=2))
        size = np.sqrt(np.square(residuals).sum(axis=1))
        sound = (pivots >= FLAT * lengths).all(axis=1) & (lengths > 0).all(axis=1)
        sound &= size <= FAR * np.maximum(left, 1.0)
        logs = -np.log(np.where(sound[:, None], pivots, 1.0)).sum(axis=1) - 0.5 * left * left
        return cls(triangle, turned, logs, sound)

    def shifts(self) -> Array:
        """(k, m) how far the means of the empty numbers are below where the residuals were taken."""
        safe = np.where(self.sound[:, None, None], self.triangle, np.eye(self.triangle.shape[1]))
        return np.asarray(np.linalg.solve(safe, self.turned[:, :, None])[:, :, 0])
