"""What sorts out pairs of columns in bulk, before those that are left are computed exactly.

A sieve may round as it likes within the bounds that it states, and may let through more than it has to, but
never less. So an answer does not depend on which one was used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Floats, Ints

BLOCK = 2048
"""Columns per side of a block of products."""

TILE_WORK = 1 << 27
"""Words and cells that a tile of counts goes through, about: a tenth of a second."""

TERMS_ADDED = 4096
"""Products that are added up in one go at most."""

ROUNDING = 2.0**-24
"""The rounding of float32."""

Between = Callable[[], None]
Spread = Callable[[Callable[[Any], Any], Sequence[Any], Between], list[Any]]
"""The results of work on each item, `between` called between two of them."""


class Unit(Protocol):
    """Columns of length 1, made when asked for: float32, one row for each of some columns."""

    shape: tuple[int, int]

    def __call__(self, begin: int, end: int) -> NDArray[np.float32]: ...


class Tile(NamedTuple):
    """Two runs of positions in the order of the columns, and what their pairs must come to.

    terms  (total + 1,) float64   the term of a cell by its count
    bars   (2, 2, p) float64      as in `kernels.pairs`
    begin, end, first, last       each run is of columns of one number of states
    """

    terms: Floats
    bars: Floats
    begin: int
    end: int
    first: int
    last: int

    def bands(self, side: int) -> Iterator[list[Tile]]:
        """Tiles of so many columns a side, those side by side together; none below the diagonal."""
        for a in range(self.begin, self.end, side):
            b = max(a, self.first)
            yield [
                self._replace(begin=a, end=min(self.end, a + side), first=c, last=min(self.last, c + side))
                for c in range(b, self.last, side)
            ]


class Sieve(Protocol):
    """Something that multiplies and counts columns, and gives the pairs that may be above a threshold."""

    def correlated(self, unit: Unit, threshold: float, between: Between) -> Iterator[tuple[Ints, Ints]]:
        """All pairs of columns whose product may reach the threshold, one way or the other, and few others.

        Piece by piece, the lower column and the higher; a pair may come twice.
        """

    def counted(self, rows: Any, runs: Iterable[Tile], between: Between) -> Iterator[Ints]:
        """All pairs of which the terms may reach a bar, as (k, 2) positions, piece by piece.

        rows  a `kernels.pairs.Rows`
        """


def slack(rows: int) -> float:
    """The most by which a sum of so many products in float32 is off, if the columns have length 1."""
    return (min(rows, TERMS_ADDED) + rows / TERMS_ADDED + 8) * ROUNDING


def in_turn(work: Callable[[Any], Any], items: Sequence[Any], between: Between) -> list[Any]:
    """Work on one thread."""
    found = []
    for item in items:
        between()
        found.append(work(item))
    return found


class CpuSieve:
    """Products by NumPy, and counts by compiled code on bits, on threads."""

    def __init__(self, spread: Spread = in_turn) -> None:
        self.spread = spread

    def correlated(self, unit: Unit, threshold: float, between: Between) -> Iterator[tuple[Ints, Ints]]:
        p, rows = unit.shape
        least = np.float32(max(0.0, threshold - slack(rows)))
        above = np.empty((BLOCK, BLOCK), dtype=bool)
        for i in range(0, p, BLOCK):
            one = unit(i, min(p, i + BLOCK))
            for j in range(i, p, BLOCK):
                between()
                two = one if i == j else unit(j, min(p, j + BLOCK))
                found = products(one, two)
                np.abs(found, out=found)
                mask = above[: found.shape[0], : found.shape[1]]
                np.greater_equal(found, least, out=mask)
                rows_above, columns_above = np.nonzero(mask)
                yield ordered(rows_above, columns_above, i, j)

    def counted(self, rows: Any, runs: Iterable[Tile], between: Between) -> Iterator[Ints]:
        from bayescout.kernels.pairs import pairs_above

        def work(tile: Tile) -> Ints:
            found = np.empty((4096, 2), dtype=np.int64)
            many = pairs_above(rows, *tile, found)
            if many > len(found):
                found = np.empty((many, 2), dtype=np.int64)
                pairs_above(rows, *tile, found)
            return found[:many]

        for run in runs:
            r, s = (int(rows.layout[0, rows.order[at]]) for at in (run.begin, run.first))
            work_of_pair = r * s + (r - 1) * (s - 1) * rows.codes.shape[1] / 64
            side = min(BLOCK, max(16, int(math.sqrt(TILE_WORK / work_of_pair))))
            for band in run.bands(side):
                yield from self.spread(work, band, between)


def products(one: NDArray[Any], two: NDArray[Any]) -> NDArray[Any]:
    """The products of all rows of one with all of two, so many terms at a time."""
    found: NDArray[Any] = one[:, :TERMS_ADDED] @ two[:, :TERMS_ADDED].T
    for begin in range(TERMS_ADDED, one.shape[1], TERMS_ADDED):
        part = slice(begin, begin + TERMS_ADDED)
        found += one[:, part] @ two[:, part].T
    return found


def ordered(rows: Ints, columns: Ints, i: int, j: int) -> tuple[Ints, Ints]:
    """The pairs at these places of a block, of which only those above the diagonal count.

    i, j  where the block begins
    """
    some, others = rows + i, columns + j
    if i == j:
        upper = some < others
        some, others = some[upper], others[upper]
    return some, others
