"""The protocol of statistics engines: anything that can give the statistics of families of one data set.

An engine is called with a table, the kind of statistics that a score needs and a prior (see `Engine`), and
returns a `Statistics`. Scores and searches know nothing else of it. The shortest way to write one for
discrete data is to derive from `statistics.discrete.DiscreteStatistics` and define `count`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from numpy.typing import NDArray

from bayescout.arrays import Family, Ints, Parents
from bayescout.data.table import Table
from bayescout.errors import TooLargeError
from bayescout.statistics.families import Families

REGRESSION_WORK = 1000
"""The work of a small regression, in rows that are counted: it goes through no rows."""

Kind = Literal["discrete", "continuous", "mixed", "degenerate"]


class KernelView(NamedTuple):
    """The rows of a discrete table as compiled code reads them, if they are in memory.

    codes        (p, n) uint8 or uint16   one row per variable
    weights      (n,) int64               of the rows, or empty if each counts once
    bitmaps      (states, words) uint64   one bitmap per state of each variable with few states
    layout       (2, p) int64             the states of each variable, and its first bitmap or -1
    lookup       (k,) int64               N log N in units of the grid, for small N
    dense_limit  the most cells with which a family's table is held whole
    most_cells   the most cells with which a family is counted at all
    """

    codes: NDArray[Any]
    weights: Ints
    bitmaps: NDArray[Any]
    layout: Ints
    lookup: Ints
    dense_limit: int
    most_cells: int


class Statistics(Protocol):
    """The statistics of families of one data set, by position of the variables.

    kind         "discrete": batches are `FamilyTables`; "continuous": `FamilyRegressions`; "mixed"
                 (conditional Gaussian): `MixedFamilies`; "degenerate" (Gaussian): `FamilyBlocks`
    n_variables  the number of variables
    n_rows       rows that are read to count one family, by which work is planned
    total        the number of rows, or the sum of their weights
    batches_all  True if `all_extensions` is defined, and cheaper than remembering scores
    far          True if the rows are elsewhere, so that asking takes a round trip, however much is asked for
    """

    kind: Kind
    total: float
    batches_all: bool
    far: bool

    @property
    def n_variables(self) -> int: ...

    @property
    def n_rows(self) -> int: ...

    def cells(self, child: int, parents: Sequence[int]) -> int:
        """The number of values in the family's statistics, by which memory is planned."""

    def work(self, child: int, parents: Sequence[int]) -> int:
        """About the work of the family's statistics, in rows that are counted, by which time is planned."""

    def many(self, families: Sequence[Family]) -> Families:
        """The statistics of many families, in their order."""

    def extensions(self, child: int, parents: Parents, candidates: Ints) -> Families:
        """The statistics of (child, parents + candidate) for each candidate."""

    def all_extensions(self, families: Sequence[Family]) -> Families:
        """The statistics of each family with every variable added, if `batches_all`."""

    def kernel_view(self) -> KernelView | None:
        """The rows for compiled code; None if they are not in memory, or not integers."""

    def too_large(self, child: int, parents: Sequence[int], distinct: int) -> TooLargeError:
        """The error for a family with so many occurring parent configurations."""


def regression_work(columns: int) -> int:
    """The work of a regression on so many columns, in rows that are counted."""
    return REGRESSION_WORK + columns**3 // 6


Engine = Callable[[Table, Kind, float | None], Statistics]
"""A function from a table, a kind, and a prior on the scatter matrix of continuous columns to statistics."""
