"""HTML from values: whatever is not already markup is escaped, so a label can never become code."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

Label = Hashable
MOST_LETTERS = 120
"""A longer label is cut on the page."""

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_PLACE = re.compile(r"\{\{([a-z_]+)\}\}")


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def text(value: object) -> str:
    """The value as text that a page can hold: control characters and half characters are replaced."""
    return _UNPRINTABLE.sub("\ufffd", str(value))


def html(value: object) -> Html:
    """The value as markup; escaped unless it is markup."""
    return value if isinstance(value, Html) else Html(escape(text(value)))


def join(parts: Iterable[object], between: str = "") -> Html:
    """Parts one after another, each escaped unless it is markup."""
    return Html(between.join(html(part) for part in parts))


def tag(element: str, *content: object, **attributes: object) -> Html:
    """`tag("td", 3, class_="number")` is `<td class="number">3</td>`; an attribute of None is left out."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(text(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    end = "" if element == "img" else f"</{element}>"
    return Html(f"<{element}{written}>{join(content)}{end}")


def grid(
    columns: Sequence[object], rows: Iterable[Sequence[object]], numbers: int | Sequence[bool] = 0
) -> Html:
    """A table under column heads; figures are set to the right.

    `numbers` says which columns are figures, or how many of the last.
    """
    left = len(columns) - numbers if isinstance(numbers, int) else 0
    right = [i >= left for i in range(len(columns))] if isinstance(numbers, int) else list(numbers)
    classes = ["number" if figure else None for figure in right]
    head = tag(
        "tr", *(tag("th", c, scope="col", class_=kind) for c, kind in zip(columns, classes, strict=True))
    )
    body = (
        tag("tr", *(tag("td", c, class_=kind) for c, kind in zip(row, classes, strict=True))) for row in rows
    )
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="scroll")


def pairs(facts: Iterable[tuple[object, object]]) -> Html:
    """Names and values as a description list."""
    return tag(
        "dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in facts), class_="facts"
    )


# ---- numbers and labels


def number(value: float | None, digits: int = 3) -> str:
    """`-106,084.231`; what is not a finite number is said in words."""
    if value is None or math.isnan(value):
        return "\N{EN DASH}"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinity"
    return f"{value:,.{digits}f}".replace("-", "\N{MINUS SIGN}")


def probability(value: float) -> str:
    """Four digits, fewer where they would all be zeros."""
    return f"{value:.4f}" if value == 0 or value >= 0.00005 else f"{value:.1e}"


def shown(labels: Sequence[Label]) -> tuple[str, ...]:
    """Labels as people read them; as Python writes them where the plain texts would be empty or alike."""
    plain = [text(label) for label in labels]
    if len(set(plain)) < len(plain):
        plain = [text(repr(label)) for label in labels]
    return tuple(
        short(name) if name.strip() else text(repr(label)) for name, label in zip(plain, labels, strict=True)
    )


def short(name: str) -> str:
    return name if len(name) <= MOST_LETTERS else name[: MOST_LETTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"


# ---- data and files of the page


def embedded(value: object) -> Html:
    """JSON that can stand inside a script element; numbers that JSON lacks become null."""
    written = json.dumps(_finite(value), separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return Html(written)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@cache
def resource(name: str) -> Html:
    """One of the page's own files: style, script or template."""
    return Html((files("bayescout.report") / "files" / name).read_text(encoding="utf-8"))


def page(body: str, parts: Mapping[str, object]) -> str:
    """The head that all pages have, and a body; "script_source" is the hash of its script, or none."""
    return _filled("head.html", parts) + _filled(body, parts)


def _filled(template: str, parts: Mapping[str, object]) -> str:
    """The template with every {{name}} replaced, once: what is put in is not looked at again."""
    return _PLACE.sub(lambda place: html(parts[place[1]]), resource(template))
