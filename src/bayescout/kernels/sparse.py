"""Greedy equivalence search on candidates: the best operator of all, and the next class.

Ties go as in `search.classes.operators`: the lowest y, then the clique first met, then the lowest x. Each
clique of a node keeps those of its operators that gain, the best first; only what may have changed is listed
again. In the first phase pairs are only ever joined, so that operators can only become invalid: there a
clique keeps its operators as long as the node's parents stay, and each is looked at before it is taken.

ops      (a, 2) int32   operators beside `gains`: x, and whether it sleeps
watches  (w, 5) int64   which operators to wake if a node loses a step, by the columns below
last     (k,) int64     the last operator: phase, x, y, size of the clique, its members
"""

import numpy as np

from bayescout.kernels.appraising import appraise
from bayescout.kernels.keeping import take_back, what_breaks_rules
from bayescout.kernels.links import (
    APART,
    AWAY,
    DEGREE,
    EITHER,
    END,
    FIRM,
    FREE,
    KIND,
    LOGGED,
    OTHER,
    OUT,
    STALE,
    STAMP,
    START,
    STEP,
    TOWARDS,
    WAITING,
    WATCHED,
    _insert,
    _remove,
    adjacent,
    find_path,
    joined,
    refresh,
    seek,
    turn,
    way_at,
)
from bayescout.kernels.operators import (
    ASKED,
    BEGIN,
    CHANGES,
    COUNT,
    CURSOR,
    DELETE,
    EPOCH,
    IN_HEAP,
    INSERT,
    JOBS,
    NEW,
    OWNER,
    TURN,
    WANTED,
    WHOLE,
    clique_of,
    list_operators,
    settle,
)
from bayescout.kernels.patience import inner, patient

DONE, PAUSED, ASK, MORE_LISTS, MORE_OPERATORS, MORE_WATCHES = 0, 1, 2, 3, 4, 5
"""Why `walk` returns: no operator gains; enough steps; it needs the changes of families; a store is full."""

WAITS, LISTED, OPERATORS, WATCHES = np.arange(12, 16)
"""Further counters of `told`: nodes waiting to be looked at, whether lists are written (1) and changes found
(2), operators and watches stored."""

STEPS, PATHS, LOOKED = np.arange(16, 19)
"""Counters for whoever wants to know: operators taken, paths looked for, nodes looked at."""

COUNTERS = 20

AWAKE, ASLEEP, DEAD = np.arange(3)

FOLLOWING, NODE, OF_CHUNK, OFFSET, WRITTEN = np.arange(5)
"""A watch: the next on the same node, which node that is, the chunk and the place in it, and its epoch."""


@inner
def mark(nodes, rows, told, y, level):
    """Have the operators on y listed again: all if the level is WHOLE, else those of cliques that are new."""
    if nodes[y, STALE] == 0:
        rows[WAITING, told[WAITS]] = y
        told[WAITS] += 1
    nodes[y, STALE] = max(nodes[y, STALE], level)


@inner
def _sort(gains, ops, begin, count):
    """Sort operators by falling gain, of equals the lowest x first; by a heap with the last at its root."""
    size, at = count, count >> 1
    while size > 1:
        if at > 0:
            at -= 1
            gain, x = gains[begin + at], ops[begin + at, 0]
        else:
            size -= 1
            gain, x = gains[begin + size], ops[begin + size, 0]
            gains[begin + size], ops[begin + size, 0] = gains[begin], ops[begin, 0]
        hole = at
        while 2 * hole + 1 < size:
            below = begin + 2 * hole + 1
            if below + 1 < begin + size and (
                gains[below + 1] < gains[below]
                or (gains[below + 1] == gains[below] and ops[below + 1, 0] > ops[below, 0])
            ):
                below += 1
            if gains[below] > gain or (gains[below] == gain and ops[below, 0] < x):
                break
            gains[begin + hole], ops[begin + hole, 0] = gains[below], ops[below, 0]
            hole = below - begin
        gains[begin + hole], ops[begin + hole, 0] = gain, x


@inner
def _accept(told, chunks, heap, gains, ops, wanted, jobs, changes, least):
    """Store the listed operators that gain; False if there is no room for them."""
    if told[OPERATORS] + told[WANTED] > gains.shape[0]:
        return False
    for job in range(told[JOBS]):
        chunk, begin, count = jobs[job, 0], told[OPERATORS], np.int64(0)
        for at in range(jobs[job, 1], jobs[job, 2]):
            gained = 0.0 if wanted[at, 1] < 0 else changes[wanted[at, 1]]
            lost = 0.0 if wanted[at, 2] < 0 else changes[wanted[at, 2]]
            if gained - lost > least and lost > -np.inf:
                gains[begin + count] = gained - lost
                ops[begin + count, 0], ops[begin + count, 1] = wanted[at, 0], AWAKE
                count += 1
        if count > 0:
            _sort(gains, ops, begin, count)
            chunks[chunk, BEGIN], chunks[chunk, COUNT], chunks[chunk, CURSOR] = begin, count, 0
            chunks[chunk, EPOCH] += 1
            told[OPERATORS] += count
            settle(told, chunks, heap, gains, chunk)
    told[ASKED], told[WANTED], told[JOBS], told[CHANGES], told[LISTED] = 0, 0, 0, 0, 0
    return True


# ---- sleeping and waking


@inner
def _sleep(nodes, rows, told, chunks, heap, gains, ops, watches, chunk, state, n_path):
    """Set a chunk's best operator aside until one of these nodes loses a step; False if there is no room."""
    if told[WATCHES] + n_path > watches.shape[0]:
        return False
    begin, cursor = chunks[chunk, BEGIN], chunks[chunk, CURSOR]
    ops[begin + cursor, 1] = state
    for i in range(n_path):
        watch, node = told[WATCHES], rows[OTHER, i]
        told[WATCHES] = watch + 1
        watches[watch, FOLLOWING], watches[watch, NODE] = nodes[node, WATCHED], node
        watches[watch, OF_CHUNK], watches[watch, OFFSET] = chunk, cursor
        watches[watch, WRITTEN] = chunks[chunk, EPOCH]
        nodes[node, WATCHED] = watch
    while cursor < chunks[chunk, COUNT] and ops[begin + cursor, 1] != AWAKE:
        cursor += 1
    chunks[chunk, CURSOR] = cursor
    settle(told, chunks, heap, gains, chunk)
    return True


@inner
def _wake(nodes, told, chunks, heap, gains, ops, watches, node):
    """Wake the operators that watch a node, which has lost a step."""
    watch = nodes[node, WATCHED]
    nodes[node, WATCHED] = -1
    while watch >= 0:
        chunk, offset = watches[watch, OF_CHUNK], watches[watch, OFFSET]
        at = chunks[chunk, BEGIN] + offset
        if watches[watch, WRITTEN] == chunks[chunk, EPOCH] and ops[at, 1] == ASLEEP:
            ops[at, 1] = AWAKE
            if offset < chunks[chunk, CURSOR]:
                chunks[chunk, CURSOR] = offset
                settle(told, chunks, heap, gains, chunk)
        watches[watch, OF_CHUNK] = -1
        watch = watches[watch, FOLLOWING]


# ---- steps


@inner
def _blocked(nodes, slots, x, y, clique, k):
    """Return True if x and y are adjacent, or a neighbour of y joined to x is not in the clique."""
    if adjacent(nodes, slots, x, y):
        return True
    one, two = (x, y) if nodes[x, DEGREE] < nodes[y, DEGREE] else (y, x)
    for at in range(nodes[one, START], nodes[one, START] + nodes[one, DEGREE]):
        other = slots[at, END]
        if one == y and slots[at, KIND] & FIRM:
            continue
        there = seek(nodes, slots, two, other)
        if there < 0 or (one == x and slots[there, KIND] & FIRM):
            continue
        inside = False
        for i in range(k):
            inside = inside or clique[i] == other
        if not inside:
            return True
    return False


@inner
def _tried(nodes, slots, rows, told, log, ends, enters, phase, x, y, clique, k):
    """Take an operator if it is valid.

    Returns 0 if it was taken. Otherwise nothing has changed, and the nodes that stand in its way are in
    rows[OTHER]: their number.
    """
    was = joined(nodes, slots, y, x)
    firsts = np.empty(k + 2, dtype=np.int64)
    blocked = np.empty(k + nodes[x, DEGREE], dtype=np.int64)
    for i in range(k):
        firsts[i], blocked[i] = clique[i], clique[i]
    n_firsts, n_blocked = k + 1, k
    firsts[k], firsts[k + 1] = y, x
    if was == EITHER:
        n_firsts = k + 2
        if phase == DELETE:
            firsts[k], firsts[k + 1] = x, y
    elif phase != DELETE:
        if phase == TURN:
            for at in range(nodes[x, START], nodes[x, START] + nodes[x, DEGREE]):
                if way_at(slots, at) == EITHER:
                    blocked[n_blocked] = slots[at, END]
                    n_blocked += 1
        told[PATHS] += 1
        count = find_path(nodes, slots, rows, told, y, x, blocked, n_blocked, phase == INSERT)
        if count > 0:
            return count
    if phase == TURN and was == AWAY:
        blocked[0] = x
        count = turn(nodes, slots, rows, told, blocked, np.int64(1))
        if count < 0:
            return -count - 1
    count = turn(nodes, slots, rows, told, firsts, n_firsts)
    if count < 0:
        return -count - 1
    told[STEP] += 1
    low, high = min(x, y), max(x, y)
    log[0, 0], log[0, 1], log[0, 2] = low, high, was
    if y != low and was >= AWAY:
        log[0, 2] = AWAY + TOWARDS - was
    told[LOGGED] = 1
    if phase != INSERT:
        _remove(nodes, slots, x, y)
        _remove(nodes, slots, y, x)
    if phase != DELETE:
        _insert(nodes, slots, x, y, OUT)
        _insert(nodes, slots, y, x, np.int64(0))
        slots[seek(nodes, slots, low, high), STAMP] = told[STEP]
    refresh(nodes, slots, rows, told, log, x, y)
    if told[FREE]:
        return 0
    count = what_breaks_rules(nodes, slots, rows, told, log, ends, enters)
    if count > 0:
        take_back(nodes, slots, rows, told, log, x, y, y if phase == TURN else x, was)
    return count


@inner
def _react(nodes, slots, rows, told, log, chunks, heap, gains, ops, watches, phase, x, y):
    """Mark the nodes whose operators depend on what has changed, and wake those that waited for it."""
    if told[LOGGED] > log.shape[0]:
        for node in range(nodes.shape[0]):
            _wake(nodes, told, chunks, heap, gains, ops, watches, node)
            mark(nodes, rows, told, node, WHOLE)
        return
    for entry in range(2 * told[LOGGED]):
        node, other, before = log[entry >> 1, 0], log[entry >> 1, 1], log[entry >> 1, 2]
        if entry & 1:
            node, other = other, node
            if before >= AWAY:
                before = AWAY + TOWARDS - before
        now = joined(nodes, slots, node, other)
        if now == before:
            continue
        lost = (before == EITHER) | (before == AWAY) and now != EITHER and now != AWAY
        if lost or told[FREE] == 0:
            _wake(nodes, told, chunks, heap, gains, ops, watches, node)
        if phase == INSERT:
            if (before == EITHER) | (before == TOWARDS) | (now == TOWARDS):
                mark(nodes, rows, told, node, WHOLE)
            elif now == EITHER:
                mark(nodes, rows, told, node, NEW)
            continue
        mark(nodes, rows, told, node, WHOLE)
        if phase == TURN:  # the family of the other end counts too
            for at in range(nodes[node, START], nodes[node, START] + nodes[node, DEGREE]):
                if slots[at, KIND] != OUT | FIRM:
                    mark(nodes, rows, told, slots[at, END], WHOLE)
    smaller = x if nodes[x, DEGREE] < nodes[y, DEGREE] else y
    for end in (x, y):
        if phase == INSERT and end != smaller:
            continue  # nodes with both as neighbours are found from one of them
        if phase != INSERT:
            mark(nodes, rows, told, end, WHOLE)
        for at in range(nodes[end, START], nodes[end, START] + nodes[end, DEGREE]):
            if slots[at, KIND] & FIRM:
                continue
            if phase != INSERT:
                mark(nodes, rows, told, slots[at, END], WHOLE)
            elif joined(nodes, slots, x + y - end, slots[at, END]) == EITHER:
                mark(nodes, rows, told, slots[at, END], NEW)


@patient(3.00, lambda nodes, slots, *_: 4e-4 * slots.shape[0])
def walk(
    nodes, slots, rows, told, log, ends, enters, chunks, heap, gains, ops, watches, asked, wanted, jobs,
    changes, last, columns, terms, least, phase, steps,
):  # fmt: skip
    """Take the best operator of a phase, again and again; returns why it stopped.

    All arguments but the data are changed in place. Call it again with larger stores if one was full, and
    with the changes that are asked for, if there are no columns to find them from.
    """
    taken = 0
    while True:
        while told[WAITS] > 0 and told[LISTED] == 0:
            y = rows[WAITING, told[WAITS] - 1]
            if not list_operators(
                nodes, slots, told, ends, enters, chunks, heap, gains, asked, wanted, jobs, y, phase
            ):
                if told[JOBS] == 0:
                    return MORE_LISTS
                told[LISTED] = 1
                break
            told[WAITS] -= 1
            told[LOOKED] += 1
        if told[LISTED] < 2 and told[JOBS] > 0:
            told[LISTED] = 2
            if columns is None:
                if told[CHANGES] > 0:
                    return ASK
            else:
                appraise(columns, terms, asked, told[ASKED], changes)
        if told[LISTED] == 2:
            if not _accept(told, chunks, heap, gains, ops, wanted, jobs, changes, least):
                return MORE_OPERATORS
            continue
        if taken >= steps:
            return PAUSED
        chunk = heap[0]
        if told[IN_HEAP] == 0 or chunks[chunk, CURSOR] >= chunks[chunk, COUNT]:
            return DONE
        y, x = chunks[chunk, OWNER], np.int64(ops[chunks[chunk, BEGIN] + chunks[chunk, CURSOR], 0])
        clique = np.empty(nodes[y, DEGREE] + 1, dtype=np.int64)
        k = clique_of(chunks, chunk, clique)
        if phase == INSERT and _blocked(nodes, slots, x, y, clique, k):
            _sleep(nodes, rows, told, chunks, heap, gains, ops, watches, chunk, DEAD, np.int64(0))
            continue
        count = _tried(nodes, slots, rows, told, log, ends, enters, phase, x, y, clique, k)
        if count > 0:
            if not _sleep(nodes, rows, told, chunks, heap, gains, ops, watches, chunk, ASLEEP, count):
                return MORE_WATCHES
            continue
        taken += 1
        told[STEPS] += 1
        last[0], last[1], last[2], last[3] = phase, x, y, k
        for i in range(k):
            last[4 + i] = clique[i]
        _react(nodes, slots, rows, told, log, chunks, heap, gains, ops, watches, phase, x, y)


# ---- the pattern before completion


@inner
def _set_way(nodes, slots, ways, a, b, way):
    """Set how two nodes are joined in a pattern, seen from the first."""
    ways[seek(nodes, slots, a, b)] = way
    ways[seek(nodes, slots, b, a)] = way if way == EITHER else AWAY + TOWARDS - way


@patient(1.0, lambda nodes, *_: 1e-3)
def undo_completion(nodes, slots, told, log, last, ways):
    """Change a class into the pattern that the last operator made of the class before, not yet completed.

    ways  (m,) int8   how each node is joined to each neighbour
    Returns False, and changes nothing, if that is not known any more.
    """
    if told[LOGGED] > log.shape[0] or told[STEPS] == 0:
        return False
    phase, x, y, k = last[0], last[1], last[2], last[3]
    was = APART
    for entry in range(told[LOGGED]):
        low, high, before = log[entry, 0], log[entry, 1], log[entry, 2]
        if low == min(x, y) and high == max(x, y):
            was = before if low == x or before < AWAY else AWAY + TOWARDS - before
        else:
            _set_way(nodes, slots, ways, low, high, before)
    # Around each of these nodes: the clique's members come before it, and the others after it.
    for end in (y, x):
        if end == x and (phase == INSERT or was != EITHER):
            break
        for at in range(nodes[end, START], nodes[end, START] + nodes[end, DEGREE]):
            node = slots[at, END]
            if (node == x) | (node == y) | (ways[at] != EITHER):
                continue
            inside = False
            for i in range(k):
                inside = inside or last[4 + i] == node
            if phase == DELETE:
                if not inside and adjacent(nodes, slots, node, x + y - end):
                    _set_way(nodes, slots, ways, end, node, AWAY)
            elif phase == TURN and was == EITHER:
                _set_way(nodes, slots, ways, end, node, TOWARDS if inside else AWAY)
            elif inside and not adjacent(nodes, slots, node, x):
                _set_way(nodes, slots, ways, end, node, TOWARDS)
    if phase != DELETE:
        _set_way(nodes, slots, ways, x, y, AWAY)
    return True
