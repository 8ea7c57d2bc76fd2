"""Write then read is the identity, or nothing is written."""

from __future__ import annotations

import datetime
import io
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayescout.data import as_table, read_table, write_table
from bayescout.data.write import write_csv
from bayescout.errors import DataError, FormatError
from tests.strategies import tables

FORMATS = ["csv", "tsv", "csv.gz", "parquet", "arrow", "dat"]
quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)


def content(table, extension):
    """Names, kinds and typed cells: all that a file promises to keep; in text booleans are texts."""
    text = extension not in ("parquet", "arrow")
    columns = {
        n: [(str, str(cell)) if text and type(cell) is bool else (type(cell), cell) for cell in cells]
        for n, cells in table.to_dict().items()
    }
    return table.names, table.kinds, columns


@pytest.mark.filterwarnings("ignore:constant columns", "ignore:column .* is read as")
@pytest.mark.parametrize("extension", FORMATS)
@quick
@given(table=tables(labels=names))
def test_reading_gives_back_what_was_written_or_nothing_was(tmp_path, extension, table):
    path = tmp_path / f"data.{extension}"
    path.unlink(missing_ok=True)
    weights = "the weights"
    try:
        write_table(table, path, weights=weights)
    except DataError:
        assert os.listdir(tmp_path) == []
        return
    kinds = dict(
        zip(table.names, table.kinds, strict=True)
    )  # six distinct values in six rows are else left out
    back = read_table(path, kinds=kinds, weights=None if table.weights is None else weights)
    assert content(back, extension) == content(table, extension)
    assert (back.weights is None) == (table.weights is None)
    if table.weights is not None:
        assert back.weights.tolist() == table.weights.tolist()


@pytest.mark.parametrize("extension", FORMATS)
def test_kinds_are_found_again(tmp_path, extension):
    table = as_table({"s": ["x", "y", "x", "y", "x"], "n": [1, 2, 1, 2, 3], "b": [True, False] * 2 + [True],
                      "f": [1.0, 2.0, 3.0, 4.0, 5.5]})  # fmt: skip
    table.save(tmp_path / f"d.{extension}")
    back = read_table(tmp_path / f"d.{extension}")
    assert content(back, extension) == content(table, extension)
    if extension in ("parquet", "arrow"):
        assert back.fingerprint == table.fingerprint
    else:  # the texts are found as the states that they stand for
        again = read_table(tmp_path / f"d.{extension}", states={"b": [False, True]})
        assert again.fingerprint == table.fingerprint


@pytest.mark.parametrize("extension", ["parquet", "arrow"])
def test_columnar_files_keep_the_order_of_text_states_and_absent_ones(tmp_path, extension):
    table = as_table({"s": ["lo", "hi"]}, states={"s": ["lo", "mid", "hi"]})
    table.save(tmp_path / f"d.{extension}")
    assert read_table(tmp_path / f"d.{extension}").fingerprint == table.fingerprint


def test_parquet_keeps_dates(tmp_path):
    days = [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)]
    as_table({"d": days}, kinds="discrete").save(tmp_path / "d.parquet")
    assert read_table(tmp_path / "d.parquet").column("d") == days


@pytest.mark.parametrize(
    ("columns", "extension", "message"),
    [
        ({"x": ["1", "2"]}, "dat", "'1' .str. would be read back as 1"),
        ({"x": ["NA", "b"]}, "dat", "'NA', which means missing in a data file"),
        ({"x;": ["1", "2"]}, "csv", "quotes would say nothing"),
        ({"x": ["", "a"]}, "csv", "an empty cell means a missing value"),
        ({"x": ["a\rb", "a"]}, "csv", "carriage return"),
        ({"x": ["a b", "a"]}, "dat", "white space"),
        ({"x,y": ["b", "a"]}, "dat", "comma"),
        ({"x": [(1,), (2,)]}, "csv", "tuple"),
        ({"x": [(1,), (2,)]}, "parquet", "convert them to strings"),
        ({"x": [1, "a"]}, "csv", "would be read back as"),
        ({"x": [1, "a"]}, "parquet", "convert them to strings"),
        ({0: ["a", "b"]}, "csv", "0 is not a non-empty string"),
        ({"": ["a", "b"]}, "parquet", "'' is not a non-empty string"),
        ({"x": ["\ud800", "b"]}, "csv", "not valid UTF-8"),
    ],
)
def test_what_a_format_cannot_hold_is_refused_before_writing(tmp_path, columns, extension, message):
    with pytest.raises(DataError, match=message):
        write_table(as_table(columns, kinds="discrete"), tmp_path / f"d.{extension}")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_numbers_that_would_come_back_as_the_other_kind_are_refused_or_noted(tmp_path, extension):
    with pytest.raises(DataError, match="'x'"):
        write_table(as_table({"x": [0.5, 1.5]}, kinds="discrete"), tmp_path / f"d.{extension}")
    path = tmp_path / f"d.{extension}"
    for cells, kind in (
        (list(range(101)), "discrete"),
        ([2000, 2010, 2020], "discrete"),
        ([0.0, 1.0], "continuous"),
    ):
        table = as_table({"x": cells}, kinds=kind)
        if extension == "csv":
            with pytest.raises(DataError, match=r"'x' .* would be read back as"):
                write_table(table, path)
        else:
            write_table(table, path)
            assert read_table(path).fingerprint == table.fingerprint
            assert read_table(path).columns[0].reason == "as the file was written"


def test_states_that_usually_mean_missing_are_written_in_quotes(tmp_path):
    """As pathfinder's are: read again they are states, and not missing."""
    table = as_table({"x": ["NA", "Yes", "NA", "No"], "y": [1, 2, 1, 2]})
    table.save(tmp_path / "d.csv")
    assert (tmp_path / "d.csv").read_text().splitlines()[:2] == ["x,y", '"NA",1']
    assert read_table(tmp_path / "d.csv").fingerprint == table.fingerprint


def test_weights_need_a_name(tmp_path):
    table = as_table({"x": ["a", "b"]}, weights=[1, 2])
    with pytest.raises(DataError, match="row weights"):
        table.save(tmp_path / "d.csv")
    table.save(tmp_path / "d.csv", weights="w")
    assert (tmp_path / "d.csv").read_text() == "x,w\na,1.0\nb,2.0\n"


def test_paths_that_cannot_be_written(tmp_path):
    table = as_table({"x": ["a", "b"]})
    with pytest.raises(FormatError, match="does not exist"):
        table.save(tmp_path / "nowhere" / "d.csv")
    with pytest.raises(FormatError, match=r"unknown extension '\.xls'"):
        table.save(tmp_path / "d.xls")
    assert os.listdir(tmp_path) == []


def test_many_rows_are_written_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("bayescout.data.write.ROWS_AT_ONCE", 3)
    table = as_table({"x": ["a", "b"] * 5, "f": np.arange(10) / 8})
    table.save(tmp_path / "d.csv")
    assert read_table(tmp_path / "d.csv").fingerprint == table.fingerprint


def test_equal_tables_give_equal_files(tmp_path):
    table = as_table({"x": ["a", "b"] * 5, "f": np.arange(10) / 8})
    for extension in FORMATS:
        for name in ("one", "two"):
            table.save(tmp_path / f"{name}.{extension}")
        assert (tmp_path / f"one.{extension}").read_bytes() == (tmp_path / f"two.{extension}").read_bytes()


def test_a_broken_pipe_is_raised_as_such():
    ends = os.pipe()
    os.close(ends[0])
    table = as_table({"a": ["x", "y"] * 5000, "b": np.arange(10_000) / 8})
    with pytest.raises(BrokenPipeError), os.fdopen(ends[1], "wb", buffering=0) as stream:
        write_csv(table, stream)


def test_a_pipe_that_breaks_after_the_header_is_raised_as_such():
    class Closing(io.BytesIO):
        def write(self, data):
            if self.tell():
                raise BrokenPipeError(32, "Broken pipe")
            return super().write(data)

    with pytest.raises(BrokenPipeError):
        write_csv(as_table({"a": ["x", "y"]}), Closing())
