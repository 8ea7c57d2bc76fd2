"""Population searches: time, score against the generating network's, families a second, memory.

    python benchmarks/population.py [speed] [quality] [--runs 3] [--seeds 20]

Warm, on every core. `speed` runs each search to convergence; `quality` counts the runs that reach the
best known score of asia (5,000 rows, BIC) and the generating network's score (10,000 rows, K2).
`evaluated` are families counted, `asked` families asked for; the hit rate is what memory saved of the latter.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time

import numpy as np

import bayescout as bs
from bayescout.checks import generator
from bayescout.scores import bind
from bayescout.search import (
    ElitistGa,
    FirstAscent,
    Genetic,
    GeneticGreedy,
    HillClimb,
    Holland,
    Knowledge,
    OrderClimb,
    Pbil,
    Problem,
    Umda,
)
from bayescout.search.frame.outcome import Limits
from bayescout.search.frame.run import drive

BLANCO = {
    "elitist-ga": ElitistGa(),
    "umda": Umda(),
    "pbil": Pbil(),
    "elitist-ga, better": ElitistGa(distinct=True, patience=3),
    "umda, better": Umda(correction=0.1, distinct=True, patience=10),
    "pbil, better": Pbil(correction=0.1, distinct=True, patience=10),
}
LAU = {
    "first-ascent": FirstAscent(),
    "genetic-greedy": GeneticGreedy(),
    "genetic": Genetic(),
    "genetic-greedy, better": GeneticGreedy(shake=2, patience=30),
    "genetic, better": Genetic(shake=2, patience=30),
}


def one(search, table, score, seed, knowledge=None, start="empty"):
    """Seconds, the run, and what was asked of the score, which is new for every run."""
    problem = Problem(bind(score, table), (knowledge or Knowledge()).compile(table.names), start)
    begin = time.perf_counter()
    run = drive(search, problem, generator(seed), Limits())
    seconds = time.perf_counter() - begin
    return seconds, run, problem.scorer.computed, problem.scorer.asked


def report(name, found, reference):
    seconds = [one[0] for one in found]
    gaps = [one[1].best[0] - reference for one in found]
    generations = [len(one[1].trace) - 1 for one in found]
    counted, asked = (sum(one[i] for one in found) for i in (2, 3))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"  {name:<24}{statistics.mean(seconds):>8.3f} s (longest {max(seconds):>7.3f})"
        f" {statistics.mean(generations):>6.1f} generations"
        f"  reached {sum(gap >= -1e-6 for gap in gaps):>2}/{len(gaps)}"
        f"  gap {statistics.mean(gaps):>9.2f} ({min(gaps):.2f} to {max(gaps):.2f})"
        f"  {asked / sum(seconds):>11,.0f} asked/s {counted / sum(seconds):>10,.0f} evaluated/s"
        f"  hits {max(0.0, 1 - counted / max(1, asked)):>6.1%}  peak {peak:>5.0f} MB",
        flush=True,
    )


def with_searches(searches, table, score, seeds, reference, knowledge=None):
    for name, search in searches.items():
        start = "random" if name == "first-ascent" else "empty"
        one(search, table.take(np.arange(200)), score, 0, knowledge, start)
        found = [one(search, table, score, seed, knowledge, start) for seed in range(seeds)]
        report(name, found, reference)


def best_known(table):
    """The best BIC that other searches with many restarts find."""
    searches = (HillClimb(restarts=300), OrderClimb(restarts=60, parents=4))
    return max(bs.learn(table, search).score for search in searches)


def blanco(networks, seeds):
    for name in networks:
        network = bs.load_network(name)
        table = network.sample(10_000, seed=1)
        reference = bs.score(network.dag, table, "k2")
        for known, title in ((None, "no order"), (Knowledge(order=network.dag.order()), "order")):
            print(f"{name}, 10,000 rows, K2, {title}: gap to the generating network's {reference:,.2f}")
            with_searches(BLANCO, table, "k2", seeds, reference, known)


def lau(seeds, samples):
    for sample in samples:
        table = bs.load_network("asia").sample(5000, seed=sample)
        reference = best_known(table)
        print(f"asia, 5,000 rows (sample {sample}), BIC: gap to the best known {reference:,.2f}")
        with_searches(LAU, table, "bic", seeds, reference)


def suhas(seeds):
    network = bs.random_network(nodes=5, arcs=8, states=2, seed=1)
    table = network.sample(10_000, seed=1)
    reference = bs.score(network.dag, table, "mi-bic")
    print(f"5 nodes, 8 arcs, 10,000 rows, mi-bic: gap to the generating network's {reference:,.2f}")
    searches = {
        "holland": Holland(),
        "holland, extensions": Holland(growth=0.1, lifetime=5, epidemic=0.5, largest=200),
    }
    with_searches(searches, table, "mi-bic", seeds, reference)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=["speed", "quality"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=20)
    chosen = parser.parse_args()
    if "quality" in chosen.parts:
        lau(chosen.seeds, (1, 2, 3))
        suhas(chosen.seeds)
        blanco(["asia"], chosen.seeds)
    if "speed" in chosen.parts:
        blanco(["asia", "alarm"], chosen.runs)


if __name__ == "__main__":
    main()
