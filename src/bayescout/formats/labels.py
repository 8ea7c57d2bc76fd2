"""Labels of nodes and states as JSON, each type told from every other.

Text, integers, booleans, finite floats and None are JSON as they stand. A type that JSON does not
have is an object with one key: {"tuple": [...]}, {"date": "2020-01-31"},
{"datetime": "2020-01-31T12:00:00"}, {"float": "inf"}. A type outside this list is refused,
so that a label that is read is equal to the one that was written, and of its type.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, timezone
from typing import Any

from bayescout.errors import FormatError
from bayescout.graph.labels import Label

MAX_INTEGER_BITS = 4096
"""The longest integer; longer ones are refused, as Python itself limits the digits it will read."""

MAX_DEPTH = 20
"""The deepest nesting of tuples."""

_INFINITE = {"inf": math.inf, "-inf": -math.inf}


def encode_label(label: Label, depth: int = 0) -> Any:
    """The JSON value of a label; a label that would not be read back the same is refused."""
    kind = type(label)
    if kind in (str, bool, type(None)):
        return label
    if isinstance(label, int) and kind is int and label.bit_length() <= MAX_INTEGER_BITS:
        return label
    if isinstance(label, float) and kind is float and not math.isnan(label):
        return label if math.isfinite(label) else {"float": str(label)}
    if isinstance(label, tuple) and kind is tuple and depth < MAX_DEPTH:
        return {"tuple": [encode_label(part, depth + 1) for part in label]}
    if isinstance(label, datetime) and kind is datetime and _is_plain(label):
        return {"datetime": label.isoformat()}
    if isinstance(label, date) and kind is date:
        return {"date": label.isoformat()}
    raise FormatError(
        f"the label {label!r} ({kind.__module__}.{kind.__qualname__}) cannot be kept in a file; "
        f"use text, integers, booleans, floats, None, dates, or tuples of these"
    )


def decode_label(value: Any) -> Label:
    """The label of a JSON value; ValueError says what is wrong with it."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number that is too large")
    if value is None or isinstance(value, str | int | float):
        return value
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError(f"{_shown(value)} where a label belongs")
    (tag, content), *_ = value.items()
    if tag == "tuple" and isinstance(content, list):
        return tuple(decode_label(part) for part in content)
    if isinstance(content, str):
        if tag == "float" and content in _INFINITE:
            return _INFINITE[content]
        if tag == "datetime":
            return datetime.fromisoformat(content)
        if tag == "date":
            return date.fromisoformat(content)
    raise ValueError(f"{_shown(value)} where a label belongs")


def distinct_texts(labels: Sequence[Label]) -> list[str]:
    """One text per label, no two the same; labels that are text keep theirs."""
    taken = {label for label in labels if type(label) is str}
    texts = []
    for label in labels:
        text = label
        if type(text) is not str:
            encode_label(label)
            text = str(label)
            while text in taken:
                text += "_"
            taken.add(text)
        texts.append(text)
    return texts


def _is_plain(moment: datetime) -> bool:
    """Return True if ISO 8601 can express all of it: it has no `fold` and no name of a time zone."""
    return moment.fold == 0 and type(moment.tzinfo) in (type(None), timezone)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else repr(value)
