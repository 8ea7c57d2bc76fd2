"""Cutting numbers into intervals as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from bayescout.checks import require_choice
from bayescout.classify.reading import cut_features
from bayescout.data import Discretiser as Cuts
from bayescout.data import Table
from bayescout.data.discretise import DEFAULT_BINS, check_method
from bayescout.data.intervals import cut, interval_labels
from bayescout.errors import DataError
from bayescout.sklearn.cells import like
from bayescout.sklearn.rows import checked, columns_of, names_of, read, taken, weights_of

ENCODINGS = ("ordinal", "interval")


class Discretiser(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Cuts columns of numbers into intervals; other columns pass unchanged.

    Parameters
    ----------
    method : {"quantile", "width", "kmeans", "hartemink", "mdl"}, default="quantile"
        As in `bayescout.discretise`. "mdl" chooses the cuts, and their number, by what they tell about y.
    bins : int, default=3
        The number of intervals; not used by "mdl".
    columns : list, default=None
        The names, or positions, of the columns to cut; None is every column of numbers that
        `bayescout.as_table` reads as continuous: few whole numbers are states already.
    encode : {"ordinal", "interval"}, default="ordinal"
        Numbers of intervals from 0, missing cells NaN; or text such as "(1.5, 3.2]", missing cells None.

    Attributes
    ----------
    cuts_ : the ascending cut points by column; a value on a cut is in the interval below it
    n_features_in_, feature_names_in_ : as in scikit-learn
    """

    def __init__(
        self,
        method: Any = "quantile",
        *,
        bins: Any = DEFAULT_BINS,
        columns: Any = None,
        encode: str = "ordinal",
    ) -> None:
        self.method = method
        self.bins = bins
        self.columns = columns
        self.encode = encode

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Discretiser:  # noqa: N803
        """Choose the cuts; y is used by "mdl" alone."""
        check_method(self.method)
        require_choice("encode", self.encode, ENCODINGS)
        rows = checked(self, X, reset=True)
        weights = weights_of(sample_weight, rows)
        told = None
        if self.method == "mdl":
            if y is None:
                raise DataError("requires y to be passed, but the target y is None: method='mdl' cuts for it")
            told = np.unique(column_or_1d(y), return_inverse=True)[1]
        if weights is not None and not weights.all():  # such rows are no rows
            there = np.flatnonzero(weights)
            rows, weights = taken(rows, there), weights[there]
            told = None if told is None else told[there]
        table = self._table(rows, weights)
        wanted = self._wanted(table)
        self.cuts_ = self._chosen(table, wanted, told) if wanted else {}
        return self

    def _table(self, rows: Any, weights: Any = None) -> Table:
        kinds: Any = dict.fromkeys(self.columns or (), "continuous") or None
        return read(columns_of(rows, names_of(self)), weights, kinds)

    def _wanted(self, table: Table) -> list[Any]:
        """The columns to cut that have values."""
        kinds = dict(zip(table.names, table.kinds, strict=True))
        chosen = table.names if self.columns is None else self.columns
        return [
            name for name in chosen if kinds[name] == "continuous" and not table.missing_cells(name).all()
        ]

    def _chosen(self, table: Table, wanted: list[Any], told: Any) -> dict[Any, tuple[float, ...]]:
        if told is None:
            return Cuts.fit(table, self.method, self.bins, columns=wanted).cuts
        return dict(cut_features(table.select(wanted), told).cuts)

    def transform(self, X: Any) -> Any:  # noqa: N803
        """The rows with numbers of intervals, or their labels, in the columns that are cut."""
        check_is_fitted(self)
        rows = checked(self, X, reset=False)
        columns = columns_of(rows, names_of(self))
        if self.cuts_:
            kinds: Any = dict.fromkeys(self.cuts_, "continuous")
            table = read({name: columns[name] for name in self.cuts_}, kinds=kinds)
            columns |= {name: self._cells(name, table.array(name)) for name in self.cuts_}
        return like(self, rows, list(columns.values()))

    def _cells(self, name: Any, values: NDArray[np.float64]) -> NDArray[Any]:
        codes = cut(self.cuts_[name], values)
        if self.encode == "ordinal":
            return np.where(np.isnan(values), np.nan, codes.astype(np.float64))
        labels = np.array([*interval_labels(self.cuts_[name]), None], dtype=object)
        return labels[codes]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.target_tags.required = self.method == "mdl"
        return tags
