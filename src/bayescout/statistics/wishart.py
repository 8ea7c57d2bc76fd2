"""Marginal likelihoods of continuous variables within configurations of discrete ones.

In each configuration the continuous variables are jointly Gaussian, with a normal-Wishart prior for their
mean and precision matrix: the same in every configuration, and that of the BGe score where there is none. See
docs/decisions/mixed-columns.md. The value of a family is what the block of its continuous variables says less
what the block of its continuous parents says, in the same configurations; hence equivalent graphs score the
same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bayescout.arrays import Family, Floats, Ints, Parents
from bayescout.data.past.stored import StoredTable
from bayescout.data.table import Table
from bayescout.statistics.covariance import Covariance, FamilyRegressions, centred_columns, on_grid
from bayescout.statistics.families import FamilyTables
from bayescout.statistics.mixed import ConditionalGaussian, MixedFamilies, MixedStatistics
from bayescout.statistics.past_rows import centred, strata_of
from bayescout.statistics.stored_strata import OwnUnit
from bayescout.statistics.strata import Scatters, StrataMemory

SMALL_UNIT, LARGE_UNIT = 100.0, 1e8
"""A variance so much smaller than the prior expects is warned of where the prior outweighs the rows; one so
much larger always, since the digits of small determinants are lost."""


class WishartPrior(NamedTuple):
    """A normal-Wishart prior of n variables.

    rows     the weight of the prior mean, as a number of rows: alpha_mu
    degrees  the degrees of freedom of the precision matrix, less n: alpha_w - n
    scatter  the prior scatter matrix is this number times the identity
    """

    rows: float
    degrees: float
    scatter: float

    @property
    def covariance(self) -> float:
        """The variance that is expected before the data."""
        return self.scatter / (self.degrees - 1)


class Posteriors(NamedTuple):
    """The occurring configurations of some discrete variables, with a posterior scatter matrix for each.

    prior     the same for all
    totals    (q,) float64        sums of weights
    matrices  (q, v, v) float64   prior scatter, scatter of the rows, and that of their mean about the prior's
    known     the constants that were computed, by number of columns
    """

    prior: WishartPrior
    totals: Floats
    matrices: Floats
    known: dict[int, float]

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The argument `strata` of `kernels.strata.determinants_in_strata`.

        No residual can be less than the prior; half of it allows for rounding.
        """
        floors = np.full(self.matrices.shape[1], self.prior.scatter / 2)
        return self.totals, self.matrices, floors, self.prior.degrees

    @property
    def bytes(self) -> int:
        return int(self.matrices.nbytes + self.totals.nbytes)

    def constant(self, columns: int) -> float:
        """The part of a marginal likelihood that depends on the number of columns of a family alone."""
        if columns not in self.known:
            self.known[columns] = self._constant(columns)
        return self.known[columns]

    def _constant(self, columns: int) -> float:
        from scipy.special import gammaln

        rows, degrees, scatter = self.prior
        free = degrees + columns
        terms = (
            0.5 * np.log(rows / (self.totals + rows))
            + gammaln((self.totals + free) / 2)
            - gammaln(free / 2)
            - self.totals / 2 * math.log(math.pi)
            + (free + columns - 1) / 2 * math.log(scatter)
        )
        return float(on_grid(np.sort(terms).sum()))


@dataclass(frozen=True)
class WishartFamilies:
    """A batch of families of a mixed table, for marginal likelihoods.

    marginals   (k,) of continuous children with discrete parents, in nats; -inf for discrete children with
                continuous parents; meaningless for the others
    tables      of discrete children, and their places in the batch
    plain       regressions of continuous children without discrete parents, and their places
    statistics  from which log-likelihoods and parameters are computed where they are asked for
    families    child and parents
    """

    marginals: Floats
    tables: tuple[Ints, FamilyTables] | None
    plain: tuple[Ints, FamilyRegressions] | None
    statistics: ConditionalWishart
    families: Sequence[Family]

    def __len__(self) -> int:
        return len(self.families)

    @property
    def total(self) -> float:
        return self.statistics.total

    @property
    def n_variables(self) -> int:
        return self.statistics.n_variables

    @cached_property
    def _likelihoods(self) -> MixedFamilies:
        return self.statistics.gaussian.many(self.families)

    def log_likelihoods(self) -> Floats:
        """The maximised log-likelihoods of the conditional Gaussian model."""
        return self._likelihoods.log_likelihoods()

    def parameters(self) -> Floats:
        return self._likelihoods.parameters()

    def rounded(self, value: float) -> Floats:
        return self._likelihoods.rounded(value)


class ConditionalWishart(MixedStatistics):
    """Normal-Wishart statistics of one table with columns of both kinds, wherever its rows are.

    The prior mean is the mean of all rows, in every configuration.
    """

    strata: StrataMemory[Posteriors]

    def __init__(self, table: Table, prior: WishartPrior) -> None:
        super().__init__(table)
        self.prior = prior
        if isinstance(self.continuous, StoredTable):
            scatter, shift = centred(self.continuous)
            self.covariance = Covariance(self.continuous, prior.scatter, (scatter, shift.exponents))
            unit = OwnUnit(shift.exponents)
            self.strata = strata_of(
                self.discrete_rows, self.counts, self.continuous, shift, unit, self._posteriors
            )
        else:
            self.covariance = Covariance(self.continuous, prior.scatter)
            columns, _, exponents = centred_columns(self.continuous)
            rows = np.ascontiguousarray(OwnUnit(exponents)(columns, slice(None)).T)
            self.strata = StrataMemory(table, self.counts, rows, self._posteriors)
        _warn_units(self.continuous, np.diag(self.covariance.matrix) - prior.scatter, prior)

    @cached_property
    def gaussian(self) -> ConditionalGaussian:
        """The conditional Gaussian statistics of the same table."""
        return ConditionalGaussian(self.table)

    def many(self, families: Sequence[Family]) -> WishartFamilies:
        """The statistics of many families, in their order."""
        self.ask(families)
        marginals = np.full(len(families), -np.inf)
        kinds = self._by_kind(families)
        for i, child, discrete, continuous in kinds.strata:
            marginals[i] = self._marginals(child, discrete, continuous, None)[0]
        tables = plain = None
        if kinds.tables:
            places, some = zip(*kinds.tables, strict=True)
            tables = np.array(places), self.counts.many(some)
        if kinds.plain:
            places, some = zip(*kinds.plain, strict=True)
            plain = np.array(places), self.covariance.many(some)
        return WishartFamilies(marginals, tables, plain, self, families)

    def extensions(self, child: int, parents: Parents, candidates: Ints) -> WishartFamilies:
        """The statistics of (child, parents + candidate) for each candidate."""
        self.ask([], [(child, parents, candidates)])
        discrete, continuous = self._split(parents)
        marginals = np.full(len(candidates), -np.inf)
        own, places = self._place(child), self._places[candidates]
        by_table = np.flatnonzero(self.is_discrete[candidates])
        more = np.flatnonzero(~self.is_discrete[candidates])
        tables = plain = None
        if self.is_discrete[child]:
            if not continuous and len(by_table):
                tables = by_table, self.counts.extensions(own, discrete, places[by_table])
        else:
            for i in by_table.tolist():
                both = tuple(sorted((*discrete, int(places[i]))))
                marginals[i] = self._marginals(own, both, continuous, None)[0]
            if len(more) and discrete:
                marginals[more] = self._marginals(own, discrete, continuous, places[more])
            elif len(more):
                plain = more, self.covariance.extensions(own, continuous, places[more])
        families = [(child, tuple(sorted((*parents, one)))) for one in candidates.tolist()]
        return WishartFamilies(marginals, tables, plain, self, families)

    def all_extensions(self, families: Sequence[Family]) -> WishartFamilies:
        raise NotImplementedError

    # ---- configurations

    def _marginals(
        self, child: int, discrete: Parents, continuous: Parents, candidates: Ints | None
    ) -> Floats:
        """The log marginal likelihoods of a continuous child with each further continuous parent, or none."""
        from bayescout.kernels.strata import determinants_in_strata

        asked = np.array([-1]) if candidates is None else candidates
        family = np.array([*continuous, child], dtype=np.int64)
        columns = len(family) + (candidates is not None)
        out = np.empty(len(asked))
        for piece in self.strata.pieces(discrete, family, asked):
            found = np.empty((len(piece.candidates), 2))
            more = piece.candidates[:0] if candidates is None else piece.candidates
            determinants_in_strata(piece.strata.arrays, piece.family, more, found)
            blocks = on_grid(found)
            out[piece.where] = piece.strata.constant(columns) - (blocks[:, 0] - blocks[:, 1])
        return out

    def _posteriors(self, found: Scatters) -> Posteriors:
        prior = self.prior
        occurring = found.totals > 0
        totals, means = found.totals[occurring], found.means[occurring]
        matrices = found.scatters[occurring]
        shares = prior.rows * totals / (prior.rows + totals)
        matrices += shares[:, None, None] * (means[:, :, None] * means[:, None, :])
        np.einsum("qii->qi", matrices)[...] += prior.scatter
        return Posteriors(prior, totals, matrices, {})


def _warn_units(table: Table, squares: Floats, prior: WishartPrior) -> None:
    """Warn of columns in units for which the prior outweighs the rows, or is lost beside them."""
    variances, expected = squares / table.total_weight, prior.covariance
    small = (squares < prior.scatter) & (variances < expected / SMALL_UNIT)
    found = small | (variances > LARGE_UNIT * expected)
    if found.any():
        column = int(np.argmax(found))
        table.warn_once(
            "units",
            f"column {table.names[column]!r} has a variance of {variances[column]:.3g}, and the prior of "
            f"this score, which depends on the unit, expects {expected:.3g}: rescale the column, to a "
            f"variance of 1 for instance",
        )
