"""Cuts of a number that tell about a discrete column: recursive splitting by minimum description length.

Fayyad & Irani (1993). A set of N rows with k states of the other column and entropy E, in bits, is split at
the cut that leaves the least entropy E1, E2 in its parts, with k1 and k2 states, as long as that saves bits:

    N E - N1 E1 - N2 E2  >  log2(N - 1) + log2(3^k - 2) - (k E - k1 E1 - k2 E2)
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TIE = 1e-9
"""Entropies that differ by less, in bits, are equal but for rounding; the lowest cut of equals is taken."""


def mdl_cuts(values: Array, codes: NDArray[np.int64], weights: Array) -> tuple[list[float], float]:
    """The cuts of ascending values that tell about the codes, and the bits that they save in all."""
    _, first, place = np.unique(values, return_index=True, return_inverse=True)
    counts = np.zeros((len(first), int(codes.max(initial=0)) + 1))
    np.add.at(counts, (place, codes), weights)
    distinct = values[first]
    sums = np.vstack([np.zeros(counts.shape[1]), np.cumsum(counts, axis=0)])
    cuts, saved = [], 0.0
    waiting = [(0, len(distinct))]
    while waiting:
        begin, end = waiting.pop()
        place_of, bits = _best_split(sums[begin : end + 1] - sums[begin])
        if bits > 0:
            middle = begin + place_of
            cuts.append(between(float(distinct[middle - 1]), float(distinct[middle])))
            saved += bits
            waiting += [(begin, middle), (middle, end)]
    return sorted(cuts), saved


def _best_split(sums: Array) -> tuple[int, float]:
    """The number of distinct values in the lower part of the best split, and the bits that it saves.

    sums  (m + 1, k) counts of the first 0, 1, ... m distinct values
    """
    total = sums[-1]
    if len(sums) < 3 or total.sum() <= 1:
        return 0, 0.0
    low, high = sums[1:-1], total - sums[1:-1]
    left = _entropy(low) + _entropy(high)
    best = int(np.argmax(left <= left.min() + TIE))
    own = float(_entropy(total[None])[0])
    n, k = float(total.sum()), int((total > 0).sum())
    parts = [
        (float(_entropy(part[None])[0]), float(part.sum()), int((part > 0).sum()))
        for part in (low[best], high[best])
    ]
    spread = k * own / n - sum(states * bits / rows for bits, rows, states in parts)
    charge = math.log2(n - 1) + math.log2(3**k - 2) - spread
    return best + 1, own - float(left[best]) - charge


def _entropy(counts: Array) -> Array:
    """The entropy of each row of counts, in bits times its sum."""
    sums = counts.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(counts > 0, counts * np.log2(counts / sums[:, None]), 0.0)
    return np.asarray(-logs.sum(axis=1))


def between(low: float, high: float) -> float:
    """The midpoint of two values, never the upper one itself, which belongs above the cut."""
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low
