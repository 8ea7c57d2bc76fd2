"""How fast families are counted and scored: ns a row for each engine, extensions, pairwise matrix, start-up.

make bench        ours
make peers        once, for the other libraries; then they are timed beside ours in the same run
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import bayescout as bs
from bayescout.data.table import Table
from bayescout.scores import Bic, TableScorer
from bayescout.statistics.counts import Counts

HERE = Path(__file__).parent
PEERS = HERE.parent / ".peers" / "bin" / "python"
ROWS = 100_000


def best(work, repeats=25):
    """The least of several wall-clock times, in seconds, the first (warm-up) not counted."""
    work()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def random_table(cards, rows, seed=0):
    rng = np.random.default_rng(seed)
    hidden = rng.random(rows)
    codes = np.array([(rng.random(rows) * 0.6 + hidden * 0.4) * r for r in cards]).astype(np.uint8)
    names = tuple(f"v{i}" for i in range(len(cards)))
    return Table(names, tuple(tuple(range(r)) for r in cards), codes, np.zeros((0, rows)))


def engines():
    """One family, and twenty of the same shape in one call, which is how searches of populations ask."""
    print(f"one family, {ROWS:,} rows, one core")
    print(f"{'engine':>10} {'parents':>8} {'cells':>12} {'ns a row':>9} {'in a batch':>11}")
    cases = [
        ([2] * 4, "bits"), ([2] * 5, "bits"), ([4, 2, 4], "bits"), ([4, 4, 2], "bits"), ([3, 4], "bits"),
        ([4] * 4, "scatter"), ([4] * 5, "scatter"), ([4] * 6, "scatter"), ([64, 64], "scatter"),
        ([4] * 13, "sparse"), ([2] * 21, "sparse"), ([2] * 31, "sparse"), ([3] * 31, "sparse"),
        ([4] * 31, "sparse"), ([4] * 61, "sparse"),
    ]  # fmt: skip
    for cards, engine in cases:
        # Further columns, so that duplicate rows are not folded into weights.
        counts = Counts(random_table([*cards, *[4] * 20], ROWS))
        parents = tuple(range(1, len(cards)))
        seconds = best(lambda c=counts, p=parents: c.many([(0, p)]), 15)
        cells = float(np.prod([float(r) for r in cards]))
        line = f"{engine:>10} {len(parents):>8} {cells:>12.4g} {seconds / ROWS * 1e9:>9.3f}"
        if engine != "sparse":
            batch = best(lambda c=counts, p=parents: c.many([(0, p)] * 20), 5) / 20
            line += f" {batch / ROWS * 1e9:>11.3f}"
        print(line)


def scorer_of(formula, table, **options):
    return TableScorer(formula, formula.statistics(table), **options)


def extensions():
    truth = bs.load_network("alarm")
    data = truth.sample(10_000, seed=1)
    child = next(i for i, parents in enumerate(truth.dag.parents) if len(parents) == 2)
    parents = truth.dag.parents[child]
    others = np.array([v for v in range(37) if v != child and v not in parents])
    print(
        f"\nextensions of {truth.nodes[child]} with 2 parents over {len(others)} others of alarm, 10,000 rows"
    )
    for name in ("bic", "bdeu", "k2"):
        score = scorer_of(bs.scores.SCORES[name](), data, workers=1, cache_bytes=0)
        print(f"{name:>10} {best(lambda s=score: s.extensions(child, parents, others), 200) * 1e6:>9.1f} us")
    return data, child, parents, others


def pairwise():
    score = scorer_of(Bic(), random_table([2] * 1000, 10_000), cache_bytes=0)
    everyone = np.arange(1000)

    def matrix():
        for child in range(1000):
            score.extensions(child, (), np.delete(everyone, child))

    print(f"\npairwise scores of 1,000 binary variables, 10,000 rows: {best(matrix, 3):.3f} s")


def start_up():
    code = (
        "import time; t = time.perf_counter(); import bayescout as bs; a = bs.load_network('asia');"
        "d = a.sample(1000); [bs.score(a.dag, d, s) for s in ('bic', 'bdeu', 'bds', 'fnml', 'bic-laplace')];"
        "from bayescout.statistics.counts import Counts; import numpy as np; rng = np.random.default_rng(0);"
        "bs.score(bs.Dag.empty([0, 1]), rng.normal(size=(9, 2)), 'bge');"
        "c = Counts(bs.as_table(rng.integers(0, 9, (99, 9)))); c.many([(0, tuple(range(1, 9)))]);"
        "[c.extensions(0, (1, 2), np.array([3, 4])), c.extensions(0, (), np.array([1]))];"
        "print(time.perf_counter() - t)"
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        for label in ("first use, kernels compiling", "later start"):
            done = subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
            )
            print(f"{label:>30}: {float(done.stdout.split()[-1]):.2f} s   {done.stderr.strip()}")


def peers(data, child, parents, others):
    if not PEERS.exists():
        print("\nother libraries: run `make peers` to time them in the same run")
        return
    print("\nthe same extensions by other libraries, one family after the other")
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "codes.npy", data.codes)
        (Path(folder) / "task.json").write_text(
            json.dumps({"child": child, "parents": list(parents), "others": others.tolist()})
        )
        for library in ("pyagrum", "pgmpy", "pybnesian"):
            done = subprocess.run(
                [str(PEERS), str(HERE / "peers" / "counting_peer.py"), library, folder],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            shown = done.stdout.strip() or "failed: " + done.stderr.strip().splitlines()[-1]
            print(f"{library:>10} {shown}")


if __name__ == "__main__":
    engines()
    task = extensions()
    pairwise()
    print()
    start_up()
    peers(*task)
