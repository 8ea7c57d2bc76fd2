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
from bayescout.data.past.dask_rows import is_dask, read_dask
from bayescout.data.past.dask_table import SUMMED_AT_ONCE, DaskTable, task_keys
from bayescout.data.past.sources import paths_of
from bayescout.data.table import Table
from bayescout.errors import DataError, TooLargeError
from bayescout.statistics.counts import FOLD_AT, Counts
from bayescout.statistics.covariance import Covariance
from bayescout.statistics.discrete import DiscreteStatistics
from bayescout.statistics.engine import Kind, Statistics
from bayescout.statistics.families import FamilyTables
from bayescout.statistics.occurring import Occurring, merged, occurring_in
from bayescout.statistics.requirements import require_kind
from bayescout.wording import setting


class DaskEngine:
    """The engine of rows on a cluster; it also reads files that its workers can read.

    `bs.learn("rows/*.parquet", engine=bs.DaskEngine(client))`; without a client it is the connected one.
    """

    def __init__(self, client: Any = None) -> None:
        self.client = client

    def table_of(self, data: Any, missing: Any) -> Table:
        """The table of a Dask dataframe or of files."""
        if isinstance(data, DaskTable):
            return data
        return read_dask(data, self.client, missing=missing)

    def takes(self, data: Any) -> bool:
        """Return True for data that this engine reads itself."""
        return is_dask(data) or paths_of(data) is not None

    def __call__(self, table: Table, kind: Kind, prior: float | None = None) -> Statistics:
        if not isinstance(table, DaskTable):
            raise DataError(
                "the Dask engine counts rows on a cluster: give a Dask dataframe or Parquet files"
            )
        return statistics_on_dask(table, kind, prior)


def statistics_on_dask(table: DaskTable, kind: Kind, prior: float | None = None) -> Statistics:
    """The statistics of a table on a cluster."""
    if kind == "continuous":
        from bayescout.statistics.dask_covariance import dask_scatter

        require_kind(table, kind)
        return Covariance(table, prior, dask_scatter(table))
    if kind != "discrete":
        raise DataError(
            f"columns of both kinds are learned from rows in one place, and these are on a cluster: "
            f"{setting('kinds', 'discrete')} takes each value for a state, or cut numbers into intervals in "
            f"the frame"
        )
    require_kind(table, kind)
    found = _kept.get(table)
    if found is None:
        found = DaskCounts(table.all_columns())  # that held the table itself would keep it for good
        _kept[table] = found
    return found


_kept: WeakKeyDictionary[DaskTable, DaskCounts] = WeakKeyDictionary()


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

    def many(self, families: Sequence[Family]) -> FamilyTables:
        """The tables of many families, in one round trip."""
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
        states = np.array([self._sizes[child] for child, _ in families])
        configurations = np.array([self.configurations(parents) for _, parents in families])
        return self.batch([table for table in tables if table is not None], states, configurations)

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
