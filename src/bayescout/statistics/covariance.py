"""Covariance statistics: one centred cross-product, from which every family's regression is computed.

Columns of any magnitude are accepted: one so large or small that its squares would leave the range of a
float is first scaled by a power of two, which loses nothing, and the power is restored in the logarithm
of its variance. A column that varies little relative to its magnitude is centred twice. Neither step
changes the results of other columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Family, Floats, Ints, Parents
from bayescout.data import memory
from bayescout.data.table import Table
from bayescout.errors import DataError, TooLargeError
from bayescout.graph.labels import quoted
from bayescout.statistics.engine import Kind, regression_work
from bayescout.statistics.leaves import sums_of, total
from bayescout.statistics.requirements import require_kind, undefined_score
from bayescout.wording import setting

RESIDUAL_FLOOR = 1e-10
"""The least residual variance as a share of the variable's own; anything smaller is rounding."""

SMALL_SPREAD = 2.0**-60
"""A column whose variance is less than this share of its largest square is centred a second time: the mean
is rounded, and its error would otherwise show in the variance."""

LEAST_ROWS, MOST_COLUMNS, MOST_SHOWN = 3, 1000, 6
"""The search for collinear columns: with more than LEAST_ROWS rows, all columns together if there are at most
MOST_COLUMNS; and the most that are named."""

LARGE_EXPONENT = 400
"""A column whose largest value is above 2**400, or below 2**-400, is scaled: its squares might not fit."""

LEAST_SCATTER = 2.0**-960
"""A smaller sum of squares, after scaling, is practically zero: only weights close to 0 can give it."""

MOST_SCATTER = 2.0**500
"""The largest sum of squares under a prior, which is not scaled: products of two of them must fit."""

PAIR_BYTES = 32
"""Bytes, about, for each pair of columns, while the matrix of their correlations is made."""

TILE, TILE_ROWS = 32, 256
"""Variables and rows per tile of the cross-product."""

CORRELATION_DIGITS = 42
"""Correlations are rounded to 2**-42, so that they do not depend on the order of the rows."""

GRID_DIGITS = 24
"""Gaussian scores are rounded to 2**-24 nats, far below any difference of importance."""


@dataclass(frozen=True)
class FamilyRegressions:
    """Linear regressions of a batch of Gaussian families.

    residuals   (k,) residual of the child given its parents, in the unit of the matrix
    log_dets    (k,) log-determinant of the parents' block of the matrix
    n_parents   (k,)
    children    (k,)
    log_scales  (p,) log(2 pi s^2) for the variance s^2 of every variable of the table
    rows        rows of the table
    """

    residuals: Floats
    log_dets: Floats
    n_parents: Ints
    children: Ints
    log_scales: Floats
    total: float
    rows: int

    def __len__(self) -> int:
        return len(self.residuals)

    @property
    def n_variables(self) -> int:
        return len(self.log_scales)

    def rounded(self, value: float) -> float:
        return float(on_grid(np.float64(value)))

    def parameters(self) -> Floats:
        """One coefficient per parent, an intercept and a variance."""
        return (self.n_parents + 2).astype(np.float64)

    def log_likelihoods(self) -> Floats:
        """-n/2 (log(2 pi s^2) + 1) at the maximum-likelihood variance s^2, in nats.

        A family with as many coefficients as rows fits anything and cannot be scored: -inf. The residual,
        from the correlation matrix, and the scale are each rounded to the grid,
        so that a -> b and b -> a gain the same to the bit.
        """
        half = self.total / 2
        saturated = self.n_parents + 1 >= self.rows
        own = half * (self.log_scales[self.children] + 1)
        gained: Floats = on_grid(-half * np.log(self.residuals)) - on_grid(own)
        return np.where(saturated, -np.inf, gained) if saturated.any() else gained


def on_grid(values: Any) -> Any:
    """The nearest multiples of 2**-GRID_DIGITS."""
    return np.ldexp(np.rint(np.ldexp(values, GRID_DIGITS)), -GRID_DIGITS)


class Covariance:
    """Regressions of families of one continuous table.

    `prior` is added to the diagonal of the scatter matrix, which then keeps its unit, as the BGe
    score requires; without it the matrix is the correlation matrix, and `log_scales` holds the variances.
    """

    kind: Kind = "continuous"
    batches_all = True
    far = False
    n_rows = 0  # a regression goes through none

    def __init__(
        self, table: Table, prior: float | None = None, scattered: tuple[Floats, Ints] | None = None
    ) -> None:
        require_kind(table, "continuous")
        self.total = table.total_weight
        if scattered is None:
            _require_room(table.n_columns)
        scatter, exponents = scaled_scatter(table) if scattered is None else scattered
        _require_varying(table, np.diag(scatter))
        if prior is None:
            root = np.sqrt(np.diag(scatter))
            matrix = scatter / np.outer(root, root)
            matrix = np.ldexp(np.rint(np.ldexp(matrix, CORRELATION_DIGITS)), -CORRELATION_DIGITS)
            np.fill_diagonal(matrix, 1.0)
            _warn_collinear(table, matrix)
        else:
            matrix = _in_own_unit(table, scatter, exponents) + prior * np.eye(table.n_columns)
        # With a prior no residual can be less than the prior; half of it allows for rounding.
        least = RESIDUAL_FLOOR if prior is None else prior / 2
        self._floors = np.full(table.n_columns, least)
        self._rows = table.n_rows // table.copies
        self.matrix: Floats = matrix
        self.log_scales: Floats = _log_scales(np.diag(scatter) / self.total, exponents)

    @property
    def n_variables(self) -> int:
        return len(self.log_scales)

    def cells(self, child: int, parents: Sequence[int]) -> int:
        """The cells of a regression: it takes hardly any memory."""
        return 1

    def work(self, child: int, parents: Sequence[int]) -> int:
        """The work of a regression, by the number of its parents."""
        return regression_work(len(parents))

    def many(self, families: Sequence[Family]) -> FamilyRegressions:
        """The regressions of many families, in their order."""
        from bayescout.kernels.regression import regress_families

        lengths = np.array([len(parents) + 1 for _, parents in families], dtype=np.int64)
        members = np.array([v for child, parents in families for v in (*parents, child)], dtype=np.int64)
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        out = np.empty((len(families), 2), dtype=np.float64)
        regress_families(self.matrix, members, bounds, self._floors, out)
        return self._batch(out, lengths - 1, members[bounds[1:] - 1])

    def extensions(self, child: int, parents: Parents, candidates: Ints) -> FamilyRegressions:
        """The regression of (child, parents + candidate) for each candidate."""
        from bayescout.kernels.regression import regress_extensions

        out = np.empty((len(candidates), 2), dtype=np.float64)
        family = np.array((*parents, child), dtype=np.int64)
        regress_extensions(self.matrix, family, candidates, self._floors, out)
        sizes = np.full(len(candidates), len(parents) + 1, dtype=np.int64)
        return self._batch(out, sizes, np.full(len(candidates), child, dtype=np.int64))

    def all_extensions(self, families: Sequence[Family]) -> FamilyRegressions:
        """The regression of each family with every variable added; meaningless for its own members."""
        from bayescout.kernels.regression import regress_all_extensions

        n = self.n_variables
        lengths = np.array([len(parents) + 1 for _, parents in families], dtype=np.int64)
        members = np.array([v for child, parents in families for v in (*parents, child)], dtype=np.int64)
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        out = np.empty((len(families) * n, 2), dtype=np.float64)
        regress_all_extensions(self.matrix, members, bounds, self._floors, out)
        return self._batch(out, np.repeat(lengths, n), np.repeat(members[bounds[1:] - 1], n))

    def kernel_view(self) -> None:
        return None

    def too_large(self, child: int, parents: Sequence[int], distinct: int) -> TooLargeError:
        raise NotImplementedError  # no regression is too large

    def _batch(self, out: Floats, n_parents: Ints, children: Ints) -> FamilyRegressions:
        return FamilyRegressions(
            out[:, 0].copy(), out[:, 1].copy(), n_parents, children, self.log_scales, self.total, self._rows
        )


def _require_room(columns: int) -> None:
    """Refuse a matrix of all pairs of columns that memory cannot hold."""
    memory.require(
        PAIR_BYTES * columns**2,
        f"{columns:,} columns: the correlations of all pairs take about",
        f"{setting('score', 'bic')}, ebic, aic and loglik need none of that; else leave out columns",
    )


def scaled_scatter(table: Table) -> tuple[Floats, Ints]:
    """The scatter matrix of the columns divided by 2**exponents, which are 0 except for extreme columns."""
    _, scatter, exponents = centred_columns(table)
    return scatter, exponents


def centred_columns(table: Table) -> tuple[Floats, Floats, Ints]:
    """The columns divided by 2**exponents and less their means, and their scatter matrix."""
    values = table.doubles()
    exponents = np.frexp(np.abs(values).max(axis=1, initial=0.0))[1].astype(np.int64)
    exponents[np.abs(exponents) <= LARGE_EXPONENT] = 0
    if exponents.any():
        values = np.ldexp(values, -exponents[:, None])
    weights: NDArray[np.float64] = np.ones(table.n_rows) if table.weights is None else table.weights
    centred = values - _means(values, weights)
    scatter = _scatter(centred, table.weights)
    sizes = np.square(np.abs(values).max(axis=1, initial=0.0))
    small = np.flatnonzero(np.diag(scatter) <= sizes * (SMALL_SPREAD * weights.sum()))
    if len(small):
        centred[small] -= _means(centred[small], weights)
        scatter = _scatter(centred, table.weights)
    return centred, scatter, exponents


def _means(values: Floats, weights: Floats) -> Floats:
    """The weighted mean of each column, as an array of one column."""

    def leaf(begin: int, end: int) -> Floats:
        return np.asarray((values[:, begin:end] * weights[begin:end]).sum(axis=1))

    return np.asarray((total(sums_of(leaf, 0, max(1, values.shape[1]))) / weights.sum())[:, None])


def _scatter(centred: Floats, weights: Floats | None) -> Floats:
    """The weighted sums of squares and products of the centred columns.

    In tiles so small that no matrix library uses threads for them: threads that wait by spinning take ten
    times as long when another process is busy, and may add in a different order.
    """

    def leaf(begin: int, end: int) -> Floats:
        own = centred[:, begin:end]
        return products(own if weights is None else own * weights[begin:end], own)

    return mirrored(total(sums_of(leaf, 0, max(1, centred.shape[1]))))


def products(weighted: Floats, centred: Floats) -> Floats:
    """The sums of products of the columns over the rows of a leaf, in the lower triangle."""
    scatter = np.zeros((len(centred), len(centred)))
    add_products(scatter, weighted, centred)
    return scatter


def add_products(scatter: Floats, weighted: Floats, centred: Floats) -> None:
    """Add the sums of products of columns to the lower triangle, tile after tile of rows."""
    p, rows = centred.shape
    for begin in range(0, rows, TILE_ROWS):
        left = np.ascontiguousarray(weighted[:, begin : begin + TILE_ROWS])
        right = np.ascontiguousarray(centred[:, begin : begin + TILE_ROWS].T)
        for i in range(0, p, TILE):
            for j in range(0, i + 1, TILE):
                scatter[i : i + TILE, j : j + TILE] += left[i : i + TILE] @ right[:, j : j + TILE]


def mirrored(scatter: Floats) -> Floats:
    """The symmetric matrix with this lower triangle."""
    lower = np.tril(scatter)
    return lower + np.tril(lower, -1).T


def _log_scales(variances: Floats, exponents: Ints) -> Floats:
    """log(2 pi s^2), where s^2 is the variance times 4**exponent and may exceed the range of a float."""
    own = np.clip(2 * exponents, -2000, 2000)
    with np.errstate(over="ignore", under="ignore"):
        unscaled = 2 * math.pi * np.ldexp(variances, own)
    fits = np.isfinite(unscaled) & (unscaled >= 8 * np.finfo(np.float64).tiny)
    logs = np.log(np.where(fits, unscaled, 2 * math.pi * variances))
    return np.where(fits, logs, logs + 2 * exponents * math.log(2))


def _in_own_unit(table: Table, scatter: Floats, exponents: Ints) -> Floats:
    """The scatter matrix without its scaling; refused if it is too large to compute with."""
    if exponents.any():
        with np.errstate(over="ignore", under="ignore"):
            scatter = np.ldexp(scatter, exponents[:, None] + exponents[None, :])
    large = ~(np.diag(scatter) <= MOST_SCATTER)
    if large.any():
        column = int(np.argmax(large))
        low, high = table.limits(table.names[column]) or (0.0, 0.0)
        raise DataError(
            f"column {table.names[column]!r} goes from {low:g} to {high:g}, and the BGe score, which depends "
            f"on the unit, squares it: rescale the column to values below 1e70, to a variance of 1 for "
            f"instance, or use bic"
        )
    return scatter


def _warn_collinear(table: Table, matrix: Floats) -> None:
    """Warn of columns that are linear functions of others: as parents beside those they add nothing."""
    warn_collinear(table, collinear_columns(matrix, table.n_rows // table.copies))


def warn_collinear(table: Table, found: Sequence[tuple[int, Sequence[int]]]) -> None:
    """Warn of columns, each with those that it is a linear function of; one message however many."""
    if found:
        shown = "; ".join(
            f"{table.names[column]!r} of {quoted([table.names[other] for other in others], 4)}"
            for column, others in found[:MOST_SHOWN]
        )
        more = f"; and {len(found) - MOST_SHOWN} more columns" if len(found) > MOST_SHOWN else ""
        table.warn_once(
            "collinear",
            f"columns that are linear functions of others, to within {RESIDUAL_FLOOR:g} of their variance: "
            f"{shown}{more}; as a parent beside those such a column adds nothing and is passed over: "
            f"leave it out",
        )


def collinear_columns(matrix: Floats, rows: int) -> list[tuple[int, list[int]]]:
    """Each column that earlier ones determine, to the precision of the floor, with those it depends on.

    With no more rows than columns every column is determined by enough others, which says
    nothing about the columns; then, and if columns are very many, only pairs are examined.
    """
    p = len(matrix)
    if rows <= LEAST_ROWS:
        return []
    if rows <= p or p > MOST_COLUMNS:
        alike = np.tril(1 - np.square(matrix) <= RESIDUAL_FLOOR, -1)
        return [(int(i), [int(np.argmax(alike[i]))]) for i in np.flatnonzero(alike.any(axis=1))]
    with suppress(np.linalg.LinAlgError):  # raised where the least eigenvalue is not above the floor
        np.linalg.cholesky(matrix - RESIDUAL_FLOOR * np.eye(p))
        return []
    return _determined(matrix)


def _determined(matrix: Floats) -> list[tuple[int, list[int]]]:
    """The determined columns, by one Cholesky factor in the order of the columns that skips them."""
    from scipy.linalg import solve_triangular

    used: list[int] = []
    factor = np.zeros_like(matrix)
    found = []
    for column in range(len(matrix)):
        k = len(used)
        row = solve_triangular(factor[:k, :k], matrix[used, column], lower=True)
        residual = 1.0 - float(row @ row)
        if residual > RESIDUAL_FLOOR:
            factor[k, :k], factor[k, k] = row, math.sqrt(residual)
            used.append(column)
        else:
            shares = np.abs(solve_triangular(factor[:k, :k].T, row, lower=False))
            found.append((column, [used[i] for i in np.flatnonzero(shares > 1e-3 * shares.max())]))
    return found


def _require_varying(table: Table, squares: Floats) -> None:
    """Refuse a column without variance; one that varies, however little, is not constant."""
    flat = squares < LEAST_SCATTER
    if not flat.any():
        return
    column = int(np.argmax(flat))
    name = table.names[column]
    low, high = table.limits(name) or (0.0, 0.0)
    said = "is constant"
    if low != high:
        said = "varies only in rows whose weights are 0, or too small beside the others to count"
    raise undefined_score(name, said)
