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
    if table.is_discrete:
        keys = [
            _spread(codes, len(states or ())) for codes, states in zip(table.codes, table.states, strict=True)
        ]
        signatures = None if len(set(keys)) == len(keys) else _signatures(table, table.codes)
    else:
        keys = [0.0] * table.n_columns
        signatures = _signatures(table, table.values.view(np.uint64)) if table.is_continuous else None
    marks = [0] * table.n_columns if signatures is None else signatures.tolist()
    return sorted(range(table.n_columns), key=lambda i: (keys[i], marks[i], str(table.names[i]), i))


def _spread(codes: NDArray[Any], states: int) -> float:
    """Σ N log N: less of it is more entropy. Sorted, so that the order of states does not matter."""
    counts = np.sort(np.bincount(codes, minlength=states).astype(np.float64))
    present = counts[counts > 0]
    return float(np.sum(present * np.log(present)))


def _signatures(table: Table, cells: NDArray[Any]) -> NDArray[np.uint64]:
    from bayescout.kernels.content import column_signatures

    colours = np.zeros(table.n_columns, dtype=np.uint64)
    rows = np.empty(table.n_rows, dtype=np.uint64)
    for _ in range(ROUNDS):
        out = np.empty_like(colours)
        column_signatures(cells, colours, rows, out)
        colours = out
    return colours
