import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.errors import GraphError, UnknownNameError
from bayescout.graph.dag import Dag
from bayescout.graph.random import draw_parents
from bayescout.graph.separation import d_connected, requisite
from tests.graph.drawn_graphs import dags, parent_sets
from tests.reference import graphs as reference


def three_sets(rng, n):
    """Two sets that are not empty and a third, all disjoint."""
    role = rng.integers(0, 4, n)
    role[rng.permutation(n)[:2]] = (0, 1)
    return [set(np.flatnonzero(role == k).tolist()) for k in range(3)]


@pytest.mark.slow
def test_networkx_agrees_on_thousands_of_random_graphs():
    rng = np.random.default_rng(2024)
    separated = 0
    for _ in range(3000):
        n = int(rng.integers(2, 11))
        parents = draw_parents(rng, n, density=float(rng.uniform(0.05, 0.6)))
        left, right, given = three_sets(rng, n)
        dag = Dag(tuple(range(n)), parents)
        answer = dag.d_separated(left, right, given)
        assert answer == networkx.is_d_separator(dag.to_networkx(), left, right, given)
        separated += answer
    assert 300 < separated < 2700


@given(parent_sets(min_nodes=2, max_nodes=6), st.data())
def test_moralising_the_ancestral_graph_gives_the_same(parents, data):
    n = len(parents)
    roles = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    left, right, given = ({i for i, role in enumerate(roles) if role == k} for k in range(3))
    expected = reference.separated_by_moralising(reference.arcs_of(parents), left, right, given)
    assert Dag(tuple(range(n)), parents).d_separated(left, right, given) == expected


@given(parent_sets(min_nodes=2, max_nodes=5), st.data())
def test_blocked_trails_give_the_same_for_every_node_at_once(parents, data):
    n, arcs = len(parents), reference.arcs_of(parents)
    source = data.draw(st.integers(0, n - 1))
    given = data.draw(st.sets(st.integers(0, n - 1))) - {source}
    connected = d_connected(Dag(tuple(range(n)), parents), [source], given)
    for end in range(n):
        blocked = reference.separated_by_trails(n, arcs, source, end, given) or end in given
        assert connected[end] == (not blocked)


@given(parent_sets(min_nodes=2, max_nodes=6), st.data())
def test_what_is_observed_and_not_requisite_is_separated_by_the_rest(parents, data):
    n, dag = len(parents), Dag(tuple(range(len(parents))), parents)
    source = data.draw(st.integers(0, n - 1))
    seen = data.draw(st.permutations(sorted(data.draw(st.sets(st.integers(0, n - 1))) - {source})))
    used = requisite(dag, [source], seen)
    assert used == [node for node in seen if node in used]
    assert dag.d_separated([source], set(seen) - set(used), used)
    for node in used:
        assert not dag.d_separated([source], [node], set(seen) - {node})


@given(dags(min_nodes=2))
def test_a_node_is_separated_from_all_others_by_its_markov_blanket_and_by_nothing_smaller(dag):
    for node in dag.nodes:
        blanket = dag.markov_blanket(node)
        rest = [label for label in dag.nodes if label != node and label not in blanket]
        assert dag.d_separated([node], rest, list(blanket))
        for k, member in enumerate(blanket):
            assert not dag.d_separated([node], [member], [*blanket[:k], *blanket[k + 1 :]])


@given(dags(min_nodes=2))
def test_a_node_is_separated_from_its_non_descendants_by_its_parents(dag):
    for node in dag.nodes:
        near = {node, *dag.parents_of(node), *dag.descendants(node)}
        assert dag.d_separated([node], [o for o in dag.nodes if o not in near], list(dag.parents_of(node)))


def test_the_collider():
    dag = Dag.from_arcs([("x", "z"), ("y", "z"), ("z", "w")])
    assert dag.d_separated("x", "y")
    assert not dag.d_separated("x", "y", "z")
    assert not dag.d_separated("x", "y", "w")
    assert not dag.d_separated("x", "w")
    assert dag.d_separated("x", "w", "z")
    assert not dag.d_separated("x", ["y", "w"], ())


def test_a_label_may_itself_be_a_collection():
    pair = ("x", "y")
    dag = Dag.from_arcs([("x", pair), ("y", pair), (pair, frozenset({"x"}))])
    assert not dag.d_separated("x", pair)
    assert not dag.d_separated("x", "y", pair)
    assert not dag.d_separated("x", "y", frozenset({"x"}))
    assert dag.d_separated("x", frozenset({"x"}), [pair])
    plain = Dag.from_arcs([("x", "z"), ("y", "z")])
    assert not plain.d_separated(("x", "y"), "z")


def test_a_string_is_one_label_and_never_its_letters():
    dag = Dag.from_arcs([("a", "b"), ("c", "d")])
    with pytest.raises(UnknownNameError, match="unknown node 'ab'"):
        dag.d_separated("ab", "c")


@pytest.mark.parametrize("sets", [("x", "x", ()), (["x", "y"], "z", "x"), ("z", ["x", "y"], ["w", "y"])])
def test_overlapping_sets_are_refused_by_name(sets):
    dag = Dag.empty(["x", "y", "z", "w"])
    with pytest.raises(GraphError, match=r"must not overlap; '[xy]' is in more than one"):
        dag.d_separated(*sets)


def test_unknown_nodes_are_refused():
    dag = Dag.empty(["x", "y"])
    for call in (("x", "q"), ("q", "x"), ("x", "y", "q"), ("x", 3), ("x", [["y"]])):
        with pytest.raises(UnknownNameError, match="unknown node"):
            dag.d_separated(*call)


def test_nothing_is_separated_from_anything():
    dag = Dag.from_arcs([("x", "y")])
    assert dag.d_separated([], ["x", "y"])
    assert dag.d_separated("x", [])
