"""Two versions of the package on the same cases in one run: are the later ones as fast?

    python benchmarks/versions.py OLD/src NEW/src [--only TEXT] [--repeats 7]

The cases are those of search.py, optimal.py, equivalence.py and orders.py. Each version has a process of its
own; they take turns, so that a busy machine slows both alike. Times are processor seconds with one worker,
the best of the repeats. At the end: start-up, and the geometric mean of new to old.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time

SHARE = 0.15
"""Seconds for which a case is repeated at a time: single runs of a millisecond vary too much."""

NETWORKS = ["asia", "child", "insurance", "alarm", "water", "hailfinder", "win95pts", "hepar2", "andes"]


def cases():
    """(name, network or number of Gaussian variables, rows, search, settings, score, most parents)."""
    for name in NETWORKS:
        for rows in (1000, 10_000):
            yield f"search {name} {rows} hill-climb", name, rows, "hill-climb", {}, "bic", None
        yield f"search {name} tabu", name, 2000, "tabu", {"restarts": 10}, "bic", None
    yield "search gaussian 100", 100, 1000, "hill-climb", {}, "bic", None
    for name, score, most in (
        ("asia", "bdeu", None), ("asia", "bic", None), ("child", "bic", None), ("child", "bdeu", 3),
        ("insurance", "bic", 3), ("alarm", "bic", 3),
    ):  # fmt: skip
        yield f"optimal {name} {score} {most}", name, 1000, "optimal", {}, score, most
    for name in NETWORKS[:-1]:
        yield f"equivalence {name} ges", name, 5000, "ges", {}, "bdeu", None
    yield "equivalence gaussian 100", 100, 1000, "ges", {}, "bic", None
    for name in ("asia", "child", "alarm", "hailfinder"):
        yield f"orders {name} boss", name, 1000, "boss", {}, "bdeu", None
        yield f"orders {name} memetic", name, 1000, "memetic", {"patience": 3}, "bdeu", 3
        yield f"orders {name} climb", name, 1000, "order-climb", {"parents": 2}, "bdeu", None
    yield "orders gaussian 60 boss", 60, 500, "boss", {}, "bic", None


def serve():
    """Run the cases that come in, each once more to warm up the first time, and give back their seconds."""
    import numpy as np

    import bayescout as bs

    tables = {}

    def table_of(source, rows):
        if (source, rows) not in tables:
            if isinstance(source, str):
                made = bs.load_network(source).sample(rows, seed=1)
            else:
                rng = np.random.default_rng(1)
                columns = rng.normal(size=(rows, source))
                for child in range(1, source):
                    for parent in rng.integers(0, child, 2):
                        columns[:, child] += 0.6 * columns[:, parent]
                made = bs.as_table(columns)
            tables[source, rows] = made
        return tables[source, rows]

    warmed = set()
    for line in sys.stdin:
        name, source, rows, search, settings, score, most = json.loads(line)
        table, method = table_of(source, rows), bs.search.SEARCHES[search](**settings)
        known = bs.Knowledge(max_parents=most)
        seconds, ends = math.inf, time.perf_counter() + SHARE
        while True:
            begin = time.process_time()
            result = bs.learn(table, method, score, known, seed=1, workers=1)
            seconds = min(seconds, time.process_time() - begin)
            if time.perf_counter() >= ends and name in warmed:
                break
            warmed.add(name)
        print(json.dumps([seconds, result.score.hex()]), flush=True)


def started(source):
    """A process that serves cases with the package of a source folder."""
    environment = os.environ | {"PYTHONPATH": source}
    command = [sys.executable, __file__, "--serve"]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )


def asked(process, case):
    process.stdin.write(json.dumps(case) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def start_up(source):
    """Processor seconds of importing the package, and of importing and learning from a small table."""
    code = "import bayescout as bs; bs.learn(bs.load_network('asia').sample(100, seed=1))"
    found = []
    for what in ("import bayescout", code):
        best = math.inf
        for _ in range(4):
            before = os.times()
            environment = os.environ | {"PYTHONPATH": source}
            subprocess.run([sys.executable, "-c", what], check=True, env=environment, capture_output=True)
            after = os.times()
            best = min(
                best,
                after.children_user + after.children_system - before.children_user - before.children_system,
            )
        found.append(best)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--repeats", type=int, default=7)
    chosen = parser.parse_args()
    processes = [started(source) for source in chosen.sources]
    ratios = {}
    for case in cases():
        if chosen.only not in case[0]:
            continue
        best, scores = [math.inf, math.inf], ["", ""]
        for repeat in range(chosen.repeats):
            for which in (0, 1) if repeat % 2 else (1, 0):
                seconds, scores[which] = asked(processes[which], case)
                best[which] = min(best[which], seconds)
            if repeat >= 2 and sum(best) > 10:
                break
        ratios[case[0]] = best[1] / best[0]
        same = "" if scores[0] == scores[1] else "  OTHER ANSWER"
        times = f"{best[0] * 1000:>10.1f} {best[1] * 1000:>10.1f} ms"
        print(f"{case[0]:<34} {times}  {ratios[case[0]]:.3f}{same}", flush=True)
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    print(f"geometric mean {mean:.3f}, largest {max(ratios.values()):.3f} ({max(ratios, key=ratios.get)})")
    for source in chosen.sources:
        imported, learned = start_up(source)
        print(f"{source}: import {imported:.2f} s, import and learn {learned:.2f} s")


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--serve"] else main()
