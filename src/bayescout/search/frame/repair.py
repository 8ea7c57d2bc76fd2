"""The graph nearest to another that keeps given rules."""

from __future__ import annotations

from bayescout.arrays import Parents
from bayescout.graph.orders import peel_roots
from bayescout.scores.scorer import Scorer
from bayescout.search.frame.knowledge import Rules
from bayescout.search.frame.problem import ParentSets


def nearest_graph(parents: ParentSets, rules: Rules, scorer: Scorer) -> ParentSets:
    """The required arcs, and as many of a graph's own arcs as the rules allow, those worth most first.

    An arc is worth what its child's family loses without it; of equals the lower child and parent come first.
    """
    with scorer.suspended():
        arcs = sorted(
            (-_worth(child, parent, own, scorer), child, parent)
            for child, own in enumerate(parents)
            for parent in own
            if rules.allowed[parent, child] and not rules.required[parent, child]
        )
    graph = list(rules.required_parents)
    for _, child, parent in arcs:
        if len(graph[child]) < rules.max_parents[child]:
            before = graph[child]
            graph[child] = tuple(sorted((*before, parent)))
            if len(peel_roots(graph)) < len(graph):
                graph[child] = before
    return tuple(graph)


def _worth(child: int, parent: int, own: Parents, scorer: Scorer) -> float:
    with_it, without = scorer.many([(child, own), (child, tuple(p for p in own if p != parent))])
    return 0.0 if with_it == without else float(with_it - without)
