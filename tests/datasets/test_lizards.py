"""Perches of 409 lizards of two species: three columns of two states, or eight rows with counts."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import bayescout as bs
from tests.datasets.lookalikes import LIZARDS
from tests.datasets.whole_way import check_class, check_saved, holed, learned_both_ways


def lizards() -> pd.DataFrame:
    """One row per lizard."""
    counts = pd.DataFrame(LIZARDS)
    return counts.loc[counts.index.repeat(counts["count"])].drop(columns="count").reset_index(drop=True)


def test_all_columns_are_categorical() -> None:
    assert bs.as_table(lizards()).reading == "409 rows; 3 categorical; no cells missing"


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_the_whole_way(share: float, tmp_path: Path) -> None:
    frame = lizards()
    rows = holed(frame, share)
    result = learned_both_ways(rows, tmp_path)
    assert set(result.cpdag.edges()) | set(result.cpdag.arcs())
    joined = {frozenset(arc) for arc in result.arcs()}
    assert joined == {frozenset(("Species", "Diameter")), frozenset(("Species", "Height"))}
    model = result.fit()
    check_class(model, frame, rows, "Species")
    check_saved(model, rows, "Species", tmp_path)
    assert model.query("Diameter | Species=Sagrei")["narrow"] == pytest.approx(118 / 164, abs=0.05)


def test_counts_as_weights_are_the_same_lizards(tmp_path: Path) -> None:
    pd.DataFrame(LIZARDS).to_csv(tmp_path / "counts.csv", index=False)
    whole = bs.learn(lizards())
    for table in (
        bs.as_table(pd.DataFrame(LIZARDS), weights="count"),
        bs.read_table(tmp_path / "counts.csv", weights="count"),
    ):
        result = bs.learn(table)
        assert set(result.arcs()) == set(whole.arcs())
        assert result.score == pytest.approx(whole.score)
        found, expected = result.fit().cpt("Height"), whole.fit().cpt("Height")
        assert found.probabilities == pytest.approx(expected.probabilities)
