"""Rows on a cluster of processes: the same answers, to the bit, as one worker or memory gives."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayescout as bs
from bayescout.data import as_table
from bayescout.data.past.dask_rows import DaskTable
from bayescout.errors import BayescoutError, DataError, FormatError, MissingValueError, SettingError
from bayescout.statistics.counts import Counts
from bayescout.statistics.dask_counts import DaskCounts, Partition, counted, summed
from bayescout.statistics.occurring import occurring_in

dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

slow = pytest.mark.slow
quiet = pytest.mark.filterwarnings("ignore")


def test_tables_of_partitions_sum_to_those_of_all_rows():
    """The work of the workers, here: partitions of any size, dense tables and others."""
    rng = np.random.default_rng(0)
    cards = [2, 3, 20, 4]
    codes = np.array([rng.integers(0, r, 500) for r in cards], dtype=np.uint8)
    parts = [Partition(part, cards, 30) for part in np.split(codes, [1, 1, 400], axis=1)]
    families = [(0, (), True), (1, (0,), True), (2, (3,), False), (3, (0, 1, 2), False)]
    most = [1000] * 4
    dense, occurring = summed([counted(part, families, most) for part in parts], most)
    names, states = tuple("abcd"), tuple(tuple(range(r)) for r in cards)
    known = Counts(bs.Table(names, states, codes, np.empty((0, 500))))
    assert dense[:2].tolist() == known.count(0, ()).ravel().tolist()
    assert dense[2:].tolist() == known.count(1, (0,)).ravel().tolist()
    for i, (child, parents, _) in list(enumerate(families))[2:]:
        keys, counts = occurring_in(codes[[*parents, child]], [cards[v] for v in parents], cards[child])
        order = np.argsort(keys[:, 0])
        assert (occurring[i][0] == keys[order]).all()
        assert (occurring[i][1] == counts[order]).all()
    assert isinstance(summed([counted(part, families, [1] * 4) for part in parts], [1] * 4)[1][2], int)


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as made:
        yield made


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as made:
        yield made


def frame_of(rows=2_000, seed=1):
    return bs.load_network("asia").sample(rows, seed=seed).to_polars().to_pandas().astype(str)


def same_answer(one, two):
    assert (one.dag, one.score, one.cpdag) == (two.dag, two.score, two.cpdag)
    assert one.counters.evaluations == two.counters.evaluations


@slow
@quiet
def test_partitions_of_any_size_are_the_whole_frame(client):
    frame = frame_of()
    frame["number"] = np.arange(len(frame)) % 5
    whole = as_table(frame)
    pieces = [frame[:3], frame[3:3], frame[3:1500], frame[1500:]]
    parts = dd.from_delayed([__import__("dask").delayed(piece) for piece in pieces], meta=frame[:0])
    table = as_table(parts)
    assert isinstance(table, DaskTable)
    assert table.fingerprint == whole.fingerprint
    assert (table.columns, table.reading) == (whole.columns, whole.reading)
    for search in ("hill-climb", "ges"):
        same_answer(bs.learn(parts, search, "bdeu"), bs.learn(frame, search, "bdeu"))
    dag = bs.learn(whole, "hill-climb", "bdeu").dag
    for node, known in zip(bs.fit(dag, table).distributions, bs.fit(dag, whole).distributions, strict=True):
        assert (node.table == known.table).all()


@slow
@quiet
def test_one_worker_gives_the_same(client):
    frame = frame_of(seed=5)
    parts = dd.from_pandas(frame, npartitions=7)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
        ) as small,
        distributed.Client(small, set_as_default=False) as one,
    ):
        alone = bs.learn(parts, "hill-climb", "bic", engine=bs.DaskEngine(one))
    same_answer(alone, bs.learn(parts, "hill-climb", "bic", engine=bs.DaskEngine(client)))
    same_answer(alone, bs.learn(frame, "hill-climb", "bic"))


@slow
@quiet
def test_a_worker_that_dies_is_done_without(client, cluster):
    frame = frame_of(seed=2)
    table = as_table(dd.from_pandas(frame, npartitions=6))
    counts = DaskCounts(table)
    known = Counts(as_table(frame).select(table.names))
    before = counts.count(3, (0, 1)).tolist()
    assert before == known.count(3, (0, 1)).tolist()
    pids = list(client.run(os.getpid).values())
    os.kill(pids[0], signal.SIGKILL)
    assert counts.count(3, (0, 1)).tolist() == before
    assert counts.count(5, (1, 2)).tolist() == known.count(5, (1, 2)).tolist()
    seen = []

    def kill_once(step):
        if not seen:
            seen.append(step)
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            time.sleep(0.5)

    same_answer(
        bs.learn(table, "hill-climb", "bdeu", callback=kill_once), bs.learn(frame, "hill-climb", "bdeu")
    )
    assert seen


@slow
@quiet
def test_categories_that_differ_between_partitions_are_one_dictionary(client):
    one = pd.DataFrame({"a": pd.Categorical(["x", "y", "x", "y"]), "b": ["p", "q", "q", "p"]})
    two = pd.DataFrame({"a": pd.Categorical(["z", "x", "z", "x"]), "b": ["r", "r", "p", "q"]})
    delayed = __import__("dask").delayed
    meta = one[:0].assign(a=pd.Categorical([], categories=["__UNKNOWN_CATEGORIES__"]))
    table = as_table(dd.from_delayed([delayed(one), delayed(two)], meta=meta, verify_meta=False))
    assert table.states == (("x", "y", "z"), ("p", "q", "r"))
    assert table.to_dict() == {"a": [*one["a"], *two["a"]], "b": [*one["b"], *two["b"]]}


@slow
@quiet
def test_files_are_read_by_the_workers_and_a_strange_one_is_named(client, tmp_path):
    frame = pl.DataFrame(frame_of(900))
    for number, (begin, end) in enumerate(((0, 100), (100, 100), (100, 900))):
        frame[begin:end].write_parquet(tmp_path / f"{number}.parquet")
    engine = bs.DaskEngine(client)
    found = bs.learn(tmp_path, "hill-climb", "bic", engine=engine)
    same_answer(found, bs.learn(frame, "hill-climb", "bic"))
    assert found.table.fingerprint == bs.learn(frame, "hill-climb", "bic").table.fingerprint
    frame.rename({"asia": "africa"}).write_parquet(tmp_path / "3.parquet")
    with pytest.raises(FormatError, match=r"3\.parquet.*'asia'"):
        bs.learn(tmp_path, "hill-climb", "bic", engine=engine)
    frame.with_columns(asia=1).write_parquet(tmp_path / "3.parquet")
    with pytest.raises(FormatError, match=r"3\.parquet.*Int32 in column 'asia'"):
        bs.learn(tmp_path, "hill-climb", "bic", engine=engine)


@slow
@quiet
def test_what_a_cluster_cannot_do_is_said(client):
    frame = frame_of(100)
    frame.loc[3, "asia"] = None
    parts = dd.from_pandas(frame, npartitions=2)
    with pytest.raises(MissingValueError, match="missing='state'"):
        bs.learn(parts)
    same_answer(
        bs.learn(parts, "hill-climb", "bic", missing="state"),
        bs.learn(frame, "hill-climb", "bic", missing="state"),
    )
    for more, error in (({"missing": "drop"}, SettingError), ({"weights": "asia"}, SettingError)):
        with pytest.raises(error):
            as_table(parts, **more)
    numbers = dd.from_pandas(pd.DataFrame({"x": np.arange(200) / 7, "y": np.arange(200) % 3}), npartitions=2)
    with pytest.raises(DataError, match="columns of numbers on a cluster: 'x'"):
        as_table(numbers)
    with pytest.raises(BayescoutError, match="give a Dask dataframe or Parquet files"):
        bs.learn(frame, "hill-climb", "bic", missing="state", engine=bs.DaskEngine(client))


@slow
def test_without_a_cluster_the_way_out_is_said():
    parts = dd.from_pandas(frame_of(50), npartitions=2)
    with pytest.raises(SettingError, match=r"distributed\.Client"):
        as_table(parts)
