"""Do budgets hold? Every search with max_time on three tables of 10,000 rows, each in a process of its own.

Prints the seconds that `learn` took beyond its budget, the most memory that the process had, and the score
less that of plain hill climbing in the same time.

    python benchmarks/budgets.py [--tables alarm,munin1,wide] [--searches pbil,gap] [--max-time 3]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import bayescout as bs
from bayescout.search import SEARCHES

ROWS = 10_000


def table_named(name):
    if name == "wide":
        return bs.random_network(500, arcs=900, states=3, max_parents=4, seed=1).sample(ROWS, seed=1)
    return bs.load_network(name).sample(ROWS, seed=1)


def child(path, search, max_time):
    """One run: what it took, after a short one of the same kind that loads and compiles what it needs."""
    warnings.simplefilter("ignore")
    table = bs.read_table(path, kinds="discrete")
    small = table.select(table.names[:8]).take(range(200))
    known = {"k2": bs.Knowledge(order=table.names), "small": bs.Knowledge(order=small.names)}
    knowledge = known.get(search)
    warm = bs.learn(
        small, "hill-climb" if search == "gap" else search, "bic", knowledge and known["small"], max_time=2
    )
    if search == "gap":
        bs.gap(warm, max_time=2)
        result = bs.learn(table, max_time=max_time)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    begin = time.perf_counter()
    if search == "gap":
        bs.gap(result, max_time=max_time)
    else:
        result = bs.learn(table, search, "bic", knowledge, max_time=max_time)
    seconds = time.perf_counter() - begin
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({
        "seconds": seconds, "before": before, "most": most, "score": result.score,
        "arcs": sum(map(len, result.dag.parents)), "stop": result.stop_reason, "steps": len(result.trace),
    }))  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", default="alarm,munin1,wide")
    parser.add_argument("--searches", default=",".join([*SEARCHES, "gap"]))
    parser.add_argument("--max-time", type=float, default=3.0)
    parser.add_argument("--child", nargs=2)
    given = parser.parse_args()
    if given.child:
        child(*given.child, given.max_time)
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in given.tables.split(","):
            path = Path(folder) / f"{name}.parquet"
            table_named(name).save(path)
            compare(name, path, given.searches.split(","), given.max_time)


def compare(name, path, searches, max_time):
    print(f"{name}, {ROWS:,} rows, max_time={max_time:g} (limit {1.1 * max_time + 0.3:.2f} s)")
    print(f"{'':16}{'seconds':>8}{'MiB':>7}{'steps':>8}{'arcs':>6}{'above hill climbing':>21}  stopped by")
    floor = None
    for search in dict.fromkeys(["hill-climb", *searches]):
        command = [sys.executable, __file__, "--child", str(path), search, "--max-time", str(max_time)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60 + 5 * max_time)
        except subprocess.TimeoutExpired:
            print(f"{search:16} no answer after {60 + 5 * max_time:.0f} s", flush=True)
            continue
        if done.returncode:
            print(f"{search:16} failed: {done.stderr.strip().splitlines()[-1]}", flush=True)
            continue
        one = json.loads(done.stdout)
        floor = one["score"] if floor is None else floor
        late = "" if one["seconds"] <= 1.1 * max_time + 0.3 else "  LATE"
        print(
            f"{search:16}{one['seconds']:8.2f}{one['most']:7.0f}{one['steps']:8,}{one['arcs']:6,}"
            f"{one['score'] - floor:21,.1f}  {one['stop']}{late}",
            flush=True,
        )


if __name__ == "__main__":
    main()
