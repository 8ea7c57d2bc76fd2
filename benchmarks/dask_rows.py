"""Rows on a Dask cluster of this machine: seconds against partitions, and what a round trip costs.

    python benchmarks/dask_rows.py --rows 200000 --partitions 2 8 32 --workers 2
    python benchmarks/dask_rows.py --rows 200000 --partitions 2 8 --numbers 12 --learn

Samples of alarm are encoded on the workers; then one family, and a batch of forty, are asked for several
times. The scheduler runs in this process: its processor time, with that of the client, is what a task costs
the one place that all tasks pass through.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

ROUNDS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--partitions", type=int, nargs="*", default=[2, 8, 32])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--learn", action="store_true", help="learn by hill climbing as well")
    parser.add_argument("--numbers", type=int, default=0, help="columns of numbers beside 18 of categories")
    chosen = parser.parse_args()
    from distributed import Client, LocalCluster

    import bayescout as bs

    frame = bs.load_network("alarm").sample(chosen.rows, seed=1).to_polars().to_pandas()
    with (
        LocalCluster(n_workers=chosen.workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        if chosen.numbers:
            for partitions in chosen.partitions:
                report_both(with_numbers(frame, chosen.numbers), partitions)
            return
        empty = seconds(lambda: client.submit(abs, 1, pure=False).result())
        print(f"a task of nothing: {1000 * empty:.1f} ms")
        for partitions in chosen.partitions:
            report(client, frame, partitions, chosen.learn)


def report(client: Any, frame: Any, partitions: int, learn: bool) -> None:
    import dask.dataframe as dd

    import bayescout as bs
    from bayescout.statistics.dask_counts import DaskCounts

    begin = time.perf_counter()
    table = bs.as_table(dd.from_pandas(frame, npartitions=partitions))
    encoded = time.perf_counter() - begin
    counts: Any = DaskCounts(table)  # type: ignore[arg-type]
    families = [(0, (other,)) for other in range(1, 37)] + [(1, (2, 3)), (4, (5, 6)), (7, (8, 9)), (3, ())]
    counts.many(families)
    one, many = (
        seconds(lambda: counts.many([(0, (1,))])),
        seconds(lambda: counts.many(families)),
    )
    begin = time.process_time()
    for _ in range(ROUNDS):
        counts.many(families)
    spent = (time.process_time() - begin) / ROUNDS
    more = ""
    if learn:
        begin, before = time.perf_counter(), counts.round_trips
        result = bs.learn(table, "hill-climb", "bdeu", engine=lambda *_: counts)
        more = (
            f", learned in {time.perf_counter() - begin:.1f} s: {counts.round_trips - before} round trips, "
            f"{result.counters.operations} steps"
        )
    print(
        f"{len(frame):,} rows in {partitions} partitions: encoded in {encoded:.2f} s, one family "
        f"{1000 * one:.1f} ms, forty {1000 * many:.1f} ms; processor time of scheduler and client for forty: "
        f"{1000 * spent:.1f} ms, {1000 * spent / partitions:.2f} per partition{more}",
        flush=True,
    )


def with_numbers(frame: Any, numbers: int) -> Any:
    """Half of the columns, and numbers that depend on some of them and on each other."""
    import numpy as np

    found = frame.iloc[:, :18].copy()
    rng = np.random.default_rng(0)
    for i in range(numbers):
        category = found.iloc[:, i % 18]
        found[f"x{i}"] = rng.normal(size=len(found)) + (category == category[0])
        if i:
            found[f"x{i}"] += found[f"x{i - 1}"]
    return found


def report_both(frame: Any, partitions: int) -> None:
    """Learn from columns of both kinds, there and here."""
    import dask.dataframe as dd

    import bayescout as bs
    from bayescout.statistics.engines import in_memory

    made: list[Any] = []

    def engine(table: Any, kind: Any, prior: float | None) -> Any:
        made.append(in_memory(table, kind, prior))
        return made[-1]

    there, here = bs.as_table(dd.from_pandas(frame, npartitions=partitions, sort=False)), bs.as_table(frame)
    spent, found = [], []
    for table in (there, here):
        begin = time.perf_counter()
        found.append(bs.learn(table, "hill-climb", "bic", engine=engine, workers=1))
        spent.append(time.perf_counter() - begin)
    strata, same = made[0].strata.round_trips, found[0].score == found[1].score
    print(
        f"{len(frame):,} rows in {partitions} partitions, {frame.shape[1]} columns of both kinds: "
        f"{found[0].counters.operations} steps, {strata} round trips for matrices, {spent[0]:.1f} s; "
        f"in memory {spent[1]:.1f} s; the same: {same and found[0].dag == found[1].dag}",
        flush=True,
    )


def seconds(work: Callable[[], Any], times: int = 9) -> float:
    """The median of several runs."""
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


if __name__ == "__main__":
    main()
