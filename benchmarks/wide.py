"""Learn wide tables of random sparse linear networks: seconds by part, memory, precision, recall and slope.

    python benchmarks/wide.py                             1,000 to 10,000 columns of average degree 2
    python benchmarks/wide.py --columns 50000 --degree 4 --rows 300 --scale-free

Processor seconds stand beside elapsed ones: on a busy machine only the former mean anything. "slope" is the
exponent of the growth of the search's processor seconds from one size to the next.
"""

from __future__ import annotations

import argparse
import math
import resource
import time
from typing import Any

import numpy as np

from bayescout.checks import generator
from bayescout.data import Table
from bayescout.scores import Bic, family_prior
from bayescout.search import Knowledge
from bayescout.search.auto import Auto
from bayescout.search.frame.canonical import canonical_table
from bayescout.search.frame.outcome import Limits
from bayescout.search.frame.run import drive
from bayescout.search.frame.wide_rules import compile_wide
from bayescout.wide import wide_problem


def network(p: int, degree: int, scale_free: bool, rng: Any) -> list[list[int]]:
    """The parents of each node; nodes come in an order, and are shuffled later."""
    parents: list[list[int]] = [[] for _ in range(p)]
    if scale_free:  # preferential attachment
        ends: list[int] = [0]
        for v in range(1, p):
            drawn = {ends[i] for i in rng.integers(0, len(ends), max(1, degree // 2)).tolist()}
            parents[v] = sorted(drawn)
            ends += [*drawn, *[v] * len(drawn)]
        return parents
    arcs: set[tuple[int, int]] = set()
    while len(arcs) < p * degree // 2:
        pairs = rng.integers(0, p, (p, 2))
        arcs |= {(min(a, b), max(a, b)) for a, b in pairs.tolist() if a != b}
    for a, b in sorted(arcs)[:: max(1, len(arcs) // (p * degree // 2))][: p * degree // 2]:
        parents[b].append(a)
    return parents


def sample(parents: list[list[int]], rows: int, rng: Any) -> tuple[Table, set[tuple[int, int]]]:
    """A table of the network, its columns shuffled, and the adjacencies in it."""
    p = len(parents)
    values = np.empty((p, rows))
    for v, own in enumerate(parents):
        values[v] = rng.standard_normal(rows)
        if own:
            weights = rng.uniform(0.5, 1.0, len(own)) * rng.choice([-1, 1], len(own))
            values[v] += weights @ values[own]
            values[v] /= values[v].std()
    place = rng.permutation(p)
    shuffled = np.empty_like(values)
    shuffled[place] = values
    names = tuple(f"v{i}" for i in range(p))
    true = {tuple(sorted((int(place[a]), int(place[b])))) for b, own in enumerate(parents) for a in own}
    return Table(names, (None,) * p, np.empty((0, rows), np.uint8), shuffled), true  # type: ignore[return-value]


def measured(p: int, rows: int, degree: int, scale_free: bool, seed: int) -> dict[str, Any]:
    """One run of what `learn` does with such a table, in parts."""
    rng = np.random.default_rng(seed)
    table, true = sample(network(p, degree, scale_free, rng), rows, rng)
    marks = [(time.perf_counter(), time.process_time())]

    def mark() -> None:
        marks.append((time.perf_counter(), time.process_time()))

    ordered = canonical_table(table)
    mark()
    prior = family_prior("sparse", ordered.names)
    rules = compile_wide(Knowledge(), ordered.names)
    problem = wide_problem("arc", ordered, Bic(), None, prior, rules, lambda _: "empty")
    mark()
    assert problem.screening is not None
    candidates = problem.screening.neighbourhood()
    mark()
    outcome = drive(Auto(), problem, generator(0), Limits())
    mark()
    back = [int(str(name)[1:]) for name in ordered.names]
    own = {tuple(sorted((back[a], back[b]))) for b, parents in enumerate(outcome.best[1]) for a in parents}
    parts = dict(zip(("order", "centre", "screen", "search"), np.diff(marks, axis=0).tolist(), strict=True))
    return {
        "columns": p,
        "candidates": 2 * candidates.n_pairs / p,
        "parts": parts,
        "precision": len(own & true) / max(1, len(own)),
        "recall": len(own & true) / max(1, len(true)),
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--columns", type=int, nargs="+", default=[1000, 3000, 10_000])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--degree", type=int, default=2)
    parser.add_argument("--scale-free", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    measured(600, 100, 2, False, 0)  # compiles
    print(
        f"{chosen.rows:,} rows, average degree {chosen.degree}{', scale-free' if chosen.scale_free else ''}"
    )
    print("elapsed (processor) seconds; candidates per variable; GB at most so far")
    print(f"{'columns':>9}{'order':>15}{'centre':>15}{'screen':>15}{'search':>15}{'all':>15}", end="")
    print(f"{'cand.':>8}{'precision':>11}{'recall':>8}{'GB':>6}{'slope':>7}")
    last: dict[str, Any] | None = None
    for p in chosen.columns:
        found = measured(p, chosen.rows, chosen.degree, chosen.scale_free, chosen.seed)
        parts = found["parts"]
        total = np.sum(list(parts.values()), axis=0)
        times = "".join(f"{f'{wall:.2f} ({cpu:.2f})':>15}" for wall, cpu in (*parts.values(), total))
        slope = ""
        if last is not None and p != last["columns"]:
            growth = parts["search"][1] / last["parts"]["search"][1]
            slope = f"{math.log(growth) / math.log(p / last['columns']):.2f}"
        print(
            f"{p:>9,}{times}{found['candidates']:>8.1f}{found['precision']:>11.4f}{found['recall']:>8.4f}"
            f"{found['memory']:>6.1f}{slope:>7}",
            flush=True,
        )
        last = found


if __name__ == "__main__":
    main()
