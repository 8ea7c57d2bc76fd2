"""The value itself: shapes are checked, parts are views or copies with the same content."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout.data import MissingReport, Table, as_table
from bayescout.errors import DataError, UnknownNameError
from tests.strategies import discrete_data, entangled_data, tables


@given(tables(), st.data())
def test_select_and_take_keep_cells(table, data):
    names = data.draw(st.permutations(table.names))
    rows = data.draw(st.lists(st.integers(0, table.n_rows - 1), min_size=1, max_size=8))
    part = table.select(names).take(np.array(rows))
    assert part.names == tuple(names)
    for name in names:
        assert part.column(name) == [table.column(name)[row] for row in rows]
    if table.weights is not None:
        assert part.weights.tolist() == table.weights[rows].tolist()


@given(tables(), tables())
def test_equal_fingerprints_mean_equal_tables(one, two):
    def whole(t):
        weights = None if t.weights is None else t.weights.tolist()
        return repr((t.names, t.states, t.codes.tolist(), t.values.tolist(), weights))

    assert (one.fingerprint == two.fingerprint) == (whole(one) == whole(two))


@given(st.one_of(discrete_data(), entangled_data()))
def test_shared_strategies_give_codes_within_their_states(table):
    assert table.is_discrete
    assert (table.codes.max(axis=1) < table.cardinalities).all()


def test_an_unknown_column_is_offered_the_nearest():
    table = as_table({"smoke": ["a", "b"], 3: [1, 2]})
    with pytest.raises(UnknownNameError, match="did you mean 'smoke'"):
        table.column("smok")
    with pytest.raises(UnknownNameError, match="unknown column"):
        table.column([])


def test_the_repr_is_short():
    table = as_table({"a": ["x", "y"], "b": [0.5, 1.5]})
    assert repr(table) == "<Table: 2 rows, 2 columns (1 discrete, 1 continuous)>"
    assert table.missing == MissingReport("keep")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": ("a", "a")}, "more than once"),
        ({"states": ((0, 1),)}, "state lists"),
        ({"codes": np.zeros((1, 2), np.uint8)}, "one row for each"),
        ({"codes": np.zeros((2, 2), np.int64)}, "uint8 or uint16"),
        ({"values": np.zeros((0, 3))}, "rows of values"),
        ({"weights": np.ones(3)}, "3 weights for 2 rows"),
        ({"codes": np.array([[0, 1], [2, 0]], np.uint8)}, "column 'b' has the code 2, but only 2 states"),
        ({"states": ((0, 1), None), "codes": np.zeros((1, 2), np.uint8), "values": np.array([[0.5, np.nan]])},
         r"column 'b' holds nan in row 1 \(counting from 0\)"),
        ({"states": ((0, 1), None), "codes": np.zeros((1, 2), np.uint8), "values": np.array([[np.inf, 1]])},
         "column 'b' holds inf in row 0"),
        ({"weights": np.array([1.0, np.nan])}, "weight of row 1"),
        ({"weights": np.array([np.inf, 1.0])}, "weight of row 0"),
        ({"weights": np.array([-1.0, 2.0])}, "weight of row 0"),
        ({"weights": np.zeros(2)}, "every weight is 0"),
    ],
)  # fmt: skip
def test_the_constructor_checks_shapes_and_ranges(change, message):
    good = {
        "names": ("a", "b"),
        "states": ((0, 1), (0, 1)),
        "codes": np.zeros((2, 2), np.uint8),
        "values": np.zeros((0, 2)),
    }
    with pytest.raises(DataError, match=message):
        Table(**(good | change))


def test_a_table_without_rows_has_no_ranges_to_check():
    empty = Table(("a", "b"), ((0, 1), None), np.empty((1, 0), np.uint8), np.empty((1, 0)))
    assert empty.n_rows == 0
    assert as_table({"a": ["x", "y"]}, weights=[1, 2]).take(np.array([], dtype=int)).n_rows == 0


@pytest.mark.parametrize(
    "again", [lambda t: pickle.loads(pickle.dumps(t)), copy.deepcopy], ids=["pickle", "deep"]
)
def test_a_copy_is_equal_and_read_only(again):
    table = as_table({"a": ["x", "y"], "b": [0.5, 1.5]}, weights=[1, 2])
    back = again(table)
    assert back.fingerprint == table.fingerprint
    for array in (back.codes, back.values, back.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_the_width_of_the_codes_does_not_count():
    wide = as_table({"a": [1, 2, 1], "b": ["x"] * 3}, states={"b": ["x", *(f"s{i}" for i in range(300))]})
    part, alone = wide.select(["a"]), as_table({"a": [1, 2, 1]})
    assert part.codes.dtype != alone.codes.dtype
    assert part.fingerprint == alone.fingerprint
    assert wide.fingerprint != as_table(wide, states={"b": ["x"]}).fingerprint
