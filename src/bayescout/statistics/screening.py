"""Pairs of columns worth looking at in a wide table: those whose arc would gain enough by itself.

A sieve sorts out the pairs that are far below the threshold. The others are computed again in float64, each
as a sum in one fixed order, and these numbers decide: so the pairs do not depend on the sieve.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Bools, Floats, Ints
from bayescout.errors import TooLargeError
from bayescout.statistics.columns import ColumnCovariance
from bayescout.statistics.covariance import RESIDUAL_FLOOR, Covariance
from bayescout.statistics.sieve import CpuSieve, Sieve, Spread, in_turn
from bayescout.wording import setting

MOST_DENSE = 500
"""With more columns pairs are screened by themselves, where the score and the search allow it."""

ENTRY_BYTES = 48
"""Bytes, about, that a search holds for each of the two ends of a pair."""

EXACT_PAIRS = 4096
"""Pairs that are computed exactly at a time, on each thread."""

PAIRS_AT_ONCE = 1 << 16
"""Pairs after which is seen which variables are copies."""

ROWS_AT_ONCE = 256
"""Rows of the matrix of correlations that are looked at together."""

NONE_ALIKE = np.empty((0, 2), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """The candidates of each variable: symmetric, and each list rising.

    starts  (p + 1,) int64   where the candidates of each variable begin
    ends    (m,) int32
    alike   (k, 2) int64     columns that are linear functions of an earlier one, and the first such
    """

    starts: Ints
    ends: NDArray[np.int32]
    alike: Ints

    @property
    def n(self) -> int:
        return len(self.starts) - 1

    @property
    def n_pairs(self) -> int:
        """The number of pairs kept."""
        return len(self.ends) // 2

    @cached_property
    def owners(self) -> Ints:
        """Whose candidate each is."""
        return np.repeat(np.arange(self.n), np.diff(self.starts))

    def with_pairs(self, lefts: Ints, rights: Ints) -> Neighbourhood:
        """The same with further pairs; those that are there already stay single."""
        owners = self.owners
        return Neighbourhood(
            *_lists(self.n, np.concatenate((owners, lefts)), np.concatenate((self.ends, rights))), self.alike
        )

    def lacks(self, pairs: Ints) -> Ints:
        """Those of some pairs, (k, 2), that are not kept: each once, the lower variable first."""
        wanted = distinct(pairs.min(axis=1) * self.n + pairs.max(axis=1)) if len(pairs) else pairs[:, 0]
        keys = np.append(self.owners * self.n + self.ends, -1)  # rising, and one to compare with at the end
        new = wanted[keys[np.searchsorted(keys[:-1], wanted)] != wanted]
        return np.stack([new // self.n, new % self.n], axis=1)


@dataclass(frozen=True)
class Screened:
    """What a search left unexamined: it joined only pairs that remained after screening.

    rule    what a pair must do to remain, in words
    least   the same as a number: the log-likelihood, in nats, that its arc gains by itself; None if that
            depends on the pair
    kept    the number of pairs that remained, `pairs` that of all
    joined  the number of pairs that came back during the search, since they matter given others
    """

    rule: str
    least: float | None
    kept: int
    pairs: int
    joined: int = 0

    def __str__(self) -> str:
        more = f", and {self.joined:,} more that matter given others" if self.joined else ""
        return f"{self.kept:,} of {self.pairs:,} pairs were looked at, those of which {self.rule}{more}"


class Pairs(Protocol):
    """What can be screened: the pairs of variables of one table, under one rule."""

    @property
    def n_variables(self) -> int: ...

    def coarse(self, between: Callable[[], None]) -> Iterator[tuple[Ints, Ints]]:
        """All pairs that may remain, and few others, piece by piece: the lower variable and the higher.

        `between` is called between two pieces of work, and may raise.
        """

    def remaining(self, lefts: Ints, rights: Ints) -> Bools:
        """Which of these pairs remain."""

    def alike(self) -> Ints:
        """(k, 2): the variables found to be functions of an earlier one, and the first such."""


class Screening:
    """The candidates of a problem, found when they are first asked for.

    pairs  or the columns of a table of numbers, of which an arc must gain `least`
    """

    def __init__(
        self,
        pairs: Pairs | ColumnCovariance,
        least: float | None,
        rule: str,
        most_bytes: float = math.inf,
        tell: Callable[[Ints], None] = lambda alike: None,
    ) -> None:
        if isinstance(pairs, ColumnCovariance):
            assert least is not None
            pairs = ColumnPairs(pairs, least)
        self.pairs: Pairs = pairs
        self.least, self.rule, self.most_bytes, self.tell = least, rule, most_bytes, tell
        self.found: Neighbourhood | None = None

    def neighbourhood(self, between: Callable[[], None] = lambda: None) -> Neighbourhood:
        """The candidates; `between` is called between two pieces of the work and may end it."""
        if self.found is None:
            self.found = screened(self.pairs, self.least, self.rule, between, self.most_bytes)
            self.tell(self.found.alike)
        return self.found

    def told(self, joined: int = 0) -> Screened:
        """What was screened, for a result; nothing is kept if it was not finished."""
        p = self.pairs.n_variables
        kept = 0 if self.found is None else self.found.n_pairs
        return Screened(self.rule, self.least, kept, p * (p - 1) // 2, joined)


def distinct(keys: Ints) -> Ints:
    """The different ones of keys that are no less than 0, rising.

    Sorted by vector instructions: `np.unique` has them hashed, which takes fifty times as long.
    """
    rising = np.sort(keys)
    return rising[np.flatnonzero(np.diff(rising, prepend=-1))]


def _lists(n: int, lefts: Ints, rights: Ints) -> tuple[Ints, NDArray[np.int32]]:
    """Candidate lists from pairs, in both directions, without repetition."""
    keys = np.concatenate((lefts.astype(np.int64) * n + rights, rights.astype(np.int64) * n + lefts))
    keys = distinct(keys)
    owners = keys // n
    starts = np.searchsorted(owners, np.arange(n + 1))
    return starts.astype(np.int64), (keys - owners * n).astype(np.int32)


def screened(
    pairs: Pairs,
    least: float | None,
    rule: str,
    between: Callable[[], None] = lambda: None,
    most_bytes: float = math.inf,
) -> Neighbourhood:
    """The candidates of each variable: of the pairs that remain, or of all if nothing is asked of them.

    least       what the pairs ask of an arc, in nats, if it is one number; zero keeps all
    between     called between two pieces of work; may raise
    most_bytes  refuse if the candidates would take more
    """
    p = pairs.n_variables
    if least is not None and least <= 0:
        _require_room(p * (p - 1) // 2, most_bytes, rule)
        return _every_pair(p)
    lefts, rights, kept = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
    for some, others in pairs.coarse(between):
        chosen = pairs.remaining(some, others)
        lefts.append(some[chosen])
        rights.append(others[chosen])
        kept += int(chosen.sum())
        _require_room(kept, most_bytes, rule)
    alike = pairs.alike()
    some, others = _chains(alike)
    found = _lists(p, np.concatenate([*lefts, some]), np.concatenate([*rights, others]))
    return Neighbourhood(*found, alike)


def _chains(alike: Ints) -> tuple[Ints, Ints]:
    """Pairs that join variables which are functions of the same first one, each with the one before."""
    order = np.lexsort((alike[:, 0], alike[:, 1]))
    later, first = alike[order].T
    before = np.where(first == np.roll(first, 1), np.roll(later, 1), first)
    before[:1] = first[:1]
    return before, later


def _every_pair(p: int) -> Neighbourhood:
    every = np.arange(p, dtype=np.int32)
    ends = np.concatenate([np.delete(every, v) for v in range(p)]) if p else every
    starts = np.arange(p + 1, dtype=np.int64) * max(0, p - 1)
    return Neighbourhood(starts, ends, NONE_ALIKE)


class ColumnPairs:
    """The pairs of columns of numbers whose arc gains at least so much log-likelihood, in nats.

    Of columns that are linear functions of one another, as copies are, the first stands for all, and each of
    the others remains beside the one before it: the pairs of a thousand copies are half a million, and the
    neighbours of one that has them all a thousand.

    spread  computes correlations on several threads; None is on one
    """

    def __init__(
        self,
        statistics: ColumnCovariance | Covariance,
        least: float,
        sieve: Sieve | None = None,
        spread: Spread = in_turn,
    ) -> None:
        self.statistics, self.sieve, self.spread = statistics, sieve or CpuSieve(), spread
        self.limit = -math.expm1(-2 * least / statistics.total)  # of the squared correlation
        self.first = np.full(statistics.n_variables, statistics.n_variables)
        """The first column that determines each."""

    @property
    def n_variables(self) -> int:
        return self.statistics.n_variables

    def coarse(self, between: Callable[[], None]) -> Iterator[tuple[Ints, Ints]]:
        assert isinstance(self.statistics, ColumnCovariance)
        return self.sieve.correlated(self.statistics.unit, math.sqrt(self.limit), between)

    def remaining(self, lefts: Ints, rights: Ints) -> Bools:
        # By the first variable, so that it is known of each whether it is a copy before it has any.
        order = np.argsort(lefts, kind="stable")
        kept = np.zeros(len(lefts), dtype=np.bool_)
        for begin in range(0, len(lefts), PAIRS_AT_ONCE):
            places = order[begin : begin + PAIRS_AT_ONCE]
            places = places[self._are_open(lefts[places], rights[places])]
            exact = self._correlations(lefts[places], rights[places])
            same = places[1 - np.square(exact) <= RESIDUAL_FLOOR]
            self._note_copies(lefts[same], rights[same])
            kept[places[np.square(exact) >= self.limit]] = True
        kept &= self._are_open(lefts, rights)
        return kept

    def _correlations(self, lefts: Ints, rights: Ints) -> Floats:
        statistics: Any = self.statistics
        starts = range(0, len(lefts), EXACT_PAIRS)
        slices = [slice(begin, begin + EXACT_PAIRS) for begin in starts]
        found = self.spread(lambda some: _exact(statistics, lefts[some], rights[some]), slices, lambda: None)
        return np.concatenate([np.empty(0), *found])

    def _are_open(self, lefts: Ints, rights: Ints) -> Bools:
        """Whether neither of two variables is a copy of an earlier one."""
        none = self.n_variables
        found: Bools = (self.first[lefts] == none) & (self.first[rights] == none)
        return found

    def _note_copies(self, lefts: Ints, rights: Ints) -> None:
        """Note that variables are copies of earlier ones; by rising lefts."""
        none = self.n_variables
        begins = np.flatnonzero(np.diff(lefts, prepend=-1, append=none))
        for begin, end in pairwise(begins.tolist()):
            own = rights[begin:end]
            if self.first[lefts[begin]] == none:
                self.first[own[self.first[own] == none]] = lefts[begin]

    def alike(self) -> Ints:
        later = np.flatnonzero(self.first < self.n_variables)
        return np.stack([later, self.first[later]], axis=1)


class MatrixPairs(ColumnPairs):
    """The same pairs, where the matrix of all correlations is there: no sieve is needed."""

    def __init__(self, statistics: Covariance, least: float) -> None:
        super().__init__(statistics, least)
        self.squares = np.square(statistics.matrix)

    def coarse(self, between: Callable[[], None]) -> Iterator[tuple[Ints, Ints]]:
        for begin in range(0, self.n_variables, ROWS_AT_ONCE):
            between()
            lefts, rights = np.nonzero(self.squares[begin : begin + ROWS_AT_ONCE] >= self.limit)
            later = rights > lefts + begin
            yield lefts[later] + begin, rights[later]

    def _correlations(self, lefts: Ints, rights: Ints) -> Floats:
        assert isinstance(self.statistics, Covariance)
        return self.statistics.matrix[lefts, rights]


def _exact(statistics: ColumnCovariance, lefts: Ints, rights: Ints) -> Floats:
    """The correlation of each pair as searches use it."""
    from bayescout.kernels.columns import correlate_pairs

    out = np.empty(len(lefts))
    correlate_pairs(statistics.values, statistics.shifts, statistics.roots, lefts, rights, out)
    return out


def _require_room(pairs: int, most_bytes: float, rule: str) -> None:
    needed = 2 * pairs * ENTRY_BYTES
    if needed > most_bytes:
        raise TooLargeError(
            f"{rule}: at least {pairs:,} pairs of columns remain, and a search on them takes "
            f"{needed / 2**30:,.1f} GB or more, where {most_bytes / 2**30:,.1f} GB are free: raise the "
            f"threshold, as in {setting('screen', 50)}, in nats that the arc of a pair must gain, or leave "
            f"out columns"
        )
