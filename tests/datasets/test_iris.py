"""Iris: 150 flowers, four lengths in cm with one decimal and the species as text."""

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

SEPAL, PETAL, WIDTH = "sepal length (cm)", "petal length (cm)", "petal width (cm)"


def test_lengths_are_continuous_and_the_species_categorical() -> None:
    table = bs.as_table(frozen("iris"))
    assert table.reading == "150 rows; 1 categorical, 4 continuous; no cells missing"
    assert kinds_of(table, "discrete") == ["target"]
    assert table.columns[-1].states == ("setosa", "versicolor", "virginica")
    assert (table.columns[0].low, table.columns[0].high) == (4.3, 7.9)
    assert not any(column.close for column in table.columns)


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_the_whole_way(share: float, tmp_path: Path) -> None:
    frame = frozen("iris")
    rows = holed(frame, share)
    result = learned_both_ways(rows, tmp_path)
    arcs = set(result.arcs())
    assert {("target", PETAL), ("target", WIDTH)} <= arcs
    assert not any(child == "target" for _, child in arcs)
    model = result.fit()
    assert accuracy(model, rows, "target", frame["target"]) > 0.93
    assert check_numbers(model, rows, PETAL, frame[PETAL]) > 0.95
    check_class(model, frame, holed(frame, 0.3), "target")
    check_saved(model, rows, "target", tmp_path)


def test_questions_in_raw_values() -> None:
    model = bs.learn(frozen("iris")).fit()
    assert model.query("target", {PETAL: 1.4})["setosa"] > 0.99
    assert model.query(f"target | {PETAL}=1.4")["setosa"] > 0.99
    assert model.query("target", {PETAL: 5.8, WIDTH: 2.2})["virginica"] > 0.99
    assert 5.5 < model.query(SEPAL, {"target": "versicolor"}).mean < 6.4
    assert model.most_probable({"target": "setosa"})[PETAL] == pytest.approx(1.46, abs=0.02)
