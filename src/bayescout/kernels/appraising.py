"""What a penalised Gaussian likelihood says to the changes that `kernels.operators` asks for."""

from collections import namedtuple

import numpy as np

from bayescout.kernels.columns import correlation, factorise, solve_row, worth
from bayescout.kernels.patience import inner

Terms = namedtuple("Terms", "half charge floor rows sizes")
"""A penalised Gaussian likelihood: half the rows, the charge of an arc, the least residual, rows; and sizes,
(k,) float64, the log prior by number of parents."""


@inner
def appraise(columns, terms, asked, end, changes):
    """The change of each family in the groups of `asked` up to `end`; -inf if the wider one is saturated.

    changes  (k,) float64   overwritten
    """
    at, size = 0, 0
    while at < end:
        size = max(size, asked[at + 1] + 2)
        at += 4 + asked[at + 1] + asked[at + 2]
    lower = np.empty((size, size), dtype=np.float64)
    row, child_row = np.empty(size, dtype=np.float64), np.empty(size, dtype=np.float64)
    base, use = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    at, number = 0, 0
    while at < end:
        child, k, count, phase = asked[at], asked[at + 1], asked[at + 2], asked[at + 3]
        at += 4
        step = terms.sizes[k + 1] - terms.sizes[k] - terms.charge
        for i in range(k):
            base[i] = asked[at + i]
        at += k
        used, now, child_residual = np.int64(0), 0.0, 1.0
        if count > 0 and k + 2 < terms.rows:
            used, _ = factorise(columns, base, k, terms.floor, lower, use)
            child_residual = solve_row(columns, child, lower, use, used, child_row)
            now = worth(terms.half, max(child_residual, terms.floor))
        for i in range(count):
            x = asked[at + i]
            if k + 2 >= terms.rows:
                changes[number] = -np.inf
            elif phase > 0:  # as a whole, its parents rising, as the search over all pairs has it
                place = k
                while place > 0 and base[place - 1] > x:
                    base[place] = base[place - 1]
                    place -= 1
                base[place] = x
                used, _ = factorise(columns, base, k + 1, terms.floor, lower, use)
                residual = solve_row(columns, child, lower, use, used, row)
                changes[number] = worth(terms.half, max(residual, terms.floor)) - now + step
                for j in range(place, k):
                    base[j] = base[j + 1]
            else:
                own = solve_row(columns, x, lower, use, used, row)
                residual = child_residual
                if own > terms.floor:
                    shared = correlation(columns, x, child)
                    for j in range(used):
                        shared -= row[j] * child_row[j]
                    residual -= shared * shared / own
                changes[number] = worth(terms.half, max(residual, terms.floor)) - now + step
            number += 1
        at += count
