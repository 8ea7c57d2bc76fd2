"""Group rows by the configurations of a set of variables that grows by one variable at a time.

A variable added to a set divides its configurations further, and a row that is alone in its configuration
stays alone: large sets cost little. Rows that agree in everything that can still matter are merged into one
with a count; the table is sorted so that they are adjacent.
"""

import numpy as np

from bayescout.kernels.jit import kernel
from bayescout.kernels.patience import part


@kernel
def new_stack(depths, total):
    """Arrays for the set at each depth: rows, the number of rows that each represents, the start of each
    configuration; the numbers of rows not alone in their configuration, of those configurations, and of rows
    alone; and a mark for each configuration.
    """
    rows, weights = np.empty((depths, total), dtype=np.int32), np.empty((depths, total), dtype=np.int32)
    starts, sizes = np.empty((depths, total // 2 + 2), dtype=np.int32), np.zeros((depths, 3), dtype=np.int64)
    return rows, weights, starts, sizes, np.zeros((depths, total // 2 + 2), dtype=np.bool_)


@part
def at_depth(stack, depth):
    """The arrays of one depth of a stack."""
    rows, weights, starts, sizes, known = stack
    return rows[depth], weights[depth], starts[depth], sizes[depth], known[depth]


@kernel
def group_rows(codes, cards, members, alike, stack):
    """Group all rows by the members of a set, at depth 0; returns its mask and its number of configurations.

    alike  as in `divide_rows`
    """
    total = codes.shape[1]
    # Numbers written as such would be types of their own, and what they are given to compiled for each.
    none, one = np.int64(0), np.int64(1)
    two, each = new_stack(one + one, total), np.arange(total).astype(np.int32)
    rows, weights, starts, sizes, _ = two
    for row in range(total):
        rows[0, row], weights[0, row] = row, 1
    starts[0, 0] = 0
    if total > 1:
        starts[0, 1] = sizes[0, 0] = total
        sizes[0, 1] = 1
    else:
        sizes[0, 2] = total
    mask, configurations = np.uint64(0), 1.0
    for variable in members:
        mask |= np.uint64(1) << np.uint64(variable)
        configurations *= cards[variable]
        divide_rows(codes[variable], cards[variable], (each, alike[1], alike[2]), two, none)
        _copy(two, 1, two)
    divide_rows(codes[0], one, alike, two, none)
    _copy(two, 1, stack)
    return mask, configurations


@part
def _copy(stack, depth, to):
    """Copy one depth of a stack to depth 0 of the same or another stack."""
    rows, weights, starts, sizes, _ = at_depth(stack, depth)
    to_rows, to_weights, to_starts, to_sizes, _ = at_depth(to, 0)
    for i in range(sizes[0]):
        to_rows[i], to_weights[i] = rows[i], weights[i]
    for i in range(sizes[1] + 1):
        to_starts[i] = starts[i]
    for i in range(3):
        to_sizes[i] = sizes[i]


@kernel
def divide_rows(column, states, alike, stack, depth):
    """Divide the configurations at a depth by one more variable into those at the next depth.

    column  codes of the variable, not read if it has one state
    alike   (n,) int32   the class of each row, with -1 - class equal to class; rows of a class have the same
                         state of the variable and are adjacent; and
            (n,) int32   codes of the child, and its number of states: rows of one configuration with the same
                         class and the same child state are merged from now on
    """
    classes, own, r = alike
    rows, weights, starts, sizes, _ = at_depth(stack, depth)
    to_rows, to_weights, to_starts, to_sizes, _ = at_depth(stack, depth + 1)
    room = np.empty((2, sizes[0]), dtype=np.int32)
    first = np.zeros(r, dtype=np.int64)  # position of each state of the class, plus one
    counts = np.zeros(states, dtype=np.int64)
    place, group, alone = 0, 0, sizes[2]
    to_starts[0] = 0
    for segment in range(sizes[1]):
        kinds, begun, current = 0, 0, np.int64(-1)
        for i in range(starts[segment], starts[segment + 1]):
            row = rows[i]
            number = np.int64(classes[row] if classes[row] >= 0 else -1 - classes[row])
            if number != current:
                current, begun = number, kinds
            at = first[own[row]] - 1
            if begun <= at < kinds and own[room[0, at]] == own[row]:
                room[1, at] += weights[i]
            else:
                room[0, kinds], room[1, kinds] = row, weights[i]
                kinds += 1
                first[own[row]] = kinds
                counts[column[row] if states > 1 else 0] += 1
        for state in range(states):
            size = counts[state]
            counts[state] = -1
            if size > 1:
                counts[state] = place
                place += size
                group += 1
                to_starts[group] = place
            elif size == 1:
                alone += 1
        for i in range(kinds):
            state = column[room[0, i]] if states > 1 else 0
            if counts[state] >= 0:
                to_rows[counts[state]], to_weights[counts[state]] = room[0, i], room[1, i]
                counts[state] += 1
        for state in range(states):
            counts[state] = 0
    to_sizes[0], to_sizes[1], to_sizes[2] = place, group, alone
