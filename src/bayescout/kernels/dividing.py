"""Rows by the configurations of a set of variables that grows one by one.

A variable added to a set divides the rows of its configurations further, and a row that is alone in its
configuration stays alone: large sets cost little. Rows that agree in everything that can still matter stand
for each other.
"""

import numpy as np

from bayescout.kernels.jit import kernel


@kernel
def new_stack(depths, total):
    """For the set at each depth: rows, how many each stands for, where each configuration begins, three
    numbers: how many rows are not alone in their configuration, those configurations, and rows alone; and room
    for what is known of each configuration.
    """
    rows, weights = np.empty((depths, total), dtype=np.int32), np.empty((depths, total), dtype=np.int32)
    starts, sizes = np.empty((depths, total // 2 + 2), dtype=np.int32), np.zeros((depths, 3), dtype=np.int64)
    return rows, weights, starts, sizes, np.zeros((depths, total // 2 + 2), dtype=np.bool_)


@kernel
def at_depth(stack, depth):
    """What stands at one depth of a stack."""
    rows, weights, starts, sizes, known = stack
    return rows[depth], weights[depth], starts[depth], sizes[depth], known[depth]


@kernel
def new_scratch(total, most_states, states):
    """Counts by cell; marks and places of cells; marks, and sums, by the child and one variable; a clock for
    the marks; and room for rows and what they stand for."""
    counts, seen = np.zeros(total * states, dtype=np.int32), np.zeros((total * states, 2), dtype=np.int32)
    marks, sums = np.zeros((4, most_states * states), dtype=np.int32), np.zeros(most_states * states)
    return counts, seen, marks, sums, np.zeros(1, dtype=np.int64), np.empty((2, total), dtype=np.int32)


@kernel
def group_rows(codes, cards, members, alike, stack, scratch):
    """Group all rows by the members of a set, at depth 0; returns its mask, and how many states it has.

    alike  as in `divide_rows`
    """
    total = codes.shape[1]
    two, each = new_stack(2, total), np.arange(total).astype(np.int32)
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
        divide_rows(codes[variable], cards[variable], each, two, 0, scratch)
        _copy(two, 1, two)
    divide_rows(codes[0], 1, alike, two, 0, scratch)
    _copy(two, 1, stack)
    return mask, configurations


@kernel
def _copy(stack, depth, to):
    """What stands at a depth, to depth 0 of another stack or the same."""
    rows, weights, starts, sizes, _ = at_depth(stack, depth)
    to_rows, to_weights, to_starts, to_sizes, _ = at_depth(to, 0)
    for i in range(sizes[0]):
        to_rows[i], to_weights[i] = rows[i], weights[i]
    for i in range(sizes[1] + 1):
        to_starts[i] = starts[i]
    for i in range(3):
        to_sizes[i] = sizes[i]


@kernel
def divide_rows(column, states, alike, stack, depth, scratch):
    """Divide the configurations at a depth by one more variable into those at the next.

    column  the variable's, not looked at where it has one state
    alike   (n,) int32   rows of one configuration with the same number here stand for each other from now on;
                         it tells the states of the variable apart. -1 - number is the same as number
    """
    rows, weights, starts, sizes, _ = at_depth(stack, depth)
    to_rows, to_weights, to_starts, to_sizes, _ = at_depth(stack, depth + 1)
    seen, clock, room = scratch[1], scratch[4], scratch[5]
    counts = np.zeros(states, dtype=np.int64)
    place, group, alone = 0, 0, sizes[2]
    to_starts[0] = 0
    for segment in range(sizes[1]):
        clock[0] += 1
        kinds = 0
        for i in range(starts[segment], starts[segment + 1]):
            row = rows[i]
            number = alike[row] if alike[row] >= 0 else -1 - alike[row]
            if seen[number, 0] == clock[0]:
                room[1, seen[number, 1]] += weights[i]
            else:
                seen[number, 0], seen[number, 1] = clock[0], kinds
                room[0, kinds], room[1, kinds] = row, weights[i]
                kinds += 1
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
