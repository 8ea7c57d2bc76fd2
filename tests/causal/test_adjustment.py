"""Adjustment sets, against linear models whose effects are known, and against brute force over all sets."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.causal.adjustment import front_doors
from bayescout.causal.separators import minimal_separators
from bayescout.errors import BayescoutError
from bayescout.graph.dag import Dag
from tests.graph.drawn_graphs import dags, parent_sets
from tests.reference import graphs as reference

SHRIER = """
Coach>TeamMotivation Coach>FitnessLevel Genetics>FitnessLevel Genetics>NeuromuscularFatigue
Genetics>ConnectiveTissueDisorder FitnessLevel>NeuromuscularFatigue FitnessLevel>PreGameProprioception
TeamMotivation>WarmUpExercises TeamMotivation>PreviousInjury ContactSport>PreviousInjury
PreGameProprioception>WarmUpExercises WarmUpExercises>IntraGameProprioception
ConnectiveTissueDisorder>NeuromuscularFatigue ConnectiveTissueDisorder>TissueWeakness
NeuromuscularFatigue>IntraGameProprioception NeuromuscularFatigue>Injury TissueWeakness>Injury
ContactSport>IntraGameProprioception IntraGameProprioception>Injury
"""


def dag_of(text):
    return Dag.from_arcs([tuple(arc.split(">")) for arc in text.split()])


def subsets(items):
    items = list(items)
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


@st.composite
def questions(draw, min_nodes=2):
    """A graph whose first node has an effect on its second, and labels that may be anything."""
    dag = draw(dags(min_nodes=min_nodes))
    pairs = [(a, b) for a in dag.nodes for b in dag.descendants(a)]
    assume(pairs)
    x, y = draw(st.sampled_from(pairs))
    return dag.reordered([x, y, *(label for label in dag.nodes if label not in (x, y))])


class LinearModel:
    """Random coefficients on the arcs: the covariance they imply, and the total effects."""

    def __init__(self, dag, seed=0):
        rng = np.random.default_rng(seed)
        n = len(dag)
        weights = np.zeros((n, n))
        for child, parents in enumerate(dag.parents):
            for parent in parents:
                weights[child, parent] = rng.choice([-1, 1]) * rng.uniform(0.4, 1.6)
        self.total = np.linalg.inv(np.eye(n) - weights)
        self.covariance = self.total @ np.diag(rng.uniform(0.5, 2.0, n)) @ self.total.T

    def effect(self, x, y):
        return self.total[y, x]

    def coefficient(self, y, x, given):
        """Of x in the regression of y on x and the given variables."""
        used = [x, *given]
        return np.linalg.solve(self.covariance[np.ix_(used, used)], self.covariance[used, y])[0]

    def given(self, a, b, held):
        """The covariance of a and b once others are held fixed."""
        left = self.covariance[a, b]
        if held:
            inner = self.covariance[np.ix_(held, held)]
            left -= self.covariance[a, held] @ np.linalg.solve(inner, self.covariance[held, b])
        return left


@given(questions(), st.integers(0, 99))
def test_valid_sets_are_those_whose_regression_shows_the_effect(dag, seed):
    x, y = dag.nodes[:2]
    found = bs.adjustment_sets(dag, x, y)
    model = LinearModel(dag, seed)
    effect = model.effect(0, 1)
    shown = {
        tuple(dag.nodes[v] for v in some)
        for some in subsets(range(2, len(dag)))
        if abs(model.coefficient(1, 0, some) - effect) < 1e-9
    }
    assert set(found.all()) == shown
    assert all(found.is_valid(list(some)) == (some in shown) for some in subsets(dag.nodes[2:]))
    minimal = {some for some in shown if not any(set(other) < set(some) for other in shown)}
    assert set(found.minimal) == minimal
    assert len(found.minimal) == len(minimal)
    assert (found.exists, len(found)) == (bool(shown), len(minimal))
    assert found.optimal in shown
    assert list(map(len, found)) == sorted(map(len, found))


@given(questions(min_nodes=3), st.data())
def test_latent_variables_are_in_no_set(dag, data):
    x, y, *others = dag.nodes
    latent = data.draw(st.sets(st.sampled_from(others)))
    free = bs.adjustment_sets(dag, x, y)
    found = bs.adjustment_sets(dag, x, y, latent=latent)
    assert set(found.all()) == {some for some in free.all() if latent.isdisjoint(some)}
    expected = set(found.all())
    assert set(found) == {s for s in expected if not any(set(o) < set(s) for o in expected)}
    assert found.optimal == (free.optimal if latent.isdisjoint(free.optimal) else None)


@given(parent_sets(min_nodes=2, max_nodes=5))
def test_sets_of_a_class_are_those_of_all_its_graphs(parents):
    n = len(parents)
    dag = Dag(tuple(range(n)), parents)
    alike = reference.class_by_reversals(reference.arcs_of(parents))
    members = [Dag.from_arcs(arcs, range(n)) for arcs in alike]
    joined = [one.has_path(0, 1) for one in members]
    if not all(joined):
        with pytest.raises(BayescoutError, match="leaves open" if any(joined) else "no causal path"):
            bs.adjustment_sets(dag.cpdag(), 0, 1)
        return
    common = set.intersection(*(set(bs.adjustment_sets(one, 0, 1).all()) for one in members))
    if not common and any(0 in edge for edge in dag.cpdag().edges()):
        return  # it may leave open how the causal paths begin
    found = bs.adjustment_sets(dag.cpdag(), 0, 1)
    assert set(found.all()) == common
    optimal = {bs.adjustment_sets(one, 0, 1).optimal for one in members}
    assert optimal == {found.optimal}


@given(questions(min_nodes=3), st.integers(0, 99), st.data())
def test_instruments_show_the_effect_by_a_ratio(dag, seed, data):
    x, y, *others = dag.nodes
    latent = data.draw(st.sets(st.sampled_from(others), max_size=2))
    model = LinearModel(dag, seed)
    for one in bs.adjustment_sets(dag, x, y, latent=latent).instruments:
        node, held = dag.index(one.variable), list(dag.indices(one.given))
        assert latent.isdisjoint({one.variable, *one.given})
        moved = model.given(node, 0, held)
        assert abs(moved) > 1e-12
        assert model.given(node, 1, held) / moved == pytest.approx(model.effect(0, 1), rel=1e-6)


def is_front_door(dag, x, y, some):
    """By the paths themselves (Pearl 1995)."""
    if not all(set(path) & set(some) for path in dag.paths(x, y, directed=True)):
        return False

    def back_doors(a, b, given):
        return [path for path in dag.paths(a, b, given=given) if dag.has_arc(path[1], a)]

    return not any(back_doors(x, z, ()) for z in some) and not any(
        path for z in some for path in back_doors(z, y, {x} - {z}) if not set(path[1:-1]) & set(some)
    )


@given(questions(min_nodes=3))
def test_front_doors_are_the_smallest_sets_of_the_definition(dag):
    x, y, *others = dag.nodes
    found = bs.adjustment_sets(dag, x, y).front_door
    fit = [some for some in subsets(others) if some and is_front_door(dag, x, y, some)]
    smallest = min(map(len, fit), default=0)
    assert set(found) == {some for some in fit if len(some) == smallest}


def test_a_front_door_gives_the_distribution_under_action():
    dag = Dag.from_arcs([("U", "X"), ("X", "M"), ("M", "Y"), ("U", "Y")])
    model = bs.random_network(dag=dag, states=3, seed=4)
    assert bs.adjustment_sets(dag, "X", "Y", latent="U").front_door == (("M",),)
    joint = model.query(["X", "M", "Y"]).probabilities
    p_x = joint.sum(axis=(1, 2))
    m_given_x = joint.sum(axis=2) / p_x[:, None]
    y_given = joint / joint.sum(axis=2, keepdims=True)
    for x in range(3):
        by_formula = np.einsum("m,xmy,x->y", m_given_x[x], y_given, p_x)
        p_u = model.query("U").probabilities
        acted = sum(
            p_u[u] * model.query("Y", {"X": model.states[1][x], "U": model.states[0][u]}).probabilities
            for u in range(3)
        )
        assert by_formula == pytest.approx(acted)


def test_published_sets_of_shrier_and_platt():
    found = bs.adjustment_sets(dag_of(SHRIER), "WarmUpExercises", "Injury")
    assert {frozenset(some) for some in found} == {
        frozenset(some)
        for some in (
            ("Coach", "FitnessLevel"), ("Coach", "PreGameProprioception"),
            ("FitnessLevel", "Genetics"), ("FitnessLevel", "TeamMotivation"),
            ("NeuromuscularFatigue", "ConnectiveTissueDisorder"), ("NeuromuscularFatigue", "TissueWeakness"),
            ("PreGameProprioception", "TeamMotivation"),
        )
    }  # fmt: skip


def test_m_bias_needs_no_adjustment_and_the_collider_alone_does_harm():
    dag = dag_of("U1>X U1>M U2>M U2>Y X>Y")
    found = bs.adjustment_sets(dag, "X", "Y")
    assert found.minimal == ((),)
    assert not found.is_valid("M")
    assert found.is_valid(["M", "U1"])
    assert "nothing (the empty set)" in str(found)


def test_no_set_and_the_empty_set_are_told_apart():
    confounded = bs.adjustment_sets(dag_of("U>X U>Y X>Y"), "X", "Y", latent=["U"])
    plain = bs.adjustment_sets(dag_of("X>Y"), "X", "Y")
    assert (confounded.exists, list(confounded), confounded.optimal) == (False, [], None)
    assert (plain.exists, list(plain), plain.optimal) == (True, [()], ())
    assert "no set of the variables will do" in str(confounded)
    assert confounded.to_dict()["exists"] is False


def test_networks_and_results_are_graphs_too():
    asia = bs.load_network("asia")
    assert bs.adjustment_sets(asia, "smoke", "dysp").optimal == ("tub",)
    result = bs.learn(asia.sample(2000, seed=1), search="hill-climb", score="bic")
    with pytest.raises(BayescoutError, match="leaves open"):
        bs.adjustment_sets(result, "smoke", "dysp")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda dag: bs.adjustment_sets(dag, "X", "X"), "on itself"),
        (lambda dag: bs.adjustment_sets(dag, "Y", "X"), "no causal path"),
        (lambda dag: bs.adjustment_sets(dag, "X", "Z"), "unknown node 'Z'"),
        (lambda dag: bs.adjustment_sets(dag, "X", "Y", latent="X"), "cannot be latent"),
        (lambda dag: bs.adjustment_sets(dag, "X", "Y", latent="Q"), "unknown node 'Q'"),
        (lambda dag: bs.adjustment_sets(dag.cpdag(), "X", "Y"), "leaves open"),
        (lambda dag: bs.adjustment_sets([("X", "Y")], "X", "Y"), "Dag.from_arcs"),
        (
            lambda dag: bs.adjustment_sets(bs.Pdag.from_arcs([("X", "Y")], [("Y", "W")]), "X", "Y"),
            "must be a class",
        ),
        (
            lambda dag: bs.adjustment_sets(bs.Pdag.from_arcs([("X", "Y")], [("A", "B")]), "X", "Y"),
            "ruled out some DAGs",
        ),
        (
            lambda dag: bs.adjustment_sets(dag_of("A>X B>X X>Y").cpdag(), "X", "Y").instruments,
            "found in a DAG",
        ),
    ],
)
def test_questions_without_sense_are_refused(ask, message):
    with pytest.raises(BayescoutError, match=message):
        ask(dag_of("X>W W>Y"))


@given(st.integers(2, 7), st.integers(0, 10_000), st.floats(0.2, 0.8))
def test_minimal_separators_by_brute_force(n, seed, density):
    rng = np.random.default_rng(seed)
    graph = {v: set() for v in range(n)}
    for a, b in combinations(range(n), 2):
        if rng.random() < density:
            graph[a].add(b)
            graph[b].add(a)

    def separates(some):
        seen, stack = {0}, [0]
        while stack:
            fresh = graph[stack.pop()] - seen - set(some)
            seen |= fresh
            stack += fresh
        return 1 not in seen

    all_sets = [set(some) for some in subsets(range(2, n)) if separates(some)]
    minimal = [some for some in all_sets if not any(other < some for other in all_sets)]
    found = list(minimal_separators(graph, 0, 1))
    assert sorted(map(sorted, found)) == sorted(map(sorted, minimal))


def test_a_large_graph_is_answered_at_once():
    arcs = [(f"a{i}", f"a{i + 1}") for i in range(200)] + [(f"b{i}", f"b{i + 1}") for i in range(200)]
    dag = Dag.from_arcs([*arcs, ("a0", "b0"), ("a200", "X"), ("b200", "Y"), ("X", "Y")])
    found = bs.adjustment_sets(dag, "X", "Y")
    assert len(found) == 402
    assert all(len(some) == 1 for some in found)
    assert front_doors(dag, dag.index("X"), dag.index("Y"), ()) == []
