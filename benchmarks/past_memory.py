"""Rows past memory: seconds and resident memory against rows, on disk and in memory, measured from outside.

    python benchmarks/past_memory.py --rows 100000 1000000 10000000 --limit "2 GB" --folder /tmp/rows
    python benchmarks/past_memory.py --rows 200000000 --limit "2 GB" --only disk --folder /tmp/rows
    python benchmarks/past_memory.py --plot docs/images/past-memory.svg --results rows.jsonl

Samples of alarm (37 columns) are written once, as Parquet files of ten million rows; each run learns from
them by hill climbing with bdeu on one thread, in a process of its own. Its resident memory is that of the
process and of its reader together, as the system reports it, looked at every 20 ms; seconds are given as
processor time (both processes) and as elapsed time, which on a busy machine is longer.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FILE_ROWS = 10_000_000
GROUP_ROWS = 1_000_000

RUN = """
import json, resource, sys, time
import bayescout as bs
folder, memory = sys.argv[1], sys.argv[2]

def used():
    own, child = (resource.getrusage(k) for k in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + child.ru_utime + child.ru_stime

warm = bs.load_network("alarm").sample(100_000, seed=7)
bs.learn(warm, "hill-climb", "bdeu", workers=1)
del warm
first, begin = used(), time.perf_counter()
table = bs.as_table(folder, memory=memory)
read, read_elapsed = used() - first, time.perf_counter() - begin
begun = used()
begin = time.perf_counter()
result = bs.learn(table, "hill-climb", "bdeu", workers=1)
print(json.dumps({
    "kind": type(table).__name__, "rows": table.n_rows, "read": read, "read_elapsed": read_elapsed,
    "learn": used() - begun, "learn_elapsed": time.perf_counter() - begin, "score": result.score,
    "steps": result.counters.operations, "arcs": len(list(result.dag.arcs())),
    "disk": table.folder.size if hasattr(table, "folder") else 0,
}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--limit", default="2 GB")
    parser.add_argument("--only", choices=("disk", "memory"))
    parser.add_argument("--folder", type=Path, default=Path("build/past-memory"))
    parser.add_argument("--results", type=Path)
    parser.add_argument("--plot", type=Path)
    chosen = parser.parse_args()
    if chosen.plot is not None:
        plot([json.loads(line) for line in chosen.results.read_text().splitlines()], chosen.plot)
        return
    for rows in chosen.rows:
        source = sampled(chosen.folder, rows)
        for mode, memory in (("memory", "1 TB"), ("disk", chosen.limit)):
            if chosen.only in (None, mode):
                report({"mode": mode, "limit": memory} | measured(source, memory), chosen.results)


def sampled(folder: Path, rows: int) -> Path:
    """A folder of Parquet files with so many rows of alarm."""
    import bayescout as bs

    target = folder / f"alarm-{rows}"
    done = target / "done"
    if done.exists():
        return target
    target.mkdir(parents=True, exist_ok=True)
    network = bs.load_network("alarm")
    for number, begin in enumerate(range(0, rows, FILE_ROWS)):
        path = target / f"part-{number:03d}.parquet"
        if not path.exists():
            some = network.sample(min(FILE_ROWS, rows - begin), seed=1000 + number)
            some.to_polars().write_parquet(path.with_suffix(".new"), row_group_size=GROUP_ROWS)
            path.with_suffix(".new").replace(path)
    done.touch()
    return target


def measured(source: Path, memory: str) -> dict[str, Any]:
    """One run in a process of its own, and its greatest resident memory, that of its reader included."""
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, str(source), memory], stdout=subprocess.PIPE, text=True
    )
    most = 0
    while process.poll() is None:
        most = max(most, resident_with_children(process.pid))
        time.sleep(0.02)
    assert process.stdout is not None
    said = process.stdout.read()
    if process.returncode:
        raise SystemExit(f"the run ended with code {process.returncode}")
    return json.loads(said) | {"peak": most}


def resident_with_children(pid: int) -> int:
    total = resident(pid)
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    return total + sum(resident_with_children(int(child)) for child in children)


def resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def report(found: dict[str, Any], results: Path | None) -> None:
    rows = found["rows"]
    print(
        f"{rows:>11,} rows  {found['mode']:6} ({found['kind']}, limit {found['limit']}): "
        f"read {1e6 * found['read'] / rows:.2f} us/row, learn {1e6 * found['learn'] / rows:.2f} us/row "
        f"(elapsed {found['read_elapsed']:.0f} + {found['learn_elapsed']:.0f} s), "
        f"peak {found['peak'] / 1e6:,.0f} MB, disk {found['disk'] / 1e6:,.0f} MB, score {found['score']!r}",
        flush=True,
    )
    if results is not None:
        with results.open("a") as stream:
            stream.write(json.dumps(found) + "\n")


def plot(runs: list[dict[str, Any]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "bayescout"
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    looks = {"memory": ("in memory", "#8a8a8a", "o"), "disk": ("limit 2 GB", "#1f6f8b", "s")}
    for mode, (label, colour, marker) in looks.items():
        some = sorted((run for run in runs if run["mode"] == mode), key=lambda run: run["rows"])
        rows = [run["rows"] for run in some]
        left.plot(
            rows, [run["read"] + run["learn"] for run in some], marker=marker, color=colour, label=label
        )
        right.plot(rows, [run["peak"] / 1e9 for run in some], marker=marker, color=colour, label=label)
    for axes, name in ((left, "processor seconds, all"), (right, "peak resident memory (GB)")):
        axes.set(xscale="log", xlabel="rows of 37 columns", ylabel=name)
        axes.grid(alpha=0.3)
    left.set_yscale("log")
    right.set_ylim(0, 2.3)
    right.axhline(2, color="#b5523b", linewidth=1, linestyle="--")
    right.annotate("the limit", (1.1e5, 2.05), color="#b5523b", fontsize=9)
    left.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
