"""Least squares over rows past memory, on disk or on a cluster, a block of rows at a time.

Rows are centred in a second pass, and a block is joined with the triangular factor of those before it, which
holds all that least squares needs. The sums are added in another order than those of rows in memory, so
parameters agree to about twelve digits, less where regressors are nearly collinear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescout.data.past.budget import in_units
from bayescout.data.past.stored import StoredTable
from bayescout.data.table import Label
from bayescout.errors import TooLargeError
from bayescout.network.node import Array
from bayescout.network.regression import Fits, solved
from bayescout.statistics.stored_counts import block_rows

Blocks = Callable[[], Iterator[tuple[NDArray[np.int64], Array]]]
"""The rows, block by block, as often as it is called: the group of each row, and (columns, rows) values."""


class Factors(NamedTuple):
    """What least squares needs to know of the rows of each group.

    rows       (g,) int64
    means      (g, v)
    sizes      (g, v)      the largest absolute values
    triangles  (g, v, v)   triangular factors of the centred columns
    """

    rows: NDArray[np.int64]
    means: Array
    sizes: Array
    triangles: Array

    def regression(self, group: int, family: Sequence[int]) -> tuple[float, Array, float, bool]:
        """Intercept, coefficients and variance of the last of some columns on the others; True if unique."""
        columns = list(family)
        triangle = self.triangles[group][:, columns] / np.sqrt(self.rows[group])
        norms = np.sqrt((triangle * triangle).sum(axis=0))
        found, variance, unique = solved(triangle, norms, self.sizes[group, columns])
        means = self.means[group, columns]
        return float(means[-1] - found @ means[:-1]), found, variance, unique


def factors_of(blocks: Blocks, groups: int, columns: int) -> Factors:
    """The factors of the rows of each group, in two passes."""
    rows, sums = np.zeros(groups, dtype=np.int64), np.zeros((groups, columns))
    low, high = np.full((groups, columns), np.inf), np.full((groups, columns), -np.inf)
    for numbers, values in blocks():
        for group, own in _by_group(numbers, values):
            rows[group] += own.shape[1]
            sums[group] += own.sum(axis=1)
            low[group] = np.minimum(low[group], own.min(axis=1))
            high[group] = np.maximum(high[group], own.max(axis=1))
    means = sums / np.maximum(rows, 1)[:, None]
    means = np.where(low == high, low, means)  # a rounded mean would make a constant column vary
    triangles = np.zeros((groups, columns, columns))
    for numbers, values in blocks():
        for group, own in _by_group(numbers, values):
            joined = np.concatenate([triangles[group], (own - means[group][:, None]).T])
            triangles[group] = np.linalg.qr(joined, mode="r")
    return Factors(rows, means, np.maximum(np.abs(low), np.abs(high)), triangles)


def _by_group(numbers: NDArray[np.int64], values: Array) -> Iterator[tuple[int, Array]]:
    """The rows of each group that has some."""
    order = np.argsort(numbers, kind="stable")
    found, begins = np.unique(numbers[order], return_index=True)
    if len(found) == 1:
        yield int(found[0]), values
        return
    ends = [*begins[1:].tolist(), len(order)]
    for group, begin, end in zip(found.tolist(), begins.tolist(), ends, strict=True):
        yield group, values[:, order[begin:end]]


def gaussian_factors(table: StoredTable) -> Factors:
    """The factors of all columns of a table of numbers, as one group."""
    return factors_of(_blocks(table, (), table.names), 1, table.n_columns)


def conditional_fits_past(
    table: StoredTable, discrete: Sequence[Label], numbers: Sequence[Label], n_configs: int
) -> Fits:
    """As `regression.conditional_fits`, of the last of the numbers on the others.

    discrete  the columns whose states give the configuration of a row, the last varying fastest
    """
    v = len(numbers)
    if 8 * n_configs * v * v > table.budget.spare // 4:
        raise TooLargeError(
            f"{n_configs:,} configurations of {len(discrete)} discrete parents of {numbers[-1]!r}, with the "
            f"products of {v} columns each, take more than a quarter of {in_units(table.budget.spare)}: "
            f"limit its parents, or give more memory="
        )
    whole = factors_of(_blocks(table, (), numbers), 1, v)
    apart = factors_of(_blocks(table, discrete, numbers), n_configs, v)
    family, k = range(v), v - 1
    intercept, shared, variance, _ = whole.regression(0, family)
    intercepts, variances = np.full(n_configs, intercept), np.full(n_configs, variance)
    coefficients = np.tile(shared, (n_configs, 1))
    sizes, level, loose = apart.rows, 0, 0
    for one in np.flatnonzero(sizes >= k + 2).tolist():
        intercepts[one], coefficients[one], own, unique = apart.regression(one, family)
        variances[one] = own or variance
        level += not own and variance > 0
        loose += not unique
    pooled = int(((sizes > 0) & (sizes < k + 2)).sum())
    return Fits(intercepts, coefficients, variances, sizes == 0, pooled, level, loose)


def _blocks(table: StoredTable, discrete: Sequence[Label], numbers: Sequence[Label]) -> Blocks:
    """The rows of a table by configuration of some discrete columns, and the values of others."""
    codes, values = ([table.index(name) for name in names] for names in (discrete, numbers))
    cards = table.cardinalities[codes].tolist()
    height = block_rows(32 * (len(values) + len(codes) + 2), table.budget)

    def blocks() -> Iterator[tuple[NDArray[np.int64], Array]]:
        with ExitStack() as stack:
            own: Any = stack.enter_context(closing(table.blocks(values, height)))
            given: Any = stack.enter_context(closing(table.blocks(codes, height))) if codes else None
            for some in own:
                config = np.zeros(some.shape[1], dtype=np.int64)
                for r, column in zip(cards, () if given is None else next(given), strict=True):
                    config = config * r + column
                yield config, some

    return blocks
