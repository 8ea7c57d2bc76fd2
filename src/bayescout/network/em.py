"""Parameters from tables with empty cells: expectation maximisation, or the rows where a family is complete.

Each iteration takes the expected statistics of all rows under the network so far (counts of families, or sums
and products of numbers), and estimates from them as from complete data. The log-likelihood of the observed
cells, with the log of the prior, never falls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TypeVar

import numpy as np

from bayescout.data.table import Table
from bayescout.errors import warn
from bayescout.graph.dag import Dag
from bayescout.network.constructors import DiscreteNetwork
from bayescout.network.estimate import estimate, log_prior
from bayescout.network.impute import gibbs
from bayescout.network.junction import Codes, Share, row_codes, shared_out
from bayescout.network.network import Network
from bayescout.network.node import Array
from bayescout.statistics.available import AvailableCounts

TOLERANCE = 1e-7
"""The relative change of the log-likelihood below which the iterations end."""

ITERATIONS = 500
"""The most iterations."""

SAMPLED_ITERATIONS = 30
"""Iterations where some rows are sampled: their likelihood is not known, so its change cannot end them."""

SAMPLED_DRAWS = 10
"""Draws per row and iteration where the exact expectation would take too large a table."""


@dataclass(frozen=True)
class Fitted:
    """A network, the objective before each iteration in nats, and how the iterations ended."""

    network: Network
    trace: tuple[float, ...]
    converged: bool


Parameters = TypeVar("Parameters")


def iterate(
    start: Parameters, step: Callable[[Parameters], tuple[Parameters, float]], tolerance: float, most: int
) -> tuple[Parameters, tuple[float, ...], bool]:
    """Repeat a step, which gives new parameters and the objective of the old ones, until that is still."""
    trace: list[float] = []
    now = start
    for _ in range(most):
        now, objective = step(now)
        trace.append(objective)
        if len(trace) > 1 and trace[-1] - trace[-2] <= tolerance * (1 + abs(trace[-1])):
            return now, tuple(trace), True
    return now, tuple(trace), False


def warn_unconverged(fitted: Fitted) -> Network:
    """The network, with a warning if the iterations ended at their limit."""
    if not fitted.converged:
        change = (fitted.trace[-1] - fitted.trace[-2]) if len(fitted.trace) > 1 else float("inf")
        warn(
            f"fitting by expectation maximisation has not converged in {len(fitted.trace)} iterations: the "
            f"last raised the log-likelihood by {change:.3g} nats; a prior such as 'laplace' helps where "
            f"much is empty"
        )
    return fitted.network


# ---- discrete


def discrete_network(dag: Dag, table: Table, counts: Sequence[Array], prior: str, ess: float) -> Network:
    """The network of family counts, each of shape (q, r)."""
    cards = [int(card) for card in table.cardinalities]
    tables, undefined = [], []
    for child, parents in enumerate(dag.parents):
        rows, mask = estimate(counts[child], prior, ess)
        shape = tuple(cards[p] for p in parents)
        tables.append(rows.reshape(*shape, cards[child]))
        undefined.append(mask.reshape(shape))
    states = tuple(s for s in table.states if s is not None)
    return DiscreteNetwork(
        dag,
        states,
        tuple(tables),
        tuple(undefined),
        cuts=table.cuts,
        missing_states=table.missing_states,
    )


def available_counts(dag: Dag, table: Table) -> list[Array]:
    """The counts (q, r) of each family from the rows where all its cells are there."""
    counts = AvailableCounts(table)
    return [counts.count(child, parents) for child, parents in enumerate(dag.parents)]


def available_discrete(dag: Dag, table: Table, prior: str, ess: float) -> Network:
    """Each family estimated from the rows where it is complete."""
    return discrete_network(dag, table, available_counts(dag, table), prior, ess)


def em_discrete(
    dag: Dag,
    table: Table,
    prior: str,
    ess: float,
    tolerance: float = TOLERANCE,
    iterations: int = ITERATIONS,
) -> Fitted:
    """Tables by expectation maximisation.

    It starts from the rows where each family is complete, with one row more per configuration, spread evenly.
    Under a prior this finds the mode of the posterior whose Dirichlet parameters are one more than the
    pseudo-counts, which is what `fit` gives for complete data.
    """
    spread = [counts + 1 / counts.shape[1] for counts in available_counts(dag, table)]
    start = discrete_network(dag, table, spread, "mle", ess)
    problem = _DiscreteRows(start, table, prior, ess)
    sampled = problem.sampled_rows
    if sampled:
        iterations = min(iterations, SAMPLED_ITERATIONS)
        _warn_sampled(sampled, table.n_rows, iterations)
    network, trace, converged = iterate(start, problem.step, -np.inf if sampled else tolerance, iterations)
    return Fitted(network, trace, converged or sampled > 0)


def _warn_sampled(sampled: int, n_rows: int, iterations: int) -> None:
    warn(
        f"{sampled:,} of {n_rows:,} rows have too many empty cells for an exact expectation and are sampled, "
        f"{SAMPLED_DRAWS} draws in each of {iterations} iterations; the parameters are estimates of those of "
        f"expectation maximisation"
    )


class _DiscreteRows:
    """The distinct rows of a table with their weights; complete rows are counted once."""

    def __init__(self, network: Network, table: Table, prior: str, ess: float) -> None:
        self.table, self.prior, self.ess = table, prior, ess
        weights = np.ones(table.n_rows) if table.weights is None else table.weights
        codes = row_codes(network, dict(enumerate(table.codes)), table.n_rows)
        empty = (codes < 0).any(axis=1)
        distinct, inverse = np.unique(codes[empty], axis=0, return_inverse=True)
        self.codes: Codes = np.ascontiguousarray(distinct)
        self.weights = np.bincount(inverse.ravel(), weights=weights[empty], minlength=len(distinct)).astype(
            np.float64
        )
        self.whole = _family_counts(network, codes[~empty], weights[~empty])
        self.shares: list[Share] = shared_out(network, self.codes) if len(distinct) else []

    @property
    def sampled_rows(self) -> int:
        """The number of distinct rows whose expectation is not exact."""
        return sum(len(share.rows) for share in self.shares if share.tree is None)

    def step(self, network: Network) -> tuple[Network, float]:
        """The network of the expected counts, and the objective of the one given."""
        counts = [one.copy() for one in self.whole]
        objective = [_log_likelihood(counts, network), log_prior(network, self.prior, self.ess)]
        for share in self.shares:
            weights = self.weights[share.rows]
            if share.tree is None:
                found = _sampled_counts(network, self.codes[share.rows], weights)
            else:
                tree = share.tree.with_tables(network.tables)
                laid_out, totals = tree.expected_counts(self.codes[share.rows], weights)
                found = list(tree.by_node(laid_out, network).values())
                objective.append(float(weights @ totals))
            for node, more in enumerate(found):
                counts[node] += more.reshape(counts[node].shape)
        return discrete_network(network.dag, self.table, counts, self.prior, self.ess), fsum(objective)


def _family_counts(network: Network, codes: Codes, weights: Array) -> list[Array]:
    """The counts (q, r) of every family in complete rows."""
    found = []
    for node, table in enumerate(network.tables):
        family = (*network.dag.parents[node], node)
        cells = np.ravel_multi_index(tuple(codes[:, v] for v in family), table.shape)
        counts = np.bincount(cells, weights=weights, minlength=table.size)
        found.append(counts.astype(np.float64).reshape(-1, table.shape[-1]))
    return found


def _sampled_counts(network: Network, codes: Codes, weights: Array) -> list[Array]:
    """The counts of draws by Gibbs sampling; the same numbers are used in every iteration."""
    made = gibbs(network, codes, np.random.default_rng(0), SAMPLED_DRAWS)
    every = np.tile(weights / SAMPLED_DRAWS, SAMPLED_DRAWS)
    return _family_counts(network, made.reshape(-1, codes.shape[1]), every)


def _log_likelihood(counts: Sequence[Array], network: Network) -> float:
    """The log-likelihood of complete rows."""
    total = []
    for own, table in zip(counts, network.tables, strict=True):
        held = own.ravel() > 0
        total.append(float(own.ravel()[held] @ np.log(table.ravel()[held])))
    return fsum(total)
