"""Breast cancer: 569 tumours, thirty measurements, many nearly functions of each other, and a diagnosis."""

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


def test_thirty_continuous_columns_and_one_categorical() -> None:
    table = bs.as_table(frozen("breast_cancer"))
    assert table.reading == "569 rows; 1 categorical, 30 continuous; no cells missing"
    assert kinds_of(table, "discrete") == ["target"]


@pytest.mark.slow
def test_the_whole_way(tmp_path: Path) -> None:
    frame = frozen("breast_cancer")
    result = learned_both_ways(frame, tmp_path)
    arcs = set(result.arcs())
    assert ("target", "worst concave points") in arcs
    assert ("target", "worst area") in arcs
    for a, b in (("mean radius", "mean perimeter"), ("worst radius", "worst perimeter")):
        assert (a, b) in arcs or (b, a) in arcs
    model = result.fit()
    assert accuracy(model, frame, "target", frame["target"]) > 0.95
    check_class(model, frame, holed(frame, 0.1), "target")
    check_saved(model, frame, "target", tmp_path)


@pytest.mark.slow
def test_the_same_with_a_tenth_of_the_cells_missing() -> None:
    frame = frozen("breast_cancer")
    rows = holed(frame, 0.1)
    result = bs.learn(rows)
    assert result.data is not None
    assert str(result.data).startswith("569 rows; 1 categorical, 30 continuous; 1,")
    assert ("target", "worst concave points") in set(result.arcs())
    model = result.fit()
    assert accuracy(model, rows.head(60), "target", frame["target"].head(60)) > 0.9
