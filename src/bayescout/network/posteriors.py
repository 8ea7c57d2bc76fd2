"""Posteriors of all nodes for many rows of evidence: rows with the same cells observed go together."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import BayescoutWarning
from bayescout.network import calibration, inference
from bayescout.network.asking import Way
from bayescout.network.clusters import entries
from bayescout.network.elimination import Array
from bayescout.network.encode import patterns
from bayescout.network.junction import EMPTY, row_codes
from bayescout.network.parts import (
    Component,
    ancestral,
    components,
    meets_undefined,
    reduced,
    warn_undefined,
)

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
    for i, first in enumerate(firsts.tolist()):
        rows = np.flatnonzero(number == i)
        seen = {v: codes[rows, v].astype(np.intp) for v in np.flatnonzero(~empty[first]).tolist()}
        undefined |= _pattern(network, seen, rows, found, way)
    warn_undefined(network, sorted(undefined), "the answer")
    lost = np.flatnonzero(np.any([np.isnan(own).any(axis=1) for own in found.values()], axis=0))
    if len(lost):
        warnings.warn(
            f"{len(lost):,} of {n_rows:,} rows have evidence of probability zero, the first is row "
            f"{int(lost[0])} (counting from 0); their posteriors are NaN: fit with prior='laplace' to leave "
            f"nothing impossible",
            BayescoutWarning,
            stacklevel=3,
        )
    return found


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
