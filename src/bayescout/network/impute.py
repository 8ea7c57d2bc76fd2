"""Rows with their empty cells filled: most probable values, means, or draws from the posterior."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import generator, require_choice, require_count
from bayescout.data.table import Label, Table, narrowest
from bayescout.errors import BayescoutWarning, NetworkError, SettingError, warn
from bayescout.network import gaussian_rows, mixed_rows
from bayescout.network.encode import Matched, match_some, patterns
from bayescout.network.gibbs import Chain
from bayescout.network.incomplete import by_kind, row_values, too_large
from bayescout.network.junction import Codes, Rows, row_codes, shared_out
from bayescout.network.mixed_gaps import gap_cells
from bayescout.network.node import Array, Mask
from bayescout.network.parts import warn_undefined
from bayescout.wording import setting

if TYPE_CHECKING:
    from bayescout.network.network import Network

METHODS = ("most-probable", "sample", "mean")
"""The ways to fill an empty cell."""

MOST_STEPS = 400
"""The most empty cells, of all patterns of empty cells, with which chains begin at exact draws."""

SWEEPS = 20
"""Sweeps of Gibbs sampling before a draw, for rows whose posterior needs too large a table."""


def complete(network: Network, table: Table, rng: np.random.Generator, draws: int = 1) -> Table:
    """The table with each row's empty cells drawn from their posterior given the row's other cells.

    The result has `draws` copies of the rows under one another, each drawn by itself, with the nodes' states;
    row weights are repeated as they are. Draws are exact, but in networks of both kinds, and for discrete
    rows whose posterior needs more than `MAX_ENTRIES` table entries or is zero: those end `SWEEPS` sweeps of
    Gibbs sampling, with probabilities of `gibbs.FLOOR` at least.
    """
    matched = network.matched(table)
    cells, _ = _filled(network, matched, rng, draws)
    return _table(network, table.names, cells, matched)


def impute(network: Network, data: Any, method: str, n: int, seed: int) -> list[Table]:
    """n tables of the data's columns with every empty cell filled; see `Network.impute`."""
    check_method(method, n)
    if method == "mean" and not network.is_gaussian:
        raise SettingError(
            f"means are for networks of numbers, and this one is {network.kind}; use "
            f"{setting('method', 'most-probable')} or {setting('method', 'sample')}"
        )
    rng = generator(seed) if method == "sample" else None
    matched = match_some(network.dag, data, [one.declared for one in network.distributions])
    cells, impossible = _filled(network, matched, rng, n)
    _warn_impossible(impossible, matched.n_rows)
    names = [network.nodes[node] for node in matched.columns]
    return [_table(network, names, cells[i : i + 1], matched) for i in range(n)]


def check_method(method: str, n: int) -> None:
    """Refuse a method that cannot be used with any network."""
    require_choice("method", method, METHODS)
    count = require_count("the number of imputed tables", n, 1)
    if count > 1 and method != "sample":
        raise SettingError(
            f"method {method!r} has one answer, not {count}; {setting('method', 'sample')} draws several"
        )


def _warn_impossible(impossible: Mask, n_rows: int) -> None:
    if impossible.any():
        warn(
            f"{int(impossible.sum()):,} of {n_rows:,} rows have probability zero in the network, the first "
            f"is row {int(np.argmax(impossible))} (counting from 0); their empty cells are drawn as if "
            f"nothing were impossible: fit with prior='laplace' to leave nothing impossible"
        )


def _filled(
    network: Network, matched: Matched, rng: np.random.Generator | None, draws: int
) -> tuple[NDArray[Any], Mask]:
    """(draws, n, p) cells with none empty in a column, and a mask of the impossible rows."""
    n = matched.n_rows

    def discrete() -> tuple[NDArray[Any], Mask]:
        return filled_codes(network, row_codes(network, matched.columns, n), rng, draws)

    def gaussian() -> tuple[NDArray[Any], Mask]:
        values = row_values(network, matched.columns, n)
        return filled_values(network, values, rng, draws), np.zeros(n, dtype=bool)

    def mixed() -> tuple[NDArray[Any], Mask]:
        values = row_values(network, matched.columns, n)
        for node, column in matched.columns.items():
            states = network.distributions[node].states
            if states is not None:
                values[column == len(states), node] = np.nan
        return filled_mixed(network, values, rng, draws)

    return by_kind(network, discrete, gaussian, mixed)


def _table(network: Network, names: Sequence[Label], cells: NDArray[Any], matched: Matched) -> Table:
    """The (draws, n, p) cells as a table, all draws under one another."""
    rows = cells.reshape(-1, len(network.dag))
    where = [network.dag.index(label) for label in names]
    states = tuple(network.distributions[node].states for node in where)
    discrete = [node for node, own in zip(where, states, strict=True) if own is not None]
    numbers = [node for node, own in zip(where, states, strict=True) if own is None]
    kind = narrowest(max((len(own) for own in states if own is not None), default=0))
    copies = len(rows) // max(1, matched.n_rows)
    return Table(
        tuple(names),
        states,
        np.ascontiguousarray(rows[:, discrete].T.astype(kind)),
        np.ascontiguousarray(rows[:, numbers].T.astype(np.float64)),
        None if matched.weights is None else np.tile(matched.weights, copies),
        notes=network.notes,
    )


# ---- discrete


def filled_codes(
    network: Network, codes: Codes, rng: np.random.Generator | None, draws: int = 1
) -> tuple[Codes, Mask]:
    """(draws, n, p) codes with every empty cell filled, and a mask of the impossible rows.

    rng  for draws from the joint posterior of a row's empty cells; None for their jointly most probable
         values, of equals those with the lower states
    """
    made = np.repeat(codes[None], draws, axis=0)
    impossible = np.zeros(len(codes), dtype=bool)
    gaps = np.flatnonzero((codes < 0).any(axis=1))
    some = codes[gaps]
    left: list[Rows] = []
    for share in shared_out(network, some) if len(gaps) else ():
        rows = gaps[share.rows]
        if share.tree is None:
            if rng is None:
                raise too_large(network, codes, rows, "the most probable values")
            left.append(rows)
            continue
        uniform = None if rng is None else rng.random((draws, share.tree.n_empty(codes[rows])))
        made[:, rows], totals = share.tree.filled(codes[rows], uniform)
        impossible[rows] = np.isneginf(totals)
    left.append(np.flatnonzero(impossible))
    rest = np.concatenate(left)
    if len(rest):
        chain = np.random.default_rng(0) if rng is None else rng
        made[:, rest] = gibbs(network, codes[rest], chain, draws)
    return made, impossible


def gibbs(network: Network, codes: Codes, rng: np.random.Generator, draws: int) -> Codes:
    """(draws, n, p) rows after `SWEEPS` sweeps, and after as many more for each further draw."""
    chain = Chain(list(codes.T.astype(np.int64)), [np.flatnonzero(column < 0) for column in codes.T])
    chain.begin(network, rng)
    made = np.empty((draws, *codes.shape), dtype=np.int32)
    for draw in range(draws):
        chain.sweep(network, rng, SWEEPS)
        made[draw] = np.array(chain.cells).T
    return made


# ---- both kinds


def filled_mixed(
    network: Network, values: Array, rng: np.random.Generator | None, draws: int
) -> tuple[NDArray[np.float64], Mask]:
    """(draws, n, p) codes and numbers with every empty cell filled, and a mask of the impossible rows.

    Draws end `SWEEPS` sweeps of Gibbs sampling. Without `rng` the states are the jointly most probable ones,
    and the numbers their means given these.
    """
    made = np.repeat(values[None], draws, axis=0)
    impossible = np.zeros(len(values), dtype=bool)
    if rng is None:
        best, impossible = _most_probable_rows(network, values)
        made[:] = best
    if rng is not None or impossible.any():
        source = np.random.default_rng(0) if rng is None else rng
        chain = begun(network, values, source)
        rows = np.arange(len(values)) if rng is not None else np.flatnonzero(impossible)
        for draw in range(draws):
            chain.sweep(network, source, SWEEPS)
            made[draw, rows] = np.array(chain.cells).T[rows]
    return made, impossible


def _most_probable_rows(network: Network, values: Array) -> tuple[Array, Mask]:
    """The rows with their empty cells at the most probable values, and a mask of the impossible rows."""
    made, impossible = values.copy(), np.zeros(len(values), dtype=bool)
    left: Mask = np.asarray(np.isnan(values).any(axis=1))
    undefined: set[int] = set()
    for cells in gap_cells(network, range(len(network.dag)), _matched_rows(network, values)):
        at = cells.largest()
        numbers = {**cells.codes, **cells.means}
        rows, at = cells.rows[cells.settled], at[cells.settled]
        for node, own in numbers.items():
            made[rows, node] = own[at]
        impossible[rows] = np.isneginf(cells.logs[at])
        left[rows] = False
        undefined |= cells.undefined
    warn_undefined(network, sorted(undefined), "the answer")
    for row in np.flatnonzero(left).tolist():
        try:
            made[row] = _most_probable(network, values[row])
        except NetworkError:
            impossible[row] = True
    return made, impossible


def _matched_rows(network: Network, values: Array) -> Matched:
    """(n, p) rows of codes and numbers, NaN where a cell is empty, as columns of nodes."""
    empty = np.isnan(values)
    columns: dict[int, NDArray[Any]] = {}
    for node, one in enumerate(network.distributions):
        column = values[:, node]
        size = None if one.states is None else len(one.states)
        columns[node] = column if size is None else np.where(empty[:, node], size, column).astype(np.intp)
    return Matched(columns, None, len(values), np.asarray(empty.any(axis=1)))


def _most_probable(network: Network, row: Array) -> list[float]:
    """The cells of one row, the empty ones at their most probable values."""
    from bayescout.network import mixed_inference

    states = [one.states for one in network.distributions]
    observed = {
        node: float(cell) if states[node] is None else int(cell)
        for node, cell in enumerate(row.tolist())
        if not np.isnan(cell)
    }
    found = mixed_inference.most_probable(network, observed)
    return [
        found[label] if own is None else own.index(found[label])
        for label, own in zip(network.nodes, states, strict=True)
    ]


def begun(network: Network, values: Array, rng: np.random.Generator) -> Chain:
    """A chain for (n, p) rows of codes and numbers, NaN where a cell is empty.

    It begins with states drawn from their joint distribution given the row's cells, and numbers at their
    means given those, where rows with the same empty cells are many; else with every cell drawn given its
    parents. A chain that begins where the row's own cells make it improbable may never leave.
    """
    chain = _chain(network, values)
    empty = np.isnan(values)
    _, number = patterns(empty)
    groups = np.split(np.argsort(number, kind="stable"), np.cumsum(np.bincount(number))[:-1])
    steps = sum(int(empty[rows[0]].sum()) for rows in groups if len(rows))
    if steps > MOST_STEPS:
        chain.begin(network, rng)
        return chain
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)
        for rows in groups:
            if len(rows) and empty[rows[0]].any():
                _begin_rows(network, chain, rows, empty[rows[0]], rng)
    return chain


def _begin_rows(network: Network, chain: Chain, rows: Rows, empty: Mask, rng: np.random.Generator) -> None:
    """Begin the chain in rows that lack the same cells."""
    known = {node: column[rows] for node, column in enumerate(chain.cells) if not empty[node]}
    order = [node for node in network.dag.order_indices if empty[node]]
    for node in sorted(order, key=lambda node: network.distributions[node].states is None):
        given = Matched(known, None, len(rows))
        if network.distributions[node].states is None:
            found: NDArray[Any] = mixed_rows.predict_means(network, node, given)
        else:
            ends = np.cumsum(mixed_rows.predict_proba(network, node, given), axis=1)
            uniform = rng.random(len(rows)) * ends[:, -1]
            found = np.asarray((ends[:, :-1] <= uniform[:, None]).sum(axis=1))
        known = {**known, node: found}
        chain.cells[node][rows] = found


def _chain(network: Network, values: Array) -> Chain:
    """Rows of codes and numbers, NaN where a cell is empty, to be drawn."""
    empty = np.isnan(values)
    discrete = [one.states is not None for one in network.distributions]
    cells = [
        np.where(gaps, 0, column).astype(np.int64) if is_discrete else column.copy()
        for column, gaps, is_discrete in zip(values.T, empty.T, discrete, strict=True)
    ]
    return Chain(cells, [np.flatnonzero(gaps) for gaps in empty.T])


# ---- Gaussian


def filled_values(
    network: Network, values: Array, rng: np.random.Generator | None, draws: int = 1
) -> NDArray[np.float64]:
    """(draws, n, p) numbers with every empty cell filled: by its mean, or with `rng` by a draw."""
    made = np.repeat(values[None], draws, axis=0)
    for gaps in gaussian_rows.conditional_gaps(network, values):
        if rng is None:
            found = np.repeat(gaps.means[None], draws, axis=0)
        else:
            half = square_roots(gaps.covariances)[gaps.pattern]
            noise = rng.standard_normal((draws, *gaps.means.shape))
            found = gaps.means + np.matmul(half, noise[..., None])[..., 0]
        made[:, gaps.rows[:, None], gaps.nodes] = found
    return made


def square_roots(covariances: Array) -> Array:
    """A square root of each covariance: triangular, or by eigenvalues if some are zero."""
    try:
        return np.asarray(np.linalg.cholesky(covariances))
    except np.linalg.LinAlgError:
        pass
    scale = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    scale = np.where(scale > 0, scale, 1.0)
    shapes = covariances / (scale[:, :, None] * scale[:, None, :])
    sizes, vectors = np.linalg.eigh(shapes)
    found: Array = scale[:, :, None] * vectors * np.sqrt(np.maximum(sizes, 0.0))[:, None, :]
    return found
