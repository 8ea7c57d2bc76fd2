"""Times of sampling, likelihood, queries and predictions: `python benchmarks/inference.py`."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bayescout.formats import load_network

NETWORKS = ("asia", "alarm", "insurance", "hailfinder", "andes", "munin")
QUERIES = 100
OBSERVED = 5
ROWS = 100_000


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """The best of a few runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def query_times(model: Any) -> np.ndarray:
    """Milliseconds of single-node posteriors, each with evidence from a sampled row."""
    rng = np.random.default_rng(0)
    rows = model.sample(QUERIES, seed=1).codes
    times = []
    for row in rows.T:
        chosen = rng.permutation(len(model.nodes))[: OBSERVED + 1].tolist()
        evidence = {model.nodes[i]: model.states[i][row[i]] for i in chosen[1:]}
        start = time.perf_counter()
        model.query([model.nodes[chosen[0]]], evidence)
        times.append(1e3 * (time.perf_counter() - start))
    return np.array(times)


def prediction_times(name: str) -> tuple[float, float]:
    """The slowest target with every other node observed, and with every second node observed."""
    model = load_network(name)
    rows = model.sample(ROWS, seed=2)
    some = rows.select(model.nodes[1::2])
    whole = max(seconds(partial(model.predict, rows, target), 1) for target in model.nodes)
    half = max(seconds(partial(model.predict, some, target), 1) for target in model.nodes[::2])
    return whole, half


def main() -> None:
    alarm = load_network("alarm")
    table = alarm.sample(1_000_000)
    print(f"alarm: sample 1,000,000 rows     {seconds(lambda: alarm.sample(1_000_000)):8.3f} s")
    print(f"alarm: log-likelihood of them    {seconds(lambda: alarm.log_likelihood(table)):8.3f} s")
    for name in NETWORKS:
        model = load_network(name)
        times = query_times(model)
        marginals = 1e3 * seconds(model.marginals)
        print(
            f"{name}: query with {OBSERVED} observed: median {np.median(times):.2f} ms, "
            f"longest {times.max():.2f} ms; all marginals {marginals:.1f} ms"
        )
    for name in ("alarm", "insurance", "hailfinder"):
        whole, half = prediction_times(name)
        print(
            f"{name}: predict {ROWS:,} rows, slowest target: {whole:.3f} s (every other node observed), "
            f"{half:.3f} s (every second)"
        )


if __name__ == "__main__":
    main()
