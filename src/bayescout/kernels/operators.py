"""The operators on a node of a class, on candidate lists, and the changes of families that they are worth.

An operator is on two nodes x and y and a clique among y's neighbours, as in `search.classes.operators`. What
it gains is the change of one family or two when a parent is added to them. The changes that are needed are
written to `asked`, and found elsewhere: so operators are listed alike for every score.

asked    (a,) int64     group after group: [child, number of parents, number of changes, phase, parents...,
                        added...]; there is one change for each that is added
wanted   (w, 3) int64   operators: x, the number of the change that it gains, and of that it loses; or -1
jobs     (j, 3) int64   the chunk of a clique, and where its operators begin and end in `wanted`
chunks   (c, 10) int64  the operators of one clique of a node, by the columns below
heap     (c,) int64     chunks by their best operators
gains    (a,) float64   of operators, falling within a chunk
"""

import numpy as np

from bayescout.kernels.links import (
    AWAY,
    BACK,
    CAME,
    CHUNK,
    CLOCK,
    DEGREE,
    EITHER,
    END,
    FREE,
    FRONT,
    ROOM,
    STALE,
    START,
    TOWARDS,
    adjacent,
    entry_of,
    joined,
    way_at,
)
from bayescout.kernels.patience import inner

INSERT, DELETE, TURN = np.arange(3)
"""The phases."""

OWNER, ABOVE, ADDED, NEXT, NUMBER, BEGIN, COUNT, CURSOR, EPOCH, PLACE = np.arange(10)
"""A chunk.

OWNER, ABOVE, ADDED   the node y; the chunk of the clique that this one extends, and by which node; or -1
NEXT, NUMBER          the next chunk of y, and the number of the clique among those of y
BEGIN, COUNT, CURSOR  where its operators are, and the first of them that may be awake
EPOCH, PLACE          how often it has been written, and its place in the heap, or -1
"""

ASKED, WANTED, JOBS, CHANGES, CHUNKS, SPARE, UNUSED, IN_HEAP = np.arange(4, 12)
"""Further counters of `told`: entries of the lists, changes asked for, chunks made, of which are not in use,
the first of these, and chunks in the heap."""

MOST = np.int64(19)
"""The place in `told` of the largest limit on parents: a class may keep limits in another of its members."""

NONE = np.int64(-1)

MOST_CLIQUES = 4096
"""The most cliques of one node that are looked at, smaller ones and lower nodes first."""

NEW, WHOLE = np.array([1, 2])
"""Values of STALE: some cliques of the node may be new; or none of its operators can be kept."""


@inner
def cliques_of(nodes, slots, members, k, above, added):
    """All cliques among the first k members, in the order of `patterns.cliques_within`; the first is empty.

    above, added  (c,) int64   overwritten: the clique that each extends, and by which member (its place)
    Returns their number, at most c.
    """
    most = above.shape[0]
    above[0], added[0] = -1, -1
    pool, stack = np.empty(max(16 * k, 1024), dtype=np.int64), np.empty(3 * most + 3, dtype=np.int64)
    for i in range(k):
        pool[i] = i
    stack[0], stack[1], stack[2] = 0, 0, k
    count, depth = 1, 3
    while depth > 0:
        depth -= 3
        clique, begin, end = stack[depth], stack[depth + 1], stack[depth + 2]
        free = end
        for i in range(begin, end):
            if count == most:
                return count
            above[count], added[count] = clique, pool[i]
            own = free
            for j in range(i + 1, end):
                if adjacent(nodes, slots, members[pool[i]], members[pool[j]]):
                    if free == pool.shape[0]:
                        larger = np.empty(2 * free, dtype=np.int64)
                        for at in range(free):
                            larger[at] = pool[at]
                        pool = larger
                    pool[free] = pool[j]
                    free += 1
            stack[depth], stack[depth + 1], stack[depth + 2] = count, own, free
            depth += 3
            count += 1
    return count


@inner
def _open(told, asked, child, base, n_base, without, phase):
    """Begin a group: the parents of a child, but for one; returns its place."""
    head = told[ASKED]
    at = head + 4
    for i in range(n_base):
        if base[i] != without:
            asked[at] = base[i]
            at += 1
    asked[head], asked[head + 1], asked[head + 2], asked[head + 3] = child, at - head - 4, 0, phase
    told[ASKED] = at
    return head


@inner
def _add(told, asked, head, x):
    """Ask for the change of a family when x is added; returns its number."""
    asked[told[ASKED]] = x
    told[ASKED] += 1
    asked[head + 2] += 1
    told[CHANGES] += 1
    return told[CHANGES] - 1


@inner
def _want(told, wanted, x, gained, lost):
    at = told[WANTED]
    wanted[at, 0], wanted[at, 1], wanted[at, 2] = x, gained, lost
    told[WANTED] = at + 1


@inner
def _fits(nodes, slots, now, number, x):
    """Return True if all marked neighbours of x are in the clique of this number."""
    for at in range(nodes[x, START], nodes[x, START] + nodes[x, DEGREE]):
        if nodes[slots[at, END], FRONT] == now and nodes[slots[at, END], CAME] != number:
            return False
    return True


@inner
def _is_required(nodes, told, ends, enters, a, b):
    """Return True if an arc between two candidates is required, in either direction."""
    if told[FREE]:
        return False
    return entry_of(nodes, enters, ends, a, b) == 2 or entry_of(nodes, enters, ends, b, a) == 2


@inner
def _parts(nodes, slots, now, number, x, members, k, state, stack):
    """Return True if among y's neighbours joined to x, the clique parts its others from the rest (x apart).

    As `Reversals._separated`: from the members of the clique not joined to x no way within y's neighbours,
    around the rest of the clique, leads to a neighbour joined to x that is not in the clique.
    """
    depth, rest = 0, False
    for i in range(k):
        near = members[i] != x and adjacent(nodes, slots, members[i], x)
        state[i] = 1 if members[i] == x else 0
        if nodes[members[i], CAME] == number:
            state[i] = 1
            if not near:
                stack[depth] = i
                depth += 1
        elif near:
            state[i] = 2
            rest = True
    while rest and depth > 0:
        depth -= 1
        node = members[stack[depth]]
        for i in range(k):
            if state[i] != 1 and joined(nodes, slots, node, members[i]) == EITHER:
                if state[i] == 2:
                    return False
                state[i] = 1
                stack[depth] = i
                depth += 1
    return True


@inner
def _ask_other(nodes, slots, told, asked, x, y, clique, n_clique, either):
    """Ask for the change of x's family when y is added to the parents that it has when the arc is turned."""
    head = told[ASKED]
    at, i = head + 4, 0
    for place in range(nodes[x, START], nodes[x, START] + nodes[x, DEGREE]):
        parent = slots[place, END]
        if parent == y or way_at(slots, place) != TOWARDS:
            continue
        while either and i < n_clique and clique[i] < parent:
            if adjacent(nodes, slots, clique[i], x):
                asked[at] = clique[i]
                at += 1
            i += 1
        asked[at] = parent
        at += 1
    while either and i < n_clique:
        if adjacent(nodes, slots, clique[i], x):
            asked[at] = clique[i]
            at += 1
        i += 1
    asked[head], asked[head + 1], asked[head + 2], asked[head + 3] = x, at - head - 4, 0, 1
    told[ASKED] = at
    return _add(told, asked, head, y)


@inner
def clique_of(chunks, chunk, out):
    """The members of the clique of a chunk, rising; returns their number."""
    k, at = 0, chunk
    while chunks[at, ABOVE] >= 0:
        k += 1
        at = chunks[at, ABOVE]
    at = chunk
    for i in range(k - 1, -1, -1):
        out[i] = chunks[at, ADDED]
        at = chunks[at, ABOVE]
    return k


@inner
def _above(chunks, gains, a, b):
    """Return True if the best operator that is awake of one chunk comes before that of another."""
    one, two = -np.inf, -np.inf
    if chunks[a, CURSOR] < chunks[a, COUNT]:
        one = gains[chunks[a, BEGIN] + chunks[a, CURSOR]]
    if chunks[b, CURSOR] < chunks[b, COUNT]:
        two = gains[chunks[b, BEGIN] + chunks[b, CURSOR]]
    if one != two:
        return one > two
    if chunks[a, OWNER] != chunks[b, OWNER]:
        return chunks[a, OWNER] < chunks[b, OWNER]
    return chunks[a, NUMBER] < chunks[b, NUMBER]


@inner
def settle(told, chunks, heap, gains, chunk):
    """Put a chunk where it belongs in the heap, after its best operator has changed."""
    at = chunks[chunk, PLACE]
    if at < 0:
        at = told[IN_HEAP]
        told[IN_HEAP] = at + 1
    while at > 0 and _above(chunks, gains, chunk, heap[(at - 1) >> 1]):
        heap[at] = heap[(at - 1) >> 1]
        chunks[heap[at], PLACE] = at
        at = (at - 1) >> 1
    while 2 * at + 1 < told[IN_HEAP]:
        below = 2 * at + 1
        if below + 1 < told[IN_HEAP] and _above(chunks, gains, heap[below + 1], heap[below]):
            below += 1
        if not _above(chunks, gains, heap[below], chunk):
            break
        heap[at] = heap[below]
        chunks[heap[at], PLACE] = at
        at = below
    heap[at], chunks[chunk, PLACE] = chunk, at


@inner
def drop(nodes, told, chunks, heap, gains, y):
    """Forget all operators on y."""
    chunk = nodes[y, CHUNK]
    nodes[y, CHUNK] = -1
    while chunk >= 0:
        following = chunks[chunk, NEXT]
        chunks[chunk, COUNT], chunks[chunk, CURSOR] = 0, 0
        chunks[chunk, EPOCH] += 1
        if chunks[chunk, PLACE] >= 0:
            settle(told, chunks, heap, gains, chunk)
        chunks[chunk, NEXT] = told[UNUSED]
        told[UNUSED] = chunk
        told[SPARE] += 1
        chunk = following


@inner
def list_operators(nodes, slots, told, ends, enters, chunks, heap, gains, asked, wanted, jobs, y, phase):
    """List the operators on y, but for those of cliques that it has chunks for; False if there is no room."""
    degree, first = nodes[y, DEGREE], nodes[y, START]
    members, parents = np.empty(degree, dtype=np.int64), np.empty(degree, dtype=np.int64)
    state, stack = np.empty(degree, dtype=np.int64), np.empty(degree, dtype=np.int64)
    others = np.empty(degree + nodes[y, ROOM], dtype=np.int64)
    told[CLOCK] += 1
    now = told[CLOCK]
    k, n_parents, n_others, around = np.int64(0), 0, 0, 0
    for at in range(first, first + degree):
        node, way = slots[at, END], way_at(slots, at)
        nodes[node, BACK] = now
        around += nodes[node, DEGREE] + 5
        if way == EITHER:
            nodes[node, FRONT], nodes[node, CAME] = now, -1
            members[k] = node
            k += 1
        elif way == TOWARDS:
            parents[n_parents] = node
            n_parents += 1
        if phase != INSERT and (way == EITHER or way == (TOWARDS if phase == DELETE else AWAY)):
            others[n_others] = node
            n_others += 1
    for at in range(first, first + nodes[y, ROOM] if phase == INSERT else first):
        x = np.int64(ends[at])
        if nodes[x, BACK] != now and (enters[at] != 0 or entry_of(nodes, enters, ends, y, x) != 0):
            others[n_others] = x
            n_others += 1

    most = min(MOST_CLIQUES + k, 1 << min(k, 20))
    above, added = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    count = cliques_of(nodes, slots, members, k, above, added)
    if nodes[y, STALE] == WHOLE:
        drop(nodes, told, chunks, heap, gains, y)
    own = np.empty(count, dtype=np.int64)
    old = nodes[y, CHUNK]
    for number in range(count):
        own[number] = -1
        if old >= 0 and (
            number == 0
            or (own[above[number]] == chunks[old, ABOVE] and members[added[number]] == chunks[old, ADDED])
        ):
            own[number] = old
            old = chunks[old, NEXT]
    if old >= 0:
        drop(nodes, told, chunks, heap, gains, y)
        for number in range(count):
            own[number] = -1

    before, before_wanted, before_jobs, before_changes = told[ASKED], told[WANTED], told[JOBS], told[CHANGES]
    clique, base = np.empty(k + 1, dtype=np.int64), np.empty(degree + 1, dtype=np.int64)
    lost = np.empty(n_others + 1, dtype=np.int64)
    for i in range(n_others):
        lost[i] = -1
    room = chunks.shape[0] - told[CHUNKS] + told[SPARE] >= count
    for number in range(count):
        if own[number] >= 0:
            continue
        n_clique, at = 0, number
        while at > 0:
            n_clique += 1
            at = above[at]
        at = number
        for i in range(n_clique - 1, -1, -1):
            clique[i] = members[added[at]]
            nodes[clique[i], CAME] = number
            at = above[at]
        n_base = n_clique + n_parents
        i, j = 0, 0
        while i + j < n_base:
            if j == n_clique or (i < n_parents and parents[i] < clique[j]):
                base[i + j] = parents[i]
                i += 1
            else:
                base[i + j] = clique[j]
                j += 1
        most = 4 + n_base + n_others
        if phase == DELETE:
            most += n_parents * (5 + n_base)
        if phase == TURN:
            most += around + n_others * n_clique
        room = room and told[ASKED] + most <= asked.shape[0]
        room = room and told[WANTED] + n_others <= wanted.shape[0] and told[JOBS] < jobs.shape[0]
        if not room:
            told[ASKED], told[WANTED], told[JOBS] = before, before_wanted, before_jobs
            told[CHANGES] = before_changes
            return False
        start = told[WANTED]
        if phase == DELETE or n_base < told[MOST]:
            head = _open(told, asked, y, base, n_base, NONE, phase)
            for i in range(n_others):
                x = others[i]
                if phase == INSERT:
                    if _fits(nodes, slots, now, number, x):
                        _want(told, wanted, x, _add(told, asked, head, x), NONE)
                    continue
                apart = 0
                for j in range(n_clique):
                    if clique[j] == x or not adjacent(nodes, slots, clique[j], x):
                        apart += 1
                inside = nodes[x, FRONT] == now
                if phase == DELETE:
                    if apart == 0 and inside and not _is_required(nodes, told, ends, enters, x, y):
                        _want(told, wanted, x, NONE, _add(told, asked, head, x))
                    continue
                if told[FREE] == 0 and entry_of(nodes, enters, ends, y, x) == 2:
                    continue
                if inside:
                    fits = nodes[x, CAME] != number and apart > 0
                    fits = fits and _parts(nodes, slots, now, number, x, members, k, state, stack)
                else:
                    fits = _fits(nodes, slots, now, number, x)
                if fits:
                    _want(told, wanted, x, _add(told, asked, head, x), NONE)
            i = 0
            for at in range(start, told[WANTED] if phase == TURN else start):
                x = wanted[at, 0]
                while others[i] != x:
                    i += 1
                inside = nodes[x, FRONT] == now
                apart = 0
                for j in range(n_clique):
                    if not adjacent(nodes, slots, clique[j], x):
                        apart += 1
                if lost[i] < 0 or (inside and apart < n_clique):
                    wanted[at, 2] = _ask_other(nodes, slots, told, asked, x, y, clique, n_clique, inside)
                    if not inside or apart == n_clique:
                        lost[i] = wanted[at, 2]
                else:
                    wanted[at, 2] = lost[i]
            for i in range(n_parents if phase == DELETE else 0):
                x = parents[i]
                apart = 0
                for j in range(n_clique):
                    if not adjacent(nodes, slots, clique[j], x):
                        apart += 1
                if apart == 0 and not _is_required(nodes, told, ends, enters, x, y):
                    head = _open(told, asked, y, base, n_base, x, phase)
                    _want(told, wanted, x, NONE, _add(told, asked, head, x))
        at = told[JOBS]
        jobs[at, 0], jobs[at, 1], jobs[at, 2] = number, start, told[WANTED]
        told[JOBS] = at + 1
    _make_chunks(told, nodes, chunks, jobs, before_jobs, y, count, own, above, added, members)
    return True


@inner
def _make_chunks(told, nodes, chunks, jobs, at, y, count, own, above, added, members):
    """Make the chunks of new cliques and string all of y's together in their order."""
    last = -1
    for number in range(count):
        chunk = own[number]
        if chunk < 0:
            chunk = told[UNUSED]
            if chunk >= 0:
                told[UNUSED] = chunks[chunk, NEXT]
                told[SPARE] -= 1
            else:
                chunk = told[CHUNKS]
                told[CHUNKS] += 1
                chunks[chunk, EPOCH], chunks[chunk, PLACE] = 0, -1
            own[number] = chunk
            jobs[at, 0] = chunk
            at += 1
            chunks[chunk, OWNER], chunks[chunk, ABOVE], chunks[chunk, ADDED] = y, -1, -1
            chunks[chunk, COUNT], chunks[chunk, CURSOR] = 0, 0
            if number > 0:
                chunks[chunk, ABOVE], chunks[chunk, ADDED] = own[above[number]], members[added[number]]
        chunks[chunk, NUMBER], chunks[chunk, NEXT] = number, -1
        if last >= 0:
            chunks[last, NEXT] = chunk
        else:
            nodes[y, CHUNK] = chunk
        last = chunk
    nodes[y, STALE] = 0
