"""Make clinic.csv, the table of the tutorial: 900 patients of an invented clinic, as a csv export looks.

    python docs/data/make_clinic.py

The rows are drawn from the network below and then spoiled: an identifier and a date are added, numbers are
rounded, and cells are emptied, some at random (bmi, smoker), some more often for patients who move little
(cholesterol).
"""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl

import bayescout as bs
from bayescout.network import ConditionalGaussian, LinearGaussian, Tabular

ROWS, SEED = 900, 7
ARCS = [
    ("sex", "smoker"),
    ("activity", "diabetes"),
    ("diabetes", "drug"),
    ("age", "bmi"),
    ("activity", "bmi"),
    ("diabetes", "bmi"),
    ("age", "pressure_before"),
    ("bmi", "pressure_before"),
    ("smoker", "pressure_before"),
    ("bmi", "cholesterol"),
    ("drug", "pressure_after"),
    ("pressure_before", "pressure_after"),
]
NODES = {
    "sex": Tabular(("female", "male"), [0.55, 0.45]),
    "smoker": Tabular(("never", "former", "current"), [[0.60, 0.25, 0.15], [0.40, 0.32, 0.28]]),
    "activity": Tabular(("low", "medium", "high"), [0.40, 0.40, 0.20]),
    "diabetes": Tabular(("no", "yes"), [[0.62, 0.38], [0.80, 0.20], [0.92, 0.08]]),
    "drug": Tabular(("none", "old", "new"), [[0.45, 0.40, 0.15], [0.10, 0.30, 0.60]]),
    "age": LinearGaussian(54.0, [], 10.0**2),
    # given activity (low, medium, high) and diabetes (no, yes), and a line in age
    "bmi": ConditionalGaussian(
        [[23.5, 27.5], [22.0, 26.0], [20.5, 24.5]], [[[0.08]] * 2] * 3, [[3.0**2] * 2] * 3
    ),
    # given smoker (never, former, current), and a plane in age and bmi
    "pressure_before": ConditionalGaussian([61.0, 64.0, 70.0], [[0.6, 1.8]] * 3, [9.0**2] * 3),
    "cholesterol": LinearGaussian(95.0, [4.0], 25.0**2),
    # given drug (none, old, new), and a line in the pressure before
    "pressure_after": ConditionalGaussian([26.0, 19.0, 12.0], [[0.8]] * 3, [7.0**2] * 3),
}


def network() -> bs.Network:
    return bs.Network(bs.Dag.from_arcs(ARCS, nodes=list(NODES)), list(NODES.values()))


def clinic() -> pl.DataFrame:
    """The rows as an export of the clinic's records would have them."""
    rows = network().sample(ROWS, seed=SEED).to_polars()
    rng = np.random.default_rng(SEED)
    days = np.sort(rng.integers(0, 730, ROWS)).tolist()
    moves_little = (rows["activity"].cast(pl.String) == "low").to_numpy()
    empty = {
        "bmi": rng.random(ROWS) < 0.06,
        "smoker": rng.random(ROWS) < 0.08,
        "cholesterol": rng.random(ROWS) < np.where(moves_little, 0.25, 0.08),
    }
    columns = {
        "patient": [f"P{number:05}" for number in rng.permutation(ROWS) + 10_000],
        "visit": [str(date(2024, 1, 1) + timedelta(days=day)) for day in days],
    }
    for name, distribution in NODES.items():
        cells = rows[name].to_list()
        if distribution.states is None:
            cells = [round(cell, 1) if name == "bmi" else round(cell) for cell in cells]
        gone = empty.get(name, np.zeros(ROWS, dtype=bool))
        columns[name] = [None if absent else cell for cell, absent in zip(cells, gone, strict=True)]
    return pl.DataFrame(columns)


if __name__ == "__main__":
    clinic().write_csv(Path(__file__).with_name("clinic.csv"))
