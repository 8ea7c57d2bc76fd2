"""Correlations of pairs of columns, computed from the columns when asked for, and regressions on them.

A correlation is always the same sum in the same order, rounded: whoever asks gets the same bits. Recent ones
are remembered in a table with one slot for many pairs, which changes the time alone.
"""

import math
from collections import namedtuple

import numpy as np

from bayescout.kernels.patience import inner, patient

Columns = namedtuple("Columns", "values shifts roots keys kept")
"""The data of wide tables.

values  (p, n) float64|float32   the columns
shifts  (p, 2) float64   what is taken from each, one after the other: its mean, as far as not taken yet
roots   (p,) float64     the root of the sum of squares of each
keys    (s,) int64       the pair in each slot, or -1; s is a power of two
kept    (s,) float64     its correlation
"""

CORRELATION_UNIT = 2.0**42
SCORE_UNIT = 2.0**24


@inner
def product(values, shifts, a, b):
    """The sum of products of two columns less their means, in float64 and in eight interleaved parts."""
    one, two, m, o = values[a], values[b], shifts[a, 0], shifts[b, 0]
    if shifts[a, 1] != 0.0 or shifts[b, 1] != 0.0:
        return shifted_product(one, two, m, o, shifts[a, 1], shifts[b, 1])
    n = one.shape[0]
    s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    whole = n - n % 8
    for i in range(0, whole, 8):
        s0 += (one[i] - m) * (two[i] - o)
        s1 += (one[i + 1] - m) * (two[i + 1] - o)
        s2 += (one[i + 2] - m) * (two[i + 2] - o)
        s3 += (one[i + 3] - m) * (two[i + 3] - o)
        s4 += (one[i + 4] - m) * (two[i + 4] - o)
        s5 += (one[i + 5] - m) * (two[i + 5] - o)
        s6 += (one[i + 6] - m) * (two[i + 6] - o)
        s7 += (one[i + 7] - m) * (two[i + 7] - o)
    total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
    for i in range(whole, n):
        total += (one[i] - m) * (two[i] - o)
    return total


@inner
def shifted_product(one, two, m, o, d, e):
    """The same where the mean is taken twice from one of them."""
    n = one.shape[0]
    s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    whole = n - n % 8
    for i in range(0, whole, 8):
        s0 += ((one[i] - m) - d) * ((two[i] - o) - e)
        s1 += ((one[i + 1] - m) - d) * ((two[i + 1] - o) - e)
        s2 += ((one[i + 2] - m) - d) * ((two[i + 2] - o) - e)
        s3 += ((one[i + 3] - m) - d) * ((two[i + 3] - o) - e)
        s4 += ((one[i + 4] - m) - d) * ((two[i + 4] - o) - e)
        s5 += ((one[i + 5] - m) - d) * ((two[i + 5] - o) - e)
        s6 += ((one[i + 6] - m) - d) * ((two[i + 6] - o) - e)
        s7 += ((one[i + 7] - m) - d) * ((two[i + 7] - o) - e)
    total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
    for i in range(whole, n):
        total += ((one[i] - m) - d) * ((two[i] - o) - e)
    return total


@inner
def correlation(columns, a, b):
    """The correlation of two columns, a multiple of 2**-42."""
    if a == b:
        return 1.0
    values, shifts, roots, keys, kept = columns
    one, two = min(a, b), max(a, b)
    key = np.int64(one) * values.shape[0] + two
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64(mixed >> np.uint64(20)) & (keys.shape[0] - 1)
    if keys[slot] == key:
        return kept[slot]
    value = product(values, shifts, one, two) / (roots[one] * roots[two])
    value = np.rint(value * CORRELATION_UNIT) / CORRELATION_UNIT
    keys[slot], kept[slot] = key, value
    return value


@patient(0.3, lambda values, shifts, roots, lefts, *_: (1e-5 + 1e-6 * values.shape[1]) * lefts.shape[0])
def correlate_pairs(values, shifts, roots, lefts, rights, out):
    """The correlation of each pair of columns, nothing remembered.

    lefts, rights  (k,) integers
    out            (k,) float64   overwritten
    """
    for i in range(lefts.shape[0]):
        one, two = min(lefts[i], rights[i]), max(lefts[i], rights[i])
        value = product(values, shifts, one, two) / (roots[one] * roots[two])
        out[i] = np.rint(value * CORRELATION_UNIT) / CORRELATION_UNIT


@inner
def factorise(columns, parents, k, floor, lower, use):
    """Cholesky of the correlations of the first k parents, skipping those that earlier ones determine.

    lower  (>= k, >= k) float64   overwritten
    use    (>= k,) int64          overwritten: the parents used, in order
    Returns the number used and the log-determinant, skipped parents counted at the floor.
    """
    used, log_det = 0, 0.0
    for i in range(k):
        residual = solve_row(columns, parents[i], lower, use, used, lower[used])
        if residual > floor:
            lower[used, used] = math.sqrt(residual)
            use[used] = parents[i]
            used += 1
            log_det += math.log(residual)
        else:
            log_det += math.log(floor)
    return used, log_det


@inner
def solve_row(columns, variable, lower, use, used, row):
    """row[:used] = the inverse of the factor times the correlations; returns the residual of the variable."""
    residual = 1.0
    for i in range(used):
        value = correlation(columns, use[i], variable)
        for j in range(i):
            value -= lower[i, j] * row[j]
        value /= lower[i, i]
        row[i] = value
        residual -= value * value
    return residual


@inner
def residual_of(columns, child, parents, k, floor):
    """The residual variance of a child given its first k parents, as a share of its own."""
    lower = np.empty((k + 1, k + 1), dtype=np.float64)
    use = np.empty(k + 1, dtype=np.int64)
    used, _ = factorise(columns, parents, k, floor, lower, use)
    return max(solve_row(columns, child, lower, use, used, lower[used]), floor)


@patient(1.0, lambda columns, members, *_: 1e-4 * members.shape[0])
def regress_wide(columns, members, bounds, floor, out):
    """As `regression.regress_families`, with the correlations computed from the columns.

    members  flat int64       [parents..., child] of one family after the other
    bounds   (k + 1,) int64
    out      (k, 2) float64   overwritten: residual, log-determinant
    """
    for f in range(bounds.shape[0] - 1):
        family = members[bounds[f] : bounds[f + 1]]
        k = family.shape[0] - 1
        lower = np.empty((k + 1, k + 1), dtype=np.float64)
        use = np.empty(k + 1, dtype=np.int64)
        used, out[f, 1] = factorise(columns, family, k, floor, lower, use)
        out[f, 0] = max(solve_row(columns, family[k], lower, use, used, lower[used]), floor)


@patient(1.0, lambda columns, members, begins, candidates, *_: 1e-4 * candidates.shape[0])
def extend_wide(columns, members, begins, candidates, bounds, floor, out):
    """As `regress_wide` of families with one further parent, which comes last.

    members     flat int64       [parents..., child] of one family after the other
    begins      (k + 1,) int64   where each begins
    candidates  (c,) int64       the further parents of one family after the other
    bounds      (k + 1,) int64   where those of each begin
    out         (c, 2) float64   overwritten: residual, log-determinant
    """
    for f in range(begins.shape[0] - 1):
        family = members[begins[f] : begins[f + 1]]
        k = family.shape[0] - 1
        lower = np.empty((k + 2, k + 2), dtype=np.float64)
        use, row = np.empty(k + 1, dtype=np.int64), np.empty(k + 1, dtype=np.float64)
        used, log_det = factorise(columns, family, k, floor, lower, use)
        base = solve_row(columns, family[k], lower, use, used, row)
        for c in range(bounds[f], bounds[f + 1]):
            last = lower[used]
            own = solve_row(columns, candidates[c], lower, use, used, last)
            residual, more = base, math.log(floor)
            if own > floor:
                more = math.log(own)
                shared = correlation(columns, candidates[c], family[k])
                for j in range(used):
                    shared -= last[j] * row[j]
                shared /= math.sqrt(own)
                residual -= shared * shared
            out[c, 0], out[c, 1] = max(residual, floor), log_det + more


@inner
def worth(half, residual):
    """The log-likelihood of a residual but for what does not depend on it, on the grid of Gaussian scores."""
    return np.rint(-half * math.log(residual) * SCORE_UNIT) / SCORE_UNIT
