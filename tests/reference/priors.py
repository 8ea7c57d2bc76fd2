"""Structure priors from probabilities of pairs and of families, graph by graph."""

from __future__ import annotations

import math
from itertools import combinations


def pair_table(one, two, odds, beliefs, forbidden=()):
    """The probabilities of one -> two, of two -> one and of no arc."""
    free = [(one, two) not in forbidden, (two, one) not in forbidden]
    either = beliefs.get(frozenset((one, two)))
    told = [beliefs.get((one, two)), beliefs.get((two, one))]
    if not all(free):
        sure = next((p for p in (*told, either) if p is not None), odds / (1 + odds))
        return sure, sure, 1 - sure  # the impossible direction never occurs
    if either is not None:
        if told == [None, None]:
            return either / 2, either / 2, 1 - either
        forth = told[0] if told[0] is not None else either - told[1]
        return forth, either - forth, 1 - either
    if None not in told:
        return told[0], told[1], 1 - sum(told)
    if told == [None, None]:
        whole = 1 + 2 * odds
        return odds / whole, odds / whole, 1 / whole
    rest = 1 - sum(p for p in told if p is not None)
    filled = [rest * odds / (1 + odds) if p is None else p for p in told]
    return *filled, rest / (1 + odds)


def log_prior_of_pairs(dag, charge, beliefs=None, forbidden=()):
    """By the probability of what each pair of variables has, relative to the graph without arcs."""
    total = 0.0
    for one, two in combinations(dag.nodes, 2):
        forth, back, none = pair_table(one, two, math.exp(-charge), beliefs or {}, forbidden)
        chosen = forth if dag.has_arc(one, two) else back if dag.has_arc(two, one) else none
        total += math.log(chosen) - math.log(none)
    return total


def log_prior_by_size(dag):
    """One over the number of sets of the size that each family has."""
    others = len(dag.nodes) - 1
    return -sum(
        math.log(len(list(combinations(range(others), len(dag.parents_of(node)))))) for node in dag.nodes
    )
