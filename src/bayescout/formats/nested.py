"""Lists in parentheses, one level per parent, as several formats write tables."""

from __future__ import annotations

from collections.abc import Sequence


def nested(items: Sequence[str], shape: Sequence[int], between: str = "") -> str:
    """The items in parentheses, one level per axis of this shape, the last axis innermost."""
    parts = list(items)
    for size in reversed(shape):
        parts = [f"({between.join(parts[i : i + size])})" for i in range(0, len(parts), size)]
    return between.join(parts)
