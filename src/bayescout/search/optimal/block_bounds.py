"""Bounds by dynamic programming within blocks of variables.

Cycles within a block are ruled out exactly, those across blocks only by the multipliers of cuts. Where the
variables that compete for directions share a block, this bound is far below that of the relaxation.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Floats, Ints

MOST_BLOCK = 18
"""The most variables in a block: its tables take 20 MB, and one bound 0.05 s."""

Check = Callable[[], None]


def nothing() -> None:
    """The `check` of a caller without a clock."""


def block_size(n: int) -> int:
    """The size of the blocks of n variables: smaller where there are more of them, to bound the time."""
    return MOST_BLOCK if n <= 80 else MOST_BLOCK - 4


def group(affinity: Floats, most: int, check: Check = nothing) -> list[tuple[int, ...]]:
    """Groups of at most so many variables, made by repeatedly joining the two with the highest affinity.

    check  called between pieces of work; it may raise
    """
    groups = [[i] for i in range(len(affinity))]
    while True:
        best, pair = 0.0, (0, 0)
        for a in range(len(groups)):
            check()
            for b in range(a):
                if len(groups[a]) + len(groups[b]) <= most:
                    between = affinity[groups[a]][:, groups[b]]
                    mean = float(between.sum()) / between.size**0.5
                    if mean > best:
                        best, pair = mean, (a, b)
        if best == 0:
            return sorted(tuple(sorted(members)) for members in groups)
        a, b = pair
        groups[b] += groups.pop(a)


class Blocks:
    """Blocks of variables, and the columns of each variable as subsets of its block."""

    def __init__(
        self,
        groups: list[tuple[int, ...]],
        children: Ints,
        inside: NDArray[np.bool_],
        check: Check = nothing,
    ) -> None:
        self.check = check
        self.groups = [members for members in groups if len(members) > 1]
        self.children = children
        self._columns = [[np.flatnonzero(children == v) for v in members] for members in self.groups]
        self._subsets = [
            [_bits(inside[own][:, list(members)]) for own in columns]
            for members, columns in zip(self.groups, self._columns, strict=True)
        ]

    def hold(self, members: tuple[int, ...]) -> bool:
        """Return True if all of these variables are in one block: no cut is needed for them."""
        inside = set(members)
        return any(inside <= set(block) for block in self.groups)

    def bound(self, worth: Floats, tops: Floats) -> tuple[float, Floats]:
        """The largest total of the columns, overall and with each column; -inf for a closed column.

        tops  the highest worth of each variable
        """
        from bayescout.kernels.optimal import best_around, best_rest

        total = float(tops.sum())
        reach = worth - tops[self.children]
        for place, members in enumerate(self.groups):
            best, totals = self._solve(place, worth)
            if totals[-1] == -np.inf:
                return -np.inf, np.full(len(worth), -np.inf)
            total += float(totals[-1]) - float(tops[list(members)].sum())
            rest, around = np.empty_like(totals), np.empty(best.shape[1])
            best_rest(best, rest)
            for child, columns in enumerate(self._columns[place]):
                self.check()
                best_around(totals, rest, child, around)
                low, subsets = (1 << child) - 1, self._subsets[place][child]
                squeezed = (subsets & low) | ((subsets >> 1) & ~low)
                reach[columns] = worth[columns] + around[squeezed] - totals[-1]
        return total, total + reach

    def choose(self, worth: Floats, tops: Floats) -> tuple[float, Ints]:
        """The largest total of the columns, and the columns that attain it: one per variable."""
        from bayescout.kernels.optimal import last_first

        total = float(tops.sum())
        falling = np.argsort(-worth, kind="stable")
        chosen = falling[np.unique(self.children[falling], return_index=True)[1]]
        for place, members in enumerate(self.groups):
            best, totals = self._solve(place, worth)
            total += float(totals[-1]) - float(tops[list(members)].sum())
            order = np.empty(len(members), dtype=np.int64)
            last_first(best, totals, order)
            before = 0
            for child in order.tolist():
                columns = self._columns[place][child]
                fits = (self._subsets[place][child] & ~before) == 0
                chosen[members[child]] = columns[int(np.argmax(np.where(fits, worth[columns], -np.inf)))]
                before |= 1 << child
        return total, chosen

    def _solve(self, place: int, worth: Floats) -> tuple[Floats, Floats]:
        """The tables of the dynamic programming in one block."""
        from bayescout.kernels.optimal import best_sinks, best_within

        columns, subsets = self._columns[place], self._subsets[place]
        best = np.empty((len(columns), 2 ** (len(columns) - 1)))
        for child, own in enumerate(columns):
            self.check()
            best_within(subsets[child], worth[own], child, best[child])
        self.check()
        totals = np.empty(2 ** len(columns))
        best_sinks(best, 0, len(totals), totals)
        return best, totals


def _bits(inside: NDArray[np.bool_]) -> Ints:
    found: Ints = (inside * (1 << np.arange(inside.shape[1], dtype=np.int64))).sum(axis=1)
    return found
