"""The statistics of a table on disk: distinct rows with weights where these are few, else block by block."""

from __future__ import annotations

import math
from contextlib import closing
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from bayescout.data.past.stored import StoredTable
from bayescout.data.table import Table
from bayescout.statistics.counts import FOLD_AT, Counts
from bayescout.statistics.covariance import Covariance
from bayescout.statistics.discrete import DiscreteStatistics
from bayescout.statistics.engine import Kind, Statistics
from bayescout.statistics.occurring import merged, nothing_yet, occurring_in, unpacked
from bayescout.statistics.requirements import require_kind
from bayescout.statistics.stored_counts import StoredCounts

STILL_NEW = 16
"""Rows are not folded if, after the first block, more than one row in so many is a new one."""

_kept: WeakKeyDictionary[StoredTable, DiscreteStatistics] = WeakKeyDictionary()


def of_stored(table: StoredTable, kind: Kind, prior: float | None = None) -> Statistics:
    """The statistics of a table on disk of one kind; those of categories are made once per table."""
    if kind == "continuous":
        from bayescout.statistics.stored_covariance import stored_scatter

        require_kind(table, "continuous")
        return Covariance(table, prior, stored_scatter(table))
    return stored_counts(table)


def stored_counts(table: StoredTable) -> DiscreteStatistics:
    """The counts of a discrete table on disk, made once."""
    found = _kept.get(table)
    if found is None:
        require_kind(table, "discrete")
        own = table.all_columns()  # statistics that held the table itself would keep it for good
        found = FoldedCounts.of(own) or StoredCounts(own)
        _kept[table] = found
    return found


class FoldedCounts(Counts):
    """Counts of the distinct rows of a table, each with the number of rows that it stands for.

    planned_rows  the rows by which work is planned, the same as for the table in memory
    """

    planned_rows: int

    @classmethod
    def of(cls, table: StoredTable, block_rows: int | None = None) -> FoldedCounts | None:
        """The counts, if distinct rows are few."""
        found = distinct_rows(table, block_rows)
        if found is None:
            return None
        codes, weights = found
        made = cls(Table(table.names, table.states, codes, np.empty((0, len(weights))), weights))
        joint = math.prod(int(r) for r in table.cardinalities)
        made.planned_rows = made.n_rows if joint * FOLD_AT <= table.n_rows else table.n_rows
        return made


def distinct_rows(
    table: StoredTable, block_rows: int | None = None
) -> tuple[NDArray[Any], NDArray[np.float64]] | None:
    """The codes of the distinct rows and how many rows are like each; None if they are many."""
    cards = table.cardinalities
    certain = math.prod(int(r) for r in cards) * FOLD_AT <= table.n_rows
    most = table.n_rows // FOLD_AT
    if not certain:
        row = table.n_columns * table.code_type.itemsize + 64
        most = min(most, table.budget.spare // 8 // row)
    sizes = cards.tolist()
    found = nothing_yet(sizes, 1)
    arguments = () if block_rows is None else (block_rows,)
    with closing(table.blocks(range(table.n_columns), *arguments)) as blocks:
        for number, codes in enumerate(blocks):
            more, before = occurring_in(codes, sizes, 1), len(found[0])
            if len(more[0]) > most and not certain:
                return None
            found = merged(found, more)
            new = len(found[0]) - before
            if not certain and (len(found[0]) > most or (number and new * STILL_NEW > codes.shape[1])):
                return None
    return unpacked(found[0], sizes, table.code_type), found[1][:, 0].astype(np.float64)
