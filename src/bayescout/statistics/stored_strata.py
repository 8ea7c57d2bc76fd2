"""Columns of both kinds past memory: the matrices of strata, to the bit those of the same rows in memory.

Sums within a stratum are over its rows in their order, so each block of rows goes on with the sums of those
before it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Floats, Ints, Parents
from bayescout.data.past.budget import cores
from bayescout.data.past.stored import StoredTable
from bayescout.statistics.discrete import DiscreteStatistics
from bayescout.statistics.stored_counts import block_rows
from bayescout.statistics.stored_covariance import Shift
from bayescout.statistics.strata import (
    MEMORY_BYTES,
    MOST_BYTES,
    HasBytes,
    Scatters,
    StrataMemory,
    most_numbers,
    require_room,
)

SHARE = 8
"""The matrices of one set of parents, and those that are remembered, take at most one part in so many of the
memory that may be taken."""

COLUMNS_AT_ONCE = 16
"""Discrete columns whose codes are read together with the continuous ones."""

Made = TypeVar("Made", bound=HasBytes)


class CentredRows:
    """The continuous columns of a table on disk, centred and in a unit, a block of rows at a time.

    unit  a function of centred columns, (columns, rows), and of which these are
    """

    def __init__(self, table: StoredTable, shift: Shift, unit: Callable[[Floats, Any], Floats]) -> None:
        self.table, self.shift, self.unit = table, shift, unit
        self.shape = table.n_rows, table.n_columns
        self.block_rows = block_rows(32 * (table.n_columns + 2), table.budget)

    def blocks(self, columns: Ints | None = None) -> Iterator[Floats]:
        """The rows of some columns or all, (rows, columns) of each block."""
        places = list(range(self.table.n_columns)) if columns is None else columns.tolist()
        shift = self.shift.some(places)
        with closing(self.table.blocks(places, self.block_rows)) as blocks:
            for block in blocks:
                yield np.ascontiguousarray(self.unit(shift.of(block), places).T)


@dataclass(frozen=True)
class Spreads:
    """Centred columns in units of their standard deviation, or of another spread of theirs."""

    spreads: Floats

    def __call__(self, centred: Floats, columns: Any) -> Floats:
        return np.asarray(centred / self.spreads[columns, None])


@dataclass(frozen=True)
class OwnUnit:
    """Centred columns that were divided by powers of two, in their own unit again."""

    exponents: Ints

    def __call__(self, centred: Floats, columns: Any) -> Floats:
        with np.errstate(under="ignore"):
            return np.asarray(np.ldexp(centred, self.exponents[columns][:, None]))


class Step(NamedTuple):
    """How one more discrete variable goes into the numbers of configurations.

    states     of the variable
    occurring  the numbers that occur so far, ascending, if only these are numbered
    """

    states: int
    occurring: Ints | None


def numbered(codes: NDArray[Any], steps: Sequence[Step]) -> Ints:
    """The configuration of each row, as a number."""
    numbers = np.zeros(codes.shape[1], dtype=np.int64)
    for own, step in zip(codes, steps, strict=True):
        numbers = numbers * step.states + own
        if step.occurring is not None:
            numbers = np.searchsorted(step.occurring, numbers)
    return numbers


class StoredStrata(StrataMemory[Made]):
    """The matrices of sets of discrete variables whose rows are on disk."""

    def __init__(
        self,
        discrete: StoredTable,
        counts: DiscreteStatistics,
        rows: CentredRows,
        make: Callable[[Scatters], Made],
    ) -> None:
        super().__init__(discrete, counts, rows, make)
        self.discrete, self.centred = discrete, rows
        self.most = min(MOST_BYTES, discrete.budget.spare // SHARE)
        self.remembered = min(MEMORY_BYTES, discrete.budget.spare // SHARE)
        self._alone = threading.Lock()

    def totals(self, discrete: Parents) -> Floats:
        steps, distinct = self._steps(discrete)
        self._require_room(distinct, discrete, 2)
        found = np.zeros(distinct, dtype=np.int64)
        for numbers in self._numbers(discrete, steps):
            found += np.bincount(numbers, minlength=distinct)
        return found.astype(np.float64)

    def _computed(self, discrete: Parents, columns: Ints | None) -> Scatters:
        steps, distinct = self._steps(discrete)
        v = self.n_columns if columns is None else len(columns)
        self._require_room(distinct, discrete, v)
        large = 8 * distinct * v * v * cores() > self.most
        with self._alone if large else nullcontext():  # threads hold large matrices one after the other
            return self._summed(discrete, steps, distinct, columns)

    def _summed(
        self, discrete: Parents, steps: Sequence[Step], distinct: int, columns: Ints | None
    ) -> Scatters:
        from bayescout.kernels.strata import add_scatters, add_sums

        v = self.n_columns if columns is None else len(columns)
        sizes, totals = np.zeros(distinct, dtype=np.int64), np.zeros(distinct)
        means, scatters = np.zeros((distinct, v)), np.zeros((distinct, v, v))
        for numbers, rows in self._rows(discrete, steps, columns):
            add_sums(rows, numbers, self._weights, sizes, totals, means)
        occurring = totals > 0.0
        means[occurring] /= totals[occurring, None]
        for numbers, rows in self._rows(discrete, steps, columns):
            add_scatters(rows, numbers, self._weights, means, scatters)
        one, other = np.tril_indices(v, -1)
        scatters[:, other, one] = scatters[:, one, other]
        return Scatters(columns, sizes, totals, means, scatters)

    def _rows(
        self, discrete: Parents, steps: Sequence[Step], columns: Ints | None
    ) -> Iterator[tuple[Ints, Floats]]:
        return zip(self._numbers(discrete, steps), self.centred.blocks(columns), strict=True)

    def _numbers(self, discrete: Sequence[int], steps: Sequence[Step]) -> Iterator[Ints]:
        """The configurations of the rows of one block after the other."""
        with closing(self.discrete.blocks(list(discrete), self.centred.block_rows)) as blocks:
            for codes in blocks:
                yield numbered(codes, steps)

    def _steps(self, discrete: Parents) -> tuple[list[Step], int]:
        """How configurations are numbered, as in memory, and how many numbers there are."""
        steps: list[Step] = []
        distinct = 1
        for place, variable in enumerate(discrete):
            steps.append(Step(int(self.counts.cards[variable]), None))
            distinct *= steps[-1].states
            if distinct > most_numbers(self.discrete.n_rows):
                occurring = np.empty(0, dtype=np.int64)
                for numbers in self._numbers(discrete[: place + 1], steps):
                    occurring = np.union1d(occurring, numbers)
                    self._require_room(len(occurring), discrete, 1)
                distinct = len(occurring)
                steps[-1] = steps[-1]._replace(occurring=occurring)
        return steps, distinct

    def _require_room(self, configurations: int, discrete: Parents, columns: int) -> None:
        way_out = "" if self.most == MOST_BYTES else ", or give more memory="
        require_room(configurations, len(discrete), columns, self.most, way_out)


def sums_by_state_on_disk(discrete: StoredTable, rows: CentredRows) -> list[Floats]:
    """By discrete column, (states, columns): the sums of the continuous columns over the rows of each."""
    from bayescout.kernels.strata import add_sums

    no_weights = np.empty(0)
    found = [np.zeros((r, rows.shape[1])) for r in discrete.cardinalities.tolist()]
    for begin in range(0, len(found), COLUMNS_AT_ONCE):
        places = range(begin, min(begin + COLUMNS_AT_ONCE, len(found)))
        with closing(discrete.blocks(places, rows.block_rows)) as blocks:
            for codes, some in zip(blocks, rows.blocks(), strict=True):
                for own, place in zip(codes, places, strict=True):
                    sizes, totals = np.zeros(len(found[place]), dtype=np.int64), np.zeros(len(found[place]))
                    add_sums(some, own.astype(np.int64), no_weights, sizes, totals, found[place])
    return found
