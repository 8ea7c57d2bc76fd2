"""Knowledge in searches over classes on candidates: whether a class has a member that keeps it.

The class before an operator has such a member, so only what the operator changed is looked at. If it leads to
a class that has none, it is taken back.
"""

import numpy as np

from bayescout.kernels.links import (
    CLOCK,
    DEGREE,
    EITHER,
    END,
    FIRM,
    HEADS,
    KIND,
    LIMIT,
    LOGGED,
    MARK,
    OTHER,
    OUT,
    QUEUE,
    RANK,
    SEEN,
    START,
    _insert,
    _remove,
    adjacent,
    entry_of,
    seek,
    spread,
)
from bayescout.kernels.patience import inner


@inner
def _may_be_last(nodes, slots, ends, enters, node, now):
    """Return True if all edges between a node and those that are left may become arcs into the node."""
    first, last = nodes[node, START], nodes[node, START] + nodes[node, DEGREE]
    count = 0
    for at in range(first, last):
        other = slots[at, END]
        if slots[at, KIND] == FIRM:
            count += 1
        elif slots[at, KIND] & FIRM == 0 and nodes[other, RANK] == now:
            count += 1
            if entry_of(nodes, enters, ends, other, node) == 0:
                return False
            for near in range(first, at):
                two = slots[near, END]
                left = slots[near, KIND] & FIRM == 0 and nodes[two, RANK] == now
                if left and not adjacent(nodes, slots, other, two):
                    return False
    return count <= nodes[node, LIMIT]


@inner
def _changed_nodes(nodes, rows, told, log):
    """Write the nodes of which the last step changed an arc to rows[OTHER], marked; returns their number."""
    count = 0
    if told[LOGGED] > log.shape[0]:
        for node in range(nodes.shape[0]):
            nodes[node, MARK] = told[CLOCK]
            rows[OTHER, node] = node
        return nodes.shape[0]
    for entry in range(2 * told[LOGGED]):
        node = log[entry >> 1, entry & 1]
        if nodes[node, MARK] != told[CLOCK]:
            nodes[node, MARK] = told[CLOCK]
            rows[OTHER, count] = node
            count += 1
    return count


@inner
def _joined_nodes(nodes, slots, rows, now, count):
    """Write the first nodes of rows[OTHER], and all joined to them by edges, to rows[HEADS]: their number."""
    k = 0
    for i in range(count):
        nodes[rows[OTHER, i], RANK] = now
        rows[HEADS, k] = rows[OTHER, i]
        k += 1
    head = 0
    while head < k:
        node = rows[HEADS, head]
        head += 1
        for at in range(nodes[node, START], nodes[node, START] + nodes[node, DEGREE]):
            other = slots[at, END]
            if slots[at, KIND] & FIRM == 0 and nodes[other, RANK] != now:
                nodes[other, RANK] = now
                rows[HEADS, k] = other
                k += 1
    return k


@inner
def _order(nodes, slots, rows, ends, enters, now, k):
    """Order the first k nodes of rows[HEADS], the last first; returns how many cannot be, which stay marked.

    The last is a node whose neighbours before it are all joined, and may all be its parents. One that can be
    last still can be after others have gone, so an order is found if there is one.
    """
    for i in range(k):
        rows[QUEUE, i] = rows[HEADS, i]
        nodes[rows[HEADS, i], SEEN] = 1
    size, head, waiting, left = nodes.shape[0], 0, k, k
    while waiting > 0:
        node = rows[QUEUE, head]
        head = head + 1 if head + 1 < size else 0
        waiting -= 1
        nodes[node, SEEN] = 0
        if not _may_be_last(nodes, slots, ends, enters, node, now):
            continue
        nodes[node, RANK] = -1
        left -= 1
        for at in range(nodes[node, START], nodes[node, START] + nodes[node, DEGREE]):
            other = slots[at, END]
            if slots[at, KIND] & FIRM == 0 and nodes[other, RANK] == now and nodes[other, SEEN] == 0:
                nodes[other, SEEN] = 1
                rows[QUEUE, (head + waiting) % size] = other
                waiting += 1
    return left


@inner
def _forces_forbidden(nodes, slots, rows, ends, enters, count):
    """Return True if all members have a forbidden arc into one of the first nodes of rows[OTHER]."""
    for i in range(count):
        node = rows[OTHER, i]
        for at in range(nodes[node, START], nodes[node, START] + nodes[node, DEGREE]):
            if slots[at, KIND] == FIRM and entry_of(nodes, enters, ends, slots[at, END], node) == 0:
                return True
    return False


@inner
def what_breaks_rules(nodes, slots, rows, told, log, ends, enters):
    """The number of nodes on which it depends that no member of the class keeps the rules; 0 if one does.

    They are in rows[OTHER]: those of which an arc has changed, the nodes around them, and those that have no
    order in which they keep the rules.
    """
    told[CLOCK] += 1
    now = told[CLOCK]
    n_changed, k = _changed_nodes(nodes, rows, told, log), 0
    if not _forces_forbidden(nodes, slots, rows, ends, enters, n_changed):
        k = _joined_nodes(nodes, slots, rows, now, n_changed)
        if _order(nodes, slots, rows, ends, enters, now, k) == 0:
            return 0
    count = n_changed
    for i in range(n_changed):
        node = rows[OTHER, i]
        for at in range(nodes[node, START], nodes[node, START] + nodes[node, DEGREE]):
            other = slots[at, END]
            if nodes[other, MARK] != now:
                nodes[other, MARK] = now
                rows[OTHER, count] = other
                count += 1
    for i in range(k):
        node = rows[HEADS, i]
        if nodes[node, RANK] == now and nodes[node, MARK] != now:
            nodes[node, MARK] = now
            rows[OTHER, count] = node
            count += 1
    return count


@inner
def take_back(nodes, slots, rows, told, log, x, y, tail, was):
    """Undo a step on x and y: the class is as before.

    tail  the node that their arc left in the member, before the step; was: how they were joined
    """
    if seek(nodes, slots, x, y) >= 0:
        _remove(nodes, slots, x, y)
        _remove(nodes, slots, y, x)
    if was > 0:
        firm = FIRM if was != EITHER else 0
        _insert(nodes, slots, tail, x + y - tail, OUT | firm)
        _insert(nodes, slots, x + y - tail, tail, np.int64(firm))
    if told[LOGGED] > log.shape[0]:
        told[CLOCK] += 1
        for node in range(nodes.shape[0]):
            rows[QUEUE, node] = node
            nodes[node, MARK] = told[CLOCK]
        spread(nodes, slots, rows, told, log, nodes.shape[0])
        return
    for entry in range(told[LOGGED]):
        one, two, before = log[entry, 0], log[entry, 1], log[entry, 2]
        if one + two == x + y and one * two == x * y:
            continue
        firm = FIRM if before != EITHER else 0
        for at in (seek(nodes, slots, one, two), seek(nodes, slots, two, one)):
            slots[at, KIND] = slots[at, KIND] & OUT | firm
