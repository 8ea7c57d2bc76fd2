"""Large tables: processor seconds and memory of reading, learning and asking, by number of rows.

    python benchmarks/large.py                                    # alarm, 100,000 and 1,000,000 rows
    python benchmarks/large.py --network insurance --rows 50000

Each figure is of a process of its own: seconds of all its threads, and the most memory that it held, its
own program included. Files are written first, into a temporary folder.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bayescout as bs

JOBS = {
    "import alone": "import polars, bayescout.data.read",
    "read csv": "table = bs.read_table(csv)",
    "read parquet": "table = bs.read_table(parquet)",
    "hill-climb, bic": "bs.learn(bs.read_table(parquet), 'hill-climb', 'bic')",
    "tabu, bdeu": "bs.learn(bs.read_table(parquet), 'tabu', 'bdeu')",
    "default": "bs.learn(bs.read_table(parquet))",
    "fit": "bs.fit(truth.dag, bs.read_table(parquet), prior='bdeu')",
    "predict_proba": "truth.predict_proba(bs.read_table(parquet), truth.nodes[-1])",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--network", default="alarm")
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--only", default="", help="jobs whose names hold this")
    given = parser.parse_args()
    print(f"{'rows':>10}  {'job':<18}{'cpu s':>8}{'MB':>8}{'wall s':>8}")
    for rows in given.rows:
        with tempfile.TemporaryDirectory() as folder:
            table = bs.load_network(given.network).sample(rows, seed=1)
            for ending in ("csv", "parquet"):
                table.save(Path(folder) / f"data.{ending}")
            print(f"{rows:>10,}  {'files, MB':<18}{size(folder, 'csv'):>8.0f}{size(folder, 'parquet'):>8.0f}")
            del table
            for name, code in JOBS.items():
                if given.only in name:
                    print(f"{rows:>10,}  {name:<18}{measured(code, folder, given.network)}", flush=True)


def size(folder: str, ending: str) -> float:
    return (Path(folder) / f"data.{ending}").stat().st_size / 1e6


def measured(code: str, folder: str, network: str) -> str:
    """Processor seconds, peak memory and wall seconds of a process that runs the code."""
    head = f"import bayescout as bs; csv = {folder + '/data.csv'!r}; parquet = {folder + '/data.parquet'!r}; "
    tail = "\nimport resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    before, begin = spent(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", f"{head}truth = bs.load_network({network!r}); {code}{tail}"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    memory = int(done.stdout.split()[-1]) / 1e3
    return f"{spent() - before:>8.1f}{memory:>8.0f}{time.perf_counter() - begin:>8.1f}"


def spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
