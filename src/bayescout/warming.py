"""Compile what learning needs before it is needed: one small run of every kind, on all cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayescout.scores.threads import check_workers

if TYPE_CHECKING:
    from bayescout.data.table import Table


class Job(NamedTuple):
    """A kind of learning: small runs of some searches with one score, on a table of one kind."""

    table: str
    score: str
    searches: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.table} columns, {self.score}, {', '.join(self.searches)}"


class Done(NamedTuple):
    """A job that is ready, the number of jobs ready by then, and the kernels that were compiled for it."""

    job: Job
    ready: int
    kernels: int


JOBS = (
    Job("discrete", "bic", ("hill-climb", "tabu", "ges")),
    Job("continuous", "bic", ("hill-climb", "ges", "boss", "pc")),
    Job("discrete", "bdeu", ("hill-climb", "boss")),
    Job("mixed", "bic", ("hill-climb", "ges")),
    Job("discrete", "bic", ("memetic", "boss")),
    Job("discrete", "bdeu", ("ges", "memetic", "optimal")),
    Job("few discrete", "bdeu", ("memetic", "optimal")),
    Job("few discrete", "bic", ("optimal", "pc", "imap")),
    Job("discrete", "bic", ("optimal", "first-ascent", "annealing", "order-climb", "umda", "genetic-greedy")),
    Job("incomplete", "bic", ("hill-climb",)),
    Job("discrete", "qnml", ("hill-climb", "ges", "boss", "memetic")),
    Job("few discrete", "qnml", ("optimal",)),
    Job("wide", "bic", ("ges", "boss")),
)
"""Runs that compile every kernel of learning; those with much in common are far apart: few compile twice."""


def warm_up(workers: int | None = None, callback: Callable[[Done], Any] | None = None) -> int:
    """Compile what learning needs on this machine; what is compiled already is passed over.

    workers   processes that compile at the same time; None is one per core
    callback  called with each `Done`

    Returns the number of kernels compiled: 0 if there was nothing to do. Columns of more than 256 states
    compile some again when they are first met.
    """
    from joblib import delayed

    from bayescout.evaluate.workers import in_parallel

    # With one worker joblib runs the jobs here, and the kernels stay in memory.
    kernels = 0
    found = in_parallel((delayed(_compiled_for)(job) for job in JOBS), check_workers(workers), ordered=False)
    for ready, (job, compiled) in enumerate(found, start=1):
        kernels += compiled
        if callback is not None:
            callback(Done(job, ready, compiled))
    return kernels


def _compiled_for(job: Job) -> tuple[Job, int]:
    """Do the runs of a job; the number of kernels compiled for them."""
    from bayescout.kernels.jit import compiling
    from bayescout.kernels.patience import patience

    before, told = compiling.kernels, compiling.told
    compiling.told = True  # the caller says what is being done
    try:
        with patience.lost():
            _learn_all(job)
    finally:
        compiling.told = told
    return job, compiling.kernels - before


def _learn_all(job: Job) -> None:
    from bayescout.learn import learn
    from bayescout.scores import bind, formula_named
    from bayescout.search import SEARCHES, Knowledge

    table, known = _table(job.table), Knowledge(max_parents=2)
    for search in job.searches:
        # Exact search ends with steps of another kind; the others are the same from the first on.
        steps, seconds = (None, 10.0) if search == "optimal" else (3, None)
        learn(table, SEARCHES[search](), job.score, known, max_steps=steps, max_time=seconds, workers=1)
    if job.table == "discrete":  # families too large to be counted whole, which these runs may not meet
        everything = tuple(range(1, table.n_columns - 1))
        bind(formula_named(job.score), table, 1, None).extensions(0, everything, [table.n_columns - 1])


def _table(kind: str) -> Table:
    """A table of a kind: alarm, or a smaller one with columns of few states and one of many."""
    from bayescout.data import as_table
    from bayescout.formats import load_network
    from bayescout.statistics.screening import MOST_DENSE

    if kind == "discrete":
        return load_network("alarm").sample(300, seed=1)
    rng = np.random.default_rng(1)
    if kind == "wide":
        return as_table(rng.normal(size=(60, MOST_DENSE + 1)) + rng.normal(size=(60, 1)))
    hidden = rng.integers(0, 3, 60)
    columns: dict[str, Any] = {}
    for i in range(5):
        columns[f"d{i}"] = [f"s{code}" for code in (hidden + rng.integers(0, 2, 60)) % (2 + i % 3)]
    columns["many"] = [f"s{code}" for code in rng.integers(0, 30, 60)]
    if kind == "incomplete":
        columns["d0"][3] = columns["d1"][5] = None
    numbers: dict[str, Any] = {f"c{i}": hidden * (0.5 + i) + rng.normal(size=60) for i in range(4)}
    if kind == "continuous":
        columns = numbers
    elif kind == "mixed":
        columns = {"d0": columns["d0"], "d1": columns["d1"], **numbers}
    return as_table(columns)
