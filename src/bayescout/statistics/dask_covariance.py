"""The scatter matrix of continuous columns on a cluster, to the bit that of the same columns in memory.

Leaves of rows that lie in one partition are summed there. The few that partitions share are fetched, once, by
the worker that sums them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from bayescout.arrays import Floats, Ints
from bayescout.data.past.dask_partition import Block, some_rows
from bayescout.data.past.dask_table import DaskTable, on_cluster, submitted
from bayescout.statistics import leaves
from bayescout.statistics.leaves import Sums, joined, sums_of, total
from bayescout.statistics.stored_covariance import Shift, leaf_sum, scatter_of


def dask_scatter(table: DaskTable) -> tuple[Floats, Ints]:
    """The scatter matrix of the columns divided by 2**exponents, as `covariance.scaled_scatter` has it."""
    scatter, shift = dask_centred(table)
    return scatter, shift.exponents


@on_cluster()
def dask_centred(table: DaskTable) -> tuple[Floats, Shift]:
    """The scatter matrix of continuous columns on a cluster, and the shift that centres them."""
    places = table.places(range(table.n_columns))
    ends = np.cumsum([0, *table.heights]).tolist()
    whole = [whole_leaves(begin, end, ends[-1]) for begin, end in pairwise(ends)]
    inner = [
        (part, begin - first, end - first, begin)
        for part, first, (begin, end) in zip(table.partitions, ends, whole, strict=False)
        if begin < end
    ]
    client = table.client
    edges = [
        (submitted(client, "rows", _together, [
            submitted(client, "rows", some_rows, table.partitions[i], places, True, begin, end)
            for i, begin, end in pieces
        ]), leaf)
        for leaf, pieces in shared_leaves(ends, whole)
    ]  # fmt: skip

    def summed(shift: Shift, squared: bool) -> Floats:
        parts = [
            submitted(client, "leaves", _of_block, part, places, *rows, shift, squared)
            for part, *rows in inner
        ]
        parts += [submitted(client, "leaves", _of_leaf, edge, leaf, shift, squared) for edge, leaf in edges]
        return total(table.reduced(parts, joined) if len(parts) > 1 else parts[0].result())

    stored = table.stored
    return scatter_of(
        [one.low or 0.0 for one in stored], [one.high or 0.0 for one in stored], table.n_rows, summed
    )


def whole_leaves(begin: int, end: int, rows: int) -> tuple[int, int]:
    """The part of the rows from `begin` to `end` that is whole leaves of a table of so many rows."""
    first = -(-begin // leaves.LEAF_ROWS) * leaves.LEAF_ROWS
    last = end if end == rows else end // leaves.LEAF_ROWS * leaves.LEAF_ROWS
    return (first, last) if first < last else (begin, begin)


def shared_leaves(
    ends: Sequence[int], whole: Sequence[tuple[int, int]]
) -> list[tuple[int, list[tuple[int, int, int]]]]:
    """The other leaves, each with its pieces: (partition, first row there, end there)."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    for i, (begin, end) in enumerate(pairwise(ends)):
        first, last = whole[i]
        for low, high in ((begin, end),) if first == last else ((begin, first), (last, end)):
            while low < high:
                stop = min(high, (low // leaves.LEAF_ROWS + 1) * leaves.LEAF_ROWS)
                found.setdefault(low // leaves.LEAF_ROWS, []).append((i, low - begin, stop - begin))
                low = stop
    return sorted(found.items())


def _together(pieces: Sequence[Floats]) -> Floats:
    return np.concatenate(pieces, axis=1)


def _of_block(
    block: Block, places: Sequence[int], low: int, high: int, begin: int, shift: Shift, squared: bool
) -> Sums:
    """The subtrees of rows of a block that are whole leaves; the first is row `begin` of all."""
    values: Any = block.values[list(places)]

    def leaf(first: int, end: int) -> Floats:
        return leaf_sum(values[:, first - begin + low : end - begin + low], shift, squared)

    return sums_of(leaf, begin, begin + high - low)


def _of_leaf(values: Floats, number: int, shift: Shift, squared: bool) -> Sums:
    return {(0, number): leaf_sum(values, shift, squared)}
