"""Tables that hold missing cells and both kinds of columns: what goes in comes out, and who refuses them."""

from __future__ import annotations

import copy
import os
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.data import MissingReport, Table, as_table, read_table, write_table
from bayescout.data.absent import require_complete
from bayescout.errors import BayescoutWarning, DataError, MissingValueError, SettingError
from bayescout.evaluate.bootstrapping import resampled
from bayescout.statistics.counts import Counts, dense_counts
from bayescout.statistics.covariance import Covariance
from tests.strategies import tables

incomplete = tables(incomplete=True)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
quiet = pytest.mark.filterwarnings(
    "ignore:constant columns", "ignore:column .* is read as", "ignore:.* rows are left out, as they have"
)


def kept(columns, **options):
    return as_table(columns, missing="keep", **options)


def declared(table):
    """Kinds and states as `as_table` takes them: few drawn rows say little of either."""
    states = {n: s for n, s in zip(table.names, table.states, strict=True) if s is not None}
    return {"kinds": {n: "continuous" for n in table.names if n not in states}, "states": states}


# ---- the value


@given(incomplete, st.data())
def test_select_and_take_keep_cells(table, data):
    chosen = data.draw(st.permutations(table.names))
    rows = data.draw(st.lists(st.integers(0, table.n_rows - 1), min_size=1, max_size=8))
    part = table.select(chosen).take(np.array(rows))
    for name in chosen:
        cells = table.column(name)
        assert part.column(name) == [cells[row] for row in rows]
        assert part.missing_cells(name).tolist() == [cells[row] is None for row in rows]
    whole = {name: part.column(name).count(None) for name in chosen}
    assert dict(part.missing.counts) == {name: count for name, count in whole.items() if count}
    assert part.has_missing == any(whole.values())


@given(incomplete, incomplete)
def test_equal_fingerprints_mean_equal_tables(one, two):
    def whole(t):
        weights = None if t.weights is None else t.weights.tolist()
        return repr((t.names, t.states, t.to_dict(), weights))

    assert (one.fingerprint == two.fingerprint) == (whole(one) == whole(two))


@given(incomplete)
@pytest.mark.parametrize(
    "again", [lambda t: pickle.loads(pickle.dumps(t)), copy.deepcopy], ids=["pickle", "deep"]
)
def test_a_copy_is_equal(again, table):
    back = again(table)
    assert back.fingerprint == table.fingerprint
    assert back.missing == table.missing


def test_every_nan_is_the_same():
    bits = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64).view(np.float64)
    tables = [
        Table(
            ("x",), (None,), np.empty((0, 2), np.uint8), np.array([[cell, 1.0]]), None, MissingReport("keep")
        )
        for cell in (*bits, np.nan)
    ]
    assert len({table.fingerprint for table in tables}) == 1


def test_the_table_says_what_it_holds():
    table = kept({"a": ["x", None, "y", "x"], "b": [0.5, 1.5, None, None], "c": [1, 2, 1, 2]})
    assert table.missing == MissingReport("keep", (("a", 1), ("b", 2)))
    assert repr(table) == "<Table: 4 rows, 3 columns (2 discrete, 1 continuous), 3 cells missing>"
    assert table.states[:2] == (("x", "y"), None)
    assert table.cardinalities.tolist() == [2, 0, 2]
    assert table.n_codes.tolist() == [3, 0, 2]
    assert not table.select(["c"]).has_missing
    assert table.select(["c"]).fingerprint == as_table({"c": [1, 2, 1, 2]}).fingerprint


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"codes": np.array([[0, 3]], np.uint8)}, "column 'a' has the code 3, but only 2 states"),
        ({"states": ((), None), "codes": np.zeros((1, 2), np.uint8)}, "has the code 0, but only 0 states"),
        ({"values": np.array([[np.nan, np.inf]])}, "column 'b' holds inf in row 1"),
    ],
)
def test_other_cells_are_still_checked(change, message):
    good = {
        "names": ("a", "b"),
        "states": ((0, 1), None),
        "codes": np.array([[0, 2]], np.uint8),
        "values": np.array([[np.nan, 1.0]]),
        "missing": MissingReport("keep"),
    }
    assert Table(**good).missing.counts == (("a", 1), ("b", 1))
    with pytest.raises(DataError, match=message):
        Table(**(good | change))
    with pytest.raises(DataError, match="column 'a' has the code 2"):
        Table(**(good | {"missing": MissingReport()}))


def test_the_code_of_a_missing_cell_has_room():
    states = [f"s{i}" for i in range(256)]
    assert as_table({"x": states}, kinds="discrete").codes.dtype == np.uint8
    table = kept({"x": [*states, None]}, kinds="discrete")
    assert table.codes.dtype == np.uint16
    assert table.column("x") == [*sorted(states, key=states.index), None]
    many = range(65_536)
    assert kept({"x": many}, kinds="discrete").n_rows == 65_536
    with pytest.raises(DataError, match="65,536 states and missing values, more than the 65,536 allowed"):
        kept({"x": [*many, None]}, kinds="discrete")


# ---- where it comes from and goes to


@quiet
@given(incomplete)
def test_as_table_gives_back_what_a_dict_or_a_pandas_frame_holds(table):
    weights = None if table.weights is None else table.weights.tolist()
    for held in (table.to_dict(), table.to_pandas()):
        back = kept(held, weights=weights, **declared(table))
        assert back.fingerprint == table.fingerprint


@quiet
@given(tables(labels=names, incomplete=True, weighted=False))
def test_as_table_gives_back_what_a_polars_frame_holds(table):
    frame = table.to_polars()
    assert [frame[name].null_count() for name in table.names] == [
        int(table.missing_cells(name).sum()) for name in table.names
    ]
    assert kept(frame, **declared(table)).fingerprint == table.fingerprint


@quiet
@given(incomplete)
def test_a_table_that_holds_missing_cells_goes_on_to_unless_told(table):
    assert as_table(table) is table
    assert as_table(table, missing="keep") is table
    assert as_table(table, **declared(table)).fingerprint == table.fingerprint
    if table.has_missing:
        with pytest.raises(MissingValueError):
            as_table(table, missing="error")
    whole = ~np.any([table.missing_cells(name) for name in table.names], axis=0)
    if whole.any() and not table.has_missing:
        assert as_table(table, missing="drop") is table
    elif whole.any():
        dropped = as_table(table, missing="drop", **declared(table))
        assert dropped.missing.rows_dropped == table.n_rows - whole.sum()
        assert dropped.to_dict() == table.take(whole).to_dict()
    else:
        with pytest.raises(DataError, match="leaves none"):
            as_table(table, missing="drop")


def test_missing_cells_become_states():
    table = as_table(kept({"a": ["x", None, "y", "x"]}), missing="state")
    assert table.states == (("x", "y", "missing"),)
    assert table.column("a") == ["x", "missing", "y", "x"]


@quiet
@pytest.mark.parametrize("extension", ["csv", "tsv", "csv.gz", "parquet", "arrow", "dat"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables(labels=names, incomplete=True))
def test_reading_gives_back_what_was_written_or_nothing_was(tmp_path, extension, table):
    path = tmp_path / f"data.{extension}"
    path.unlink(missing_ok=True)
    weights = "the weights"
    try:
        write_table(table, path, weights=weights)
    except DataError:
        assert os.listdir(tmp_path) == []
        return
    kinds = dict(zip(table.names, table.kinds, strict=True))
    back = read_table(
        path, kinds=kinds, missing="keep", weights=(table.weights is not None and weights) or None
    )
    text = extension not in ("parquet", "arrow")
    cells = {
        n: [(str, str(cell)) if text and type(cell) is bool else (type(cell), cell) for cell in cells]
        for n, cells in table.to_dict().items()
    }
    assert {n: [(type(cell), cell) for cell in cells] for n, cells in back.to_dict().items()} == cells
    assert back.kinds == table.kinds
    assert back.missing == table.missing
    if table.weights is not None:
        assert back.weights.tolist() == table.weights.tolist()


@pytest.mark.parametrize("extension", ["csv", "tsv", "csv.gz", "parquet", "arrow"])
def test_kinds_are_found_again(tmp_path, extension):
    table = kept({"s": [None, "x", "y", "x", "y"], "n": [1, 2, None, 2, 3],
                  "b": [True, None, True, False, True], "f": [None, 2.0, 3.0, None, 5.5],
                  "t": [None, "1", "2", "1", "2"]})  # fmt: skip
    table.save(tmp_path / f"d.{extension}")
    states = {"b": [False, True]}  # texts in a text file
    assert read_table(tmp_path / f"d.{extension}", states=states).fingerprint == table.fingerprint
    with pytest.raises(
        MissingValueError, match=r"missing values in 's' \(1\), 'n' \(1\), 'b' \(1\), 'f' \(2\)"
    ):
        read_table(tmp_path / f"d.{extension}", missing="error")


@pytest.mark.parametrize(
    ("columns", "extension", "message"),
    [
        ({"x": ["a", None]}, "csv", "an empty cell of the only column is a blank line"),
        ({"x": ["a", None], "y": ["c", "d"]}, "dat", "white space separates the cells"),
        ({"x": [1.5, None], "y": [1.5, 2.5]}, "dat", "white space separates the cells"),
        ({"x": np.full(2, np.nan), "y": ["c", "d"]}, "csv", "a column of empty cells has no kind"),
    ],
)
@quiet
def test_what_text_cannot_hold_is_refused_before_writing(tmp_path, columns, extension, message):
    with pytest.raises(DataError, match=message):
        write_table(as_table(columns, columns=list(columns)), tmp_path / f"d.{extension}")
    assert os.listdir(tmp_path) == []


def test_a_column_without_values_has_no_states(tmp_path):
    with pytest.raises(DataError, match="column 'x' has no values, all 2 are missing"):
        as_table({"x": [None, None], "y": [1, 2]}, columns=["x", "y"])
    with pytest.warns(BayescoutWarning, match=r"column left out: 'x' \(no values\)"):
        assert kept({"x": [None, None], "y": [1, 2]}).names == ("y",)
    table = kept({"x": [None, None], "y": [1, 2]}, states={"x": [1, 2]})
    with pytest.raises(DataError, match="would not give back its states"):
        table.save(tmp_path / "d.parquet")
    assert os.listdir(tmp_path) == []


def test_an_unknown_policy_is_refused():
    with pytest.raises(SettingError, match="'error', 'drop', 'state' or 'keep', not 'hold'"):
        as_table({"a": [1, 2]}, missing="hold")


# ---- who takes it


def test_cutting_looks_at_the_values_that_are_there():
    cells = [3.5, None, 1.0, 2.0, None, 6.0, 5.0, 4.0]
    table = bs.discretise(kept({"x": cells, "y": ["a", "b"] * 4}), bins=3)
    there = bs.discretise({"x": [cell for cell in cells if cell is not None]}, bins=3)
    assert table.missing.counts == (("x", 2),)
    assert [cell for cell in table.column("x") if cell is not None] == there.column("x")
    assert table.missing_cells("x").tolist() == [cell is None for cell in cells]
    with pytest.raises(DataError, match="column 'x' has no values to choose cuts from"):
        bs.discretise(kept({"x": [None, 1.0], "y": [1.0, 2.0]}, weights=[1, 0], kinds="continuous"), bins=2)


@given(incomplete, st.integers(1, 9))
def test_rows_are_drawn_with_their_gaps(table, size):
    drawn = resampled(table, size, np.random.default_rng(size))
    rows = {repr(row) for row in zip(*table.to_dict().values(), strict=True)}
    assert drawn.n_rows == size
    assert all(repr(row) in rows for row in zip(*drawn.to_dict().values(), strict=True))


DISCRETE = {"a": ["x", None, "y", "x", "x", "y"], "b": ["u", "v", "u", "u", "v", "v"]}
NUMBERS = {"a": [0.5, None, 1.5, 2.0, 1.0, 0.1], "b": [0.1, 0.2, 0.5, 0.4, 0.9, 0.3]}
DAG = bs.Dag(("a", "b"), ((), (0,)))
USES = {
    "counts": (DISCRETE, Counts),
    "counts of a family": (DISCRETE, lambda t: dense_counts(t, 1, (0,))),
    "covariance": (NUMBERS, Covariance),
    "a score": (DISCRETE, lambda t: bs.score(DAG, t, "bdeu")),
    "a Gaussian score": (NUMBERS, lambda t: bs.score(DAG, t, "bge")),
    "learning, if asked to": (
        DISCRETE,
        lambda t: bs.learn(t, missing="error", search="hill-climb", score="bic"),
    ),
    "learning from numbers, if asked to": (
        NUMBERS,
        lambda t: bs.learn(t, missing="error", search="hill-climb", score="bic"),
    ),
    "resampling, if asked to": (
        DISCRETE,
        lambda t: bs.bootstrap(t, runs=2, missing="error", search="hill-climb", score="bic"),
    ),
    "testing, if asked to": (DISCRETE, lambda t: bs.learn(t, "pc", missing="error", score="bic")),
    "fitting, if asked to": (DISCRETE, lambda t: bs.fit(DAG, t, missing="error")),
    "fitting numbers, if asked to": (NUMBERS, lambda t: bs.fit(DAG, t, missing="error")),
}


@pytest.mark.parametrize("use", USES)
def test_what_needs_every_cell_refuses_in_the_same_words(use):
    columns, function = USES[use]
    with pytest.raises(DataError, match=r"missing values in 'a' \(1\) of [56] rows: as_table"):
        function(kept(columns))


@pytest.mark.parametrize("columns", [DISCRETE, NUMBERS])
def test_fitting_and_measuring_take_it(columns):
    table = kept(columns)
    model = bs.fit(DAG, table, "laplace" if table.is_discrete else "mle")
    assert model.equals(bs.fit(DAG, columns, "laplace" if table.is_discrete else "mle"))
    assert np.isfinite(float(model.log_likelihood(table)))
    assert len(model.predict(table, "b")) == 6
    assert bs.held_out(DAG, table, table).rows == 6


@pytest.mark.parametrize("columns", [DISCRETE, NUMBERS])
def test_columns_without_gaps_can_be_used(columns):
    table = kept(columns)
    require_complete(table, ["b"])
    complete = table.select(["b"])
    assert (
        bs.learn(complete, search="hill-climb", score="bic").score
        == bs.learn(as_table({"b": columns["b"]}), search="hill-climb", score="bic").score
    )
    assert bs.fit(bs.Dag(("b",), ((),)), table.select(["b"])) is not None


def test_a_score_of_the_users_own_may_use_them():
    class Own:
        def local(self, child, parents):
            return float(-len(parents))

    result = bs.learn(kept(DISCRETE), score=Own(), search="hill-climb")
    assert result.dag.n_arcs == 0
    assert result.table.has_missing
