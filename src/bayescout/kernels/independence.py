"""Partial correlations of a batch of pairs."""

from __future__ import annotations

import math

from bayescout.kernels.jit import kernel


@kernel
def _factorise(matrix, members, floor, factor):
    """The Cholesky factor of a block of a correlation matrix, one row per member.

    A pivot below `floor` is set to it: that member is a linear combination of those before it.
    """
    for i in range(len(members)):
        for j in range(i):
            value = matrix[members[i], members[j]]
            for k in range(j):
                value -= factor[i, k] * factor[j, k]
            factor[i, j] = value / factor[j, j]
        pivot = matrix[members[i], members[i]]
        for k in range(i):
            pivot -= factor[i, k] * factor[i, k]
        factor[i, i] = math.sqrt(max(pivot, floor))


@kernel
def partial_correlations(matrix, members, bounds, floor, factor, out):
    """The correlation of the last two members of each group, given the others.

    matrix   (p, p) float64   correlations
    members  flat int64       the groups, one after the other: the given variables, then the two
    bounds   (k + 1,) int64   start of each group
    factor   (m, m) float64   scratch, m the largest group
    out      (k,) float64     0 where one of the two is a linear combination of the given variables
    """
    for g in range(len(bounds) - 1):
        group = members[bounds[g] : bounds[g + 1]]
        size = len(group)
        _factorise(matrix, group, floor, factor)
        shared, rest = factor[size - 1, size - 2], factor[size - 1, size - 1]
        length = shared * shared + rest * rest
        left = factor[size - 2, size - 2]
        if left * left <= 2 * floor or length <= 2 * floor:
            out[g] = 0.0
        else:
            out[g] = shared / math.sqrt(length)
