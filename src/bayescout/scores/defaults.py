"""The score and the structure prior of `learn` where none is named; docs/decisions/defaults.md says why."""

from __future__ import annotations

import numpy as np

from bayescout.data.table import Table
from bayescout.scores.dirichlet import BDeu
from bayescout.scores.formula import Formula
from bayescout.scores.likelihood import Bic
from bayescout.scores.nml import Qnml

AUTO = "auto"
"""The name of the default score, which depends on the kinds of the columns and on the data."""

AUTO_PRIOR = "sparse"
"""The structure prior that goes with it; a score by its own name has none unless asked for."""

AUTO_ESS = 3.0


def default_scores(table: Table) -> tuple[Formula, ...]:
    """The candidates: BDeu and qNML for categories, of which the data choose; BIC for all other tables."""
    if not table.is_discrete:
        return (Bic(),)
    whole = table.weights is None or bool((table.weights == np.floor(table.weights)).all())
    return (BDeu(ess=AUTO_ESS), Qnml()) if whole else (BDeu(ess=AUTO_ESS),)


def is_auto(score: object) -> bool:
    """Return True if the choice of the score is left to us."""
    return score is None or (isinstance(score, str) and score == AUTO)
