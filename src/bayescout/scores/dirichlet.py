"""Bayesian Dirichlet scores: the log marginal likelihood of a family under a Dirichlet prior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from bayescout.arrays import Bools, Floats
from bayescout.checks import as_plain, settle, shown
from bayescout.errors import SettingError
from bayescout.kernels.limits import DIRICHLET
from bayescout.scores.formula import Formula, Terms
from bayescout.scores.superset_bounds import SupersetBound, dirichlet_bounds
from bayescout.statistics.discrete import DiscreteStatistics
from bayescout.statistics.families import FamilyTables, Grid

MOST_PRIOR = 1e8
"""The largest prior count: larger ones outweigh any data, and differences of log Γ lose their digits."""


class Dirichlet(Formula):
    r"""The shared form; a score defines only the prior count of a cell.

    $$ \sum_j \left[ \log\frac{\Gamma(a_j)}{\Gamma(a_j + N_j)}
       + \sum_k \log\frac{\Gamma(a_{jk} + N_{jk})}{\Gamma(a_{jk})} \right], \qquad a_j = r\,a_{jk} $$

    A configuration that never occurs adds nothing, so only occurring ones are counted. In nats.
    """

    def cell_prior(self, families: FamilyTables) -> Floats:
        """The prior count a_jk of each family's cells; the same for all its cells."""
        raise NotImplementedError

    def evaluate(self, families: FamilyTables) -> Floats:
        from bayescout.kernels.reducing import sum_gamma

        cells = self.cell_prior(families)
        scorable = cells > 0
        priors = np.empty((2, len(families)))
        priors[0] = np.where(scorable, cells, 1.0)
        priors[1] = self.configuration_prior(families, priors[0])
        out = np.empty_like(priors)
        grid = _grid(families.most_terms).for_kernel
        sum_gamma(families.counts, families.starts, families.states, priors, grid, out)
        return np.where(scorable, out[0] - out[1], -np.inf)

    def configuration_prior(self, families: FamilyTables, cells: Floats) -> Floats:
        return cells * families.states

    def superset_bounds(self, statistics: Any, allowed: Bools) -> list[SupersetBound]:
        if not statistics.whole:
            return super().superset_bounds(statistics, allowed)
        return dirichlet_bounds(statistics)


@dataclass(frozen=True)
class Bd(Dirichlet):
    """The Bayesian Dirichlet score with the same prior count `alpha` in every cell.

    With alpha = 1 it is the K2 score (Cooper & Herskovits 1992), which Lau & Bush call BD with (1,1)
    priors; 0.5 is Jeffreys' prior. Not score equivalent; BDeu is the cure.
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        settle(self, alpha=require_positive("alpha", self.alpha))

    def cell_prior(self, families: FamilyTables) -> Floats:
        return np.full(len(families), float(self.alpha))

    def kernel_terms(self, statistics: DiscreteStatistics) -> Terms:
        return Terms.on(_grid(statistics.total), DIRICHLET, float(self.alpha))


@dataclass(frozen=True)
class K2(Bd):
    r"""The K2 score: a uniform prior over each row of the tables (Cooper & Herskovits 1992).

    $\log \prod_j \frac{(r-1)!}{(N_j + r - 1)!} \prod_k N_{jk}!$, in nats; `Bd` with alpha = 1.
    Blanco et al. print the first fraction upside down, and their figures are base-10 logarithms.
    """

    alpha: ClassVar[float] = 1.0  # type: ignore[misc]

    def __post_init__(self) -> None:
        pass


@dataclass(frozen=True)
class BDeu(Dirichlet):
    """Bayesian Dirichlet equivalent uniform (Buntine 1991; Heckerman, Geiger & Chickering 1995).

    Prior counts ess / (q r) in every cell; q counts every parent configuration, occurring or not.
    `ess` is the equivalent sample size; larger values give denser graphs. In nats. Score equivalent. No
    structure prior in it, as causal-learn has: give one by name.
    """

    ess: float = 1.0

    equivalent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self, ess=require_positive("ess", self.ess))

    def cell_prior(self, families: FamilyTables) -> Floats:
        return self.ess / (families.configurations * families.states)

    def kernel_terms(self, statistics: DiscreteStatistics) -> Terms:
        return Terms.on(_grid(statistics.total), DIRICHLET, ess=float(self.ess))

    def configuration_prior(self, families: FamilyTables, cells: Floats) -> Floats:
        # Not r times the prior of a cell: this way the term of a parent set is the same to the bit
        # wherever it appears, and equivalent graphs score exactly the same.
        return np.where(np.isinf(families.configurations), cells, self.ess / families.configurations)


@dataclass(frozen=True)
class BDs(Dirichlet):
    """Bayesian Dirichlet sparse: BDeu's prior on occurring configurations only (Scutari 2016).

    Prior counts ess / (q' r) for the q' parent configurations that occur. Not score equivalent in general.
    """

    ess: float = 1.0

    def __post_init__(self) -> None:
        settle(self, ess=require_positive("ess", self.ess))

    def cell_prior(self, families: FamilyTables) -> Floats:
        from bayescout.kernels.reducing import observed_configurations

        seen = np.empty(len(families), dtype=np.int64)
        observed_configurations(families.counts, families.starts, families.states, seen)
        return self.ess / (np.maximum(seen, 1) * families.states)


@lru_cache(maxsize=16)
def _grid(total: float) -> Grid:
    """A grid with room for the smallest prior counts of float64: no term exceeds 700 nats per row."""
    nats = math.log(total + 1)
    return Grid.for_rows(total, nats + 64, nats + 750)


def require_positive(name: str, value: Any) -> float:
    """The value as a plain number, if it is positive and not too large a prior count to compute with."""
    found = as_plain(value)
    if found is None or not 0 < found <= MOST_PRIOR:
        raise SettingError(f"{name} must be a positive number of at most {MOST_PRIOR:g}, not {shown(value)}")
    return found
