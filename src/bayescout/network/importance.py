"""Estimates by importance sampling, where the tables of an exact answer do not fit.

Weighted mini-bucket elimination (Liu & Ihler 2011; Liu, Fisher & Ihler 2015): variables are eliminated as
for an exact answer, but the factors of a step are multiplied in several buckets if the table of all would
be too large. Bucket r of a step has a share p_r of one, and sends the sum of its product to the power
1/p_r, to the power p_r: together that is never less than the true sum (Hölder). Going back, each variable
is drawn from the mixture of its buckets,

    q(x | later) = sum_r p_r product_r(x, later)^(1/p_r) / sum_x product_r(x, later)^(1/p_r),

so what is possible can be drawn, whatever the evidence, and no draw has a weight above the bound of the
first pass. If no step needs a second bucket, the draws are from the exact distribution and all weights are
the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import generator
from bayescout.network.arithmetic import LOGS
from bayescout.network.elimination import Array, Factor, Scope, in_logs, split, union, without

BUCKET_ENTRIES = 2**16
"""The most entries of one bucket, unless a single factor has more."""

DRAWS = 2**15
"""Draws of an estimate."""

MORE = 8
"""If the draws are worth too few, so many times as many are made."""

CHUNK = 2**13
"""Draws that are made together."""

LEAST_EFFECTIVE = 200.0
"""Draws that are worth fewer equally weighted ones than this give no answer."""


@dataclass(frozen=True)
class Bucket:
    """The conditional distribution of a variable from one bucket, by the values of the variables after it.

    given   those variables, ascending
    sizes   the number of states of each
    shares  (configurations of these, states): the power of the product, divided by its sum
    part    the bucket's share of one
    """

    given: Scope
    sizes: tuple[int, ...]
    shares: Array
    part: float

    def rows(self, codes: Mapping[int, NDArray[np.intp]], n: int) -> Array:
        """(n, states) the distribution for each draw."""
        return np.asarray(self.shares[numbers(codes, self.given, self.sizes, n)])


@dataclass(frozen=True)
class Draws:
    """Weighted draws of the variables of some factors.

    codes    (n,) of each variable
    weights  (n,) with sum one; empty if no draw agrees with the evidence
    n        the number of draws
    """

    codes: Mapping[int, NDArray[np.intp]]
    weights: Array
    n: int

    @property
    def effective(self) -> float:
        """The number of equally weighted draws that are worth as much."""
        return float(1.0 / np.square(self.weights).sum()) if self.weights.size else 0.0

    def shares(self, targets: Scope, sizes: Sequence[int]) -> tuple[Array, Array]:
        """The estimated joint distribution of some variables, and the standard error of each probability."""
        shape = [sizes[v] for v in targets]
        where = numbers(self.codes, targets, shape, len(self.weights))
        cells = prod(shape)
        found = np.bincount(where, self.weights, minlength=cells)
        squares = np.bincount(where, np.square(self.weights), minlength=cells)
        # The sum over draws of (w (1[cell] - p))^2, of those in the cell and of those outside.
        spread = squares * (1 - found) ** 2 + (squares.sum() - squares) * found**2
        errors = np.maximum(np.sqrt(spread), 1.0 / self.effective)
        return np.asarray(found, dtype=np.float64).reshape(shape), np.asarray(errors).reshape(shape)


def numbers(
    codes: Mapping[int, NDArray[np.intp]], scope: Scope, sizes: Sequence[int], n: int
) -> NDArray[np.intp]:
    """The number of each draw's configuration, the last variable varying fastest."""
    found = np.zeros(n, dtype=np.intp)
    for v, size in zip(scope, sizes, strict=True):
        found *= size
        found += codes[v]
    return found


# ---- the proposal


@dataclass(frozen=True)
class Proposal:
    """The factors in logarithms, the buckets of each variable as it is eliminated, and the bound.

    bound  log of an upper bound of the sum of the product: minus infinity if the evidence is impossible
    """

    factors: Sequence[Factor]
    order: tuple[int, ...]
    buckets: Sequence[Sequence[Bucket]]
    bound: float


def proposal(factors: Sequence[Factor], order: Sequence[int]) -> Proposal:
    """Eliminate all variables, in buckets of bounded size."""
    logs = [in_logs(factor) for factor in factors]
    left = list(logs)
    buckets: list[list[Bucket]] = []
    for variable in order:
        used, left = split(left, variable)
        groups = _grouped(used)
        made = [_bucket(group, variable, 1.0 / len(groups)) for group in groups]
        buckets.append([bucket for bucket, _ in made])
        left += [message for _, message in made]
    bound = float(sum(float(one.values) for one in left))
    return Proposal(logs, tuple(order), buckets, bound)


def _grouped(factors: Sequence[Factor]) -> list[list[Factor]]:
    """The factors in groups whose products have at most `BUCKET_ENTRIES`, the largest factors first."""
    groups: list[list[Factor]] = []
    for one in sorted(factors, key=lambda factor: -factor.values.size):
        for group in groups:
            if prod(union([*group, one])[1]) <= BUCKET_ENTRIES:
                group.append(one)
                break
        else:
            groups.append([one])
    return groups


def _bucket(group: Sequence[Factor], variable: int, part: float) -> tuple[Bucket, Factor]:
    """The distribution of the variable in one bucket, and what the bucket sends."""
    product = LOGS.product(group)
    axis = product.scope.index(variable)
    given = without(product.scope, variable)
    powers = np.moveaxis(product.values, axis, -1) / part
    sums = LOGS.total(powers, (powers.ndim - 1,))
    states = powers.shape[-1]
    possible = np.isfinite(sums)
    shares = np.where(possible, np.exp(powers - np.where(possible, sums, 0.0)), 1.0 / states)
    message = Factor(given, sums[..., 0] * part, 0.0)
    return Bucket(given, powers.shape[:-1], shares.reshape(-1, states), part), message


# ---- draws


def draws(plan: Proposal, n: int, seed: int) -> Draws:
    """n weighted draws; the same seed gives the same ones."""
    rng = generator(seed)
    codes = {v: np.empty(n, dtype=np.intp) for v in plan.order}
    logs = np.empty(n)
    for start in range(0, n, CHUNK):
        rows = slice(start, min(start + CHUNK, n))
        some = {v: own[rows] for v, own in codes.items()}
        logs[rows] = _drawn(plan, rng, some, rows.stop - start)
    peak = logs.max(initial=-np.inf)
    if peak == -np.inf:
        return Draws(codes, np.empty(0), n)
    weights = np.exp(logs - peak)
    return Draws(codes, weights / weights.sum(), n)


def enough_draws(plan: Proposal, n: int, seed: int) -> Draws:
    """Draws; more of them, once, if they are worth too few."""
    found = draws(plan, n, seed)
    return found if found.effective >= LEAST_EFFECTIVE else draws(plan, MORE * n, seed)


def _drawn(plan: Proposal, rng: np.random.Generator, codes: Mapping[int, NDArray[np.intp]], n: int) -> Array:
    """Fill the codes from the last variable to the first; returns the logarithms of the weights."""
    logs = np.zeros(n)
    each = np.arange(n)
    for variable, buckets in zip(reversed(plan.order), reversed(plan.buckets), strict=True):
        mixture = buckets[0].part * buckets[0].rows(codes, n)
        for other in buckets[1:]:
            mixture += other.part * other.rows(codes, n)
        ends = np.cumsum(mixture, axis=1)
        whole = ends[:, -1]
        # Below the last end, whatever the rounding: a state of probability zero is never drawn.
        aim = np.minimum(rng.random(n) * whole, np.nextafter(whole, 0.0))
        codes[variable][:] = (ends <= aim[:, None]).sum(axis=1)
        logs -= np.log(mixture[each, codes[variable]])
    for factor in plan.factors:
        where = numbers(codes, factor.scope, factor.values.shape, n)
        logs += factor.values.reshape(-1)[where]
    return logs
