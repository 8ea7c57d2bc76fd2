"""How numbers are read from statements."""

from __future__ import annotations

from tests.experiments.statement_checks import numbers_in


def test_numbers_are_read_as_they_are_written():
    text = "asia K2 -1,284.5 and +3 (not asia 5, 7); 2 of 4 (50%), α = 0.1, 6 nodes"
    assert numbers_in(text) == [(-1284.5, 1), (3, 0), (2, 0), (4, 0), (50, 0), (0.1, 1), (6, 0)]
