"""Inference in networks of discrete and continuous nodes: queries, predictions, evidence.

Exact where the sum over the discrete variables that the continuous part depends on has room
(`mixed_problem`); otherwise by sampling these (`weighting`), with a warning and a stated error.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Label
from bayescout.errors import BayescoutWarning, NetworkError, TooLargeError
from bayescout.network import leading, weighting
from bayescout.network.distribution import Distribution, GaussianMixture, MixedDistribution
from bayescout.network.elimination import Array
from bayescout.network.gaussian_parts import Belief, Part, grid
from bayescout.network.inference import MAX_TARGETS, distinct, warn_undefined
from bayescout.network.mixed_problem import Group, Problem, chunks, groups, posed, undefined_nodes

if TYPE_CHECKING:
    from bayescout.network.encode import Matched
    from bayescout.network.network import Network

SEED = 0
"""The seed of estimates, so that the same question has the same answer."""

DRAWN_ENTRIES = 2**24
"""The most numbers of covariance matrices of drawn configurations."""


@dataclass(frozen=True)
class Cells:
    """The discrete configurations that an answer is a sum over, for n rows.

    logs     (n, K)  logarithms of their weights, up to a constant per row; all minus infinity if the
             evidence of a row is impossible
    codes    for each unobserved discrete variable (K,) codes
    beliefs  for each part with a continuous target its belief, and for each cell its configuration there
    counts   (K,) how often each cell was drawn; None if the sum is complete
    """

    problem: Problem
    logs: Array
    codes: Mapping[int, NDArray[Any]]
    beliefs: Sequence[tuple[Part, Belief, NDArray[Any]]]
    counts: Array | None = None

    @property
    def impossible(self) -> NDArray[np.bool_]:
        """(n,) True where the evidence cannot be."""
        return np.asarray(np.isneginf(self.logs).all(axis=1))

    def weights(self) -> Array:
        """(n, K) with sum one in each row; uniform where the evidence is impossible."""
        peak = self.logs.max(axis=1, keepdims=True)
        found = np.exp(self.logs - np.where(np.isfinite(peak), peak, 0.0))
        found[self.impossible] = 1.0
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def discrete(self, node: int) -> NDArray[Any]:
        """The code of a discrete node in each cell, (K,), or its observed ones, (n, 1)."""
        return self.problem.fixed[node][:, None] if node in self.problem.fixed else self.codes[node]

    def means(self, node: int) -> Array:
        """(n, K) or broadcastable: the mean of a continuous node in each cell."""
        if node in self.problem.values:
            return self.problem.values[node][:, None]
        for part, belief, index in self.beliefs:
            if node in part.latent:
                return belief.means[:, index, part.latent.index(node)]
        raise AssertionError(f"node {node} is not a target")

    def covariances(self, targets: Sequence[int]) -> Array:
        """(K, k, k) of continuous targets, for the first row."""
        found = np.zeros((self.logs.shape[1], len(targets), len(targets)))
        for part, belief, index in self.beliefs:
            mine = [(a, part.latent.index(t)) for a, t in enumerate(targets) if t in part.latent]
            for a, i in mine:
                for b, j in mine:
                    found[:, a, b] = belief.covariances[0, index, i, j]
        own = np.arange(len(targets))
        found[:, own, own] = np.maximum(found[:, own, own], 0.0)
        return found


# ---- the weights of cells


def exact_cells(problem: Problem, group: Group, order: Sequence[int]) -> Cells:
    """Every configuration of the variables of the answer, with its weight."""
    found = group.summed(problem, problem.keep, order)
    codes = {v: one[0] for v, one in grid(problem.keep, problem.sizes).items()}
    count = int(np.prod([problem.sizes[v] for v in problem.keep], dtype=np.int64))
    beliefs = []
    for part in problem.target_parts:
        index = np.zeros(count, dtype=np.intp)
        for v in part.interface:
            index = index * problem.sizes[v] + codes[v]
        beliefs.append((part, problem.belief(part, grid(part.interface, problem.sizes)), index))
    return Cells(problem, found.logs.reshape(problem.n_rows, count), codes, beliefs)


def drawn_cells(problem: Problem, group: Group, draws: weighting.Drawn) -> Cells:
    """The configurations that were drawn, with their weights."""
    codes = {v: one[None, :] for v, one in draws.codes.items()}
    logs = np.tile(draws.logs + np.log(draws.counts), (problem.n_rows, 1))
    orders = np.zeros_like(logs)
    beliefs = []
    for part in group.parts:
        found = problem.belief(part, codes)
        logs = logs + found.logs
        orders = orders if found.orders is None else orders + found.orders
        if part in problem.target_parts:
            width = np.arange(logs.shape[1])
            beliefs.append((part, found, width if found.logs.shape[1] > 1 else np.zeros_like(width)))
    term = leading.Term((-1, 0), logs, orders if orders.any() else None)
    return Cells(problem, leading.leading(term, (1,))[0], draws.codes, beliefs, draws.counts)


def bearing(problem: Problem) -> tuple[Group, list[Group]]:
    """The terms that bear on the targets, and the groups of others."""
    wanted = set(problem.keep)
    found = groups(problem, problem.keep)
    mine = [g for g in found if wanted & set(g.variables) or any(p in problem.target_parts for p in g.parts)]
    one = Group(
        tuple(sorted(n for g in mine for n in g.tables)),
        tuple(part for g in mine for part in g.parts),
        tuple(sorted({v for g in mine for v in g.variables})),
    )
    return one, [g for g in found if g not in mine]


def possible_rows(problem: Problem, others: Sequence[Group]) -> NDArray[np.bool_]:
    """(n,) False where the evidence of a group is impossible; True where finding out takes too much."""
    found = np.ones(problem.n_rows, dtype=bool)
    for group in others:
        try:
            plan = group.planned(problem, ())
        except TooLargeError:
            continue
        for rows in chunks(problem.n_rows, group.entries(problem, plan)):
            found[rows] &= np.isfinite(group.summed(problem.some(rows), (), plan.order).logs)
    return found


def warn_estimate(network: Network, problem: Problem, reason: TooLargeError) -> None:
    names = ", ".join(repr(network.nodes[t]) for t in problem.targets)
    warnings.warn(
        f"the answer for {names} is an estimate from {weighting.DRAWS:,} draws, as an exact one takes too "
        f"much: {reason}",
        BayescoutWarning,
        stacklevel=3,
    )


def estimated(problem: Problem, group: Group) -> weighting.Drawn:
    """Draw configurations, fewer if the parts are large."""
    draws = min(weighting.DRAWS, DRAWN_ENTRIES // group.widest)
    return weighting.drawn(problem, group.tables, draws, SEED)


# ---- queries


def answer(
    network: Network, targets: Sequence[int], evidence: Mapping[int, Any]
) -> Distribution | GaussianMixture | MixedDistribution:
    """The distribution of the targets given the evidence, with its labels."""
    if len(targets) > MAX_TARGETS:
        raise TooLargeError(f"a query has at most {MAX_TARGETS} targets, not {len(targets)}; ask for fewer")
    problem = posed(network, targets, _rows_of(evidence), 1)
    warn_undefined(network, undefined_nodes(problem), "the answer")
    group, others = bearing(problem)
    try:
        cells = exact_cells(problem, group, group.planned(problem, problem.keep).order)
    except TooLargeError as reason:
        warn_estimate(network, problem, reason)
        cells = drawn_cells(problem, group, estimated(problem, group))
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
    where = np.zeros(len(weights), dtype=np.intp)
    for t, size in zip(states, shape, strict=True):
        where = where * size + cells.discrete(t).ravel()
    flat = np.bincount(where, weights, minlength=int(np.prod(shape, dtype=np.int64)))
    error = 0.0
    if cells.counts is not None:
        occurring = (where[:, None] == np.unique(where)[None, :]).astype(np.float64)
        error = float(weighting.standard_errors(weights, cells.counts, occurring).max())
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
    return replace(found, error=float(shares.max()))


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
    network: Network, evidence: Mapping[int, Any]
) -> dict[Label, Distribution | GaussianMixture | MixedDistribution]:
    """The distribution of every node given the evidence, one query for each."""
    return {label: answer(network, (node,), evidence) for node, label in enumerate(network.nodes)}


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
                 if t.scope[:1] == (-1,) else t for t in group.terms(problem)]  # fmt: skip
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


# ---- many rows


def predict_proba(network: Network, target: int, matched: Matched) -> Array:
    """P(target | the row's evidence) for each row, (n, r), with a warning if evidence is impossible."""
    size = len(network.distributions[target].states or ())

    def of(cells: Cells) -> Array:
        codes = np.broadcast_to(cells.discrete(target), cells.logs.shape)
        hits = [(cells.weights() * (codes == k)).sum(axis=1) for k in range(size)]
        return np.stack(hits, axis=1)

    return _by_row(network, target, matched, of, size)


def predict_means(network: Network, target: int, matched: Matched) -> Array:
    """The mean of a continuous target given the row's evidence, for each row."""

    def of(cells: Cells) -> Array:
        return np.asarray((cells.weights() * cells.means(target)).sum(axis=1, keepdims=True))

    means: Array = _by_row(network, target, matched, of, 1)[:, 0]
    return means


def _by_row(network: Network, target: int, matched: Matched, of: Any, width: int) -> Array:
    """The answer for each row; impossible rows have that without evidence, and a warning counts them."""
    problem = posed(network, (target,), matched.columns, matched.n_rows)
    warn_undefined(network, undefined_nodes(problem), "the prediction")
    found, wrong = rows_answered(problem, of, width)
    if wrong.any():
        alone = posed(network, (target,), {}, 1)
        found[wrong] = rows_answered(alone, of, width)[0][0]
        warnings.warn(
            f"{int(wrong.sum()):,} of {matched.n_rows:,} rows have evidence of probability zero, "
            f"the first is row {int(np.argmax(wrong))} (counting from 0); {network.nodes[target]!r} is "
            f"predicted there without evidence: fit with prior='laplace' to leave nothing impossible",
            BayescoutWarning,
            stacklevel=4,
        )
    return found


def rows_answered(problem: Problem, of: Any, width: int) -> tuple[Array, NDArray[np.bool_]]:
    """(n, width) what `of` makes of the cells of each row, and a mask of the impossible rows."""
    group, others = bearing(problem)
    answers = np.empty((problem.n_rows, width))
    wrong = ~possible_rows(problem, others)
    try:
        found = group.planned(problem, problem.keep)
    except TooLargeError as reason:
        warn_estimate(problem.network, problem, reason)
        _estimate_rows(problem, group, of, answers, wrong)
        return answers, wrong
    for rows in chunks(problem.n_rows, group.entries(problem, found)):
        cells = exact_cells(problem.some(rows), group, found.order)
        answers[rows] = of(cells)
        wrong[rows] |= cells.impossible
    return answers, wrong


def _estimate_rows(problem: Problem, group: Group, of: Any, answers: Array, wrong: NDArray[np.bool_]) -> None:
    """Fill in estimates: rows with the same discrete evidence share their draws."""
    family = {n for node in (*group.tables, *(n for part in group.parts for n in part.nodes))
              for n in (node, *problem.network.dag.parents[node])}  # fmt: skip
    observed = [n for n in sorted(family) if n in problem.fixed and len(problem.fixed[n]) == problem.n_rows]
    sizes = [problem.sizes[n] for n in observed]
    first, inverse = distinct([problem.fixed[n] for n in observed], sizes, problem.n_rows)
    rough = 0
    for number, row in enumerate(first.tolist()):
        draws = estimated(problem.some(slice(row, row + 1)), group)
        rows = np.flatnonzero(inverse == number)
        for chunk in chunks(len(rows), len(draws.logs) * group.widest):
            cells = drawn_cells(_taken(problem, rows[chunk]), group, draws)
            answers[rows[chunk]] = of(cells)
            wrong[rows[chunk]] |= cells.impossible
            worth = weighting.effective(cells.weights(), draws.counts)
            rough += int((worth < weighting.LEAST_EFFECTIVE).sum())
    if rough:
        warnings.warn(
            f"{rough:,} of {problem.n_rows:,} rows have evidence so improbable that fewer than "
            f"{weighting.LEAST_EFFECTIVE:.0f} draws bear on the estimate: it is rough there",
            BayescoutWarning,
            stacklevel=5,
        )


def _taken(problem: Problem, rows: NDArray[Any]) -> Problem:
    fixed = {n: one[rows] if len(one) == problem.n_rows else one for n, one in problem.fixed.items()}
    values = {n: one[rows] for n, one in problem.values.items()}
    return replace(problem, fixed=fixed, values=values, n_rows=len(rows))


def log_evidence(network: Network, evidence: Mapping[int, NDArray[Any]], n_rows: int) -> tuple[Array, Array]:
    """The log-density of each row of (n,) codes and numbers, every other node summed out.

    Also the number of infinite densities of each row (nodes without noise), which the first leaves out.
    Refused if a sum is too large.
    """
    problem = posed(network, (), evidence, n_rows)
    logs, orders = np.zeros(n_rows), np.zeros(n_rows)
    for group in groups(problem):
        plan = group.planned(problem, ())
        for rows in chunks(n_rows, group.entries(problem, plan)):
            term = group.summed(problem.some(rows), (), plan.order)
            logs[rows] += term.logs
            orders[rows] += 0.0 if term.orders is None else term.orders
    return logs, orders
