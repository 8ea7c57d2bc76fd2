"""Knowledge as texts, dicts, frames and files is the knowledge of the same pairs."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutError, KnowledgeError, SettingError
from bayescout.search.frame.knowledge import Knowledge, as_knowledge

PLAIN = Knowledge(required=[("a", "b"), ("a", "c")])
NAMES = ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    "arcs",
    [
        ["a->b", "a -> c"],
        "a->b, a->c",
        {"a": ["b", "c"]},
        pd.DataFrame({"from": ["a", "a"], "to": ["b", "c"]}),
        pl.DataFrame({"parent": ["a", "a"], "child": ["b", "c"], "why": ["x", "y"]}),
        (pair for pair in [("a", "b"), ["a", "c"]]),
    ],
    ids=["texts", "one text", "dict", "pandas", "polars", "pairs"],
)
def test_arcs_in_every_form(arcs):
    assert Knowledge(required=arcs) == PLAIN


@pytest.mark.parametrize(
    "arcs", ["ab", ["ab"], ["a->b->c"], ["a->"], 3, [3], [("a",)], pd.DataFrame({"x": [1]})]
)
def test_what_are_no_arcs(arcs):
    with pytest.raises(KnowledgeError):
        Knowledge(forbidden=arcs)


@given(
    st.lists(st.sampled_from(NAMES), unique=True), st.lists(st.booleans(), min_size=4, max_size=4), st.data()
)
def test_arcs_within_a_closed_tier_are_not_allowed(names, cuts, data):
    """By the definition: no arc to an earlier tier, none within a closed one, all others free."""
    tiers, rank = [], {}
    for name, new in zip(names, cuts, strict=False):
        if new or not tiers:
            tiers.append([])
        tiers[-1].append(name)
        rank[name] = len(tiers)
    closed = data.draw(st.booleans() | st.lists(st.integers(1, max(len(tiers), 1)), unique=True).map(tuple))
    if not isinstance(closed, bool) and not tiers:
        return
    allowed = Knowledge(tiers=tiers, forbid_within=closed).compile(NAMES).allowed
    for i, one in enumerate(NAMES):
        for j, other in enumerate(NAMES):
            same = one in rank and rank[one] == rank.get(other)
            shut = same and (closed if isinstance(closed, bool) else rank[one] in closed)
            back = one in rank and other in rank and rank[one] > rank[other]
            assert allowed[i, j] == (i != j and not shut and not back)


def test_required_arcs_within_a_closed_tier_contradict_it():
    with pytest.raises(KnowledgeError, match="lies within tier 1, in which arcs are forbidden"):
        Knowledge(required=["a->b"], tiers=[["a", "b"]], forbid_within=True)
    Knowledge(required=["a->b"], tiers=[["a", "b"], ["c"]], forbid_within=(2,))


@pytest.mark.parametrize("within", [(3,), (0,), "yes", 1, (True,)])
def test_wrong_tiers_to_close(within):
    with pytest.raises(KnowledgeError, match="forbid_within"):
        Knowledge(tiers=[["a"], ["b"]], forbid_within=within)


WHOLE = Knowledge(
    required=[("a", "b")],
    forbidden=[("c", "a")],
    tiers=[["a", "b"], ["c", "d"]],
    max_parents={"d": 2},
    beliefs={("a", "d"): 0.75, frozenset({"b", "c"}): 0.25},
    forbid_within=(2,),
)
TEXT = """# known
require a -> b
forbid c->a   # never
tier a, b
closed tier c, d
max_parents d 2
belief a -> d = 0.75
belief b -- c = 0.25
"""


def test_files(tmp_path):
    text, document = tmp_path / "known.txt", tmp_path / "known.json"
    text.write_text(TEXT)
    document.write_text(json.dumps(WHOLE.to_dict()))
    assert Knowledge.read(text) == WHOLE
    assert Knowledge.read(document) == WHOLE
    assert as_knowledge(str(text)) == as_knowledge(document) == WHOLE
    assert Knowledge(**WHOLE.to_dict() | {"max_parents": {"d": 2}}) == WHOLE
    text.write_text("max_parents 3\norder a, b\n")
    assert Knowledge.read(text) == Knowledge(order=["a", "b"], max_parents=3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("requires a->b", "line 1: 'requires a->b' begins with none of require"),
        ("\nrequire a b", "line 2: an arc is written a -> b"),
        ("belief a -> b", "a belief is written"),
        ("max_parents many", "max_parents is a whole number"),
        ("max_parents 2\nmax_parents a 1", "not both"),
        ("require a->b\nforbid a->b", "both required and forbidden"),
        ("{", "is not JSON"),
        ('{"requires": []}', "'requires' is no field of the knowledge; did you mean 'required'"),
        ('{"tiers": 3}', "is not knowledge"),
        ('{"beliefs": [[1]]}', "is not knowledge"),
    ],
)
def test_wrong_files(tmp_path, text, words):
    path = tmp_path / "known"
    path.write_text(text)
    with pytest.raises(KnowledgeError, match=words):
        Knowledge.read(path)


PIECES = [*TEXT.split(), "\n", "{", "}", '"tiers"', ":", "[", "]"]


@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES)).map(" ".join))
def test_any_file_is_knowledge_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "known"
    path.write_text(text, encoding="utf-8", errors="replace")
    try:
        Knowledge.read(path)
    except BayescoutError:
        return


def test_learning_takes_them(tmp_path):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 300)
    data = pd.DataFrame({"a": a, "b": a ^ (rng.random(300) < 0.1), "c": a ^ (rng.random(300) < 0.1)})
    path = tmp_path / "known.txt"
    path.write_text("tier a\nclosed tier b, c\n")
    known = Knowledge(tiers=[["a"], ["b", "c"]], forbid_within=(2,))
    expected = bs.learn(data, "hill-climb", "bic", known)
    for form in (path, str(path), {"tiers": [["a"], ["b", "c"]], "forbid_within": [2]}):
        found = bs.learn(data, "hill-climb", "bic", form)
        assert found.dag == expected.dag
        assert found.settings.knowledge == known
    expected.save(tmp_path / "result.json")
    assert bs.Result.load(tmp_path / "result.json").settings.knowledge == known
    with pytest.raises(SettingError, match="a dict of its fields or a file, not a list"):
        bs.learn(data, "hill-climb", "bic", [("a", "b")])
