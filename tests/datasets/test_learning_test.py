"""learning.test: 5,000 rows of six categorical columns, which R learns with 30% of the cells missing."""

from __future__ import annotations

from pathlib import Path

import pytest

import bayescout as bs
from tests.datasets.lookalikes import learning_test, raw
from tests.datasets.whole_way import accuracy, check_class, check_saved, holed, learned_both_ways

ROWS = 5000


def test_letters_are_categories() -> None:
    table = bs.as_table(raw(learning_test(), ROWS))
    assert table.reading == "5,000 rows; 6 categorical; no cells missing"


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_the_whole_way(share: float, tmp_path: Path) -> None:
    frame = raw(learning_test(), ROWS)
    rows = holed(frame, share)
    result = learned_both_ways(rows, tmp_path)
    assert bs.compare(result.dag, learning_test().dag).shd_cpdag == 0
    model = result.fit()
    assert accuracy(model, rows, "E", frame["E"]) > 0.6
    check_class(model, frame, holed(frame, 0.3), "B")
    check_saved(model, rows, "B", tmp_path)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_true_class_is_found_with_a_third_of_the_cells_missing(seed: int) -> None:
    """Of the seeds 1 to 30 all but one give distance 0, and that one 1."""
    rows = holed(raw(learning_test(), ROWS, seed), 0.3, seed)
    assert bs.compare(bs.learn(rows).dag, learning_test().dag).shd_cpdag == 0
