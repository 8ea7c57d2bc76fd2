"""Conditional mutual information against sums over the joint, and what graphs and tests miss."""

import json
import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import GraphError, NetworkError, SettingError
from bayescout.evaluate import information, missed_by_graph, missed_by_tests, mutual_information
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, GaussianNetwork
from bayescout.statistics.independence import Finding, Question
from tests.network.drawn_networks import discrete_networks, gaussian_networks
from tests.reference import networks as reference


def over_the_joint(network, a, b, given):
    """H(a, z) + H(b, z) - H(z) - H(a, b, z)."""

    def entropy(nodes):
        masses = Counter()
        for codes, p in reference.joint(network).items():
            masses[tuple(codes[v] for v in nodes)] += p
        return -sum(p * math.log(p) for p in masses.values() if p > 0)

    return entropy([a, *given]) + entropy([b, *given]) - entropy(given) - entropy([a, b, *given])


@st.composite
def asked(draw, networks):
    network = draw(networks.filter(lambda found: len(found.dag) > 1))
    a, b, *rest = draw(st.permutations(range(len(network.dag))))
    return network, a, b, rest[: draw(st.integers(0, len(rest)))]


@given(question=asked(discrete_networks(5)))
def test_exact_is_a_difference_of_entropies(question):
    network, a, b, given_nodes = question
    labels = [network.nodes[v] for v in given_nodes]
    found = mutual_information(network, network.nodes[a], network.nodes[b], labels)
    assert found.exact
    assert found.value >= 0
    assert float(found) == pytest.approx(over_the_joint(network, a, b, given_nodes), abs=1e-9)


@given(question=asked(gaussian_networks(5)))
def test_gaussian_is_that_of_the_partial_correlation(question):
    network, a, b, given_nodes = question
    _, rest = reference.gaussian_conditional(network, [a, b], dict.fromkeys(given_nodes, 0.0))
    rho = rest[0, 1] / math.sqrt(rest[0, 0] * rest[1, 1])
    labels = [network.nodes[v] for v in given_nodes]
    found = mutual_information(network, network.nodes[a], network.nodes[b], labels)
    assert found.value == pytest.approx(-0.5 * math.log(1 - rho**2), abs=1e-7)


def xor():
    dag = Dag.from_arcs([("a", "c"), ("b", "c")])
    flip = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    tables = {"a": np.array([0.5, 0.5]), "b": np.array([0.5, 0.5]), "c": flip}
    return DiscreteNetwork(dag, ((0, 1),) * 3, tuple(tables[label] for label in dag.nodes))


def test_exclusive_or_by_hand():
    assert mutual_information(xor(), "a", "c").value == pytest.approx(0.0, abs=1e-15)
    assert mutual_information(xor(), "a", "c", ["b"]).value == pytest.approx(math.log(2))
    assert mutual_information(xor(), "a", "b", "c").value == pytest.approx(math.log(2))
    assert mutual_information(xor(), "a", "b").value == 0.0


def test_too_large_a_table_is_averaged_over_draws(monkeypatch):
    truth = bs.load_network("asia")
    exact = mutual_information(truth, "lung", "bronc", ["dysp", "xray"])
    monkeypatch.setattr(information, "MAX_JOINT", 4)
    drawn = mutual_information(truth, "lung", "bronc", ["dysp", "xray"], samples=3000, seed=1)
    assert not drawn.exact
    assert drawn.rows == 3000
    spread = 0.0
    for dysp, xray in product(*(truth.states[truth.dag.index(label)] for label in ("dysp", "xray"))):
        at = truth.query(["lung", "bronc"], {"dysp": dysp, "xray": xray}).probabilities
        value = float(np.sum(at * np.log(at / (at.sum(axis=1, keepdims=True) * at.sum(axis=0)))))
        index = tuple(truth.states[truth.dag.index(k)].index(v) for k, v in (("dysp", dysp), ("xray", xray)))
        spread += float(truth.query(["dysp", "xray"]).probabilities[index]) * (value - exact.value) ** 2
    assert drawn.standard_error == pytest.approx(math.sqrt(spread / 3000), rel=0.1)
    assert abs(drawn.value - exact.value) < 4 * drawn.standard_error
    assert drawn == mutual_information(truth, "lung", "bronc", ["dysp", "xray"], samples=3000, seed=1)


def test_what_determines_another_tells_everything():
    dag = Dag.from_arcs([("x", "y"), ("x", "z")])
    network = GaussianNetwork(
        dag, np.zeros(3), (np.array([]), np.array([2.0]), np.array([1.0])), np.array([1.0, 0.0, 1.0])
    )
    assert mutual_information(network, "x", "y").value == math.inf
    assert mutual_information(network, "y", "z", ["x"]).value == 0.0
    assert mutual_information(network, "z", "x", ["y"]).value == 0.0


def test_what_is_not_a_question_is_refused():
    with pytest.raises(GraphError, match="'a' is in more than one"):
        mutual_information(xor(), "a", "b", ["a"])
    with pytest.raises(NetworkError, match="with parameters"):
        mutual_information(xor().dag, "a", "b")
    with pytest.raises(NetworkError, match="with parameters is needed, not Dag"):
        missed_by_graph(xor().dag, xor().dag)
    with pytest.raises(SettingError, match="samples"):
        mutual_information(xor(), "a", "b", samples=1)


# ---- what is missed


@given(network=discrete_networks(5))
def test_a_complete_graph_misses_nothing_and_the_truth_misses_nothing(network):
    n = len(network.dag)
    complete = Dag(network.nodes, tuple(tuple(range(i)) for i in range(n)))
    assert len(missed_by_graph(network, complete)) == 0
    assert len(missed_by_graph(network, network)) == 0


@given(network=discrete_networks(5))
def test_the_empty_graph_misses_every_dependent_pair(network):
    found = missed_by_graph(network, Dag.empty(network.nodes))
    pairs = {
        (a, b)
        for i, a in enumerate(network.nodes)
        for b in network.nodes[i + 1 :]
        if not network.dag.d_separated(a, b)
    }
    assert {(item.a, item.b) for item in found.items} == pairs
    assert found.asked == len(pairs)
    values = [item.information.value for item in found.items]
    assert values == sorted(values, reverse=True)
    assert found.total == pytest.approx(sum(values))
    assert found.mean * len(found) == pytest.approx(found.total)


def test_missed_by_a_graph_by_hand():
    """Without b -> c the exclusive or is lost: a tells nothing of c by itself, all of it given b."""
    learned = Dag.from_arcs([("a", "c")], ["c", "b", "a"])
    found = missed_by_graph(xor(), learned)
    assert {(item.a, item.b, item.given) for item in found.items} == {
        ("c", "b", ()), ("c", "b", ("a",)), ("a", "b", ("c",)),
    }  # fmt: skip
    assert found.total == pytest.approx(2 * math.log(2))
    assert str(found).startswith("3 of ")
    assert "I(c; b | a) = 0.6931" in str(found)
    as_json = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert as_json["missed"] == 3
    assert as_json["items"][0]["value"] == pytest.approx(math.log(2))


def test_no_question_is_asked_twice():
    """In the ring a and d have the same blanket, so that each asks what the other does."""
    dag = Dag.from_arcs([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])
    asked = information.blanket_questions(dag)
    assert len({(frozenset((a, b)), given) for a, b, given in asked}) == len(asked)
    assert Question(0, 2, (1,)) in asked
    assert Question(2, 0, (1, 3)) in asked
    ring = Dag.from_arcs([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
    asked = information.blanket_questions(ring)
    assert [q for q in asked if q.given] == [Question(0, 3, (1, 2))]


def test_questions_of_ones_own():
    network = xor()
    a, b, c = (network.dag.index(label) for label in "abc")
    found = missed_by_graph(network, Dag.empty(network.nodes), [Question(a, c, (b,)), Question(a, b)])
    assert found.asked == 1
    (item,) = found.items
    assert (item.a, item.b, item.given) == ("a", "c", ("b",))


def test_missed_by_tests():
    """Columns b, c, a. A dependence accepted or left undecided is missed; one found, or not there, is not."""
    questions = [Question(0, 1, (2,)), Question(2, 0, (1,)), Question(2, 1, (0,)), Question(0, 2)]
    answers = ["independent", "dependent", "inconclusive", "independent"]
    found = missed_by_tests(xor(), questions, [Finding(0, 1, 0.5, x) for x in answers], names="bca")
    assert [(item.a, item.b, item.given) for item in found.items] == [("b", "c", ("a",)), ("a", "c", ("b",))]
    assert found.asked == 3
    assert found.mean == pytest.approx(math.log(2))
    with pytest.raises(SettingError, match="4 questions but 1 findings"):
        missed_by_tests(xor(), questions, [Finding(0, 1, 0.5, "dependent")])


def test_nothing_missed_reads_well():
    found = missed_by_graph(xor(), xor())
    assert (found.mean, found.total) == (0.0, 0.0)
    assert str(found).endswith("true dependences missed")
    assert repr(found) == f"<MissedDependences: {found}>"
