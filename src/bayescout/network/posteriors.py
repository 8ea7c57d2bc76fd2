"""Posteriors of all nodes for many rows of evidence: rows with the same cells observed go together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import NetworkError, TooLargeError, warn
from bayescout.network import calibration, inference
from bayescout.network.asking import Way
from bayescout.network.clusters import entries
from bayescout.network.conditioning import condition, in_parts
from bayescout.network.elimination import Array
from bayescout.network.encode import Matched, patterns
from bayescout.network.gaussian_rows import by_observed, conditional_gaps, has_few
from bayescout.network.incomplete import row_values
from bayescout.network.junction import EMPTY, row_codes
from bayescout.network.mixed_cells import Cells
from bayescout.network.mixed_problem import posed, undefined_nodes
from bayescout.network.mixed_rows import rows_answered
from bayescout.network.parts import (
    Component,
    ancestral,
    components,
    meets_undefined,
    reduced,
    warn_undefined,
)
from bayescout.wording import setting

if TYPE_CHECKING:
    from bayescout.network.network import Network


def posteriors(
    network: Network, columns: Mapping[int, NDArray[Any]], n_rows: int, wanted: Sequence[int], way: Way
) -> dict[int, Array]:
    """P(node | the row's observed cells), (n, states) for each wanted node.

    Rows of impossible evidence get NaN, and a warning counts them.
    """
    codes = row_codes(network, columns, n_rows)
    found = {n: np.full((n_rows, network.sizes[n]), np.nan) for n in wanted}
    undefined: set[int] = set()
    empty = codes == EMPTY
    firsts, number = patterns(empty)
    rough = _Estimated(network, way)
    for i, first in enumerate(firsts.tolist()):
        rows = np.flatnonzero(number == i)
        seen = {v: codes[rows, v].astype(np.intp) for v in np.flatnonzero(~empty[first]).tolist()}
        try:
            if way.method == "sample":
                rough.fill(seen, rows, found)
            else:
                undefined |= _pattern(network, seen, rows, found, way)
        except TooLargeError as reason:
            if way.exact or way.method == "sample":
                raise
            rough.fill(seen, rows, found, reason)
    rough.warn(n_rows)
    warn_undefined(network, sorted(undefined), "the answer")
    _warn_lost(found, n_rows)
    return found


def _warn_lost(found: Mapping[int, Array], n_rows: int) -> None:
    """Warn of the rows of impossible evidence."""
    lost = np.flatnonzero(np.any([np.isnan(own).any(axis=1) for own in found.values()], axis=0))
    if len(lost):
        warn(
            f"{len(lost):,} of {n_rows:,} rows have evidence of probability zero, the first is row "
            f"{int(lost[0])} (counting from 0); their posteriors are NaN: fit with prior='laplace' to leave "
            f"nothing impossible"
        )


def _pattern(
    network: Network,
    seen: Mapping[int, NDArray[np.intp]],
    rows: NDArray[np.intp],
    found: Mapping[int, Array],
    way: Way,
) -> set[int]:
    """Fill in the rows in which the same cells are observed; returns the nodes with undefined rows used."""
    nodes = ancestral(network, (*found, *seen))
    possible = np.ones(len(rows), dtype=bool)
    answers: dict[int, Array] = {}
    for part in components(network, nodes, seen):
        if part.variables:
            own = _component(network, part, seen, len(rows), way)
            possible &= next(iter(own.values())).any(axis=1)
            answers.update(own)
        else:
            factor = reduced(network, part.nodes[0], seen)
            possible &= np.broadcast_to(factor.values > 0, len(rows))
    for n, table in found.items():
        if n in answers:
            sums = answers[n].sum(axis=1, keepdims=True)
            values = answers[n] / np.where(sums > 0, sums, 1.0)
        else:
            values = np.zeros((len(rows), network.sizes[n]))
            values[np.arange(len(rows)), seen[n]] = 1.0
        table[rows] = np.where(possible[:, None], values, np.nan)
    return {n for n in nodes if meets_undefined(network, n, seen)}


class _Estimated:
    """Rows that are answered one by one, by estimates."""

    def __init__(self, network: Network, way: Way) -> None:
        self.network, self.way = network, replace(way, method="sample", exact=False)
        self.rows, self.error, self.reason = 0, 0.0, ""

    def fill(
        self,
        seen: Mapping[int, NDArray[np.intp]],
        rows: NDArray[np.intp],
        found: Mapping[int, Array],
        reason: TooLargeError | None = None,
    ) -> None:
        """Fill in some rows."""
        for i, row in enumerate(rows.tolist()):
            evidence = {v: int(codes[i]) for v, codes in seen.items()}
            try:
                answers = inference.all_marginals(self.network, evidence, list(found), self.way)
            except NetworkError:  # impossible evidence
                continue
            for n, table in found.items():
                one = answers[self.network.nodes[n]]
                table[row] = one.probabilities
                self.error = max(self.error, one.error)
            self.rows += reason is not None
        self.reason = self.reason if reason is None else str(reason)

    def warn(self, n_rows: int) -> None:
        """Warn that some rows were estimated, and why."""
        if self.rows:
            warn(
                f"{self.rows:,} of {n_rows:,} rows are estimates (standard error at most {self.error:.2g}): "
                f"{self.reason}; or refuse it by {setting('exact', True)}"
            )


# ---- numbers, and both kinds


def of_numbers(
    network: Network, columns: Mapping[int, NDArray[Any]], n_rows: int, wanted: Sequence[int]
) -> dict[int, Array]:
    """The mean and the variance of each wanted node of a Gaussian network given the row's cells, (n, 2)."""
    if has_few(network, columns):
        return _of_few(network, columns, n_rows, wanted)
    values = row_values(network, columns, n_rows)
    means, variances = values.copy(), np.zeros_like(values)
    for gaps in conditional_gaps(network, values):
        means[gaps.rows[:, None], gaps.nodes] = gaps.means
        own = np.diagonal(gaps.covariances, axis1=1, axis2=2)
        variances[gaps.rows[:, None], gaps.nodes] = np.maximum(own, 0.0)[gaps.pattern]
    return {n: np.stack([means[:, n], variances[:, n]], axis=1) for n in wanted}


def _of_few(
    network: Network, columns: Mapping[int, NDArray[Any]], n_rows: int, wanted: Sequence[int]
) -> dict[int, Array]:
    """The same from the cells of few nodes of a wide network."""
    made = {n: np.zeros((n_rows, 2)) for n in wanted}
    for rows, nodes, evidence in by_observed(columns, n_rows):
        others = [n for n in made if n not in nodes]
        for some in in_parts(network, others):
            found = condition(network, some, nodes)
            for n, mean, variance in zip(
                some, found.mean(evidence), np.diagonal(found.covariance), strict=True
            ):
                made[n][rows, 0], made[n][rows, 1] = mean, variance
        for n, own in zip(nodes, evidence, strict=True):
            if n in made:
                made[n][rows, 0] = own
    return made


def of_both(network: Network, matched: Matched, wanted: Sequence[int]) -> dict[int, Array]:
    """The posteriors of each wanted node of a mixed network: of states, or mean and variance, (n, 2)."""
    widths = {n: len(network.distributions[n].states or (0, 1)) for n in wanted}
    found = {n: np.full((matched.n_rows, width), np.nan) for n, width in widths.items()}
    impossible = np.zeros(matched.n_rows, dtype=bool)
    undefined: set[int] = set()
    for rows, columns in matched.by_pattern(network):
        for n, table in found.items():
            if n in columns and network.distributions[n].states is None:
                table[rows] = np.stack([columns[n], np.zeros(len(rows))], axis=1)
            elif n in columns:
                table[rows] = columns[n][:, None] == np.arange(widths[n])
            else:
                problem = posed(network, (n,), columns, len(rows))
                undefined |= set(undefined_nodes(problem))
                table[rows], wrong = rows_answered(problem, _moments_or_shares(network, n), widths[n])
                impossible[rows] |= wrong
    for table in found.values():
        table[impossible] = np.nan
    warn_undefined(network, sorted(undefined), "the answer")
    _warn_lost(found, matched.n_rows)
    return found


def _moments_or_shares(network: Network, node: int) -> Callable[[Cells], Array]:
    """What is asked of the cells of rows: the share of each state, or mean and variance."""
    states = network.distributions[node].states

    def shares(cells: Cells) -> Array:
        codes = np.broadcast_to(cells.discrete(node), cells.logs.shape)
        return np.stack([(cells.weights() * (codes == k)).sum(axis=1) for k in range(len(states or ()))], 1)

    def moments(cells: Cells) -> Array:
        weights, means = cells.weights(), cells.means(node)
        mean = (weights * means).sum(axis=1)
        spread = (weights * (cells.variances(node) + (means - mean[:, None]) ** 2)).sum(axis=1)
        return np.stack([mean, spread], axis=1)

    return moments if states is None else shares


def _component(
    network: Network, part: Component, seen: Mapping[int, NDArray[np.intp]], n: int, way: Way
) -> dict[int, Array]:
    """The marginals of a component's variables up to a factor, (n, states), in batches of rows."""
    clusters = inference.clustered(network, part, seen, (), way)
    largest = max(entries(one.scope, network.sizes) for one in clusters)
    step = max(1, inference.BATCH_ENTRIES // largest)
    found = {v: np.empty((n, network.sizes[v])) for v in part.variables}
    for start in range(0, n, step):
        some = {v: codes[start : start + step] for v, codes in seen.items()}
        factors = [reduced(network, node, some) for node in part.nodes]
        for v, values in calibration.marginals(clusters, factors).items():
            found[v][start : start + step] = values
    return found
