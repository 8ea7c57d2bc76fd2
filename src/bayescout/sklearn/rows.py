"""Rows as scikit-learn hands them over: checked by its own rules, and then as columns by name."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, _num_samples, column_or_1d, validate_data

from bayescout.arrays import Floats
from bayescout.data import Table, as_table
from bayescout.data.absent import is_missing
from bayescout.data.kinds import FEW
from bayescout.data.reading import in_words
from bayescout.data.settle import reason_to_leave_out, warn_left_out
from bayescout.errors import BayescoutWarning, DataError
from bayescout.wording import worded_by


def checked(estimator: Any, rows: Any, reset: bool) -> Any:
    """A frame as it is, anything else as an array of two dimensions; features are counted and named.

    A frame keeps its types, so that text, categories and missing cells stay what they are.
    """
    if not _is_frame(rows):
        return validate_data(estimator, rows, reset=reset, dtype=None, ensure_all_finite="allow-nan")
    found = validate_data(estimator, rows, reset=reset, skip_check_array=True)
    if min(found.shape) < 1:
        raise DataError(f"a frame of {found.shape[0]} rows and {found.shape[1]} columns has nothing to learn")
    return found


def checked_with_classes(estimator: Any, rows: Any, classes: Any) -> tuple[Any, NDArray[Any]]:
    """The same of rows with the class of each; `estimator` counts and names its features."""
    if not _is_frame(rows):
        found, own = validate_data(estimator, rows, classes, dtype=None, ensure_all_finite="allow-nan")
        return found, own
    found = checked(estimator, rows, reset=True)
    if classes is None:
        raise DataError("requires y to be passed, but the target y is None")
    own = column_or_1d(classes, warn=True)
    if lacking := sum(map(is_missing, own.tolist())):
        raise DataError(f"Input y contains NaN: {lacking:,} rows have no class; leave them out of X and y")
    if len(own) != _num_samples(found):
        raise DataError(f"{_num_samples(found):,} rows but {len(own):,} classes: give one class per row")
    return found, own


def _is_frame(rows: Any) -> bool:
    return hasattr(rows, "columns") and hasattr(rows, "shape")


def names_of(estimator: Any) -> list[Any]:
    """The names of the features, or their positions if they have none."""
    names = getattr(estimator, "feature_names_in_", None)
    return list(range(estimator.n_features_in_)) if names is None else list(names)


def columns_of(rows: Any, names: Sequence[Any]) -> dict[Any, Any]:
    """The columns of checked rows, by the names of the features."""
    if hasattr(rows, "iloc"):
        columns = [rows.iloc[:, place] for place in range(rows.shape[1])]
    elif _is_frame(rows):
        columns = [rows[name] for name in rows.columns]
    else:
        columns = [column.tolist() if rows.dtype.kind == "O" else column for column in rows.T]
    return dict(zip(names, columns, strict=True))


def weights_of(sample_weight: Any, rows: Any) -> Floats | None:
    """One weight per row, or None if each counts once."""
    if sample_weight is None:
        return None
    found: Floats = _check_sample_weight(sample_weight, np.empty((_num_samples(rows), 1)), dtype=np.float64)
    if not np.any(found > 0):
        raise DataError("every sample_weight is 0: at least one row must count")
    return found


def taken(rows: Any, chosen: NDArray[Any]) -> Any:
    """Some rows of a checked frame or array."""
    if hasattr(rows, "iloc"):
        return rows.iloc[chosen]
    return rows[chosen]


def seed_of(random_state: Any) -> int:
    """A seed: the number itself, or one drawn from a generator."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def in_estimator(name: str, value: Any) -> str:
    """A way out as those have it who give a frame to an estimator: its settings, or the cells themselves."""
    if name == "missing_values":
        return "make such cells NaN" if value else "renaming them"
    if name == "drop":
        return "drop the column"
    return f"{name}={'...' if value is ... else repr(value)}"


def read(columns: dict[Any, Any], weights: Floats | None = None, kinds: Any = None) -> Table:
    """The columns as a table, every one of them; close calls between kinds are not told in every fold.

    A column without a value, which a fold may have, is one of numbers, all of them missing.
    """
    if not isinstance(kinds, str):
        kinds = {name: "continuous" for name, own in columns.items() if _is_empty(own)} | dict(kinds or {})
    with warnings.catch_warnings(), worded_by(in_estimator):
        warnings.filterwarnings("ignore", "close calls in how columns are read", BayescoutWarning)
        return as_table(columns, kinds=kinds or None, weights=weights, columns=list(columns))


def saying_nothing(table: Table, kinds: Any) -> list[tuple[Any, str]]:
    """The columns that tell rows apart and no more, and dates, each with the reason; no declared one is."""
    if isinstance(kinds, str):
        return []
    lacking = dict(table.missing.counts)
    reasons = [
        (name, reason_to_leave_out(states, table.n_rows - lacking.get(name, 0)))
        for name, states in zip(table.names, table.states, strict=True)
        if states is not None and name not in (kinds or {})
    ]
    return [(name, reason) for name, reason in reasons if reason]


def read_to_cut(columns: dict[Any, Any], weights: Floats | None, kinds: Any) -> Table:
    """The columns as a table in which numbers of more than a few distinct values are there to be cut.

    Columns that say nothing of other rows are left out, with a warning.
    """
    table = read(columns, weights, kinds)
    if isinstance(kinds, str):
        return table
    nothing = saying_nothing(table, kinds)
    if len(nothing) == len(columns):
        raise DataError(
            f"no feature says anything of other rows: {in_words(nothing)}; kinds={{{nothing[0][0]!r}: "
            f"'discrete'}} keeps one"
        )
    with worded_by(in_estimator):
        warn_left_out(nothing)
    columns = {name: own for name, own in columns.items() if name not in dict(nothing)}
    table = table.select(list(columns)) if nothing else table
    declared = dict(kinds or {})
    sizes = dict(zip(table.names, table.cardinalities.tolist(), strict=True))
    many = {name for name, own in columns.items() if sizes[name] > FEW and _is_numbers(own)} - set(declared)
    return read(columns, weights, declared | dict.fromkeys(many, "continuous")) if many else table


def _is_empty(column: Any) -> bool:
    """Return True if no cell of a column that is not of numbers has a value."""
    if isinstance(column, np.ndarray):
        return False
    if isinstance(column, list):
        return all(is_missing(cell) for cell in column)
    if hasattr(column, "null_count"):  # of polars
        return bool(column.null_count() == len(column))
    return bool(column.isna().all())


def _is_numbers(column: Any) -> bool:
    """Return True for a column of numbers, False for text, categories and objects."""
    dtype = getattr(column, "dtype", None)
    if dtype is None or str(dtype) == "category":
        return isinstance(column, list) and all(isinstance(cell, int | float | np.number) for cell in column)
    is_numeric = getattr(dtype, "is_numeric", None)  # of polars
    return bool(is_numeric()) if is_numeric is not None else getattr(dtype, "kind", "O") in "iuf"
