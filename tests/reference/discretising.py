"""Cuts by their definitions: from rows, with logarithms of shares, trying everything."""

from __future__ import annotations

from collections import Counter
from math import log, log2


def entropy(labels):
    """In bits per row."""
    counts = Counter(labels)
    return -sum(n / len(labels) * log2(n / len(labels)) for n in counts.values())


def mdl_cuts(pairs):
    """Fayyad & Irani's recursion over (value, state) pairs; returns the values just below the cuts."""
    values = sorted({value for value, _ in pairs})
    states = [state for _, state in pairs]
    best = None
    for low in values[:-1]:
        one = [state for value, state in pairs if value <= low]
        two = [state for value, state in pairs if value > low]
        left = (len(one) * entropy(one) + len(two) * entropy(two)) / len(pairs)
        if best is None or len(pairs) * left < len(pairs) * best[0] - 1e-9:
            best = (left, low, one, two)
    if best is None:
        return []
    left, low, one, two = best
    k, k1, k2 = (len(set(part)) for part in (states, one, two))
    delta = log2(3**k - 2) - (k * entropy(states) - k1 * entropy(one) - k2 * entropy(two))
    if entropy(states) - left <= (log2(len(pairs) - 1) + delta) / len(pairs):
        return []
    below = mdl_cuts([pair for pair in pairs if pair[0] <= low])
    above = mdl_cuts([pair for pair in pairs if pair[0] > low])
    return sorted([*below, low, *above])


def information(one, two):
    """Rows times the mutual information of two columns, in nats, over the rows where both are there."""
    pairs = [(a, b) for a, b in zip(one, two, strict=True) if a is not None and b is not None]
    both, left, right = Counter(pairs), Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    n = len(pairs)
    return sum(count * log(count * n / (left[a] * right[b])) for (a, b), count in both.items())


def merged_codes(columns, wanted):
    """Hartemink's rounds: every column with too many intervals tries every merge, then all merge at once."""
    columns = [list(column) for column in columns]
    while True:
        chosen = {}
        for place, most in wanted.items():
            levels = max(c for c in columns[place] if c is not None) + 1
            if levels <= most:
                continue
            kept = []
            for low in range(levels - 1):
                tried = merge(columns[place], low)
                kept.append(sum(information(tried, other) for j, other in enumerate(columns) if j != place))
            best = max(kept)
            chosen[place] = next(low for low, value in enumerate(kept) if value >= best - 1e-9)
        if not chosen:
            return columns
        for place, low in chosen.items():
            columns[place] = merge(columns[place], low)


def merge(column, low):
    return [None if c is None else c - (c > low) for c in column]
