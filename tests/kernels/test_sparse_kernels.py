"""Kernels of wide tables against other definitions: matrices, sets of bits, whole graphs."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.kernels import columns as column_kernels
from bayescout.kernels import links as link_kernels
from bayescout.kernels import operators as operator_kernels
from bayescout.kernels.appraising import appraise
from bayescout.kernels.keeping import take_back, what_breaks_rules
from bayescout.scores import Bic, family_prior
from bayescout.scores.wide_scorer import WideScorer
from bayescout.search import Knowledge
from bayescout.search.bitsets import bits, mask_of
from bayescout.search.classes.patterns import (
    class_of,
    cliques_within,
    extension_of,
    member_keeping,
    semi_directed_path,
)
from bayescout.search.classes.sparse import _flat, _labelled, _marked, _sets, class_pairs
from bayescout.search.frame.wide_rules import entering
from bayescout.statistics.columns import ColumnCovariance
from bayescout.statistics.covariance import Covariance
from tests.graph.drawn_graphs import parent_sets
from tests.scores.drawn_data import continuous_table
from tests.search.test_ges import knowledge_and_limits

pytestmark = pytest.mark.slow  # compiling these kernels takes most of a minute


def graph_of(parents):
    """A labelled graph with room for every arc."""
    n = len(parents)
    sizes, above = _flat(parents)
    return _labelled(np.arange(n + 1) * max(1, n - 1), above, np.repeat(np.arange(n), sizes), 100)


def sets_of(graph, marks):
    """The neighbours of each node that are marked."""
    flat = _marked(graph, marks)
    return tuple(_sets(flat, np.arange(len(flat[0]))))


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
    column_kernels.correlate_pairs(one.values, one.shifts, one.roots, pairs[:, 0], pairs[:, 1], out)
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
    graph = graph_of(parents)
    ways = graph.ways()
    parent_of, left = np.zeros(len(ways), np.int8), np.empty(len(parents), np.int8)
    limits = np.full(len(parents), 99)
    placed = link_kernels.extend_sparse(graph.nodes, graph.slots, ways, limits, left, parent_of)
    assert placed == len(parents)
    assert sets_of(graph, parent_of) == extension_of(class_of(parents)).parent_sets()


@given(parent_sets(max_nodes=7))
def test_cliques_come_in_the_order_on_bits(parents):
    graph = graph_of(parents)
    adjacent = class_of(parents).adjacent()
    members = np.arange(len(parents))
    above, added = np.empty(200, np.int64), np.empty(200, np.int64)
    k = len(parents)
    count = operator_kernels.cliques_of(graph.nodes, graph.slots, members, k, above, added)
    found = [0]
    for i in range(1, count):
        found.append(found[above[i]] | 1 << int(added[i]))
    assert found == cliques_within((1 << len(parents)) - 1, adjacent)


@given(parent_sets(min_nodes=2, max_nodes=7), st.data())
def test_paths_are_found_where_there_are_some(parents, data):
    graph = graph_of(parents)
    n = len(parents)
    source, target = data.draw(st.permutations(range(n)))[:2]
    others = [v for v in range(n) if v not in (source, target)]
    blocked = data.draw(st.lists(st.sampled_from(others), unique=True)) if others else []
    pattern = class_of(parents)
    for direct in (True, False):
        wall = np.array(blocked, dtype=np.int64)
        count = link_kernels.find_path(*graph[:4], source, target, wall, len(blocked), direct)
        expected = semi_directed_path(pattern, source, target, mask_of(blocked), 1 if direct else 2)
        assert (count > 0) == (expected != 0)
        path = graph.rows[1, :count].tolist()
        assert not set(path) & set(blocked)
        if path:
            assert {source, target} <= set(path)
            assert len(set(path)) == count


@given(parent_sets(min_nodes=2, max_nodes=7), st.data())
def test_another_member_of_the_class_is_chosen(parents, data):
    graph = graph_of(parents)
    pattern = class_of(parents)
    y = data.draw(st.integers(0, len(parents) - 1))
    clique = data.draw(st.sampled_from(cliques_within(pattern.undirected[y], pattern.adjacent())))
    first = np.array([*bits(clique), y], dtype=np.int64)
    assert link_kernels.turn(*graph[:4], first, len(first)) > 0
    member = sets_of(graph, (graph.bits & 1) ^ 1)
    assert class_of(member) == pattern
    assert set(member[y]) == set(bits(pattern.parents[y] | clique))


@given(parent_sets(min_nodes=2, max_nodes=6), st.data())
def test_a_class_without_a_member_that_keeps_the_rules_is_told(parents, data):
    n = len(parents)
    knowledge = data.draw(knowledge_and_limits(range(n)) if n > 3 else st.just(Knowledge()))
    assume(all(a in parents[b] or b in parents[a] for a, b in knowledge.required))  # they are never removed
    rules, graph = knowledge.compile(range(n)), graph_of(parents)
    graph.nodes[:, link_kernels.LIMIT] = rules.max_parents
    starts, ends = np.arange(n + 1) * (n - 1), np.array([v for u in range(n) for v in range(n) if v != u])
    graph.told[link_kernels.LOGGED] = 1 + len(graph.log)  # all nodes may have changed
    broken = what_breaks_rules(*graph, ends, entering(rules, starts, ends))
    assert (broken > 0) == (member_keeping(class_of(parents), rules) is None)
    assert len(set(graph.rows[link_kernels.OTHER, :broken].tolist())) == broken


@given(parent_sets(min_nodes=2, max_nodes=7), st.data())
def test_what_is_taken_back_was_never_done(parents, data):
    graph = graph_of(parents)
    y, x = data.draw(st.permutations(range(len(parents))))[:2]
    before, was = graph.slots[:, :2].copy(), link_kernels.joined(graph.nodes, graph.slots, y, x)
    filled, tail = graph.filled(), x if x in parents[y] else y
    graph.told[link_kernels.STEP] = 1
    graph.log[0], graph.told[link_kernels.LOGGED] = (x, y, was), 1
    if was:
        link_kernels._remove(graph.nodes, graph.slots, x, y)
        link_kernels._remove(graph.nodes, graph.slots, y, x)
    else:
        x, y = (x, y) if x < y else (y, x)  # nodes follow an order
        later, earlier = (x, y) if y in above(parents, x) else (y, x)
        link_kernels._insert(graph.nodes, graph.slots, earlier, later, link_kernels.OUT)
        link_kernels._insert(graph.nodes, graph.slots, later, earlier, np.int64(0))
        low, high = min(x, y), max(x, y)
        graph.slots[link_kernels.seek(graph.nodes, graph.slots, low, high), link_kernels.STAMP] = 1
    if data.draw(st.booleans()):
        link_kernels.refresh(*graph, x, y)
    else:  # more has changed than there is room for
        link_kernels.refresh(*graph[:4], graph.log[:1], x, y)
        graph.told[link_kernels.LOGGED] = 1 + len(graph.log)
    take_back(*graph, x, y, tail, was)
    assert (graph.filled() == filled).all()
    assert (graph.slots[filled, :2] == before[filled]).all()


def above(parents, node):
    """All ancestors of a node."""
    found = set(parents[node])
    for parent in parents[node]:
        found |= above(parents, parent)
    return found


# ---- changes of families


def test_changes_are_differences_of_scores():
    rng = np.random.default_rng(0)
    table = continuous_table(rng.normal(size=(6, 60)) + rng.normal(size=(1, 60)))
    scorer = WideScorer(Bic(), ColumnCovariance(table), 1, family_prior("sparse", table.names))
    columns, terms = scorer.wide_arrays()
    for whole in (0, 1):
        asked = np.array([2, 2, 3, whole, 0, 4, 1, 3, 5, 5, 0, 2, whole, 0, 4, 1, 0, 0, whole])
        changes = np.empty(5)
        appraise(columns, terms, asked, len(asked), changes)
        wider = scorer.many([(2, (0, 1, 4)), (2, (0, 3, 4)), (2, (0, 4, 5)), (5, (0,)), (5, (4,))])
        before = scorer.many([(2, (0, 4)), (5, ())])[[0, 0, 0, 1, 1]]
        assert changes == pytest.approx(wider - before, abs=1e-6)
    saturated = WideScorer(Bic(), ColumnCovariance(continuous_table(table.values[:, :4])), 1)
    appraise(*saturated.wide_arrays(), asked, len(asked), changes)
    assert changes.tolist()[:3] == [-np.inf] * 3
    assert np.isfinite(changes[3:]).all()
