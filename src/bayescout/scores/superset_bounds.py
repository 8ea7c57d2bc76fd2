"""Upper bounds on the scores of a parent set's supersets, which let an enumeration stop early.

Each bound is a theorem about one class of scores; a score without one has no bound, and its parent sets are
enumerated up to the limit on parents. `SLACK` keeps rounding on the safe side; a child with one state has
scores of exactly zero, and needs no slack.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from copy import copy
from typing import Any

import numpy as np

from bayescout.arrays import Bools, Floats, Ints, Parents
from bayescout.errors import TooLargeError
from bayescout.statistics.discrete import DiscreteStatistics
from bayescout.statistics.engine import Statistics

SLACK = 1e-6
"""Margin, in nats and as a share of the numbers compared, by which a bound must clear a known score."""

PAIRED_VARIABLES = 200
"""The most variables for which the conditional entropies of all pairs are computed."""

_between: ContextVar[Callable[[], None]] = ContextVar("between", default=lambda: None)


@contextmanager
def looked_after(between: Callable[[], None]) -> Iterator[None]:
    """Call `between` between the pieces of work that bounds take; it may raise to end them."""
    token = _between.set(between)
    try:
        yield
    finally:
        _between.reset(token)


def look() -> None:
    """Called before each piece of work."""
    _between.get()()


class SupersetBound:
    """No bound: every set may have better supersets."""

    stops = False

    def worth(self, base: tuple[int, ...], sets: Ints, bests: Floats) -> Any:
        """For each set, given the best score within it, True if it is worth scoring.

        False means that neither the set nor any superset of it can be a candidate.
        """
        return np.ones(len(sets), dtype=bool)

    def above(self, base: tuple[int, ...], sets: Ints, scores: Floats, occupied: Ints | None) -> Floats:
        """An upper bound on the scores of all proper supersets of each scored set."""
        return np.full(len(sets), np.inf)


class LikelihoodBound(SupersetBound):
    r"""Log-likelihood less a charge for each of q (r - 1) parameters.

    No set of parents explains more than all of them together, and a superset of S has at least as many
    configurations as S, so score(T) <= LL(all) - charge q(S) (r - 1) for T above S. With LL(all) at most 0
    this gives the known limit of log2(2N / log N) parents for BIC (Tian 2000; de Campos & Ji 2011).

    A parent y adds to any set above S at most N H(y | S) <= N min_s H(y | s), and costs at least
    charge q(S) (r_y - 1) (r - 1); where that is more, y is worth nothing above S (de Campos, Scanagatta,
    Corani & Zaffalon 2018). This second bound needs the exact likelihood, `entropies`.
    """

    stops = True

    def __init__(
        self, states: int, cards: Ints, charge: float, most: float, entropies: Floats | None
    ) -> None:
        self.states = states
        self.cards = cards.astype(np.float64)
        self.charge = charge * (states - 1)
        self.most = most
        self.entropies = entropies
        self.raises: Floats | None = None

    def raised(self, raises: Floats) -> LikelihoodBound:
        """The same bound for a score that gains at most so much more by each further parent."""
        found = copy(self)
        found.raises = raises
        return found

    def among(self, cards: Ints, places: Ints) -> LikelihoodBound:
        """The same bound in positions of a larger table, in which its variables stand at `places`."""
        entropies = None
        if self.entropies is not None:
            entropies = np.zeros((len(cards), len(cards)))
            entropies[np.ix_(places, places)] = self.entropies
        found = LikelihoodBound(self.states, cards, 0.0, self.most, entropies)
        found.charge = self.charge
        return found

    def _configurations(self, base: tuple[int, ...], sets: Ints) -> Floats:
        fixed = math.prod(float(self.cards[v]) for v in base)
        product: Floats = self.cards[sets].prod(axis=1) * fixed
        return product

    def worth(self, base: tuple[int, ...], sets: Ints, bests: Floats) -> Any:
        configurations = self._configurations(base, sets)
        top = self.most - self.charge * configurations
        worth = top + slack(top, bests) > bests
        if self.entropies is None:
            return worth
        for place in range(sets.shape[1]):
            added = sets[:, place]
            others = [sets[:, other] for other in range(sets.shape[1]) if other != place]
            others += [np.full(len(sets), v) for v in base]
            gain = self.entropies[added, added]
            for other in others:
                gain = np.minimum(gain, self.entropies[added, other])
            if self.raises is not None:
                gain = gain + self.raises[added]
            cost = self.charge * configurations * (1 - 1 / self.cards[added])
            worth &= gain + slack(gain, cost) > cost
        return worth

    def above(self, base: tuple[int, ...], sets: Ints, scores: Floats, occupied: Ints | None) -> Floats:
        top: Floats = self.most - self.charge * self._configurations(base, sets)
        return top + slack(top, scores) if self.states > 1 else top


class GaussianBound(SupersetBound):
    """Gaussian log-likelihood less a charge per parent: score(T) <= LL(all) - charge (|T| + 2)."""

    def __init__(self, charge: float, most: float) -> None:
        self.charge = charge
        self.most = most

    def above(self, base: tuple[int, ...], sets: Ints, scores: Floats, occupied: Ints | None) -> Floats:
        top = np.full(len(sets), self.most - self.charge * (sets.shape[1] + len(base) + 3))
        return top + slack(top, scores)


class DirichletBound(SupersetBound):
    """Dirichlet scores with one prior count for all cells of a family.

    The score is a product, over the rows, of each state's predicted probability. The first row of a cell has
    probability (a / r) / (a + rows before it in its configuration) <= 1 / r, and no other more than 1. A
    superset's cells divide those of S, so it has at least as many: score(T) <= -occupied(S) log r, which is
    at least as tight as the bound by configurations of de Campos & Ji (2011). Counts must be whole.
    """

    stops = True

    def __init__(self, states: int, seen: int) -> None:
        self.log_states = math.log(states)
        self.seen = seen

    def above(self, base: tuple[int, ...], sets: Ints, scores: Floats, occupied: Ints | None) -> Floats:
        cells = np.full(len(sets), self.seen) if occupied is None else np.maximum(occupied, self.seen)
        top: Floats = -self.log_states * cells
        return top + slack(top, scores) if self.log_states > 0 else top


def likelihood_bounds(
    statistics: DiscreteStatistics, allowed: Bools, charge: float, exact: bool = True, gained: bool = False
) -> list[SupersetBound]:
    """The bound for each child of a log-likelihood less a charge per parameter.

    exact   the likelihood is the maximised one
    gained  the score is the gain over no parents, as a mutual information is
    """
    entropies = _entropies(statistics) if exact else None
    found: list[SupersetBound] = []
    for child, states in enumerate(statistics.cards.tolist()):
        most = _most_likelihood(statistics, child, allowed)
        if gained:
            most -= _log_likelihood(statistics, child, ())
        found.append(LikelihoodBound(states, statistics.cards, charge, most, entropies))
    return found


def gaussian_bounds(statistics: Statistics, allowed: Bools, charge: float) -> list[SupersetBound]:
    """The bound for each child of a Gaussian log-likelihood less a charge per parameter."""
    mosts = [
        _log_likelihood(statistics, child, _allowed(allowed, child))
        for child in range(statistics.n_variables)
    ]
    # With as many parents as rows the regression fits anything and says nothing.
    return [GaussianBound(charge, most) if math.isfinite(most) else SupersetBound() for most in mosts]


def dirichlet_bounds(statistics: DiscreteStatistics) -> list[SupersetBound]:
    """The bound for each child of a Dirichlet score on integer counts."""
    return [
        DirichletBound(states, int(np.count_nonzero(statistics.many([(child, ())]).counts)))
        for child, states in enumerate(statistics.cards.tolist())
    ]


def _log_likelihood(statistics: Statistics, child: int, parents: Parents) -> float:
    look()
    return float(statistics.many([(child, parents)]).log_likelihoods()[0])


def _most_likelihood(statistics: DiscreteStatistics, child: int, allowed: Bools) -> float:
    """The log-likelihood of the child given all its allowed parents."""
    try:
        return _log_likelihood(statistics, child, _allowed(allowed, child))
    except TooLargeError:
        return 0.0


def _allowed(allowed: Bools, child: int) -> Parents:
    return tuple(np.flatnonzero(allowed[:, child]).tolist())


def _entropies(statistics: DiscreteStatistics) -> Floats:
    """N H(y | s) in nats, at [y, s]; N H(y) on the diagonal, and everywhere if there are many variables.

    Never more than N H(y), which also stands where the table of a pair is too large.
    """
    n = statistics.n_variables
    own = -statistics.many([(v, ()) for v in range(n)]).log_likelihoods()
    entropies = np.tile(own[:, None], (1, n))
    if n <= PAIRED_VARIABLES:
        for y in range(n):
            look()
            others = np.array([v for v in range(n) if v != y], dtype=np.int64)
            if not len(others):
                continue
            try:
                entropies[y, others] = -statistics.extensions(y, (), others).log_likelihoods()
            except TooLargeError:
                for one in others.tolist():
                    with suppress(TooLargeError):
                        entropies[y, one] = -_log_likelihood(statistics, y, (one,))
    return entropies


def slack(one: Floats, other: Floats) -> Floats:
    """A margin for rounding, far above it and far below any difference of importance."""
    size = np.where(np.isfinite(one), np.abs(one), 0.0) + np.where(np.isfinite(other), np.abs(other), 0.0)
    return SLACK * 1e-6 * size + SLACK
