"""Scores: one class per formula, the registry, and the scorer of a formula and data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayescout.data.table import Table
from bayescout.errors import SettingError
from bayescout.scores.bge import Bge
from bayescout.scores.checks import require_rows, require_weight
from bayescout.scores.custom import CustomScorer
from bayescout.scores.defaults import AUTO, AUTO_PRIOR, default_scores, is_auto
from bayescout.scores.dirichlet import K2, Bd, BDeu, BDs
from bayescout.scores.family_prior import FamilyPrior, family_prior
from bayescout.scores.formula import Formula, FunctionFormula
from bayescout.scores.interventional import InterventionalScorer
from bayescout.scores.likelihood import (
    Aic,
    Bic,
    Ebic,
    Entropy,
    LaplaceBic,
    LogLikelihood,
    MutualInformation,
    NormalisedMutualInformation,
    Penalised,
)
from bayescout.scores.mixed import (
    CgAic,
    CgBde,
    CgBic,
    CgEbic,
    CgLogLikelihood,
    DgAic,
    DgBic,
    DgEbic,
    DgLogLikelihood,
)
from bayescout.scores.nml import Fnml, Qnml
from bayescout.scores.prior import (
    DEFAULT_PRIOR,
    PRIORS,
    ArcCharge,
    FriedmanKoller,
    OwnPrior,
    PriorLike,
    Sparse,
    StructurePrior,
    Uniform,
    prior_named,
)
from bayescout.scores.scorer import Score, Scorer
from bayescout.scores.table_scorer import TableScorer
from bayescout.scores.threads import check_workers
from bayescout.settings import make_named
from bayescout.statistics.engine import Engine
from bayescout.statistics.engines import engine_of

SCORES: dict[str, Callable[..., Formula]] = {
    "loglik": LogLikelihood,
    "aic": Aic,
    "bic": Bic,
    "ebic": Ebic,
    "penalised": Penalised,
    "bic-laplace": LaplaceBic,
    "k2": K2,
    "bd": Bd,
    "bdeu": BDeu,
    "bds": BDs,
    "entropy": Entropy,
    "mi-bic": MutualInformation,
    "mi-normalised": NormalisedMutualInformation,
    "fnml": Fnml,
    "qnml": Qnml,
    "bge": Bge,
    "cg-loglik": CgLogLikelihood,
    "cg-aic": CgAic,
    "cg-bic": CgBic,
    "cg-ebic": CgEbic,
    "cg-bde": CgBde,
    "dg-loglik": DgLogLikelihood,
    "dg-aic": DgAic,
    "dg-bic": DgBic,
    "dg-ebic": DgEbic,
}
"""Every score by name; to add one, write a class and add a line here."""


ScoreLike = str | Formula | Score | Callable[[Any], float]


def formula_named(name: str, **settings: Any) -> Formula:
    """The formula of a registered name, with its settings."""
    made: Formula = make_named("score", SCORES, name, settings)
    return made


def bind(
    score: ScoreLike,
    table: Table,
    workers: int | None = None,
    engine: str | Engine | None = None,
    prior: FamilyPrior | None = None,
) -> Scorer:
    """The scorer of a table: from a name, a formula, a function of counts, or an object with `local`.

    The engine computes the statistics; None is the one in memory. An object with `local` needs none. The
    prior is that of structures over the columns of the table, from `family_prior`; None is uniform.
    """
    if isinstance(score, str):
        score = formula_named(score)
    if isinstance(score, type):
        raise SettingError(f"give an instance of the score, {score.__name__}(), not the class")
    made, workers = engine_of(engine), check_workers(workers)
    if not isinstance(score, Formula) and hasattr(score, "local"):
        return CustomScorer(score, table.n_columns, prior)
    if not isinstance(score, Formula) and not callable(score):
        raise SettingError(
            f"a score is a name, a formula, a function of counts or an object with local(child, parents), "
            f"not {type(score).__name__}"
        )
    formula = score if isinstance(score, Formula) else FunctionFormula(score)
    require_rows(table)
    require_weight(table)
    if table.interventions is not None:
        return InterventionalScorer(formula, table, made, workers, prior)
    return TableScorer(formula, formula.statistics(table, made), workers, prior=prior)


__all__ = [
    "AUTO",
    "AUTO_PRIOR",
    "DEFAULT_PRIOR",
    "K2",
    "PRIORS",
    "SCORES",
    "Aic",
    "ArcCharge",
    "BDeu",
    "BDs",
    "Bd",
    "Bge",
    "Bic",
    "CgAic",
    "CgBde",
    "CgBic",
    "CgEbic",
    "CgLogLikelihood",
    "CustomScorer",
    "DgAic",
    "DgBic",
    "DgEbic",
    "DgLogLikelihood",
    "Ebic",
    "Entropy",
    "FamilyPrior",
    "Fnml",
    "Formula",
    "FriedmanKoller",
    "FunctionFormula",
    "LaplaceBic",
    "LogLikelihood",
    "MutualInformation",
    "NormalisedMutualInformation",
    "OwnPrior",
    "Penalised",
    "PriorLike",
    "Qnml",
    "Score",
    "ScoreLike",
    "Scorer",
    "Sparse",
    "StructurePrior",
    "TableScorer",
    "Uniform",
    "bind",
    "default_scores",
    "family_prior",
    "formula_named",
    "is_auto",
    "prior_named",
]  # fmt: skip
