"""I-map beside GES on the small cases of Frigo (2009): the collider, and the tables 4.8 and 5.8.

    python benchmarks/imap.py [collider|kld|sem] [--sets 300] [--graphs 30]

collider  ternary X -> Z <- Y: share of data sets whose graph has exactly the two edges (fig. 4.1)
kld       random binary networks of 4 to 8 nodes: exact divergence of GES with BIC (table 4.8)
sem       random linear models of 4 to 9 nodes: adjacency F of GES with Gaussian BIC (table 5.8)
"""

from __future__ import annotations

import argparse

import numpy as np

import bayescout as bs

KLD_PRINTED = {
    1000: (0.0096, 0.0191, 0.0360, 0.0567, 0.0829),
    2000: (0.0083, 0.0111, 0.0257, 0.0410, 0.0635),
    4000: (0.0063, 0.0103, 0.0220, 0.0383, 0.0438),
    8000: (0.0045, 0.0076, 0.0171, 0.0229, 0.0389),
}
F_PRINTED = {
    100: (0.920, 0.857, 0.830, 0.757, 0.762, 0.760),
    200: (0.930, 0.905, 0.844, 0.832, 0.772, 0.763),
    400: (0.944, 0.943, 0.867, 0.864, 0.792, 0.794),
    800: (0.968, 0.918, 0.897, 0.885, 0.866, 0.804),
    1000: (0.944, 0.895, 0.933, 0.873, 0.857, 0.822),
    2000: (0.973, 0.947, 0.940, 0.870, 0.881, 0.850),
    4000: (1.000, 0.946, 0.914, 0.923, 0.876, 0.845),
    8000: (0.989, 0.987, 0.940, 0.924, 0.870, 0.854),
}


def collider(sets):
    dag = bs.Dag.from_arcs([("x", "z"), ("y", "z")], nodes=["x", "y", "z"])
    wanted = {frozenset("xz"), frozenset("yz")}
    print(f"share of {sets} data sets with the right adjacencies, BDeu(1), ternary collider")
    print(f"{'rows':>6} {'ges':>7} {'imap':>7} {'imap g2':>8}")
    searches = ("ges", "imap", bs.search.Imap(test="g2"))
    for rows in (100, 200, 300, 500, 1000, 1800, 2000):
        right = np.zeros(3)
        for seed in range(sets):
            data = bs.random_network(dag=dag, states=3, seed=seed).sample(rows, seed=seed)
            for place, search in enumerate(searches):
                found = bs.learn(data, search, "bdeu").dag
                right[place] += {frozenset(arc) for arc in found.arcs()} == wanted
        print(f"{rows:6} {right[0] / sets:7.3f} {right[1] / sets:7.3f} {right[2] / sets:8.3f}", flush=True)


def joint(network):
    """The probability of every configuration of the network's own node order; small networks only."""
    sizes = [len(states) for states in network.states]
    total = np.ones(sizes)
    for child, parents in enumerate(network.dag.parents):
        axes = [*parents, child]
        table = np.asarray(network.tables[child]).reshape([sizes[i] for i in axes])
        shape = [sizes[i] if i in axes else 1 for i in range(len(sizes))]
        total = total * np.transpose(table, np.argsort(axes)).reshape(shape)
    return total


def divergence(truth, dag, data):
    """KL from the true joint to that of the graph with maximum-likelihood tables on the data."""
    model = bs.fit(dag, data, prior="laplace")
    p, q = joint(truth), joint(model)
    return float((p * np.log(p / q)).sum())


def kld(graphs):
    print(f"mean divergence over {graphs} random binary networks, GES with BIC: ours / printed")
    for rows, printed in KLD_PRINTED.items():
        cells = []
        for nodes, theirs in zip(range(4, 9), printed, strict=True):
            found = []
            for seed in range(graphs):
                truth = network_of(nodes, seed, "discrete")
                data = truth.sample(rows, seed=seed)
                found.append(divergence(truth, bs.learn(data, "ges").dag, data))
            cells.append(f"{np.mean(found):.4f} / {theirs:.4f}")
        print(f"{rows:6}  " + "  ".join(cells), flush=True)


def sem(graphs):
    print(f"mean adjacency F over {graphs} random linear models, GES with BIC: ours / printed (imap-pruned)")
    for rows, printed in F_PRINTED.items():
        cells = []
        for nodes, theirs in zip(range(4, 10), printed, strict=True):
            found = {"ges": [], "imap-pruned": []}
            for seed in range(graphs):
                truth = network_of(nodes, seed, "gaussian")
                data = truth.sample(rows, seed=seed)
                for search, values in found.items():
                    values.append(bs.compare(bs.learn(data, search).dag, truth.dag).adjacency_f1)
            cells.append(f"{np.mean(found['ges']):.3f} / {theirs:.3f} ({np.mean(found['imap-pruned']):.3f})")
        print(f"{rows:6}  " + "  ".join(cells), flush=True)


def network_of(nodes, seed, kind):
    """A random graph of at most 2n arcs, with parameters uniform as in the document."""
    most = min(2 * nodes, nodes * (nodes - 1) // 2)
    arcs = int(np.random.default_rng([seed, nodes]).integers(1, most + 1))
    return (
        bs.random_network(nodes, arcs=arcs, states=2, kind=kind, seed=seed)
        if kind == "discrete"
        else (bs.random_network(nodes, arcs=arcs, kind=kind, seed=seed))
    )


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    reader.add_argument("case", nargs="?", choices=("collider", "kld", "sem"))
    reader.add_argument("--sets", type=int, default=300)
    reader.add_argument("--graphs", type=int, default=30)
    given = reader.parse_args()
    cases = {"collider": (collider, given.sets), "kld": (kld, given.graphs), "sem": (sem, given.graphs)}
    for name, (run, size) in cases.items():
        if given.case in (None, name):
            run(size)


if __name__ == "__main__":
    main()
