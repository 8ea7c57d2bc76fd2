"""The text form of knowledge is read back as it was, and what contradicts itself in it is found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescout import Knowledge
from bayescout.errors import BayescoutError, KnowledgeError
from bayescout.search.frame.contradiction import contradiction

NAMES = list("abcdef")


def test_the_shortest_cycle_is_found():
    text = "require a -> b\nrequire b -> c\n# and so on\nrequire c -> d\nrequire d -> a\nrequire c -> a\n"
    found = contradiction(text)
    assert found.cycle == ("a", "b", "c", "a")
    assert found.lines == (1, 2, 6)
    assert "a -> b -> c -> a" in found.message


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("require a -> b\nforbid c -> d\nforbid a -> b", (1, 3)),
        ("tier b\ntier c\ntier a\nrequire a -> b", (1, 3, 4)),
        ("forbid a -> b\nclosed tier a, b\nrequire a -> b\n", (1, 3)),
        ("closed tier a, b\nforbid c -> d\nrequire a -> b\n", (1, 3)),
        ("require a -> b\nrequire c -> b\nmax_parents b 1\nforbid a -> c", (1, 2, 3)),
        ("order b, a, c, d, e, f\nforbid d -> a\nrequire a -> b", (1, 3)),
        ("require a -> b\n\nrequire c -> q", (3,)),
        ("require a -> b\nfoo", (2,)),
        ("tier a, b\ntier b, c", (1, 2)),
        ("belief a -> b = 0.5\ntier b\ntier a", (1, 2, 3)),
    ],
)
def test_the_statements_that_cannot_hold_together_are_found(text, lines):
    found = contradiction(text, NAMES)
    assert found.lines == lines
    assert found.cycle == ()


def test_what_can_hold_is_none():
    assert contradiction("require a -> b\ntier a\ntier b, c", NAMES) is None
    assert contradiction("") is None


def test_json_is_refused_without_lines():
    assert contradiction('{"required": [["a", "b"], ["b", "a"]]}').lines == ()


@st.composite
def texts(draw):
    pair = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).filter(lambda two: two[0] != two[1])
    lines = draw(st.lists(st.tuples(st.sampled_from(["require", "forbid"]), pair), max_size=12))
    tiers = draw(st.lists(st.lists(st.sampled_from(NAMES), max_size=2, unique=True), max_size=3))
    found = [f"{word} {a} -> {b}" for word, (a, b) in lines]
    found += [f"tier {', '.join(tier)}" for tier in tiers if tier]
    return found


@given(texts())
def test_what_is_found_fails_by_itself_and_nothing_less_does(lines):
    """Tried out, statement by statement."""

    def fails(some):
        try:
            Knowledge.parse("\n".join(some)).compile(NAMES)
        except BayescoutError:
            return True
        return False

    found = contradiction("\n".join(lines), NAMES)
    assert (found is not None) == fails(lines)
    if found is not None:
        kept = [lines[number - 1] for number in found.lines]
        assert fails(kept)
        assert not any(fails(kept[:place] + kept[place + 1 :]) for place in range(len(kept)))


@given(texts(), st.sampled_from(["", "max_parents 3\n", "max_parents c 2\n", "belief a -- f = 0.25\n"]))
def test_the_text_form_is_read_back(lines, more):
    try:
        known = Knowledge.parse("\n".join(lines) + "\n" + more)
    except KnowledgeError:
        return
    assert Knowledge.parse(known.to_text()) == known


@pytest.mark.parametrize(
    "known",
    [
        Knowledge(required=[("a, b", "c->d")]),
        Knowledge(required=[("# x", "y")], beliefs={("a=b", "c"): 0.25}),
        Knowledge(tiers=[[1, 2], [3]]),
        Knowledge(tiers=[["a"], ["b", "c"]], forbid_within=(2,), beliefs={("a", "b"): 1e-05}),
        Knowledge(order=["b", "a"], forbidden=[("a", "b")]),
        Knowledge(max_parents={"a b": 2}),
    ],
)
def test_odd_names_and_fields_are_read_back(known, tmp_path):
    assert Knowledge.parse(known.to_text()) == known
    (tmp_path / "known").write_text(known.to_text())
    assert Knowledge.read(tmp_path / "known") == known
