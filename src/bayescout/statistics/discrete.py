"""The base of all engines for discrete statistics; an engine only has to count."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Family, Floats, Ints, Parents
from bayescout.errors import TooLargeError
from bayescout.statistics.engine import KernelView, Kind
from bayescout.statistics.families import FamilyTables, Grid

DENSE_FLOOR = 4096
DENSE_CELLS_PER_ROW = 4
DENSE_CEILING = 1 << 24
"""A table is dense if it has at most max(floor, cells per row * rows) cells, and never above a ceiling."""

SPARSE_WORK = 200
"""The work per row of a family whose table is larger than the rows are many: configurations are looked up."""

MOST_CONFIGURATIONS = 1e280
"""A family with more parent configurations than this counts as having infinitely many: it has no score."""


class DiscreteStatistics(ABC):
    """Contingency tables of families; `count` is all that an engine has to define.

    names   of the variables, for errors
    cards   (p,) int64   states of each variable
    total   the number of rows, or the sum of their weights
    n_rows  rows that are read to count one family
    whole   True if counts are integers; they are not if row weights are fractional
    """

    kind: Kind = "discrete"
    batches_all = False
    far = False

    def __init__(
        self, names: Sequence[Any], cards: Ints, total: float, n_rows: int, whole: bool = True
    ) -> None:
        self.names = names
        self.cards = cards
        self.total = total
        self.n_rows = n_rows
        self.whole = whole
        self.grid = Grid.for_rows(total, math.log(total + 1), math.log(total + 1))
        self.most_cells = DENSE_CEILING
        self.dense_limit = min(self.most_cells, max(DENSE_FLOOR, DENSE_CELLS_PER_ROW * n_rows))
        self._sizes: list[int] = cards.tolist()

    @abstractmethod
    def count(self, child: int, parents: Parents) -> NDArray[Any]:
        """The counts of one family, (configurations, states of the child), the last parent varying fastest.

        The whole table if `is_dense`. Otherwise only the configurations that occur, in any order; if those
        have more cells than `most_cells`, raise `too_large`.
        """

    @property
    def n_variables(self) -> int:
        return len(self.cards)

    def cells(self, child: int, parents: Sequence[int]) -> int:
        """The number of cells of the family's full table: exact, however large."""
        return math.prod([self._sizes[i] for i in parents]) * self._sizes[child]

    def work(self, child: int, parents: Sequence[int]) -> int:
        """The work of counting a family, in rows that are counted into a small table."""
        return self.n_rows * (SPARSE_WORK if self.cells(child, parents) > self.n_rows else 1) or 1

    def is_dense(self, child: int, parents: Sequence[int]) -> bool:
        """Return True if the family's table is held whole, not only the configurations that occur."""
        return self.cells(child, parents) <= self.dense_limit

    def configurations(self, parents: Sequence[int]) -> float:
        """The number of parent configurations, infinite if above MOST_CONFIGURATIONS."""
        try:
            found = float(math.prod([self._sizes[i] for i in parents]))
        except OverflowError:
            return math.inf
        return found if found < MOST_CONFIGURATIONS else math.inf

    # ---- batches

    def many(self, families: Sequence[Family]) -> FamilyTables:
        """The tables of many families, in their order."""
        return self.batch(
            [self.count(child, parents).ravel() for child, parents in families],
            np.array([self._sizes[child] for child, _ in families]),
            np.array([self.configurations(parents) for _, parents in families]),
        )

    def ask(self, families: Sequence[Family]) -> None:  # noqa: B027
        """Fetch tables that are asked for next, in one round trip, if rows are far."""

    def extensions(self, child: int, parents: Parents, candidates: Ints) -> FamilyTables:
        """The table of (child, parents + candidate) for each candidate."""
        return self.many([(child, tuple(sorted((*parents, more)))) for more in candidates.tolist()])

    def all_extensions(self, families: Sequence[Family]) -> FamilyTables:
        raise NotImplementedError

    def batch(self, tables: Sequence[NDArray[Any]], states: Ints, configurations: Floats) -> FamilyTables:
        """The batch of tables that were counted one by one, each flat."""
        starts = np.cumsum([0, *map(len, tables)])
        return self.batch_of(np.concatenate(tables), starts, states, configurations)

    def batch_of(
        self, counts: NDArray[Any], starts: Ints, states: Ints, configurations: Floats
    ) -> FamilyTables:
        """The batch of tables that are concatenated in one array."""
        return FamilyTables(
            counts, starts, states, configurations, self.cards, self.total, self.grid, self.n_rows
        )

    def kernel_view(self) -> KernelView | None:
        return None

    def too_large(self, child: int, parents: Sequence[int], distinct: int) -> TooLargeError:
        """The error for a family with so many occurring parent configurations."""
        r, name = self._sizes[child], self.names[child]
        given = ", ".join(repr(self.names[parent]) for parent in parents)
        return TooLargeError(
            f"the table of {name!r} given {given} has {distinct:,} parent configurations by {r:,} child "
            f"states, {distinct * r:,} cells, more than the {self.most_cells:,} that are held; merge states "
            f"of {name!r}, or limit its parents"
        )
