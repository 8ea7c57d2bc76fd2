import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.errors import BayescoutError, CycleError, GraphError
from bayescout.graph.dag import Dag
from bayescout.graph.pdag import Pdag
from tests.graph.drawn_graphs import dags, pdags

MIXED = Pdag.from_arcs([("a", "c"), ("b", "c")], [("d", "c")], nodes=["a", "b", "c", "d", "e"])


def test_arcs_and_edges_come_back_by_label():
    assert MIXED.directed == ((0, 2), (1, 2))
    assert MIXED.undirected == ((2, 3),)
    assert list(MIXED.arcs()) == [("a", "c"), ("b", "c")]
    assert list(MIXED.edges()) == [("c", "d")]
    assert (len(MIXED), MIXED.n_edges) == (5, 3)


def test_compelled_and_reversible():
    assert MIXED.compelled("a", "c")
    assert not MIXED.compelled("c", "a")
    assert not MIXED.compelled("c", "d")
    assert not MIXED.reversible("a", "c")
    assert MIXED.reversible("c", "d")
    assert MIXED.reversible("d", "c")
    assert not MIXED.reversible("a", "e")
    with pytest.raises(BayescoutError, match="unknown node 'z'"):
        MIXED.compelled("a", "z")


def test_nodes_come_in_order_of_appearance():
    assert Pdag.from_arcs([("b", "a")], [("c", "b")]).nodes == ("b", "a", "c")


def test_the_order_and_direction_in_which_edges_are_given_do_not_matter():
    one = Pdag(("a", "b", "c"), ((0, 1),), ((2, 1),))
    assert one == Pdag(["a", "b", "c"], [(0, 1)], [(1, 2)])
    assert hash(one) == hash(Pdag(["a", "b", "c"], [(0, 1)], [(1, 2)]))
    assert one != Pdag(("a", "b", "c"), ((1, 0),), ((1, 2),))
    assert one != Pdag(("a", "b", "c"), ((0, 1), (1, 2)))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Pdag("ab", [(0, 1), (0, 1)]), "joined more than once"),
        (lambda: Pdag("ab", [(0, 1), (1, 0)]), "joined more than once"),
        (lambda: Pdag("ab", [(0, 1)], [(1, 0)]), "joined more than once"),
        (lambda: Pdag("ab", [], [(0, 1), (1, 0)]), "'a' and 'b' are joined more than once"),
        (lambda: Pdag("ab", [(0, 0)]), "'a' is joined to itself"),
        (lambda: Pdag("ab", [], [(1, 1)]), "'b' is joined to itself"),
        (lambda: Pdag("ab", [(0, 2)]), r"outside 0\.\.1"),
        (lambda: Pdag("ab", [(-1, 0)]), r"outside 0\.\.1"),
        (lambda: Pdag("ab", [("a", "b")]), "from_arcs takes labels"),
        (lambda: Pdag("ab", [(0.0, 1.0)]), "pair of node indices"),
        (lambda: Pdag("aa"), "'a' occurs more than once"),
        (lambda: Pdag.from_arcs([("a", "b")], [("c", "d")], ["a", "b", "c"]), "unknown node 'd'"),
        (lambda: Pdag.from_arcs([], [{"c", "d"}]), "pair of labels"),
        (lambda: Pdag.from_arcs([], {("c", "d")}), "a set of arcs has no order"),
        (lambda: MIXED.reordered(["a"]), "every node of the graph once"),
    ],
)
def test_conflicting_edges_are_refused(build, message):
    with (
        pytest.raises(GraphError, match=message)
        if "unknown" not in message
        else pytest.raises(BayescoutError, match=message)
    ):
        build()


def test_a_directed_cycle_is_refused_and_one_through_an_undirected_edge_is_not():
    with pytest.raises(CycleError, match="a -> b -> c -> a"):
        Pdag.from_arcs([("a", "b"), ("b", "c"), ("c", "a")])
    half = Pdag.from_arcs([("a", "b"), ("b", "c")], [("c", "a")])
    assert not half.is_cpdag()
    assert list(half.to_dag().arcs()) == [("a", "b"), ("a", "c"), ("b", "c")]


@given(dags())
def test_a_dag_is_a_cpdag_only_when_all_its_arcs_are_compelled(dag):
    as_pdag = Pdag.from_arcs(dag.arcs(), nodes=dag.nodes)
    assert as_pdag.to_dag() == dag
    assert as_pdag.is_cpdag() == (not dag.covered_arcs())


@given(pdags(), st.data())
def test_reordering_and_pickling_keep_the_graph(pdag, data):
    nodes = data.draw(st.permutations(pdag.nodes))
    moved = pdag.reordered(nodes)
    assert moved.nodes == tuple(nodes)
    assert set(moved.arcs()) == set(pdag.arcs())
    assert {frozenset(e) for e in moved.edges()} == {frozenset(e) for e in pdag.edges()}
    assert moved.reordered(pdag.nodes) == pdag == pickle.loads(pickle.dumps(pdag))


def test_the_class_of_a_reordered_graph_is_the_reordered_class():
    dag = Dag.from_arcs([("a", "b"), ("c", "b"), ("b", "d"), ("e", "f")])
    nodes = ["f", "d", "b", "e", "a", "c"]
    assert dag.reordered(nodes).cpdag() == dag.cpdag().reordered(nodes)


def test_the_repr_is_one_short_line():
    assert repr(MIXED) == "<Pdag: 5 nodes, 2 directed, 1 undirected: a -> c, b -> c, c - d>"
    assert repr(Pdag(())) == "<Pdag: 0 nodes, 0 directed, 0 undirected>"
