"""Log-likelihoods against products of probabilities, and what is counted beside them."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.errors import BayescoutWarning, NetworkError, UnknownNameError
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, fit
from tests.network.asia_network import asia
from tests.network.drawn_networks import (
    continuous_table,
    discrete_networks,
    discrete_table,
    gaussian_networks,
)
from tests.reference import networks as reference


@given(data=st.data())
def test_the_total_is_the_weighted_sum_of_log_probabilities(data):
    network = data.draw(discrete_networks())
    row = st.tuples(*(st.integers(0, len(states) - 1) for states in network.states))
    rows = data.draw(st.lists(row, min_size=1, max_size=6))
    weights = data.draw(
        st.none()
        | st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=len(rows), max_size=len(rows)).filter(any)
    )
    table = discrete_table(
        network.nodes, network.states, rows, None if weights is None else np.array(weights)
    )
    joint = reference.joint(network)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)
        found = network.log_likelihood(table)
    counted = [(joint[r], w) for r, w in zip(rows, weights or [1.0] * len(rows), strict=True) if w > 0]
    finite = sum(w * math.log(p) for p, w in counted if p > 0)
    assert found.finite_total == pytest.approx(finite)
    assert found.impossible_rows == sum(p == 0 for p, _ in counted)
    assert found.total == (-math.inf if found.impossible_rows else pytest.approx(finite))
    assert float(found) == found.total
    assert (found.rows, found.weight) == (len(rows), pytest.approx(sum(weights or [1.0] * len(rows))))
    each = network.row_log_likelihood(table)
    for codes, value in zip(rows, each, strict=True):
        assignment = {label: network.states[i][codes[i]] for i, label in enumerate(network.nodes)}
        assert value == pytest.approx(network.log_probability(assignment))
        assert network.probability(assignment) == pytest.approx(joint[codes])


def chain(tables, undefined=()):
    return DiscreteNetwork(Dag.from_arcs([("a", "b")]), (("x", "y"), ("u", "v")), tables, undefined)


def test_impossible_rows_are_counted_named_and_kept_out_of_the_finite_total():
    model = chain((np.array([0.5, 0.5]), np.array([[1.0, 0.0], [0.5, 0.5]])))
    table = discrete_table("ab", model.states, [[0, 0], [0, 1], [1, 0], [0, 1]])
    with pytest.warns(
        BayescoutWarning, match=r"2 of 4 rows .* row 1 .* 'b' is 'v': fit with prior='laplace'"
    ):
        found = model.log_likelihood(table)
    assert (found.total, found.mean, found.impossible_rows) == (-math.inf, -math.inf, 2)
    assert found.finite_total == pytest.approx(math.log(0.5) + math.log(0.25))
    weighted = discrete_table("ab", model.states, [[0, 1], [0, 0], [0, 1]], np.array([0.0, 2.0, 1.0]))
    with pytest.warns(BayescoutWarning, match=r"1 of 3 rows .* row 2 "):
        assert model.log_likelihood(weighted).impossible_rows == 1


def test_unseen_configurations_count_as_uniform_and_are_never_minus_infinity():
    dag = Dag.from_arcs([("a", "b")])
    model = fit(dag, discrete_table("ab", [("x", "y", "z"), ("u", "v")], [[0, 0], [1, 1], [1, 0], [2, 0]]))
    short = fit(dag, discrete_table("ab", [("x", "y", "z"), ("u", "v")], [[0, 0], [0, 0], [1, 1], [1, 0]]))
    assert model.n_undefined == 0
    table = discrete_table("ab", model.states, [[0, 0], [1, 0]])
    assert short.log_likelihood(table).unseen_rows == 0
    tables = (np.array([0.5, 0.5]), np.array([[0.25, 0.75], [0.5, 0.5]]))
    unseen = chain(tables, (np.array(False), np.array([False, True])))
    found = unseen.log_likelihood(discrete_table("ab", unseen.states, [[0, 1], [1, 1], [1, 0]]))
    assert found.unseen_rows == 2
    assert found.total == pytest.approx(3 * math.log(0.5) + math.log(0.75) + 2 * math.log(0.5))
    assert found.mean == pytest.approx(found.total / 3)
    weighted = discrete_table("ab", unseen.states, [[1, 1], [1, 0]], np.array([0.0, 3.0]))
    assert unseen.log_likelihood(weighted).unseen_rows == 1


def test_data_are_matched_by_name_and_value_whatever_their_order():
    model = asia()
    table = model.sample(40, seed=5)
    expected = model.log_likelihood(table).total
    frame = {name: table.column(name) for name in reversed(table.names)}
    assert model.log_likelihood(frame).total == pytest.approx(expected)
    assert model.log_likelihood({**frame, "extra": [1] * 39 + [2]}).total == pytest.approx(expected)


def test_data_that_do_not_match_are_refused():
    model = asia()
    table = model.sample(10)
    with pytest.raises(NetworkError, match="no column for nodes 'asia'"):
        model.log_likelihood({"other": [1, 2]})
    with pytest.warns(BayescoutWarning, match="no column in the data for node 'dysp'"):
        known = model.log_likelihood(table.select(model.nodes[:-1])).total
    assert known > model.log_likelihood(table).total  # a sum over more values
    floats = continuous_table(model.nodes, np.zeros((8, 2)))
    with pytest.raises(NetworkError, match="'asia' is continuous"):
        model.log_likelihood(floats)


def test_an_assignment_must_be_complete_and_known():
    model = asia()
    whole = dict.fromkeys(model.nodes, "yes")
    expected = 0.01 * 0.05 * 0.5 * 0.1 * 0.6 * 0.98 * 0.9
    assert model.probability(whole) == pytest.approx(expected)
    assert model.log_probability({**whole, "either": "no"}) == -math.inf
    assert model.probability({**whole, "either": "no"}) == 0
    with pytest.raises(NetworkError, match="no value for node 'asia'"):
        model.probability({"tub": "yes"})
    with pytest.raises(UnknownNameError, match="'perhaps'"):
        model.probability({**whole, "tub": "perhaps"})
    with pytest.raises(UnknownNameError, match="'tubb'"):
        model.probability({**whole, "tubb": "yes"})


# ---- Gaussian


@given(data=st.data())
def test_a_gaussian_row_has_the_density_of_the_joint(data):
    from scipy.stats import multivariate_normal

    network = data.draw(gaussian_networks())
    table = network.sample(5, seed=data.draw(st.integers(0, 99)))
    mean, covariance = reference.gaussian_joint(network)
    expected = multivariate_normal(mean, covariance).logpdf(table.values.T)
    assert network.row_log_likelihood(table) == pytest.approx(np.atleast_1d(expected))
    weights = np.arange(5.0)
    weighted = continuous_table(network.nodes, table.values, weights)
    assert network.log_likelihood(weighted).total == pytest.approx(float(weights @ np.atleast_1d(expected)))
    first = {label: table.values[i, 0] for i, label in enumerate(network.nodes)}
    assert network.log_probability(first) == pytest.approx(float(np.atleast_1d(expected)[0]))
