"""Search over a list of scored parent sets, as read from a .jkl file, in place of data."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from bayescout.data.table import Table
from bayescout.errors import KnowledgeError
from bayescout.formats.jkl import ScoredSets
from bayescout.search.frame.knowledge import Rules


class ListedScore:
    """The listed scores; a family that is not listed cannot be chosen."""

    def __init__(self, listed: ScoredSets) -> None:
        self.scores = [{parents: score for score, parents in reversed(sets)} for sets in listed.sets]

    def local(self, child: int, parents: tuple[int, ...]) -> float:
        return self.scores[child].get(tuple(sorted(parents)), -math.inf)


def without_rows(listed: ScoredSets) -> Table:
    """A table of the variables that has no rows."""
    n = len(listed.names)
    return Table(listed.names, (None,) * n, np.empty((0, 0), dtype=np.uint8), np.empty((n, 0)))


def narrowed(rules: Rules, listed: ScoredSets) -> Rules:
    """The rules, restricted to the arcs and numbers of parents that some listed set has: less to search."""
    allowed = np.zeros_like(rules.allowed)
    most = np.zeros_like(rules.max_parents)
    for child, sets in enumerate(listed.sets):
        for _, parents in sets:
            allowed[list(parents), child] = True
            most[child] = max(most[child], len(parents))
    lacking = np.argwhere(rules.required & ~allowed)
    if len(lacking):
        parent, child = (listed.names[i] for i in lacking[0])
        raise KnowledgeError(
            f"no listed parent set of {child!r} has the required parent {parent!r}; drop the arc"
        )
    return replace(rules, allowed=rules.allowed & allowed, max_parents=np.minimum(rules.max_parents, most))
