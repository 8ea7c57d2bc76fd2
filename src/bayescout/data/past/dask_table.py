"""A table whose rows are on the workers of a Dask cluster, one block of final cells per partition."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from bayescout.data.past import dask_partition as there
from bayescout.data.past.budget import in_units
from bayescout.data.past.stored import StoredTable, cell_counts
from bayescout.data.table import Label, Table
from bayescout.errors import DataError, SettingError, TooLargeError

SUMMED_AT_ONCE = 8
"""Arrays of so many partitions are summed by one task."""

LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"
"""The option of Dask for the size of tasks from which on it warns."""

MOST_FETCHED = 1 << 30
"""Bytes of cells that are fetched at most, where something needs all rows here."""


GONE = ("CancelledError", "FutureCancelledError", "ClosedClientError", "CommClosedError")
"""Errors of distributed for work that nobody waits for any more."""

KILLED = "KilledWorker"
"""That for workers that die of a task."""


def is_of_cluster(error: Exception) -> bool:
    """Return True for an error of the cluster, and False for one of the work itself."""
    return type(error).__name__ in (*GONE, KILLED) or "IOLoop is closed" in str(error)


@contextmanager
def on_cluster() -> Iterator[None]:
    """Say what to do where a cluster cannot do the work: its client is closed, or its workers die of it."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ == KILLED:
            raise DataError(
                f"workers died one after the other of the same task, most often for want of memory: give "
                f"smaller partitions, or workers with more memory ({error})"
            ) from error
        if is_of_cluster(error):
            raise DataError(
                f"the cluster that has the rows cannot be reached, as its client is closed or its scheduler "
                f"gone: connect a distributed.Client, and call again with the frame or the files ({error})"
            ) from error
        raise


def task_keys(name: str, count: int) -> list[str]:
    """The names of so many tasks, which no others have: a shared cluster takes equal names for one result.

    The dashboard shows them together, by what comes before the first number.
    """
    mark = secrets.token_hex(8)
    return [f"bayescout-{name}-{mark}-{i}" for i in range(count)]


def submitted(client: Any, name: str, work: Callable[..., Any], *given: Any) -> Any:
    """The future of one task, under a name for the dashboard."""
    (key,) = task_keys(name, 1)
    return client.submit(work, *given, key=key)


class DaskTable(StoredTable):
    """A table whose rows are on the workers of a cluster.

    client      to which the partitions belong
    partitions  the cells of each, as futures
    heights     how many rows each has
    """

    client: Any
    partitions: tuple[Any, ...]
    heights: tuple[int, ...]

    # ---- work on the workers

    @on_cluster()
    def each(self, name: str, work: Callable[..., Any], *given: Any) -> list[Any]:
        """The futures of work on the block of each partition."""
        return [submitted(self.client, name, work, part, *given) for part in self.partitions]

    def total(self, name: str, work: Callable[..., NDArray[Any]], *given: Any) -> NDArray[Any]:
        """The sum over the partitions of the arrays that the work gives."""
        return np.asarray(self.reduced(self.each(name, work, *given), there.added))

    @on_cluster()
    def reduced(self, level: Sequence[Any], joined: Callable[[Sequence[Any]], Any]) -> Any:
        """The results of futures, joined a few at a time by further tasks."""
        while len(level) > 1:
            level = [
                submitted(self.client, "sum", joined, list(level[i : i + SUMMED_AT_ONCE]))
                for i in range(0, len(level), SUMMED_AT_ONCE)
            ]
        return level[0].result()

    def places(self, columns: Sequence[int]) -> list[int]:
        """The places of some columns in the blocks of their kind."""
        return [self.stored[column].place for column in columns]

    def family_counts(self, child: int, parents: Sequence[int]) -> NDArray[np.int64]:
        family = [*parents, child]
        cards = [int(self.cardinalities[v]) for v in family]
        found = self.total("count", _family_of, self.places(family), cards)
        return np.asarray(found, dtype=np.int64).reshape(-1, cards[-1])

    # ---- cells that are fetched

    def blocks(self, places: Sequence[int], rows: int = 0) -> Generator[NDArray[Any]]:
        """The cells of some columns of one kind, fetched from one partition after the other."""
        own, numbers = self.places(places), bool(len(places)) and self.states[places[0]] is None
        for part, height in zip(self.partitions, self.heights, strict=True):
            if height:
                with on_cluster():
                    cells = submitted(self.client, "rows", there.some_rows, part, own, numbers, 0, height)
                    block = cells.result()
                yield block

    def array(self, name: Label) -> NDArray[Any]:
        place = self.index(name)
        self.require_room(columns=[place])
        return np.concatenate([block[0] for block in self.blocks([place])])

    def _loaded(self, kind: str) -> NDArray[Any]:
        places = [i for i, own in enumerate(self.kinds) if own == kind]
        self.require_room(columns=places)
        if not places:
            dtype = self.code_type if kind == "discrete" else np.float64
            return np.empty((0, self.n_rows), dtype=dtype)
        return np.concatenate(list(self.blocks(places)), axis=1)

    def require_room(self, beside: int = 0, columns: Sequence[int] | None = None) -> None:
        used = self.stored if columns is None else [self.stored[place] for place in columns]
        size = self.n_rows * (beside + sum(np.dtype(one.type).itemsize for one in used))
        most = min(MOST_FETCHED, self.budget.spare // 4)
        if size > most:
            raise TooLargeError(
                f"this needs all {self.n_rows:,} rows of {len(used):,} columns in this process, "
                f"{in_units(size)}, and they are on a cluster, of which at most {in_units(most)} are "
                f"fetched: take a part of the rows, frame.sample(frac=...)"
            )

    # ---- other rows of it

    def take(self, rows: NDArray[Any]) -> Table:
        """The given rows only, states unchanged; they stay where they are if their order does."""
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        if len(rows) and (rows[0] < 0 or rows[-1] >= self.n_rows or (np.diff(rows) < 0).any()):
            return super().take(rows)
        ends = np.cumsum([0, *self.heights])
        bounds = np.searchsorted(rows, ends)
        own = [
            (rows[a:b] - begin).astype(np.uint32)
            for (a, b), begin in zip(pairwise(bounds.tolist()), ends.tolist(), strict=False)
        ]
        return self.taken(own, [len(some) for some in own])

    def unweighted(self) -> Table:
        return self

    def taken(self, rows: Sequence[Any], heights: Sequence[int]) -> DaskTable:
        """The table of some rows: their numbers in each partition, and how many they are."""
        import dask

        with dask.config.set(
            {LARGE_GRAPH: "1 TB"}
        ):  # the places travel with the tasks, so that these can be redone
            parts = [
                submitted(self.client, "rows", there.taken, part, own)
                for part, own in zip(self.partitions, rows, strict=True)
            ]
        return self.of_partitions(parts, heights)

    @on_cluster()
    def of_partitions(self, partitions: Sequence[Any], heights: Sequence[int]) -> DaskTable:
        """The table of other rows, the cells of which are in these blocks."""
        found = object.__new__(DaskTable)
        found.__dict__.update({key: own for key, own in self.__dict__.items() if key in LASTING})
        found.__dict__.update(
            partitions=tuple(partitions), heights=tuple(heights), stored_rows=sum(heights), _told=self._told
        )
        sizes = [0 if own is None else len(own) for own in self.states]
        discrete = self.places([i for i, size in enumerate(sizes) if size])
        counts = iter(found.each("count", _counts_of, discrete, [size for size in sizes if size]))
        whole = [np.sum(own, axis=0) for own in zip(*self.client.gather(list(counts)), strict=True)]
        limits = found.limits_there()
        stored, own_counts = [], iter(whole)
        for one in self.stored:
            if one.counts is not None:
                stored.append(one._replace(counts=next(own_counts)))
            else:
                stored.append(one._replace(low=limits[0][one.place], high=limits[1][one.place]))
        found.__dict__["stored"] = tuple(stored)
        return found

    @on_cluster()
    def limits_there(self) -> tuple[list[float], list[float], list[tuple[int, int]]]:
        """The least and greatest of each continuous column, and (row, column) of what is not finite."""
        if all(own is not None for own in self.states):
            return [], [], []
        low, high, wrong = zip(*self.client.gather(self.each("limits", there.limits_of)), strict=True)
        begins = np.cumsum([0, *self.heights]).tolist()
        bad = [
            (begin + int(row), place)
            for begin, own in zip(begins, wrong, strict=False)
            for place, row in enumerate(own)
            if row >= 0
        ]
        return np.min(low, axis=0).tolist(), np.max(high, axis=0).tolist(), bad

    def select(self, names: Sequence[Label]) -> Self:
        found = super().select(names)
        found.__dict__.update({key: self.__dict__[key] for key in OWN})
        return found

    def __reduce__(self) -> NoReturn:
        raise SettingError("rows on a cluster cannot be pickled; save the result, or its network")


OWN = ("client", "partitions", "heights")

LASTING = {
    *("names", "states", "weights", "missing", "notes", "copies", "interventions"),
    *("stored", "budget", "stored_rows"),
    *OWN,
}


def _family_of(block: there.Block, places: Sequence[int], cards: Sequence[int]) -> NDArray[np.int64]:
    return cell_counts(block.codes[list(places)], cards)


def _counts_of(block: there.Block, places: Sequence[int], sizes: Sequence[int]) -> list[NDArray[np.int64]]:
    return [
        np.bincount(block.codes[place], minlength=size) for place, size in zip(places, sizes, strict=True)
    ]
