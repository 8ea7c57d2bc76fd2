"""An order of the columns that depends on what they hold, not on where they stand or what they are called."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Table

ROUNDS = 2


def canonical_order(table: Table) -> list[int]:
    """The columns by falling entropy, equal ones by their content; names decide between identical columns.

    Shuffling rows or columns, or renaming variables, does not change it. Falling entropy because it makes
    greedy searches end a little better than other orders do; see docs/decisions/canonical-order.md.
    """
    keys = np.zeros(table.n_columns, dtype=np.int64)
    signatures = None
    if table.is_discrete:
        from bayescout.kernels.content import column_spreads

        column_spreads(table.codes, table.cardinalities, keys)
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
        column_signatures(cells, colours, rows, out)
        colours = out
    return colours
