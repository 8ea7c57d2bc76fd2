"""Sums of products of factors, in doubles and in logarithms.

In doubles an entry can underflow: each factor carries a lower bound of the logarithm of its smallest entry
above zero, and a product that could fall below `LOWEST_LOG` is refused with `UnderflowRisk`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from bayescout.network import elimination
from bayescout.network.elimination import (
    Array,
    Factor,
    Scope,
    UnderflowRisk,
    aligned,
    in_logs,
    own_axes,
    union,
)


class Arithmetic(Protocol):
    """How factors are multiplied and summed."""

    nothing: float
    combine: Any

    def taken(self, factor: Factor) -> Factor:
        """A factor of probabilities in this arithmetic."""

    def safe(self, factors: Sequence[Factor]) -> tuple[list[Factor], float]:
        """The factors, fit to be multiplied, and the lower bound of their product."""

    def product(self, factors: Sequence[Factor]) -> Factor:
        """The product over the union of the scopes."""

    def summed(self, factor: Factor, target: Scope) -> Factor:
        """The sum over all variables but the target's."""

    def total(self, values: Array, axes: tuple[int, ...]) -> Array:
        """The sum over some axes, which stay with length one."""

    def gather(self, sums: Array, more: Array) -> None:
        """Add to sums in place."""

    def ratio(self, above: Array, below: Array) -> Array:
        """The quotient, 0/0 = 0."""

    def scaled(self, factor: Factor) -> Factor:
        """The factor with its largest entry (per batch row) scaled to one; what is all zero stays so."""

    def plain(self, values: Array) -> Array:
        """Scaled values as numbers."""


class _Linear:
    nothing = 0.0
    combine = np.multiply

    def taken(self, factor: Factor) -> Factor:
        return factor

    def safe(self, factors: Sequence[Factor]) -> tuple[list[Factor], float]:
        floor = sum([factor.floor for factor in factors])
        if floor < elimination.LOWEST_LOG:
            factors = [elimination.rescaled(factor) for factor in factors]
            floor = sum([factor.floor for factor in factors])
            if floor < elimination.LOWEST_LOG:
                raise UnderflowRisk
        return list(factors), floor

    def product(self, factors: Sequence[Factor]) -> Factor:
        if len(factors) == 1:
            return factors[0]
        factors, floor = self.safe(factors)
        scope, shape = union(factors)
        values = np.empty(shape)
        np.multiply(aligned(factors[0], scope), aligned(factors[1], scope), out=values)
        for factor in factors[2:]:
            values *= aligned(factor, scope)
        return Factor(scope, values, floor)

    def summed(self, factor: Factor, target: Scope) -> Factor:
        if factor.scope == target:
            return factor
        axes = tuple([axis for axis, v in enumerate(factor.scope) if v not in target])
        return Factor(target, np.asarray(np.add.reduce(factor.values, axes)), factor.floor)

    def total(self, values: Array, axes: tuple[int, ...]) -> Array:
        return np.asarray(np.add.reduce(values, axes, keepdims=True))

    def gather(self, sums: Array, more: Array) -> None:
        sums += more

    def ratio(self, above: Array, below: Array) -> Array:
        below = np.broadcast_to(below, above.shape)
        return np.divide(above, below, out=np.zeros_like(above), where=below > 0)

    def scaled(self, factor: Factor) -> Factor:
        values = factor.values
        peak = np.maximum.reduce(values, own_axes(factor.scope), keepdims=True)
        if peak.size == 1:
            most = float(peak.item())
            if most <= 0.0 or most == 1.0:
                return factor
            return Factor(factor.scope, values / most, factor.floor - math.log(most))
        peak[peak <= 0.0] = 1.0
        return Factor(factor.scope, values / peak, factor.floor - math.log(float(peak.max())))

    def plain(self, values: Array) -> Array:
        return values


class _Logs:
    nothing = -math.inf
    combine = np.add

    def taken(self, factor: Factor) -> Factor:
        return in_logs(factor)

    def safe(self, factors: Sequence[Factor]) -> tuple[list[Factor], float]:
        return list(factors), 0.0

    def product(self, factors: Sequence[Factor]) -> Factor:
        return factors[0] if len(factors) == 1 else elimination.add(factors)

    def summed(self, factor: Factor, target: Scope) -> Factor:
        axes = tuple(axis for axis, v in enumerate(factor.scope) if v not in target)
        shape = tuple(size for size, v in zip(factor.values.shape, factor.scope, strict=True) if v in target)
        return Factor(target, self.total(factor.values, axes).reshape(shape), 0.0)

    def total(self, values: Array, axes: tuple[int, ...]) -> Array:
        peak = np.maximum.reduce(values, axes, keepdims=True)
        shift = np.where(np.isfinite(peak), peak, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.add.reduce(np.exp(values - shift), axes, keepdims=True)) + shift)

    def gather(self, sums: Array, more: Array) -> None:
        np.logaddexp(sums, more, out=sums)

    def ratio(self, above: Array, below: Array) -> Array:
        below = np.broadcast_to(below, above.shape)
        found = np.full(above.shape, -math.inf)
        np.subtract(above, below, out=found, where=below > -math.inf)
        return found

    def scaled(self, factor: Factor) -> Factor:
        peak = np.maximum.reduce(factor.values, own_axes(factor.scope), keepdims=True)
        shift = np.where(np.isfinite(peak), peak, 0.0)
        return Factor(factor.scope, factor.values - shift, 0.0)

    def plain(self, values: Array) -> Array:
        return np.asarray(np.exp(values))


LINEAR: Arithmetic = _Linear()
LOGS: Arithmetic = _Logs()
