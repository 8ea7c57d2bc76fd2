"""Gibbs sampling of empty cells in rows of codes."""

import numpy as np

from bayescout.kernels.jit import kernel

SMALL, LARGE = 1e-100, 1e100


@kernel
def sweep(families, tables, gaps, uniform, cells):
    """Draw each empty cell given all other cells of its row.

    families  (member, stride, member_begins, start, nearby, nearby_stride, nearby_begins, sizes), int64:
              the variables of each family end to end and their strides in its table, which begins at
              start[f] of `tables`; for each variable the families it is in and its stride in each; its states
    tables    (k,) float64   the families' probabilities, end to end; none is zero
    gaps      (2, m) int64   row and variable of each empty cell, in the order in which they are drawn
    uniform   (m,) float64   one number per empty cell
    cells     (n, p) int32   codes; those of empty cells are overwritten
    """
    member, stride, member_begins, start, nearby, nearby_stride, nearby_begins, sizes = families
    weights = np.empty(max(1, sizes.max()), dtype=np.float64)
    for gap in range(gaps.shape[1]):
        row, variable = gaps[0, gap], gaps[1, gap]
        states = sizes[variable]
        for state in range(states):
            weights[state] = 1.0
        for place in range(nearby_begins[variable], nearby_begins[variable + 1]):
            family, step = nearby[place], nearby_stride[place]
            at = start[family]
            for i in range(member_begins[family], member_begins[family + 1]):
                if member[i] != variable:
                    at += stride[i] * cells[row, member[i]]
            largest = 0.0
            for state in range(states):
                weights[state] *= tables[at + state * step]
                largest = max(largest, weights[state])
            if largest < SMALL:
                for state in range(states):
                    weights[state] *= LARGE
        total = 0.0
        for state in range(states):
            total += weights[state]
        drawn, passed, wanted = 0, weights[0], uniform[gap] * total
        while passed <= wanted and drawn < states - 1:
            drawn += 1
            passed += weights[drawn]
        cells[row, variable] = drawn
