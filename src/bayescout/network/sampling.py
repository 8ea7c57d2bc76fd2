"""Forward sampling: each node drawn given its parents, in topological order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import SettingError

if TYPE_CHECKING:
    from bayescout.network.discrete import DiscreteNetwork
    from bayescout.network.gaussian import GaussianNetwork

CHUNK = 2**14
"""Rows drawn together: few enough for the columns in use to stay in a cache.

The order of the random numbers follows from it, so changing it changes every sample.
"""


def generator(seed: int) -> np.random.Generator:
    """The random numbers of a seed: PCG64 by name, so that a new NumPy default changes nothing."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise SettingError(f"seed must be an integer from 0 up, not {seed!r}")
    return np.random.Generator(np.random.PCG64(int(seed)))


def check_size(n: int) -> int:
    """The number of rows to draw."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
        raise SettingError(f"the number of rows to sample must be an integer from 0 up, not {n!r}")
    return int(n)


def discrete_codes(network: DiscreteNetwork, n: int, seed: int) -> tuple[NDArray[Any], list[int]]:
    """Codes (p, n) of sampled rows, and the nodes of which an undefined row was drawn from."""
    rng = generator(seed)
    small = max(network.sizes, default=0) <= 256
    codes = np.empty((len(network.dag), check_size(n)), dtype=np.uint8 if small else np.uint16)
    limits = [_limits(table) for table in network.tables]
    undefined: set[int] = set()
    for start in range(0, n, CHUNK):
        chunk = codes[:, start : start + CHUNK]
        for node in network.dag.order_indices:
            config = _configurations(network, node, chunk)
            _draw(rng.random((chunk.shape[1],)), limits[node], config, chunk[node])
            mask = network.undefined[node]
            if mask.any() and node not in undefined and mask.ravel()[config].any():
                undefined.add(node)
    return codes, sorted(undefined)


def _configurations(network: DiscreteNetwork, node: int, chunk: NDArray[Any]) -> NDArray[np.intp]:
    config = np.zeros(chunk.shape[1], dtype=np.intp)
    for parent in network.dag.parents[node]:
        config *= network.sizes[parent]
        config += chunk[parent]
    return config


def _limits(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """(r - 1, q) upper ends of all states but the last; running sums, which every machine rounds alike."""
    ends = np.cumsum(table.reshape(-1, table.shape[-1]), axis=1)
    return np.ascontiguousarray((ends[:, :-1] / ends[:, -1:]).T)


def _draw(
    uniform: NDArray[np.float64], limits: NDArray[np.float64], config: NDArray[np.intp], out: NDArray[Any]
) -> None:
    """The state drawn is the number of upper ends at or below the uniform number."""
    out[:] = 0
    for ends in limits:
        out += uniform >= ends[config]


def gaussian_values(network: GaussianNetwork, n: int, seed: int) -> NDArray[np.float64]:
    """Values (p, n) of sampled rows."""
    rng = generator(seed)
    values = np.empty((len(network.dag), check_size(n)))
    for node in network.dag.order_indices:
        column = rng.standard_normal(values.shape[1])
        column *= np.sqrt(network.variances[node])
        column += network.intercepts[node]
        for parent, weight in zip(network.dag.parents[node], network.coefficients[node], strict=True):
            column += weight * values[parent]
        values[node] = column
    return values
