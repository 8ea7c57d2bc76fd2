"""Counts from the rows in which a family is complete."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Ints, Parents
from bayescout.data.table import MAX_STATES, Table, narrowest
from bayescout.statistics.counts import Counts, dense_counts


class AvailableCounts:
    """Counts of families of a discrete table with missing cells, each from the rows that have all its cells.

    Missing cells are counted as one more state, whose counts are then left out.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self._sizes: list[int] = table.cardinalities.tolist()
        self._more = [size + 1 for size in self._sizes]
        self._counts = None
        if max(self._more, default=0) <= MAX_STATES:
            states = tuple((*(own or ()), None) for own in table.states)
            codes = table.codes.astype(narrowest(max(self._more, default=0)), copy=False)
            whole = Table(table.names, states, codes, table.values, table.weights)
            self._counts = Counts(whole)

    def count(self, child: int, parents: Parents) -> NDArray[np.float64]:
        """(q, r) counts of one family, the last parent varying fastest."""
        family = (*parents, child)
        if self._counts is None or not self._counts.is_dense(child, parents):
            return self._slowly(family)
        counts = self._counts.count(child, parents).reshape([self._more[v] for v in family])
        kept = counts[tuple(slice(self._sizes[v]) for v in family)]
        return np.ascontiguousarray(kept, dtype=np.float64).reshape(-1, self._sizes[child])

    def pairs(self, child: int, others: Ints) -> list[NDArray[np.float64]]:
        """The counts of the child with each of the others as its one parent."""
        if self._counts is None or not all(self._counts.is_dense(child, (int(other),)) for other in others):
            return [self.count(child, (other,)) for other in others.tolist()]
        batch = self._counts.extensions(child, (), others)
        return [
            np.asarray(batch.table(i)[: self._sizes[other], : self._sizes[child]], dtype=np.float64)
            for i, other in enumerate(others.tolist())
        ]

    def _slowly(self, family: tuple[int, ...]) -> NDArray[np.float64]:
        own = self.table.select([self.table.names[v] for v in family])
        if own.has_missing:
            own = own.take(~np.any([own.missing_cells(name) for name in own.names], axis=0))
        last = len(family) - 1
        return np.asarray(dense_counts(own, last, tuple(range(last))), dtype=np.float64)
