"""Intervals of numbers as states: which interval a raw number falls in, and what it is called."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.numerals import as_number, seconds_in

Cuts = tuple[float, ...]
"""Ascending cut points: k of them make k + 1 intervals, of which (a, b] holds v where a < v <= b."""


def cut(cuts: Sequence[float], values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The interval of each value; a missing value gets the code after the last interval."""
    return np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(np.array(cuts), values, side="left"))


def number_in(value: Any) -> float | None:
    """The number that a raw value is or reads as; None for any other, a boolean and NaN included.

    A length of time is its seconds, as where columns are read.
    """
    value = seconds_in(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        value = as_number(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        number = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return None if math.isnan(number) else number


def interval_of(cuts: Sequence[float], value: Any) -> int | None:
    """The position of the interval that a raw value falls in; None if it is no number."""
    number = number_in(value)
    return None if number is None else int(np.searchsorted(np.array(cuts), number, side="left"))


def interval_labels(cuts: Sequence[float]) -> tuple[str, ...]:
    """One label per interval, with the fewest digits (at least 4) that distinguish the cuts."""
    ends = [*_short_numbers(cuts), "inf"]
    labels = [f"({low}, {high}]" for low, high in zip(["-inf", *ends], ends[:-1], strict=False)]
    return (*labels, f"({['-inf', *ends][-2]}, inf)")


def _short_numbers(cuts: Sequence[float]) -> list[str]:
    for digits in range(4, 17):
        texts = [f"{point:.{digits}g}" for point in cuts]
        if len(set(texts)) == len(texts):
            return texts
    return [repr(float(point)) for point in cuts]


def wrong_cuts(cuts: Sequence[float], states: Sequence[Hashable]) -> str:
    """The reason why cut points cannot belong to these states; empty if they can.

    Interval i is state i. There may be states after the intervals, as for missing cells.
    """
    if not np.isfinite(cuts).all() or any(b <= a for a, b in pairwise(cuts)):
        return f"the cuts must be finite and ascending, not {list(cuts)}"
    if len(cuts) >= len(states):
        return f"{len(cuts)} cuts make {len(cuts) + 1} intervals, and there are {len(states)} states"
    number = next((state for state in states if number_in(state) is not None), None)
    if number is not None:
        return f"the state {number!r} of a column that is cut could be taken for a raw number"
    return ""
