"""How fast mixed tables are scored, beside the Gaussian and the discrete score.

python benchmarks/mixed.py      times in one run, and their ratios
"""

from __future__ import annotations

import time
import warnings

import numpy as np

import bayescout as bs
from bayescout.data.table import Table
from bayescout.scores import bind

ROWS, DISCRETE, CONTINUOUS, STATES = 10_000, 16, 16, 4


def best(work, repeats=15):
    """The least of several wall-clock times, in milliseconds, the first (warm-up) not counted."""
    work()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return 1e3 * min(times)


def tables(rows=ROWS, seed=0):
    """A mixed table; a continuous one of as many columns as its degenerate matrix; its discrete part."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, STATES, (DISCRETE, rows)).astype(np.uint8)
    values = rng.normal(size=(CONTINUOUS, rows)) + codes[:CONTINUOUS]
    names = tuple(f"d{i}" for i in range(DISCRETE)) + tuple(f"x{i}" for i in range(CONTINUOUS))
    states = (tuple(range(STATES)),) * DISCRETE + (None,) * CONTINUOUS
    mixed = Table(names, states, codes, values)
    noisy = [(c == s) + 0.3 * rng.normal(size=rows) for c in codes for s in range(STATES - 1)]
    columns = np.vstack([noisy, values])
    wide = Table(tuple(f"c{i}" for i in range(len(columns))), (None,) * len(columns), codes[:0], columns)
    return mixed, wide, mixed.select(names[:DISCRETE])


def extensions(mixed, wide, discrete):
    """All extensions of a family by one parent, for the same columns of the matrix."""
    width = STATES - 1
    asked = (("dg-bic", mixed), ("bic", wide), ("bic", mixed), ("cg-bde", mixed), ("bic", discrete))
    dg, gaussian, cg, wishart, counts = (bind(name, table).statistics for name, table in asked)
    first = DISCRETE * width
    child, parents = DISCRETE + 4, (0, 1, DISCRETE, DISCRETE + 1)
    others = np.array([v for v in range(mixed.n_columns) if v not in (child, *parents)])
    same_parents = (*range(2 * width), first, first + 1)
    same_others = np.array([v for v in range(wide.n_columns) if v not in (first + 4, *same_parents)])

    def afresh(statistics):
        statistics.strata.known, statistics.strata.asked = {}, set()
        return statistics.extensions(child, parents, others)

    few = np.arange(4, DISCRETE)
    return {
        "Gaussian": best(lambda: gaussian.extensions(first + 4, same_parents, same_others).log_likelihoods()),
        "degenerate Gaussian": best(lambda: dg.extensions(child, parents, others).log_likelihoods()),
        "conditional Gaussian, first time": best(lambda: afresh(cg), 5),
        "conditional Gaussian, remembered": best(lambda: cg.extensions(child, parents, others)),
        "marginal likelihood, first time": best(lambda: afresh(wishart), 5),
        "marginal likelihood, remembered": best(lambda: wishart.extensions(child, parents, others)),
        "discrete, two parents": best(lambda: counts.extensions(0, (1, 2), few).log_likelihoods()),
    }


def batches(mixed, wide):
    """Families of two discrete parents, or of as many columns, in one call."""
    width, first = STATES - 1, DISCRETE * (STATES - 1)
    pairs = [(a, b) for a in range(DISCRETE) for b in range(a)]
    families = [(DISCRETE, (b, a)) for a, b in pairs]
    same = [(first, tuple(c for v in (b, a) for c in range(v * width, (v + 1) * width))) for a, b in pairs]
    dg, gaussian = bind("dg-bic", mixed).statistics, bind("bic", wide).statistics
    return {
        "Gaussian": best(lambda: gaussian.many(same).log_likelihoods()),
        "degenerate Gaussian": best(lambda: dg.many(families).log_likelihoods()),
    }


def climbs(mixed, wide, discrete):
    """Hill climbing from the empty graph, table and statistics included."""
    asked = {
        f"Gaussian, {wide.n_columns} columns": (wide, "bic"),
        f"degenerate Gaussian, {mixed.n_columns} columns": (mixed, "dg-bic"),
        f"conditional Gaussian, {mixed.n_columns} columns": (mixed, "cg-bic"),
        f"marginal likelihood, {mixed.n_columns} columns": (mixed, "cg-bde"),
        f"discrete, {discrete.n_columns} columns": (discrete, "bic"),
    }
    return {
        name: best(lambda table=table, score=score: bs.learn(table, "hill-climb", score), 3)
        for name, (table, score) in asked.items()
    }


def shown(title, times):
    print(title)
    base = next(iter(times.values()))
    for name, taken in times.items():
        print(f"  {name:40} {taken:10.3f} ms {taken / base:8.2f}")


def main():
    warnings.simplefilter("ignore")
    mixed, wide, discrete = tables()
    print(f"{ROWS:,} rows, {DISCRETE} discrete columns of {STATES} states, {CONTINUOUS} continuous")
    shown("extensions of one family", extensions(mixed, wide, discrete))
    shown("120 families in one call", batches(mixed, wide))
    shown("hill climbing", climbs(mixed, wide, discrete))


if __name__ == "__main__":
    main()
