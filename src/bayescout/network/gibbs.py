"""Empty cells drawn in turn, each given all other cells of its row: Gibbs sampling for nodes of every kind.

A chain goes on from the cells that it holds, so that a few sweeps are enough where the network has changed
only a little since they were drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Table
from bayescout.network.conditional_gaussian import ConditionalGaussian
from bayescout.network.linear_gaussian import LinearGaussian
from bayescout.network.node import Array
from bayescout.network.tabular import Tabular
from bayescout.scores.threads import check_workers, pool_of

if TYPE_CHECKING:
    from bayescout.network.network import Network

FLOOR = 1e-9
"""The least probability of a state, and the least variance as a share of the node's own over all rows:
with zeros a chain could not leave where it began."""

PIECE = 2048
"""Rows per piece of work of a thread."""

Rows = NDArray[np.intp]
Cells = list[NDArray[Any]]
"""One column per node: codes, or numbers."""


class Chain:
    """Rows with a value in every cell, of which some are drawn.

    Networks that are given have the rows' columns as their nodes, in order. Until `begin` the empty cells
    hold nothing of use.

    cells  one column per node
    gaps   for each node the rows whose cell is empty
    """

    def __init__(self, cells: Cells, gaps: Sequence[Rows], workers: int | None = None) -> None:
        self.cells = cells
        self.gaps = gaps
        self.workers = check_workers(workers)

    @classmethod
    def of_table(cls, table: Table, workers: int | None = None) -> Chain:
        """The rows of a table with missing cells."""
        kinds = [np.int64 if states is not None else np.float64 for states in table.states]
        cells = [table.array(name).astype(kind) for name, kind in zip(table.names, kinds, strict=True)]
        return cls(cells, [np.flatnonzero(table.missing_cells(name)) for name in table.names], workers)

    def take(self, table: Table) -> None:
        """Go on from the cells of a completed table."""
        for node, name in enumerate(table.names):
            self.cells[node] = table.array(name).astype(self.cells[node].dtype)

    def begin(self, network: Network, rng: np.random.Generator) -> None:
        """Draw each empty cell given the parents' cells, parents first."""
        for node in network.dag.order_indices:
            rows = self.gaps[node]
            given = [self.cells[parent][rows] for parent in network.dag.parents[node]]
            out = np.empty(len(rows), dtype=self.cells[node].dtype)
            network.distributions[node].sampler()(rng, given, out)
            self.cells[node][rows] = out

    def sweep(self, network: Network, rng: np.random.Generator, sweeps: int) -> None:
        """Draw each empty cell given all other cells of its row, this many times."""
        if network.is_discrete:
            self._sweep_codes(network, rng, sweeps)
            return
        if network.is_gaussian:
            self._sweep_numbers(network, rng, sweeps)
            return
        terms = _Terms(network, self.cells)
        for _ in range(sweeps):
            for node in network.dag.order_indices:
                rows = self.gaps[node]
                if len(rows) and network.distributions[node].states is not None:
                    self.cells[node][rows] = terms.states(node, rows, rng.random(len(rows)))
                elif len(rows):
                    means, variances = terms.normal(node, rows)
                    self.cells[node][rows] = means + np.sqrt(variances) * rng.standard_normal(len(rows))

    def _sweep_codes(self, network: Network, rng: np.random.Generator, sweeps: int) -> None:
        """The same for a discrete network, row by row in compiled code, on all cores."""
        from bayescout.kernels.gibbs import sweep

        rank = np.argsort(network.dag.order_indices)
        nodes = np.repeat(np.arange(len(self.gaps)), [len(rows) for rows in self.gaps])
        rows = np.concatenate([np.empty(0, dtype=np.intp), *self.gaps])
        gaps = np.stack([rows, nodes])[:, np.lexsort([rank[nodes], rows])].astype(np.int64)
        state = np.ascontiguousarray(np.array(self.cells, dtype=np.int32).T)
        ends = np.searchsorted(gaps[0], np.arange(0, len(state) + PIECE, PIECE))
        pieces = [slice(a, b) for a, b in pairwise(ends.tolist()) if b > a]
        families = _families(network)
        tables = np.concatenate([np.maximum(table, FLOOR).ravel() for table in network.tables])
        numbers = rng.random((sweeps, gaps.shape[1]))

        def work(some: slice) -> None:
            for uniform in numbers:
                sweep(families, tables, gaps[:, some], uniform[some], state)

        if min(self.workers, len(pieces)) <= 1:
            for piece in pieces:
                work(piece)
        else:
            list(pool_of(self.workers).map(work, pieces))
        self.cells = list(state.T.astype(np.int64))

    def _sweep_numbers(self, network: Network, rng: np.random.Generator, sweeps: int) -> None:
        """The same for a Gaussian network, from its precision matrix."""
        least = np.array([_least_variance(column) for column in self.cells])
        noise = 1 / np.maximum(network.variances, least)
        lower = np.eye(len(noise))
        for node, parents in enumerate(network.dag.parents):
            lower[node, list(parents)] = -network.coefficients[node]
        precision = (lower.T * noise) @ lower
        offset = (lower.T * noise) @ network.intercepts
        near = [np.setdiff1d(np.flatnonzero(row), node) for node, row in enumerate(precision)]
        state = np.array(self.cells)
        for _ in range(sweeps):
            for node in network.dag.order_indices:
                rows, own = self.gaps[node], precision[node, node]
                pull = offset[node] - precision[node, near[node]] @ state[np.ix_(near[node], rows)]
                state[node, rows] = pull / own + rng.standard_normal(len(rows)) / math.sqrt(own)
        self.cells = list(state)

    def completed(self, table: Table) -> Table:
        """The table with its missing cells as they are drawn now."""
        codes = [cells for cells, states in zip(self.cells, table.states, strict=True) if states is not None]
        values = [cells for cells, states in zip(self.cells, table.states, strict=True) if states is None]
        return Table(
            table.names,
            table.states,
            np.array(codes, dtype=table.codes.dtype).reshape(-1, table.n_rows),
            np.array(values, dtype=np.float64).reshape(-1, table.n_rows),
            table.weights,
            notes=table.notes,
        )


def _families(network: Network) -> tuple[NDArray[np.int64], ...]:
    """The argument `families` of `kernels.gibbs.sweep`."""
    sizes = network.sizes
    member: list[int] = []
    stride: list[int] = []
    begins, starts = [0], [0]
    near: list[list[tuple[int, int]]] = [[] for _ in sizes]
    for node, parents in enumerate(network.dag.parents):
        step = 1
        for v in (node, *reversed(parents)):
            member.append(v)
            stride.append(step)
            near[v].append((node, step))
            step *= sizes[v]
        begins.append(len(member))
        starts.append(starts[-1] + step)
    nearby = [family for own in near for family, _ in own]
    nearby_stride = [step for own in near for _, step in own]
    nearby_begins = np.cumsum([0, *map(len, near)])
    lists = (member, stride, begins, starts[:-1], nearby, nearby_stride, nearby_begins, sizes)
    return tuple(np.array(one, dtype=np.int64) for one in lists)


class _Terms:
    """What the rows of a chain and the parameters of a network say of one cell given all others.

    cells  the chain's own columns, changed by it between calls
    """

    def __init__(self, network: Network, cells: Cells) -> None:
        self.network = network
        self.cells = cells
        self.logs = [
            np.log(np.maximum(node.table, FLOOR)) if isinstance(node, Tabular) else None
            for node in network.distributions
        ]
        self.least = [
            0.0 if isinstance(node, Tabular) else _least_variance(column)
            for node, column in zip(network.distributions, cells, strict=True)
        ]

    def states(self, node: int, rows: Rows, uniform: Array) -> NDArray[Any]:
        """A state of a discrete node for each of the rows, by its uniform number."""
        terms = self._log_terms(node, node, rows)
        for child in self.network.dag.children[node]:
            terms = terms + self._log_terms(child, node, rows)
        ends = np.cumsum(np.exp(terms - terms.max(axis=0)), axis=0)
        return np.asarray((ends[:-1] <= uniform * ends[-1]).sum(axis=0))

    def _log_terms(self, child: int, node: int, rows: Rows) -> Array:
        """(r, rows) log P(the child's cell | its parents' cells) for each state of the node."""
        family = (*self.network.dag.parents[child], child)
        states = np.arange(len(self.network.distributions[node].states or ()))
        logs = self.logs[child]
        if logs is not None:
            where = (states[:, None] if v == node else self.cells[v][rows][None, :] for v in family)
            return np.asarray(logs[tuple(where)])
        found = []
        for state in states:
            given = [np.full(len(rows), state) if v == node else self.cells[v][rows] for v in family[:-1]]
            means, variances, _ = self._regression(child, given)
            residuals = self.cells[child][rows] - means
            found.append(-0.5 * (np.log(variances) + residuals * residuals / variances))
        return np.array(found)

    def normal(self, node: int, rows: Rows) -> tuple[Array, Array]:
        """Mean and variance of a continuous node in each of the rows."""
        parents = self.network.dag.parents
        means, variances, _ = self._regression(node, [self.cells[v][rows] for v in parents[node]])
        precision = np.full(len(rows), 1.0) / variances
        pull = means * precision
        for child in self.network.dag.children[node]:
            given = [np.zeros(len(rows)) if v == node else self.cells[v][rows] for v in parents[child]]
            without, noise, weights = self._regression(child, given)
            weight = weights[parents[child].index(node)]
            precision += weight * weight / noise
            pull += weight * (self.cells[child][rows] - without) / noise
        return pull / precision, 1 / precision

    def _regression(self, node: int, given: Cells) -> tuple[Array, Array, dict[int, Any]]:
        """The mean and variance of a continuous node in each row, and its parents' weights by their place."""
        distribution = self.network.distributions[node]
        if isinstance(distribution, LinearGaussian):
            means, variances = np.asarray(distribution.intercept), np.asarray(distribution.variance)
            weights: dict[int, Any] = dict(enumerate(distribution.coefficients))
        else:
            assert isinstance(distribution, ConditionalGaussian)
            config = distribution.configurations(distribution.split(given)[0], len(given[0]))
            means, variances = (
                table.ravel()[config] for table in (distribution.intercepts, distribution.variances)
            )
            numbers = [place for place in range(len(given)) if place not in distribution.discrete]
            own = distribution.by_configuration[config]
            weights = {place: own[:, k] for k, place in enumerate(numbers)}
        for place, weight in weights.items():
            means = means + weight * given[place]
        return means, np.maximum(variances, self.least[node]), weights


def _least_variance(column: NDArray[Any]) -> float:
    """A small share of the column's variance, or of its squares if it is constant."""
    spread = float(np.var(column)) or float(np.mean(np.square(column)))
    return FLOOR * spread if 0 < spread < math.inf else FLOOR
