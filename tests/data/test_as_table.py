"""Frames, arrays and dicts become tables whose values come back as they went in."""

from __future__ import annotations

import datetime
import enum
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.data import Table, as_table
from bayescout.data.kinds import DISTINCT
from bayescout.errors import BayescoutWarning, DataError, MissingValueError, SettingError, UnknownNameError
from tests.strategies import tables

pytestmark = pytest.mark.filterwarnings("ignore:.* rows are left out, as they have missing values")

BACKENDS = {
    "dict": lambda columns: columns,
    "pandas": pd.DataFrame,
    "pandas objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas nullable": lambda columns: pd.DataFrame(
        {name: pd.array(cells) for name, cells in columns.items()}
    ),
    "pandas categorical": lambda columns: pd.DataFrame(columns).astype("category"),
    "pandas arrow": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "pyarrow dictionary": lambda columns: pa.table(
        {k: pa.array(v).dictionary_encode() for k, v in columns.items()}
    ),
    "arrays": lambda columns: {name: np.array(column) for name, column in columns.items()},
    "series": lambda columns: {name: pl.Series(column) for name, column in columns.items()},
}
CATEGORICAL = ("pandas categorical", "pyarrow dictionary")
CELLS = {
    "text": st.sampled_from(["b", "a", "nan", "NA", "None", "", "é", "1"]),
    "integers": st.integers(-50, 49),
    "booleans": st.booleans(),
}


def typed_cells(column):
    return [(type(cell), cell) for cell in column]


@pytest.mark.filterwarnings("ignore:constant columns")
@pytest.mark.parametrize("backend", BACKENDS)
@given(data=st.data())
def test_discrete_values_come_back_through_every_backend(backend, data):
    rows = data.draw(st.integers(1, 4))
    columns = {
        name: data.draw(st.lists(cells, min_size=rows, max_size=rows)) for name, cells in CELLS.items()
    }
    table = as_table(BACKENDS[backend](columns), kinds=None if backend in CATEGORICAL else "discrete")
    assert table.names == tuple(columns)
    for name, cells in columns.items():
        assert typed_cells(table.column(name)) == typed_cells(cells)
        # categories may come in the order of appearance; every other source sorts
        if backend not in ("pyarrow dictionary",):
            assert table.states[table.index(name)] == tuple(sorted(set(cells)))


@pytest.mark.filterwarnings("ignore:constant columns")
@pytest.mark.parametrize("backend", [b for b in BACKENDS if "categorical" not in b and "dictionary" not in b])
@given(cells=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6))
def test_floats_are_continuous_and_exact(backend, cells):
    table = as_table(BACKENDS[backend]({"x": [*cells, 0.5, 1.5, 2.5]}))
    assert table.kinds == ("continuous",)
    assert table.column("x") == [*cells, 0.5, 1.5, 2.5]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64", "bool", "float32", "float64", "U3"])
def test_array_types(dtype):
    array = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
    table = as_table(array)
    assert table.names == (0, 1)
    whole = int if dtype.startswith("float") else None  # the floats 0 and 1 are codes
    for name in table.names:
        cells = array[:, name].tolist()
        assert typed_cells(table.column(name)) == typed_cells(map(whole, cells) if whole else cells)


@given(
    st.sampled_from(["int8", "uint8", "int64", "uint64"]),
    st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5),
)
def test_integers_at_the_ends_of_their_type(dtype, cells):
    info = np.iinfo(dtype)
    array = np.array([info.min + cell % (int(info.max) - int(info.min) + 1) for cell in cells], dtype=dtype)
    table = as_table({"x": np.append(array, [info.max, info.max - 1])}, kinds="discrete")
    assert typed_cells(table.column("x")) == typed_cells([*array.tolist(), info.max, info.max - 1])


@pytest.mark.filterwarnings("ignore:constant columns")
@given(st.lists(st.text("ab\U0001f600é ", max_size=3), min_size=1, max_size=8), st.sampled_from("<>"))
def test_arrays_of_strings(cells, order):
    cells = [cell.rstrip("\0") for cell in cells] * 2
    table = as_table({"x": np.array(cells, dtype=f"{order}U3")}, kinds="discrete")
    assert table.column("x") == cells
    assert table.states[0] == tuple(sorted(set(cells)))


def test_structured_and_masked_arrays():
    structured = np.array([(1, "a"), (2, "b")], dtype=[("n", int), ("s", "U1")])
    assert as_table(structured).to_dict() == {"n": [1, 2], "s": ["a", "b"]}
    masked = np.ma.array([[1, 2], [7, 3], [2, 1]], mask=[[0, 0], [1, 0], [0, 0]])
    table = as_table(masked, missing="drop")
    assert table.to_dict() == {0: [1, 2], 1: [2, 1]}
    assert table.missing.counts == ((0, 1),)


def test_labels_of_any_type_are_kept():
    frame = pd.DataFrame([[1, 2, 3], [2, 1, 3]], columns=pd.Index([0, ("a", 1), "b"], tupleize_cols=False))
    with pytest.warns(BayescoutWarning, match="'b'"):
        table = as_table(frame)
    assert table.names == (0, ("a", 1), "b")
    assert type(table.names[0]) is int


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def test_objects_are_states():
    day = datetime.date(2020, 1, 2)
    columns = {
        "tuples": [(2, "x"), (1, "y"), (2, "x")],
        "enums": [Colour.RED, Colour.BLUE, Colour.RED],
        "dates": [day, day.replace(year=2019), day],
        "mixed": ["1", 1, "1"],
    }
    for data in (columns, pd.DataFrame(columns)):
        table = as_table(data, kinds={"dates": "discrete"})
        assert table.to_dict() == columns
        assert table.states[0] == ((1, "y"), (2, "x"))
        assert table.states[1] == (Colour.BLUE, Colour.RED)  # not comparable: by type name and repr
        assert table.states[3] == (1, "1")


def test_dates_from_typed_frames():
    days = [datetime.date(2020, 1, 2), datetime.date(2019, 1, 2)]
    assert as_table(pl.DataFrame({"d": days}), kinds="discrete").column("d") == days
    assert as_table({"d": np.array(days, dtype="datetime64[D]")}, kinds="discrete").column("d") == days
    stamps = pd.DataFrame({"d": pd.to_datetime(days)})
    assert as_table(stamps, kinds="discrete").column("d") == stamps["d"].tolist()
    assert as_table(stamps, columns=["d"]).column("d") == stamps["d"].tolist()


@pytest.mark.parametrize("cells", [[True, 1], [0.0, False], [1.0, True, "x"]])
def test_equal_values_of_two_types_are_refused(cells):
    for data in ({"x": cells}, pd.DataFrame({"x": pd.Series(cells, dtype=object)})):
        with pytest.raises(DataError, match=r"'x' holds both .* which are equal"):
            as_table(data)


def test_integers_and_floats_together_are_continuous():
    assert as_table({"x": [1, 2.5, 3]}).column("x") == [1.0, 2.5, 3.0]
    assert as_table({"x": [1, 1.0, 2]}, kinds="continuous").column("x") == [1.0, 1.0, 2.0]
    for data in ({"x": [1.0, 1, 2.5]}, pd.DataFrame({"x": pd.Series([1.0, 1, 2.5], dtype=object)})):
        assert as_table(data).column("x") == [1.0, 1.0, 2.5]
    with pytest.raises(DataError, match="'x' holds both"):
        as_table({"x": [1.0, 1]}, kinds="discrete")


@pytest.mark.parametrize("backend", ["dict", "pandas", "polars", "pyarrow", "arrays"])
def test_many_integers_are_continuous_unless_declared(backend):
    few = list(range(12)) * 5
    many = [*range(DISTINCT), *range(DISTINCT), DISTINCT]
    assert as_table(BACKENDS[backend]({"x": few})).kinds == ("discrete",)
    for cells in (many[: DISTINCT + 20], many):  # it is known after all rows, or while they are read
        table = as_table(BACKENDS[backend]({"x": cells}))
        assert table.kinds == ("continuous",)
        assert table.column("x") == cells
    declared = as_table(BACKENDS[backend]({"x": many}), kinds={"x": "discrete"})
    assert typed_cells(declared.column("x")) == typed_cells(many)


def test_a_float_column_declared_discrete():
    table = as_table({"x": np.array([2.5, 1.0, 2.5])}, kinds="discrete")
    assert table.states == ((1.0, 2.5),)


def test_categories_keep_their_order_and_count_when_unused():
    frame = pd.DataFrame({"x": pd.Categorical(["lo", "hi"], categories=["lo", "mid", "hi"])})
    enums = pl.DataFrame({"x": pl.Series(["lo", "hi"], dtype=pl.Enum(["lo", "mid", "hi"]))})
    arrow = pa.table({"x": pa.DictionaryArray.from_arrays([0, 2], ["lo", "mid", "hi"])})
    for data in (frame, enums, arrow):
        table = as_table(data)
        assert table.states == (("lo", "mid", "hi"),)
        assert table.column("x") == ["lo", "hi"]
        assert as_table(data, kinds="discrete").states == (("hi", "lo"),)


def test_declared_states_keep_order_and_absent_states():
    table = as_table({"x": ["a", "b"]}, states={"x": ["c", "b", "a"]})
    assert table.states == (("c", "b", "a"),)
    assert table.codes.tolist() == [[2, 1]]


def test_a_value_outside_the_declared_states_is_named():
    with pytest.raises(DataError, match=r"'x' has the value 'z' \(str\) in row 2 .* 'a', 'b'"):
        as_table({"x": ["a", "b", "z", "z"]}, states={"x": ["a", "b"]})
    with pytest.raises(DataError, match=r"True \(bool\) in row 0"):
        as_table({"x": [True, False]}, states={"x": [0, 2]})
    assert as_table({"x": [True, False]}, states={"x": [0, 1]}).column("x") == [1, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kinds": "nominal"}, "must be 'discrete' or 'continuous'"),
        ({"states": {"x": []}}, "no states"),
        ({"states": {"x": "ab"}}, "must be a sequence"),
        ({"states": {"x": ["a", "a"]}}, "twice"),
        ({"states": {"x": [1, True]}}, "twice"),
        ({"states": {"x": ["a", None]}}, "missing value"),
        ({"states": {"x": ["a"]}, "kinds": {"x": "continuous"}}, "declare one"),
        ({"missing": "ignore"}, "missing must be"),
    ],
)
def test_settings_are_checked(arguments, message):
    with pytest.raises(SettingError, match=message):
        as_table({"x": ["a", "b"]}, **arguments)


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean 'smoke'"):
        as_table({"smoke": ["a", "b"]}, kinds={"smoker": "discrete"})
    with pytest.raises(UnknownNameError, match="weight column 'w'"):
        as_table({"smoke": ["a", "b"]}, weights="w")


MISSING_FRAMES = {
    "pandas": pd.DataFrame({"s": ["a", None, "NA", "a"], "f": [1.5, 2.0, math.nan, 3.0]}),
    "pandas objects": pd.DataFrame(
        {"s": ["a", math.nan, "NA", "a"], "f": [1.5, 2.0, None, 3.0]}, dtype=object
    ),
    "polars": pl.DataFrame({"s": ["a", None, "NA", "a"], "f": [1.5, 2.0, math.nan, 3.0]}),
    "polars null": pl.DataFrame({"s": ["a", None, "NA", "a"], "f": [1.5, 2.0, None, 3.0]}),
    "pyarrow": pa.table({"s": ["a", None, "NA", "a"], "f": [1.5, 2.0, None, 3.0]}),
    "dict": {"s": ["a", None, "NA", "a"], "f": [1.5, 2.0, None, 3.0]},
    "categorical": pd.DataFrame(
        {"s": pd.Categorical(["a", None, "NA", "a"]), "f": [1.5, 2.0, math.nan, 3.0]}
    ),
}


@pytest.mark.filterwarnings("ignore:constant columns")
@pytest.mark.parametrize("source", MISSING_FRAMES)
def test_missing_values_by_policy(source):
    data = MISSING_FRAMES[source]
    with pytest.raises(MissingValueError, match=r"'s' \(1\), 'f' \(1\) .*missing='drop'.*missing='state'"):
        as_table(data, missing="error")
    kept = as_table(data)
    assert kept.to_dict() == {"s": ["a", None, "NA", "a"], "f": [1.5, 2.0, None, 3.0]}
    assert kept.missing.policy == "keep"
    with pytest.warns(BayescoutWarning, match=r"2 of 4 rows are left out, .*: in 's' \(1\), 'f' \(1\)"):
        dropped = as_table(data, missing="drop")
    assert dropped.to_dict() == {"s": ["a", "a"], "f": [1.5, 3.0]}
    assert dropped.missing.policy == "drop"
    assert dropped.missing.counts == (("s", 1), ("f", 1))
    assert dropped.missing.rows_dropped == 2
    with pytest.raises(DataError, match="'f' is continuous and has missing values"):
        as_table(data, missing="state")


def test_a_state_seen_only_in_dropped_rows_is_not_inferred():
    table = as_table({"a": ["x", "y", "z"], "b": [1, 2, None]}, missing="drop")
    assert table.states == (("x", "y"), (1, 2))
    declared = as_table(
        {"a": ["x", "y", "z"], "b": [1, 2, None]}, missing="drop", states={"a": ["x", "y", "z"]}
    )
    assert declared.states[0] == ("x", "y", "z")


def test_missing_as_a_state_is_last_and_gets_a_free_name():
    table = as_table({"a": ["z", None, "z"], "b": ["missing", None, "x"], "c": [2, 1, 1]}, missing="state")
    assert table.states == (("z", "missing"), ("missing", "x", "missing_2"), (1, 2))
    assert table.column("b") == ["missing", "missing_2", "x"]
    assert table.missing.counts == (("a", 1), ("b", 1))


@pytest.mark.parametrize("backend", ["dict", "pandas", "polars", "arrays"])
def test_declared_missing_values(backend):
    data = BACKENDS[backend]({"s": ["a", "?", "b", "a"], "n": [1, 2, -999, 1], "f": [0.5, 1.0, 2.0, -999.0]})
    table = as_table(data, missing="drop", missing_values=("?", -999))
    assert table.to_dict() == {"s": ["a"], "n": [1], "f": [0.5]}
    assert table.missing.counts == (("s", 1), ("n", 1), ("f", 1))
    with pytest.warns(BayescoutWarning, match="values 1, 'x' occur in no cell"):
        assert as_table({"s": [True, False]}, missing_values=(1, "x")).column("s") == [True, False]


def test_every_row_missing():
    with pytest.raises(DataError, match="leaves none"):
        as_table({"a": [None, 1], "b": [1, None]}, missing="drop")


@pytest.mark.parametrize("bad", [math.inf, -math.inf])
def test_infinite_values_are_named(bad):
    with pytest.raises(DataError, match=f"'x' holds {bad} in row 2"):
        as_table({"x": [1.0, 2.0, bad, bad]})


def test_an_infinite_value_in_a_dropped_row_does_no_harm():
    table = as_table({"x": [1.0, 2.0, math.inf], "s": ["a", "b", None]}, missing="drop")
    assert table.column("x") == [1.0, 2.0]
    with pytest.raises(DataError, match="'x' holds inf in row 3"):
        as_table({"x": [1.0, 2.0, None, math.inf]}, missing="drop")


@pytest.mark.parametrize("weights", [[1, 0, 2.5], np.array([1, 0, 2.5]), pd.Series([1, 0, 2.5]), (1, 0, 2.5)])
def test_weights_given_as_numbers(weights):
    table = as_table({"x": ["a", "b", "a"]}, weights=weights)
    assert table.weights.tolist() == [1.0, 0.0, 2.5]
    assert table.total_weight == 3.5


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_weights_in_a_column_follow_dropped_rows(frame):
    table = as_table(frame({"x": ["a", None, "b"], "w": [1, 5, 2]}), weights="w", missing="drop")
    assert table.names == ("x",)
    assert table.weights.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1, 2], "2 weights"), ([1, -1, 1], "row 1"), ([1, math.nan, 1], "row 1"), ([0, 0, 0], "every weight"),
     ([1, math.inf, 1], "row 1"), (["a", "b", "c"], "must be numbers")],
)  # fmt: skip
def test_bad_weights(weights, message):
    with pytest.raises(DataError, match=message):
        as_table({"x": ["a", "b", "a"]}, weights=weights)


def test_a_missing_weight_is_refused_under_every_policy():
    with pytest.raises(MissingValueError, match="weight column 'w' has 1 missing"):
        as_table({"x": ["a", "b"], "w": [1.0, None]}, weights="w", missing="drop")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "no columns"),
        (pd.DataFrame(), "no columns"),
        ({"a": []}, "no rows"),
        (pd.DataFrame({"a": pd.Series([], dtype=str)}), "no rows"),
        (pl.DataFrame({"a": []}), "no rows"),
        (np.empty((0, 2)), "no rows"),
        (np.empty((2, 0)), "no columns"),
        (np.zeros(3), "1 dimensions"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "'a' occurs more than once"),
        (pa.table([[1], [2]], names=["a", "a"]), "'a' occurs more than once"),
        ({"a": [1, 2], "b": [1]}, "'b' has 1 rows but column 'a' has 2"),
        ({"a": [[1], [2]]}, r"\[1\] \(list\) in row 0"),
        ({"a": ["x", {}, "x"]}, r"\{\} \(dict\) in row 1"),
        (pl.DataFrame({"a": [[1], [2]]}), "not hashable"),
        ({"a": "text"}, "one value a row"),
        ({"a": 3}, "one value a row"),
        ({"a": ["v", "w", "x", "y", "z"]}, r"no column is left to use: 'a' \(identifies rows\)"),
        (7, "cannot read data from a int"),
        ([[1, 2]], "cannot read data from a list"),
        ({"a": [str(i) for i in range(70_000)]}, r"more distinct values than a column can have\)$"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_data(data, message):
    with pytest.raises(DataError, match=message) as caught:
        as_table(data)
    assert "\n" not in str(caught.value)


def test_distinct_values_are_allowed_when_declared_or_few():
    cells = ["v", "w", "x", "y", "z"]
    assert as_table({"a": cells[:4]}).cardinalities.tolist() == [4]
    assert as_table({"a": cells}, kinds={"a": "discrete"}).cardinalities.tolist() == [5]
    assert as_table({"a": cells}, states={"a": cells}).cardinalities.tolist() == [5]


def test_constant_columns_warn_once_together():
    with pytest.warns(BayescoutWarning, match="'a', 'b'") as caught:
        as_table({"a": [1, 1], "b": ["x", "x"], "c": [1, 2], "d": [1, 1]}, states={"d": [1, 2]})
    assert len(caught) == 1


def test_one_row_is_a_table_without_a_warning():
    assert as_table({"a": ["x"], "b": [1.5]}).n_rows == 1


def test_many_states_need_wider_codes():
    table = as_table({"a": [f"s{i % 300}" for i in range(1500)], "b": [True, False] * 750})
    assert table.codes.dtype == np.uint16
    assert table.column("a") == [f"s{i % 300}" for i in range(1500)]
    exactly = as_table({"a": [f"s{i}" for i in range(256)] * 5})
    assert exactly.codes.dtype == np.uint8
    full = as_table({"a": np.arange(65_536)}, kinds="discrete")
    assert full.codes[0, -1] == 65_535


def test_a_table_passes_through_and_can_be_redeclared():
    table = as_table({"a": ["x", "y", "x"], "n": [1, 2, 1], "w": [1.0, 2.0, 3.0]}, kinds={"w": "continuous"})
    assert as_table(table) is table
    assert as_table(table, states={"a": ["y", "x", "z"]}).states[0] == ("y", "x", "z")
    assert as_table(table, kinds={"n": "continuous"}).column("n") == [1.0, 2.0, 1.0]
    weighted = as_table(table, weights="w")
    assert weighted.names == ("a", "n")
    assert as_table(weighted, kinds={"n": "continuous"}).weights.tolist() == [1.0, 2.0, 3.0]


def test_redeclaring_keeps_what_was_said_of_missing_values():
    table = as_table({"a": ["x", None, "y"], "n": [1, 2, 3]}, missing="drop")
    assert as_table(table, kinds={"n": "continuous"}).missing == table.missing
    again = as_table(table, missing="state", missing_values=["y"])
    assert again.missing.counts == (("a", 1),)
    assert again.states[0] == ("x", "missing")


@pytest.mark.filterwarnings("ignore:the declared missing value")
@given(tables())
def test_redeclaring_nothing_new_keeps_a_table(table):
    again = as_table(table, missing_values=(object(),))
    assert again.fingerprint == table.fingerprint


@pytest.mark.filterwarnings("ignore:constant columns")
@given(tables(weighted=False))
def test_to_pandas_and_back_is_the_same_table(table):
    continuous = {n: "continuous" for n, s in zip(table.names, table.states, strict=True) if s is None}
    assert as_table(table.to_pandas(), kinds=continuous).fingerprint == table.fingerprint


@pytest.mark.filterwarnings("ignore:constant columns")
@given(tables(labels=st.text(st.characters(exclude_categories=["Cs"]), max_size=4), weighted=False))
def test_to_polars_and_back_keeps_every_value(table):
    kinds = dict(zip(table.names, table.kinds, strict=True))
    back = as_table(table.to_polars(), kinds=kinds)
    assert {n: typed_cells(c) for n, c in back.to_dict().items()} == {
        n: typed_cells(c) for n, c in table.to_dict().items()
    }


def test_to_polars_needs_text_names():
    with pytest.raises(DataError, match="0 is not a string"):
        as_table(np.array([[1, 2], [2, 1]])).to_polars()


def test_arguments_are_not_changed_and_arrays_are_frozen():
    array = np.array([[0.5, 1.5], [2.5, 3.5]])
    table = as_table(array)
    array[0, 0] = 9.0
    assert table.column(0) == [0.5, 2.5]
    assert array.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        table.values[0, 0] = 1.0


def test_other_frames_come_through_the_arrow_interface():
    import narwhals as nw

    frame = nw.from_native(pl.DataFrame({"a": ["x", "y"], "b": [1, 2]}))
    assert as_table(frame).to_dict() == {"a": ["x", "y"], "b": [1, 2]}
    assert isinstance(as_table(frame.lazy()), Table)


SCALARS = {
    "float64": ([0.5, 1.5, 2.0], np.float64, "continuous"),
    "float32": ([0.5, 1.5, 2.0], np.float32, "continuous"),
    "longdouble": ([0.5, 1.5, 2.0], np.longdouble, "continuous"),
    "int64": ([3, 1, 3], np.int64, "discrete"),
    "uint8": ([3, 1, 3], np.uint8, "discrete"),
    "bool": ([True, False, True], np.bool_, "discrete"),
    "str": (["b", "a", "b"], np.str_, "discrete"),
}


@pytest.mark.parametrize("case", SCALARS)
def test_numpy_scalars_are_the_python_values(case):
    cells, scalar, kind = SCALARS[case]
    wrapped = [scalar(cell) for cell in cells]
    objects = np.empty(3, dtype=object)
    objects[:] = wrapped
    mixed = [wrapped[0], *cells[1:]]
    whole = as_table({"x": cells})
    sources = [wrapped, objects, mixed, pd.Series(objects, dtype=object), objects.reshape(3, 1)[:, 0]]
    for source in sources:
        table = as_table({"x": source})
        assert table.kinds == (kind,)
        assert typed_cells(table.column("x")) == typed_cells(cells)
        assert table.fingerprint == whole.fingerprint
    assert as_table(objects.reshape(3, 1)).kinds == (kind,)


def test_a_numpy_nan_among_numpy_floats_is_missing():
    table = as_table({"x": [np.float64(0.5), np.float64("nan"), np.float32(1.5)]}, missing="drop")
    assert table.column("x") == [0.5, 1.5]


@pytest.mark.parametrize("cells", [{"b", "a"}, frozenset("ab"), {"a": 1, "b": 2}])
def test_what_has_no_order_of_rows_is_no_column(cells):
    with pytest.raises(DataError, match=rf"column 'x' is a {type(cells).__name__}, which has no order"):
        as_table({"x": cells, "y": [1, 2]})


def test_constant_numbers_are_said():
    with pytest.warns(
        BayescoutWarning, match=r"constant columns carry no information: 'c', 's'; leave them out, or declare"
    ):
        as_table({"c": [1.5, 1.5, 1.5], "x": [1.5, 2.5, 1.5], "s": ["a", "a", "a"]})
    with pytest.warns(BayescoutWarning, match=r"no information: 'c'"):
        table = as_table({"c": [1.5, 1.5], "x": [1.5, 2.5]})
    assert as_table(table, kinds={"x": "continuous"}).n_rows == 2  # said once
    assert as_table({"c": [1.5, 1.5]}, kinds="continuous").n_rows == 2
    assert as_table({"c": [1.5], "x": [2.5]}).n_rows == 1


def test_one_number_with_decimals_is_one_state_as_a_whole_number_is():
    """A constant column tells nothing, and must not end the learning of the others."""
    gaps, x = [0.25, None, None, 0.25], [1, 0.5, 3, 2]
    with pytest.warns(BayescoutWarning, match=r"no information: 'c', 'gaps', 'one'; leave them out"):
        table = as_table({"c": [1.5] * 4, "gaps": gaps, "one": [7] * 4, "x": x})
    assert table.states == ((1.5,), (0.25,), (7,), None)


@pytest.mark.parametrize("backend", ["dict", "pandas", "polars", "polars lazy", "pyarrow", "arrays"])
def test_some_columns_only(backend):
    """What the other columns hold does not matter."""
    columns = {
        "id": [f"r{k}" for k in range(6)],
        "b": [1, 2] * 3,
        "gap": [None, "x"] * 3,
        "a": ["x", "y"] * 3,
    }
    data = BACKENDS[backend](columns)
    table = as_table(data, columns=["a", "b"])
    assert table.to_dict() == {"a": columns["a"], "b": columns["b"]}
    weighted = as_table(data, columns=["a"], weights="b", kinds={"b": "continuous"}, states={"id": ["r0"]})
    assert (weighted.names, weighted.weights.tolist()) == (("a",), [1.0, 2.0] * 3)
    with pytest.raises(UnknownNameError, match="unknown column 'c' in the data"):
        as_table(data, columns=["a", "c"])
    with pytest.raises(UnknownNameError, match=r"unknown columns \('c', 'd'\) in the data"):
        as_table(data, columns=["c", "a", "d"])


def test_columns_of_a_table():
    table = as_table({"a": ["x", "y"], "b": [0.5, 1.5]}, weights=[1, 2])
    part = as_table(table, columns=["b"])
    assert (part.names, part.weights.tolist()) == (("b",), [1.0, 2.0])
    assert as_table(table, columns=["b", "a"], kinds={"b": "continuous"}).names == ("b", "a")
    with pytest.raises(UnknownNameError, match="column 'z'"):
        as_table(table, columns=["z"])


@pytest.mark.parametrize("columns", ["ab", {"a", "b"}, ["a", "a"], [["a"]], [()]])
def test_bad_columns(columns):
    with pytest.raises((SettingError, UnknownNameError)):
        as_table({"a": [1, 2], "b": [1, 2], "ab": [1, 2]}, columns=columns)


def test_the_states_a_table_has_may_be_declared_for_it():
    table = as_table({"a": [False, True], "b": ["x", "y"]})
    assert as_table(table, states={"a": [False, True], "b": ("x", "y")}) is table
    assert as_table(table, states={"b": ["y", "x"]}).states == ((False, True), ("y", "x"))
    assert as_table(table, states={"a": [0, 1]}).states[0] == (0, 1)
    with pytest.raises(DataError, match=r"the value False \(bool\)"):
        as_table(table, states={"a": [2, 1]})


def test_pyarrow_batches_and_arrays():
    batch = pa.RecordBatch.from_pydict({"a": ["x", None], "n": [1, 2]})
    assert as_table(batch, missing="state").to_dict() == {"a": ["x", "missing"], "n": [1, 2]}
    table = as_table({"a": pa.array([3, 4]), "d": pa.array(["x", "y"]).dictionary_encode()})
    assert typed_cells(table.column("a")) == [(int, 3), (int, 4)]
    assert table.column("d") == ["x", "y"]


def test_odd_column_names_of_pandas():
    frame = pd.DataFrame({"column_names": ["x", "y"], "columns": ["y", "x"], "schema": [1, 2]})
    assert as_table(frame).names == ("column_names", "columns", "schema")


def test_the_text_about_missing_values_offers_what_every_function_can_use():
    with pytest.raises(MissingValueError, match=r"as_table\(data, missing='drop'\)"):
        as_table({"a": ["x", None]}, missing="error")
