"""Wide tables: whether a search works on screened pairs, by which rule, and whether memory suffices.

See docs/decisions/wide-tables.md for what is guaranteed and what is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from bayescout.arrays import Ints
from bayescout.checks import as_plain
from bayescout.data import memory
from bayescout.data.past.stored import StoredTable
from bayescout.data.table import CONSTANT, Table
from bayescout.errors import SettingError
from bayescout.graph.labels import quoted
from bayescout.scores import FamilyPrior, Formula, bind
from bayescout.scores.likelihood import LogLikelihood
from bayescout.scores.pair_gains import CountPairs
from bayescout.scores.score_pairs import ScorePairs
from bayescout.scores.scorer import Scorer
from bayescout.scores.threads import check_workers, worked_on
from bayescout.scores.wide_scorer import WideScorer, charge_of, takes_columns
from bayescout.search import Problem, Rules, Search
from bayescout.search.frame.problem import ParentSets
from bayescout.statistics.columns import ColumnCovariance
from bayescout.statistics.counts import Counts
from bayescout.statistics.covariance import Covariance, warn_collinear
from bayescout.statistics.engines import GPU
from bayescout.statistics.gpu import sieve_on_gpu
from bayescout.statistics.screening import MOST_DENSE, ColumnPairs, MatrixPairs, Pairs, Screening
from bayescout.statistics.sieve import CpuSieve, Sieve
from bayescout.wording import setting

AUTO, ARC, NONE = "auto", "arc", "none"
"""Screen wide tables alone, by the charge of an arc; screen by it whatever the width; screen nothing."""

PAIR_BYTES = 40
"""Bytes, about, that a search without screening holds for each ordered pair of variables."""

MATRIX_BYTES = 16
"""Bytes, about, for each ordered pair of a screened table with missing cells, or with beliefs about arcs."""

COLUMN_BYTES = 600
"""Bytes, about, that a search on candidates holds for each variable, besides its column."""

MOST_SHOWN = 6
"""Copies that are named."""

GPU_COLUMNS = 10_000
"""With so many columns a GPU is used where there is one: starting it takes a second or two."""

ScreenLike = str | float | None


def settled_screen(screen: Any) -> str | float:
    """The argument `screen`, checked: a word, or the least gain of an arc in nats."""
    if screen is None or screen in (AUTO, ARC, NONE):
        return AUTO if screen is None else str(screen)
    found = None if isinstance(screen, bool) else as_plain(screen)
    if isinstance(screen, str):
        with suppress(ValueError):
            found = float(screen)
    if found is None or not 0 <= found < math.inf:
        raise SettingError(
            f'screen is "auto", "arc", "none", or the log-likelihood in nats that the arc of a pair must '
            f"gain by itself to be looked at, not {screen!r}"
        )
    return found


def is_screened(screen: str | float, table: Table, formula: Any, method: Search, engine: Any) -> bool:
    """Return True if the search is to work on screened pairs; raise if that was asked for and cannot be."""
    on_gpu = isinstance(engine, str) and engine == GPU
    if screen == NONE or (screen == AUTO and table.n_columns <= MOST_DENSE and not on_gpu):
        if on_gpu:
            raise SettingError(
                f"{setting('engine', GPU)} screens pairs, and {setting('screen', NONE)} looks at all"
            )
        return False
    if isinstance(screen, float | int) and screen > 0 and not isinstance(formula, Formula):
        raise SettingError(
            f"a number for screen is in log-likelihood, which a score of your own does not have: "
            f"{setting('screen', ARC)} asks the score itself"
        )
    obstacle = _obstacle(table, method)
    if obstacle and (screen != AUTO or on_gpu):
        advice = "leave out the engine" if on_gpu else f"{setting('screen', NONE)} looks at all"
        raise SettingError(f"pairs cannot be screened: {obstacle}; {advice}")
    return not obstacle


def without_constants(table: Table, screen: str | float, engine: Any) -> Table:
    """The table without its constants, if it is wide and all other columns are numbers; a warning says so.

    None does where the constants were told of when the table was read: the result names what is left out.

    A number that never changes is a state, and pairs of numbers are screened in tables of numbers alone.
    """
    wide = table.n_columns > MOST_DENSE or screen not in (AUTO, NONE) or engine == GPU
    constant = [name for name, states in zip(table.names, table.states, strict=True) if states is not None]
    alone = all(states is None or len(states) == 1 for states in table.states)
    if not (wide and screen != NONE and alone and 0 < len(constant) < table.n_columns):
        return table
    if table.has_missing or table.interventions is not None:
        return table
    found = table.select(
        [name for name, states in zip(table.names, table.states, strict=True) if states is None]
    )
    left_out = (*table.notes.left_out, *((name, "constant") for name in constant))
    one = len(constant) == 1
    table.warn_once(
        CONSTANT,
        f"{'column' if one else f'{len(constant):,} columns'} left out of the search: {quoted(constant)}; "
        f"constants carry no information; {setting('screen', NONE)} keeps {'it' if one else 'them'} as "
        f"{'a node' if one else 'nodes'} without arcs",
    )
    return found.with_notes(replace(found.notes, left_out=left_out))


def _obstacle(table: Table, method: Search) -> str:
    """Why a search on screened pairs is not possible, in words; empty if it is."""
    if not getattr(method, "screens", False):
        return "the search must be auto, ges, boss, hill-climb or tabu"
    if getattr(method, "walks_classes", False) and table.interventions is not None:
        return "variables were set from outside in some rows: hill-climb takes these, and so does auto"
    return ""


def wide_problem(
    screen: str | float,
    table: Table,
    formula: Any,
    workers: int | None,
    prior: FamilyPrior | None,
    rules: Rules,
    start: Callable[[Rules], ParentSets | str],
    engine: Any = None,
) -> Problem:
    """The problem of a search on screened pairs; `start` makes a graph that keeps the rules."""
    by_columns = engine in (None, "memory", GPU) and takes_columns(table, formula, prior)
    past = isinstance(table, StoredTable)
    if past or (by_columns and table.weights is None):  # columns are not held, or taken as they are
        row_bytes = 0
    else:
        row_bytes = 8 if table.is_continuous else 2 * table.codes.itemsize
    needed = table.n_columns * (row_bytes * table.n_rows + COLUMN_BYTES)
    free = memory.require(
        needed,
        f"{table.n_columns:,} columns of {table.n_rows:,} rows: a search on candidates takes",
        "leave out columns or rows",
        of=" for the columns alone",
    )
    most = (free - needed) / 2
    counting = None if engine == GPU else engine
    if past or not by_columns:
        scorer = bind(formula, table, workers, counting, prior)
        if by_columns and engine != GPU:
            return _matrix_problem(screen, table, scorer, rules, start, most)
        return _scored_problem(screen, table, scorer, engine, rules, start, most)
    statistics = ColumnCovariance(table)
    wide = WideScorer(formula, statistics, check_workers(workers), prior=prior)
    least, rule = _threshold(screen, formula, statistics, prior)
    threads = check_workers(workers)
    sieve = _sieve(engine, table.n_columns, threads)
    pairs = ColumnPairs(statistics, least, sieve, partial(worked_on, threads))
    tell = partial(_tell_of_copies, table)
    return Problem(wide, rules, start(rules), screening=Screening(pairs, least, rule, most, tell))


def _scored_problem(
    screen: str | float,
    table: Table,
    scorer: Scorer,
    engine: Any,
    rules: Rules,
    start: Callable[[Rules], ParentSets | str],
    most: float,
) -> Problem:
    """The same for any score: it is asked itself whether an arc gains, and so charges it by its states."""
    rules = rules.within(scorer.legal, table.names)
    least: float | None = None
    rule = "an arc raises the score by itself"
    if isinstance(screen, float | int):
        least, rule = float(screen), f"an arc gains {screen:g} nats or more by itself"
    pairs: Pairs
    if table.interventions is None and isinstance(getattr(scorer, "statistics", None), Counts):
        counted: Any = scorer
        pairs = CountPairs(counted, least, _sieve(engine, table.n_columns, scorer.workers))
    elif engine == GPU:
        raise SettingError(
            f"{setting('engine', GPU)} sorts out pairs of categories counted in memory, and pairs of numbers "
            f"under bic, ebic, aic, penalised or loglik; leave out the engine"
        )
    elif least:
        pairs = ScorePairs(bind(LogLikelihood(), table, scorer.workers, engine), least)
    else:
        pairs = ScorePairs(scorer)
    screening = Screening(pairs, least, rule, most, partial(_tell_of_same_states, table))
    return Problem(scorer, rules, start(rules), screening=screening)


def _matrix_problem(
    screen: str | float,
    table: Table,
    scorer: Any,
    rules: Rules,
    start: Callable[[Rules], ParentSets | str],
    most: float,
) -> Problem:
    """The same for numbers past memory, of which all correlations are made in one pass over the rows."""
    least, rule = _threshold(screen, scorer.formula, scorer.statistics, scorer.prior)
    pairs = MatrixPairs(scorer.statistics, least)
    screening = Screening(pairs, least, rule, most, partial(_tell_of_copies, table))
    return Problem(scorer, rules, start(rules), screening=screening)


def _tell_of_copies(table: Table, alike: Ints) -> None:
    warn_collinear(table, [(later, [first]) for later, first in alike.tolist()])


def _tell_of_same_states(table: Table, alike: Ints) -> None:
    if len(alike):
        shown = "; ".join(
            f"{table.names[later]!r} of {table.names[first]!r}"
            for later, first in alike[:MOST_SHOWN].tolist()
        )
        more = f"; and {len(alike) - MOST_SHOWN:,} more columns" if len(alike) > MOST_SHOWN else ""
        table.warn_once(
            "copies",
            f"columns that are copies of others, state by state: {shown}{more}; the search joins such a "
            f"column to the copy before it alone: leave it out",
        )


def _sieve(engine: Any, n_columns: int, workers: int) -> Sieve:
    """What sorts out pairs: a GPU if it was asked for, or if there is one and it is worth starting it."""
    on_cpu = CpuSieve(partial(worked_on, workers))
    if engine is None and n_columns < GPU_COLUMNS:
        return on_cpu
    if engine in (None, GPU):
        return sieve_on_gpu(on_cpu, required=engine == GPU)
    return on_cpu


def _threshold(
    screen: str | float,
    formula: Any,
    statistics: ColumnCovariance | Covariance,
    prior: FamilyPrior | None,
) -> tuple[float, str]:
    """The least gain of a pair that is kept, in nats, and the rule in words."""
    if isinstance(screen, float | int):
        return float(screen), f"an arc gains {screen:g} nats or more by itself"
    charge = charge_of(formula, statistics.total, statistics.n_variables) or 0.0
    if prior is not None and len(prior.by_size) > 1:
        charge -= float(prior.by_size[1] - prior.by_size[0])
    charge = max(0.0, charge)
    return charge, f"an arc gains more than it is charged by itself, {charge:.4g} nats"


def require_dense_room(table: Table) -> None:
    """Refuse a search over all pairs of columns that memory cannot hold."""
    memory.require(
        PAIR_BYTES * table.n_columns**2,
        f"{table.n_columns:,} columns: a search over all pairs of them takes about",
        f"{setting('search', 'auto')}, ges, boss, hill-climb and tabu search on screened pairs; else leave "
        f"out columns",
    )


def require_matrix_room(table: Table) -> None:
    """Refuse to draw missing cells, or to weigh beliefs, where memory cannot hold a number for each pair."""
    work, advice = "weighing beliefs", "require or forbid arcs instead"
    if table.has_missing:
        work, advice = "drawing missing cells", f"{setting('missing', 'drop')} leaves out rows"
    memory.require(
        MATRIX_BYTES * table.n_columns**2,
        f"{table.n_columns:,} columns: {work} takes about",
        f"{advice}, or leave out columns",
        of=" for their pairs",
    )
