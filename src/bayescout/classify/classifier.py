"""A classifier by the name of its structure, by a search, or by what predicts best."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bayescout.checks import require_count
from bayescout.classify.averaged import Averaged, fit_averaged
from bayescout.classify.blanket import blanket, charge_per_arc
from bayescout.classify.estimates import check_prior
from bayescout.classify.factored import Factored, fit_factored
from bayescout.classify.leave_one_out import conditional_log_likelihood
from bayescout.classify.structures import Structure, kdb, naive, tan
from bayescout.classify.training import Training
from bayescout.errors import DataError, SettingError, TooLargeError, UnknownNameError
from bayescout.learn import learn
from bayescout.scores import SCORES, ScoreLike
from bayescout.search import SEARCHES, Knowledge

STRUCTURES = ("auto", "nb", "tan", "kdb", "aode", "blanket")
"""The structures made for classifiers; names of searches are structures too."""

TRIED = ("nb", "tan", "kdb", "aode", "blanket")
"""The structures that "auto" chooses from; the first of equals is taken."""

CLASSIFYING = "cll"
"""The score of `structure="blanket"` that looks at the class alone."""


@dataclass(frozen=True)
class Settings:
    """The settings of a classifier.

    structure  one of STRUCTURES, the name of a search, or a search: its graph over all columns
    score      of arcs. None is the structure's own: mutual information given the class for "tan" and "kdb",
               the conditional likelihood ("cll") for "blanket", that of `bayescout.learn` for a search, and
               none for "nb" and "aode", which have every arc
    prior, ess  of the probabilities, as in `bayescout.fit`: "bdeu" or "laplace"
    k          the most features that are parents of a feature in "kdb" and "blanket"
    min_count  the least rows of a state that is a parent in "aode"
    knowledge  for a search; seed and max_time too
    """

    structure: Any = "auto"
    score: ScoreLike | None = None
    prior: str = "laplace"
    ess: float = 1.0
    k: int = 2
    min_count: float = 1
    knowledge: Knowledge | None = None
    seed: int = 0
    max_time: float | None = None

    def check(self) -> None:
        """Refuse settings that no data can be used with, before any work."""
        check_prior(self.prior, self.ess)
        require_count("k", self.k, least=1)
        name = self.structure
        if isinstance(name, str) and name not in STRUCTURES and name not in SEARCHES:
            raise UnknownNameError("structure", name, (*STRUCTURES, *SEARCHES))
        if name in ("auto", "aode") and self.score is not None:
            raise SettingError(
                f"structure={name!r} has no arcs for a score to choose; leave out the score {self.score!r}, "
                f"or take 'nb', 'tan', 'kdb', 'blanket' or a search"
            )
        own = name in STRUCTURES
        known = (*SCORES, CLASSIFYING) if own else (*SCORES, "auto", CLASSIFYING)
        if isinstance(self.score, str) and self.score not in known:
            raise UnknownNameError("score", self.score, known)
        if own and self.knowledge is not None and (name != "blanket" or self.score in (None, CLASSIFYING)):
            raise SettingError(f"structure={name!r} takes no knowledge; give a search, such as 'hill-climb'")
        if self.score == CLASSIFYING and name != "blanket":
            raise SettingError(f"score={CLASSIFYING!r} is for structure='blanket', not {name!r}")


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted classifier, the name of its structure, and what a search found, if there was one."""

    classifier: Factored | Averaged
    name: str
    result: Any = None


def fit_classifier(training: Training, settings: Settings) -> Fitted:
    """The classifier that the settings ask for."""
    settings.check()
    name = settings.structure
    if training.table.n_rows < 2 and (name not in STRUCTURES or settings.score not in (None, CLASSIFYING)):
        raise DataError("one sample is too few: a score of arcs needs at least 2 rows that count")
    if name == "auto":
        return _best(training, settings)
    if name == "aode":
        return Fitted(_averaged(training, settings), name)
    if name in STRUCTURES and not (name == "blanket" and settings.score not in (None, CLASSIFYING)):
        structure = _structure(training, name, settings)
        return Fitted(fit_factored(training, structure, settings.prior, settings.ess), name)
    structure, result = _searched(training, "hill-climb" if name == "blanket" else name, settings)
    shown = name if isinstance(name, str) else type(name).__name__
    return Fitted(fit_factored(training, structure, settings.prior, settings.ess), shown, result)


def _averaged(training: Training, settings: Settings) -> Averaged:
    return fit_averaged(training, settings.prior, settings.ess, settings.min_count)


def _structure(training: Training, name: str, settings: Settings) -> Structure:
    if name == "nb":
        return naive(training, settings.score)
    if name == "tan":
        return tan(training, settings.score)
    if name == "kdb":
        return kdb(training, settings.k, settings.score)
    return blanket(training, settings.prior, settings.ess, settings.k)


def _best(training: Training, settings: Settings) -> Fitted:
    """Of some structures the one that predicts each row's class best from the other rows."""
    found: tuple[float, Fitted] | None = None
    for name in TRIED:
        try:
            made = fit_classifier(training, replace(settings, structure=name))
        except TooLargeError:
            continue
        reached = conditional_log_likelihood(training, made.classifier, settings.prior, settings.ess)
        if name == "blanket":  # its arcs were chosen by the same number, which is too high for that
            reached -= charge_per_arc(training) * made.classifier.reader.dag.n_arcs
        if found is None or reached > found[0]:
            found = reached, made
    assert found is not None
    return found[1]


def _searched(training: Training, search: Any, settings: Settings) -> tuple[Structure, Any]:
    """The graph that a search finds over the features and the class."""
    result = learn(
        training.table,
        search=search,
        score=settings.score,
        knowledge=settings.knowledge,
        seed=settings.seed,
        max_time=settings.max_time,
    )
    return tuple(result.dag.reordered(training.table.names).parents), result
