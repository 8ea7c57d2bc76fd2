"""Numbers that depend on the content of a table and not on the order of its rows or columns."""

import math

import numpy as np

from bayescout.kernels import plain
from bayescout.kernels.patience import part, patient


@part
def _mixed(x):
    """A well-spread uint64 from a uint64 (Steele, Lea & Flood 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@patient(0.2, lambda codes, *_: 1e-8 * codes.size, plain.column_spreads)
def column_spreads(codes, cards, weights, unit, out):
    """The sum of N log N over the states of each column, in units of 2**-20; out (p,) int64.

    weights  (n,) int64    of the rows, in units of `unit`; empty if every row counts once
    """
    weighted = len(weights) > 0
    for column in range(codes.shape[0]):
        counts = np.zeros(cards[column], dtype=np.int64)
        cells = codes[column]
        if weighted:
            for row in range(cells.shape[0]):
                counts[cells[row]] += weights[row]
        else:
            for row in range(cells.shape[0]):
                counts[cells[row]] += 1
        out[column] = 0
        for whole in counts:
            if whole > 0:
                count = whole * unit
                out[column] += np.int64(math.floor(count * math.log(count) * 1048576.0 + 0.5))


@patient(0.1, lambda cells, *_: 2e-8 * cells.size, plain.mark_rows)
def mark_rows(cells, colours, rows):
    """Add the content of its cells to the mark of each row: the sum of mixed (colour of the column, cell).

    cells    (p, n) uint8|uint16|uint64
    colours  (p,) uint64    signature of each column so far
    rows     (n,) uint64    added to
    """
    p, n = cells.shape
    for column in range(p):
        for row in range(n):
            rows[row] += _mixed(
                colours[column] + np.uint64(cells[column, row]) * np.uint64(0x9E3779B97F4A7C15)
            )


@patient(0.2, lambda cells, *_: 2e-8 * cells.size, plain.mark_columns)
def mark_columns(cells, colours, weights, rows, out):
    """The next signature of each column, from its cells and the marks of their rows.

    weights  (n,) int64     of the rows; empty if every row counts once
    rows     (n,) uint64    the marks of the rows
    out      (p,) uint64    overwritten: the sum over rows of mixed (cell, row), mixed with the colour
    """
    p, n = cells.shape
    weighted = len(weights) > 0
    for column in range(p):
        total = np.uint64(0)
        for row in range(n):
            mark = _mixed(rows[row] ^ (np.uint64(cells[column, row]) * np.uint64(0x9E3779B97F4A7C15)))
            total += mark * np.uint64(weights[row]) if weighted else mark
        out[column] = _mixed(total ^ colours[column])
