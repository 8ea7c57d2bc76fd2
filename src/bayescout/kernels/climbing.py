"""Single-arc moves between candidates: the best legal one, and what a move changes.

Everything is kept per entry: a variable and one of its candidates, in lists as `screening.Neighbourhood` has
them. The entry (child, parent) stands for adding the arc parent -> child, or, once it is there, for removing
or reversing it. A tournament over all entries knows the best at any time; entries are in the order child,
parent, so of equals the first one wins as in `moves.best_move`. A move that would close a cycle is found out
when its turn comes, and sleeps until a variable on the path that forbids it loses a parent.
"""

from collections import namedtuple

import numpy as np

from bayescout.kernels.moves import ADD, REMOVE, REVERSE
from bayescout.kernels.patience import inner, patient

Climb = namedtuple(
    "Climb",
    "starts ends owners mirrors joined gains tops kinds asleep tree "
    "above below n_above n_below watched nexts watchers marks steps queues counters",
)
"""A graph whose arcs are between candidates, and its moves.

starts    (n + 1,) int64   where the entries of each child begin
ends      (m,) int32       the parent of each entry, rising within a child
owners    (m,) int32       its child
mirrors   (m,) int32       the entry of the same two variables the other way round
joined    (m,) bool        the arc is in the graph
gains     (m,) float64     of adding the arc, or if it is there of removing it; -inf where that may not be
tops      (m,) float64     the gain of the better move of each entry, of those not known to close a cycle
kinds     (m,) int8        that move
asleep    (m,) int8        1 if the addition, or the reversal, closes a cycle
tree      (l,) int32       winners: node i is over the nodes 2 i and 2 i + 1; node l + e stands for entry e
above     (m,) int32       the entries of the arcs into each variable, as many as `n_above` says
below     (m,) int32       the entries (parent, child) of the arcs from each variable
watched   (n,) int64       the first watch of each variable, or -1
nexts, watchers  (w,) int64   the next watch of the variable, and the entry that waits
marks     (2, n) int64     when a search for a path last met each variable, from above and from below
steps     (2, n) int32     where from
queues    (2, n) int32
counters  (4,) int64       searches for paths, watches used, the first free one or -1, and how many are free
"""

SEARCHES, USED, FREE, N_FREE = 0, 1, 2, 3
MORE_WATCHES = -2


@inner
def _is_before(climb, one, two):
    """Return True if an entry wins over another that comes later."""
    if two < 0:
        return True
    if climb.tops[one] != climb.tops[two]:
        return climb.tops[one] > climb.tops[two]
    return climb.kinds[one] <= climb.kinds[two]


@inner
def _decide(climb, first, last):
    """Repeat the tournament after changes of the entries from first to before last."""
    tree = climb.tree
    m, size = climb.ends.shape[0], climb.tree.shape[0]
    low, high = (first + size) >> 1, (last - 1 + size) >> 1
    bottom = True
    while low >= 1:
        for node in range(low, high + 1):
            if bottom:
                one = 2 * node - size
                two = one + 1 if one + 1 < m else -1
                one = one if one < m else -1
            else:
                one, two = tree[2 * node], tree[2 * node + 1]
            tree[node] = one if one < 0 or _is_before(climb, one, two) else two
        low, high = low >> 1, high >> 1
        bottom = False


@inner
def _look(climb, entry):
    """Find the better move of an entry."""
    gain = climb.gains[entry]
    if not climb.joined[entry]:
        climb.kinds[entry] = ADD
        illegal = climb.asleep[entry] or climb.joined[climb.mirrors[entry]]
        climb.tops[entry] = -np.inf if illegal else gain
        return
    climb.kinds[entry], climb.tops[entry] = REMOVE, gain
    if gain > -np.inf and not climb.asleep[entry]:
        both = gain + climb.gains[climb.mirrors[entry]]
        if both > gain:
            climb.kinds[entry], climb.tops[entry] = REVERSE, both


@inner
def _look_again(climb, entry):
    _look(climb, entry)
    _decide(climb, entry, entry + 1)


@patient(0.3, lambda climb, children: 4e-6 * climb.ends.shape[0] / climb.watched.shape[0] * children.shape[0])
def settle(climb, children):
    """Take over new gains of the entries of some children.

    children  (k,) int64
    """
    starts, below = climb.starts, climb.below
    m, n = climb.ends.shape[0], climb.watched.shape[0]
    if m == 0:
        return
    for child in children:
        first, last = starts[child], starts[child + 1]
        for entry in range(first, last):
            _look(climb, entry)
        if last > first and children.shape[0] < n:
            _decide(climb, first, last)
    for child in children:
        for at in range(starts[child], starts[child] + climb.n_below[child]):
            entry = climb.mirrors[below[at]]
            _look(climb, entry)
            if children.shape[0] < n:
                _decide(climb, entry, entry + 1)
    if children.shape[0] == n:
        _decide(climb, 0, m)


@inner
def _path(climb, begin, end):
    """A variable in the middle of a directed path from begin to end, besides the arc itself; -1 if none.

    Descendants of the one and ancestors of the other are looked at in turn, whichever took less work, until
    one side is complete.
    """
    climb.counters[SEARCHES] += 1
    now = climb.counters[SEARCHES]
    marks, steps, queues = climb.marks, climb.steps, climb.queues
    marks[0, begin], marks[1, end] = now, now
    queues[0, 0], queues[1, 0] = begin, end
    done_0, there_0, work_0 = 0, 1, 0
    done_1, there_1, work_1 = 0, 1, 0
    while done_0 < there_0 and done_1 < there_1:
        if work_0 <= work_1:
            node = queues[0, done_0]
            done_0 += 1
            first = climb.starts[node]
            work_0 += climb.n_below[node] + 1
            for at in range(first, first + climb.n_below[node]):
                other = climb.ends[climb.below[at]]
                if marks[0, other] == now or (node == begin and other == end):
                    continue
                marks[0, other], steps[0, other] = now, node
                if marks[1, other] == now:
                    return np.int64(other)
                queues[0, there_0] = other
                there_0 += 1
        else:
            node = queues[1, done_1]
            done_1 += 1
            first = climb.starts[node]
            work_1 += climb.n_above[node] + 1
            for at in range(first, first + climb.n_above[node]):
                other = climb.ends[climb.above[at]]
                if marks[1, other] == now or (node == end and other == begin):
                    continue
                marks[1, other], steps[1, other] = now, node
                if marks[0, other] == now:
                    return np.int64(other)
                queues[1, there_1] = other
                there_1 += 1
    return np.int64(-1)


@inner
def _watch(climb, node, entry):
    counters = climb.counters
    free = counters[FREE]
    if free >= 0:
        counters[FREE] = climb.nexts[free]
        counters[N_FREE] -= 1
    else:
        free = counters[USED]
        counters[USED] += 1
    climb.nexts[free], climb.watchers[free] = climb.watched[node], entry
    climb.watched[node] = free


@inner
def _sleep(climb, entry, middle, begin, end):
    """Let an entry sleep until the path through a variable is broken; return False without room for that."""
    room, node = climb.nexts.shape[0] - climb.counters[USED] + climb.counters[N_FREE], middle
    while node != begin:
        node = climb.steps[0, node]
        room -= 1
    node = middle
    while node != end:
        node = climb.steps[1, node]
        room -= 1
    if room < 0:
        return False
    node = middle
    while node != begin:
        _watch(climb, node, entry)
        node = climb.steps[0, node]
    node = middle
    while node != end:
        node = climb.steps[1, node]
        _watch(climb, node, entry)
    climb.asleep[entry] = 1
    return True


@inner
def _closes(climb, entry, kind):
    """The middle of a path for which a move of this kind would close a cycle, with its ends; -1 if none."""
    child, parent = np.int64(climb.owners[entry]), np.int64(climb.ends[entry])
    begin, end = (child, parent) if kind == ADD else (parent, child)
    return _path(climb, begin, end), begin, end


@patient(0.3, lambda *_: 2e-4)
def best_entry(climb, banned, out):
    """The best legal move; the first of equals, in the order addition, removal, reversal, child, parent.

    banned  (k,) int64   entries whose moves are passed over
    out     (2,) int64   overwritten: kind and entry; the kind is MORE_WATCHES if their store is too small
    Returns the gain, -inf if there is no legal move.
    """
    out[0], out[1] = -1, -1
    if climb.ends.shape[0] == 0:
        return -np.inf
    for entry in banned:
        climb.tops[entry] = -np.inf
        _decide(climb, entry, entry + 1)
    gain = -np.inf
    while True:
        entry = np.int64(climb.tree[1])
        if not climb.tops[entry] > -np.inf:
            break
        kind = climb.kinds[entry]
        if kind != REMOVE:
            middle, begin, end = _closes(climb, entry, kind)
            if middle >= 0:
                if not _sleep(climb, entry, middle, begin, end):
                    out[0] = MORE_WATCHES
                    break
                _look_again(climb, entry)
                continue
        gain = climb.tops[entry]
        out[0], out[1] = kind, entry
        break
    for entry in banned:
        _look_again(climb, entry)
    return gain


@inner
def _join(climb, entry):
    child, parent = climb.owners[entry], climb.ends[entry]
    climb.joined[entry], climb.asleep[entry] = True, 0
    climb.above[climb.starts[child] + climb.n_above[child]] = entry
    climb.n_above[child] += 1
    climb.below[climb.starts[parent] + climb.n_below[parent]] = climb.mirrors[entry]
    climb.n_below[parent] += 1
    _look_again(climb, climb.mirrors[entry])


@inner
def _drop(listed, first, count, entry):
    """Take an entry out of a list; the last one takes its place."""
    at = first
    while listed[at] != entry:
        at += 1
    listed[at] = listed[first + count - 1]


@inner
def _part(climb, entry):
    child, parent = climb.owners[entry], climb.ends[entry]
    climb.joined[entry], climb.asleep[entry] = False, 0
    _drop(climb.above, climb.starts[child], climb.n_above[child], entry)
    climb.n_above[child] -= 1
    _drop(climb.below, climb.starts[parent], climb.n_below[parent], climb.mirrors[entry])
    climb.n_below[parent] -= 1
    _look_again(climb, climb.mirrors[entry])
    watch = climb.watched[child]
    climb.watched[child] = -1
    while watch >= 0:
        waiting, after = climb.watchers[watch], climb.nexts[watch]
        climb.nexts[watch] = climb.counters[FREE]
        climb.counters[FREE] = watch
        climb.counters[N_FREE] += 1
        if climb.asleep[waiting]:
            climb.asleep[waiting] = 0
            _look_again(climb, waiting)
        watch = after


@patient(0.3, lambda *_: 1e-4)
def make_move(climb, kind, entry):
    """Change the graph; the gains of the children concerned are to be filled, and settled, afterwards."""
    if kind != ADD:
        _part(climb, entry)
    if kind == REVERSE:
        _join(climb, climb.mirrors[entry])
    elif kind == ADD:
        _join(climb, entry)


@patient(0.3, lambda climb, *_: 1e-4 * climb.n_above.sum())
def legal_reversals(climb, out):
    """Mark the arcs that can be reversed.

    out  (m,) bool   overwritten
    """
    out[:] = False
    for entry in range(climb.ends.shape[0]):
        able = climb.joined[entry] and climb.gains[entry] > -np.inf
        if able and climb.gains[climb.mirrors[entry]] > -np.inf:
            middle, _, _ = _closes(climb, entry, REVERSE)
            out[entry] = middle < 0


@patient(0.2, lambda starts, ends, *_: 2e-6 * ends.shape[0])
def find_mirrors(starts, ends, owners, mirrors):
    """The child of each entry, and the entry of the same two variables the other way round.

    owners, mirrors  (m,) int32   overwritten
    """
    n = starts.shape[0] - 1
    places = starts[:n].copy()
    for child in range(n):
        for entry in range(starts[child], starts[child + 1]):
            owners[entry] = child
            # Entries come by rising child, so those of a parent are met in the order of its own list.
            mirrors[entry] = places[ends[entry]]
            places[ends[entry]] += 1
