"""Sets to be scored, divided into pieces of about equal work, between which a run may be ended."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bayescout.arrays import Floats, Ints
from bayescout.kernels.limits import DIRICHLET
from bayescout.scores.scorer import KernelPath

PIECE_WORK = 20_000_000
"""The work of one piece, in rows that are counted: some hundredths of a second."""

MOST_SETS = 2048
"""The most sets of a piece, so that a few thousand of them are shared among threads."""

SET_WORK, CELL_WORK, TERM_WORK, SPARSE_WORK = 1000, 3, 10, 100
"""Work in rows that are counted: of a set; of a cell that is cleared and read; of a term of log Γ; and of a
row of a family whose table is not held whole, since its configurations are sorted."""


def work_of_sets(kernel: KernelPath, cells: Floats, states: int) -> Floats:
    """About the work of scoring each set by `kernels.candidates`, from the cells of its family's table.

    states  of the child
    """
    rows = float(kernel.n_rows)
    whole = cells <= kernel.dense_limit
    held = np.where(whole, cells, np.minimum(cells, rows * states))
    terms = np.minimum(held, rows) if kernel.formula.form == DIRICHLET else 0.0
    work: Floats = SET_WORK + rows * np.where(whole, 1, SPARSE_WORK) + CELL_WORK * held + TERM_WORK * terms
    return work


def pieces_of(work: Floats, begin: int = 0) -> list[slice]:
    """Consecutive slices from `begin` on of about PIECE_WORK each, and of at most MOST_SETS sets."""
    if not len(work):
        return []
    number = np.cumsum(work) // PIECE_WORK
    starts: Ints = np.flatnonzero(number[1:] != number[:-1]) + 1
    ends = [0]
    for end in [*starts.tolist(), len(work)]:
        count = end - ends[-1]
        parts = -(-count // MOST_SETS)
        first = ends[-1]
        ends += [first + count * part // parts for part in range(1, parts + 1)]
    return [slice(begin + one, begin + other) for one, other in pairwise(ends)]
