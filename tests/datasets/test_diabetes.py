"""Diabetes: 442 patients, ten measurements and a response; sex is 1 or 2, and whole numbers are many."""

from __future__ import annotations

from pathlib import Path

import pytest

import bayescout as bs
from tests.datasets.whole_way import (
    accuracy,
    check_class,
    check_numbers,
    check_saved,
    frozen,
    holed,
    kinds_of,
    learned_both_ways,
)


def test_sex_is_categorical_and_age_a_measurement() -> None:
    table = bs.as_table(frozen("diabetes"))
    assert table.reading == "442 rows; 1 categorical, 10 continuous; no cells missing"
    assert kinds_of(table, "discrete") == ["sex"]
    assert table.columns[1].states == (1, 2)


def test_a_scaled_column_of_two_values_is_a_close_call() -> None:
    """Scaled as scikit-learn gives it by default, sex has two values with decimals."""
    frame = frozen("diabetes")
    for name in frame:
        centred = frame[name] - frame[name].mean()
        frame[name] = centred / (centred**2).sum() ** 0.5
    with pytest.warns(bs.BayescoutWarning, match=r"'sex'.*kinds="):
        table = bs.as_table(frame)
    assert [column.name for column in table.columns if column.close] == ["sex"]
    assert kinds_of(bs.as_table(frame, kinds={"sex": "discrete"}), "discrete") == ["sex"]


@pytest.mark.parametrize("share", [0.0, pytest.param(0.1, marks=pytest.mark.slow)])
def test_the_whole_way(share: float, tmp_path: Path) -> None:
    frame = frozen("diabetes")
    rows = holed(frame, share)
    result = learned_both_ways(rows, tmp_path)
    joined = {frozenset(arc) for arc in result.arcs()}
    for pair in (("bmi", "target"), ("s5", "target"), ("s1", "s2"), ("s3", "s4")):
        assert frozenset(pair) in joined
    model = result.fit()
    assert check_numbers(model, rows, "target", frame["target"]) > 0.6
    assert accuracy(model, rows, "sex", frame["sex"]) > 0.62
    check_class(model, frame, holed(frame, 0.3), "sex")
    check_saved(model, rows, "target", tmp_path)
    answer = model.query("target", {"bmi": 40.0, "sex": 2.0})
    assert answer.mean > model.query("target", {"bmi": 20.0, "sex": "2"}).mean
