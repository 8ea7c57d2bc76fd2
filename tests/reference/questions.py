"""Questions to networks answered from their definitions, over the table of all assignments."""

import math
from itertools import product

import numpy as np

from tests.reference.networks import joint


def table(network):
    """The joint distribution of a discrete network as an array, one axis per node."""
    found = np.zeros([len(states) for states in network.states])
    for codes, p in joint(network).items():
        found[codes] = p
    return found


def observed(cells, evidence):
    """The cells that agree with the evidence; others are zero."""
    kept = np.zeros_like(cells)
    where = tuple(evidence.get(axis, slice(None)) for axis in range(cells.ndim))
    kept[where] = cells[where]
    return kept


def weighted(cells, axis, weights):
    """The cells multiplied by one number per state of a node."""
    shape = [1] * cells.ndim
    shape[axis] = len(weights)
    return cells * np.reshape(weights, shape)


def marginal(cells, axes):
    """The sums over all other axes, in the order asked, up to a factor."""
    others = tuple(a for a in range(cells.ndim) if a not in axes)
    kept = [a for a in range(cells.ndim) if a in axes]
    return cells.sum(axis=others).transpose([kept.index(a) for a in axes])


def fitted(cells, goals, rounds=3000):
    """Iterative proportional fitting of the whole table to one distribution per node."""
    cells = cells / cells.sum()
    for _ in range(rounds):
        before = cells
        for axis, goal in goals.items():
            now = marginal(cells, [axis])
            quotients = np.divide(goal, now, out=np.zeros_like(now), where=now > 0)
            cells = weighted(cells, axis, quotients)
        if np.abs(cells - before).max() < 1e-15:
            break
    return cells


def best(cells, axes):
    """[(codes, probability)] of all assignments of some nodes that can be, the most probable first."""
    found = marginal(cells, axes) / cells.sum()
    pairs = [(codes, float(found[codes])) for codes in product(*map(range, found.shape)) if found[codes] > 0]
    return sorted(pairs, key=lambda pair: -pair[1])


def mutual_information(cells, a, b):
    """sum p log(p / (p_a p_b)), one term at a time."""
    pairs = marginal(cells, [a, b]) / cells.sum()
    total = 0.0
    for (i, j), p in np.ndenumerate(pairs):
        if p > 0:
            total += p * math.log(p / (pairs[i].sum() * pairs[:, j].sum()))
    return total


def changed_row(values, k, x):
    """A row of a table whose entry k is x, the others in proportion, or alike if they are all zero."""
    others = sum(v for i, v in enumerate(values) if i != k)
    n = len(values)
    return [
        x if i == k else ((1 - x) * v / others if others > 0 else (1 - x) / (n - 1))
        for i, v in enumerate(values)
    ]
