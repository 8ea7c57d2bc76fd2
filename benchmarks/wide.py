"""Learn wide tables of random sparse networks: seconds by part, memory, precision, recall and growth.

    python benchmarks/wide.py                             1,000 to 10,000 columns of average degree 2
    python benchmarks/wide.py --columns 50000 --degree 4 --rows 300 --scale-free
    python benchmarks/wide.py --columns 1000 --degree 10 --search boss
    python benchmarks/wide.py --columns 10000 100000 --states 2 --engine gpu --compare 10000
    python benchmarks/wide.py --columns 1000000 --float32 --engine gpu --json benchmarks/wide.jsonl
    python benchmarks/wide.py --plot docs/images/wide.svg --results benchmarks/wide.jsonl

Each size is a process of its own. Parts: make the data; put the columns in order; centre or count them; copy
them to the GPU; sort out pairs; compute those that are left exactly; search; make a result. Processor seconds
stand in brackets: on a busy machine only they mean anything. "slope" is the exponent of the growth of all
parts but making the data, from one size to the next.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from bayescout.checks import generator
from bayescout.data import Table
from bayescout.kernels.patience import patience
from bayescout.scores import default_scores, family_prior, formula_named
from bayescout.search import SEARCHES, Knowledge, search_named
from bayescout.search.frame.canonical import canonical_table
from bayescout.search.frame.outcome import Limits
from bayescout.search.frame.run import drive
from bayescout.search.frame.wide_rules import compile_wide
from bayescout.statistics.gpu import DeviceSieve
from bayescout.statistics.screening import screened
from bayescout.wide import wide_problem

PARTS = ("make", "order", "centre", "copy", "sort out", "exact", "search", "result")

SCREENING = [name for name, made in SEARCHES.items() if hasattr(made, "screens")]
"""The searches that work on screened pairs."""


class Watch:
    """Elapsed and processor seconds of each part."""

    def __init__(self) -> None:
        self.parts = {part: [0.0, 0.0] for part in PARTS}

    @contextmanager
    def timing(self, part: str, less: str | None = None) -> Iterator[None]:
        """Add a block to a part; `less` is one that is timed inside it."""
        inner = [0.0, 0.0] if less is None else [*self.parts[less]]
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            spent = (time.perf_counter() - wall, time.process_time() - cpu)
            for i in range(2):
                more = 0.0 if less is None else self.parts[less][i] - inner[i]
                self.parts[part][i] += spent[i] - more


# ---- networks


def network(p: int, degree: int, scale_free: bool, rng: Any) -> list[list[int]]:
    """The parents of each node; nodes come in an order, and are shuffled later."""
    parents: list[list[int]] = [[] for _ in range(p)]
    if scale_free:  # preferential attachment
        ends: list[int] = [0]
        for v in range(1, p):
            drawn = {ends[i] for i in rng.integers(0, len(ends), max(1, degree // 2)).tolist()}
            parents[v] = sorted(drawn)
            ends += [*drawn, *[v] * len(drawn)]
        return parents
    keys = np.empty(0, dtype=np.int64)
    while len(keys) < p * degree // 2:
        pairs = np.sort(rng.integers(0, p, (p * degree // 2 + 16, 2)), axis=1)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        keys = np.unique(np.concatenate([keys, pairs[:, 0] * p + pairs[:, 1]]))
    for key in rng.permutation(keys)[: p * degree // 2].tolist():
        parents[key % p].append(key // p)
    return parents


def numbers(parents: list[list[int]], place: Any, rows: int, rng: Any, kind: Any = np.float64) -> Table:
    """A table of a linear network with coefficients from .5 to 1 of either sign, and scaled columns."""
    p = len(parents)
    values = np.empty((p, rows), dtype=kind)
    for v, own in enumerate(parents):
        column = rng.standard_normal(rows)
        if own:
            weights = rng.uniform(0.5, 1.0, len(own)) * rng.choice([-1, 1], len(own))
            column += weights @ values[place[own]]
            column /= column.std()
        values[place[v]] = column
    return Table(_names(p), (None,) * p, np.empty((0, rows), np.uint8), values)


def states(parents: list[list[int]], place: Any, rows: int, cards: int, rng: Any) -> Table:
    """A table of states: four cells in five follow one of the parents, drawn anew in each row."""
    p = len(parents)
    codes = np.empty((p, rows), dtype=np.uint8)
    for v, own in enumerate(parents):
        column = rng.integers(0, cards, rows, dtype=np.uint8)
        if own:
            follows = rng.random(rows) < 0.8
            drawn = codes[place[np.array(own)[rng.integers(0, len(own), rows)]], np.arange(rows)]
            shift = rng.integers(0, cards, dtype=np.uint8)
            column = np.where(follows, (drawn + shift) % cards, column)
        codes[place[v]] = column
    return Table(_names(p), (tuple(range(cards)),) * p, codes, np.empty((0, rows)))


def _names(p: int) -> tuple[str, ...]:
    return tuple(f"v{i}" for i in range(p))


# ---- one size


class Timed:
    """The pairs of a screening, with what they do timed."""

    def __init__(self, pairs: Any, watch: Watch) -> None:
        self.pairs, self.watch = pairs, watch
        device = getattr(pairs.sieve, "device", None)
        if device is not None:
            _time_copies(device, watch)

    @property
    def n_variables(self) -> int:
        return int(self.pairs.n_variables)

    def coarse(self, between: Any) -> Iterator[Any]:
        pieces = iter(self.pairs.coarse(between))
        while True:
            with self.watch.timing("sort out", less="copy"):
                piece = next(pieces, None)
            if piece is None:
                return
            yield piece

    def remaining(self, lefts: Any, rights: Any) -> Any:
        with self.watch.timing("exact"):
            return self.pairs.remaining(lefts, rights)

    def alike(self) -> Any:
        return self.pairs.alike()


def _time_copies(device: DeviceSieve, watch: Watch) -> None:
    make = device._block

    def timed(*arguments: Any) -> Any:
        with watch.timing("copy"):
            made = make(*arguments)
            if hasattr(device.xp, "cuda"):
                device.xp.cuda.Device().synchronize()
            return made

    device._block = timed  # type: ignore[method-assign]


def measured(chosen: argparse.Namespace, p: int) -> dict[str, Any]:
    """One run of what `learn` does with such a table, in parts."""
    watch = Watch()
    rng = np.random.default_rng(chosen.seed)
    with watch.timing("make"):
        parents = network(p, chosen.degree, chosen.scale_free, rng)
        place = rng.permutation(p)
        if chosen.states:
            table = states(parents, place, chosen.rows, chosen.states, rng)
        else:
            kind = np.float32 if chosen.float32 else np.float64
            table = numbers(parents, place, chosen.rows, rng, kind)
    with watch.timing("order"):
        table = canonical_table(table, chosen.workers)
    with watch.timing("centre"):
        prior = family_prior("sparse", table.names)
        score = formula_named(chosen.score) if chosen.score else default_scores(table)[0]
        rules = compile_wide(Knowledge(), table.names)

        def problem_on(engine: str) -> Any:
            return wide_problem(
                "arc", table, score, chosen.workers, prior, rules, lambda _: "empty", engine=engine
            )

        problem = problem_on(chosen.engine)
    screening = problem.screening
    screening.pairs = Timed(screening.pairs, watch)
    candidates = screening.neighbourhood()
    found: dict[str, Any] = {
        "columns": p,
        "candidates": 2 * candidates.n_pairs / p,
        "device GB": _device_bytes(screening.pairs.pairs.sieve) / 1e9,
    }
    if p in chosen.compare:
        again = problem_on("memory").screening
        other = screened(again.pairs, again.least, again.rule)
        same = np.array_equal(other.starts, candidates.starts) and np.array_equal(other.ends, candidates.ends)
        found["the same candidates as on the CPU"] = same
    found["parts"] = watch.parts
    found["GB"] = _most_memory()
    if not chosen.screen_only:
        if chosen.one == p:
            print(json.dumps(found), flush=True)  # in case the search takes longer than there is time
        with watch.timing("search"):
            outcome = drive(search_named(chosen.search), problem, generator(0), Limits())
        with watch.timing("result"):
            found |= accuracy(outcome.best[1], table.names, parents, place)
        found["GB"] = _most_memory()
    return found


def accuracy(learned: Any, names: Any, parents: list[list[int]], place: Any) -> dict[str, float]:
    """Precision and recall of adjacencies."""
    p = len(parents)
    back = np.array([int(str(name)[1:]) for name in names])

    def keys(pairs: list[tuple[int, int]], where: Any) -> Any:
        ends = np.sort(where[np.array(pairs, dtype=np.int64).reshape(-1, 2)], axis=1)
        return ends[:, 0] * p + ends[:, 1]

    own = keys([(a, b) for b, some in enumerate(learned) for a in some], back)
    true = keys([(a, b) for b, some in enumerate(parents) for a in some], place)
    both = len(np.intersect1d(own, true))
    return {"precision": both / max(1, len(own)), "recall": both / max(1, len(true))}


def _most_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _device_bytes(sieve: Any) -> float:
    xp = getattr(getattr(sieve, "device", None), "xp", None)
    return float(xp.get_default_memory_pool().total_bytes()) if hasattr(xp, "cuda") else 0.0


# ---- all sizes


def told(found: dict[str, Any], last: dict[str, Any] | None) -> str:
    parts = found["parts"]
    work = _sum(parts)
    cells = [f"{parts[part][0]:.2f} ({parts[part][1]:.2f})" for part in PARTS]
    cells.append(f"{work[0]:.2f} ({work[1]:.2f})")
    slope = ""
    if last is not None and last["columns"] != found["columns"]:
        growth = work[0] / _sum(last["parts"])[0]
        slope = f"{math.log(growth) / math.log(found['columns'] / last['columns']):.2f}"
    shown = [f"{found[key]:.4f}" if key in found else "-" for key in ("precision", "recall")]
    numbers = [f"{found['candidates']:.1f}", *shown, f"{found['GB']:.1f}", f"{found['device GB']:.1f}", slope]
    line = f"{found['columns']:>9,}{''.join(f'{cell:>16}' for cell in cells)}"
    line += "".join(f"{cell:>10}" for cell in numbers)
    same = "the same candidates as on the CPU"
    return line + (f"   {same}: {found[same]}" if same in found else "") + f"   {found['note']}".rstrip()


def _sum(parts: dict[str, list[float]]) -> tuple[float, float]:
    rest = [parts[part] for part in PARTS if part != "make"]
    return sum(wall for wall, _ in rest), sum(cpu for _, cpu in rest)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--columns", type=int, nargs="+", default=[1000, 3000, 10_000])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--degree", type=int, default=2)
    parser.add_argument("--states", type=int, default=0, help="of each column; 0 for numbers")
    parser.add_argument("--float32", action="store_true", help="numbers in half the memory")
    parser.add_argument("--score", help="by default the one that learning takes for such a table")
    parser.add_argument("--search", default="auto", choices=SCREENING)
    parser.add_argument("--scale-free", action="store_true")
    parser.add_argument("--engine", default="memory", help="memory or gpu")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--screen-only", action="store_true", help="do not search")
    parser.add_argument("--compare", type=int, nargs="*", default=[], help="sizes screened on the CPU too")
    parser.add_argument("--limit", type=float, help="seconds for each size")
    parser.add_argument("--json", help="a file to which a line is added for each size")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", help="draw the growth of the --results into this file, and measure nothing")
    parser.add_argument("--results", help="a file that --json wrote")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.plot:
        with open(chosen.results, encoding="utf-8") as stream:
            plot([json.loads(line) for line in stream], chosen.plot)
        return
    if chosen.one:
        with patience.lost():  # compiles or loads
            measured(argparse.Namespace(**vars(chosen) | {"compare": []}), 600)
        print(json.dumps(measured(chosen, chosen.one)))
        return
    kind = f"{chosen.states} states" if chosen.states else "numbers"
    shape = ", scale-free" if chosen.scale_free else ""
    told_of = f"{kind}, {chosen.rows:,} rows, average degree {chosen.degree}{shape}"
    print(f"{told_of}, engine {chosen.engine}, search {chosen.search}")
    heads = "".join(f"{head:>16}" for head in (*PARTS, "but make"))
    ends = "".join(f"{head:>10}" for head in ("cand.", "precision", "recall", "GB", "device", "slope"))
    print(f"{'columns':>9}{heads}{ends}", flush=True)
    last: dict[str, Any] | None = None
    for p in chosen.columns:
        found = _in_process(p, chosen.limit)
        if isinstance(found, str):
            print(f"{p:>9,}  {found}", flush=True)
        else:
            print(told(found, last), flush=True)
            last = found
            if chosen.json:
                with open(chosen.json, "a", encoding="utf-8") as stream:
                    stream.write(json.dumps(vars(chosen) | found) + "\n")


def _in_process(p: int, limit: float | None) -> dict[str, Any] | str:
    """What a process of its own measures, or why there is nothing."""
    command = [sys.executable, __file__, *sys.argv[1:], "--one", str(p)]
    note = ""
    try:
        said = subprocess.run(command, stdout=subprocess.PIPE, timeout=limit, check=True).stdout
    except subprocess.TimeoutExpired as error:
        said, note = error.stdout or b"", f"took more than {limit:g} s"
    except subprocess.CalledProcessError as error:
        said, note = error.stdout, f"ended with status {error.returncode}"
    if not said.strip():
        return note
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found | {"note": note}


LOOKS = (
    ("numbers, CPU", "memory", 0, "#1f6f8b", "o"),
    ("numbers, GPU", "gpu", 0, "#1f6f8b", "s"),
    ("two states, CPU", "memory", 2, "#b5523b", "o"),
    ("two states, GPU", "gpu", 2, "#b5523b", "s"),
)
"""A line of the plot: its name, the engine, the states, colour and marker; GPU lines are solid."""


def plot(runs: list[dict[str, Any]], path: str) -> None:
    """Processor seconds and memory by the number of columns."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "bayescout"
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for name, engine, cards, colour, marker in LOOKS:
        some = [run for run in runs if (run["engine"], run["states"]) == (engine, cards)]
        some.sort(key=lambda run: run["columns"])
        columns = [run["columns"] for run in some]
        look = {"marker": marker, "color": colour, "linestyle": "-" if engine == "gpu" else "--"}
        left.plot(columns, [_sum(run["parts"])[1] for run in some], label=name, **look)
        right.plot(columns, [run["GB"] for run in some], **look)
    least, most = 1e3, 1e6
    left.plot([least, most], [2e-4 * least, 2e-4 * most], color="#8a8a8a", linewidth=1)
    left.annotate("as the columns", (1.3e5, 12), color="#8a8a8a", fontsize=9)
    for axes, name in ((left, "processor seconds, all but making the data"), (right, "peak memory (GB)")):
        axes.set(xscale="log", yscale="log", xlabel="columns of 1,000 rows", ylabel=name)
        axes.grid(alpha=0.3)
    left.legend(frameon=False, fontsize=9)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
