"""Networks whose states are intervals of a number take raw numbers, wherever data and evidence are taken."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, DataError, NetworkError, UnknownNameError
from bayescout.network import Tabular

RNG = np.random.default_rng(7)
N = 400
LENGTH = np.round(RNG.normal(3.0, 2.0, N), 2)
RAW = {
    "length": LENGTH,
    "width": LENGTH / 2 + RNG.normal(0, 0.4, N),
    "kind": np.where(LENGTH + RNG.normal(0, 0.5, N) > 3, "long", "short").tolist(),
}
TABLE = bs.discretise(RAW, bins=4)
MODEL = bs.learn(TABLE, search="hill-climb", score="bic").fit(prior="laplace")


def interval(value, cuts):
    """The interval by its definition: the number of cuts below the value."""
    return sum(point < value for point in cuts)


def test_the_model_keeps_the_cuts():
    assert MODEL.cuts == TABLE.cuts
    assert set(MODEL.cuts) == {"length", "width"}
    assert "cut           2 nodes" in MODEL.summary()
    assert TABLE.reading == "400 rows; 3 categorical (2 cut into intervals); no cells missing"
    assert MODEL.sample(5).cuts == MODEL.cuts


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**299), 10**299))
def test_a_raw_number_is_the_evidence_of_its_interval(value):
    cuts, states = MODEL.cuts["length"], MODEL.states[MODEL.dag.index("length")]
    state = states[interval(value, cuts)]
    expected = MODEL.query("kind", {"length": state})
    assert MODEL.query("kind", {"length": value}).probabilities.tolist() == expected.probabilities.tolist()
    text = MODEL.query(f"kind | length={value}")
    assert text.probabilities.tolist() == expected.probabilities.tolist()


@pytest.mark.parametrize("value", MODEL.cuts["length"])
def test_a_cut_point_belongs_to_the_interval_below_it(value):
    states = MODEL.states[MODEL.dag.index("length")]
    place = MODEL.cuts["length"].index(value)
    below, above = (
        MODEL.query("kind", {"length": states[place]}),
        MODEL.query("kind", {"length": states[place + 1]}),
    )
    assert MODEL.query("kind", {"length": value}).probabilities.tolist() == below.probabilities.tolist()
    more = np.nextafter(value, np.inf)
    assert MODEL.query("kind", {"length": more}).probabilities.tolist() == above.probabilities.tolist()


@pytest.mark.parametrize("value", ["wide", True, None, "(1, 2]", float("nan")])
def test_evidence_that_is_no_number_and_no_interval_is_refused(value):
    with pytest.raises(UnknownNameError, match="length"):
        MODEL.query("kind", {"length": value})


def every_form(tmp_path):
    columns = {name: list(values) for name, values in RAW.items()}
    pd.DataFrame(columns).to_csv(tmp_path / "raw.csv", index=False)
    return {
        "dict": columns,
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
        "arrow": pl.DataFrame(columns).to_arrow(),
        "objects": pd.DataFrame(columns, dtype=object),
        "texts": pd.DataFrame(columns).astype(str),
        "csv": tmp_path / "raw.csv",
        "raw table": bs.as_table(columns),
        "cut table": TABLE,
        "labels": TABLE.to_pandas(),
    }


def test_raw_rows_in_every_form_give_the_same_answers(tmp_path):
    proba, likelihood = MODEL.predict_proba(TABLE, "kind"), MODEL.log_likelihood(TABLE)
    for form, data in every_form(tmp_path).items():
        assert np.array_equal(MODEL.predict_proba(data, "kind"), proba), form
        assert MODEL.log_likelihood(data) == likelihood, form
        assert bs.fit(MODEL, data, prior="laplace").equals(MODEL), form
        assert bs.score(MODEL, data) == bs.score(MODEL.dag, TABLE), form


@pytest.mark.parametrize("whole", [False, True])
def test_whole_numbers_that_read_as_states_are_cut_all_the_same(whole):
    values = [1, 2, 3, 4, 5] * 4 if whole else [1.0, 2.0, 3.0, 4.0, 5.5] * 4
    for data in ({"length": values}, bs.as_table({"length": values})):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = MODEL.predict_proba(data, "kind")
        expected = [MODEL.query("kind", {"length": value}).probabilities.tolist() for value in values]
        assert found.tolist() == expected


def test_missing_cells_and_values_that_are_no_numbers_are_summed_out():
    data = pd.DataFrame({"length": ["1.5", None, "broken", "99"], "width": [0.4, np.nan, np.nan, np.nan]})
    with pytest.warns(BayescoutWarning, match=r"'length' \(1, such as 'broken'\) of 4 rows"):
        found = MODEL.predict_proba(data, "kind")
    expected = [
        MODEL.query("kind", {"length": 1.5, "width": 0.4}),
        MODEL.query("kind"),
        MODEL.query("kind"),
        MODEL.query("kind", {"length": 99}),
    ]
    assert np.allclose(found, [one.probabilities for one in expected], atol=1e-12)


def test_a_file_of_more_distinct_numbers_than_states_is_cut(tmp_path):
    values = np.random.default_rng(0).normal(3, 2, 70_000)
    pl.DataFrame({"length": values}).write_csv(tmp_path / "many.csv")
    found = MODEL.predict(tmp_path / "many.csv", "kind")
    assert found == MODEL.predict({"length": values}, "kind")


def test_imputing_raw_rows_gives_intervals():
    filled = MODEL.impute({"length": [1.0, None], "kind": [None, "long"]})
    labels = MODEL.states[MODEL.dag.index("length")]
    assert filled.column("length")[0] == labels[interval(1.0, MODEL.cuts["length"])]
    assert filled.cuts == {"length": MODEL.cuts["length"]}


def test_fitting_again_refuses_what_is_no_number():
    with pytest.raises(DataError, match="'broken'"):
        bs.fit(MODEL, {**RAW, "length": ["broken", *LENGTH[1:].tolist()]})


@pytest.mark.parametrize("ending", [".json", ".bif", ".json.gz"])
def test_files_keep_the_cuts(tmp_path, ending):
    MODEL.save(tmp_path / f"model{ending}")
    again = bs.read_network(tmp_path / f"model{ending}")
    assert again.cuts == MODEL.cuts
    assert again.predict(RAW, "kind") == MODEL.predict(RAW, "kind")


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_keep_the_cuts(copied):
    assert copied(MODEL).cuts == MODEL.cuts
    assert copied(MODEL).equals(MODEL)
    assert copied(TABLE).cuts == TABLE.cuts


def test_a_state_for_missing_cells_stays_behind_the_intervals():
    cut = bs.discretise({"x": [1.0, 2.0, 3.0, 4.0, None, 2.5], "y": [*"ababab"]}, bins=2)
    table = bs.as_table(cut, missing="state")
    assert table.cuts == cut.cuts
    model = bs.fit(bs.Dag.from_arcs([("y", "x")]), table, prior="laplace")
    assert model.query("y", {"x": 4.0}).probabilities.tolist() == pytest.approx(
        model.query("y", {"x": table.states[0][1]}).probabilities.tolist()
    )
    assert model.query("y", {"x": "missing"}) is not None


def test_states_that_are_changed_lose_the_cuts():
    column = TABLE.states[TABLE.index("length")]
    changed = bs.as_table(TABLE, states={"length": column[::-1]})
    assert "length" not in changed.cuts


@pytest.mark.parametrize(
    ("states", "cuts", "told"),
    [
        (("low", "high"), (1.0, 2.0), "2 cuts make 3 intervals"),
        (("low", "high", "top"), (2.0, 1.0), "ascending"),
        (("low", "high"), (float("nan"),), "finite"),
        (("1", "high"), (1.0,), "taken for a raw number"),
        ((0, 1), (1.0,), "taken for a raw number"),
    ],
)
def test_cuts_that_do_not_fit_the_states_are_refused(states, cuts, told):
    with pytest.raises(NetworkError, match=told):
        bs.Network(
            bs.Dag(("x",), ((),)), (Tabular(states, np.full(len(states), 1 / len(states)), None, cuts),)
        )


def test_a_mixed_network_takes_raw_numbers_for_the_nodes_that_were_cut(tmp_path):
    table = bs.discretise(RAW, columns=["length"], bins=3)
    model = bs.learn(table, search="hill-climb", score="bic").fit()
    assert model.is_mixed
    model.save(tmp_path / "model.json")
    again = bs.read_network(tmp_path / "model.json")
    assert again.cuts == model.cuts == {"length": table.cuts["length"]}
    assert again.predict(RAW, "kind") == model.predict(table, "kind")
    assert bs.score(model, RAW) == bs.score(model.dag, table)


@pytest.mark.parametrize("value", [10**400, -(10**400), float("inf"), float("-inf"), np.float32(1e30)])
def test_numbers_beyond_the_range_fall_in_the_first_or_last_interval(value):
    states = MODEL.states[MODEL.dag.index("length")]
    expected = MODEL.query("kind", {"length": states[-1 if value > 0 else 0]})
    assert MODEL.query("kind", {"length": value}).probabilities.tolist() == expected.probabilities.tolist()


def test_networks_fitted_to_incomplete_rows_of_both_kinds_keep_the_cuts():
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    columns = {"x": x, "y": x + rng.normal(size=200), "k": np.where(x > 0, "a", "b").tolist()}
    columns["y"][::7] = np.nan
    columns["k"][::9] = [None] * len(columns["k"][::9])
    result = bs.learn(columns, "hill-climb", "bic", discretise={"x": 3})
    model = result.fit()
    assert model.cuts == result.table.cuts
    assert model.predict({"x": [1.2, -1.2], "y": [1.0, None]}, "k") == ["a", "b"]
