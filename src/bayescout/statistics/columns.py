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

FREE_SLOTS = 1 << 20
"""So many are remembered, 16 MB, however few the variables, but for no more than there are pairs."""


class ColumnCovariance:
    """Regressions of families of one continuous table, as `Covariance` without a prior, from its columns.

    values  (p, n)           the columns of the table, as they are there; if rows have weights, or numbers are
                             near the ends of what floats hold: a copy, centred, scaled and weighted
    shifts  (p, 2) float64   what is taken from each column, one after the other: its mean, as far as it is
                             not taken yet
    roots   (p,) float64     the root of the sum of squares of each, less its mean
    """

    kind: Kind = "continuous"
    batches_all = False
    far = False
    n_rows = 0

    def __init__(self, table: Table) -> None:
        require_kind(table, "continuous")
        self.total = table.total_weight
        self.rows = table.n_rows // table.copies
        self.values, self.shifts, squares, exponents = _centred(table)
        _require_varying(table, squares)
        self.roots: Floats = np.sqrt(squares)
        self.log_scales: Floats = _log_scales(squares / self.total, exponents)

    @property
    def n_variables(self) -> int:
        return len(self.log_scales)

    @property
    def unit(self) -> UnitColumns:
        """The columns scaled to length 1, in float32, made when asked for."""
        return UnitColumns(self.values, self.shifts, self.roots)

    @cached_property
    def arrays(self) -> Any:
        """The data as kernels take them, with room to remember correlations."""
        from bayescout.kernels.columns import Columns

        p = self.n_variables
        wanted = min(MOST_SLOTS, max(LEAST_SLOTS, 64 * p, min(FREE_SLOTS, p * (p - 1) // 2)))
        slots = 1 << (wanted - 1).bit_length()
        keys, kept = np.full(slots, -1, dtype=np.int64), np.empty(slots)
        return Columns(self.values, self.shifts, self.roots, keys, kept)

    def cells(self, child: int, parents: Sequence[int]) -> int:
        return 1

    def work(self, child: int, parents: Sequence[int]) -> int:
        return regression_work(len(parents))

    def many(self, families: Sequence[Family], alone: bool = False) -> FamilyRegressions:
        """The regressions of many families, in their order.

        alone  no other thread asks at the same time, so that correlations are remembered from call to call
        """
        lengths = np.array([len(parents) + 1 for _, parents in families], dtype=np.int64)
        members = np.array([v for child, parents in families for v in (*parents, child)], dtype=np.int64)
        return self.flat(members, np.concatenate(([0], np.cumsum(lengths))), alone)

    def flat(self, members: Ints, bounds: Ints, alone: bool = False) -> FamilyRegressions:
        """The regressions of families in one array, [parents..., child] one after the other."""
        from bayescout.kernels.columns import regress_wide

        out = np.empty((len(bounds) - 1, 2), dtype=np.float64)
        arrays = self.arrays
        if not alone:
            slots = 1 << min(20, max(8, len(members).bit_length()))
            arrays = arrays._replace(keys=np.full(slots, -1, dtype=np.int64), kept=np.empty(slots))
        regress_wide(arrays, members, bounds, RESIDUAL_FLOOR, out)
        return FamilyRegressions(
            out[:, 0].copy(), out[:, 1].copy(), np.diff(bounds) - 1, members[bounds[1:] - 1],
            self.log_scales, self.total, self.rows,
        )  # fmt: skip

    def extensions(self, child: int, parents: Parents, candidates: Ints) -> FamilyRegressions:
        """The regression of (child, parents + candidate) for each candidate."""
        return self.many([(child, (*parents, candidate)) for candidate in candidates.tolist()])

    def extensions_of_each(
        self, families: Sequence[Family], bounds: Ints, candidates: Ints
    ) -> FamilyRegressions:
        """The regressions of each family with each of its candidates, which begin at `bounds`.

        No other thread may ask at the same time: correlations are remembered from call to call.
        """
        from bayescout.kernels.columns import extend_wide

        lengths = np.array([len(parents) + 1 for _, parents in families], dtype=np.int64)
        members = np.array([v for child, parents in families for v in (*parents, child)], dtype=np.int64)
        out = np.empty((len(candidates), 2), dtype=np.float64)
        begins = np.concatenate(([0], np.cumsum(lengths)))
        extend_wide(self.arrays, members, begins, candidates, bounds, RESIDUAL_FLOOR, out)
        counts, children = np.diff(bounds), members[begins[1:] - 1]
        return FamilyRegressions(
            out[:, 0].copy(), out[:, 1].copy(), np.repeat(lengths, counts), np.repeat(children, counts),
            self.log_scales, self.total, self.rows,
        )  # fmt: skip

    def all_extensions(self, families: Sequence[Family]) -> FamilyRegressions:
        raise NotImplementedError  # batches_all is False

    def kernel_view(self) -> None:
        return None

    def too_large(self, child: int, parents: Sequence[int], distinct: int) -> TooLargeError:
        raise NotImplementedError  # no regression is too large


class UnitColumns:
    """Columns scaled to length 1: some of them, when asked for."""

    def __init__(self, values: NDArray[Any], shifts: Floats, roots: Floats) -> None:
        self.values, self.shifts, self.roots, self.shape = values, shifts, roots, values.shape

    def __call__(self, begin: int, end: int) -> NDArray[np.float32]:
        return self._scaled(np.empty((end - begin, self.shape[1]), dtype=np.float32), begin, end)

    def doubles(self, begin: int, end: int) -> Floats:
        """The same in float64."""
        return self._scaled(np.empty((end - begin, self.shape[1])), begin, end)

    def _scaled(self, found: NDArray[Any], begin: int, end: int) -> NDArray[Any]:
        step = max(1, BLOCK_CELLS // max(1, self.shape[1]))
        for first in range(begin, end, step):
            some = slice(first, min(end, first + step))
            centred = self.values[some] - self.shifts[some, :1]
            centred -= self.shifts[some, 1:]
            centred /= self.roots[some, None]
            found[first - begin : some.stop - begin] = centred
        return found


def _centred(table: Table, scaled: bool = False) -> tuple[NDArray[Any], Floats, Floats, Ints]:
    """The columns, what is taken from them, their sums of squares, and powers of two they are divided by.

    As `covariance.centred_columns`, in blocks and without the matrix; nothing is copied unless columns are to
    be `scaled`, by weights of rows or because they are extreme.
    """
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    total, root = weights.sum(), None if table.weights is None else np.sqrt(table.weights)
    scaled = scaled or root is not None
    p = table.n_columns
    shifts, squares = np.zeros((p, 2)), np.empty(p)
    copied = np.empty((p, table.n_rows)) if scaled else None
    exponents = np.zeros(p, dtype=np.int64)
    step = max(1, BLOCK_CELLS // max(1, table.n_rows))
    for begin in range(0, p, step):
        block, part = table.doubles(begin, begin + step), slice(begin, begin + step)
        sizes = np.abs(block).max(axis=1, initial=0.0)
        own = np.frexp(sizes)[1].astype(np.int64)
        own[np.abs(own) <= LARGE_EXPONENT] = 0
        exponents[part] = own
        if own.any():
            if not scaled:
                return _centred(table, scaled=True)
            block = np.ldexp(block, -own[:, None])
            sizes = np.ldexp(sizes, -own)
        shifts[part, 0] = (block * weights).sum(axis=1) / total
        centred = block - shifts[part, :1]
        found = np.einsum("ij,ij,j->i", centred, centred, weights)
        small = np.flatnonzero(found <= np.square(sizes) * (SMALL_SPREAD * total))
        if len(small):
            some = centred[small]
            more = (some * weights).sum(axis=1) / total
            shifts[begin + small, 1] = more
            centred[small] = some - more[:, None]
            found[small] = np.einsum("ij,ij,j->i", centred[small], centred[small], weights)
        if copied is not None:
            copied[part] = centred if root is None else centred * root
        squares[part] = found
    if copied is None:
        return table.values, shifts, squares, exponents
    copied.flags.writeable = False  # as the columns of a table, so that kernels are compiled once
    return copied, np.zeros((p, 2)), squares, exponents


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
