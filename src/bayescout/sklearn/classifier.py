"""Bayesian network classifiers as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from bayescout.arrays import Floats
from bayescout.classify import Settings, Training, fit_classifier
from bayescout.classify.reading import cut_features, read_rows
from bayescout.sklearn.rows import (
    checked,
    checked_with_classes,
    columns_of,
    names_of,
    read_to_cut,
    seed_of,
    taken,
    weights_of,
)


class BayesianNetworkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier by a Bayesian network of the class and the features.

    Parameters
    ----------
    structure : {"auto", "nb", "tan", "kdb", "aode", "blanket"}, the name of a search, or a search
        "nb" is naive Bayes; "tan" adds a tree between the features (Friedman et al. 1997), "kdb" up to `k`
        parents each (Sahami 1996); "aode" is the mean over all features as the parent of the others (Webb et
        al. 2005); "blanket" adds the arcs that help to predict the class of left-out rows. A search
        ("hill-climb", "ges", `bayescout.search.Auto()`, ...) learns a network of all columns, whose class
        is then predicted. "auto" is the one of "nb", "tan", "kdb", "aode" and "blanket" that predicts each
        row's class best from the other rows.
    structure_score : str or score, default=None
        The score of the arcs (the method `score` has the shorter name): any of `bayescout.scores.SCORES`.
        None is mutual information given the class for "tan" and "kdb", the left-out conditional likelihood
        ("cll") for "blanket", the default of `bayescout.learn` for a search, and no choice at all for "nb".
        With a score, "nb", "tan" and "kdb" have only arcs that add to it, and "blanket" is what hill climbing
        with it finds around the class.
    prior : {"laplace", "bdeu"}, default="laplace"
        Smoothing of the probabilities, as in `bayescout.fit`.
    ess : float, default=1.0
        Equivalent sample size of "bdeu".
    k : int, default=2
        The most features that are parents of a feature in "kdb" and "blanket".
    min_count : float, default=1
        The least rows that have a state for it to be a parent in "aode".
    discretise : default="mdl"
        How numbers are cut into intervals: "mdl" by what they tell about the class (Fayyad & Irani 1993), or
        as in `bayescout.learn`: a number of intervals, "quantile", "hartemink:4", {column: cuts}.
    kinds : {"discrete", "continuous"} or dict, default=None
        Of the columns, as in `bayescout.as_table`; None is by its rule, but of numbers at most five whole
        ones are states.
    knowledge : bayescout.Knowledge, default=None
        For a search: required and forbidden arcs between features, which are named as in the frame.
    max_time : float, default=None
        Seconds of a search.
    random_state : int, RandomState instance or None, default=0
        The seed of a search.

    Attributes
    ----------
    classes_ : the classes, ascending
    structure_ : the name of the structure, which "auto" chose
    network_ : the fitted `bayescout.Network`, its last node the class; of "aode" naive Bayes
    result_ : what a search found; None if there was none
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Text, categories and missing cells of frames are taken as they are, and numbers are cut into intervals. A
    missing cell is summed out, and so is a value that was not seen in `fit`, with a warning. Identifiers,
    other text that tells a row from all others, and dates are left out, with a warning, unless `kinds` has
    them. Families are estimated from the rows in which they are complete. Neither the order of the rows nor
    that of the columns changes a prediction. A `sample_weight` of 2 is a row twice, one of 0 no row.
    """

    def __init__(
        self,
        structure: Any = "auto",
        *,
        structure_score: Any = None,
        prior: str = "laplace",
        ess: float = 1.0,
        k: int = 2,
        min_count: float = 1,
        discretise: Any = "mdl",
        kinds: Any = None,
        knowledge: Any = None,
        max_time: float | None = None,
        random_state: Any = 0,
    ) -> None:
        self.structure = structure
        self.structure_score = structure_score
        self.prior = prior
        self.ess = ess
        self.k = k
        self.min_count = min_count
        self.discretise = discretise
        self.kinds = kinds
        self.knowledge = knowledge
        self.max_time = max_time
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BayesianNetworkClassifier:  # noqa: N803
        """Learn the structure and the probabilities from rows and the class of each."""
        settings = self._settings()
        settings.check()
        rows, classes = checked_with_classes(self, X, y)
        check_classification_targets(classes)
        weights = weights_of(sample_weight, rows)
        if weights is not None and not weights.all():  # such rows are no rows
            there = np.flatnonzero(weights)
            rows, classes, weights = taken(rows, there), classes[there], weights[there]
        self.classes_, codes = np.unique(classes, return_inverse=True)
        columns = columns_of(rows, names_of(self))
        features = cut_features(read_to_cut(columns, weights, self.kinds), codes, self.discretise)
        training = Training.of(features, self._class_name(y, columns), tuple(self.classes_.tolist()), codes)
        fitted = fit_classifier(training, settings)
        self.structure_, self.result_ = fitted.name, fitted.result
        self.network_ = fitted.classifier.reader
        self._classifier = fitted.classifier
        return self

    def _settings(self) -> Settings:
        return Settings(
            structure=self.structure,
            score=self.structure_score,
            prior=self.prior,
            ess=self.ess,
            k=self.k,
            min_count=self.min_count,
            knowledge=self.knowledge,
            seed=seed_of(self.random_state),
            max_time=self.max_time,
        )

    @staticmethod
    def _class_name(y: Any, columns: dict[Any, Any]) -> str:
        """The name of the class as a node: that of the series if it has one, and no feature has it."""
        own = getattr(y, "name", None)
        name = own if isinstance(own, str) and own else "class"
        while name in columns:
            name += "_"
        return name

    def predict_log_proba(self, X: Any) -> Floats:  # noqa: N803
        """(n, k) logarithms of the probability of each class, in the order of `classes_`."""
        check_is_fitted(self)
        rows = checked(self, X, reset=False)
        codes = read_rows(self.network_, columns_of(rows, names_of(self)))
        return self._classifier.log_proba(codes)

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """(n, k) probabilities of each class, in the order of `classes_`."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The most probable class of each row; of equals the first of `classes_`."""
        logs = self.predict_log_proba(X)
        found: NDArray[Any] = self.classes_[logs.argmax(axis=1)]
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags
