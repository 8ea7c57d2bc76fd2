"""Numbers that depend on what a table holds and not on the order of its rows or columns."""

import numpy as np

from bayescout.kernels.jit import kernel


@kernel
def _mixed(x):
    """A well-spread uint64 from a uint64 (Steele, Lea & Flood 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def column_signatures(codes, colours, rows, out):
    """One round of refinement: a column's signature from its cells and from what else is in their rows.

    codes    (p, n) uint8|uint16|uint64  cells
    colours  (p,) uint64    signature of each column so far
    rows     (n,) uint64    overwritten: the sum over columns of mixed (colour, cell)
    out      (p,) uint64    overwritten: the sum over rows of mixed (cell, row)
    """
    p, n = codes.shape
    rows[:] = 0
    for column in range(p):
        for row in range(n):
            rows[row] += _mixed(
                colours[column] + np.uint64(codes[column, row]) * np.uint64(0x9E3779B97F4A7C15)
            )
    for column in range(p):
        total = np.uint64(0)
        for row in range(n):
            total += _mixed(rows[row] ^ (np.uint64(codes[column, row]) * np.uint64(0x9E3779B97F4A7C15)))
        out[column] = _mixed(total ^ colours[column])
