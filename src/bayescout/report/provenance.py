"""The provenance of a result: settings, knowledge, versions, and the call that repeats it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from typing import Any

from bayescout.report.facts import in_words
from bayescout.report.reproduce import recipe
from bayescout.report.wording import short
from bayescout.result import Result
from bayescout.search.frame.beliefs import shown_pair
from bayescout.search.frame.knowledge import Knowledge

MOST_LISTED = 200


def version(package: str) -> str:
    """The installed version of a package, without importing it."""
    if package == "bayescout":
        from bayescout import __version__

        return __version__
    try:
        return installed(package)
    except PackageNotFoundError:
        return "not installed"


def versions() -> list[tuple[str, str]]:
    """The versions that the page was made with."""
    named = [(name, version(name)) for name in ("bayescout", "numpy", "numba")]
    return [*named, ("Python", platform.python_version())]


def provenance(result: Result) -> dict[str, Any]:
    """Settings, knowledge, counters, versions, and the way to repeat the run."""
    settings, counters = result.settings, result.counters
    chosen = ", ".join(f"{key} = {value}" for key, value in settings.search_settings.items())
    last = result.trace[-1].facts if result.trace else {}
    facts = [
        ("search", settings.search),
        ("its settings", chosen or "none"),
        ("score", settings.score),
        ("structure prior", settings.prior_told or "uniform"),
        ("start", _start(settings.start)),
        ("seed", settings.seed),
        ("steps", f"{counters.iterations:,}"),
        ("operations considered", f"{counters.operations:,}"),
        ("families scored", f"{counters.evaluations:,}, of which {counters.computed:,} were computed"),
        *in_words(last),
    ]
    return {
        "facts": facts,
        "known": _known(settings.knowledge),
        "recipe": recipe(result),
        "versions": versions(),
    }


def _start(start: str) -> str:
    return {"empty": "no arcs", "random": "a random graph", "given": "a graph that was given"}.get(
        start, start
    )


def _known(known: Knowledge) -> list[tuple[str, str]]:
    facts = []
    for name, arcs in (("required arcs", known.required), ("forbidden arcs", known.forbidden)):
        if arcs:
            facts.append(
                (name, _listed([f"{short(str(a))} \N{RIGHTWARDS ARROW} {short(str(b))}" for a, b in arcs]))
            )
    if known.tiers:
        listed = [f"{i + 1}: {_listed([short(str(x)) for x in tier])}" for i, tier in enumerate(known.tiers)]
        facts.append(("tiers, earliest first", "; ".join(listed)))
    if known.order is not None:
        facts.append(("order", _listed([short(str(label)) for label in known.order])))
    if known.beliefs:
        told = [f"{short(shown_pair(pair))}: {value:g}" for pair, value in known.beliefs.items()]
        facts.append(("beliefs", _listed(told)))
    if known.max_parents is not None:
        facts.append(("most parents", _limits(known.max_parents)))
    return facts


def _limits(limits: Any) -> str:
    if not isinstance(limits, Mapping):
        return f"{limits}"
    return _listed([f"{short(str(label))}: {most}" for label, most in limits.items()])


def _listed(words: list[str]) -> str:
    more = f" and {len(words) - MOST_LISTED:,} more" if len(words) > MOST_LISTED else ""
    return ", ".join(words[:MOST_LISTED]) + more
