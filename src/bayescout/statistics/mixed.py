"""Conditional Gaussian statistics: tables for discrete children, one regression per configuration for others.

A discrete child has discrete parents only, and the contingency table of `Counts`. A continuous child has one
linear regression on its continuous parents for each configuration of its discrete parents; without discrete
parents it is the regression of `Covariance`. So the scores are those of the discrete and of the Gaussian
statistics, to the bit, wherever those apply.

One covariance matrix of all continuous variables belongs to each configuration, and a family's value is what
its block says less what the block of its parents says; hence equivalent graphs score the same. The matrix is
the maximum-likelihood one with at least `FEW_ROWS` rows, and otherwise (S + k D) / (n + k) for the scatter S,
the diagonal D of overall variances and k = `PRIOR_ROWS`: see docs/decisions/mixed-columns.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bayescout.arrays import Bools, Family, Floats, Ints, Parents
from bayescout.data.absent import require_complete
from bayescout.data.past.stored import StoredTable
from bayescout.data.table import Table
from bayescout.errors import TooLargeError
from bayescout.statistics.covariance import (
    CORRELATION_DIGITS,
    RESIDUAL_FLOOR,
    Covariance,
    centred_columns,
    on_grid,
)
from bayescout.statistics.degenerate import DegenerateGaussian
from bayescout.statistics.discrete import SPARSE_WORK
from bayescout.statistics.engine import Kind
from bayescout.statistics.families import Grid
from bayescout.statistics.past_rows import centred, counts_of, strata_of
from bayescout.statistics.stored_strata import Spreads
from bayescout.statistics.strata import MOST_BYTES, WHOLE_COLUMNS, Scatters, StrataMemory

FEW_ROWS = 10.0
"""A configuration with fewer rows (by weight) has a covariance matrix shrunk to the overall variances."""

PRIOR_ROWS = 1.0
"""The rows that the overall variances count for in a shrunk matrix."""


class Strata(NamedTuple):
    """The rows of a table by configuration of some discrete variables, and a covariance matrix for each.

    sizes      (q,) int64          rows
    totals     (q,) float64        sums of weights
    few        (q,) bool           True where the matrix is shrunk
    matrices   (q, v, v) float64   correlations of the continuous columns
    variances  (q, v) float64      in units of the overall variance
    errors     (q, v) float64      sums of squared errors without parents, in units of that variance
    owns       (v,) float64        log-likelihood of each column without continuous parents, over all strata
    """

    sizes: Ints
    totals: Floats
    few: Bools
    matrices: Floats
    variances: Floats
    errors: Floats
    owns: Floats

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The argument `strata` of `kernels.strata`."""
        return self[:5]

    @property
    def bytes(self) -> int:
        return int(self.matrices.nbytes + 2 * self.variances.nbytes)


@dataclass(frozen=True)
class MixedFamilies:
    """A batch of conditional Gaussian families.

    likelihoods  (k,) maximised log-likelihoods; -inf for a discrete child with a continuous parent
    sizes        (k,) free parameters
    fine         (k,) True if there is a discrete variable in the family
    grid         of the discrete statistics: finer than that of regressions, since parameters may be many
    """

    likelihoods: Floats
    sizes: Floats
    fine: Bools
    grid: Grid
    total: float
    n_variables: int

    def __len__(self) -> int:
        return len(self.likelihoods)

    def log_likelihoods(self) -> Floats:
        """Of tables as of `FamilyTables`; of regressions the sum over configurations, in nats."""
        return self.likelihoods

    def parameters(self) -> Floats:
        """q (r - 1) for a discrete child; q (k + 2) for a continuous one with k continuous parents."""
        return self.sizes

    def rounded(self, value: float) -> Floats:
        """The constant on the grid of each family."""
        return np.where(self.fine, self.grid.round(value), on_grid(np.float64(value)))


_NONE = np.array([-1])
"""No further parent."""


class FamiliesByKind(NamedTuple):
    """Families by the statistics that they need, each with its place in a batch.

    tables  discrete child and parents, as positions among the discrete columns
    plain   continuous child and parents, likewise
    strata  (place, continuous child, discrete parents, continuous parents)
    """

    tables: list[tuple[int, Family]]
    plain: list[tuple[int, Family]]
    strata: list[tuple[int, int, Parents, Parents]]


class MixedStatistics:
    """What all statistics of one table with columns of both kinds have in common, wherever its rows are.

    is_discrete  (p,) bool
    counts       the statistics of the discrete columns
    """

    kind: Kind = "mixed"
    batches_all = False
    strata: StrataMemory[Any]

    def __init__(self, table: Table) -> None:
        require_complete(table)
        kinds = table.discrete_columns
        names = np.array(table.names, dtype=object)
        self.table = table
        self.is_discrete: Bools = kinds
        self.counts = counts_of(table.select(list(names[kinds])))
        self.continuous = table.select(list(names[~kinds]))
        self.far = self.counts.far
        self.total = table.total_weight
        self.n_rows = table.n_rows
        self._places = np.where(kinds, np.cumsum(kinds), np.cumsum(~kinds)) - 1

    @property
    def n_variables(self) -> int:
        return len(self.is_discrete)

    @property
    def legal(self) -> Bools:
        """[parent, child]: False for a continuous parent of a discrete child."""
        return conditional_arcs(self.table)

    @cached_property
    def degenerate(self) -> DegenerateGaussian:
        """The degenerate Gaussian statistics of the same table, for tests of independence."""
        return DegenerateGaussian(self.table)

    def cells(self, child: int, parents: Sequence[int]) -> int:
        """The cells of a table, or the number of configurations with a regression each."""
        own = [child] if self.is_discrete[child] else []
        members = [v for v in (*parents, *own) if self.is_discrete[v]]
        return math.prod(int(self.counts.cards[self._places[v]]) for v in members)

    def work(self, child: int, parents: Sequence[int]) -> int:
        """The work of a table, or of the matrices of the configurations, which may be of all columns."""
        if self.far:
            return min(self.cells(child, parents), 1 << 20)
        if self.is_discrete[child]:
            return self.n_rows * (SPARSE_WORK if self.cells(child, parents) > self.n_rows else 1) or 1
        columns = self.continuous.n_columns
        if columns > WHOLE_COLUMNS:
            columns = min(columns, len(parents) + 2)
        return self.n_rows * (1 + 2 * columns * columns) or 1

    def ask(self, families: Sequence[Family], rows: Sequence[tuple[int, Parents, Ints]] = ()) -> None:
        """Fetch in one round trip what `many` of families and `extensions` of rows will need.

        Where rows are on a cluster; it is not needed again then. Elsewhere this does nothing.
        """
        if not self.far:
            return
        kinds = self._by_kind(families)
        tables = [family for _, family in kinds.tables]
        wanted = [
            columns
            for _, child, discrete, continuous in kinds.strata
            for columns in self._wanted(child, discrete, continuous, _NONE)
        ]
        for child, parents, candidates in rows:
            discrete, continuous = self._split(parents)
            own, places = self._place(child), self._places[candidates]
            by_table = self.is_discrete[candidates]
            if self.is_discrete[child]:
                more = [] if continuous else places[by_table].tolist()
                tables += [(own, tuple(sorted((*discrete, one)))) for one in more]
                continue
            if discrete and not by_table.all():
                wanted += self._wanted(own, discrete, continuous, places[~by_table])
            for one in places[by_table].tolist():
                wanted += self._wanted(own, tuple(sorted((*discrete, one))), continuous, _NONE)
        begun = self.strata.begin(wanted)
        self.counts.ask(tables)
        self.strata.finish(begun)

    def _wanted(
        self, child: int, discrete: Parents, continuous: Parents, candidates: Ints
    ) -> list[tuple[Parents, Ints | None]]:
        """The matrices that the regressions of a child need: the discrete columns of each, and the others."""
        family = np.array([*continuous, child], dtype=np.int64)
        pieces = self.strata.columns_of_pieces(discrete, family, candidates)
        return [(discrete, columns) for _, columns in pieces]

    def kernel_view(self) -> None:
        return None

    def too_large(self, child: int, parents: Sequence[int], distinct: int) -> TooLargeError:
        """The error for a family with so many occurring configurations."""
        name = self.table.names[child]
        given = ", ".join(repr(self.table.names[parent]) for parent in parents)
        return TooLargeError(
            f"the regressions of {name!r} given {given} are {distinct:,}, one for each configuration of the "
            f"discrete parents, more than fit in {MOST_BYTES >> 20} MB; limit the parents of {name!r}"
        )

    @property
    def discrete_rows(self) -> Any:
        """The discrete columns of a table past memory."""
        names = self.table.names
        return self.table.select([names[i] for i in np.flatnonzero(self.is_discrete)])

    def _place(self, variable: int) -> int:
        return int(self._places[variable])

    def _split(self, parents: Parents) -> tuple[Parents, Parents]:
        """The discrete and the continuous parents, as positions among the columns of their kind."""
        discrete = tuple(self._place(v) for v in parents if self.is_discrete[v])
        continuous = tuple(self._place(v) for v in parents if not self.is_discrete[v])
        return tuple(sorted(discrete)), tuple(sorted(continuous))

    def _by_kind(self, families: Sequence[Family]) -> FamiliesByKind:
        """The families by the statistics that they need; one that has none is left out."""
        found = FamiliesByKind([], [], [])
        for i, (child, parents) in enumerate(families):
            discrete, continuous = self._split(parents)
            own = self._place(child)
            if self.is_discrete[child]:
                if not continuous:
                    found.tables.append((i, (own, discrete)))
            elif discrete:
                found.strata.append((i, own, discrete, continuous))
            else:
                found.plain.append((i, (own, continuous)))
        return found


class ConditionalGaussian(MixedStatistics):
    """Conditional Gaussian statistics of one table with columns of both kinds, wherever its rows are."""

    strata: StrataMemory[Strata]

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        if isinstance(self.continuous, StoredTable):
            scatter, shift = centred(self.continuous)
            self.covariance = Covariance(self.continuous, None, (scatter, shift.exponents))
            unit = Spreads(np.sqrt(np.diag(scatter) / self.total))
            self.strata = strata_of(
                self.discrete_rows, self.counts, self.continuous, shift, unit, self._shrunk
            )
        else:
            self.covariance = Covariance(self.continuous)
            rows = _standardised(self.continuous, self.total)
            self.strata = StrataMemory(table, self.counts, rows, self._shrunk)

    def many(self, families: Sequence[Family]) -> MixedFamilies:
        """The statistics of many families, in their order."""
        self.ask(families)
        likelihoods, sizes = np.full(len(families), -np.inf), np.ones(len(families))
        kinds = self._by_kind(families)
        for i, child, discrete, continuous in kinds.strata:
            likelihoods[i] = self._regressed(child, discrete, continuous, _NONE)[0]
            sizes[i] = self.counts.configurations(discrete) * (len(continuous) + 2)
        for statistics, some in ((self.counts, kinds.tables), (self.covariance, kinds.plain)):
            if some:
                where = [i for i, _ in some]
                found: Any = statistics.many([family for _, family in some])
                likelihoods[where], sizes[where] = found.log_likelihoods(), found.parameters()
        fine = [bool(self.is_discrete[[child, *parents]].any()) for child, parents in families]
        return self._batch(likelihoods, sizes, np.array(fine))

    def extensions(self, child: int, parents: Parents, candidates: Ints) -> MixedFamilies:
        """The statistics of (child, parents + candidate) for each candidate."""
        self.ask([], [(child, parents, candidates)])
        discrete, continuous = self._split(parents)
        likelihoods, sizes = np.full(len(candidates), -np.inf), np.ones(len(candidates))
        by_table = self.is_discrete[candidates]
        own = bool(self.is_discrete[child])
        if own and not continuous and by_table.any():
            found = self.counts.extensions(self._place(child), discrete, self._places[candidates[by_table]])
            likelihoods[by_table], sizes[by_table] = found.log_likelihoods(), found.parameters()
        if not own:
            self._extend_regressions(child, (discrete, continuous), candidates, likelihoods, sizes)
        return self._batch(likelihoods, sizes, by_table | own | bool(discrete))

    def all_extensions(self, families: Sequence[Family]) -> MixedFamilies:
        raise NotImplementedError

    def residuals(self, child: int, parents: Parents) -> tuple[Floats, Floats, float]:
        """The residual variance of a continuous child in each configuration that occurs, and its rows.

        In units of the overall variance, whose log(2 pi s^2) comes third. 0 in a configuration with few rows,
        or with no more than there are coefficients, and where the child does not vary or is determined.
        """
        from bayescout.kernels.regression import regress_families

        discrete, continuous = self._split(parents)
        family = np.array([*continuous, self._place(child)], dtype=np.int64)
        columns = np.unique(family)
        scale = float(self.covariance.log_scales[self._place(child)])
        totals = self.strata.totals(discrete)
        if (totals < FEW_ROWS).all() and len(totals) * len(columns) ** 2 * 8 <= MOST_BYTES:
            return np.zeros(len(totals)), totals, scale
        strata = self.strata.of_columns(discrete, columns)
        members, bounds = np.searchsorted(columns, family), np.array([0, len(family)])
        found = np.zeros(len(strata.totals))
        floors, out = np.full(len(columns), RESIDUAL_FLOOR), np.empty((1, 2))
        enough = ~strata.few & (strata.sizes > len(family)) & (strata.errors[:, members[-1]] > 0)
        for q in np.flatnonzero(enough).tolist():
            regress_families(strata.matrices[q], members, bounds, floors, out)
            if out[0, 0] > RESIDUAL_FLOOR:
                found[q] = out[0, 0] * strata.variances[q, members[-1]]
        return found, strata.totals, scale

    # ---- regressions by configuration

    def _extend_regressions(
        self,
        child: int,
        parents: tuple[Parents, Parents],
        candidates: Ints,
        likelihoods: Floats,
        sizes: Floats,
    ) -> None:
        """Fill in the families of a continuous child with each further parent."""
        discrete, continuous = parents
        own, q, k = self._place(child), self.counts.configurations(discrete), len(continuous)
        places = self._places[candidates]
        more = ~self.is_discrete[candidates]
        if more.any():
            sizes[more] = q * (k + 3)
            if discrete:
                likelihoods[more] = self._regressed(own, discrete, continuous, places[more])
            else:
                plain = self.covariance.extensions(own, continuous, places[more])
                likelihoods[more] = plain.log_likelihoods()
        for i in np.flatnonzero(~more).tolist():
            both = tuple(sorted((*discrete, int(places[i]))))
            likelihoods[i] = self._regressed(own, both, continuous, _NONE)[0]
            sizes[i] = self.counts.configurations(both) * (k + 2)

    def _regressed(self, child: int, discrete: Parents, continuous: Parents, candidates: Ints) -> Floats:
        """The log-likelihoods of a continuous child with each further continuous parent; -1 is none."""
        from bayescout.kernels.strata import explained_in_strata

        family = np.array([*continuous, child], dtype=np.int64)
        out = np.empty(len(candidates))
        for piece in self.strata.pieces(discrete, family, candidates):
            explained, settings = np.empty(len(piece.candidates)), (RESIDUAL_FLOOR, PRIOR_ROWS)
            explained_in_strata(piece.strata.arrays, piece.family, piece.candidates, settings, explained)
            out[piece.where] = on_grid(explained) + piece.strata.owns[piece.family[-1]]
        return out

    def _shrunk(self, found: Scatters) -> Strata:
        scales = self.covariance.log_scales
        return _shrunk(found, scales if found.columns is None else scales[found.columns])

    def _batch(self, likelihoods: Floats, sizes: Floats, fine: Bools) -> MixedFamilies:
        return MixedFamilies(likelihoods, sizes, fine, self.counts.grid, self.total, self.n_variables)


def _standardised(table: Table, total: float) -> Floats:
    """The rows of the continuous columns, each less its mean and divided by its standard deviation."""
    centred, scatter, _ = centred_columns(table)
    return np.ascontiguousarray((centred / np.sqrt(np.diag(scatter) / total)[:, None]).T)


def _shrunk(found: Scatters, log_scales: Floats) -> Strata:
    """The matrices of strata: of maximum likelihood, or shrunk to the overall variances with few rows.

    A column that does not vary in a stratum with many rows is shrunk there too, by itself. Squared errors
    over the variance are n at maximum likelihood, (n + k) - k / variance if shrunk, 0 for such a column.
    """
    totals, scatters = found.totals, found.scatters
    few = (totals < FEW_ROWS)[:, None]
    rows = totals[:, None]
    prior = np.where(few, PRIOR_ROWS, 0.0)
    weights = np.where(rows + prior > 0, rows + prior, 1.0)
    diagonal = np.einsum("qii->qi", scatters)
    flat = ~few & (diagonal <= RESIDUAL_FLOOR * weights)
    variances = np.where(flat, PRIOR_ROWS / (rows + PRIOR_ROWS), (diagonal + prior) / weights)
    errors = np.where(few, rows + PRIOR_ROWS - PRIOR_ROWS / variances, np.where(flat, 0.0, rows))
    roots = np.sqrt(variances * weights)
    matrices = scatters / (roots[:, :, None] * roots[:, None, :])
    matrices[flat] = 0.0
    matrices.transpose(0, 2, 1)[flat] = 0.0
    matrices = np.ldexp(np.rint(np.ldexp(matrices, CORRELATION_DIGITS)), -CORRELATION_DIGITS)
    np.einsum("qii->qi", matrices)[...] = 1.0
    own = -rows / 2 * (log_scales + np.log(variances)) - errors / 2
    owns = np.asarray(on_grid(own.sum(axis=0)))
    few = few[:, 0].copy()
    return Strata(found.sizes, totals, few, matrices, np.ascontiguousarray(variances), errors, owns)


def conditional_arcs(table: Table) -> Bools:
    """(p, p) bool [parent, child]: False for a continuous parent of a discrete child."""
    discrete = table.discrete_columns
    return np.asarray(discrete[:, None] | ~discrete[None, :])
