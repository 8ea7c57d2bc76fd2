"""The Markov blanket of the class, learned for predicting it by leave-one-out conditional likelihood."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from bayescout.arrays import Floats, Parents
from bayescout.classify.leave_one_out import LeftOut
from bayescout.classify.structures import Structure
from bayescout.classify.training import Training

CANDIDATES = 10
"""Features that are tried as a further parent of a feature: those with most information about it, given the
class."""

KEPT_BYTES = 1 << 28
"""Memory for the terms of families that were tried and may be tried again."""


def blanket(training: Training, prior: str, ess: float, k: int = 2) -> Structure:
    """Children of the class and their other parents, one arc at a time.

    Begins with the class alone. Each step makes a feature a child of the class, or gives a child one more
    feature as a parent (at most k), whichever raises the log probability of the classes most, each row
    predicted from all others (`LeftOut`); it ends when no arc raises it by log(n) / 2, as BIC charges for a
    parameter. The first of equals is taken. After Grossman & Domingos (2004), with leave-one-out in place of
    a penalty on parameters.
    """
    left_out = LeftOut(training, prior, ess)
    c = training.target
    charge = charge_per_arc(training)
    parents: list[Parents] = [()] * (c + 1)
    terms = {c: left_out.terms(tuple(parents), c)}
    known: dict[tuple[int, Parents], Floats] = {}
    sums = terms[c].copy()
    reached = left_out.total(sums)
    while True:
        best, found = reached + charge, None
        for child, own in _moves(training, parents, k):
            tried = _kept(left_out, known, child, own)
            after = sums + tried - terms.get(child, 0.0)
            total = left_out.total(after)
            if total > best:
                best, found = total, (child, own, tried)
        if found is None:
            return tuple(parents)
        child, parents[child], terms[child] = found
        reached, sums = best, np.asarray(_sum(terms))


def charge_per_arc(training: Training) -> float:
    """The gain, in nats, that an arc must exceed."""
    return math.log(max(2.0, float(training.weights.sum()))) / 2


def _sum(terms: dict[int, Floats]) -> Floats:
    """The families' terms, in the order of positions: sums do not depend on the order of the steps."""
    found: Floats = np.sum([terms[child] for child in sorted(terms)], axis=0)
    return found


def _kept(left_out: LeftOut, known: dict[tuple[int, Parents], Floats], child: int, own: Parents) -> Floats:
    """The terms of a family, which is met in many steps; kept as long as there is room."""
    found = known.get((child, own))
    if found is None:
        alone: list[Parents] = [()] * (left_out.training.target + 1)
        alone[child] = own
        found = left_out.terms(tuple(alone), child)
        if (len(known) + 1) * found.nbytes <= KEPT_BYTES:
            known[child, own] = found
    return found


def _moves(training: Training, parents: list[Parents], k: int) -> Iterator[tuple[int, Parents]]:
    """Every feature that can become a child of the class, and every child with one more parent."""
    c = training.target
    for child in range(c):
        if c not in parents[child]:
            yield child, tuple(sorted((*parents[child], c)))
        elif len(parents[child]) <= k:
            shared = training.conditional_informations[child]
            nearest = sorted(range(c), key=lambda other: (-shared[other], other))
            others = [other for other in nearest if other != child and other not in parents[child]]
            for other in sorted(others[:CANDIDATES]):
                if not _leads_to(parents, child, other):
                    yield child, tuple(sorted((*parents[child], other)))


def _leads_to(parents: list[Parents], start: int, end: int) -> bool:
    """Return True if arcs lead from the start to the end."""
    waiting, seen = [end], set()
    while waiting:
        node = waiting.pop()
        if node == start:
            return True
        if node not in seen:
            seen.add(node)
            waiting.extend(parents[node])
    return False
