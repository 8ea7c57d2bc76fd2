"""The scorer of a user's own score."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bayescout.arrays import Family, Floats, Ints, Parents
from bayescout.errors import SettingError
from bayescout.scores.family_prior import FamilyPrior
from bayescout.scores.scorer import Score, Scorer
from bayescout.statistics.independence import Correction, IndependenceTests


class CustomScorer(Scorer):
    """A user's own object with `local`; its own `extensions` and `many` are used if it has them.

    NaN means that a family cannot be scored and becomes minus infinity. Searches that test independence use
    the object's `independence_tests`.
    """

    def __init__(self, score: Score, n_variables: int, prior: FamilyPrior | None = None) -> None:
        super().__init__(n_variables, prior=prior)
        self.score = score
        self._settle_equivalence(None)

    def extensions(self, child: int, parents: Parents, candidates: Ints | Sequence[int]) -> Floats:
        own = getattr(self.score, "extensions", None)
        wanted = [int(c) for c in candidates]
        if own is None:
            return self.many([(child, (*parents, candidate)) for candidate in wanted])
        self.asked += len(wanted)
        found = np.asarray(own(child, parents, np.asarray(wanted, dtype=np.int64)), dtype=np.float64)
        if found.shape != (len(wanted),):
            raise SettingError(
                f"extensions of your score gave an array of shape {found.shape} for {len(wanted)} "
                f"candidates; it must give one number for each"
            )
        found = _scorable(found)
        if self.prior is None:
            return found
        return found + self.prior.extensions(child, parents, np.asarray(wanted, dtype=np.int64))

    def _computed(self, fresh: Sequence[Family]) -> Floats:
        own = getattr(self.score, "many", None)
        values = own(fresh) if own is not None else [self._local(family) for family in fresh]
        return _scorable(np.asarray(values, dtype=np.float64))

    def _local(self, family: Family) -> float:
        self.hooks.between()
        return self.score.local(*family)

    def independence_tests(self, test: str | None, alpha: float, correction: Correction) -> IndependenceTests:
        own: IndependenceTests | None = getattr(self.score, "independence_tests", None)
        return super().independence_tests(test, alpha, correction) if own is None else own


def _scorable(values: Floats) -> Floats:
    return np.where(np.isnan(values), -math.inf, values)
