"""A user's own score object, given the full interface."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bayescout.scores.base import Hooks, Parents, Score
from bayescout.scores.cache import DEFAULT_BYTES, ScoreCache
from bayescout.statistics.families import Family, Floats, Ints


class CustomScore:
    """Wraps an object that has `local`; its own `extensions` and `many` are used where it has them.

    Values are remembered as those of built-in scores are. NaN means that a family cannot be scored and
    becomes minus infinity.
    """

    def __init__(self, score: Score, n_variables: int) -> None:
        self.score = score
        self.n_variables = n_variables
        self.hooks = Hooks()
        self._cache = ScoreCache(DEFAULT_BYTES, n_variables)

    @property
    def evaluations(self) -> int:
        return self._cache.evaluations

    @property
    def hits(self) -> int:
        return self._cache.hits

    def local(self, child: int, parents: Parents) -> float:
        return float(self.many([(child, parents)])[0])

    def extensions(self, child: int, parents: Parents, candidates: Ints | Sequence[int]) -> Floats:
        own = getattr(self.score, "extensions", None)
        wanted = [int(c) for c in candidates]
        if own is not None:
            return _scorable(
                np.asarray(own(child, parents, np.asarray(wanted, dtype=np.int64)), dtype=np.float64)
            )
        return self.many([(child, (*parents, candidate)) for candidate in wanted])

    def many(self, families: Sequence[Family]) -> Floats:
        return self._cache.fetch(families, self._computed)

    def _computed(self, fresh: Sequence[Family]) -> Floats:
        own = getattr(self.score, "many", None)
        values = own(fresh) if own is not None else [self._local(family) for family in fresh]
        return _scorable(np.asarray(values, dtype=np.float64))

    def _local(self, family: Family) -> float:
        self.hooks.between()
        return self.score.local(*family)


def _scorable(values: Floats) -> Floats:
    return np.where(np.isnan(values), -math.inf, values)
