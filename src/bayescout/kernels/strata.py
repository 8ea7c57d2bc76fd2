"""Regressions within strata of the rows: scatter matrices for each stratum, and sums of what they explain.

A stratum is a configuration of discrete parents. Columns are in units of their overall standard deviation.
"""

import math

import numpy as np

from bayescout.kernels.jit import kernel
from bayescout.kernels.regression import regress_extensions, regress_families


@kernel
def add_sums(rows, strata, weights, sizes, totals, sums):
    """Add rows to the sums of the columns within each stratum, in their order.

    rows     (n, v) float64   one row of values per row of the table
    strata   (n,) int64       the stratum of each row
    weights  (n,) float64     of the rows, or empty if each counts once
    sizes    (q,) int64       added to: the rows of each stratum
    totals   (q,) float64     added to: the sums of their weights
    sums     (q, v) float64   added to
    """
    weighted = weights.shape[0] > 0
    for row in range(rows.shape[0]):
        stratum = strata[row]
        weight = weights[row] if weighted else 1.0
        sizes[stratum] += 1
        totals[stratum] += weight
        own = sums[stratum]
        for i in range(rows.shape[1]):
            own[i] += weight * rows[row, i]


@kernel
def add_scatters(rows, strata, weights, means, scatters):
    """Add rows to the centred sums of squares and products within each stratum, in their order.

    means     (q, v) float64     of the columns
    scatters  (q, v, v) float64  added to, in the lower triangle
    """
    v = rows.shape[1]
    weighted = weights.shape[0] > 0
    centred = np.empty(v)
    for row in range(rows.shape[0]):
        stratum = strata[row]
        weight = weights[row] if weighted else 1.0
        mean = means[stratum]
        for i in range(v):
            centred[i] = rows[row, i] - mean[i]
        for i in range(v):
            value = weight * centred[i]
            products = scatters[stratum, i]
            for j in range(i + 1):
                products[j] += value * centred[j]


@kernel
def scatter_rows(rows, strata, weights, sizes, totals, means, scatters):
    """The centred sums of squares and products of the columns within each stratum.

    rows      (n, v) float64     one row of values per row of the table
    strata    (n,) int64         the stratum of each row
    weights   (n,) float64       of the rows, or empty if each counts once
    sizes     (q,) int64         overwritten: the rows of each stratum
    totals    (q,) float64       overwritten: the sums of their weights
    means     (q, v) float64     overwritten
    scatters  (q, v, v) float64  overwritten
    """
    sizes[:] = 0
    totals[:] = 0.0
    means[:] = 0.0
    scatters[:] = 0.0
    add_sums(rows, strata, weights, sizes, totals, means)
    for stratum in range(sizes.shape[0]):
        if totals[stratum] > 0.0:
            means[stratum] /= totals[stratum]
    add_scatters(rows, strata, weights, means, scatters)
    for stratum in range(sizes.shape[0]):
        for i in range(rows.shape[1]):
            for j in range(i):
                scatters[stratum, j, i] = scatters[stratum, i, j]


SINGULAR = 1e-6
"""The determinant of a family's correlations above which each parent leaves more of itself than any floor,
and rounding little of what the child leaves, whatever the order in which they come."""


@kernel
def _pivoted(matrix, family, floor, lower, use):
    """The residual of a family's last variable, the parents of largest residual first; see `_residual`.

    So the parents alone, and not their order, decide which of them are left out, and how all is rounded.
    """
    k = family.shape[0] - 1
    rows = np.zeros((k + 1, k + 1))
    residuals = np.empty(k + 1)
    for place in range(k + 1):
        residuals[place] = matrix[family[place], family[place]]
    waiting = np.ones(k, dtype=np.bool_)
    used = 0
    while used < k:
        best = -1
        for place in range(k):
            if not waiting[place] or residuals[place] <= floor:
                continue
            more = residuals[place] - residuals[best] if best >= 0 else 1.0
            if more > 0.0 or (more == 0.0 and family[place] < family[best]):
                best = place
        if best < 0:
            break
        waiting[best] = False
        root = math.sqrt(residuals[best])
        for place in range(k + 1):
            if place == k or waiting[place]:
                value = matrix[family[best], family[place]]
                for j in range(used):
                    value -= rows[best, j] * rows[place, j]
                value /= root
                rows[place, used] = value
                residuals[place] -= value * value
        lower[used, :used] = rows[best, :used]
        lower[used, used] = root
        use[used] = family[best]
        used += 1
    lower[used, :used] = rows[k, :used]
    return residuals[k], used


@kernel
def _residual(matrix, family, floor, lower, use, slopes):
    """The residual of a family's last variable, and how many parents before it are used.

    lower   (k + 1, k + 1) float64  overwritten: the Cholesky factor, then the row of the child
    use     (k,) int64              overwritten: the parents used; the others are functions of earlier ones
    slopes  (k,) float64            overwritten: the regression coefficients of the parents used
    """
    used, determinant = 0, 1.0
    for place in range(family.shape[0]):
        variable = family[place]
        residual = matrix[variable, variable]
        for i in range(used):
            value = matrix[use[i], variable]
            for j in range(i):
                value -= lower[i, j] * lower[used, j]
            value /= lower[i, i]
            lower[used, i] = value
            residual -= value * value
        determinant *= max(residual, floor)
        if determinant < SINGULAR:
            residual, used = _pivoted(matrix, family, floor, lower, use)
            break
        if place == family.shape[0] - 1:
            break
        lower[used, used] = math.sqrt(residual)
        use[used] = variable
        used += 1
    for i in range(used - 1, -1, -1):
        value = lower[used, i]
        for j in range(i + 1, used):
            value -= lower[j, i] * slopes[j]
        slopes[i] = value / lower[i, i]
    return max(residual, floor), used


@kernel
def explained_in_strata(strata, family, candidates, settings, out):
    """The log-likelihood that the parents of a continuous variable explain, for each further parent.

    strata      (sizes, totals, few, matrices, variances): the rows and weights of each stratum; few (q,)
                bool, True where the matrix is shrunk; matrices (q, v, v) of correlations; variances (q, v)
    family      (k + 1,) int64   parents, and the child last
    candidates  (c,) int64       one more parent each; -1 for none
    settings    (floor, prior): the least residual, and the rows that a shrunk matrix counts in advance
    out         (c,) float64     overwritten; -inf where a stratum has too few rows for so many parents

    The sum over strata of -n/2 log(residual), and where the matrix is shrunk, of the change in the squared
    errors over twice the variance: the value is then the log-likelihood at the shrunk estimate.
    """
    sizes, totals, few, matrices, variances = strata
    floor, prior = settings
    k = family.shape[0] - 1
    child = family[k]
    members = np.empty(k + 2, dtype=np.int64)
    lower = np.empty((k + 2, k + 2))
    use = np.empty(k + 1, dtype=np.int64)
    slopes = np.empty(k + 1)
    for c in range(candidates.shape[0]):
        members[:k] = family[:k]
        length = k + 1
        if candidates[c] >= 0:
            members[k] = candidates[c]
            length = k + 2
        members[length - 1] = child
        found = 0.0
        for q in range(sizes.shape[0]):
            if totals[q] <= 0.0:
                continue
            if not few[q] and sizes[q] <= length:
                found = -np.inf
                break
            residual, used = _residual(matrices[q], members[:length], floor, lower, use, slopes)
            found -= totals[q] / 2 * math.log(residual)
            if few[q]:
                own = variances[q, child]
                inverse = 1.0 / (own * residual)
                for i in range(used):
                    inverse += slopes[i] * slopes[i] / (variances[q, use[i]] * residual)
                found += prior / 2 * (inverse - 1.0 / own)
        out[c] = found


@kernel
def determinants_in_strata(strata, family, candidates, out):
    """Weighted log-determinants of the columns of a family, and of its parents, for each further parent.

    strata      (totals, matrices, floors, degrees): the weights (q,) of the strata, all positive; matrices
                (q, v, v) of sums of squares and products; the least residual (v,) of each column; a number
    family      (k + 1,) int64   parents, and the child last
    candidates  (c,) int64       one more parent each; empty for none
    out         (c, 2) float64   overwritten; (1, 2) without candidates

    The sum over strata of (n + degrees + m) / 2 log|R| for the block R of the family's m columns; the same
    for the block of its parents.
    """
    totals, matrices, floors, degrees = strata
    found = np.empty_like(out)
    bounds = np.array([0, family.shape[0]])
    size = family.shape[0] + (1 if candidates.shape[0] > 0 else 0)
    out[:] = 0.0
    for q in range(totals.shape[0]):
        if candidates.shape[0] > 0:
            regress_extensions(matrices[q], family, candidates, floors, found)
        else:
            regress_families(matrices[q], family, bounds, floors, found)
        weight = (totals[q] + degrees + size) / 2
        for c in range(out.shape[0]):
            out[c, 0] += weight * (math.log(found[c, 0]) + found[c, 1])
            out[c, 1] += (weight - 0.5) * found[c, 1]
