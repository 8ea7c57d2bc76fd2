"""Structure learning as a scikit-learn estimator: a density of rows, and a transformer that fills gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bayescout.arrays import Floats
from bayescout.data import Table
from bayescout.data.discretise import cut_by
from bayescout.data.reading import in_words
from bayescout.errors import DataError, warn
from bayescout.learn import learn
from bayescout.network import fit
from bayescout.search import Auto
from bayescout.sklearn.cells import completed, like, matrix, middles
from bayescout.sklearn.rows import (
    checked,
    columns_of,
    names_of,
    read,
    saying_nothing,
    seed_of,
    taken,
    weights_of,
)


class StructureLearner(OneToOneFeatureMixin, TransformerMixin, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """A Bayesian network learned from rows: a density that fills missing cells.

    `score_samples` is the log density of each row, `sample` draws rows, and `transform` fills the missing
    cells of each row with the most probable values given its other cells; observed cells stay as they are.

    Parameters
    ----------
    search : str or search, default=None
        As in `bayescout.learn`; None is "auto" without its last and longest parts, as rows are often learned
        from in many folds.
    knowledge, structure_prior, missing, discretise, max_time :
        As in `bayescout.learn`.
    structure_score : str or score, default=None
        The `score` of `bayescout.learn`; the method `score` has the name in scikit-learn.
    kinds : {"discrete", "continuous"} or dict, default=None
        Of the columns, as in `bayescout.as_table`; None is by its rule: few whole numbers are states.
    prior : {"bdeu", "laplace", "mle"}, default="bdeu"
        Smoothing of the probabilities of categories, as in `bayescout.fit`; regressions of numbers are those
        of maximum likelihood.
    ess : float, default=1.0
        Equivalent sample size of "bdeu".
    random_state : int, RandomState instance or None, default=0
        The seed of the search.

    Attributes
    ----------
    network_ : the fitted `bayescout.Network`
    result_ : the `bayescout.Result` of the search
    dag_ : its graph
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Numbers are cut only if `discretise` says so; then densities are probabilities of intervals, and a number
    that is filled in or drawn is the median of the interval's training values. Values that were not seen in
    `fit` count as missing for the density, with a warning, and are not changed by `transform`.
    """

    def __init__(
        self,
        search: Any = None,
        *,
        structure_score: Any = None,
        prior: str = "bdeu",
        ess: float = 1.0,
        knowledge: Any = None,
        structure_prior: Any = None,
        missing: str = "em",
        discretise: Any = None,
        kinds: Any = None,
        max_time: float | None = None,
        random_state: Any = 0,
    ) -> None:
        self.search = search
        self.structure_score = structure_score
        self.prior = prior
        self.ess = ess
        self.knowledge = knowledge
        self.structure_prior = structure_prior
        self.missing = missing
        self.discretise = discretise
        self.kinds = kinds
        self.max_time = max_time
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> StructureLearner:  # noqa: N803
        """Learn the structure and the parameters from rows; y is not used."""
        rows = checked(self, X, reset=True)
        weights = weights_of(sample_weight, rows)
        if weights is not None and not weights.all():  # such rows are no rows
            there = np.flatnonzero(weights)
            rows, weights = taken(rows, there), weights[there]
        names = names_of(self)
        table = read(columns_of(rows, names), weights, self.kinds)
        if nothing := saying_nothing(table, self.kinds):
            warn(
                f"columns that say nothing of other rows are in the network: {in_words(nothing)}; drop them, "
                f"or declare them: kinds={{{nothing[0][0]!r}: 'discrete'}}"
            )
        if table.n_rows < 2:
            raise DataError("n_samples=1: a structure is learned from at least 2 rows that count")
        used = table if self.discretise is None else cut_by(table, self.discretise)
        search: Any = Auto(thorough=False) if self.search is None else self.search
        self.result_ = learn(
            used,
            search=search,
            score=self.structure_score,
            knowledge=self.knowledge,
            seed=seed_of(self.random_state),
            max_time=self.max_time,
            missing=self.missing,
            structure_prior=self.structure_prior,
        )
        self.dag_ = self.result_.dag
        self.network_ = fit(
            self.dag_,
            used,
            prior="mle" if used.is_continuous else self.prior,
            ess=self.ess,
            missing=self.missing,
        )
        self._middles = middles(table, used)
        return self

    def _read(self, X: Any) -> tuple[Any, dict[Any, Any]]:  # noqa: N803
        check_is_fitted(self)
        rows = checked(self, X, reset=False)
        return rows, columns_of(rows, names_of(self))

    def score_samples(self, X: Any) -> Floats:  # noqa: N803
        """The log probability, or density, of each row in nats; missing cells are summed out."""
        return self.network_.row_log_likelihood(self._read(X)[1])

    def score(self, X: Any, y: Any = None) -> float:  # noqa: N803
        """The mean of `score_samples`, as for mixtures in scikit-learn; y is not used."""
        return float(np.mean(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Any = 0) -> NDArray[Any]:
        """(n_samples, n_features) rows drawn from the network, columns in the order of the features."""
        check_is_fitted(self)
        drawn: Table = self.network_.sample(n_samples, seed=seed_of(random_state))
        return matrix([self._column(drawn, name) for name in names_of(self)])

    def _column(self, table: Table, name: Any) -> NDArray[Any]:
        """A column of drawn or completed rows, numbers in place of intervals."""
        return completed(table, name, self._middles.get(name))

    def transform(self, X: Any) -> Any:  # noqa: N803
        """The rows with every missing cell filled by its most probable value given the row's other cells."""
        rows, columns = self._read(X)
        names = names_of(self)
        table = read(columns)
        found = list(columns.values())
        holes = [table.missing_cells(name) for name in names]
        lacking = np.flatnonzero(np.any(holes, axis=0))
        if len(lacking):
            filled = self.network_.impute(columns_of(taken(rows, lacking), names))
            assert isinstance(filled, Table)
            for place, (name, hole) in enumerate(zip(names, holes, strict=True)):
                where = hole[lacking]
                if where.any():
                    found[place] = matrix([found[place]])[:, 0].copy()
                    found[place][lacking[where]] = self._column(filled, name)[where]
        return like(self, rows, found)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags
