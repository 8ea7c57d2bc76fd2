"""Kernels of wide tables against other definitions: matrices, sets of bits, whole graphs."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.kernels import columns as column_kernels
from bayescout.kernels import links as link_kernels
from bayescout.kernels import sparse as sparse_kernels
from bayescout.search.bitsets import bits, mask_of
from bayescout.search.classes.patterns import class_of, cliques_within, extension_of, semi_directed_path
from bayescout.search.classes.sparse import _arcs, _parent_sets, _work, class_pairs
from bayescout.statistics.columns import ColumnCovariance
from bayescout.statistics.covariance import Covariance
from tests.graph.drawn_graphs import parent_sets
from tests.scores.drawn_data import continuous_table

pytestmark = pytest.mark.slow  # compiling these kernels takes most of a minute


def links_of(parents):
    """A labelled graph with room for every arc, and scratch."""
    n = len(parents)
    starts = np.arange(n + 1) * max(1, n - 1)
    m = int(starts[-1])
    links = link_kernels.Links(
        starts, np.zeros(n, np.int64), np.empty(m, np.int32), np.empty(m, np.int8), np.zeros(m, np.int64)
    )
    work = _work(n, 100)
    link_kernels.link_all(links, *_arcs(parents))
    link_kernels.label_all(links, work)
    return links, work


# ---- columns


@pytest.mark.parametrize("rows", [5, 8, 50])
def test_regressions_from_columns_are_those_from_the_matrix(rows):
    rng = np.random.default_rng(rows)
    columns = rng.normal(size=(7, rows)) + rng.normal(size=(1, rows))
    columns[6] = columns[0] + columns[1]
    weights = None if rows == 5 else rng.uniform(0.5, 2, rows)
    table = bs.data.Table(tuple(range(7)), (None,) * 7, np.empty((0, rows), np.uint8), columns, weights)
    one = ColumnCovariance(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the last column
        two = Covariance(table)
    families = [(0, ()), (1, (0,)), (6, (0, 1)), (3, (0, 1, 6)), (5, (1, 2, 4))]
    mine, theirs = one.many(families), two.many(families)
    for name in ("residuals", "log_dets", "log_scales", "n_parents", "children"):
        assert getattr(mine, name) == pytest.approx(getattr(theirs, name), rel=1e-9, abs=1e-11)
    pairs = np.array([(a, b) for a in range(7) for b in range(7) if a != b])
    out = np.empty(len(pairs))
    column_kernels.correlate_pairs(one.columns, one.roots, pairs[:, 0], pairs[:, 1], out)
    assert out == pytest.approx(two.matrix[pairs[:, 0], pairs[:, 1]], abs=1e-12)
    asked = [column_kernels.correlation(one.arrays, a, b) for a, b in pairs.tolist()]
    assert asked == out.tolist()
    assert (np.ldexp(out, 42) % 1 == 0).all()


def test_extreme_columns_are_scaled_and_centred_as_in_the_matrix():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(3, 40)) * np.array([[1e200], [1e-200], [1.0]])
    columns[2] = 1e9 + 1e-3 * columns[2]
    table = continuous_table(columns)
    one, two = ColumnCovariance(table), Covariance(table)
    assert one.log_scales == pytest.approx(two.log_scales, rel=1e-12)
    assert one.many([(0, (1, 2))]).residuals == pytest.approx(two.many([(0, (1, 2))]).residuals)


# ---- classes on lists


@given(parent_sets(max_nodes=8))
def test_labels_are_those_of_the_class(parents):
    assert class_pairs(parents) == class_of(parents).pairs()


@given(parent_sets(max_nodes=7))
def test_the_lowest_member_is_that_on_bits(parents):
    links, _ = links_of(parents)
    ways = np.zeros(len(links.ends), np.int8)
    link_kernels.ways_of(links, ways)
    parent_of, left = np.zeros(len(ways), np.int8), np.empty(len(parents), np.int8)
    assert link_kernels.extend_sparse(links, ways, left, parent_of) == len(parents)
    assert _parent_sets(links, parent_of) == extension_of(class_of(parents)).parent_sets()


@given(parent_sets(max_nodes=7))
def test_cliques_come_in_the_order_on_bits(parents):
    links, _ = links_of(parents)
    adjacent = class_of(parents).adjacent()
    members = np.arange(len(parents))
    above, added = np.empty(200, np.int64), np.empty(200, np.int64)
    count = sparse_kernels.cliques_of(links, members, len(parents), above, added)
    out = np.empty(len(parents) + 1, np.int64)
    found = [
        mask_of(out[: sparse_kernels._clique(above, added, i, members, out)].tolist()) for i in range(count)
    ]
    assert found == cliques_within((1 << len(parents)) - 1, adjacent)


@given(parent_sets(min_nodes=2, max_nodes=7), st.data())
def test_paths_are_found_where_there_are_some(parents, data):
    links, work = links_of(parents)
    n = len(parents)
    source, target = data.draw(st.permutations(range(n)))[:2]
    others = [v for v in range(n) if v not in (source, target)]
    blocked = data.draw(st.lists(st.sampled_from(others), unique=True)) if others else []
    pattern = class_of(parents)
    for direct in (True, False):
        wall = np.array(blocked, dtype=np.int64)
        count = link_kernels.find_path(links, work, source, target, wall, len(blocked), direct)
        expected = semi_directed_path(pattern, source, target, mask_of(blocked), 1 if direct else 2)
        assert (count > 0) == (expected != 0)
        path = work.other[:count].tolist()
        assert not set(path) & set(blocked)
        if path:
            assert {source, target} <= set(path)


@given(parent_sets(min_nodes=2, max_nodes=7), st.data())
def test_another_member_of_the_class_is_chosen(parents, data):
    links, work = links_of(parents)
    pattern = class_of(parents)
    y = data.draw(st.integers(0, len(parents) - 1))
    clique = data.draw(st.sampled_from(cliques_within(pattern.undirected[y], pattern.adjacent())))
    first = np.array([*bits(clique), y], dtype=np.int64)
    rules = sparse_kernels.Rules(True, links.starts, links.ends, links.kinds, np.full(len(parents), 99))
    assert link_kernels.turn(links, work, rules, first, len(first)) > 0
    member = _parent_sets(links, (links.kinds & 1) ^ 1)
    assert class_of(member) == pattern
    assert set(member[y]) == set(bits(pattern.parents[y] | clique))
