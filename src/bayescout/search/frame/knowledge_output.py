"""Knowledge as lines of text, one statement each: what `knowledge_input` reads."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping
from typing import Any


def written(fields: Mapping[str, Any]) -> str:
    """The text form of the fields of `Knowledge.to_dict`: lines, or JSON where a name cannot stand in one."""
    if not all(map(_fits, _names(fields))):
        return json.dumps(fields, ensure_ascii=False) + "\n"
    return "".join(f"{line}\n" for line in lines(fields))


def lines(fields: Mapping[str, Any]) -> Iterator[str]:
    """One statement per line, in the order of the fields."""
    yield from (f"require {parent} -> {child}" for parent, child in fields.get("required") or ())
    yield from (f"forbid {parent} -> {child}" for parent, child in fields.get("forbidden") or ())
    yield from (f"belief {a} {arrow} {b} = {value!r}" for a, arrow, b, value in fields.get("beliefs") or ())
    within = fields.get("forbid_within", False)
    for number, tier in enumerate(fields.get("tiers") or (), 1):
        closed = within if isinstance(within, bool) else number in within
        yield f"{'closed tier' if closed else 'tier'} {', '.join(map(str, tier))}".rstrip()
    limits = fields.get("max_parents")
    if isinstance(limits, list | tuple):
        yield from (f"max_parents {name} {limit}" for name, limit in limits)
    elif limits is not None:
        yield f"max_parents {limits}"
    if fields.get("order") is not None:
        yield f"order {', '.join(map(str, fields['order']))}"


def _names(fields: Mapping[str, Any]) -> Iterator[Hashable]:
    for arc in (*(fields.get("required") or ()), *(fields.get("forbidden") or ())):
        yield from arc
    for one, _, other, _ in fields.get("beliefs") or ():
        yield from (one, other)
    for group in (*(fields.get("tiers") or ()), fields.get("order") or ()):
        yield from group
    limits = fields.get("max_parents")
    if isinstance(limits, list | tuple):
        yield from (name for name, _ in limits)


def _fits(name: Any) -> bool:
    """Return True if a name can stand in a line and be read back as it is."""
    if not isinstance(name, str) or not name or name != name.strip() or len(name.splitlines()) != 1:
        return False
    return not any(mark in name for mark in (",", "->", "--", "#", "="))
