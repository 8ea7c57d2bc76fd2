"""Results as JSON values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayescout.graph.labels import Label


def json_value(value: Any) -> Any:
    """Tuples as lists, NumPy numbers as Python's, an infinite number as None, odd labels as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    return str(value)


def json_label(label: Label) -> str | int | float | bool | None:
    """A label as a JSON value; a tuple is one label, and becomes its text."""
    return str(label) if isinstance(label, tuple) else json_value(label)
