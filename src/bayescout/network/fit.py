"""Parameters from data: conditional probability tables, linear regressions, or both."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import as_plain, require_choice
from bayescout.data.absent import require_complete
from bayescout.data.acting import refuse_interventions
from bayescout.data.past.stored import StoredTable
from bayescout.data.table import Kind, Label, Table
from bayescout.errors import (
    BayescoutWarning,
    DataError,
    NetworkError,
    SettingError,
    TooLargeError,
)
from bayescout.graph.accept import as_dag
from bayescout.graph.dag import Dag
from bayescout.graph.labels import quoted
from bayescout.network import regression
from bayescout.network.conditional_gaussian import ConditionalGaussian
from bayescout.network.constructors import GaussianNetwork
from bayescout.network.em import (
    available_discrete,
    discrete_network,
    em_discrete,
    warn_unconverged,
)
from bayescout.network.em_gaussian import em_gaussian
from bayescout.network.impute import begun
from bayescout.network.linear_gaussian import LinearGaussian
from bayescout.network.network import Network
from bayescout.network.node import NodeDistribution, configuration_numbers
from bayescout.network.past_regression import conditional_fits_past, gaussian_factors
from bayescout.network.tabular import MAX_PARENTS
from bayescout.statistics.alignment import aligned_table, needed_names
from bayescout.statistics.counts import dense_counts
from bayescout.wording import setting

PRIORS = ("mle", "laplace", "bdeu")
"""The ways to estimate the tables of a discrete network."""

LEARNED_PRIOR = "bdeu"
"""The prior of the tables of a network that was learned: no row of them is undefined, no state impossible."""

MAX_TABLE = 2**26
"""The most entries of one conditional probability table (512 MiB of doubles)."""

MISSING = ("em", "available", "drop", "state", "error", "keep")
"""The ways to fit from data with missing cells; "keep" is "em" by its name as a policy of tables."""


def fit(
    dag: Any,
    data: Any,
    prior: str | None = "mle",
    *,
    ess: float = 1.0,
    states: Mapping[Label, Sequence[Any]] | None = None,
    missing: str = "em",
    interventions: Any = None,
) -> Network:
    r"""The network of a graph with parameters estimated from data.

    For N_ijk rows with the node in state k of r and its parents in configuration j of q:

    - `"mle"`: $N_{ijk} / N_{ij}$; a configuration that never occurs leaves its row undefined
    - `"laplace"`: $(1 + N_{ijk}) / (r + N_{ij})$
    - `"bdeu"`: $(N_{ijk} + \alpha/(qr)) / (N_{ij} + \alpha/q)$ with $\alpha$ = `ess`
    - None: `"bdeu"` where there are tables, as in every network that was learned (`Result.fit`)

    Continuous data give a linear-Gaussian network by maximum likelihood: least squares, and the
    mean squared residual as the variance. Parents that determine one another leave the
    coefficients open; the solution of least norm (of standardised parents) is taken, with a warning.
    A table of both kinds gives a network of both: tables, for which the prior is, and regressions, one per
    configuration of the discrete parents. A configuration with fewer rows than parameters needs (two more
    than continuous parents) takes the regression over all rows, with a warning; one without rows is
    undefined as well. A discrete node with a continuous parent is refused.
    `dag` is a `Dag`, anything with a `.dag`, or a graph in another form (see `as_dag`); arcs and matrices are
    over the columns of the data. `states` are those of `as_table`; given
    a network, its states are the declared ones, so that it keeps those absent from these data, and its
    cut points cut the numbers of these data. Columns that were cut keep their cuts in the network.
    Columns that belong to no node are left out, whatever they contain, with a warning.

    A node is estimated from the rows in which it was not set from outside: `interventions` says in which rows
    which were, as in `as_table`.

    Of data with missing cells, `missing` says how they are fitted:

    - `"em"`: expectation maximisation, which uses every observed cell: the parameters under which the
      observed cells (times the prior) are most probable, starting from those of `"available"`
    - `"available"`: each family from the rows where it is complete
    - `"drop"`, `"state"`, `"error"`: as in `as_table`

    A family whose parents never have some values, in fact or in expectation, is undefined there as ever.
    """
    graph = as_dag(dag, needed_names(dag, data))
    check_prior(LEARNED_PRIOR if prior is None else prior, ess)
    require_choice("missing", missing, MISSING)
    kinds: dict[Label, Kind] | None = None
    if states is None and isinstance(dag, Network) and not dag.is_gaussian:
        own = {label: node.declared for label, node in zip(graph.nodes, dag.distributions, strict=True)}
        states = {label: known for label, known in own.items() if known is not None}
        kinds = {label: "continuous" for label, known in own.items() if known is None} or None
    table = _table_of(graph, data, states, kinds, missing, interventions)
    if prior is None:
        prior = learned_prior(table)
    if table.is_continuous and prior != "mle":
        raise SettingError(
            f"prior {prior!r} is for discrete data; continuous data are fitted with {setting('prior', 'mle')}"
        )
    if table.has_missing:
        refuse_interventions(
            table, "fitting with missing cells", f"{setting('missing', 'drop')} leaves out rows"
        )
        return fit_incomplete(graph, table, prior, ess, missing)
    return fit_complete(graph, table, prior, ess)


def fit_complete(dag: Dag, table: Table, prior: str, ess: float) -> Network:
    """Parameters from a table without missing cells; its columns are the nodes, in order."""
    if table.is_discrete:
        return fit_discrete(dag, table, prior, ess)
    return fit_gaussian(dag, table) if table.is_continuous else fit_mixed(dag, table, prior, ess)


def fit_incomplete(dag: Dag, table: Table, prior: str, ess: float, missing: str) -> Network:
    """Parameters from a table with missing cells; its columns are the nodes, in order."""
    if table.is_discrete:
        refuse_large_tables(dag, table)
        if missing == "available":
            return available_discrete(dag, table, prior, ess)
        return warn_unconverged(em_discrete(dag, table, prior, ess))
    if missing == "available":
        return fit_mixed(dag, table, prior, ess)
    if not table.is_continuous:
        return sampled_em(dag, table, prior, ess)
    regression.require_range(table)
    model = warn_unconverged(em_gaussian(dag, table))
    certain = [label for label, variance in zip(dag.nodes, model.variances, strict=True) if variance == 0]
    regression.warn_determined(certain, table.n_rows)
    return model


def learned_prior(table: Table) -> str:
    """The prior of a network that was learned from a table; regressions have none."""
    return "mle" if table.is_continuous else LEARNED_PRIOR


def check_prior(prior: str, ess: float = 1.0) -> None:
    """Refuse a prior that cannot be used with any data."""
    if prior not in PRIORS:
        raise SettingError(f"unknown prior {prior!r}; choose one of {', '.join(PRIORS)}")
    if not (is_number(ess) and ess > 0):
        raise SettingError(f"ess must be a positive number, not {ess!r}; 1 is the usual choice")


def is_number(value: object) -> bool:
    """Return True if a setting is a finite real number."""
    return as_plain(value) is not None


def _table_of(
    dag: Dag,
    data: Any,
    states: Mapping[Label, Sequence[Any]] | None,
    kinds: Mapping[Label, Kind] | None,
    missing: str,
    interventions: Any,
) -> Table:
    """The columns of the graph's nodes, in its order, checked."""
    keeps = missing in ("em", "available", "keep")
    policy = "keep" if keeps else missing
    table = aligned_table(dag, data, kinds=kinds, states=states, missing=policy, interventions=interventions)
    if not keeps:
        require_complete(table)
    if table.n_rows < 2:
        raise DataError(f"fitting needs at least 2 rows, and the data have {table.n_rows}; add rows")
    return table


# ---- discrete


def fit_discrete(dag: Dag, table: Table, prior: str, ess: float) -> Network:
    """Tables of a discrete network; the table's columns are the nodes, in order."""
    refuse_large_tables(dag, table)
    counts = [
        np.asarray(dense_counts(_rows_for(table, dag.nodes[i]), i, own), dtype=np.float64)
        for i, own in enumerate(dag.parents)
    ]
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
    regression.require_range(table)
    intercepts, variances, coefficients = np.empty(len(dag)), np.empty(len(dag)), []
    used: Table | None = None
    past = gaussian_factors(table) if _is_past(table) else None
    for child, parents in enumerate(dag.parents):
        if past is not None:
            intercepts[child], weights, variances[child], unique = past.regression(0, [*parents, child])
            if not unique:
                regression.warn_collinear(dag.nodes[child], [dag.nodes[p] for p in parents])
            coefficients.append(weights)
            continue
        family, rows = [*parents, child], _rows_for(table, dag.nodes[child])
        if rows is not used:
            used, share = rows, _shares(rows)
            means = regression.centres(rows.doubles(), share)
        weights, variances[child], unique = regression.least_squares(
            rows.values[family].astype(np.float64, copy=False), means[family], share
        )
        if not unique:
            regression.warn_collinear(dag.nodes[child], [dag.nodes[p] for p in parents])
        coefficients.append(weights)
        intercepts[child] = means[child] - float(weights @ means[list(parents)])
    certain = [label for label, variance in zip(dag.nodes, variances, strict=True) if variance == 0]
    regression.warn_determined(certain, table.n_rows)
    return GaussianNetwork(dag, intercepts, tuple(coefficients), variances)


def _shares(table: Table) -> NDArray[np.float64]:
    """The share of each row in the weight of all."""
    if table.weights is None:
        return np.full(table.n_rows, 1.0 / table.n_rows)
    return table.weights / table.total_weight


def _rows_for(table: Table, node: Label) -> Table:
    """The rows that tell how a node comes about: those in which it was not set from outside.

    A node that was set in every row gets the distribution that it was set with, and a warning says so.
    """
    found = table.unset(node)
    if found is None:
        table.warn_once(
            f"set {node!r}",
            f"{node!r} was set from outside in every row: its distribution is that of what it was set to",
        )
        return table
    return found


# ---- mixed


def fit_mixed(dag: Dag, table: Table, prior: str, ess: float, lenient: bool = False) -> Network:
    """Tables and regressions of a table with both kinds; its columns are the nodes, in order.

    The prior is one for tables; regressions are always those of maximum likelihood. Where cells are missing,
    each family is estimated from the rows in which it is complete; if `lenient`, a number whose family never
    is, from its own cells alone.
    """
    refuse_continuous_parents(dag, table)
    discrete = [label for label, states in zip(dag.nodes, table.states, strict=True) if states is not None]
    place = {dag.index(label): i for i, label in enumerate(discrete)}
    part = Dag(tuple(discrete), tuple(tuple(place[p] for p in dag.parents[node]) for node in place))
    for child in range(len(dag)):
        if child not in place:
            refuse_large(dag, [max(1, int(card)) for card in table.cardinalities], child)
    regression.require_range(table)
    made: dict[int, NodeDistribution] = {}
    if discrete:
        tables = (available_discrete if table.has_missing else fit_discrete)(
            part, table.select(discrete), prior, ess
        )
        made = dict(zip(place, tables.distributions, strict=True))
    for child in range(len(dag)):
        if child not in place:
            made[child] = _fit_continuous(dag, table, child, lenient)
    certain = [dag.nodes[i] for i, node in made.items() if has_point_mass(node)]
    regression.warn_determined(certain, table.n_rows // table.copies)
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


def _fit_continuous(dag: Dag, table: Table, child: int, lenient: bool = False) -> NodeDistribution:
    """The regression of one node, or one per configuration of its discrete parents."""
    table, parents = _rows_for(table, dag.nodes[child]), dag.parents[child]
    chosen = [place for place, p in enumerate(parents) if table.states[p] is not None]
    numbers = [dag.nodes[p] for p in parents if table.states[p] is None]
    family = [*(dag.nodes[p] for p in parents), dag.nodes[child]]
    if lenient and _whole_count(table, family) < 2:
        shape = tuple(int(table.cardinalities[parents[place]]) for place in chosen)
        return _alone(_whole_rows(table, family[-1:]), shape, tuple(chosen), len(numbers))
    table = _whole_rows(table, family)
    own, given = (*numbers, dag.nodes[child]), [dag.nodes[parents[place]] for place in chosen]
    shape = tuple(len(table.states[table.index(name)] or ()) for name in given)
    if not chosen:
        intercept, coefficients, variance, unique = _regression(table, own)
        if not unique:
            regression.warn_collinear(dag.nodes[child], numbers)
        return LinearGaussian(intercept, coefficients, variance)
    used = table.select([*given, *own]) if isinstance(table, StoredTable) else table
    if _is_past(used):
        fits = conditional_fits_past(used, given, own, prod(shape))
    else:
        values, weights = _rows_of(table, own)
        config = configuration_numbers(shape, [table.array(name) for name in given], table.n_rows)
        fits = regression.conditional_fits(values, config, prod(shape), weights, table.copies)
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


def _regression(table: Table, names: Sequence[Label]) -> tuple[float, NDArray[np.float64], float, bool]:
    """Intercept, coefficients and variance of the last column on the others; True if it is unique."""
    family = table.select(names) if isinstance(table, StoredTable) else table
    if _is_past(family):
        return gaussian_factors(family).regression(0, range(len(names)))
    values, weights = _rows_of(table, names)
    return regression.over_rows(values, np.arange(table.n_rows), weights)


HELD_AT_ONCE = 8
"""Arrays of the size of its columns, as floats, that a regression over rows in memory has at once at most."""


def _is_past(table: Table) -> TypeGuard[StoredTable]:
    """Return True if the rows are elsewhere and cannot all be here."""
    if not isinstance(table, StoredTable):
        return False
    try:
        table.require_room(8 * HELD_AT_ONCE * (table.n_columns + 1))
    except TooLargeError:
        return True
    return False


def _rows_of(table: Table, names: Sequence[Label]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Some continuous columns, and the weights of the rows."""
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    return np.stack([table.array(name) for name in names]), weights


def _alone(
    column: Table, shape: tuple[int, ...], discrete: tuple[int, ...], numbers: int
) -> NodeDistribution:
    """The node as if nothing were known of its parents, from its own cells."""
    intercept, _, variance, _ = regression.over_rows(
        column.values, np.arange(column.n_rows), np.ones(column.n_rows)
    )
    if not discrete:
        return LinearGaussian(intercept, np.zeros(numbers), variance)
    return ConditionalGaussian(
        np.full(shape, intercept),
        np.zeros((*shape, numbers)),
        np.full(shape, variance),
        np.zeros(shape, dtype=bool),
        discrete,
    )


def _held(table: Table, family: Sequence[Label]) -> NDArray[np.bool_]:
    """The rows that have every cell of the family, and count."""
    held = ~np.any([table.missing_cells(name) for name in family], axis=0)
    return np.asarray(held if table.weights is None else held & (table.weights > 0))


def _whole_count(table: Table, family: Sequence[Label]) -> int:
    return int(_held(table, family).sum()) if table.has_missing else table.n_rows


def _whole_rows(table: Table, family: Sequence[Label]) -> Table:
    """The rows of the family's columns in which no cell is missing."""
    if not table.has_missing:
        return table
    held = _held(table, family)
    if held.sum() >= 2:
        return table.select(family).take(held)
    given, way = "", "leave it out"
    if len(family) > 1:
        given, way = f" and its parents {quoted(family[:-1])} together", "fit with missing='em'"
    raise DataError(
        f"fewer than 2 rows have {family[-1]!r}{given}, which is too few for its parameters: {way}"
    )


# ---- missing cells in tables of both kinds

COMPARED = 300
"""Rows on which the outcome is compared with where it began."""

SAMPLED_ROUNDS, SAMPLED_DRAWS, SAMPLED_SWEEPS = 20, 10, 3
"""Rounds of drawing and fitting; the draws of the last, which are fitted together; and sweeps before each."""


def sampled_em(dag: Dag, table: Table, prior: str, ess: float) -> Network:
    """Expectation maximisation whose expectations are draws: Gibbs sampling, with seed 0.

    The expectation of a row's cells of both kinds is a sum over all states of its discrete ones, often too
    many. Each round draws the missing cells under the network so far and fits it anew; the last fit is of
    several draws together.
    """
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)  # of fits that are only steps on the way
        network = first = fit_mixed(dag, table, prior, ess, lenient=True)
        chain = begun(network, codes_and_numbers(table), rng)
        for _ in range(SAMPLED_ROUNDS):
            chain.sweep(network, rng, SAMPLED_SWEEPS)
            network = fit_mixed(dag, chain.completed(table), prior, ess)
    drawn = []
    for _ in range(SAMPLED_DRAWS):
        chain.sweep(network, rng, SAMPLED_SWEEPS)
        drawn.append(chain.completed(table))
    found = fit_mixed(dag, stacked(drawn), prior, ess)
    return found if _explains(found, table) >= _explains(first, table) else first


def _explains(network: Network, table: Table) -> float:
    """The log-likelihood of the observed cells of some rows; minus infinity where there is none."""
    rows = np.linspace(0, table.n_rows - 1, min(table.n_rows, COMPARED)).astype(np.int64)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayescoutWarning)
            return network.log_likelihood(table.take(np.unique(rows))).finite_total
    except (NetworkError, TooLargeError):
        return -np.inf


def codes_and_numbers(table: Table) -> NDArray[np.float64]:
    """(n, p) codes and numbers of a table, NaN where a cell is missing."""
    columns = [
        np.where(table.missing_cells(name), np.nan, table.array(name).astype(np.float64))
        for name in table.names
    ]
    return np.array(columns).T


def stacked(tables: Sequence[Table]) -> Table:
    """The tables under one another, each row with its share of the weight."""
    first = tables[0]
    if len(tables) == 1:
        return first
    weights = np.ones(first.n_rows) if first.weights is None else first.weights
    return Table(
        first.names,
        first.states,
        np.concatenate([table.codes for table in tables], axis=1),
        np.concatenate([table.values for table in tables], axis=1),
        np.tile(weights / len(tables), len(tables)),
        notes=first.notes,
        copies=len(tables),
    )
