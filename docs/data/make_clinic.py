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


def spoiled(rows: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """The rows as an export of the clinic's records would have them."""
    n = rows.height
    days = np.sort(rng.integers(0, 730, n)).tolist()
    moves_little = (rows["activity"] == "low").to_numpy()
    empty = {
        "bmi": rng.random(n) < 0.06,
        "smoker": rng.random(n) < 0.08,
        "cholesterol": rng.random(n) < np.where(moves_little, 0.25, 0.08),
    }
    whole = [pl.col(name).round(0).cast(pl.Int64) for name in NODES if name not in ("bmi", *empty)]
    numbers = [expression for expression in whole if rows.schema[expression.meta.output_name()] == pl.Float64]
    return rows.with_columns(
        *numbers, pl.col("bmi").round(1), pl.col("cholesterol").round(0).cast(pl.Int64)
    ).select(
        pl.Series("patient", [f"P{number:05}" for number in rng.permutation(n) + 10_000]),
        pl.Series("visit", [(date(2024, 1, 1) + timedelta(days=day)).isoformat() for day in days]),
        *(pl.when(~pl.Series(empty[name])).then(name).alias(name) if name in empty else name for name in NODES),
    )


def main() -> None:
    rows = network().sample(ROWS, seed=SEED).to_polars()
    rows = rows.with_columns(pl.col(name).cast(pl.String) for name in rows.columns if rows.schema[name] != pl.Float64)
    spoiled(rows, np.random.default_rng(SEED)).write_csv(Path(__file__).with_name("clinic.csv"))


if __name__ == "__main__":
    main()
