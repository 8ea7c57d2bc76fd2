"""Documents of a declared shape: an error describes in a sentence what does not fit, and where."""

from __future__ import annotations

import re

from msgspec import ValidationError

NOUNS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_MEMBER = re.compile(r"Object (missing required|contains unknown) field `(.*)`", re.DOTALL)
_EXPECTED = re.compile(r"Expected `(.*?)`(.*)", re.DOTALL)


def misfit(error: ValidationError, inside: str = "") -> str:
    """`trace[3].score must be a number`; `inside` is the path to the checked part of its document."""
    what, _, place = str(error).partition(" - at `$")
    way = (inside + place.rstrip("`")).lstrip(".") or "the document"
    if what == "Number out of range":
        return f"{way} is too large a number"
    if member := _MEMBER.fullmatch(what):
        return f"{way} has {'no' if member[1].startswith('missing') else 'an unknown member'} {member[2]!r}"
    if expected := _EXPECTED.fullmatch(what):
        kinds = " or ".join(NOUNS.get(kind, kind) for kind in expected[1].split(" | "))
        limit = expected[2].partition(", got ")[0].replace(" >= ", " of at least ", 1)
        return f"{way} must be {kinds}{limit}"
    return f"{way}: {what[:1].lower()}{what[1:]}"
