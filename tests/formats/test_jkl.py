"""The .jkl files of scored parent sets: what is written is read, and nonsense is refused in one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import FormatError
from bayescout.formats.jkl import ScoredSets, read, read_jkl, write

NAMES = st.text(
    st.characters(exclude_categories=["Cs", "Zs", "Zl", "Zp", "Cc"]), min_size=1, max_size=5
).filter(lambda name: len(name.split()) == 1 and name == name.strip() and name[0] != "\ufeff")


@st.composite
def scored_sets(draw):
    names = tuple(draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)))
    number = st.floats(max_value=1e300, allow_nan=False)
    sets = []
    for child in range(len(names)):
        others = [v for v in range(len(names)) if v != child]
        own = draw(st.lists(st.sets(st.sampled_from(others) if others else st.nothing()), max_size=4))
        sets.append(tuple((draw(number), tuple(sorted(parents))) for parents in own))
    return ScoredSets(names, tuple(sets))


@given(scored=scored_sets())
def test_what_is_written_is_read(scored):
    assert read(write(scored), "x.jkl") == scored
    numbered = read(write(scored, numbered=True), "x.jkl")
    assert numbered.sets == scored.sets
    assert numbered.names == tuple(str(i) for i in range(len(scored.names)))


def test_a_published_example_is_read():
    """The three-variable example of the BBMarkov program's page, in Cussens' format."""
    text = (
        "3\n0 4\n-195.673828 2 1 2\n-194.647797 1 2\n-189.098404 1 1\n-193.265869 0\n1 4\n-517.531555 1 2\n"
        "-587.681213 1 0\n-518.557739 2 0 2\n-591.848389 0\n2 4\n-562.807800 2 0 1\n-556.232178 1 1\n"
        "-631.931213 1 0\n-630.549072 0\n"
    )
    scored = read(text, "x.jkl")
    assert scored.names == ("0", "1", "2")
    assert scored.sets[1][2] == (-518.557739, (0, 2))
    assert scored.total == 12


def test_files_round_trip_and_packed_ones_too(tmp_path):
    table = bs.load_network("asia").sample(200, seed=1)
    found = bs.candidate_sets(table, "bdeu", max_parents=2)
    for name in ("asia.jkl", "asia.jkl.gz"):
        found.save(tmp_path / name)
        assert read_jkl(tmp_path / name) == found
    best = [max(sets)[0] for sets in found.sets]
    assert sum(best) >= bs.learn(table, "optimal", "bdeu", bs.Knowledge(max_parents=2)).score
    assert all(sets[0][0] == top for sets, top in zip(found.sets, best, strict=True))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the number of variables"),
        ("x", "whole number"),
        ("-1", "whole number"),
        ("99999999", "more than the file has words"),
        ("1\na 99999999\n", "more than the file has words"),
        ("1\na 1\nmuch 0\n", "line 3: expected a score"),
        ("1\na 1\nnan 0\n", "a number or -inf"),
        ("1\na 1\n-1 1 b\n", "is not one of the variables"),
        ("1\na 1\n-1 1 a\n", "cannot be a parent"),
        ("2\na 1\n-1 2 b b\nb 1\n0 0\n", "listed twice"),
        ("2\na 1\n0 0\na 1\n0 0\n", "more than one list"),
        ("1\na 1\n0 0\nmore", "line 4: expected the end"),
        ("2\na 1\n0 0\n", "ends where a variable's name"),
    ],
)
def test_mistakes_are_named_with_their_line(text, said):
    with pytest.raises(FormatError, match=r"x\.jkl") as caught:
        read(text, "x.jkl")
    assert said in str(caught.value)


@pytest.mark.parametrize("label", ["two words", "", 3, ("a",), "tab\tbed", "\ufeffx"])
def test_names_that_do_not_fit_are_refused_or_numbered(label):
    scored = ScoredSets((label, "b"), (((-1.0, (1,)),), ((-2.0, ()),)))
    with pytest.raises(FormatError, match="numbered=True"):
        write(scored)
    assert write(scored, numbered=True) == "2\n0 1\n-1.0 1 1\n1 1\n-2.0 0\n"


@given(data=st.data())
def test_broken_files_raise_format_errors_only(data):
    text = write(data.draw(scored_sets()))
    cut = data.draw(st.integers(0, len(text)))
    middle = data.draw(
        st.one_of(st.text(max_size=6), st.sampled_from(["\n", " ", "0", "-inf", "9" * 30, "nan"]))
    )
    skip = data.draw(st.integers(0, 4))
    broken = text[:cut] + middle + text[cut + skip :]
    said = ""
    try:
        read(broken, "x.jkl")
    except FormatError as error:
        said = str(error)
    assert "\n" not in said
