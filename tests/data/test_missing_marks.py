"""What the user declares to mean missing is found in every kind of column, or said to be nowhere."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.data import as_table, read_table
from bayescout.errors import BayescoutWarning

pytestmark = pytest.mark.filterwarnings("ignore:.* rows are left out, as they have missing values")

COLUMNS = {"n": [1, 2, -999, 1, 2], "f": [0.5, -999.0, 1.5, 0.5, 2.5], "s": ["a", "b", "a", "b", "b"]}
FRAMES = {
    "dict": lambda columns: columns,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "arrays": lambda columns: {name: np.array(cells) for name, cells in columns.items()},
}


@pytest.mark.parametrize("declared", ["-999", -999, -999.0, np.int64(-999), "-999.0", " -999"])
@pytest.mark.parametrize("frame", FRAMES)
def test_a_declared_number_or_its_text_matches_numbers(frame, declared):
    table = as_table(FRAMES[frame](COLUMNS), missing="drop", missing_values=[declared])
    assert table.missing.counts == (("n", 1), ("f", 1))
    assert table.kinds == ("discrete", "continuous", "discrete")
    assert table.to_dict() == {"n": [1, 1, 2], "f": [0.5, 0.5, 2.5], "s": ["a", "b", "b"]}


@pytest.mark.parametrize("declared", ["-999", -999, "-999.0"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_in_files_too(tmp_path, ending, declared):
    path = tmp_path / f"d.{ending}"
    frame = pl.DataFrame(COLUMNS)
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "arrow": frame.write_ipc}[ending](path)
    table = read_table(path, missing="drop", missing_values=[declared])
    assert table.missing.counts == (("n", 1), ("f", 1))
    assert table.to_dict() == {"n": [1, 1, 2], "f": [0.5, 0.5, 2.5], "s": ["a", "b", "b"]}


def test_a_mark_written_otherwise_does_not_decide_the_type(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("n,t,w\n" + "1,a,0\n2,-999.0,1\n-999.0,-999,2\n1,b,3\n" + "".join(
        f"1,a,{k}\n" for k in [*range(5, 200), "-999.000"]
    ))  # fmt: skip
    table = read_table(path, missing="drop", missing_values=["-999"])
    assert table.kinds == ("discrete", "discrete", "continuous")
    # a column of text has the text as it is written, and only that
    assert table.missing.counts == (("n", 1), ("t", 1), ("w", 1))
    assert table.states[:2] == ((1, 2), ("-999.0", "a", "b"))


@given(cells=st.lists(st.sampled_from(["1", "2", "-999", "-999.0", "-9.99e2", "7"]), min_size=2, max_size=9))
def test_only_the_other_texts_say_what_a_column_is(tmp_path_factory, cells):
    path = tmp_path_factory.getbasetemp() / "marks.csv"
    path.write_text("k,x\n" + "".join(f"0,{cell}\n" for cell in [*cells, "1", "2"] * 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)
        table = read_table(path, missing="state", missing_values=["-999"])
    expected = [cell if float(cell) != -999 else "missing" for cell in [*cells, "1", "2"] * 5]
    assert [str(cell) for cell in table.column("x")] == expected


def test_large_integers_are_compared_exactly():
    """As floats the two would be one number."""
    cells, absent = [2**53, 2**53 + 1, 0], [str(2**53 + 1)]
    table = as_table({"x": cells}, missing="drop", kinds="discrete", missing_values=absent)
    assert table.column("x") == [2**53, 0]


def test_an_integer_beyond_every_float_matches_nothing():
    with pytest.warns(BayescoutWarning, match="occurs in no cell"):
        assert as_table({"x": [0.5, 1.5]}, missing_values=[10**400]).n_rows == 2


def test_true_is_not_one():
    with pytest.warns(BayescoutWarning, match="value '1' occurs in no cell"):
        table = as_table({"x": [True, False]}, missing_values=["1"])
    assert table.column("x") == [True, False]


def test_a_mark_among_floats_leaves_them_continuous():
    table = as_table({"x": [0.5, "?", 1.5]}, missing="drop", missing_values=["?"])
    assert table.kinds == ("continuous",)
    assert table.column("x") == [0.5, 1.5]


@pytest.mark.parametrize("frame", [lambda c: c, pd.DataFrame, pl.DataFrame])
def test_a_declared_value_that_no_cell_has_is_said(frame):
    with pytest.warns(BayescoutWarning, match=r"missing values '\?', 'NA' occur in no cell of the data"):
        as_table(frame({"a": ["x", "y"], "b": ["-", "x"]}), missing="drop", missing_values=["?", "-", "NA"])


def test_in_a_file_too_and_the_empty_cell_needs_no_declaring(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,b\nx,1\ny,2\n")
    with pytest.warns(BayescoutWarning, match=r"missing value '\?' occurs in no cell") as caught:
        read_table(path, missing_values=["", "?", None])
    assert len(caught) == 1


def test_a_mark_in_a_column_of_many_numbers_is_found(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("x\n" + "".join(f"{k}\n" for k in range(0, 600, 2)) + "NA\n-1e3\n")
    for kinds in (None, "continuous"):
        table = read_table(path, kinds=kinds, missing="drop", missing_values=["NA", "-1000"])
        assert (table.kinds, table.n_rows) == (("continuous",), 300)


CATEGORICAL = {
    "pandas": lambda cells, names: pd.DataFrame({"x": pd.Categorical(cells, categories=names)}),
    "polars": lambda cells, names: pl.DataFrame({"x": pl.Series(cells, dtype=pl.Enum(names))}),
    "pyarrow": lambda cells, names: pa.table({
        "x": pa.DictionaryArray.from_arrays(
            pa.array([None if cell is None else names.index(cell) for cell in cells], pa.int8()), names
        )
    }),
}  # fmt: skip


@pytest.mark.parametrize("gap", [None, "a"])
@pytest.mark.parametrize("kind", CATEGORICAL)
def test_a_declared_category_is_no_state(kind, gap):
    """With an empty cell besides and without, and where no cell has the category."""
    frame = CATEGORICAL[kind](["a", gap, "b", "?"], ["?", "b", "a", "c"])
    table = as_table(frame, missing="drop", missing_values=["?"])
    assert table.states == (("b", "a", "c"),)
    assert table.column("x") == (["a", "b"] if gap is None else ["a", "a", "b"])
    unused = as_table(CATEGORICAL[kind](["a", "b", gap], ["?", "b", "a"]), missing="drop", missing_values="?")
    assert unused.states == (("b", "a"),)


@pytest.mark.parametrize("kind", CATEGORICAL)
def test_a_category_that_does_not_occur_may_be_left_undeclared(kind):
    frame = CATEGORICAL[kind](["a", "b", "a"], ["a", "b", "c"])
    assert as_table(frame, states={"x": ["b", "a"]}).states == (("b", "a"),)


def test_a_null_in_a_dictionary_is_missing():
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a", None]))
    assert as_table(pa.table({"x": coded}), missing="drop", states={"x": ["a"]}).column("x") == ["a", "a"]
    assert as_table(pa.table({"x": coded}), missing="drop").states == (("a",),)
