"""Scores for tables of discrete and continuous columns: conditional Gaussian and degenerate Gaussian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayescout.arrays import Bools, Floats
from bayescout.checks import settle
from bayescout.data.past.dask_table import DaskTable
from bayescout.data.table import Table
from bayescout.errors import SettingError
from bayescout.scores.bge import Bge
from bayescout.scores.dirichlet import BDeu
from bayescout.scores.formula import Formula, Kinds, Terms
from bayescout.scores.likelihood import Aic, Bic, Ebic, LogLikelihood
from bayescout.scores.superset_bounds import SupersetBound
from bayescout.statistics.covariance import FamilyRegressions
from bayescout.statistics.discrete import DiscreteStatistics
from bayescout.statistics.engine import Engine, Kind, Statistics
from bayescout.statistics.engines import in_memory
from bayescout.statistics.families import FamilyTables
from bayescout.statistics.requirements import require_kind
from bayescout.statistics.wishart import ConditionalWishart, WishartFamilies
from bayescout.wording import setting


@dataclass(frozen=True)
class CgLogLikelihood(LogLikelihood):
    """The log-likelihood of a conditional linear Gaussian network: `loglik` by the name of its model.

    A discrete variable has discrete parents only; a continuous one has a linear regression on its continuous
    parents for each configuration of its discrete ones. With columns of one kind it is `loglik` to the bit.
    """


@dataclass(frozen=True)
class CgAic(Aic):
    """AIC of a conditional linear Gaussian network: `aic` by the name of its model."""


@dataclass(frozen=True)
class CgBic(Bic):
    r"""BIC of a conditional linear Gaussian network: `bic` by the name of its model.

    For a continuous child with k continuous parents and q configurations d of discrete ones, each with $n_d$
    rows and the maximum-likelihood residual variance $\hat\sigma_d^2$:

    $$ -\sum_d \tfrac{n_d}2 (\log 2\pi\hat\sigma_d^2 + 1) - \lambda \tfrac{\log N}{2} q (k + 2) $$

    A configuration of fewer than 10 rows has a covariance matrix shrunk to the overall variances. R bnlearn's
    `bic-cg` has the same parameters and unbiased variances. In nats. Score equivalent.
    """


@dataclass(frozen=True)
class CgEbic(Ebic):
    """Extended BIC of a conditional linear Gaussian network: `ebic` by the name of its model."""


@dataclass(frozen=True)
class CgBde(Formula):
    r"""Marginal likelihood of a conditional linear Gaussian network: BDeu and BGe by configuration.

    Tables of discrete variables have BDeu's Dirichlet prior, with `ess`. The continuous variables have a
    normal-Wishart prior in each configuration of discrete parents, independent of the other configurations:
    the whole prior of `Bge` in each, with `iss_mu` (α_μ), `iss_w` (α_w) and t for all continuous variables,
    and the mean of all rows as its mean. The idea is Bøttcher's (2001), and that of the R package deal, which
    divides the prior among the configurations. The score of a continuous child is the sum of BGe's terms over
    the configurations d that occur, each with its $n_d$ rows and

    $$ R_d = T + S_d + \frac{\alpha_\mu n_d}{\alpha_\mu + n_d} (\bar x_d - \bar x)(\bar x_d - \bar x)^T $$

    In nats. Score equivalent among the graphs that the model can have (no continuous parent of a discrete
    variable). With discrete columns alone it is `bdeu`, with continuous ones alone `bge`, to the bit. Depends
    on the units of continuous columns: rescale them to variances near 1.
    """

    ess: float = 1.0
    iss_mu: float = 1.0
    iss_w: float | None = None

    kinds: ClassVar[Kinds] = "both"
    equivalent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self, ess=self._tables.ess)
        regressions = self._regressions
        settle(self, iss_mu=regressions.iss_mu)
        if self.iss_w is not None:
            settle(self, iss_w=regressions.iss_w)

    @property
    def _tables(self) -> BDeu:
        return BDeu(self.ess)

    @property
    def _regressions(self) -> Bge:
        return Bge(self.iss_mu, self.iss_w)

    def evaluate(self, families: FamilyTables | FamilyRegressions | WishartFamilies) -> Floats:
        if isinstance(families, FamilyTables):
            return self._tables.evaluate(families)
        if isinstance(families, FamilyRegressions):
            return self._regressions.evaluate(families)
        found = families.marginals.copy()
        if families.tables is not None:
            found[families.tables[0]] = self._tables.evaluate(families.tables[1])
        if families.plain is not None:
            found[families.plain[0]] = self._regressions.evaluate(families.plain[1])
        return found

    def statistics(self, table: Table, engine: Engine = in_memory) -> Statistics:
        kind = self.kind_for(table)
        if kind != "mixed":
            return (self._tables if kind == "discrete" else self._regressions).statistics(table, engine)
        require_kind(table, kind)
        if engine is not in_memory and not isinstance(table, DaskTable):
            raise SettingError(
                f"the marginal likelihood of a table with columns of both kinds is computed in memory: use "
                f"{setting('engine', 'memory')}, or another score"
            )
        return ConditionalWishart(table, self._regressions.prior(int((~table.discrete_columns).sum())))

    def kernel_terms(self, statistics: DiscreteStatistics) -> Terms:
        return self._tables.kernel_terms(statistics)

    def superset_bounds(self, statistics: Any, allowed: Bools) -> list[SupersetBound]:
        """Those of BDeu for discrete children; none is known for continuous ones."""
        if statistics.kind == "discrete":
            return self._tables.superset_bounds(statistics, allowed)
        found = super().superset_bounds(statistics, allowed)
        if statistics.kind == "mixed":
            discrete = np.flatnonzero(statistics.is_discrete)
            among = allowed[np.ix_(discrete, discrete)]
            bounds = self._tables.superset_bounds(statistics.counts, among)
            for child, bound in zip(discrete.tolist(), bounds, strict=True):
                found[child] = bound
        return found


class _Degenerate:
    """Scores of the degenerate Gaussian model, for tables of any kind."""

    def kind_for(self, table: Table) -> Kind:
        return "continuous" if table.is_continuous else "degenerate"


@dataclass(frozen=True)
class DgLogLikelihood(_Degenerate, LogLikelihood):
    """The log-likelihood of the degenerate Gaussian model (Andrews, Ramsey & Cooper 2019)."""


@dataclass(frozen=True)
class DgAic(_Degenerate, Aic):
    """AIC of the degenerate Gaussian model."""


@dataclass(frozen=True)
class DgBic(_Degenerate, Bic):
    r"""BIC of the degenerate Gaussian model (Andrews, Ramsey & Cooper 2019); arcs of any direction.

    Each discrete variable stands as indicator columns of its states but one, in one covariance matrix C with
    the continuous columns, and

    $$ \ell(A) = -\tfrac N2 (\log |2\pi C_A| + |A|), \qquad \ell(X \cup P) - \ell(P)
       - \lambda\tfrac{\log N}2 \left( \tfrac{a (a + 3)}2 - \tfrac{b (b + 3)}2 \right) $$

    for a family's a columns, b of them of its parents. In nats. Score equivalent. With continuous columns
    alone it is `bic`, to the bit.
    """


@dataclass(frozen=True)
class DgEbic(_Degenerate, Ebic):
    """Extended BIC of the degenerate Gaussian model."""
