"""Walks down grow-shrink trees, and the score of one variable at every place of an order.

`trees` is (target, variable, first, count, scores, ready, asked). A slot stands for adding `variable[slot]`
to the parents of a node and leads to the node `target[slot]`, -1 if that has not been grown yet; the
first n slots lead to the roots. A node has slots `first` to `first + count`, best first; a score after
shrinking if `ready` is 2; and the number of families requested by a walk that ends there. Missing items are
listed once and marked as listed: slots to grow as they are, nodes to shrink as ~node.
"""

import numpy as np

from bayescout.kernels.patience import inner, part, patient

UNKNOWN, LISTED = -1, -2
IDLE, WANTED, READY = 0, 1, 2


@inner
def walk(trees, child, inside, missing, listed):
    """The node at which growing a child's parents within `inside` (n,) bool ends; -1 if that is missing.

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
            if inside[variable[branch]]:
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


@patient(0.3, lambda trees, order, *_: 2e-5 * order.size)
def walk_order(trees, order, nodes, missing):
    """The node at which the walk of every variable, given its predecessors, ends.

    order    (n,) int64
    nodes    (n,) int64   overwritten, by variable
    missing  (n,) int64   overwritten
    Returns the number of missing items and the number of families that the walks requested.
    """
    inside = np.zeros(order.shape[0], dtype=np.bool_)
    listed = np.zeros(1, dtype=np.int64)
    families = 0
    for child in order:
        nodes[child] = walk(trees, child, inside, missing, listed)
        inside[child] = True
        if nodes[child] >= 0:
            families += trees[6][nodes[child]]
    return listed[0], families


@patient(0.6, lambda trees, order, *_: 4e-5 * order.size)
def try_places(trees, order, move, local, nodes, totals, missing):
    """The score of the order with one variable moved to each place allowed.

    order    (n,) int64
    move     (3,) int64        place of the variable, and the first and last place allowed for it
    local    (n,) float64      the score of each variable as the order is
    nodes    (2, n) int64      overwritten: the end of the variable's walk at each place, and that of the
                               variable found there after it has been passed
    totals   (n,) float64      overwritten: -inf at places not allowed, and where something is missing
    missing  (2 n,) int64      overwritten
    Returns the number of missing items and the number of families that the walks requested.
    """
    place, lowest, highest = move[0], move[1], move[2]
    moved = order[place]
    inside = np.zeros(order.shape[0], dtype=np.bool_)
    listed = np.zeros(1, dtype=np.int64)
    for i in range(highest + 1):
        variable = order[i]
        if lowest <= i < place:
            nodes[0, i] = walk(trees, moved, inside, missing, listed)
            inside[moved] = True
            nodes[1, i] = walk(trees, variable, inside, missing, listed)
            inside[moved] = False
        if i > place:
            nodes[1, i] = walk(trees, variable, inside, missing, listed)
        inside[variable] = i != place
        if i > place:
            nodes[0, i] = walk(trees, moved, inside, missing, listed)
    families = 0
    totals[:] = -np.inf
    if listed[0] == 0:
        families = _sum_places(trees, order, move, local, nodes, totals)
    return listed[0], families


@part
def _sum_places(trees, order, move, local, nodes, totals):
    """Fill totals; only sums, no differences, since a score may be -inf. Returns the families requested."""
    place, lowest, highest = move[0], move[1], move[2]
    scores, asked = trees[4], trees[6]
    n = order.shape[0]
    before = np.zeros(n + 1, dtype=np.float64)
    after = np.zeros(n + 1, dtype=np.float64)
    for i in range(n):
        before[i + 1] = before[i] + local[order[i]]
        after[n - 1 - i] = after[n - i] + local[order[n - 1 - i]]
    families = 0
    totals[place] = before[n]
    passed = 0.0
    for i in range(place - 1, lowest - 1, -1):
        passed += scores[nodes[1, i]]
        totals[i] = before[i] + scores[nodes[0, i]] + passed + after[place + 1]
        families += asked[nodes[0, i]] + asked[nodes[1, i]]
    passed = 0.0
    for i in range(place + 1, highest + 1):
        passed += scores[nodes[1, i]]
        totals[i] = before[place] + passed + scores[nodes[0, i]] + after[i + 1]
        families += asked[nodes[0, i]] + asked[nodes[1, i]]
    return families
