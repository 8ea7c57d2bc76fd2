"""Declarations about data before they are read: kinds, states, missing values, weights, columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import first_repeated
from bayescout.data.table import Kind, Label
from bayescout.errors import DataError, SettingError, UnknownNameError
from bayescout.graph.labels import is_hashable

Kinds = Kind | Mapping[Any, Kind]
DeclaredStates = Mapping[Any, Sequence[Any]]


def listed(missing_values: Any) -> tuple[Any, ...]:
    """The declared missing values as a tuple, empty for None; a single string is one value."""
    if missing_values is None:
        return ()
    if isinstance(missing_values, str) or not hasattr(missing_values, "__iter__"):
        return (missing_values,)
    return tuple(missing_values)


def chosen(
    names: Sequence[Label],
    columns: Sequence[Any] | None,
    weight: Label | None = None,
    drop: Sequence[Any] | None = None,
) -> list[Label]:
    """The columns to take, in the requested order; the weight column is always taken."""
    wanted = list(names) if columns is None else _listed_names("columns", columns, names)
    dropped = set(() if drop is None else _listed_names("drop", drop, names)) - {weight}
    wanted = [name for name in wanted if name not in dropped]
    return wanted if weight is None or weight in wanted else [*wanted, weight]


def _listed_names(setting: str, given: Sequence[Any], names: Sequence[Label]) -> list[Label]:
    """The names that the user lists, each known and given once."""
    if isinstance(given, str | bytes | set | frozenset):
        raise SettingError(f"{setting} must be a list of names, such as ['a', 'b'], not {given!r}")
    wanted = list(given)
    known = set(names)
    strange = [name for name in wanted if not is_hashable(name) or name not in known]
    if strange:
        one = len(strange) == 1
        raise UnknownNameError(
            "column" if one else "columns", strange[0] if one else tuple(strange), names, "the data"
        )
    twice = first_repeated(wanted)
    if twice is not None:
        raise SettingError(f"{setting} names {wanted[twice]!r} twice: name each column once")
    return wanted


def split_weights(weights: Any, names: Sequence[Label]) -> tuple[Label | None, NDArray[np.float64] | None]:
    """The name of the weight column, or the weights themselves."""
    if weights is None:
        return None, None
    try:
        is_name = weights in set(names)
    except TypeError:
        is_name = False
    if is_name:
        return weights, None
    if isinstance(weights, str) or not hasattr(weights, "__len__"):
        raise UnknownNameError("weight column", weights, names, "the data")
    try:
        array = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("weights must be numbers, one a row, or the name of a column") from None
    return None, array
