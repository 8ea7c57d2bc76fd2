"""Sparse graphs that stand for equivalence classes: a member, and which of its arcs all members share.

Each node has a list of its neighbours, in a room as large as the number of its candidates. The member is a
DAG; an arc is firm if it has the same direction in all DAGs of the class. What an operator changes is found
from there: the labels of the arcs into a node depend on those into its parents alone.
"""

from collections import namedtuple

import numpy as np

from bayescout.kernels.patience import inner, part, patient

OUT, FIRM = 1, 2
"""Bits of `kinds`: the arc leaves this node; all members of the class have it in this direction."""

APART, EITHER, AWAY, TOWARDS = 0, 1, 2, 3
"""How two nodes are joined in the class: not, by an edge, by an arc from the first, to the first."""

Links = namedtuple("Links", "starts degrees ends kinds stamps")
"""A DAG and its class.

starts   (p + 1,) int64   where the room of each node begins
degrees  (p,) int64       the number of its neighbours
ends     (m,) int32       the neighbours of each node, rising
kinds    (m,) int8        bits OUT and FIRM of each
stamps   (m,) int64       the last step that noted how the two were joined before it
"""

Work = namedtuple("Work", "marks fronts backs came_from goes_to places queue other clock log found")
"""Scratch: (p,) int64 each, marks, fronts and backs of clocks; and

clock  (2,) int64      counts the uses of marks and stamps
log    (k, 3) int64    pairs and how they were joined before the step
found  (4,) int64      numbers of entries: log, changed nodes, members, path
"""


@inner
def seek(links, a, b):
    """The place of b among the neighbours of a; -1 if it is none."""
    low = links.starts[a]
    high = low + links.degrees[a]
    last = high
    while low < high:
        middle = (low + high) >> 1
        if links.ends[middle] < b:
            low = middle + 1
        else:
            high = middle
    return low if low < last and links.ends[low] == b else -1


@inner
def adjacent(links, a, b):
    if links.degrees[a] > links.degrees[b]:
        return seek(links, b, a) >= 0
    return seek(links, a, b) >= 0


@inner
def is_parent(links, a, b):
    """Return True if the member has the arc a -> b."""
    at = seek(links, b, a)
    return at >= 0 and not links.kinds[at] & OUT


@inner
def joined(links, a, b):
    """How two nodes are joined in the class."""
    at = seek(links, a, b)
    if at < 0:
        return APART
    if not links.kinds[at] & FIRM:
        return EITHER
    return AWAY if links.kinds[at] & OUT else TOWARDS


@inner
def _insert(links, a, b, kind):
    first = links.starts[a]
    at = first + links.degrees[a]
    while at > first and links.ends[at - 1] > b:
        links.ends[at], links.kinds[at] = links.ends[at - 1], links.kinds[at - 1]
        at -= 1
    links.ends[at], links.kinds[at] = b, kind
    links.degrees[a] += 1


@inner
def _remove(links, a, b):
    at = seek(links, a, b)
    links.degrees[a] -= 1
    last = links.starts[a] + links.degrees[a]
    while at < last:
        links.ends[at], links.kinds[at] = links.ends[at + 1], links.kinds[at + 1]
        at += 1


@inner
def link(links, parent, child):
    """Add an arc that is not firm."""
    _insert(links, parent, child, OUT)
    _insert(links, child, parent, 0)


@inner
def unlink(links, a, b):
    _remove(links, a, b)
    _remove(links, b, a)


@inner
def _direct(links, parent, child, firm):
    """Set direction and label of an arc."""
    links.kinds[seek(links, parent, child)] = OUT | firm
    links.kinds[seek(links, child, parent)] = firm


@inner
def _note(links, work, a, b):
    """Note how two nodes are joined, once per step, before it changes."""
    low, high = min(a, b), max(a, b)
    at = seek(links, low, high)
    if at >= 0:
        if links.stamps[at] == work.clock[1]:
            return
        links.stamps[at] = work.clock[1]
    entry = work.found[0]
    if entry < work.log.shape[0]:
        work.log[entry, 0], work.log[entry, 1], work.log[entry, 2] = low, high, joined(links, low, high)
    work.found[0] = entry + 1


@part
def last_parent(links, y):
    """The parent of y that all its other parents are parents of; -1 if there is none, or no parent."""
    first, last = links.starts[y], links.starts[y] + links.degrees[y]
    best = np.int64(-1)
    for at in range(first, last):
        if links.kinds[at] & OUT:
            continue
        other = np.int64(links.ends[at])
        if best < 0 or is_parent(links, best, other):
            best = other
        elif not is_parent(links, other, best):
            best = np.int64(-1)  # neither of the two
    for at in range(first, last):
        other = np.int64(links.ends[at])
        if best >= 0 and not links.kinds[at] & OUT and other != best and not is_parent(links, other, best):
            return -1
    return best


@part
def relabel(links, work, y):
    """Find which arcs into y are firm, given those into its parents; returns True if any label changed.

    As Chickering's (1995) labelling, which looks at the last parent in an order of the DAG: if the others
    are not all parents of that one, there is a v-structure or what forces it, and all arcs into y are firm.
    """
    first, last = links.starts[y], links.starts[y] + links.degrees[y]
    top = last_parent(links, y)
    every = top < 0
    if not every:
        for at in range(links.starts[top], links.starts[top] + links.degrees[top]):
            if links.kinds[at] == FIRM and not is_parent(links, np.int64(links.ends[at]), y):
                every = True
                break
    changed = False
    for at in range(first, last):
        if links.kinds[at] & OUT:
            continue
        parent = np.int64(links.ends[at])
        firm = every
        if not every and parent != top:
            firm = links.kinds[seek(links, top, parent)] == FIRM
        if firm != bool(links.kinds[at] & FIRM):
            _note(links, work, y, parent)
            _direct(links, parent, y, FIRM if firm else 0)
            changed = True
    return changed


@inner
def _await(work, node, tail):
    """Put a node into the queue, once."""
    if work.marks[node] != work.clock[0]:
        work.marks[node] = work.clock[0]
        work.queue[tail % work.queue.shape[0]] = node
        return tail + 1
    return tail


@inner
def _await_children(links, work, node, tail):
    for at in range(links.starts[node], links.starts[node] + links.degrees[node]):
        if links.kinds[at] & OUT:
            tail = _await(work, np.int64(links.ends[at]), tail)
    return tail


@inner
def spread(links, work, tail):
    """Relabel the nodes waiting in the queue, and all below them that this changes."""
    head = 0
    while head < tail:
        node = work.queue[head % work.queue.shape[0]]
        head += 1
        work.marks[node] = 0
        if relabel(links, work, node):
            tail = _await_children(links, work, node, tail)


@patient(2.0, lambda links, work: 2e-4 * links.ends.shape[0])
def label_all(links, work):
    """Label all arcs of a DAG: those of the class that it is in."""
    work.clock[0] += 1
    tail = 0
    for node in range(links.degrees.shape[0]):
        tail = _await(work, node, tail)
    spread(links, work, tail)


@part
def ancestors_within(links, work, firsts, k):
    """Gather the first k nodes and their ancestors by arcs that are not firm.

    They are written to work.other; returns their number. `places` holds the place of each, valid where
    `marks` is the clock.
    """
    work.clock[0] += 1
    count = 0
    for i in range(k):
        if work.marks[firsts[i]] != work.clock[0]:
            work.marks[firsts[i]] = work.clock[0]
            work.places[firsts[i]] = count
            work.other[count] = firsts[i]
            count += 1
    head = 0
    while head < count:
        node = work.other[head]
        head += 1
        for at in range(links.starts[node], links.starts[node] + links.degrees[node]):
            if links.kinds[at] == 0:
                parent = np.int64(links.ends[at])
                if work.marks[parent] != work.clock[0]:
                    work.marks[parent] = work.clock[0]
                    work.places[parent] = count
                    work.other[count] = parent
                    count += 1
    return count


@inner
def _may_come(links, work, rules, ranks, node):
    """Return True if the node may be a parent of all its gathered neighbours that have no rank yet."""
    for at in range(links.starts[node], links.starts[node] + links.degrees[node]):
        other = np.int64(links.ends[at])
        if links.kinds[at] & FIRM or work.marks[other] != work.clock[0]:
            continue
        if ranks[work.places[other]] < 0 and not allowed(rules, node, other):
            return False
    return True


@inner
def allowed(rules, parent, child):
    """Return True if the rules allow an arc between candidates."""
    if rules.free:
        return True
    low, high = rules.starts[child], rules.starts[child + 1]
    last = high
    while low < high:
        middle = (low + high) >> 1
        if rules.ends[middle] < parent:
            low = middle + 1
        else:
            high = middle
    return low < last and rules.ends[low] == parent and rules.enters[low] != 0


@inner
def turn(links, work, rules, firsts, k):
    """Choose the member of the class in which the first k nodes come first in their order, if there is one.

    They and their ancestors by arcs that are not firm are put in an order of maximum cardinality search,
    which makes no v-structure; all other arcs stay. Returns the number of nodes that were ordered, which
    are in work.other; 0, and nothing changed, if no order was found that keeps the rules.
    """
    count = ancestors_within(links, work, firsts, k)
    ranks, seen = np.full(count, -1, dtype=np.int64), np.zeros(count, dtype=np.int64)
    heads = np.full(count + 1, -1, dtype=np.int64)
    after, before = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    for i in range(count - 1, -1, -1):
        after[i], before[i] = heads[0], -1
        if heads[0] >= 0:
            before[heads[0]] = i
        heads[0] = i
    top = 0
    for rank in range(count):
        while heads[top] < 0:
            top -= 1
        if rank < k:
            chosen = work.places[firsts[rank]]
            if seen[chosen] != top:
                return 0
        else:
            chosen = heads[top]
            while (
                chosen >= 0
                and not rules.free
                and not _may_come(links, work, rules, ranks, work.other[chosen])
            ):
                chosen = after[chosen]
        if chosen < 0 or (
            rank < k and not rules.free and not _may_come(links, work, rules, ranks, work.other[chosen])
        ):
            return 0
        _leave(heads, after, before, seen[chosen], chosen)
        ranks[chosen] = rank
        node = work.other[chosen]
        for at in range(links.starts[node], links.starts[node] + links.degrees[node]):
            other = np.int64(links.ends[at])
            if links.kinds[at] & FIRM or work.marks[other] != work.clock[0]:
                continue
            place = work.places[other]
            if ranks[place] < 0:
                _leave(heads, after, before, seen[place], place)
                seen[place] += 1
                after[place], before[place] = heads[seen[place]], -1
                if heads[seen[place]] >= 0:
                    before[heads[seen[place]]] = place
                heads[seen[place]] = place
                top = max(top, seen[place])
    if not rules.free and not _within_limits(links, work, rules, seen, count):
        return 0
    for i in range(count):
        node = work.other[i]
        for at in range(links.starts[node], links.starts[node] + links.degrees[node]):
            other = np.int64(links.ends[at])
            if links.kinds[at] & FIRM or work.marks[other] != work.clock[0]:
                continue
            links.kinds[at] = OUT if ranks[i] < ranks[work.places[other]] else 0
    return count


@part
def _within_limits(links, work, rules, seen, count):
    for i in range(count):
        node = work.other[i]
        own = seen[i]
        for at in range(links.starts[node], links.starts[node] + links.degrees[node]):
            if links.kinds[at] == FIRM:
                own += 1
        if own > rules.limits[node]:
            return False
    return True


@inner
def _leave(heads, after, before, bucket, place):
    if before[place] >= 0:
        after[before[place]] = after[place]
    else:
        heads[bucket] = after[place]
    if after[place] >= 0:
        before[after[place]] = before[place]


@inner
def refresh(links, work, x, y):
    """Relabel after the arc between x and y has changed.

    Another member of the same class has the same labels, so `turn` alone changes none.
    """
    work.clock[0] += 1
    tail = _await(work, y, 0)
    tail = _await(work, x, tail)
    tail = _await_children(links, work, y, tail)
    tail = _await_children(links, work, x, tail)
    spread(links, work, tail)


@inner
def find_path(links, work, source, target, blocked, k, direct):
    """Find a path from source to target along arcs and edges that avoids the first k blocked nodes.

    Descendants of the source and ancestors of the target are grown in turn, until they meet or one is
    complete. If not `direct`, the step from source straight to target does not count. The path is written to
    work.other; returns the number of its nodes, 0 if there is none.
    """
    work.clock[0] += 1
    now = work.clock[0]
    for i in range(k):
        work.fronts[blocked[i]], work.backs[blocked[i]] = now, now
        work.came_from[blocked[i]], work.goes_to[blocked[i]] = -2, -2
    work.fronts[source], work.backs[target] = now, now
    work.came_from[source], work.goes_to[target] = -1, -1
    work.queue[0], work.other[0] = source, target
    one, one_end, two, two_end = 0, 1, 0, 1
    while one < one_end and two < two_end:
        node = work.queue[one]
        one += 1
        for at in range(links.starts[node], links.starts[node] + links.degrees[node]):
            if links.kinds[at] == FIRM:
                continue
            other = np.int64(links.ends[at])
            if work.fronts[other] == now or (not direct and node == source and other == target):
                continue
            work.fronts[other], work.came_from[other] = now, node
            if work.backs[other] == now:
                return _path(work, other)
            work.queue[one_end] = other
            one_end += 1
        node = work.other[two]
        two += 1
        for at in range(links.starts[node], links.starts[node] + links.degrees[node]):
            if links.kinds[at] == (OUT | FIRM):
                continue
            other = np.int64(links.ends[at])
            if work.backs[other] == now or (not direct and node == target and other == source):
                continue
            work.backs[other], work.goes_to[other] = now, node
            if work.fronts[other] == now:
                return _path(work, other)
            work.other[two_end] = other
            two_end += 1
    return 0


@inner
def _path(work, middle):
    count = 0
    node = middle
    while node >= 0:
        work.other[count] = node
        count += 1
        node = work.came_from[node]
    node = work.goes_to[middle]
    while node >= 0:
        work.other[count] = node
        count += 1
        node = work.goes_to[node]
    return count


@patient(0.2, lambda links, *_: 2e-6 * links.ends.shape[0])
def ways_of(links, out):
    """How each node is joined to each of its neighbours in the class; out (m,) int8."""
    for node in range(links.degrees.shape[0]):
        for at in range(links.starts[node], links.starts[node] + links.degrees[node]):
            bits = links.kinds[at]
            out[at] = EITHER if not bits & FIRM else (AWAY if bits & OUT else TOWARDS)


@patient(2.0, lambda links, *_: 2e-5 * (links.ends.shape[0] + links.degrees.shape[0]))
def extend_sparse(links, ways, left, parents_of):
    """A DAG of a partially directed graph: repeatedly remove the lowest node that can be a sink.

    As `classes.extend` (Dor & Tarsi 1992), on lists.

    ways        (m,) int8    how each node is joined to each neighbour
    left        (p,) int8    overwritten with 0: 1 for the nodes that remain
    parents_of  (m,) int8    overwritten: 1 where the neighbour is a parent of the node
    Returns the number of nodes placed.
    """
    p = left.shape[0]
    left[:], parents_of[:] = 1, 0
    heap, waiting = np.arange(p), np.ones(p, dtype=np.int8)
    size, placed = p, 0
    while size > 0:
        node = heap[0]
        size -= 1
        waiting[node] = 0
        _sift_down(heap, size, heap[size])
        if not _may_be_sink(links, ways, left, node):
            continue
        left[node] = 0
        placed += 1
        for at in range(links.starts[node], links.starts[node] + links.degrees[node]):
            other = np.int64(links.ends[at])
            if left[other]:
                parents_of[at] = 1
                if not waiting[other]:
                    waiting[other] = 1
                    _sift_up(heap, size, other)
                    size += 1
    return placed


@inner
def _sift_down(heap, size, node):
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and heap[below + 1] < heap[below]:
            below += 1
        if heap[below] > node:
            break
        heap[at] = heap[below]
        at = below
    heap[at] = node


@part
def _sift_up(heap, at, node):
    while at > 0 and heap[(at - 1) >> 1] > node:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = node


@part
def _may_be_sink(links, ways, left, node):
    first, last = links.starts[node], links.starts[node] + links.degrees[node]
    for at in range(first, last):
        if left[links.ends[at]] and ways[at] == AWAY:
            return False
    for at in range(first, last):
        one = np.int64(links.ends[at])
        if not left[one] or ways[at] != EITHER:
            continue
        for near in range(first, last):
            two = np.int64(links.ends[near])
            if left[two] and two != one and not adjacent(links, one, two):
                return False
    return True


@patient(0.4, lambda links, parents, children: 1e-5 * parents.shape[0])
def link_all(links, parents, children):
    """Add many arcs; parents, children (k,) int64."""
    for i in range(parents.shape[0]):
        link(links, parents[i], children[i])
