"""Exam marks of 88 students in five subjects: 40 whole numbers per column, which are no categories."""

from __future__ import annotations

from pathlib import Path

import pytest

import bayescout as bs
from tests.datasets.lookalikes import marks
from tests.datasets.whole_way import check_numbers, check_saved, holed, learned_both_ways


def test_marks_are_measurements() -> None:
    for frame in (marks(), marks().astype(float), marks().astype("Int64"), marks().astype("Float32")):
        table = bs.as_table(frame)
        assert table.reading == "88 rows; 5 continuous; no cells missing"
        assert not any(column.close for column in table.columns)


def test_marks_kept_as_text_are_told_of() -> None:
    """Text is verbatim in a frame, but 40 states in 88 rows are not taken without a word."""
    frame = marks().astype(str)
    with pytest.warns(
        bs.BayescoutWarning, match=r"'MECH' \(categorical: 44 numbers kept as text.*continuous"
    ):
        assert bs.as_table(frame).is_discrete
    table = bs.as_table(frame, kinds="continuous")
    assert (table.values == bs.as_table(marks()).values).all()


def test_numbers_kept_as_text_that_never_repeat_are_told_of() -> None:
    frame = marks().assign(weight=[f"{60 + i / 7:.3f}" for i in range(88)])
    with pytest.warns(bs.BayescoutWarning, match=r"numbers kept as text.*'weight': 'continuous'"):
        assert "weight" not in bs.as_table(frame).names
    assert bs.as_table(frame, kinds={"weight": "continuous"}).array("weight")[7] == 61.0


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_the_whole_way(share: float, tmp_path: Path) -> None:
    frame = marks()
    rows = holed(frame, share)
    result = learned_both_ways(rows, tmp_path)
    joined = {frozenset(arc) for arc in result.arcs()}
    for pair in (("MECH", "VECT"), ("VECT", "ALG"), ("ALG", "ANL"), ("ANL", "STAT")):
        assert frozenset(pair) in joined
    assert len(joined) <= 6
    model = result.fit()
    assert check_numbers(model, rows, "ALG", frame["ALG"]) > 0.6
    check_saved(model, rows, "ALG", tmp_path)
    assert model.query("STAT", {"ANL": 70}).mean > model.query("STAT | ANL=20").mean + 10
