"""Times of sampling, likelihood, queries and predictions: `python benchmarks/inference.py`.

`python benchmarks/inference.py posteriors [PYTHON-OF-PEERS]`: all posteriors of every shipped network,
without evidence and with five observations, in CPU seconds and peak memory, each network in a process of its
own; beside those of pyAgrum, if an interpreter that has it is given.
`python benchmarks/inference.py rows`: posteriors of 50 cases of munin4, a fifth of the cells observed.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
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


def observed(model: Any) -> dict[Any, Any]:
    """Five observations from a drawn row."""
    row = model.sample(1, seed=1).codes[:, 0]
    chosen = np.random.default_rng(0).permutation(len(model.nodes))[:OBSERVED].tolist()
    return {model.nodes[i]: model.states[i][row[i]] for i in chosen}


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def posteriors_of(name: str) -> None:
    """Print CPU seconds without and with observations, and the memory above that of the network, in MiB."""
    load_network("asia").marginals()
    model = load_network(name)
    evidence, before, times = observed(model), peak(), []
    for given in ({}, evidence):
        begin = time.process_time()
        model.marginals(given, exact=True)
        times.append(time.process_time() - begin)
    print(json.dumps([*times, peak() - before]))


def posteriors(peers: str | None) -> None:
    from bayescout.formats import networks

    print(f"{'network':<12}{'prior s':>10}{'5 seen s':>10}{'MiB':>8}", "  pyAgrum: the same" if peers else "")
    for name in [one.name for one in networks() if load_network(one.name).is_discrete]:
        rows = [_run([sys.executable, __file__, "one", name])]
        if peers:
            with tempfile.TemporaryDirectory() as folder:
                path, model = Path(folder) / "network.bif", load_network(name)
                model.save(path)
                evidence = {str(k): str(v) for k, v in observed(model).items()}
                script = Path(__file__).parent / "peers" / "inference_peer.py"
                rows.append(_run([peers, str(script), str(path), json.dumps(evidence)]))
        cells = [
            "".join(f"{x:>10.3f}" for x in row[:2]) + f"{row[2]:>8.0f}" if row else "failed" for row in rows
        ]
        print(f"{name:<12}" + "   ".join(cells), flush=True)


def _run(command: list[str]) -> list[float] | None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def row_times(cases: int = 50) -> None:
    model = load_network("munin4")
    table, rng = model.sample(cases, seed=5), np.random.default_rng(0)
    columns = {
        name: [
            cell if seen else None
            for cell, seen in zip(table.column(name), rng.random(cases) < 0.2, strict=True)
        ]
        for name in model.nodes
    }
    begin = time.process_time()
    model.posteriors(columns)
    spent = time.process_time() - begin
    print(f"munin4: {cases} cases {spent:.1f} s of CPU, so 2,000 would take {2000 * spent / cases:.0f} s")


def main() -> None:
    if sys.argv[1:2] == ["one"]:
        return posteriors_of(sys.argv[2])
    if sys.argv[1:2] == ["posteriors"]:
        return posteriors(sys.argv[2] if len(sys.argv) > 2 else None)
    if sys.argv[1:2] == ["rows"]:
        return row_times()
    return everything()


def everything() -> None:
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
