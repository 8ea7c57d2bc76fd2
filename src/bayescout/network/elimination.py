"""Variable elimination over integers: factors, orders, sums and maxima.

A factor is a table over a few variables. The joint of a network given evidence is a product of
factors; the answer to a query is that product with every other variable summed out, one at a time,
in an order that keeps the tables small. Sizes follow from the scopes alone, so a query that would
need too large a table is refused before any work.

Many rows of evidence are answered at once by giving each factor a leading axis, `BATCH`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import prod

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Scope = tuple[int, ...]

BATCH = -1
"""The variable that numbers the rows of evidence; it sorts before every node."""

LOWEST_LOG = -600.0
"""Products that could fall below exp(-600) are computed in logarithms: doubles end near exp(-708)."""

TRY_FILL_ABOVE = 2**12
"""Above this many entries in the largest table, a second elimination order is tried."""


class UnderflowRisk(Exception):
    """Raised if a product of probabilities could round to zero; the caller starts again in logarithms."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A table over `scope`, whose variables ascend, with one axis per variable.

    `floor` is a lower bound on the logarithm of the smallest entry that is not zero.
    """

    scope: Scope
    values: Array
    floor: float


@dataclass(frozen=True, slots=True)
class Plan:
    """An elimination order and the tables it makes.

    peak   entries of the largest table, made when eliminating the variable `at`
           (None: the table of the kept variables)
    total  entries of all tables together
    """

    order: tuple[int, ...]
    peak: int
    total: int
    at: int | None


# ---- orders


def plan(scopes: Sequence[Scope], sizes: Sequence[int], keep: Iterable[int]) -> Plan:
    """A good order to eliminate every variable but `keep`.

    Greedy by the size of the table that the next step makes (min-weight); if that gives a large
    table, greedy by the entries of the arcs it adds (weighted min-fill) is tried too, and the order with
    the smaller largest table wins. Ties go to the lower index.
    """
    kept = tuple(sorted(set(keep)))
    first = _greedy(scopes, sizes, kept, _weight)
    if first.peak <= TRY_FILL_ABOVE:
        return first
    second = _greedy(scopes, sizes, kept, _fill)
    return second if second.peak < first.peak else first


Graph = dict[int, set[int]]
Cost = Callable[[int, Graph, Sequence[int]], int]


def _weight(variable: int, graph: Graph, sizes: Sequence[int]) -> int:
    return sizes[variable] * prod(sizes[other] for other in graph[variable])


def _fill(variable: int, graph: Graph, sizes: Sequence[int]) -> int:
    """The total weight of the arcs that eliminating the variable would add."""
    around = sorted(graph[variable])
    return sum(
        sizes[a] * sizes[b] for i, a in enumerate(around) for b in around[i + 1 :] if b not in graph[a]
    )


def _greedy(scopes: Sequence[Scope], sizes: Sequence[int], keep: Scope, cost: Cost) -> Plan:
    graph = interaction_graph(scopes, keep)
    costs = {v: cost(v, graph, sizes) for v in sorted(graph) if v not in keep}
    heap = [(recorded, v) for v, recorded in costs.items()]
    heapify(heap)
    order: list[int] = []
    peak = total = prod(sizes[v] for v in keep)
    at = None
    while heap:
        recorded, variable = heappop(heap)
        if costs.get(variable) != recorded:
            continue  # an outdated entry of a variable whose cost has changed, or that is gone
        del costs[variable]
        made = _weight(variable, graph, sizes)
        total += made
        if made > peak:
            peak, at = made, variable
        order.append(variable)
        around = graph.pop(variable)
        for other in around:
            graph[other] |= around
            graph[other] -= {variable, other}
        for other in sorted(around):
            if other in costs:
                costs[other] = cost(other, graph, sizes)
                heappush(heap, (costs[other], other))
    return Plan(tuple(order), peak, total, at)


def interaction_graph(scopes: Sequence[Scope], keep: Iterable[int] = ()) -> Graph:
    """The graph in which variables that share a factor are neighbours."""
    graph: Graph = {v: set() for v in keep}
    for scope in scopes:
        for variable in scope:
            graph.setdefault(variable, set()).update(scope)
    for variable, around in graph.items():
        around.discard(variable)
    return graph


# ---- arithmetic


def sum_product(factors: Sequence[Factor], order: Sequence[int], keep: Scope) -> Array:
    """The product of the factors with `order` summed out, over `keep` (ascending).

    Known up to a positive constant (one per row of a batch): the largest entry is one, or
    all are zero. A zero is a true zero: if products might underflow, logarithms are used.
    """
    try:
        return _sum_product_linear(factors, order, keep)
    except UnderflowRisk:
        return _sum_product_log(factors, order, keep)


def _sum_product_linear(factors: Sequence[Factor], order: Sequence[int], keep: Scope) -> Array:
    left = list(factors)
    for variable in order:
        used, left = split(left, variable)
        product = multiply(used)
        left.append(_sum_out(product, variable))
    return rescaled(_over(multiply(left), keep)).values


def _sum_product_log(factors: Sequence[Factor], order: Sequence[int], keep: Scope) -> Array:
    left = [in_logs(factor) for factor in factors]
    for variable in order:
        used, left = split(left, variable)
        total = add(used)
        axis = total.scope.index(variable)
        left.append(Factor(without(total.scope, variable), log_sum(total.values, axis), 0.0))
    values = _over(add(left), keep).values
    peak = values.max(axis=own_axes(keep), keepdims=True)
    return np.exp(values - np.where(np.isfinite(peak), peak, 0.0))


def max_product(factors: Sequence[Factor], order: Sequence[int]) -> dict[int, int] | None:
    """The assignment of `order` with the largest product; None if every product is zero.

    Each step keeps its table, and the values are read back in reverse. Of equals the lower state
    wins, in the reverse of the elimination order.
    """
    left = [in_logs(factor) for factor in factors]
    kept: list[Factor] = []
    for variable in order:
        used, left = split(left, variable)
        total = add(used)
        kept.append(total)
        axis = total.scope.index(variable)
        left.append(Factor(without(total.scope, variable), total.values.max(axis=axis), 0.0))
    if not np.isfinite(add(left).values):
        return None
    chosen: dict[int, int] = {}
    for variable, total in zip(reversed(order), reversed(kept), strict=True):
        where = tuple(slice(None) if v == variable else chosen[v] for v in total.scope)
        chosen[variable] = int(np.argmax(total.values[where]))
    return chosen


# ---- one step


def multiply(factors: Sequence[Factor]) -> Factor:
    """The product over the union of the scopes, refused if an entry could underflow."""
    floor = sum(factor.floor for factor in factors)
    if floor < LOWEST_LOG:
        factors = [rescaled(factor) for factor in factors]
        floor = sum(factor.floor for factor in factors)
        if floor < LOWEST_LOG:
            raise UnderflowRisk
    scope, shape = union(factors)
    values = np.ones(shape)
    for factor in factors:
        values *= aligned(factor, scope)
    return Factor(scope, values, floor)


def add(factors: Sequence[Factor]) -> Factor:
    """The sum over the union of the scopes: a product of factors held as logarithms."""
    scope, shape = union(factors)
    values = np.zeros(shape)
    for factor in factors:
        values += aligned(factor, scope)
    return Factor(scope, values, 0.0)


def rescaled(factor: Factor) -> Factor:
    """The factor with its largest entry (per batch row) scaled to one, and its floor measured."""
    values = factor.values
    peak = values.max(axis=own_axes(factor.scope), keepdims=True)
    values = values / np.where(peak > 0, peak, 1.0)
    positive = values[values > 0]
    floor = float(np.log(positive.min())) if positive.size else 0.0
    return Factor(factor.scope, values, floor)


def in_logs(factor: Factor) -> Factor:
    with np.errstate(divide="ignore"):
        return Factor(factor.scope, np.log(factor.values), 0.0)


def _sum_out(factor: Factor, variable: int) -> Factor:
    axis = factor.scope.index(variable)
    summed = np.asarray(factor.values.sum(axis=axis))
    return Factor(without(factor.scope, variable), summed, factor.floor)


def log_sum(values: Array, axis: int) -> Array:
    """log of the sum of exponentials along an axis, exact if every term is minus infinity."""
    peak = values.max(axis=axis, keepdims=True)
    shift = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(divide="ignore"):
        total: Array = np.log(np.exp(values - shift).sum(axis=axis))
    return total + shift.squeeze(axis=axis)


def split(factors: Sequence[Factor], variable: int) -> tuple[list[Factor], list[Factor]]:
    """The factors that mention the variable, and the others."""
    used = [factor for factor in factors if variable in factor.scope]
    return used, [factor for factor in factors if variable not in factor.scope]


def union(factors: Sequence[Factor]) -> tuple[Scope, tuple[int, ...]]:
    sizes: dict[int, int] = {}
    for factor in factors:
        sizes.update(zip(factor.scope, factor.values.shape, strict=True))
    scope = tuple(sorted(sizes))
    return scope, tuple(sizes[v] for v in scope)


def aligned(factor: Factor, scope: Scope) -> Array:
    """The factor's values with an axis of length one per variable of `scope` that it lacks."""
    if factor.scope == scope:
        return factor.values
    sizes = dict(zip(factor.scope, factor.values.shape, strict=True))
    return factor.values.reshape(tuple(sizes.get(v, 1) for v in scope))


def _over(factor: Factor, keep: Scope) -> Factor:
    """The factor, checked to be over exactly the variables asked for (no step may lose one)."""
    if factor.scope != keep:
        raise AssertionError(f"elimination ended over {factor.scope}, not {keep}")
    return factor


def own_axes(scope: Scope) -> tuple[int, ...]:
    return tuple(axis for axis, variable in enumerate(scope) if variable != BATCH)


def without(scope: Scope, variable: int) -> Scope:
    return tuple(v for v in scope if v != variable)
