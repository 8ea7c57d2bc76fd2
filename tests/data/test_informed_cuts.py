"""Cuts that look at other columns: minimum description length, and Hartemink's merging."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.data.description_length import mdl_cuts
from bayescout.data.discretise import cut_by
from bayescout.data.hartemink import merged_ends
from bayescout.errors import BayescoutWarning, SettingError, UnknownNameError
from tests.reference import discretising as twin

RNG = np.random.default_rng(3)
X = RNG.normal(size=600)
DATA = {
    "x": X,
    "noise": RNG.normal(size=600),
    "y": X + RNG.normal(size=600) / 2,
    "k": np.digitize(X, [-1.0, 0.5]).tolist(),
    "coin": [*"ht"] * 300,
}


@st.composite
def pairs_of_value_and_state(draw):
    """Values that tie, and states that follow them with some noise."""
    size = draw(st.integers(1, 60))
    values = draw(st.lists(st.integers(0, 15), min_size=size, max_size=size))
    noise = draw(st.lists(st.integers(0, 8), min_size=size, max_size=size))
    return [(float(v), (v > 6) + (v > 11) if n else n % 3) for v, n in zip(values, noise, strict=True)]


@given(pairs_of_value_and_state())
def test_mdl_is_the_recursion_over_rows(pairs):
    pairs = sorted(pairs)
    values = np.array([value for value, _ in pairs])
    cuts, saved = mdl_cuts(values, np.array([state for _, state in pairs]), np.ones(len(pairs)))
    below = twin.mdl_cuts(pairs)
    assert len(cuts) == len(below)
    for cut, low in zip(cuts, below, strict=True):
        assert low <= cut < min(values[values > low])
    assert (saved > 0) == bool(cuts)


@given(pairs_of_value_and_state())
def test_weights_are_repeated_rows(pairs):
    pairs = sorted(pairs)
    values, states = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    twice = mdl_cuts(np.repeat(values, 2), np.repeat(states, 2), np.ones(2 * len(pairs)))
    once = mdl_cuts(values, states, np.full(len(pairs), 2.0))
    assert once[0] == twice[0]
    assert once[1] == pytest.approx(twice[1])


def test_mdl_finds_the_cuts_behind_the_states():
    with pytest.warns(BayescoutWarning, match="no cut of 'noise' tells enough"):
        table = bs.discretise(DATA, "mdl")
    low, high = table.cuts["x"]
    assert low == pytest.approx(-1.0, abs=0.05)
    assert high == pytest.approx(0.5, abs=0.05)
    assert table.cuts["noise"] == ()
    assert table.states[table.index("noise")] == ("(-inf, inf)",)
    assert bs.discretise(DATA, "mdl", columns=["x"], target="k").cuts["x"] == (low, high)
    with pytest.warns(BayescoutWarning, match="no cut of 'x'"):
        assert bs.discretise(DATA, "mdl", columns=["x"], target="coin").cuts["x"] == ()


@pytest.mark.parametrize(
    ("data", "options", "told"),
    [
        ({"x": X, "y": DATA["y"]}, {}, "there is none; use 'hartemink'"),
        (DATA, {"target": "y"}, "must be a discrete column"),
    ],
)
def test_mdl_needs_a_discrete_column(data, options, told):
    with pytest.raises(SettingError, match=told):
        bs.discretise(data, "mdl", **options)
    with pytest.raises(UnknownNameError):
        bs.discretise(DATA, "mdl", target="nothing")
    with pytest.raises(SettingError, match="'quantile' has no use for 'k'"):
        bs.discretise(DATA, target="k")


@st.composite
def columns_of_codes(draw):
    """Columns that tell about one another, some with missing cells."""
    size = draw(st.integers(5, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    base = rng.integers(0, 5, size)
    columns = []
    for _ in range(draw(st.integers(2, 4))):
        column = np.where(rng.random(size) < 0.4, rng.integers(0, 5, size), base)
        gone = rng.random(size) < draw(st.sampled_from([0.0, 0.2]))
        columns.append([None if no else int(c) for c, no in zip(column, gone, strict=True)])
    assume(all(set(column) >= set(range(5)) for column in columns))
    return columns


@given(columns_of_codes(), st.integers(2, 4))
def test_hartemink_is_the_merging_of_rows(columns, bins):
    wanted = dict.fromkeys(range(1, len(columns)), bins)
    codes = [np.array([-1 if c is None else c for c in column]) for column in columns]
    ends = merged_ends(codes, [5] * len(codes), wanted, np.ones(len(codes[0])))
    expected = twin.merged_codes(columns, wanted)
    for place, own in ends.items():
        cut = [None if c is None else sum(c >= end for end in own) for c in columns[place]]
        assert cut == expected[place]


def test_hartemink_keeps_more_information_than_quantiles_and_the_order_does_not_matter():
    def told(table):
        codes = {name: table.array(name).tolist() for name in table.names}
        return twin.information(codes["x"], codes["k"]) + twin.information(codes["y"], codes["k"])

    first = bs.discretise(DATA, "hartemink", bins=3)
    assert told(first) > told(bs.discretise(DATA, bins=3))
    assert all(len(cuts) == 2 for cuts in first.cuts.values())
    turned = bs.discretise({name: DATA[name] for name in reversed(DATA)}, "hartemink", bins=3)
    assert turned.cuts == first.cuts
    mixed = RNG.permutation(600)
    moved = {name: np.array(column)[mixed].tolist() for name, column in DATA.items()}
    assert bs.discretise(moved, "hartemink", bins=3).cuts == first.cuts


def test_hartemink_needs_another_column():
    with pytest.raises(SettingError, match="there is one; use 'quantile'"):
        bs.discretise({"x": X}, "hartemink")


@pytest.mark.parametrize("method", ["mdl", "hartemink"])
def test_missing_cells_stay_missing(method):
    gone = np.zeros(600, dtype=bool)
    gone[::7] = True
    data = {**DATA, "x": np.where(gone, np.nan, X)}
    data.pop("noise")
    table = bs.discretise(data, method)
    assert np.array_equal(table.missing_cells("x"), gone)
    assert len(table.cuts["x"]) >= 2


# ---- as a setting


@pytest.mark.parametrize(
    ("choice", "same"),
    [
        (4, {"bins": 4}),
        ("hartemink", {"method": "hartemink"}),
        ("hartemink:2", {"method": "hartemink", "bins": 2}),
        ("width:5", {"method": "width", "bins": 5}),
        ("mdl:k", {"method": "mdl", "target": "k"}),
        ({"x": 4}, {"columns": ["x"], "bins": {"x": 4}}),
        ({"x": 4, "y": [0.0, 1.0]}, {"columns": ["x", "y"], "bins": {"x": 4}, "cuts": {"y": [0.0, 1.0]}}),
        (bs.Discretiser((("x", (0.0, 1.5)),)), {"cuts": {"x": [0.0, 1.5]}, "columns": ["x"]}),
    ],
)
@pytest.mark.filterwarnings("ignore:no cut of")
def test_learn_cuts_first(choice, same, tmp_path):
    table = bs.discretise(DATA, **same)
    assert cut_by(DATA, choice).cuts == table.cuts
    result = bs.learn(DATA, discretise=choice, search="hill-climb", score="bic")
    assert result.dag == bs.learn(table, search="hill-climb", score="bic").dag
    assert result.fit(prior="laplace" if table.is_discrete else "mle").cuts == table.cuts
    assert "cut into intervals" in result.data.summary
    assert bs.Session(DATA, discretise=choice, search="hill-climb", score="bic").run().dag == result.dag
    result.save(tmp_path / "result.json")
    again = bs.Result.load(tmp_path / "result.json")
    assert again.settings.discretise == result.settings.discretise
    assert {one.name: one.cuts for one in again.data.columns if one.cuts is not None} == table.cuts


@pytest.mark.parametrize("choice", [1, True, 2.5, "median", "width:x", {"x": 1}, {"k": "a"}])
def test_a_wrong_choice_is_refused(choice):
    with pytest.raises(SettingError):
        bs.learn(DATA, discretise=choice, search="hill-climb", score="bic")


def test_missing_cells_of_cut_columns_can_be_states():
    data = {**DATA, "x": np.where(X > 1.5, np.nan, X)}
    result = bs.learn(data, discretise=3, missing="state", search="hill-climb", score="bic")
    assert result.table.states[result.table.index("x")][-1] == "missing"
    assert set(result.fit(prior="laplace").cuts) == {"x", "y", "noise"}
