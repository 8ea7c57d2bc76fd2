"""The maximised log-likelihood and its penalised forms, for discrete, Gaussian and mixed data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayescout.arrays import Bools, Floats
from bayescout.checks import as_plain, settle, shown
from bayescout.errors import SettingError
from bayescout.kernels.limits import LIKELIHOOD
from bayescout.scores.formula import Formula, Kinds, Terms
from bayescout.scores.mixed_bounds import block_bounds, conditional_bounds
from bayescout.scores.superset_bounds import SupersetBound, gaussian_bounds, likelihood_bounds
from bayescout.statistics.discrete import DiscreteStatistics
from bayescout.statistics.families import Families, FamilyTables

MOST_CHARGE = 1e9
"""The largest charge per parameter, in nats; no sensible one is larger."""


@dataclass(frozen=True)
class LogLikelihood(Formula):
    r"""The maximised log-likelihood.

    $\sum_{jk} N_{jk} \log (N_{jk} / N_j)$ for discrete data; for Gaussian data
    $-\frac n2 (\log 2\pi\hat\sigma^2 + 1)$ with the maximum-likelihood residual variance; with columns of
    both kinds that of a conditional Gaussian network, see `CgBic`. In nats.
    It never falls when an arc is added: use it to compare, not to learn.
    """

    kinds: ClassVar[Kinds] = "both"
    equivalent: ClassVar[bool] = True

    def evaluate(self, families: Families) -> Floats:
        return families.log_likelihoods()

    def kernel_terms(self, statistics: DiscreteStatistics) -> Terms:
        return Terms.on(statistics.grid, LIKELIHOOD)

    def superset_bounds(self, statistics: Any, allowed: Bools) -> list[SupersetBound]:
        return _bounds(statistics, allowed, 0.0)


@dataclass(frozen=True)
class Penalised(Formula):
    r"""Log-likelihood less your own charge for each free parameter (Mauá 2015).

    $LL - \psi(N)\,\mathrm{size}$; `charge` is ψ: a number, or a function of N. Parameters are
    counted over declared states and all parent configurations, $q(r-1)$; a Gaussian family has one a
    parent, an intercept and a variance, for each configuration of its discrete parents.
    In nats and not doubled: Tetrad's BIC is twice ours, aGrUM's is ours divided by log 2.
    """

    charge: float | Callable[[float], float] = 1.0

    kinds: ClassVar[Kinds] = "both"
    equivalent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not callable(self.charge):
            settle(self, charge=require_not_negative("charge", self.charge))

    def charge_at(self, total: float, n_variables: int) -> float:
        """ψ(N): the charge per free parameter, in nats."""
        charge = self.charge(total) if callable(self.charge) else self.charge
        return require_not_negative(f"the charge at N = {total:g}", charge)

    def evaluate(self, families: Families) -> Floats:
        return charged(families, self.charge_at(families.total, families.n_variables))

    def kernel_terms(self, statistics: DiscreteStatistics) -> Terms:
        charge = statistics.grid.round(self.charge_at(statistics.total, statistics.n_variables))
        return Terms.on(statistics.grid, LIKELIHOOD, charge)

    def superset_bounds(self, statistics: Any, allowed: Bools) -> list[SupersetBound]:
        return _bounds(statistics, allowed, self.charge_at(statistics.total, statistics.n_variables))


@dataclass(frozen=True)
class Aic(Penalised):
    """Akaike's information criterion: a charge of 1 nat a parameter (Akaike 1974).

    Log-likelihood less parameters: larger is better, so it is Akaike's AIC divided by -2.
    """

    charge: float = 1.0


@dataclass(frozen=True)
class Bic(Penalised):
    r"""The Bayesian information criterion: a charge of log(N)/2 a parameter (Schwarz 1978).

    The charge is $\lambda \frac{\log N}{2}$; `penalty` is λ: 1 is plain BIC, more gives
    sparser graphs. Also the MDL score.
    """

    penalty: float = 1.0
    charge: ClassVar[float] = 0.0  # type: ignore[misc]

    def __post_init__(self) -> None:
        settle(self, penalty=require_not_negative("penalty", self.penalty))

    def charge_at(self, total: float, n_variables: int) -> float:
        return self.penalty * math.log(total) / 2


@dataclass(frozen=True)
class Ebic(Bic):
    r"""Extended BIC, for many variables and few rows (Chen & Chen 2008).

    A charge of $\frac{\log N}{2} + \gamma \log p$ a parameter for p variables: Chen & Chen's
    with the log of the number of models of a size taken as size times log p, so that equivalent graphs
    score the same; γ = 1 is Foygel & Drton's (2010) at their 0.5.
    """

    gamma: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, gamma=require_not_negative("gamma", self.gamma))

    def charge_at(self, total: float, n_variables: int) -> float:
        return super().charge_at(total, n_variables) + self.gamma * math.log(n_variables)


@dataclass(frozen=True)
class LaplaceBic(Formula):
    r"""BIC computed with Laplace-corrected tables (Lau & Bush 2004).

    $$ \sum_{jk} N_{jk} \log \frac{N_{jk} + 1}{N_j + r} - \lambda \frac{\log N}{2} q (r - 1) $$

    In nats. Not score equivalent, since the correction depends on the direction of arcs.
    """

    penalty: float = 1.0

    def __post_init__(self) -> None:
        settle(self, penalty=require_not_negative("penalty", self.penalty))

    def evaluate(self, families: FamilyTables) -> Floats:
        from bayescout.kernels.reducing import sum_corrected

        # N log(N + r) may exceed N log N by far if there are more states than rows.
        grid = families.roomier_grid().for_kernel
        out = np.empty((2, len(families)))
        sum_corrected(families.counts, families.starts, families.states, grid, out)
        likelihoods: Floats = out[0] - out[1]
        if self.penalty == 0:
            return likelihoods
        charge = families.rounded(self.penalty * math.log(families.total) / 2)
        return likelihoods - charge * families.parameters()

    def superset_bounds(self, statistics: Any, allowed: Bools) -> list[SupersetBound]:
        charge = statistics.grid.round(self.penalty * math.log(statistics.total) / 2)
        return likelihood_bounds(statistics, allowed, charge, exact=False)


@dataclass(frozen=True)
class Entropy(Formula):
    r"""Minus the entropy of the network's distribution (Blanco, Inza & Larrañaga 2003).

    $-\sum_j \frac{N_j}{N} H(X \mid j)$, in nats a row: the maximised log-likelihood
    divided by N, which is its conditional-entropy form. It has no penalty, so without an order or a
    limit on parents it fills the graph.
    """

    equivalent: ClassVar[bool] = True
    likelihood_scale: ClassVar[bool] = False

    def evaluate(self, families: FamilyTables) -> Floats:
        return families.log_likelihoods() / families.total


@dataclass(frozen=True)
class MutualInformation(Formula):
    r"""Mutual information with a BIC charge (Suhas & Sai Praveen 2016).

    $$ N \cdot I(X; Pa_X) - \alpha \ln N \cdot q (r - 1) $$

    with the plug-in mutual information, weighted by the joint distribution. In nats. It is BIC with
    penalty 2α less the log-likelihood of the empty graph, so it ranks graphs as BIC does.
    """

    alpha: float = 0.5

    equivalent: ClassVar[bool] = True
    likelihood_scale: ClassVar[bool] = False

    def __post_init__(self) -> None:
        settle(self, alpha=require_not_negative("alpha", self.alpha))

    def evaluate(self, families: FamilyTables) -> Floats:
        informations = families.mutual_informations()
        if self.alpha == 0:
            return informations
        charge = families.rounded(self.alpha * math.log(families.total))
        return informations - charge * families.parameters()

    def superset_bounds(self, statistics: Any, allowed: Bools) -> list[SupersetBound]:
        charge = statistics.grid.round(self.alpha * math.log(statistics.total))
        return likelihood_bounds(statistics, allowed, charge, gained=True)


@dataclass(frozen=True)
class NormalisedMutualInformation(Formula):
    r"""Mutual information a row with a charge that does not depend on N (Suhas & Sai Praveen 2016).

    $$ I(X; Pa_X) - \frac{\alpha}{\prod_i r_i} q (r - 1) $$

    The document's $2^{|\mathcal X|}$ is the number of joint states of binary variables. In nats a row.
    """

    alpha: float = 1.0

    equivalent: ClassVar[bool] = True
    likelihood_scale: ClassVar[bool] = False

    def __post_init__(self) -> None:
        settle(self, alpha=require_not_negative("alpha", self.alpha))

    def evaluate(self, families: FamilyTables) -> Floats:
        # In logarithms: the joint states of many variables exceed the range of a float.
        log_joint = float(np.log(families.cards.astype(np.float64)).sum())
        with np.errstate(divide="ignore"):
            share = np.exp(np.log(families.parameters()) - log_joint)
        informations: Floats = families.mutual_informations() / families.total
        return informations if self.alpha == 0 else informations - self.alpha * share


def require_not_negative(name: str, value: Any) -> float:
    """The value as a plain number, if it is not negative and not too large a charge to compute with."""
    found = as_plain(value)
    if found is None or not 0 <= found <= MOST_CHARGE:
        raise SettingError(f"{name} must be a number from 0 to {MOST_CHARGE:g}, not {shown(value)}")
    return found


def charged(families: Families, charge: float) -> Floats:
    """Log-likelihoods less a charge per free parameter."""
    if charge == 0:
        return families.log_likelihoods()
    return families.log_likelihoods() - families.rounded(charge) * families.parameters()


def _bounds(statistics: Any, allowed: Bools, charge: float) -> list[SupersetBound]:
    """The superset bounds of a log-likelihood less a charge per parameter."""
    if statistics.kind == "mixed":
        return conditional_bounds(statistics, allowed, charge)
    if statistics.kind == "degenerate":
        return block_bounds(statistics, allowed, charge)
    if statistics.kind == "continuous":
        return gaussian_bounds(statistics, allowed, charge)
    return likelihood_bounds(statistics, allowed, statistics.grid.round(charge))
