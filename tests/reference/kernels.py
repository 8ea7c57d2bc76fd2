"""Kernels as plain Python, and slow twins of what they compute."""

from __future__ import annotations

import copy
import importlib
import pkgutil
from collections import Counter
from contextlib import ExitStack, contextmanager
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


@contextmanager
def uncompiled():
    """Kernels that can wait to be compiled do so for ever, even those compiled before."""
    from bayescout.kernels import patience as module

    kinds = {kernel: type(kernel) for kernel in waiting_kernels().values()}
    switch = module.patience
    before = switch.on, switch.forced
    switch.on = switch.forced = True
    for kernel in kinds:
        kernel.__class__ = module._Patient if hasattr(kernel, "seconds") else module._Inner
    try:
        yield
    finally:
        switch.on, switch.forced = before
        for kernel, kind in kinds.items():
            kernel.__class__ = kind


def waiting_kernels():
    """Every kernel, and part of one, that Python may run uncompiled, by module and name."""
    import bayescout.kernels

    found = {}
    for module in pkgutil.iter_modules(bayescout.kernels.__path__):
        here = importlib.import_module(f"bayescout.kernels.{module.name}")
        for name, value in vars(here).items():
            if hasattr(value, "plain") and value.__module__ == here.__name__:
                found[f"{module.name}.{name}"] = value
    return found


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


def both(module, name, *arguments, inside=()):
    """What a kernel returns, compiled; interpreted it must return and write the same, within its bounds.

    `inside` names further modules to interpret, those whose kernels this one calls.
    """
    copies = copy.deepcopy(arguments)
    returned = getattr(module, name)(*arguments)
    with ExitStack() as stack:
        for part in (*inside, module):
            stack.enter_context(plain(part))
        assert getattr(module, name)(*copies) == returned
    assert repr(_listed(copies)) == repr(_listed(arguments))
    return returned


def _listed(value):
    if isinstance(value, tuple):
        return tuple(map(_listed, value))
    return value.tolist() if isinstance(value, np.ndarray) else value


# ---- what a table holds


def sum_xlogx(cells, weights, unit):
    """The sum over the rows of a column of the log of how often their value occurs, weighted."""
    counts = Counter()
    for cell, weight in zip(cells, weights, strict=True):
        counts[cell] += weight * unit
    return sum(w * unit * log(counts[cell]) for cell, w in zip(cells, weights, strict=True) if w)


def row_contents(parts):
    """For each row the multiset of (colour of the column, cell) over all the columns of all the parts."""
    n = parts[0][0].shape[1]
    return [
        frozenset(
            Counter(
                (int(colour), int(column[row]))
                for cells, colours in parts
                for column, colour in zip(cells, colours, strict=True)
            ).items()
        )
        for row in range(n)
    ]


def column_contents(cells, colours, weights, rows):
    """For each column its colour and the multiset of (cell, content of the row), weighted."""
    found = []
    for column, colour in zip(cells, colours, strict=True):
        held = Counter()
        for cell, weight, content in zip(column, weights, rows, strict=True):
            held[int(cell), content] += weight
        found.append((int(colour), frozenset((key, count) for key, count in held.items() if count)))
    return found


# ---- partial correlations


def partial_correlation(columns, a, b, given):
    """The correlation of what least squares on the given columns leaves of two others; 0 for no rest."""
    rows = columns[list(given)].T
    left = []
    for v in (a, b):
        rest = columns[v] - rows @ np.linalg.lstsq(rows, columns[v], rcond=1e-9)[0]
        size = np.sqrt(rest @ rest)
        if size <= 1e-6 * np.sqrt(columns[v] @ columns[v]):
            return 0.0
        left.append(rest / size)
    return float(left[0] @ left[1])
