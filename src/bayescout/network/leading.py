"""Elimination over logarithms in which some entries may be infinite, and are then counted.

A continuous node without noise gives an observed value either density zero or an infinite one. Of two
configurations the one with more infinite densities is infinitely more probable, so an entry is a pair: how
many of its densities are infinite (its order), and the logarithm of the product of all others. Products add
both; a sum is the sum over the entries of the largest order. Impossible entries have the logarithm minus
infinity and no order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayescout.network.elimination import Array, Scope, aligned, log_sum, own_axes, union, without
from bayescout.network.elimination import Factor as Axes


@dataclass(frozen=True, slots=True)
class Term:
    """Pairs over `scope`, whose variables ascend; `orders` is None if no density is infinite."""

    scope: Scope
    logs: Array
    orders: Array | None = None


def product(terms: Sequence[Term]) -> Term:
    """The product over the union of the scopes."""
    scope, shape = union([Axes(term.scope, term.logs, 0.0) for term in terms])
    logs = np.zeros(shape)
    for term in terms:
        logs += aligned(Axes(term.scope, term.logs, 0.0), scope)
    counted = [term for term in terms if term.orders is not None]
    if not counted:
        return Term(scope, logs)
    orders = np.zeros(shape)
    for term in counted:
        assert term.orders is not None
        orders += aligned(Axes(term.scope, term.orders, 0.0), scope)
    return Term(scope, logs, orders)


def leading(term: Term, axes: tuple[int, ...]) -> tuple[Array, Array | None]:
    """The logarithms with every entry below the largest order along the axes ruled out, and that order."""
    if term.orders is None:
        return term.logs, None
    possible = np.where(np.isfinite(term.logs), term.orders, -1.0)
    best = possible.max(axis=axes, keepdims=True)
    return np.where(possible == best, term.logs, -np.inf), np.maximum(best, 0.0)


def summed_out(terms: Sequence[Term], order: Sequence[int], keep: Scope) -> Term:
    """The product of the terms with the variables of `order` summed out, over `keep` (ascending)."""
    left = list(terms)
    for variable in order:
        whole = product([term for term in left if variable in term.scope])
        axis = whole.scope.index(variable)
        logs, best = leading(whole, (axis,))
        found = Term(
            without(whole.scope, variable),
            log_sum(logs, axis),
            None if best is None else best.squeeze(axis=axis),
        )
        left = [*(term for term in left if variable not in term.scope), found]
    answer = product(left)
    if answer.scope != keep:
        raise AssertionError(f"elimination ended over {answer.scope}, not {keep}")
    logs, best = leading(answer, own_axes(keep))
    return Term(keep, logs, best)


def largest(terms: Sequence[Term], order: Sequence[int]) -> dict[int, int] | None:
    """The assignment of `order` with the largest product; None if every product is zero.

    Of equals the lower state wins, in the reverse of the elimination order.
    """
    left, kept = list(terms), []
    for variable in order:
        whole = product([term for term in left if variable in term.scope])
        axis = whole.scope.index(variable)
        logs, best = leading(whole, (axis,))
        kept.append((whole.scope, logs))
        found = Term(
            without(whole.scope, variable),
            logs.max(axis=axis),
            None if best is None else best.squeeze(axis=axis),
        )
        left = [*(term for term in left if variable not in term.scope), found]
    if not np.isfinite(product(left).logs).all():
        return None
    chosen: dict[int, int] = {}
    for variable, (scope, logs) in zip(reversed(order), reversed(kept), strict=True):
        where = tuple(slice(None) if v == variable else chosen[v] for v in scope)
        chosen[variable] = int(np.argmax(logs[where]))
    return chosen
