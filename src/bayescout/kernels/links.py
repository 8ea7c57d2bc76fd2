"""Sparse graphs that stand for equivalence classes: a member, and which of its arcs all members share.

Each node has a list of its neighbours, in a room as large as the number of its candidates. The member is a
DAG; an arc is firm if it has the same direction in all DAGs of the class. What an operator changes is found
from there: the labels of the arcs into a node depend on those into its parents alone.

Kernels take the arrays that they need and no tuples of arrays, and constants are int64 as all else is, not
numbers of Python, which numba takes for types of their own: so they compile in a fraction of the time.

nodes  (p, 16) int64   a record of each node, by the columns below
slots  (m, 3) int64    the neighbours of each node, rising: END, KIND, STAMP
rows   (4, p) int64    lists of nodes, most of them scratch
told   (16,) int64     clocks and counters
log    (k, 3) int64    pairs, and how they were joined before the step
"""

import numpy as np

from bayescout.kernels.patience import inner, patient

START, DEGREE, LIMIT, MARK, FRONT, BACK, CAME, GOES = np.arange(8)
RANK, SEEN, AFTER, BEFORE, ROOM, CHUNK, STALE, WATCHED = np.arange(8, 16)
"""The record of a node.

START, ROOM, DEGREE        where its room begins, the size of that, and the number of its neighbours
LIMIT                      the most parents it may have
MARK, FRONT, BACK          clocks: it is in hand if they show the time
CAME, GOES                 the nodes before and after it on a path
RANK, SEEN, AFTER, BEFORE  its place in an order, and the bucket it waits in
CHUNK, STALE, WATCHED      its first chunk of operators, how much of them is to be found again, and the first
                           watch on it (see `kernels.sparse`)
"""

END, KIND, STAMP = np.arange(3)
"""A neighbour: the node, bits of how it is joined, and the last step that noted this before it changed."""

OUT, FIRM = np.array([1, 2])
"""Bits of KIND: the arc leaves this node; all members of the class have it in this direction."""

APART, EITHER, AWAY, TOWARDS = np.arange(4)
"""How two nodes are joined in the class: not, by an edge, by an arc from the first, to the first."""

QUEUE, OTHER, WAITING, HEADS = np.arange(4)
"""The rows: two for queues and paths, the nodes whose operators are to be found, and heads of buckets."""

CLOCK, STEP, LOGGED, FREE = np.arange(4)
"""The first of `told`: clocks of marks and stamps, entries in the log, and 1 if there is no knowledge."""


@inner
def seek(nodes, slots, a, b):
    """The place of b among the neighbours of a; -1 if it is none."""
    low = nodes[a, START]
    last = low + nodes[a, DEGREE]
    high = last
    while low < high:
        middle = (low + high) >> 1
        if slots[middle, END] < b:
            low = middle + 1
        else:
            high = middle
    if low < last and slots[low, END] == b:
        return low
    return -1


@inner
def adjacent(nodes, slots, a, b):
    if nodes[a, DEGREE] > nodes[b, DEGREE]:
        a, b = b, a
    return seek(nodes, slots, a, b) >= 0


@inner
def is_parent(nodes, slots, a, b):
    """Return True if the member has the arc a -> b."""
    at = seek(nodes, slots, b, a)
    return at >= 0 and slots[at, KIND] & OUT == 0


@inner
def way_at(slots, at):
    """How a node is joined in the class to the neighbour in this place."""
    if slots[at, KIND] & FIRM == 0:
        return EITHER
    return TOWARDS - (slots[at, KIND] & OUT)


@inner
def joined(nodes, slots, a, b):
    """How two nodes are joined in the class."""
    at = seek(nodes, slots, a, b)
    return APART if at < 0 else way_at(slots, at)


@inner
def _insert(nodes, slots, a, b, kind):
    first = nodes[a, START]
    at = first + nodes[a, DEGREE]
    while at > first and slots[at - 1, END] > b:
        slots[at, END], slots[at, KIND] = slots[at - 1, END], slots[at - 1, KIND]
        slots[at, STAMP] = slots[at - 1, STAMP]
        at -= 1
    slots[at, END], slots[at, KIND], slots[at, STAMP] = b, kind, 0
    nodes[a, DEGREE] += 1


@inner
def _remove(nodes, slots, a, b):
    at = seek(nodes, slots, a, b)
    nodes[a, DEGREE] -= 1
    last = nodes[a, START] + nodes[a, DEGREE]
    while at < last:
        slots[at, END], slots[at, KIND] = slots[at + 1, END], slots[at + 1, KIND]
        slots[at, STAMP] = slots[at + 1, STAMP]
        at += 1


@inner
def _note(nodes, slots, told, log, a, b):
    """Note how two nodes are joined, once per step, before it changes."""
    low, high = min(a, b), max(a, b)
    at = seek(nodes, slots, low, high)
    if slots[at, STAMP] == told[STEP]:
        return
    slots[at, STAMP] = told[STEP]
    entry = told[LOGGED]
    told[LOGGED] = entry + 1
    if entry < log.shape[0]:
        log[entry, 0], log[entry, 1], log[entry, 2] = low, high, way_at(slots, at)


@inner
def relabel(nodes, slots, told, log, y):
    """Find which arcs into y are firm, given those into its parents; returns True if any label changed.

    As Chickering's (1995) labelling, which looks at the last parent in an order of the DAG: if the others
    are not all parents of that one, there is a v-structure or what forces it, and all arcs into y are firm.
    """
    first, last = nodes[y, START], nodes[y, START] + nodes[y, DEGREE]
    top, count = np.int64(-1), 0
    for at in range(first, last):
        if slots[at, KIND] & OUT:
            continue
        count += 1
        if top < 0 or is_parent(nodes, slots, top, slots[at, END]):
            top = slots[at, END]
    if count == 0:
        return False
    every, others = False, 0
    begin = nodes[top, START]
    for at in range(begin, begin + nodes[top, DEGREE]):
        if slots[at, KIND] & OUT:
            continue
        if is_parent(nodes, slots, slots[at, END], y):
            others += 1
        elif slots[at, KIND] & FIRM:
            every = True
    every = every or others != count - 1
    changed = False
    for at in range(first, last):
        if slots[at, KIND] & OUT:
            continue
        parent = slots[at, END]
        firm = FIRM if every else 0
        if not every and parent != top:
            firm = slots[seek(nodes, slots, top, parent), KIND]
        if firm != slots[at, KIND]:
            _note(nodes, slots, told, log, y, parent)
            slots[at, KIND] = firm
            slots[seek(nodes, slots, parent, y), KIND] = OUT | firm
            changed = True
    return changed


@inner
def spread(nodes, slots, rows, told, log, tail):
    """Relabel the nodes waiting in the queue, which are marked, and all below them that this changes."""
    head, size = 0, nodes.shape[0]
    while head < tail:
        node = rows[QUEUE, head % size]
        head += 1
        nodes[node, MARK] = 0
        if relabel(nodes, slots, told, log, node):
            for at in range(nodes[node, START], nodes[node, START] + nodes[node, DEGREE]):
                child = slots[at, END]
                if slots[at, KIND] & OUT and nodes[child, MARK] != told[CLOCK]:
                    nodes[child, MARK] = told[CLOCK]
                    rows[QUEUE, tail % size] = child
                    tail += 1


@patient(2.0, lambda nodes, slots, *_: 2e-4 * slots.shape[0])
def label_all(nodes, slots, rows, told, log, parents, children):
    """Make a labelled DAG of all these arcs; parents, children (k,) int64."""
    for i in range(parents.shape[0]):
        _insert(nodes, slots, parents[i], children[i], OUT)
        _insert(nodes, slots, children[i], parents[i], np.int64(0))
    told[CLOCK] += 1
    for node in range(nodes.shape[0]):
        rows[QUEUE, node] = node
        nodes[node, MARK] = told[CLOCK]
    spread(nodes, slots, rows, told, log, nodes.shape[0])


@inner
def refresh(nodes, slots, rows, told, log, x, y):
    """Relabel after the arc between x and y has changed.

    Another member of the same class has the same labels, so `turn` alone changes none.
    """
    told[CLOCK] += 1
    rows[QUEUE, 0], rows[QUEUE, 1] = y, x
    nodes[y, MARK], nodes[x, MARK] = told[CLOCK], told[CLOCK]
    tail = np.int64(2)
    for i in range(2):
        node = rows[QUEUE, i]
        for at in range(nodes[node, START], nodes[node, START] + nodes[node, DEGREE]):
            child = slots[at, END]
            if slots[at, KIND] & OUT and nodes[child, MARK] != told[CLOCK]:
                nodes[child, MARK] = told[CLOCK]
                rows[QUEUE, tail] = child
                tail += 1
    spread(nodes, slots, rows, told, log, tail)


@inner
def entry_of(nodes, enters, ends, parent, child):
    """0 if an arc between candidates is forbidden, 2 if it is required, else 1."""
    low, high = nodes[child, START], nodes[child, START] + nodes[child, ROOM]
    last = high
    while low < high:
        middle = (low + high) >> 1
        if ends[middle] < parent:
            low = middle + 1
        else:
            high = middle
    if low < last and ends[low] == parent:
        return np.int64(enters[low])
    return 0


@inner
def _leave(nodes, rows, node):
    """Take a node out of its bucket."""
    after, before = nodes[node, AFTER], nodes[node, BEFORE]
    if before >= 0:
        nodes[before, AFTER] = after
    else:
        rows[HEADS, nodes[node, SEEN]] = after
    if after >= 0:
        nodes[after, BEFORE] = before


@inner
def _join(nodes, rows, node):
    """Put a node at the head of its bucket."""
    head = rows[HEADS, nodes[node, SEEN]]
    nodes[node, AFTER], nodes[node, BEFORE] = head, -1
    if head >= 0:
        nodes[head, BEFORE] = node
    rows[HEADS, nodes[node, SEEN]] = node


@inner
def gather(nodes, slots, rows, told, firsts, k):
    """Gather the first k nodes and their ancestors by arcs that are not firm, in rows[OTHER], marked.

    Returns their number.
    """
    told[CLOCK] += 1
    count, head = 0, 0
    for i in range(k):
        if nodes[firsts[i], MARK] != told[CLOCK]:
            nodes[firsts[i], MARK] = told[CLOCK]
            rows[OTHER, count] = firsts[i]
            count += 1
    while head < count:
        node = rows[OTHER, head]
        head += 1
        for at in range(nodes[node, START], nodes[node, START] + nodes[node, DEGREE]):
            if slots[at, KIND] == 0 and nodes[slots[at, END], MARK] != told[CLOCK]:
                nodes[slots[at, END], MARK] = told[CLOCK]
                rows[OTHER, count] = slots[at, END]
                count += 1
    return count


@inner
def turn(nodes, slots, rows, told, firsts, k):
    """Choose the member of the class in which the first k nodes come first in their order, if there is one.

    They and their ancestors by arcs that are not firm are put in an order of maximum cardinality search,
    which makes no v-structure; all other arcs stay. The nodes that were ordered are in rows[OTHER]. Returns
    their number; less one and negative, and nothing changed, if there is no such member.
    """
    count = gather(nodes, slots, rows, told, firsts, k)
    for i in range(count):
        rows[HEADS, i] = -1
    for i in range(count - 1, -1, -1):
        nodes[rows[OTHER, i], RANK], nodes[rows[OTHER, i], SEEN] = -1, 0
        _join(nodes, rows, rows[OTHER, i])
    top = 0
    for rank in range(count):
        while rows[HEADS, top] < 0:
            top -= 1
        if rank < k:
            chosen = firsts[rank]
            if nodes[chosen, SEEN] != top:
                return -count - 1
        else:
            chosen = rows[HEADS, top]
        _leave(nodes, rows, chosen)
        nodes[chosen, RANK] = rank
        for at in range(nodes[chosen, START], nodes[chosen, START] + nodes[chosen, DEGREE]):
            other = slots[at, END]
            if slots[at, KIND] & FIRM or nodes[other, MARK] != told[CLOCK] or nodes[other, RANK] >= 0:
                continue
            _leave(nodes, rows, other)
            nodes[other, SEEN] += 1
            _join(nodes, rows, other)
            top = max(top, nodes[other, SEEN])
    for i in range(count):
        node = rows[OTHER, i]
        for at in range(nodes[node, START], nodes[node, START] + nodes[node, DEGREE]):
            other = slots[at, END]
            if slots[at, KIND] & FIRM == 0 and nodes[other, MARK] == told[CLOCK]:
                slots[at, KIND] = OUT if nodes[node, RANK] < nodes[other, RANK] else 0
    return count


@inner
def find_path(nodes, slots, rows, told, source, target, blocked, k, direct):
    """Find a path from source to target along arcs and edges that avoids the first k blocked nodes.

    Descendants of the source and ancestors of the target are grown in turn, until they meet or one is
    complete. If not `direct`, the step from source straight to target does not count. The path is written to
    rows[OTHER]; returns the number of its nodes, 0 if there is none.
    """
    told[CLOCK] += 1
    now = told[CLOCK]
    for i in range(k):
        nodes[blocked[i], FRONT], nodes[blocked[i], BACK] = now, now
        nodes[blocked[i], CAME], nodes[blocked[i], GOES] = -2, -2
    nodes[source, FRONT], nodes[source, CAME] = now, -1
    nodes[target, BACK], nodes[target, GOES] = now, -1
    rows[QUEUE, 0], rows[OTHER, 0] = source, target
    one, one_end, two, two_end, middle = 0, 1, 0, 1, -1
    while one < one_end and two < two_end and middle < 0:
        node = rows[QUEUE, one]
        one += 1
        for at in range(nodes[node, START], nodes[node, START] + nodes[node, DEGREE]):
            other = slots[at, END]
            if slots[at, KIND] == FIRM or nodes[other, FRONT] == now:
                continue
            if not direct and node == source and other == target:
                continue
            nodes[other, FRONT], nodes[other, CAME] = now, node
            if nodes[other, BACK] == now:
                middle = other
                break
            rows[QUEUE, one_end] = other
            one_end += 1
        if middle >= 0:
            break
        node = rows[OTHER, two]
        two += 1
        for at in range(nodes[node, START], nodes[node, START] + nodes[node, DEGREE]):
            other = slots[at, END]
            if slots[at, KIND] == OUT | FIRM or nodes[other, BACK] == now:
                continue
            if not direct and node == target and other == source:
                continue
            nodes[other, BACK], nodes[other, GOES] = now, node
            if nodes[other, FRONT] == now:
                middle = other
                break
            rows[OTHER, two_end] = other
            two_end += 1
    count = 0
    node = middle
    while node >= 0:
        rows[OTHER, count] = node
        count += 1
        node = nodes[node, CAME]
    node = middle
    while node >= 0 and nodes[node, GOES] >= 0:
        node = nodes[node, GOES]
        rows[OTHER, count] = node
        count += 1
    return count


@patient(2.0, lambda nodes, slots, ways, *_: 2e-5 * (slots.shape[0] + nodes.shape[0]))
def extend_sparse(nodes, slots, ways, limits, left, parents_of):
    """A DAG of a partially directed graph: repeatedly remove the lowest node that can be a sink.

    As `classes.extend` (Dor & Tarsi 1992), on lists.

    ways        (m,) int8    how each node is joined to each neighbour
    limits      (p,) int64   the most parents of each node
    left        (p,) int8    overwritten with 0: 1 for the nodes that remain
    parents_of  (m,) int8    overwritten: 1 where the neighbour is a parent of the node
    Returns the number of nodes placed.
    """
    p = left.shape[0]
    heap, waiting = np.empty(p, dtype=np.int64), np.empty(p, dtype=np.int64)
    for node in range(p):
        left[node], heap[node], waiting[node] = 1, node, 1
    for at in range(parents_of.shape[0]):
        parents_of[at] = 0
    size, placed = p, 0
    while size > 0:
        node = heap[0]
        size -= 1
        waiting[node] = 0
        at, last = 0, heap[size]
        while 2 * at + 1 < size:
            below = 2 * at + 1
            if below + 1 < size and heap[below + 1] < heap[below]:
                below += 1
            if heap[below] > last:
                break
            heap[at] = heap[below]
            at = below
        heap[at] = last
        if not _may_be_sink(nodes, slots, ways, left, node, limits[node]):
            continue
        left[node] = 0
        placed += 1
        for near in range(nodes[node, START], nodes[node, START] + nodes[node, DEGREE]):
            other = slots[near, END]
            if left[other]:
                parents_of[near] = 1
                if not waiting[other]:
                    waiting[other] = 1
                    at = size
                    size += 1
                    while at > 0 and heap[(at - 1) >> 1] > other:
                        heap[at] = heap[(at - 1) >> 1]
                        at = (at - 1) >> 1
                    heap[at] = other
    return placed


@inner
def _may_be_sink(nodes, slots, ways, left, node, limit):
    first, last = nodes[node, START], nodes[node, START] + nodes[node, DEGREE]
    around = 0
    for at in range(first, last):
        if left[slots[at, END]]:
            around += 1
            if ways[at] == AWAY:
                return False
    if around > limit:
        return False
    for at in range(first, last):
        one = slots[at, END]
        if not left[one] or ways[at] != EITHER:
            continue
        for near in range(first, last):
            two = slots[near, END]
            if left[two] and two != one and not adjacent(nodes, slots, one, two):
                return False
    return True
