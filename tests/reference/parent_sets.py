"""Parent sets, orders and clusters from their definitions: sets and permutations laid out one by one."""

from __future__ import annotations

from itertools import combinations, permutations

NONE = float("-inf")


def members(mask):
    """The variables of a bit mask, or of one over several words of 64."""
    words = [int(word) for word in mask] if hasattr(mask, "__len__") else [int(mask)]
    return frozenset(64 * w + b for w, word in enumerate(words) for b in range(64) if word >> b & 1)


def without_bit(mask, child):
    """The variables of a mask from which the child's own bit was left out."""
    return frozenset(v if v < child else v + 1 for v in members(mask))


def first_subset(sets, allowed):
    """The position of the first set that is part of another, -1 for none."""
    return next((i for i, some in enumerate(sets) if some <= allowed), -1)


def grown(level, best, f):
    """(first row, added member, best of the subsets) of each set whose every subset of one less is listed."""
    place = {some: i for i, some in enumerate(level)}
    found = []
    for more in combinations(range(f), len(level[0]) + 1):
        below = [more[:i] + more[i + 1 :] for i in range(len(more))]
        if all(some in place for some in below):
            found.append((place[more[:-1]], more[-1], max(best[place[some]] for some in below)))
    return found


def best_within(sets, scores, allowed):
    return max((score for some, score in zip(sets, scores, strict=True) if some <= allowed), default=NONE)


def totals_of_orders(own, variables, before=frozenset()):
    """{order: sum of what each variable gets, given those before it}; own(child, before) says what."""
    return {
        order: sum(own(child, before | set(order[:place])) for place, child in enumerate(order))
        for order in permutations(sorted(variables))
    }


def best_total(own, variables, before=frozenset()):
    return max(totals_of_orders(own, variables, before).values())


def best_order(own, variables):
    """Of the best orders the one whose last variable is the lowest, then the one before it, and so on."""
    totals = totals_of_orders(own, variables)
    top = max(totals.values())
    return min((order for order in totals if totals[order] == top), key=lambda order: order[::-1])


def best_total_around(own, n, child, before):
    """The most that all variables but one get, in any order with these before that one."""
    orders = [o for o in permutations(range(n)) if before <= set(o[: o.index(child)])]
    return max(
        sum(own(v, frozenset(order[:place])) for place, v in enumerate(order) if v != child)
        for order in orders
    )


def violation(weights, cluster, k):
    """How much the weighted parent sets, {(child, parents): weight}, violate a cluster."""
    held = sum(
        weight
        for (child, parents), weight in weights.items()
        if child in cluster and len(parents & cluster) >= k
    )
    return held - (len(cluster) - k)


def grow_cluster(weights, seed, k, n):
    """The most violated cluster on the greedy way from two variables to all, and by how much."""
    cluster = frozenset(seed)
    on_the_way = [cluster] if k == 1 else []
    now = violation(weights, cluster, k)
    while len(cluster) < n:
        more = [cluster | {v} for v in range(n) if v not in cluster]
        best = max(more, key=lambda some: violation(weights, some, k))
        top = violation(weights, best, k) - now
        if now + top <= 0 and len(cluster) > 8:
            break
        cluster, now = best, violation(weights, best, k)
        on_the_way.append(cluster)
    best = max(on_the_way, key=lambda some: violation(weights, some, k), default=frozenset(seed))
    return best, violation(weights, best, k) if on_the_way else NONE
