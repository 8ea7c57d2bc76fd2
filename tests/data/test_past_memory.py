"""Rows on disk and in memory are the same table, to the bit, and give the same answers."""

from __future__ import annotations

import datetime
import gc
import json
import math
import os
import shutil
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import bayescout as bs
from bayescout.cli.app import app
from bayescout.data import as_table, read_table, write_table
from bayescout.data.past import batches, budget, cache, scan, sources, stored
from bayescout.data.past.files import FileReader
from bayescout.data.past.stored import StoredTable
from bayescout.data.table import Table
from bayescout.errors import DataError, FormatError, MissingValueError, SettingError, TooLargeError
from bayescout.network import past_regression
from bayescout.search.frame.canonical import canonical_order
from bayescout.search.frame.stored_content import mixed, stored_signatures, unmixed
from bayescout.statistics import leaves, stored_counts, stored_strata, strata
from bayescout.statistics.counts import Counts, dense_counts
from bayescout.statistics.covariance import Covariance, scaled_scatter
from bayescout.statistics.engines import in_memory
from bayescout.statistics.stored import FoldedCounts, distinct_rows
from bayescout.statistics.stored_counts import StoredCounts
from bayescout.statistics.stored_covariance import Shift, stored_scatter
from bayescout.statistics.stored_strata import CentredRows, StoredStrata
from bayescout.statistics.strata import StrataMemory

LIMIT = "64 GB"


@pytest.fixture(autouse=True)
def on_disk(monkeypatch, tmp_path):
    """Every table counts as past memory, and is kept in a folder of its own."""
    monkeypatch.setenv("BAYESCOUT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(scan, "CELL", 1 << 50)
    monkeypatch.setattr(scan, "FLOAT", 1 << 50)


def folders():
    return sorted(path.name for path in cache.root().iterdir()) if cache.root().is_dir() else []


def written(folder, frame, cuts):
    """The frame as Parquet files, cut at these rows."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(frame)], strict=True)):
        frame[begin:end].write_parquet(folder / f"part-{number:02d}.parquet", row_group_size=40)
    return folder


def mixed_frame(rows=301, seed=3):
    """Columns of every kind whose reading depends on all rows."""
    rng = np.random.default_rng(seed)
    texts = rng.choice(["no", "yes", "maybe"], rows)
    few = rng.integers(0, 4, rows)
    return pl.DataFrame(
        {
            "text": texts,
            "few": few,
            "many": rng.integers(0, 5000, rows),
            "whole floats": rng.integers(0, 3, rows).astype(float),
            "floats": rng.normal(size=rows),
            "flag": rng.random(rows) < 0.3,
            "level": pl.Series(rng.choice(["low", "mid"], rows)).cast(pl.Enum(["low", "mid", "high"])),
            "late": np.where(np.arange(rows) < rows - 2, "a", "b"),
            "id": np.arange(rows),
            "day": pl.Series([datetime.date(2020, 1, 1 + i % 3) for i in range(rows)]),
        }
    )


def same(one, two):
    assert isinstance(one, StoredTable)
    assert not isinstance(two, StoredTable)
    assert (one.names, one.states, one.n_rows, one.kinds) == (two.names, two.states, two.n_rows, two.kinds)
    assert one.fingerprint == two.fingerprint
    assert (one.columns, one.reading, one.notes, one.missing) == (
        two.columns,
        two.reading,
        two.notes,
        two.missing,
    )
    assert canonical_order(one) == canonical_order(two)
    assert one.codes.dtype == two.codes.dtype


# ---- reading


@pytest.mark.filterwarnings("ignore::bayescout.BayescoutWarning")
def test_several_files_are_the_whole_frame(tmp_path):
    frame = mixed_frame()
    same(as_table(written(tmp_path / "rows", frame, (1, 1, 150))), as_table(frame))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayescout.BayescoutWarning")
@pytest.mark.parametrize("cuts", [(), (1, 1, 150), (300,)])
def test_files_of_any_sizes_are_the_whole_frame(tmp_path, cuts):
    frame = mixed_frame()
    folder = written(tmp_path / "rows", frame, cuts)
    expected = as_table(frame)
    same(as_table(folder), expected)
    same(read_table(f"{folder}/*.parquet"), expected)
    same(as_table(sorted(folder.iterdir())), expected)
    kept = ["text", "day", "few"]
    same(
        as_table(folder, columns=kept, kinds={"few": "discrete"}),
        as_table(frame, columns=kept, kinds={"few": "discrete"}),
    )


@pytest.mark.filterwarnings("ignore::bayescout.BayescoutWarning")
def test_frames_queries_and_datasets_are_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "BATCH_ROWS", 50)
    frame = mixed_frame()
    folder = written(tmp_path / "rows", frame, (100, 101))
    expected = as_table(frame)
    same(as_table(pl.scan_parquet(folder / "*.parquet")), expected)
    plain = frame.with_columns(pl.col("level").cast(pl.String))
    arrow = plain.to_arrow()
    same(as_table(pa.dataset.dataset(arrow)), as_table(arrow))
    relation = duckdb.sql("select * from arrow where few < 3")
    same(as_table(relation), as_table(relation.to_arrow_table()))
    same(as_table(pa.dataset.dataset(folder)), as_table(pa.dataset.dataset(folder).to_table()))


def test_two_columns_of_one_name_are_refused():
    arrow = pa.table([pa.array(["x", "y"]), pa.array(["u", "v"])], names=["a", "a"])
    for data in (pa.dataset.dataset(arrow), duckdb.sql("select 'x' as a, 'u' as a")):
        with pytest.raises(DataError, match="'a' occurs more than once"):
            as_table(data)


@pytest.mark.parametrize("cells", [[-0.0, 0.0, 0.5], [0.0, -0.0, 0.5]])
def test_zero_is_one_state_under_one_name(cells):
    for data in ({"x": cells}, pl.LazyFrame({"x": cells})):
        assert repr(as_table(data, kinds="discrete").states) == "((0.0, 0.5),)"


@pytest.mark.filterwarnings("ignore::bayescout.BayescoutWarning")
def test_dictionaries_that_differ_between_batches_are_one(tmp_path):
    parts = [
        pa.array(cells).dictionary_encode() for cells in (["b", "a", "b"], ["c", "b", None], ["a", "d", "d"])
    ]
    arrow = pa.table({"x": pa.chunked_array(parts), "y": [1, 2, 1, 2, 1, 2, 1, 2, 1]})
    same(as_table(pa.dataset.dataset(arrow), missing="drop"), as_table(arrow, missing="drop"))
    assert as_table(pa.dataset.dataset(arrow), missing="drop").states[0] == ("b", "a", "c", "d")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayescout.BayescoutWarning")
def test_a_column_with_too_many_values_is_not_read_on_and_left_out_as_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("bayescout.data.columns.MAX_STATES", 60)
    batches, asked = FileReader.batches, []

    def noted(self, path, names, *given):
        asked.append(names)
        return batches(self, path, names, *given)

    monkeypatch.setattr(FileReader, "batches", noted)
    frame = pl.DataFrame({"name": [f"n{i}" for i in range(300)], "x": ["a", "b", "b"] * 100})
    folder = written(tmp_path / "rows", frame, (100, 100, 200))
    same(as_table(folder), as_table(frame))
    assert asked == [["name", "x"], ["x"], ["x"]]
    for path in folder.iterdir():
        pl.read_parquet(path).select(pl.col("name"), other="name").write_parquet(path)
    with pytest.raises(DataError, match="no column is left to use"):
        as_table(folder)
    with pytest.raises(DataError, match="'name' has more than 60 distinct values"):
        as_table(folder, columns=["name"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayescout.BayescoutWarning")
@pytest.mark.parametrize("policy", ["drop", "state"])
def test_missing_cells_are_dropped_or_are_a_state(tmp_path, policy):
    rng = np.random.default_rng(1)
    cells = rng.integers(0, 3, (200, 3)).astype(object)
    cells[rng.random((200, 3)) < 0.1] = None
    frame = pl.DataFrame({f"x{i}": [None if c is None else f"s{c}" for c in cells[:, i]] for i in range(3)})
    folder = written(tmp_path / "rows", frame, (77,))
    same(as_table(folder, missing=policy), as_table(frame, missing=policy))
    with pytest.raises(MissingValueError, match="missing='drop'"):
        bs.learn(folder)
    with pytest.raises(MissingValueError):
        bs.learn(folder, missing="error")
    assert not folders()


@pytest.mark.slow
def test_our_own_files_keep_their_notes(tmp_path):
    table = as_table({"x": [1.0, 2.0, 1.0, 2.0], "y": [1, 2, 2, 1]}, kinds={"x": "continuous"})
    for part in ("a", "b"):
        write_table(table, tmp_path / f"{part}.parquet")
    found = as_table(str(tmp_path / "*.parquet"))
    assert found.kinds == ("continuous", "discrete")
    damaged = bytearray((tmp_path / "b.parquet").read_bytes())
    damaged[10] ^= 1
    (tmp_path / "b.parquet").write_bytes(damaged)
    with pytest.raises(FormatError, match=r"b\.parquet"):
        as_table(str(tmp_path / "*.parquet"))


# ---- counting


def discrete(rows, cards, seed=0):
    """A table in which the last column depends on the first two."""
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, r, rows) for r in cards], dtype=np.uint8)
    codes[-1] = (codes[0] + codes[1] + (rng.random(rows) < 0.1)) % cards[-1]
    names = tuple(f"x{i}" for i in range(len(cards)))
    return Table(names, tuple(tuple(range(r)) for r in cards), codes, np.empty((0, rows)))


def stored_copy(table):
    """The same table on disk."""
    states = {name: own for name, own in zip(table.names, table.states, strict=True) if own is not None}
    kinds = {name: "continuous" for name in table.names if name not in states}
    found = as_table(table.to_polars().lazy(), states=states, kinds=kinds, memory=LIMIT)
    assert isinstance(found, StoredTable)
    return found


FAMILIES = [(0, ()), (1, (0,)), (5, (0, 1)), (2, (3, 4)), (4, (0, 1, 2, 3)), (5, (0, 1, 2, 3, 4))]


@pytest.mark.parametrize(("rows", "block"), [(1, 64), (63, 64), (1000, 64), (1000, 256), (4096, 1 << 20)])
def test_tables_are_the_same_whatever_the_blocks(tmp_path, monkeypatch, rows, block):
    table = discrete(rows, (2, 3, 4, 20, 17, 3))
    found, known = StoredCounts(stored_copy(table), block), Counts(table)
    for limit in (found.dense_limit, 50):
        found.dense_limit = known.dense_limit = limit  # with 50 most are counted by what occurs
        one, two = found.many(FAMILIES), known.many(FAMILIES)
        assert (one.states == two.states).all()
        assert (one.configurations == two.configurations).all()
        for i in range(len(FAMILIES)):
            assert rows_of(one.table(i)) == rows_of(two.table(i))
        for child, parents in FAMILIES[:4]:
            rest = np.array([v for v in range(6) if v not in (child, *parents)])
            one, two = found.extensions(child, parents, rest), known.extensions(child, parents, rest)
            for i in range(len(rest)):
                assert rows_of(one.table(i)) == rows_of(two.table(i))
            few = np.array([v for v in (0, 1, 2, 5) if v not in (child, *parents)])
            one, two = found.extensions(child, parents, few), known.extensions(child, parents, few)
            assert all(rows_of(one.table(i)) == rows_of(two.table(i)) for i in range(len(few)))


def rows_of(table):
    """The configurations that occur, in any order."""
    return sorted(map(tuple, table[table.any(axis=1)].tolist()))


def test_a_family_with_too_many_cells_is_refused_as_in_memory(tmp_path):
    table = discrete(500, (2, 3, 4, 20, 17, 3))
    found, known = StoredCounts(stored_copy(table), 64), Counts(table)
    messages = []
    for counts in (found, known):
        counts.dense_limit, counts.most_cells = 50, 100
        with pytest.raises(TooLargeError) as refused:
            counts.count(5, (3, 4))
        messages.append(str(refused.value).split(" has ")[0])
    assert messages[0] == messages[1]


def test_each_has_a_file_of_its_own_that_goes_with_it(tmp_path, monkeypatch):
    disk = stored_copy(discrete(1000, (2, 3, 4)))
    one, two = StoredCounts(disk), StoredCounts(disk.select(["x2", "x1"]))
    assert one._bitmaps != two._bitmaps
    assert len(list(disk.folder.path.glob("bitmaps-*"))) == 2
    with monkeypatch.context() as forked:  # the copies of another process are not its own to remove
        copy = StoredCounts(disk)
        forked.setattr(os, "getpid", lambda: -1)
        del copy
        gc.collect()
    (left,) = set(disk.folder.path.glob("bitmaps-*")) - {one._bitmaps, two._bitmaps}
    left.unlink()
    known = two.count(0, (1,)).tolist()
    del one
    gc.collect()
    assert [path.name for path in disk.folder.path.glob("bitmaps-*")] == [two._bitmaps.name]
    assert two.count(0, (1,)).tolist() == known


def test_few_distinct_rows_are_folded_into_weights(tmp_path):
    table = discrete(2000, (2, 3, 2, 2))
    disk = stored_copy(table)
    folded = in_memory(disk, "discrete")
    assert isinstance(folded, FoldedCounts)
    assert folded is in_memory(disk, "discrete")
    known = in_memory(table, "discrete")
    assert (folded.n_rows, folded.planned_rows, folded.total) == (known.n_rows, known.n_rows, 2000)
    assert (folded.count(3, (0, 1)) == known.count(3, (0, 1))).all()
    assert distinct_rows(stored_copy(discrete(200, (9, 9, 9, 9)))) is None


def test_rows_folded_here_and_not_in_memory_plan_the_same_work(tmp_path):
    base = discrete(40, (5, 5, 5, 5, 5))
    table = base.take(np.arange(4000) % 40)  # 3,125 possible rows are too many to fold by, 40 are not
    disk = stored_copy(table)
    for block in (None, 64):
        folded = FoldedCounts.of(disk, block)
        assert folded.n_rows <= 40
        assert folded.planned_rows == in_memory(table, "discrete").n_rows == 4000
    assert dense_counts(disk, 4, (0, 1)).tolist() == dense_counts(table, 4, (0, 1)).tolist()


@pytest.mark.parametrize("search", ["hill-climb", "ges", "pc"])
def test_the_same_is_learned(tmp_path, search):
    table = bs.load_network("asia").sample(600, seed=4)
    disk = stored_copy(table)
    for engine in (None, lambda own, kind, prior: StoredCounts(own, 128)):
        one, two = bs.learn(disk, search, "bdeu", engine=engine), bs.learn(table, search, "bdeu")
        assert (one.dag, one.score, one.cpdag) == (two.dag, two.score, two.cpdag)
        assert one.counters.evaluations == two.counters.evaluations
    for node, known in zip(*(bs.fit(one.dag, data).distributions for data in (disk, table)), strict=True):
        assert (node.table == known.table).all()
    assert bs.score(one.dag, disk) == bs.score(two.dag, table)
    assert one.table.fingerprint == two.table.fingerprint
    assert one.data.summary == two.data.summary


# ---- numbers


@pytest.mark.parametrize("shift", [0.0, 1e9, 1e-300, 1e250])
def test_scatter_is_the_same_to_the_bit(tmp_path, monkeypatch, shift):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(4, 3001))
    x[2] += x[0]
    x = x * shift if shift in (1e-300, 1e250) else x + shift
    table = as_table({f"x{i}": column for i, column in enumerate(x)}, kinds="continuous")
    disk = stored_copy(table)
    same(disk, table)
    for cells, leaf in ((1 << 21, 1 << 17), (1 << 21, 512), (2048, 512), (2048, 1024)):
        monkeypatch.setattr("bayescout.statistics.stored_covariance.BLOCK_CELLS", cells)
        monkeypatch.setattr(leaves, "LEAF_ROWS", leaf)
        one, two = stored_scatter(disk), scaled_scatter(table)
        assert (one[0] == two[0]).all()
        assert (one[1] == two[1]).all()
    assert (in_memory(disk, "continuous").matrix == Covariance(table).matrix).all()
    assert bs.learn(disk, "hill-climb").score == bs.learn(table, "hill-climb").score


@given(rows=st.integers(1, 5000), cuts=st.lists(st.integers(0, 40), max_size=4), seed=st.integers(0, 99))
def test_sums_by_leaves_do_not_depend_on_where_rows_are_cut(rows, cuts, seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=rows) * 10.0 ** rng.integers(-9, 9, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaves, "LEAF_ROWS", 128)
        whole = leaves.total(leaves.sums_of(lambda a, b: values[a:b].sum(), 0, rows))
        ends = sorted({0, rows, *(min(rows, 128 * cut) for cut in cuts)})
        parts = [leaves.sums_of(lambda a, b: values[a:b].sum(), *pair) for pair in pairwise(ends)]
    rng.shuffle(parts)
    assert (
        leaves.total(leaves.joined(parts))
        == whole
        == tree_sum([values[i : i + 128] for i in range(0, rows, 128)])
    )
    assert whole == pytest.approx(math.fsum(values), abs=1e-12 * np.abs(values).sum())


def tree_sum(parts):
    """The sum by its definition: the largest half that is a power of two, and the rest."""
    if len(parts) == 1:
        return parts[0].sum()
    half = 1 << ((len(parts) - 1).bit_length() - 1)
    return tree_sum(parts[:half]) + tree_sum(parts[half:])


def test_signatures_are_the_same_whatever_the_blocks(tmp_path):
    frame = mixed_frame().select("text", "floats", "few", "many")
    disk = as_table(written(tmp_path / "rows", frame, (50,)))
    found = [stored_signatures(disk, block).tolist() for block in (64, 100, 4096)]
    assert found[0] == found[1] == found[2]
    words = np.random.default_rng(0).integers(0, 2**63, 1000).astype(np.uint64)
    assert (unmixed(mixed(words)) == words).all()


# ---- both kinds


def both_kinds(rows=700, seed=2, unit=1e-300):
    """A table in which numbers depend on states, one of them rarely there, and on each other."""
    rng = np.random.default_rng(seed)
    cells = {"a": rng.integers(0, 3, rows), "b": rng.integers(0, 9, rows)}
    cells["c"] = (cells["a"] + (rng.random(rows) < 0.1)) % 3
    cells["x"] = rng.normal(size=rows) + cells["a"]
    cells["y"] = cells["x"] * (cells["b"] > 2) + rng.normal(size=rows) + 1e9
    cells["z"] = (rng.normal(size=rows) + cells["x"]) * unit
    return as_table(
        {name: own.tolist() for name, own in cells.items()}, kinds=dict.fromkeys("xyz", "continuous")
    )


@pytest.mark.filterwarnings("ignore::bayescout.BayescoutWarning")  # a unit far from that of the prior
@pytest.mark.parametrize("rows", [64, 1 << 20])
@pytest.mark.parametrize(
    ("search", "score"),
    [("hill-climb", "bic"), ("hill-climb", "cg-bde"), ("ges", "dg-bic"), ("pc", "bic")],
)
def test_columns_of_both_kinds_are_learned_as_in_memory(tmp_path, monkeypatch, search, score, rows):
    monkeypatch.setattr(stored_counts, "BLOCK_ROWS", rows)
    monkeypatch.setattr(leaves, "LEAF_ROWS", 256)
    table = both_kinds()
    disk = stored_copy(table)
    assert disk.fingerprint == table.fingerprint
    one, two = bs.learn(disk, search, score), bs.learn(table, search, score)
    assert (one.dag, one.score, one.cpdag) == (two.dag, two.score, two.cpdag)
    assert one.dag.n_arcs > 3
    assert one.counters.evaluations == two.counters.evaluations


def refused(*_):
    raise TooLargeError("the rows are not loaded")


def close(one, two):
    """The same parameters, but for rounding."""
    for node, known in zip(one.distributions, two.distributions, strict=True):
        assert type(node) is type(known)
        parts = ("table", "intercept", "intercepts", "coefficients", "variance", "variances", "undefined")
        for part in parts:
            if hasattr(known, part):
                here, there = getattr(known, part), getattr(node, part)
                np.testing.assert_allclose(there, here, rtol=1e-9, atol=1e-12 * np.abs(here).max(initial=0))


@pytest.mark.parametrize("rows", [64, 1 << 20])
def test_regressions_are_those_in_memory_but_for_rounding(monkeypatch, rows):
    monkeypatch.setattr(past_regression, "block_rows", lambda *_: rows)
    monkeypatch.setattr(StoredTable, "require_room", refused)
    table = both_kinds(unit=1e-5)
    arcs = [("a", "x"), ("a", "y"), ("b", "y"), ("x", "y"), ("y", "z"), ("x", "z")]
    dag = bs.Dag.from_arcs(arcs, table.names)
    close(bs.fit(dag, stored_copy(table)), bs.fit(dag, table))
    numbers = table.select(["x", "y", "z"])
    dag = bs.Dag.from_arcs([("x", "y"), ("x", "z"), ("y", "z")], numbers.names)
    close(bs.fit(dag, stored_copy(numbers)), bs.fit(dag, numbers))


def test_regressions_warn_as_in_memory(monkeypatch):
    """Of regressors that determine each other, configurations of few rows, and a constant column."""
    table = both_kinds(60, unit=1.0).to_dict()
    table["double"] = [2 * x for x in table["x"]]
    table["still"] = [3.7] * 60
    names = ("x", "y", "double", "still")
    table = as_table(table, kinds=dict.fromkeys(names, "continuous"), columns=["a", "b", *names])
    arcs = [("x", "y"), ("double", "y"), ("a", "x"), ("b", "x"), ("a", "still")]
    dag = bs.Dag.from_arcs(arcs, table.names)
    disk = stored_copy(table)
    monkeypatch.setattr(StoredTable, "require_room", refused)
    said = []
    for data in (disk, table):
        with pytest.warns(bs.BayescoutWarning) as caught:
            said.append((bs.fit(dag, data), [str(one.message) for one in caught]))
    assert said[0][1] == said[1][1]
    assert len(said[0][1]) >= 3
    close(said[0][0], said[1][0])


@given(
    seed=st.integers(0, 999),
    cards=st.lists(st.integers(1, 9), min_size=2, max_size=4),
    rows=st.integers(1, 300),
    least=st.sampled_from([2, 256]),
)
def test_configurations_are_numbered_as_in_memory(seed, cards, rows, least):
    table = discrete(rows, cards, seed)
    cells = np.random.default_rng(seed).normal(size=(rows, 2))
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.setenv("BAYESCOUT_CACHE", folder)
        patch.setattr(scan, "CELL", 1 << 50)
        patch.setattr(stored_counts, "BLOCK_ROWS", 64)
        for module in (strata, stored_strata):
            patch.setattr(module, "most_numbers", lambda n: least)
        disk = stored_copy(table)
        numbers = as_table({"u": cells[:, 0], "v": cells[:, 1]}, kinds="continuous")
        shift = Shift(np.zeros(2, dtype=np.int64))
        held = CentredRows(stored_copy(numbers), shift, lambda own, where: own)
        there = StoredStrata(disk, Counts(table), held, lambda found: found)
        here = StrataMemory(table, Counts(table), np.ascontiguousarray(cells), lambda found: found)
        for order in (tuple(np.random.default_rng(seed).permutation(len(cards)).tolist()), ()):
            assert there.totals(order).tolist() == here.totals(order).tolist()
            for columns in (None, np.array([1])):
                for one, two in zip(
                    there._computed(order, columns)[1:], here._computed(order, columns)[1:], strict=True
                ):
                    assert one.tobytes() == two.tobytes()


def test_matrices_that_would_take_too_much_are_refused(tmp_path, monkeypatch):
    statistics = in_memory(stored_copy(both_kinds()), "mixed")
    monkeypatch.setattr(statistics.strata, "most", 8 * 9 * 26)
    assert len(statistics.strata.of((0, 2)).totals) == 9
    with pytest.raises(TooLargeError, match=r"27 configurations of 2 discrete parents.*give more memory="):
        statistics.strata.of((0, 1))
    for most in (0, 1 << 30):  # threads wait for one another where matrices are large
        monkeypatch.setattr(stored_strata, "cores", lambda most=most: most)
        assert len(statistics.strata.of((2,)).totals) == 3


def test_blocks_of_all_threads_take_half_of_the_memory_together(monkeypatch):
    room = budget.Budget(2 * 10**9, 0)
    monkeypatch.setattr(stored_counts, "cores", lambda: 2)
    assert stored_counts.block_rows(70, room) == stored.BLOCK_ROWS
    monkeypatch.setattr(stored_counts, "cores", lambda: 64)
    rows = stored_counts.block_rows(70, room)
    assert 64 * rows * 70 <= 10**9 < 2 * 64 * rows * 70
    assert stored_counts.block_rows(70, budget.Budget(1, 0)) == stored_counts.LEAST_ROWS


# ---- many columns


@pytest.mark.filterwarnings("ignore::bayescout.BayescoutWarning")
@pytest.mark.parametrize(("kind", "search"), [("states", "tabu"), ("numbers", "ges"), ("both", "hill-climb")])
def test_pairs_of_many_columns_are_screened_as_in_memory_and_no_column_is_loaded(monkeypatch, kind, search):
    rng = np.random.default_rng(4)
    cells, kinds = {}, {}
    for i in range(9):
        numbers = kind == "numbers" or (kind == "both" and i > 4)
        kinds[f"x{i}"] = "continuous" if numbers else "discrete"
        before = cells[f"x{i // 2}"] if i else np.zeros(300)
        own = before + rng.normal(size=300)
        cells[f"x{i}"] = own if numbers else np.clip(np.rint(own), 0, 2).astype(int)
    if kind == "numbers":
        cells["copy"], kinds["copy"] = 3 - 2 * cells["x3"], "continuous"
        cells["constant"] = np.ones(300)  # a state, that no arc can come from
    table = as_table(pl.DataFrame(cells), kinds=kinds)
    disk = as_table(pl.LazyFrame(cells), kinds=kinds, memory=LIMIT)
    monkeypatch.setattr("bayescout.wide.MOST_DENSE", 8)
    two = bs.learn(table, search, "bic")
    monkeypatch.setattr(StoredTable, "_loaded", lambda *_: pytest.fail("all rows were loaded"))
    one = bs.learn(disk, search, "bic")
    assert (one.dag, one.score, one.cpdag, one.screened) == (two.dag, two.score, two.cpdag, two.screened)
    assert one.screened.kept < one.screened.pairs
    assert one.dag.n_arcs > 3


# ---- refusals


@pytest.mark.slow
def test_files_that_differ_are_named(tmp_path):
    pl.DataFrame({"a": ["x", "y"], "b": [1, 2]}).write_parquet(tmp_path / "1.parquet")
    for frame, said in (
        (pl.DataFrame({"a": ["x"]}), "no column 'b'"),
        (pl.DataFrame({"a": ["x"], "b": [1], "c": [1]}), "a column 'c'"),
        (pl.DataFrame({"a": ["x"], "b": ["1"]}), "String in column 'b'"),
    ):
        frame.write_parquet(tmp_path / "2.parquet")
        with pytest.raises(FormatError, match=rf"2\.parquet.*{said}"):
            as_table(tmp_path)
    (tmp_path / "2.parquet").write_bytes(b"PAR1" + bytes(50) + b"PAR1")
    with pytest.raises(FormatError, match=r"2\.parquet"):
        as_table(tmp_path)
    assert not folders()


@pytest.mark.filterwarnings("ignore::bayescout.BayescoutWarning")
def test_a_file_under_two_names_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame({"a": ["x", "y"], "b": [1, 2]})
    Path("rows").mkdir()
    for name in ("one.parquet", "rows/a.parquet", "rows/copy.parquet"):
        frame.write_parquet(name)
    with pytest.raises(FormatError, match=r"^one\.parquet: is given twice, .*: give each file once"):
        as_table(["one.parquet", "rows/a.parquet", Path("one.parquet")])
    with pytest.raises(FormatError, match=r"/one\.parquet: is the same file as one\.parquet, and its rows"):
        as_table(["one.parquet", tmp_path / "one.parquet"])
    with pytest.raises(FormatError, match=r"^rows/\.\./one\.parquet: is the same file as one\.parquet"):
        as_table(["one.parquet", "rows/../one.parquet"])
    assert as_table(["rows/a.parquet", "rows/copy.parquet"]).n_rows == 4
    for link in (os.symlink, os.link):
        link(tmp_path / "one.parquet", "linked.parquet")
        with pytest.raises(FormatError, match=r"^linked\.parquet: is the same file as one\.parquet"):
            as_table(["one.parquet", "linked.parquet"])
        Path("linked.parquet").unlink()
        link(tmp_path / "rows" / "a.parquet", "rows/b.parquet")
        for data in ("rows", "rows/*.parquet", "**/[ab].parquet"):
            with pytest.raises(FormatError, match=r"rows/b\.parquet: is the same file as rows/a\.parquet"):
                as_table(data)
        Path("rows/b.parquet").unlink()
    with pytest.raises(FormatError, match=r"gone\.parquet"):
        as_table(["gone.parquet", "gone.parquet"])
    assert not folders()


@pytest.mark.slow
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch):
    frame = pl.DataFrame({f"x{i}": np.arange(40) % 2 for i in range(6)})
    frame.write_parquet(tmp_path / "1.parquet")
    frame.write_parquet(tmp_path / "2.parquet")
    read, units = sources.Files.read, []

    def changed(self, unit, columns):
        units.append(unit)
        if len(units) == 4:  # the last columns of the second file
            frame[::-1].write_parquet(tmp_path / "2.parquet")
        return read(self, unit, columns)

    monkeypatch.setattr(sources.Files, "read", changed)
    with pytest.raises(FormatError, match=r"2\.parquet.*was changed while it was read"):
        as_table(tmp_path)
    assert not folders()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayescout.BayescoutWarning")
def test_a_number_may_be_whole_in_one_file_and_not_in_another(tmp_path):
    one, two = pl.DataFrame({"a": [1, 2, 1, 2]}), pl.DataFrame({"a": [1.0, None, 2.0, 1.0]})
    one.write_parquet(tmp_path / "1.parquet")
    two.write_parquet(tmp_path / "2.parquet")
    same(
        as_table(tmp_path, missing="drop", kinds="discrete"),
        as_table(pl.concat([one.cast(pl.Float64), two]), missing="drop", kinds="discrete"),
    )


@pytest.mark.slow
def test_what_would_not_fit_is_said_before_it_starts(tmp_path, monkeypatch):
    folder = written(tmp_path / "rows", mixed_frame().select("text", "few"), ())
    with pytest.raises(TooLargeError, match="this process holds"):
        as_table(folder, memory="10 MB")
    for wrong in ("much", "2 XB", 0, -1, True):
        with pytest.raises(SettingError, match="memory must be"):
            as_table(folder, memory=wrong)
    with pytest.raises(SettingError, match="cannot have weights"):
        as_table(folder, weights="few")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 10, 1000))
    with pytest.raises(TooLargeError, match=r"301 rows by 2 columns, past memory, take .* on disk"):
        as_table(folder)
    assert not folders()


def test_what_can_be_read_but_once_is_refused_with_what_to_give():
    arrow = pa.table({"x": ["a", "b"]})
    connection = duckdb.connect()
    for data, said in (
        (connection.execute("select 1"), "as a relation, which can be read again: connection.sql"),
        (pa.dataset.dataset(arrow).scanner(), "Arrow dataset itself"),
        ((str(i) for i in range(2)), "a list of it"),
    ):
        with pytest.raises(DataError, match=f"cannot read data from a .*{said}"):
            as_table(data)


@pytest.mark.slow
def test_no_files_and_other_files_are_refused(tmp_path):
    with pytest.raises(FormatError, match="folder without files"):
        as_table(tmp_path)
    with pytest.raises(FormatError, match="no file has a name"):
        as_table(f"{tmp_path}/*.parquet")
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(FormatError, match="write text as"):
        as_table(f"{tmp_path}/*.csv")
    with pytest.raises(SettingError, match="text is read into memory"):
        as_table(tmp_path / "a.csv", memory=LIMIT)
    pl.DataFrame({"a": pl.Series([], dtype=pl.String)}).write_parquet(tmp_path / "e.parquet")
    with pytest.raises(FormatError, match="no rows"):
        as_table(tmp_path)
    with pytest.raises(DataError, match="no rows"):
        as_table(pl.LazyFrame({"a": pl.Series([], dtype=pl.String)}))


@pytest.mark.slow
def test_what_tools_put_beside_the_rows_is_not_read(tmp_path):
    frame = pl.DataFrame({"a": ["x", "y"], "b": [1, 2]})
    for name in ("1.parquet", "._1.parquet", ".checkpoints/1.parquet", "_old/2.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        frame.write_parquet(tmp_path / name)
    with pytest.warns(bs.BayescoutWarning, match="3 of its files are left out"):
        assert as_table(tmp_path).n_rows == 2
    assert as_table([tmp_path / "1.parquet", tmp_path / "_old" / "2.parquet"]).n_rows == 4
    (tmp_path / "_delta_log").mkdir()
    for source in (tmp_path, f"{tmp_path}/*.parquet"):
        with pytest.raises(FormatError, match=r"Delta table.*polars\.scan_delta"):
            as_table(source)
    assert as_table([tmp_path / "1.parquet"]).n_rows == 2


@pytest.mark.slow
def test_columns_in_the_names_of_folders_are_told_of(tmp_path):
    frame = pl.DataFrame({"a": ["x", "y"], "b": [1, 2]})
    for year in (2020, 2021):
        (tmp_path / "run=1" / f"year={year}").mkdir(parents=True)
        frame.write_parquet(tmp_path / "run=1" / f"year={year}" / "1.parquet")
    for source in (tmp_path, f"{tmp_path}/**/*.parquet"):
        with pytest.warns(bs.BayescoutWarning, match="folders are named by 'year'"):
            assert as_table(source).names == ("a", "b")
    found = as_table(pl.scan_parquet(tmp_path, hive_partitioning=True), columns=["a", "year"])
    assert found.names == ("a", "year")


def test_what_needs_all_rows_in_memory_says_so(tmp_path, monkeypatch):
    disk = stored_copy(discrete(500, (2, 3, 4)))
    assert disk.take(np.arange(3)).n_rows == 3  # small enough to be loaded
    monkeypatch.setattr(disk, "budget", budget.Budget(1000, 0), raising=False)
    assert repr(disk) == "<Table: 500 rows, 3 columns (3 discrete, 0 continuous)>"  # which reads none
    for call in (
        lambda: disk.codes,
        lambda: disk.take(np.arange(3)),
        lambda: as_table(disk, kinds="discrete"),
    ):
        with pytest.raises(TooLargeError, match="needs all 500 rows by 3 columns in memory"):
            call()


@pytest.mark.filterwarnings("ignore::bayescout.BayescoutWarning")
def test_work_on_all_rows_is_refused_by_what_it_takes_beside_them(tmp_path, monkeypatch):
    table = both_kinds(5000, unit=1.0)
    disk = stored_copy(table)
    network = bs.fit(bs.Dag.empty(table.names), table)
    monkeypatch.setattr(
        disk, "budget", budget.Budget(550_000, 0), raising=False
    )  # 4 times the cells, and more
    assert disk.codes.shape == table.codes.shape
    for call in (
        disk.to_polars,
        disk.to_pandas,
        disk.to_dict,
        lambda: disk.take(np.arange(5000)),
        lambda: network.log_likelihood(disk),
        lambda: bs.discretise(disk),
        lambda: bs.Discretiser((("x", (0.0,)),)).apply(disk),
    ):
        with pytest.raises(TooLargeError, match=r"5,000 rows by . columns in memory"):
            call()
    assert disk.take(np.arange(10)).n_rows == 10


def test_resamples_and_folds_keep_the_limit(tmp_path, monkeypatch):
    folder = written(tmp_path / "rows", bs.load_network("asia").sample(300, seed=1).to_polars(), (100,))
    for call in (bs.bootstrap, bs.cross_validate):
        with pytest.raises(TooLargeError, match="but this process holds"):
            call(folder, search="hill-climb", score="bic", memory="1 MB")
    found = bs.bootstrap(folder, 2, "hill-climb", "bic", memory=LIMIT)
    monkeypatch.setattr(scan, "CELL", 6)
    assert found.table() == bs.bootstrap(folder, 2, "hill-climb", "bic").table()


def test_sizes_are_read_and_written():
    assert [budget.in_bytes(text) for text in ("2 GB", "1.5GiB", "500mb", 7)] == [
        2 * 10**9,
        3 << 29,
        5 * 10**8,
        7,
    ]
    assert [budget.in_units(size) for size in (12, 1500, 7.4e9, 2.5e12)] == [
        "12 bytes",
        "1.5 kB",
        "7.4 GB",
        "2,500 GB",
    ]


def test_pages_of_files_count_as_free_in_a_container(tmp_path, monkeypatch):
    monkeypatch.setattr(budget, "GROUP", tmp_path)
    assert budget.group_room() is None
    for name, said in (
        ("max", "1000\n"),
        ("current", "900\n"),
        ("stat", "anon 300\nfile 600\ninactive_file 450\nactive_file 50\n"),
    ):
        (tmp_path / f"memory.{name}").write_text(said)
    assert budget.group_room() == budget.available() == 600
    (tmp_path / "memory.max").write_text("max\n")
    assert budget.group_room() is None


# ---- the folder


def test_the_folder_goes_with_the_last_table_over_it(tmp_path):
    disk = stored_copy(discrete(500, (2, 3, 4)))
    assert disk.folder.size >= 500 * 3
    assert len(folders()) == 1
    taken = disk.select(["x2"])
    del disk
    gc.collect()
    assert len(folders()) == 1
    assert taken.fingerprint
    del taken
    gc.collect()
    assert not folders()


def test_folders_left_behind_are_removed_and_others_stay(tmp_path):
    home = cache.root()
    home.mkdir()
    (home / "mine").mkdir()
    for name, journal in (("run-0123456789abcdef", False), ("0123456789abcdef01234567", True)):
        (home / name).mkdir()
        (home / name / "lock").touch()
        if journal:
            (home / name / "journal.json").write_text("{}")
    disk = stored_copy(discrete(50, (2, 3)))
    assert folders() == sorted([disk.folder.path.name, "mine", "0123456789abcdef01234567"])
    old = home / "0123456789abcdef01234567" / "journal.json"
    os.utime(old, (0, 0))
    other = stored_copy(discrete(51, (2, 3)))
    assert folders() == sorted([disk.folder.path.name, other.folder.path.name, "mine"])
    assert cache.clear() == 0


def test_a_second_process_with_the_same_rows_has_a_folder_of_its_own(tmp_path):
    table = discrete(50, (2, 3))
    pl.DataFrame(table.to_dict()).write_parquet(tmp_path / "a.parquet")
    one, two = (as_table(tmp_path / "a.parquet", memory=LIMIT) for _ in range(2))
    assert one.folder.path != two.folder.path
    assert one.fingerprint == two.fingerprint


# ---- doors


@pytest.mark.slow
def test_small_data_stay_in_memory(tmp_path, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("BAYESCOUT_CACHE", str(tmp_path / "cache"))
    frame = mixed_frame().select("text", "few", "floats")
    folder = written(tmp_path / "rows", frame, (100,))
    for data in (folder, pl.scan_parquet(folder / "*.parquet"), pa.dataset.dataset(folder)):
        table = as_table(data)
        assert not isinstance(table, StoredTable)
        assert table.fingerprint == as_table(frame).fingerprint
    assert not folders()


@pytest.mark.slow
def test_the_command_line_takes_folders_and_a_limit(tmp_path):
    folder = written(tmp_path / "rows", bs.load_network("asia").sample(400, seed=2).to_polars(), (150,))
    answers = []
    for more in ([], ["--memory", LIMIT]):
        arguments = [
            "learn",
            str(folder / "*.parquet"),
            "--search",
            "hill-climb",
            "--score",
            "bic",
            "--json",
            *more,
        ]
        done = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert done.exit_code == 0
        answers.append(json.loads(done.stdout))
    assert answers[0]["arcs"] == answers[1]["arcs"] == [list(arc) for arc in _arcs(folder)]


def _arcs(folder: Path):
    return bs.learn(pl.read_parquet(folder / "*.parquet"), "hill-climb", "bic").dag.arcs()


def test_blocks_have_every_row_once(tmp_path):
    table = discrete(1000, (2, 3, 4))
    disk = stored_copy(table)
    blocks = [block.copy() for block in disk.blocks([2, 0], 300)]
    assert [block.shape for block in blocks] == [(2, 300), (2, 300), (2, 300), (2, 100)]
    assert (np.concatenate(blocks, axis=1) == table.codes[[2, 0]]).all()
    assert stored.BLOCK_ROWS % 64 == 0
