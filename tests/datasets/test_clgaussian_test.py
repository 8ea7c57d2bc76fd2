"""clgaussian.test: 5,000 rows of five categorical and three continuous columns."""

from __future__ import annotations

from pathlib import Path

import pytest

import bayescout as bs
from tests.datasets.lookalikes import clgaussian_test, raw
from tests.datasets.whole_way import (
    accuracy,
    check_class,
    check_numbers,
    check_saved,
    holed,
    kinds_of,
    learned_both_ways,
)

ROWS = 5000


def test_both_kinds_are_told() -> None:
    table = bs.as_table(raw(clgaussian_test(), ROWS))
    assert table.reading == "5,000 rows; 5 categorical, 3 continuous; no cells missing"
    assert kinds_of(table, "continuous") == ["D", "E", "G"]


@pytest.mark.parametrize("share", [0.0, pytest.param(0.1, marks=pytest.mark.slow)])
def test_the_whole_way(share: float, tmp_path: Path) -> None:
    """Hill climbing stops in a local maximum here; what must be there is."""
    frame = raw(clgaussian_test(), ROWS)
    rows = holed(frame, share)
    result = learned_both_ways(rows, tmp_path)
    arcs = set(result.arcs())
    assert {("A", "D"), ("H", "D"), ("B", "E"), ("A", "G"), ("F", "G")} <= arcs
    assert not any(child in "ABCFH" and parent in "DEG" for parent, child in arcs)
    model = result.fit()
    assert check_numbers(model, rows, "G", frame["G"]) > 0.9
    assert accuracy(model, rows.head(150), "A", frame["A"].head(150)) > 0.9
    check_class(model, frame, holed(frame, 0.3), "F")
    check_saved(model, rows.head(200), "A", tmp_path)
    assert model.query("D", {"A": "b", "H": "a"}).mean == pytest.approx(24, abs=0.3)


@pytest.mark.parametrize("share", [0.0, pytest.param(0.1, marks=pytest.mark.slow)])
def test_equivalence_search_finds_the_true_class(share: float) -> None:
    result = bs.learn(holed(raw(clgaussian_test(), ROWS), share), search="ges")
    assert bs.compare(result.dag, clgaussian_test().dag).shd_cpdag == 0
