"""Kernels of exact search: dynamic programming over subsets, best orders, and violated clusters.

Candidate parent sets come as `lists` = (masks, starts, scores): masks (m, words) uint64 and scores (m,), the
sets of child i at starts[i] to starts[i + 1], best first.
"""

import numpy as np

from bayescout.kernels.jit import kernel

NONE = -np.inf


@kernel
def best_within(sets, scores, child, best):
    """For every subset of the other variables, the best score of a child among its sets within it.

    sets    (k,) int64     subsets of all n variables, as bits
    scores  (k,) float64
    best    (2**(n-1),) float64   overwritten; the child's own bit is left out of the subset
    """
    low = (np.int64(1) << child) - 1
    for subset in range(best.shape[0]):
        best[subset] = NONE
    for i in range(sets.shape[0]):
        subset = (sets[i] & low) | ((sets[i] >> 1) & ~low)
        best[subset] = max(best[subset], scores[i])
    bit = np.int64(1)
    while bit < best.shape[0]:
        for subset in range(best.shape[0]):
            if subset & bit and best[subset ^ bit] > best[subset]:
                best[subset] = best[subset ^ bit]
        bit <<= 1


@kernel
def best_sinks(best, begin, end, totals):
    """The best total of subsets of the variables: the best sink, after the best total of the rest.

    best        (n, 2**(n-1)) float64   as best_within fills them
    begin, end  the subsets to do now; all before them must be done
    totals      (2**n,) float64         overwritten there
    """
    n = best.shape[0]
    totals[0] = 0.0
    for subset in range(max(begin, 1), end):
        top = NONE
        for sink in range(n):
            bit = np.int64(1) << sink
            if subset & bit:
                rest = subset ^ bit
                low = bit - 1
                total = totals[rest] + best[sink, (rest & low) | ((rest >> 1) & ~low)]
                top = max(top, total)
        totals[subset] = top


@kernel
def last_first(best, totals, order):
    """An order of the best total, filled from its end; of equal sinks the lower index is last; order (n,)."""
    n = best.shape[0]
    subset = np.int64(totals.shape[0] - 1)
    for place in range(n - 1, -1, -1):
        for sink in range(n):
            bit = np.int64(1) << sink
            if subset & bit:
                rest = subset ^ bit
                low = bit - 1
                if totals[rest] + best[sink, (rest & low) | ((rest >> 1) & ~low)] == totals[subset]:
                    order[place] = sink
                    subset = rest
                    break


@kernel
def grow_clusters(children, bounds, members, values, seeds, k, found, violations):
    """Grow clusters from pairs of variables so that a fractional solution violates them most.

    The violation of a set of variables C is the total weight, over children in C, of parent sets with k or
    more members in C, minus |C| - k.

    children    (m,) int64     of the sets with weight, grouped by child
    bounds      (m + 1,) int64 start of the members of each set
    members     flat int64
    values      (m,) float64   the weights, which sum to one for each child
    seeds       (s, 2) int64
    found       (s, n) bool    overwritten: the most violated cluster grown from each seed
    violations  (s,) float64   overwritten
    """
    n, m = found.shape[1], children.shape[0]
    holders, begins = _holders(bounds, members, n)
    first = np.zeros(n + 1, dtype=np.int64)
    for c in range(m):
        first[children[c] + 1] += 1
    for v in range(n):
        first[v + 1] += first[v]
    for s in range(seeds.shape[0]):
        hits = np.zeros(m, dtype=np.int64)
        inside = np.zeros(n, dtype=np.bool_)
        data = (children, values, holders, begins, first, hits, inside)
        violation = k + _add(data, k, seeds[s, 0])
        violation += _add(data, k, seeds[s, 1])
        best, size, best_size = NONE if k > 1 else violation, 2, 2
        order = np.empty(n, dtype=np.int64)
        order[0], order[1] = seeds[s, 0], seeds[s, 1]
        while size < n:
            top, which = NONE, -1
            for v in range(n):
                if not inside[v]:
                    gain = _gain(data, k, v)
                    if gain > top + 1e-9:
                        top, which = gain, v
            if violation + top <= 0 and size > 8:
                break
            violation += _add(data, k, which)
            order[size] = which
            size += 1
            if violation > best + 1e-9:
                best, best_size = violation, size
        violations[s] = best
        for v in range(n):
            found[s, v] = False
        for place in range(best_size):
            found[s, order[place]] = True


@kernel
def _holders(bounds, members, n):
    """The sets that contain each variable, one list after the other."""
    begins = np.zeros(n + 1, dtype=np.int64)
    for member in members:
        begins[member + 1] += 1
    for v in range(n):
        begins[v + 1] += begins[v]
    holders = np.empty(members.shape[0], dtype=np.int64)
    ends = begins.copy()
    for c in range(bounds.shape[0] - 1):
        for at in range(bounds[c], bounds[c + 1]):
            holders[ends[members[at]]] = c
            ends[members[at]] += 1
    return holders, begins


@kernel
def _gain(data, k, v):
    """The change of the violation when a variable joins the cluster."""
    children, values, holders, begins, first, hits, inside = data
    gain = -1.0
    for c in range(first[v], first[v + 1]):
        if hits[c] >= k:
            gain += values[c]
    for at in range(begins[v], begins[v + 1]):
        c = holders[at]
        if hits[c] == k - 1 and inside[children[c]]:
            gain += values[c]
    return gain


@kernel
def _add(data, k, v):
    holders, begins, hits, inside = data[2], data[3], data[5], data[6]
    gain = _gain(data, k, v)
    inside[v] = True
    for at in range(begins[v], begins[v + 1]):
        hits[holders[at]] += 1
    return gain


@kernel
def best_rest(best, rest):
    """For every subset, the best total of the other variables, placed after it; rest (2**n,) overwritten."""
    n = best.shape[0]
    full = rest.shape[0] - 1
    rest[full] = 0.0
    for subset in range(full - 1, -1, -1):
        top = NONE
        for first in range(n):
            bit = np.int64(1) << first
            if not subset & bit:
                low = bit - 1
                own = best[first, (subset & low) | ((subset >> 1) & ~low)]
                top = max(top, own + rest[subset | bit])
        rest[subset] = top


@kernel
def best_around(totals, rest, child, around):
    """The best total of all variables but one, with at least a given subset before that one.

    totals, rest  (2**n,) float64        as best_sinks and best_rest fill them
    around        (2**(n-1),) float64    overwritten; the child's own bit is left out of the subset
    """
    bit = np.int64(1) << child
    low = bit - 1
    for subset in range(around.shape[0]):
        whole = (subset & low) | ((subset & ~low) << 1)
        around[subset] = totals[whole] + rest[whole | bit]
    other = np.int64(1)
    while other < around.shape[0]:
        for subset in range(around.shape[0]):
            if not subset & other and around[subset | other] > around[subset]:
                around[subset] = around[subset | other]
        other <<= 1
