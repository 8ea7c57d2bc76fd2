"""Searches that end in an equivalence class: time, score and distance to the true class, beside peers.

    python benchmarks/equivalence.py [network ...] [--rows 10000] [--gaussian 100,1000]
                                     [--peers causal-learn,ges,pgmpy] [--limit 60]

Discrete networks with BDeu, random linear models (average degree 4, 1,000 rows) with Gaussian BIC. Times
are warm and the best of several, elapsed and of the CPU. Peers run in their own environment (`make peers`),
each in a process of its own on the same data in the same run, and are stopped after `--limit` seconds.
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
BESIDES = ["imap", "pc", "cpc", "hill-climb"]


def searches(discrete):
    """Greedy equivalence search in its variants, and the other searches of the registry.

    Covering every dependency among a hundred Gaussian variables takes minutes: imap is left out there.
    """
    from bayescout.search import Ges

    yield from ((repr(search), search) for search in (Ges(), Ges(turning=False), Ges(False, False)))
    yield from ((name, name) for name in BESIDES if discrete or name != "imap")


def ours(title, table, truth, score, repeats):
    import bayescout as bs

    rows = f"{table.n_columns} variables, {table.n_rows:,} rows"
    print(f"{title}: {rows}, the true graph's {score} {bs.score(truth, table, score):,.1f}", flush=True)
    for name, search in searches(table.is_discrete):
        if name in ("imap", "pc", "cpc") and table.n_columns > 200:
            continue
        bs.learn(table, search, score, max_steps=1)
        times = []
        for _ in range(repeats):
            begin = stopwatch()
            result = bs.learn(table, search, score)
            times.append(stopwatch() - begin)
        line(
            name,
            np.min(times, axis=0),
            result.score,
            result.dag.n_arcs,
            bs.compare(result.cpdag, truth).shd_cpdag,
        )


def stopwatch():
    """Elapsed and CPU seconds."""
    return np.array([time.perf_counter(), time.process_time()])


def line(name, seconds, score, arcs, distance):
    elapsed, cpu = np.array(seconds) * 1e3
    worth = "" if score is None else f"{score:,.1f}"
    print(
        f"  {name:<34}{elapsed:>10,.1f} ms {cpu:>10,.1f} ms cpu  score {worth:>14}  arcs {arcs:>4}  "
        f"shd {distance:>4}",
        flush=True,
    )


def peer(library, table, truth, score, limit):
    """A peer's seconds and class, on the same data, in its own process."""
    import bayescout as bs

    with tempfile.TemporaryDirectory() as folder:
        rows = table.codes if table.is_discrete else table.values
        np.save(Path(folder) / "rows.npy", rows.T)
        command = [str(PEERS), __file__, "--as-peer", library, folder, score]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
        except subprocess.TimeoutExpired:
            print(f"  {library:<34} more than {limit} s", flush=True)
            return
    if done.returncode:
        print(f"  {library:<34} {done.stderr.strip().splitlines()[-1][:60]}", flush=True)
        return
    found = json.loads(done.stdout.strip().splitlines()[-1])
    pdag = bs.Pdag.from_adjacency(np.array(found["matrix"]), table.names)
    distance = bs.compare(pdag, truth).shd_cpdag
    line(
        library,
        found["seconds"],
        worth(pdag, table, score),
        len(pdag.directed) + len(pdag.undirected),
        distance,
    )


def worth(pdag, table, score):
    """The score of a member, where what a peer found has any."""
    import bayescout as bs
    from bayescout.errors import GraphError

    try:
        return bs.score(pdag.to_dag(), table, score)
    except GraphError:
        return None


# ---- in the peers' environment


def as_peer(library, folder, score):
    """Print the seconds and the adjacency matrix that a library finds; imports are not timed."""
    seconds, matrix = LIBRARIES[library](np.load(Path(folder) / "rows.npy"), score)
    print(json.dumps({"seconds": seconds.tolist(), "matrix": (np.asarray(matrix) != 0).astype(int).tolist()}))


def causal_learn(rows, score):
    from causallearn.search.ScoreBased.GES import ges as search

    begin = stopwatch()
    name = "local_score_BDeu" if score == "bdeu" else "local_score_BIC_from_cov"
    ends = search(rows.astype(float), name)["G"].graph
    seconds = stopwatch() - begin
    # -1 is a tail and 1 an arrowhead: i -> j where j has the head and i the tail.
    return seconds, (ends == -1) & ((ends.T == 1) | (ends.T == -1))


def ges_package(rows, score):
    import ges

    begin = stopwatch()
    matrix = ges.fit_bic(rows)[0]
    return stopwatch() - begin, matrix


def pgmpy(rows, score):
    import pandas as pd
    from pgmpy.causal_discovery import GES
    from pgmpy.structure_score import BDeu

    frame = pd.DataFrame(rows, columns=[f"v{i}" for i in range(rows.shape[1])])
    if score == "bdeu":
        frame = frame.astype("category")
    begin = stopwatch()
    method = BDeu(frame, equivalent_sample_size=1) if score == "bdeu" else "bic-g"
    found = GES(scoring_method=method, return_type="pdag").fit(frame).causal_graph_
    seconds = stopwatch() - begin
    matrix = np.zeros((rows.shape[1],) * 2, dtype=int)
    both = [*found.undirected_edges, *((b, a) for a, b in found.undirected_edges)]
    for a, b in [*found.directed_edges, *both]:
        matrix[int(a[1:]), int(b[1:])] = 1
    return seconds, matrix


LIBRARIES = {"causal-learn": causal_learn, "ges": ges_package, "pgmpy": pgmpy}


# ---- cases


def linear(n, rows=1000):
    """A random linear model of average degree 4, coefficients between -1 and 1."""
    import bayescout as bs

    network = bs.random_network(n, arcs=2 * n, kind="gaussian", seed=1)
    return f"random SEM of {n}", network.sample(rows, seed=2), network.dag


def main():
    import bayescout as bs

    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("networks", nargs="*", default=NETWORKS, help="'none' for the Gaussian cases alone")
    options.add_argument("--rows", type=int, default=10_000)
    options.add_argument("--gaussian", default="100,1000", help="numbers of variables; empty for none")
    options.add_argument("--peers", default=",".join(LIBRARIES) if PEERS.exists() else "")
    options.add_argument("--limit", type=int, default=60)
    options.add_argument("--repeats", type=int, default=3)
    asked = options.parse_args()
    libraries = [library for library in asked.peers.split(",") if library]
    for name in [name for name in asked.networks if name != "none"]:
        network = bs.load_network(name)
        table = network.sample(asked.rows, seed=1)
        ours(name, table, network.dag, "bdeu", asked.repeats)
        for library in libraries:
            if library != "ges":
                peer(library, table, network.dag, "bdeu", asked.limit)
    for n in [int(size) for size in asked.gaussian.split(",") if size]:
        title, table, dag = linear(n)
        ours(title, table, dag, "bic", asked.repeats if n < 500 else 1)
        for library in libraries:
            peer(library, table, dag, "bic", asked.limit)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as-peer"]:
        as_peer(*sys.argv[2:])
    else:
        main()
