"""Scores: one formula a class, the registry, and the formula bound to data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayescout.data.table import Table
from bayescout.errors import SettingError
from bayescout.scores.base import Formula, FunctionFormula, LocalScores, Score, make_named
from bayescout.scores.bge import Bge
from bayescout.scores.custom import CustomScore
from bayescout.scores.dirichlet import K2, Bd, BDeu, BDs
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
from bayescout.scores.nml import Fnml, Qnml
from bayescout.scores.score import TableScore

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
}
"""Every score by name: adding one is a class and a line here."""

ScoreLike = str | Formula | Score | Callable[[Any], float]


def formula_named(name: str, **settings: Any) -> Formula:
    """The formula of a registered name, with its settings."""
    made: Formula = make_named("score", SCORES, name, settings)
    return made


def bind(score: ScoreLike, table: Table, workers: int | None = None) -> LocalScores:
    """A score ready to be asked: from a name, a formula, a function of counts, or an object with `local`."""
    if isinstance(score, str):
        score = formula_named(score)
    if isinstance(score, type):
        raise SettingError(f"give an instance of the score, {score.__name__}(), not the class")
    if isinstance(score, Formula):
        return TableScore(score, table, workers)
    if hasattr(score, "local"):
        return CustomScore(score, table.n_columns)
    if callable(score):
        return TableScore(FunctionFormula(score), table, workers)
    raise SettingError(
        f"a score is a name, a formula, a function of counts or an object with local(child, parents), "
        f"not {type(score).__name__}"
    )


__all__ = [
    "K2",
    "SCORES",
    "Aic",
    "BDeu",
    "BDs",
    "Bd",
    "Bge",
    "Bic",
    "CustomScore",
    "Ebic",
    "Entropy",
    "Fnml",
    "Formula",
    "FunctionFormula",
    "LaplaceBic",
    "LocalScores",
    "LogLikelihood",
    "MutualInformation",
    "NormalisedMutualInformation",
    "Penalised",
    "Qnml",
    "Score",
    "ScoreLike",
    "TableScore",
    "bind",
    "formula_named",
]  # fmt: skip
