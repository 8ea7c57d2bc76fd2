"""How a message of the page writes a setting: by the control that has it, or as Python has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayescout.wording import in_python

MISSING = {"state": "a state of their own", "drop": "their rows left out"}
"""The choices of the control for missing cells that messages name."""


def in_page(name: str, value: Any) -> str:
    """The control with its choice; the call of Python where the page has none."""
    if name == "missing" and value in MISSING:
        return f"missing cells as “{MISSING[value]}”"
    if name == "kinds" and isinstance(value, Mapping):
        return " and ".join(f"the kind “{kind}” of {column!r}" for column, kind in value.items())
    if name == "kinds":
        return f"the kind “{value}”"
    if name == "drop":
        return f"leave {value!r} out"
    if name in ("search", "score"):
        return f"the {name} “{value}”"
    if name == "max_parents":
        return f"most parents {value}"
    return f"in Python {in_python(name, value)}"
