"""Texts that read as numbers, and the common type of the texts of a column.

Two different texts never become one state, unless they are the same number in a
column of numbers: "007" makes its column text. TRUE and false are texts like any other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

import numpy as np

# An integer of more than 300 digits is text: it has no float of its own.
_DIGITS = r"(?:0|[1-9][0-9]{0,299})"
_INTEGER = rf" *[+-]?{_DIGITS} *"
_FINITE = rf" *[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|{_DIGITS})(?:[eE][+-]?[0-9]{{1,4}})? *"
_INFINITE = r" *[+-]?(?:inf|Inf|INF|infinity|Infinity) *"
NUMBER = rf"(?:{_FINITE}|{_INFINITE})"
"""The pattern of a text that reads as a number."""

COMMA_NUMBER = r" *[+-]?[0-9]+,[0-9]+(?:[eE][+-]?[0-9]{1,4})? *"
"""The pattern of a number with a decimal comma."""

LIKE_THOUSANDS = r" *[+-]?[1-9][0-9]{0,2},[0-9]{3} *"
"""The pattern of a number whose comma could as well separate thousands."""

is_integer = re.compile(_INTEGER).fullmatch
is_finite = re.compile(_FINITE).fullmatch
is_number = re.compile(NUMBER).fullmatch


def typed(texts: Sequence[str]) -> list[Any]:
    """The values that the distinct texts of one column stand for, in the same order.

    All integers: integers. All numbers, one of them not an integer: floats. Otherwise the texts
    themselves.
    """
    if not texts:
        return []
    if all(map(is_integer, texts)):
        return [int(text) for text in texts]
    if all(map(is_number, texts)) and any(is_finite(t) and not is_integer(t) for t in texts):
        numbers = [float(text) for text in texts]
        overflowed = any(math.isinf(n) and is_finite(t) for n, t in zip(numbers, texts, strict=True))
        return list(texts) if overflowed else numbers
    return list(texts)


is_comma_number = re.compile(COMMA_NUMBER).fullmatch
is_like_thousands = re.compile(LIKE_THOUSANDS).fullmatch


def have_decimal_commas(texts: Iterable[str]) -> bool:
    """Return True for numbers with decimal commas, among which may be whole ones without."""
    found = False
    for text in texts:
        if is_comma_number(text):
            found = True
        elif not is_integer(text):
            return False
    return found


def number_with_comma(text: str) -> int | float | None:
    """The number that a text reads as, with a point or a comma before its decimals, or None."""
    return float(text.replace(",", ".")) if is_comma_number(text) else as_number(text)


def as_number(text: str) -> int | float | None:
    """The number that a text reads as, or None."""
    if is_integer(text):
        return int(text)
    return float(text) if is_number(text) else None


def seconds_in(value: Any) -> Any:
    """The seconds of a length of time; any other value as it is."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    return float(value / np.timedelta64(1, "s")) if isinstance(value, np.timedelta64) else value
