"""Knowledge in the forms that users have it in: texts "a->b", dicts, frames, and files.

A file is the JSON of `Knowledge.to_dict()`, or one statement per line:

    # what is known
    require smoke -> lung
    forbid lung -> age
    belief smoke -> bronc = 0.8
    belief bronc -- lung = 0.3
    tier age, sex
    closed tier smoke, diet
    tier lung, bronc
    max_parents 4
    max_parents lung 2
    order age, sex, smoke, diet, lung, bronc

Tiers are in their order, earliest first; a closed one has no arcs within. A belief with `--` is of an arc in
either direction. Names that have commas or arrows go into JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from bayescout.errors import KnowledgeError, did_you_mean
from bayescout.graph.accept import ENDS

Named = Callable[[str], Any]
"""The label that a text of a file names."""

FIELDS = ("required", "forbidden", "tiers", "order", "max_parents", "beliefs", "forbid_within")
WORDS = ("require", "forbid", "belief", "tier", "closed tier", "max_parents", "order")


def arcs_of(arcs: Any, name: str) -> list[Any]:
    """The arcs of a list, of {parent: children}, of a frame with the columns from and to, or of one text."""
    if isinstance(arcs, str):
        return arcs.split(",") if "," in arcs and arcs.count("->") == arcs.count(",") + 1 else [arcs]
    if isinstance(arcs, Mapping):
        return [
            (parent, child)
            for parent, children in arcs.items()
            for child in ([children] if isinstance(children, str) else children)
        ]
    if hasattr(arcs, "columns") and hasattr(arcs, "to_numpy"):
        ends = next((pair for pair in ENDS if set(pair) <= set(arcs.columns)), None)
        if ends is None:
            raise KnowledgeError(f"a frame of {name} arcs has the columns from and to, or parent and child")
        return list(zip(arcs[ends[0]].to_list(), arcs[ends[1]].to_list(), strict=True))
    if not isinstance(arcs, Iterable):
        raise KnowledgeError(f"{name} is a list of arcs, such as [('a', 'b')] or ['a->b'], not {arcs!r}")
    return list(arcs)


def split(text: str, arrow: str = "->") -> tuple[str, str] | None:
    """The two names of "a->b"; None if the text has no arrow, or several."""
    ends = [end.strip() for end in text.split(arrow)]
    return (ends[0], ends[1]) if len(ends) == 2 and all(ends) else None


# ---- dicts and files


def checked_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a dict or of a JSON file; others are refused."""
    for key in given:
        if key not in FIELDS:
            raise KnowledgeError(
                f"{key!r} is no field of the knowledge; {did_you_mean(str(key), FIELDS)}use one of "
                f"{', '.join(FIELDS)}"
            )
    found = dict(given)
    limits = found.get("max_parents")
    if isinstance(limits, list):
        found["max_parents"] = dict(limits)
    return found


def read_fields(path: str | os.PathLike[str], named: Named = str) -> dict[str, Any]:
    """The fields of `Knowledge` in a file; `named` gives the label of a name."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        given = os.fspath(path)
        if isinstance(error, FileNotFoundError) and ("->" in given or "\n" in given):
            raise KnowledgeError(
                f"{given!r} is no file: Knowledge(required={given!r}) requires an arc, and "
                f"Knowledge.parse(text) reads statements such as 'forbid a -> b'"
            ) from None
        raise KnowledgeError(f"{given}: cannot be read: {error}") from None
    return fields_in(text, os.fspath(path), named)


def fields_in(text: str, where: str, named: Named = str) -> dict[str, Any]:
    """The fields of `Knowledge` in a text, which errors call `where`."""
    read = _from_json if text.lstrip().startswith("{") else _from_lines
    return read(text, where, named)


def _from_json(text: str, path: str, named: Named) -> dict[str, Any]:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise KnowledgeError(f"{path}: is not JSON: {error}") from None
    found = checked_fields(given)
    for key, value in found.items():
        found[key] = value if key == "forbid_within" else _relabelled(key, value, named)
    return found


def _relabelled(key: str, value: Any, named: Named) -> Any:
    """The value of a field with texts turned into labels."""
    if key == "max_parents":
        return {_label(k, named): v for k, v in value.items()} if isinstance(value, dict) else value
    if key == "order":
        return None if value is None else [_label(one, named) for one in value]
    if key == "beliefs":
        rows = value if isinstance(value, list) else []
        return [[_label(a, named), arrow, _label(b, named), number] for a, arrow, b, number in rows]
    if key == "tiers":
        return [[_label(one, named) for one in tier] for tier in value]
    pairs = [split(one) or one if isinstance(one, str) else one for one in arcs_of(value, key)]
    return [
        tuple(_label(end, named) for end in pair) if not isinstance(pair, str) else pair for pair in pairs
    ]


def _label(value: Any, named: Named) -> Any:
    return named(value) if isinstance(value, str) else value


def _from_lines(text: str, path: str, named: Named) -> dict[str, Any]:
    found: dict[str, Any] = {"required": [], "forbidden": [], "tiers": [], "beliefs": []}
    closed: list[int] = []
    limits: dict[Any, int] = {}
    for number, whole in enumerate(text.splitlines(), 1):
        line = whole.partition("#")[0].strip()
        if not line:
            continue
        word = next((one for one in WORDS if line == one or line.startswith(f"{one} ")), None)
        where = f"{path}, line {number}"
        if word is None:
            raise KnowledgeError(f"{where}: {line[:40]!r} begins with none of {', '.join(WORDS)}")
        rest = line.removeprefix(word).strip()
        if word in ("require", "forbid"):
            found["required" if word == "require" else "forbidden"].append(_arc(rest, where, named))
        elif word == "belief":
            found["beliefs"].append(_belief(rest, where, named))
        elif word in ("tier", "closed tier"):
            found["tiers"].append(_names(rest, named))
            closed += [len(found["tiers"])] if word == "closed tier" else []
        elif word == "order":
            found["order"] = _names(rest, named)
        else:
            name, _, limit = f" {rest}".rpartition(" ")
            if not limit.isdecimal():
                raise KnowledgeError(
                    f"{where}: max_parents is a whole number, or a name and one, not {rest!r}"
                )
            if name.strip():
                limits[named(name.strip())] = int(limit)
            else:
                found["max_parents"] = int(limit)
    if limits and "max_parents" in found:
        raise KnowledgeError(f"{path}: give max_parents for all nodes, or for single ones, not both")
    return found | ({"max_parents": limits} if limits else {}) | ({"forbid_within": closed} if closed else {})


def _names(text: str, named: Named) -> list[Any]:
    return [named(one.strip()) for one in text.split(",") if one.strip()]


def _arc(text: str, where: str, named: Named) -> tuple[Any, Any]:
    ends = split(text)
    if ends is None:
        raise KnowledgeError(f"{where}: an arc is written a -> b, not {text[:40]!r}")
    return named(ends[0]), named(ends[1])


def _belief(text: str, where: str, named: Named) -> list[Any]:
    arc, _, value = text.rpartition("=")
    arrow = "->" if "->" in arc else "--"
    ends = split(arc, arrow)
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if ends is None or number < 0:
        raise KnowledgeError(f"{where}: a belief is written a -> b = 0.9, or a -- b = 0.9, not {text[:40]!r}")
    return [named(ends[0]), arrow, named(ends[1]), number]
