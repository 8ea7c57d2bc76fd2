from itertools import pairwise, permutations

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.errors import GraphError
from bayescout.graph.dag import Dag
from tests.graph.drawn_graphs import dags


def by_permutations(dag, start, end, steps):
    """Every sequence of distinct nodes between two, each step of which is among the pairs."""
    inner = [node for node in dag.nodes if node not in (start, end)]
    return {
        path
        for size in range(len(inner) + 1)
        for middle in permutations(inner, size)
        for path in [(start, *middle, end)]
        if all(pair in steps for pair in pairwise(path))
    }


def is_active(dag, path, given):
    """By definition: every collider has an observed node at or below it, and no other node is observed."""
    for before, node, after in zip(path, path[1:], path[2:], strict=False):
        if dag.has_arc(before, node) and dag.has_arc(after, node):
            if given.isdisjoint({node, *dag.descendants(node)}):
                return False
        elif node in given:
            return False
    return True


@given(dags(min_nodes=2, max_nodes=5))
def test_paths_are_all_sequences_of_neighbours(dag):
    a, b = dag.nodes[:2]
    arcs = set(dag.arcs())
    both = arcs | {(child, parent) for parent, child in arcs}
    found = list(dag.paths(a, b))
    assert len(set(found)) == len(found)
    assert set(found) == by_permutations(dag, a, b, both)
    assert set(dag.paths(a, b, directed=True)) == by_permutations(dag, a, b, arcs)
    assert set(dag.paths(b, a, directed=True)) == by_permutations(dag, b, a, arcs)


@given(dags(min_nodes=2, max_nodes=5), st.data())
def test_active_paths_are_those_of_the_definition_and_none_where_separated(dag, data):
    a, b, *others = dag.nodes
    observed = data.draw(st.sets(st.sampled_from(others))) if others else set()
    found = list(dag.paths(a, b, given=observed))
    assert set(found) == {path for path in dag.paths(a, b) if is_active(dag, path, observed)}
    assert (not found) == dag.d_separated(a, b, observed)


def test_networkx_lists_the_same_paths_of_a_larger_graph():
    arcs = [(i, j) for i in range(9) for j in range(i + 1, 9) if (i * 7 + j * 3) % 4]
    dag = Dag.from_arcs(arcs, range(9))
    graph = dag.to_networkx()
    expected = set(map(tuple, networkx.all_simple_paths(graph, 0, 8)))
    assert len(expected) > 20
    assert set(dag.paths(0, 8, directed=True)) == expected
    assert set(dag.paths(0, 8)) == set(map(tuple, networkx.all_simple_paths(graph.to_undirected(), 0, 8)))


def test_paths_of_a_long_chain_and_the_first_of_very_many_are_found_at_once():
    chain = Dag.from_arcs([(i, i + 1) for i in range(5000)])
    assert list(chain.paths(0, 5000, directed=True)) == [tuple(range(5001))]
    dense = Dag.from_arcs([(i, j) for i in range(60) for j in range(i + 1, 60)])
    assert len(next(dense.paths(0, 59))) >= 2


def test_paths_with_no_sense_are_refused():
    dag = Dag.from_arcs([("a", "b"), ("b", "c")])
    with pytest.raises(GraphError, match="two ends"):
        dag.paths("a", "a")
    with pytest.raises(GraphError, match="among the given"):
        dag.paths("a", "c", given="a")
    with pytest.raises(GraphError, match="asked for apart"):
        dag.paths("a", "c", directed=True, given="b")


@given(dags())
def test_colliders_are_shielded_or_v_structures(dag):
    expected = {
        (a, child, b): dag.has_arc(a, b) or dag.has_arc(b, a)
        for child in dag.nodes
        for i, a in enumerate(dag.nodes)
        for b in dag.nodes[i + 1 :]
        if dag.has_arc(a, child) and dag.has_arc(b, child)
    }
    assert set(dag.shielded_colliders()) == {collider for collider, shielded in expected.items() if shielded}
    assert set(dag.v_structures()) == {collider for collider, shielded in expected.items() if not shielded}
