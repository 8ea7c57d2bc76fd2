"""Residual variances of linear regressions from one scatter matrix, by Cholesky and Schur.

A variable whose residual falls below its floor is a linear function of the variables before it, to the
precision of float64: it then adds nothing, and its residual counts as the floor. So there is never a square
root of a negative number or a division by zero.
"""

import math

import numpy as np

from bayescout.kernels.jit import kernel


@kernel
def _factorise(matrix, parents, floors, lower, use):
    """Cholesky of matrix[parents, parents], skipping parents that the earlier ones determine.

    lower  (k, k) float64  overwritten: rows of the factor, for the parents used
    use    (k,) int64      overwritten: the parents used, in order
    Returns the number used and the log-determinant, skipped parents counted at the floor.
    """
    used, log_det = 0, 0.0
    for parent in parents:
        residual = _solve_row(matrix, parent, lower, use, used, lower[used])
        used, log = _append(parent, residual, floors[parent], lower, use, used)
        log_det += log
    return used, log_det


@kernel
def _append(variable, residual, floor, lower, use, used):
    """Append a variable whose row is in lower[used], or skip it if the earlier ones determine it.

    Returns the number used, and the logarithm of the residual, which counts at least as the floor.
    """
    if residual > floor:
        lower[used, used] = math.sqrt(residual)
        use[used] = variable
        return used + 1, math.log(residual)
    return used, math.log(floor)


@kernel
def _solve_row(matrix, variable, lower, use, used, row):
    """row[:used] = L^-1 matrix[use, variable]; returns the residual of the variable."""
    residual = matrix[variable, variable]
    for i in range(used):
        value = matrix[use[i], variable]
        for j in range(i):
            value -= lower[i, j] * row[j]
        value /= lower[i, i]
        row[i] = value
        residual -= value * value
    return residual


@kernel
def regress_families(matrix, members, bounds, floors, out):
    """The residual of each family's child and the log-determinant of its parents' block.

    matrix   (p, p) float64   a scatter, covariance or correlation matrix
    members  flat int64       [parents..., child] of one family after the other
    bounds   (k + 1,) int64
    floors   (p,) float64     the least residual of each variable
    out      (k, 2) float64   overwritten: residual, log-determinant
    """
    for f in range(bounds.shape[0] - 1):
        family = members[bounds[f] : bounds[f + 1]]
        k = family.shape[0] - 1
        child = family[k]
        lower = np.empty((k + 1, k + 1), dtype=np.float64)
        use = np.empty(k, dtype=np.int64)
        used, log_det = _factorise(matrix, family[:k], floors, lower, use)
        residual = _solve_row(matrix, child, lower, use, used, lower[used])
        out[f, 0] = max(residual, floors[child])
        out[f, 1] = log_det


@kernel
def regress_extensions(matrix, family, candidates, floors, out):
    """The same as regress_families for (child, parents + candidate), factorising the parents once.

    family      (k,) int64        [parents..., child]
    candidates  (c,) int64
    out         (c, 2) float64    overwritten: residual, log-determinant
    """
    k = family.shape[0] - 1
    child = family[k]
    lower = np.empty((k + 1, k + 1), dtype=np.float64)
    use = np.empty(k, dtype=np.int64)
    used, log_det = _factorise(matrix, family[:k], floors, lower, use)
    child_row = np.empty(k + 1, dtype=np.float64)
    row = np.empty(k + 1, dtype=np.float64)
    child_residual = _solve_row(matrix, child, lower, use, used, child_row)
    for c in range(candidates.shape[0]):
        candidate = candidates[c]
        own = _solve_row(matrix, candidate, lower, use, used, row)
        residual = child_residual
        if own > floors[candidate]:
            shared = matrix[candidate, child]
            for i in range(used):
                shared -= row[i] * child_row[i]
            residual -= shared * shared / own
        else:
            own = floors[candidate]
        out[c, 0] = max(residual, floors[child])
        out[c, 1] = log_det + math.log(own)


@kernel
def regress_all_extensions(matrix, members, bounds, floors, out):
    """The same as regress_extensions with every variable as a candidate, for one family after the other.

    members  flat int64            [parents..., child] of each family
    bounds   (k + 1,) int64
    out      (k * p, 2) float64    overwritten; meaningless for the members of a family themselves
    """
    p = matrix.shape[0]
    everyone = np.arange(p)
    for f in range(bounds.shape[0] - 1):
        family = members[bounds[f] : bounds[f + 1]]
        regress_extensions(matrix, family, everyone, floors, out[f * p : (f + 1) * p])


@kernel
def _append_blocks(matrix, starts, variables, floors, lower, use, used):
    """Append the columns of variables to a Cholesky factor, skipping those that earlier ones determine.

    Returns the number of columns used, and the sum of the logarithms of their residuals.
    """
    log_det = 0.0
    for variable in variables:
        for column in range(starts[variable], starts[variable + 1]):
            residual = _solve_row(matrix, column, lower, use, used, lower[used])
            used, log = _append(column, residual, floors[column], lower, use, used)
            log_det += log
    return used, log_det


@kernel
def _columns_of(starts, variables):
    columns = 0
    for variable in variables:
        columns += starts[variable + 1] - starts[variable]
    return columns


@kernel
def regress_blocks(matrix, starts, members, bounds, floors, out):
    """The log-determinant of each child's columns given the columns of its parents.

    matrix   (m, m) float64   a correlation matrix; a variable has one column or several
    starts   (p + 1,) int64   the first column of each variable
    members  flat int64       [parents..., child] of one family after the other
    bounds   (k + 1,) int64
    floors   (m,) float64     the least residual of each column
    out      (k,) float64     overwritten
    """
    for f in range(bounds.shape[0] - 1):
        family = members[bounds[f] : bounds[f + 1]]
        columns = _columns_of(starts, family)
        lower = np.empty((columns + 1, columns + 1), dtype=np.float64)
        use = np.empty(columns, dtype=np.int64)
        used, _ = _append_blocks(matrix, starts, family[:-1], floors, lower, use, 0)
        _, out[f] = _append_blocks(matrix, starts, family[-1:], floors, lower, use, used)


@kernel
def extend_blocks(matrix, starts, family, candidates, floors, out):
    """The same as regress_blocks for (child, parents + candidate), factorising the parents once.

    family      (k,) int64      [parents..., child]
    candidates  (c,) int64
    out         (c,) float64    overwritten
    """
    child = family[-1]
    begin, width = starts[child], starts[child + 1] - starts[child]
    most = 0
    for candidate in candidates:
        most = max(most, starts[candidate + 1] - starts[candidate])
    size = _columns_of(starts, family) + most
    lower = np.empty((size + 1, size + 1), dtype=np.float64)
    use = np.empty(size, dtype=np.int64)
    used, _ = _append_blocks(matrix, starts, family[:-1], floors, lower, use, 0)
    rows = np.empty((width, size + 1), dtype=np.float64)
    residuals = np.empty(width, dtype=np.float64)
    for i in range(width):
        residuals[i] = _solve_row(matrix, begin + i, lower, use, used, rows[i])
    for c in range(candidates.shape[0]):
        more, _ = _append_blocks(matrix, starts, candidates[c : c + 1], floors, lower, use, used)
        log_det = 0.0
        for i in range(width):
            residual = residuals[i]
            row = lower[more]
            row[:used] = rows[i, :used]
            for j in range(used, more):
                value = matrix[use[j], begin + i]
                for t in range(j):
                    value -= lower[j, t] * row[t]
                value /= lower[j, j]
                row[j] = value
                residual -= value * value
            more, log = _append(begin + i, residual, floors[begin + i], lower, use, more)
            log_det += log
        out[c] = log_det


@kernel
def extend_all_blocks(matrix, starts, members, bounds, floors, out):
    """The same as extend_blocks with every variable as a candidate, for one family after the other.

    members  flat int64         [parents..., child] of each family
    bounds   (k + 1,) int64
    out      (k * p,) float64   overwritten; meaningless for the members of a family themselves
    """
    p = starts.shape[0] - 1
    everyone = np.arange(p)
    for f in range(bounds.shape[0] - 1):
        family = members[bounds[f] : bounds[f + 1]]
        extend_blocks(matrix, starts, family, everyone, floors, out[f * p : (f + 1) * p])
