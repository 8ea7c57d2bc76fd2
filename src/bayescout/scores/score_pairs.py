"""Which pairs have an arc that gains by itself, for any score and any statistics behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from bayescout.arrays import Bools, Ints
from bayescout.scores.scorer import Scorer
from bayescout.statistics.screening import NONE_ALIKE


class ScorePairs:
    """The pairs of variables under any score, for a `Screening`: each child is scored with each parent.

    least  None: a pair remains if an arc between the two, one way or the other, raises the score. A number:
           if it raises it by so much or more
    """

    def __init__(self, scorer: Scorer, least: float | None = None) -> None:
        self.scorer, self.least = scorer, least

    @property
    def n_variables(self) -> int:
        return self.scorer.n_variables

    def coarse(self, between: Callable[[], None]) -> Iterator[tuple[Ints, Ints]]:
        """The pairs that remain, child by child: the lower variable and the higher."""
        scorer, n, legal = self.scorer, self.n_variables, self.scorer.legal
        # Both directions of an arc gain the same, unless rows in which somebody acted tell them apart.
        alike = scorer.equivalent is True and legal is None and scorer.telling is None
        with scorer.suspended():
            alone = scorer.fleeting([(child, ()) for child in range(n)])
            for child in range(n):
                between()
                others = np.arange(child + 1 if alike else 0, n)
                others = others[others != child]
                if legal is not None:
                    others = others[legal[others, child]]
                if len(others):
                    gains = scorer.extensions_once(child, (), others) - alone[child]
                    gaining = others[gains > 0 if self.least is None else gains >= self.least]
                    yield np.minimum(gaining, child), np.maximum(gaining, child)

    def remaining(self, lefts: Ints, rights: Ints) -> Bools:
        return np.ones(len(lefts), dtype=bool)

    def alike(self) -> Ints:
        return NONE_ALIKE
