"""Strengths, directions, the threshold and the averaged network, by hand and by brute force."""

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, GraphError, SettingError, UnknownNameError
from bayescout.evaluate import ArcStrengths
from bayescout.graph.dag import Dag
from bayescout.graph.pdag import Pdag
from tests.evaluate.drawn_pairs import other_dags

NODES = ("a", "b", "c", "d")


def dag(*arcs, nodes="abc"):
    return Dag.from_arcs([tuple(arc) for arc in arcs], nodes)


@st.composite
def graphs(draw):
    """Graphs over the same four nodes, listed in different orders; some of them CPDAGs."""
    found = draw(st.lists(other_dags(NODES), min_size=1, max_size=7))
    return [g.cpdag() if draw(st.booleans()) else g for g in found]


@given(found=graphs())
def test_strengths_and_directions_are_shares_of_the_graphs(found):
    strengths = ArcStrengths.of_graphs(found)
    for a, b in combinations(NODES, 2):
        edges, forward = 0, 0.0
        for graph in found:
            undirected = isinstance(graph, Pdag) and {a, b} in [set(edge) for edge in graph.edges()]
            arcs = list(graph.arcs())
            edges += undirected or (a, b) in arcs or (b, a) in arcs
            forward += 0.5 if undirected else (a, b) in arcs
        assert strengths.strength(a, b) == strengths.strength(b, a) == edges / len(found)
        assert strengths.direction(a, b) == (forward / edges if edges else 0.0)
        both = strengths.direction(a, b) + strengths.direction(b, a)
        assert both == pytest.approx(1.0 if edges else 0.0)
    n_edges = sum(graph.n_arcs if isinstance(graph, Dag) else graph.n_edges for graph in found)
    assert strengths.votes.sum() == 2 * n_edges


@given(found=graphs())
def test_the_table_lists_every_arc_found_both_ways(found):
    strengths = ArcStrengths.of_graphs(found)
    rows = strengths.table()
    assert len(rows) == 2 * len(strengths)
    assert [row.strength for row in rows] == sorted((row.strength for row in rows), reverse=True)
    for row in rows:
        assert row.strength == strengths.strength(row.parent, row.child) > 0
        assert row.direction == strengths.direction(row.parent, row.child)
    assert strengths.table(threshold=0.5) == [row for row in rows if row.strength > 0.5]


def test_by_hand():
    """a -> b three times of four, b -> a once as part of a class; b -> c twice."""
    found = ArcStrengths.of_graphs(
        [dag("ab", "bc"), dag("ab"), dag("ab", "bc"), Pdag.from_arcs(undirected=[("a", "b")], nodes="cba")]
    )
    assert found.strength("a", "b") == 1.0
    assert found.direction("a", "b") == 3.5 / 4
    assert found.strength("b", "c") == 0.5
    assert found.direction("b", "c") == 1.0
    assert found.strength("a", "c") == 0.0
    assert found.direction("a", "c") == 0.0
    assert [tuple(row) for row in found.table()] == [
        ("a", "b", 1.0, 0.875), ("b", "a", 1.0, 0.125), ("b", "c", 0.5, 1.0), ("c", "b", 0.5, 0.0),
    ]  # fmt: skip
    assert str(found).splitlines() == [
        "arc strengths over 4 graphs: 2 edges found, 1 above the threshold of 0.500",
        "          strength  direction",
        "  a -> b     1.000      0.875  ████████████████████",
        "  b -> c     0.500      1.000  ██████████",
    ]
    even = ArcStrengths.of_graphs([dag("ab"), dag("ba")])
    assert str(even).splitlines()[2:] == ["  a -  b     1.000      0.500  ████████████████████"]
    assert repr(found) == str(found)
    as_json = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert as_json["arcs"][0] == ["a", "b", 1.0, 0.875]


def test_all_pairs_are_gone_through_a_few_times_to_print(monkeypatch):
    """Not once for each arc: of 1,200 variables that took minutes."""
    calls = []
    threshold = ArcStrengths.threshold
    monkeypatch.setattr(ArcStrengths, "threshold", lambda self: calls.append(1) or threshold(self))
    str(ArcStrengths.of_graphs([dag("ab", "bc"), dag("ac")]))
    assert len(calls) == 1


# ---- the threshold


def with_strengths(values, runs):
    """Strengths of pairs by name of pair, as graphs of `runs` runs would give them."""
    n = next(n for n in range(2, 99) if n * (n - 1) // 2 >= len(values))
    votes = np.zeros((n, n), dtype=np.int64)
    rows, columns = np.triu_indices(n, 1)
    for i, j, value in zip(rows, columns, values, strict=False):
        votes[i, j] = 2 * round(value * runs)
    return ArcStrengths(tuple(range(n)), runs, votes)


def test_the_threshold_by_hand():
    """Six strengths: F is 1/2 from the third to the fourth, which straddle one half."""
    values = [0.2242, 0.0460, 0.8935, 0.3921, 0.7689, 0.9439]
    found = with_strengths(values, 10_000)
    assert found.threshold() == pytest.approx(0.3921)
    significant = [value for value in values if value > found.threshold()]
    assert significant == [0.8935, 0.7689, 0.9439]


@given(st.lists(st.integers(0, 20), min_size=3, max_size=15))
def test_the_threshold_minimises_the_distance_to_certainty(counts):
    """By brute force over every t that can be a minimum: the L1 distance between F and t on [0, 1]."""
    n = next(n for n in range(2, 99) if n * (n - 1) // 2 >= len(counts))
    counts = counts + [0] * (n * (n - 1) // 2 - len(counts))
    found = with_strengths([count / 20 for count in counts], 20)
    steps = np.arange(20)  # F is constant on each [k/20, (k+1)/20)
    heights = np.array([np.mean(np.array(counts) <= k) for k in steps])
    levels = np.unique(np.append(heights, [0.0, 1.0]))
    distances = np.array([np.abs(heights - t).sum() for t in levels])
    best = levels[distances <= distances.min() + 1e-9].max()
    at_least = [k for k in range(21) if np.mean(np.array(counts) <= k) >= best - 1e-12]
    inverse = min(at_least) / 20
    kept = {i for i, count in enumerate(counts) if count / 20 > inverse}
    assert {i for i, count in enumerate(counts) if count / 20 > found.threshold()} == kept
    assert kept == {i for i, count in enumerate(counts) if count > 10}


# ---- the averaged network


@given(st.integers(1, 400), st.data())
def test_an_arc_as_strong_as_the_threshold_is_not_above_it(runs, data):
    """Shares of runs are compared as shares: a product with the runs could round."""
    votes = data.draw(st.integers(1, runs // 2)) if runs > 1 else 0
    found = with_strengths([votes / runs, 0.0, 0.0], runs)
    assert found.threshold() == votes / runs
    assert found.averaged().n_arcs == 0
    assert found.averaged(votes / runs).n_arcs == 0


@given(found=graphs())
def test_the_averaged_network_has_the_arcs_above_the_threshold(found):
    strengths = ArcStrengths.of_graphs(found)
    for threshold in (0.0, 0.3, 0.5, "estimated"):
        least = strengths.threshold() if threshold == "estimated" else threshold
        skipped = strengths.left_out(threshold)
        average = strengths._average(threshold)[0]
        for parent, child in [*average.arcs(), *skipped]:
            assert strengths.strength(parent, child) > least or strengths.strength(parent, child) == 1
            assert strengths.direction(parent, child) >= 0.5
        kept = {frozenset(arc) for arc in [*average.arcs(), *skipped]}
        above = {frozenset((row.parent, row.child)) for row in strengths.table(least)}
        assert kept == above
        for parent, child in skipped:
            assert average.has_path(child, parent)


def test_graphs_that_agree_are_their_own_average():
    truth = bs.load_network("asia").dag
    found = ArcStrengths.of_graphs([truth] * 5)
    assert found.averaged() == truth
    assert found.averaged(0.99) == truth
    assert found.averaged(1.0) == truth  # arcs of every graph are kept whatever the threshold
    assert ArcStrengths.of_graphs([truth, Dag.empty(truth.nodes)]).averaged(0.5).n_arcs == 0
    assert ArcStrengths.of_graphs([truth.cpdag()] * 3).averaged().skeleton() == truth.skeleton()


def test_an_arc_that_closes_a_cycle_is_left_out_and_listed():
    """a -> b in three graphs of three, b -> c and c -> a in two each: c -> a comes last."""
    found = ArcStrengths.of_graphs([dag("ab", "bc"), dag("ab", "ca"), dag("ca", "bc"), dag("ab")])
    with pytest.warns(BayescoutWarning, match="1 arc above the threshold .* left out: b -> c"):
        average = found.averaged(0.1)
    assert list(average.arcs()) == [("c", "a"), ("a", "b")]
    assert found.left_out(0.1) == (("b", "c"),)
    assert found.left_out(0.6) == ()


def test_of_arcs_as_strong_the_more_one_sided_goes_first():
    """In seven graphs a -> b and b -> c are there five times, and c -> a, which closes a cycle, four."""
    found = ArcStrengths.of_graphs(
        [dag("ab", "bc", "ac")] * 3 + [dag("ab", "ca", "cb")] * 2 + [dag("bc", "ca", "ba")] * 2
    )
    assert found.left_out() == (("c", "a"),)
    with pytest.warns(BayescoutWarning, match="c -> a"):
        assert list(found.averaged().arcs()) == [("a", "b"), ("b", "c")]


def test_even_edges_make_no_collider():
    """A star of reversible edges: its centre listed last must not become a collider."""
    star = dag("da", "db", "dc", nodes="abcd").cpdag()
    average = ArcStrengths.of_graphs([star, star]).averaged()
    assert average.skeleton() == (("a", "d"), ("b", "d"), ("c", "d"))
    assert average.v_structures() == ()


@given(other_dags(NODES))
def test_a_class_averages_to_itself(found):
    assert ArcStrengths.of_graphs([found.cpdag()] * 3).averaged().equivalent(found)


def test_even_edges_that_no_extension_directs_follow_an_order():
    """b - c is even; a -> b and c -> a are certain, so b -> c would close a cycle and c -> b does not."""
    even = Pdag.from_arcs([("a", "b"), ("c", "a")], [("b", "c")], "abc")
    found = ArcStrengths.of_graphs([even, even])
    assert found.left_out() == ()
    assert set(found.averaged().arcs()) == {("a", "b"), ("c", "a"), ("c", "b")}
    ring = Pdag.from_arcs([], [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")], "abcd")
    assert list(ArcStrengths.of_graphs([ring]).averaged().arcs()) == [
        ("a", "b"), ("b", "c"), ("a", "d"), ("c", "d"),
    ]  # fmt: skip


def test_what_is_refused():
    with pytest.raises(GraphError, match="at least one graph"):
        ArcStrengths.of_graphs([])
    with pytest.raises(GraphError, match="same nodes"):
        ArcStrengths.of_graphs([dag("ab"), dag("ab", nodes="abd")])
    with pytest.raises(GraphError, match="int is none of these"):
        ArcStrengths.of_graphs([1])
    found = ArcStrengths.of_graphs([dag("ab")])
    with pytest.raises(UnknownNameError):
        found.strength("a", "z")
    with pytest.raises(GraphError, match="with itself"):
        found.direction("a", "a")
    for wrong in (-0.1, 1.1, "half", True, float("nan")):
        with pytest.raises(SettingError, match="threshold must be from 0 to 1"):
            found.averaged(wrong)


def test_one_node_and_no_arcs():
    alone = ArcStrengths.of_graphs([Dag.empty(["x"])])
    assert (alone.threshold(), alone.table(), len(alone)) == (0.0, [], 0)
    assert alone.averaged() == Dag.empty(["x"])
    assert "0 edges found" in repr(alone)
    str(alone)
