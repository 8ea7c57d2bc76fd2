"""Conditional and degenerate Gaussian scores from their definitions."""

from __future__ import annotations

import math

import numpy as np

from tests.reference import scores as plain

FEW, PRIOR, FLOOR, RIDGE = 10, 1.0, 1e-10, 2.0**-20


def rows_by_configuration(table, parents):
    """The rows of each configuration of the discrete parents that occurs."""
    codes = [table.array(table.names[p]) for p in parents if table.states[p] is not None]
    found = {}
    for row, config in enumerate(zip(*codes, strict=True) if codes else [()] * table.n_rows):
        found.setdefault(tuple(int(c) for c in config), []).append(row)
    return list(found.values())


def overall(values, weights):
    """The maximum-likelihood variance of a column."""
    mean = np.average(values, weights=weights)
    return float(np.average((values - mean) ** 2, weights=weights))


def fit_by_least_squares(y, design, weights):
    """The log-density of the rows at the least-squares coefficients and the mean squared error."""
    root = np.sqrt(weights)
    centred = design - np.average(design, axis=0, weights=weights) if design.size else design
    full = np.column_stack([np.ones(len(y)), centred])
    coefficients = np.linalg.lstsq(full * root[:, None], y * root, rcond=None)[0]
    errors = y - full @ coefficients
    variance = float(np.average(errors**2, weights=weights))
    return normal(errors, variance, weights)


def normal(errors, variance, weights):
    density = -0.5 * np.log(2 * math.pi * variance) - errors**2 / (2 * variance)
    return float(np.sum(weights * density))


def fit_shrunk(y, design, weights, variances):
    """The log-density of the rows at a covariance matrix shrunk to the overall variances."""
    values = np.column_stack([design, y])
    centred = values - np.average(values, axis=0, weights=weights)
    scatter = (centred * weights[:, None]).T @ centred
    matrix = (scatter + PRIOR * np.diag(variances)) / (weights.sum() + PRIOR)
    k = design.shape[1]
    slopes = np.linalg.solve(matrix[:k, :k], matrix[:k, k])
    variance = matrix[k, k] - slopes @ matrix[:k, k]
    return normal(centred[:, k] - centred[:, :k] @ slopes, float(variance), weights)


def conditional_gaussian(table, child, parents):
    """The log-likelihood of a continuous child; None if some fit is saturated or nearly singular."""
    names = table.names
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    y = table.array(names[child])
    used = [table.array(names[p]) for p in parents if table.states[p] is None]
    variances = [overall(column, weights) for column in (*used, y)]
    total = 0.0
    for rows in rows_by_configuration(table, parents):
        own = weights[rows]
        if own.sum() < FEW and any(table.states[p] is not None for p in parents):
            design = np.column_stack([column[rows] for column in used]) if used else np.empty((len(rows), 0))
            total += fit_shrunk(y[rows], design, own, variances)
            continue
        vary = [
            column[rows]
            for column, variance in zip(used, variances, strict=False)
            if overall(column[rows], own) > FLOOR * variance
        ]
        if len(rows) <= len(used) + 1:
            return None
        n = own.sum()
        if overall(y[rows], own) <= FLOOR * variances[-1]:
            total += -n / 2 * math.log(2 * math.pi * variances[-1] * PRIOR / (n + PRIOR))
            continue
        scaled = [column / math.sqrt(overall(column, own)) for column in vary]
        design = np.column_stack(scaled) if scaled else np.empty((len(rows), 0))
        if scaled and np.linalg.cond(np.corrcoef(np.column_stack([*scaled, y[rows]]).T)) > 1e8:
            return None
        total += fit_by_least_squares(y[rows], design, own)
    return total


def indicator_matrix(table):
    """The covariance matrix of all columns, discrete ones as indicators, and the variable of each column."""
    columns, owners = [], []
    for i, states in enumerate(table.states):
        cells = table.array(table.names[i])
        if states is None:
            columns.append(np.asarray(cells))
            owners.append(i)
            continue
        occurring = [s for s in range(len(states)) if (cells == s).any()]
        for state in occurring[:-1]:
            columns.append((cells == state).astype(float))
            owners.append(i)
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    values = np.array(columns)
    centred = values - np.average(values, axis=1, weights=weights)[:, None]
    covariance = (centred * weights) @ centred.T / weights.sum()
    owners = np.array(owners)
    discrete = np.array([table.states[i] is not None for i in owners])
    shrink = np.sqrt(1 + RIDGE * discrete)
    apart = owners[:, None] != owners[None, :]
    return np.where(apart, covariance / np.outer(shrink, shrink), covariance), owners


def degenerate_gaussian(table, child, parents):
    """log-likelihood of the family's block less that of the parents' block, and the parameters."""
    matrix, owners = indicator_matrix(table)
    n = table.n_rows if table.weights is None else table.weights.sum()

    def block(variables):
        where = np.isin(owners, list(variables))
        size = int(where.sum())
        own = matrix[np.ix_(where, where)]
        scale = np.sqrt(np.diag(own))
        log_det = (
            np.linalg.slogdet(own / np.outer(scale, scale))[1] + 2 * np.log(scale).sum() if size else 0.0
        )
        return -n / 2 * (log_det + size * math.log(2 * math.pi) + size), size * (size + 3) / 2

    joint, given = block({child, *parents}), block(parents)
    return joint[0] - given[0], joint[1] - given[1]


def marginal(table, child, parents, ess=1.0, rows_in_mean=1.0, degrees=None):
    """Predict each row of the child from the rows before it in its configuration.

    An urn for a discrete child; for a continuous one Student's t of it and its continuous parents, less that
    of the parents.
    """
    whole = [1] * table.n_rows if table.weights is None else table.weights.astype(int).tolist()
    taken = np.repeat(np.arange(table.n_rows), whole)
    if table.states[child] is not None:
        rows = list(zip(*(table.array(name)[taken].tolist() for name in table.names), strict=True))
        q, states = math.prod(len(table.states[p]) for p in parents), len(table.states[child])
        return plain.dirichlet(rows, child, parents, states, ess / (q * states))
    used = [i for i, states in enumerate(table.states) if states is None]
    columns = np.array([table.array(table.names[i])[taken] for i in used])
    n = len(used)
    degrees = n + 2 if degrees is None else degrees
    weight = rows_in_mean * (degrees - n - 1) / (rows_in_mean + 1)
    prior = rows_in_mean, degrees, weight, columns.mean(axis=1)
    given = [used.index(p) for p in parents if table.states[p] is None]
    total = 0.0
    for rows in rows_by_configuration(table.take(taken), parents):
        own = columns[:, rows]
        total += plain.log_marginal_gaussian(own, [*given, used.index(child)], *prior)
        total -= plain.log_marginal_gaussian(own, given, *prior) if given else 0.0
    return total
