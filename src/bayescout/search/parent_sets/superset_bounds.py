"""Upper bounds of the scores of a parent set's supersets: what lets an enumeration stop early.

Each bound is a theorem about one family of scores; a score without one has none, and its parent sets are
enumerated to the limit on parents. `SLACK` keeps rounding on the safe side; a child with one state has
scores of exactly zero, and needs none.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayescout.errors import TooLargeError
from bayescout.scores.dirichlet import Dirichlet
from bayescout.scores.likelihood import LaplaceBic, LogLikelihood, MutualInformation, Penalised
from bayescout.scores.score import TableScore
from bayescout.search.frame.knowledge import Rules
from bayescout.statistics.counts import Counts
from bayescout.statistics.covariance import Covariance
from bayescout.statistics.families import Floats, Ints

SLACK = 1e-6
"""Nats by which a bound must clear what is known, and its share of the numbers compared."""

PAIRED_VARIABLES = 200
"""Variables up to which the conditional entropies of all pairs are computed."""


class Ceiling:
    """No bound: every set may have better supersets."""

    stops = False

    def worth(self, base: tuple[int, ...], sets: Ints, bests: Floats) -> Any:
        """Which of the sets, given the best score within each, are worth scoring.

        False means that neither the set nor any superset of it can be a candidate.
        """
        return np.ones(len(sets), dtype=bool)

    def above(self, base: tuple[int, ...], sets: Ints, scores: Floats, occupied: Ints | None) -> Floats:
        """An upper bound of the scores of all proper supersets of each scored set."""
        return np.full(len(sets), np.inf)


class LikelihoodCeiling(Ceiling):
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

    def _configurations(self, base: tuple[int, ...], sets: Ints) -> Floats:
        fixed = math.prod(float(self.cards[v]) for v in base)
        product: Floats = self.cards[sets].prod(axis=1) * fixed
        return product

    def worth(self, base: tuple[int, ...], sets: Ints, bests: Floats) -> Any:
        configurations = self._configurations(base, sets)
        top = self.most - self.charge * configurations
        worth = top + _slack(top, bests) > bests
        if self.entropies is None:
            return worth
        for place in range(sets.shape[1]):
            added = sets[:, place]
            others = [sets[:, other] for other in range(sets.shape[1]) if other != place]
            others += [np.full(len(sets), v) for v in base]
            gain = self.entropies[added, added]
            for other in others:
                gain = np.minimum(gain, self.entropies[added, other])
            cost = self.charge * configurations * (1 - 1 / self.cards[added])
            worth &= gain + _slack(gain, cost) > cost
        return worth

    def above(self, base: tuple[int, ...], sets: Ints, scores: Floats, occupied: Ints | None) -> Floats:
        top: Floats = self.most - self.charge * self._configurations(base, sets)
        return top + _slack(top, scores) if self.states > 1 else top


class GaussianCeiling(Ceiling):
    """Gaussian log-likelihood less a charge for each parent: score(T) <= LL(all) - charge (|T| + 2)."""

    def __init__(self, charge: float, most: float) -> None:
        self.charge = charge
        self.most = most

    def above(self, base: tuple[int, ...], sets: Ints, scores: Floats, occupied: Ints | None) -> Floats:
        top = np.full(len(sets), self.most - self.charge * (sets.shape[1] + len(base) + 3))
        return top + _slack(top, scores)


class DirichletCeiling(Ceiling):
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
        return top + _slack(top, scores) if self.log_states > 0 else top


def ceilings_of(bound: Any, rules: Rules) -> list[Ceiling]:
    """The bound that holds for each child of a score that is bound to a table, or none."""
    children = range(rules.n)
    if not isinstance(bound, TableScore):
        return [Ceiling() for _ in children]
    statistics, formula = bound.statistics, bound.formula
    if isinstance(statistics, Covariance):
        return [_gaussian(statistics, formula, rules, child) for child in children]
    cards = statistics.cards
    if isinstance(formula, Dirichlet) and statistics.for_kernel() is not None:
        return [DirichletCeiling(int(cards[child]), _states_seen(statistics, child)) for child in children]
    found = _charge_of(formula, statistics)
    if found is None:
        return [Ceiling() for _ in children]
    charge, exact = found
    entropies = _entropies(statistics) if exact else None
    mosts = [_most_likelihood(statistics, formula, rules, child) for child in children]
    return [LikelihoodCeiling(int(cards[i]), cards, charge, mosts[i], entropies) for i in children]


def _charge_of(formula: Any, statistics: Counts) -> tuple[float, bool] | None:
    """The charge for one parameter, and whether the likelihood is the maximised one; None for others."""
    total, n = statistics.total, statistics.n_variables
    if isinstance(formula, LogLikelihood):
        return 0.0, True
    if isinstance(formula, Penalised):
        return statistics.grid.round(formula.charge_at(total, n)), True
    if isinstance(formula, MutualInformation):
        return statistics.grid.round(formula.alpha * math.log(total)), True
    if isinstance(formula, LaplaceBic):
        return statistics.grid.round(formula.penalty * math.log(total) / 2), False
    return None


def _gaussian(statistics: Covariance, formula: Any, rules: Rules, child: int) -> Ceiling:
    if not isinstance(formula, Penalised | LogLikelihood):
        return Ceiling()
    charge = 0.0
    if isinstance(formula, Penalised):
        charge = formula.charge_at(statistics.total, statistics.n_variables)
    most = float(statistics.family(child, _allowed(rules, child)).log_likelihoods()[0])
    # With as many parents as rows the regression fits anything and says nothing.
    return GaussianCeiling(charge, most) if math.isfinite(most) else Ceiling()


def _most_likelihood(statistics: Counts, formula: Any, rules: Rules, child: int) -> float:
    """The log-likelihood of the child given everything that may be a parent of it.

    Mutual information is that less the log-likelihood without parents.
    """
    try:
        most = float(statistics.family(child, _allowed(rules, child)).log_likelihoods()[0])
    except TooLargeError:
        most = 0.0
    if isinstance(formula, MutualInformation):
        most -= float(statistics.family(child, ()).log_likelihoods()[0])
    return most


def _allowed(rules: Rules, child: int) -> tuple[int, ...]:
    return tuple(np.flatnonzero(rules.allowed[:, child]).tolist())


def _states_seen(statistics: Counts, child: int) -> int:
    return int(np.count_nonzero(statistics.family(child, ()).counts))


def _entropies(statistics: Counts) -> Floats:
    """N H(y | s) in nats, at [y, s]; N H(y) on the diagonal, and everywhere where variables are many."""
    n = statistics.n_variables
    own = -statistics.many([(v, ()) for v in range(n)]).log_likelihoods()
    entropies = np.tile(own[:, None], (1, n))
    if n <= PAIRED_VARIABLES:
        for y in range(n):
            others = np.array([v for v in range(n) if v != y], dtype=np.int64)
            if len(others):
                entropies[y, others] = -statistics.extensions(y, (), others).log_likelihoods()
    return entropies


def _slack(one: Floats, other: Floats) -> Floats:
    """A margin for rounding, far above it and far below any difference that means something."""
    size = np.where(np.isfinite(one), np.abs(one), 0.0) + np.where(np.isfinite(other), np.abs(other), 0.0)
    return SLACK * 1e-6 * size + SLACK
