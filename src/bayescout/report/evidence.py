"""The tests of independence that a search made, if its result has any."""

from __future__ import annotations

from bayescout.report.wording import short
from bayescout.result import Result

MOST_TESTS = 3000
MOST_OF_A_PAIR = 8


def tests_tile(result: Result) -> tuple[str, str, str] | None:
    """The number of tests and a summary of their answers."""
    made = result.dependencies
    if made is None:
        return None
    covered = "" if made.covered is None else f", {made.covered:,} of them in the network"
    about = f"{made.rejected:,} found a dependence{covered}; {made.inconclusive:,} inconclusive"
    return "Tests of independence", f"{made.tested:,}", about


def tests_data(result: Result, names: tuple[str, ...]) -> dict[str, list[str]]:
    """The tests of each pair in words, by "lower,higher" positions, as far as there is room."""
    made = result.dependencies
    found: dict[str, list[str]] = {}
    for test in () if made is None else made.entries[:MOST_TESTS]:
        one, two = sorted((result.dag.index(test.a), result.dag.index(test.b)))
        lines = found.setdefault(f"{one},{two}", [])
        if len(lines) < MOST_OF_A_PAIR:
            given = ", ".join(names[result.dag.index(label)] for label in test.given)
            lines.append(test.told(short(given)))
    return found
