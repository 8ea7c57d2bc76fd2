import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.errors import GraphError
from bayescout.graph.compare import compare
from bayescout.graph.dag import Dag
from bayescout.graph.pdag import Pdag
from tests.graph.drawn_graphs import dags, pdags


def labelled(n):
    return st.just("abcdef"[:n])


@st.composite
def same_nodes(draw, count, kinds=("dag",)):
    """Graphs over the same labels, listed in different orders."""
    n = draw(st.integers(0, 5))
    graphs = [draw(dags(n, n, labels=lambda k: st.permutations("abcdef"[:k]))) for _ in range(count)]
    return [g.cpdag() if draw(st.sampled_from(kinds)) == "cpdag" else g for g in graphs]


TRUTH = Dag.from_arcs([("a", "c"), ("b", "c"), ("c", "d"), ("d", "e")], nodes=list("abcdef"))
LEARNED = Dag.from_arcs([("c", "a"), ("b", "c"), ("c", "d"), ("e", "f")], nodes=list("fedcba"))


def test_one_comparison_by_hand():
    result = compare(LEARNED, TRUTH)
    assert (result.true_positives, result.false_positives, result.false_negatives) == (2, 2, 2)
    assert (result.precision, result.recall, result.f1) == (0.5, 0.5, 0.5)
    assert result.missing == (("d", "e"),)
    assert result.extra == (("e", "f"),)
    assert result.reversed == (("a", "c"),)
    assert (result.n_missing, result.n_extra, result.n_reversed) == (1, 1, 1)
    assert (result.shd, result.hamming) == (3, 4)
    assert result.shd_cpdag == 5
    assert result.adjacency_true_positives == 3
    assert result.adjacency_precision == result.adjacency_recall == result.adjacency_f1 == 0.75
    assert (result.learned_arcs, result.true_arcs, result.arc_ratio) == (4, 4, 1.0)
    assert repr(result) == str(result)
    assert "SHD          3 (5 of the equivalence classes, Hamming 4)" in str(result)
    assert "F 0.500" in str(result)


def test_precision_and_recall_are_not_mixed_up():
    truth = Dag.from_arcs([("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    result = compare(Dag.from_arcs([("a", "b")], truth.nodes), truth)
    assert (result.precision, result.recall, result.f1) == (1.0, 0.25, 0.4)
    assert (result.adjacency_precision, result.adjacency_recall) == (1.0, 0.25)
    assert result.arc_ratio == 0.25
    assert compare(truth, Dag.from_arcs([("a", "b")], truth.nodes)).arc_ratio == 4.0


def differing_pairs(one, two):
    n = len(one)
    return sum((one[i, j], one[j, i]) != (two[i, j], two[j, i]) for i in range(n) for j in range(i))


@given(same_nodes(2))
def test_every_count_follows_from_the_adjacency_matrices(graphs):
    learned, truth = graphs
    result = compare(learned, truth)
    a, b = learned.reordered(truth.nodes).adjacency(), truth.adjacency()
    assert result.true_positives == (a & b).sum()
    assert result.false_positives == (a & (1 - b)).sum()
    assert result.false_negatives == ((1 - a) & b).sum()
    assert result.hamming == (a != b).sum()
    assert result.shd == differing_pairs(a, b)
    near, true = np.triu(a | a.T), np.triu(b | b.T)
    assert result.adjacency_true_positives == (near & true).sum()
    assert result.adjacency_false_positives == result.n_extra == (near & ~true & 1).sum()
    assert result.adjacency_false_negatives == result.n_missing == (~near & true & 1).sum()
    assert result.n_reversed == (a & b.T).sum()
    classes = learned.cpdag().reordered(truth.nodes).adjacency(), truth.cpdag().adjacency()
    assert result.shd_cpdag == differing_pairs(*classes)
    for arc in result.missing:
        assert truth.has_arc(*arc)
        assert not set(arc) <= {*learned.neighbours_of(arc[0]), arc[0]}
    assert all(learned.has_arc(*arc) for arc in result.extra)
    assert all(truth.has_arc(*arc) and learned.has_arc(*arc[::-1]) for arc in result.reversed)
    assert result.hamming == result.n_missing + result.n_extra + 2 * result.n_reversed


@given(same_nodes(3, ("dag", "cpdag")))
def test_the_distances_are_metrics_within_a_kind(graphs):
    dags_only = all(isinstance(g, Dag) for g in graphs)
    if not dags_only:
        graphs = [g.cpdag() if isinstance(g, Dag) else g for g in graphs]
    one, two, three = graphs
    for name in ("shd", "hamming", "shd_cpdag"):

        def distance(x, y, name=name):
            return getattr(compare(x, y), name)

        assert distance(one, two) == distance(two, one) >= 0
        assert distance(one, three) <= distance(one, two) + distance(two, three)
        assert distance(one, one) == 0
    same = one.reordered(two.nodes) == two
    assert (compare(one, two).shd == 0) == same == (compare(one, two).hamming == 0)
    if dags_only:
        assert (compare(one, two).shd_cpdag == 0) == one.equivalent(two)


@given(same_nodes(2, ("dag", "cpdag")))
def test_the_rates_are_numbers_in_range_and_swap_with_the_sides(graphs):
    there, back = compare(*graphs), compare(*graphs[::-1])
    for kind in ("", "adjacency_"):
        precision, recall, f1 = (getattr(there, kind + name) for name in ("precision", "recall", "f1"))
        assert all(0 <= rate <= 1 for rate in (precision, recall, f1))
        assert precision == getattr(back, kind + "recall")
        assert f1 == getattr(back, kind + "f1")
        if precision + recall:
            assert f1 == pytest.approx(2 * precision * recall / (precision + recall))
        else:
            assert f1 == 0
    assert there.missing == tuple(back.extra) or set(map(frozenset, there.missing)) == set(
        map(frozenset, back.extra)
    )


def test_nothing_to_find_and_nothing_claimed():
    none, some = Dag.empty("ab"), Dag.from_arcs([("a", "b")])
    perfect = compare(none, none)
    assert (perfect.precision, perfect.recall, perfect.f1, perfect.arc_ratio) == (1, 1, 1, 1)
    silent = compare(none, some)
    assert (silent.precision, silent.recall, silent.f1, silent.arc_ratio) == (0, 0, 0, 0)
    invented = compare(some, none)
    assert (invented.precision, invented.recall, invented.f1) == (0, 0, 0)
    assert invented.arc_ratio == math.inf
    assert invented.to_dict()["arc_ratio"] is None


@given(same_nodes(2, ("dag", "cpdag")))
def test_a_pdag_makes_it_a_comparison_of_classes(graphs):
    learned, truth = graphs
    if isinstance(learned, Dag) and isinstance(truth, Dag):
        learned = learned.cpdag()
    result = compare(learned, truth)
    both = [g.cpdag() if isinstance(g, Dag) else g for g in (learned, truth)]
    assert result == compare(*both)
    assert result.shd == result.shd_cpdag
    assert result.true_positives == len(set(both[0].arcs()) & set(both[1].arcs()))
    assert result.false_positives == len(set(both[0].arcs()) - set(both[1].arcs()))
    matrices = both[0].reordered(both[1].nodes).adjacency(), both[1].adjacency()
    assert result.hamming == (matrices[0] != matrices[1]).sum()
    assert result.learned_arcs == both[0].n_edges


def test_equivalent_graphs_have_no_distance_between_their_classes():
    forward, backward = Dag.from_arcs([("a", "b")]), Dag.from_arcs([("b", "a")])
    result = compare(forward, backward)
    assert (result.shd, result.hamming, result.shd_cpdag) == (1, 2, 0)
    assert compare(forward.cpdag(), backward).shd == 0
    half = compare(Pdag.from_arcs([("a", "b")]), Pdag.from_arcs([], [("a", "b")]))
    assert (half.shd, half.hamming, half.false_positives, half.n_reversed) == (1, 1, 1, 1)
    assert half.reversed == (("a", "b"),)


@given(pdags())
def test_a_pdag_is_taken_as_it_is(pdag):
    assert compare(pdag, pdag).shd == compare(pdag, pdag).hamming == 0


def test_anything_with_a_dag_is_compared():
    network = SimpleNamespace(dag=LEARNED)
    assert compare(network, SimpleNamespace(dag=TRUTH)) == compare(LEARNED, TRUTH)


@pytest.mark.parametrize("odd", [None, "alarm", SimpleNamespace(dag=None)])
def test_what_is_not_a_graph_is_refused(odd):
    with pytest.raises(GraphError, match="learned is no graph: a graph is needed"):
        compare(odd, TRUTH)
    with pytest.raises(GraphError, match="truth is no graph: a graph is needed"):
        compare(TRUTH, odd)


def test_different_nodes_are_named():
    with pytest.raises(GraphError, match="only the learned graph has 'x' and only the truth has 'a', 'b'"):
        compare(Dag.empty(["x", "c"]), Dag.empty(["a", "b", "c"]))
    with pytest.raises(GraphError, match="only the truth has 'b'"):
        compare(Dag.empty(["a"]).cpdag(), Dag.empty(["a", "b"]))


def test_the_dictionary_is_json_with_every_measure():
    result = compare(LEARNED, TRUTH)
    record = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert record["missing"] == [["d", "e"]]
    assert record["reversed"] == [["a", "c"]]
    for name, value in record.items():
        if not isinstance(value, list):
            assert value == getattr(result, name)
    expected = {"precision", "recall", "f1", "adjacency_f1", "hamming", "shd", "shd_cpdag", "arc_ratio"}
    assert expected <= set(record)


@given(dags(min_nodes=2))
def test_labels_of_any_kind_reach_json(dag):
    record = compare(Dag.empty(dag.nodes), dag).to_dict()
    json.dumps(record, allow_nan=False)
    plain = [label for label in dag.nodes if label is None or isinstance(label, str | int | float)]
    for pair, arc in zip(record["missing"], compare(Dag.empty(dag.nodes), dag).missing, strict=True):
        assert all(a == b or b not in plain for a, b in zip(pair, arc, strict=True))


def test_numpy_labels_become_plain_numbers():
    nodes = tuple(np.arange(2))
    record = compare(Dag.empty(nodes), Dag(nodes, ((), (0,)))).to_dict()
    assert record["missing"] == [[0, 1]]
    json.dumps(record)


def test_printed_it_shows_the_rates_and_the_arcs_that_differ():
    assert str(compare(LEARNED, TRUTH)).splitlines() == [
        "Comparison: 4 arcs learned, 4 arcs true",
        "  SHD          3 (5 of the equivalence classes, Hamming 4)",
        "  arcs         precision 0.500  recall 0.500  F 0.500",
        "  adjacencies  precision 0.750  recall 0.750  F 0.750",
        "  missing      1: d -> e",
        "  extra        1: e -> f",
        "  reversed     1: a -> c",
    ]


def test_printed_undirected_edges_have_no_arrow():
    truth = Dag.from_arcs([("a", "b")], nodes="abc").cpdag()
    lines = str(compare(Dag.empty("abc").cpdag(), truth)).splitlines()
    assert "  missing      1: a - b" in lines
    assert lines[0] == "Comparison: 0 arcs learned, 1 arc true"
    turned = compare(Pdag.from_arcs([("a", "b")], nodes="abc"), truth)
    assert (turned.reversed, turned.undirected) == ((("a", "b"),), (("a", "b"),))
    directed = compare(truth, Pdag.from_arcs([("a", "b")], nodes="abc"))
    assert "  reversed     1: a -> b" in str(directed).splitlines()


def test_printed_long_lists_are_cut():
    truth = Dag(tuple(range(40)), ((), *((k,) for k in range(39))))
    text = str(compare(Dag.empty(range(40)), truth))
    assert "missing      39: 0 -> 1" in text
    assert "31 more" in text
    assert max(map(len, text.splitlines())) < 200
