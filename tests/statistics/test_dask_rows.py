"""Rows on a cluster of processes: the same answers, to the bit, as one worker or memory gives."""

from __future__ import annotations

import datetime
import itertools
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.data import as_table
from bayescout.data.past.budget import Budget
from bayescout.data.past.dask_partition import Block, some_rows
from bayescout.data.past.dask_table import LASTING, DaskTable, on_cluster, task_keys
from bayescout.data.past.stored import StoredColumn
from bayescout.errors import (
    BayescoutError,
    DataError,
    FormatError,
    MissingValueError,
    SettingError,
    TooLargeError,
)
from bayescout.search import SEARCHES
from bayescout.search.frame.canonical import canonical_order
from bayescout.statistics import dask_strata, leaves, strata
from bayescout.statistics.counts import Counts
from bayescout.statistics.covariance import Covariance
from bayescout.statistics.dask_counts import DaskCounts, Partition, counted, summed
from bayescout.statistics.dask_covariance import _of_block, _of_leaf, shared_leaves, whole_leaves
from bayescout.statistics.degenerate import DegenerateGaussian
from bayescout.statistics.engines import in_memory
from bayescout.statistics.mixed import ConditionalGaussian
from bayescout.statistics.occurring import occurring_in
from bayescout.statistics.stored_covariance import Shift, leaf_sum

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
from dask.utils import key_split  # noqa: E402

slow = pytest.mark.slow
quiet = pytest.mark.filterwarnings("ignore")


def test_tables_of_partitions_sum_to_those_of_all_rows():
    """The work of the workers, here: partitions of any size, dense tables and others."""
    rng = np.random.default_rng(0)
    cards = [2, 3, 20, 4]
    codes = np.array([rng.integers(0, r, 500) for r in cards], dtype=np.uint8)
    blocks = [Block(part, np.empty((0, part.shape[1]))) for part in np.split(codes, [1, 1, 400], axis=1)]
    parts = [Partition(block, [0, 1, 2, 3], cards, 30) for block in blocks]
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


@given(heights=st.lists(st.integers(0, 700), min_size=1, max_size=6).filter(sum), seed=st.integers(0, 99))
def test_leaves_of_partitions_are_those_of_all_rows(heights, seed):
    rng = np.random.default_rng(seed)
    ends = np.cumsum([0, *heights]).tolist()
    values = rng.normal(size=(3, ends[-1])) * 10.0 ** rng.integers(-5, 5, ends[-1])
    blocks = [
        Block(np.empty((0, n), dtype=np.uint8), values[:, e : e + n])
        for n, e in zip(heights, ends, strict=False)
    ]
    shift = Shift(np.zeros(3, dtype=np.int64), (values.mean(axis=1),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaves, "LEAF_ROWS", 256)
        whole = [whole_leaves(*pair, ends[-1]) for pair in pairwise(ends)]
        for squared in (False, True):
            parts = [
                _of_block(block, [0, 1, 2], low - first, high - first, low, shift, squared)
                for block, first, (low, high) in zip(blocks, ends, whole, strict=False)
                if low < high
            ]
            for leaf, pieces in shared_leaves(ends, whole):
                cells = [some_rows(blocks[i], [0, 1, 2], True, low, high) for i, low, high in pieces]
                parts.append(_of_leaf(np.concatenate(cells, axis=1), leaf, shift, squared))
            rng.shuffle(parts)
            known = leaves.sums_of(
                lambda a, b, squared=squared: leaf_sum(values[:, a:b], shift, squared), 0, ends[-1]
            )
            assert (leaves.total(leaves.joined(parts)) == leaves.total(known)).all()


def test_what_a_cluster_says_of_work_that_is_not_done_is_one_error_with_the_way_out():
    for error, said in (
        (distributed.client.FutureCancelledError("key", "client-closed"), "connect a distributed.Client"),
        (distributed.client.ClosedClientError("Client is closed"), "connect a distributed.Client"),
        (
            distributed.KilledWorker("key", SimpleNamespace(address="tcp://there"), 3),
            "smaller partitions, or workers with more memory",
        ),
    ):
        with pytest.raises(DataError, match=said), on_cluster():
            raise error
    for error in (TooLargeError("a family"), ZeroDivisionError()):
        with pytest.raises(type(error)), on_cluster():
            raise error


@slow
@quiet
def test_a_client_that_is_closed_is_one_error(tmp_path):
    bs.load_network("asia").sample(300, seed=1).save(tmp_path / "a.parquet")
    with distributed.Client(
        n_workers=1, processes=False, dashboard_address=None, set_as_default=False
    ) as own:
        engine = bs.DaskEngine(own)
        table = engine.table_of(str(tmp_path / "a.parquet"), "error")
    for call in (
        lambda: bs.learn(table, "hill-climb", "bic"),
        lambda: bs.learn(str(tmp_path / "a.parquet"), "hill-climb", "bic", engine=engine),
        lambda: bs.bootstrap(table, 2, "hill-climb", "bic"),
        lambda: table.codes,
    ):
        with pytest.raises(DataError, match="cannot be reached"):
            call()


def test_no_two_tasks_have_one_name():
    """Of two processes on one cluster that gave their tasks equal names, one would get the other's counts."""
    names = [*task_keys("count", 3), *task_keys("count", 3), *task_keys("sum", 1)]
    assert len(set(names)) == 7
    assert {key_split(name) for name in names} == {"bayescout-count", "bayescout-sum"}


class Done:
    """A future that is there already."""

    def __init__(self, value):
        self.value = value

    def result(self):
        return self.value


def refused(*_):
    raise TooLargeError("the rows are not fetched")


class Here:
    """A client whose workers are this process; every task has a name for the dashboard."""

    def submit(self, work, *given, key, priority=0):
        assert key.startswith("bayescout-")
        return Done(work(*(self.gather(one) for one in given)))

    def map(self, work, *given, key, priority=0):
        tasks = zip(key, zip(*given, strict=True), strict=True)
        return [self.submit(work, *own, key=name) for name, own in tasks]

    def gather(self, one):
        if isinstance(one, list):
            return [self.gather(own) for own in one]
        return one.result() if isinstance(one, Done) else one

    def scheduler_info(self, n_workers):
        return {"workers": {"one": {"nthreads": 1}}}


def there_of(table, heights):
    """The table in partitions of so many rows, on a cluster of this process."""
    ends = np.cumsum([0, *heights]).tolist()
    parts = tuple(Done(Block(table.codes[:, a:b], table.values[:, a:b])) for a, b in pairwise(ends))
    places = {kind: itertools.count() for kind in ("discrete", "continuous")}
    made = object.__new__(DaskTable)
    made.__dict__.update(
        {key: own for key, own in table.__dict__.items() if key in LASTING},
        stored=tuple(
            StoredColumn(Path(), "u1", np.ones(1, dtype=np.int64), place=next(places["discrete"]))
            if kind == "discrete"
            else StoredColumn(Path(), "f8", None, *table.limits(name), place=next(places["continuous"]))
            for name, kind in zip(table.names, table.kinds, strict=True)
        ),
        client=Here(),
        partitions=parts,
        heights=tuple(heights),
        stored_rows=ends[-1],
        budget=Budget.of(None),
    )
    return made


@given(
    heights=st.lists(st.integers(0, 90), min_size=1, max_size=5).filter(lambda own: sum(own) > 20),
    cards=st.lists(st.integers(1, 9), min_size=2, max_size=4),
    least=st.sampled_from([2, 256]),
    seed=st.integers(0, 99),
)
def test_sums_by_configuration_are_those_in_memory(heights, cards, least, seed):
    rng, rows = np.random.default_rng(seed), sum(heights)
    codes = np.array([rng.integers(0, r, rows) for r in cards], dtype=np.uint8)
    values = rng.normal(size=(3, rows)) * np.array([[1.0], [1e-5], [1e3]]) + 7
    names = (*(f"d{i}" for i in range(len(cards))), "x", "y", "z")
    states = (*(tuple(range(r)) for r in cards), None, None, None)
    table = bs.Table(names, states, codes, values)
    with pytest.MonkeyPatch.context() as patch:
        for module in (strata, dask_strata):
            patch.setattr(module, "most_numbers", lambda n: least)
        here = ConditionalGaussian(table)
        there = ConditionalGaussian(there_of(table, heights))
        assert there.far
        every = tuple(rng.permutation(len(cards)).tolist())
        for discrete, columns in ((every, None), ((), None), (every[:1], np.array([0, 2]))):
            one, two = there.strata._computed(discrete, columns), here.strata._computed(discrete, columns)
            for own, known in zip(one[1:], two[1:], strict=True):
                assert own.tobytes() == known.tobytes()
        assert there.strata.totals(every).tolist() == here.strata.totals(every).tolist()
        assert (DegenerateGaussian(there.table).matrix == DegenerateGaussian(table).matrix).all()


def test_a_step_on_columns_of_both_kinds_is_one_round_trip(monkeypatch):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (3, 500)).astype(np.uint8)
    values = rng.normal(size=(3, 500)) + codes
    values[2] += values[0]
    table = bs.Table(tuple("abcxyz"), (*[(0, 1, 2)] * 3, None, None, None), codes, values)
    made = []

    def engine(table, kind, prior):
        made.append(in_memory(table, kind, prior))
        return made[-1]

    there = bs.learn(there_of(table, [100, 0, 150, 250]), "hill-climb", "bic", engine=engine)
    same_answer(there, bs.learn(table, "hill-climb", "bic"))
    trips = made[0].strata.round_trips, made[0].counts.round_trips
    assert max(trips) <= there.counters.operations + 1
    monkeypatch.setattr(DaskTable, "require_room", refused)
    one, two = bs.fit(there.dag, there_of(table, [100, 0, 150, 250])), bs.fit(there.dag, table)
    for node, known in zip(one.distributions[3:], two.distributions[3:], strict=True):
        for part in ("intercepts", "coefficients", "variances"):
            np.testing.assert_allclose(getattr(node, part), getattr(known, part), rtol=1e-9, atol=1e-12)


def test_configurations_that_are_too_many_are_refused_as_in_memory(monkeypatch):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 9, (2, 400)).astype(np.uint8)
    states = (*[tuple(range(9))] * 2, None)
    table = bs.Table(tuple("abx"), states, codes, rng.normal(size=(1, 400)))
    for module in (strata, dask_strata):
        monkeypatch.setattr(module, "MOST_BYTES", 8 * 9)
    for least in (2, 256):
        for module in (strata, dask_strata):
            monkeypatch.setattr(module, "most_numbers", lambda n, least=least: least)
        for own in (table, there_of(table, [200, 200])):
            statistics = in_memory(own, "mixed")
            assert len(statistics.strata.of((0,)).totals) == 9
            with pytest.raises(TooLargeError, match="configurations of 2 discrete parents, with"):
                statistics.strata.of((0, 1))


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
    parts = dd.from_delayed([dask.delayed(piece) for piece in pieces], meta=frame[:0])
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
    delayed = dask.delayed
    meta = one[:0].assign(a=pd.Categorical([], categories=["__UNKNOWN_CATEGORIES__"]))
    table = as_table(dd.from_delayed([delayed(one), delayed(two)], meta=meta, verify_meta=False))
    assert table.states == (("x", "y", "z"), ("p", "q", "r"))
    assert table.to_dict() == {"a": [*one["a"], *two["a"]], "b": [*one["b"], *two["b"]]}


def cut(frame, *rows):
    """The frame in partitions that end at these rows."""
    ends = [0, *rows, len(frame)]
    parts = [dask.delayed(frame[a:b]) for a, b in pairwise(ends)]
    return dd.from_delayed(parts, meta=frame[:0], verify_meta=False)


def same_table(there, here):
    assert isinstance(there, DaskTable)
    assert (there.names, there.states, there.n_rows) == (here.names, here.states, here.n_rows)
    assert (there.columns, there.reading, there.notes, there.missing) == (
        here.columns,
        here.reading,
        here.notes,
        here.missing,
    )
    assert there.fingerprint == here.fingerprint
    assert canonical_order(there) == canonical_order(here)


def frame_of_all_kinds(rows=600):
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "text": rng.choice(["no", "yes", "maybe"], rows),
            "few": rng.integers(0, 4, rows),
            "many": rng.integers(0, 5000, rows),
            "late": np.where(np.arange(rows) < rows - 150, 1, np.arange(rows)),
            "whole floats": rng.integers(0, 3, rows).astype(float),
            "floats": rng.normal(size=rows),
            "few decimals": rng.integers(0, 3, rows) / 4,
            "zeros": np.where(rng.random(rows) < 0.5, -0.0, rng.integers(0, 300, rows)),
            "flag": rng.random(rows) < 0.3,
            "id": np.arange(rows),
            "float id": np.arange(rows)[::-1] + 5.0,
            "no id": np.where(np.arange(rows) == 7, 9.0, np.arange(rows)),
            "key": [f"k{i}" for i in range(rows)],
            "day": [datetime.date(2020, 1, 1 + i % 3) for i in range(rows)],
            "waited": pd.to_timedelta(rng.integers(0, 300, rows), unit="s"),
            "level": pd.Categorical(rng.choice(["low", "mid"], rows), ["low", "mid", "high"]),
        }
    )


@slow
@quiet
@pytest.mark.parametrize("rows", [(), (1, 1, 150), (599,), (200, 400)])
def test_columns_of_every_kind_are_read_as_in_memory(client, rows):
    frame = frame_of_all_kinds()
    same_table(as_table(cut(frame, *rows)), as_table(frame))
    kept = ["many", "text", "id", "key"]
    kinds = {"many": "discrete", "id": "continuous"}
    same_table(
        as_table(cut(frame, *rows), columns=kept, kinds=kinds), as_table(frame, columns=kept, kinds=kinds)
    )


@slow
@quiet
def test_numbers_that_are_whole_in_one_partition_and_not_in_another(client):
    frame = pd.DataFrame({"x": np.arange(400) % 3, "y": np.arange(400) % 2})
    half = frame[200:].astype({"x": float})
    half.iloc[5, 0] = np.nan
    parts = dd.from_delayed(
        [dask.delayed(part) for part in (frame[:200], half)], meta=frame[:0], verify_meta=False
    )
    whole = pd.concat([frame[:200], half])
    for kinds in (None, "discrete"):
        same_table(as_table(parts, kinds, missing="drop"), as_table(whole, kinds, missing="drop"))


@slow
@quiet
def test_categories_in_some_partitions_and_plain_values_in_others_are_plain(client):
    frame = pd.DataFrame({"a": ["z", "x", "y", "x"] * 20, "b": ["p", "q"] * 40, "n": [1, 2, 1, 1] * 20})
    listed = frame[:40].astype({"a": pd.CategoricalDtype(["z", "x", "y"]), "b": "category", "n": "Int64"})
    listed.iloc[3, 2] = pd.NA
    listed = listed.assign(b=listed["b"].cat.remove_unused_categories())
    rest = frame[40:].astype({"n": float})
    parts = dd.from_delayed([dask.delayed(p) for p in (listed, rest)], meta=frame[:0], verify_meta=False)
    same_table(as_table(parts, missing="drop"), as_table(pd.concat([listed, rest]), missing="drop"))


@slow
@quiet
@pytest.mark.parametrize("policy", ["drop", "state"])
def test_missing_cells_are_dropped_or_are_a_state(client, policy):
    rng = np.random.default_rng(1)
    frame = frame_of_all_kinds()[["text", "few", "flag", "key", "level"]]
    frame = frame.astype({"few": "Int64", "flag": "boolean", "text": "string", "key": "string"})
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    frame.loc[7] = ["once", None, None, "k7", "mid"]  # a state that only a row left out has
    if policy == "drop":
        frame["number"] = np.where(rng.random(600) < 0.1, np.nan, rng.normal(size=600))
        frame["halves"] = np.where(rng.random(600) < 0.1, np.nan, rng.integers(0, 3, 600))
    here = as_table(frame, missing=policy)
    same_table(as_table(cut(frame, 10, 10, 300), missing=policy), here)
    assert policy != "drop" or here.missing.rows_dropped > 200


@slow
@quiet
@pytest.mark.parametrize("shift", [0.0, 1e9, 1e-300, 1e250])
def test_numbers_are_correlated_as_in_memory_to_the_bit(client, shift):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(4, 150_001))
    x[2] += x[0]
    x = x * shift if shift in (1e-300, 1e250) else x + shift
    frame = pd.DataFrame({f"x{i}": column for i, column in enumerate(x)})
    here = as_table(frame, kinds="continuous")
    for rows in ((), (3, 3, 70_000, 140_000), tuple(range(30_000, 150_000, 30_000))):
        there = as_table(cut(frame, *rows), kinds="continuous")
        assert (in_memory(there, "continuous").matrix == Covariance(here).matrix).all()
        assert (
            in_memory(there, "continuous").log_scales.tolist()
            == in_memory(here, "continuous").log_scales.tolist()
        )
    same_answer(bs.learn(there, "hill-climb", "bic"), bs.learn(here, "hill-climb", "bic"))
    if shift == 0:
        same_answer(bs.learn(there, "ges", "bge"), bs.learn(here, "ges", "bge"))


@slow
@quiet
def test_values_that_are_not_finite_and_partitions_without_a_column_are_named(client):
    frame = pd.DataFrame({"x": np.arange(300) / 7, "y": np.arange(300) % 11 / 3})
    frame.loc[250, "x"] = np.inf
    with pytest.raises(DataError, match=r"column 'x' has a value that is not finite, first in row 250"):
        as_table(cut(frame, 100))
    with pytest.raises(DataError, match=r"column 'x' has a value that is not finite, first in row 250"):
        as_table(cut(frame.assign(y=frame["y"].where(frame.index % 7 > 0)), 3, 100, 200), missing="drop")
    lists = pd.DataFrame({"x": [[1]] * 30, "y": range(30)}).astype({"x": object})
    with (
        dask.config.set({"dataframe.convert-string": False}),
        pytest.raises(
            DataError, match=r"partition 0 \(counting from 0\): column 'x' holds \[1\].* in row 0 "
        ),
    ):
        as_table(cut(lists, 10, 20))
    parts = [dask.delayed(part) for part in (frame[:100], frame[100:200].drop(columns="y"))]
    with pytest.raises(DataError, match=r"partition 1 .* has no column 'y'"):
        as_table(dd.from_delayed(parts, meta=frame[:0], verify_meta=False))


CLIENT = """
import sys, time, distributed, dask.dataframe as dd, bayescout as bs
client = distributed.Client(sys.argv[1])
frame = bs.load_network("asia").sample(2_000, seed=1).to_polars().to_pandas().astype(str)
table = bs.as_table(dd.from_pandas(frame, npartitions=4))

def told(step):
    print("step", flush=True)
    time.sleep(1)

result = bs.learn(table, "hill-climb", "bdeu", callback=told)
print(result.stop_reason, result.dag.n_arcs, flush=True)
"""


@slow
@quiet
@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGKILL])
def test_a_client_that_ends_leaves_nothing_on_the_workers(client, cluster, way):
    process = subprocess.Popen(
        [sys.executable, "-c", CLIENT, cluster.scheduler_address], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "step\n"
    assert process.stdout.readline() == "step\n"
    assert sum(client.run(lambda dask_worker: len(dask_worker.data)).values())
    process.send_signal(way)
    out, _ = process.communicate(timeout=60)
    if way == signal.SIGINT:
        assert process.returncode == 0
        assert out.split()[-2] == "interrupted"
        assert int(out.split()[-1]) >= 1
    until = time.monotonic() + 30
    while sum(client.run(lambda dask_worker: len(dask_worker.data)).values()):
        assert time.monotonic() < until
        time.sleep(0.2)


@slow
@quiet
def test_some_columns_are_learned_from(client):
    frame = frame_of()
    names = ["xray", "asia", "smoke"]
    table = as_table(dd.from_pandas(frame, npartitions=3)).select(names)
    same_answer(
        bs.learn(table, "hill-climb", "bic"), bs.learn(as_table(frame).select(names), "hill-climb", "bic")
    )


@slow
@quiet
@pytest.mark.parametrize("fits", [True, False])
def test_resamples_and_folds_of_rows_on_a_cluster_are_those_in_memory(client, fits, monkeypatch, tmp_path):
    from bayescout.evaluate import cluster_runs

    assert cluster_runs.fits_on_workers(as_table(dd.from_pandas(frame_of(100), npartitions=2)))
    monkeypatch.setattr(cluster_runs, "SHARE", cluster_runs.SHARE if fits else 0.0)
    frame = frame_of(700, seed=4)
    parts, runs = cut(frame, 0, 300, 310), 6 if fits else 2
    seen = []
    there = bs.bootstrap(parts, runs, "hill-climb", "bdeu", progress=lambda done, _: seen.append(done))
    assert there.table() == bs.bootstrap(frame, runs, "hill-climb", "bdeu").table()
    assert seen == list(range(1, runs + 1))
    folds = 4 if fits else 2
    one = bs.cross_validate(parts, "ges", "bic", folds=folds, seed=3)
    two = bs.cross_validate(frame, "ges", "bic", folds=folds, seed=3)
    assert one.to_dict() == two.to_dict()
    pl.DataFrame(frame).write_parquet(tmp_path / "0.parquet")
    again = bs.bootstrap(tmp_path, 2, "hill-climb", "bdeu", rows=300, engine=bs.DaskEngine(client))
    assert again.table() == bs.bootstrap(frame, 2, "hill-climb", "bdeu", rows=300).table()


def both_kinds(rows=900):
    """A frame in which numbers depend on categories and on each other."""
    rng = np.random.default_rng(2)
    frame = frame_of(rows)[["asia", "smoke", "lung", "bronc"]]
    frame["many"] = rng.integers(0, 9, rows).astype(str)
    frame["x"] = rng.normal(size=rows) + (frame["smoke"] == "yes")
    frame["y"] = frame["x"] * (frame["many"] > "4") + rng.normal(size=rows) + 1e6
    frame["z"] = rng.normal(size=rows) - frame["y"]
    return frame


@slow
@quiet
@pytest.mark.parametrize("score", ["bic", "cg-bde", "dg-bic"])
def test_columns_of_both_kinds_are_learned_as_in_memory(client, score):
    frame = both_kinds()
    here = as_table(frame)
    for rows in ((), (0, 10, 10, 500)):
        there = as_table(cut(frame, *rows))
        same_table(there, here)
        for search in ("hill-climb", "ges", "pc", "auto"):
            one = bs.learn(there, search, score, max_steps=60)
            same_answer(one, bs.learn(here, search, score, max_steps=60))
    seen = []

    def kill_once(step):
        if not seen:
            seen.append(step)
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    same_answer(bs.learn(there, "tabu", score, callback=kill_once), bs.learn(here, "tabu", score))
    assert seen


@slow
@quiet
@pytest.mark.parametrize("fits", [True, False])
def test_resamples_and_folds_of_both_kinds_are_those_in_memory(client, fits, monkeypatch):
    from bayescout.evaluate import cluster_runs

    monkeypatch.setattr(cluster_runs, "SHARE", cluster_runs.SHARE if fits else 0.0)
    frame = both_kinds(500)
    parts = cut(frame, 0, 100, 310)
    there = bs.bootstrap(parts, 3, "hill-climb", "bic")
    assert there.table() == bs.bootstrap(frame, 3, "hill-climb", "bic").table()
    one = bs.cross_validate(parts, "hill-climb", "bic", folds=2, seed=3)
    assert one.to_dict() == bs.cross_validate(frame, "hill-climb", "bic", folds=2, seed=3).to_dict()


def drawn_anew(rows):
    """A partition that is never the same twice."""
    return pd.DataFrame(np.random.default_rng().integers(0, 3, (rows, 3)), columns=list("abc"))


@slow
@quiet
def test_partitions_that_come_back_different_are_refused(client):
    delayed = dask.delayed
    parts = [delayed(drawn_anew)(500, dask_key_name=f"drawn-{i}") for i in range(4)]
    table = as_table(dd.from_delayed(parts, meta=drawn_anew(0), verify_meta=False))
    for pid in client.run(os.getpid).values():
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(DataError, match=r"partition \d .*had other rows when it was read again"):
        bs.learn(table, "hill-climb", "bic")


@slow
@quiet
def test_restarts_and_runs_side_by_side_over_one_table_are_those_in_memory(client):
    frame = frame_of(seed=3)
    table = as_table(dd.from_pandas(frame, npartitions=3))
    climb = SEARCHES["hill-climb"](restarts=2)
    same_answer(bs.learn(table, climb, "bdeu", seed=2), bs.learn(frame, climb, "bdeu", seed=2))
    with ThreadPoolExecutor(3) as threads:
        found = threads.map(lambda seed: bs.learn(table, "tabu", "bic", start="random", seed=seed), range(4))
        for seed, there in enumerate(found):
            same_answer(there, bs.learn(frame, "tabu", "bic", start="random", seed=seed))


@slow
@quiet
def test_runs_that_a_worker_loses_are_done_again(client):
    frame = frame_of(700, seed=4)

    def kill_once(done, _):
        if done == 3:
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    there = bs.bootstrap(dd.from_pandas(frame, npartitions=3), 12, "hill-climb", "bdeu", progress=kill_once)
    assert there.table() == bs.bootstrap(frame, 12, "hill-climb", "bdeu").table()


@slow
@quiet
def test_some_rows_are_those_in_memory(client):
    frame = frame_of_all_kinds()[["text", "few", "floats", "level", "many"]]
    here, there = as_table(frame), as_table(cut(frame, 10, 10, 300))
    rows = np.sort(np.random.default_rng(0).integers(0, 600, 900))
    for some in (rows, rows[rows > 400], np.arange(600) % 3 == 0, np.array([599])):
        assert isinstance(there.take(some), DaskTable)
        assert there.take(some).fingerprint == here.take(some).fingerprint
        assert there.take(some).columns == here.take(some).columns
    assert there.take(rows[::-1]).fingerprint == here.take(rows[::-1]).fingerprint


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
    with pytest.raises(FormatError, match=r"2\.parquet: is given twice"):
        bs.learn([tmp_path / "2.parquet"] * 2, "hill-climb", "bic", engine=engine)
    single = bs.learn(tmp_path / "2.parquet", "hill-climb", "bic", engine=engine)
    same_answer(single, bs.learn(frame[100:], "hill-climb", "bic"))
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
    for name in ("weights", "interventions", "missing_values", "memory"):
        with pytest.raises(SettingError, match=f"cannot have {name}"):
            as_table(parts, **{name: ["asia"]})
    for name in ("discretise", "interventions", "memory"):
        with pytest.raises(SettingError, match=f"cannot have {name}"):
            bs.learn(parts, engine=bs.DaskEngine(client), **{name: 3})
    with pytest.raises(FormatError, match=r"rows\.csv: workers read files of these kinds"):
        bs.learn("rows.csv", engine=bs.DaskEngine(client))
    with pytest.raises(BayescoutError, match="give a Dask dataframe or Parquet files"):
        bs.learn(frame, "hill-climb", "bic", missing="state", engine=bs.DaskEngine(client))


@slow
@quiet
def test_what_fails_in_the_tasks_of_a_frame_is_one_line_of_the_first_partition(client):
    frame = pd.DataFrame({"a": [*"12xy56"] * 20, "b": [*"ppqqpq"] * 20})
    parts = dd.from_pandas(frame, npartitions=3)
    with pytest.raises(
        DataError, match=r"Dask dataframe cannot be read: .*'x'.*\.compute\(\) works"
    ) as found:
        bs.learn(parts.assign(c=parts["a"].astype("int64")))
    assert isinstance(found.value.__cause__, ValueError)
    assert "\n" not in str(found.value)


@slow
def test_without_a_cluster_the_way_out_is_said():
    parts = dd.from_pandas(frame_of(50), npartitions=2)
    with pytest.raises(SettingError, match=r"distributed\.Client"):
        as_table(parts)
