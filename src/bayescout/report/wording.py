"""Values and labels as text that a page can hold."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Sequence

Label = Hashable
MOST_LETTERS = 120
"""The longest label on the page; a longer one is cut."""

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def text(value: object) -> str:
    """The value as text that a page can hold: control characters and half characters are replaced."""
    return _UNPRINTABLE.sub("\ufffd", str(value))


def number(value: float | None, digits: int = 3) -> str:
    """`-106,084.231`; a value that is not a finite number is put in words."""
    if value is None or math.isnan(value):
        return "\N{EN DASH}"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinity"
    return f"{value:,.{digits}f}".replace("-", "\N{MINUS SIGN}")


def probability(value: float) -> str:
    """Four digits, or fewer if they would all be zeros."""
    return f"{value:.4f}" if value == 0 or value >= 0.00005 else f"{value:.1e}"


def shown(labels: Sequence[Label]) -> tuple[str, ...]:
    """Labels as text; as Python writes them if those texts are empty or not distinct."""
    names = [text(label) for label in labels]
    if len(set(names)) < len(names):
        names = [text(repr(label)) for label in labels]
    return tuple(
        short(name) if name.strip() else text(repr(label)) for name, label in zip(names, labels, strict=True)
    )


def short(name: str) -> str:
    return name if len(name) <= MOST_LETTERS else name[: MOST_LETTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"
