"""Structures of classifiers in which the class is a parent of features: naive Bayes, trees, k-dependence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayescout.arrays import Floats, Parents
from bayescout.classify.training import Training
from bayescout.scores import ScoreLike, bind

if TYPE_CHECKING:
    from bayescout.scores import Scorer

Structure = tuple[Parents, ...]
"""The parents of every column of a training table, ascending, by position; the class is the last column."""


def naive(training: Training, score: ScoreLike | None = None) -> Structure:
    """The class as the only parent of every feature.

    With a score, of the features alone that it scores higher with the class than without (selective naive
    Bayes, by score).
    """
    c = training.target
    if score is None:
        return (*[(c,)] * c, ())
    scorer = bind(score, training.completed)
    with_class, alone = (scorer.many([(f, own) for f in range(c)]) for own in ((c,), ()))
    return (*[(c,) if gain > 0 else () for gain in (with_class - alone).tolist()], ())


def tan(training: Training, score: ScoreLike | None = None) -> Structure:
    """A tree-augmented naive Bayes classifier (Friedman, Geiger & Goldszmidt 1997).

    Every feature has the class and, but for the root, one other feature as parents: the maximum spanning
    tree by mutual information given the class (Chow & Liu 1968), away from the feature that tells most
    about the class. Of equal trees the one whose pairs come first is taken.

    With a score, the weight of a pair is what the arc between them adds to the score, the mean of both
    directions if these differ, and pairs that add nothing have no arc: a forest.
    """
    weights = training.conditional_informations if score is None else _gains(training, score)
    pairs = spanning_forest(weights, positive=score is not None)
    return _away_from_roots(pairs, training.class_informations, training.target)


def kdb(training: Training, k: int = 2, score: ScoreLike | None = None) -> Structure:
    """A k-dependence classifier (Sahami 1996).

    Features in the order of their information about the class, largest first; each has the class as a
    parent, and the k features before it with which it shares most information given the class. With a
    score, the feature before it that adds most is taken, k times, as long as one adds to the score.
    """
    c = training.target
    told = training.class_informations
    order = sorted(range(c), key=lambda feature: (-told[feature], feature))
    shared = training.conditional_informations if score is None else None
    scorer = None if score is None else bind(score, training.completed)
    parents: dict[int, Parents] = {c: ()}
    for place, feature in enumerate(order):
        if shared is not None:
            nearest = sorted(order[:place], key=lambda other: (-shared[feature, other], other))
            chosen: Sequence[int] = nearest[:k]
        else:
            assert scorer is not None
            chosen = _greedy(scorer, feature, (c,), sorted(order[:place]), k)
        parents[feature] = tuple(sorted((*chosen, c)))
    return tuple(parents[column] for column in range(c + 1))


def _greedy(scorer: Scorer, feature: int, given: Parents, candidates: Sequence[int], k: int) -> list[int]:
    """At most k candidates, each the one that adds most to the score, as long as one adds."""
    chosen: list[int] = []
    own = scorer.local(feature, given)
    while len(chosen) < k and len(chosen) < len(candidates):
        left = [one for one in candidates if one not in chosen]
        scores = scorer.many([(feature, tuple(sorted((*given, *chosen, one)))) for one in left])
        best = int(np.argmax(scores))
        if not scores[best] > own:
            break
        own = float(scores[best])
        chosen.append(left[best])
    return chosen


def _gains(training: Training, score: ScoreLike) -> Floats:
    """(p, p) the score that an arc between two features adds, given the class; the mean of both ways."""
    c = training.target
    scorer = bind(score, training.completed)
    alone = scorer.many([(f, (c,)) for f in range(c)])
    gains = np.zeros((c, c))
    for f in range(c):
        others = [other for other in range(c) if other != f]
        if others:
            found = scorer.many([(f, tuple(sorted((other, c)))) for other in others])
            gains[f, others] = found - alone[f]
    return (gains + gains.T) / 2


def spanning_forest(weights: Floats, positive: bool = False) -> list[tuple[int, int]]:
    """The pairs of a maximum spanning tree by Kruskal's algorithm; equal pairs in the order of positions.

    If `positive`, pairs of a weight of at most 0 are left out.
    """
    p = len(weights)
    first, second = np.triu_indices(p, 1)
    values = weights[first, second]
    group = list(range(p))

    def root(node: int) -> int:
        while group[node] != node:
            group[node] = group[group[node]]
            node = group[node]
        return node

    chosen = []
    for place in np.argsort(-values, kind="stable").tolist():
        if positive and not values[place] > 0:
            break
        one, other = int(first[place]), int(second[place])
        a, b = root(one), root(other)
        if a != b:
            group[b] = a
            chosen.append((one, other))
    return chosen


def _away_from_roots(pairs: Sequence[tuple[int, int]], told: Floats, c: int) -> Structure:
    """The trees with arcs away from their roots, the features that tell most about the class."""
    near: list[list[int]] = [[] for _ in range(c)]
    for one, other in pairs:
        near[one].append(other)
        near[other].append(one)
    parents: list[Parents | None] = [None] * c
    for start in sorted(range(c), key=lambda feature: (-told[feature], feature)):
        if parents[start] is not None:
            continue
        parents[start] = (c,)
        waiting = [start]
        while waiting:
            feature = waiting.pop()
            for other in near[feature]:
                if parents[other] is None:
                    parents[other] = (feature, c)
                    waiting.append(other)
    return (*(own or (c,) for own in parents), ())
