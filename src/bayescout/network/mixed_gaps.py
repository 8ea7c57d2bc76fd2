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
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.graph.orders import reach
from bayescout.network.conditional_gaussian import ConditionalGaussian
from bayescout.network.gaussian_parts import discrete_parents
from bayescout.network.mixed_densities import densities
from bayescout.network.node import Array, Mask
from bayescout.network.tabular import Tabular

if TYPE_CHECKING:
    from bayescout.network.encode import Matched
    from bayescout.network.network import Network

MOST_CELLS = 256
"""The most configurations of the empty discrete variables of a row."""

BATCH_NUMBERS = 2**21
"""Numbers in the matrices of cells that are worked on together."""

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class GapCells:
    """The cells of k rows: the discrete configurations that their answers are sums over.

    rows       (k,)  positions of the rows in the data
    settled    (k,)  False where the row has no answer here
    row        (N,)  for each cell the place of its row among these, ascending; no row is without cells
    logs       (N,)  logarithms of the weights; of all cells of a row that is impossible minus infinity
    codes      (N,)  codes of each discrete node
    means      (N,)  of the target, if that is continuous
    undefined  nodes with an undefined configuration of their parents in a cell
    """

    rows: Rows
    settled: Mask
    row: Rows
    logs: Array
    codes: dict[int, NDArray[np.intp]]
    means: Array | None
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

    def expected(self, values: Sequence[Array]) -> tuple[Array, Mask]:
        """(k, w) the mean over the cells of each row of w numbers per cell, and a mask of impossible rows."""
        weights, peaks = self._weights()
        wrong = np.isneginf(peaks)
        totals = np.where(wrong, 1.0, np.bincount(self.row, weights, len(self.rows)))
        sums = [np.bincount(self.row, weights * one, len(self.rows)) for one in values]
        return np.stack(sums, axis=1) / totals[:, None], wrong


def gap_cells(network: Network, target: int | None, matched: Matched) -> Iterator[GapCells]:
    """The cells of the rows that have empty cells, except of those with too many, a few rows at a time."""
    if matched.empty is None:
        return
    rows = np.flatnonzero(matched.empty)
    layout = _Layout(network, target, matched)
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

    def __init__(self, network: Network, target: int | None, matched: Matched) -> None:
        self.network, self.target, self.matched = network, target, matched
        wanted = matched.columns if target is None else (*matched.columns, target)
        bearing = reach(network.dag.parents, wanted)
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
        """(n, p) True where a node is the target, observed, or an ancestor of those."""
        starts = observed.astype(np.float32)
        if self.target is not None:
            starts[:, self.target] = 1.0
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
        settled, means = np.ones(len(rows), dtype=bool), None
        if self.continuous:
            is_asked = self.target in self.continuous
            values = self._values(rows, row, observed)
            some = np.array([here[node] for node in self.continuous])
            found = densities(self.network, self.continuous, values, some, codes, is_asked)
            logs += found.logs
            settled = np.bincount(row, ~found.sound, len(rows)) == 0
            if is_asked and self.target is not None:
                means = found.means[self.continuous.index(self.target)]
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

    def _values(self, rows: Rows, row: Rows, observed: Mask) -> Array:
        """(p, N) numbers of the continuous nodes."""
        found = np.full((len(self.continuous), len(row)), np.nan)
        for i, node in enumerate(self.continuous):
            if node in self.matched.columns:
                found[i] = self.matched.columns[node][rows][row]
        return found

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
