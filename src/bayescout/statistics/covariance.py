"""Covariance statistics: one centred cross-product, from which every family is regressed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Table
from bayescout.errors import DataError
from bayescout.spelling import setting
from bayescout.statistics.families import Family, Floats, Ints

RESIDUAL_FLOOR = 1e-10
"""A residual variance below this share of the variable's own counts as this share: the rest is rounding."""

TILE, TILE_ROWS = 32, 256
"""Variables and rows of a tile of the cross-product."""

CORRELATION_DIGITS = 42
"""Correlations are rounded to 2**-42, so that the order of the rows does not show in them."""

GRID_DIGITS = 24
"""Gaussian scores are rounded to 2**-24 nats, far below any difference that means something."""


@dataclass(frozen=True)
class FamilyRegressions:
    """Linear regressions of a batch of Gaussian families.

    residuals   (k,) residual of the child given its parents, in the unit of the matrix
    log_dets    (k,) log-determinant of the parents' block of the matrix
    n_parents   (k,)
    children    (k,)
    scales      (p,) variance of every variable of the table
    rows        rows of the table
    """

    residuals: Floats
    log_dets: Floats
    n_parents: Ints
    children: Ints
    scales: Floats
    total: float
    rows: int

    def __len__(self) -> int:
        return len(self.residuals)

    @property
    def n_variables(self) -> int:
        return len(self.scales)

    def rounded(self, value: float) -> float:
        return float(on_grid(np.float64(value)))

    def parameters(self) -> Floats:
        """A coefficient for each parent, an intercept and a variance."""
        return (self.n_parents + 2).astype(np.float64)

    def log_likelihoods(self) -> Floats:
        """-n/2 (log(2 pi s^2) + 1) at the maximum-likelihood variance s^2, in nats.

        A family with as many coefficients as rows fits anything and cannot be scored: -inf. The
        residual is taken from the correlation matrix and the scale apart, each on the grid,
        so that a -> b and b -> a gain the same to the bit.
        """
        half = self.total / 2
        saturated = self.n_parents + 1 >= self.rows
        own = half * (np.log(2 * math.pi * self.scales[self.children]) + 1)
        gained: Floats = on_grid(-half * np.log(self.residuals)) - on_grid(own)
        return np.where(saturated, -np.inf, gained) if saturated.any() else gained


def on_grid(values: Any) -> Any:
    """The nearest multiples of 2**-GRID_DIGITS."""
    return np.ldexp(np.rint(np.ldexp(values, GRID_DIGITS)), -GRID_DIGITS)


class Covariance:
    """Regressions of families of one continuous table.

    `prior` adds that much to the diagonal of the scatter matrix and keeps its unit, as the BGe
    score asks; without it the matrix is the correlation matrix and `scales` the variances.
    """

    def __init__(self, table: Table, prior: float | None = None) -> None:
        _require_continuous(table)
        self.total = table.total_weight
        scatter = centred_scatter(table)
        variances = np.diag(scatter) / self.total
        _require_varying(table, variances)
        if prior is None:
            root = np.sqrt(np.diag(scatter))
            matrix = scatter / np.outer(root, root)
            matrix = np.ldexp(np.rint(np.ldexp(matrix, CORRELATION_DIGITS)), -CORRELATION_DIGITS)
            np.fill_diagonal(matrix, 1.0)
        else:
            matrix = scatter + prior * np.eye(table.n_columns)
        # With a prior no residual can be less than what it adds; half of it allows for rounding.
        least = RESIDUAL_FLOOR if prior is None else prior / 2
        self._floors = np.full(table.n_columns, least)
        self._rows = table.n_rows
        self.matrix: Floats = matrix
        self.scales: Floats = variances

    @property
    def n_variables(self) -> int:
        return len(self.scales)

    def cells(self, child: int, parents: Sequence[int]) -> int:
        """A regression takes no room to speak of."""
        return 1

    def family(self, child: int, parents: tuple[int, ...]) -> FamilyRegressions:
        return self.many([(child, parents)])

    def many(self, families: Sequence[Family]) -> FamilyRegressions:
        """The regressions of many families, in their order."""
        from bayescout.kernels.regression import regress_families

        lengths = np.array([len(parents) + 1 for _, parents in families], dtype=np.int64)
        members = np.array([v for child, parents in families for v in (*parents, child)], dtype=np.int64)
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        out = np.empty((len(families), 2), dtype=np.float64)
        regress_families(self.matrix, members, bounds, self._floors, out)
        return self._batch(out, lengths - 1, members[bounds[1:] - 1])

    def extensions(self, child: int, parents: tuple[int, ...], candidates: Ints) -> FamilyRegressions:
        """The regression of (child, parents + candidate) for each candidate."""
        from bayescout.kernels.regression import regress_extensions

        out = np.empty((len(candidates), 2), dtype=np.float64)
        family = np.array((*parents, child), dtype=np.int64)
        regress_extensions(self.matrix, family, candidates, self._floors, out)
        sizes = np.full(len(candidates), len(parents) + 1, dtype=np.int64)
        return self._batch(out, sizes, np.full(len(candidates), child, dtype=np.int64))

    def all_extensions(self, families: Sequence[Family]) -> FamilyRegressions:
        """The regression of each family with every variable added; of no meaning for its own members."""
        from bayescout.kernels.regression import regress_all_extensions

        n = self.n_variables
        lengths = np.array([len(parents) + 1 for _, parents in families], dtype=np.int64)
        members = np.array([v for child, parents in families for v in (*parents, child)], dtype=np.int64)
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        out = np.empty((len(families) * n, 2), dtype=np.float64)
        regress_all_extensions(self.matrix, members, bounds, self._floors, out)
        return self._batch(out, np.repeat(lengths, n), np.repeat(members[bounds[1:] - 1], n))

    def _batch(self, out: Floats, n_parents: Ints, children: Ints) -> FamilyRegressions:
        return FamilyRegressions(
            out[:, 0].copy(), out[:, 1].copy(), n_parents, children, self.scales, self.total, self._rows
        )


def centred_scatter(table: Table) -> Floats:
    """The weighted sums of squares and products of the centred columns.

    In tiles so small that no matrix library hands them to threads: threads that wait by spinning take ten
    times as long when another process is busy, and may add in another order.
    """
    values = table.values
    weights: NDArray[np.float64] = np.ones(table.n_rows) if table.weights is None else table.weights
    centred = values - ((values * weights).sum(axis=1) / weights.sum())[:, None]
    weighted = centred if table.weights is None else centred * weights
    p = len(values)
    scatter = np.zeros((p, p))
    for begin in range(0, table.n_rows, TILE_ROWS):
        left = np.ascontiguousarray(weighted[:, begin : begin + TILE_ROWS])
        right = np.ascontiguousarray(centred[:, begin : begin + TILE_ROWS].T)
        for i in range(0, p, TILE):
            for j in range(0, i + 1, TILE):
                scatter[i : i + TILE, j : j + TILE] += left[i : i + TILE] @ right[:, j : j + TILE]
    lower = np.tril(scatter)
    return lower + np.tril(lower, -1).T


def _require_continuous(table: Table) -> None:
    if not table.is_continuous:
        names = [repr(n) for n, states in zip(table.names, table.states, strict=True) if states is not None]
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        column, are = ("columns", "are") if len(names) > 1 else ("column", "is")
        raise DataError(
            f"{column} {shown} {are} discrete, and a "
            f"Gaussian score needs continuous columns: "
            f"{setting('kinds', 'continuous')} makes them so; or {setting('bins', 3)} and a discrete score"
        )


def _require_varying(table: Table, variances: Floats) -> None:
    tiny = variances <= np.square(np.abs(table.values).max(axis=1, initial=0.0)) * 1e-24
    if tiny.any():
        name = table.names[int(np.argmax(tiny))]
        raise DataError(
            f"column {name!r} is constant: a Gaussian score is undefined for it; {setting('drop', name)}"
        )
