"""The effect of a discrete variable, from strata of discrete ones: no model of the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.intp]

FEW_ROWS = 5
"""A stratum with fewer rows of a value of x than this supports little of what is said of that value."""


@dataclass(frozen=True)
class Standardised:
    """What the outcome is on average if x is set, for each value of x.

    means        (r, k) of the k numbers of the outcome, such as one per state
    covariance   (r k, r k) of these means, by their influence functions
    unsupported  (r,) the share of rows in strata without any row of this value of x, which are left out
    few          (r,) the share of rows in strata with some, but fewer than `FEW_ROWS`
    """

    means: Array
    covariance: Array
    unsupported: Array
    few: Array


def standardised(x: Codes, states: int, outcome: Array, strata: Codes, weights: Array) -> Standardised:
    r"""Means of the outcome within strata, averaged over the strata of all rows.

    $$ \sum_z P(z)\, E[y \mid x, z] $$

    outcome  (n, k) numbers of each row;  strata  (n,) the number of each row's stratum
    """
    levels = int(strata.max(initial=-1)) + 1
    cell = strata * states + x
    counts = _summed(weights, cell, levels * states).reshape(levels, states)
    sizes = counts.sum(axis=1)
    means = np.stack(
        [_summed(weights * column, cell, levels * states) for column in outcome.T], axis=-1
    ).reshape(levels, states, -1)
    seen = counts > 0
    means = np.divide(means, counts[:, :, None], out=np.zeros_like(means), where=seen[:, :, None])
    total = sizes.sum()
    supported = seen * sizes[:, None]
    share = supported.sum(axis=0)
    mixing = supported / np.where(share > 0, share, 1.0)
    found = np.einsum("zs,zsk->sk", mixing, means)
    few = np.where((counts < FEW_ROWS) & seen, sizes[:, None], 0.0).sum(axis=0)
    covariance = _covariance(means, found, counts, mixing, sizes)
    covariance += _within(x, outcome, cell, weights, means, counts, mixing)
    return Standardised(found, covariance, 1 - share / total, few / total)


def _covariance(means: Array, found: Array, counts: Array, mixing: Array, sizes: Array) -> Array:
    """The part of the covariance that comes from which strata the rows fell into."""
    levels, states, k = means.shape
    off = ((means - found) * (counts > 0)[:, :, None]).reshape(levels, states * k)
    share = mixing / np.where(sizes > 0, sizes, 1.0)[:, None]
    scaled = off * np.repeat(share, k, axis=1)
    return np.asarray((scaled * sizes[:, None]).T @ scaled)


def _within(
    x: Codes, outcome: Array, cell: Codes, weights: Array, means: Array, counts: Array, mixing: Array
) -> Array:
    """The part that comes from the outcomes within the cells; those of two values of x are independent."""
    _, states, k = means.shape
    residual = outcome - means.reshape(-1, k)[cell]
    pull = np.divide(mixing, counts, out=np.zeros_like(mixing), where=counts > 0).ravel()[cell]
    covariance = np.zeros((states * k, states * k))
    for state in range(states):
        here = x == state
        scaled = residual[here] * pull[here, None]
        block = slice(state * k, (state + 1) * k)
        covariance[block, block] = (scaled * weights[here, None]).T @ scaled
    return covariance


def numbered(columns: Sequence[NDArray[Any]], n_rows: int) -> Codes:
    """For each row the number of its combination of values; all zero without columns."""
    number = np.zeros(n_rows, dtype=np.intp)
    for column in columns:
        joint = number * (int(column.max(initial=0)) + 1) + column.astype(np.intp)
        number = np.unique(joint, return_inverse=True)[1].astype(np.intp)
    return number


def _summed(values: Array, groups: Codes, size: int) -> Array:
    return np.asarray(np.bincount(groups, weights=values, minlength=size), dtype=np.float64)
