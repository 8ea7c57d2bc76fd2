"""Slow scores from other definitions than the library's: no shared formula, no shared code."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import comb, lgamma, log, log1p, pi

import numpy as np


def counted(rows, child, parents, weights=None):
    """Cells and configurations of a family, by looking at one row after the other."""
    cells, configs = Counter(), Counter()
    for i, row in enumerate(rows):
        weight = 1 if weights is None else weights[i]
        config = tuple(row[p] for p in parents)
        cells[config, row[child]] += weight
        configs[config] += weight
    return cells, configs


def log_likelihood(rows, child, parents):
    """The log-probability of every row under the relative frequencies."""
    cells, configs = counted(rows, child, parents)
    return sum(
        log(cells[tuple(row[p] for p in parents), row[child]] / configs[tuple(row[p] for p in parents)])
        for row in rows
    )


def corrected_log_likelihood(rows, child, parents, r):
    """The log-probability of every row under Laplace-corrected frequencies."""
    cells, configs = counted(rows, child, parents)
    total = 0.0
    for row in rows:
        config = tuple(row[p] for p in parents)
        total += log((1 + cells[config, row[child]]) / (r + configs[config]))
    return total


def parameters(cards, child, parents):
    """Free parameters, by listing the configurations."""
    return sum(cards[child] - 1 for _ in product(*(range(cards[p]) for p in parents)))


def dirichlet(rows, child, parents, r, weight):
    """Predict each row from the rows before it (Polya's urn); no gamma function."""
    cells, configs, total = Counter(), Counter(), 0.0
    for row in rows:
        config = tuple(row[p] for p in parents)
        cell = (config, row[child])
        total += log((cells[cell] + weight) / (configs[config] + weight * r))
        cells[cell] += 1
        configs[config] += 1
    return total


def complexity(n, outcomes):
    """The parametric complexity of a multinomial, by summing over every composition of n."""
    if outcomes == 1:
        return 1.0
    total = 0.0
    for first in range(n + 1):
        share = (first / n) ** first * ((n - first) / n) ** (n - first) if n else 1.0
        total += comb(n, first) * share * complexity(n - first, outcomes - 1)
    return total


def mutual_information(rows, child, parents):
    """Relative entropy of the joint to the product of the margins, in nats."""
    n = len(rows)
    joint, configs = counted(rows, child, parents)
    values = Counter(row[child] for row in rows)
    return sum(
        count / n * log((count / n) / (configs[config] / n * (values[value] / n)))
        for (config, value), count in joint.items()
    )


def gaussian_log_likelihood(columns, child, parents):
    """The density of every residual of an ordinary least-squares fit."""
    n = columns.shape[1]
    design = np.column_stack([np.ones(n), *(columns[p] for p in parents)])
    beta, *_ = np.linalg.lstsq(design, columns[child], rcond=None)
    residual = columns[child] - design @ beta
    variance = residual @ residual / n
    return sum(-0.5 * log(2 * np.pi * variance) - e * e / (2 * variance) for e in residual)


# ---- Gaussian


def log_marginal_gaussian(columns, subset, rows_in_mean, degrees, weight, location):
    """log p(data of some variables) under a normal-Wishart prior, one row predicted after the other.

    The prior over all n variables has the mean `location`, held with the weight of `rows_in_mean` rows, and a
    precision matrix that is Wishart with `degrees` degrees of freedom and inverse scale `weight` times the
    identity; for d of the variables the degrees are n - d fewer. A row is then multivariate t, and the prior
    after it is normal-Wishart again.
    """
    d = len(subset)
    rows, mean = columns[subset].T, location[subset].copy()
    known, freedom = rows_in_mean, degrees - len(columns) + d
    scatter = weight * np.eye(d)
    total = 0.0
    for row in rows:
        nu = freedom - d + 1
        shape = scatter * (known + 1) / (known * nu)
        away = row - mean
        distance = away @ np.linalg.solve(shape, away)
        total += lgamma((nu + d) / 2) - lgamma(nu / 2) - d / 2 * log(nu * pi)
        total -= np.linalg.slogdet(shape)[1] / 2 + (nu + d) / 2 * log1p(distance / nu)
        scatter += known / (known + 1) * np.outer(away, away)
        mean += away / (known + 1)
        known, freedom = known + 1, freedom + 1
    return total


def bge(columns, child, parents, rows_in_mean=1.0, degrees=None):
    """The probability of a child's column given its parents' columns: that of both less that of the parents.

    The prior is the library's: the mean of the data, and E[covariance] = rows_in_mean / (rows_in_mean + 1) I.
    """
    n = len(columns)
    degrees = n + 2 if degrees is None else degrees
    weight = rows_in_mean * (degrees - n - 1) / (rows_in_mean + 1)
    prior = rows_in_mean, degrees, weight, columns.mean(axis=1)
    both = log_marginal_gaussian(columns, [*parents, child], *prior)
    return both - (log_marginal_gaussian(columns, list(parents), *prior) if parents else 0.0)
