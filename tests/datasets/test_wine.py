"""Wine: 178 wines, thirteen measurements, two of them whole numbers, and the cultivar as text."""

from __future__ import annotations

from pathlib import Path

import pytest

import bayescout as bs
from tests.datasets.whole_way import (
    accuracy,
    check_class,
    check_saved,
    frozen,
    holed,
    kinds_of,
    learned_both_ways,
)


def test_whole_numbers_of_many_values_are_measurements() -> None:
    table = bs.as_table(frozen("wine"))
    assert table.reading == "178 rows; 1 categorical, 13 continuous; no cells missing"
    assert kinds_of(table, "discrete") == ["target"]
    reasons = {column.name: column.reason for column in table.columns}
    assert "whole numbers" in reasons["proline"]
    assert "whole numbers" in reasons["magnesium"]


def test_the_class_as_codes_is_categorical_too() -> None:
    frame = frozen("wine")
    frame["target"] = frame["target"].str[-1].astype(float)
    table = bs.as_table(frame)
    assert table.columns[-1].states == (0, 1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_the_whole_way(share: float, tmp_path: Path) -> None:
    frame = frozen("wine")
    rows = holed(frame, share)
    result = learned_both_ways(rows, tmp_path)
    children = {child for parent, child in result.arcs() if parent == "target"}
    assert {"alcohol", "flavanoids", "hue", "proline", "color_intensity"} <= children
    model = result.fit()
    assert accuracy(model, rows, "target", frame["target"]) > 0.97
    check_class(model, frame, holed(frame, 0.3), "target")
    check_saved(model, rows, "target", tmp_path)
    assert model.query("target", {"proline": 1500, "flavanoids": 3.2})["class_0"] > 0.95


@pytest.mark.slow
def test_test_rows_are_predicted_from_training_rows() -> None:
    """Every third row held out, a tenth of the cells missing in both parts."""
    frame = frozen("wine")
    rows = holed(frame.drop(columns="target"), 0.1).assign(target=frame["target"])
    held = [i % 3 == 0 for i in range(len(rows))]
    model = bs.learn(rows[[not one for one in held]]).fit()
    assert accuracy(model, rows[held], "target", frame["target"][held]) > 0.9
