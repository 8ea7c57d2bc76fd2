"""Searches over orders: BOSS on random SEMs and benchmark networks, memetic search over seeds.

    python benchmarks/orders.py sems
    python benchmarks/orders.py networks [name ...]
    python benchmarks/orders.py memetic [name ...] [--rows 100,1000,10000] [--seeds 10] [--limit 5]

Times are warm, in CPU seconds of all threads with wall seconds beside them. `memetic` says in how many seeds
a run, its lists of parent sets included, came to the best score of any within the limit.
"""

from __future__ import annotations

import argparse
import time

import bayescout as bs
from bayescout.search import Boss, Memetic, Tabu

NETWORKS = ["alarm", "insurance", "hailfinder", "win95pts"]
SIX = ["asia", "child", "insurance", "water", "alarm", "hailfinder"]


def timed(table, search, score="bic", **options):
    cpu, wall = time.process_time(), time.perf_counter()
    result = bs.learn(table, search, score, **options)
    return result, time.process_time() - cpu, time.perf_counter() - wall


def sem(variables, arcs, rows, seed):
    """A random linear model with standardised columns."""
    network = bs.random_network(variables, arcs=arcs, kind="gaussian", coefficients=(0.3, 1.0), seed=seed)
    values = network.sample(rows, seed=seed + 1).values
    values = (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, keepdims=True)
    return bs.as_table(dict(zip(network.nodes, values, strict=True)), kinds="continuous"), network.dag


def show(name, found, truth, table, score="bic"):
    result, cpu, wall = found
    gained = result.score - bs.score(truth, table, score)
    print(
        f"  {name:<22} cpu {cpu:7.3f} s  wall {wall:7.3f} s  {score} {result.score:>14,.1f}  over the truth "
        f"{gained:>+9.1f}  CPDAG distance {bs.compare(result.dag, truth).shd_cpdag:>3}",
        flush=True,
    )


def sems():
    for variables, arcs, rows in ((20, 40, 1000), (100, 200, 10_000)):
        for seed in range(1, 6):
            table, truth = sem(variables, arcs, rows, seed)
            print(f"SEM of {variables} variables, {rows:,} rows, seed {seed}")
            for name in ("boss", "hill-climb"):
                bs.learn(table, name, max_steps=1)
                show(name, timed(table, name), truth, table)


def networks(names):
    for name in names:
        network = bs.load_network(name)
        table = network.sample(10_000, seed=1)
        print(f"{name}, 10,000 rows")
        for search in (Boss(), Boss(restarts=5), Memetic(), "hill-climb", Tabu(), Tabu(restarts=10)):
            bs.learn(table, search, max_steps=1)
            label = search if isinstance(search, str) else f"{type(search).__name__}({_settings(search)})"
            show(label, timed(table, search), network.dag, table)


def _settings(search):
    return f"restarts={search.restarts}" if getattr(search, "restarts", 0) else ""


def memetic(names, rows, seeds, limit):
    bs.learn(bs.load_network("asia").sample(100, seed=1), "memetic")
    for name in names:
        for count in rows:
            for label, score in (("bic", "bic"), ("bdeu", bs.scores.BDeu(ess=1))):
                _memetic_seeds(name, count, label, score, seeds, limit)


def _memetic_seeds(name, rows, label, score, seeds, limit):
    table = bs.load_network(name).sample(rows, seed=1)
    runs = []
    for seed in range(seeds):
        marks = []
        begin = time.process_time()

        def note(step, marks=marks, begin=begin):
            marks.append((time.process_time() - begin, step.best))

        result = bs.learn(table, Memetic(), score, seed=seed, callback=note)
        reached = next(cpu for cpu, best in marks if best >= result.score - 1e-6)
        runs.append((result.score, reached, marks[1][0], marks[-1][0]))
    best = max(run[0] for run in runs)
    hits = sum(score >= best - 1e-4 and reached <= limit for score, reached, _, _ in runs)
    lists, reached, whole = (max(run[i] for run in runs) for i in (2, 1, 3))
    print(
        f"{name:<11}{rows:>7,} {label:<5} best {best:>14,.3f}  {hits}/{seeds} seeds  slowest cpu: "
        f"lists {lists:.2f} best {reached:.2f} end {whole:.2f} s  facts {result.trace[-1].facts}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["sems", "networks", "memetic"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rows", default="100,1000,10000")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--limit", type=float, default=5)
    chosen = parser.parse_args()
    if chosen.what == "sems":
        sems()
    elif chosen.what == "networks":
        networks(chosen.names or NETWORKS)
    else:
        rows = [int(count) for count in chosen.rows.split(",")]
        memetic(chosen.names or SIX, rows, chosen.seeds, chosen.limit)


if __name__ == "__main__":
    main()
