"""What cross-validation and the bootstrap share: learning again and again from parts of one table."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from bayescout.data.encode import as_table
from bayescout.data.table import Table
from bayescout.errors import DataError, SettingError
from bayescout.learn import learn
from bayescout.result import Result
from bayescout.scores.score import check_workers

WORTH_PROCESSES = 8.0
"""Seconds of work left from which it is handed to other processes: they take a second or two to start."""

Item = TypeVar("Item")
Made = TypeVar("Made")


def table_of(data: Any) -> Table:
    """The data as a table without the rows that weigh nothing, which would make an empty part."""
    table = as_table(data)
    if table.weights is None or table.weights.all():
        return table
    return table.take(table.weights > 0)


def check_count(name: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise SettingError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return int(value)


def check_options(options: Mapping[str, Any]) -> None:
    """Arguments of `learn` that make no sense for many runs at once."""
    for name in ("checkpoint", "progress", "callback"):
        if name in options:
            raise SettingError(f"{name} is for one run of learn and not for many; leave it out")


def learned(table: Table, seed: int, options: Mapping[str, Any], where: str) -> Result:
    """One run of `learn` on one part, whose errors say which part it was."""
    try:
        result = learn(table, seed=seed, workers=1, **options)
    except DataError as error:
        raise DataError(f"{where}: {error}") from error
    if result.stop_reason == "interrupted":
        raise KeyboardInterrupt
    return result


def spread(work: Callable[[Item], Made], items: Sequence[Item], workers: int | None) -> list[Made]:
    """The results of `work`, in the order of the items, whoever does it.

    The first two are done here; when the rest would take long it is handed to processes through joblib,
    whose `parallel_config` can send it to a cluster instead.
    """
    workers = check_workers(workers)
    done: list[Made] = []
    shortest = float("inf")
    for item in items[:2]:
        begin = time.perf_counter()
        done.append(work(item))
        shortest = min(shortest, time.perf_counter() - begin)
    rest = items[2:]
    if workers == 1 or shortest * len(rest) < WORTH_PROCESSES:
        return done + [work(item) for item in rest]
    from joblib import Parallel, delayed

    return done + list(Parallel(n_jobs=workers)(delayed(work)(item) for item in rest))
