"""Knowledge is checked when made and when it meets the table, and every contradiction is named."""

from __future__ import annotations

import numpy as np
import pytest

from bayescout.errors import KnowledgeError, UnknownNameError
from bayescout.search import Knowledge


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"required": [("a", "b"), ("b", "c"), ("c", "a")]}, "a -> b -> c -> a"),
        ({"required": [("a", "b")], "forbidden": [("a", "b")]}, "both required and forbidden"),
        ({"required": [("a", "a")]}, "required arc a -> a is a loop"),
        ({"forbidden": [("b", "a"), ("a", "a")]}, "forbidden arc a -> a is a loop"),
        ({"tiers": ["asia", "tub"]}, r"such as \[\['a', 'b'\], \['c'\]\]; 'asia' is no group"),
        ({"tiers": [["a"], 7]}, "7 is no group"),
        ({"tiers": "ab"}, "'a' is no group"),
        ({"tiers": {"a": 1, "b": "late"}}, r"as a dict give each variable a number.*'b' has 'late'"),
        ({"tiers": {"a": 1, "b": float("nan")}}, "'b' has nan"),
        ({"required": ["ab"]}, "'a->b', not 'ab'"),
        ({"required": [("b", "a")], "order": ["a", "b"]}, "against the order"),
        ({"required": [("b", "a")], "tiers": [["a"], ["b"]]}, "tier 2 back to tier 1"),
        ({"order": ["a", "a"]}, "twice in the order"),
        ({"tiers": [["a"], ["a"]]}, "twice in tiers"),
        ({"max_parents": -1}, "at least 0"),
        ({"max_parents": {"a": 1.5}}, "at least 0"),
        ({"max_parents": True}, "at least 0"),
        ({"required": ["ab c"]}, "pair"),
    ],
)
def test_contradictions_are_named(settings, said):
    with pytest.raises(KnowledgeError, match=said):
        Knowledge(**settings)


def test_tiers_may_be_numbers_of_the_variables():
    known = Knowledge(tiers={"late": 2024, "first": 1999, "other": 2024.0}, forbid_within=[2])
    assert known == Knowledge(tiers=[["first"], ["late", "other"]], forbid_within=[2])


def test_what_the_table_cannot_have_is_named():
    with pytest.raises(UnknownNameError, match="'z'"):
        Knowledge(forbidden=[("a", "z")]).compile("ab")
    with pytest.raises(KnowledgeError, match="lacks 'c'"):
        Knowledge(order=["a", "b"]).compile("abc")
    with pytest.raises(KnowledgeError, match="2 required parents"):
        Knowledge(required=[("a", "c"), ("b", "c")], max_parents=1).compile("abc")


def test_compiled_rules_say_the_same():
    known = Knowledge(
        required=[("a", "c")], forbidden=[("b", "c")], tiers=[["a"], ["b", "c"]], max_parents={"c": 2, "d": 0}
    )
    rules = known.compile("abcd")
    allowed = {("abcd"[i], "abcd"[j]) for i, j in np.argwhere(rules.allowed)}
    everything = {(x, y) for x in "abcd" for y in "abcd" if x != y}
    assert everything - allowed == {("b", "c"), ("b", "a"), ("c", "a")}
    assert rules.max_parents.tolist() == [3, 3, 2, 0]
    assert rules.required_parents == ((), (), (0,), ())
    assert rules.broken_by(((), (), (0,), ())) is None
    assert "{0} -> {2}" in rules.broken_by(((), (), (), ()))
    ordered = Knowledge(order="cab").compile("abc")
    assert {("abc"[i], "abc"[j]) for i, j in np.argwhere(ordered.allowed)} == {
        ("c", "a"),
        ("c", "b"),
        ("a", "b"),
    }
