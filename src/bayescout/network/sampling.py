"""Forward sampling: each node drawn given its parents, in topological order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import generator, require_count
from bayescout.data.table import narrowest
from bayescout.errors import TooLargeError
from bayescout.graph.labels import counted
from bayescout.network.likelihood import configurations

if TYPE_CHECKING:
    from bayescout.network.discrete import DiscreteNetwork
    from bayescout.network.gaussian import GaussianNetwork

CHUNK = 2**14
"""Rows drawn together: few enough for the columns in use to stay in a cache.

The order of the random numbers follows from it, so changing it changes every sample.
"""

MAX_SAMPLE = 2**36
"""The most bytes a sample may take (64 GiB): 1.8 thousand million rows of alarm."""


def room_for(n: int, columns: int, kind: type[Any]) -> NDArray[Any]:
    """An empty (columns, n) array for the sample, or a refusal with its size."""
    rows = require_count("the number of rows to sample", n)
    size = max(1, columns) * rows * np.dtype(kind).itemsize
    needs = f"a sample of {rows:,} rows of {counted(columns, 'column')} needs {size / 2**30:,.1f} GiB"
    way_out = "draw fewer rows, or parts of them with different seeds"
    if size > MAX_SAMPLE:
        raise TooLargeError(f"{needs}, over the limit of {MAX_SAMPLE / 2**30:,.0f} GiB; {way_out}")
    try:
        return np.empty((columns, rows), dtype=kind)
    except MemoryError:
        raise TooLargeError(f"{needs}, more than this machine can give; {way_out}") from None


def discrete_codes(network: DiscreteNetwork, n: int, seed: int) -> tuple[NDArray[Any], list[int]]:
    """Codes (p, n) of sampled rows, and the nodes of which an undefined row was drawn from."""
    rng = generator(seed)
    codes = room_for(n, len(network.dag), narrowest(max(network.sizes, default=0)))
    limits = [_limits(table) for table in network.tables]
    undefined: set[int] = set()
    for start in range(0, n, CHUNK):
        chunk = codes[:, start : start + CHUNK]
        for node in network.dag.order_indices:
            config = configurations(network, node, chunk)
            _draw(rng.random((chunk.shape[1],)), limits[node], config, chunk[node])
            mask = network.undefined[node]
            if mask.any() and node not in undefined and mask.ravel()[config].any():
                undefined.add(node)
    return codes, sorted(undefined)


def _limits(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """(r - 1, q) upper ends of all states but the last; running sums, which every machine rounds alike."""
    ends = np.cumsum(table.reshape(-1, table.shape[-1]), axis=1)
    return np.ascontiguousarray((ends[:, :-1] / ends[:, -1:]).T)


def _draw(
    uniform: NDArray[np.float64], limits: NDArray[np.float64], config: NDArray[np.int64], out: NDArray[Any]
) -> None:
    """The state drawn is the number of upper ends at or below the uniform number."""
    out[:] = 0
    for ends in limits:
        out += uniform >= ends[config]


def gaussian_values(network: GaussianNetwork, n: int, seed: int) -> NDArray[np.float64]:
    """Values (p, n) of sampled rows."""
    rng = generator(seed)
    values = room_for(n, len(network.dag), np.float64)
    for node in network.dag.order_indices:
        column = values[node]
        rng.standard_normal(out=column)
        column *= np.sqrt(network.variances[node])
        column += network.intercepts[node]
        for parent, weight in zip(network.dag.parents[node], network.coefficients[node], strict=True):
            for start in range(0, len(column), CHUNK):
                column[start : start + CHUNK] += weight * values[parent, start : start + CHUNK]
    return values
