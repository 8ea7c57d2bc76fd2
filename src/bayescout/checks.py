"""Settings that are numbers, a seed among them: what is none, or out of range, is refused in one sentence."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from bayescout.errors import SettingError

if TYPE_CHECKING:
    import numpy as np


def require_count(name: str, value: Any, least: int = 0, hint: str = "") -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        more = f"; {hint}" if hint else ""
        raise SettingError(f"{name} must be a whole number of at least {least}, not {value!r}{more}")
    return int(value)


def require_share(name: str, value: Any, above: bool = False) -> float:
    """A number from 0 to 1; not 0 where it must be above."""
    if not is_real(value) or not 0 <= value <= 1 or (above and value == 0):
        raise SettingError(f"{name} must be a number {'above' if above else 'from'} 0 to 1, not {value!r}")
    return float(value)


def require_amount(name: str, value: Any) -> float:
    """A finite number of at least 0."""
    if not is_real(value) or not 0 <= value < float("inf"):
        raise SettingError(f"{name} must be a number of at least 0, not {value!r}")
    return float(value)


def require_flag(name: str, value: Any) -> None:
    """True or False, and nothing that only counts as one of them."""
    if not isinstance(value, bool):
        raise SettingError(f"{name} must be True or False, not {value!r}")


def generator(seed: Any, *stream: int) -> np.random.Generator:
    """The random numbers of a seed, or of a stream of its own under that seed, the same on every machine.

    PCG64 by name, so that a new default of NumPy changes nothing.
    """
    import numpy as np

    first = require_count("seed", seed, hint="the same seed gives the same answer")
    return np.random.Generator(np.random.PCG64([first, *stream]))


def first_repeated(values: Iterable[Hashable]) -> int | None:
    """The position of the first value that is there a second time, None where each is there once.

    Linear in their number, as looking for each among the others is not.
    """
    seen: set[Hashable] = set()
    for place, value in enumerate(values):
        if value in seen:
            return place
        seen.add(value)
    return None


def is_real(value: Any) -> bool:
    """Whether a setting is a number, which True and False are not meant as."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_finite(value: Real) -> bool:
    """Whether a real number has a finite float; a whole number of over 308 digits has none."""
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False
