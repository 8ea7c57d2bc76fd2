"""Walks down grow-shrink trees, and what it gains to move a variable in an order.

`trees` is (target, variable, first, count, scores, ready, asked). A slot stands for adding `variable[slot]`
to the parents of a node and leads to the node `target[slot]`, -1 if that has not been grown yet; the
first n slots lead to the roots. A node has slots `first` to `first + count`, best first; a score after
shrinking if `ready` is 2; and the number of families requested by a walk that ends there. Missing items are
listed once and marked as listed: slots to grow as they are, nodes to shrink as ~node.

`places` says where the variables stand in the order, by rising numbers. A variable that is moved goes to one
of the gaps between some others: gap g is the one after g of them. Gains are sums of differences, so that
variables whose parents stay the same do not matter to the bit.
"""

from collections import namedtuple

import numpy as np

from bayescout.kernels.patience import inner, patient

UNKNOWN, LISTED = -1, -2
IDLE, WANTED, READY = 0, 1, 2

EPSILON = 2.0**-52

Line = namedtuple("Line", "starts near held places before after local told nodes gains")
"""An order of the variables of a wide table, with their candidates, and the scores of its network.

starts  (n + 1,) int64   where the candidates of each variable begin
near    (m,) int32       the candidates of each, in the order of the line, as far as that was needed by now
held    (m,) int8        FIRST if the candidate must come before the variable, LAST if after it
places  (n,) int64       numbers that rise along the order
before, after  (n,) int64   the variable next to each on either side; -1 at the ends
local   (n,) float64     the score of each variable
told    (2,) int64       the first variable of all, and how many have the score -inf
nodes, gains  (2, d + 1) int64, (d + 1,) float64   room for what `_try_gaps` fills
"""

FIRST, LAST = 1, 2

SPACE = 1 << 32
"""The distance of neighbours' places when they are laid out anew."""


@inner
def walk(trees, child, places, limit, moved, ahead, missing, listed):
    """The node at which growing a child's parents among its predecessors ends; -1 if that is missing.

    Predecessors have places below `limit`; `moved` is one if `ahead`, wherever it stands.
    missing  int64   missing items are written at listed[0], which counts them
    """
    target, variable, first, count, _, ready, _ = trees
    slot = child
    while True:
        node = target[slot]
        if node < 0:
            if node == UNKNOWN:
                target[slot] = LISTED
                missing[listed[0]] = slot
                listed[0] += 1
            return -1
        ends = True
        for branch in range(first[node], first[node] + count[node]):
            other = variable[branch]
            if ahead if other == moved else places[other] < limit:
                slot = branch
                ends = False
                break
        if ends:
            break
    if ready[node] == READY:
        return node
    if ready[node] == IDLE:
        ready[node] = WANTED
        missing[listed[0]] = ~node
        listed[0] += 1
    return -1


@patient(0.3, lambda trees, places, *_: 2e-5 * places.size)
def walk_order(trees, places, nodes, missing):
    """The node at which the walk of every variable, given its predecessors, ends.

    places   (n,) int64
    nodes    (n,) int64   overwritten, by variable
    missing  (n,) int64   overwritten
    Returns the number of missing items and the number of families that the walks requested.
    """
    listed = np.zeros(1, dtype=np.int64)
    families = 0
    for child in range(places.shape[0]):
        nodes[child] = walk(trees, child, places, places[child], -1, False, missing, listed)
        if nodes[child] >= 0:
            families += trees[6][nodes[child]]
    return listed[0], families


@inner
def _try_gaps(trees, moved, near, gaps, places, local, unscored, nodes, gains, missing, listed):
    """What it gains to move a variable into each gap between others.

    near      (d,) integers     the others, in their order
    gaps      3 integers        the gap that it is in, and the first and last allowed
    local     (n,) float64      the score of each variable as the order is
    unscored  how many of these are -inf
    nodes     (2, d + 1) int64  overwritten for the gaps allowed: the end of the variable's walk there, and
                                that of the other which it passes last on its way
    gains     (d + 1,) float64  overwritten: -inf in gaps not allowed, and where something cannot be scored
    missing, listed             as in `walk`; if something is missing, gains are not filled
    Returns the number of families that the walks requested.
    """
    gap, lowest, highest = gaps
    for g in range(lowest, highest + 1):
        if g == gap:
            continue
        other = near[g] if g < gap else near[g - 1]
        limit = places[near[g - 1]] + 1 if g > 0 else places[near[0]]
        nodes[0, g] = walk(trees, moved, places, limit, -1, False, missing, listed)
        nodes[1, g] = walk(trees, other, places, places[other], moved, g < gap, missing, listed)
    if listed[0] > 0:
        return np.int64(0)
    scores, asked = trees[4], trees[6]
    own, others_unscored = local[moved], unscored
    if own == -np.inf:
        own, others_unscored = 0.0, unscored - 1
    gains[:] = -np.inf
    gains[gap] = 0.0 if unscored == 0 else -np.inf
    families = np.int64(0)
    for step in (-1, 1):
        passed, left, g = 0.0, others_unscored, gap + step
        while lowest <= g <= highest:
            before, after = local[near[g] if step < 0 else near[g - 1]], scores[nodes[1, g]]
            left += np.int64(after == -np.inf) - np.int64(before == -np.inf)
            passed += (0.0 if after == -np.inf else after) - (0.0 if before == -np.inf else before)
            here = scores[nodes[0, g]]
            if left == 0 and here > -np.inf:
                gains[g] = passed + (here - own)
            families += asked[nodes[0, g]] + asked[nodes[1, g]]
            g += step
    return families


@inner
def _is_better(gain, score, terms, least):
    """Return True if a sum of so many differences gains by more than rounding, which could cycle for ever."""
    if score == -np.inf:
        return gain > -np.inf
    return gain > max(least, 2 * terms * EPSILON * abs(score))


@patient(0.6, lambda trees, order, *_: 4e-5 * order.size)
def try_places(trees, order, move, local, score, least, nodes, gains, missing):
    """What it gains to move one variable to each place of an order; the others keep theirs.

    order    (n,) int64
    move     (3,) int64      place of the variable, and the first and last place allowed for it
    local    (n,) float64    the score of each variable as the order is
    score    their sum; least: what a move must gain
    nodes    (2, n) int64    overwritten, as in `_try_gaps`, with a place for each gap
    gains    (n,) float64    overwritten
    missing  (2 n,) int64    overwritten
    Returns the number of missing items, the number of families that the walks requested, and the first place
    that gains most, -1 if that does not gain.
    """
    n = order.shape[0]
    moved, gap = order[move[0]], move[0]
    near, places = np.empty(n - 1, dtype=np.int64), np.empty(n, dtype=np.int64)
    for place in range(n):
        places[order[place]] = place
        if place != gap:
            near[place - (place > gap)] = order[place]
    unscored = 0
    for variable in range(n):
        unscored += local[variable] == -np.inf
    listed = np.zeros(1, dtype=np.int64)
    gaps = (gap, move[1], move[2])
    families = _try_gaps(trees, moved, near, gaps, places, local, unscored, nodes, gains, missing, listed)
    best = np.int64(-1)
    if listed[0] == 0:
        best = np.int64(np.argmax(gains))
        if not _is_better(gains[best], score, n, least):
            best = np.int64(-1)
    return listed[0], families, best


# ---- orders of candidates


@inner
def _sort_near(line, variable):
    """Put the candidates of a variable in their order, and return how many come before it."""
    first, last = line.starts[variable], line.starts[variable + 1]
    near, held, places = line.near, line.held, line.places
    before = np.int64(0)
    for i in range(first, last):
        one, own = near[i], held[i]
        at = i
        while at > first and places[near[at - 1]] > places[one]:
            near[at], held[at] = near[at - 1], held[at - 1]
            at -= 1
        near[at], held[at] = one, own
        before += places[one] < places[variable]
    return before


@inner
def _gaps_of(line, variable):
    """The gap between its candidates that a variable is in, and the first and last allowed."""
    first = line.starts[variable]
    gap = _sort_near(line, variable)
    lowest, highest = gap, gap
    while lowest > 0 and line.held[first + lowest - 1] != FIRST:
        lowest -= 1
    while first + highest < line.starts[variable + 1] and line.held[first + highest] != LAST:
        highest += 1
    return gap, lowest, highest


@inner
def _lay_out(line):
    """Give all variables places at equal distances."""
    variable, place = line.told[0], np.int64(0)
    while variable >= 0:
        line.places[variable] = place
        place += SPACE
        variable = line.after[variable]


@inner
def _put_after(line, moved, other):
    """Move a variable to the place right after another; to the front if that is -1."""
    places, before, after, told = line.places, line.before, line.after, line.told
    if before[moved] >= 0:
        after[before[moved]] = after[moved]
    else:
        told[0] = after[moved]
    if after[moved] >= 0:
        before[after[moved]] = before[moved]
    follower = after[other] if other >= 0 else told[0]
    before[moved], after[moved] = other, follower
    if other >= 0:
        after[other] = moved
    else:
        told[0] = moved
    if follower >= 0:
        before[follower] = moved
    low = places[other] if other >= 0 else places[follower] - 2 * SPACE
    high = places[follower] if follower >= 0 else places[other] + 2 * SPACE
    places[moved] = low + (high - low) // 2
    if high - low < 2 or abs(places[moved]) > 1 << 60:
        _lay_out(line)


def _sweep_seconds(trees, line, span, *_):
    n = line.places.shape[0]
    return 4e-5 * min(n, span[2]) * (1 + line.near.shape[0] / n)


@patient(1.0, _sweep_seconds)
def move_in_turn(trees, line, span, score, least, changed, missing):
    """Move variables in turn, each into the gap between its candidates where it gains most.

    span     (5,) int64     overwritten: whose turn it is, and how many in a row have stayed; and the most
                            variables to be visited, and moved, and looked at ahead: where something is
                            missing, what is missing for so many others is listed with it
    score    the score of the order, or near it; least: what a move must gain
    changed  (2, k) int64   overwritten: the variables whose parents may have changed, and the ends of their
                            walks; room for all candidates of one
    missing  (l,) int64     overwritten; room for two items for each candidate of one
    Returns the number of missing items; those of variables that were moved, of `changed`, of families that
    the walks requested, and of variables visited.
    """
    starts, n = line.starts, line.places.shape[0]
    turn, still = span[0], span[1]
    listed = np.zeros(1, dtype=np.int64)
    moves, changes, families, visited = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    while still < n and visited < span[2] and moves < span[3]:
        first, last = starts[turn], starts[turn + 1]
        if changes + 1 + last - first > changed.shape[1]:
            break
        gaps = _gaps_of(line, turn)
        moved = False
        if gaps[1] < gaps[2]:
            near, gains, nodes = line.near[first:last], line.gains[: last - first + 1], line.nodes
            asked = _try_gaps(
                trees, turn, near, gaps, line.places, line.local, line.told[1], nodes, gains, missing, listed
            )
            if listed[0] > 0:
                break
            families += asked
            gap, best = gaps[0], np.int64(np.argmax(gains))
            # The score is -inf until every variable has one, and then is not told here.
            here = -np.inf if line.told[1] > 0 else 0.0 if score == -np.inf else score
            moved = _is_better(gains[best], here, last - first + 1, least)
            if moved:
                changes = _take(trees, line, turn, nodes[0, best], changed, changes)
                for g in range(best, gap) if best < gap else range(gap + 1, best + 1):
                    other = near[g] if best < gap else near[g - 1]
                    changes = _take(trees, line, other, nodes[1, g], changed, changes)
                _put_after(line, turn, near[best - 1] if best > 0 else -1)
                moves += 1
        visited += 1
        still = 0 if moved else still + 1
        turn = (turn + 1) % n
    span[0], span[1] = turn, still
    if listed[0] > 0:
        _list_ahead(trees, line, turn, min(span[4], n - still - 1), missing, listed)
    return listed[0], moves, changes, families, visited


@inner
def _take(trees, line, variable, node, changed, changes):
    """Give a variable the parents and the score of a node; returns the number of changes."""
    after = trees[4][node]
    line.told[1] += np.int64(after == -np.inf) - np.int64(line.local[variable] == -np.inf)
    line.local[variable] = after
    changed[0, changes], changed[1, changes] = variable, node
    return changes + 1


@inner
def _list_ahead(trees, line, turn, count, missing, listed):
    """List what is missing for the variables whose turn is next, as far as there is room."""
    for _ in range(count):
        turn = (turn + 1) % line.places.shape[0]
        first, last = line.starts[turn], line.starts[turn + 1]
        if listed[0] + 2 * (last - first) > missing.shape[0]:
            break
        gaps, near, gains = _gaps_of(line, turn), line.near[first:last], line.gains[: last - first + 1]
        _try_gaps(
            trees, turn, near, gaps, line.places, line.local, line.told[1], line.nodes, gains, missing, listed
        )
