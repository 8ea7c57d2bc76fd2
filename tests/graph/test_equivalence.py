from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayescout.errors import CycleError, GraphError
from bayescout.graph.dag import Dag
from bayescout.graph.equivalence import meek, skeleton, v_structures
from bayescout.graph.pdag import Pdag
from bayescout.graph.random import random_dag
from tests.graph.drawn_graphs import dags, pdags
from tests.reference import graphs as reference
from tests.strategies import examples


def as_dag(n, arcs):
    return Dag(tuple(range(n)), tuple(tuple(p for p, c in arcs if c == child) for child in range(n)))


def as_pdag(n, union):
    directed, undirected = union
    return Pdag(tuple(range(n)), tuple(directed), tuple(tuple(edge) for edge in undirected))


@pytest.mark.parametrize(
    ("n", "graphs", "classes"), [(0, 1, 1), (1, 1, 1), (2, 3, 2), (3, 25, 11), (4, 543, 185)]
)
def test_every_small_graph_has_the_class_that_enumeration_gives(n, graphs, classes):
    members = reference.all_dags(n)
    assert len(members) == graphs
    groups = reference.equivalence_classes(members)
    assert len(groups) == classes
    found = set()
    for group in groups:
        expected = as_pdag(n, reference.union_graph(group))
        assert {as_dag(n, arcs).cpdag() for arcs in group} == {expected}
        assert reference.arcs_of(expected.to_dag().parents) in group
        assert meek(pattern(as_dag(n, group[0]))) == expected
        found.add(expected)
    assert len(found) == classes


@pytest.mark.slow
def test_every_graph_of_five_nodes_has_the_class_that_enumeration_gives():
    groups = reference.equivalence_classes(reference.all_dags(5))
    assert (sum(map(len, groups)), len(groups)) == (29281, 8782)
    for group in groups:
        expected = as_pdag(5, reference.union_graph(group))
        assert {as_dag(5, arcs).cpdag() for arcs in group} == {expected}
        assert reference.arcs_of(expected.to_dag().parents) in group


def pattern(dag):
    """The skeleton with only the v-structures directed."""
    directed = {arc for a, c, b in v_structures(dag.parents) for arc in ((a, c), (b, c))}
    rest = [(a, b) for a, b in skeleton(dag.parents) if (a, b) not in directed and (b, a) not in directed]
    return Pdag(dag.nodes, tuple(directed), tuple(rest))


@given(dags(max_nodes=7))
def test_the_cpdag_is_the_union_of_all_that_covered_reversals_reach(dag):
    members = reference.class_by_reversals(reference.arcs_of(dag.parents))
    expected = as_pdag(len(dag), reference.union_graph(members))
    completed = dag.cpdag()
    assert (completed.directed, completed.undirected) == (expected.directed, expected.undirected)
    assert completed.nodes == dag.nodes
    assert completed.is_cpdag()
    assert meek(pattern(dag)) == completed == meek(completed)


@given(dags(max_nodes=7))
def test_dag_to_cpdag_to_dag_is_stable(dag):
    completed = dag.cpdag()
    extension = completed.to_dag()
    assert extension.cpdag() == completed
    assert extension.equivalent(dag)
    assert extension.skeleton() == dag.skeleton()
    assert extension.v_structures() == dag.v_structures()
    assert extension.cpdag().to_dag() == extension


@pytest.mark.parametrize("seed", range(4))
def test_large_graphs_come_back_to_their_class(seed):
    dag = random_dag(300, arcs=(150, 400, 900, 2500)[seed], seed=seed)
    completed = dag.cpdag()
    assert completed.to_dag().cpdag() == completed == meek(pattern(dag))
    assert completed.undirected


@given(dags(min_nodes=2))
def test_reversing_an_arc_stays_in_the_class_exactly_when_it_is_covered(dag):
    covered = dag.covered_arcs()
    for parent, child in dag.arcs():
        assert dag.is_covered(parent, child) == ((parent, child) in covered)
        if (parent, child) in covered:
            turned = dag.reverse_covered(parent, child)
            assert turned.has_arc(child, parent)
            assert turned.equivalent(dag)
            assert turned.cpdag() == dag.cpdag()
            assert turned.reverse_covered(child, parent) == dag
            assert dag.cpdag().reversible(parent, child)
            continue
        with pytest.raises(GraphError, match="is not covered"):
            dag.reverse_covered(parent, child)
        try:
            turned = dag.reverse(parent, child)
        except CycleError:
            continue
        assert not turned.equivalent(dag)
        assert turned.cpdag() != dag.cpdag()


@given(dags(min_nodes=3, max_nodes=4, labels=lambda n: st.just("abcd"[:n])), st.data())
def test_equivalent_graphs_are_those_with_the_same_separations(dag, data):
    other = data.draw(dags(len(dag), len(dag), labels=lambda n: st.permutations("abcd"[:n])))
    assert dag.equivalent(other) == (separations(dag) == separations(other)) == other.equivalent(dag)


def separations(dag):
    names = sorted(dag.nodes)
    rest = {(a, b): [c for c in names if c not in (a, b)] for a in names for b in names if a < b}
    return {
        (a, b, *given)
        for (a, b), others in rest.items()
        for bits in range(2 ** len(others))
        for given in [[c for k, c in enumerate(others) if bits >> k & 1]]
        if dag.d_separated(a, b, given)
    }


def test_equivalence_needs_the_same_nodes():
    with pytest.raises(GraphError, match=r"only the other graph has 'c' and only this one has 'b'"):
        Dag.empty(["a", "b"]).equivalent(Dag.empty(["c", "a"]))


@given(dags())
def test_skeleton_v_structures_and_moral_graph_by_definition(dag):
    arcs = reference.arcs_of(dag.parents)
    place = dag.index
    bones = {frozenset((place(a), place(b))) for a, b in dag.skeleton()}
    assert bones == reference.skeleton(arcs)
    found = {(frozenset((place(a), place(b))), place(c)) for a, c, b in dag.v_structures()}
    assert found == reference.v_structures(arcs)
    assert len(found) == len(dag.v_structures())
    wed = {frozenset((a, b)) for a, c in arcs for b, d in arcs if c == d and a != b}
    assert {frozenset((place(a), place(b))) for a, b in dag.moral()} == bones | wed
    for pairs in (dag.skeleton(), dag.moral()):
        assert [(place(a), place(b)) for a, b in pairs] == sorted((place(a), place(b)) for a, b in pairs)
        assert all(place(a) < place(b) for a, b in pairs)


# ---- extensions and Meek's rules


@given(pdags())
def test_an_extension_is_found_exactly_when_one_exists(pdag):
    possible = reference.extensions(len(pdag), frozenset(pdag.directed), pdag.undirected)
    if not possible:
        with pytest.raises(GraphError, match="no DAG extends this graph"):
            pdag.to_dag()
        assert not pdag.is_cpdag()
        assert keeps_colliders(pdag)
        return
    extension = reference.arcs_of(pdag.to_dag().parents)
    assert extension in possible
    union = as_pdag(len(pdag), reference.union_graph(possible))
    closed = meek(pdag)
    assert (closed.directed, closed.undirected) == (union.directed, union.undirected)
    completed = pdag.to_dag().cpdag()
    assert pdag.is_cpdag() == (pdag == completed)


def keeps_colliders(pdag):
    """Meek's rules refuse the graph, or direct it without a new unshielded collider."""
    try:
        closed = meek(pdag)
    except GraphError:
        return True
    return colliders(closed) == colliders(pdag)


def colliders(pdag):
    bones = {frozenset(edge) for edge in (*pdag.directed, *pdag.undirected)}
    pairs = [(a, b, c) for a, c in pdag.directed for b, d in pdag.directed if c == d and a < b]
    return {(a, b, c) for a, b, c in pairs if frozenset((a, b)) not in bones}


def test_meek_settles_every_class_of_four_nodes_under_all_knowledge():
    for group in reference.equivalence_classes(reference.all_dags(4)):
        completed = as_dag(4, group[0]).cpdag()
        for truth, size in product(group, range(len(completed.undirected) + 1)):
            for told in combinations(completed.undirected, size):
                known = {edge if edge in truth else edge[::-1] for edge in told}
                expected = as_pdag(4, reference.union_graph(m for m in group if known <= m))
                left = tuple(e for e in completed.undirected if e not in told)
                assert meek(Pdag(completed.nodes, (*completed.directed, *known), left)) == expected


@settings(max_examples=examples(300))
@given(dags(min_nodes=3, max_nodes=6), st.data())
def test_meek_directs_all_that_background_knowledge_settles(dag, data):
    """Meek (1995), theorem 4: sound and complete, so equal to the union of the members that agree."""
    completed = dag.cpdag()
    true = reference.arcs_of(dag.parents)
    told = {e for e in completed.undirected if data.draw(st.booleans())}
    known = {edge if edge in true else edge[::-1] for edge in told}
    members = [m for m in reference.class_by_reversals(true) if known <= m]
    expected = as_pdag(len(dag), reference.union_graph(members))
    left = tuple(e for e in completed.undirected if e not in told)
    closed = meek(Pdag(dag.nodes, (*completed.directed, *known), left))
    assert (closed.directed, closed.undirected) == (expected.directed, expected.undirected)


@pytest.mark.parametrize(
    ("directed", "undirected", "forced"),
    [
        (["ca"], ["ab"], "ab"),
        (["ac", "cb"], ["ab"], "ab"),
        (["cb", "db"], ["ab", "ac", "ad"], "ab"),
        (["cd", "db"], ["ab", "ac", "ad"], "ab"),
    ],
    ids=["rule 1", "rule 2", "rule 3", "rule 4"],
)
def test_each_rule_of_meek_alone(directed, undirected, forced):
    pdag = Pdag.from_arcs([*map(tuple, directed)], [*map(tuple, undirected)])
    closed = meek(pdag)
    assert closed.compelled(*forced)
    assert set(closed.arcs()) == {*pdag.arcs(), tuple(forced)}


def test_an_arc_found_late_calls_rule_four_back_to_an_edge_it_does_not_touch():
    """x -> c directs c -> d (rule 1); only then a - c -> d -> b directs a -> b, looked at before."""
    edges = ["ab", "ac", "ad", "ax", "cd"]
    pdag = Pdag.from_arcs([("x", "c"), ("d", "b")], [*map(tuple, edges)], "abcdx")
    members = reference.extensions(5, frozenset(pdag.directed), pdag.undirected)
    directed, undirected = reference.union_graph(members)
    closed = meek(pdag)
    assert closed.compelled("a", "b")
    assert set(closed.directed) == directed
    assert {frozenset(edge) for edge in closed.undirected} == undirected


def test_rules_chain_along_a_path_from_either_end():
    edges = [(k, k + 1) for k in range(2000)]
    forward = meek(Pdag.from_arcs(edges[:1], edges[1:], range(2001)))
    backward = meek(Pdag.from_arcs([edges[-1][::-1]], edges[:-1], range(2001)))
    assert list(forward.arcs()) == edges
    assert set(backward.arcs()) == {edge[::-1] for edge in edges}


def test_contradictions_are_refused_never_repaired():
    square = Pdag.from_arcs([], [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    with pytest.raises(GraphError, match="'a', 'b', 'c', 'd' cannot be oriented"):
        square.to_dag()
    clash = Pdag.from_arcs([("a", "b"), ("d", "c")], [("b", "c")])
    with pytest.raises(GraphError, match="no DAG extends"):
        clash.to_dag()
    with pytest.raises(GraphError, match="contradict each other: 'b', 'c' are joined"):
        meek(clash)
    far = Pdag.from_arcs([("a", "b"), ("e", "d")], [("b", "c"), ("c", "d")])
    with pytest.raises(GraphError, match="contradict each other"):
        meek(far)


def test_ties_go_to_the_lowest_sink():
    path = Pdag.from_arcs([], [("a", "b"), ("b", "c")])
    assert list(path.to_dag().arcs()) == [("b", "a"), ("c", "b")]
