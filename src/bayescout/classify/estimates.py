"""Logarithms of smoothed conditional probabilities, and of probabilities of classes."""

from __future__ import annotations

import numpy as np

from bayescout.arrays import Floats
from bayescout.errors import SettingError
from bayescout.network.estimate import pseudo_count
from bayescout.network.fit import is_number

PRIORS = ("laplace", "bdeu")
"""The ways to estimate a classifier's tables: none of them leaves a class impossible."""


def check_prior(prior: str, ess: float) -> None:
    """Refuse a prior that would leave classes impossible."""
    if prior not in PRIORS:
        raise SettingError(
            f"prior must be one of {', '.join(PRIORS)}, not {prior!r}: a classifier needs one under which no "
            f"class is impossible"
        )
    if not (is_number(ess) and ess > 0):
        raise SettingError(f"ess must be a positive number, not {ess!r}")


def log_estimates(counts: Floats, axis: int, prior: str, ess: float, without: float = 0.0) -> Floats:
    """The logarithms of the distributions along an axis of a table of counts, smoothed as in `bayescout.fit`.

    `without` is taken off every count and sum, as if a row of the cell were not there.
    """
    more = pseudo_count(counts.size, prior, ess)
    sums = counts.sum(axis=axis, keepdims=True)
    logs = np.log(np.maximum(counts - without, 0.0) + more)
    found: Floats = logs - np.log(np.maximum(sums - without, 0.0) + more * counts.shape[axis])
    return found


def normalised(logs: Floats) -> Floats:
    """(n, k) log probabilities from unnormalised ones; each row by itself, class after class."""
    largest = logs.max(axis=1)
    total = np.zeros(len(logs))
    for column in range(logs.shape[1]):
        total += np.exp(logs[:, column] - largest)
    found: Floats = logs - (largest + np.log(total))[:, None]
    return found
