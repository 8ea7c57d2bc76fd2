"""Decimal commas, row indexes without a name, decimals, keys, lengths of time, and texts among numbers."""

from __future__ import annotations

import warnings
from datetime import timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, DataError, FormatError, NetworkError
from tests.cli.test_cli import run_json
from tests.strategies import examples

RNG = np.random.default_rng(1)


def written(tmp_path, text, name="data.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def with_commas(numbers):
    return [repr(float(number)).replace(".", ",") for number in numbers]


# ---- decimal commas


@pytest.mark.parametrize("rows", [8, 60, 400])
@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_decimal_commas_are_read_as_numbers_and_noted(tmp_path, rows, separator):
    numbers = np.round(RNG.normal(5, 2, rows), 2)
    cells = [separator.join(pair) for pair in zip(with_commas(numbers), ["ja", "nein"] * rows, strict=False)]
    path = written(tmp_path, "\n".join([f"länge{separator}art", *cells]) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = bs.read_table(path, separator=separator)
    assert table.array("länge").tolist() == numbers.tolist()
    assert table.reading.endswith("decimal commas in 'länge'")
    assert "decimal commas" in table.columns[0].reason


def test_whole_numbers_and_missing_cells_may_be_among_them(tmp_path):
    text = "x;y\n5,1;a\n3;b\n;a\nNA;b\n-2,75;a\n1,5e3;b\n"
    with pytest.warns(BayescoutWarning, match="'NA' 1"):
        table = bs.read_table(written(tmp_path, text), separator=";")
    assert table.column("x") == [5.1, 3.0, None, None, -2.75, 1500.0]


def test_declared_missing_values_hold_among_decimal_commas(tmp_path):
    text = "x;y\n" + "".join(f"{i},5;a\n-999;b\n" for i in range(9))
    table = bs.read_table(written(tmp_path, text), separator=";", missing_values=["-999"])
    assert table.column("x")[:4] == [0.5, None, 1.5, None]


def test_a_column_that_is_declared_discrete_keeps_its_text(tmp_path):
    path = written(tmp_path, "x;y\n1,2;a\n1,3;b\n2,3;a\n")
    table = bs.read_table(path, separator=";", kinds={"x": "discrete"})
    assert table.states[0] == ("1,2", "1,3", "2,3")
    assert "decimal" not in table.reading


@pytest.mark.parametrize("cell", ["1.234,5", "1,2,3", "1.5", "x"])
@pytest.mark.parametrize("rows", [20, 300])
def test_one_cell_that_is_no_such_number_leaves_text(tmp_path, cell, rows):
    cells = [*with_commas(np.arange(rows) / 4 + 0.25), cell]
    path = written(tmp_path, "\n".join(["x;y", *(f"{c};{i % 2}" for i, c in enumerate(cells))]) + "\n")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        table = bs.read_table(path, separator=";", columns=["x"])
    assert cell in table.states[0]
    assert said, "text in place of numbers is told"


def test_commas_that_could_separate_thousands_are_a_close_call(tmp_path):
    text = "x;y\n" + "".join(f"{i},{100 + i};{i % 2}\n" for i in range(1, 30))
    with pytest.warns(BayescoutWarning, match="decimal commas, or thousands.*kinds"):
        table = bs.read_table(written(tmp_path, text), separator=";")
    assert table.column("x")[0] == 1.101


def test_a_large_file_has_its_commas_in_later_blocks(tmp_path, monkeypatch):
    """Whole numbers first, so that the column is known to be numbers before the first comma comes."""
    from bayescout.data import blocks

    monkeypatch.setattr(blocks, "BLOCK_BYTES", 500)
    monkeypatch.setattr(blocks.read_blocks, "__defaults__", (500,))
    cells = [*map(str, range(300)), "7,25"]
    path = written(tmp_path, "\n".join(["x;y", *(f"{cell};a" for cell in cells)]) + "\n")
    table = bs.read_table(path, separator=";", columns=["x"])
    assert table.column("x")[-2:] == [299.0, 7.25]
    mixed = written(tmp_path, "\n".join(["x;y", *(f"{c};a" for c in [*cells, "7.25"])]) + "\n", "mixed.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert bs.read_table(mixed, separator=";", columns=["x"]).states[0] is not None


@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=6, max_size=200))
@settings(max_examples=examples(40))
def test_the_same_file_with_points_is_the_same_table(tmp_path_factory, numbers):
    folder = tmp_path_factory.mktemp("points")
    lines = [f"{number!r};{i % 2}" for i, number in enumerate(numbers)]
    point = written(folder, "\n".join(["x;y", *lines]) + "\n", "point.csv")
    comma = written(folder, "\n".join(["x;y", *lines]).replace(".", ",") + "\n", "comma.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)
        one, two = (bs.read_table(path, separator=";", columns=["x"]) for path in (point, comma))
    assert one.column("x") == two.column("x")
    assert one.kinds == two.kinds


def test_texts_of_a_frame_with_commas_are_named_and_can_be_turned():
    texts = with_commas(np.round(RNG.normal(5, 2, 50), 1)) * 4
    with pytest.warns(BayescoutWarning, match="numbers kept as text.*kinds"):
        assert bs.as_table({"x": texts}).kinds == ("discrete",)
    table = bs.as_table({"x": texts}, kinds={"x": "continuous"})
    assert table.column("x") == [float(text.replace(",", ".")) for text in texts]
    with pytest.raises(DataError, match="1,234"):
        bs.as_table({"x": ["1,234", "2,345"]}, kinds={"x": "continuous"})  # could be thousands


@pytest.mark.parametrize("discretise", [None, 3])
def test_predictions_take_decimal_commas(tmp_path, discretise):
    x = np.round(RNG.normal(size=200), 3)
    data = {"x": x, "k": np.where(x > 0, "up", "down").tolist()}
    model = bs.learn(data, discretise=discretise, search="hill-climb", score="bic").fit(prior="laplace")
    model.save(tmp_path / "model.json")
    written(tmp_path, "x;note\n-1,5;a\n0,75;b\n2;c\n", "new.csv")
    found = run_json(
        "predict", tmp_path / "model.json", tmp_path / "new.csv", "--target", "k", "--separator", ";"
    )
    assert found["predictions"]["predicted_k"] == model.predict({"x": [-1.5, 0.75, 2.0]}, "k")


# ---- a first column without a name


@pytest.mark.parametrize("index", [range(5), range(1, 6), [7, 3, 99, 4, 5], list("abcde"), range(200)])
def test_a_row_index_without_a_name_is_left_out(tmp_path, index):
    n = len(index)
    frame = pd.DataFrame({"a": ["x", "y"] * (n // 2) + ["x"] * (n % 2), "b": RNG.normal(size=n)}, index=index)
    frame.to_csv(tmp_path / "data.csv")
    with pytest.warns(BayescoutWarning, match="'' \\(no name, an index of the rows\\)"):
        table = bs.read_table(tmp_path / "data.csv")
    assert table.names == ("a", "b")
    assert "an index of the rows" in table.reading


def test_the_row_names_that_r_writes_are_left_out(tmp_path):
    path = written(tmp_path, '"","a","b"\n"1","x",2.5\n"2","y",1.5\n"3","x",0.5\n')
    with pytest.warns(BayescoutWarning, match="an index of the rows"):
        assert bs.read_table(path).names == ("a", "b")


def test_a_column_without_a_name_that_is_no_index_is_refused(tmp_path):
    with pytest.raises(DataError, match="column 1 has no name, and is no index"):
        bs.read_table(written(tmp_path, ",a\nx,1\nx,2\ny,1\n"))
    with pytest.raises(FormatError, match="column 2 of 3 has no name"):
        bs.read_table(written(tmp_path, "a,,b\n1,2,3\n"))


def test_a_model_predicts_rows_of_a_file_with_an_index(tmp_path):
    frame = pd.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "v"] * 20})
    model = bs.learn(frame, search="hill-climb", score="bic").fit(prior="laplace")
    frame.to_csv(tmp_path / "new.csv")
    with pytest.warns(BayescoutWarning, match="left out"):
        assert model.predict(tmp_path / "new.csv", "b") == frame["b"].tolist()


# ---- texts among the numbers of a continuous node


@pytest.fixture(scope="module")
def regression():
    x = np.random.default_rng(0).normal(size=300)
    return bs.learn(
        {"x": x, "y": x + np.random.default_rng(1).normal(size=300)}, search="hill-climb", score="bic"
    ).fit()


@pytest.mark.parametrize("form", ["dict", "pandas", "polars", "csv"])
def test_a_text_in_a_column_of_numbers_counts_as_missing(regression, tmp_path, form):
    cells = ["0.5", "broken", None, "2.5", "n.a."]
    frame = pd.DataFrame({"x": cells})
    frame.assign(z=1).to_csv(tmp_path / "new.csv", index=False)
    data = {"dict": {"x": cells}, "pandas": frame, "polars": pl.DataFrame({"x": cells})}
    given = tmp_path / "new.csv" if form == "csv" else data[form]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*left out: the graph")
        with pytest.warns(
            BayescoutWarning, match=r"no number of their node.*'x' \(2, such as 'broken'\) of 5"
        ):
            found = regression.predict(given, "y")
    expected = regression.predict({"x": [0.5, None, None, 2.5, None]}, "y")
    assert np.array_equal(found, expected)


def test_a_column_without_a_number_is_refused(regression):
    with pytest.raises(NetworkError, match="has no number"):
        regression.predict({"x": ["red", "blue"]}, "y")


def test_the_command_line_counts_them_too(regression, tmp_path):
    regression.save(tmp_path / "model.json")
    written(tmp_path, "x\n0.5\nbroken\n", "new.csv")
    with pytest.warns(BayescoutWarning, match="'x' \\(1, such as 'broken'\\)"):
        found = run_json("predict", tmp_path / "model.json", tmp_path / "new.csv", "--target", "y")
    assert found["predictions"]["predicted_y"] == list(regression.predict({"x": [0.5, None]}, "y"))


# ---- decimals, keys, lengths of time


@pytest.mark.parametrize("rows", [30, 500])
def test_decimals_are_numbers(rows):
    numbers = np.round(RNG.normal(100, 20, rows), 2).tolist()
    cells = [Decimal(str(number)) for number in numbers]
    for data in ({"x": cells}, pd.DataFrame({"x": cells}), {"x": [*cells[:-1], None]}):
        table = bs.as_table(data)
        assert table.kinds == ("continuous",)
        assert table.column("x")[:-1] == numbers[:-1]
    codes = [Decimal(i % 3) for i in range(rows)]
    assert bs.as_table({"x": codes}).states == ((0, 1, 2),)
    assert bs.as_table({"x": cells}, kinds={"x": "discrete"}).kinds == ("discrete",)


@pytest.mark.parametrize("distinct", [4, 30, 150])
@pytest.mark.parametrize("form", ["dict", "numpy", "pandas", "polars", "csv"])
def test_keys_of_many_digits_stay_exact(tmp_path, distinct, form):
    """Neighbours that are one float: as floats they would be fewer."""
    keys = [2**60 + i for i in range(distinct)]
    cells = keys * 4
    assert len(set(map(float, keys))) < distinct
    if form == "csv":
        data = written(
            tmp_path, "\n".join(["x,y", *(f"{cell},{i % 2}" for i, cell in enumerate(cells))]) + "\n"
        )
    else:
        data = {
            "dict": {"x": cells},
            "numpy": {"x": np.array(cells)},
            "pandas": pd.DataFrame({"x": cells}),
            "polars": pl.DataFrame({"x": cells}),
        }[form]
    with pytest.warns(BayescoutWarning, match="16 digits or more, kept exactly"):
        table = bs.as_table(data)
    assert table.column("x") == cells


def test_keys_that_are_all_distinct_identify_rows():
    with pytest.warns(BayescoutWarning, match="identifies rows"):
        table = bs.as_table({"x": [2**60 + 7 * i for i in range(50)], "y": ["a", "b"] * 25})
    assert table.names == ("y",)


@pytest.mark.parametrize("rows", [40, 300])
def test_lengths_of_time_are_seconds(rows):
    seconds = (RNG.integers(0, 10**6, rows) / 4).tolist()
    cells = [timedelta(seconds=one) for one in seconds]
    frame = pd.DataFrame({"x": pd.to_timedelta(cells), "k": ["a", "b"] * (rows // 2)})
    for data in ({"x": cells}, frame[["x"]], pl.DataFrame({"x": cells}), {"x": [*cells[:-1], None]}):
        table = bs.as_table(data)
        assert table.kinds == ("continuous",)
        assert table.column("x")[:-1] == seconds[:-1]
        assert table.columns[0].reason == "lengths of time, in seconds"
    model = bs.learn(frame, search="hill-climb", score="bic").fit()
    assert model.predict(frame, "k") == model.predict({"x": seconds}, "k")
    cut = bs.fit([("x", "k")], bs.discretise(frame, bins=3))
    assert cut.predict(frame, "k") == cut.predict({"x": seconds}, "k")
    assert cut.query("k", {"x": cells[0]})["a"] == cut.query("k", {"x": seconds[0]})["a"]


# ---- numbers with more than digits, and numbers that mean missing


def told(frame, **options):
    """The warnings of reading a frame, as texts."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bs.as_table(frame, **options)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize(
    "write",
    [
        lambda x: f"{x:.0f} %",
        lambda x: f"{x:.1f}mg",
        lambda x: f"€ {x:.2f}".replace(".", ","),
        lambda x: f"{1000 * x:,.2f}",
        lambda x: f"{1000 * x:,.2f}".translate(str.maketrans(",.", ".,")),
        lambda x: f"{1000 * x:,.0f}".replace(",", "\u202f"),
    ],
)
@pytest.mark.parametrize("digits", [0, 4])
def test_numbers_with_units_or_marks_of_thousands_are_told(write, digits):
    """In columns that are kept, in which numbers repeat, and in those left out, in which they do not."""
    numbers = np.round(RNG.uniform(10, 90, 300), digits)
    texts = [write(number) for number in numbers]
    texts[7] = "unknown"
    frame = pd.DataFrame({"x": texts, "y": ["a", "b"] * 150})
    (found,) = [one for one in told(frame) if "unit or marks of thousands" in one]
    assert f"'x' (such as {texts[0]!r})" in found
    assert not any("unit" in one for one in told(frame, kinds={"x": "discrete"}))


@pytest.mark.parametrize(
    "texts",
    [
        [f"{i % 40}{'ab'[i % 2]}" for i in range(300)],
        [f"P{i:04d}" for i in range(300)],
        [f"{i % 40:03d} m" for i in range(300)],
        [f"192.168.1.{i % 40}" for i in range(300)],
        [f"{i % 3} kg" for i in range(300)],
        [f"{i % 40}-{i % 40 + 9}" for i in range(300)],
    ],
)
def test_codes_are_no_such_numbers(texts):
    assert not any("unit" in one for one in told(pd.DataFrame({"x": texts, "y": ["a", "b"] * 150})))


@pytest.mark.parametrize("mark", [999, -99, -999.0])
@pytest.mark.parametrize("digits", [0, 2])
def test_numbers_like_999_far_from_the_others_are_told(mark, digits):
    numbers = np.round(RNG.normal(120, 5, 300), digits)
    numbers[[3, 50]] = mark
    frame = pd.DataFrame({"x": numbers, "y": ["a", "b", None] * 100})
    (found,) = [one for one in told(frame) if "far from all others" in one]
    assert found.startswith(f"numbers far from all others: {mark:.0f} in 'x': ")
    assert f"missing_values=('{mark:.0f}',)" in found
    assert not any("far from" in one for one in told(frame, missing_values=[str(int(mark))]))
    assert not any("far from" in one for one in told(frame.assign(x=np.linspace(18, 99, 300).round())))
    assert not any("far from" in one for one in told(frame.assign(x=numbers + 1)))


@pytest.mark.parametrize("cells", [[1, 2, 3, 99], [1.0, 2.0, 5.0, 99.0, None], ["1", "2", "4", "99"]])
def test_a_99_among_grades_is_told(cells, tmp_path):
    frame = pd.DataFrame({"grade": cells * 60})
    if isinstance(cells[0], str):  # cells of a file
        frame.to_csv(tmp_path / "grades.csv", index=False)
        with pytest.warns(BayescoutWarning, match="99 in 'grade': "):
            bs.read_table(tmp_path / "grades.csv")
        return
    (found,) = [one for one in told(frame) if "far from all others" in one]
    assert "99 in 'grade': as_table(data, missing_values=('99',))" in found
    assert bs.as_table(frame, missing_values=("99",)).cardinalities.tolist() == [3]
    assert not any("far from" in one for one in told(frame, missing_values=("99",)))


def test_the_usual_marks_stay_declared_with_999(tmp_path):
    cells = ["999" if i == 4 else "NA" if i == 5 else f"{100 + i % 30}" for i in range(200)]
    path = written(tmp_path, "x,y\n" + "".join(f"{cell},{'ab'[i % 2]}\n" for i, cell in enumerate(cells)))
    with pytest.warns(BayescoutWarning) as caught:
        bs.read_table(path)
    assert any("missing_values=('999', 'NA')" in str(one.message) for one in caught)


# ---- all that may mean missing, among numbers with decimal commas


def messy(tmp_path):
    """Cells separated by semicolons, decimal commas, and three ways to say that there is none."""
    rows = [f"{100 + i * 0.7:.1f}".replace(".", ",") + f";{'ab'[i % 2]};{20 + i % 40}" for i in range(200)]
    rows[5], rows[9] = "k.A.;-;-99", "-;-;30"
    return written(tmp_path, "\n".join(["size;kind;age", *rows]) + "\n")


def test_one_line_names_all_that_has_to_be_declared(tmp_path):
    path = messy(tmp_path)
    with pytest.warns(BayescoutWarning) as caught:
        bs.read_table(path)
    (found,) = [str(one.message) for one in caught if "if that means missing" in str(one.message)]
    assert found == (
        "column 'size' is read as text because of '-', 'k.A.' among its numbers; column 'kind' has a state "
        "'-'; numbers far from all others: -99 in 'age': "
        "as_table(data, missing_values=('-', 'k.A.', '-99')) if that means missing"
    )
    table = bs.read_table(path, missing_values=("-", "k.A.", "-99"))
    assert table.kinds == ("continuous", "discrete", "continuous")
    assert table.missing.counts == (("size", 2), ("kind", 2), ("age", 1))


def test_a_text_with_a_point_leaves_decimal_commas_as_they_are(tmp_path):
    path = messy(tmp_path)
    model = bs.fit(
        bs.Dag.from_arcs([("kind", "size")]),
        bs.read_table(path, missing_values=("-", "k.A."), columns=["size", "kind"]),
    )
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = model.predict_proba(path, "kind")
    assert "'size' (2, such as 'k.A.') of 200 rows" in str(said[-1].message)
    sizes = [{"size": None if i in (5, 9) else round(100 + i * 0.7, 1)} for i in range(200)]
    assert np.array_equal(found, model.predict_proba(pd.DataFrame(sizes), "kind"))


def test_numbers_with_a_unit_are_no_missing_values(tmp_path):
    path = written(tmp_path, "x,y\n" + "".join(f"{i % 4 * 5} %,{'ab'[i % 2]}\n" for i in range(40)))
    with pytest.raises(DataError, match=r"has '0 %' in row 0.*: write such cells as plain numbers$"):
        bs.read_table(path, kinds={"x": "continuous"})


def test_an_error_names_all_texts_among_the_numbers(tmp_path):
    path = messy(tmp_path)
    with pytest.raises(DataError, match=r"missing_values=\('k.A.', '-'\)\) if that marks a missing value$"):
        bs.read_table(path, kinds={"size": "continuous"})


def test_a_spreadsheet_is_refused_with_what_to_do(tmp_path):
    path = written(tmp_path, "PK", "rows.xlsx")
    with pytest.raises(FormatError, match=r"save the sheet as CSV, or read it with pandas.read_excel"):
        bs.read_table(path)


def test_rows_to_predict_are_told_of_numbers_that_may_mean_missing(tmp_path):
    path = messy(tmp_path)
    ages = bs.read_table(path, missing_values=("-", "-99"), columns=["kind", "age"])
    model = bs.fit(bs.Dag.from_arcs([("kind", "age")]), ages)
    with pytest.warns(BayescoutWarning) as caught:
        model.predict(path, "kind")
    assert any("numbers far from all others: -99 in 'age'" in str(one.message) for one in caught)
    rows = pd.DataFrame({"age": [21.0, 22.0, 99.0]})  # too few to tell
    assert len(model.predict(rows, "kind")) == 3
