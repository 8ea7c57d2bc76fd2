"""An order of the columns that depends on what they hold, not on where they stand or what they are called."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Table

ROUNDS = 2

FINE = 2.0**-20
"""The unit in which weights that are not whole are counted."""


def canonical_order(table: Table) -> list[int]:
    """The columns by falling entropy, equal ones by their content; names decide between identical columns.

    Shuffling rows or columns, or renaming variables, does not change it, nor does writing a row twice for one
    of weight 2. Falling entropy because it makes
    greedy searches end a little better than other orders do; see docs/decisions/canonical-order.md.
    """
    keys = np.zeros(table.n_columns, dtype=np.int64)
    signatures = None
    if table.is_discrete:
        from bayescout.kernels.content import column_spreads

        column_spreads(table.codes, table.cardinalities, *_weights(table), keys)
        if len(np.unique(keys)) < len(keys):
            signatures = _signatures(table, table.codes)
    elif table.is_continuous:
        signatures = _signatures(table, table.values.view(np.uint64))
    marks = [0] * table.n_columns if signatures is None else signatures.tolist()
    spreads = keys.tolist()
    return sorted(range(table.n_columns), key=lambda i: (spreads[i], marks[i], str(table.names[i]), i))


def _signatures(table: Table, cells: NDArray[Any]) -> NDArray[np.uint64]:
    from bayescout.kernels.content import column_signatures

    colours = np.zeros(table.n_columns, dtype=np.uint64)
    rows = np.empty(table.n_rows, dtype=np.uint64)
    for _ in range(ROUNDS):
        out = np.empty_like(colours)
        column_signatures(cells, colours, _weights(table)[0], rows, out)
        colours = out
    return colours


def _weights(table: Table) -> tuple[NDArray[np.int64], float]:
    """The rows' weights as whole numbers of a unit, and that unit."""
    if table.weights is None:
        return np.empty(0, dtype=np.int64), 1.0
    whole = np.rint(table.weights)
    unit = 1.0 if (whole == table.weights).all() else FINE
    return np.rint(np.minimum(table.weights / unit, 2.0**40)).astype(np.int64), unit
