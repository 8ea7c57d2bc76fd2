"""A table with missing cells made complete, so that every score and every search can be used on it.

Structural expectation maximisation by draws. A first network is the best tree over pairs of columns, each
pair from the rows in which both cells are there. Then, in turn: the missing cells of each row are drawn from
their distribution given the row's other cells under the network so far, hill climbing learns a graph from the
completed table, and parameters are estimated for it. The early graphs are learned with AIC, the last with
BIC: an arc that a network lacks is not in its draws, so the first ones had better have too many than too few.
"""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass, replace

import numpy as np

from bayescout.arrays import Bools, Floats, Ints, Parents
from bayescout.data.table import Table
from bayescout.errors import BayescoutWarning
from bayescout.graph.dag import Dag
from bayescout.network import Network, fit
from bayescout.network.em import discrete_network
from bayescout.network.fit import learned_prior, stacked
from bayescout.network.gibbs import Chain
from bayescout.network.impute import complete
from bayescout.network.regression import LEAST_SIZE, MOST_SIZE
from bayescout.scores import Scorer, TableScorer, bind
from bayescout.search import SEARCHES, Problem
from bayescout.search.frame.interrupts import CtrlC
from bayescout.search.frame.knowledge import Rules
from bayescout.search.frame.outcome import Limits
from bayescout.search.frame.problem import ParentSets
from bayescout.search.frame.run import drive
from bayescout.statistics.counts import Counts
from bayescout.statistics.pairs import pair_gains
from bayescout.statistics.requirements import require_varying


@dataclass(frozen=True)
class Plan:
    """How cells are drawn.

    rounds  the score of each graph from which they are drawn, after the first tree
    sweeps  over the empty cells under each network after the first
    draws   kept at the end, each with its share of a row's weight
    """

    rounds: tuple[str, ...]
    sweeps: int
    draws: int

    @classmethod
    def of(cls, table: Table) -> Plan:
        """Of states alone one draw serves as well as several; more rounds where they cost little."""
        if not table.is_discrete:
            return cls(("aic",) * 3 + ("bic",), 10, 10)
        if sum(count for _, count in table.missing.counts) <= FEW_CELLS:
            return cls(("aic",) * 5 + ("bic",) * 2, 10, 1)
        return cls(("aic",) * 3 + ("bic",), 3, 1)


FEW_CELLS = 50_000
"""The most missing cells that are drawn more often than needed in most tables."""

MOST_PARENTS = 5
"""The most parents in a graph that cells are drawn from."""

MANY_STATES, MOST_ENTRIES = 200, 2**22
"""Columns of more states than this are drawn without regard to others; and the most entries of a table that
required parents may ask for."""

LEAST_SECONDS = 1e-9
"""The time that is left for a climb after the time was over; a search has some always."""

WIDE, ALL_STATES = 1000, 5000
"""With more columns, or states in all, the first network has no arcs: their pairs are too many."""


@dataclass(frozen=True)
class Completion:
    """A table without missing cells.

    rounds       the number of graphs that cells were drawn from, after the first tree
    graph        the last of them, or the first tree
    interrupted  True if Ctrl-C ended the drawing
    cut_short    True if it took all of its time, and may have ended for that
    """

    table: Table
    rounds: int
    graph: ParentSets
    interrupted: bool = False
    cut_short: bool = False


def completed(
    table: Table, rules: Rules, seed: int, workers: int | None = None, until: float | None = None
) -> Completion:
    """The table with its missing cells drawn under networks that keep the rules; rows are in another order.

    until  the time, by `time.perf_counter`, after which drawing ends as soon as it can

    Ctrl-C ends it as soon as it can, too; a second one is raised.
    """
    require_varying(table)
    exponents = _exponents(table)
    with CtrlC() as interrupt:
        found = _completed(_scaled(table, -exponents), rules, seed, workers, Late(until, interrupt))
    return replace(found, table=_scaled(found.table, exponents))


def _exponents(table: Table) -> Ints:
    """The powers of two by which columns beyond the range of a network's numbers are scaled; else 0."""
    sizes = np.nanmax(np.abs(table.doubles()), axis=1, initial=0.0)
    beyond = (sizes > 0) & ((sizes < LEAST_SIZE) | (sizes > MOST_SIZE))
    return np.where(beyond, np.frexp(sizes)[1], 0)


def _scaled(table: Table, exponents: Ints) -> Table:
    """The table with its continuous columns times powers of two, which leave every digit as it is."""
    if not exponents.any():
        return table
    most = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        values = np.clip(np.ldexp(table.doubles(), exponents[:, None]), -most, most)
    return replace(table, values=values)


def _completed(table: Table, rules: Rules, seed: int, workers: int | None, late: Late) -> Completion:
    table = table.take(canonical_rows(table))
    rng = np.random.default_rng([seed, table.n_rows, table.n_columns])
    rules = _narrowed(rules, table)
    plan, tree = Plan.of(table), first_tree(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)  # of fits that are only steps on the way
        network = fit(Dag(table.names, tree), table, prior=learned_prior(table), missing="available")
        chain = Chain.of_table(table, workers)
        if late():
            chain.begin(network, rng)
        else:
            chain.take(complete(network, table, rng))
        graph: ParentSets | str = "empty"
        rounds = 0
        while rounds < len(plan.rounds) and not late():
            drawn = chain.completed(table)
            scorer = bind(plan.rounds[rounds], drawn, workers)
            graph = _climbed(scorer, rules, graph, late)
            network = _fitted(Dag(table.names, graph), drawn, scorer)
            _swept(chain, network, rng, plan.sweeps, late)
            rounds += 1
    kept = [chain.completed(table)]
    while len(kept) < plan.draws and not late():
        _swept(chain, network, rng, plan.sweeps, late)
        kept.append(chain.completed(table))
    found = tree if isinstance(graph, str) else graph
    return Completion(stacked(kept), rounds, found, late.interrupt.pressed, late.is_over)


class Late:
    """Return True if the time is over, or Ctrl-C was pressed."""

    def __init__(self, until: float | None, interrupt: CtrlC) -> None:
        self.until, self.interrupt = until, interrupt

    def __call__(self) -> bool:
        return self.interrupt.pressed or self.is_over

    @property
    def is_over(self) -> bool:
        """Return True if the time is over."""
        return self.until is not None and time.perf_counter() > self.until

    @property
    def left(self) -> float | None:
        """Seconds that are left, if they are limited: never 0, as the time may end at any moment."""
        return None if self.until is None else max(LEAST_SECONDS, self.until - time.perf_counter())


def _swept(chain: Chain, network: Network, rng: np.random.Generator, sweeps: int, late: Late) -> None:
    """Sweep over the empty cells; where the time is limited, one sweep at a time."""
    if late.until is None:
        chain.sweep(network, rng, sweeps)
        return
    for _ in range(sweeps):
        chain.sweep(network, rng, 1)
        if late():
            return


def _climbed(scorer: Scorer, rules: Rules, start: ParentSets | str, late: Late) -> ParentSets:
    """The graph that hill climbing finds, from the last one."""
    if scorer.legal is not None:
        rules = replace(rules, allowed=rules.allowed & scorer.legal, required=rules.required & scorer.legal)
    search = SEARCHES["hill-climb"]()
    limits = Limits(late.left, None, 1)
    with late.interrupt.released():
        outcome = drive(search, Problem(scorer, rules, start), np.random.default_rng(0), limits)
    late.interrupt.pressed = late.interrupt.pressed or outcome.stop_reason == "interrupted"
    return outcome.best[1]


def _fitted(dag: Dag, table: Table, scorer: Scorer) -> Network:
    """The network of the graph, from the counts of the scorer where they are held whole."""
    counts = scorer.statistics if isinstance(scorer, TableScorer) else None
    families = list(enumerate(dag.parents))
    if isinstance(counts, Counts) and all(counts.is_dense(*family) for family in families):
        held = [counts.count(*family).astype(np.float64) for family in families]
        return discrete_network(dag, table, held, learned_prior(table), 1.0)
    return fit(dag, table, prior=learned_prior(table))


def _narrowed(rules: Rules, table: Table) -> Rules:
    """The rules with fewer parents and without columns of many states, so that no table is large.

    Required parents stay, unless their table would be large.
    """
    wide = table.cardinalities > MANY_STATES
    allowed = rules.allowed & ~wide[:, None] & ~wide[None, :]
    required = rules.required & allowed
    logs = np.log(np.maximum(table.cardinalities, 1))
    required &= (logs @ required + logs <= math.log(MOST_ENTRIES))[None, :]
    limits = np.maximum(np.minimum(rules.max_parents, MOST_PARENTS), required.sum(axis=0))
    return replace(rules, allowed=allowed, required=required, max_parents=limits)


def canonical_rows(table: Table) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """An order of the rows that depends on their content alone; equal rows are interchangeable."""
    keys: list[np.ndarray[tuple[int], np.dtype[np.generic]]] = []
    word, used = np.zeros(table.n_rows, dtype=np.uint64), 0
    for codes, states in zip(table.codes, table.n_codes[table.discrete_columns].tolist(), strict=True):
        bits = max(1, int(states - 1).bit_length())
        if used + bits > 64:
            keys.append(word)
            word, used = np.zeros(table.n_rows, dtype=np.uint64), 0
        word = word | (codes.astype(np.uint64) << np.uint64(used))
        used += bits
    keys += [word, *table.values]
    if table.weights is not None:
        keys.append(table.weights)
    return np.lexsort(keys)


def first_tree(table: Table) -> tuple[Parents, ...]:
    """The parents of each column in the best tree: discrete columns first, so that none has a continuous one.

    Columns join one by one, each with the parent that tells most of it, if that is worth its charge.
    """
    p = table.n_columns
    parents: list[Parents] = [()] * p
    narrow = table.cardinalities <= MANY_STATES
    if p > WIDE or table.cardinalities[narrow].sum() > ALL_STATES:
        return tuple(parents)
    worth = np.full((p, p), -np.inf)
    some = np.flatnonzero(narrow)
    worth[np.ix_(some, some)] = pair_gains(table.select([table.names[i] for i in some])).charged()
    discrete = table.discrete_columns
    best, source = np.zeros(p), np.full(p, -1)
    waiting = np.ones(p, dtype=np.bool_)
    for _ in range(p):
        column = _next(best, waiting & discrete if (waiting & discrete).any() else waiting)
        waiting[column] = False
        if source[column] >= 0:
            parents[column] = (int(source[column]),)
        closer = waiting & (worth[column] > best)
        best[closer], source[closer] = worth[column][closer], column
    return tuple(parents)


def _next(best: Floats, among: Bools) -> int:
    """The column among these with the largest gain; of equals the first."""
    return int(np.argmax(np.where(among, best, -np.inf)))
