"""Greedy equivalence search on candidates: the operators of every node, the best of all, and the next class.

An operator is on two nodes x and y and a clique among y's neighbours, as in `search.classes.operators`, and
ties go the same way: the lowest y, then the clique first met, then the lowest x. Each node keeps those of its
operators that gain, the best first; only nodes whose neighbourhood has changed are looked at again.
"""

from collections import namedtuple

import numpy as np

from bayescout.kernels.columns import correlation, factorise, residual_of, solve_row, worth
from bayescout.kernels.links import (
    APART,
    AWAY,
    EITHER,
    FIRM,
    OUT,
    TOWARDS,
    adjacent,
    allowed,
    find_path,
    joined,
    link,
    refresh,
    seek,
    turn,
    unlink,
)
from bayescout.kernels.patience import inner, part, patient

INSERT, DELETE, TURN = 0, 1, 2
"""The phases."""

DONE, PAUSED, MORE_OPERATORS, MORE_WATCHES = 0, 1, 2, 3
"""Why `walk` returns: no operator gains, enough steps, or one of two stores is full."""

MOST_CLIQUES = 4096
"""The most cliques of one node that are looked at, smaller ones and lower nodes first."""

Rules = namedtuple("Rules", "free starts ends enters limits")
"""The candidates, and the arcs and numbers of parents that are allowed.

free    bool              there is no knowledge at all
starts  (p + 1,) int64    where the candidates of each node begin
ends    (m,) int32        the candidates of each node, rising
enters  (m,) int8         1 if the arc from the candidate to the node is allowed, 2 if it is required
limits  (p,) int64        the most parents of each node
"""

Terms = namedtuple("Terms", "half charge floor rows least sizes")
"""A penalised Gaussian likelihood: half the rows, the charge of an arc, the least residual, rows, the least
gain that counts; sizes (k,) float64 the log prior by number of parents."""

Store = namedtuple(
    "Store",
    "begins counts cursors epochs gains ranks others asleep "
    "watched nexts watchers offsets stamps heap places dirty is_dirty counters last",
)
"""The operators that gain, by node, falling; and the nodes in a heap by their best.

begins, counts, cursors, epochs  (p,) int64   where a node's operators are, the first that may be awake, and
                                 how often they have been written
gains, ranks, others, asleep     (a,)         gain, number of the clique, x, and 1 if known to be invalid now
watched   (p,) int64   the first of the watches of each node: operators to wake if it loses a step
nexts, watchers, offsets, stamps (w,) int64   the next watch of the node; whose operator, which, which writing
heap, places  (p,) int64
dirty, is_dirty  (p,)  nodes to be looked at again
counters  (8,) int64   operators stored, watches stored, nodes in the heap, nodes dirty, steps, paths
                       looked for, nodes looked at
last      (k,) int64   the last operator: phase, x, y, size of the clique, its members
"""

OPERATORS, WATCHES, IN_HEAP, DIRTY, STEPS, PATHS, LOOKED = 0, 1, 2, 3, 4, 5, 6


# ---- cliques


@inner
def cliques_of(links, members, k, above, added):
    """All cliques among the first k members, in the order of `patterns.cliques_within`; the first is empty.

    above, added  (c,) int64   overwritten: the clique that each extends, and by which member (its place)
    Returns their number, at most c.
    """
    most = above.shape[0]
    above[0], added[0] = -1, -1
    count = 1
    room = max(16 * k, 1024)
    pool = np.empty(room, dtype=np.int64)
    stack = np.empty((most + 1, 3), dtype=np.int64)
    for i in range(k):
        pool[i] = i
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, k
    depth = 1
    while depth > 0:
        depth -= 1
        clique, begin, end = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        common = pool[begin:end].copy()
        free = begin if clique > 0 else k
        for i in range(common.shape[0]):
            if count == most:
                return count
            above[count], added[count] = clique, common[i]
            own = free
            for j in range(i + 1, common.shape[0]):
                if adjacent(links, members[common[i]], members[common[j]]):
                    if free == pool.shape[0]:
                        larger = np.empty(2 * free, dtype=np.int64)
                        larger[:free] = pool
                        pool = larger
                    pool[free] = common[j]
                    free += 1
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = count, own, free
            depth += 1
            count += 1
    return count


@inner
def _neighbours(links, y, kind, out):
    """The neighbours of y of one kind, rising; returns their number."""
    count = 0
    for at in range(links.starts[y], links.starts[y] + links.degrees[y]):
        bits = links.kinds[at]
        if (
            (kind == EITHER and not bits & FIRM)
            or (kind == TOWARDS and bits == FIRM)
            or (kind == AWAY and bits == OUT | FIRM)
        ):
            out[count] = np.int64(links.ends[at])
            count += 1
    return count


@inner
def _clique(above, added, rank, members, out):
    """The members of a clique, rising; returns their number."""
    count = 0
    while rank > 0:
        out[count] = members[added[rank]]
        count += 1
        rank = above[rank]
    out[:count] = out[:count][::-1].copy()
    return count


@part
def clique_at(links, y, rank, out):
    """The members of the clique of this number among y's neighbours; returns their number."""
    members = np.empty(links.degrees[y], dtype=np.int64)
    k = _neighbours(links, y, EITHER, members)
    above, added = np.empty(rank + 1, dtype=np.int64), np.empty(rank + 1, dtype=np.int64)
    cliques_of(links, members, k, above, added)
    return _clique(above, added, rank, members, out)


@inner
def _merged(one, n_one, two, n_two, out):
    """Two rising lists as one."""
    i, j = 0, 0
    while i < n_one or j < n_two:
        if j == n_two or (i < n_one and one[i] < two[j]):
            out[i + j] = one[i]
            i += 1
        else:
            out[i + j] = two[j]
            j += 1
    return n_one + n_two


@inner
def _without(some, n, node, out):
    count = 0
    for i in range(n):
        if some[i] != node:
            out[count] = some[i]
            count += 1
    return count


@inner
def _with(some, n, node, out):
    count = 0
    placed = False
    for i in range(n):
        if not placed and some[i] > node:
            out[count] = node
            count += 1
            placed = True
        out[count] = some[i]
        count += 1
    if not placed:
        out[count] = node
        count += 1
    return count


# ---- gains


@inner
def value(columns, terms, y, parents, k):
    """The score of a family but for what all families of the child have in common; -inf if saturated."""
    if k + 1 >= terms.rows:
        return -np.inf
    fitted = worth(terms.half, residual_of(columns, y, parents, k, terms.floor))
    return fitted - terms.charge * k + terms.sizes[k]


@inner
def _longer(some, count):
    larger = np.empty(2 * count, dtype=some.dtype)
    larger[:count] = some
    return larger


@part
def gaining(links, columns, terms, rules, work, y, phase):
    """The operators on y that gain: their gains, clique numbers and nodes x, by falling gain."""
    if phase == INSERT:
        gains, ranks, others = _insertions(links, columns, terms, rules, work, y)
    elif phase == DELETE:
        gains, ranks, others = _deletions(links, columns, terms, rules, y)
    else:
        gains, ranks, others = _turns(links, columns, terms, rules, work, y)
    if gains.shape[0] > 1:
        order = np.argsort(-gains, kind="mergesort")
        return gains[order], ranks[order], others[order]
    return gains, ranks, others


@inner
def _around(links, y):
    """The undirected neighbours and the firm parents of y, the cliques among the neighbours, and scratch."""
    degree = links.degrees[y]
    members, parents = np.empty(degree, dtype=np.int64), np.empty(degree, dtype=np.int64)
    k, n_parents = _neighbours(links, y, EITHER, members), _neighbours(links, y, TOWARDS, parents)
    most = min(MOST_CLIQUES + k, 1 << min(k, 20))
    above, added = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    count = cliques_of(links, members, k, above, added)
    return members[:k], parents[:n_parents], above[:count], added[:count]


@part
def _insertions(links, columns, terms, rules, work, y):
    members, parents, above, added = _around(links, y)
    k, n_parents = members.shape[0], parents.shape[0]
    first, last = rules.starts[y], rules.starts[y + 1]
    nodes = np.empty(last - first, dtype=np.int64)
    shared_from = np.zeros(last - first + 1, dtype=np.int64)
    shared = np.empty(64, dtype=np.int64)
    work.clock[0] += 1
    for i in range(k):
        work.marks[members[i]], work.places[members[i]] = work.clock[0], i
    count = 0
    for at in range(first, last):
        x = np.int64(rules.ends[at])
        if rules.enters[at] == 0 or adjacent(links, y, x):
            continue
        end = shared_from[count]
        if k > 0:
            for near in range(links.starts[x], links.starts[x] + links.degrees[x]):
                node = np.int64(links.ends[near])
                if work.marks[node] == work.clock[0]:
                    if end == shared.shape[0]:
                        shared = _longer(shared, end)
                    shared[end] = work.places[node]
                    end += 1
        nodes[count] = x
        count += 1
        shared_from[count] = end
    gains, ranks, others = np.empty(16), np.empty(16, dtype=np.int64), np.empty(16, dtype=np.int64)
    found = 0
    clique, base = np.empty(k + 1, dtype=np.int64), np.empty(k + n_parents + 1, dtype=np.int64)
    within = np.full(k, -1, dtype=np.int64)
    size = k + n_parents + 2
    lower = np.empty((size, size), dtype=np.float64)
    use = np.empty(size, dtype=np.int64)
    child_row, row = np.empty(size, dtype=np.float64), np.empty(size, dtype=np.float64)
    for rank in range(above.shape[0]):
        n_clique = _clique(above, added, rank, members, clique)
        n_base = n_clique + n_parents
        if n_base + 1 > rules.limits[y] or n_base + 2 >= terms.rows:
            continue
        step = rank
        while step > 0:
            within[added[step]] = rank
            step = above[step]
        ready = False
        used, child_residual, now = 0, 1.0, 0.0
        for c in range(count):
            fits = True
            for i in range(shared_from[c], shared_from[c + 1]):
                fits = fits and within[shared[i]] == rank
            if not fits:
                continue
            if not ready:
                _merged(parents, n_parents, clique, n_clique, base)
                used, _ = factorise(columns, base, n_base, terms.floor, lower, use)
                child_residual = solve_row(columns, y, lower, use, used, child_row)
                now = worth(terms.half, max(child_residual, terms.floor))
                ready = True
            x = nodes[c]
            own = solve_row(columns, x, lower, use, used, row)
            residual = child_residual
            if own > terms.floor:
                part = correlation(columns, x, y)
                for i in range(used):
                    part -= row[i] * child_row[i]
                residual -= part * part / own
            after = worth(terms.half, max(residual, terms.floor))
            gain = after - now - terms.charge + (terms.sizes[n_base + 1] - terms.sizes[n_base])
            if gain > terms.least:
                if found == gains.shape[0]:
                    gains, ranks, others = (
                        _longer(gains, found),
                        _longer(ranks, found),
                        _longer(others, found),
                    )
                gains[found], ranks[found], others[found] = gain, rank, x
                found += 1
    return gains[:found], ranks[:found], others[:found]


@inner
def _required(rules, a, b):
    """Return True if an arc between two candidates is required, in either direction."""
    if rules.free:
        return False
    for one, two in ((a, b), (b, a)):
        low, high = rules.starts[one], rules.starts[one + 1]
        at = low + np.searchsorted(rules.ends[low:high], two)
        if at < high and rules.ends[at] == two and rules.enters[at] == 2:
            return True
    return False


@part
def _deletions(links, columns, terms, rules, y):
    members, parents, above, added = _around(links, y)
    k, n_parents = members.shape[0], parents.shape[0]
    nodes = np.empty(k + n_parents, dtype=np.int64)
    count = _merged(parents, n_parents, members, k, nodes)
    gains, ranks, others = np.empty(16), np.empty(16, dtype=np.int64), np.empty(16, dtype=np.int64)
    found = 0
    clique, base = np.empty(k + 1, dtype=np.int64), np.empty(k + n_parents + 1, dtype=np.int64)
    less, more = np.empty(k + n_parents + 2, dtype=np.int64), np.empty(k + n_parents + 2, dtype=np.int64)
    for rank in range(above.shape[0]):
        n_clique = _clique(above, added, rank, members, clique)
        n_base = _merged(parents, n_parents, clique, n_clique, base)
        for c in range(count):
            x = nodes[c]
            fits = not _required(rules, x, y)
            for i in range(n_clique):
                fits = fits and clique[i] != x and adjacent(links, clique[i], x)
            if not fits:
                continue
            n_less = _without(base, n_base, x, less)
            n_more = _with(less, n_less, x, more)
            before = value(columns, terms, y, more, n_more)
            if before == -np.inf:
                continue
            gain = value(columns, terms, y, less, n_less) - before
            if gain > terms.least:
                if found == gains.shape[0]:
                    gains, ranks, others = (
                        _longer(gains, found),
                        _longer(ranks, found),
                        _longer(others, found),
                    )
                gains[found], ranks[found], others[found] = gain, rank, x
                found += 1
    return gains[:found], ranks[:found], others[:found]


@part
def _parts_from(links, x, y, clique, n_clique, members):
    """Return True if among y's neighbours joined to x, the clique parts its others from the rest (x apart).

    As `Reversals._separated`: from the members of the clique not joined to x no way within y's neighbours,
    around the rest of the clique, leads to a neighbour joined to x that is not in the clique.
    """
    rest = False
    k = members.shape[0]
    seen = np.zeros(k, dtype=np.int64)
    goal = np.zeros(k, dtype=np.int64)
    stack = np.empty(k, dtype=np.int64)
    depth = 0
    for i in range(k):
        inside = False
        for j in range(n_clique):
            inside = inside or clique[j] == members[i]
        near = adjacent(links, members[i], x) and members[i] != x
        if inside:
            seen[i] = 1
            if not near:
                stack[depth] = i
                depth += 1
        elif near:
            goal[i] = 1
            rest = True
        if members[i] == x:
            seen[i] = 1
    if not rest:
        return True
    while depth > 0:
        depth -= 1
        node = members[stack[depth]]
        for i in range(k):
            if seen[i] == 0 and joined(links, node, members[i]) == EITHER:
                if goal[i]:
                    return False
                seen[i] = 1
                stack[depth] = i
                depth += 1
    return True


@part
def _turns(links, columns, terms, rules, work, y):
    members, parents, above, added = _around(links, y)
    k, n_parents = members.shape[0], parents.shape[0]
    children = np.empty(links.degrees[y], dtype=np.int64)
    n_children = _neighbours(links, y, AWAY, children)
    nodes = np.empty(k + n_children, dtype=np.int64)
    count = _merged(children, n_children, members, k, nodes)
    gains, ranks, others = np.empty(16), np.empty(16, dtype=np.int64), np.empty(16, dtype=np.int64)
    found = 0
    clique, base = np.empty(k + 1, dtype=np.int64), np.empty(k + n_parents + 1, dtype=np.int64)
    more = np.empty(k + n_parents + 2, dtype=np.int64)
    for rank in range(above.shape[0]):
        n_clique = _clique(above, added, rank, members, clique)
        n_base = _merged(parents, n_parents, clique, n_clique, base)
        if n_base + 1 > rules.limits[y]:
            continue
        now = np.nan
        for c in range(count):
            x = nodes[c]
            if not allowed(rules, x, y) or not _turnable(links, x, y, clique, n_clique, members):
                continue
            own, n_own = _others_of(links, x, y, clique, n_clique)
            if np.isnan(now):
                now = value(columns, terms, y, base, n_base)
            n_more = _with(base, n_base, x, more)
            after = value(columns, terms, y, more, n_more) + value(columns, terms, x, own, n_own)
            wider = np.empty(n_own + 1, dtype=np.int64)
            n_wider = _with(own, n_own, y, wider)
            before = now + value(columns, terms, x, wider, n_wider)
            if before == -np.inf:
                continue
            gain = after - before
            if gain > terms.least:
                if found == gains.shape[0]:
                    gains, ranks, others = (
                        _longer(gains, found),
                        _longer(ranks, found),
                        _longer(others, found),
                    )
                gains[found], ranks[found], others[found] = gain, rank, x
                found += 1
    return gains[:found], ranks[:found], others[:found]


@part
def _turnable(links, x, y, clique, n_clique, members):
    """Return True if the arc y -> x, or the edge y - x, can be turned into x -> y with this clique."""
    apart = False
    for i in range(n_clique):
        if clique[i] == x:
            return False
        apart = apart or not adjacent(links, clique[i], x)
    if joined(links, y, x) == EITHER:
        return apart and _parts_from(links, x, y, clique, n_clique, members)
    for i in range(members.shape[0]):
        if adjacent(links, members[i], x):
            inside = False
            for j in range(n_clique):
                inside = inside or clique[j] == members[i]
            if not inside:
                return False
    return True


@part
def _others_of(links, x, y, clique, n_clique):
    """The parents that x has besides y when y - x, or y -> x, is about to be turned."""
    parents = np.empty(links.degrees[x] + n_clique, dtype=np.int64)
    count = _neighbours(links, x, TOWARDS, parents)
    if joined(links, y, x) == EITHER:
        near = np.empty(n_clique, dtype=np.int64)
        n_near = 0
        for i in range(n_clique):
            if adjacent(links, clique[i], x):
                near[n_near] = clique[i]
                n_near += 1
        out = np.empty(count + n_near, dtype=np.int64)
        return out, _merged(parents, count, near, n_near, out)
    out = np.empty(count, dtype=np.int64)
    return out, _without(parents, count, y, out)


# ---- the heap of nodes by their best operator


@inner
def _top(store, y):
    at = store.cursors[y]
    return store.gains[store.begins[y] + at] if at < store.counts[y] else -np.inf


@inner
def _above(store, a, b):
    one, two = _top(store, a), _top(store, b)
    return one > two or (one == two and a < b)


@inner
def _settle(store, y):
    """Put y where it belongs in the heap, after its best operator has changed."""
    heap, places = store.heap, store.places
    at = places[y]
    if at < 0:
        at = store.counters[IN_HEAP]
        store.counters[IN_HEAP] += 1
    while at > 0 and _above(store, y, heap[(at - 1) >> 1]):
        heap[at] = heap[(at - 1) >> 1]
        places[heap[at]] = at
        at = (at - 1) >> 1
    size = store.counters[IN_HEAP]
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and _above(store, heap[below + 1], heap[below]):
            below += 1
        if not _above(store, heap[below], y):
            break
        heap[at] = heap[below]
        places[heap[at]] = at
        at = below
    heap[at], places[y] = y, at


@inner
def _pass_asleep(store, y):
    begin, count = store.begins[y], store.counts[y]
    at = store.cursors[y]
    while at < count and store.asleep[begin + at]:
        at += 1
    store.cursors[y] = at
    _settle(store, y)


@inner
def mark_dirty(store, y):
    if not store.is_dirty[y]:
        store.is_dirty[y] = 1
        store.dirty[store.counters[DIRTY]] = y
        store.counters[DIRTY] += 1


@part
def _pack(store):
    """Close the gaps between the operators that are stored."""
    order = np.argsort(store.begins, kind="mergesort")
    end = 0
    for y in order:
        begin, count = store.begins[y], store.counts[y]
        for i in range(count):
            store.gains[end + i], store.ranks[end + i] = store.gains[begin + i], store.ranks[begin + i]
            store.others[end + i], store.asleep[end + i] = store.others[begin + i], store.asleep[begin + i]
        store.begins[y] = end
        end += count
    store.counters[OPERATORS] = end


@part
def _look_again(links, columns, terms, rules, work, store, phase):
    """Find the operators of all dirty nodes; returns False if there is no room for them."""
    while store.counters[DIRTY] > 0:
        y = store.dirty[store.counters[DIRTY] - 1]
        gains, ranks, others = gaining(links, columns, terms, rules, work, y, phase)
        count = gains.shape[0]
        store.counts[y] = 0
        if store.counters[OPERATORS] + count > store.gains.shape[0]:
            _pack(store)
            if store.counters[OPERATORS] + count > store.gains.shape[0] * 3 // 4:
                return False
        begin = store.counters[OPERATORS]
        for i in range(count):
            store.gains[begin + i], store.ranks[begin + i] = gains[i], ranks[i]
            store.others[begin + i], store.asleep[begin + i] = others[i], 0
        store.begins[y], store.counts[y], store.cursors[y] = begin, count, 0
        store.epochs[y] += 1
        store.counters[OPERATORS] += count
        store.counters[DIRTY] -= 1
        store.counters[LOOKED] += 1
        store.is_dirty[y] = 0
        _settle(store, y)
    return True


# ---- sleeping and waking


@inner
def _is_live(store, watch):
    y = store.watchers[watch]
    return (
        store.stamps[watch] == store.epochs[y] and store.asleep[store.begins[y] + store.offsets[watch]] == 1
    )


@part
def _drop_dead_watches(store):
    """Keep the watches of operators that still sleep."""
    count = store.counters[WATCHES]
    owner = np.empty(count, dtype=np.int64)
    for node in range(store.watched.shape[0]):
        watch = store.watched[node]
        while watch >= 0:
            owner[watch] = node
            watch = store.nexts[watch]
        store.watched[node] = -1
    end = 0
    for watch in range(count):
        if store.nexts[watch] != -2 and _is_live(store, watch):
            node = owner[watch]
            store.watchers[end], store.offsets[end] = store.watchers[watch], store.offsets[watch]
            store.stamps[end], store.nexts[end] = store.stamps[watch], store.watched[node]
            store.watched[node] = end
            end += 1
    store.counters[WATCHES] = end


@inner
def _sleep(store, y, path, n_path):
    """Set y's best operator aside until a node of a path loses a step; False if there is no room."""
    if store.counters[WATCHES] + n_path > store.nexts.shape[0]:
        _drop_dead_watches(store)
        if store.counters[WATCHES] + n_path > store.nexts.shape[0] * 3 // 4:
            return False
    offset = store.cursors[y]
    store.asleep[store.begins[y] + offset] = 1
    for i in range(n_path):
        watch = store.counters[WATCHES]
        store.counters[WATCHES] += 1
        store.watchers[watch], store.offsets[watch], store.stamps[watch] = y, offset, store.epochs[y]
        store.nexts[watch] = store.watched[path[i]]
        store.watched[path[i]] = watch
    _pass_asleep(store, y)
    return True


@inner
def _wake(store, node):
    """Wake the operators that watch a node, which has lost a step."""
    watch = store.watched[node]
    store.watched[node] = -1
    while watch >= 0:
        if _is_live(store, watch):
            y = store.watchers[watch]
            store.asleep[store.begins[y] + store.offsets[watch]] = 0
            if store.offsets[watch] < store.cursors[y]:
                store.cursors[y] = store.offsets[watch]
                _settle(store, y)
        following = store.nexts[watch]
        store.nexts[watch] = -2
        watch = following


# ---- steps


@part
def _tried(links, work, rules, store, phase, x, y, clique, k):
    """Take an operator if it is valid. Returns 1 if it was taken, 0 if not, -1 if there is no room.

    An invalid one is put to sleep.
    """
    was = joined(links, y, x)
    firsts = np.empty(k + 2, dtype=np.int64)
    firsts[:k], firsts[k] = clique[:k], y
    n_firsts = k + 1
    n_path, looks = 0, True
    n_around = links.degrees[x] if phase == TURN else 0
    blocked = np.empty(k + n_around, dtype=np.int64)
    blocked[:k] = clique[:k]
    n_blocked = k
    if phase == DELETE:
        looks = False
        if was == EITHER:
            firsts[k], firsts[k + 1] = x, y
            n_firsts = k + 2
    elif phase == TURN and was == EITHER:
        looks = False
        firsts[k + 1] = x
        n_firsts = k + 2
    elif phase == TURN:
        n_blocked += _neighbours(links, x, EITHER, blocked[k:])
    if looks:
        store.counters[PATHS] += 1
        n_path = find_path(links, work, y, x, blocked, n_blocked, phase == INSERT)
    valid = n_path == 0
    if valid and phase == TURN and was == AWAY:
        valid = turn(links, work, rules, np.full(1, x), 1) > 0
    if valid:
        valid = turn(links, work, rules, firsts, n_firsts) > 0
    if not valid:
        return 0 if _sleep(store, y, work.other[:n_path].copy(), n_path) else -1
    work.clock[1] += 1
    _join_anew(links, work, phase, x, y, was)
    refresh(links, work, x, y)
    return 1


@part
def _join_anew(links, work, phase, x, y, was):
    """Add, remove or turn the arc between x and y, and note how they were joined before."""
    low, high = min(x, y), max(x, y)
    kind = was
    if y != low and was >= AWAY:
        kind = AWAY + TOWARDS - was
    work.log[0, 0], work.log[0, 1], work.log[0, 2] = low, high, kind
    work.found[0] = 1
    if phase != INSERT:
        unlink(links, x, y)
    if phase != DELETE:
        link(links, x, y)
        links.stamps[seek(links, low, high)] = work.clock[1]


@inner
def _loses(before, now):
    """Return 1 if the first of a pair loses its step to the second."""
    return before in (EITHER, AWAY) and now not in (EITHER, AWAY)


@part
def _react(links, work, store, phase, x, y):
    """Mark the nodes whose operators depend on what has changed, and wake those that waited for it."""
    if work.found[0] > work.log.shape[0]:
        for node in range(links.degrees.shape[0]):
            _wake(store, node)
            mark_dirty(store, node)
        return
    for entry in range(work.found[0]):
        low, high, before = work.log[entry, 0], work.log[entry, 1], work.log[entry, 2]
        now = joined(links, low, high)
        if now == before:
            continue
        if _loses(before, now):
            _wake(store, low)
        if before in (EITHER, TOWARDS) and now not in (EITHER, TOWARDS):
            _wake(store, high)
        _changed(links, store, phase, low)
        _changed(links, store, phase, high)
    for node in (x, y):
        mark_dirty(store, node)
        for at in range(links.starts[node], links.starts[node] + links.degrees[node]):
            if not links.kinds[at] & FIRM:
                mark_dirty(store, np.int64(links.ends[at]))


@inner
def _changed(links, store, phase, node):
    mark_dirty(store, node)
    if phase == TURN:  # the family of the other end counts too
        for at in range(links.starts[node], links.starts[node] + links.degrees[node]):
            if links.kinds[at] != OUT | FIRM:
                mark_dirty(store, np.int64(links.ends[at]))


@patient(6.00, lambda links, *_: 4e-4 * links.ends.shape[0])
def walk(links, columns, terms, rules, work, store, phase, steps):
    """Take the best operator of a phase, again and again; returns why it stopped.

    All arguments but the data are changed in place. Call it again with larger stores if one was full.
    """
    taken = 0
    while True:
        if not _look_again(links, columns, terms, rules, work, store, phase):
            return MORE_OPERATORS
        if taken >= steps:
            return PAUSED
        y = store.heap[0]
        if not _top(store, y) > terms.least:
            return DONE
        at = store.begins[y] + store.cursors[y]
        x, rank = np.int64(store.others[at]), store.ranks[at]
        clique = np.empty(links.degrees[y] + 1, dtype=np.int64)
        k = clique_at(links, y, rank, clique)
        done = _tried(links, work, rules, store, phase, x, y, clique, k)
        if done < 0:
            return MORE_WATCHES
        taken += done
        if done:
            store.counters[STEPS] += 1
            store.last[0], store.last[1], store.last[2], store.last[3] = phase, x, y, k
            store.last[4 : 4 + k] = clique[:k]
            _react(links, work, store, phase, x, y)


@inner
def _set_way(links, ways, a, b, way):
    """Set how two nodes are joined in a pattern, seen from the first."""
    ways[seek(links, a, b)] = way
    ways[seek(links, b, a)] = way if way == EITHER else AWAY + TOWARDS - way


@part
def _way(links, ways, a, b):
    at = seek(links, a, b)
    return np.int64(ways[at]) if at >= 0 else APART


@patient(2.0, lambda links, *_: 1e-3)
def undo_completion(links, work, store, ways):
    """Change a class into the pattern that the last operator made of the class before, not yet completed.

    ways  (m,) int8   how each node is joined to each neighbour
    Returns False, and changes nothing, if that is not known any more.
    """
    if work.found[0] > work.log.shape[0] or store.counters[STEPS] == 0:
        return False
    phase, x, y, k = store.last[0], store.last[1], store.last[2], store.last[3]
    clique = store.last[4 : 4 + k]
    was = APART
    for entry in range(work.found[0]):
        low, high, before = work.log[entry, 0], work.log[entry, 1], work.log[entry, 2]
        if low == min(x, y) and high == max(x, y):
            was = before if low == x or before < AWAY else AWAY + TOWARDS - before
        else:
            _set_way(links, ways, low, high, before)
    if phase == DELETE:
        for at in range(links.starts[y], links.starts[y] + links.degrees[y]):
            node = np.int64(links.ends[at])
            inside = False
            for i in range(k):
                inside = inside or clique[i] == node
            if ways[at] == EITHER and not inside and adjacent(links, x, node):
                _set_way(links, ways, y, node, AWAY)
                if _way(links, ways, x, node) == EITHER:
                    _set_way(links, ways, x, node, AWAY)
        return True
    if phase == TURN and was == EITHER:
        for end in (y, x):
            for at in range(links.starts[end], links.starts[end] + links.degrees[end]):
                node = np.int64(links.ends[at])
                if node in (x, y) or ways[at] != EITHER:
                    continue
                inside = False
                for i in range(k):
                    inside = inside or clique[i] == node
                _set_way(links, ways, end, node, TOWARDS if inside else AWAY)
    else:
        for i in range(k):
            if not adjacent(links, clique[i], x):
                _set_way(links, ways, clique[i], y, AWAY)
    _set_way(links, ways, x, y, AWAY)
    return True
