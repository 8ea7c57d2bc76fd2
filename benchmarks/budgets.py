"""Do budgets hold? Every search with max_time on tables of every kind, each in a process of its own.

Prints the seconds that `learn` took beyond its budget, the most memory that the process had, and the score
less that of plain hill climbing in the same time; then the overruns of all searches on all tables.

    python benchmarks/budgets.py [--tables mildew,link,gaussian] [--searches pbil,gap] [--max-time 3]
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

import numpy as np

import bayescout as bs
from bayescout.search import SEARCHES

ROWS = 10_000

TABLES = {
    "alarm": "bic",
    "mildew": "bdeu",  # many states
    "barley": "bdeu",
    "munin1": "bdeu",
    "link": "bdeu",  # 724 variables
    "wide": "bic",
    "long": "bdeu",  # 1,000,000 rows
    "gaussian": "bic",  # 1,000 variables
    "bge": "bge",
    "mixed": "cg-bic",
    "degenerate": "dg-bic",
    "holes": "bic",  # a tenth of the cells missing
}
"""The score for each table."""


def table_named(name):
    if name == "wide":
        return bs.random_network(500, arcs=900, states=3, max_parents=4, seed=1).sample(ROWS, seed=1)
    if name == "long":
        return bs.random_network(20, arcs=40, states=3, max_parents=3, seed=1).sample(100 * ROWS, seed=1)
    if name in ("gaussian", "bge"):
        return numbers(1000 if name == "gaussian" else 200, 1000)
    if name in ("mixed", "degenerate"):
        return both_kinds(60, ROWS)
    if name == "holes":
        table = bs.load_network("munin1").sample(ROWS, seed=1)
        frame = table.to_pandas().astype(object)
        return bs.as_table(frame.mask(np.random.default_rng(1).random(frame.shape) < 0.1))
    return bs.load_network(name).sample(ROWS // 2 if name == "link" else ROWS, seed=1)


def numbers(variables, rows):
    """A linear Gaussian model in which each variable has two parents."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(rows, variables))
    for child in range(1, variables):
        for parent in rng.choice(child, size=min(child, 2), replace=False):
            values[:, child] += 0.5 * rng.normal() * values[:, parent]
        values[:, child] /= values[:, child].std()
    return bs.as_table({f"x{i}": column for i, column in enumerate(values.T)})


def both_kinds(variables, rows):
    """A chain of discrete variables with four states, then one of numbers."""
    rng = np.random.default_rng(1)
    columns, state = {}, rng.integers(4, size=rows)
    for i in range(variables // 2):
        state = np.where(rng.random(rows) < 0.6, state, rng.integers(4, size=rows))
        columns[f"d{i}"] = state.astype(str)
    number = state + rng.normal(size=rows)
    for i in range(variables - variables // 2):
        number = 0.7 * number + rng.normal(size=rows)
        columns[f"c{i}"] = number
    return bs.as_table(columns)


def child(path, search, score, max_time):
    """One run: what it took, after a short one of the same kind that loads and compiles what it needs."""
    warnings.simplefilter("ignore")
    kinds = {} if score in ("bge", "cg-bic", "dg-bic") or "gaussian" in path else {"kinds": "discrete"}
    missing = {"missing": "keep"} if "holes" in path else {}
    table = bs.read_table(path, **kinds, **missing)
    small = table.select([*table.names[:4], *table.names[-4:]]).take(range(500))
    known = {"k2": bs.Knowledge(order=table.names), "small": bs.Knowledge(order=small.names)}
    knowledge = known.get(search)
    method = "hill-climb" if search == "gap" else search
    warm = bs.learn(small, method, score, knowledge and known["small"], max_time=2)
    if search == "gap":
        bs.gap(warm, max_time=2)
        result = bs.learn(table, score=score, max_time=max_time)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    from bayescout.search.frame.watch import compiling_seconds

    compiled, begin = compiling_seconds(), time.perf_counter()
    if search == "gap":
        bs.gap(result, max_time=max_time)
    else:
        result = bs.learn(table, search, score, knowledge, max_time=max_time)
    seconds = time.perf_counter() - begin - (compiling_seconds() - compiled)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({
        "seconds": seconds, "before": before, "most": most, "score": result.score,
        "arcs": sum(map(len, result.dag.parents)), "stop": result.stop_reason, "steps": len(result.trace),
    }))  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--searches", default=",".join([*SEARCHES, "gap"]))
    parser.add_argument("--max-time", type=float, default=3.0)
    parser.add_argument("--child", nargs=3)
    given = parser.parse_args()
    if given.child:
        child(*given.child, given.max_time)
        return
    names, found = given.tables.split(","), {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            path = Path(folder) / f"{name}.parquet"
            table_named(name).save(path)
            found[name] = compare(name, path, given.searches.split(","), given.max_time)
    print_overruns(found, given.max_time)


def compare(name, path, searches, max_time):
    print(f"{name}, {TABLES[name]}, max_time={max_time:g} (limit {1.1 * max_time + 0.3:.2f} s)")
    print(f"{'':16}{'seconds':>8}{'MiB':>7}{'steps':>8}{'arcs':>6}{'above hill climbing':>21}  stopped by")
    floor, overruns = None, {}
    for search in dict.fromkeys(["hill-climb", *searches]):
        command = [sys.executable, __file__, "--child", str(path), search, TABLES[name]]
        command += ["--max-time", str(max_time)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60 + 5 * max_time)
        except subprocess.TimeoutExpired:
            print(f"{search:16} no answer after {60 + 5 * max_time:.0f} s", flush=True)
            overruns[search] = float("inf")
            continue
        if done.returncode:
            print(f"{search:16} failed: {done.stderr.strip().splitlines()[-1]}", flush=True)
            continue
        one = json.loads(done.stdout)
        floor = one["score"] if floor is None else floor
        overruns[search] = one["seconds"] - max_time
        late = "" if one["seconds"] <= 1.1 * max_time + 0.3 else "  LATE"
        print(
            f"{search:16}{one['seconds']:8.2f}{one['most']:7.0f}{one['steps']:8,}{one['arcs']:6,}"
            f"{one['score'] - floor:21,.1f}  {one['stop']}{late}",
            flush=True,
        )
    return overruns


def print_overruns(found, max_time):
    """Seconds beyond the budget, by search and table; a dot where the search ended by itself."""
    print(f"\nseconds beyond max_time={max_time:g} (at most {0.1 * max_time + 0.3:.2f})")
    print(f"{'':16}" + "".join(f"{name:>11}" for name in found))
    for search in dict.fromkeys(search for own in found.values() for search in own):
        overruns = [own.get(search) for own in found.values()]
        shown = ["" if one is None else "." if one <= 0 else f"{one:.2f}" for one in overruns]
        print(f"{search:16}" + "".join(f"{one:>11}" for one in shown))


if __name__ == "__main__":
    main()
