"""Data at a network's door: columns that are no node's, nodes without a column, files, types of states."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayescout.data import as_table
from bayescout.errors import BayescoutWarning, DataError, NetworkError, UnknownNameError
from bayescout.formats import load_network
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, GaussianNetwork, fit
from tests.network.asia_network import asia

LINE = GaussianNetwork(Dag.from_arcs([("x", "y")]), [0.0, 1.0], [[], [2.0]], [1.0, 0.25])
MODELS = {"discrete": asia(), "gaussian": LINE}
TARGETS = {"discrete": "lung", "gaussian": "y"}


def predictions(kind):
    model = MODELS[kind]
    return [model.predict, model.predict_proba] if kind == "discrete" else [model.predict]


# ---- columns that are no node's


@pytest.mark.parametrize(
    "as_", [dict, pd.DataFrame, as_table, pl.DataFrame], ids=["dict", "pandas", "table", "polars"]
)
@pytest.mark.parametrize("kind", MODELS)
def test_columns_that_are_no_node_are_said_once(kind, as_):
    evidence = {"smoke": ["yes", "no"]} if kind == "discrete" else {"x": [0.5, 1.5]}
    odd = {"X": ["p", "q"], "Smoke": ["q", "p"]}
    for predict in predictions(kind):
        plain = predict(as_(evidence), TARGETS[kind])
        with pytest.warns(BayescoutWarning, match="columns 'X', 'Smoke' of the data are left out") as caught:
            assert np.array_equal(predict(as_({**evidence, **odd}), TARGETS[kind]), plain)
        assert len(caught) == 1


@pytest.mark.parametrize("kind", MODELS)
def test_the_target_itself_is_not_said_to_be_left_out(kind):
    data = MODELS[kind].sample(5)
    for predict in predictions(kind):
        others = [name for name in data.names if name != TARGETS[kind]]
        assert np.array_equal(predict(data, TARGETS[kind]), predict(data.select(others), TARGETS[kind]))


@pytest.mark.parametrize(
    "columns", [{"X": [1.5, 2.5]}, {"y": [1.5, 2.5]}, {"y": [1.5, 2.5], "X": [1.5, 2.5]}]
)
def test_nothing_to_predict_from_is_refused(columns):
    for data in (columns, as_table(columns)):
        with pytest.raises(NetworkError, match=r"predict 'y' from: the columns are .*, the nodes 'x', 'y'"):
            LINE.predict(data, "y")
    discrete = {"lung" if name == "y" else name: ["yes", "no"] for name in columns}
    for predict in predictions("discrete"):
        with pytest.raises(NetworkError, match="no column of the data is a node to predict 'lung' from"):
            predict(discrete, "lung")


# ---- files


def write(path, columns):
    pl.DataFrame(columns).write_csv(path)
    return path


def test_a_file_may_hold_columns_the_network_does_not_use(tmp_path):
    """An identifier, gaps, more values than a column can have: none of them stops anything."""
    model, n = asia(), 70_000
    plain = model.sample(n, seed=3)
    odd = {"id": [f"p{k}" for k in range(n)], "gaps": [None, "x"] * (n // 2)}
    path = write(tmp_path / "data.csv", {**odd, **plain.to_dict()})
    left_out = "columns 'id', 'gaps' of the data are left out"
    assert model.log_likelihood(path) == model.log_likelihood(plain)
    with pytest.warns(BayescoutWarning, match=left_out):
        assert model.predict(path, "lung") == model.predict(plain, "lung")
    assert fit(model, path).equals(fit(model, plain))  # of this file it is told


def test_a_file_for_a_gaussian_network(tmp_path):
    plain = LINE.sample(50, seed=1)
    path = write(tmp_path / "data.csv", {"id": [f"p{k}" for k in range(50)], **plain.to_dict()})
    assert LINE.log_likelihood(path) == LINE.log_likelihood(plain)
    with pytest.warns(BayescoutWarning, match="column 'id' of the data is left out"):
        assert np.array_equal(LINE.predict(path, "y"), LINE.predict(plain, "y"))
    assert fit(LINE, path).equals(fit(LINE.dag, plain))  # of this file it is told


def test_lazy_frames_and_odd_names():
    model = asia()
    frame = pl.DataFrame(model.sample(20, seed=5).to_dict())
    assert model.log_likelihood(frame.lazy()) == model.log_likelihood(frame)
    odd = Dag.from_arcs([("column_names", "columns")])
    data = pd.DataFrame({"column_names": ["a", "b", "a"], "columns": ["p", "q", "q"], "collect": [1, 2, 1]})
    with pytest.warns(BayescoutWarning, match="column 'collect' of the data is left out"):
        fitted = fit(odd, data)
    assert fitted.log_likelihood(data).rows == 3
    assert len(fitted.predict(data[["columns"]], "column_names")) == 3


# ---- nodes without a column


@pytest.mark.parametrize("form", ["dict", "table", "file"])
def test_nodes_without_a_column_are_named_before_anything_else(form, tmp_path):
    columns = {"smoke": ["never seen", "yes"], "other": [1, 2]}
    data = {"dict": dict, "table": as_table, "file": lambda c: write(tmp_path / "d.csv", c)}[form](columns)
    with pytest.raises(NetworkError, match="no column for nodes 'asia', 'tub', 'lung'"):
        fit(asia(), data)
    with pytest.warns(BayescoutWarning, match="no column in the data for nodes 'asia', 'tub', 'lung'"):
        found = asia().log_likelihood({"smoke": ["no", "yes"]})  # they are summed out
    assert found.total == pytest.approx(2 * np.log(0.5))


# ---- the states of a network are the declared ones


@pytest.mark.parametrize("as_", [dict, as_table, pd.DataFrame], ids=["dict", "table", "pandas"])
def test_a_network_gives_its_states_to_what_is_fitted(as_):
    alarm = load_network("alarm")
    few = alarm.sample(50, seed=2)
    shown = (
        as_({name: few.column(name) for name in few.names})
        if as_ is not as_table
        else as_table(few.to_polars())
    )
    with_states = fit(alarm, shown)
    assert with_states.states == alarm.states
    assert with_states.n_parameters == alarm.n_parameters
    assert with_states.equals(fit(alarm.dag, few))


def test_declared_states_win_and_a_graph_declares_none():
    data = {"a": ["x", "y", "x"]}
    network = DiscreteNetwork(Dag.empty("a"), (("y", "x", "z"),), ([0.2, 0.3, 0.5],))
    assert fit(network, data).states == (("y", "x", "z"),)
    assert fit(network.dag, data).states == (("x", "y"),)
    assert fit(network, data, states={"a": ["x", "y", "q"]}).states == (("x", "y", "q"),)
    with pytest.raises(DataError, match=r"'w'.* not among its declared states: 'y', 'x', 'z'"):
        fit(network, {"a": ["x", "w"]})


# ---- types of states


def test_a_state_is_found_in_whatever_type_it_comes():
    """From a table as from a dict, with any order of states: 0, 0.0, False, "0" and "false" are one state."""
    network = DiscreteNetwork(
        Dag.from_arcs([("a", "b")]), ((False, True), ("x", "y")), ([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])
    )
    numbers, truths = {"a": [0, 1], "b": ["x", "y"]}, {"a": [False, True], "b": ["x", "y"]}
    assert network.predict({"a": truths["a"]}, "b") == ["x", "y"]
    assert network.log_likelihood(as_table(truths)) == network.log_likelihood(truths)
    others = [{"a": cells, "b": ["x", "y"]} for cells in ([0.0, 1.0], ["0", "1"], ["false", "TRUE"])]
    for data in (numbers, as_table(numbers), as_table(numbers, states={"a": [1, 0]}), *others):
        assert network.log_likelihood(data) == network.log_likelihood(truths)
        assert network.row_log_likelihood(data).tolist() == network.row_log_likelihood(truths).tolist()
        assert network.predict(data, "b") == ["x", "y"]
        assert fit(network, data).states == network.states
    for value in (0, 0.0, "0", False, np.int8(0), np.False_, "False"):
        assert network.query("b", {"a": value}).probabilities.tolist() == pytest.approx([0.9, 0.1])
    for data in ({"a": [0, 2]}, {"a": ["2", "1"]}, as_table({"a": [2, 1]})):
        with pytest.warns(BayescoutWarning, match=r"count as missing: 'a' \(1, such as '?2'?\)"):
            network.predict(data, "b")


def test_a_number_is_never_offered_in_place_of_another():
    network = DiscreteNetwork(Dag.empty("a"), ((5.0, 7.0),), ([0.5, 0.5],))
    for value in (9.0, 9, "9.0", "9"):
        with pytest.raises(UnknownNameError, match=r"known: 5\.0, 7\.0"):
            network.query("a", {"a": value})


# ---- what cannot be read


def test_a_number_of_another_type_that_was_never_seen_is_summed_out():
    network = fit(Dag.from_arcs([("c", "k")]), {"c": [4, 6, 8] * 40, "k": [*"abb"] * 40})
    expected = "b"  # of two thirds of the rows
    for strange in (5, 5.5, np.float32(5.5), Fraction(11, 2)):
        with pytest.warns(BayescoutWarning, match="count as missing"):
            assert network.predict({"c": [strange]}, "k") == [expected]
    with pytest.raises(NetworkError, match="convert the column to the type of the states"):
        network.predict({"c": ["x"]}, "k")


def test_missing_values_are_summed_out():
    gaps = {"smoke": ["yes", None], "xray": ["no", "yes"]}
    found = asia().predict_proba(gaps, "lung")
    assert found[1] == pytest.approx(asia().predict_proba({"xray": ["yes"]}, "lung")[0])
    with pytest.warns(BayescoutWarning, match="1 of 2 rows are left out"):
        complete = as_table(gaps, missing="drop")
    assert len(asia().predict(complete, "lung")) == 1


def test_an_unknown_state_declared_for_no_column_is_refused():
    with pytest.raises(UnknownNameError, match="'b'"):
        fit(Dag.empty("a"), {"a": ["x", "y"]}, states={"b": ["x"]})


# ---- networks as values


def test_constructors_copy_and_take_lists():
    table, mask = np.array([0.25, 0.75]), np.array(False)
    network = DiscreteNetwork(Dag.empty("a"), [["x", "y"]], [table], [mask])
    table[:] = 0.5
    assert network.tables[0].tolist() == [0.25, 0.75]
    assert network.states == (("x", "y"),)
    assert DiscreteNetwork(Dag.empty("a"), [["x", "y"]], [[0.25, 0.75]]).equals(network)
    assert (
        DiscreteNetwork(Dag.empty("a"), [["x", "y"]], [np.float32([0.25, 0.75])]).tables[0].dtype
        == np.float64
    )
    intercepts = np.zeros(2)
    line = GaussianNetwork(LINE.dag, intercepts, [[], np.array([2])], np.array([1, 1]))
    intercepts[:] = 7
    assert line.intercepts.tolist() == [0, 0]
    assert {array.dtype for array in (line.intercepts, line.variances, *line.coefficients)} == {
        np.dtype(float)
    }


@pytest.mark.parametrize("tables", [[[[0.5, 0.5], [1.0]]], [["x", "y"]], [None]])
def test_what_is_no_table_is_refused(tables):
    with pytest.raises(NetworkError, match="table"):
        DiscreteNetwork(Dag.empty("a"), [["x", "y"]], tables)
    with pytest.raises(NetworkError, match="list of intercepts"):
        GaussianNetwork(Dag.empty("a"), ["x"], [[]], [1.0])


@pytest.mark.parametrize(
    "again", [lambda n: pickle.loads(pickle.dumps(n)), copy.deepcopy], ids=["pickle", "deep"]
)
@pytest.mark.parametrize("kind", MODELS)
def test_a_copy_is_equal_and_read_only(kind, again):
    model = MODELS[kind]
    _ = model.n_parameters, model.sample(3)
    back = again(model)
    assert back.equals(model)
    arrays = (
        (*back.tables, *back.undefined)
        if kind == "discrete"
        else (back.intercepts, back.variances, *back.coefficients)
    )
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
