"""Rows with empty cells by their definition: every way of filling them, one by one."""

from collections import Counter
from itertools import product
from math import inf, log

import numpy as np

from tests.reference.networks import gaussian_joint, joint


def completions(network, row):
    """[(codes, probability)] of every complete row that agrees with a row of codes, None where empty."""
    choices = [
        range(len(states)) if code is None else (code,)
        for states, code in zip(network.states, row, strict=True)
    ]
    whole = joint(network)
    return [(codes, whole[codes]) for codes in product(*choices)]


def log_likelihood(network, row):
    """log of the sum over every way of filling the row."""
    total = sum(p for _, p in completions(network, row))
    return log(total) if total else -inf


def posterior(network, row):
    """{codes: probability given the observed cells}; empty if the row is impossible."""
    ways = completions(network, row)
    total = sum(p for _, p in ways)
    return {codes: p / total for codes, p in ways if p} if total else {}


def marginal(network, row, target):
    """P(target | observed cells), None if the row is impossible."""
    shares = Counter()
    for codes, p in posterior(network, row).items():
        shares[codes[target]] += p
    return [shares[code] for code in range(len(network.states[target]))] if shares else None


def expected_counts(network, rows, weights):
    """For each node the expected counts of its table: each row's fillings counted by their probability."""
    counts = [np.zeros(table.shape) for table in network.tables]
    for row, weight in zip(rows, weights, strict=True):
        for codes, p in posterior(network, row).items():
            for node, parents in enumerate(network.dag.parents):
                counts[node][tuple(codes[v] for v in (*parents, node))] += weight * p
    return counts


def gaussian_conditional(network, row):
    """(log-density of the observed cells, mean and covariance of the empty ones) by the covariance matrix."""
    mean, covariance = gaussian_joint(network)
    empty = [i for i, cell in enumerate(row) if cell is None]
    there = [i for i, cell in enumerate(row) if cell is not None]
    away = np.array([row[i] for i in there]) - mean[there]
    within = covariance[np.ix_(there, there)]
    across = covariance[np.ix_(empty, there)]
    solved = (
        np.linalg.solve(within, np.column_stack([away, across.T])) if there else np.zeros((0, 1 + len(empty)))
    )
    density = -0.5 * (away @ solved[:, 0] + np.linalg.slogdet(2 * np.pi * within)[1]) if there else 0.0
    means = mean[empty] + across @ solved[:, 0]
    return density, means, covariance[np.ix_(empty, empty)] - across @ solved[:, 1:]
