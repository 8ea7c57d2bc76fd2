"""BDeu of parent sets met depth first, where the sets of one size are too many to be held.

A parent added to a set divides the rows of its configurations further, and a row that is alone in its
configuration stays alone: deep sets cost little. Variables are added in one order, so what may still be added
to a set is known, and with it the finest division of the rows that any superset met from here can reach.
"""

import math

import numpy as np

from bayescout.kernels.jit import kernel
from bayescout.kernels.reducing import _fixed, _on_grid, _rise, log_gamma

REMEMBERED = 64
"""Counts below this are looked up once for each set."""


@kernel
def sets_above(data, limits, order, sets, last, suffix, known, found):
    """The supersets of some sets that may score more than every known set within them.

    data    (codes, weights, bitmaps, layout, lookup, terms) as in kernels.neighbours; every row counts once
    limits  (4,) float64     child, size up to which to look, most parents, margin for rounding
    order   (f,) int64       variables that may be added, in the order in which they are
    sets    (m, s) int64     the variables of each set
    last    (m,) int64       the place in the order up to which a set has been decided
    suffix  (f + 1, n) int64 the class of each row by the variables from each place of the order on; and
            (n + 1,) float64 N log N in nats
    known   masks (k,) uint64 and scores (k,) float64, falling
    found   masks (g,) uint64 and scores (g,) float64 of the sets found, masks (h,) uint64 of the sets of the
            last size that may have supersets worth looking at, and (3,) int64: how many were looked at,
            found, and are to go on from, which may be more than there is room for; all overwritten
    """
    codes, cards = data[0], data[3][0]
    total, f = codes.shape[1], order.shape[0]
    child, most, slack = np.int64(limits[0]), np.int64(limits[1]), limits[3]
    goes_on = limits[2] > limits[1]
    ends, totals = found[2], found[3]
    log_r = math.log(cards[child])
    depths = min(f, max(0, most - sets.shape[1])) + 1
    rows = np.empty((depths, total), dtype=np.int32)
    starts = np.empty((depths, total // 2 + 2), dtype=np.int32)
    sizes = np.zeros((depths, 3), dtype=np.int64)  # rows not alone, their configurations, rows alone
    configurations = np.ones(depths, dtype=np.float64)
    added = np.zeros(depths, dtype=np.int64)
    counts = np.zeros(total * cards[child], dtype=np.int64)
    for i in range(3):
        totals[i] = 0
    for i in range(sets.shape[0]):
        mask = _begin(codes, cards, sets[i], rows, starts, sizes, configurations)
        depth, following = 0, last[i] + 1
        while True:
            if following < f and sets.shape[1] + depth < most:
                variable = order[following]
                _divide(codes[variable], cards[variable], rows, starts, sizes, depth)
                depth += 1
                configurations[depth] = configurations[depth - 1] * cards[variable]
                added[depth] = following
                mask |= np.uint64(1) << np.uint64(variable)
                following += 1
                totals[0] += 1
                held = min(totals[1], found[0].shape[0])
                best = max(
                    _best_within(known[0], known[1], known[0].shape[0], mask),
                    _best_within(found[0], found[1], held, mask),
                )
                groups = rows[depth], starts[depth], sizes[depth]
                score, occupied = _score(data, child, groups, configurations[depth])
                if score > best:
                    if totals[1] < found[0].shape[0]:
                        found[0][totals[1]], found[1][totals[1]] = mask, score
                    totals[1] += 1
                    best = score
                # Where every row is alone, all supersets score the same.
                worth = sizes[depth, 1] > 0 and following < f and -occupied * log_r + slack > best
                if worth:
                    fewest = configurations[depth] * _fewest_states(cards, order, following)
                    top = _ceiling(data, child, groups, fewest, suffix[0][following], suffix[1], counts)
                    worth = top + slack > best
                if worth and goes_on and sets.shape[1] + depth == most:
                    if totals[2] < ends.shape[0]:
                        ends[totals[2]] = mask
                    totals[2] += 1
                if not worth:
                    following = f
            elif depth > 0:
                following = added[depth] + 1
                mask ^= np.uint64(1) << np.uint64(order[added[depth]])
                depth -= 1
            else:
                break


@kernel
def _fewest_states(cards, order, following):
    """The states of the variable with the fewest of those that may still be added."""
    fewest = cards[order[following]]
    for place in range(following + 1, order.shape[0]):
        fewest = min(fewest, cards[order[place]])
    return fewest


@kernel
def _best_within(masks, scores, count, mask):
    best = -np.inf
    for i in range(count):
        if scores[i] > best and masks[i] & ~mask == 0:
            best = scores[i]
    return best


@kernel
def _begin(codes, cards, members, rows, starts, sizes, configurations):
    """Group all rows by the members of a set, at depth 0; returns the set as a mask."""
    total = codes.shape[1]
    two_rows = np.empty((2, total), dtype=np.int32)
    two_starts = np.zeros((2, total // 2 + 2), dtype=np.int32)
    two_sizes = np.zeros((2, 3), dtype=np.int64)
    for row in range(total):
        two_rows[0, row] = row
    if total > 1:
        two_starts[0, 1] = two_sizes[0, 0] = total
        two_sizes[0, 1] = 1
    else:
        two_sizes[0, 2] = total
    configurations[0] = 1.0
    mask = np.uint64(0)
    for variable in members:
        mask |= np.uint64(1) << np.uint64(variable)
        configurations[0] *= cards[variable]
        _divide(codes[variable], cards[variable], two_rows, two_starts, two_sizes, 0)
        _copy(two_rows, two_starts, two_sizes, 1, two_rows, two_starts, two_sizes)
    _copy(two_rows, two_starts, two_sizes, 0, rows, starts, sizes)
    return mask


@kernel
def _copy(rows, starts, sizes, depth, to_rows, to_starts, to_sizes):
    """What stands at a depth, to depth 0 of another or the same."""
    for i in range(sizes[depth, 0]):
        to_rows[0, i] = rows[depth, i]
    for i in range(sizes[depth, 1] + 1):
        to_starts[0, i] = starts[depth, i]
    for i in range(3):
        to_sizes[0, i] = sizes[depth, i]


@kernel
def _divide(column, states, rows, starts, sizes, depth):
    """Divide the configurations at a depth by one more variable into those at the next."""
    counts = np.zeros(states, dtype=np.int64)
    place, group = 0, 0
    starts[depth + 1, 0] = 0
    for segment in range(sizes[depth, 1]):
        begin, end = starts[depth, segment], starts[depth, segment + 1]
        for i in range(begin, end):
            counts[column[rows[depth, i]]] += 1
        for state in range(states):
            size = counts[state]
            counts[state] = -1
            if size > 1:
                counts[state] = place
                place += size
                group += 1
                starts[depth + 1, group] = place
        for i in range(begin, end):
            row = rows[depth, i]
            state = column[row]
            if counts[state] >= 0:
                rows[depth + 1, counts[state]] = row
                counts[state] += 1
        for state in range(states):
            counts[state] = 0
    sizes[depth + 1, 0], sizes[depth + 1, 1] = place, group
    sizes[depth + 1, 2] = sizes[depth, 2] + sizes[depth, 0] - place


@kernel
def _score(data, child, groups, configurations):
    """BDeu of one family, as `sum_gamma` adds it, and the number of its cells that occur."""
    column, r, terms = data[0][child], data[3][0][child], data[5]
    rows, starts, sizes = groups
    scale, drop, step = terms[1], np.int64(terms[2]), terms[3]
    a, b = terms[5] / (configurations * r), terms[5] / configurations
    log_gamma_a, log_gamma_b = log_gamma(a), log_gamma(b)
    known = np.zeros((2, REMEMBERED), dtype=np.int64)
    filled = np.zeros((2, REMEMBERED), dtype=np.bool_)
    cells = sizes[2] * _fixed(_rise(np.int64(1), a, log_gamma_a), scale)
    configs = sizes[2] * _fixed(_rise(np.int64(1), b, log_gamma_b), scale)
    occupied = sizes[2]
    counts = np.zeros(r, dtype=np.int64)
    for segment in range(sizes[1]):
        begin, end = starts[segment], starts[segment + 1]
        for i in range(begin, end):
            counts[column[rows[i]]] += 1
        configs += _units(np.int64(end - begin), b, log_gamma_b, scale, known[1], filled[1])
        for state in range(r):
            if counts[state] > 0:
                occupied += 1
                cells += _units(counts[state], a, log_gamma_a, scale, known[0], filled[0])
                counts[state] = 0
    return _on_grid(cells, drop, step) - _on_grid(configs, drop, step), occupied


@kernel
def _units(count, a, log_gamma_a, scale, known, filled):
    if count >= REMEMBERED:
        return _fixed(_rise(count, a, log_gamma_a), scale)
    if not filled[count]:
        known[count] = _fixed(_rise(count, a, log_gamma_a), scale)
        filled[count] = True
    return known[count]


@kernel
def _ceiling(data, child, groups, fewest, classes, xlogx, counts):
    """An upper bound of the scores of proper supersets that divide the rows no finer than by these classes.

    fewest  the least number of configurations that one of them can have
    xlogx   (n + 1,) float64   N log N
    counts  scratch, (classes times child states,) int64, zero before and after
    The proof is in search/refinement.py.
    """
    column, r, terms = data[0][child], data[3][0][child], data[5]
    rows, starts, sizes = groups
    prior = terms[5] / fewest
    log_r = math.log(r)
    top = -log_r * sizes[2]
    seen = np.zeros(r, dtype=np.bool_)
    for segment in range(sizes[1]):
        begin, end = starts[segment], starts[segment + 1]
        states = 0
        for i in range(begin, end):
            state = column[rows[i]]
            if not seen[state]:
                seen[state] = True
                states += 1
        top -= log_r * states
        for state in range(r):
            seen[state] = False
        if states == 1:
            continue
        for i in range(begin, end):
            counts[classes[rows[i]] * r + column[rows[i]]] += 1
        most = 1
        for i in range(begin, end):
            cell = classes[rows[i]] * r
            within, left = 0, np.int64(0)
            for state in range(r):
                count = counts[cell + state]
                counts[cell + state] = 0
                if count > 0:
                    within += 1
                    left += count - 1
                    top += xlogx[count - 1]
            top -= xlogx[left]
            most = max(most, within)
        for i in range(1, most):
            top -= math.log(1.0 + i / prior)
    return top
