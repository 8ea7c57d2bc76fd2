"""Hill climbing beside other libraries: time, BIC and BDeu by one scorer, distance to the true class.

    python benchmarks/search.py [network ...] [--rows 1000,10000] [--peers pybnesian,pyagrum,pgmpy]

Peers run in their own environment (`make peers`) on the same data in the same run. Times are warm and the
best of several. `ours+` is tabu search with restarts, stopped at the fastest peer's time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import bayescout as bs
from bayescout.search import Tabu

HERE = Path(__file__).parent
PEERS = HERE.parent / ".peers" / "bin" / "python"
NETWORKS = ["asia", "child", "insurance", "alarm", "water", "hailfinder", "win95pts", "hepar2", "andes"]


def ours(table, search="hill-climb", repeats=5, **options):
    best, result = float("inf"), None
    for _ in range(repeats):
        begin = time.perf_counter()
        result = bs.learn(table, search, **options)
        best = min(best, time.perf_counter() - begin)
    return best, result


def peer(library, table, limit, repeats):
    """Seconds and graph of a peer, or the reason why not."""
    with tempfile.TemporaryDirectory() as folder:
        if table.is_discrete:
            np.save(Path(folder) / "codes.npy", table.codes)
        else:
            np.save(Path(folder) / "values.npy", table.values)
        command = [str(PEERS), str(HERE / "peers" / "search_peer.py"), library, folder, str(repeats)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
        except subprocess.TimeoutExpired:
            return None, f"more than {limit} s"
        if done.returncode:
            return None, done.stderr.strip().splitlines()[-1][:60]
    found = json.loads(done.stdout.strip().splitlines()[-1])
    arcs = [(table.names[a], table.names[b]) for a, b in found["arcs"]]
    return found["seconds"], bs.Dag.from_arcs(arcs, nodes=table.names)


def line(name, seconds, dag, table, truth, fastest=None):
    ratio = "" if fastest is None else f"{fastest / seconds:7.1f}x"
    bdeu = f"{bs.score(dag, table, 'bdeu'):>14,.1f}" if table.is_discrete else ""
    bic = bs.score(dag, table, "bic")
    print(
        f"  {name:<12}{seconds * 1e3:>11,.1f} ms {ratio:>8} bic {bic:>14,.1f} bdeu {bdeu} "
        f"arcs {dag.n_arcs:>4} shd {bs.compare(dag, truth).shd_cpdag:>4}",
        flush=True,
    )
    return bic


def one(title, table, truth, libraries, limit):
    print(f"{title}: {table.n_columns} variables, {table.n_rows:,} rows", flush=True)
    repeats = 5 if table.n_rows * table.n_columns < 3_000_000 else 2
    ours(table, repeats=1)
    seconds, result = ours(table, repeats=repeats)
    found = {}
    for library in libraries:
        peer_seconds, dag = peer(library, table, limit, 3 if repeats == 5 else 1)
        if peer_seconds is None:
            print(f"  {library:<12} {dag}", flush=True)
        else:
            found[library] = (peer_seconds, dag)
    fastest = min((s for s, _ in found.values()), default=None)
    bic = line("ours", seconds, result.dag, table, truth, fastest)
    for library, (peer_seconds, dag) in found.items():
        line(library, peer_seconds, dag, table, truth)
    if fastest:
        peers_best = max(bs.score(dag, table, "bic") for _, dag in found.values())
        begin = time.perf_counter()
        more = bs.learn(table, Tabu(restarts=10**6), max_time=0.9 * fastest)
        bic = line("ours+", time.perf_counter() - begin, more.dag, table, truth)
        print(f"  better than every peer by {bic - peers_best:,.1f} nats", flush=True)
    print(f"  generating network's bic {bs.score(truth, table, 'bic'):,.1f}", flush=True)


def gaussian():
    """A random SEM of 100 variables, average degree 4, standardised columns, 10,000 rows."""
    network = bs.random_network(100, arcs=200, kind="gaussian", coefficients=(0.3, 1.0), seed=1)
    values = network.sample(10_000, seed=2).values
    values = (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, keepdims=True)
    table = bs.as_table(dict(zip(network.nodes, values, strict=True)), kinds="continuous")
    return "random SEM", table, network.dag


def large():
    """1,000 binary variables, a random network of 1,500 arcs, 5,000 rows."""
    network = bs.random_network(1000, arcs=1500, states=2, max_parents=5, seed=1)
    return "large", network.sample(5000, seed=2), network.dag


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("networks", nargs="*", default=[*NETWORKS, "big", "gaussian", "large"])
    parser.add_argument("--rows", default="1000,10000")
    parser.add_argument("--peers", default="pybnesian,pyagrum,pgmpy" if PEERS.exists() else "")
    parser.add_argument("--limit", type=float, default=60)
    chosen = parser.parse_args()
    libraries = [name for name in chosen.peers.split(",") if name]
    for name in chosen.networks:
        if name == "gaussian":
            one(*gaussian(), [x for x in libraries if x == "pybnesian"], chosen.limit)
        elif name == "large":
            one(*large(), [], chosen.limit)
        elif name == "big":
            for rows in (100_000, 1_000_000):
                network = bs.load_network("alarm")
                some = [x for x in libraries if x == "pybnesian" or (x == "pyagrum" and rows < 10**6)]
                one("alarm", network.sample(rows, seed=1), network.dag, some, chosen.limit)
        else:
            for rows in map(int, chosen.rows.split(",")):
                network = bs.load_network(name)
                one(name, network.sample(rows, seed=1), network.dag, libraries, chosen.limit)


if __name__ == "__main__":
    main()
