"""Declarations about data before they are read: kinds, states, missing values, weights, columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import first_repeated
from bayescout.data.absent import MISSING
from bayescout.data.intervals import Cuts, cut, interval_of
from bayescout.data.table import Kind, Label, OpenStates, States
from bayescout.errors import DataError, SettingError, UnknownNameError
from bayescout.graph.labels import is_hashable

Kinds = Kind | Mapping[Any, Kind]
DeclaredStates = Mapping[Any, Sequence[Any]]


class RawStates(tuple[Hashable, ...]):
    """Declared states of a column, and what its other raw cells become.

    cuts     raw numbers become the state of their interval; None if the column is not cut
    empty    the state that an empty cell becomes; None if it stays missing
    is_open  True if other values become states after these, as with `OpenStates`; else they are refused
    """

    cuts: Cuts | None
    empty: Hashable | None
    is_open: bool

    def __new__(
        cls,
        states: Iterable[Hashable],
        cuts: Cuts | None = None,
        empty: Hashable | None = None,
        is_open: bool = False,
    ) -> RawStates:
        made = super().__new__(cls, states)
        made.cuts = None if cuts is None else tuple(cuts)
        made.empty, made.is_open = empty, is_open
        return made

    def opened(self) -> RawStates:
        """The same, and other values become states after these."""
        return RawStates(self, self.cuts, self.empty, is_open=True)

    def state_of(self, value: Any) -> Any:
        """The state of a raw number; every other value as it is."""
        if self.cuts is None or value is MISSING or value in self:
            return value
        place = interval_of(self.cuts, value)
        return value if place is None else self[place]

    def coded(self, values: NDArray[np.float64]) -> tuple[list[Any], NDArray[np.int64]]:
        """The states that occur in an array of numbers, and the position of each number's among them."""
        assert self.cuts is not None
        found, codes = np.unique(cut(self.cuts, values), return_inverse=True)
        names = [*self[: len(self.cuts) + 1], MISSING]
        return [names[place] for place in found.tolist()], codes.ravel()


class OpenNumbers(str):
    """The kind "continuous" of a column that may hold other values than numbers, which count as missing."""


OPEN_NUMBERS: Any = OpenNumbers("continuous")


def is_open(states: States | None) -> bool:
    """Return True if a column with these declared states may hold other values."""
    return isinstance(states, OpenStates) or (isinstance(states, RawStates) and states.is_open)


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
    about_rows: Sequence[Label] = (),
    drop: Sequence[Any] | None = None,
) -> list[Label]:
    """The columns to take, in the requested order; those that tell about the rows are always taken."""
    wanted = list(names) if columns is None else _listed_names("columns", columns, names)
    dropped = set(() if drop is None else _listed_names("drop", drop, names)) - set(about_rows)
    wanted = [name for name in wanted if name not in dropped]
    return [*wanted, *(name for name in about_rows if name not in wanted)]


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
