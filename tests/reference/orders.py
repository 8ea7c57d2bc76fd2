"""Order searches from their definitions: nothing remembered, every order and every place laid out anew."""

from __future__ import annotations

from itertools import combinations

MIN_GAIN = 1e-6


def grow_shrink(local, rules, child, before):
    """Add the best predecessor until none helps, then take away the best parent until none helps."""
    required = rules.required_parents[child]
    own = frozenset(required)
    score = local(child, tuple(sorted(own)))
    while len(own) < rules.max_parents[child]:
        more = [own | {v} for v in sorted(before) if v not in own and rules.allowed[v, child]]
        best = max(more, key=lambda some: local(child, tuple(sorted(some))), default=own)
        if not local(child, tuple(sorted(best))) > score + MIN_GAIN:
            break
        own, score = best, local(child, tuple(sorted(best)))
    while True:
        fewer = [own - {v} for v in sorted(own) if v not in required]
        best = max(fewer, key=lambda some: local(child, tuple(sorted(some))), default=own)
        if not local(child, tuple(sorted(best))) > score + MIN_GAIN:
            return tuple(sorted(own)), score
        own, score = best, local(child, tuple(sorted(best)))


def network_of(local, rules, order):
    """The grown and shrunk parents of every variable among its predecessors, and the score of all."""
    found = {child: grow_shrink(local, rules, child, order[:place]) for place, child in enumerate(order)}
    parents = tuple(found[child][0] for child in range(len(order)))
    return parents, sum(found[child][1] for child in range(len(order)))


def shifts(rules, order, variable):
    """Every order with one variable elsewhere that has required parents before their children."""
    rest = [v for v in order if v != variable]
    for place in range(len(order)):
        other = [*rest[:place], variable, *rest[place:]]
        if rules.order is None or tuple(other) == rules.order:
            before = set()
            if all(_joined(rules, child, before) for child in other):
                yield other


def _joined(rules, child, before):
    """Whether the required parents of a child are before it; adds the child."""
    kept = before.issuperset(rules.required_parents[child])
    before.add(child)
    return kept


def best_total(local, rules):
    """The score of the best network of all, by dynamic programming over the sets of predecessors."""
    n = rules.n
    best = {0: 0.0}
    for last in range(1, 1 << n):
        options = []
        for child in range(n):
            rest = last & ~(1 << child)
            if last >> child & 1 and rest in best:
                chosen = best_parents(local, rules, child, [v for v in range(n) if rest >> v & 1])
                if chosen is not None:
                    options.append(best[rest] + chosen)
        if options:
            best[last] = max(options)
    return best[(1 << n) - 1]


def best_parents(local, rules, child, before):
    """The score of the best allowed parent set within some variables; None where there is none."""
    required = set(rules.required_parents[child])
    free = [v for v in before if rules.allowed[v, child]]
    scores = [
        local(child, own)
        for size in range(min(len(free), int(rules.max_parents[child])) + 1)
        for own in combinations(free, size)
        if required <= set(own)
    ]
    return max(scores, default=None)
