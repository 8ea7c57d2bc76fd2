"""Sums over rows that do not depend on how the rows are cut up: leaves of so many rows, added as one tree.

Leaf k has the rows from k * LEAF_ROWS on. Two neighbours (2k and 2k + 1) are added, then two such pairs, and
so on up; what has no right neighbour goes up as it is. So blocks of rows in memory, on disk or on other
machines come to the same floats, and their error grows with the logarithm of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from bayescout.arrays import Floats

LEAF_ROWS = 1 << 16
"""Rows that are added in one go; up to so many are summed as if there were no leaves."""

Sums = dict[tuple[int, int], Floats]
"""Sums of whole subtrees, by their level and number: (level, k) has the leaves from k * 2**level on."""


def put(sums: Sums, level: int, number: int, value: Floats) -> None:
    """Add a subtree, which is joined with its neighbour as soon as both are there."""
    while (level, number ^ 1) in sums:
        other = sums.pop((level, number ^ 1))
        value = other + value if number & 1 else value + other
        level, number = level + 1, number >> 1
    sums[level, number] = value


def joined(parts: Iterable[Mapping[tuple[int, int], Floats]]) -> Sums:
    """The subtrees of several parts of the rows."""
    found: Sums = {}
    for part in parts:
        for (level, number), value in part.items():
            put(found, level, number, value)
    return found


def total(sums: Sums) -> Floats:
    """The sum of all leaves, each of which is in one subtree."""
    last, *before = [sums[node] for node in sorted(sums, key=lambda node: -(node[1] << node[0]))]
    for value in before:
        last = value + last
    return last


def sums_of(leaf: Callable[[int, int], Floats], begin: int, end: int) -> Sums:
    """The subtrees of the rows from `begin` to `end`, which begin at a leaf; `leaf` sums those of one."""
    found: Sums = {}
    for first in range(begin, end, LEAF_ROWS):
        put(found, 0, first // LEAF_ROWS, leaf(first, min(first + LEAF_ROWS, end)))
    return found
