"""The Bayesian Gaussian equivalent score."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayescout.arrays import Floats
from bayescout.checks import settle
from bayescout.errors import SettingError
from bayescout.scores.dirichlet import require_positive
from bayescout.scores.formula import Formula, Kinds
from bayescout.statistics.covariance import FamilyRegressions, on_grid
from bayescout.statistics.wishart import WishartPrior

LEAST_ROWS = 1e-100
"""The least `iss_mu`: as a share of the rows it must not vanish in a float."""


@dataclass(frozen=True)
class Bge(Formula):
    r"""Bayesian Gaussian equivalent: the marginal likelihood under a normal-Wishart prior.

    Geiger & Heckerman (2002) as corrected by Kuipers, Moffa & Heckerman (2014). For n variables, N rows,
    l = parents + 1, prior mean = sample mean, $T = tI$ and $R = T + S$ with the scatter matrix S:

    $$ \tfrac12 \log\frac{\alpha_\mu}{N + \alpha_\mu} + \log\frac{\Gamma((N + \alpha_w - n + l)/2)}
       {\Gamma((\alpha_w - n + l)/2)} - \tfrac N2 \log\pi + \tfrac{\alpha_w - n + 2l - 1}{2} \log t
       - \tfrac{N + \alpha_w - n + l}{2} \log\frac{|R_{XP}|}{|R_P|} - \tfrac12 \log|R_P| $$

    `iss_mu` is α_μ; `iss_w` is α_w, by default n + 2; $t = \alpha_\mu(\alpha_w - n - 1)/(\alpha_\mu + 1)$,
    as in R bnlearn's defaults. So the prior mean is held with the weight of α_μ rows, the precision matrix is
    Wishart with α_w degrees of freedom, and the covariance expected before the data is α_μ/(α_μ + 1) times
    the identity. In nats. Score equivalent. Depends on the columns' units.
    """

    iss_mu: float = 1.0
    iss_w: float | None = None

    kinds: ClassVar[Kinds] = "continuous"
    equivalent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self, iss_mu=require_positive("iss_mu", self.iss_mu))
        if self.iss_mu < LEAST_ROWS:
            raise SettingError(f"iss_mu must be at least {LEAST_ROWS:g}, not {self.iss_mu:g}")
        if self.iss_w is not None:
            settle(self, iss_w=require_positive("iss_w", self.iss_w))

    def prior(self, n_variables: int) -> WishartPrior:
        """The prior of so many variables: α_μ, α_w - n and t."""
        degrees = n_variables + 2.0 if self.iss_w is None else float(self.iss_w)
        if degrees <= n_variables + 1:
            raise SettingError(
                f"iss_w must be more than {n_variables + 1} for {n_variables} variables, not {degrees:g}"
            )
        t = self.iss_mu * (degrees - n_variables - 1) / (self.iss_mu + 1)
        return WishartPrior(self.iss_mu, degrees - n_variables, t)

    def scatter_prior(self, n_variables: int) -> float:
        return self.prior(n_variables).scatter

    def evaluate(self, families: FamilyRegressions) -> Floats:
        from scipy.special import gammaln

        _, degrees, t = self.prior(families.n_variables)
        free = degrees + families.n_parents + 1
        value = (
            0.5 * math.log(self.iss_mu / (families.total + self.iss_mu))
            + gammaln((families.total + free) / 2)
            - gammaln(free / 2)
            - families.total / 2 * math.log(math.pi)
            + (free + families.n_parents) / 2 * math.log(t)
            - (families.total + free) / 2 * np.log(families.residuals)
            - 0.5 * families.log_dets
        )
        return np.asarray(on_grid(value))
