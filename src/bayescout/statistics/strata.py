"""Scatter matrices of the continuous columns in each configuration of some discrete ones, remembered.

All matrices of a set of discrete variables are made in one pass over the rows, for all continuous columns if
there are not too many; every child and every set of continuous parents is then computed from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from bayescout.arrays import Floats, Ints, Parents
from bayescout.data.table import Table
from bayescout.errors import TooLargeError
from bayescout.statistics.discrete import DiscreteStatistics

WHOLE_COLUMNS = 64
"""Up to so many continuous columns, the matrices of a configuration are computed for all of them at once."""

CHUNK = 16
"""Candidates whose cross-products are computed together if there are more columns than that."""

MOST_ASKED = 100_000
"""Sets of discrete parents of which it is known that they were asked for once."""

MEMORY_BYTES, MOST_BYTES = 128 << 20, 512 << 20
"""Limits for the matrices that are remembered, and for those of one set of discrete parents."""


class Scatters(NamedTuple):
    """The rows of a table by configuration of some discrete variables.

    columns   the continuous columns, or None for all
    sizes     (q,) int64          rows
    totals    (q,) float64        sums of weights
    means     (q, v) float64      of the continuous columns
    scatters  (q, v, v) float64   their centred sums of squares and products
    """

    columns: Ints | None
    sizes: Ints
    totals: Floats
    means: Floats
    scatters: Floats


class HasBytes(Protocol):
    """What is remembered says how large it is."""

    @property
    def bytes(self) -> int: ...


Made = TypeVar("Made", bound=HasBytes)


class Piece(NamedTuple, Generic[Made]):
    """The matrices for some of the candidates of a family.

    where       the places of these candidates
    strata      what was made of the matrices
    family      (k + 1,) int64   parents, and the child last, as positions in the matrices
    candidates  (c,) int64       likewise; -1 for none
    """

    where: slice
    strata: Made
    family: Ints
    candidates: Ints


class StrataMemory(Generic[Made]):
    """The matrices of sets of discrete variables, remembered within a limit.

    rows  (n, v) float64   the continuous columns, or something of that shape that reads them
    make  a function from the scatter matrices to what is remembered of them
    """

    def __init__(
        self, table: Table, counts: DiscreteStatistics, rows: Any, make: Callable[[Scatters], Made]
    ) -> None:
        self.table = table
        self.counts = counts
        self.rows = rows
        self.n_columns = rows.shape[1]
        self.make = make
        self.remembered = MEMORY_BYTES
        self.known: dict[Parents, Made] = {}
        self.asked: set[Parents] = set()
        self._weights = np.empty(0) if table.weights is None else np.asarray(table.weights)

    def pieces(self, discrete: Parents, family: Ints, candidates: Ints) -> Iterator[Piece[Made]]:
        """The matrices of a family's columns with those of each candidate, in one piece or several."""
        for where, columns in self.columns_of_pieces(discrete, family, candidates):
            some = candidates[where]
            if columns is None:
                yield Piece(where, self.of(discrete), family, some)
                continue
            more = np.where(some >= 0, np.searchsorted(columns, some), -1)
            yield Piece(where, self.of(discrete, columns), np.searchsorted(columns, family), more)

    def columns_of_pieces(
        self, discrete: Parents, family: Ints, candidates: Ints
    ) -> Iterator[tuple[slice, Ints | None]]:
        """The candidates of each piece, and the continuous columns that its matrices have; None for all."""
        whole = self._all_at_once(discrete, len(candidates))
        step = len(candidates) if whole else CHUNK
        for begin in range(0, len(candidates), step):
            where = slice(begin, begin + step)
            some = candidates[where]
            yield where, None if whole else np.unique([*family, *some[some >= 0]])

    def begin(self, wanted: Iterable[tuple[Parents, Ints | None]]) -> Any:
        """Begin matrices that are asked for next, of some continuous columns or all, if rows are far."""

    def finish(self, begun: Any) -> None:
        """Wait for what was begun."""

    def of(self, discrete: Parents, columns: Ints | None = None) -> Made:
        """The matrices of some continuous columns; those of all columns are remembered."""
        known = self.known.get(discrete) if columns is None else None
        if known is not None:
            return known
        made = self.make(self._computed(discrete, columns))
        if columns is None:
            self._remember(discrete, made)
        return made

    def _remember(self, discrete: Parents, made: Made) -> None:
        """Keep the matrices of all columns; where they would take too much, the older half goes."""
        held = sum(one.bytes for one in list(self.known.values()))
        if held + made.bytes > self.remembered:
            self.known = dict(list(self.known.items())[len(self.known) // 2 + 1 :])
        self.known[discrete] = made

    def of_columns(self, discrete: Parents, columns: Ints) -> Made:
        """The matrices of some continuous columns, those remembered if these are all of them."""
        whole = len(columns) == self.n_columns and self._all_at_once(discrete, len(columns))
        return self.of(discrete, None if whole else columns)

    def totals(self, discrete: Parents) -> Floats:
        """The weight of the rows in each configuration that occurs."""
        numbers, distinct = self._configurations(discrete)
        weights = self._weights if len(self._weights) else None
        return np.bincount(numbers, weights, distinct).astype(np.float64)

    def _all_at_once(self, discrete: Parents, families: int) -> bool:
        """Return True if the matrices of these configurations are made for all continuous columns.

        Not where they are asked for once, for one family, since many sets of discrete parents never are
        again. The numbers are the same to the bit.
        """
        if len(discrete) > 1 and families == 1 and discrete not in self.asked:
            if len(self.asked) > MOST_ASKED:
                self.asked = set()
            self.asked.add(discrete)
            return False
        columns = self.n_columns
        configurations = min(self.counts.configurations(discrete), float(self.table.n_rows))
        return bool(columns <= WHOLE_COLUMNS and configurations * columns * columns * 8 <= MEMORY_BYTES / 4)

    def _computed(self, discrete: Parents, columns: Ints | None) -> Scatters:
        from bayescout.kernels.strata import scatter_rows

        numbers, distinct = self._configurations(discrete)
        rows = self.rows if columns is None else np.ascontiguousarray(self.rows[:, columns])
        v = rows.shape[1]
        require_room(distinct, len(discrete), v, MOST_BYTES)
        sizes, totals = np.empty(distinct, dtype=np.int64), np.empty(distinct)
        means, scatters = np.empty((distinct, v)), np.empty((distinct, v, v))
        scatter_rows(rows, numbers, self._weights, sizes, totals, means, scatters)
        return Scatters(columns, -(-sizes // self.table.copies), totals, means, scatters)

    def _configurations(self, discrete: Parents) -> tuple[Ints, int]:
        """The configuration of each row, as a number, and how many numbers there are."""
        codes, cards = self.table.codes, self.counts.cards
        numbers, distinct = np.zeros(self.table.n_rows, dtype=np.int64), 1
        for v in discrete:
            numbers = numbers * int(cards[v]) + codes[v]
            distinct *= int(cards[v])
            if distinct > most_numbers(self.table.n_rows):
                found, numbers = np.unique(numbers, return_inverse=True)
                numbers, distinct = numbers.astype(np.int64), len(found)
        return numbers, distinct


def most_numbers(rows: int) -> int:
    """From more possible configurations on, those that occur are numbered."""
    return max(256, rows // 8)


def require_room(configurations: int, parents: int, columns: int, most: int, way_out: str = "") -> None:
    """Refuse matrices that would take more memory than `most`."""
    if configurations * columns * columns * 8 > most:
        raise TooLargeError(
            f"{configurations:,} configurations of {parents} discrete parents, with a covariance matrix "
            f"of {columns} columns each, take more than {most >> 20} MB: limit the number of parents{way_out}"
        )
