"""The facts that a search adds to its steps, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping

from bayescout.report.wording import number
from bayescout.search.auto import PARTS

WORDS = {
    "tried": "orders tried",
    "undirected": "reversible edges",
    "tested": "independence tests",
    "rejected": "independences rejected",
    "inconclusive": "tests inconclusive",
    "covered": "dependences covered",
    "level": "size of the sets tested",
    "edges": "edges left",
    "conflicts": "conflicting directions",
    "ambiguous": "ambiguous triples",
    "bound": "no network scores above",
    "listed": "parent sets listed",
    "complete": "lists complete",
    "stale": "generations since the last gain",
    "best_in_population": "best of the generation",
    "mean": "mean of the generation",
    "worst": "worst of the generation",
    "size": "size of the generation",
    "entropy": "entropy of the arcs",
    "part": "last part of the search",
    "found_by": "found by",
}
"""Names that need more words than their own."""

YES_OR_NO = ("complete",)
PARTS_OF_AUTO = ("part", "found_by")


def in_words(facts: Mapping[str, float]) -> list[tuple[str, str]]:
    """(name, value) pairs in words, without values that are not numbers."""
    found = []
    for name, value in facts.items():
        if math.isfinite(value):
            shown = number(value + 0.0, 0 if float(value).is_integer() else 3)
            if name in YES_OR_NO:
                shown = "yes" if value else "no"
            elif name in PARTS_OF_AUTO:
                shown = PARTS[int(value)]
            found.append((WORDS.get(name, name.replace("_", " ")), shown))
    return found
