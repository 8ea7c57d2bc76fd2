"""The tests that a search keeps, in words."""

from __future__ import annotations

import pytest

from bayescout.statistics.dependencies import CachedTest


@pytest.mark.parametrize(
    ("answer", "covered", "given", "words"),
    [
        ("independent", None, "", "independent (p = 0.012)"),
        ("independent", None, "c, d", "independent given c, d (p = 0.012)"),
        ("dependent", True, "", "dependent (p = 0.012, in the graph too)"),
        ("dependent", False, "c", "dependent given c (p = 0.012, not in the graph)"),
        ("inconclusive", None, "c", "inconclusive for want of rows given c (p = 0.012)"),
    ],
)
def test_a_test_is_told_in_a_few_words(answer, covered, given, words):
    assert CachedTest("a", "b", tuple(given.split(", ")), 0.0123, answer, covered).told(given) == words
