"""The discrete configurations that an answer of a mixed network is a sum over, with their weights.

All of them where there is room for their tables (`mixed_problem`), otherwise those that were drawn
(`weighting`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import TooLargeError, warn
from bayescout.network import leading, weighting
from bayescout.network.asking import AUTO, Way
from bayescout.network.elimination import BATCH, Array
from bayescout.network.gaussian_parts import Belief, Part, grid
from bayescout.network.mixed_problem import Group, Problem, chunks, groups

DRAWN_ENTRIES = 2**24
"""The most numbers of covariance matrices of drawn configurations."""


@dataclass(frozen=True)
class Cells:
    """The discrete configurations that an answer is a sum over, for n rows.

    logs     (n, K)  logarithms of their weights, up to a constant per row; all minus infinity if the
             evidence of a row is impossible
    codes    for each unobserved discrete variable (K,) codes
    beliefs  for each part with a continuous target its belief, and for each cell its configuration there
    counts   (K,) how often each cell was drawn; None if the sum is complete
    """

    problem: Problem
    logs: Array
    codes: Mapping[int, NDArray[Any]]
    beliefs: Sequence[tuple[Part, Belief, NDArray[Any]]]
    counts: Array | None = None

    @property
    def impossible(self) -> NDArray[np.bool_]:
        """(n,) True where the evidence cannot be."""
        return np.asarray(np.isneginf(self.logs).all(axis=1))

    def weights(self) -> Array:
        """(n, K) with sum one in each row; uniform where the evidence is impossible."""
        peak = self.logs.max(axis=1, keepdims=True)
        found = np.exp(self.logs - np.where(np.isfinite(peak), peak, 0.0))
        found[self.impossible] = 1.0
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def discrete(self, node: int) -> NDArray[Any]:
        """The code of a discrete node in each cell, (K,), or its observed ones, (n, 1)."""
        return self.problem.fixed[node][:, None] if node in self.problem.fixed else self.codes[node]

    def means(self, node: int) -> Array:
        """(n, K) or broadcastable: the mean of a continuous node in each cell."""
        if node in self.problem.values:
            return self.problem.values[node][:, None]
        for part, belief, index in self.beliefs:
            if node in part.latent:
                return belief.means[:, index, part.latent.index(node)]
        raise AssertionError(f"node {node} is not a target")

    def variances(self, node: int) -> Array:
        """(n, K) or broadcastable: the variance of a continuous node in each cell."""
        for part, belief, index in self.beliefs:
            if node in part.latent:
                place = part.latent.index(node)
                return np.maximum(belief.covariances[:, index, place, place], 0.0)
        return np.zeros((1, 1))

    def covariances(self, targets: Sequence[int]) -> Array:
        """(K, k, k) of continuous targets, for the first row."""
        found = np.zeros((self.logs.shape[1], len(targets), len(targets)))
        for part, belief, index in self.beliefs:
            mine = [(a, part.latent.index(t)) for a, t in enumerate(targets) if t in part.latent]
            for a, i in mine:
                for b, j in mine:
                    found[:, a, b] = belief.covariances[0, index, i, j]
        own = np.arange(len(targets))
        found[:, own, own] = np.maximum(found[:, own, own], 0.0)
        return found


# ---- the weights of cells


def exact_cells(problem: Problem, group: Group, order: Sequence[int]) -> Cells:
    """Every configuration of the variables of the answer, with its weight."""
    found = group.summed(problem, problem.keep, order)
    codes = {v: one[0] for v, one in grid(problem.keep, problem.sizes).items()}
    count = int(np.prod([problem.sizes[v] for v in problem.keep], dtype=np.int64))
    beliefs = []
    for part in problem.target_parts:
        index = np.zeros(count, dtype=np.intp)
        for v in part.interface:
            index = index * problem.sizes[v] + codes[v]
        beliefs.append((part, problem.belief(part, grid(part.interface, problem.sizes)), index))
    return Cells(problem, found.logs.reshape(problem.n_rows, count), codes, beliefs)


def drawn_cells(problem: Problem, group: Group, draws: weighting.Drawn) -> Cells:
    """The configurations that were drawn, with their weights."""
    codes = {v: one[None, :] for v, one in draws.codes.items()}
    logs = np.tile(draws.logs + np.log(draws.counts), (problem.n_rows, 1))
    orders = np.zeros_like(logs)
    beliefs = []
    for part in group.parts:
        found = problem.belief(part, codes)
        logs = logs + found.logs
        orders = orders if found.orders is None else orders + found.orders
        if part in problem.target_parts:
            width = np.arange(logs.shape[1])
            beliefs.append((part, found, width if found.logs.shape[1] > 1 else np.zeros_like(width)))
    term = leading.Term((BATCH, 0), logs, orders if orders.any() else None)
    return Cells(problem, leading.leading(term, (1,))[0], draws.codes, beliefs, draws.counts)


def bearing(problem: Problem) -> tuple[Group, list[Group]]:
    """The terms that bear on the targets, and the groups of others."""
    wanted = set(problem.keep)
    found = groups(problem, problem.keep)
    mine = [g for g in found if wanted & set(g.variables) or any(p in problem.target_parts for p in g.parts)]
    one = Group(
        tuple(sorted(n for g in mine for n in g.tables)),
        tuple(part for g in mine for part in g.parts),
        tuple(sorted({v for g in mine for v in g.variables})),
    )
    return one, [g for g in found if g not in mine]


def possible_rows(problem: Problem, others: Sequence[Group]) -> NDArray[np.bool_]:
    """(n,) False where the evidence of a group is impossible; True where finding out takes too much."""
    found = np.ones(problem.n_rows, dtype=bool)
    for group in others:
        try:
            plan = group.planned(problem, ())
        except TooLargeError:
            continue
        for rows in chunks(problem.n_rows, group.entries(problem, plan)):
            found[rows] &= np.isfinite(group.summed(problem.some(rows), (), plan.order).logs)
    return found


def warn_estimate(problem: Problem, reason: TooLargeError) -> None:
    """Warn that the answer is an estimate, and why."""
    names = ", ".join(repr(problem.network.nodes[t]) for t in problem.targets)
    warn(
        f"the answer for {names} is an estimate from {weighting.DRAWS:,} draws, as an exact one takes too "
        f"much: {reason}"
    )


def estimated(problem: Problem, group: Group, way: Way = AUTO) -> weighting.Drawn:
    """Draw configurations, fewer if the parts are large."""
    draws = min(way.draws or weighting.DRAWS, DRAWN_ENTRIES // group.widest)
    return weighting.drawn(problem, group.tables, draws, way.seed)
