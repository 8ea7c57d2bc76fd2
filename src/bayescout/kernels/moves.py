"""Choosing among single-arc moves: additions, removals and reversals, with legality by reachability."""

from functools import partial

import numpy as np

from bayescout.kernels import plain
from bayescout.kernels.jit import kernel
from bayescout.kernels.patience import patient

ADD, REMOVE, REVERSE = 0, 1, 2


@patient(0.2, lambda adjacent, reach: 6e-6 * reach.shape[0], plain.fill_reach)
def fill_reach(adjacent, reach):
    """The reflexive transitive closure of a DAG.

    adjacent  (n, n) bool   adjacent[parent, child]
    reach     (n, n) bool   overwritten: reach[i, j] when a directed path leads from i to j, or i = j
    """
    n = adjacent.shape[0]
    waiting = np.zeros(n, dtype=np.int64)
    for i in range(n):
        for j in range(n):
            reach[i, j] = i == j
            if adjacent[i, j]:
                waiting[i] += 1
    # Remove nodes without remaining children: the rows of a node's children are complete before its own.
    order = np.empty(n, dtype=np.int64)
    ready = 0
    for i in range(n):
        if waiting[i] == 0:
            order[ready] = i
            ready += 1
    step = 0
    while step < ready:
        node = order[step]
        step += 1
        for parent in range(n):
            if adjacent[parent, node]:
                for j in range(n):
                    reach[parent, j] |= reach[node, j]
                waiting[parent] -= 1
                if waiting[parent] == 0:
                    order[ready] = parent
                    ready += 1


@patient(0.1, lambda reach, *_: 1e-5 + 2e-9 * reach.size, plain.add_to_reach)
def add_to_reach(reach, parent, child):
    """Update the closure for a new arc parent -> child, in place."""
    n = reach.shape[0]
    for i in range(n):
        if reach[i, parent] and not reach[i, child]:
            for j in range(n):
                reach[i, j] |= reach[child, j]


@partial(kernel, inline="always")
def is_reversible(adjacent, reach, parent, child):
    """Return True if the arc is the only directed path from parent to child; adjacent[i, j] if i -> j."""
    for middle in range(reach.shape[0]):
        if middle != child and adjacent[parent, middle] and reach[middle, child]:
            return False
    return True


@patient(0.25, lambda graph, arcs, reach, *_: 7e-5 + 5e-9 * reach.size, plain.best_move)
def best_move(graph, arcs, reach, banned, out):
    """The best legal move; the first of equals, in the order addition, removal, reversal, child, parent.

    graph     (adjacent (n, n) bool [parent, child],
               gains (n, n) float64 [child, parent] of adding the arc, -inf where it may not be added,
               removals (n, n) float64 [child, parent], -inf where the arc is absent or required,
               locals (n,) float64, tops (n,) float64: the largest gain of each row)
    arcs      (m,) int64      child * n + parent of every arc, in rising order
    reach     (n, n) bool     reflexive transitive closure
    banned    (n, n) bool     pairs that may not be touched, [child, parent]; symmetric
    out       (3,) int64      overwritten: kind, child, parent
    Returns the gain, -inf if there is no legal move.
    """
    adjacent, gains, removals, tops = graph[0], graph[1], graph[2], graph[4]
    n = reach.shape[0]
    best = -np.inf
    for child in range(n):
        if tops[child] > best:
            row = gains[child]
            for parent in range(n):
                if row[parent] > best and not reach[child, parent] and not banned[child, parent]:
                    best = row[parent]
                    out[0], out[1], out[2] = ADD, child, parent
    for kind in (REMOVE, REVERSE):
        for arc in arcs:
            child, parent = arc // n, arc % n
            if removals[child, parent] == -np.inf or banned[child, parent]:
                continue
            gain = removals[child, parent] + (gains[parent, child] if kind == REVERSE else 0.0)
            if gain > best and (kind == REMOVE or is_reversible(adjacent, reach, parent, child)):
                best = gain
                out[0], out[1], out[2] = kind, child, parent
    return best


@kernel
def first_improving(graph, reach, operators, least):
    """The position of the first legal operator that gains more than `least`, or -1.

    graph      as in best_move
    operators  (m,) int64   (kind * n + child) * n + parent, in the order to try them
    """
    adjacent, gains, removals = graph[0], graph[1], graph[2]
    n = reach.shape[0]
    for position in range(operators.shape[0]):
        operator = operators[position]
        kind = operator // (n * n)
        child = operator // n % n
        parent = operator % n
        if kind == ADD:
            if gains[child, parent] > least and not reach[child, parent]:
                return position
        elif kind == REMOVE:
            if removals[child, parent] > least:
                return position
        elif adjacent[parent, child]:
            gain = removals[child, parent] + gains[parent, child]
            if gain > least and is_reversible(adjacent, reach, parent, child):
                return position
    return -1
