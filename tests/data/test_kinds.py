"""Which columns are categorical and which continuous, which are left out, and how that is told."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.data import as_table, read_table
from bayescout.data.kinds import kind_of_whole
from bayescout.errors import BayescoutWarning

rng = np.random.default_rng(15)
CLOSE, CLEAR = True, False
CASES = {
    "votes": (rng.integers(0, 2, 300), "discrete", CLEAR),
    "a scale of five": (rng.integers(1, 6, 40), "discrete", CLEAR),
    "a scale of seven": (rng.integers(1, 8, 300), "discrete", CLEAR),
    "around zero": (rng.integers(-2, 3, 60), "discrete", CLEAR),
    "children": (rng.choice([0, 1, 2, 3, 4, 5, 8], 900), "discrete", CLEAR),
    "cylinders": (rng.choice([4, 6, 8], 32), "discrete", CLEAR),
    "month": (rng.integers(1, 13, 400), "discrete", CLEAR),
    "weekday in few rows": (np.arange(21) % 7 + 1, "discrete", CLOSE),
    "hour": (np.arange(2400) % 24, "discrete", CLOSE),
    "quality": (rng.integers(3, 9, 1600), "discrete", CLOSE),
    "three years": (rng.integers(2019, 2022, 300), "discrete", CLOSE),
    "marks to 20": (np.arange(395) % 21, "continuous", CLOSE),
    "marks to 100": (rng.integers(0, 101, 88), "continuous", CLEAR),
    "year": (rng.integers(2010, 2021, 990), "continuous", CLOSE),
    "years": (rng.integers(1950, 2021, 990), "continuous", CLEAR),
    "age": (rng.integers(18, 90, 100_000), "continuous", CLEAR),
    "pressure in tens": (np.arange(60) % 10 * 10 + 90, "continuous", CLOSE),
    "pressure": (rng.normal(120, 15, 500).round(), "continuous", CLEAR),
    "67 codes": (np.arange(67_000) % 67, "continuous", CLOSE),
    "one decimal": (rng.normal(5, 1, 150).round(1), "continuous", CLEAR),
    "dose": (np.array([0.5, 1.0, 2.0] * 20), "continuous", CLOSE),
}


def read(data, **options):
    """The table and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return as_table(data, **options), [str(w.message) for w in caught]


@pytest.mark.parametrize("name", CASES)
def test_the_cases_of_the_decision_page(name):
    cells, kind, close = CASES[name]
    table, said = read({"x": cells})
    assert table.kinds == (kind,)
    assert table.columns[0].close == close
    assert len(said) == close
    if close:
        other = "continuous" if kind == "discrete" else "discrete"
        assert said[0].startswith("close calls in how columns are read: 'x' (")
        assert f"as_table(data, kinds={{'x': '{other}'}})" in said[0]
        turned, quiet = read({"x": cells}, kinds={"x": other})
        assert (turned.kinds, quiet) == ((other,), [])


@pytest.mark.parametrize("name", CASES)
def test_types_files_and_the_order_of_rows_do_not_matter(name, tmp_path):
    cells, *_ = CASES[name]
    shuffled = np.random.default_rng(1).permutation(cells)
    whole = bool((cells == np.trunc(cells)).all())
    sources = [cells.astype(float), pd.Series(cells).astype("Float64"), shuffled, cells.tolist()]
    if whole:
        sources += [cells.astype(np.int64), pd.Series(cells.astype(int)).astype("Int64")]
    tables = [read({"x": source})[0] for source in sources]
    for form in ("{:g}", "{:.1f}"):
        path = tmp_path / "d.csv"
        path.write_text("x\n" + "".join(form.format(cell) + "\n" for cell in cells))
        tables.append(read(path)[0])
    assert len({(t.kinds, t.states, t.columns[0].reason, t.columns[0].close) for t in tables}) == 1
    assert len({t.fingerprint for t in [*tables[:2], *tables[3:]]}) == 1


def test_floats_too_large_to_be_known_as_whole_are_continuous_and_integers_without_a_float_are_states():
    assert read({"x": [1e200, -3e210, 7e205] * 9})[0].kinds == ("continuous",)
    assert read({"x": [10**400, 10**401, 10**402] * 9})[0].states == ((10**400, 10**401, 10**402),)


def test_gaps_leave_the_kind():
    cells = pd.Series(CASES["a scale of seven"][0])
    table, said = read({"x": cells.where(cells.index % 5 > 0)})
    assert (table.states, said) == (((1, 2, 3, 4, 5, 6, 7),), [])
    assert table.columns[0].missing == 60


def twin(numbers, rows):
    """The table of the decision page, written out."""
    d, low, high = len(numbers), min(numbers), max(numbers)
    span, r = high - low + 1, rows / len(numbers)
    codes = (low in (0, 1) or (low < 0 <= high and span <= 12)) and span <= 2 * d
    far = low * high > 0 and min(abs(low), abs(high)) > 10 * span
    if d <= 2 or (codes and d <= 5):
        return "discrete"
    least = {True: {5: 0, 12: 2, 24: 50}, False: {5: 2, 12: 10}}[codes]
    for most, needed in least.items():
        if d <= most:
            return "discrete" if r >= needed and not (far and most == 12) else "continuous"
    return "continuous"


@given(
    numbers=st.one_of(
        st.integers(1, 40).map(lambda d: list(range(d))),
        st.builds(lambda a, d, k: list(range(a, a + d * k, k)), st.integers(-9, 3000), st.integers(1, 30),
                  st.integers(1, 12)),
        st.lists(st.integers(-20, 60), min_size=1, unique=True),
    ),
    each=st.one_of(st.integers(1, 12), st.sampled_from([49, 50, 51, 1000])),
)  # fmt: skip
def test_the_rule_is_the_table(numbers, each):
    assert kind_of_whole(numbers, each * len(numbers)).kind == twin(numbers, each * len(numbers))


def test_a_benchmark_network_in_integer_codes_stays_discrete():
    network = bs.load_network("alarm")
    sample = network.sample(1000, seed=3)
    coded = {str(name): sample.array(name).astype(int) for name in sample.names}
    table, said = read(coded)
    assert table.is_discrete
    assert not [text for text in said if "close calls" in text]


# ---- columns that are left out

KEY = [f"{i:08x}-0000-4000-8000-{i * 7:012x}" for i in range(40)]
LEFT_OUT = {
    "texts all distinct": ([f"row {i}" for i in range(40)], "identifies rows"),
    "row numbers": (list(range(1, 41)), "identifies rows"),
    "row numbers as floats": ([float(i) for i in range(40)], "identifies rows"),
    "row numbers out of order": ([i * 7 % 40 + 1000 for i in range(40)], "identifies rows"),
    "keys": ([*KEY[:30], *KEY[:10]], "identifies rows"),
    "many numbers": (list(range(40)), "identifies rows"),
    "dates": (pd.date_range("2020-01-01", periods=40), "dates"),
    "iso dates": ([f"2020-01-{i % 28 + 1:02d}" for i in range(40)], "dates"),
    "iso times": ([f"2020-01-{i % 28 + 1:02d}T10:30:00Z" for i in range(40)], "dates"),
    "days as most people write them": ([f"{i % 28 + 1}/7/2024" for i in range(40)], "dates"),
    "days in two forms": ([f"{i % 28 + 1:02d}.07.2024" for i in range(39)] + ["2024-07-01 8:30"], "dates"),
    "an identifier with repeated rows": (
        [f"row {i}" for i in range(36)] + ["row 1"] * 4,
        "texts most of which occur once",
    ),
    "nothing": ([None] * 40, "no values"),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_columns_are_left_out_unless_they_are_meant(name):
    cells, reason = LEFT_OUT[name]
    data = {"x": cells, "y": ["a", "b"] * 20}
    table, said = read(data)
    assert table.names == ("y",)
    assert table.notes.left_out == (("x", reason),)
    assert said[0].startswith(f"column left out: 'x' ({reason}); as_table(data, kinds={{'x': 'discrete'}})")
    assert table.reading.endswith(f"; 1 column left out: 'x' ({reason})")
    if name != "nothing":
        assert read(data, kinds={"x": "discrete"})[0].names == ("x", "y")
        assert read(data, columns=["y", "x"])[0].names == ("y", "x")
    assert (
        read(data, states={"x": list(dict.fromkeys(cells)) if name != "nothing" else ["u"]})[0].n_columns == 2
    )
    assert read(data, drop=["x"])[1] == []


def test_the_same_in_a_file_of_many_rows(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("id,x,name\n" + "".join(f"{i},{i % 3},n{i}\n" for i in range(500)))
    table, said = read(path)
    assert (table.names, len(said)) == (("x",), 1)
    assert [name for name, _ in table.notes.left_out] == ["id", "name"]


def test_numbers_in_text_most_of_which_occur_once_are_left_out_and_can_be_read():
    cells = [f"{i},5" for i in range(30)] + ["0,5"] * 10
    table, said = read({"x": cells, "y": ["a", "b"] * 20})
    assert table.names == ("y",)
    assert said == [
        "column left out: 'x' (numbers kept as text, most of which occur once); "
        "as_table(data, kinds={'x': 'continuous'}) reads its numbers"
    ]
    assert read({"x": cells}, kinds={"x": "continuous"})[0].column("x")[:2] == [0.5, 1.5]


@pytest.mark.parametrize("text", ["1.2.3", "31/31/2024", "12-2024", "1/2/24", "2024", "0/1/2024", "1.2-2024"])
def test_what_is_no_date_is_a_category(text):
    assert read({"x": [text, "b"] * 20})[0].columns[0].reason == "2 texts in 40 rows"


# ---- texts that may mean missing


def test_a_mark_among_numbers_is_named_with_all_that_has_to_be_declared(tmp_path):
    path = tmp_path / "d.csv"
    rows = [f"{i % 40 + 100},{'yes' if i % 3 else 'no'},{i % 2}" for i in range(200)]
    path.write_text("\n".join(["pressure,smokes,sex", *rows, "-,-,-", "-,n/a,-"]) + "\n")
    table, said = read(path)
    assert table.columns[0].reason == "41 texts in 202 rows, numbers but for '-'"
    assert said[1:] == [
        "column 'pressure' is read as text because of '-' among its numbers; columns 'smokes', 'sex' have a "
        "state '-': as_table(data, missing_values=('-', 'n/a')) if that means missing",
    ]
    table, said = read(path, missing_values=("-", "n/a"))
    assert (table.kinds, said) == (("continuous", "discrete", "discrete"), [])
    assert dict(table.missing.counts) == {"pressure": 2, "smokes": 2, "sex": 2}
    frame = pd.read_csv(path)  # to which "-" is a text as well
    assert [text for text in read(frame)[1] if "may" in text or "if that means missing" in text]
    assert read(frame, missing_values="-")[0].kinds[1:] == ("discrete", "discrete")


@pytest.mark.parametrize(
    "cells", [["+", "-"] * 20, ["a", "b"] * 20, ["1", "2", "3+"] * 20, [1, 2, 3, 4] * 10, ["-"] * 40]
)
def test_nothing_is_suspected_of_states(cells):
    assert not [text for text in read({"x": cells})[1] if "if that means missing" in text]


def test_numbers_with_marks_of_thousands_are_not_said_to_mean_missing():
    """Of 23,288 alone the comma could be a decimal one; 1,007,323 tells that it is not."""
    cells = [f"{i % 37 + 10},{i % 7 + 200}" for i in range(400)] + ["1,007,323", "1,012,345"] * 3
    said = read({"force": cells, "x": ["a", "b"] * 203})[1]
    assert not [text for text in said if "if that means missing" in text]
    assert any("marks of thousands are read as text: 'force' (such as '10,200')" in text for text in said)


def test_what_is_shown_of_a_long_text_is_short():
    cells = [",".join(str(k) for k in range(100 + i, 900)) for i in range(40)] * 10
    (said,) = [text for text in read({"bands": cells})[1] if "marks of thousands" in text]
    assert len(said) < 200


@pytest.mark.parametrize(("distinct", "each", "close"), [(60, 4, True), (60, 5, False), (24, 3, False)])
def test_many_texts_with_few_rows_each_are_a_close_call(distinct, each, close):
    """Names of countries or persons, a few rows of each: they can be states, and seldom are of use."""
    table, said = read({"who": [f"p{i}" for i in range(distinct)] * each})
    assert table.kinds == ("discrete",)
    assert table.columns[0].close == close
    assert bool([text for text in said if "drop the column if that is no use" in text]) == close


# ---- texts that count as missing


def test_marks_are_counted_and_can_be_kept(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,b,c\n" + "NA,1,x\n2,?,NA\n3,2,null\n1,2,y\n2,1,x\n" * 4)
    table, said = read(path)
    assert table.kinds == ("discrete",) * 3
    assert dict(table.missing.counts) == {"a": 4, "b": 4, "c": 8}
    assert said == [
        "cells that count as missing: 'NA' 8, '?' 4, 'null' 4; as_table(data, missing_values=()) keeps such "
        "texts as states"
    ]
    assert table.reading == "20 rows; 3 categorical; 16 cells missing (26.7%; 'NA' 8, '?' 4, 'null' 4)"
    kept, said = read(path, missing_values=())
    assert (kept.has_missing, said) == (False, [])
    assert kept.states == (("1", "2", "3", "NA"), ("1", "2", "?"), ("NA", "null", "x", "y"))
    declared, said = read(path, missing_values=["NA"])
    assert dict(declared.missing.counts) == {"a": 4, "c": 4}
    assert said == [
        "'?' is a state of column 'b' (and 1 more such), since the declared missing values replace the usual "
        "ones: as_table(data, missing_values=('NA', '?')) if it means missing"
    ]
    own, said = read(path, states={"c": ["x", "y", "NA", "null"]})
    assert "NA" in own.column("c")


def test_in_quotes_a_mark_is_text_except_among_numbers(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text('a,b\n"NA",1\nNA,"NA"\n"x",2\n"y",1\n')
    table, said = read(path)
    assert table.column("a") == ["NA", None, "x", "y"]
    assert table.column("b") == [1, None, 2, 1]
    assert said[0].startswith("cells that count as missing: 'NA' 2;")
    path.write_text('"a","b"\n"NA","1"\n"x","2"\n"y","1"\n')
    assert read(path)[0].column("a") == [None, "x", "y"]  # quotes that are everywhere say nothing


def test_a_late_mark_among_many_numbers(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("x,y\n" + "".join(f"{i / 7},{i % 2}\n" for i in range(300)) + 'NA,1\n"NA",0\n?,\n')
    table, _ = read(path)
    assert table.kinds == ("continuous", "discrete")
    assert dict(table.missing.counts) == {"x": 3, "y": 1}
    assert table.notes.marked(["x"]) == [("NA", 2), ("?", 1)]


def test_frames_hold_what_they_hold():
    table, said = read(pd.DataFrame({"x": ["NA", "?", "a", None]}))
    assert (table.column("x"), said) == (["NA", "?", "a", None], [])


# ---- the reading as a value


def test_the_reading_prints_as_a_table_and_goes_with_the_data(tmp_path):
    data = {"age": np.arange(18, 88), "sex": ["f", "m"] * 35, "code": [1.0, None, 3.0, 2.0, 1.0] * 14}
    table, _ = read(data)
    assert str(table.columns).splitlines() == [
        "column  kind         values      missing  why",
        "sex     categorical  2: f, m           -  2 texts in 70 rows",
        "code    categorical  3: 1, 2, 3       14  3 whole numbers, about 19 rows each",
    ]
    assert table.reading == (
        "70 rows; 2 categorical; 14 cells missing (10.0%); 1 column left out: 'age' (identifies rows)"
    )
    back = pickle.loads(pickle.dumps(table))
    assert (back.reading, back.columns) == (table.reading, table.columns)
    part = table.select(["code"]).take(np.arange(35))
    assert [(one.name, one.missing, one.reason) for one in part.columns] == [
        ("code", 7, "3 whole numbers, about 19 rows each")
    ]
    cut = bs.discretise({"x": np.arange(50) / 7, "y": ["a", "b"] * 25}, bins=2)
    assert [one.reason for one in cut.columns] == ["cut into 2 intervals", "2 texts in 50 rows"]


def test_a_result_keeps_the_reading_in_memory_and_in_its_file(tmp_path):
    data = {"b": ["u", "v", "u", "v"] * 5, "a": [0.0, 1.0, 1.0, 0.0] * 5, 3: ["x", "y"] * 10}
    result = bs.learn(data, search="hill-climb", score="bic")
    assert result.data.summary == "20 rows; 3 categorical; no cells missing"
    assert result.data.summary in str(result)
    assert [one.name for one in result.data.columns] == ["b", "a", 3]  # as given, not as searched
    result.save(tmp_path / "r.json")
    assert bs.Result.load(tmp_path / "r.json").data == result.data
    assert result.summary()["data"]["columns"][1]["states"] == (0, 1)


def test_dropping_rows_is_told():
    data = {"a": [None, "x", "y", "y", None], "b": ["u", "v", None, "u", "v"]}
    with pytest.warns(BayescoutWarning, match=r"3 of 5 rows are left out, .*: in 'a' \(2\), 'b' \(1\)$"):
        table = as_table(data, missing="drop")
    assert table.reading == ("2 rows; 2 categorical; 3 cells missing (30.0%), 3 of 5 rows left out for it")


# ---- states in other types


@pytest.mark.parametrize("states", [[0, 1], [0.0, 1.0], [False, True], ["0", "1"]])
@pytest.mark.parametrize("cells", [[0, 1, 1], [0.0, 1.0, 1.0], [False, True, True], ["0", "1", "1"]])
def test_declared_states_are_found_in_any_type(states, cells):
    table = as_table({"x": cells}, states={"x": states})
    assert table.states == (tuple(states),)
    assert table.codes.tolist() == [[0, 1, 1]]


def test_an_exact_state_comes_first_and_a_doubt_is_an_error():
    table = as_table({"x": ["0", "0.0"]}, states={"x": ["0.0", "0"]})
    assert table.codes.tolist() == [[1, 0]]
    assert as_table({"x": [0.0, 1.0]}, states={"x": ["0", "1"]}).column("x") == ["0", "1"]
    with pytest.raises(bs.errors.SettingError, match=r"state False of column 'x' could be '0\.0' or '0'"):
        as_table({"x": [False, False]}, states={"x": ["0.0", "0"]})


def test_a_file_gives_the_same_as_its_frame(tmp_path):
    """bool states of a frame are found in the csv that pandas, R or we write of it."""
    frame = pd.DataFrame({"x": [True, False, True], "y": [1, 2, 1]})
    model = bs.fit(bs.Dag.from_arcs([("x", "y")]), frame)
    for words in ("True,False", "true,false", "TRUE,FALSE", "1,0"):
        yes, no = words.split(",")
        path = tmp_path / "d.csv"
        path.write_text(f"x,y\n{yes},1\n{no},2\n{yes},1\n")
        assert model.log_likelihood(read_table(path)) == model.log_likelihood(frame)
