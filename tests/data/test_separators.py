"""The separator of a text file, found in its first two lines where the user names none."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayescout import read_table
from bayescout.data.read import read_cells
from bayescout.data.separators import OTHERS
from bayescout.errors import DataError, FormatError

CELLS = st.text(alphabet="ab1 ;|\t,é", min_size=1, max_size=4).map(lambda text: f"x{text}")


@pytest.fixture
def write(tmp_path):
    def written(text, name="t.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


@pytest.mark.parametrize("separator", ["\t", ";", "|"])
def test_found_and_told(write, separator):
    rows = ["town;price (EUR)", "Ulm;1,5", "Bonn;2,25", "Ulm;3,5"]
    table = read_table(write("\n".join(rows).replace(";", separator) + "\n"))
    assert table.names == ("town", "price (EUR)")
    assert table.array("price (EUR)").tolist() == [1.5, 2.25, 3.5]
    assert f"cells separated by {separator!r}" in table.reading


def test_commas_in_a_file_of_tabs(write):
    table = read_table(write("a,b\n1,x\n2,y\n", "t.tsv"))
    assert table.names == ("a", "b")
    assert "separated by ','" in table.reading


def test_what_fits_the_ending_is_left_alone(write):
    table = read_table(write("a;b,c\nx;1,y\nz;2,w\n"))
    assert table.names == ("a;b", "c")
    assert "separated" not in table.reading


def test_quotes_hide_separators(write):
    assert read_table(write('"a;b"\n"x;1"\n"y;2"\n')).names == ("a;b",)
    assert read_table(write('"a,1";b\n"x,,";1\ny;2\n')).names == ("a,1", "b")


def test_a_named_separator_is_never_overruled(write):
    assert read_table(write("a;b\nx;1\ny;2\n"), separator=";").reading.count("separated") == 0
    with pytest.raises(FormatError, match="only one column"):
        read_table(write("a;b\n1;2\n"), separator=",")


def test_uneven_lines_are_refused_as_ever(write):
    with pytest.raises(FormatError, match="line 2: 3 cells where the header has 2"):
        read_table(write("a,b\n1,2,3\n"))
    with pytest.raises(FormatError, match="line 3: 1 cell where the header has 2"):
        read_table(write("a;b\n1;2\n3\n"))


@settings(max_examples=20)
@given(
    st.integers(2, 4).flatmap(
        lambda n: st.tuples(
            st.lists(CELLS, min_size=n, max_size=n, unique=True),
            st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=2, max_size=5),
        )
    ),
    st.sampled_from(OTHERS),
)
def test_a_file_is_read_as_with_its_separator_named_or_has_two_readings(tmp_path_factory, parts, separator):
    """As csv quotes cells that hold its own separator, the file fits it; commas may fit it as well."""
    names, rows = parts
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerows([names, *rows])
    path = tmp_path_factory.mktemp("any") / "t.csv"
    path.write_text(text.getvalue(), encoding="utf-8")
    first = [bare(line) for line in text.getvalue().split("\n")[:2]]
    for other in dict.fromkeys("," + OTHERS):
        if first[0].count(other) == first[1].count(other) > 0:
            break
    if other == separator:
        found = read_cells(path)
        assert found.columns == names
        assert found.equals(read_cells(path, separator=separator))


def bare(line: str) -> str:
    """A line without what is in quotes."""
    return "".join(part for i, part in enumerate(line.split('"')) if i % 2 == 0)


def test_cells_separated_by_blanks_are_told_of(tmp_path, write):
    rows = "".join(f"{i} {i % 7}.5 {'xyz'[i % 3]}\n" for i in range(20))
    with pytest.raises(DataError, match=r"; if blanks separate the cells, name the file \.txt$"):
        read_table(write(f"time dose group\n{rows}"))
    path = tmp_path / "d.txt"
    path.write_text(f"time dose group\n{rows}")
    assert read_table(path, columns=["dose", "group"]).kinds == ("continuous", "discrete")
    names = "".join(f"a{i}\n" for i in range(20))
    with pytest.raises(DataError, match="identifies rows") as caught:
        read_table(write(f"name\n{names}"))
    assert "if blanks" not in str(caught.value)


def test_rows_with_a_name_of_their_own_are_told_of(write):
    with pytest.raises(FormatError, match="3 cells where the header has 2: if the first cell of each row"):
        read_table(write("a,b\nx,1,2\ny,3,4\n"))
    with pytest.raises(FormatError, match=r"3 cells where the header has 2$"):
        read_table(write("a,b\n1,2\ny,3,4\n"))
