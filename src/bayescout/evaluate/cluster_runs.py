"""Many runs over rows on a Dask cluster: each is a task of a worker that has all rows, where they fit."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from bayescout.data.past.dask_partition import Block
from bayescout.data.past.dask_table import DaskTable, on_cluster, task_keys
from bayescout.data.table import Table
from bayescout.errors import BayescoutWarning, warn

Made = TypeVar("Made")

AHEAD = 2
"""Runs per thread of the cluster that are begun or wait for it."""

SHARE = 0.5
"""The part of a worker's memory that the rows, and the rows of the runs at work there, may take."""

ROW_BYTES = 40
"""Bytes per row to draw rows or to divide them into folds: random numbers, places, and their order."""


def fits_on_workers(table: DaskTable) -> bool:
    """Return True if every worker can hold all rows, and those drawn by a run of each of its threads."""
    own = sum(np.dtype(one.type).itemsize for one in table.stored)
    bitmaps = sum(len(states) for states in table.states if states is not None) // 8
    for worker in _workers(table):
        runs = worker["nthreads"]
        needed = table.n_rows * (2 * own + runs * (own + bitmaps + ROW_BYTES))
        if worker["memory_limit"] and needed > SHARE * worker["memory_limit"]:
            return False
    return True


@on_cluster()
def _workers(table: DaskTable) -> list[dict[str, Any]]:
    """What the scheduler knows of its workers."""
    return list(table.client.scheduler_info(n_workers=-1)["workers"].values())


def runs_on_workers(
    work: Callable[[Table, int], Made], table: DaskTable, numbers: Sequence[int]
) -> Iterator[Made]:
    """The results of the work on all rows for each number, in order; closed early, the rest is given up."""
    client = table.client
    whole_key, work_key = task_keys("rows", 2)
    about = (table.names, table.states, table.places(range(table.n_columns)), table.missing, table.notes)
    whole = client.submit(_whole, list(table.partitions), *about, table.code_type.str, key=whole_key)
    given = client.submit(_same, work, key=work_key)
    most = AHEAD * max(1, sum(worker["nthreads"] for worker in _workers(table)))
    begun: deque[Any] = deque()
    told: set[str] = set()
    try:
        for number, key in zip(numbers, task_keys("run", len(numbers)), strict=True):
            begun.append(client.submit(_run, given, whole, number, key=key))
            if len(begun) > most:
                yield _told(_result(begun.popleft()), told)
        while begun:
            yield _told(_result(begun.popleft()), told)
    finally:
        client.cancel(list(begun))


@on_cluster()
def _result(begun: Any) -> Any:
    return begun.result()


def _told(found: tuple[Made, list[str]], told: set[str]) -> Made:
    """The result of a run, the warnings of which are given here, each once."""
    made, messages = found
    for message in messages:
        if message not in told:
            told.add(message)
            warn(message)
    return made


# ---- on the workers


def _whole(
    blocks: Sequence[Block], names: Any, states: Any, places: Any, missing: Any, notes: Any, dtype: str
) -> Table:
    """The table of all rows, as it would be read in memory."""
    columns: dict[bool, list[int]] = {False: [], True: []}
    for own, place in zip(states, places, strict=True):
        columns[own is None].append(place)
    cells = [
        np.concatenate([np.empty((len(columns[numbers]), 0), dtype=kind), *parts], axis=1)
        for numbers, kind, parts in (
            (False, dtype, (block.codes[columns[False]] for block in blocks)),
            (True, "f8", (block.values[columns[True]] for block in blocks)),
        )
    ]
    return Table(names, states, cells[0], cells[1], missing=missing, notes=notes)


def _same(work: Any) -> Any:
    return work


def _run(work: Callable[[Table, int], Made], table: Table, number: int) -> tuple[Made, list[str]]:
    """The result of one run, and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = work(table, number)
    return made, [str(one.message) for one in caught if issubclass(one.category, BayescoutWarning)]
