"""Classifiers from their definitions: rows counted one by one, missing cells summed out by enumeration.

Rows are tuples of codes with None for a missing cell, the class last; `sizes` are the states of each column.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from math import exp, log


def smoothed(rows, weights, sizes, child, parents, prior, ess):
    """P(child | parents) as a function of a whole row, from the rows in which the family is complete."""
    family = (*parents, child)
    cells, configs = Counter(), Counter()
    for row, weight in zip(rows, weights, strict=True):
        key = tuple(row[v] for v in family)
        if None not in key:
            cells[key] += weight
            configs[key[:-1]] += weight
    entries = 1
    for v in family:
        entries *= sizes[v]
    more = 1 if prior == "laplace" else ess / entries

    def probability(row):
        key = tuple(row[v] for v in family)
        return (cells[key] + more) / (configs[key[:-1]] + more * sizes[child])

    return probability


def whole_rows(row, sizes):
    """Every row without missing cells that agrees with a row."""
    return product(*(range(size) if cell is None else [cell] for cell, size in zip(row, sizes, strict=True)))


def by_network(rows, weights, sizes, structure, query, prior="laplace", ess=1.0):
    """P(class | the cells of the query) of a network given by the parents of every column."""
    families = [
        smoothed(rows, weights, sizes, child, parents, prior, ess) for child, parents in enumerate(structure)
    ]
    sums = [0.0] * sizes[-1]
    for row in whole_rows((*query, None), sizes):
        term = 1.0
        for family in families:
            term *= family(row)
        sums[row[-1]] += term
    return [one / sum(sums) for one in sums]


def by_averaging(rows, weights, sizes, query, prior="laplace", ess=1.0, min_count=1):
    """P(class | the cells of the query) by the mean over parents; naive Bayes where none has enough rows."""
    p, k = len(sizes) - 1, sizes[-1]
    there = [v for v in range(p) if query[v] is not None]
    sums, used = [0.0] * k, False
    for parent in there:
        having = sum(w for row, w in zip(rows, weights, strict=True) if row[parent] == query[parent])
        if having < min_count:
            continue
        used = True
        joint = Counter()
        for row, weight in zip(rows, weights, strict=True):
            if row[parent] is not None:
                joint[row[parent], row[-1]] += weight
        cells = sizes[parent] * k
        more = 1 if prior == "laplace" else ess / cells
        for c in range(k):
            term = (joint[query[parent], c] + more) / (sum(joint.values()) + more * cells)
            for child in there:
                if child != parent:
                    family = smoothed(rows, weights, sizes, child, (parent, p), prior, ess)
                    term *= family((*query, c))
            sums[c] += term
    if not used:
        return by_network(rows, weights, sizes, (*[(p,)] * p, ()), query, prior, ess)
    return [one / sum(sums) for one in sums]


def information_given_class(rows, one, other):
    """The mutual information of two columns given the last, in nats, from the rows that have both."""
    pairs = [
        (row[one], row[other], row[-1]) for row in rows if row[one] is not None and row[other] is not None
    ]
    cells, total = Counter(pairs), 0.0
    lefts, rights = Counter((a, c) for a, _, c in pairs), Counter((b, c) for _, b, c in pairs)
    classes = Counter(c for *_, c in pairs)
    for (a, b, c), count in cells.items():
        total += count / len(pairs) * log(count * classes[c] / (lefts[a, c] * rights[b, c]))
    return total


def heaviest_trees(weights, tolerance=1e-9):
    """Every spanning tree of the largest weight, as sets of pairs, by trying all sets of pairs."""
    p = len(weights)
    trees = [pairs for pairs in combinations(combinations(range(p), 2), max(p - 1, 0)) if connects(pairs, p)]
    heights = [sum(weights[a][b] for a, b in pairs) for pairs in trees]
    return [set(tree) for tree, own in zip(trees, heights, strict=True) if own >= max(heights) - tolerance]


def connects(pairs, p):
    reached = {0}
    for _ in range(p):
        reached |= {b for a, b in pairs if a in reached} | {a for a, b in pairs if b in reached}
    return len(reached) == p


def left_out(rows, weights, sizes, structure, prior="laplace", ess=1.0):
    """The log probability of each row's class from all other rows, summed; whole rows of weight 1 or more."""
    total = 0.0
    for i, row in enumerate(rows):
        less = [w - (i == j) for j, w in enumerate(weights)]
        terms = []
        for c in range(sizes[-1]):
            own = (*row[:-1], c)
            value = 0.0
            for child, parents in enumerate(structure):
                if child == len(sizes) - 1 or len(sizes) - 1 in parents:
                    # all other classes keep the counts of all rows: they differ only where the class does
                    used = less if c == row[-1] else weights
                    value += log(smoothed(rows, used, sizes, child, parents, prior, ess)(own))
            terms.append(value)
        largest = max(terms)
        total += weights[i] * (terms[row[-1]] - largest - log(sum(exp(term - largest) for term in terms)))
    return total
