"""Confidence in arcs, from any result of a bootstrap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bayescout.errors import SettingError
from bayescout.graph.labels import Arc, Label

Strengths = dict[Arc, tuple[float, float | None]]


def as_strengths(source: Any) -> Strengths:
    """The strength of arcs (parent, child) and, if known, their direction, both from 0 to 1.

    Takes a mapping of pairs to a strength or to (strength, direction), or anything with a `table()` of
    rows (parent, child, strength, direction), such as a bootstrap's arc strengths.
    """
    if isinstance(source, Mapping):
        rows = [(arc, *_parts(value)) for arc, value in source.items()]
    elif callable(getattr(source, "table", None)):
        rows = [((row[0], row[1]), *_parts(row[2:])) for row in source.table()]
    else:
        raise SettingError(
            f"strengths are a mapping of (parent, child) to a number, or have a table(); "
            f"a {type(source).__name__} is neither"
        )
    return {arc: _checked(arc, strength, direction) for arc, strength, direction in rows}


def _parts(value: Any) -> tuple[Any, Any]:
    parts = tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
    if not 1 <= len(parts) <= 2:
        raise SettingError(f"a strength is a number or a pair (strength, direction), not {value!r}")
    return parts[0], parts[1] if len(parts) == 2 else None


def _checked(arc: Any, strength: Any, direction: Any) -> tuple[float, float | None]:
    if not isinstance(arc, tuple) or len(arc) != 2:
        raise SettingError(f"a strength belongs to a pair (parent, child), not to {arc!r}")
    try:
        numbers = (float(strength), None if direction is None else float(direction))
    except (TypeError, ValueError):
        raise SettingError(f"the strength of {arc[0]} -> {arc[1]} is {strength!r}, not a number") from None
    for number in numbers:
        if number is not None and not 0 <= number <= 1:
            raise SettingError(
                f"the strength of {arc[0]} -> {arc[1]} is {number}; strengths and directions lie from 0 to 1"
            )
    return numbers


def strength_of(strengths: Strengths, parent: Label, child: Label) -> tuple[float, float | None]:
    """Strength and direction of an arc, even if listed the other way round; strength 0 if not listed."""
    if (parent, child) in strengths:
        return strengths[parent, child]
    strength, direction = strengths.get((child, parent), (0.0, None))
    return strength, None if direction is None else 1 - direction


def one_way(strengths: Strengths) -> Strengths:
    """Each pair of nodes once, in its likelier direction, the strongest first, ties in their given order."""
    kept: Strengths = {}
    for (a, b), (strength, direction) in strengths.items():
        if (b, a) in kept:
            if (direction or 0.0) > (kept[b, a][1] or 0.0):
                del kept[b, a]
                kept[a, b] = (strength, direction)
        else:
            turned = direction is not None and direction < 0.5 and (b, a) not in strengths
            arc, share = ((b, a), 1 - direction) if turned and direction is not None else ((a, b), direction)
            kept[arc] = (strength, share)
    return dict(sorted(kept.items(), key=lambda item: -item[1][0]))
