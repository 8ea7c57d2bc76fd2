import copy
import pickle
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.errors import BayescoutError, CycleError
from bayescout.graph.dag import Dag
from bayescout.graph.orders import peel_roots
from tests.graph.drawn_graphs import dags
from tests.reference import graphs as reference

ASIA = Dag.from_arcs(
    [
        ("asia", "tub"),
        ("smoke", "lung"),
        ("smoke", "bronc"),
        ("tub", "either"),
        ("lung", "either"),
        ("either", "xray"),
        ("either", "dysp"),
        ("bronc", "dysp"),
    ],
    nodes=["asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"],
)


def test_the_neighbourhood_of_a_node_of_asia():
    assert ASIA.parents_of("either") == ("tub", "lung")
    assert ASIA.children_of("either") == ("xray", "dysp")
    assert ASIA.neighbours_of("either") == ("tub", "lung", "xray", "dysp")
    assert ASIA.spouses_of("either") == ("bronc",)
    assert ASIA.markov_blanket("either") == ("tub", "lung", "bronc", "xray", "dysp")
    assert ASIA.ancestors("either") == ("asia", "tub", "smoke", "lung")
    assert ASIA.descendants("smoke") == ("lung", "bronc", "either", "xray", "dysp")
    assert ASIA.v_structures() == (("tub", "either", "lung"), ("bronc", "dysp", "either"))


def test_a_spouse_may_be_adjacent_too():
    dag = Dag.from_arcs([("a", "b"), ("a", "c"), ("b", "c")])
    assert dag.spouses_of("a") == ("b",)
    assert dag.spouses_of("c") == ()


@given(dags())
def test_neighbourhoods_follow_their_definitions(dag):
    arcs = set(dag.arcs())
    for node in dag.nodes:
        parents = {a for a, b in arcs if b == node}
        children = {b for a, b in arcs if a == node}
        spouses = {a for a, b in arcs if b in children} - {node}
        named = {
            dag.parents_of(node): parents,
            dag.children_of(node): children,
            dag.neighbours_of(node): parents | children,
            dag.spouses_of(node): spouses,
            dag.markov_blanket(node): parents | children | spouses,
        }
        for answer, expected in named.items():
            assert set(answer) == expected
            assert list(answer) == [label for label in dag.nodes if label in expected]


@given(dags())
def test_ancestors_descendants_and_paths_agree_with_the_recursive_definition(dag):
    arcs = reference.arcs_of(dag.parents)
    for i, node in enumerate(dag.nodes):
        up = reference.ancestors(arcs, i)
        assert dag.ancestors(node) == tuple(dag.nodes[k] for k in sorted(up))
        for k, other in enumerate(dag.nodes):
            assert dag.has_path(other, node) == (k in up) == (node in dag.descendants(other))


@given(dags(max_nodes=5))
def test_the_order_puts_parents_first_and_prefers_low_indices(dag):
    arcs = reference.arcs_of(dag.parents)
    assert dag.order_indices == min(reference.linear_orders(len(dag), arcs))


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.tuples(st.just(n), st.sets(st.tuples(*[st.integers(0, n - 1)] * 2)))
    )
)
def test_a_graph_is_legal_exactly_when_no_power_of_its_matrix_returns(case):
    n, arcs = case
    parents = [[p for p, c in sorted(arcs) if c == child] for child in range(n)]
    legal = reference.is_acyclic(n, frozenset(arcs))
    assert (len(peel_roots(parents)) == n) == legal
    if legal:
        Dag(tuple(range(n)), parents)
        return
    with pytest.raises(CycleError) as caught:
        Dag(tuple(range(n)), parents)
    cycle = caught.value.cycle
    assert cycle[0] == cycle[-1]
    assert len(set(cycle)) == len(cycle) - 1
    assert all(step in arcs for step in pairwise(cycle))


def test_a_long_cycle_is_found_quickly():
    n = 20_000
    with pytest.raises(CycleError) as caught:
        Dag(tuple(range(n)), tuple(((k - 1) % n,) for k in range(n)))
    assert len(caught.value.cycle) == n + 1


# ---- changes


def test_arcs_are_added_removed_and_reversed_in_new_graphs():
    dag = Dag.from_arcs([("a", "b"), ("b", "c")])
    assert list(dag.add_arc("a", "c").arcs()) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert list(dag.remove_arc("a", "b").arcs()) == [("b", "c")]
    assert list(dag.reverse("a", "b").arcs()) == [("b", "a"), ("b", "c")]
    assert list(dag.with_parents("c", ["a"]).arcs()) == [("a", "b"), ("a", "c")]
    assert list(dag.arcs()) == [("a", "b"), ("b", "c")]
    assert dag.remove_arc("b", "c").nodes == ("a", "b", "c")


def test_a_change_that_closes_a_cycle_names_it():
    dag = Dag.from_arcs([("a", "b"), ("b", "c"), ("a", "c")])
    with pytest.raises(CycleError, match=r"with a -> c reversed has a directed cycle: .*; remove") as caught:
        dag.reverse("a", "c")
    assert {*pairwise(caught.value.cycle)} == {
        ("a", "b"),
        ("b", "c"),
        ("c", "a"),
    }
    with pytest.raises(CycleError, match="the graph with c -> a has"):
        dag.add_arc("c", "a")
    with pytest.raises(CycleError):
        dag.add_arc("a", "a")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.add_arc("asia", "tub"), "an arc asia -> tub already"),
        (lambda d: d.remove_arc("tub", "asia"), "no arc tub -> asia"),
        (lambda d: d.reverse("tub", "asia"), "no arc tub -> asia"),
        (lambda d: d.is_covered("tub", "asia"), "no arc tub -> asia"),
        (lambda d: d.reverse_covered("tub", "either"), "tub -> either is not covered"),
        (lambda d: d.parents_of("tubb"), "did you mean 'tub'"),
        (lambda d: d.parents_of(["tub"]), "unknown node"),
        (lambda d: d.reordered(["asia", "tub"]), "every node of the graph once"),
    ],
)
def test_an_impossible_change_or_an_unknown_name_is_refused(change, message):
    with pytest.raises(BayescoutError, match=message):
        change(ASIA)


@given(dags(min_nodes=1), st.data())
def test_add_and_remove_undo_each_other(dag, data):
    parent, child = (data.draw(st.sampled_from(dag.nodes)) for _ in range(2))
    if dag.has_arc(parent, child):
        less = dag.remove_arc(parent, child)
        assert set(less.arcs()) == set(dag.arcs()) - {(parent, child)}
        assert less.add_arc(parent, child) == dag
    elif parent == child or dag.has_path(child, parent):
        with pytest.raises(CycleError):
            dag.add_arc(parent, child)
    else:
        assert dag.add_arc(parent, child).remove_arc(parent, child) == dag


@given(dags(), st.data())
def test_reordering_keeps_the_arcs(dag, data):
    nodes = data.draw(st.permutations(dag.nodes))
    moved = dag.reordered(nodes)
    assert moved.nodes == tuple(nodes)
    assert set(moved.arcs()) == set(dag.arcs())
    assert moved.reordered(dag.nodes) == dag


# ---- construction


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Dag.from_arcs(["ab"]), "pair of labels, not 'ab'"),
        (lambda: Dag.from_arcs([{"a", "b"}]), "pair of labels"),
        (lambda: Dag.from_arcs([("a", "b", "c")]), "pair of labels"),
        (lambda: Dag.from_arcs([("a", ["b"])]), "pair of labels"),
        (lambda: Dag.from_arcs([3]), "pair of labels, not 3"),
        (lambda: Dag.from_arcs({("a", "b")}), "a set of arcs has no order"),
        (lambda: Dag.from_arcs([("a", "b")], {"a", "b"}), "have an order"),
        (lambda: Dag.from_arcs([("a", "b")], ["a"]), "unknown node 'b' in arc a -> b"),
        (lambda: Dag.empty(["a", "a"]), "'a' occurs more than once"),
        (lambda: Dag.empty([["a"]]), r"node \['a'\] cannot be a label"),
        (lambda: Dag(("a", "b"), ((), (0.5,))), "node indices"),
        (lambda: Dag(("a", "b"), ((), ("a",))), "from_arcs takes labels"),
        (lambda: Dag(("a", "b"), ((), (2,))), r"outside 0\.\.1"),
        (lambda: Dag(("a", "b"), ((), (-1,))), r"outside 0\.\.1"),
        (lambda: Dag(("a", "b"), ((),)), "2 nodes but 1 parent sets"),
    ],
)
def test_what_is_not_a_graph_is_refused(build, message):
    with pytest.raises(BayescoutError, match=message):
        build()


def test_arcs_may_come_in_any_container_that_has_an_order_or_with_nodes():
    expected = Dag(("a", "b"), ((), (0,)))
    assert Dag.from_arcs([["a", "b"]]) == expected
    assert Dag.from_arcs(iter([("a", "b"), ("a", "b")])) == expected
    assert Dag.from_arcs({("a", "b")}, ["a", "b"]) == expected
    assert Dag(["a", "b"], [[], {0}]) == expected


@given(dags())
def test_a_graph_survives_copying_hashing_and_pickling(dag):
    _ = dag.children, dag.order_indices
    twin = pickle.loads(pickle.dumps(dag))
    assert twin == dag == copy.deepcopy(dag)
    assert hash(twin) == hash(dag)


def test_the_repr_is_one_short_line():
    assert repr(Dag.from_arcs([("a", "b"), ("b", "c")])) == "<Dag: 3 nodes, 2 arcs: a -> b, b -> c>"
    assert repr(Dag.empty("ab")) == "<Dag: 2 nodes, 0 arcs>"
    assert repr(Dag.empty("a")) == "<Dag: 1 node, 0 arcs>"
    assert repr(Dag.from_arcs([("a", "b")])) == "<Dag: 2 nodes, 1 arc: a -> b>"
    large = Dag(tuple(range(500)), ((), *((k,) for k in range(499))))
    assert str(large).endswith("7 -> 8, ... 491 more>")
    assert len(str(large)) < 200


def test_graphs_load_neither_networkx_nor_a_compiler():
    code = (
        "import sys; import bayescout.graph.compare, bayescout.graph.random, bayescout.graph.convert; "
        "sys.exit(bool({'networkx', 'numba', 'scipy', 'polars'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_public_methods_say_what_they_do():
    from bayescout.graph.compare import Comparison
    from bayescout.graph.pdag import Pdag

    for kind in (Dag, Pdag, Comparison):
        silent = [
            name
            for name, value in vars(kind).items()
            if not name.startswith(("_", "n_", "adjacency_"))
            and (callable(value) or isinstance(value, property | classmethod))
            and not (value.__doc__ or "").strip()
        ]
        assert silent == [], kind
