"""Time and memory of `read_table` on a generated file of 4-state strings.

    python benchmarks/loading.py [ROWS] [csv|parquet ...]

Each reading runs in a fresh process; peak memory is what the process held above its imports.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

COLUMNS = 37
PART = 250_000
STATES = ["LOW", "NORMAL", "HIGH", "ZERO"]


def peak_mb() -> float:
    """The most memory this process has held resident, in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def generate(path: Path, rows: int) -> None:
    import polars as pl

    rng = np.random.default_rng(1)
    states = pl.Series(STATES)

    def part(size: int) -> pl.DataFrame:
        codes = rng.integers(0, len(STATES), (COLUMNS, size), dtype=np.uint8)
        return pl.DataFrame({f"x{i}": states.gather(codes[i]) for i in range(COLUMNS)})

    parts = [min(PART, rows - start) for start in range(0, rows, PART)]
    if path.suffix == ".csv":
        with path.open("wb") as stream:
            for number, size in enumerate(parts):
                part(size).write_csv(stream, include_header=number == 0)
        return
    folder = path.with_suffix(".parts")
    folder.mkdir()
    for number, size in enumerate(parts):
        part(size).write_parquet(folder / f"{number:05d}.parquet")
    pl.scan_parquet(folder / "*.parquet").sink_parquet(path, row_group_size=PART)
    for piece in folder.iterdir():
        piece.unlink()
    folder.rmdir()


def read(path: str) -> None:
    import polars  # noqa: F401  the baseline includes it

    from bayescout.data.read import read_table

    base, start = peak_mb(), time.perf_counter()
    table = read_table(path)
    seconds, peak = time.perf_counter() - start, peak_mb() - base
    encoded = table.codes.nbytes / 2**20
    print(
        f"{Path(path).suffix[1:]:8} {table.n_rows:>11,} rows {seconds:7.2f} s  encoded {encoded:7.1f} MB  "
        f"peak {peak:7.1f} MB over imports  ({peak / encoded:.2f} x encoded)"
    )


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--read"]:
        read(arguments[1])
        return
    rows = int(arguments[0]) if arguments else 1_000_000
    for suffix in arguments[1:] or ["csv", "parquet"]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"data.{suffix}"
            generate(path, rows)
            subprocess.run([sys.executable, __file__, "--read", str(path)], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
