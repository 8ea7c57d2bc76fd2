"""Confidence in each arc, from structures learned on resampled rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import generator, require_count
from bayescout.data.table import Label, Table
from bayescout.errors import BayescoutError, DataError, Interrupted, TooLargeError, warn
from bayescout.evaluate.resampling import (
    Progress,
    as_states,
    check_options,
    constants_in,
    for_many_runs,
    learned,
    spread,
    table_of,
)
from bayescout.evaluate.strengths import ArcStrengths
from bayescout.graph.dag import Dag
from bayescout.graph.labels import quoted
from bayescout.graph.pdag import Pdag

if TYPE_CHECKING:
    from bayescout.scores import ScoreLike
    from bayescout.search import Search

MOST_RUNS = 1_000_000
"""The most resamples that may be requested."""

MAX_CELLS = 2**33
"""The most cells a resampled table may have (8 GiB of codes)."""


def bootstrap(
    data: Any,
    runs: int = 100,
    search: str | Search = "auto",
    score: ScoreLike | None = "auto",
    seed: int = 0,
    workers: int | None = None,
    rows: int | None = None,
    cpdag: bool = True,
    progress: Progress = False,
    **options: Any,
) -> ArcStrengths:
    """Learn from `runs` tables of rows drawn with replacement, and count how often each arc is found.

    Friedman, Goldszmidt & Wyner (1999). Each table has `rows` rows, by default as many as the data. A table
    with row weights is resampled as the table it represents, in which each row is repeated as often as its
    weight says. Where the drawn rows have a single number in a column, it has no arcs. With `cpdag` a
    reversible edge counts half for each direction, as the data cannot distinguish them; otherwise the arcs of
    the graph count as they are. Further options are those of `learn`. `workers` processes share the work;
    their number does not affect the answer. `progress` is True for a line on standard error, or a function
    called with the number of runs done and of all.
    """
    check_options(score, options)
    runs = require_count("runs", runs, 1, most=MOST_RUNS)
    generator(seed)
    table = table_of(data, options)
    if not table.n_rows:
        raise DataError("the table has no rows to draw from")
    size = max(1, round(table.total_weight)) if rows is None else require_count("rows", rows, 1)
    if size * max(1, table.n_columns) > MAX_CELLS:
        raise TooLargeError(
            f"a table of {size:,} drawn rows by {table.n_columns:,} columns has more than {MAX_CELLS:,} "
            f"cells; ask for fewer rows, or rescale the row weights"
        )
    settings = {**options, "search": for_many_runs(search), "score": score}

    def one(table: Table, run: int) -> tuple[Pdag | Dag, tuple[Label, ...]]:
        rng = generator(seed, run)
        drawn = resampled(table, size, rng)
        return _graph(drawn, int(rng.integers(2**32)), settings, f"resample {run} of {runs}", cpdag)

    try:
        found = spread(one, table, runs, workers, progress, "runs")
    except Interrupted as stopped:
        raise Interrupted([graph for graph, _ in stopped.done], runs, "runs") from None
    _tell_of_constants(table, [constants for _, constants in found])
    return ArcStrengths.of_graphs([graph for graph, _ in found])


def _graph(
    drawn: Table, seed: int, settings: Mapping[str, Any], where: str, cpdag: bool
) -> tuple[Pdag | Dag, tuple[Label, ...]]:
    """What is learned from the drawn rows, and the numbers that are all one there: nodes without arcs."""
    constants = constants_in(drawn)
    if not constants:
        result = learned(drawn, seed, settings, where)
        return result.cpdag if cpdag else result.dag, ()
    try:
        result = learned(as_states(drawn, constants), seed, settings, where)
    except BayescoutError:
        result = learned(drawn, seed, settings, where)  # says what cannot be
    nodes = [name for name in drawn.names if name in constants or name in result.dag.nodes]
    if cpdag:
        return Pdag.from_arcs(result.cpdag.arcs(), result.cpdag.edges(), nodes), tuple(constants)
    return Dag.from_arcs(result.dag.arcs(), nodes), tuple(constants)


def _tell_of_constants(table: Table, found: Sequence[Sequence[Label]]) -> None:
    """Warn once of the columns that were constant in some of the resamples."""
    names = set().union(*found)
    if names:
        some = [name for name in table.names if name in names]
        warn(
            f"{quoted(some)} {'is' if len(some) == 1 else 'are'} constant in some resamples "
            f"({sum(map(bool, found)):,} of {len(found):,}), with no arcs there but required ones"
        )


def resampled(table: Table, size: int, rng: np.random.Generator) -> Table:
    """Draw rows with replacement, in proportion to their weights, each counting once.

    Rows are copied, not weighted: tables without weights are counted from bitmaps, which is faster.
    """
    points = rng.random(size) * table.total_weight
    ends = np.arange(1.0, table.n_rows + 1) if table.weights is None else np.cumsum(table.weights)
    rows: NDArray[np.intp] = np.minimum(np.searchsorted(ends, points, side="right"), table.n_rows - 1)
    return table.take(np.sort(rows)).unweighted()
