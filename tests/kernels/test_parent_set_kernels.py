"""Parent sets, orders and clusters against all sets and all permutations."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.kernels import candidates, optimal, orders
from tests.reference import parent_sets as twin
from tests.reference.kernels import both

NONE = -np.inf
WHOLE = st.integers(-8, 8).map(float)


@given(data=st.data())
def test_the_first_set_within_others(data):
    words = data.draw(st.integers(1, 3))
    variables = st.frozensets(st.sampled_from([0, 1, 62, 63, 64, 127, 128, 191]), max_size=4)
    sets = [
        frozenset(v for v in some if v < 64 * words) for some in data.draw(st.lists(variables, max_size=6))
    ]
    allowed = data.draw(variables)
    masks = np.array([mask_of(some, words) for some in sets], dtype=np.uint64).reshape(-1, words)
    found = both(orders, "first_within", masks, np.array(mask_of(allowed, words), dtype=np.uint64))
    assert found == twin.first_subset(sets, allowed)


def mask_of(variables, words):
    return [sum(1 << (v - 64 * w) for v in variables if v // 64 == w) for w in range(words)]


# ---- sets grown by one member


def binomials(f, k):
    return np.array([[comb(a, b) for b in range(k + 1)] for a in range(f + 1)], dtype=np.int64)


@pytest.mark.parametrize("f", range(1, 7))
def test_keys_rise_in_lexicographic_order(f):
    for k in range(f + 1):
        every = np.array(list(combinations(range(f), k)), dtype=np.int64).reshape(comb(f, k), k)
        keys = np.full(len(every), 7, dtype=np.int64)
        both(candidates, "set_keys", every, binomials(f, k), keys)
        assert (np.diff(keys) > 0).all()


@given(data=st.data())
def test_sets_grow_where_every_subset_is_there(data):
    f = data.draw(st.integers(1, 6))
    k = data.draw(st.integers(0, f))
    left_out = data.draw(st.sets(st.sampled_from(list(combinations(range(f), k))), max_size=3))
    level = [some for some in combinations(range(f), k) if some not in left_out or k == 0]
    if not level:
        return
    best = np.array(data.draw(st.lists(WHOLE, min_size=len(level), max_size=len(level))))
    members = np.array(level, dtype=np.int64).reshape(len(level), k)
    keys = np.empty(len(level), dtype=np.int64)
    candidates.set_keys(members, binomials(f, k), keys)
    expected = twin.grown(level, best.tolist(), f)
    grown, bests = np.full((len(expected), 2), -7, dtype=np.int64), np.full(len(expected), np.nan)
    none = np.empty((0, 2), dtype=np.int64), np.empty(0)
    assert both(candidates, "grow_sets", members, keys, best, binomials(f, k), *none) == len(expected)
    if expected:
        both(candidates, "grow_sets", members, keys, best, binomials(f, k), grown, bests)
        assert [(*row, top) for row, top in zip(grown.tolist(), bests.tolist(), strict=True)] == expected


# ---- dynamic programming over subsets


@st.composite
def listed_sets(draw):
    """For each of up to five variables some parent sets with scores, whole so that sums are exact."""
    n = draw(st.integers(1, 5))
    sets, scores = [], []
    for child in range(n):
        others = st.frozensets(st.integers(0, n - 1).filter(lambda v, c=child: v != c), max_size=n)
        some = draw(st.lists(others, max_size=5)) if n > 1 else [frozenset()]
        some += [frozenset()] if draw(st.booleans()) else []
        sets.append(some)
        scores.append(draw(st.lists(WHOLE, min_size=len(some), max_size=len(some))))
    return n, sets, scores


def tables_of(n, sets, scores):
    """What best_within makes of the lists; what a child gets by definition."""
    best = np.full((n, 1 << (n - 1)), np.nan)
    for child in range(n):
        masks = np.array([sum(1 << v for v in some) for some in sets[child]], dtype=np.int64)
        both(optimal, "best_within", masks, np.array(scores[child], dtype=np.float64), child, best[child])
    return best, lambda child, before: twin.best_within(sets[child], scores[child], frozenset(before))


@given(listed_sets())
def test_the_best_set_within_every_subset(lists):
    best, own = tables_of(*lists)
    for child, row in enumerate(best.tolist()):
        assert row == [own(child, twin.without_bit(mask, child)) for mask in range(len(row))]


@given(listed_sets())
def test_totals_and_orders_are_the_best_of_all_permutations(lists):
    n = lists[0]
    best, own = tables_of(*lists)
    totals, rest = np.full(1 << n, np.nan), np.full(1 << n, np.nan)
    for begin, end in ((0, len(totals) // 2), (len(totals) // 2, len(totals))):
        both(optimal, "best_sinks", best, begin, end, totals)
    both(optimal, "best_rest", best, rest)
    for mask in range(1 << n):
        inside = twin.members(mask)
        outside = frozenset(range(n)) - inside
        assert totals[mask] == twin.best_total(own, inside)
        assert rest[mask] == twin.best_total(own, outside, inside)
    if totals[-1] > NONE:
        order = np.full(n, -7, dtype=np.int64)
        both(optimal, "last_first", best, totals, order)
        assert tuple(order.tolist()) == twin.best_order(own, range(n))
    for child in range(n):
        around = np.full(1 << (n - 1), np.nan)
        both(optimal, "best_around", totals, rest, child, around)
        for mask, found in enumerate(around.tolist()):
            assert found == twin.best_total_around(own, n, child, twin.without_bit(mask, child))


# ---- clusters that a fractional solution violates


@given(data=st.data())
def test_clusters_grow_by_what_they_violate_most(data):
    n, k = data.draw(st.sampled_from([2, 3, 5, 11])), data.draw(st.integers(1, 2))
    weights = {}
    for child in range(n):
        others = [v for v in range(n) if v != child]
        some = data.draw(
            st.lists(st.frozensets(st.sampled_from(others), max_size=3), max_size=3, unique=True)
        )
        shares = data.draw(st.permutations([0.5, 0.25, 0.125]))  # exact, so that equal violations are equal
        weights |= {(child, own): share for own, share in zip(some, shares, strict=False)}
    children = np.array([child for child, _ in weights], dtype=np.int64)
    bounds = np.concatenate(([0], np.cumsum([len(own) for _, own in weights]))).astype(np.int64)
    members = np.array([v for _, own in weights for v in sorted(own)], dtype=np.int64)
    values = np.array(list(weights.values()), dtype=np.float64)
    seeds = np.array(list(combinations(range(n), 2))[:6], dtype=np.int64)
    found = np.ones((len(seeds), n), dtype=np.bool_)
    violations = np.full(len(seeds), np.nan)
    both(optimal, "grow_clusters", children, bounds, members, values, seeds, k, found, violations)
    for seed, cluster, violation in zip(seeds.tolist(), found, violations.tolist(), strict=True):
        expected, most = twin.grow_cluster(weights, seed, k, n)
        assert violation == most
        assert frozenset(np.flatnonzero(cluster).tolist()) == expected
