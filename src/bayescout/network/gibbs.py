"""Empty cells drawn in turn, each given all other cells of its row: Gibbs sampling for nodes of every kind.

A chain goes on from the cells that it holds, so that a few sweeps are enough where the network has changed
only a little since they were drawn.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Table
from bayescout.network.conditional_gaussian import ConditionalGaussian
from bayescout.network.junction import junction_tree
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
    """The rows of an incomplete table with a value in every cell.

    Networks that are given have the table's columns as their nodes, in order. Until `begin` the empty cells
    hold nothing of use.
    """

    def __init__(self, table: Table, workers: int | None = None) -> None:
        self.table = table
        self.workers = check_workers(workers)
        self.gaps = [np.flatnonzero(table.missing_cells(name)) for name in table.names]
        self.cells: Cells = [
            table.array(name).astype(np.float64 if states is None else np.int64)
            for name, states in zip(table.names, table.states, strict=True)
        ]

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
        from bayescout.kernels.junction import sweep

        state = np.array(self.cells, dtype=np.int32).T.copy()
        codes = state.copy()
        for node, rows in enumerate(self.gaps):
            codes[rows, node] = -1
        tables = [np.maximum(table, FLOOR) for table in network.tables]
        tree = junction_tree(network, range(len(network.dag)), ()).with_tables(tables)
        families = [[v, *network.dag.children[v]] for v in range(len(network.dag))]
        begins = np.cumsum([0, *map(len, families)]).astype(np.int64)
        nearby = np.array([family for own in families for family in own], dtype=np.int64)
        order = np.array(network.dag.order_indices, dtype=np.int64)
        used = np.concatenate([[0], np.cumsum((codes < 0).sum(axis=1))])
        pieces = [slice(begin, begin + PIECE) for begin in range(0, len(codes), PIECE)]
        for _ in range(sweeps):
            uniform = rng.random(int(used[-1]))

            def work(rows: slice, uniform: Array = uniform) -> None:
                mine = uniform[used[rows.start] :]
                sweep(tree.flat, nearby, begins, order, codes[rows], tree.logs, mine, state[rows])

            list(pool_of(self.workers).map(work, pieces))
        for node in range(len(self.cells)):
            self.cells[node] = state[:, node].astype(np.int64)

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

    def completed(self) -> Table:
        """The table with its empty cells as they are drawn now."""
        table = self.table
        codes = [cells for cells, states in zip(self.cells, table.states, strict=True) if states is not None]
        values = [cells for cells, states in zip(self.cells, table.states, strict=True) if states is None]
        return Table(
            table.names,
            table.states,
            np.array(codes, dtype=table.codes.dtype).reshape(-1, table.n_rows),
            np.array(values, dtype=np.float64).reshape(-1, table.n_rows),
            table.weights,
        )


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
