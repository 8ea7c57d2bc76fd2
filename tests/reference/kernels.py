"""Kernels as plain Python, and slow twins of what they compute."""

from __future__ import annotations

from contextlib import contextmanager
from fractions import Fraction
from math import log

import numpy as np
import pytest


@contextmanager
def plain(module):
    """The module's kernels, those they call included, run by the interpreter: bounds are checked.

    Compile first what is to be compared: a kernel compiled in here would see the plain functions.
    """
    with pytest.MonkeyPatch.context() as patch, np.errstate(over="ignore"):
        for name, value in list(vars(module).items()):
            if hasattr(value, "py_func"):
                patch.setattr(module, name, value.py_func)
        if hasattr(module, "popcount"):
            patch.setattr(module, "popcount", lambda word: np.uint64(int(word).bit_count()))
        yield module


def cell_counts(codes, cards, variables, weights=None):
    """Counts by the mixed-radix number of each row, the last variable fastest."""
    counts = [0] * int(np.prod([int(cards[v]) for v in variables], dtype=object))
    for row in range(codes.shape[1]):
        number = 0
        for v in variables:
            number = number * int(cards[v]) + int(codes[v, row])
        counts[number] += 1 if weights is None else weights[row]
    return counts


def log_complexity(n, outcomes):
    """log C(n, K) from the exact rational sum of falling and rising factorials (Mononen & Myllymäki 2008)."""
    total, term = Fraction(0), Fraction(1)
    for k in range(n + 1):
        total += term
        term *= Fraction((n - k) * (outcomes - 1 + k), n * (k + 1)) if n else 0
    return log_of(total)


def log_of(ratio):
    """The log of a positive fraction of any size."""
    return log_of_whole(ratio.numerator) - log_of_whole(ratio.denominator)


def log_of_whole(number):
    spare = max(0, number.bit_length() - 900)
    return log(number >> spare) + spare * log(2)
