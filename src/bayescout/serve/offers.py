"""What there is to choose from: searches, scores, priors, examples and formats."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any

from bayescout.formats import FORMATS, networks
from bayescout.scores import AUTO_PRIOR, PRIORS, SCORES
from bayescout.search import SEARCHES


@cache
def offered() -> dict[str, Any]:
    """All of it, by kind."""
    return {
        "searches": catalogue(SEARCHES),
        "scores": catalogue(SCORES),
        "priors": [{"name": name} for name in PRIORS],
        "prior": {"automatic": AUTO_PRIOR, "named": "uniform"},
        "examples": [{"name": n.name, "nodes": n.nodes, "arcs": n.arcs} for n in networks()],
        "formats": formats(),
    }


def catalogue(registry: dict[str, Any]) -> list[dict[str, Any]]:
    """The entries of a registry: name, what it does, and its settings with their defaults."""
    found = []
    for name, made in registry.items():
        usual = made()
        text = (type(usual).__doc__ or "").strip()
        settings = [
            {"name": one.name, "value": getattr(usual, one.name), "about": about_setting(text, one.name)}
            for one in fields(usual)
        ]
        found.append({"name": name, "summary": text.splitlines()[0] if text else "", "settings": settings})
    return found


def about_setting(text: str, name: str) -> str:
    """What a docstring says of a setting, if it has a line for it."""
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if line.strip().startswith(f"{name} ") or line.strip().startswith(f"`{name}`"):
            rest = [line.strip().removeprefix(name).strip()]
            for more in lines[place + 1 :]:
                if not more.startswith("        ") or not more.strip():
                    break
                rest.append(more.strip())
            return " ".join(rest)
    return ""


def formats() -> list[dict[str, str]]:
    """What can be exported."""
    drawn = [
        ("html", "one page that works offline"),
        ("svg", "the drawing"),
        ("png", "the drawing"),
        ("pdf", "the drawing"),
    ]
    own = [{"name": name, "ending": f".{name}", "summary": summary} for name, summary in drawn]
    return own + [
        {"name": name, "ending": one.extensions[0], "summary": one.summary} for name, one in FORMATS.items()
    ]
