"""Cuts: where they fall, that they are kept, and that labels tell intervals apart."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bayescout.data import Discretiser, as_table, discretise
from bayescout.data.intervals import interval_labels
from bayescout.errors import BayescoutWarning, DataError, SettingError, UnknownNameError

pytestmark = pytest.mark.filterwarnings("ignore:constant columns")

METHODS = ["quantile", "width", "kmeans"]
numbers = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e100, max_value=1e100)
ties = st.integers(0, 4).map(float)
samples = st.lists(st.one_of(numbers, ties), min_size=1, max_size=40)


def interval(label):
    low, high = label.strip("(])").split(", ")
    return float(low), float(high)


def test_equal_frequency():
    table = discretise({"x": np.arange(1.0, 10.0)}, columns=["x"])
    assert table.states == (("(-inf, 3.5]", "(3.5, 6.5]", "(6.5, inf)"),)
    assert table.codes.tolist() == [[0, 0, 0, 1, 1, 1, 2, 2, 2]]


def test_equal_width():
    table = discretise({"x": np.array([0.0, 1.0, 2.0, 9.0])}, method="width", columns=["x"])
    assert table.states == (("(-inf, 3]", "(3, 6]", "(6, inf)"),)
    assert table.codes.tolist() == [[0, 0, 0, 2]]


def test_kmeans_finds_the_clusters():
    table = discretise({"x": np.array([1.0, 1.1, 1.2, 5.0, 5.1, 9.0, 9.1, 9.2, 9.3, 9.4])}, method="kmeans")
    assert table.codes.tolist() == [[0, 0, 0, 1, 1, 2, 2, 2, 2, 2]]


def test_given_cuts_are_used_as_they_are():
    table = discretise({"x": np.array([1.0, 1.5, 1.6, 9.0]), "y": np.array([1.0, 2.0, 3.0, 4.5])},
                       cuts={"x": [1.5, 3.2]}, columns=["x"])  # fmt: skip
    assert table.column("x") == ["(-inf, 1.5]", "(-inf, 1.5]", "(1.5, 3.2]", "(3.2, inf)"]
    assert table.kinds == ("discrete", "continuous")
    assert table.column("y") == [1.0, 2.0, 3.0, 4.5]


@pytest.mark.filterwarnings("ignore:fewer intervals")
@pytest.mark.parametrize("method", METHODS)
@given(cells=samples, bins=st.integers(2, 5))
def test_every_value_lies_in_its_interval(method, cells, bins):
    """Law: cuts ascend, at most `bins` intervals, and a cell's exact interval holds it."""
    fitted = Discretiser.fit({"x": np.array(cells)}, method=method, bins=bins, columns=["x"])
    cuts = [-np.inf, *fitted.cuts["x"], np.inf]
    assert len(cuts) <= bins + 1
    codes = fitted.apply({"x": np.array(cells)}).codes[0].tolist()
    for cell, code in zip(cells, codes, strict=True):
        assert cuts[code] < cell <= cuts[code + 1]
    if method != "width":
        assert set(codes) == set(range(len(cuts) - 1)), "an interval that no value has"


@pytest.mark.filterwarnings("ignore:fewer intervals")
@given(cells=st.lists(numbers, min_size=1, max_size=40, unique=True), bins=st.integers(2, 5))
def test_without_ties_frequencies_differ_by_one_at_most(cells, bins):
    counts = np.bincount(discretise({"x": np.array(cells)}, bins=bins, columns=["x"]).codes[0])
    assert counts.max() - counts.min() <= 1
    assert len(counts) == min(bins, len(cells))


@pytest.mark.filterwarnings("ignore:fewer intervals")
@given(cells=st.lists(st.integers(-1000, 1000).map(float), min_size=2, max_size=30), bins=st.integers(2, 4))
def test_kmeans_ends_where_no_value_is_nearer_to_another_mean(cells, bins):
    codes = discretise({"x": np.array(cells)}, method="kmeans", bins=bins, columns=["x"]).codes[0]
    means = [
        np.mean([c for c, k in zip(cells, codes, strict=True) if k == code])
        for code in range(codes.max() + 1)
    ]
    for cell, code in zip(cells, codes.tolist(), strict=True):
        assert abs(cell - means[code]) <= min(abs(cell - mean) for mean in means) + 1e-9


@pytest.mark.filterwarnings("ignore:fewer intervals")
@pytest.mark.parametrize("method", METHODS)
@given(cells=samples, seed=st.integers(0, 100))
def test_row_order_does_not_matter(method, cells, seed):
    shuffled = np.random.default_rng(seed).permutation(cells)
    cuts = Discretiser.fit({"x": np.array(cells)}, method=method, columns=["x"]).cuts["x"]
    assert cuts == pytest.approx(Discretiser.fit({"x": shuffled}, method=method, columns=["x"]).cuts["x"])


@pytest.mark.filterwarnings("ignore:fewer intervals")
@pytest.mark.parametrize("method", ["quantile", "kmeans"])
@given(cells=st.lists(ties, min_size=1, max_size=12), data=st.data())
def test_a_weight_counts_as_that_many_rows(method, cells, data):
    weights = data.draw(st.lists(st.integers(0, 4), min_size=len(cells), max_size=len(cells)))
    assume(any(weights))
    table = as_table({"x": np.array(cells)}, weights=weights, kinds="continuous")
    repeated = {"x": np.repeat(cells, weights)}
    assert Discretiser.fit(table, method=method) == Discretiser.fit(repeated, method=method, columns=["x"])


def test_ties_give_fewer_intervals_and_say_so():
    with pytest.warns(BayescoutWarning, match=r"'x' \(2 of 3\)"):
        table = discretise({"x": np.array([0.0] * 9 + [5.0]), "y": np.arange(10.0)}, columns=["x", "y"])
    assert table.cardinalities.tolist() == [2, 3]
    for method in METHODS:
        with pytest.warns(BayescoutWarning, match=r"'x' \(1 of 3\)"):
            constant = discretise({"x": np.array([2.0, 2.0])}, method=method, columns=["x"])
        assert constant.states == (("(-inf, inf)",),)


def test_neighbouring_floats_are_told_apart():
    cells = np.array([1.0, np.nextafter(1.0, 2), np.nextafter(np.nextafter(1.0, 2), 2)])
    for method in ("quantile", "kmeans"):
        table = discretise({"x": cells}, method=method)
        assert table.codes.tolist() == [[0, 1, 2]]
        assert len(set(table.states[0])) == 3


@given(st.lists(numbers, max_size=8, unique=True).map(sorted))
def test_labels_are_unique_and_readable(cuts):
    labels = interval_labels(cuts)
    assert len(labels) == len(set(labels)) == len(cuts) + 1
    edges = [interval(label) for label in labels]
    assert edges[0][0] == -np.inf
    assert edges[-1][1] == np.inf
    for cut, (_, high) in zip(cuts, edges, strict=False):
        assert high == pytest.approx(cut, rel=1e-3)


def test_cuts_are_kept_for_new_data():
    fitted = Discretiser.fit(pd.DataFrame({"x": np.arange(1.0, 10.0), "s": list("abcabcabc")}))
    new = fitted.apply({"x": [-100.0, 3.5, 3.6, 100.0], "s": list("aabb"), "extra": [0.5, 1.0, 2.0, 3.0]})
    assert new.codes[0].tolist() == [0, 0, 1, 2]
    assert new.names == ("x", "s", "extra")
    assert new.kinds == ("discrete", "discrete", "continuous")
    assert new.states[0] == fitted.labels("x")
    assert pickle.loads(pickle.dumps(fitted)) == fitted
    assert hash(fitted) == hash(Discretiser((("x", (3.5, 6.5)),)))


def test_integers_declared_by_columns_are_cut_too():
    table = discretise({"n": [1, 2, 3, 4, 5, 6] * 2, "m": [1, 2] * 6}, columns=["n"])
    assert table.states == (("(-inf, 2.5]", "(2.5, 4.5]", "(4.5, inf)"), (1, 2))


def test_bins_by_name():
    data = {"x": np.arange(8.0), "y": np.arange(8.0)}
    assert discretise(data, bins={"x": 4}).cardinalities.tolist() == [4, 3]
    assert discretise(data, bins=2).cardinalities.tolist() == [2, 2]
    wide = discretise({"x": np.arange(600.0) / 2}, bins=300)
    assert wide.codes.dtype == np.uint16
    assert wide.codes.max() == 299


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"method": "chi"}, SettingError, "method must be one of 'quantile', 'width', 'kmeans'"),
        ({"bins": 1}, SettingError, "from 2"),
        ({"bins": 2.5}, SettingError, "whole number"),
        ({"bins": True}, SettingError, "whole number"),
        ({"bins": {"x": 0}}, SettingError, "from 2"),
        ({"bins": {"z": 3}}, UnknownNameError, "column 'z'"),
        ({"bins": {"s": 3}}, SettingError, "'s', which is not to be discretised"),
        ({"cuts": {"x": [2, 1]}}, SettingError, "ascending"),
        ({"cuts": {"x": [1, 1]}}, SettingError, "ascending"),
        ({"cuts": {"x": [float("nan")]}}, SettingError, "finite"),
        ({"cuts": {"x": "abc"}}, SettingError, "'x' must be a list of numbers, .* not 'abc'"),
        ({"cuts": {"x": "12"}}, SettingError, "'x' must be a list of numbers, .* not '12'"),
        ({"cuts": {"x": ["a"]}}, SettingError, "must be a list of numbers"),
        ({"cuts": {"x": 5}}, SettingError, "must be a list of numbers"),
        ({"cuts": {"x": {1.0, 2.0}}}, SettingError, "must be a list of numbers"),
        ({"cuts": [1, 2]}, SettingError, "cuts must map columns"),
        ({"cuts": {"z": [1]}}, UnknownNameError, "column 'z'"),
        ({"columns": ["s"]}, DataError, "'s' is declared continuous but holds 'a'"),
    ],
)
def test_bad_settings(arguments, error, message):
    with pytest.raises(error, match=message):
        discretise({"x": [0.5, 1.5, 2.5], "s": ["a", "b", "a"]}, **arguments)


def test_values_that_are_no_numbers_are_refused():
    with pytest.raises(DataError, match="'x' holds inf"):
        discretise({"x": np.array([1.0, np.inf])})
    fitted = Discretiser((("x", (1.0,)),))
    assert fitted.apply({"x": [None, 1.0]}).column("x") == [None, "(-inf, 1]"]
    with pytest.raises(UnknownNameError, match="column 'x'"):
        fitted.apply({"y": [2.0, 1.0]})
    with pytest.raises(UnknownNameError, match="column 'y'"):
        fitted.labels("y")
