"""Parent sets grown by one variable at a time: the sets to visit, and their scores.

A level holds the sets of one size over the f variables that may be parents, as rows of rising numbers in
lexicographic order. Only sets whose supersets may still matter are in it, so a set is visited if the level
holds every subset with one member less.
"""

import math

import numpy as np

from bayescout.kernels import plain
from bayescout.kernels.counting import count_bits, densify
from bayescout.kernels.jit import by_type, is_none
from bayescout.kernels.limits import MASKED_CELLS
from bayescout.kernels.neighbours import _scores
from bayescout.kernels.patience import inner, part, patient
from bayescout.kernels.reducing import sum_gamma, sum_xlogx


@patient(0.1, lambda members, *_: 4e-7 * members.size)
def set_keys(members, binomials, keys):
    """A number for each set that rises in lexicographic order.

    members    (m, k) int64, each row rising, all below f
    binomials  (f + 1, k + 1) int64   binomials[a, b] = a over b
    keys       (m,) int64   overwritten
    """
    f, k = binomials.shape[0] - 1, members.shape[1]
    for i in range(members.shape[0]):
        key = np.int64(0)
        for place in range(k):
            key -= binomials[f - 1 - members[i, place], k - place]
        keys[i] = key


def _joining(members, *_):
    """The seconds of `grow_sets` uncompiled, if every pair of sets shares its beginning."""
    m, k = members.shape
    return 1e-6 * m * m * (k + 1) if k > 1 else 1e-6 * (m * m + 100)


@patient(0.3, _joining)
def grow_sets(members, keys, best, binomials, grown, bests):
    """The sets with one member more whose subsets with one member less are all in the level.

    members    (m, k) int64, rows in lexicographic order
    keys       (m,) int64     as set_keys gives them
    best       (m,) float64   the best score within each set
    binomials  (f + 1, k + 1) int64
    grown      (g, 2) int64   overwritten: the row that a set extends, and the member it adds
    bests      (g,) float64   overwritten: the best score among its proper subsets
    Returns their number; if g is 0, only counts them.
    """
    m, k = members.shape
    f = binomials.shape[0] - 1
    found = 0
    if k == 0:
        for variable in range(f):
            if grown.shape[0] > 0:
                grown[found, 0], grown[found, 1], bests[found] = 0, variable, best[0]
            found += 1
        return found
    for i in range(m):
        for j in range(i + 1, m):
            same = True
            for place in range(k - 1):
                same = same and members[i, place] == members[j, place]
            if not same:
                break
            top = max(best[i], best[j])
            variable = members[j, k - 1]
            for left_out in range(k - 1):
                key = np.int64(0)
                at = 0
                for place in range(k):
                    if place != left_out:
                        key -= binomials[f - 1 - members[i, place], k - at]
                        at += 1
                key -= binomials[f - 1 - variable, 1]
                low, high = 0, m
                while low < high:
                    middle = (low + high) // 2
                    if keys[middle] < key:
                        low = middle + 1
                    else:
                        high = middle
                if low == m or keys[low] != key:
                    same = False
                    break
                top = max(top, best[low])
            if same:
                if grown.shape[0] > 0:
                    grown[found, 0], grown[found, 1], bests[found] = i, variable, top
                found += 1
    return found


def _growing(data, limits, families, starts, candidates, scores, occupied):
    """The seconds of `score_grown` uncompiled: only where no table can be too large."""
    rows = data[0].shape[1]
    if rows * data[3][0].max() > limits[1]:
        return math.inf
    per_row = 4e-9 if data[1].shape[0] == 0 else 3e-8
    return 1e-4 * families.shape[0] + candidates.shape[0] * (1e-5 + per_row * rows)


def _extend_plainly(data, limits, family, candidates, scores, occupied):
    """`_extend` by NumPy, all candidates at once."""
    codes, weights, bitmaps, layout, lookup, terms = data
    cards, parents, child = layout[0], family[:-1], family[-1]
    r = cards[child]
    if plain.bits_pay(data, family, candidates):
        base = int(cards[family].prod())
        starts = np.concatenate([[0], np.cumsum(base * cards[candidates])])
        counts = np.empty(starts[-1] + base, dtype=np.int64)
        plain.count_bits(bitmaps, layout[1], cards, family, candidates, starts, counts)
        counts = counts[: starts[-1]]
    else:
        configs = plain.configurations(codes, cards, parents)
        counts, starts = plain.extended(codes, cards, weights, configs, (codes[child], r), candidates)
    configurations = float(np.prod(cards[parents], dtype=np.float64)) * cards[candidates]
    scores[:] = _scores(counts, starts, r, configurations, lookup, terms)
    occupied[:] = np.add.reduceat(counts > 0, starts[:-1], dtype=np.int64) if is_none(lookup) else 0


@patient(1.0, _growing)
def score_grown(data, limits, families, starts, candidates, scores, occupied):
    """Scores of base families extended by one candidate each; a base has many candidates.

    data         as in kernels.neighbours: (codes, weights, bitmaps, layout, lookup, terms)
    limits       (2,) int64     most cells of a dense table, above which only occurring configurations are
                                stored; and most cells of any table
    families     (b, k) int64   [parents..., child] of each base
    starts       (b + 1,) int64 where the candidates of each base begin
    candidates   (c,) int64
    scores       (c,) float64   overwritten; minus infinity where the table would be too large
    occupied     (c,) int64     overwritten: cells that occur; fewer where the table would be too large
    """
    for base in range(families.shape[0]):
        first, last = starts[base], starts[base + 1]
        if last > first:
            _extend(
                data,
                limits,
                families[base],
                candidates[first:last],
                scores[first:last],
                occupied[first:last],
            )


@part(instead=_extend_plainly)
def _extend(data, limits, family, candidates, scores, occupied):
    codes, weights, _, layout, lookup, terms = data
    cards, first = layout[0], layout[1]
    child = family[family.shape[0] - 1]
    r = cards[child]
    cells = 1.0
    sliced = weights.shape[0] == 0
    for variable in family:
        cells *= cards[variable]
        sliced = sliced and first[variable] >= 0
    most = 1
    for variable in candidates:
        most = max(most, cards[variable])
        sliced = sliced and first[variable] >= 0
    if sliced and cells <= MASKED_CELLS and cells * (most - 1) <= MASKED_CELLS:
        _extend_by_bits(data, family, candidates, scores, occupied)
        return
    parents = family[: family.shape[0] - 1]
    numbers, configurations = _configurations(codes, cards, parents, limits[0] // (most * r))
    room = min(configurations * most * r, max(limits[0], configurations * r))
    table = np.empty(room, dtype=np.int64)
    values = codes[child]
    for c in range(candidates.shape[0]):
        states = cards[candidates[c]]
        column = codes[candidates[c]]
        if configurations * states * r > room:
            scores[c], occupied[c] = _extend_sparse(data, limits, child, numbers, column, cells / r * states)
            continue
        some = table[: configurations * states * r]
        for cell in range(some.shape[0]):
            some[cell] = 0
        if weights.shape[0] == 0:
            for row in range(numbers.shape[0]):
                some[(numbers[row] * states + column[row]) * r + values[row]] += 1
        else:
            for row in range(numbers.shape[0]):
                some[(numbers[row] * states + column[row]) * r + values[row]] += weights[row]
        scores[c], occupied[c] = _table_score(some, r, cells / r * states, lookup, terms)


@part
def _extend_sparse(data, limits, child, numbers, column, configurations):
    """The score of a base with one candidate, from the configurations that occur, and its number of cells.

    numbers         (n,) int64   the number of every row's configuration of the base
    column          (n,)         codes of the candidate
    configurations  their number in all, occurring or not
    """
    codes, weights, _, layout, lookup, terms = data
    cards = layout[0]
    r = cards[child]
    n = numbers.shape[0]
    states = np.int64(0)
    for row in range(n):
        states = max(states, np.int64(column[row]) + 1)
    keys, joint = np.empty((1, n), dtype=np.int64), np.empty(n, dtype=np.int32)
    for row in range(n):
        keys[0, row] = numbers[row] * states + column[row]
    distinct = densify(keys, joint)
    if distinct * r > limits[1]:
        return -np.inf, np.int64(distinct)
    table = np.zeros(distinct * r, dtype=np.int64)
    values = codes[child]
    for row in range(n):
        table[joint[row] * r + values[row]] += 1 if weights.shape[0] == 0 else weights[row]
    return _table_score(table, r, configurations, lookup, terms)


@part
def _extend_by_bits(data, family, candidates, scores, occupied):
    bitmaps, layout, lookup, terms = data[2], data[3], data[4], data[5]
    cards = layout[0]
    r = cards[family[family.shape[0] - 1]]
    base = 1
    for variable in family:
        base *= cards[variable]
    starts = np.empty(candidates.shape[0] + 1, dtype=np.int64)
    end = 0
    for c in range(candidates.shape[0]):
        starts[c] = end
        end += base * cards[candidates[c]]
    starts[candidates.shape[0]] = end
    counts = np.empty(end + base, dtype=np.int64)
    count_bits(bitmaps, layout[1], cards, family, candidates, starts, counts)
    for c in range(candidates.shape[0]):
        table = counts[starts[c] : starts[c + 1]]
        scores[c], occupied[c] = _table_score(table, r, float(table.shape[0] // r), lookup, terms)


@part
def _configurations(codes, cards, parents, limit):
    """The number of every row's parent configuration, and how many numbers there are.

    While there are few, every configuration has a number; then only those that occur, renumbered
    whenever a further parent would exceed the limit.
    """
    n = codes.shape[1]
    numbers = np.zeros(n, dtype=np.int64)
    total = 1
    for parent in parents:
        states = cards[parent]
        column = codes[parent]
        for row in range(n):
            numbers[row] = numbers[row] * states + column[row]
        total *= states
        if total > limit:
            total = _renumber(numbers, total)
    return numbers, total


@inner
def _renumber(numbers, total):
    """Replace numbers below `total` by 0, 1, ... in order of appearance; returns how many are distinct."""
    place = np.full(total, -1, dtype=np.int64)
    distinct = 0
    for row in range(numbers.shape[0]):
        if place[numbers[row]] < 0:
            place[numbers[row]] = distinct
            distinct += 1
        numbers[row] = place[numbers[row]]
    return distinct


@by_type
def _table_score(table, r, configurations, lookup, terms):
    """The score of one family and the number of its occurring cells, if the form of score needs it."""
    return _dirichlet_score if is_none(lookup) else _likelihood_score


def _likelihood_score(table, r, configurations, lookup, terms):
    starts = np.empty(2, dtype=np.int64)
    starts[0], starts[1] = 0, table.shape[0]
    sums = np.empty((3, 1), dtype=np.float64)
    sum_xlogx(table, starts, np.full(1, r), lookup, terms[1:4], sums)
    return sums[0, 0] - sums[1, 0] - terms[4] * (configurations * (r - 1)), np.int64(0)


def _dirichlet_score(table, r, configurations, lookup, terms):
    starts = np.empty(2, dtype=np.int64)
    starts[0], starts[1] = 0, table.shape[0]
    occupied = np.int64(0)
    for cell in range(table.shape[0]):
        if table[cell] > 0:
            occupied += 1
    priors = np.empty((2, 1), dtype=np.float64)
    if terms[5] > 0:
        priors[0, 0] = terms[5] / (configurations * r)
        priors[1, 0] = terms[5] / configurations
    else:
        priors[0, 0] = terms[4]
        priors[1, 0] = terms[4] * r
    sums = np.empty((2, 1), dtype=np.float64)
    sum_gamma(table, starts, np.full(1, r), priors, terms[1:4], sums)
    return sums[0, 0] - sums[1, 0], occupied
