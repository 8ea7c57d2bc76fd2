"""The scores of both studies: plain ones, and the settings that the document may have used.

The document names BDeu and BIC "following [7]" (Chickering 2002) and gives no parameter. Chickering's own
experiments use an equivalent sample size of 10 and a structure prior of 0.001 per free parameter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bayescout.arrays import Bools, Floats
from bayescout.scores.dirichlet import BDeu
from bayescout.scores.formula import Formula, Terms
from bayescout.scores.superset_bounds import SupersetBound

if TYPE_CHECKING:
    from bayescout.statistics.discrete import DiscreteStatistics
    from bayescout.statistics.families import FamilyTables

BDEU, CHICKERING, BIC, DOUBLE, QUARTER = "bdeu", "bdeu-chickering", "bic", "bic-double", "bic-quarter"
DISCRETE_SCORES = (BDEU, CHICKERING, BIC, DOUBLE)
GAUSSIAN_SCORES = (BIC, QUARTER)

FORMULAS: dict[str, str | dict[str, Any]] = {
    BDEU: BDEU,
    CHICKERING: {"name": "bdeu", "ess": 10.0, "kappa": 0.001},
    BIC: BIC,
    DOUBLE: {"name": "bic", "penalty": 2.0},
    QUARTER: {"name": "bic", "penalty": 0.25},
}
"""The scores as runs declare them; `kappa` is the structure prior per free parameter."""

TITLES = {
    BDEU: "BDeu",
    CHICKERING: "BDeu after Chickering",
    BIC: "BIC",
    DOUBLE: "BIC charged log N",
    QUARTER: "BIC with a quarter of the charge",
}


@dataclass(frozen=True)
class ChickeringBDeu(BDeu):
    r"""BDeu with a structure prior of $\kappa$ per free parameter (Chickering 2002, section 5).

    The score of a family plus $\log\kappa$ for each of its q (r - 1) free parameters. In nats; score
    equivalent, as equivalent graphs have the same number of parameters.
    """

    ess: float = 10.0
    kappa: float = 0.001

    equivalent: ClassVar[bool] = True

    def evaluate(self, families: FamilyTables) -> Floats:
        return super().evaluate(families) + math.log(self.kappa) * families.parameters()

    def kernel_terms(self, statistics: DiscreteStatistics) -> Terms | None:  # type: ignore[override]
        return None

    def superset_bounds(self, statistics: Any, allowed: Bools) -> list[SupersetBound]:
        return Formula.superset_bounds(self, statistics, allowed)


def formula_of(declared: str | Mapping[str, Any]) -> Formula:
    """The score that a run declares."""
    from bayescout.experiments.tools import score_of

    if isinstance(declared, Mapping) and "kappa" in declared:
        return ChickeringBDeu(ess=declared["ess"], kappa=declared["kappa"])
    return score_of(declared)
