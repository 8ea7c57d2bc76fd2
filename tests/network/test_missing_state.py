"""Networks learned with missing="state" take an empty cell as that state, wherever data are taken."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, FormatError, NetworkError, UnknownNameError
from bayescout.network import Tabular
from tests.cli.test_cli import run, run_json
from tests.strategies import examples

RNG = np.random.default_rng(3)
N = 500
SICK = RNG.random(N) < 0.4
TEST = np.where(SICK ^ (RNG.random(N) < 0.2), "high", "low").astype(object)
TEST[~SICK & (RNG.random(N) < 0.7)] = None  # the healthy are seldom tested: being missing tells
AGE = np.where(RNG.random(N) < 0.2, np.nan, np.round(50 + 10 * SICK + RNG.normal(0, 8, N), 1))
RAW = {"sick": np.where(SICK, "yes", "no").tolist(), "test": TEST.tolist(), "age": AGE.tolist()}
MODEL = bs.learn(RAW, missing="state", discretise=3, search="hill-climb", score="bic").fit(prior="laplace")
FILLED = {
    "sick": RAW["sick"],
    "test": ["missing" if cell is None else cell for cell in RAW["test"]],
    "age": ["missing" if cell != cell else cell for cell in RAW["age"]],
}


def forms(tmp_path):
    frame = pd.DataFrame(RAW)
    frame.to_csv(tmp_path / "raw.csv", index=False)
    frame.to_csv(tmp_path / "marked.csv", index=False, na_rep="NA")
    return {
        "dict": RAW,
        "pandas": frame,
        "objects": frame.astype(object),
        "polars": pl.DataFrame(RAW, strict=False),
        "arrow": pl.DataFrame(RAW, strict=False).to_arrow(),
        "csv": tmp_path / "raw.csv",
        "kept": bs.as_table(RAW),
        "kept and cut": bs.discretise(RAW, bins=3),
    }


def test_the_network_knows_the_state():
    assert MODEL.missing_states == {"test": "missing", "age": "missing"}
    assert "missing       a state of 2 nodes" in MODEL.summary()
    assert MODEL.sample(3).missing_states == MODEL.missing_states


def test_an_empty_cell_is_the_state_in_every_form(tmp_path):
    proba, likelihood = MODEL.predict_proba(FILLED, "sick"), MODEL.log_likelihood(FILLED)
    assert not np.allclose(
        proba,
        bs.learn(RAW, discretise=3, search="hill-climb", score="bic")
        .fit(prior="laplace")
        .predict_proba(RAW, "sick"),
    )
    for form, data in forms(tmp_path).items():
        assert np.array_equal(MODEL.predict_proba(data, "sick"), proba), form
        assert MODEL.log_likelihood(data) == likelihood, form
        assert bs.fit(MODEL, data, prior="laplace").equals(MODEL), form
        assert bs.score(MODEL, data) == bs.score(MODEL, FILLED), form
        assert MODEL.impute(data).column("test") == FILLED["test"], form


def test_texts_that_mean_missing_are_the_state(tmp_path):
    forms(tmp_path)
    with pytest.warns(BayescoutWarning, match="cells that count as missing"):
        found = MODEL.predict_proba(tmp_path / "marked.csv", "sick")
    assert np.array_equal(found, MODEL.predict_proba(FILLED, "sick"))


@given(st.lists(st.tuples(st.sampled_from(["high", "low", None, "strange"]), st.none() | st.floats(0, 99))))
@settings(max_examples=examples(40))
def test_rows_are_the_queries_of_their_cells(rows):
    """Each row by itself, as evidence: an empty cell is the state, a value never seen tells nothing."""
    rows = [("high", 1.0), *rows]
    data = {"test": [test for test, _ in rows], "age": [age for _, age in rows]}
    expected = []
    for test, age in rows:
        evidence = {"age": "missing" if age is None else age, "test": "missing" if test is None else test}
        if test == "strange":
            del evidence["test"]
        expected.append(MODEL.query("sick", evidence).probabilities)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)
        found = MODEL.predict_proba(data, "sick")
    assert np.allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("value", [None, float("nan"), pd.NA, np.float64("nan")])
def test_evidence_that_is_missing_is_the_state(value):
    expected = MODEL.query("sick", {"test": "missing"}).probabilities.tolist()
    assert MODEL.query("sick", {"test": value}).probabilities.tolist() == expected
    with pytest.raises(UnknownNameError):
        MODEL.query("test", {"sick": value})  # had no missing cell, so it has no state for one


def test_empty_text_in_a_question_is_the_state():
    expected = MODEL.query("sick", {"test": "missing"}).probabilities.tolist()
    assert MODEL.query('sick | test=""').probabilities.tolist() == expected


@pytest.mark.parametrize("ending", [".json", ".bif"])
def test_files_keep_it(tmp_path, ending):
    path = tmp_path / f"model{ending}"
    MODEL.save(path)
    again = bs.read_network(path)
    assert again.missing_states == MODEL.missing_states
    assert np.array_equal(again.predict_proba(RAW, "sick"), MODEL.predict_proba(FILLED, "sick"))


def test_a_mixed_network_keeps_it_too(tmp_path):
    data = {**RAW, "age": np.nan_to_num(AGE, nan=50.0) + RNG.normal(size=N)}
    model = bs.learn(data, missing="state", search="hill-climb", score="bic").fit(prior="laplace")
    model.save(tmp_path / "mixed.json")
    again = bs.read_network(tmp_path / "mixed.json")
    filled = {**data, "test": FILLED["test"]}
    assert again.kind == "mixed"
    assert np.array_equal(again.predict_proba(data, "sick"), model.predict_proba(filled, "sick"))
    assert again.log_likelihood(data) == model.log_likelihood(filled)


def test_copies_keep_it():
    for again in (pickle.loads(pickle.dumps(MODEL)), copy.deepcopy(MODEL)):
        assert again.missing_states == MODEL.missing_states


def test_a_table_that_gets_other_states_has_none():
    table = bs.as_table(RAW, missing="state", kinds={"age": "discrete"}, columns=["test"])
    assert table.missing_states == {"test": "missing"}
    assert bs.as_table(table, drop=[]).missing_states == {"test": "missing"}
    dropped = bs.as_table({"test": ["a", "b", "a"]}, missing="state")
    assert dropped.missing_states == {}


def test_the_state_has_another_name_where_the_name_is_taken():
    cells = ["missing", "there", None, "there"] * 20
    other = ["x", "y", "y", "y"] * 20
    model = bs.learn({"a": cells, "b": other}, missing="state", search="hill-climb", score="bic").fit(
        prior="laplace"
    )
    assert model.missing_states == {"a": "missing_2"}
    found = model.predict_proba({"a": ["missing", None]}, "b")
    expected = [model.query("b", {"a": state}).probabilities for state in ("missing", "missing_2")]
    assert np.array_equal(found, expected)


def test_a_column_of_empty_cells_alone_can_be_predicted_from():
    found = MODEL.predict_proba({"test": [None, None]}, "sick")
    assert found[0].tolist() == pytest.approx(MODEL.query("sick", {"test": "missing"}).probabilities.tolist())


def test_the_command_line_takes_an_empty_cell_as_the_state(tmp_path):
    MODEL.save(tmp_path / "model.json")
    (tmp_path / "new.csv").write_text("test,age\nhigh,40\n,40\n,\n")
    found = run_json("predict", tmp_path / "model.json", tmp_path / "new.csv", "--target", "sick", "--proba")
    data = {"test": ["high", "missing", "missing"], "age": [40, 40, "missing"]}
    assert found["predictions"]["P(sick=yes)"] == MODEL.predict_proba(data, "sick")[:, 1].tolist()
    assert found["empty_cells"] == []
    code, out = run("query", tmp_path / "model.json", 'sick | test=""')
    assert code == 0, out
    assert "0.0048" in out


def test_a_state_that_the_node_lacks_is_refused(tmp_path):
    with pytest.raises(NetworkError, match="no state 'gone'"):
        bs.Network(bs.Dag(("a",), ((),)), (Tabular(("x", "y"), [0.5, 0.5], missing_state="gone"),))
    MODEL.save(tmp_path / "model.bif")
    text = (tmp_path / "model.bif").read_text()
    bad = text.replace('bayescout_missing = "missing"', 'bayescout_missing = "gone"')
    assert bad != text
    (tmp_path / "bad.bif").write_text(bad)
    with pytest.raises(FormatError, match="no state of the variable"):
        bs.read_network(tmp_path / "bad.bif")


def test_a_saved_result_takes_its_data_again(tmp_path):
    result = bs.learn(RAW, missing="state", discretise=3, search="hill-climb", score="bic")
    result.save(tmp_path / "result.json")
    again = bs.Result.load(tmp_path / "result.json", data=RAW)
    assert again.fit(prior="laplace").missing_states == MODEL.missing_states
