"""Upper bounds on the scores of supersets for conditional Gaussian and degenerate Gaussian scores."""

from __future__ import annotations

import math

import numpy as np

from bayescout.arrays import Bools, Floats, Ints
from bayescout.errors import TooLargeError
from bayescout.scores.superset_bounds import (
    LikelihoodBound,
    SupersetBound,
    likelihood_bounds,
    look,
    slack,
)
from bayescout.statistics.covariance import RESIDUAL_FLOOR
from bayescout.statistics.degenerate import DegenerateGaussian
from bayescout.statistics.mixed import ConditionalGaussian


class RegressionsBound(SupersetBound):
    """Regressions by configuration less a charge for each of q (k + 2) parameters.

    No superset explains the rows better than one regression for each configuration of all allowed discrete
    parents, on all allowed continuous ones, would: score(T) <= most - charge q(S) (k(S) + 2).

    cards  (n,) states of each variable, and 1 for a continuous one
    """

    def __init__(self, charge: float, most: float, cards: Floats, continuous: Bools) -> None:
        self.charge = charge
        self.most = most
        self.cards = cards
        self.continuous = continuous

    def above(self, base: tuple[int, ...], sets: Ints, scores: Floats, occupied: Ints | None) -> Floats:
        fixed = list(base)
        configurations = self.cards[sets].prod(axis=1) * self.cards[fixed].prod()
        slopes = self.continuous[sets].sum(axis=1) + self.continuous[fixed].sum()
        with np.errstate(over="ignore"):
            top: Floats = self.most - self.charge * configurations * (slopes + 2)
        return top + slack(top, scores)


class BlocksBound(SupersetBound):
    """Degenerate Gaussian log-likelihood less a charge for each parameter.

    A determinant given more columns is never larger, and a superset has at least as many columns:
    score(T) <= most - charge c (b(S) + (c + 3) / 2), for c columns of the child and b of its parents.
    """

    def __init__(self, charge: float, most: float, own: int, widths: Ints) -> None:
        self.charge = charge * own
        self.most = most
        self.own = own
        self.widths = widths

    def above(self, base: tuple[int, ...], sets: Ints, scores: Floats, occupied: Ints | None) -> Floats:
        given = self.widths[sets].sum(axis=1) + self.widths[list(base)].sum()
        top: Floats = self.most - self.charge * (given + (self.own + 3) / 2)
        return top + slack(top, scores)


def conditional_bounds(statistics: ConditionalGaussian, allowed: Bools, charge: float) -> list[SupersetBound]:
    """The bound for each child of a conditional Gaussian log-likelihood less a charge per parameter."""
    discrete = np.flatnonzero(statistics.is_discrete)
    cards = np.ones(statistics.n_variables, dtype=np.int64)
    cards[discrete] = statistics.counts.cards
    found: list[SupersetBound] = [SupersetBound() for _ in cards]
    grid = statistics.counts.grid
    among = allowed[np.ix_(discrete, discrete)]
    for child, bound in zip(
        discrete.tolist(), likelihood_bounds(statistics.counts, among, grid.round(charge)), strict=True
    ):
        assert isinstance(bound, LikelihoodBound)
        found[child] = bound.among(cards, discrete)
    sizes, continuous = cards.astype(np.float64), ~statistics.is_discrete
    for child in np.flatnonzero(continuous).tolist():
        most = most_explained(statistics, child, allowed)
        if math.isfinite(most):
            found[child] = RegressionsBound(charge, most, sizes, continuous)
    return found


def most_explained(statistics: ConditionalGaussian, child: int, allowed: Bools) -> float:
    """An upper bound on the log-likelihood of a continuous child with any of its allowed parents.

    A regression for each configuration of all the discrete ones on all the continuous ones. Where that
    leaves no rows to estimate a variance from, the least variance of any regression counts.
    """
    look()
    parents = tuple(np.flatnonzero(allowed[:, child]).tolist())
    try:
        residuals, totals, scale = statistics.residuals(child, parents)
    except TooLargeError:
        return math.inf
    least = RESIDUAL_FLOOR * RESIDUAL_FLOOR
    free = np.log(np.maximum(residuals, least)) + np.where(residuals > least, 1.0, 0.0)
    return float(-np.sum(totals / 2 * (scale + free)))


def block_bounds(statistics: DegenerateGaussian, allowed: Bools, charge: float) -> list[SupersetBound]:
    """The bound for each child of a degenerate Gaussian log-likelihood less a charge per parameter."""
    widths = statistics.widths
    found: list[SupersetBound] = []
    for child, own in enumerate(widths.tolist()):
        look()
        family = child, tuple(np.flatnonzero(allowed[:, child]).tolist())
        most = float(statistics.many([family]).log_likelihoods()[0])
        found.append(BlocksBound(charge, most, own, widths) if math.isfinite(most) else SupersetBound())
    return found
