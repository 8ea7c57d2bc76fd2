"""Degenerate Gaussian statistics: discrete columns as indicator columns of one covariance matrix.

Andrews, Ramsey & Cooper (2019): a discrete variable of r occurring states becomes r - 1 indicator columns,
and the log-likelihood of a family is that of the child's and parents' columns together, as if they were
Gaussian, less that of the parents' columns. Arcs may go in any direction.

The indicators of a variable are replaced by uncorrelated combinations of unit variance, which changes no
determinant but for a constant. Correlations of a discrete variable with others are divided by 1 + `RIDGE`
(by its root, with continuous ones), as if that share of its own covariance were added to it: variables that
determine each other then have a large but finite score, equivalent graphs still score the same, and neither
the order of the states nor the choice of the one without an indicator matters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescout.arrays import Family, Floats, Ints, Parents
from bayescout.data.absent import require_complete
from bayescout.data.past.stored import StoredTable
from bayescout.data.table import Table
from bayescout.errors import DataError, TooLargeError
from bayescout.statistics.counts import dense_counts
from bayescout.statistics.covariance import (
    CORRELATION_DIGITS,
    RESIDUAL_FLOOR,
    Covariance,
    centred_columns,
    on_grid,
)
from bayescout.statistics.engine import Kind, regression_work
from bayescout.statistics.past_rows import centred, counts_of, sums_by_state
from bayescout.statistics.stored_strata import Spreads
from bayescout.wording import setting

RIDGE = 2.0**-20
"""The share of a discrete variable's own covariance that is added to it."""

MOST_COLUMNS = 4096
"""The most columns of the matrix: 128 MB."""


@dataclass(frozen=True)
class FamilyBlocks:
    """Blocks of the covariance matrix of a batch of families.

    log_dets    (k,) log-determinant of the child's columns given the parents', in correlations
    widths      (k,) columns of the child
    given       (k,) columns of the parents
    scales      (k,) log-determinant of 2 pi times the child's own covariance
    rows        rows of the table
    """

    log_dets: Floats
    widths: Ints
    given: Ints
    scales: Floats
    total: float
    rows: int
    n_variables: int

    def __len__(self) -> int:
        return len(self.log_dets)

    def rounded(self, value: float) -> float:
        return float(on_grid(np.float64(value)))

    def parameters(self) -> Floats:
        """Means, variances and covariances of all the family's columns less those of the parents' columns.

        With a columns in all and b of parents, (a (a + 3) - b (b + 3)) / 2: the paper's count and one mean
        per column. For continuous variables it is one coefficient per parent, an intercept and a variance.
        """
        both = (self.widths + self.given).astype(np.float64)
        return np.asarray((both * (both + 3) - self.given * (self.given + 3.0)) / 2)

    def log_likelihoods(self) -> Floats:
        """-n/2 (log det(2 pi C) + columns) of the family's columns less the same of the parents' columns.

        A family with as many columns as rows fits anything and cannot be scored: -inf.
        """
        half = self.total / 2
        gained: Floats = on_grid(-half * self.log_dets) - on_grid(half * (self.scales + self.widths))
        saturated = self.widths + self.given >= self.rows
        return np.where(saturated, -np.inf, gained) if saturated.any() else gained


class DegenerateGaussian:
    """Degenerate Gaussian statistics of a table of any kind, in memory or on disk.

    widths  (p,) int64   the columns of each variable
    """

    kind: Kind = "degenerate"
    batches_all = True
    far = False
    n_rows = 0  # a regression goes through none

    def __init__(self, table: Table) -> None:
        require_complete(table)
        self.total = table.total_weight
        self._rows = table.n_rows // table.copies
        blocks = _Blocks(table)
        self.starts: Ints = blocks.starts
        self.scales: Floats = blocks.scales
        self.matrix: Floats = blocks.matrix
        self.widths: Ints = np.diff(self.starts)
        self._sizes: list[int] = self.widths.tolist()
        self._floors = np.full(len(self.matrix), RESIDUAL_FLOOR)

    @property
    def n_variables(self) -> int:
        return len(self.scales)

    def cells(self, child: int, parents: Sequence[int]) -> int:
        """The cells of a regression: it takes hardly any memory."""
        return 1

    def work(self, child: int, parents: Sequence[int]) -> int:
        """The work of a regression, by the number of its columns."""
        return regression_work(self._columns(parents) + self._sizes[child])

    def many(self, families: Sequence[Family]) -> FamilyBlocks:
        """The blocks of many families, in their order."""
        from bayescout.kernels.regression import regress_blocks

        members, bounds = _flat(families)
        out = np.empty(len(families))
        regress_blocks(self.matrix, self.starts, members, bounds, self._floors, out)
        given = np.array([self._columns(parents) for _, parents in families], dtype=np.int64)
        return self._batch(out, members[bounds[1:] - 1], given)

    def extensions(self, child: int, parents: Parents, candidates: Ints) -> FamilyBlocks:
        """The blocks of (child, parents + candidate) for each candidate."""
        from bayescout.kernels.regression import extend_blocks

        out = np.empty(len(candidates))
        family = np.array((*parents, child), dtype=np.int64)
        extend_blocks(self.matrix, self.starts, family, candidates, self._floors, out)
        given = self._columns(parents) + self.widths[candidates]
        return self._batch(out, np.full(len(candidates), child), given)

    def all_extensions(self, families: Sequence[Family]) -> FamilyBlocks:
        """The blocks of each family with every variable added; meaningless for its own members."""
        from bayescout.kernels.regression import extend_all_blocks

        n = self.n_variables
        members, bounds = _flat(families)
        out = np.empty(len(families) * n)
        extend_all_blocks(self.matrix, self.starts, members, bounds, self._floors, out)
        given = np.array([self._columns(parents) for _, parents in families], dtype=np.int64)
        more = (given[:, None] + self.widths[None, :]).ravel()
        return self._batch(out, np.repeat(members[bounds[1:] - 1], n), more)

    def kernel_view(self) -> None:
        return None

    def too_large(self, child: int, parents: Sequence[int], distinct: int) -> TooLargeError:
        raise NotImplementedError  # no regression is too large

    def _columns(self, variables: Sequence[int]) -> int:
        return sum([self._sizes[v] for v in variables])

    def _batch(self, log_dets: Floats, children: Ints, given: Ints) -> FamilyBlocks:
        scales, widths = self.scales[children], self.widths[children]
        return FamilyBlocks(log_dets, widths, given, scales, self.total, self._rows, self.n_variables)


class _Blocks:
    """The matrix of a table, put together from pairs of variables.

    starts  (p + 1,) the first column of each variable
    scales  (p,) log-determinant of 2 pi times a variable's own covariance
    matrix  of correlations between uncorrelated combinations of each variable's columns
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.discrete = [i for i, states in enumerate(table.states) if states is not None]
        self.continuous = [i for i, states in enumerate(table.states) if states is None]
        self.scales = np.zeros(table.n_columns)
        self.shares: list[Floats] = []
        self.mixing: list[Floats] = []
        widths = np.ones(table.n_columns, dtype=np.int64)
        if self.discrete:
            self.rows_of_states: Any = table.select([table.names[i] for i in self.discrete])
            self.counts = counts_of(self.rows_of_states)
            for place, i in enumerate(self.discrete):
                widths[i] = self._mix(place, i)
        self.starts = np.concatenate(([0], np.cumsum(widths)))
        columns = int(self.starts[-1])
        _require_room(table, columns)
        self.matrix = np.eye(columns)
        for place in range(len(self.discrete)):
            self._fill_pairs(place)
        if self.continuous:
            self._fill_continuous()
        self.matrix = np.ldexp(np.rint(np.ldexp(self.matrix, CORRELATION_DIGITS)), -CORRELATION_DIGITS)

    def _mix(self, place: int, variable: int) -> int:
        """Prepare the indicators of one variable; returns their number.

        The most frequent state has none. The covariance of the others' has the product of all shares as its
        determinant; its inverse Cholesky factor gives uncorrelated combinations.
        """
        found = self.counts.count(place, ()).astype(np.float64)[0]
        shares = found / found.sum()
        occurring = np.flatnonzero(found)
        kept = np.delete(occurring, int(np.argmax(shares[occurring])))
        own = np.diag(shares[kept]) - np.outer(shares[kept], shares[kept])
        mixing = np.zeros((len(shares), len(kept)))
        if len(kept):
            mixing[kept] = np.linalg.inv(np.linalg.cholesky(own)).T
        self.shares.append(shares)
        self.mixing.append(mixing)
        logs = np.sort(np.log(shares[occurring]))
        self.scales[variable] = len(kept) * math.log(2 * math.pi) + float(logs.sum())
        return len(kept)

    def _fill_pairs(self, place: int) -> None:
        """Fill in the correlations of one discrete variable with the later ones."""
        later = np.arange(place + 1, len(self.discrete), dtype=np.int64)
        if not len(later):
            return
        if all(self.counts.is_dense(place, (int(v),)) for v in later):
            tables = self.counts.extensions(place, (), later)
            pairs = [tables.table(i) for i in range(len(later))]
        else:
            pairs = [dense_counts(self.rows_of_states, place, (int(v),)) for v in later]
        for other, pair in zip(later.tolist(), pairs, strict=True):
            joint = pair / pair.sum() - np.outer(self.shares[other], self.shares[place])
            block = self.mixing[other].T @ joint @ self.mixing[place] / (1 + RIDGE)
            self._put(self.discrete[other], self.discrete[place], block)

    def _fill_continuous(self) -> None:
        """Fill in the correlations of the continuous variables, with each other and with discrete ones."""
        table = self.table.select([self.table.names[i] for i in self.continuous])
        sums, covariance = self._sums_by_state(table)
        for row, i in enumerate(self.continuous):
            self.scales[i] = covariance.log_scales[row]
            for column, j in enumerate(self.continuous[:row]):
                self._put(i, j, covariance.matrix[row : row + 1, column : column + 1])
        for place, i in enumerate(self.discrete):
            for own, j in zip(sums[place].T, self.continuous, strict=True):
                block = (self.mixing[place].T @ own / math.sqrt(1 + RIDGE))[:, None]
                self._put(i, j, block)

    def _sums_by_state(self, table: Table) -> tuple[list[Floats], Covariance]:
        """The sums of the continuous columns over the rows of each state, (states, columns) of each discrete
        one, and the covariance of the continuous columns."""
        if isinstance(table, StoredTable):
            scatter, shift = centred(table)
            covariance = Covariance(table, None, (scatter, shift.exponents))
            spreads = np.sqrt(np.diag(scatter) * table.total_weight)
            if not self.discrete:
                return [], covariance
            return sums_by_state(self.rows_of_states, table, shift, Spreads(spreads)), covariance
        covariance = Covariance(table)
        columns, scatter, _ = centred_columns(table)
        weights = 1.0 if table.weights is None else table.weights
        rows = columns * weights / np.sqrt(np.diag(scatter) * table.total_weight)[:, None]
        sums: list[Floats] = []
        for place in range(len(self.discrete)):
            codes, states = self.table.codes[place], len(self.shares[place])
            sums.append(np.stack([np.bincount(codes, weights=own, minlength=states) for own in rows], axis=1))
        return sums, covariance

    def _put(self, one: int, other: int, block: Floats) -> None:
        ones = slice(self.starts[one], self.starts[one + 1])
        others = slice(self.starts[other], self.starts[other + 1])
        self.matrix[ones, others] = block
        self.matrix[others, ones] = block.T


def _flat(families: Sequence[Family]) -> tuple[Ints, Ints]:
    """The members of families one after the other, parents first, and where each family begins."""
    lengths = [len(parents) + 1 for _, parents in families]
    members = np.array([v for child, parents in families for v in (*parents, child)], dtype=np.int64)
    return members, np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


def _require_room(table: Table, columns: int) -> None:
    if columns > MOST_COLUMNS:
        most = int(np.argmax(table.cardinalities))
        raise DataError(
            f"the indicators of all states are {columns:,} columns, more than the {MOST_COLUMNS:,} that a "
            f"degenerate Gaussian score holds ({table.names[most]!r} alone has {table.cardinalities[most]:,} "
            f"states): merge states, {setting('drop', table.names[most])}, or use bic"
        )
