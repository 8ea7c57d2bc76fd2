"""Common parts of cross-validation and the bootstrap: repeated learning from parts of one table."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayescout.data.encode import as_table
from bayescout.data.past.dask_table import DaskTable
from bayescout.data.table import Label, Table
from bayescout.errors import DataError, Interrupted, SettingError
from bayescout.learn import learn
from bayescout.scores import Formula
from bayescout.scores.threads import check_workers

if TYPE_CHECKING:
    from bayescout.result import Result

WORTH_PROCESSES = 8.0
"""Least seconds of remaining work for using other processes, which take a second or two to start."""

Made = TypeVar("Made")

Progress = bool | Callable[[int, int], None]
"""Whether to show a progress line, or a function to call with the number done and the count."""


def table_of(data: Any, options: dict[str, Any]) -> Table:
    """The data as a table without rows of weight zero, which could make a part empty.

    The interventions among the options are told of all rows, and the limit of memory is kept while they are
    read: both go into the table.
    """
    engine: Any = options.get("engine")
    interventions, memory = (options.pop(name, None) for name in ("interventions", "memory"))
    if hasattr(engine, "table_of") and engine.takes(data):
        for name, value in (("interventions", interventions), ("memory", memory)):
            if value is not None:
                raise SettingError(f"rows that the engine reads cannot have {name}: leave it out")
        data = engine.table_of(data, "keep")
    table = as_table(data, interventions=interventions, memory=memory)
    if isinstance(table, DaskTable):  # in a run, the rows are wherever it is
        options.pop("engine", None)
    if table.weights is None or table.weights.all():
        return table
    return table.take(table.weights > 0)


def check_options(score: Any, options: Mapping[str, Any]) -> None:
    """Refuse options that apply to one run on one table and make no sense for many."""
    for name in ("checkpoint", "callback"):
        if name in options:
            raise SettingError(f"{name} is for one run of learn and not for many; leave it out")
    if not isinstance(score, str | Formula) and hasattr(score, "local"):
        raise SettingError(
            f"the score {type(score).__name__} speaks of one table and cannot follow the rows that are "
            f"drawn; give a name, a formula, or a function of counts"
        )


def for_many_runs(search: Any) -> Any:
    """The search for each of many runs: "auto" without its longest parts."""
    from bayescout.search.auto import Auto

    return Auto(thorough=False) if isinstance(search, str) and search == "auto" else search


def learned(table: Table, seed: int, options: Mapping[str, Any], where: str) -> Result:
    """Run `learn` on one part; errors name the part."""
    try:
        result = learn(table, seed=seed, workers=1, **options)
    except DataError as error:
        raise DataError(f"{where}: {error}") from error
    if result.stop_reason == "interrupted":
        raise KeyboardInterrupt
    return result


def constants_in(table: Table) -> dict[Label, float]:
    """The columns of numbers that are all one, with the number."""
    found = {}
    if type(table) is Table:  # else the rows are not here
        for name, states in zip(table.names, table.states, strict=True):
            limits = table.limits(name) if states is None else None
            if limits is not None and limits[0] == limits[1]:
                found[name] = limits[0]
    return found


def as_states(table: Table, constants: Mapping[Label, float]) -> Table:
    """The table with columns of a single number as what they are read as: of one state."""
    columns = list(zip(table.names, table.states, strict=True))
    codes = [
        table.missing_cells(name) if name in constants else table.array(name)
        for name, states in columns
        if states is not None or name in constants
    ]
    return replace(
        table,
        states=tuple((constants[name],) if name in constants else states for name, states in columns),
        codes=np.stack(codes).astype(table.codes.dtype),
        values=table.values[[name not in constants for name, states in columns if states is None]],
    )


def spread(
    work: Callable[[Table, int], Made],
    table: Table,
    count: int,
    workers: int | None,
    progress: Progress,
    noun: str,
) -> list[Made]:
    """The results of `work` on the table for each number below `count`, in order, wherever it runs.

    The first two run here; if the rest would take long, it goes to processes through joblib, whose
    `parallel_config` can send it to a cluster instead. If rows are on a cluster, runs are tasks of its
    workers if each of them can hold all rows; else they are one after the other, with rows counted where
    they are. `progress` is True for a line on standard error, or is called with the number done and the
    count. Ctrl-C raises `Interrupted`, which holds the results so far.
    """
    workers = check_workers(workers)
    done: list[Made] = []
    shortest = float("inf")
    try:
        with _Line(progress, count, noun) as line:
            if isinstance(table, DaskTable):
                for made in _on_cluster(work, table, range(count)):
                    done.append(made)
                    line.step()
                return done
            for number in range(min(2, count)):
                begin = time.perf_counter()
                done.append(work(table, number))
                shortest = min(shortest, time.perf_counter() - begin)
                line.step()
            rest = range(len(done), count)
            for made in _rest(
                partial(work, table), rest, 1 if shortest * len(rest) < WORTH_PROCESSES else workers
            ):
                done.append(made)
                line.step()
    except KeyboardInterrupt:
        raise Interrupted(done, count, noun) from None
    return done


def _on_cluster(
    work: Callable[[Table, int], Made], table: DaskTable, numbers: Sequence[int]
) -> Iterator[Made]:
    from bayescout.evaluate.cluster_runs import fits_on_workers, runs_on_workers

    if fits_on_workers(table):
        with closing(runs_on_workers(work, table, numbers)) as found:  # type: ignore[type-var]
            yield from found
        return
    for number in numbers:
        yield work(table, number)


def _rest(work: Callable[[int], Made], numbers: Sequence[int], workers: int) -> Iterator[Made]:
    if workers == 1:
        yield from map(work, numbers)
        return
    from joblib import delayed

    from bayescout.evaluate.workers import in_parallel

    yield from in_parallel((delayed(work)(number) for number in numbers), workers)


class _Line:
    """A progress line on standard error, or calls of a function, if requested."""

    def __init__(self, shown: Progress, count: int, noun: str) -> None:
        self.shown, self.count, self.noun = shown is True, count, noun
        self.step: Callable[[], None] = lambda: None
        if callable(shown):
            numbers = iter(range(1, count + 1))
            self.step = lambda: shown(next(numbers), count)

    def __enter__(self) -> _Line:
        if self.shown:
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

            from bayescout.progress import progress_line

            columns = (TextColumn(self.noun), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self.line = progress_line(*columns)
            self.line.start()
            task = self.line.add_task(self.noun, total=self.count)
            self.step = lambda: self.line.advance(task)
        return self

    def __exit__(self, *_: object) -> None:
        if self.shown:
            self.line.stop()
