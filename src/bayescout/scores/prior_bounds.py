"""Bounds on the scores of supersets, with a structure prior added."""

from __future__ import annotations

from typing import Any

from bayescout.arrays import Bools, Floats, Ints
from bayescout.scores.family_prior import FamilyPrior
from bayescout.scores.superset_bounds import LikelihoodBound, SupersetBound


class PriorBound(SupersetBound):
    """The bound of a score plus an upper bound on the log prior of the same supersets.

    A bound that leaves out a set by its last parent alone, whatever its best subset scores, holds only if
    that parent cannot gain by the prior: `LikelihoodBound` counts the prior's part, another bound is asked
    only if the prior never rises.
    """

    def __init__(self, inner: SupersetBound, prior: FamilyPrior, child: int, allowed: Bools) -> None:
        self.prior = prior
        self.child = child
        self.allowed = allowed
        self.stops = inner.stops and prior.is_bounded
        self.inner = inner.raised(prior.raises(child)) if isinstance(inner, LikelihoodBound) else inner
        # A proper superset of a set has the prior of that set with one more parent, or less.
        self.step = float(prior.raises(child).max()) if prior.decreasing else 0.0
        self.asks = prior.decreasing or isinstance(inner, LikelihoodBound)

    def worth(self, base: tuple[int, ...], sets: Ints, bests: Floats) -> Any:
        if not self.asks:
            return super().worth(base, sets, bests)
        return self.inner.worth(base, sets, bests - self._most(base, sets))

    def above(self, base: tuple[int, ...], sets: Ints, scores: Floats, occupied: Ints | None) -> Floats:
        plain = scores - self.prior.of_sets(self.child, base, sets)
        top: Floats = self.inner.above(base, sets, plain, occupied) + self._most(base, sets) + self.step
        return top

    def _most(self, base: tuple[int, ...], sets: Ints) -> Floats:
        return self.prior.above(self.child, base, sets, self.allowed)
