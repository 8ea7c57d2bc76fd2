"""Cluster cuts: inequalities that networks without cycles satisfy and a fractional solution may not.

In a set C of variables the first k in any order have fewer than k parents within C, so of the chosen parent
sets at most |C| - k meet C in k or more (Jaakkola et al. 2010; k-cluster cuts of Cussens 2011).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Floats, Ints
from bayescout.search.optimal.block_bounds import Check, nothing

LEAST_VIOLATION = 1e-4
"""The least violation that is worth a row."""

WHOLE = 1e-5
"""A weight this near to zero or one counts as whole."""

SEEDS = 64
"""Seeds from which clusters are grown between two checks of the clock."""

MOST_CUTS = 200
"""The most cuts added per round."""


@dataclass(frozen=True, order=True)
class Cut:
    """The constraint that at most |members| - k parent sets of these variables meet them in k or more."""

    members: tuple[int, ...]
    k: int = 1

    @property
    def room(self) -> int:
        return len(self.members) - self.k


@dataclass(frozen=True, eq=False)
class Weighted:
    """The columns of a solution with positive weight: child, members (m, n) bool and weight of each."""

    children: Ints
    inside: NDArray[np.bool_]
    values: Floats

    @property
    def n(self) -> int:
        return int(self.inside.shape[1])

    def weights(self) -> Floats:
        """The weight of every arc, at [child, parent]."""
        found = np.zeros((self.n, self.n))
        np.add.at(found, self.children, self.inside * self.values[:, None])
        return found

    def violation(self, cut: Cut) -> float:
        members = list(cut.members)
        own = np.isin(self.children, members)
        meets = self.inside[:, members].sum(axis=1) >= cut.k
        return float(self.values[own & meets].sum()) - cut.room


def violated_cuts(solution: Weighted, k: int = 1, check: Check = nothing) -> list[Cut]:
    """Cuts that the solution violates, the most violated first; grown from pairs."""
    from bayescout.kernels.optimal import grow_clusters

    seeds = _seeds(solution)
    if not len(seeds):
        return []
    counts = solution.inside.sum(axis=1)
    bounds = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    members = np.nonzero(solution.inside)[1].astype(np.int64)
    found = np.empty((len(seeds), solution.n), dtype=bool)
    violations = np.empty(len(seeds))
    for begin in range(0, len(seeds), SEEDS):
        check()
        some = slice(begin, begin + SEEDS)
        data = (solution.children, bounds, members, solution.values)
        grow_clusters(*data, seeds[some], k, found[some], violations[some])
    cuts: dict[Cut, float] = {}
    for cluster, violation in zip(found, violations.tolist(), strict=True):
        if violation > LEAST_VIOLATION:
            cuts[Cut(tuple(np.flatnonzero(cluster).tolist()), k)] = violation
    return sorted(cuts, key=lambda cut: (-cuts[cut], cut))[:MOST_CUTS]


def _seeds(solution: Weighted) -> Ints:
    """Pairs of a child and a parent of it that has weight."""
    return np.argwhere(solution.weights() > LEAST_VIOLATION).astype(np.int64)


def cycle_cuts(solution: Weighted, check: Check = nothing) -> list[Cut]:
    """One cut per shortest cycle among the arcs with more than half the weight."""
    graph = np.zeros((solution.n, solution.n), dtype=bool)
    heavy = solution.values > 0.5
    graph[:, solution.children[heavy]] = solution.inside[heavy].T
    found: dict[Cut, None] = {}
    for parent, child in np.argwhere(graph).tolist():
        check()
        cycle = _shortest_path(graph, child, parent)
        if cycle and solution.violation(Cut(tuple(sorted(cycle)))) > LEAST_VIOLATION:
            found[Cut(tuple(sorted(cycle)))] = None
    return sorted(found)[:MOST_CUTS]


def _shortest_path(graph: NDArray[np.bool_], source: int, target: int) -> list[int]:
    """The variables on a shortest path, both ends included; empty if there is none."""
    before = {source: source}
    front = [source]
    while front and target not in before:
        after = []
        for node in front:
            for child in np.flatnonzero(graph[node]).tolist():
                if child not in before:
                    before[child] = node
                    after.append(child)
        front = after
    if target not in before:
        return []
    path = [target]
    while path[-1] != source:
        path.append(before[path[-1]])
    return path


def partial_arcs(solution: Weighted) -> list[tuple[int, int]]:
    """Arcs (child, parent) with fractional weight, those nearest to one half first."""
    n = solution.n
    distance = np.abs(solution.weights() - 0.5).ravel()
    order = np.argsort(distance, kind="stable")
    return [divmod(int(i), n) for i in order[: n * n] if distance[i] < 0.5 - WHOLE]


def suggested_order(solution: Weighted) -> Ints:
    """A greedy order: next comes the variable with the most weight on sets within those before it."""
    placed = np.zeros(solution.n, dtype=bool)
    order = np.empty(solution.n, dtype=np.int64)
    for place in range(solution.n):
        free = ~(solution.inside & ~placed).any(axis=1)
        weight = np.bincount(solution.children[free], weights=solution.values[free], minlength=solution.n)
        weight[placed] = -1.0
        order[place] = int(np.argmax(weight))
        placed[order[place]] = True
    return order
