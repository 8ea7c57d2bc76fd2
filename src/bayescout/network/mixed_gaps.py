"""Rows with empty cells in networks of both kinds, of all patterns at once.

Each row becomes one cell per configuration of its empty discrete variables, as far as these bear on what is
observed or asked for. In a cell every table gives one number, and the continuous nodes have the density of
`mixed_densities`; nothing is planned or eliminated pattern by pattern. What comes of a row does not depend on
the rows beside it. Rows with more cells than `MOST_CELLS`, and cells whose density takes more care, are left
to `mixed_problem`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayescout.graph.orders import reach
from bayescout.network.conditional_gaussian import ConditionalGaussian
from bayescout.network.gaussian_parts import discrete_parents
from bayescout.network.mixed_densities import Densities, densities
from bayescout.network.node import Array, Mask
from bayescout.network.tabular import Tabular

if TYPE_CHECKING:
    from bayescout.network.encode import Matched
    from bayescout.network.network import Network

MOST_CELLS = 256
"""The most configurations of the empty discrete variables of a row."""

BATCH_NUMBERS = 2**21
"""Numbers in the matrices of cells that are worked on together."""

LARGEST_LOG = 1e5
"""Log-densities larger than this, of either sign, have lost too many digits to be compared."""

NEGLIGIBLE = 100.0
"""A cell whose log-weight is this far below that of another one of its row adds nothing."""

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class GapCells:
    """The cells of k rows: the discrete configurations that their answers are sums over.

    rows       (k,)  positions of the rows in the data
    settled    (k,)  False where the row has no answer here
    row        (N,)  for each cell the place of its row among these, ascending; no row is without cells
    logs       (N,)  logarithms of the weights; of all cells of a row that is impossible minus infinity
    codes      (N,)  codes of each discrete node
    means      (N,)  of each continuous node: its number, or its mean if a continuous node is asked for
    undefined  nodes with an undefined configuration of their parents in a cell
    """

    rows: Rows
    settled: Mask
    row: Rows
    logs: Array
    codes: dict[int, NDArray[np.intp]]
    means: dict[int, Array]
    undefined: set[int]

    def _weights(self) -> tuple[Array, Array]:
        """(N,) weights as shares of the largest of their row, and (k,) logarithms of these."""
        starts = np.searchsorted(self.row, np.arange(len(self.rows)))
        peaks = np.maximum.reduceat(self.logs, starts)
        return np.exp(self.logs - np.where(np.isfinite(peaks), peaks, 0.0)[self.row]), peaks

    def log_totals(self) -> Array:
        """(k,) the log-density of each row."""
        weights, peaks = self._weights()
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.bincount(self.row, weights, len(self.rows))) + peaks)

    def largest(self) -> NDArray[np.intp]:
        """(k,) the cell of each row with the largest weight, the first of equals."""
        order = np.lexsort([-self.logs, self.row])
        return np.asarray(order[np.searchsorted(self.row, np.arange(len(self.rows)))])

    def expected(self, values: Sequence[Array]) -> tuple[Array, Mask]:
        """(k, w) the mean over the cells of each row of w numbers per cell, and a mask of impossible rows."""
        weights, peaks = self._weights()
        wrong = np.isneginf(peaks)
        totals = np.where(wrong, 1.0, np.bincount(self.row, weights, len(self.rows)))
        sums = [np.bincount(self.row, weights * np.where(weights > 0, one, 0.0)) for one in values]
        return np.stack(sums, axis=1) / totals[:, None], wrong


def gap_cells(network: Network, targets: Sequence[int], matched: Matched) -> Iterator[GapCells]:
    """The cells of the rows that have empty cells, except of those with too many, a few rows at a time.

    The targets are the nodes that are asked for; none of them if the density of the rows is.
    """
    if matched.empty is None:
        return
    rows = np.flatnonzero(matched.empty)
    layout = _Layout(network, targets, matched)
    observed = layout.observed(rows)
    relevant = layout.relevant(observed)
    sizes = np.where(relevant & ~observed, layout.sizes, 1.0).prod(axis=1)
    few = sizes <= MOST_CELLS
    rows, observed, relevant, counts = rows[few], observed[few], relevant[few], sizes[few].astype(np.intp)
    step = max(1, BATCH_NUMBERS // (len(layout.continuous) + 1) ** 2)
    batch = (np.cumsum(counts) - counts) // step
    for some in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(batch)) + 1):
        if len(some):
            yield layout.cells(rows[some], observed[some], relevant[some], counts[some])


class _Layout:
    """What the cells of all rows have in common.

    sizes      (p,) the states of each node, 1 for a continuous one
    reached    (p, p) for each node its ancestors and itself
    """

    def __init__(self, network: Network, targets: Sequence[int], matched: Matched) -> None:
        self.network, self.targets, self.matched = network, list(targets), matched
        bearing = reach(network.dag.parents, (*matched.columns, *targets))
        order = [node for node in network.dag.order_indices if bearing[node]]
        self.states = [one.states for one in network.distributions]
        self.discrete = [node for node in order if self.states[node] is not None]
        self.continuous = [node for node in order if self.states[node] is None]
        self.sizes = np.array([1.0 if own is None else len(own) for own in self.states])
        self.reached = np.eye(len(self.sizes), dtype=bool)
        for node in order:
            for parent in network.dag.parents[node]:
                self.reached[node] |= self.reached[parent]
        with np.errstate(divide="ignore"):
            self.tables = {node: np.log(self._table(node)) for node in self.discrete}

    def _table(self, node: int) -> Array:
        found = self.network.distributions[node]
        assert isinstance(found, Tabular)
        return found.table

    def observed(self, rows: Rows) -> Mask:
        """(n, p) True where the row has the node's cell."""
        found = np.zeros((len(rows), len(self.sizes)), dtype=bool)
        for node, column in self.matched.columns.items():
            own, cells = self.states[node], column[rows]
            found[:, node] = ~np.isnan(cells) if own is None else cells != len(own)
        return found

    def relevant(self, observed: Mask) -> Mask:
        """(n, p) True where a node is a target, observed, or an ancestor of those."""
        starts = observed.astype(np.float32)
        starts[:, self.targets] = 1.0
        return np.asarray(starts @ self.reached.astype(np.float32) > 0)

    def cells(self, rows: Rows, observed: Mask, relevant: Mask, counts: Rows) -> GapCells:
        """The cells of some rows, of which each has as many as `counts` says."""
        row = np.repeat(np.arange(len(rows)), counts)
        here = [one[row] for one in relevant.T]
        codes = self._codes(rows, row, observed, here, counts)
        logs = np.zeros(len(row))
        for node in self.discrete:
            family = (*self.network.dag.parents[node], node)
            logs += np.where(here[node], self.tables[node][tuple(codes[v] for v in family)], 0.0)
        settled, means = np.ones(len(rows), dtype=bool), {}
        if self.continuous:
            found = self._densities(rows, row, here, codes)
            settled = _settled(logs, found, row, len(rows))
            logs = np.where(np.isneginf(logs), logs, logs + found.logs)
            means = dict(zip(self.continuous, found.means, strict=True))
        return GapCells(rows, settled, row, logs, codes, means, self._undefined(codes, here))

    def _codes(
        self, rows: Rows, row: Rows, observed: Mask, relevant: Sequence[Mask], counts: Rows
    ) -> dict[int, NDArray[np.intp]]:
        """(N,) codes of each discrete node: observed, one of each in turn, or 0 where it does not matter."""
        turn = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
        found = {}
        for node in reversed(self.discrete):
            size = int(self.sizes[node])
            free = relevant[node] & ~observed[row, node]
            own = np.zeros(len(row), dtype=np.intp)
            if node in self.matched.columns:
                own = np.where(observed[row, node], self.matched.columns[node][rows][row], 0).astype(np.intp)
            found[node] = np.where(free, turn % size, own)
            turn = np.where(free, turn // size, turn)
        return found

    def _densities(
        self, rows: Rows, row: Rows, relevant: Sequence[Mask], codes: dict[int, NDArray[np.intp]]
    ) -> Densities:
        """The densities of the observed numbers of each cell."""
        values = np.full((len(self.continuous), len(row)), np.nan)
        for i, node in enumerate(self.continuous):
            if node in self.matched.columns:
                values[i] = self.matched.columns[node][rows][row]
        some = np.array([relevant[node] for node in self.continuous])
        is_asked = any(self.states[node] is None for node in self.targets)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return densities(self.network, self.continuous, values, some, codes, is_asked)

    def _undefined(self, codes: dict[int, NDArray[np.intp]], relevant: Sequence[Mask]) -> set[int]:
        """The nodes with an undefined configuration of their discrete parents in a cell."""
        found = set()
        for node in (*self.discrete, *self.continuous):
            one = self.network.distributions[node]
            if isinstance(one, Tabular | ConditionalGaussian) and one.undefined.any():
                given = tuple(codes[v] for v in discrete_parents(self.network, node))
                if (np.broadcast_to(one.undefined[given], len(relevant[node])) & relevant[node]).any():
                    found.add(node)
        return found


def _settled(tables: Array, found: Densities, row: Rows, n_rows: int) -> Mask:
    """(n,) True if every cell of the row has a weight that can be relied on, or that does not matter."""
    total = tables + np.where(found.sound, found.logs, 0.0)
    near = found.sound & (np.abs(found.logs) <= LARGEST_LOG)
    starts = np.searchsorted(row, np.arange(n_rows))
    peaks = np.maximum.reduceat(np.where(near, total, -np.inf), starts)
    little = np.isneginf(tables) | (total < peaks[row] - NEGLIGIBLE)
    fine = near | (found.sound & little)
    return np.asarray(np.bincount(row, ~fine, n_rows) == 0)
