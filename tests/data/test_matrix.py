"""Many columns of floats are read in blocks, and as column by column; float32 stays float32."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bayescout as bs
from bayescout.data import as_table, matrix, memory, read_table
from bayescout.errors import BayescoutWarning, DataError, FormatError, TooLargeError
from bayescout.search.frame.canonical import canonical_order
from bayescout.statistics.columns import ColumnCovariance
from tests.reference.kernels import uncompiled

P = 70
NAMES = [f"g{i}" for i in range(P)]


def cells(rows=30, kind=np.float32, seed=0):
    """(rows, P) numbers with decimals."""
    return np.random.default_rng(seed).normal(size=(rows, P)).astype(kind)


def awkward(kind=np.float64):
    """The same with columns that are not plainly measured."""
    found = cells(30, kind)
    found[:, 3] = 1.5  # constant
    found[:, 4] = np.arange(30)  # counts the rows
    found[:, 5] = np.arange(30) % 2
    found[:, 6] = np.arange(30) % 3 + 0.5
    found[:, 7] = np.round(10 * found[:, 7])
    found[:25, 8] = 0
    found[:, 9] = np.repeat([1e300 if kind is np.float64 else 1e30, 2.5], 15)
    return found


def told(table):
    return (table.names, table.states, table.missing, table.notes, table.fingerprint, table.columns)


def read_alone(monkeypatch, data, **options):
    """The table of columns that are read one by one."""
    with monkeypatch.context() as patch:
        patch.setattr(matrix, "MANY_COLUMNS", P + 1)
        return as_table(data, **options)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("made", [cells, awkward])
@pytest.mark.parametrize("block", [64, 1 << 20])
def test_blocks_are_read_as_single_columns_are(monkeypatch, kind, made, block):
    data = made(kind=kind)
    monkeypatch.setattr(matrix, "BLOCK_CELLS", block)
    with pytest.warns(BayescoutWarning) if made is awkward else warnings.catch_warnings() as said:
        one = as_table(data)
    with pytest.warns(BayescoutWarning) if made is awkward else warnings.catch_warnings() as before:
        other = read_alone(monkeypatch, data)
    assert told(one) == told(other)
    assert [str(w.message) for w in said or []] == [str(w.message) for w in before or []]
    assert (one.values.dtype, other.values.dtype) == (kind, np.float64)
    assert np.array_equal(one.doubles(), other.values)
    assert canonical_order(one) == canonical_order(other)


@pytest.mark.parametrize(
    "frame",
    [
        lambda x: pd.DataFrame(x, columns=NAMES),
        lambda x: pl.DataFrame(x, schema=NAMES),
        lambda x: pa.table(dict(zip(NAMES, x.T, strict=True))),
        lambda x: pd.DataFrame(dict(zip(NAMES, x.T, strict=True))),
    ],
)
def test_frames_of_float32_stay_so(frame):
    data = cells()
    table = as_table(frame(data))
    assert table.names == tuple(NAMES)
    assert table.values.dtype == np.float32
    assert np.array_equal(table.values, data.T)
    assert table.fingerprint == as_table(frame(data.astype(np.float64))).fingerprint


@pytest.mark.parametrize("policy", ["keep", "drop"])
def test_missing_cells_are_as_in_other_tables(monkeypatch, policy):
    data = cells()
    data[4, 7] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)
        one, other = as_table(data, missing=policy), read_alone(monkeypatch, data, missing=policy)
    assert told(one) == told(other)
    assert one.values.dtype == np.float64
    data[5, 8] = np.inf
    with (
        pytest.raises(DataError, match=r"column 8 holds inf in row 5"),
        warnings.catch_warnings(action="ignore", category=BayescoutWarning),
    ):
        as_table(data, missing=policy)


def test_a_table_does_not_change_with_the_array_it_came_from():
    data = np.asfortranarray(cells())
    frozen = data.view()
    frozen.flags.writeable = False
    for given in (data, frozen):
        table = as_table(given)
        before = table.fingerprint
        data[0, 0] += 1
        assert as_table(given).fingerprint != before == bs.Table.fingerprint.func(table)


def test_a_mapped_array_in_the_order_of_columns_is_not_copied(tmp_path):
    path = tmp_path / "cells.npy"
    np.save(path, np.asfortranarray(cells()))
    table = read_table(path)
    assert matrix.never_changes(table.values)
    assert np.array_equal(table.values, cells().T)


@pytest.mark.parametrize("kind", ["npy", "parquet", "arrow"])
@pytest.mark.parametrize("ours", [True, False])
def test_files_come_back(tmp_path, kind, ours):
    path, data = tmp_path / f"x.{kind}", cells(500)
    if kind == "npy":
        np.save(path, data)
    elif ours:
        as_table(pl.DataFrame(data, schema=NAMES)).save(path)
    else:
        frame = pl.DataFrame(data, schema=NAMES)
        frame.write_parquet(path, row_group_size=100) if kind == "parquet" else frame.write_ipc(path)
    table = read_table(path)
    assert np.array_equal(table.doubles(), data.T.astype(np.float64))
    assert table.names == (tuple(range(P)) if kind == "npy" else tuple(NAMES))
    assert not ours or kind == "npy" or table.columns[0].reason == "as the file was written"


def test_missing_cells_in_a_file_of_floats(tmp_path):
    frame = pl.DataFrame(cells(), schema=NAMES).with_columns(g3=pl.lit(None, dtype=pl.Float32))
    frame = frame.with_columns(g2=pl.when(pl.col("g2") > 0).then(pl.col("g2")))
    frame.write_parquet(tmp_path / "x.parquet")
    with pytest.warns(BayescoutWarning, match=r"'g3' \(no values\)"):
        table = read_table(tmp_path / "x.parquet")
    with pytest.warns(BayescoutWarning, match=r"'g3' \(no values\)"):
        assert told(table) == told(as_table(frame))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\x93NUMPY\x01\x00v\x00{'descr'", "cannot be read as an array of NumPy"),
        (b"not an array", "holds no array of numbers; Python objects are not read"),
        (np.zeros(3), r"an array of shape \(3,\) of float64"),
        (np.zeros((2, 2), dtype="U3"), "needed are two dimensions"),
        (np.zeros((0, 2)), "it is empty"),
        (np.array([[1, None]], dtype=object), "Python objects are not read"),
    ],
)
def test_what_is_no_array_of_numbers_is_refused(tmp_path, content, said):
    path = tmp_path / "bad.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content, allow_pickle=True)
    with pytest.raises(FormatError, match=said) as error:
        bs.learn(str(path))
    assert str(path) in str(error.value)


def test_small_arrays_in_files_are_read_as_any_table(tmp_path):
    data = np.arange(40).reshape(20, 2) % 3
    np.save(tmp_path / "x.npy", data)
    table = read_table(tmp_path / "x.npy", kinds={1: "continuous"})
    assert table.names == (0, 1)
    assert table.kinds == ("discrete", "continuous")
    assert read_table(tmp_path / "x.npy").fingerprint == as_table(data).fingerprint


def test_columns_that_memory_cannot_hold_are_refused_before(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "free", lambda: 1000.0)
    with pytest.raises(TooLargeError, match=r"70 columns of 30 rows of float32 take 0\.0 GB"):
        as_table(cells())
    pl.DataFrame(cells(), schema=NAMES).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(TooLargeError, match="70 columns of 30 rows"):
        read_table(tmp_path / "x.parquet")


@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_correlations_of_float32_are_those_of_the_same_numbers_in_float64(shift):
    data = cells(50) + np.float32(shift)
    one, two = (ColumnCovariance(as_table(data.astype(kind))) for kind in (np.float32, np.float64))
    assert one.values.dtype == np.float32
    families = [(v, (v - 1, v - 7)) for v in range(10, 40)]
    assert np.array_equal(one.many(families).residuals, two.many(families).residuals)
    assert np.array_equal(one.unit(3, 9), two.unit(3, 9))
    assert one.unit(0, P).dtype == np.float32


def test_float32_is_learned_as_the_same_numbers_in_float64():
    data = cells(60)
    data[:, 1::2] += data[:, ::2]
    with uncompiled():
        one, two = (bs.learn(data.astype(kind), screen="arc") for kind in (np.float32, np.float64))
        dense = [
            bs.learn(data.astype(kind), "hill-climb", screen="none") for kind in (np.float32, np.float64)
        ]
    assert (one.dag, one.score, one.cpdag) == (two.dag, two.score, two.cpdag)
    assert one.table.values.dtype == np.float32
    assert repr(one.fit().distributions) == repr(two.fit().distributions)
    assert dense[0].score == dense[1].score
