"""Parameters from data: conditional probability tables, linear regressions, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import as_plain
from bayescout.data.absent import require_complete
from bayescout.data.table import Kind, Label, MissingPolicy, Table
from bayescout.errors import (
    DataError,
    GraphError,
    NetworkError,
    SettingError,
    TooLargeError,
)
from bayescout.graph.dag import Dag
from bayescout.graph.labels import quoted
from bayescout.network import regression
from bayescout.network.conditional_gaussian import ConditionalGaussian
from bayescout.network.constructors import DiscreteNetwork, GaussianNetwork
from bayescout.network.linear_gaussian import LinearGaussian
from bayescout.network.network import Network
from bayescout.network.node import NodeDistribution
from bayescout.network.tabular import MAX_PARENTS
from bayescout.statistics.alignment import aligned_table
from bayescout.statistics.counts import dense_counts
from bayescout.wording import setting

PRIORS = ("mle", "laplace", "bdeu")
"""The ways to estimate the tables of a discrete network."""

MAX_TABLE = 2**26
"""The most entries of one conditional probability table (512 MiB of doubles)."""


def fit(
    dag: Any,
    data: Any,
    prior: str = "mle",
    *,
    ess: float = 1.0,
    states: Mapping[Label, Sequence[Any]] | None = None,
    missing: MissingPolicy = "error",
) -> Network:
    r"""The network of a graph with parameters estimated from data.

    For N_ijk rows with the node in state k of r and its parents in configuration j of q:

    - `"mle"`: $N_{ijk} / N_{ij}$; a configuration that never occurs leaves its row undefined
    - `"laplace"`: $(1 + N_{ijk}) / (r + N_{ij})$
    - `"bdeu"`: $(N_{ijk} + \alpha/(qr)) / (N_{ij} + \alpha/q)$ with $\alpha$ = `ess`

    Continuous data give a linear-Gaussian network by maximum likelihood: least squares, and the
    mean squared residual as the variance. Parents that determine one another leave the
    coefficients open; the solution of least norm (of standardised parents) is taken, with a warning.
    A table of both kinds gives a network of both: tables, for which the prior is, and regressions, one per
    configuration of the discrete parents. A configuration with fewer rows than parameters needs (two more
    than continuous parents) takes the regression over all rows, with a warning; one without rows is
    undefined as well. A discrete node with a continuous parent is refused.
    `dag` is a `Dag` or anything with a `.dag`. `states` and `missing` are those of `as_table`; given
    a network, its states are the declared ones, so that it keeps those absent from these data.
    Columns that belong to no node are left out, whatever they contain, with a warning.
    """
    graph = as_dag(dag)
    check_prior(prior, ess)
    kinds: dict[Label, Kind] | None = None
    if states is None and isinstance(dag, Network) and not dag.is_gaussian:
        own = {label: node.states for label, node in zip(graph.nodes, dag.distributions, strict=True)}
        states = {label: known for label, known in own.items() if known is not None}
        kinds = {label: "continuous" for label, known in own.items() if known is None} or None
    table = _table_of(graph, data, states, kinds, missing)
    if table.is_discrete:
        return fit_discrete(graph, table, prior, ess)
    if not table.is_continuous:
        return fit_mixed(graph, table, prior, ess)
    if prior != "mle":
        raise SettingError(
            f"prior {prior!r} is for discrete data; continuous data are fitted with {setting('prior', 'mle')}"
        )
    return fit_gaussian(graph, table)


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


def _table_of(
    dag: Dag,
    data: Any,
    states: Mapping[Label, Sequence[Any]] | None,
    kinds: Mapping[Label, Kind] | None,
    missing: MissingPolicy,
) -> Table:
    """The columns of the graph's nodes, in its order, checked."""
    table = aligned_table(dag, data, kinds=kinds, states=states, missing=missing)
    require_complete(table)
    if table.n_rows < 2:
        raise DataError(f"fitting needs at least 2 rows, and the data have {table.n_rows}; add rows")
    return table


# ---- discrete


def fit_discrete(dag: Dag, table: Table, prior: str, ess: float) -> Network:
    """Tables of a discrete network; the table's columns are the nodes, in order."""
    cards = [int(card) for card in table.cardinalities]
    for child in range(len(dag)):
        refuse_large(dag, cards, child)
    tables, undefined = [], []
    for child, parents in enumerate(dag.parents):
        counts = np.asarray(dense_counts(table, child, parents), dtype=np.float64)
        rows, mask = estimate(counts, prior, ess)
        shape = tuple(cards[p] for p in parents)
        tables.append(rows.reshape(*shape, cards[child]))
        undefined.append(mask.reshape(shape))
    states = tuple(s for s in table.states if s is not None)
    return DiscreteNetwork(dag, states, tuple(tables), tuple(undefined))


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


def estimate(
    counts: NDArray[np.float64], prior: str, ess: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Probabilities (q, r) from counts (q, r), and a mask of the undefined rows (which hold the uniform)."""
    q, r = counts.shape
    pseudo = {"mle": 0.0, "laplace": 1.0, "bdeu": ess / (q * r)}[prior]
    cells = counts + pseudo
    totals = cells.sum(axis=1, keepdims=True)
    undefined = totals[:, 0] == 0
    rows = np.divide(cells, totals, out=np.full((q, r), 1.0 / r), where=totals > 0)
    return rows, undefined


# ---- Gaussian


def fit_gaussian(dag: Dag, table: Table) -> Network:
    """Regressions of a Gaussian network; the table's columns are the nodes, in order."""
    regression.require_range(table)
    share = (
        np.full(table.n_rows, 1.0 / table.n_rows)
        if table.weights is None
        else table.weights / table.total_weight
    )
    means = regression.centres(table.values, share)
    intercepts, variances, coefficients = np.empty(len(dag)), np.empty(len(dag)), []
    for child, parents in enumerate(dag.parents):
        family = [*parents, child]
        weights, variances[child], unique = regression.least_squares(
            table.values[family], means[family], share
        )
        if not unique:
            regression.warn_collinear(dag.nodes[child], [dag.nodes[p] for p in parents])
        coefficients.append(weights)
        intercepts[child] = means[child] - float(weights @ means[list(parents)])
    certain = [label for label, variance in zip(dag.nodes, variances, strict=True) if variance == 0]
    regression.warn_determined(certain, table.n_rows)
    return GaussianNetwork(dag, intercepts, tuple(coefficients), variances)


# ---- mixed


def fit_mixed(dag: Dag, table: Table, prior: str, ess: float) -> Network:
    """Tables and regressions of a table with both kinds; its columns are the nodes, in order.

    The prior is one for tables; regressions are always those of maximum likelihood.
    """
    refuse_continuous_parents(dag, table)
    discrete = [label for label, states in zip(dag.nodes, table.states, strict=True) if states is not None]
    place = {dag.index(label): i for i, label in enumerate(discrete)}
    part = Dag(tuple(discrete), tuple(tuple(place[p] for p in dag.parents[node]) for node in place))
    for child in range(len(dag)):
        if child not in place:
            refuse_large(dag, [max(1, int(card)) for card in table.cardinalities], child)
    regression.require_range(table)
    tables = fit_discrete(part, table.select(discrete), prior, ess)
    made: dict[int, NodeDistribution] = dict(zip(place, tables.distributions, strict=True))
    for child in range(len(dag)):
        if child not in place:
            made[child] = _fit_continuous(dag, table, child)
    certain = [dag.nodes[i] for i, node in made.items() if has_point_mass(node)]
    regression.warn_determined(certain, table.n_rows)
    return Network(dag, tuple(made[i] for i in range(len(dag))))


def refuse_continuous_parents(dag: Dag, table: Table) -> None:
    """Refuse a discrete node with a continuous parent, for which there is no table."""
    for child, parents in enumerate(dag.parents):
        wrong = [dag.nodes[p] for p in parents if table.states[p] is None]
        if wrong and table.states[child] is not None:
            raise NetworkError(
                f"node {dag.nodes[child]!r} is discrete and its parent {wrong[0]!r} continuous; in a network "
                f"of both kinds a discrete node has discrete parents only: reverse the arc, leave it out, or "
                f"cut {wrong[0]!r} into intervals with {setting('bins', 3)}"
            )


def has_point_mass(node: NodeDistribution) -> bool:
    """Return True if a continuous node has a variance of 0."""
    if isinstance(node, ConditionalGaussian):
        return not node.variances.all()
    return isinstance(node, LinearGaussian) and node.variance == 0


def _fit_continuous(dag: Dag, table: Table, child: int) -> NodeDistribution:
    """The regression of one node, or one per configuration of its discrete parents."""
    parents = dag.parents[child]
    chosen = [place for place, p in enumerate(parents) if table.states[p] is not None]
    numbers = [dag.nodes[p] for p in parents if table.states[p] is None]
    values = np.stack([table.array(label) for label in (*numbers, dag.nodes[child])])
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    if not chosen:
        intercept, found, variance, unique = regression.over_rows(values, np.arange(table.n_rows), weights)
        if not unique:
            regression.warn_collinear(dag.nodes[child], numbers)
        return LinearGaussian(intercept, found, variance)
    shape = tuple(int(table.cardinalities[parents[place]]) for place in chosen)
    config = np.zeros(table.n_rows, dtype=np.int64)
    for place, size in zip(chosen, shape, strict=True):
        config = config * size + table.array(dag.nodes[parents[place]])
    fits = regression.conditional_fits(values, config, prod(shape), weights)
    if fits.loose:
        regression.warn_collinear(dag.nodes[child], numbers, fits.loose)
    regression.warn_pooled(dag.nodes[child], len(numbers), fits)
    return ConditionalGaussian(
        fits.intercepts.reshape(shape),
        fits.coefficients.reshape(*shape, len(numbers)),
        fits.variances.reshape(shape),
        fits.undefined.reshape(shape),
        tuple(chosen),
    )
