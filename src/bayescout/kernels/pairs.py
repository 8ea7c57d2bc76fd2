"""Pairs of discrete columns whose arc may gain, counted and weighed tile by tile.

A tile has two runs of variables, each of one number of states; pairs are those of a variable of the first
and a later one of the second. The counts are integers; the sums of terms are rounded, so the caller lowers
the bars by what they may be off, and has what is found computed exactly.
"""

from collections import namedtuple

import numpy as np

from bayescout.kernels.patience import inner, patient
from bayescout.kernels.popcount import popcount

Rows = namedtuple("Rows", "codes weights bitmaps layout margins places order")
"""The data of discrete wide tables.

codes, weights, bitmaps, layout   as in `counting.count_families`; weights are whole
margins  flat int64     how often each state occurs, one variable after the other
places   (p,) int64     where the margins of each variable begin
order    (p,) int64     the variables, by their number of states; tiles are of positions in it
"""


def _seconds(rows, terms, bars, begin, end, first, last, out):
    """About the seconds of `pairs_above` uncompiled."""
    return (
        (end - begin)
        * (last - first)
        * (1e-5 + 1e-6 * rows.codes.shape[1] / (64 if len(rows.bitmaps) else 1))
    )


@patient(0.3, _seconds)
def pairs_above(rows, terms, bars, begin, end, first, last, out):
    """The pairs of a tile whose cells may come to their bar.

    terms  (total + 1,) float64   the term of a cell by its count
    bars   (2, 2, p) float64      the terms of a pair x, y must reach bars[0, 0, x] + bars[0, 1, y], or
                                  bars[1, 0, x] + bars[1, 1, y]: by an arc one way or the other
    begin, end, first, last       positions of the two runs in the order
    out    (m, 2) int64           overwritten, as far as there is room: positions
    Returns how many pairs there are, which may be more than there is room for.
    """
    x, y = rows.order[begin], rows.order[first]
    cards, starts = rows.layout[0], rows.layout[1]
    if starts[x] < 0 or starts[y] < 0:
        return _by_codes(rows, terms, bars, begin, end, first, last, out)
    if cards[x] == 2 and cards[y] == 2:
        return _by_single_bits(rows, terms, bars, begin, end, first, last, out)
    return _by_bits(rows, terms, bars, begin, end, first, last, out)


@inner
def _by_single_bits(rows, terms, bars, begin, end, first, last, out):
    """Two states each: one count gives the four cells."""
    bitmaps, order = rows.bitmaps, rows.order
    words, found = bitmaps.shape[1], 0
    n = np.uint64(0)
    for state in range(2):
        n += np.uint64(rows.margins[rows.places[order[begin]] + state])
    for i in range(begin, end):
        x = order[i]
        one, a = bitmaps[rows.layout[1, x]], np.uint64(rows.margins[rows.places[x]])
        forth, back = bars[0, 0, x], bars[1, 0, x]
        for j in range(max(first, i + 1), last):
            y = order[j]
            two, b = bitmaps[rows.layout[1, y]], np.uint64(rows.margins[rows.places[y]])
            both = np.uint64(0)
            for w in range(words):
                both += popcount(one[w] & two[w])
            total = (terms[both] + terms[a - both]) + (terms[b - both] + terms[n + both - a - b])
            if total >= min(forth + bars[0, 1, y], back + bars[1, 1, y]):
                if found < out.shape[0]:
                    out[found, 0], out[found, 1] = i, j
                found += 1
    return found


@inner
def _by_bits(rows, terms, bars, begin, end, first, last, out):
    """Few states: bits of all but the last of each, the other cells by subtraction."""
    bitmaps, order, margins = rows.bitmaps, rows.order, rows.margins
    r, s = rows.layout[0, order[begin]], rows.layout[0, order[first]]
    words, found = bitmaps.shape[1], 0
    left = np.empty(s, dtype=np.int64)
    for i in range(begin, end):
        x = order[i]
        for j in range(max(first, i + 1), last):
            y = order[j]
            total = 0.0
            for k in range(s):
                left[k] = margins[rows.places[y] + k]
            for state in range(r - 1):
                one = bitmaps[rows.layout[1, x] + state]
                rest = margins[rows.places[x] + state]
                for k in range(s - 1):
                    two = bitmaps[rows.layout[1, y] + k]
                    ones = np.uint64(0)
                    for w in range(words):
                        ones += popcount(one[w] & two[w])
                    count = np.int64(ones)
                    total += terms[count]
                    rest -= count
                    left[k] -= count
                total += terms[rest]
                left[s - 1] -= rest
            for k in range(s):
                total += terms[left[k]]
            if total >= min(bars[0, 0, x] + bars[0, 1, y], bars[1, 0, x] + bars[1, 1, y]):
                if found < out.shape[0]:
                    out[found, 0], out[found, 1] = i, j
                found += 1
    return found


@inner
def _by_codes(rows, terms, bars, begin, end, first, last, out):
    """Many states, or rows with weights: one increment per row."""
    codes, weights, order = rows.codes, rows.weights, rows.order
    r, s = rows.layout[0, order[begin]], rows.layout[0, order[first]]
    cells, found = np.empty(r * s, dtype=np.int64), 0
    for i in range(begin, end):
        x = order[i]
        for j in range(max(first, i + 1), last):
            y = order[j]
            cells[:] = 0
            for row in range(codes.shape[1]):
                cell = np.int64(codes[x, row]) * s + np.int64(codes[y, row])
                cells[cell] += weights[row] if weights.shape[0] > 0 else 1
            total = 0.0
            for cell in range(r * s):
                total += terms[cells[cell]]
            if total >= min(bars[0, 0, x] + bars[0, 1, y], bars[1, 0, x] + bars[1, 1, y]):
                if found < out.shape[0]:
                    out[found, 0], out[found, 1] = i, j
                found += 1
    return found
