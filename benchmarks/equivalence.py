"""Searches that end in an equivalence class: time, score and distance to the true class.

    python benchmarks/equivalence.py [network ...] [--rows 10000] [--gaussian 100] [--peers ges,causal-learn]

Discrete networks with BDeu, random linear models (average degree 4, 1,000 rows) with Gaussian BIC. Times are
warm and the best of several. Peers run in their own environment (`make peers`) on the same data; discrete
ones take minutes, so they are asked for by name and stopped after `--limit` seconds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PEERS = Path(__file__).parent.parent / ".peers" / "bin" / "python"
NETWORKS = ["asia", "insurance", "alarm", "win95pts", "hailfinder"]


def ours(title, table, truth, score, repeats):
    import bayescout as bs
    from bayescout.search.ges import Ges
    from bayescout.search.pc import Cpc, Pc

    rows = f"{table.n_columns} variables, {table.n_rows:,} rows"
    print(f"{title}: {rows}, the true graph's {score} {bs.score(truth, table, score):,.1f}", flush=True)
    for search in (Ges(), Ges(repeat=False), Ges(turning=True), Pc(), Cpc(), "hill-climb"):
        bs.learn(table, search, score, max_steps=1)
        best = float("inf")
        for _ in range(repeats):
            begin = time.perf_counter()
            result = bs.learn(table, search, score)
            best = min(best, time.perf_counter() - begin)
        name = search if isinstance(search, str) else repr(search)
        line(name, best, result.score, result.dag.n_arcs, bs.compare(result.dag, truth).shd_cpdag)


def line(name, seconds, score, arcs, distance):
    print(
        f"  {name:<44}{seconds * 1e3:>10,.1f} ms  score {score:>14,.1f}  arcs {arcs:>4}  shd {distance:>4}",
        flush=True,
    )


def peer(library, table, truth, score, limit):
    """A peer's seconds and class, on the same data, in its own process."""
    import bayescout as bs
    from bayescout.graph.equivalence import consistent_extension

    with tempfile.TemporaryDirectory() as folder:
        rows = table.codes if table.is_discrete else table.values
        np.save(Path(folder) / "rows.npy", rows.T)
        command = [str(PEERS), __file__, "--as-peer", library, folder, "bdeu" if table.is_discrete else "bic"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
        except subprocess.TimeoutExpired:
            print(f"  {library:<44} more than {limit} s", flush=True)
            return
    if done.returncode:
        print(f"  {library:<44} {done.stderr.strip().splitlines()[-1][:60]}", flush=True)
        return
    found = json.loads(done.stdout.strip().splitlines()[-1])
    pdag = bs.Pdag.from_adjacency(np.array(found["matrix"]), table.names)
    dag = consistent_extension(pdag)
    distance = bs.compare(dag, truth).shd_cpdag
    line(library, found["seconds"], bs.score(dag, table, score), dag.n_arcs, distance)


def as_peer(library, folder, score):
    """Run in the peers' environment: print the seconds and the adjacency matrix that a library finds."""
    rows = np.load(Path(folder) / "rows.npy")
    begin = time.perf_counter()
    if library == "ges":
        import ges

        begin = time.perf_counter()
        matrix = ges.fit_bic(rows)[0]
    else:
        from causallearn.search.ScoreBased.GES import ges as search

        begin = time.perf_counter()
        name = "local_score_BDeu" if score == "bdeu" else "local_score_BIC_from_cov"
        ends = search(rows.astype(float), name)["G"].graph
        # -1 is a tail and 1 an arrowhead: i -> j where j has the head and i the tail.
        matrix = ((ends == -1) & ((ends.T == 1) | (ends.T == -1))).astype(int)
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, "matrix": (np.asarray(matrix) != 0).astype(int).tolist()}))


def linear(n, rows=1000):
    """A random linear model of average degree 4, coefficients between -1 and 1."""
    import bayescout as bs

    network = bs.random_network(n, arcs=2 * n, kind="gaussian", seed=1)
    return f"random SEM of {n}", network.sample(rows, seed=2), network.dag


def main():
    import bayescout as bs

    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("networks", nargs="*", default=NETWORKS)
    options.add_argument("--rows", type=int, default=10_000)
    options.add_argument(
        "--gaussian", default="100", help="numbers of variables, with commas; empty for none"
    )
    options.add_argument("--peers", default="", help="ges, causal-learn")
    options.add_argument("--limit", type=int, default=600)
    options.add_argument("--repeats", type=int, default=3)
    asked = options.parse_args()
    libraries = [library for library in asked.peers.split(",") if library]
    for name in asked.networks:
        network = bs.load_network(name)
        table = network.sample(asked.rows, seed=1)
        ours(name, table, network.dag, "bdeu", asked.repeats)
        for library in libraries:
            if library != "ges":
                peer(library, table, network.dag, "bdeu", asked.limit)
    for n in [int(size) for size in asked.gaussian.split(",") if size]:
        title, table, dag = linear(n)
        ours(title, table, dag, "bic", asked.repeats)
        for library in libraries:
            peer(library, table, dag, "bic", asked.limit)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as-peer"]:
        as_peer(*sys.argv[2:])
    else:
        main()
