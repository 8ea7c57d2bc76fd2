"""Parameters from data: conditional probability tables, or linear regressions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import as_plain, require_choice
from bayescout.data.absent import require_complete
from bayescout.data.table import Label, Table
from bayescout.errors import (
    BayescoutWarning,
    DataError,
    GraphError,
    NetworkError,
    SettingError,
    TooLargeError,
)
from bayescout.graph.dag import Dag
from bayescout.graph.labels import quoted
from bayescout.network.constructors import GaussianNetwork
from bayescout.network.em import available_discrete, discrete_network, em_discrete, warn_unconverged
from bayescout.network.em_gaussian import em_gaussian
from bayescout.network.network import Network
from bayescout.network.tabular import MAX_PARENTS
from bayescout.statistics.alignment import aligned_table
from bayescout.statistics.counts import dense_counts
from bayescout.wording import setting

PRIORS = ("mle", "laplace", "bdeu")
"""The ways to estimate the tables of a discrete network."""

MAX_TABLE = 2**26
"""The most entries of one conditional probability table (512 MiB of doubles)."""

ROUNDING = 16 * float(np.finfo(np.float64).eps)
"""Differences below this share of a column's largest value count as rounding."""

MISSING = ("em", "available", "drop", "state", "error", "keep")
"""The ways to fit from data with missing cells; "keep" is "em" by its name as a policy of tables."""

LEAST_SIZE, MOST_SIZE = 1e-130, 1e140
"""Limits for the largest value of a column that varies: outside them its variance is not a float."""


def fit(
    dag: Any,
    data: Any,
    prior: str = "mle",
    *,
    ess: float = 1.0,
    states: Mapping[Label, Sequence[Any]] | None = None,
    missing: str = "em",
) -> Network:
    r"""The network of a graph with parameters estimated from data.

    For N_ijk rows with the node in state k of r and its parents in configuration j of q:

    - `"mle"`: $N_{ijk} / N_{ij}$; a configuration that never occurs leaves its row undefined
    - `"laplace"`: $(1 + N_{ijk}) / (r + N_{ij})$
    - `"bdeu"`: $(N_{ijk} + \alpha/(qr)) / (N_{ij} + \alpha/q)$ with $\alpha$ = `ess`

    Continuous data give a linear-Gaussian network by maximum likelihood: least squares, and the
    mean squared residual as the variance. Parents that determine one another leave the
    coefficients open; the solution of least norm (of standardised parents) is taken, with a warning.
    `dag` is a `Dag` or anything with a `.dag`. `states` are those of `as_table`; given
    a discrete network, its states are the declared ones, so that it keeps those absent from these data.
    Columns that belong to no node are left out, whatever they contain, with a warning.

    Of data with missing cells, `missing` says how they are fitted:

    - `"em"`: expectation maximisation, which uses every observed cell: the parameters under which the
      observed cells (times the prior) are most probable, starting from those of `"available"`
    - `"available"`: each family from the rows where it is complete
    - `"drop"`, `"state"`, `"error"`: as in `as_table`

    A family whose parents never have some values, in fact or in expectation, is undefined there as ever.
    """
    graph = as_dag(dag)
    check_prior(prior, ess)
    require_choice("missing", missing, MISSING)
    if states is None and isinstance(dag, Network) and dag.is_discrete:
        states = dict(zip(graph.nodes, dag.states, strict=True))
    table = _table_of(graph, data, states, missing)
    if not table.is_discrete and not table.is_continuous:
        raise _mixed(table)
    if not table.is_discrete and prior != "mle":
        raise SettingError(
            f"prior {prior!r} is for discrete data; continuous data are fitted with {setting('prior', 'mle')}"
        )
    if table.has_missing:
        return fit_incomplete(graph, table, prior, ess, missing)
    return fit_discrete(graph, table, prior, ess) if table.is_discrete else fit_gaussian(graph, table)


def fit_incomplete(dag: Dag, table: Table, prior: str, ess: float, missing: str) -> Network:
    """Parameters from a table with missing cells; its columns are the nodes, in order."""
    if table.is_discrete:
        refuse_large_tables(dag, table)
        if missing == "available":
            return available_discrete(dag, table, prior, ess)
        return warn_unconverged(em_discrete(dag, table, prior, ess))
    if missing == "available":
        return available_gaussian(dag, table)
    _require_range(table)
    model = warn_unconverged(em_gaussian(dag, table))
    _warn_determined(dag, table, model.variances)
    return model


def check_prior(prior: str, ess: float = 1.0) -> None:
    """Refuse a prior that cannot be used with any data."""
    if prior not in PRIORS:
        raise SettingError(f"unknown prior {prior!r}; choose one of {', '.join(PRIORS)}")
    if not (is_number(ess) and ess > 0):
        raise SettingError(f"ess must be a positive number, not {ess!r}; 1 is the usual choice")


def is_number(value: object) -> bool:
    """Return True if a setting is a finite real number."""
    return as_plain(value) is not None


def as_dag(value: Any) -> Dag:
    """The graph of a graph, a network or a result."""
    found = value if isinstance(value, Dag) else getattr(value, "dag", None)
    if not isinstance(found, Dag):
        raise GraphError(f"a graph is needed, as a Dag or something with a .dag, not {type(value).__name__}")
    return found


def _table_of(dag: Dag, data: Any, states: Mapping[Label, Sequence[Any]] | None, missing: str) -> Table:
    """The columns of the graph's nodes, in its order, checked."""
    keeps = missing in ("em", "available", "keep")
    table = aligned_table(dag, data, states=states, missing="keep" if keeps else missing)
    if not keeps:
        require_complete(table)
    if table.n_rows < 2:
        raise DataError(f"fitting needs at least 2 rows, and the data have {table.n_rows}; add rows")
    return table


def _mixed(table: Table) -> NetworkError:
    discrete = [name for name, kind in zip(table.names, table.kinds, strict=True) if kind == "discrete"]
    continuous = [name for name, kind in zip(table.names, table.kinds, strict=True) if kind == "continuous"]
    return NetworkError(
        f"a network is all discrete or all Gaussian, but columns {quoted(discrete, 4)} are discrete and "
        f"{quoted(continuous, 4)} continuous; "
        f"{setting('bins', 3)} cuts these into intervals; or declare one kind for all, such as "
        f"{setting('kinds', 'discrete')}"
    )


# ---- discrete


def fit_discrete(dag: Dag, table: Table, prior: str, ess: float) -> Network:
    """Tables of a discrete network; the table's columns are the nodes, in order."""
    refuse_large_tables(dag, table)
    counts = [np.asarray(dense_counts(table, i, own), dtype=np.float64) for i, own in enumerate(dag.parents)]
    return discrete_network(dag, table, counts, prior, ess)


def refuse_large_tables(dag: Dag, table: Table) -> None:
    """Refuse a network one of whose tables would not fit."""
    cards = [int(card) for card in table.cardinalities]
    for child in range(len(dag)):
        refuse_large(dag, cards, child)


def refuse_large(dag: Dag, cards: Sequence[int], child: int) -> None:
    """Refuse a table that would not fit, before any work."""
    parents = dag.parents[child]
    size = cards[child] * prod(cards[p] for p in parents)
    if size > MAX_TABLE or len(parents) > MAX_PARENTS:
        limit = f"{MAX_TABLE:,} entries" if size > MAX_TABLE else f"{MAX_PARENTS} parents"
        raise TooLargeError(
            f"the table of {dag.nodes[child]!r} with its {len(parents)} parents "
            f"{quoted([dag.nodes[p] for p in parents])} would have {size:,} entries, over the limit of "
            f"{limit}; take parents away or merge states"
        )


# ---- Gaussian


def fit_gaussian(dag: Dag, table: Table) -> Network:
    """Regressions of a Gaussian network; the table's columns are the nodes, in order."""
    _require_range(table)
    share = (
        np.full(table.n_rows, 1.0 / table.n_rows)
        if table.weights is None
        else table.weights / table.total_weight
    )
    means = _means(table.values, share)
    found = [_equation(dag, table.values, means, share, child) for child in range(len(dag))]
    return _gaussian_network(dag, table, found)


def available_gaussian(dag: Dag, table: Table) -> Network:
    """Each regression of a Gaussian network from the rows where the node and its parents are there."""
    _require_range(table)
    found = []
    for child, parents in enumerate(dag.parents):
        family = [*parents, child]
        held = np.asarray(~np.isnan(table.values[family]).any(axis=0))
        weights = np.where(held, 1.0 if table.weights is None else table.weights, 0.0)
        if (weights > 0).sum() < 2:
            raise DataError(
                f"fewer than 2 rows have both {dag.nodes[child]!r} and its parents "
                f"{quoted([dag.nodes[v] for v in parents])}; {setting('missing', 'em')} uses the others too"
            )
        values, share = table.values[:, held], weights[held] / weights.sum()
        means = np.zeros(len(dag))
        means[family] = _means(values[family], share)
        found.append(_equation(dag, values, means, share, child))
    return _gaussian_network(dag, table, found)


Equation = tuple[float, NDArray[np.float64], float]
"""The intercept, the coefficients and the variance of a node."""


def _means(values: NDArray[np.float64], share: NDArray[np.float64]) -> NDArray[np.float64]:
    means = np.asarray(values @ share)
    for i, column in enumerate(values):
        if column.min() == column.max():
            means[i] = column[0]  # a rounded mean would make a constant column vary
    return means


def _equation(
    dag: Dag,
    values: NDArray[np.float64],
    means: NDArray[np.float64],
    share: NDArray[np.float64],
    child: int,
) -> Equation:
    weights, variance = _regression(dag, values, means, share, child)
    return means[child] - float(weights @ means[list(dag.parents[child])]), weights, variance


def _gaussian_network(dag: Dag, table: Table, found: Sequence[Equation]) -> Network:
    variances = np.array([variance for _, _, variance in found])
    _warn_determined(dag, table, variances)
    intercepts = np.array([intercept for intercept, _, _ in found])
    return GaussianNetwork(dag, intercepts, tuple(weights for _, weights, _ in found), variances)


def _require_range(table: Table) -> None:
    """Refuse a column whose variance, as a parameter, would not be a float."""
    for name, column in zip(table.names, table.values, strict=True):
        there = column[~np.isnan(column)] if table.has_missing else column
        low, high = float(there.min(initial=np.inf)), float(there.max(initial=-np.inf))
        if low < high and not LEAST_SIZE <= max(-low, high) <= MOST_SIZE:
            raise DataError(
                f"column {name!r} goes from {low:g} to {high:g}, and its variance is beyond the numbers a "
                f"network can hold: rescale the column, to a variance of 1 for instance"
            )


def _regression(
    dag: Dag,
    values: NDArray[np.float64],
    means: NDArray[np.float64],
    share: NDArray[np.float64],
    child: int,
) -> tuple[NDArray[np.float64], float]:
    """Coefficients and residual variance of one node.

    Columns are centred, weighted and scaled; the triangular factor of [parents, child] then holds
    all that least squares needs, without squaring the condition number as X'X would.
    """
    columns = [*dag.parents[child], child]
    rows = (values[columns] - means[columns, None]) * np.sqrt(share)
    sizes = np.abs(values[columns]).max(axis=1)
    norms = np.sqrt((rows * rows).sum(axis=1))
    flat = norms <= ROUNDING * sizes
    scales = np.where(flat, 1.0, norms)
    rows[flat] = 0.0
    triangle = np.asarray(np.linalg.qr((rows / scales[:, None]).T, mode="r"))
    design, answer = triangle[:, :-1], triangle[:, -1]
    # The variation that rounding of the raw values can cause, as a share of the scaled column.
    noise = max(ROUNDING, float(np.where(flat, 0.0, ROUNDING * sizes / scales).max()))
    weights, _, rank, _ = np.linalg.lstsq(design, answer, rcond=noise)
    if rank < len(columns) - 1:
        _warn_collinear(dag, child, [dag.nodes[p] for p in columns[:-1]])
    residual = float(np.sqrt(((answer - design @ weights) ** 2).sum()))
    variance = 0.0 if residual <= noise else (residual * scales[-1]) ** 2
    return weights * scales[-1] / scales[:-1], variance


def _warn_collinear(dag: Dag, child: int, parents: list[Label]) -> None:
    warnings.warn(
        f"the parents {quoted(parents)} of {dag.nodes[child]!r} are collinear or constant in the data, so "
        f"its coefficients are not unique; those of least norm are taken: remove a redundant parent",
        BayescoutWarning,
        stacklevel=2,
    )


def _warn_determined(dag: Dag, table: Table, variances: NDArray[np.float64]) -> None:
    certain = [label for label, variance in zip(dag.nodes, variances, strict=True) if variance == 0]
    if certain:
        warnings.warn(
            f"{quoted(certain)} {'are' if len(certain) > 1 else 'is'} constant or determined by the parents "
            f"in {table.n_rows:,} rows, so the variance is 0 and rows have no density",
            BayescoutWarning,
            stacklevel=2,
        )
