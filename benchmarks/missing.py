"""Learning from tables with missing cells: how near to what complete data give, and at what cost?

    python benchmarks/missing.py [--only TEXT] [--seeds 3] [--search ges] [--methods em,drop]
                                 [--rows 1000,10000] [--shares 0.1,0.3]

Each case samples a network, removes cells completely at random (MCAR), by the value of another column that
is always there (MAR), or by the value of the cell itself (MNAR), learns a graph, and measures the distance of
its class from the true one, the log-likelihood per held-out complete row of the network fitted to the
incomplete data, and seconds, beside learning from the complete data. Methods:

em          the product's own: missing cells drawn under a network that is learned in turn
drop        rows with a missing cell left out
state       a state of its own for missing cells (discrete data)
nal         node-average log-likelihood less BIC's charge (Balov 2013; Bodewes & Scutari 2021)
pnal        the same less n^(-1/4) per row and parameter, R bnlearn's default
same-rows   each parent's gain counted on the rows where the family is complete, in a fixed order of parents
            (after the comparisons of Liu & Constantinou 2022), charged as BIC does

The last three are scores written here, to compare with. R's structural EM is not: the package cannot be had
where this was run.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings

import numpy as np

import bayescout as bs
from bayescout.data.table import MissingReport, Table

NETWORKS = ("alarm", "insurance", "ecoli70", "mixed")
MECHANISMS = ("mcar", "mar", "mnar")
METHODS = ("em", "drop", "state", "nal", "pnal", "same-rows")


def network_of(name):
    if name == "mixed":
        return bs.random_network(nodes=20, arcs=30, states=3, kind="mixed", seed=3)
    return bs.load_network(name)


def ranks(table, name):
    """For each row where the column's value stands among all, from 0 to 1."""
    values = table.array(name).astype(np.float64)
    order = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return (order + 0.5) / len(order)


def removed(table, share, mechanism, seed):
    """The table without about this share of its cells."""
    rng = np.random.default_rng([seed, 271828])
    names = list(table.names)
    gone = np.zeros((len(names), table.n_rows), dtype=bool)
    always = set(names[::2]) if mechanism == "mar" else set()
    for i, name in enumerate(names):
        if name in always:
            continue
        chance = np.full(table.n_rows, share)
        if mechanism == "mar":  # twice the share of half the columns, by the column before
            chance = np.minimum(1, 4 * share * ranks(table, names[i - 1]))
        elif mechanism == "mnar":
            chance = np.minimum(1, 2 * share * ranks(table, name))
        gone[i] = rng.random(table.n_rows) < chance
    codes, values = table.codes.copy(), table.values.copy()
    slots = {True: iter(range(len(codes))), False: iter(range(len(values)))}
    for i, states in enumerate(table.states):
        slot = next(slots[states is not None])
        if states is None:
            values[slot, gone[i]] = np.nan
        else:
            codes[slot, gone[i]] = len(states)
    return Table(table.names, table.states, codes, values, None, MissingReport("keep"))


# ---- scores of available cases, to compare with


def log_likelihood(counts):
    def xlogx(n):
        return (n * np.log(np.where(n > 0, n, 1.0))).sum()

    return xlogx(counts.astype(float)) - xlogx(counts.sum(axis=-1).astype(float))


class Available:
    """Counts of a family from the rows in which it is complete."""

    def __init__(self, table):
        self.codes = table.codes.astype(np.int64)
        self.cards = table.cardinalities
        self.gone = self.codes >= self.cards[:, None]
        self.rows = table.n_rows
        self.known = {}

    def counts(self, child, parents):
        family = (*parents, child)
        here = ~self.gone[list(family)].any(axis=0)
        cells = np.zeros(int(here.sum()), dtype=np.int64)
        for v in family:
            cells = cells * self.cards[v] + self.codes[v][here]
        shape = [int(self.cards[v]) for v in family]
        return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)

    def local(self, child, parents):
        key = (child, tuple(sorted(parents)))
        if key not in self.known:
            self.known[key] = self.value(*key)
        return self.known[key]


class NodeAverage(Available):
    def __init__(self, table, exponent=None):
        super().__init__(table)
        n = self.rows
        self.charge = math.log(n) / 2 if exponent is None else n * n ** (-exponent)

    def value(self, child, parents):
        counts = self.counts(child, parents)
        rows, r = counts.sum(), counts.shape[-1]
        if rows == 0:
            return -math.inf
        return self.rows / rows * log_likelihood(counts) - self.charge * counts.size // r * (r - 1)


class SameRows(Available):
    """The parents in the order of what each tells alone; each adds its gain on the rows complete with it."""

    def __init__(self, table):
        super().__init__(table)
        p = len(self.cards)
        self.rank = np.zeros((p, p), dtype=int)
        for child in range(p):
            told = [math.inf] * p
            for other in range(p):
                if other != child:
                    counts = self.counts(child, (other,))
                    gain = log_likelihood(counts) - log_likelihood(counts.sum(axis=0))
                    told[other] = -gain / max(1, counts.sum())
            self.rank[child, np.argsort(told, kind="stable")] = np.arange(p)

    def value(self, child, parents):
        ordered = sorted(parents, key=lambda parent: self.rank[child, parent])
        counts = self.counts(child, ordered)
        rows, r = counts.sum(), counts.shape[-1]
        charge = math.log(self.rows) / 2
        if not parents:
            return self.rows / rows * log_likelihood(counts) - charge * (r - 1)
        if rows == 0:
            return -math.inf
        without = counts.sum(axis=-2)
        gain = log_likelihood(counts) - log_likelihood(without)
        more = (counts.size - without.size) // r * (r - 1)
        return self.local(child, tuple(ordered[:-1])) + self.rows / rows * (gain - charge * more)


# ---- the table


def learned(method, table, search):
    if method in ("em", "drop", "state"):
        return bs.learn(table, search=search, missing=method)
    score = {
        "nal": lambda: NodeAverage(table),
        "pnal": lambda: NodeAverage(table, 0.25),
        "same-rows": lambda: SameRows(table),
    }[method]()
    shape = Table(
        table.names,
        table.states,
        np.minimum(table.codes, (table.cardinalities - 1)[:, None]).astype(table.codes.dtype),
        table.values,
    )
    if search == "ges":  # it needs a score that is the same for all graphs of a class
        search = "boss"
    return bs.learn(shape, search=search, score=score, max_time=120)


def measured(result, seconds, network, table, held_out):
    distance = bs.compare(result.dag, network.dag).shd_cpdag
    try:
        model = bs.fit(result.dag, table, **({} if network.is_gaussian else {"prior": "bdeu"}))
        likelihood = model.log_likelihood(held_out).total / held_out.n_rows
    except bs.BayescoutError as error:
        likelihood = math.nan
        print("   ", type(error).__name__, str(error)[:90])
    return distance, likelihood, seconds


def timed(call, warm=True):
    if warm:
        call()  # compiled, and read into caches
    begin = time.perf_counter()
    result = call()
    return result, time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--search", default="ges")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--rows", default="1000,10000")
    parser.add_argument("--shares", default="0.1,0.3")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'case':<34}{'method':<11}{'distance':>9}{'held out':>11}{'seconds':>9}{'x complete':>11}")
    for name in NETWORKS:
        network = network_of(name)
        held_out = network.sample(5000, seed=99)
        for rows in map(int, wanted.rows.split(",")):
            for share in map(float, wanted.shares.split(",")):
                for mechanism in MECHANISMS:
                    case = f"{name} {rows} {share:.0%} {mechanism}"
                    if all(word in case for word in wanted.only.split()):
                        one_case(case, network, held_out, rows, share, mechanism, wanted)


def one_case(case, network, held_out, rows, share, mechanism, wanted):
    found = {}
    for seed in range(1, wanted.seeds + 1):
        full = network.sample(rows, seed=seed)
        table = removed(full, share, mechanism, seed)
        result, seconds = timed(lambda full=full: bs.learn(full, search=wanted.search))
        found.setdefault("complete", []).append(measured(result, seconds, network, full, held_out))
        for method in wanted.methods.split(","):
            if method not in ("em", "drop") and not network.is_discrete:
                continue
            try:
                own = method in ("em", "drop", "state")
                result, seconds = timed(lambda m=method, t=table: learned(m, t, wanted.search), own)
            except bs.BayescoutError as error:
                print("   ", case, method, str(error)[:90])
                continue
            found.setdefault(method, []).append(measured(result, seconds, network, table, held_out))
    base = np.mean([seconds for _, _, seconds in found["complete"]])
    for method, values in found.items():
        distance, likelihood, seconds = np.mean(values, axis=0)
        print(
            f"{case:<34}{method:<11}{distance:>9.1f}{likelihood:>11.4f}{seconds:>9.3f}"
            f"{seconds / base:>11.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
