"""Files become tables: what a cell means, where a mistake is, and that batches do not matter."""

from __future__ import annotations

import csv
import gzip
import io
from functools import partial
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bayescout.data import as_table, columnar, read_table
from bayescout.data import read as read_module
from bayescout.data.blocks import read_blocks
from bayescout.data.numerals import typed
from bayescout.data.read import names_in
from bayescout.errors import (
    BayescoutError,
    BayescoutWarning,
    DataError,
    FormatError,
    MissingValueError,
    SettingError,
    UnknownNameError,
)

quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
pytestmark = pytest.mark.filterwarnings("ignore:constant columns")


@pytest.fixture
def write(tmp_path):
    def put(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


def cells_of(texts):
    """A csv file of one column with a name that needs no quotes."""
    return "x\n" + "".join(f"{text}\n" for text in texts)


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["1", "2", "1"], [1, 2, 1]),
        (["-1", "+1", "0"], [-1, 1, 0]),
        ([" 1", "1 ", "2"], [1, 1, 2]),
        (["007", "7"], ["007", "7"]),
        (["00", "0"], ["00", "0"]),
        (["12345678901234567890", "1"], [12345678901234567890, 1]),
        (["true", "false"], ["true", "false"]),
        (["TRUE", "FALSE", "TRUE"], ["TRUE", "FALSE", "TRUE"]),
        (["True", "true"], ["True", "true"]),
        (["true", "1"], ["true", "1"]),
        (["1.0", "2"], [1, 2]),
        (["1.0", "2", "2.50"], [1.0, 2.0, 2.5]),
        (["1e5", ".5", "5.", "-1E-3"], [1e5, 0.5, 5.0, -1e-3]),
        (["1e999", "1e998", "1.5"], ["1e999", "1e998", "1.5"]),
        (["NA", "1", "2"], [None, 1, 2]),
        (["nan", "1.5", "2.5"], [None, 1.5, 2.5]),
        (["None", "nan", "NA", "none"], ["None", None, None, "none"]),
        (["?", "n/a", "N/A", "NULL", "null", "NaN", "#N/A", "x", "y"], [None] * 7 + ["x", "y"]),
        (["-", "na", "Null", ".", "x"], ["-", "na", "Null", ".", "x"]),
        (["inf", "1", "2"], ["inf", "1", "2"]),
        ([" a", "a"], [" a", "a"]),
        (["1_000", "1000"], ["1_000", "1000"]),
        (["٣", "3"], ["٣", "3"]),
        (["0x1", "1"], ["0x1", "1"]),
        (["1" * 400, "1"], ["1" * 400, "1"]),
    ],
)
@pytest.mark.filterwarnings("ignore:cells that count as missing")
def test_what_the_cells_of_a_column_mean(write, texts, values):
    column = read_table(write(cells_of(texts)), columns=["x"]).column("x")
    assert [(type(v), v) for v in column] == [(type(v), v) for v in values]


@given(st.lists(st.text("0123456789+-. eEinfatruTRUE", min_size=1, max_size=5), min_size=1, max_size=6))
def test_two_texts_become_one_value_only_as_the_same_number(texts):
    values = typed(texts)
    for a, x in zip(texts, values, strict=True):
        for b, y in zip(texts, values, strict=True):
            if a != b and x == y:
                assert type(x) in (int, float)
                assert float(a) == float(b)
        assert isinstance(x, str | bool) or float(a) == x
    assert len({type(value) for value in values}) == 1


def test_an_infinite_number_is_refused_by_name(write):
    with pytest.raises(DataError, match=r"data\.csv: column 'x' holds inf in row 1"):
        read_table(write(cells_of(["1.5", "inf"])))


def test_an_empty_cell_is_missing_whatever_is_declared(write):
    path = write('a,b\nNA,1\n,2\n"",2\nx,\n')
    with pytest.raises(MissingValueError, match=r"data\.csv: missing values in 'a' \(2\), 'b' \(1\)"):
        read_table(path, missing="error", missing_values=())
    with pytest.warns(BayescoutWarning, match=r"3 of 4 rows are left out, .*: in 'a' \(2\), 'b' \(1\)"):
        assert read_table(path, missing="drop", missing_values=()).to_dict() == {"a": ["NA"], "b": [1]}
    table = read_table(path, missing="state", missing_values=())
    assert table.column("a") == ["NA", "missing", "missing", "x"]


def test_declared_missing_values_decide_the_type(write):
    path = write("a,b\n1,2.5\n?,NA\n2,-999\n")
    table = read_table(path, missing_values=("?", "NA", -999))
    assert table.to_dict() == {"a": [1, None, 2], "b": [2.5, None, None]}
    assert table.missing.counts == (("a", 1), ("b", 2))


MANY = [f"{i / 7}" for i in range(300)]


def test_many_numbers_are_continuous_and_a_late_text_makes_them_states(write):
    small = partial(read_blocks, size=50)
    with mock.patch.object(read_module, "read_blocks", small):
        assert read_table(write(cells_of(MANY))).column("x") == [float(t) for t in MANY]
        declared = read_table(write(cells_of([*MANY, "NA", ""])), missing_values=["NA"])
        assert declared.column("x") == [*(float(t) for t in MANY), None]
        with pytest.warns(BayescoutWarning, match="cells that count as missing: 'NA' 2; "):
            usual = read_table(write(cells_of([*MANY, "NA", "NA"])))
        assert usual.column("x") == [*(float(t) for t in MANY), None, None]
        with pytest.warns(
            BayescoutWarning, match="column 'x' is read as text because of 'no' among its numbers"
        ):
            table = read_table(write(cells_of([*MANY, "no", "no"])), columns=["x"])
        assert table.column("x") == [*MANY, "no", "no"]
        with pytest.raises(DataError, match=r"'x' is to hold numbers but has 'no' in row 300"):
            read_table(write(cells_of([*MANY, "no"])), kinds="continuous")


def test_many_integers_are_continuous_unless_declared(write):
    texts = [str(i) for i in range(101)] * 2
    assert read_table(write(cells_of(texts))).kinds == ("continuous",)
    assert read_table(write(cells_of(texts[:12] * 5))).kinds == ("discrete",)
    assert read_table(write(cells_of(texts)), kinds={"x": "discrete"}).column("x") == [int(t) for t in texts]


def test_a_late_leading_zero_makes_a_column_text(write):
    texts = [*(str(i) for i in range(200)), "007", "007"]
    with pytest.warns(BayescoutWarning, match="because of '007' among its numbers"):
        table = read_table(write(cells_of(texts * 3)))
    assert table.columns[0].reason == "201 texts in 606 rows, numbers but for '007'"
    assert table.column("x") == texts * 3


def test_too_many_texts_hint_at_the_culprit(write):
    with pytest.raises(DataError, match=r"nearly all are numbers; as_table\(data, missing_values=\('no',\)"):
        read_table(write(cells_of([*(f"{i}.5" for i in range(66_000)), "no"])))
    lines = "".join(f"id{i},{i % 2}\n" for i in range(66_000))
    with pytest.warns(BayescoutWarning, match=r"column left out: 'x' \(more distinct values than"):
        assert read_table(write("x,y\n" + lines)).names == ("y",)
    with pytest.raises(DataError, match="more than 65,536 distinct values"):
        read_table(write("x,y\n" + lines), columns=["x"])


def test_declared_states_decide_the_type(write):
    path = write(cells_of(["1", "0"]))
    assert read_table(path, states={"x": ["0", "1", "2"]}).column("x") == ["1", "0"]
    assert read_table(path, states={"x": [0, 1, 2]}).column("x") == [1, 0]
    with pytest.raises(DataError, match=r"value 1 .* row 0"):
        read_table(path, states={"x": [0, 2]})


def test_weights_from_a_column(write):
    table = read_table(write("x,w\na,1\nb,2.5\n"), weights="w")
    assert table.names == ("x",)
    assert table.weights.tolist() == [1.0, 2.5]


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("tail", ["", "END", "ENDENDEND"])
def test_line_ends_byte_order_mark_and_tail(write, ends, start, tail):
    text = start + "a,b\nx,1\ny,2" + tail.replace("END", "\n")
    assert read_table(write(text.replace("\n", ends))).to_dict() == {"a": ["x", "y"], "b": [1, 2]}


@pytest.mark.parametrize("size", range(1, 16))
def test_blank_lines_count_wherever_blocks_end(write, size):
    with mock.patch.object(read_module, "read_blocks", partial(read_blocks, size=size)):
        alone = read_table(write("x\na\n\n\nb\n\n\n"), missing="state")
        assert alone.column("x") == ["a", "missing", "missing", "b"]
        with pytest.raises(FormatError, match="line 4: a blank line"):
            read_table(write("x,y\na,1\nb,2\n\n\nc,3\n"))
        with pytest.raises(FormatError, match="line 6: 1 cell"):
            read_table(write("x y\na 1\n\nb 2\n\nc\n", "d.dat"))


def test_quoted_cells_hold_anything(write):
    text = 'a,"b ""q"", c"\n"x,\ny",1\n"z ""q""",2\n'
    assert read_table(write(text)).to_dict() == {"a": ["x,\ny", 'z "q"'], 'b "q", c': [1, 2]}


def test_quotes_mark_text_unless_the_whole_file_is_quoted(write):
    assert read_table(write('a,b\n"1",1\n"2",2\n')).to_dict() == {"a": ["1", "2"], "b": [1, 2]}
    assert read_table(write('"a","b"\n"true",1\n"false",2\n')).column("a") == ["true", "false"]
    assert read_table(write('"a","b"\n"1","x"\n"2","y"\n')).to_dict() == {"a": [1, 2], "b": ["x", "y"]}
    assert read_table(write('a,b\n"x,1","2"\n"y\n",3\n')).to_dict() == {"a": ["x,1", "y\n"], "b": ["2", "3"]}


def test_other_layouts(write):
    expected = {"a": ["x", "y"], "b": [1, 2]}
    assert read_table(write("a\tb\nx\t1\ny\t2\n", "d.tsv")).to_dict() == expected
    assert read_table(write("a;b\nx;1\ny;2\n"), separator=";").to_dict() == expected
    assert read_table(write(gzip.compress(b"a,b\nx,1\ny,2\n", mtime=0), "d.csv.gz")).to_dict() == expected
    assert as_table(write("a,b\nx,1\ny,2\n")).to_dict() == expected
    assert as_table(str(write("a,b\nx,1\ny,2\n", "D.CSV"))).to_dict() == expected


@pytest.mark.parametrize("name", ["d.dat", "d.data", "d.txt"])
@pytest.mark.parametrize(
    "text",
    [
        "M B L\n1 0 yes\n0 1 no\n",
        "  M\tB  L \n\n1  0\tyes\n\n0 1 no",
        "M, B,L\n1 ,0 , yes\n0,1,no\n\n",
        "M B L\r\n1 0 yes\r\n0 1 no",
    ],
)
def test_the_data_file(write, text, name):
    assert read_table(write(text, name)).to_dict() == {"M": [1, 0], "B": [0, 1], "L": ["yes", "no"]}


def test_columnar_files_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(columnar, "BATCH_ROWS", 7)
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "*": [f"s{i}" for i in rng.integers(0, 5, 100)],
            "^n.*$": rng.integers(0, 3, 100),
            "wide": rng.integers(0, 1000, 100),
            "f": rng.normal(size=100),
            "b": rng.random(100) < 0.5,
            "e": pl.Series(["lo", "hi"] * 50, dtype=pl.Enum(["lo", "mid", "hi"])),
            "late": [*range(60), *range(40)],
        }
    )
    frame.write_parquet(tmp_path / "d.parquet", row_group_size=30)
    frame.write_ipc(tmp_path / "d.arrow")
    frame.write_ipc(tmp_path / "d.feather")
    whole = as_table(frame)
    for name in ("d.parquet", "d.arrow", "d.feather"):
        assert read_table(tmp_path / name).fingerprint == whole.fingerprint


def test_a_columnar_column_that_turns_continuous_late(tmp_path, monkeypatch):
    monkeypatch.setattr(columnar, "BATCH_ROWS", 10)
    cells = [0, 1] * 50 + list(range(150)) + [None]
    pl.DataFrame({"x": cells, "y": [1, 2, 3] * 83 + [1, 2]}).write_parquet(
        tmp_path / "d.parquet", row_group_size=20
    )
    table = read_table(tmp_path / "d.parquet")
    assert table.kinds == ("continuous", "discrete")
    assert table.column("x") == cells


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"", "d.csv", "d.csv: is empty"),
        (b"\n\n", "d.csv", "d.csv: is empty"),
        (b"a,b\n", "d.csv", "d.csv: has a line of names and no rows"),
        (b"a b\n", "d.dat", "d.dat: has a line of names and no rows"),
        (b"a,b\n1,2\n3\n", "d.csv", "d.csv, line 3: 1 cell where the header has 2"),
        (b"a,b\n1,2,3\n3\n", "d.csv", "d.csv, line 2: 3 cells where the header has 2"),
        (b"a,b\n1,2\n\n3,4\n", "d.csv", "d.csv, line 3: a blank line"),
        (b'a,b\n"x\ny",2\n3\n', "d.csv", "d.csv, line 4: 1 cell"),
        (b"a b\n1 2\n\n3\n", "d.dat", "d.dat, line 4: 1 cell"),
        (b"a,b\n1,2,\n", "d.dat", "d.dat, line 2: 3 cells"),
        (b"a,a\n1,2\n", "d.csv", "d.csv, line 1: column name 'a' occurs more than once"),
        (b"a,,b\n1,2,3\n", "d.csv", "d.csv, line 1: column 2 of 3 has no name"),
        (b"a,b\n1,2\n1,\xe9\n", "d.csv", "d.csv, line 3: byte 0xe9 is not UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "d.csv", "d.csv, line 1: .*UTF-8"),
        (b"a,b\rx,y\r", "d.csv", "d.csv, line 1: a carriage return"),
        (b"a,b\nx\0,y\n", "d.csv", "d.csv, line 2: a zero byte"),
        (b'a,b\n"x,1\ny,2\n', "d.csv", "d.csv, line 2: a quoted cell is never closed"),
        (b'a,b\nx "q" z,1\ny,2\n', "d.csv", "d.csv, line 2: a quote inside an unquoted cell"),
        (b'a,b\n"x" z,1\ny,2\n', "d.csv", "d.csv, line 2: .*quote"),
        (b"a;b\n1\n", "d.csv", r"is it read_table\(path, separator=';'\)"),
        (b"a\tb\n1\n", "d.csv", r"is it read_table\(path, separator='\\t'\)"),
        (b"not parquet", "d.parquet", "d.parquet: cannot be read as parquet"),
        (b"PAR1" + b"x" * 100 + b"PAR1", "d.parquet", "d.parquet: cannot be read as parquet"),
        (b"not arrow at all", "d.arrow", "d.arrow: cannot be read as arrow"),
        (b"not gzip", "d.csv.gz", "d.csv.gz: cannot be read"),
        (gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-20], "d.csv.gz", "d.csv.gz: cannot be read"),
        (b"a,b\n1,2\n", "d.jpg", r"unknown extension '\.jpg'; known: \.csv, \.tsv, \.parquet"),
        (b"a,b\n1,2\n", "d", "unknown extension ''"),
        (b"a,b\n1,2\n", "d.parquet.gz", "unknown extension"),
    ],
)  # fmt: skip
def test_bad_files(write, content, name, message):
    with pytest.raises(FormatError, match=message) as caught:
        read_table(write(content, name))
    assert "\n" not in str(caught.value)


def test_no_file_and_a_folder(tmp_path):
    with pytest.raises(FormatError, match=r"x\.csv: no such file"):
        read_table(tmp_path / "x.csv")
    with pytest.raises(FormatError, match="is a folder"):
        read_table(tmp_path)


def test_a_parquet_without_rows(tmp_path):
    pl.DataFrame({"a": [1]}).clear().write_parquet(tmp_path / "d.parquet")
    with pytest.raises(FormatError, match="has no rows"):
        read_table(tmp_path / "d.parquet")


@pytest.mark.parametrize("separator", ["", ",,", '"', "\n", "é"])
def test_bad_separators(write, separator):
    with pytest.raises(SettingError, match="separator must be one character"):
        read_table(write("a,b\n1,2\n"), separator=separator)


cells = st.text(st.sampled_from('ab01. ,;"\n\té'), max_size=4)


@quick
@given(data=st.data(), size=st.integers(1, 40), always=st.booleans())
def test_csv_as_the_standard_library_writes_it_in_blocks_of_any_size(write, data, size, always):
    """Twin: Python's own csv writer and reader; cells read as text."""
    width = data.draw(st.integers(1, 3))
    rows = data.draw(st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=8))
    if width == 1:
        rows = [row for row in rows if row[0]] or [["x"]]
    names = [f"n{i}" for i in range(width)]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL if always else csv.QUOTE_MINIMAL)
    writer.writerows([names, *rows])
    distinct = {n: sorted({row[i] for row in rows if row[i]}) or ["x"] for i, n in enumerate(names)}
    with mock.patch.object(read_module, "read_blocks", partial(read_blocks, size=size)):
        table = read_table(write(stream.getvalue()), missing="state", states=distinct)
    for i, name in enumerate(names):
        gone = "missing" if "missing" not in distinct[name] else "missing_2"
        assert table.column(name) == [row[i] or gone for row in rows]


@quick
@given(
    content=st.one_of(
        st.binary(max_size=60),
        st.text('ab1,"\n\r \t.;\0', max_size=60).map(str.encode),
        st.lists(
            st.sampled_from(["1,2", '"a"', '"', "x", "", ",", '"a""b",c', "a,b", "1 2"]), max_size=6
        ).map(lambda lines: "\n".join(lines).encode()),
    ),
    name=st.sampled_from(["d.csv", "d.tsv", "d.dat", "d.parquet", "d.arrow"]),
    size=st.integers(1, 64),
)
@pytest.mark.filterwarnings("ignore::bayescout.errors.BayescoutWarning")
def test_any_bytes_give_a_table_or_one_clear_line(write, content, name, size):
    with mock.patch.object(read_module, "read_blocks", partial(read_blocks, size=size)):
        try:
            table = read_table(write(content, name), missing="state")
            outcome = f"{table.n_rows} rows"
        except BayescoutError as error:
            outcome = str(error)
    assert "\n" not in outcome
    assert outcome != "0 rows"


@quick
@given(data=st.data())
def test_any_ragged_line_is_found(write, data):
    width = data.draw(st.integers(2, 4))
    rows = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=8))
    lines = [",".join("x" * cells) for cells in rows]
    path = write("\n".join([",".join("abcd"[:width]), *lines]) + "\n")
    wrong = [number for number, cells in enumerate(rows, start=2) if cells != width]
    if not wrong:
        assert read_table(path).n_rows == len(rows)
        return
    with pytest.raises(FormatError, match=rf"line {wrong[0]}: "):
        read_table(path)


def cells_in(path, names, rows):
    """The rows as a file of any kind, as its ending says."""
    if path.suffix == ".csv":
        path.write_text(
            "\n".join(",".join("" if c is None else str(c) for c in r) for r in [names, *rows]) + "\n"
        )
        return path
    frame = pl.DataFrame(rows, schema=names, orient="row")
    (frame.write_parquet if path.suffix == ".parquet" else frame.write_ipc)(path)
    return path


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_some_columns_only(tmp_path, ending):
    """An identifier, a column with nothing but gaps: what is left out is not looked at."""
    rows = [(f"r{k}", "xy"[k % 2], None if k % 3 else 1, k % 2) for k in range(12)]
    path = cells_in(tmp_path / f"d.{ending}", ["id", "b", "gap", "a"], rows)
    with pytest.warns(BayescoutWarning) as caught:
        assert read_table(path).names == ("b", "gap", "a")
    assert "'id' (identifies rows)" in str(caught[0].message)
    table = read_table(path, columns=["a", "b"])
    assert read_table(path, drop=["id", "gap"]).names == ("b", "a")
    assert table.to_dict() == {"a": [row[3] for row in rows], "b": [row[1] for row in rows]}
    assert as_table(path, columns=["b"]).names == ("b",)
    assert read_table(path, columns=["b"], weights="a").weights.tolist() == [0.0, 1.0] * 6
    assert names_in(path) == ["id", "b", "gap", "a"]
    with pytest.raises(UnknownNameError, match=r"unknown columns \('c', 'd'\)"):
        read_table(path, columns=["c", "b", "d"])


def test_columns_left_out_may_have_any_number_of_values(tmp_path):
    names = ["b", "id"]
    path = cells_in(tmp_path / "d.csv", names, [("xy"[k % 2], f"row {k}") for k in range(70_000)])
    assert read_table(path, columns=["b"]).states == (("x", "y"),)


def test_names_are_read_from_the_beginning(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text('"a,b",c\n1,2\nragged\n')
    assert names_in(path) == ["a,b", "c"]
    (tmp_path / "d.dat").write_text("\n  A  B\n 1 2\n")
    assert names_in(tmp_path / "d.dat") == ["A", "B"]
    path.write_text(",".join(f"x{k}" for k in range(40_000)) + "\n")
    assert len(names_in(path)) == 40_000
    (tmp_path / "d.parquet").write_text("no")
    for name, message in (("d.parquet", "cannot be read as parquet"), ("none.csv", "no such file")):
        with pytest.raises(FormatError, match=message):
            names_in(tmp_path / name)


@pytest.mark.parametrize("text", ["\na,b\n1,2\n", "\n\na,b\n1,2\n", "\r\na,b\r\n1,2\r\n"])
def test_a_blank_first_line_is_said(write, text):
    with pytest.raises(FormatError, match=r"line 1: the first line is blank, and must hold the names"):
        read_table(write(text))


# ---- what has no end


def endless(piece, times=64):
    """A small file that expands to `times` MB: as many members of one each."""
    return gzip.compress(piece * ((1 << 20) // len(piece))) * times


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            endless(b"a" * 1024),
            "line 1: a line of more than 16 MB, the longest that is read; is this a table",
        ),
        (endless(b"," * 1024), "line 1: a line of more than 16 MB"),
        (endless(b'"' * 1024), "line 1: a line of more than 16 MB"),
        (endless(b"\n" * 1024), "line 1: more than 16 MB of blank lines"),
        (endless(b"\r\n" * 1024), "line 1: more than 16 MB of blank lines"),
        (gzip.compress(b'a,b\n1,2\n"') + endless(b"x\n" * 512), "line 3: .* 16 MB.*is a quote never closed"),
        (gzip.compress(b"a,b\n1,2\n") + endless(b"1," * 512), "line 3: a line of more than 16 MB"),
        (gzip.compress(b",".join(b"c%d" % i for i in range(100_001)) + b"\n"), "more than 100,000 columns"),
    ],
    ids=["text", "commas", "quotes", "blank", "crlf", "open quote", "row", "columns"],
)
def test_a_line_without_an_end_is_refused_early(write, content, message):
    path = write(content, "d.csv.gz")
    served = 0
    read = gzip.GzipFile.read

    def counted(stream, size=-1):
        nonlocal served
        data = read(stream, size)
        served += len(data)
        return data

    with mock.patch.object(gzip.GzipFile, "read", counted), pytest.raises(FormatError, match=message):
        read_table(path)
    assert served <= 42 << 20  # and not the 64 MB that there are; a line end of two bytes counts as one


def test_a_long_line_within_the_limit_is_read(write):
    long = b"x" * (9 << 20)
    table = read_table(write(b"a,b\n" + long + b",1\ny,2\ny,1\n" + long + b",1\n", "d.csv"))
    assert [len(state) for state in table.states[0]] == [9 << 20, 1]


def test_many_columns_of_a_data_file_are_counted_by_their_blanks(write):
    line = b" ".join(b"c%d" % i for i in range(100_001))
    with pytest.raises(FormatError, match="more than 100,000 columns"):
        names_in(write(line + b"\n1\n", "d.dat"))


def test_a_mark_of_the_byte_order_inside_a_file_is_text(tmp_path):
    path = tmp_path / "marked.csv"
    path.write_text("\ufeffname,b\n\ufeffx,1\nx,2\ny,2\n", encoding="utf-8")
    table = read_table(path)
    assert table.names == ("name", "b")
    assert set(table.states[0]) == {"\ufeffx", "x", "y"}


def test_a_name_too_long_for_a_file_is_refused_in_a_sentence():
    with pytest.raises(FormatError, match="cannot be read"):
        read_table("x" * 5000 + ".csv")
