"""Equivalence classes on bitsets: extending a pattern, completing a DAG, finding a path.

A set of n nodes is w words of 64 bits, node i in bit i % 64 of word i // 64.
"""

import numpy as np

from bayescout.kernels.patience import inner, part, patient
from bayescout.kernels.popcount import popcount

ONE = np.uint64(1)

PARENTS, CHILDREN, FRIENDS = 0, 1, 2
"""The planes of a pattern."""


@part
def _bit(node):
    return ONE << np.uint64(node & 63)


@part
def _lowest(word):
    """The position of the lowest set bit."""
    return np.int64(popcount(~word & (word - ONE)))


@patient(0.4, lambda marks, *_: 3e-5 * marks.shape[1] * marks.shape[2])
def extend(marks, limits, parents, order):
    """A DAG of a pattern: repeatedly remove the lowest node that can be a sink (Dor & Tarsi 1992).

    A node that can be a sink still can be one, with fewer parents, after others are removed, and its removal
    prevents no other: so a DAG within the limits is found if there is one.

    marks    (3, n, w) uint64   the parents, children and undirected friends of each node
    limits   (n,) int64         the most parents of each node
    parents  (n, w) uint64      overwritten: the parents of each node in the DAG
    order    (n,) int64         overwritten: the nodes, children before parents
    Returns the number of nodes placed: less than n if there is no such DAG.
    """
    _, n, words = marks.shape
    left = np.empty((n, words), dtype=np.uint64)
    waiting = np.zeros(words, dtype=np.uint64)
    for node in range(n):
        waiting[node >> 6] |= _bit(node)
        for word in range(words):
            left[node, word] = marks[0, node, word] | marks[1, node, word] | marks[2, node, word]
    placed, word = 0, 0
    while word < words:
        if waiting[word] == 0:
            word += 1
            continue
        node = word * 64 + _lowest(waiting[word])
        waiting[word] &= waiting[word] - ONE
        if _may_be_sink(marks, left, node, limits[node]):
            order[placed] = node
            placed += 1
            word = min(word, _remove(left, node, waiting, parents))
    return placed


@part
def _remove(left, node, waiting, parents):
    """Remove a sink: its remaining neighbours become its parents, and are queued to be tested again.

    Returns the first word with one of them.
    """
    words = left.shape[1]
    first = words
    for word in range(words):
        around = left[node, word]
        parents[node, word] = around
        waiting[word] |= around
        if around and first == words:
            first = word
        while around:
            left[word * 64 + _lowest(around), node >> 6] &= ~_bit(node)
            around &= around - ONE
    return first


@inner
def _may_be_sink(marks, left, node, most):
    """True if no child and at most `most` neighbours are left, each friend adjacent to all the others."""
    words = left.shape[1]
    around = 0
    for word in range(words):
        if marks[CHILDREN, node, word] & left[node, word]:
            return False
        around += np.int64(popcount(left[node, word]))
    if around > most:
        return False
    for word in range(words):
        friends = marks[FRIENDS, node, word] & left[node, word]
        while friends:
            friend = word * 64 + _lowest(friends)
            friends &= friends - ONE
            for other in range(words):
                apart = left[node, other] & ~left[friend, other]
                if other == word:
                    apart &= ~_bit(friend)
                if apart:
                    return False
    return True


@patient(0.3, lambda parents, *_: 2e-5 * parents.size)
def complete(parents, order, marks):
    """The class of a DAG: Chickering's (1995) labelling, parents before children.

    parents  (n, w) uint64      of each node
    order    (n,) int64         the nodes, children before parents
    marks    (3, n, w) uint64   zeros; filled with the parents, children and undirected friends of each node
    """
    n, words = parents.shape
    place = np.empty(n, dtype=np.int64)
    for position in range(n):
        place[order[position]] = position
    for position in range(n - 1, -1, -1):
        child = order[position]
        latest = _latest(parents, child, place)
        if latest < 0:
            continue
        everything = False
        for word in range(words):
            family, shared = parents[child, word], parents[latest, word]
            if word == latest >> 6:
                shared |= _bit(latest)
            if marks[PARENTS, latest, word] & ~family or family & ~shared:
                everything = True
        for word in range(words):
            family = parents[child, word]
            compelled = family if everything else marks[PARENTS, latest, word]
            marks[PARENTS, child, word] = compelled
            marks[FRIENDS, child, word] |= family & ~compelled
            while family:
                low = family & (~family + ONE)
                plane = CHILDREN if compelled & low else FRIENDS
                marks[plane, word * 64 + _lowest(family), child >> 6] |= _bit(child)
                family ^= low


@part
def _latest(parents, child, place):
    """The parent that comes last in the order; -1 if there is none."""
    latest = -1
    for word in range(parents.shape[1]):
        family = parents[child, word]
        while family:
            parent = word * 64 + _lowest(family)
            family &= family - ONE
            if latest < 0 or place[parent] < place[latest]:
                latest = parent
    return latest


@patient(0.2, lambda steps, *_: 5e-6 * steps.size)
def find_path(steps, ends, seen, path):
    """A shortest path along steps from a source to a target.

    steps  (n, w) uint64   the nodes that one step reaches from each node
    ends   (3,) int64      source, target, and 1 if the step straight to the target counts, 2 if not
    seen   (w,) uint64     the nodes that may not be entered; overwritten
    path   (w,) uint64     zeros; filled with the nodes of the path
    Returns True if there is one.
    """
    n, words = steps.shape
    source, target, length = ends[0], ends[1], ends[2]
    goal_word, goal = target >> 6, _bit(target)
    if length == 1 and seen[goal_word] & goal:
        return False
    seen[goal_word] |= goal
    seen[source >> 6] |= _bit(source)
    came_from = np.empty(n, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    queue[0] = source
    first, last = 0, 1
    while first < last:
        node = queue[first]
        first += 1
        if steps[node, goal_word] & goal and (length == 1 or node != source):
            path[goal_word] |= goal
            while node != source:
                path[node >> 6] |= _bit(node)
                node = came_from[node]
            path[source >> 6] |= _bit(source)
            return True
        for word in range(words):
            fresh = steps[node, word] & ~seen[word]
            seen[word] |= fresh
            while fresh:
                reached = word * 64 + _lowest(fresh)
                fresh &= fresh - ONE
                came_from[reached] = node
                queue[last] = reached
                last += 1
    return False
