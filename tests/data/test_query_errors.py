"""What fails inside a lazy frame, a relation or a dataset is one line, with the words of its own library."""

from __future__ import annotations

import duckdb
import narwhals as nw
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import bayescout as bs
from bayescout.data import as_table
from bayescout.data.encode import column_names
from bayescout.data.past import batches, cache, scan
from bayescout.errors import DataError, TooLargeError

FRAME = pl.DataFrame({"a": ["x", "y", "x", "y"] * 100, "b": ["1", "2", "3", "2"] * 99 + ["1", "2", "z", "2"]})


@pytest.fixture(autouse=True, params=["in memory", "past memory"])
def place(request, monkeypatch, tmp_path):
    """Rows are read into memory as one frame, or in batches to the disk."""
    monkeypatch.setenv("BAYESCOUT_CACHE", str(tmp_path / "cache"))
    if request.param == "past memory":
        monkeypatch.setattr(scan, "CELL", 1 << 50)
        monkeypatch.setattr(scan, "FLOAT", 1 << 50)
        monkeypatch.setattr(batches, "BATCH_ROWS", 50)


def refused(data, *said, cause):
    """The one line with which the data are refused; nothing is left on the disk."""
    with pytest.raises(DataError) as caught:
        as_table(data)
    text = str(caught.value)
    assert "\n" not in text
    for words in said:
        assert words in text
    assert isinstance(caught.value.__cause__, cause)
    assert not cache.root().is_dir() or not list(cache.root().iterdir())
    return text


def failing(_):
    raise RuntimeError("a mistake\nof the user's")


def test_a_lazy_frame_that_fails(tmp_path):
    said = "the lazy frame of Polars cannot be read: "
    wrong = FRAME.lazy().select("a", "nope")
    refused(
        wrong,
        said + 'unable to find column "nope"',
        "so that its .collect() works",
        cause=pl.exceptions.PolarsError,
    )
    number = pl.col("b").cast(pl.Int64)
    text = refused(
        FRAME.lazy().with_columns(number),
        said,
        "to `i64` failed in column 'b'",
        cause=pl.exceptions.PolarsError,
    )
    assert "expression" not in text
    refused(nw.from_native(FRAME.lazy().with_columns(number)), said, cause=pl.exceptions.PolarsError)
    own = pl.col("b").map_elements(failing, return_dtype=pl.String)
    refused(FRAME.lazy().with_columns(own), said + "a mistake of the user's", cause=RuntimeError)
    FRAME.write_parquet(tmp_path / "rows.parquet")
    scanned = pl.scan_parquet(tmp_path / "rows.parquet")
    (tmp_path / "rows.parquet").unlink()
    refused(scanned, said, "No such file", "rows.parquet", cause=OSError)
    with pytest.raises(DataError, match="the lazy frame of Polars cannot be read"):
        column_names(wrong)
    with pytest.raises(DataError, match="the lazy frame of Polars cannot be read"):
        bs.learn(wrong)


def test_a_relation_that_fails(tmp_path):
    connection = duckdb.connect()
    connection.register("frame", FRAME.to_arrow())
    connection.execute("create table rows as select * from frame")
    said = "the DuckDB relation cannot be read: "
    relation = connection.sql("select a, cast(b as integer) as b from rows")
    refused(relation, said + "Conversion Error", "'z'", "so that its .fetchall() works", cause=duckdb.Error)
    relation = connection.sql("select a, b from rows").set_alias("mine")
    connection.execute("alter table rows drop column b")
    refused(relation, "the DuckDB relation 'mine' cannot be read: Binder Error", '"b"', cause=duckdb.Error)
    relation = connection.sql("select * from rows")
    connection.execute("drop table rows")
    refused(relation, said + "Catalog Error", "rows", cause=duckdb.Error)
    FRAME.write_parquet(tmp_path / "rows.parquet")
    relation = connection.sql(f"select * from '{tmp_path}/rows.parquet'")
    (tmp_path / "rows.parquet").unlink()
    refused(relation, said + "IO Error", "rows.parquet", cause=duckdb.Error)
    relation = connection.sql("select 1 as a, 2 as b")
    connection.close()
    refused(relation, said + "Connection Error", cause=duckdb.Error)


def test_a_dataset_that_fails(tmp_path):
    FRAME.write_parquet(tmp_path / "rows.parquet")
    dataset = pa.dataset.dataset(tmp_path / "rows.parquet")
    (tmp_path / "rows.parquet").unlink()
    refused(dataset, "the Arrow dataset cannot be read: ", "rows.parquet", cause=OSError)


def test_a_query_without_memory(tmp_path, monkeypatch):
    def full(*_, **__):
        raise MemoryError("no room")

    monkeypatch.setattr(pl.LazyFrame, "collect", full)
    with pytest.raises(TooLargeError, match="Polars takes more memory than there is: no room; ask it for"):
        as_table(FRAME.lazy())


def test_another_lazy_frame_that_fails():
    frame = pytest.importorskip("dask.dataframe").from_pandas(FRAME.to_pandas(), npartitions=2)
    wrong = nw.from_native(frame.astype({"b": int}))
    text = refused(wrong, "DataFrame cannot be read: invalid literal", cause=ValueError)
    assert text.endswith("correct it, so that its evaluation works")


def test_a_query_is_evaluated_as_seldom_as_can_be(monkeypatch):
    """Once for the number of rows and once for the rows, whatever asks for their kind beforehand."""
    seen = []

    def rows(frame):
        seen.append(len(frame))
        return frame

    lazy = FRAME.lazy().map_batches(rows, schema=dict(FRAME.schema), streamable=False)
    assert as_table(lazy).n_rows == len(FRAME)
    assert len(seen) == 2
