"""Networks by their definitions: full enumeration, plain counting, matrix algebra."""

from collections import Counter
from itertools import product
from math import prod

import numpy as np


def joint(network):
    """{codes of all nodes: probability}, multiplying one entry of each table."""
    return {
        codes: prod(
            float(network.tables[i][tuple(codes[v] for v in (*network.dag.parents[i], i))])
            for i in range(len(network.dag))
        )
        for codes in product(*(range(len(states)) for states in network.states))
    }


def conditional(network, targets, evidence):
    """{codes of the targets: P(targets | evidence)} by adding up the joint; None for impossible evidence."""
    totals = Counter()
    for codes, p in joint(network).items():
        if all(codes[node] == code for node, code in evidence.items()):
            totals[tuple(codes[t] for t in targets)] += p
    whole = sum(totals.values())
    if whole == 0:
        return None
    cells = product(*(range(len(network.states[t])) for t in targets))
    return {cell: totals[cell] / whole for cell in cells}


def largest_probability(network, evidence):
    """The probability of the most probable assignment that agrees with the evidence."""
    return max(
        p
        for codes, p in joint(network).items()
        if all(codes[node] == code for node, code in evidence.items())
    )


def urn(rows, child, parents, cards, start, weights=None):
    """{parent values: shares} of an urn a configuration that starts with `start` balls a state.

    Each row adds a ball (or its weight) of the child's state to the urn of its parents' values; the
    shares at the end predict the next row. An empty urn has None.
    """
    urns = {config: [start] * cards[child] for config in product(*(range(cards[p]) for p in parents))}
    for i, row in enumerate(rows):
        urns[tuple(row[p] for p in parents)][row[child]] += 1 if weights is None else weights[i]
    return {config: [b / sum(balls) for b in balls] if sum(balls) else None for config, balls in urns.items()}


def gaussian_joint(network):
    """Mean (I - B)^-1 b and covariance (I - B)^-1 D (I - B)^-T."""
    p = len(network.dag)
    arcs = np.zeros((p, p))
    for child, parents in enumerate(network.dag.parents):
        for parent, weight in zip(parents, network.coefficients[child], strict=True):
            arcs[child, parent] = weight
    spread = np.linalg.inv(np.eye(p) - arcs)
    return spread @ network.intercepts, spread @ np.diag(network.variances) @ spread.T


def gaussian_conditional(network, targets, evidence):
    """Mean and covariance of the targets by blocks of the precision matrix of targets and evidence."""
    mean, covariance = gaussian_joint(network)
    t, e = list(targets), list(evidence)
    within = [*t, *e]
    precision = np.linalg.inv(covariance[np.ix_(within, within)])
    k = len(t)
    rest = np.linalg.inv(precision[:k, :k])
    shift = np.array([evidence[node] - mean[node] for node in e])
    return mean[t] - rest @ precision[:k, k:] @ shift, rest


# ---- mixed networks


def configurations(network):
    """{node: code} of every configuration of all discrete nodes, with its probability."""
    nodes = [i for i, one in enumerate(network.distributions) if one.states is not None]
    for codes in product(*(range(len(network.distributions[i].states)) for i in nodes)):
        found = dict(zip(nodes, codes, strict=True))
        tables = {i: network.distributions[i].table for i in nodes}
        p = prod(float(tables[i][tuple(found[v] for v in (*network.dag.parents[i], i))]) for i in nodes)
        yield found, p


def continuous_part(network, codes):
    """Nodes, mean and covariance of all continuous nodes given a state of every discrete one."""
    nodes = [i for i, one in enumerate(network.distributions) if one.states is None]
    p = len(nodes)
    arcs, start, noise = np.zeros((p, p)), np.zeros(p), np.zeros(p)
    for row, i in enumerate(nodes):
        one, parents = network.distributions[i], network.dag.parents[i]
        numbers = [v for v in parents if v not in codes]
        if hasattr(one, "intercepts"):
            at = tuple(codes[v] for v in parents if v in codes)
            start[row], noise[row], weights = one.intercepts[at], one.variances[at], one.coefficients[at]
        else:
            start[row], noise[row], weights = one.intercept, one.variance, one.coefficients
        for v, weight in zip(numbers, weights, strict=True):
            arcs[row, nodes.index(v)] = weight
    spread = np.linalg.inv(np.eye(p) - arcs)
    return nodes, spread @ start, spread @ np.diag(noise) @ spread.T


def mixed_posterior(network, evidence):
    """[(codes, P(codes, evidence), nodes, mean, covariance)]: the continuous nodes given codes and evidence.

    By the inverse of the covariance matrix of the evidence, one configuration of all discrete nodes after
    the other; `evidence` is {node: code or number}.
    """
    from scipy.stats import multivariate_normal

    found = []
    for codes, p in configurations(network):
        if p == 0 or any(codes[v] != value for v, value in evidence.items() if v in codes):
            continue
        nodes, mean, covariance = continuous_part(network, codes)
        e = [row for row, i in enumerate(nodes) if i in evidence]
        off = np.array([evidence[nodes[row]] - mean[row] for row in e])
        if e:
            within = covariance[np.ix_(e, e)]
            p *= multivariate_normal(np.zeros(len(e)), within).pdf(off)
            gain = covariance[:, e] @ np.linalg.inv(within)
            mean, covariance = mean + gain @ off, covariance - gain @ covariance[e, :]
        found.append((codes, p, nodes, mean, covariance))
    return found
