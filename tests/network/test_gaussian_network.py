"""Linear-Gaussian inference against matrix algebra, and singular cases."""

import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.data import memory
from bayescout.errors import (
    BayescoutWarning,
    NetworkError,
    SettingError,
    TooLargeError,
    UnknownNameError,
)
from bayescout.graph.dag import Dag
from bayescout.network import GaussianNetwork, conditioning
from tests.network.drawn_networks import continuous_table, gaussian_networks
from tests.reference import networks as reference


@pytest.fixture(autouse=True, scope="module", params=[conditioning.MOST_TOGETHER, 0], ids=["narrow", "wide"])
def width(request):
    """Every network is narrow, or wide."""
    with mock.patch.object(conditioning, "MOST_TOGETHER", request.param):
        yield


def network(arcs, intercepts, coefficients, variances, nodes):
    dag = Dag.from_arcs(arcs, nodes)
    weights = tuple(np.array(w, dtype=float) for w in coefficients)
    return GaussianNetwork(dag, np.array(intercepts, dtype=float), weights, np.array(variances, dtype=float))


@given(gaussian_networks())
def test_the_joint_is_that_of_the_inverted_structural_matrix(model):
    mean, covariance = model.joint()
    expected_mean, expected = reference.gaussian_joint(model)
    assert mean == pytest.approx(expected_mean)
    assert covariance == pytest.approx(expected)
    assert np.array_equal(covariance, covariance.T)


@given(data=st.data())
def test_conditionals_and_predictions_are_those_of_the_precision_matrix(data):
    model = data.draw(gaussian_networks())
    order = data.draw(st.permutations(range(len(model.dag))))
    cut = data.draw(st.integers(1, len(order)))
    targets = order[:cut]
    evidence = {node: data.draw(st.floats(-5, 5)) for node in order[cut:]}
    mean, covariance = reference.gaussian_conditional(model, targets, evidence)
    labels = [model.nodes[t] for t in targets]
    answer = model.query(labels, {model.nodes[n]: v for n, v in evidence.items()})
    scale = np.abs(mean).max() + np.abs(covariance).max()
    assert answer.means == pytest.approx(mean, abs=1e-7 * scale)
    assert answer.covariance == pytest.approx(covariance, abs=1e-7 * scale)
    if evidence:
        columns = [[value, value + 1] for value in evidence.values()]
        table = continuous_table([model.nodes[n] for n in evidence], columns)
        assert model.predict(table, labels[0])[0] == pytest.approx(answer.means[0], abs=1e-7 * scale)


@given(data=st.data())
def test_a_wide_network_predicts_from_neighbours_what_it_does_from_all(data):
    model = data.draw(gaussian_networks())
    if len(model.dag) < 2 or not (model.variances > 0).all():
        return
    target = data.draw(st.integers(0, len(model.dag) - 1))
    rows = np.array(data.draw(st.lists(st.floats(-5, 5), min_size=len(model.dag), max_size=len(model.dag))))
    columns = {node: rows[[node]] for node in range(len(model.dag)) if node != target}
    together, wrong = conditioning.predict(model, target, columns)
    with mock.patch.object(conditioning, "MOST_TOGETHER", 0), mock.patch.object(conditioning, "joint"):
        near, _ = conditioning.predict(model, target, columns)
    assert wrong.any() or near == pytest.approx(together, rel=1e-6, abs=1e-6)


def test_a_wide_network_with_determined_nodes_is_asked_as_before(monkeypatch):
    model = network([("a", "b")], [0, 0], [[], [2.0]], [1.0, 0.0], ["a", "b"])
    monkeypatch.setattr(conditioning, "MOST_TOGETHER", 0)
    assert model.predict({"b": [4.0, 6.0]}, "a") == pytest.approx([2.0, 3.0])


def test_a_joint_distribution_that_memory_cannot_hold_is_refused(monkeypatch):
    model = network([("a", "b")], [0, 0], [[], [2.0]], [1.0, 1.0], ["a", "b"])
    monkeypatch.setattr(memory, "free", lambda: 100.0)
    with pytest.raises(TooLargeError, match="the joint distribution of 2 nodes takes about"):
        model.joint()


def test_one_target_has_plain_numbers():
    model = network([("x", "y")], [1, 2], [[], [3]], [4, 0.25], "xy")
    answer = model.query("y | x=2")
    assert (answer.mean, answer.variance, answer.deviation) == pytest.approx((8, 0.25, 0.5))
    assert isinstance(answer.mean, float)
    assert isinstance(answer.variance, float)
    assert str(answer).splitlines() == [
        "P(y | x=2.0)",
        "     mean  variance  deviation",
        "  y     8      0.25        0.5",
    ]
    both = model.query(["y", "x"])
    assert both.mean == pytest.approx([5, 1])
    assert both.variance == pytest.approx([36.25, 4])
    assert both.to_dict()["x"] == {"mean": 1.0, "variance": 4.0}


def test_an_observed_target_is_its_value():
    model = network([("x", "y")], [1, 2], [[], [3]], [4, 0.25], "xy")
    answer = model.query(["x"], {"x": 2.5})
    assert (answer.mean, answer.variance) == pytest.approx((2.5, 0), abs=1e-12)


def determined():
    """y is exactly 2x; z is y with noise."""
    return network([("x", "y"), ("y", "z")], [1, 0, 0], [[], [2], [1]], [1, 0, 1], "xyz")


def test_evidence_that_repeats_itself_is_used_once():
    model = determined()
    once = model.query("z", {"x": 3})
    twice = model.query("z", {"x": 3, "y": 6})
    assert (once.mean, once.variance) == pytest.approx((6, 1))
    assert (twice.mean, twice.variance) == pytest.approx((6, 1))
    assert model.query("y", {"x": 3}).variance == pytest.approx(0, abs=1e-12)


def test_evidence_that_contradicts_a_determined_variable_is_refused():
    with pytest.raises(NetworkError, match=r"density zero: x=3, y=7 cannot happen together"):
        determined().query("z", {"x": 3, "y": 7})
    table = continuous_table("xy", [[3, 3, 1], [6, 7, 2]])
    with pytest.warns(BayescoutWarning, match=r"1 of 3 rows .* row 1 "):
        answers = determined().predict(table, "z")
    assert answers[[0, 2]] == pytest.approx([6, 2])
    assert np.isfinite(answers).all()


def test_a_constant_node_is_evidence_that_tells_nothing():
    model = network([], [5, 1], [[], []], [0, 2], "cx")
    assert model.query("x", {"c": 5}).variance == 2
    with pytest.raises(NetworkError, match="density zero"):
        model.query("x", {"c": 5.5})


def test_units_do_not_matter():
    """The same model in nanometres and gigaseconds; an absolute cut-off would drop the first."""
    small = network([("x", "y")], [0, 0], [[], [1e18]], [1e-18, 1e18], "xy")
    answer = small.query("x", {"y": 1e9})
    assert (answer.mean, answer.variance) == pytest.approx((5e-10, 5e-19))
    arcs = [("small", "y"), ("large", "y")]
    mixed = network(arcs, [0, 0, 0], [[], [], [1e9, 1e-9]], [1e-18, 1e18, 1], ["small", "large", "y"])
    answer = mixed.query("y", {"small": 1e-9, "large": 1e9})
    assert (answer.mean, answer.variance) == pytest.approx((2, 1))


def test_a_point_mass_has_no_density():
    with pytest.raises(NetworkError, match="'y' has variance 0"):
        determined().log_likelihood(determined().sample(5))


@pytest.mark.parametrize("value", ["high", math.nan, math.inf, None, [1]])
def test_evidence_must_be_a_finite_number(value):
    with pytest.raises(NetworkError, match="'x' needs a finite number"):
        determined().query("z", {"x": value})


def test_bad_questions_and_data_are_refused():
    model = determined()
    with pytest.raises(UnknownNameError, match="'w'"):
        model.query("w")
    with pytest.raises(SettingError, match="twice"):
        model.query(["x", "x"])
    with pytest.raises(NetworkError, match="no column for node"):
        model.log_likelihood(continuous_table("uv", [[1.0], [2.0]]))
    with pytest.raises(NetworkError, match="no value for node 'y'"):
        model.log_probability({"x": 1})


def test_whole_numbers_in_a_frame_are_read_as_numbers():
    model = network([("x", "y")], [0, 0], [[], [2]], [1, 1], "xy")
    assert model.predict({"x": [1, 2, 3]}, "y").tolist() == [2, 4, 6]
    assert model.log_likelihood({"x": [0, 1], "y": [0, 2]}).total == pytest.approx(
        -2 * math.log(2 * math.pi) - 0.5
    )


def test_equality_text_and_parameters():
    model = network([("x", "y")], [1.5, 2], [[], [-3]], [4, 0.25], "xy")
    assert model.equals(network([("x", "y")], [1.5, 2], [[], [-3]], [4, 0.25], "xy"))
    near = network([("x", "y")], [1.5, 2], [[], [-3.001]], [4, 0.25], "xy")
    assert not model.equals(near)
    assert model.equals(near, tolerance=0.01)
    assert not model.equals(network([], [1.5, 2], [[], []], [4, 0.25], "xy"))
    assert model.n_parameters == 5
    assert model.equation("y") == "y = 2 - 3 x + N(0, 0.25)"
    assert model.summary().splitlines() == [
        "Gaussian network: 2 nodes, 1 arc",
        "  parents       at most 1",
        "  parameters    5",
    ]
    assert repr(model) == "<GaussianNetwork: 2 nodes, 1 arc, 5 parameters>"


def test_evidence_beyond_what_a_number_holds_is_refused():
    dag = Dag.from_arcs([("a", "b")])
    network = GaussianNetwork(dag, np.zeros(2), (np.zeros(0), np.array([1e3])), np.ones(2))
    with pytest.raises(NetworkError, match="so large"):
        network.query("b", {"a": 1e308})
