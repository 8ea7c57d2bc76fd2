"""The list of public names on the page `api/index`, the registries of scores, priors and searches on theirs,
and a warning for a public name, also of evaluation, plots and the estimators, that no page describes.
"""

from __future__ import annotations

import inspect
from typing import Any

from sphinx.util import logging

import bayescout
import bayescout.sklearn

INDEX, MARKER = "api/index", "<!-- public names -->"
MODULES = ("evaluate", "plots", "scores", "search")
log = logging.getLogger(__name__)


def names() -> list[str]:
    return [name for name in bayescout.__all__ if name != "__version__" and name not in MODULES]


def table() -> str:
    """One line per public name, in their order: the name and the first sentence of its docstring."""
    lines = ["| name | |", "|---|---|"]
    for name in names():
        told = (inspect.getdoc(getattr(bayescout, name)) or "").split("\n\n")[0].replace("\n", " ")
        lines.append(f"| {{py:obj}}`bs.{name} <bayescout.{name}>` | {told.replace('|', chr(92) + '|')} |")
    return "\n".join(lines)


def entries(registry: dict[str, type], module: str) -> str:
    """A section per class of a registry, under the name by which it is asked for."""
    parts = []
    for name, made in registry.items():
        lines = [f"### {name}", "", "```{eval-rst}", f".. currentmodule:: {module}", ""]
        parts.append("\n".join([*lines, f".. autoclass:: {module}.{made.__name__}", "```", ""]))
    return "\n".join(parts)


def fill(app: Any, docname: str, source: list[str]) -> None:
    if docname == INDEX:
        source[0] = source[0].replace(MARKER, table())
    if docname == "api/search":
        listed = entries(bayescout.search.SEARCHES, "bayescout.search").replace("### ", "## ")
        source[0] = source[0].replace("<!-- searches -->", listed)
    if docname == "api/scores":
        for marker, registry in (("scores", bayescout.scores.SCORES), ("priors", bayescout.scores.PRIORS)):
            listed = entries(registry, "bayescout.scores")
            source[0] = source[0].replace(f"<!-- {marker} -->", listed)


def check(app: Any, env: Any) -> None:
    known = {entry[0] for entry in env.get_domain("py").get_objects()}
    wanted = {f"bayescout.{name}": f"bayescout.{name}" for name in names()}
    for module in (bayescout.evaluate, bayescout.sklearn):
        wanted |= {f"{module.__name__}.{name}": f"bayescout.{name}" for name in module.__all__}
    drawn = [name for name, found in vars(bayescout.plots).items() if callable(found)]
    wanted |= {f"bayescout.plots.{name}": "" for name in drawn}
    for name, as_well in wanted.items():
        if not {name, as_well} & known:
            log.warning("no page of docs/api describes %s", name)


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", fill)
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
