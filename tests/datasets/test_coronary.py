"""Risk factors of 1,841 workers: six columns of two states, such as <140 and >140."""

from __future__ import annotations

from pathlib import Path

import pytest

import bayescout as bs
from tests.datasets.lookalikes import coronary, raw
from tests.datasets.whole_way import accuracy, check_class, check_saved, holed, learned_both_ways

ROWS = 1841


def test_all_columns_are_categorical() -> None:
    table = bs.as_table(raw(coronary(), ROWS))
    assert table.reading == "1,841 rows; 6 categorical; no cells missing"
    assert table.columns[3].states == ("<140", ">140")


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_the_whole_way(share: float, tmp_path: Path) -> None:
    frame = raw(coronary(), ROWS)
    rows = holed(frame, share)
    result = learned_both_ways(rows, tmp_path)
    assert bs.compare(result.dag, coronary().dag).shd_cpdag == 0
    model = result.fit()
    assert accuracy(model, rows, "M. Work", frame["M. Work"]) > 0.8
    check_class(model, frame, holed(frame, 0.3), "Smoking")
    check_saved(model, rows, "Smoking", tmp_path)
    high = model.query('Proteins | Smoking=yes, "M. Work"=yes')[">3"]
    assert high > model.query("Proteins", {"Smoking": "no"})[">3"] + 0.2


def test_parameters_from_incomplete_rows_are_near_those_that_drew_them() -> None:
    model = bs.fit(coronary().dag, holed(raw(coronary(), 20_000), 0.3))
    for node in model.nodes:
        found, true = model.cpt(node), coronary().cpt(node)
        assert found.probabilities == pytest.approx(true.probabilities, abs=0.03)
