"""Scores for tables of discrete and continuous columns: conditional Gaussian and degenerate Gaussian."""

from __future__ import annotations

from dataclasses import dataclass

from bayescout.data.table import Table
from bayescout.scores.likelihood import Aic, Bic, Ebic, LogLikelihood
from bayescout.statistics.engine import Kind


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
