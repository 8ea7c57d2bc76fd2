import string
import sys

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.errors import BayescoutError, CycleError, FormatError, GraphError, MissingExtraError
from bayescout.graph.accept import as_dag, as_graph
from bayescout.graph.dag import Dag
from bayescout.graph.pdag import Pdag
from tests.graph.drawn_graphs import dags, pdags

# ---- adjacency matrices


def test_a_row_is_a_parent_and_a_column_a_child():
    dag = Dag.from_arcs([("a", "b"), ("a", "c")])
    matrix = dag.adjacency()
    assert matrix.dtype == np.int8
    assert matrix.tolist() == [[0, 1, 1], [0, 0, 0], [0, 0, 0]]
    mixed = Pdag.from_arcs([("a", "b")], [("c", "b")], ["a", "b", "c"]).adjacency()
    assert mixed.dtype == np.int8
    assert mixed.tolist() == [[0, 1, 0], [0, 0, 1], [0, 1, 0]]


@given(dags())
def test_adjacency_round_trip(dag):
    matrix = dag.adjacency()
    for form in (matrix, matrix.astype(bool), matrix.astype(float), matrix.tolist()):
        assert Dag.from_adjacency(form, dag.nodes) == dag
    assert all(
        matrix[i, j] == dag.has_arc(a, b) for i, a in enumerate(dag.nodes) for j, b in enumerate(dag.nodes)
    )


@given(pdags())
def test_adjacency_round_trip_of_a_pdag(pdag):
    assert Pdag.from_adjacency(pdag.adjacency(), pdag.nodes) == pdag


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1]], r"must have shape \(2, 2\), not \(1, 2\)"),
        ([[0, 1, 0], [0, 0, 0], [0, 0, 0]], r"must have shape \(2, 2\)"),
        ([[0, 1], [0]], "rows of the same length"),
        ([[0, 2], [0, 0]], r"cell \[0, 1\] .* must be 0 or 1"),
        ([[0, 0.5], [0, 0]], r"cell \[0, 1\]"),
        ([[0, float("nan")], [0, 0]], r"cell \[0, 1\]"),
        ([["0", "1"], ["0", "0"]], r"cell \[0, 0\]"),
        ([[0, -1], [0, 0]], r"cell \[0, 1\]"),
        (None, r"must have shape \(2, 2\)"),
    ],
)
@pytest.mark.parametrize("kind", [Dag, Pdag])
def test_a_matrix_that_is_not_an_adjacency_is_refused(kind, matrix, message):
    with pytest.raises(GraphError, match=message):
        kind.from_adjacency(matrix, ["a", "b"])


def test_a_matrix_with_a_cycle_is_refused():
    with pytest.raises(CycleError):
        Dag.from_adjacency([[0, 1], [1, 0]], "ab")
    with pytest.raises(CycleError):
        Dag.from_adjacency([[1, 0], [0, 0]], "ab")
    with pytest.raises(GraphError, match="joined to itself"):
        Pdag.from_adjacency([[1, 0], [0, 0]], "ab")


# ---- networkx


def in_networkx(graph):
    """The graph in networkx; None if a node is labelled None, which is refused."""
    if None not in graph.nodes:
        return graph.to_networkx()
    with pytest.raises(GraphError, match="labelled None"):
        graph.to_networkx()
    return None


@given(dags())
def test_networkx_round_trip(dag):
    graph = in_networkx(dag)
    if graph is None:
        return
    assert networkx.is_directed_acyclic_graph(graph)
    assert tuple(graph.nodes) == dag.nodes
    assert set(graph.edges) == set(dag.arcs())
    assert Dag.from_networkx(graph) == dag


@given(pdags())
def test_networkx_holds_undirected_edges_as_arcs_both_ways(pdag):
    graph = in_networkx(pdag)
    if graph is None:
        return
    assert tuple(graph.nodes) == pdag.nodes
    assert set(graph.edges) == {*pdag.arcs(), *pdag.edges(), *((b, a) for a, b in pdag.edges())}
    assert np.array_equal(networkx.to_numpy_array(graph), pdag.adjacency())
    assert Pdag.from_networkx(graph) == pdag
    assert as_graph(graph) == (pdag if pdag.undirected else Dag.from_arcs(pdag.arcs(), pdag.nodes))


def test_what_is_not_a_pdag_in_networkx_is_refused():
    with pytest.raises(GraphError, match="is undirected"):
        Pdag.from_networkx(networkx.path_graph(3))
    with pytest.raises(CycleError):
        Pdag.from_networkx(networkx.cycle_graph(3, create_using=networkx.DiGraph))
    with pytest.raises(GraphError, match="joined to itself"):
        Pdag.from_networkx(networkx.DiGraph([("a", "a")]))
    with pytest.raises(GraphError, match="this one has undirected edges"):
        as_dag(networkx.DiGraph([("a", "b"), ("b", "a")]))
    parallel = networkx.MultiDiGraph([("a", "b"), ("a", "b"), ("b", "c"), ("c", "b"), ("c", "b")])
    assert Pdag.from_networkx(parallel) == Pdag.from_arcs([("a", "b")], [("b", "c")])


def test_what_is_not_a_directed_acyclic_networkx_graph_is_refused():
    with pytest.raises(GraphError, match="is undirected"):
        Dag.from_networkx(networkx.path_graph(3))
    with pytest.raises(CycleError):
        Dag.from_networkx(networkx.cycle_graph(3, create_using=networkx.DiGraph))
    with pytest.raises(GraphError, match="not a dict"):
        Dag.from_networkx({"a": ["b"]})


def test_parallel_arcs_are_one_arc():
    graph = networkx.MultiDiGraph([("a", "b"), ("a", "b"), ("b", "c")])
    assert list(Dag.from_networkx(graph).arcs()) == [("a", "b"), ("b", "c")]


def test_without_networkx_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match="needs networkx"):
        Dag.empty("ab").to_networkx()


# ---- modelstrings

NAMES = st.text(st.characters(exclude_characters="[]|:", exclude_categories=["Cs"]), min_size=1, max_size=6)


def test_a_modelstring_lists_parents_before_children():
    dag = Dag.from_arcs([("B", "A"), ("C", "A"), ("B", "C")], nodes=["A", "B", "C", "D"])
    assert dag.to_modelstring() == "[B][C|B][A|B:C][D]"


def test_nodes_are_read_in_order_of_appearance_and_parents_may_come_later():
    dag = Dag.from_modelstring("[C|A:B][A]\n [B|A] ")
    assert dag.nodes == ("C", "A", "B")
    assert set(dag.arcs()) == {("A", "C"), ("B", "C"), ("A", "B")}
    assert Dag.from_modelstring("") == Dag.empty([])


@given(dags(max_nodes=7, labels=lambda n: st.lists(NAMES, min_size=n, max_size=n, unique=True)))
def test_modelstring_round_trip(dag):
    text = dag.to_modelstring()
    back = Dag.from_modelstring(text)
    assert back.nodes == dag.order()
    assert back.reordered(dag.nodes) == dag
    assert set(Dag.from_modelstring(back.to_modelstring()).arcs()) == set(dag.arcs())


@pytest.mark.parametrize("label", ["a[", "a]", "a|b", "a:b", "", 3, ("a",), None])
def test_a_name_that_cannot_be_written_is_refused(label):
    with pytest.raises(GraphError, match="modelstring"):
        Dag.empty(["fine", label]).to_modelstring()


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("A", 1, "expected"),
        ("[A", 1, "expected"),
        ("[A]x[B]", 4, "found 'x"),
        ("[A][", 4, "expected"),
        ("[A][]", 4, "expected"),
        ("[A][B|A][C||A]", 9, "expected"),
        ("[A][B[C]]", 4, "expected"),
        ("[A:B]", 1, "expected"),
        ("[A]]", 4, "expected"),
        ("[A] [A]", 5, "'A' is declared more than once"),
        ("[A][B|]", 4, "empty parent name"),
        ("[A][B|A:]", 4, "empty parent name"),
        ("[A][B|A:A]", 4, "parent 'A' more than once"),
        ("[A][B|Q]", 4, "parent 'Q' of 'B' is not declared"),
        ("[A][B| A]", 4, "parent ' A' of 'B' is not declared"),
    ],
)
def test_a_broken_modelstring_says_where(text, place, message):
    with pytest.raises(FormatError, match=f"^modelstring, character {place}: .*{message}"):
        Dag.from_modelstring(text)


def test_a_cyclic_modelstring_names_the_cycle():
    with pytest.raises(CycleError, match=r"A -> B -> A|B -> A -> B"):
        Dag.from_modelstring("[A|B][B|A]")
    with pytest.raises(CycleError):
        Dag.from_modelstring("[A|A]")


@pytest.mark.parametrize("text", [None, 3, b"[A]", ["[A]"]])
def test_a_modelstring_is_text(text):
    with pytest.raises(FormatError, match="is text"):
        Dag.from_modelstring(text)


@given(st.text(st.sampled_from("[]|: AB\n" + string.punctuation[:2]), max_size=14))
def test_any_text_is_a_graph_or_a_clear_error(text):
    try:
        dag = Dag.from_modelstring(text)
    except BayescoutError:
        return
    assert Dag.from_modelstring(dag.to_modelstring()).reordered(dag.nodes) == dag
