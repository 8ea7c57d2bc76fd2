"""BDeu of parent sets in depth-first order, for use when the sets of one size are too many to store.

Variables are added in a fixed order, so the variables that may still be added to a set are known, and with
them the finest division of the rows that any superset visited from here can have.
"""

import math

import numpy as np

from bayescout.kernels.dividing import at_depth, divide_rows, group_rows, new_stack
from bayescout.kernels.jit import kernel
from bayescout.kernels.popcount import popcount
from bayescout.kernels.reducing import _fixed, _on_grid, _rise, log_gamma

REMEMBERED = 64
"""Terms of counts below this are computed once per set."""

NEAR = 4
"""Fewer variables than this are bounded one by one rather than all together."""


@kernel
def expand(data, limits, order, base, rest, priors, walk, known, totals):
    """Continue the depth-first walk over the supersets of a set; subsets are visited before supersets.

    data    (codes, weights, bitmaps, layout, lookup, terms) as in kernels.neighbours; every row counts once
    limits  (5,) float64     child, size up to which all sets are known, most parents, margin for rounding,
                             and number of sets to visit before returning
    order   (f,) int64       variables that may be added, in the order of adding them
    base    (s,) int64       the set to begin from
    rest    (f, n) int32     at [j], the class of each row by the variables from place j on, -1 - class if
                             all its rows have one child state; rows of a class are adjacent;
            (f, n) int32     at [j], the cell by the child and the variable at place j: r times its state,
                             plus the child's;
            (n, w) uint64    for each row one bit, that cell, in the field of each place; last, the child's;
            (3, e) int64     word, bits and place of each part of a field, by place;
            (n + 1,) float64 N log N in nats; and
            (n,) int32       codes of the child
    priors  the structure prior of a set, of its arcs and of its size:
            (2, f + 1)       at [0, j] that of the arc from the variable at place j, at [0, f] of those from
                             the base; at [1, j] the most that arcs from place j on can add;
            (2, s) float64   at [0, k] that of k parents, at [1, k] the largest for k or more, up to the most
    walk    (3, f + 1) int64 state of the walk: at [0, 0] the depth, at [0, d] the place that was added at
                             depth d, at [1, d] the next to be added to that set, from the last to the first,
                             at [2, d] the first that was not worth adding;
            (f + 1,) float64 at [d] an upper bound of the score plus log r per cell, for any superset of
                             that set; both updated
    known   masks (k,) uint64 and scores (k,) float64 of the known sets, with room for more
    totals  (3,) int64       number of known sets, number visited, and 1 when all are done; updated.
                             Returns early if there is no more room
    """
    codes, cards = data[0], data[3][0]
    total, f = codes.shape[1], order.shape[0]
    child, most, slack = np.int64(limits[0]), np.int64(limits[2]), limits[3]
    log_r, until = math.log(cards[child]), totals[1] + limits[4]
    (places, following, ends), likelihoods = walk
    depths = min(f, most - base.shape[0]) + 1
    stack, tallies = new_stack(depths, total), _tallies(np.max(cards[order]), cards[child])
    sizes, configurations = stack[3], np.ones(depths, dtype=np.float64)
    (of_arcs, by_size), held = priors, np.full(depths, priors[0][0, f])
    # For the set at each depth, with each variable and alone: its cells, and the best score within it.
    cells, bests = np.zeros((depths, f + 1), dtype=np.int64), np.empty((depths, f + 1))
    mask, configurations[0] = group_rows(codes, cards, base, (rest[0][0], rest[5], cards[child]), stack)
    depth, around = 0, (cells[0], bests[0])
    _look_around(at_depth(stack, 0), rest, order, np.int64(0), mask, known, totals[0], around)
    while depth < places[0]:
        place, variable = places[depth + 1], order[places[depth + 1]]
        mask |= np.uint64(1) << np.uint64(variable)
        configurations[depth + 1] = configurations[depth] * cards[variable]
        divide_rows(codes[variable], cards[variable], (rest[0][place], rest[5], cards[child]), stack, depth)
        depth += 1
        held[depth] = held[depth - 1] + of_arcs[0, place]
        groups, around = at_depth(stack, depth), (cells[depth], bests[depth])
        _look_around(groups, rest, order, place + 1, mask, known, totals[0], around)
    while totals[1] < until and totals[0] < known[0].shape[0]:
        first = places[depth] + 1 if depth > 0 else 0
        if following[depth] < first:
            if depth == 0:
                totals[2] = 1
                break
            mask ^= np.uint64(1) << np.uint64(order[places[depth]])
            depth -= 1
            continue
        place, variable = following[depth], order[following[depth]]
        following[depth] -= 1
        totals[1] += 1
        best = max(bests[depth, f], bests[depth, place])
        most_prior = held[depth] + of_arcs[0, place] + of_arcs[1, place + 1]
        most_prior += by_size[1, base.shape[0] + depth + 1]
        if likelihoods[depth] - log_r * cells[depth, place] + most_prior + slack <= best:
            continue
        prior = data[5][5] / (configurations[depth] * cards[variable])
        priors = prior, prior / _fewest_states(cards, order, place + 1)
        columns = rest[0][place], rest[1][place], rest[5], cards[child]
        groups, enough = at_depth(stack, depth), best - slack - most_prior
        here, top = _ceilings(groups, columns, cells[depth, place], priors, rest[4], tallies, enough)
        if here + most_prior + slack <= best:
            continue
        divide_rows(codes[variable], cards[variable], (rest[0][place], rest[5], cards[child]), stack, depth)
        depth += 1
        places[depth], following[depth] = place, -1
        held[depth] = held[depth - 1] + of_arcs[0, place]
        configurations[depth] = configurations[depth - 1] * cards[variable]
        mask |= np.uint64(1) << np.uint64(variable)
        groups, size = at_depth(stack, depth), base.shape[0] + depth
        own_prior = held[depth] + by_size[0, size]
        least = best - slack - own_prior
        if size > limits[1] and _reaches(data, child, groups, configurations[depth], least):
            score = _score(data, child, mask) + own_prior
            if score > best:
                known[0][totals[0]], known[1][totals[0]] = mask, score
                totals[0] += 1
                best = score
        if place + 1 == f or size == most:
            continue
        # If every row is alone, and none represents others, all supersets score the same but for the prior.
        most_prior = held[depth] + of_arcs[1, place + 1] + by_size[1, size + 1]
        alone = sizes[depth, 2] == total and most_prior <= own_prior
        if alone or top + most_prior + slack <= best:
            continue
        likelihoods[depth] = top + log_r * cells[depth - 1, place]
        around = cells[depth], bests[depth]
        _look_around(groups, rest, order, place + 1, mask, known, totals[0], around)
        enough = bests[depth, f] - slack - most_prior + log_r * cells[depth, f]
        of_child = rest[5], cards[child], prior
        ends[depth] = _first_idle(groups, of_child, rest, place + 1, ends[depth], enough, tallies)
        following[depth] = ends[depth] - 1
    places[0] = depth


# ---- known sets and variables to add


@kernel
def _fewest_states(cards, order, following):
    """The fewest states of a variable that may still be added; 1 if none may."""
    if following == order.shape[0]:
        return np.int64(1)
    fewest = cards[order[following]]
    for place in range(following + 1, order.shape[0]):
        fewest = min(fewest, cards[order[place]])
    return fewest


@kernel
def _look_around(groups, rest, order, following, mask, known, count, around):
    """For a set with each variable from a place on, and last for the set alone: its cells, and the best score
    of a known set that contains the variable and otherwise only members of the set."""
    cells, bests = around
    _count_cells(groups, rest[2], rest[3], following, cells)
    f = order.shape[0]
    for place in range(f + 1):
        bests[place] = -np.inf
    for i in range(count):
        more = known[0][i] & ~mask
        if more == 0:
            bests[f] = max(bests[f], known[1][i])
        elif more & (more - np.uint64(1)) == 0:
            for place in range(following, f):
                if more >> np.uint64(order[place]) == 1:
                    bests[place] = max(bests[place], known[1][i])


@kernel
def _first_idle(groups, of_child, rest, following, guess, enough, tallies):
    """A place from which on no variables are worth adding: the first such place or one near it.

    Found by bisection from a guess, to within `NEAR` places.
    """
    low, high = following, rest[0].shape[0]
    place = min(max(guess, low), high - 1)
    while high - low >= NEAR:
        if _shared(groups, rest[0][place], of_child, rest[4], tallies, enough) > enough:
            low = place + 1
        else:
            high = place
        place = (low + high) // 2
    return high


# ---- scores and bounds


@kernel
def _reaches(data, child, groups, configurations, least):
    """Return True if the score of a set may exceed `least`; pure configurations lower it by log r or more."""
    column, r, terms = data[0][child], data[3][0][child], data[5]
    rows, weights, starts, sizes, _ = groups
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
def _score(data, child, mask):
    """BDeu of one family, as `sum_gamma` adds it."""
    codes, cards, terms = data[0], data[3][0], data[5]
    total, r, ones = codes.shape[1], cards[child], np.uint64(1)
    members = np.array([v for v in range(codes.shape[0]) if mask >> np.uint64(v) & ones])
    stack = new_stack(np.int64(1), total)
    each = np.arange(total).astype(np.int32)
    _, configurations = group_rows(
        codes, cards, members, (each, np.zeros(total, dtype=np.int32), np.int64(1)), stack
    )
    rows, _, starts, sizes, _ = at_depth(stack, 0)
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
    """The cells of the child with a set and each variable from a place on, and last with the set alone.

    A variable without a field adds no cells. Configurations with one child state are marked.
    """
    rows, _, starts, sizes, pure = groups
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
        pure[segment] = _single(met, fields, cells.shape[0] - 1)
    for place in range(following, cells.shape[0] - 1):
        cells[place] = max(cells[place], cells[cells.shape[0] - 1])


@kernel
def _single(met, fields, place):
    """Return True if exactly one bit is set in the field of the last place, which may have several parts."""
    found = 0
    part = fields.shape[1] - 1
    while part >= 0 and fields[2, part] == place:
        found += popcount(met[fields[0, part]] & np.uint64(fields[1, part]))
        part -= 1
    return found == 1


@kernel
def _tallies(most_states, states):
    """Scratch for the configurations that one is divided into: the time each was met, its number of classes
    with several states, the most states of one, the counts of all their rows, the sum of their likelihoods;
    and a clock, the counts of a class, and the costs of states."""
    whole, sums = np.zeros((4, most_states * states), dtype=np.int64), np.zeros(most_states * states)
    clock, own = np.zeros(1, dtype=np.int64), np.zeros(states, dtype=np.int64)
    return (whole[0], whole[1], whole[2], whole[3]), sums, clock, own, np.zeros((2, states + 2))


@kernel
def _ceilings(groups, columns, cells, priors, xlogx, tallies, enough):
    """Upper bounds of the scores of T with a variable v and its supersets, and of the proper supersets alone.

    groups   the rows grouped by T
    columns  (n,) int32 the class of each row by all variables that may be added, v included, and (n,) int32
             the cell by the child and v, as in `expand`; the child's codes and number of states
    cells    number of occurring cells of the child, v and T
    priors   the largest prior count of a configuration, for the first bound and for the second
    xlogx    (n + 1,) float64   N log N
    enough   stop once the first bound is at most this
    The proof is in search/parent_sets/expansion.py.
    """
    starts, sizes, pure, r = groups[2], groups[3], groups[4], columns[3]
    (met, classes, most, mixed), sums, clock, _, costs = tallies
    for which in range(2):
        _costs_of_states(priors[which], costs[which])
    top = proper = -math.log(r) * cells
    for segment in range(sizes[1]):
        if pure[segment]:
            continue
        if top <= enough:
            break
        if _tally(groups, starts[segment], starts[segment + 1], columns, xlogx, tallies) > 0:
            for part in range(0, met.shape[0], r):
                if met[part] == clock[0]:
                    found = classes[part], most[part], sums[part], _likelihood(part, r, xlogx, mixed)
                    top += _of_configuration(found, costs[0])
                    proper += _of_configuration(found, costs[1])
    return top, proper


@kernel
def _shared(groups, finest, of_child, xlogx, tallies, enough):
    """Upper bound of the score plus log r per cell, for any superset of T, from rows that nothing separates.

    finest    the class of each row by all variables that may be added
    of_child  the child's codes and number of states, and the largest prior count of a configuration
    enough    stop once the bound is at most this
    """
    starts, sizes, pure = groups[2], groups[3], groups[4]
    column, r, prior = of_child
    (_, classes, most, mixed), sums, _, _, costs = tallies
    _costs_of_states(prior, costs[0])
    columns, shared = (finest, column, column, r), 0.0
    for segment in range(sizes[1]):
        if pure[segment]:
            continue
        if shared <= enough:
            break
        if _tally(groups, starts[segment], starts[segment + 1], columns, xlogx, tallies) > 0:
            found = classes[0], most[0], sums[0], _likelihood(np.int64(0), r, xlogx, mixed)
            shared += _of_configuration(found, costs[0])
    return shared


@kernel
def _tally(groups, begin, end, columns, xlogx, tallies):
    """Tally the classes with several child states in one configuration; returns their number."""
    rows, weights = groups[0], groups[1]
    finest, paired, column, r = columns
    (met, classes, most, mixed), sums, clock, own, _ = tallies
    clock[0] += 1
    several, i = 0, begin
    while i < end:
        first = rows[i]
        current, state, alike = finest[first], column[first], True
        after = i + 1
        if current >= 0:
            while after < end and finest[rows[after]] == current:
                alike &= column[rows[after]] == state
                after += 1
            if not alike:
                for place in range(i, after):
                    own[column[rows[place]]] += weights[place]
                part = paired[first] - state
                if met[part] != clock[0]:
                    met[part], classes[part], most[part], sums[part] = clock[0], 0, 1, 0.0
                    for place in range(part, part + r):
                        mixed[place] = 0
                several += 1
                classes[part] += 1
                sums[part] += _likelihood(np.int64(0), r, xlogx, own)
                within = 0
                for place in range(r):
                    within += own[place] > 0
                    mixed[part + place] += own[place]
                    own[place] = 0
                most[part] = max(most[part], within)
        i = after
    return several


@kernel
def _likelihood(begin, r, xlogx, counts):
    """The maximised log-likelihood of some rows, leaving out one row of each state."""
    left, total = np.int64(0), 0.0
    for place in range(begin, begin + r):
        if counts[place] > 0:
            left += counts[place] - 1
            total += xlogx[counts[place] - 1]
    return total - xlogx[left]


@kernel
def _costs_of_states(prior, costs):
    """costs (r + 2,) float64: at [k] the sum of log(1 + i / prior) for 0 < i < k."""
    costs[0] = costs[1] = 0.0
    for i in range(1, costs.shape[0] - 1):
        costs[i + 1] = costs[i] + math.log(1.0 + i / prior)


@kernel
def _of_configuration(found, costs):
    """Upper bound of the score of one configuration plus log r per cell.

    found  number of classes with several states, the most states of one, the sum of their log-likelihoods,
           and the log-likelihood of their rows together
    """
    classes, most, apart, together = found
    return (apart if classes == 1 else max(together, apart - costs[2])) - costs[most]
