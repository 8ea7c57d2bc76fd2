"""Exact search: candidate parent sets, seconds, proven or how far from it.

    python benchmarks/optimal.py [network ...] [--rows 100,1000,10000] [--scores bic,bdeu] [--limits 3,none]
                                 [--max-time 150] [--method auto] [--seed 1]

CPU seconds are those of the whole process, all threads together. Published for alarm with 10,000 rows,
BDeu(1) and at most 3 parents: GOBNILP 147 s with SCIP, 190 s with Gurobi.
"""

from __future__ import annotations

import argparse
import time

import bayescout as bs
from bayescout.scores import bind
from bayescout.search import Problem
from bayescout.search.optimal import Optimal
from bayescout.search.parent_sets.enumeration import candidate_sets

NETWORKS = ["asia", "child", "insurance", "water", "alarm", "hailfinder"]


def sets_of(table, score, knowledge):
    """The number of candidate sets, or why not."""
    problem = Problem(bind(score, table), knowledge.compile(table.names))
    try:
        found = candidate_sets(problem)
    except bs.BayescoutError as error:
        return str(error).split(";")[0]
    return f"{found.total:,} of {found.scored:,}"


def one(name, rows, score, limit, chosen):
    table = bs.load_network(name).sample(rows, seed=chosen.seed)
    knowledge = bs.Knowledge(max_parents=None if limit == "none" else int(limit))
    wall, cpu = time.perf_counter(), time.process_time()
    result = bs.learn(table, Optimal(chosen.method), score, knowledge, max_time=chosen.max_time)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    gap = "proven" if result.gap == 0 else f"gap {result.gap:,.1f} ({100 * result.gap / -result.score:.2f}%)"
    counted = sets_of(table, score, knowledge) if chosen.sets else ""
    print(
        f"{name:<11}{rows:>7,} {score:<5}{limit:>5} {result.score:>14,.2f} {wall:>8.1f} s "
        f"{cpu:>8.1f} cpu s  {gap:<24} {result.stop_reason:<10} {counted}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("--rows", default="100,1000,10000")
    parser.add_argument("--scores", default="bic,bdeu")
    parser.add_argument("--limits", default="3,none")
    parser.add_argument("--max-time", type=float, default=150)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--sets", action="store_true", help="also count the candidate sets, in a run of its own"
    )
    chosen = parser.parse_args()
    bs.learn(bs.load_network("asia").sample(100, seed=1), Optimal())  # compiles
    for name in chosen.networks:
        for rows in map(int, chosen.rows.split(",")):
            for score in chosen.scores.split(","):
                for limit in chosen.limits.split(","):
                    one(name, rows, score, limit, chosen)


if __name__ == "__main__":
    main()
