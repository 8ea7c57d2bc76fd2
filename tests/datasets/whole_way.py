"""What every test of a data set does: from a raw frame, or its csv file, to answers about raw rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayescout as bs
from bayescout.network import Network

DATA = Path(__file__).parent / "data"


def frozen(name: str) -> pd.DataFrame:
    return pd.read_csv(DATA / f"{name}.csv")


def holed(frame: pd.DataFrame, share: float, seed: int = 1) -> pd.DataFrame:
    """The frame without about this share of its cells."""
    rng = np.random.default_rng([seed, 35])
    return frame.mask(rng.random(frame.shape) < share)


def kinds_of(table: bs.Table, kind: str) -> list[Any]:
    return [column.name for column in table.columns if column.kind == kind]


def learned_both_ways(frame: pd.DataFrame, folder: Path) -> bs.Result:
    """The result of learning from the frame, which must be that of learning from its csv file."""
    path = folder / "rows.csv"
    frame.to_csv(path, index=False)
    one, two = bs.learn(frame), bs.learn(path)
    assert one.table is not None
    assert two.table is not None
    assert one.table.reading == two.table.reading
    assert set(one.arcs()) == set(two.arcs())
    assert one.score.hex() == two.score.hex()
    return one


def by_enumeration(model: Network, row: dict[Any, Any], target: Any) -> np.ndarray:
    """P(target | a complete row) from the joint probability of the row with each state of the target."""
    states = model.distributions[model.dag.index(target)].states
    assert states is not None
    logs = np.array([model.log_probability({**row, target: state}) for state in states])
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def accuracy(model: Network, rows: pd.DataFrame, target: str, truth: Any) -> float:
    """The share of raw rows, without the target's column, whose most probable state is right."""
    found = model.predict(rows.drop(columns=target), target)
    assert len(found) == len(rows)
    return float(np.mean([a == b for a, b in zip(found, truth, strict=True)]))


def check_class(model: Network, complete: pd.DataFrame, incomplete: pd.DataFrame, target: str) -> None:
    """Probabilities of a class: by enumeration in complete rows, a distribution in incomplete ones."""
    for place in (0, len(complete) // 2, len(complete) - 1):
        row = complete.iloc[[place]].drop(columns=target)
        found = model.predict_proba(row, target)[0]
        values = {name: row[name].iloc[0] for name in row}
        assert found == pytest.approx(by_enumeration(model, values, target), abs=1e-9)
    rows = incomplete.drop(columns=target).head(40)
    found = model.predict_proba(rows, target)
    assert found.sum(axis=1) == pytest.approx(np.ones(len(rows)))
    nothing = rows.head(1).mask(np.ones((1, rows.shape[1]), dtype=bool))
    answer = model.query(target)
    states = model.distributions[model.dag.index(target)].states
    assert states is not None
    assert model.predict_proba(nothing, target)[0] == pytest.approx([answer[state] for state in states])


def check_numbers(model: Network, incomplete: pd.DataFrame, target: str, truth: Any) -> float:
    """Predictions of a continuous column: finite, and their correlation with what was there."""
    found = np.asarray(model.predict(incomplete.drop(columns=target), target), dtype=float)
    assert np.isfinite(found).all()
    return float(np.corrcoef(found, np.asarray(truth, dtype=float))[0, 1])


def check_saved(model: Network, rows: pd.DataFrame, target: str, folder: Path) -> None:
    """The network from its file answers alike; its samples are rows that it takes itself."""
    path = folder / "model.json"
    model.save(path)
    again = bs.read_network(path)
    assert list(again.predict(rows.head(30), target)) == list(model.predict(rows.head(30), target))
    drawn = model.sample(50, seed=3)
    assert drawn.names == model.nodes
    assert float(again.log_likelihood(drawn)) == float(model.log_likelihood(drawn))
    assert np.isfinite(float(model.log_likelihood(rows.head(60))))
