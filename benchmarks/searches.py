"""Every search with its own settings on one sample: score, distance to the true class, processor seconds.

    python benchmarks/searches.py [network ...] [--rows 1000] [--score bdeu] [--max-time 60]
                                  [--searches "tabu,tabu restarts=20,ges"]

`below` is how far, in nats, a score lies below the best of all. The distance is the structural Hamming
distance between equivalence classes. Seconds are those of the processor, with one worker, the best of three
runs if they are short. K2 is given an order of the generating network. An asterisk marks a search that the
time ended; if the answer is then that of greedy climbing, the score is the search's own and there is no
distance.
"""

from __future__ import annotations

import argparse
import time

import bayescout as bs
from bayescout.search import SEARCHES, search_named

REPEATS, SHORT = 3, 5.0


def named(text):
    """The search of a name and its settings, whole numbers: `tabu restarts=20`."""
    name, *settings = text.split()
    return search_named(name, **{key: int(value) for key, value in (one.split("=") for one in settings)})


def run(name, table, truth, score, max_time):
    """The result, and the least processor seconds of several runs; of one, if it is long."""
    knowledge = bs.Knowledge(order=truth.dag.order()) if name == "k2" else None
    seconds = []
    while len(seconds) < REPEATS and sum(seconds) < SHORT:
        begin = time.process_time()
        found = bs.learn(table, named(name), score, knowledge, seed=1, max_time=max_time, workers=1)
        seconds.append(time.process_time() - begin)
    return found, min(seconds)


def own_score(result):
    return result.score if result.own_score is None else result.own_score


def compare(network, rows, names, score, max_time):
    truth = bs.load_network(network)
    table = truth.sample(rows, seed=1)
    found = {name: run(name, table, truth, score, max_time) for name in names}
    best = max(own_score(result) for result, _ in found.values())
    print(f"{network}, {rows:,} rows, {score}")
    print(f"  {'search':<20}{'below':>10}{'distance':>10}{'seconds':>10}")
    for name, (result, seconds) in found.items():
        mark = "*" if result.stop_reason == "max_time" else ""
        distance = bs.compare(result.cpdag, truth).shd if result.own_score is None else ""
        print(
            f"  {name:<20}{best - own_score(result):>10,.1f}{distance:>10}{seconds:>10,.2f}{mark}", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("networks", nargs="*", default=["alarm"])
    parser.add_argument("--rows", default="1000")
    parser.add_argument("--score", default="bdeu")
    parser.add_argument("--searches", default=",".join(SEARCHES))
    parser.add_argument("--max-time", type=float, default=60.0)
    chosen = parser.parse_args()
    for network in chosen.networks:
        for rows in map(int, chosen.rows.split(",")):
            compare(network, rows, chosen.searches.split(","), chosen.score, chosen.max_time)


if __name__ == "__main__":
    main()
