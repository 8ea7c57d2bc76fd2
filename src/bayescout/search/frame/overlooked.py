"""Pairs that were screened out, but whose arc would gain as a graph now is."""

from __future__ import annotations

import numpy as np

from bayescout.arrays import Bools, Floats, Ints
from bayescout.search.frame.problem import MIN_GAIN, ParentSets, Problem
from bayescout.statistics.screening import Neighbourhood

MOST_LOOKED_AT = 2000
"""With more variables `ges` and `boss` do not look again at pairs that were screened out: it would take
longer than they do."""


def overlooked(
    problem: Problem, graph: ParentSets, before: ParentSets, scores: Floats, candidates: Neighbourhood
) -> Ints:
    """The pairs that are no candidates and of which an arc would raise the score of a graph, (k, 2).

    before  the graph for which this was last asked: only children whose parents have changed since are
            looked at; empty if it never was
    scores  (n,) the score of each family of the graph
    """
    rules, every = problem.rules, np.arange(problem.n)
    children = [
        child
        for child, own in enumerate(graph)
        if len(own) < rules.max_parents[child] and not (before and before[child] == own)
    ]

    def open_to(child: int) -> Bools:
        others = np.asarray(rules.allowed[every, child], bool)
        others[candidates.ends[candidates.starts[child] : candidates.starts[child + 1]]] = False
        others[[child, *graph[child]]] = False
        return others

    found = [np.empty((0, 2), dtype=np.int64)]
    families = [(child, graph[child]) for child in children]
    for child, more in problem.scorer.gaining(families, open_to, scores + MIN_GAIN):
        found.append(np.stack([more, np.full(len(more), child)], axis=1))
    return np.concatenate(found)
