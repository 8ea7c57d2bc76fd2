"""The parents of a node within its predecessors in an order, chosen greedily."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayescout.arrays import Parents
from bayescout.search.frame.problem import MIN_GAIN, Problem


def greedy_parents(
    problem: Problem, child: int, before: Sequence[int], limit: int | None = None
) -> tuple[Parents, float]:
    """Add the predecessor that gains most until none gains (Cooper & Herskovits 1992); parents and score.

    Begins with the required parents; ties go to the lower index.
    """
    rules, scorer = problem.rules, problem.scorer
    parents = rules.required_parents[child]
    local = scorer.local(child, parents)
    most = int(rules.max_parents[child]) if limit is None else min(limit, int(rules.max_parents[child]))
    free = [v for v in sorted(before) if rules.allowed[v, child] and v not in parents]
    while free and len(parents) < most:
        found = scorer.extensions(child, parents, np.array(free, dtype=np.int64))
        best = int(np.argmax(found))
        if found[best] <= local + MIN_GAIN:
            break
        local = float(found[best])
        parents = tuple(sorted((*parents, free.pop(best))))
    return parents, local
