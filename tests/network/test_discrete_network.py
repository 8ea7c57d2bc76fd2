"""The discrete network as a value: equality, text, files, frames at the door."""

from contextlib import nullcontext

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given

from bayescout.errors import BayescoutWarning, NetworkError, UnknownNameError
from bayescout.formats import read_network
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, fit
from tests.network.asia_network import asia
from tests.network.drawn_networks import discrete_networks


def test_equality_looks_at_graph_states_tables_and_undefined_rows():
    dag, table = Dag.empty("a"), np.array([0.25, 0.75])
    model = DiscreteNetwork(dag, ((0, 1),), (table,))
    assert model.equals(DiscreteNetwork(dag, ((0, 1),), (table,)))
    near = DiscreteNetwork(dag, ((0, 1),), (np.array([0.26, 0.74]),))
    assert not model.equals(near)
    assert model.equals(near, tolerance=0.02)
    assert not model.equals(DiscreteNetwork(dag, ((1, 0),), (table,)))
    assert not model.equals(DiscreteNetwork(dag, ((False, True),), (table,)))
    assert not model.equals(DiscreteNetwork(Dag.empty("b"), ((0, 1),), (table,)))
    assert not model.equals(DiscreteNetwork(dag, ((0, 1),), (table,), (np.array(True),)))
    assert not model.equals("a")


def test_parameters_names_and_text():
    model = asia()
    assert model.nodes[0] == "asia"
    assert model.n_parameters == 1 + 2 + 1 + 2 + 2 + 4 + 2 + 4
    assert repr(model) == "<DiscreteNetwork 'asia': 8 nodes, 8 arcs, 18 parameters>"
    assert "18" in model.summary()
    with pytest.raises(UnknownNameError, match="'lung'"):
        model.cpt("lungs")


@given(discrete_networks())
def test_a_table_to_be_read_lists_every_configuration_once(model):
    for node, label in enumerate(model.nodes):
        cpt = model.cpt(label)
        rows = list(cpt.rows())
        assert len(rows) == cpt.n_rows
        for assignment, probabilities in rows:
            where = tuple(model.states[p].index(assignment[model.nodes[p]]) for p in model.dag.parents[node])
            assert probabilities == tuple(model.tables[node][where].tolist())
        assert len(str(cpt).splitlines()) == 2 + cpt.n_rows


def test_a_long_table_is_cut_as_text_only():
    dag = Dag.from_arcs([(f"p{i}", "c") for i in range(7)])
    tables = tuple(np.full((2,) * (len(p) + 1), 0.5) for p in dag.parents)
    cpt = DiscreteNetwork(dag, ((0, 1),) * 8, tables).cpt("c")
    assert str(cpt).splitlines()[-1] == "  ... 64 more rows"
    assert len(list(cpt.rows())) == 128


def test_a_saved_network_comes_back(tmp_path):
    asia().save(tmp_path / "asia.bif")
    assert read_network(tmp_path / "asia.bif").equals(asia())


def test_a_frame_without_the_target_is_enough_to_predict():
    model = asia()
    frame = pandas.DataFrame({"xray": ["yes", "no"], "smoke": ["yes", "no"], "patient": ["Ann", "Bo"]})
    with pytest.warns(BayescoutWarning, match="column 'patient' of the data is left out"):
        answers = model.predict_proba(frame, "lung")
    for row, answer in zip(frame.itertuples(), answers, strict=True):
        expected = model.query("lung", {"xray": row.xray, "smoke": row.smoke})
        assert answer == pytest.approx(expected.probabilities)
    assert model.predict(frame[["xray", "smoke"]], "lung") == ["yes", "no"]


@pytest.mark.parametrize("kind", ["mapping", "pandas", "polars", "pyarrow"])
def test_columns_the_network_does_not_use_need_not_make_sense(kind):
    """An identifier, a column with gaps and a constant one: none of them is read."""
    model = asia()
    plain = model.sample(20, seed=2)
    columns = {name: plain.column(name) for name in plain.names}
    extra = {"id": [f"p{i}" for i in range(20)], "gaps": [None, *range(19)], "same": ["x"] * 20}
    frame = framed(kind, {**extra, **columns})
    assert model.log_likelihood(frame).total == pytest.approx(model.log_likelihood(plain).total)
    left_out = "columns 'id', 'gaps', 'same' of the data are left out"
    with pytest.warns(BayescoutWarning, match=left_out) as caught:
        assert np.array_equal(model.predict_proba(frame, "lung"), model.predict_proba(plain, "lung"))
    assert len(caught) == 1
    told_before = kind != "mapping"  # of a dict nothing is remembered
    with nullcontext() if told_before else pytest.warns(BayescoutWarning, match=left_out):
        fitted = fit(model.dag, frame, "laplace", states=dict(zip(model.nodes, model.states, strict=True)))
    assert fitted.equals(fit(model.dag, plain, "laplace"))


def framed(kind, columns):
    makers = {
        "mapping": dict,
        "pandas": pandas.DataFrame,
        "polars": polars.DataFrame,
        "pyarrow": pyarrow.table,
    }
    return makers[kind](columns)


def test_a_file_is_data_too(tmp_path):
    model = asia()
    plain = model.sample(30, seed=1)
    rows = zip(*(plain.column(name) for name in plain.names), strict=True)
    lines = [",".join(plain.names), *(",".join(row) for row in rows)]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    path = tmp_path / "data.csv"
    assert model.log_likelihood(path).total == pytest.approx(model.log_likelihood(plain).total)
    names = [name for name in plain.names if name != "lung"]
    assert np.array_equal(model.predict_proba(path, "lung"), model.predict_proba(plain.select(names), "lung"))
    assert fit(model, path).equals(fit(model, plain))


def test_a_value_outside_the_states_counts_as_missing_and_one_of_another_type_is_refused():
    with pytest.warns(BayescoutWarning, match=r"count as missing: 'xray' \(1, such as 'maybe'\) of 2 rows"):
        asia().predict({"xray": ["yes", "maybe"]}, "lung")
    with pytest.raises(
        NetworkError, match=r"'xray' has the value 1 \(int\) in row 0 .*to the type of the states"
    ):
        asia().predict({"xray": [1, 0]}, "lung")


def test_a_prediction_needs_a_known_target():
    with pytest.raises(UnknownNameError, match="'lung'"):
        asia().predict({"xray": ["yes"]}, "lungs")
