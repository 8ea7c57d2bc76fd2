"""Correlations of pairs of columns, computed from the columns when asked for, and regressions on them.

A correlation is always the same sum in the same order, rounded: whoever asks gets the same bits. Recent ones
are remembered in a table with one slot for many pairs, which changes the time alone.
"""

import math
from collections import namedtuple

import numpy as np

from bayescout.kernels.patience import inner, patient

Columns = namedtuple("Columns", "values roots keys kept")
"""The data of wide tables.

values  (p, n) float64   the columns less their means; times the square roots of the weights, if there are any
roots   (p,) float64     the root of the sum of squares of each
keys    (s,) int64       the pair in each slot, or -1; s is a power of two
kept    (s,) float64     its correlation
"""

CORRELATION_UNIT = 2.0**42
SCORE_UNIT = 2.0**24


@inner
def product(one, two):
    """The sum of products of two vectors, in eight interleaved parts."""
    n = one.shape[0]
    s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    whole = n - n % 8
    for i in range(0, whole, 8):
        s0 += one[i] * two[i]
        s1 += one[i + 1] * two[i + 1]
        s2 += one[i + 2] * two[i + 2]
        s3 += one[i + 3] * two[i + 3]
        s4 += one[i + 4] * two[i + 4]
        s5 += one[i + 5] * two[i + 5]
        s6 += one[i + 6] * two[i + 6]
        s7 += one[i + 7] * two[i + 7]
    total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
    for i in range(whole, n):
        total += one[i] * two[i]
    return total


@inner
def correlation(columns, a, b):
    """The correlation of two columns, a multiple of 2**-42."""
    if a == b:
        return 1.0
    values, roots, keys, kept = columns
    one, two = min(a, b), max(a, b)
    key = np.int64(one) * values.shape[0] + two
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64(mixed >> np.uint64(20)) & (keys.shape[0] - 1)
    if keys[slot] == key:
        return kept[slot]
    value = product(values[one], values[two]) / (roots[one] * roots[two])
    value = np.rint(value * CORRELATION_UNIT) / CORRELATION_UNIT
    keys[slot], kept[slot] = key, value
    return value


@patient(0.3, lambda values, roots, lefts, *_: (1e-5 + 3e-7 * values.shape[1]) * lefts.shape[0])
def correlate_pairs(values, roots, lefts, rights, out):
    """The correlation of each pair of columns, nothing remembered.

    lefts, rights  (k,) integers
    out            (k,) float64   overwritten
    """
    for i in range(lefts.shape[0]):
        one, two = min(lefts[i], rights[i]), max(lefts[i], rights[i])
        value = product(values[one], values[two]) / (roots[one] * roots[two])
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


@inner
def worth(half, residual):
    """The log-likelihood of a residual but for what does not depend on it, on the grid of Gaussian scores."""
    return np.rint(-half * math.log(residual) * SCORE_UNIT) / SCORE_UNIT
