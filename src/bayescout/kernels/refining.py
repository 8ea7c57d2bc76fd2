"""BDeu of parent sets met depth first, where the sets of one size are too many to be held.

A parent added to a set divides the rows of its configurations further, and a row that is alone in its
configuration stays alone: deep sets cost little. Variables are added in one order, so what may still be added
to a set is known, and with it the finest division of the rows that any superset met from here can reach.
"""

import math

import numpy as np

from bayescout.kernels.jit import kernel
from bayescout.kernels.popcount import popcount
from bayescout.kernels.reducing import _fixed, _on_grid, _rise, log_gamma

REMEMBERED = 64
"""Counts below this are looked up once for each set."""


@kernel
def sets_above(data, limits, order, sets, last, rest, known, found):
    """The supersets of some sets that may score more than every known set within them.

    data    (codes, weights, bitmaps, layout, lookup, terms) as in kernels.neighbours; every row counts once
    limits  (3,) float64     child, most parents, margin for rounding
    order   (f,) int64       variables that may be added, in the order in which they are
    sets    (m, s) int64     the variables of each set
    last    (m,) int64       the place in the order up to which a set has been decided
    rest    (f, n) int32     at [j], the cell of each row by the child and the variables from place j on: its
                             class times the child's states, and its state; -1 - cell where its class has one
                             state;
            (f, n) int32     at [j], the same by the child and the variable at place j alone;
            (n, w) uint64    for each row, one bit in the field of each place: the cell of the latter kind;
            (3, e) int64     word, bits and place of each part of a field, by place; and
            (n + 1,) float64 N log N in nats
    known   masks (k,) uint64 and scores (k,) float64, falling
    found   masks (g,) uint64 and scores (g,) float64 of the sets found, and (2,) int64: how many were looked
            at and found, which may be more than there is room for; all overwritten
    """
    codes, cards = data[0], data[3][0]
    total, f = codes.shape[1], order.shape[0]
    child, most, slack = np.int64(limits[0]), np.int64(limits[1]), limits[2]
    log_r = math.log(cards[child])
    totals = found[2]
    depths = min(f, max(0, most - sets.shape[1])) + 1
    stack = _stack(depths, total)
    sizes = stack[3]
    configurations = np.ones(depths, dtype=np.float64)
    added = np.zeros(depths, dtype=np.int64)
    # Of the set at each depth: its cells with each variable, and by itself; the best score within it; and
    # a bound of what rows that share their cells can take from the score of any superset.
    cells = np.zeros((depths, f + 1), dtype=np.int64)
    bests, likelihoods = np.zeros(depths), np.zeros(depths)
    scratch = _scratch(total, np.max(cards), cards[child])
    totals[0] = totals[1] = 0
    for i in range(sets.shape[0]):
        depth, following = 0, last[i] + 1
        if following == f or sets.shape[1] >= most:
            continue
        mask = np.uint64(0)
        for variable in sets[i]:
            mask |= np.uint64(1) << np.uint64(variable)
        configurations[0] = _begin(codes, cards, sets[i], rest[0][following], stack, scratch)
        held = min(totals[1], found[0].shape[0])
        bests[0], likelihoods[0] = _best_of_both(known, found, held, mask), 0.0
        _count_cells(_at(stack, 0), rest[2], rest[3], following, cells[0])
        while True:
            # Where every row is alone, and stands for no other, all supersets score the same.
            if following < f and sets.shape[1] + depth < most and sizes[depth, 2] < total:
                place, variable = following, order[following]
                following += 1
                totals[0] += 1
                with_it = mask | np.uint64(1) << np.uint64(variable)
                best = _best_of_both(known, found, min(totals[1], found[0].shape[0]), with_it)
                if likelihoods[depth] - log_r * cells[depth, place] + slack <= best:
                    continue
                prior = data[5][5] / configurations[depth]
                priors = (
                    prior / cards[variable],
                    prior / cards[variable] / _fewest_states(cards, order, following),
                    prior,
                )
                columns = rest[0][place], rest[1][place], codes[child], cards[child]
                here, top, shared = _ceilings(_at(stack, depth), columns, priors, rest[4], scratch)
                likelihoods[depth] = shared
                if shared - log_r * cells[depth, f] + slack <= bests[depth]:
                    following = f
                    continue
                if here + slack <= best:
                    continue
                _divide(codes[variable], cards[variable], rest[0][place], stack, depth, scratch)
                depth += 1
                configurations[depth] = configurations[depth - 1] * cards[variable]
                added[depth] = place
                mask = with_it
                if _reaches(data, child, _at(stack, depth), configurations[depth], best - slack):
                    score = _score(data, child, mask, scratch)
                    if score > best:
                        if totals[1] < found[0].shape[0]:
                            found[0][totals[1]], found[1][totals[1]] = mask, score
                        totals[1] += 1
                        best = score
                if following < f and top + slack > best:
                    bests[depth], likelihoods[depth] = best, shared
                    _count_cells(_at(stack, depth), rest[2], rest[3], following, cells[depth])
                else:
                    following = f
            elif depth > 0:
                following = added[depth] + 1
                mask ^= np.uint64(1) << np.uint64(order[added[depth]])
                depth -= 1
            else:
                break


# ---- what is known and what may be added


@kernel
def _fewest_states(cards, order, following):
    """The states of the variable with the fewest of those that may still be added; one where none may."""
    if following == order.shape[0]:
        return np.int64(1)
    fewest = cards[order[following]]
    for place in range(following + 1, order.shape[0]):
        fewest = min(fewest, cards[order[place]])
    return fewest


@kernel
def _best_of_both(known, found, held, mask):
    """The best score of a set that is known, or found, within another."""
    best = _best_within(known[0], known[1], known[0].shape[0], mask)
    return max(best, _best_within(found[0], found[1], held, mask))


@kernel
def _best_within(masks, scores, count, mask):
    best = -np.inf
    for i in range(count):
        if scores[i] > best and masks[i] & ~mask == 0:
            best = scores[i]
    return best


# ---- rows by the configurations of a set


@kernel
def _stack(depths, total):
    """For the set at each depth: rows, how many they stand for, where each configuration begins, and three
    numbers: how many rows are not alone in their configuration, those configurations, and rows alone.

    Rows that are alike in the child and in all that may still be added stand for each other.
    """
    rows, weights = np.empty((depths, total), dtype=np.int32), np.empty((depths, total), dtype=np.int32)
    starts, sizes = np.empty((depths, total // 2 + 2), dtype=np.int32), np.zeros((depths, 3), dtype=np.int64)
    return rows, weights, starts, sizes


@kernel
def _at(stack, depth):
    rows, weights, starts, sizes = stack
    return rows[depth], weights[depth], starts[depth], sizes[depth]


@kernel
def _scratch(total, most_states, states):
    """Counts and marks by cell, marks by the child and one variable, a clock for them, and two rows' room."""
    counts, seen = np.zeros(total * states, dtype=np.int32), np.zeros((2, total * states), dtype=np.int64)
    marks = np.zeros((3, most_states * states), dtype=np.int64)
    return counts, seen, marks, np.zeros(1, dtype=np.int64), np.empty((2, total), dtype=np.int32)


@kernel
def _begin(codes, cards, members, alike, stack, scratch):
    """Group all rows by the members of a set, at depth 0; returns its configurations."""
    total = codes.shape[1]
    two, each = _stack(2, total), np.arange(total).astype(np.int32)
    rows, weights, starts, sizes = two
    for row in range(total):
        rows[0, row], weights[0, row] = row, 1
    starts[0, 0] = 0
    if total > 1:
        starts[0, 1] = sizes[0, 0] = total
        sizes[0, 1] = 1
    else:
        sizes[0, 2] = total
    configurations = 1.0
    for variable in members:
        configurations *= cards[variable]
        _divide(codes[variable], cards[variable], each, two, 0, scratch)
        _copy(two, 1, two)
    _divide(codes[0], 1, alike, two, 0, scratch)
    _copy(two, 1, stack)
    return configurations


@kernel
def _copy(stack, depth, to):
    """What stands at a depth, to depth 0 of another stack or the same."""
    rows, weights, starts, sizes = _at(stack, depth)
    to_rows, to_weights, to_starts, to_sizes = _at(to, 0)
    for i in range(sizes[0]):
        to_rows[i], to_weights[i] = rows[i], weights[i]
    for i in range(sizes[1] + 1):
        to_starts[i] = starts[i]
    for i in range(3):
        to_sizes[i] = sizes[i]


@kernel
def _divide(column, states, alike, stack, depth, scratch):
    """Divide the configurations at a depth by one more variable into those at the next.

    column  the variable's, not looked at where it has one state
    alike   (n,) int32   rows of one configuration with the same number here stand for each other from now on;
                         it tells the states of the variable apart. -1 - number is the same as number
    """
    rows, weights, starts, sizes = _at(stack, depth)
    to_rows, to_weights, to_starts, to_sizes = _at(stack, depth + 1)
    seen, clock, room = scratch[1], scratch[3], scratch[4]
    counts = np.zeros(states, dtype=np.int64)
    place, group, alone = 0, 0, sizes[2]
    to_starts[0] = 0
    for segment in range(sizes[1]):
        clock[0] += 1
        kinds = 0
        for i in range(starts[segment], starts[segment + 1]):
            row = rows[i]
            number = alike[row] if alike[row] >= 0 else -1 - alike[row]
            if seen[0, number] == clock[0]:
                room[1, seen[1, number]] += weights[i]
            else:
                seen[0, number], seen[1, number] = clock[0], kinds
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


# ---- scores and bounds


@kernel
def _reaches(data, child, groups, configurations, least):
    """Whether the score of a set may be more than this; a pure configuration takes log r or more from it."""
    column, r, terms = data[0][child], data[3][0][child], data[5]
    rows, weights, starts, sizes = groups
    a, b = terms[5] / (configurations * r), terms[5] / configurations
    log_gamma_a, log_gamma_b = log_gamma(a), log_gamma(b)
    top = -math.log(r) * sizes[2]
    known = np.full((2, REMEMBERED), np.nan)
    counts = np.zeros(r, dtype=np.int64)
    for segment in range(sizes[1]):
        if top < least:
            return False
        total = np.int64(0)
        for i in range(starts[segment], starts[segment + 1]):
            counts[column[rows[i]]] += weights[i]
            total += weights[i]
        top -= _remembered(total, b, log_gamma_b, known[1])
        for state in range(r):
            if counts[state] > 0:
                top += _remembered(counts[state], a, log_gamma_a, known[0])
                counts[state] = 0
    return top >= least


@kernel
def _remembered(count, a, log_gamma_a, known):
    if count >= REMEMBERED:
        return _rise(count, a, log_gamma_a)
    if math.isnan(known[count]):
        known[count] = _rise(count, a, log_gamma_a)
    return known[count]


@kernel
def _score(data, child, mask, scratch):
    """BDeu of one family, as `sum_gamma` adds it."""
    codes, cards, terms = data[0], data[3][0], data[5]
    total, r, ones = codes.shape[1], cards[child], np.uint64(1)
    members = np.array([v for v in range(codes.shape[0]) if mask >> np.uint64(v) & ones])
    stack = _stack(1, total)
    configurations = _begin(codes, cards, members, np.arange(total).astype(np.int32), stack, scratch)
    rows, _, starts, sizes = _at(stack, 0)
    scale, drop, step = terms[1], np.int64(terms[2]), terms[3]
    a, b = terms[5] / (configurations * r), terms[5] / configurations
    log_gamma_a, log_gamma_b = log_gamma(a), log_gamma(b)
    cells = sizes[2] * _fixed(_rise(np.int64(1), a, log_gamma_a), scale)
    configs = sizes[2] * _fixed(_rise(np.int64(1), b, log_gamma_b), scale)
    counts = np.zeros(r, dtype=np.int64)
    for segment in range(sizes[1]):
        for i in range(starts[segment], starts[segment + 1]):
            counts[codes[child, rows[i]]] += 1
        configs += _fixed(_rise(np.int64(starts[segment + 1] - starts[segment]), b, log_gamma_b), scale)
        for state in range(r):
            if counts[state] > 0:
                cells += _fixed(_rise(counts[state], a, log_gamma_a), scale)
                counts[state] = 0
    return _on_grid(cells, drop, step) - _on_grid(configs, drop, step)


@kernel
def _count_cells(groups, bits, fields, following, cells):
    """The cells of the child with a set and each variable from a place on, and last with the set alone."""
    rows, _, starts, sizes = groups
    words, first = bits.shape[1], 0
    while fields[2, first] < following:
        first += 1
    met = np.zeros(words, dtype=np.uint64)
    for place in range(following, cells.shape[0]):
        cells[place] = sizes[2]
    for segment in range(sizes[1]):
        for word in range(fields[0, first], words):
            met[word] = 0
        for i in range(starts[segment], starts[segment + 1]):
            for word in range(fields[0, first], words):
                met[word] |= bits[rows[i], word]
        for part in range(first, fields.shape[1]):
            cells[fields[2, part]] += popcount(met[fields[0, part]] & np.uint64(fields[1, part]))


@kernel
def _ceilings(groups, columns, priors, xlogx, scratch):
    """Upper bounds of scores: of T with a variable v and its supersets, of the proper ones alone; and what
    the rows that no variable from v on can part allow above T at most, to be added to -log r a cell.

    groups   the rows by T
    columns  (n,) int32 the cell of each row by the child and all that may be added, v included, and (n,)
             int32 that by the child and v, as in `sets_above`; the child's column and its states
    priors   the most that the prior count of a configuration can be, for each of the three
    xlogx    (n + 1,) float64   N log N
    The proof is in search/refinement.py.
    """
    rows, weights, starts, sizes = groups
    finest, paired, column, r = columns
    counts, (met, met_states, most), clock = scratch[0], scratch[2], scratch[3]
    cells, shared, once, proper, above = sizes[2], 0.0, 0.0, 0.0, 0.0
    for segment in range(sizes[1]):
        begin, end = starts[segment], starts[segment + 1]
        clock[0] += 1
        now, own, parts, widest = clock[0], 0, 0, 1
        for i in range(begin, end):
            row = rows[i]
            cell = paired[row]
            if met[cell] != now:
                met[cell] = now
                own += 1
                part = cell - column[row]
                if met_states[part] != now:
                    met_states[part], most[part] = now, 1
                    parts += 1
        cells += own
        if own == parts:
            continue
        for i in range(begin, end):
            cell = finest[rows[i]]
            if cell >= 0:
                counts[cell] += weights[i]
        for i in range(begin, end):
            row = rows[i]
            cell = finest[row]
            if cell >= 0 and counts[cell] > 0:
                within, likelihood = _of_class(cell - column[row], r, xlogx, counts)
                shared += likelihood
                part = paired[row] - column[row]
                for state in range(most[part], within):
                    once -= math.log(1.0 + state / priors[0])
                    proper -= math.log(1.0 + state / priors[1])
                most[part] = max(most[part], within)
                for state in range(widest, within):
                    above -= math.log(1.0 + state / priors[2])
                widest = max(widest, within)
    top = shared - math.log(r) * cells
    return top + once, top + proper, shared + above


@kernel
def _of_class(cell, r, xlogx, counts):
    """How many states a class has, and the maximised likelihood of its rows but one of each; forgets them."""
    within, left, likelihood = 0, np.int64(0), 0.0
    for place in range(cell, cell + r):
        count = counts[place]
        if count > 0:
            counts[place] = 0
            within += 1
            left += count - 1
            likelihood += xlogx[count - 1]
    return within, likelihood - xlogx[left]
