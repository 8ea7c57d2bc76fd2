"""Contingency tables of rows on a Dask cluster: a batch of families goes out, tables come back summed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Family, Parents
from bayescout.data.past.dask_partition import Block
from bayescout.data.past.dask_table import SUMMED_AT_ONCE, DaskTable, on_cluster, task_keys
from bayescout.data.table import Table
from bayescout.errors import TooLargeError
from bayescout.statistics.counts import FOLD_AT, Counts
from bayescout.statistics.discrete import DiscreteStatistics
from bayescout.statistics.families import FamilyTables
from bayescout.statistics.occurring import Occurring, merged, occurring_in
from bayescout.statistics.requirements import require_kind


@on_cluster()
def dask_counts(table: DaskTable) -> DaskCounts:
    """The counts of a discrete table on a cluster, made once."""
    require_kind(table, "discrete")
    found = _kept.get(table)
    if found is None:
        found = DaskCounts(table.all_columns())  # that held the table itself would keep it for good
        _kept[table] = found
    return found


_kept: WeakKeyDictionary[DaskTable, DaskCounts] = WeakKeyDictionary()


READY_CELLS = 1 << 24
"""Cells of tables that were fetched ahead and not asked for, from which on they are forgotten."""


class DaskCounts(DiscreteStatistics):
    """Counts of families whose rows are on the workers of a cluster.

    planned_rows  the rows by which work is planned, the same as for the table in memory
    round_trips   how often tables were asked for
    """

    far = True

    def __init__(self, table: DaskTable) -> None:
        super().__init__(table.names, table.cardinalities, float(table.n_rows), table.n_rows)
        self.table, self.client = table, table.client
        self.round_trips = 0
        self._ready: dict[Family, NDArray[Any]] = {}
        places = table.places(range(table.n_columns))
        used = sorted(places)
        self._places = [used.index(place) for place in places]
        cards = [self._sizes[places.index(place)] for place in used]
        self._parts = self.client.map(
            partial(Partition, places=used, cards=cards, dense_limit=self.dense_limit),
            table.partitions,
            key=task_keys("bitmaps", len(table.partitions)),
            priority=1,
        )
        self.planned_rows = self._planned()

    def _planned(self) -> int:
        """The rows that are counted in memory, where duplicates are folded if few rows are possible."""
        joint = math.prod(self._sizes)
        if joint * FOLD_AT > self.table.n_rows:
            return self.table.n_rows
        rest = tuple(range(1, self.n_variables))
        return int((self.many([(0, rest)]).counts > 0).sum())

    def work(self, child: int, parents: Sequence[int]) -> int:
        """The cells that travel: rows are counted elsewhere, and a round trip should ask for much."""
        return min(self.cells(child, parents), 1 << 20)

    def count(self, child: int, parents: Parents) -> NDArray[Any]:
        return self.many([(child, parents)]).table(0)

    def ask(self, families: Sequence[Family]) -> None:
        """Fetch the tables of families, each of which `many` then gives once without a round trip."""
        fresh = [family for family in dict.fromkeys(families) if family not in self._ready]
        if not fresh:
            return
        try:
            tables = self._tables(fresh)
        except TooLargeError:  # it is said when the family is asked for by itself
            return
        if sum(len(table) for table in self._ready.values()) > READY_CELLS:
            self._ready = {}
        self._ready |= dict(zip(fresh, tables, strict=True))

    def many(self, families: Sequence[Family]) -> FamilyTables:
        """The tables of many families, in one round trip."""
        ready = [self._ready.pop(family, None) for family in families]
        fresh = [family for family, table in zip(families, ready, strict=True) if table is None]
        counted = iter(self._tables(fresh) if fresh else [])
        tables = [next(counted) if table is None else table for table in ready]
        states = np.array([self._sizes[child] for child, _ in families])
        configurations = np.array([self.configurations(parents) for _, parents in families])
        return self.batch(tables, states, configurations)

    @on_cluster()
    def _tables(self, families: Sequence[Family]) -> list[NDArray[Any]]:
        """The tables of families, in one round trip."""
        self.round_trips += 1
        asked = [
            (self._places[child], tuple(self._places[v] for v in parents), self.is_dense(child, parents))
            for child, parents in families
        ]
        most = [self.most_cells // self._sizes[child] for child, _ in families]
        level = self.client.map(
            partial(counted, families=asked, most=most),
            self._parts,
            key=task_keys("count", len(self._parts)),
        )
        while len(level) > SUMMED_AT_ONCE:
            groups = [level[i : i + SUMMED_AT_ONCE] for i in range(0, len(level), SUMMED_AT_ONCE)]
            level = self.client.map(partial(summed, most=most), groups, key=task_keys("sum", len(groups)))
        dense, occurring = summed(self.client.gather(level), most)
        tables = [
            self._table(family, occurring[i]) if i in occurring else None for i, family in enumerate(families)
        ]
        begin = 0
        for i, (child, parents) in enumerate(families):
            if i not in occurring:
                size = self.cells(child, parents)
                tables[i] = dense[begin : begin + size]
                begin += size
        return [table for table in tables if table is not None]

    def _table(self, family: Family, found: Occurring | int) -> NDArray[Any]:
        if isinstance(found, int):
            raise self.too_large(*family, found)
        return found[1].ravel()

    def too_large(self, child: int, parents: Sequence[int], distinct: int) -> TooLargeError:
        return super().too_large(child, parents, distinct)


Tables = tuple[NDArray[np.int64], dict[int, Any]]
"""The dense tables one after the other; the others by number, or how many configurations are too many."""


class Partition:
    """The rows of one partition, ready to be counted; made by its worker, and made again if that dies."""

    def __init__(self, block: Block, places: list[int], cards: list[int], dense_limit: int) -> None:
        self.codes = block.codes if len(places) == len(block.codes) else block.codes[places]
        self.cards = cards
        self.counts: Counts | None = None
        if block.rows:
            names, states = tuple(range(len(cards))), tuple(tuple(range(r)) for r in cards)
            self.counts = Counts(Table(names, states, self.codes, np.empty((0, block.rows))))
            self.counts.dense_limit = dense_limit


def counted(part: Partition, families: Sequence[tuple[int, Parents, bool]], most: Sequence[int]) -> Tables:
    """The tables of families in one partition."""
    dense = [(child, parents) for child, parents, whole in families if whole]
    size = sum(part.cards[c] * math.prod(part.cards[v] for v in parents) for c, parents in dense)
    tables = np.zeros(size, dtype=np.int64)
    if dense and part.counts is not None:
        tables = part.counts.many(dense).counts
    occurring: dict[int, Any] = {}
    for i, (child, parents, whole) in enumerate(families):
        if not whole:
            cards = [part.cards[v] for v in parents]
            occurring[i] = occurring_in(part.codes[[*parents, child]], cards, part.cards[child])
            if len(occurring[i][0]) > most[i]:
                occurring[i] = len(occurring[i][0])
    return tables, occurring


def summed(parts: Sequence[Tables], most: Sequence[int]) -> Tables:
    """The sums of tables of several partitions."""
    tables = np.sum([dense for dense, _ in parts], axis=0)
    occurring: dict[int, Any] = dict(parts[0][1])
    for _, more in parts[1:]:
        for i, found in more.items():
            if isinstance(occurring[i], int) or isinstance(found, int):
                occurring[i] = max(one if isinstance(one, int) else 0 for one in (occurring[i], found))
                continue
            occurring[i] = merged(occurring[i], found)
            if len(occurring[i][0]) > most[i]:
                occurring[i] = len(occurring[i][0])
    return tables, occurring
