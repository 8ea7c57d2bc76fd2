"""One graph in every form that `as_dag`, `score`, `fit` and `compare` take."""

from __future__ import annotations

from types import SimpleNamespace

import networkx
import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayescout as bs
from bayescout.errors import BayescoutError, GraphError, UnknownNameError
from bayescout.graph.accept import as_dag, as_graph
from bayescout.graph.dag import Dag
from bayescout.graph.pdag import Pdag

NAMES = ("a", "b", "c")
TRUTH = Dag(NAMES, ((), (0,), (0, 1)))
MATRIX = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]])
DIRECTED = networkx.DiGraph([("a", "b"), ("a", "c"), ("b", "c")])


class _Vertices(dict):
    def attributes(self):
        return list(self)


class FakeIgraph:
    """As much of an igraph.Graph as is looked at."""

    vs, es = _Vertices(name=list(NAMES)), ()

    def is_directed(self):
        return True

    def vcount(self):
        return 3

    def get_edgelist(self):
        return [(0, 1), (0, 2), (1, 2)]


class FakePyagrum:
    """As much of a BayesNet of pyAgrum as is looked at."""

    def dag(self):
        raise AssertionError

    def nodes(self):
        return {2, 0, 1}

    def names(self):
        return set(NAMES)

    def arcs(self):
        return {(1, 2), (0, 2), (0, 1)}

    def variable(self, number):
        return SimpleNamespace(name=lambda: NAMES[number])


FORMS = {
    "dag": TRUTH,
    "with a dag": SimpleNamespace(dag=TRUTH),
    "networkx": DIRECTED,
    "arcs": [("a", "b"), ("a", "c"), ("b", "c")],
    "set of arcs": {("a", "b"), ("a", "c"), ("b", "c")},
    "texts": ["a->b", "a -> c", "b->c"],
    "one text": "a->b, a->c, b->c",
    "modelstring": "[a][b|a][c|a:b]",
    "dot": TRUTH.to_dot(),
    "matrix": MATRIX,
    "rows": MATRIX.tolist(),
    "frame": pd.DataFrame(MATRIX, index=NAMES, columns=NAMES),
    "polars": pl.DataFrame(MATRIX, schema=list(NAMES)),
    "arcs in a frame": pd.DataFrame({"from": ["a", "a", "b"], "to": ["b", "c", "c"]}),
    "igraph": FakeIgraph(),
    "pyagrum": FakePyagrum(),
}


def data():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 200)
    b = np.where(rng.random(200) < 0.8, a, 1 - a)
    return pd.DataFrame({"a": a, "b": b, "c": a ^ b})


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_graph(form):
    assert as_dag(FORMS[form], NAMES) == TRUTH


@pytest.mark.parametrize("form", FORMS)
def test_scores_fits_and_comparisons_are_those_of_the_graph(form):
    frame = data()
    assert bs.score(FORMS[form], frame, "bic") == bs.score(TRUTH, frame, "bic")
    fitted = bs.fit(FORMS[form], frame, "laplace")
    assert fitted.dag == TRUTH
    other = Dag(NAMES, ((1,), (), (0,)))
    assert bs.compare(FORMS[form], other) == bs.compare(TRUTH, other)
    assert bs.compare(other, FORMS[form]) == bs.compare(other, TRUTH)


def test_arcs_are_over_all_columns_of_the_data():
    frame = data()
    assert bs.fit([("a", "b")], frame).dag == Dag(NAMES, ((), (0,), ()))
    assert bs.score([], frame, "bic") == bs.score(Dag.empty(NAMES), frame, "bic")


def test_two_lists_of_arcs_are_over_the_nodes_of_both():
    found = bs.compare([("a", "b")], ["b->c"])
    assert (found.true_positives, found.false_positives, found.false_negatives) == (0, 1, 1)
    assert bs.compare(MATRIX, MATRIX).shd_cpdag == 0


def test_a_matrix_with_undirected_edges():
    both = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert as_graph(both, NAMES) == Pdag.from_adjacency(both, NAMES)
    assert bs.compare(both, TRUTH) == bs.compare(Pdag.from_adjacency(both, NAMES), TRUTH)
    with pytest.raises(GraphError, match="undirected edges"):
        as_dag(both, NAMES)


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (3, "a graph is needed, as a Dag, .* not int"),
        (None, "not NoneType"),
        ({"a": "b"}, "not dict"),
        (b"[a]", "not bytes"),
        ("asia.bif", "not the text 'asia.bif'; bs.read_structure"),
        (["a-b"], "a text 'a->b', not 'a-b'"),
        (["a->b->c"], "a text 'a->b'"),
        ([("a",)], "an arc is a"),
        (MATRIX * 2, r"cell \[0, 1\] of the adjacency matrix is 2; it must be 0 or 1"),
        (MATRIX[:2], "must have shape"),
        (networkx.Graph([("a", "b")]), "undirected"),
        (pd.DataFrame(MATRIX, index=["c", "b", "a"], columns=NAMES), "same names"),
    ],
)
def test_what_is_no_graph_is_refused(graph, words):
    for call in (
        lambda: as_dag(graph, NAMES),
        lambda: bs.score(graph, data()),
        lambda: bs.fit(graph, data()),
    ):
        with pytest.raises(GraphError, match=words):
            call()
    with pytest.raises(BayescoutError):
        bs.compare(graph, TRUTH)


def test_a_name_that_is_no_column():
    with pytest.raises(UnknownNameError, match="'bb'"):
        bs.score([("a", "bb")], data())


def test_a_matrix_needs_names():
    with pytest.raises(GraphError, match="no names"):
        as_dag(MATRIX)
