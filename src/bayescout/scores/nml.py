"""Normalised maximum likelihood scores: no prior and no setting."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from bayescout.arrays import Floats
from bayescout.errors import DataError
from bayescout.scores.formula import Formula
from bayescout.statistics.families import FamilyTables

EXACT_OUTCOMES = 10_000
"""The most outcomes for which the parametric complexity is computed exactly."""


@dataclass(frozen=True)
class Fnml(Formula):
    r"""Factorised normalised maximum likelihood (Silander, Roos, Kontkanen & Myllymäki 2008).

    $$ \sum_{jk} N_{jk} \log \frac{N_{jk}}{N_j} - \sum_j \log C(N_j, r) $$

    with C(n, K) the parametric complexity of a multinomial with K outcomes and n draws. In nats. Not
    score equivalent.
    """

    def evaluate(self, families: FamilyTables) -> Floats:
        from bayescout.kernels.reducing import sum_regret

        _require_whole(families)
        out = np.empty(len(families))
        grid = families.roomier_grid().for_kernel
        sum_regret(families.counts, families.starts, families.states, grid, out)
        return families.log_likelihoods() - out


@dataclass(frozen=True)
class Qnml(Formula):
    r"""Quotient normalised maximum likelihood (Silander, Leppä-aho, Jääsaari & Roos 2018).

    $$ \sum_{jk} N_{jk} \log \frac{N_{jk}}{N_j} - \log C(N, q r) + \log C(N, q) $$

    In nats. Score equivalent. Above 10,000 outcomes log C is Szpankowski & Weinberger's (2012)
    approximation.
    """

    equivalent: ClassVar[bool] = True

    def evaluate(self, families: FamilyTables) -> Floats:
        _require_whole(families)
        n = int(families.total)
        outcomes = families.configurations * families.states
        pairs = zip(outcomes.tolist(), families.configurations.tolist(), strict=True)
        cost = [
            families.rounded(log_complexity(n, joint)) - families.rounded(log_complexity(n, configurations))
            if math.isfinite(joint)
            else math.inf
            for joint, configurations in pairs
        ]
        return families.log_likelihoods() - np.array(cost, dtype=np.float64)


@lru_cache(maxsize=65_536)
def log_complexity(n: int, outcomes: float) -> float:
    """log C(n, K), in nats: exact for up to EXACT_OUTCOMES outcomes, then the asymptotic form."""
    from bayescout.kernels.reducing import log_regret

    if outcomes <= EXACT_OUTCOMES:
        return float(log_regret(n, int(outcomes)))
    a = outcomes / n
    over = 2 / a / (math.sqrt(1 + 4 / a) + 1)  # c - 1, without cancellation where outcomes are many
    c = 1 + over
    return n * (math.log(a) + (a + 2) * math.log1p(over) - 1 / c) - 0.5 * math.log(c + 2 / a)


def _require_whole(families: FamilyTables) -> None:
    if families.counts.dtype != np.int64:
        raise DataError(
            "normalised maximum likelihood is defined for whole counts, and the row weights are fractional; "
            "use whole weights or another score"
        )
