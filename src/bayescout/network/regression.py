"""Least squares for the continuous nodes of a network: one regression, or one per configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Label, Table
from bayescout.errors import DataError, warn
from bayescout.graph.labels import counted, quoted
from bayescout.network.node import Array, Mask

ROUNDING = 16 * float(np.finfo(np.float64).eps)
"""Differences below this share of a column's largest value count as rounding."""

LEAST_SIZE, MOST_SIZE = 1e-130, 1e140
"""Limits for the largest value of a column that varies: outside them its variance is not a float."""


def require_range(table: Table) -> None:
    """Refuse a continuous column whose variance, as a parameter, would not be a float."""
    for name, states in zip(table.names, table.states, strict=True):
        limits = table.limits(name) if states is None else None
        low, high = limits or (0.0, 0.0)
        if low < high and not LEAST_SIZE <= max(-low, high) <= MOST_SIZE:
            raise DataError(
                f"column {name!r} goes from {low:g} to {high:g}, and its variance is beyond the numbers a "
                f"network can hold: rescale the column, to a variance of 1 for instance"
            )


def centres(values: Array, share: Array) -> Array:
    """The weighted mean of each row; that of a constant row is its value, without rounding."""
    means: Array = values @ share
    for i, column in enumerate(values):
        if column.min() == column.max():
            means[i] = column[0]  # a rounded mean would make a constant column vary
    return means


def least_squares(values: Array, means: Array, share: Array) -> tuple[Array, float, bool]:
    """Coefficients and residual variance of the last row of `values` on the others.

    The last answer is False if the others are collinear or constant, so that the coefficients are not unique.
    Columns are centred, weighted and scaled; the triangular factor of [parents, child] then holds
    all that least squares needs, without squaring the condition number as X'X would.
    """
    rows = (values - means[:, None]) * np.sqrt(share)
    sizes = np.abs(values).max(axis=1)
    norms = np.sqrt((rows * rows).sum(axis=1))
    return solved(rows.T, norms, sizes)


def solved(rows: Array, norms: Array, sizes: Array) -> tuple[Array, float, bool]:
    """Coefficients and residual variance of the last column of centred rows on the others.

    Or of a triangular factor of such rows. `norms` are the lengths of the columns, `sizes` the largest values
    that they had.
    """
    flat = norms <= ROUNDING * sizes
    scales = np.where(flat, 1.0, norms)
    rows[:, flat] = 0.0
    triangle = np.asarray(np.linalg.qr(rows / scales, mode="r"))
    design, answer = triangle[:, :-1], triangle[:, -1]
    # The variation that rounding of the raw values can cause, as a share of the scaled column.
    noise = max(ROUNDING, float(np.where(flat, 0.0, ROUNDING * sizes / scales).max()))
    weights, _, rank, _ = np.linalg.lstsq(design, answer, rcond=noise)
    residual = float(np.sqrt(((answer - design @ weights) ** 2).sum()))
    variance = 0.0 if residual <= noise else (residual * scales[-1]) ** 2
    return weights * scales[-1] / scales[:-1], variance, rank == rows.shape[1] - 1


@dataclass(frozen=True)
class Fits:
    """Regressions of one node, one per configuration of its discrete parents.

    undefined  configurations without rows, which have the regression over all rows
    pooled     configurations with too few rows for a regression of their own: they have that one as well
    level      configurations whose rows leave no residual; they have its variance
    loose      configurations whose coefficients are not unique
    """

    intercepts: Array
    coefficients: Array
    variances: Array
    undefined: Mask
    pooled: int
    level: int
    loose: int


def conditional_fits(
    values: Array, config: NDArray[np.int64], n_configs: int, weights: Array, copies: int = 1
) -> Fits:
    """Regress the last row of `values` on the others within each configuration of the rows.

    With k regressors, a configuration with fewer than k + 2 rows (of weight above zero) has no residual of
    its own to estimate a variance from: it takes the regression over the rows of all configurations. One
    with enough rows that leave no residual keeps its coefficients and takes the variance of that regression.
    `copies` rows stand for one row of the data.
    """
    k = len(values) - 1
    kept = np.flatnonzero(weights > 0)
    order = kept[np.argsort(config[kept], kind="stable")]
    held = np.bincount(config[order], minlength=n_configs)
    ends = np.cumsum(held)
    sizes = -(-held // copies)
    intercept, shared, variance, _ = over_rows(values, kept, weights)
    intercepts, variances = np.full(n_configs, intercept), np.full(n_configs, variance)
    coefficients = np.tile(shared, (n_configs, 1))
    level = loose = 0
    for one in np.flatnonzero(sizes >= k + 2).tolist():
        rows = order[ends[one] - held[one] : ends[one]]
        intercepts[one], coefficients[one], own, unique = over_rows(values, rows, weights)
        variances[one] = own or variance
        level += not own and variance > 0
        loose += not unique
    pooled = int(((sizes > 0) & (sizes < k + 2)).sum())
    return Fits(intercepts, coefficients, variances, sizes == 0, pooled, level, loose)


def over_rows(values: Array, rows: NDArray[np.intp], weights: Array) -> tuple[float, Array, float, bool]:
    """Intercept, coefficients and variance of the regression over some rows; True if it is unique."""
    own = np.ascontiguousarray(values[:, rows])
    share = weights[rows] / weights[rows].sum()
    means = centres(own, share)
    found, variance, unique = least_squares(own, means, share)
    return float(means[-1] - found @ means[:-1]), found, variance, unique


# ---- warnings


def warn_collinear(label: Label, parents: Sequence[Label], configurations: int = 0) -> None:
    """Warn that the coefficients of a node are not unique, in some configurations if it has these."""
    where = f" in {counted(configurations, 'configuration')} of its discrete ones" if configurations else ""
    warn(
        f"the parents {quoted(parents)} of {label!r} are collinear or constant in the data{where}, so "
        f"its coefficients are not unique; those of least norm are taken: remove a redundant parent"
    )


def warn_determined(certain: Sequence[Label], n_rows: int) -> None:
    """Warn of nodes without noise, if there are any."""
    if certain:
        warn(
            f"{quoted(certain)} {'are' if len(certain) > 1 else 'is'} constant or determined by the parents "
            f"in {n_rows:,} rows, so the variance is 0 and rows have no density"
        )


def warn_pooled(label: Label, k: int, found: Fits) -> None:
    """Warn of configurations whose parameters come from the rows of all, if there are any."""
    if found.pooled:
        have = "has" if found.pooled == 1 else "have"
        warn(
            f"{counted(found.pooled, 'configuration')} of the discrete parents of {label!r} {have} fewer "
            f"than {k + 2} rows; the regression over the rows of all configurations is taken there: merge "
            f"states, or take parents away"
        )
    if found.level:
        have = "leaves" if found.level == 1 else "leave"
        warn(
            f"{counted(found.level, 'configuration')} of the discrete parents of {label!r} {have} no "
            f"variation to estimate a variance from; that of the regression over all rows is taken there"
        )
