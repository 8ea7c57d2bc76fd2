"""Hill climbing over orders by insertion, with the parent sets of every child listed best first.

`lists` is (masks, starts, scores, begins, holders): the sets of child c are rows starts[c] to starts[c + 1]
of masks (m, words) uint64 and scores (m,) float64, falling; the rows of c that hold variable v, rising, are
holders[begins[c * n + v]] to holders[begins[c * n + v + 1]]. The best parents within a set of variables are
the first row within it. So a child that loses a predecessor that is not a parent keeps its row, one that
loses a parent finds its next row further down, and one that gains a predecessor finds a better row, if there
is one, among the rows that hold it.
"""

import numpy as np

from bayescout.kernels import plain
from bayescout.kernels.jit import kernel
from bayescout.kernels.patience import part, patient

LOWEST = -1e300
"""Finite stand-in for the score of parents that cannot be scored, so that differences are defined."""


@patient(0.3, lambda masks, *_: 2e-6 * masks.size, plain.index_lists)
def index_lists(masks, starts, begins, holders):
    """Fill begins (n * n + 1,) int64 and holders (members of all sets,) int64 of `lists`."""
    for i in range(begins.shape[0]):
        begins[i] = 0
    _index(masks, starts, begins, holders, True)
    for i in range(begins.shape[0] - 1):
        begins[i + 1] += begins[i]
    _index(masks, starts, begins, holders, False)
    for i in range(begins.shape[0] - 1, 0, -1):
        begins[i] = begins[i - 1]
    begins[0] = 0


@part
def _index(masks, starts, begins, holders, counting):
    """Count the holders of each child and variable in `begins`, shifted by one, or fill `holders`."""
    n = starts.shape[0] - 1
    for child in range(n):
        for row in range(starts[child], starts[child + 1]):
            for word in range(masks.shape[1]):
                left = masks[row, word]
                at = child * n + 64 * word
                while left != 0:
                    if left & np.uint64(1) != 0:
                        if counting:
                            begins[at + 1] += 1
                        else:
                            holders[begins[at]] = row
                            begins[at] += 1
                    left >>= np.uint64(1)
                    at += 1


@patient(0.15, lambda masks, keep: (1e-5 + 5e-9 * masks.size) * keep.size, plain.undominated)
def undominated(masks, keep):
    """Fill keep (m,) bool: True for a row of masks of which no earlier row is a subset."""
    for row in range(masks.shape[0]):
        keep[row] = True
        for other in range(row):
            if keep[other] and _within(masks, other, masks[row]):
                keep[row] = False
                break


@part
def _holds(masks, row, variable):
    return masks[row, variable >> 6] >> np.uint64(variable & 63) & np.uint64(1) != 0


@part
def _flip(before, variable):
    before[variable >> 6] ^= np.uint64(1) << np.uint64(variable & 63)


@part
def _within(masks, row, before):
    outside = np.uint64(0)
    for word in range(masks.shape[1]):
        outside |= masks[row, word] & ~before[word]
    return outside == 0


@part
def _after_loss(lists, child, row, lost, before):
    """The new row of a child that had `row`, after `lost` has left its predecessors; -1 for none."""
    masks, starts = lists[0], lists[1]
    if not _holds(masks, row, lost):
        return row
    for other in range(row + 1, starts[child + 1]):
        if _within(masks, other, before):
            return other
    return -1


@part
def _after_gain(lists, child, row, gained, before):
    """The new row of a child that had `row`, after `gained` has joined its predecessors."""
    masks, starts, _, begins, holders = lists
    n = starts.shape[0] - 1
    for at in range(begins[child * n + gained], begins[child * n + gained + 1]):
        other = holders[at]
        if row <= other:
            break
        if _within(masks, other, before):
            return other
    return row


@part
def _value(lists, row):
    return max(lists[2][row], LOWEST)


@patient(0.25, lambda lists, order, _: 1e-5 * order.size + 5e-9 * lists[0].size, plain.choose_all)
def choose_all(lists, order, chosen):
    """Fill chosen (n,) int64 with the first row of every child within its predecessors; returns the total.

    lists   the first three of `lists`
    A child without such a row gets -1, and the total is then minus infinity.
    """
    masks, starts, scores = lists
    before = np.zeros(masks.shape[1], dtype=np.uint64)
    total = 0.0
    for child in order:
        chosen[child] = -1
        for row in range(starts[child], starts[child + 1]):
            if _within(masks, row, before):
                chosen[child] = row
                break
        total += scores[chosen[child]] if chosen[child] >= 0 else -np.inf
        _flip(before, child)
    return total


@part
def _best_place(lists, order, chosen, source, rows):
    """The best gain of moving the variable at `source`, and the place to move it to: on the left of equals.

    rows  (2, n) int64   overwritten: the row of the moved variable at each place, and that of the variable
                         found there after it has been passed
    """
    moved = order[source]
    start = _value(lists, chosen[moved])
    before = np.empty(lists[0].shape[1], dtype=np.uint64)
    best, target = 0.0, source
    for step in (-1, 1):
        for word in range(before.shape[0]):
            before[word] = 0
        for place in range(source):
            _flip(before, order[place])
        own, gain, place = chosen[moved], 0.0, source + step
        while 0 <= place < order.shape[0]:
            # The one that now comes first loses a predecessor, and the one that now comes last gains one.
            other = order[place]
            passed = chosen[other]
            if step < 0:
                _flip(before, other)
            first, last = (moved, other) if step < 0 else (other, moved)
            lost = _after_loss(lists, first, own if step < 0 else passed, last, before)
            if lost < 0:
                break
            _flip(before, first)
            gained = _after_gain(lists, last, passed if step < 0 else own, first, before)
            if step < 0:
                _flip(before, first)
            own, after = (lost, gained) if step < 0 else (gained, lost)
            rows[0, place], rows[1, place] = own, after
            gain += _value(lists, after) - _value(lists, passed)
            if gain + (_value(lists, own) - start) > best:
                best, target = gain + (_value(lists, own) - start), place
            place += step
    return best, target


@kernel
def climb_order(lists, turns, least, most, order, chosen, progress):
    """Move one variable after the other to its best place until none gains more than `least`.

    turns     (n,) int64   the order in which the variables are moved
    most      the variables to try to move before returning
    order     (n,) int64   updated; every child must have a row within its predecessors
    chosen    (n,) int64   the row of every child, as from choose_all; updated
    progress  (2,) int64   the place in `turns`, and the number of variables in a row that have stayed; zeros
                           at the beginning; updated
    Returns True if no variable has a better place.
    """
    n = order.shape[0]
    rows = np.empty((2, n), dtype=np.int64)
    tried = 0
    while progress[1] < n and tried < most:
        tried += 1
        moved = turns[progress[0]]
        source = 0
        while order[source] != moved:
            source += 1
        gain, target = _best_place(lists, order, chosen, source, rows)
        progress[1] += 1
        if gain > least:
            step = 1 if target > source else -1
            for place in range(source, target, step):
                order[place] = order[place + step]
                chosen[order[place]] = rows[1, place + step]
            order[target] = moved
            chosen[moved] = rows[0, target]
            progress[1] = 0
        progress[0] = (progress[0] + 1) % n
    return progress[1] >= n
