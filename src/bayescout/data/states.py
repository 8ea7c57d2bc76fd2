"""Find a state, whatever type it comes in: 0, 0.0, False and "0" are one where nothing matches exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from bayescout.data.numerals import as_number
from bayescout.data.table import Label
from bayescout.errors import SettingError
from bayescout.graph.labels import is_hashable

_Key = Callable[[Any], Any]


class StateFinder:
    """The positions of states by value, and by what else they may be written as.

    Tried in turn, until one way finds states: the same value of the same type; an equal number (0, 0.0,
    False); the same text ("True" for True); a text that reads as an equal number ("0" for 0, "1.0" for 1);
    true and false in any case. A value that one way finds twice is refused.
    """

    def __init__(self, states: Sequence[Label], where: str) -> None:
        self.states = tuple(states)
        self.where = where
        self._found: dict[_Key, dict[Any, list[int]]] = {}

    def _places(self, key: _Key) -> dict[Any, list[int]]:
        """The positions of the states by a key, made when needed: most often for the first key only."""
        known_places = self._found.get(key)
        if known_places is not None:
            return known_places
        places = self._found[key] = {}
        for place, state in enumerate(self.states):
            known = key(state)
            if known is not None:
                places.setdefault(known, []).append(place)
        return places

    def find(self, value: Any) -> int | None:
        """The position of the state that a value means, or None."""
        if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
            value = value.item()
        if not is_hashable(value):
            return None
        for key in _KEYS:
            known = key(value)
            found = [] if known is None else self._places(key).get(known, [])
            if len(found) == 1:
                return found[0]
            if found:
                one, two = (self.states[place] for place in found[:2])
                raise SettingError(
                    f"state {value!r} of {self.where} could be {one!r} or {two!r}; "
                    f"pass the value itself rather than one like it"
                )
        return None


def _exact(value: Any) -> Any:
    return type(value), value


def _number(value: Any) -> Any:
    """The value of a number or boolean."""
    return value if isinstance(value, bool | int | float | Decimal) else None


def _number_in_text(value: Any) -> Any:
    """The value of a number, boolean, or text that reads as a number."""
    return as_number(value.strip()) if isinstance(value, str) else _number(value)


def _truth(value: Any) -> Any:
    """ "true" and "false" for booleans, and for these words in any case."""
    folded = str(value).casefold() if isinstance(value, bool | str) else None
    return folded if folded in ("true", "false") else None


_KEYS: tuple[_Key, ...] = (_exact, _number, str, _number_in_text, _truth)
