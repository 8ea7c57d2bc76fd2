"""Statistics of rows past memory under one name: on disk, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from bayescout.arrays import Floats
from bayescout.data.past.dask_table import DaskTable
from bayescout.data.past.stored import StoredTable
from bayescout.data.table import Table
from bayescout.statistics.counts import Counts
from bayescout.statistics.dask_counts import dask_counts
from bayescout.statistics.dask_covariance import dask_centred
from bayescout.statistics.dask_strata import DaskStrata, PreparedParts
from bayescout.statistics.discrete import DiscreteStatistics
from bayescout.statistics.stored import stored_counts
from bayescout.statistics.stored_covariance import Shift, stored_centred
from bayescout.statistics.stored_strata import CentredRows, StoredStrata, sums_by_state_on_disk
from bayescout.statistics.strata import HasBytes, Scatters, StrataMemory

Made = TypeVar("Made", bound=HasBytes)

Unit = Callable[[Floats, Any], Floats]
"""A function of centred columns, (columns, rows), and of which these are."""


def counts_of(table: Table) -> DiscreteStatistics:
    """The counts of a discrete table, wherever its rows are."""
    if isinstance(table, DaskTable):
        return dask_counts(table)
    return stored_counts(table) if isinstance(table, StoredTable) else Counts(table)


def centred(table: StoredTable) -> tuple[Floats, Shift]:
    """The scatter matrix of continuous columns, and the shift that centres them."""
    return dask_centred(table) if isinstance(table, DaskTable) else stored_centred(table)


def strata_of(
    discrete: StoredTable,
    counts: DiscreteStatistics,
    continuous: StoredTable,
    shift: Shift,
    unit: Unit,
    make: Callable[[Scatters], Made],
) -> StrataMemory[Made]:
    """The matrices of sets of discrete columns."""
    if isinstance(discrete, DaskTable) and isinstance(continuous, DaskTable):
        return DaskStrata(discrete, counts, PreparedParts(discrete, continuous, shift, unit), make)
    return StoredStrata(discrete, counts, CentredRows(continuous, shift, unit), make)


def sums_by_state(discrete: StoredTable, continuous: StoredTable, shift: Shift, unit: Unit) -> list[Floats]:
    """By discrete column, (states, columns): the sums of the continuous columns over the rows of each."""
    if isinstance(discrete, DaskTable) and isinstance(continuous, DaskTable):
        return PreparedParts(discrete, continuous, shift, unit).sums_by_state()
    return sums_by_state_on_disk(discrete, CentredRows(continuous, shift, unit))
