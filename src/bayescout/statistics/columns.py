"""Covariance statistics of wide tables: correlations from the columns when asked for, and no matrix."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Family, Floats, Ints, Parents
from bayescout.data.table import Table
from bayescout.errors import DataError, TooLargeError
from bayescout.statistics.covariance import (
    LARGE_EXPONENT,
    LEAST_SCATTER,
    RESIDUAL_FLOOR,
    SMALL_SPREAD,
    FamilyRegressions,
    _log_scales,
)
from bayescout.statistics.engine import Kind, regression_work
from bayescout.statistics.requirements import require_kind, undefined_score
from bayescout.wording import setting

BLOCK_CELLS = 1 << 22
"""Cells that are centred at a time."""

LEAST_SLOTS, MOST_SLOTS = 1 << 12, 1 << 24
"""The fewest and most correlations that are remembered; about 64 per variable between them."""


class ColumnCovariance:
    """Regressions of families of one continuous table, as `Covariance` without a prior, from its columns.

    columns  (p, n) float64   less their means; times the roots of the weights, if there are any
    roots    (p,) float64     the root of the sum of squares of each
    """

    kind: Kind = "continuous"
    batches_all = False
    far = False
    n_rows = 0

    def __init__(self, table: Table) -> None:
        require_kind(table, "continuous")
        self.total = table.total_weight
        self.rows = table.n_rows // table.copies
        self.columns, squares, exponents = _centred(table)
        _require_varying(table, squares)
        self.roots: Floats = np.sqrt(squares)
        self.log_scales: Floats = _log_scales(squares / self.total, exponents)

    @property
    def n_variables(self) -> int:
        return len(self.log_scales)

    @property
    def unit(self) -> UnitColumns:
        """The columns scaled to length 1, in float32, made when asked for."""
        return UnitColumns(self.columns, self.roots)

    @cached_property
    def arrays(self) -> Any:
        """The data as kernels take them, with room to remember correlations."""
        from bayescout.kernels.columns import Columns

        wanted = min(MOST_SLOTS, max(LEAST_SLOTS, 64 * self.n_variables))
        slots = 1 << (wanted - 1).bit_length()
        return Columns(self.columns, self.roots, np.full(slots, -1, dtype=np.int64), np.empty(slots))

    def cells(self, child: int, parents: Sequence[int]) -> int:
        return 1

    def work(self, child: int, parents: Sequence[int]) -> int:
        return regression_work(len(parents))

    def many(self, families: Sequence[Family]) -> FamilyRegressions:
        """The regressions of many families, in their order."""
        lengths = np.array([len(parents) + 1 for _, parents in families], dtype=np.int64)
        members = np.array([v for child, parents in families for v in (*parents, child)], dtype=np.int64)
        return self.flat(members, np.concatenate(([0], np.cumsum(lengths))))

    def flat(self, members: Ints, bounds: Ints) -> FamilyRegressions:
        """The regressions of families in one array, [parents..., child] one after the other."""
        from bayescout.kernels.columns import regress_wide

        out = np.empty((len(bounds) - 1, 2), dtype=np.float64)
        # A table of its own: threads may ask at the same time.
        slots = 1 << min(20, max(8, len(members).bit_length()))
        arrays = self.arrays._replace(keys=np.full(slots, -1, dtype=np.int64), kept=np.empty(slots))
        regress_wide(arrays, members, bounds, RESIDUAL_FLOOR, out)
        return FamilyRegressions(
            out[:, 0].copy(), out[:, 1].copy(), np.diff(bounds) - 1, members[bounds[1:] - 1],
            self.log_scales, self.total, self.rows,
        )  # fmt: skip

    def extensions(self, child: int, parents: Parents, candidates: Ints) -> FamilyRegressions:
        """The regression of (child, parents + candidate) for each candidate."""
        return self.many([(child, (*parents, candidate)) for candidate in candidates.tolist()])

    def all_extensions(self, families: Sequence[Family]) -> FamilyRegressions:
        raise NotImplementedError  # batches_all is False

    def kernel_view(self) -> None:
        return None

    def too_large(self, child: int, parents: Sequence[int], distinct: int) -> TooLargeError:
        raise NotImplementedError  # no regression is too large


class UnitColumns:
    """Columns scaled to length 1, in float32: some of them, when asked for."""

    def __init__(self, columns: Floats, roots: Floats) -> None:
        self.columns, self.roots, self.shape = columns, roots, columns.shape

    def __call__(self, begin: int, end: int) -> NDArray[np.float32]:
        return (self.columns[begin:end] / self.roots[begin:end, None]).astype(np.float32)


def _centred(table: Table) -> tuple[Floats, Floats, Ints]:
    """The centred columns, their sums of squares, and the exponents of the powers of two they are divided by.

    As `covariance.centred_columns`, in blocks and without the matrix.
    """
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    total, root = weights.sum(), None if table.weights is None else np.sqrt(table.weights)
    p = table.n_columns
    columns, squares = np.empty((p, table.n_rows)), np.empty(p)
    exponents = np.zeros(p, dtype=np.int64)
    step = max(1, BLOCK_CELLS // max(1, table.n_rows))
    for begin in range(0, p, step):
        block, part = table.values[begin : begin + step], slice(begin, begin + step)
        sizes = np.abs(block).max(axis=1, initial=0.0)
        own = np.frexp(sizes)[1].astype(np.int64)
        own[np.abs(own) <= LARGE_EXPONENT] = 0
        exponents[part] = own
        if own.any():
            block = np.ldexp(block, -own[:, None])
            sizes = np.ldexp(sizes, -own)
        centred = block - ((block * weights).sum(axis=1) / total)[:, None]
        found = np.einsum("ij,ij,j->i", centred, centred, weights)
        small = np.flatnonzero(found <= np.square(sizes) * (SMALL_SPREAD * total))
        if len(small):
            some = centred[small]
            centred[small] = some - ((some * weights).sum(axis=1) / total)[:, None]
            found[small] = np.einsum("ij,ij,j->i", centred[small], centred[small], weights)
        columns[part] = centred if root is None else centred * root
        squares[part] = found
    return columns, squares, exponents


def _require_varying(table: Table, squares: Floats) -> None:
    """Refuse columns without variance, in one message however many there are."""
    flat = np.flatnonzero(squares < LEAST_SCATTER)
    if not len(flat):
        return
    first = table.names[int(flat[0])]
    if len(flat) == 1:
        raise undefined_score(first, "is constant")
    shown = ", ".join(repr(table.names[i]) for i in flat[:5].tolist())
    raise DataError(
        f"{len(flat):,} columns are constant ({shown}{', ...' if len(flat) > 5 else ''}): a Gaussian score "
        f"is undefined for them; {setting('drop', first)} and the others alike leaves them out"
    )
