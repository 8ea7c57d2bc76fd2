"""Columns of every type that Arrow, polars, pandas and NumPy have: taken exactly, or refused by name."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayescout.data import as_table, read_table
from bayescout.errors import DataError, MissingValueError

HALVES = [Decimal("1.5"), Decimal("2.5"), Decimal("1.5"), Decimal("2.5")]


def run_ends(values):
    return pa.RunEndEncodedArray.from_arrays(pa.array([2, 4], pa.int32()), pa.array(values))


ARROW = {
    "bool": (pa.array([True, False, True, False]), (False, True)),
    "int8": (pa.array([1, 2, 1, 2], pa.int8()), (1, 2)),
    "uint64": (pa.array([1, 2**64 - 1, 1, 1], pa.uint64()), (1, 2**64 - 1)),
    "half": (pa.array(np.array([1.5, 2, 1.5, 2], np.float16)), None),
    "double": (pa.array([1.5, 2.0, 1.5, 2.0]), None),
    "whole_double": (pa.array([1.0, 2.0, 1.0, 2.0]), (1, 2)),
    "string": (pa.array(list("abab")), ("a", "b")),
    "large_string": (pa.array(list("abab"), pa.large_string()), ("a", "b")),
    "string_view": (pa.array(list("abab"), pa.string_view()), ("a", "b")),
    "binary": (pa.array([b"a", b"b", b"a", b"b"]), (b"a", b"b")),
    "fixed_size_binary": (pa.array([b"a", b"b", b"a", b"b"], pa.binary(1)), (b"a", b"b")),
    "date32": (pa.array([0, 1, 0, 1], pa.date32()), (datetime.date(1970, 1, 1), datetime.date(1970, 1, 2))),
    "time64": (pa.array([0, 1, 0, 1], pa.time64("us")), (datetime.time(0), datetime.time(0, 0, 0, 1))),
    "timestamp_us": (
        pa.array([0, 1, 0, 1], pa.timestamp("us")),
        (datetime.datetime(1970, 1, 1), datetime.datetime(1970, 1, 1, 0, 0, 0, 1)),
    ),
    "timestamp_ns": (
        pa.array([1, 2, 1, 2], pa.timestamp("ns")),
        (np.datetime64(1, "ns"), np.datetime64(2, "ns")),
    ),
    "timestamp_far": (
        pa.array([10**13, 1, 1, 1], pa.timestamp("s")),
        (np.datetime64(1, "s"), np.datetime64(10**13, "s")),
    ),
    "duration_ns": (
        pa.array([1, 2, 1, 2], pa.duration("ns")),
        (np.timedelta64(1, "ns"), np.timedelta64(2, "ns")),
    ),
    "decimal32": (pa.array(HALVES, pa.decimal32(5, 1)), None),
    "decimal128": (pa.array(HALVES, pa.decimal128(5, 1)), None),
    "decimal256": (pa.array(HALVES, pa.decimal256(50, 1)), None),
    "decimal_hundreds": (pa.array([Decimal(100), Decimal(200)] * 2, pa.decimal128(5, -2)), (100, 200)),
    "run_ends": (run_ends(["a", "b"]), ("a", "b")),
    "run_ends_float": (run_ends([1.5, 2.5]), None),
    "dictionary": (pa.array(list("abab")).dictionary_encode(), ("a", "b")),
    "dictionary_twice": (
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["b", "a", "b"])),
        ("b", "a"),
    ),
    "dictionary_twice_int": (
        pa.DictionaryArray.from_arrays(pa.array([2, 1, 0, 0], pa.uint8()), pa.array([5, 6, 5])),
        (5, 6),
    ),
    "dictionary_ns": (
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1]), pa.array([1, 2], pa.timestamp("ns"))),
        (np.datetime64(1, "ns"), np.datetime64(2, "ns")),
    ),
    "dictionary_decimal": (
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(HALVES[:3], pa.decimal256(50, 1))),
        (Decimal("1.5"), Decimal("2.5")),
    ),
}


@pytest.mark.parametrize("name", ARROW)
def test_arrow_columns_are_taken_exactly(name):
    array, states = ARROW[name]
    kinds = {"x": "discrete"} if name == "duration_ns" else None  # else they are seconds
    table = as_table({"x": array}, columns=["x"], kinds=kinds)
    assert table.states == (states,)
    assert as_table(pa.table({"x": array}), columns=["x"], kinds=kinds).fingerprint == table.fingerprint
    assert len(table.column("x")) == 4


UNUSABLE = {
    "interval": pa.array([pa.MonthDayNano([1, 2, 3])] * 4),
    "list_view": pa.array([[1], [2], [1], [2]], pa.list_view(pa.int64())),
    "sparse_union": pa.UnionArray.from_sparse(
        pa.array([0, 1, 0, 1], pa.int8()), [pa.array([1, 2, 3, 4]), pa.array(list("abcd"))]
    ),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_arrow_columns_that_cannot_be_taken_are_refused_by_name(name):
    array = UNUSABLE[name]
    with pytest.raises(DataError, match=rf"column 'x' is of the Arrow type .*{name}.*cast it"):
        as_table({"x": array})


@pytest.mark.parametrize(
    "array",
    [
        pa.array([[1], [2], [1], [2]]),
        pa.array([{"a": 1}] * 4),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 1, 0]), pa.array([[1], [2]])),
    ],
    ids=["list", "struct", "dictionary of lists"],
)
def test_nested_columns_are_refused_by_name(array):
    for column in (array, pd.Series(array, dtype=pd.ArrowDtype(array.type))):
        with pytest.raises(DataError, match=r"column 'x' .*not hashable"):
            as_table({"x": column})


def test_times_that_nothing_holds_are_refused():
    for array in (pa.array([1, 2, 1, 2], pa.time64("ns")), pa.array([1, 2, 1, 2], pa.timestamp("ns", "UTC"))):
        with pytest.raises(DataError, match=r"column 'x' is of type .* finer than a microsecond"):
            as_table({"x": array})
    with pytest.raises(DataError, match=r"beyond the years 1 to 9999"):
        as_table({"x": pl.Series([0, 2**62]).cast(pl.Datetime("us", "UTC"))})
    arrow_in_pandas = pd.Series(pa.array([1, 2], pa.time64("ns")), dtype=pd.ArrowDtype(pa.time64("ns")))
    with pytest.raises(DataError, match="finer than a microsecond"):
        as_table({"x": arrow_in_pandas})


@pytest.mark.parametrize("kind", ["discrete", "continuous"])
def test_decimals_are_what_they_are_declared(kind):
    for array in (pa.array(HALVES, pa.decimal256(50, 1)), pa.array(HALVES), pl.Series(HALVES)):
        table = as_table({"x": array}, kinds=kind)
        assert table.kinds == (kind,)
        assert table.column("x") == HALVES


@pytest.mark.parametrize("kind", [pa.decimal32(5, 1), pa.decimal64(5, 1), pa.decimal128(5, 1)])
def test_arrow_decimals_inside_pandas(kind):
    series = pd.Series(pa.array(HALVES, kind), dtype=pd.ArrowDtype(kind))
    assert as_table({"x": series}).column("x") == HALVES


@pytest.mark.parametrize(
    "source",
    [
        pl.Series([1, 2, None, 1000]).cast(pl.Datetime("ns")),
        pa.array([1, 2, None, 1000], pa.timestamp("ns")),
        np.array([1, 2, "NaT", 1000], dtype="M8[ns]"),
        pd.Series(np.array([1, 2, "NaT", 1000], dtype="M8[ns]")),
    ],
    ids=["polars", "arrow", "numpy", "pandas"],
)
def test_nanoseconds_are_not_merged(source):
    table = as_table({"x": source}, kinds="discrete")
    cells = [value for value in table.column("x") if value is not None]
    assert [pd.Timestamp(value).value for value in cells] == [1, 2, 1000]


def test_nanoseconds_survive_a_journey_through_polars():
    times = np.array([1, 2, 1, 1000], dtype="M8[ns]")
    table = as_table({"x": times}, kinds="discrete")
    frame = table.to_polars()
    assert frame.schema["x"] == pl.Datetime("ns")
    assert as_table(frame, kinds="discrete").fingerprint == table.fingerprint


def test_polars_categories_and_enums_have_one_state_a_value():
    cells = ["b", "a", "b", None]
    for dtype, states in ((pl.Categorical, ("a", "b")), (pl.Enum(["b", "c", "a"]), ("b", "c", "a"))):
        table = as_table({"x": pl.Series(cells, dtype=dtype)})
        assert table.states == (states,)
        assert table.column("x") == cells


def test_durations_without_a_unit_are_refused():
    with pytest.raises(DataError, match=r"column 'x' .*not hashable"):
        as_table({"x": np.array([1, 2, 1], dtype="m8")})


def test_complex_nan_is_missing():
    cells = np.array([1 + 1j, complex("nan"), 1 + 1j, 2, complex(0, float("nan"))])
    with pytest.raises(MissingValueError):
        as_table({"a": cells}, missing="error")
    assert as_table({"a": cells}).missing.counts == (("a", 2),)


def test_long_doubles_that_would_become_one_state_are_refused():
    cells = np.array([2**53, 2**53, 1, 1], dtype=np.longdouble)
    assert as_table({"a": cells}, kinds="discrete").states[0] == (1.0, float(2**53))
    if np.finfo(np.longdouble).nmant > 52:
        with pytest.raises(DataError, match="more digits"):
            as_table({"a": cells + np.longdouble(1) * (cells > 1)}, kinds="discrete")


def test_sparse_columns_of_pandas_are_read_as_dense_ones():
    cells = pd.Series(["x", "y", "x", "x"], dtype=pd.SparseDtype(object))
    assert as_table(pd.DataFrame({"a": cells})).states == (("x", "y"),)
    mixed = pd.Series([1.0, Decimal("1"), 1.0, Decimal("1")], dtype=pd.SparseDtype(object))
    with pytest.raises(DataError, match="holds both"):
        as_table(pd.DataFrame({"a": mixed}), kinds="discrete")
    lists = pd.Series([[1], [2]], dtype=pd.SparseDtype(object))
    with pytest.raises(DataError, match="a"):
        as_table(pd.DataFrame({"a": lists}))


def test_numbers_that_are_states_stay_so_in_our_own_columnar_files(tmp_path):
    table = as_table({"a": [3, 1, 2], "b": ["x", "y", "x"]}, kinds={"a": "discrete"})
    for ending in (".parquet", ".arrow"):
        table.save(tmp_path / f"x{ending}")
        assert read_table(tmp_path / f"x{ending}").states == table.states
