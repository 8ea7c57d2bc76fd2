"""The information of a next observation against enumeration and quadrature."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayescout.errors import NetworkError, SettingError, WrongKindError
from bayescout.graph.dag import Dag
from bayescout.network import ConditionalGaussian, GaussianNetwork, Network, Tabular
from tests.network.asia_network import asia
from tests.network.drawn_networks import (
    discrete_networks,
    gaussian_networks,
    labelled,
    mixed_networks,
    mixed_observations,
    observations,
)
from tests.network.test_mixed_inference import clinic
from tests.reference import networks as gaussian_reference
from tests.reference import questions as reference
from tests.strategies import examples


@given(data=st.data())
def test_the_information_is_that_of_enumeration(data):
    network = data.draw(discrete_networks())
    evidence = data.draw(observations(network, most=2))
    free = [n for n in range(len(network.dag)) if n not in evidence]
    assume(free)
    target = data.draw(st.sampled_from(free))
    cells = reference.observed(reference.table(network), evidence)
    if not cells.any():
        with pytest.raises(NetworkError, match="probability zero"):
            network.information(network.nodes[target], labelled(network, evidence))
        return
    found = network.information(network.nodes[target], labelled(network, evidence))
    assert {one.node for one in found} == {network.nodes[n] for n in free if n != target}
    shares = reference.marginal(cells, [target]) / cells.sum()
    entropy = -sum(p * math.log(p) for p in shares if p > 0)
    assert found.entropy == pytest.approx(entropy, abs=1e-12)
    for one in found:
        expected = reference.mutual_information(cells, target, network.dag.index(one.node))
        assert one.information == pytest.approx(expected, abs=1e-10)
        assert one.information <= entropy + 1e-10
    worths = [one.information for one in found]
    assert worths == sorted(worths, reverse=True)
    some = network.information(
        network.nodes[target], labelled(network, evidence), [network.nodes[n] for n in free[:1]]
    )
    for one in some:
        assert one.information == pytest.approx(found[one.node], abs=1e-12)


def test_the_next_best_question_of_asia():
    found = asia().information("lung", {"xray": "yes"}, nodes=["asia", "smoke", "dysp", "bronc"])
    assert [one.node for one in found] == ["smoke", "dysp", "bronc", "asia"]
    assert found.best == "smoke"
    assert found["dysp"] == pytest.approx(0.064866, abs=1e-6)
    assert len(found) == 4
    lines = str(found).splitlines()
    assert lines[0] == "information about lung | xray=yes"
    assert lines[2] == "  smoke    0.118189  17.1%  ███▍"
    assert lines[-1] == "  entropy of lung: 0.692892 nats"


def test_the_target_may_be_a_question_in_text():
    text = asia().information("lung | xray=yes")
    assert text.to_dict() == asia().information("lung", {"xray": "yes"}).to_dict()
    acted = asia().information("lung | do(smoke=yes), xray=yes")
    assert acted.to_dict() == asia().do(smoke="yes").information("lung", {"xray": "yes"}).to_dict()
    assert "do(smoke=yes)" in str(acted)
    with pytest.raises(NetworkError, match="about one target"):
        asia().information("lung, tub | xray=yes")


def test_what_is_separated_tells_nothing():
    found = asia().information("tub", {"either": "yes", "lung": "no"}, nodes=["smoke", "xray"])
    assert [one.information for one in found] == [0, 0]
    assert found.best is None
    with pytest.raises(SettingError, match="'lung' is observed, so nothing more"):
        asia().information("lung", {"lung": "yes"})


@settings(deadline=None, max_examples=examples(100))
@given(data=st.data())
def test_gaussian_information_is_that_of_determinants(data):
    """log det of the two less log det of both, halved, from the conditional covariance."""
    network = data.draw(gaussian_networks())
    assume(len(network.dag) > 2)
    evidence = {2: 1.0}
    _, covariance = gaussian_reference.gaussian_conditional(network, [0, 1], evidence)
    expected = 0.5 * math.log(covariance[0, 0] * covariance[1, 1] / np.linalg.det(covariance))
    found = network.information(network.nodes[0], {network.nodes[2]: 1.0})
    assert found[network.nodes[1]] == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert found.entropy is None


def test_a_determined_number_tells_everything():
    model = GaussianNetwork(Dag.from_arcs([("x", "y")], "xy"), [0, 0], [[], [2]], [1, 0])
    assert model.information("x")["y"] == math.inf
    assert "inf" in str(model.information("x"))


def trapezium(shares, mixtures):
    """The mutual information by a plain sum over a fine grid."""
    spreads = [m.deviation for m in mixtures]
    low = min(m.mean - 40 * s for m, s in zip(mixtures, spreads, strict=True))
    high = max(m.mean + 40 * s for m, s in zip(mixtures, spreads, strict=True))
    xs = np.linspace(low, high, 20_001)
    cells = np.array([[p * m.density(x) for x in xs] for p, m in zip(shares, mixtures, strict=True)])
    whole = cells.sum(axis=0)
    terms = np.zeros_like(cells)
    for k, p in enumerate(shares):
        seen = cells[k] > 1e-290
        terms[k, seen] = cells[k, seen] * np.log(cells[k, seen] / (p * whole[seen]))
    return float(terms.sum() * (xs[1] - xs[0]))


@pytest.mark.slow
@settings(deadline=None, max_examples=12)
@given(data=st.data())
def test_the_information_of_states_and_numbers_is_an_integral(data):
    network = data.draw(mixed_networks(most=4))
    evidence = data.draw(mixed_observations(network, most=1))
    states = [n for n, one in enumerate(network.distributions) if one.states is not None]
    numbers = [n for n in range(len(network.dag)) if n not in states]
    state, number = (network.nodes[data.draw(st.sampled_from(some))] for some in (states, numbers))
    assume(state not in evidence and number not in evidence)
    try:
        answer = network.query([state, number], evidence)
    except NetworkError:
        return
    given_states = [
        (p, one) for p, one in zip(answer.discrete.values(), answer.continuous, strict=True) if one
    ]
    expected = trapezium([p for p, _ in given_states], [one for _, one in given_states])
    assert network.information(state, evidence, [number])[number] == pytest.approx(expected, abs=2e-5)
    assert network.information(number, evidence, [state])[state] == pytest.approx(expected, abs=2e-5)


def narrow(variance):
    """A coin; a number that is wide for heads, and narrow for tails, inside of it."""
    dag = Dag.from_arcs([("coin", "x")], ["coin", "x"])
    return Network(
        dag, [Tabular("ht", [0.5, 0.5]), ConditionalGaussian([0.0, 0.3], np.zeros((2, 0)), [1.0, variance])]
    )


def test_narrow_numbers_and_point_masses_are_seen():
    """The narrower, the more is told, up to the whole entropy where it is a point."""
    worths = [narrow(v).information("coin")["x"] for v in (1e-2, 1e-6, 1e-12, 0.0)]
    assert worths == sorted(worths)
    assert worths[-1] == pytest.approx(math.log(2))
    assert worths[-2] == pytest.approx(math.log(2), abs=1e-4)
    same = Network(
        Dag.from_arcs([("coin", "x")], ["coin", "x"]),
        [Tabular("ht", [0.5, 0.5]), ConditionalGaussian([1.0, 1.0], np.zeros((2, 0)), [0.0, 0.0])],
    )
    assert same.information("coin")["x"] == 0


def test_two_numbers_of_a_mixed_network_are_left_out_and_said():
    found = clinic().information("t")
    assert (found.left_out, found.best) == (("age", "u"), "ill")
    assert "left out, as they and the target are continuous: 'age', 'u'" in str(found)
    with pytest.raises(WrongKindError, match="ask for a discrete target, or of discrete nodes"):
        clinic().information("t", nodes=["u"])
    given_state = clinic().information("u", {"ill": "no"}, nodes=["age", "t"])
    assert given_state["age"] == pytest.approx(0.5 * math.log(2))
    assert given_state["t"] == 0


def test_soft_evidence_changes_what_to_ask():
    plain = asia().information("lung", nodes=["smoke"])["smoke"]
    known = asia().information("lung", nodes=["smoke"], soft={"smoke": {"yes": 1, "no": 1e-9}})["smoke"]
    assert known < 1e-6 < plain
