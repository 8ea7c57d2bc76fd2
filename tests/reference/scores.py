"""Slow scores from other definitions than the library's: no shared formula, no shared code."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import comb, log

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
