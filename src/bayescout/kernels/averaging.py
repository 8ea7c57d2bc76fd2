"""Averaged one-dependence estimators: the sum over all features that may be the parent of all others."""

import math

import numpy as np

from bayescout.kernels.jit import kernel


@kernel
def averaged_logs(codes, starts, counted, first, given, first_without, given_without, truth, out):
    """Fill out with the logarithm of the sum of each row's one-dependence estimates, class by class.

    Every state of every feature has a place: starts[feature] + its code, the last code for a missing cell.

    codes          (p, n) int32        places have starts[f] + codes[f, row]
    starts         (p,) int64
    counted        (s,) float64        by place: 2 if the state may be a parent, 1 if it may only with
                                       the row itself counted, 0 if it may not
    first          (s, k) float64      log P(class, state of the parent)
    given          (s, s, k) float64   log P(state of the child | class, state of the parent); 0 for missing
                                       children and for the parent itself
    first_without, given_without       the same, estimated with one row less; of shape (0, ...) if not needed
    truth          (n,) int64          the class of each row, which is estimated without the row; -1 for none
    out            (n, k) float64      minus infinity if no feature may be the parent
    """
    p, k = len(starts), first.shape[1]
    sums = np.empty((p, k))
    places = np.empty(p, dtype=np.int64)
    for row in range(codes.shape[1]):
        used = 0
        own = truth[row]
        least = 1.5 if own >= 0 else 0.5
        for feature in range(p):
            places[feature] = starts[feature] + codes[feature, row]
        for parent in range(p):
            place = places[parent]
            if counted[place] < least:
                continue
            pairs = given[place]
            for c in range(0, k, 2):  # two classes at a time: they lie side by side
                one, two = first[place, c], first[place, min(c + 1, k - 1)]
                if c + 1 < k:
                    for child in range(p):
                        one += pairs[places[child], c]
                        two += pairs[places[child], c + 1]
                    sums[used, c + 1] = two
                else:
                    for child in range(p):
                        one += pairs[places[child], c]
                sums[used, c] = one
            if own >= 0:
                total = first_without[place, own]
                for child in range(p):
                    total += given_without[place, places[child], own]
                sums[used, own] = total
            used += 1
        for c in range(k):
            largest = -np.inf
            for i in range(used):
                largest = max(largest, sums[i, c])
            total = 0.0
            for i in range(used):
                total += math.exp(sums[i, c] - largest)
            out[row, c] = largest + math.log(total) if used else -np.inf
