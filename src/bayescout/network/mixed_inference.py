"""Queries of networks with discrete and continuous nodes.

Exact where the sum over the discrete variables that the continuous part depends on has room; otherwise by
sampling these, with a warning and a stated error.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Label
from bayescout.errors import NetworkError, TooLargeError
from bayescout.network import leading, weighting
from bayescout.network.asking import AUTO, Way
from bayescout.network.distribution import Distribution, GaussianMixture, MixedDistribution
from bayescout.network.elimination import BATCH, Array
from bayescout.network.inference import MAX_TARGETS
from bayescout.network.mixed_cells import (
    Cells,
    bearing,
    drawn_cells,
    estimated,
    exact_cells,
    possible_rows,
    warn_estimate,
)
from bayescout.network.mixed_problem import MAX_ENTRIES, groups, posed, undefined_nodes
from bayescout.network.parts import warn_undefined

if TYPE_CHECKING:
    from bayescout.network.network import Network


def answer(
    network: Network, targets: Sequence[int], evidence: Mapping[int, Any], way: Way = AUTO
) -> Distribution | GaussianMixture | MixedDistribution:
    """The distribution of the targets given the evidence, with its labels."""
    if len(targets) > MAX_TARGETS:
        raise TooLargeError(f"a query has at most {MAX_TARGETS} targets, not {len(targets)}; ask for fewer")
    problem = posed(network, targets, _rows_of(evidence), 1)
    warn_undefined(network, undefined_nodes(problem), "the answer")
    group, others = bearing(problem)
    try:
        plan = group.planned(problem, problem.keep) if way.method == "auto" else None
    except TooLargeError as reason:
        if way.exact:
            raise
        warn_estimate(problem, reason)
        plan = None
    if plan is not None:
        cells = exact_cells(problem, group, plan.order)
    else:
        cells = drawn_cells(problem, group, estimated(problem, group, way))
        _require_draws(cells)
    if cells.impossible[0] or not possible_rows(problem, others)[0]:
        raise impossible(network, evidence)
    return _labelled(cells, shown(network, evidence))


def _rows_of(evidence: Mapping[int, Any]) -> dict[int, NDArray[Any]]:
    return {node: np.array([value]) for node, value in evidence.items()}


def _require_draws(cells: Cells) -> None:
    """Refuse an estimate in which a few draws have all the weight."""
    assert cells.counts is not None
    worth = 0.0 if cells.impossible[0] else float(weighting.effective(cells.weights(), cells.counts)[0])
    if worth < weighting.LEAST_EFFECTIVE:
        raise TooLargeError(
            f"an exact answer takes too much, and an estimate from {int(cells.counts.sum()):,} draws is "
            f"worth only {worth:.0f} of them, fewer than {weighting.LEAST_EFFECTIVE:.0f}, as the evidence is "
            f"improbable; observe more variables, or leave evidence out"
        )


def shown(network: Network, evidence: Mapping[int, Any]) -> tuple[tuple[Label, Any], ...]:
    """The evidence in labels, states and numbers."""
    pairs = [(node, value, network.distributions[node].states) for node, value in evidence.items()]
    return tuple((network.nodes[n], value if own is None else own[value]) for n, value, own in pairs)


def _labelled(
    cells: Cells, evidence: tuple[tuple[Label, Any], ...]
) -> Distribution | GaussianMixture | MixedDistribution:
    """The answer of one row, by the kinds of its targets."""
    network, targets = cells.problem.network, cells.problem.targets
    states = [t for t in targets if network.distributions[t].states is not None]
    numbers = [t for t in targets if t not in states]
    weights = cells.weights()[0]
    if not states:
        return _mixture(cells, numbers, weights, np.arange(len(weights)), evidence)
    shape = tuple(cells.problem.sizes[t] for t in states)
    if prod(shape) > MAX_ENTRIES:
        raise TooLargeError(
            f"the answer has {prod(shape):,} probabilities, over the limit of {MAX_ENTRIES:,}; ask for fewer "
            f"targets"
        )
    where = np.zeros(len(weights), dtype=np.intp)
    for t, size in zip(states, shape, strict=True):
        where = where * size + cells.discrete(t).ravel()
    flat = np.bincount(where, weights, minlength=prod(shape))
    error = 0.0
    if cells.counts is not None:
        occurring = (where[:, None] == np.unique(where)[None, :]).astype(np.float64)
        found = float(weighting.standard_errors(weights, cells.counts, occurring).max())
        error = max(found, _least_error(weights, cells.counts))
    discrete = Distribution(
        tuple(network.nodes[t] for t in states),
        tuple(network.distributions[t].states or () for t in states),
        np.asarray(flat.reshape(shape), dtype=np.float64),
        evidence,
        error,
    )
    if not numbers:
        return discrete
    keys = [np.flatnonzero((where == k) & (weights > 0)) for k in range(flat.size)]
    given = tuple(_mixture(cells, numbers, weights, k, evidence) if len(k) else None for k in keys)
    return MixedDistribution(discrete, given)


def _mixture(
    cells: Cells,
    targets: Sequence[int],
    weights: Array,
    chosen: NDArray[Any],
    evidence: tuple[tuple[Label, Any], ...],
) -> GaussianMixture:
    """The mixture of continuous targets over some cells."""
    network = cells.problem.network
    chosen = chosen[weights[chosen] > 0]
    width = np.zeros(len(weights))
    means = np.stack([cells.means(t)[0] + width for t in targets], axis=1)[chosen]
    own = weights[chosen] / weights[chosen].sum()
    labels = tuple(network.nodes[t] for t in targets)
    found = GaussianMixture(labels, own, means, cells.covariances(targets)[chosen], evidence)
    if cells.counts is None:
        return found
    errors = weighting.standard_errors(own, cells.counts[chosen], means)
    deviations = np.sqrt(np.diagonal(found.covariance))
    shares = np.divide(errors, deviations, out=np.zeros_like(errors), where=deviations > 0)
    return replace(found, error=max(float(shares.max()), _least_error(own, cells.counts[chosen])))


def _least_error(weights: Array, counts: Array) -> float:
    """The error that an estimate has at least: something that was drawn once, or not at all."""
    return float(1.0 / weighting.effective(weights[None, :], counts)[0])


def is_possible(network: Network, evidence: Mapping[int, Any]) -> bool:
    """Return True if the evidence is possible, or if finding out would take too much."""
    problem = posed(network, (), _rows_of(evidence), 1)
    return bool(possible_rows(problem, groups(problem))[0])


def impossible(network: Network, evidence: Mapping[int, Any]) -> NetworkError:
    """The error that names a smallest part of the evidence that is impossible by itself."""
    conflict = dict(evidence)
    for node in sorted(evidence, reverse=True):
        without = {n: value for n, value in conflict.items() if n != node}
        if not is_possible(network, without):
            conflict = without
    text = ", ".join(f"{label}={value}" for label, value in shown(network, dict(sorted(conflict.items()))))
    return NetworkError(
        f"the evidence has probability zero: {text} cannot happen{' together' if len(conflict) > 1 else ''} "
        f"in this network; correct it, or fit with prior='laplace' if a zero comes from a small sample"
    )


def all_marginals(
    network: Network, evidence: Mapping[int, Any], nodes: Collection[int] | None = None, way: Way = AUTO
) -> dict[Label, Distribution | GaussianMixture | MixedDistribution]:
    """The distribution of every node given the evidence, or of some, one query for each."""
    asked = range(len(network.dag)) if nodes is None else nodes
    return {network.nodes[node]: answer(network, (node,), evidence, way) for node in asked}


def most_probable(network: Network, evidence: Mapping[int, Any]) -> dict[Label, Any]:
    """The most probable states of all discrete nodes, and the means of the others given these.

    Continuous nodes are integrated out for the first, so that the answer does not depend on their units.
    """
    discrete = [n for n, one in enumerate(network.distributions) if one.states is not None]
    problem = posed(network, discrete, _rows_of(evidence), 1)
    warn_undefined(network, undefined_nodes(problem), "the answer")
    chosen = {node: int(codes[0]) for node, codes in problem.fixed.items()}
    for group in groups(problem):
        order = group.planned(problem, ()).order
        terms = [leading.Term(t.scope[1:], t.logs[0], None if t.orders is None else t.orders[0])
                 if t.scope[:1] == (BATCH,) else t for t in group.terms(problem)]  # fmt: skip
        best = leading.largest(terms, order)
        if best is None:
            raise impossible(network, evidence)
        chosen.update(best)
    values = {n: value for n, value in evidence.items() if n not in chosen}
    rest = [n for n in range(len(network.dag)) if n not in chosen]
    whole = posed(network, rest, _rows_of({**chosen, **values}), 1)
    cells = exact_cells(whole, bearing(whole)[0], ())
    numbers = {n: float(np.ravel(cells.means(n))[0]) for n in rest}
    states = [one.states for one in network.distributions]
    return {
        label: numbers[n] if own is None else own[chosen[n]]
        for n, (label, own) in enumerate(zip(network.nodes, states, strict=True))
    }
