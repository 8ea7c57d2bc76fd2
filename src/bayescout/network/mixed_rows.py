"""Predictions for many rows, and the density of their evidence, in networks of both kinds of nodes.

Rows with empty cells are worked on together, whatever they lack (`mixed_gaps`). What that leaves, and rows
without empty cells, are posed as one problem per pattern of empty cells (`mixed_problem`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import NetworkError, TooLargeError, warn
from bayescout.network import weighting
from bayescout.network.elimination import Array
from bayescout.network.inference import distinct
from bayescout.network.mixed_cells import (
    Cells,
    bearing,
    drawn_cells,
    estimated,
    exact_cells,
    possible_rows,
    warn_estimate,
)
from bayescout.network.mixed_gaps import gap_cells
from bayescout.network.mixed_problem import Group, Problem, chunks, groups, posed, undefined_nodes
from bayescout.network.parts import warn_undefined

if TYPE_CHECKING:
    from bayescout.network.encode import Matched
    from bayescout.network.network import Network

Asked = Callable[[Cells], Array]
"""What is wanted of the cells of n rows, (n, width)."""


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


def _by_row(network: Network, target: int, matched: Matched, of: Asked, width: int) -> Array:
    """The answer for each row; impossible rows have that without evidence, and a warning counts them."""
    found, wrong = np.empty((matched.n_rows, width)), np.empty(matched.n_rows, dtype=bool)
    undefined: set[int] = set()
    left = np.ones(matched.n_rows, dtype=bool)
    for cells in gap_cells(network, (target,), matched):
        if target in cells.codes:
            wanted = [(cells.codes[target] == code).astype(np.float64) for code in range(width)]
        else:
            wanted = [cells.means[target]]
        answers, impossible = cells.expected(wanted)
        rows = cells.rows[cells.settled]
        found[rows], wrong[rows] = answers[cells.settled], impossible[cells.settled]
        left[rows] = False
        undefined |= cells.undefined
    for rows, columns in _left(network, matched, left):
        problem = posed(network, (target,), columns, len(rows))
        undefined |= set(undefined_nodes(problem))
        found[rows], wrong[rows] = rows_answered(problem, of, width)
    warn_undefined(network, sorted(undefined), "the prediction")
    if wrong.any():
        alone = posed(network, (target,), {}, 1)
        found[wrong] = rows_answered(alone, of, width)[0][0]
        warn(
            f"{int(wrong.sum()):,} of {matched.n_rows:,} rows have evidence of probability zero, "
            f"the first is row {int(np.argmax(wrong))} (counting from 0); {network.nodes[target]!r} is "
            f"predicted there without evidence: fit with prior='laplace' to leave nothing impossible"
        )
    return found


def _left(
    network: Network, matched: Matched, left: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.intp], dict[int, NDArray[Any]]]]:
    """The rows that are left by their pattern of empty cells, and their columns."""
    chosen = np.flatnonzero(left)
    if len(chosen):
        for rows, columns in matched.taken(chosen).by_pattern(network):
            yield chosen[rows], columns


def rows_answered(problem: Problem, of: Asked, width: int) -> tuple[Array, NDArray[np.bool_]]:
    """(n, width) what `of` makes of the cells of each row, and a mask of the impossible rows."""
    group, others = bearing(problem)
    answers = np.empty((problem.n_rows, width))
    wrong = ~possible_rows(problem, others)
    try:
        found = group.planned(problem, problem.keep)
    except TooLargeError as reason:
        warn_estimate(problem, reason)
        _estimate_rows(problem, group, of, answers, wrong)
        return answers, wrong
    for rows in chunks(problem.n_rows, group.entries(problem, found)):
        cells = exact_cells(problem.some(rows), group, found.order)
        answers[rows] = of(cells)
        wrong[rows] |= cells.impossible
    return answers, wrong


def _estimate_rows(
    problem: Problem, group: Group, of: Asked, answers: Array, wrong: NDArray[np.bool_]
) -> None:
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
        warn(
            f"{rough:,} of {problem.n_rows:,} rows have evidence so improbable that fewer than "
            f"{weighting.LEAST_EFFECTIVE:.0f} draws bear on the estimate: it is rough there"
        )


def _taken(problem: Problem, rows: NDArray[Any]) -> Problem:
    fixed = {n: one[rows] if len(one) == problem.n_rows else one for n, one in problem.fixed.items()}
    values = {n: one[rows] for n, one in problem.values.items()}
    return replace(problem, fixed=fixed, values=values, n_rows=len(rows))


def log_likelihoods(network: Network, matched: Matched) -> Array:
    """log P(observed cells) of each row, a density where some are numbers."""
    found, left = np.empty(matched.n_rows), np.ones(matched.n_rows, dtype=bool)
    for cells in gap_cells(network, (), matched):
        rows = cells.rows[cells.settled]
        found[rows] = cells.log_totals()[cells.settled]
        left[rows] = False
    for rows, columns in _left(network, matched, left):
        found[rows], orders = log_evidence(network, columns, len(rows))
        if (orders > 0).any():
            raise NetworkError(
                f"row {int(rows[np.argmax(orders > 0)])} (counting from 0) has a value that the other cells "
                f"determine (a node of variance 0), so rows have no density; leave the node out, or give it "
                f"a positive variance"
            )
    return found


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
