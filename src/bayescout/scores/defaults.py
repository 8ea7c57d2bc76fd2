"""The score and the structure prior of `learn` where none is named; docs/decisions/defaults.md says why."""

from __future__ import annotations

from bayescout.data.table import Table
from bayescout.scores.dirichlet import BDeu
from bayescout.scores.formula import Formula
from bayescout.scores.likelihood import Bic

AUTO = "auto"
"""The name of the default score, which depends on the kinds of the columns."""

AUTO_PRIOR = "sparse"
"""The structure prior that goes with it; a score by its own name has none unless asked for."""

AUTO_ESS = 3.0


def default_score(table: Table) -> Formula:
    """BDeu for categories; BIC for numbers and for tables of both kinds."""
    return BDeu(ess=AUTO_ESS) if table.is_discrete else Bic()


def is_auto(score: object) -> bool:
    """Return True if the choice of the score is left to us."""
    return score is None or (isinstance(score, str) and score == AUTO)
