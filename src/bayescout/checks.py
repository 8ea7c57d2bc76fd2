"""Checks of numeric settings, including seeds: values that are no number, or out of range, are refused."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from bayescout.errors import SettingError

if TYPE_CHECKING:
    import numpy as np


MOST_COUNT = 10**15
"""The largest count; no run could reach a larger one."""

MOST_WRITTEN = 10**1000 - 1
"""The largest integer in a message: Python writes none of more than 4,300 digits."""

MOST_POPULATION = 100_000
"""The most individuals of a population: all are held and scored in every generation."""

MOST_PERTURB = 100_000
"""The most random moves at a time; so many lead from any graph to any other."""

MOST_SEED = 2**256 - 1

MOST_AMOUNT = 1e9
"""The largest amount: beyond it none makes a difference, and sums and products of amounts stay finite."""

MOST_SHOWN = 60
"""The most characters of a refused value that an error shows."""


def require_count(name: str, value: Any, least: int = 0, hint: str = "", most: int = MOST_WRITTEN) -> int:
    """An integer of at least `least` and at most `most`, as a plain int."""
    more = f"; {hint}" if hint else ""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise SettingError(f"{name} must be a whole number of at least {least}, not {shown(value)}{more}")
    if int(value) > most:
        limit = f"{most:,}" if most < MOST_SEED else f"{len(str(most)):,} digits"
        raise SettingError(f"{name} must be a whole number of at most {limit}, not {shown(value)}{more}")
    return int(value)


def require_share(name: str, value: Any, above: bool = False) -> float:
    """A number from 0 to 1, as a plain int or float; not 0 if `above`."""
    found = as_plain(value)
    if found is None or not 0 <= found <= 1 or (above and found == 0):
        raise SettingError(
            f"{name} must be a number {'above' if above else 'from'} 0 to 1, not {shown(value)}"
        )
    return found


def require_amount(name: str, value: Any, most: float = MOST_AMOUNT) -> float:
    """A number of at least 0 and at most `most`, as a plain int or float."""
    found = as_plain(value)
    if found is None or not found >= 0:
        raise SettingError(f"{name} must be a number of at least 0, not {shown(value)}")
    if found > most:
        raise SettingError(f"{name} must be a number of at most {most:g}, not {shown(value)}")
    return found


def require_flag(name: str, value: Any) -> bool:
    """True or False; other values that Python treats as one of them are refused."""
    if not isinstance(value, bool):
        raise SettingError(f"{name} must be True or False, not {shown(value)}")
    return value


def require_choice(name: str, value: Any, choices: Iterable[str], also: str = "") -> str:
    """The value, which must be one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise SettingError(f"{name} must be one of {', '.join(choices)}{also}, not {shown(value)}")
    return value


# The same for the settings of a frozen class, in its __post_init__: the checked value is stored as a plain
# one, so that a NumPy number or a fraction is computed with, shown and saved like any other.


def settle(owner: object, **values: Any) -> None:
    """Store settings that were checked."""
    for name, value in values.items():
        object.__setattr__(owner, name, value)


def settle_count(owner: object, name: str, least: int = 0, most: int = MOST_COUNT) -> None:
    settle(owner, **{name: require_count(name, getattr(owner, name), least, most=most)})


def settle_share(owner: object, name: str, above: bool = False) -> None:
    settle(owner, **{name: require_share(name, getattr(owner, name), above)})


def settle_amount(owner: object, name: str, most: float = MOST_AMOUNT) -> None:
    settle(owner, **{name: require_amount(name, getattr(owner, name), most)})


def settle_flag(owner: object, name: str) -> None:
    settle(owner, **{name: require_flag(name, getattr(owner, name))})


def generator(seed: Any, *stream: int) -> np.random.Generator:
    """The random generator of a seed, or of a separate stream under that seed, the same on every machine.

    PCG64 by name, so that a new default of NumPy changes nothing.
    """
    import numpy as np

    first = require_count("seed", seed, hint="the same seed gives the same answer", most=MOST_SEED)
    return np.random.Generator(np.random.PCG64([first, *stream]))


def first_repeated(values: Iterable[Hashable]) -> int | None:
    """The position of the first value that occurs a second time; None if all are distinct.

    Linear in their number, unlike comparing each with all the others.
    """
    seen: set[Hashable] = set()
    for place, value in enumerate(values):
        if value in seen:
            return place
        seen.add(value)
    return None


def is_real(value: Any) -> bool:
    """Return True if a setting is a number; True and False do not count."""
    return isinstance(value, Real) and not isinstance(value, bool)


def as_plain(value: Any) -> float | None:
    """A finite real number as a plain int or float; None for anything else, and for NaN and infinity.

    An integer of over 308 digits gives None too: it has no float.
    """
    if not is_real(value):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    if not math.isfinite(number):
        return None
    return int(value) if isinstance(value, Integral) else number


def shown(value: Any) -> str:
    """A refused value as shown in an error: on one line and short, whatever it is."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a repr can fail in any way: Python writes no number of 5,000 digits
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 3] + "..."
