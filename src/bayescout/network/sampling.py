"""Forward sampling: each node drawn given its parents, in topological order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import generator, require_count
from bayescout.data.table import narrowest
from bayescout.errors import TooLargeError
from bayescout.graph.labels import counted
from bayescout.network.node import CHUNK, NodeDistribution

if TYPE_CHECKING:
    from bayescout.network.network import Network

MAX_SAMPLE = 2**36
"""The most bytes a sample may take (64 GiB): 1.8 thousand million rows of alarm."""


def draw(network: Network, n: int, seed: int) -> tuple[NDArray[Any], NDArray[np.float64], list[int]]:
    """The codes of discrete and the values of continuous nodes, as in a table, of sampled rows.

    Also the nodes that were drawn although their parents' values have no estimate. A chunk of rows goes
    through all nodes before the next, unless all nodes are continuous: then all rows are drawn at once.
    """
    rng = generator(seed)
    codes, values = room(network.distributions, n)
    rows_of = {True: iter(codes), False: iter(values)}
    columns = [next(rows_of[one.states is not None]) for one in network.distributions]
    samplers = [one.sampler() for one in network.distributions]
    parents = network.dag.parents
    undefined: set[int] = set()
    step = CHUNK if len(codes) else max(n, 1)
    for start in range(0, n, step):
        chunk = [column[start : start + step] for column in columns]
        for node in network.dag.order_indices:
            if samplers[node](rng, [chunk[parent] for parent in parents[node]], chunk[node]):
                undefined.add(node)
    return codes, values, sorted(undefined)


def room(nodes: Sequence[NodeDistribution], n: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Empty arrays for the sample, or an error with their size."""
    rows = require_count("the number of rows to sample", n)
    sizes = [len(one.states) for one in nodes if one.states is not None]
    numbers = len(nodes) - len(sizes)
    kind = narrowest(max(sizes, default=0))
    size = max(1, len(sizes) * np.dtype(kind).itemsize + numbers * np.dtype(np.float64).itemsize) * rows
    needs = f"a sample of {rows:,} rows of {counted(len(nodes), 'column')} needs {size / 2**30:,.1f} GiB"
    way_out = "draw fewer rows, or parts of them with different seeds"
    if size > MAX_SAMPLE:
        raise TooLargeError(f"{needs}, over the limit of {MAX_SAMPLE / 2**30:,.0f} GiB; {way_out}")
    try:
        return np.empty((len(sizes), rows), dtype=kind), np.empty((numbers, rows))
    except MemoryError:
        raise TooLargeError(f"{needs}, more than this machine can give; {way_out}") from None
