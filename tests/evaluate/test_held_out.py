"""Held-out log-likelihood against counting by hand, and what training never showed."""

import json
import math
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, DataError, NetworkError, SettingError
from bayescout.evaluate import held_out
from bayescout.graph.dag import Dag
from tests.evaluate.drawn_pairs import other_dags
from tests.network.drawn_networks import continuous_table
from tests.strategies import discrete_table

CHAIN = Dag.from_arcs([("x0", "x1")])


def by_counting(dag, table, test, pseudo):
    """The sum over rows and nodes of log((N_jk + pseudo) / (N_j + r pseudo)), and what was never seen."""
    rows = list(zip(*(table.column(label) for label in dag.nodes), strict=True))
    total, unseen, impossible = 0.0, Counter(), set()
    for number, row in enumerate(zip(*(test.column(label) for label in dag.nodes), strict=True)):
        for node, parents in enumerate(dag.parents):
            r = len(table.states[table.index(dag.nodes[node])])
            same = [other for other in rows if all(other[p] == row[p] for p in parents)]
            hits = sum(other[node] == row[node] for other in same)
            unseen[dag.nodes[node]] += not same
            if not same:
                total += math.log(1 / r)
            elif hits + pseudo:
                total += math.log((hits + pseudo) / (len(same) + r * pseudo))
            else:
                impossible.add(number)
    return total, {node: n for node, n in unseen.items() if n}, len(impossible)


@st.composite
def trained_and_tested(draw):
    columns = draw(st.integers(1, 4))
    states = draw(st.lists(st.integers(1, 3), min_size=columns, max_size=columns))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    train, test = (
        discrete_table([rng.integers(0, r, n) for r in states], states) for n in (draw(st.integers(2, 12)), 8)
    )
    return draw(other_dags(train.names)), train, test


@given(drawn=trained_and_tested())
def test_laplace_is_counted_by_hand(drawn):
    dag, train, test = drawn
    found = held_out(dag, train, test)
    total, unseen, _ = by_counting(dag, train, test, 1)
    assert found.total == found.finite_total == pytest.approx(total, abs=1e-9)
    assert dict(found.unseen) == unseen
    assert found.impossible_rows == 0
    assert found.prior == "laplace"
    assert (found.rows, found.weight) == (8, 8)


@given(drawn=trained_and_tested())
@pytest.mark.filterwarnings("ignore::bayescout.errors.BayescoutWarning")
def test_maximum_likelihood_is_counted_by_hand(drawn):
    """An unseen configuration is uniform; a value never seen with its parents' makes a row impossible."""
    dag, train, test = drawn
    found = held_out(dag, train, test, prior="mle")
    total, unseen, impossible = by_counting(dag, train, test, 0)
    assert dict(found.unseen) == unseen
    assert found.n_unseen == sum(unseen.values())
    assert found.impossible_rows == impossible
    assert math.isinf(found.total) == bool(impossible)
    if not impossible:
        assert found.total == pytest.approx(total, abs=1e-9)


@given(drawn=trained_and_tested())
def test_on_its_own_training_rows_it_is_the_maximised_likelihood(drawn):
    dag, train, _ = drawn
    assert held_out(dag, train, train, "mle").total == pytest.approx(bs.score(dag, train, "loglik"), abs=1e-6)


def test_an_impossible_row_is_said_and_left_out_of_the_finite_total():
    train = discrete_table([[0, 0, 1, 1], [0, 0, 1, 1]], [2, 2])
    test = discrete_table([[0, 1], [0, 0]], [2, 2])
    with pytest.warns(BayescoutWarning, match=r"1 of 2 rows have probability zero.*row 1 .*'x1' is 0"):
        found = held_out(CHAIN, train, test, prior="mle")
    assert found.total == -math.inf
    assert found.finite_total == pytest.approx(math.log(0.5))
    assert found.impossible_rows == 1
    assert "1 row impossible, -0.693 without" in str(found)
    as_json = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert as_json["total"] is None
    assert as_json["mean"] is None
    assert as_json["impossible_rows"] == 1


def test_unseen_rows_are_rows_and_lookups_are_counted_for_each_node():
    """x0 is never 2 in training; x1 and x2 have it as a parent."""
    dag = Dag.from_arcs([("x0", "x1"), ("x0", "x2")])
    train = discrete_table([[0, 1, 0], [0, 1, 1], [1, 0, 1]], [3, 2, 2])
    test = discrete_table([[2, 0, 2], [0, 1, 1], [0, 0, 1]], [3, 2, 2])
    found = held_out(dag, train, test)
    assert found.unseen == {"x1": 2, "x2": 2}
    assert found.n_unseen == 4
    assert found.unseen_rows == 2
    assert "never seen in 2 rows (of 'x1', 'x2')" in str(found)
    assert repr(found).startswith("<HeldOut: held-out log-likelihood -")


def test_weights_count_as_copies():
    train = discrete_table([[0, 1, 1], [0, 0, 1]], [2, 2], np.array([2.0, 1.0, 0.0]))
    test = discrete_table([[0, 1], [1, 1]], [2, 2], np.array([3.0, 0.0]))
    copied = discrete_table([[0, 0, 1], [0, 0, 0]], [2, 2])
    repeated = discrete_table([[0] * 3, [1] * 3], [2, 2])
    found, expected = held_out(CHAIN, train, test), held_out(CHAIN, copied, repeated)
    assert found.total == pytest.approx(expected.total)
    assert found.weight == 3
    assert found.mean == pytest.approx(expected.mean)


def test_a_configuration_of_weight_zero_was_not_seen():
    train = discrete_table([[0, 0, 1], [0, 1, 1]], [2, 2], np.array([1.0, 1.0, 0.0]))
    test = discrete_table([[1], [1]], [2, 2])
    assert held_out(CHAIN, train, test).unseen == {"x1": 1}


def test_a_test_row_of_weight_zero_is_as_good_as_absent():
    train = discrete_table([[0, 0], [0, 1]], [2, 2])
    test = discrete_table([[0, 1], [1, 1]], [2, 2], np.array([1.0, 0.0]))
    found = held_out(CHAIN, train, test)
    assert (found.unseen, found.unseen_rows) == ({}, 0)
    assert found.mean == pytest.approx(math.log(3 / 4) + math.log(2 / 4))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_frames_need_not_show_the_same_states(frame):
    """Three states in all, though neither frame shows all of them."""
    train = frame({"a": ["u", "u", "v"], "b": [1, 2, 1]})
    test = frame({"b": [1], "a": ["w"]})
    found = held_out(Dag.from_arcs([("a", "b")]), train, test)
    assert found.total == pytest.approx(math.log(1 / 6) + math.log(1 / 2))
    assert found.unseen == {"b": 1}


def test_a_networks_states_are_the_declared_ones():
    truth = bs.load_network("asia")
    table = truth.sample(200, seed=1)
    frame = table.to_pandas().astype(str)
    found = held_out(truth, frame[:100], frame[100:])
    expected = held_out(truth, table.take(np.arange(100)), table.take(np.arange(100, 200)))
    assert found.total == pytest.approx(expected.total)


def test_without_training_data_the_networks_own_parameters_are_used():
    truth = bs.load_network("asia")
    test = truth.sample(100, seed=2)
    found = held_out(truth, None, test)
    assert found.total == pytest.approx(float(truth.log_likelihood(test)))
    assert found.prior is None
    with pytest.raises(NetworkError, match="must be a network with parameters, not Dag"):
        held_out(truth.dag, None, test)


def test_a_fitted_networks_own_undefined_rows_are_unseen():
    train = discrete_table([[0, 0], [0, 1]], [2, 2])
    test = discrete_table([[0, 1], [0, 1]], [2, 2])
    with pytest.warns(BayescoutWarning, match="1 of 2 rows have probability zero"):
        found = held_out(bs.fit(CHAIN, train), None, test)
    assert found.unseen == {"x1": 1}


def test_gaussian_data():
    rng = np.random.default_rng(1)
    x = rng.normal(size=60)
    y = 2 * x + rng.normal(size=60)
    train, test = continuous_table("xy", [x[:50], y[:50]]), continuous_table("xy", [x[50:], y[50:]])
    dag = Dag.from_arcs([("x", "y")])
    found = held_out(dag, train, test)
    slope, intercept = np.polyfit(x[:50], y[:50], 1)
    expected = 0.0
    for values, fitted, seen, guess in (
        (x[50:], x[:50].mean(), x[:50], x[:50].mean()),
        (y[50:], slope * x[50:] + intercept, y[:50], slope * x[:50] + intercept),
    ):
        variance = np.mean((seen - guess) ** 2)
        expected += float(
            np.sum(-0.5 * np.log(2 * np.pi * variance) - (values - fitted) ** 2 / (2 * variance))
        )
    assert found.total == pytest.approx(expected)
    assert found.prior == "mle"
    assert (found.unseen, found.unseen_rows, found.impossible_rows) == ({}, 0, 0)
    assert held_out(bs.fit(dag, train), None, test).total == pytest.approx(expected)
    with pytest.raises(SettingError, match="for discrete data"):
        held_out(dag, train, test, prior="laplace")


def test_kinds_follow_the_training_data_and_a_clash_is_refused():
    """Whole numbers: more than 100 of them in training are continuous, few in the test rows are too."""
    train = {"x": list(range(200)), "y": [0.5 * i + i % 7 for i in range(200)]}
    found = held_out(Dag.from_arcs([("x", "y")]), train, {"x": [1, 2], "y": [1.0, 2.0]})
    assert math.isfinite(found.total)
    discrete = bs.as_table({"x": [0, 1], "y": [0, 1]}, kinds="discrete")
    with pytest.raises(
        DataError, match="column 'x' is continuous in the training data and discrete in the test"
    ):
        held_out(Dag.from_arcs([("x", "y")]), train, discrete)


@pytest.mark.parametrize("other", [True, 1.0, "1"])
def test_a_state_in_another_type_is_found_and_a_new_one_is_refused(other):
    train = {"a": [0, 1, 1]}
    found = held_out(Dag.empty(["a"]), train, bs.as_table({"a": [other]}, kinds="discrete"))
    assert found.total == held_out(Dag.empty(["a"]), train, {"a": [1]}).total
    assert found.unseen == {}
    with pytest.raises(
        DataError, match=r"'a' holds 'x' \(str\) in the test data, and in the training data 0"
    ):
        held_out(Dag.empty(["a"]), train, bs.as_table({"a": [other, "x"]}))


def test_missing_as_a_state_may_be_new():
    train, test = {"a": ["u", "v"]}, bs.as_table({"a": ["u", None]}, missing="state")
    assert held_out(Dag.empty(["a"]), train, test).total == pytest.approx(math.log(2 / 5) + math.log(1 / 5))


def test_ess_and_unknown_priors_reach_fit():
    train = discrete_table([[0, 1], [0, 1]], [2, 2])
    loose, tight = (held_out(CHAIN, train, train, prior="bdeu", ess=ess).total for ess in (10.0, 0.1))
    assert loose < tight
    with pytest.raises(SettingError, match="unknown prior 'flat'"):
        held_out(CHAIN, train, train, prior="flat")
