"""The sufficient statistics of families, of which every score is a function.

A batch holds the statistics of many families at once: discrete, Gaussian or mixed. All kinds have
`log_likelihoods()` and `parameters()`; a score that needs no more works on all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Floats, Ints
from bayescout.kernels.limits import LOOKUP_SIZE

MOST_DIGITS = 36
"""The most binary digits of a score: with few rows the charge for parameters exceeds any likelihood."""


class Families(Protocol):
    """The statistics of a batch of families."""

    @property
    def total(self) -> float:
        """The number of rows, or the sum of their weights."""

    def log_likelihoods(self) -> Floats:
        """The maximised log-likelihood of each family, in nats."""

    def parameters(self) -> Floats:
        """The number of free parameters of each family."""

    @property
    def n_variables(self) -> int:
        """The number of variables of the whole table."""

    def rounded(self, value: float) -> float | Floats:
        """A constant rounded to the grid of the log-likelihoods, so that its multiples add exactly.

        One number, or one per family where their grids differ.
        """


@dataclass(frozen=True)
class Grid:
    """The grid of a score: multiples of 2**-digits, so that scores add exactly.

    Terms are added in whole units of 2**-shift and the sum is then rounded to the grid, which is
    about the spacing of float64 at the largest possible score: nothing is lost, and sums and
    differences of scores have no rounding error of their own.
    """

    digits: int
    shift: int

    @classmethod
    def for_rows(cls, total: float, nats_per_row: float, most_nats_per_row: float) -> Grid:
        """A grid for sums near `total * nats_per_row` that never exceed `total * most_nats_per_row`."""
        usual = max(1.0, total * nats_per_row)
        most = max(2.0, total * most_nats_per_row)
        digits = min(MOST_DIGITS, 51 - math.ceil(math.log2(usual)))
        return cls(digits, max(digits + 1, 61 - math.ceil(math.log2(most))))

    @cached_property
    def for_kernel(self) -> Floats:
        """Units per nat, the units per step of the grid as a power of two, and the step in nats."""
        return np.array(
            [math.ldexp(1.0, self.shift), self.shift - self.digits, math.ldexp(1.0, -self.digits)]
        )

    def round(self, value: float) -> float:
        """The nearest point of the grid."""
        return math.ldexp(round(math.ldexp(value, self.digits)), -self.digits)


@dataclass(frozen=True)
class FamilyTables:
    """Contingency tables of a batch of discrete families.

    counts          flat int64 (float64 for fractional row weights): the tables, one after the
                    other, each of (configurations, child states); a configuration of the parents
                    that never occurs may be left out
    starts          (k + 1,) the start of each table
    states          (k,) child states
    configurations  (k,) all parent configurations, occurring or not
    cards           (p,) states of every variable of the table
    grid            to which sums of N log N are rounded
    rows            rows counted, where duplicates folded into weights count once
    """

    counts: NDArray[Any]
    starts: Ints
    states: Ints
    configurations: Floats
    cards: Ints
    total: float
    grid: Grid
    rows: int

    def __len__(self) -> int:
        return len(self.states)

    def table(self, i: int) -> NDArray[Any]:
        """The counts of one family as (configurations held, child states)."""
        flat: NDArray[Any] = self.counts[self.starts[i] : self.starts[i + 1]]
        return flat.reshape(-1, int(self.states[i]))

    def parameters(self) -> Floats:
        """q (r - 1): over declared states and all configurations, not only the observed ones."""
        return np.where(self.states > 1, self.configurations, 0.0) * (self.states - 1)

    def log_likelihoods(self) -> Floats:
        """Σ N_jk log(N_jk / N_j)."""
        sums = self._xlogx_sums()
        likelihoods: Floats = sums[0] - sums[1]
        return likelihoods

    def mutual_informations(self) -> Floats:
        """N · I(child; parents), in nats: the gain in log-likelihood over no parents."""
        sums = self._xlogx_sums()
        everything = self.grid.round(self.total * math.log(self.total))
        informations: Floats = sums[0] - sums[1] - sums[2] + everything
        return informations

    @property
    def n_variables(self) -> int:
        return len(self.cards)

    @property
    def most_terms(self) -> float:
        """An upper bound on the number of occupied cells and on the sum of counts."""
        return self.total if self.counts.dtype == np.int64 else max(self.total, float(self.rows))

    def roomier_grid(self) -> Grid:
        """The same grid, with units for sums that leave room for N log r with any number of states."""
        most = math.log(self.most_terms + float(self.cards.max(initial=1)) + 1)
        wider = Grid.for_rows(self.most_terms, most, most)
        return Grid(self.grid.digits, max(self.grid.digits + 1, min(self.grid.shift, wider.shift)))

    def rounded(self, value: float) -> float:
        return self.grid.round(value)

    def _xlogx_sums(self) -> Floats:
        from bayescout.kernels.reducing import sum_xlogx

        whole = self.counts.dtype == np.int64
        lookup = xlogx_lookup(int(self.total) + 1, self.grid.shift) if whole else _NO_LOOKUP
        out = np.empty((3, len(self)))
        sum_xlogx(self.counts, self.starts, self.states, lookup, self.grid.for_kernel, out)
        return out


_NO_LOOKUP = np.empty(0, dtype=np.int64)
_lookups: dict[tuple[int, int], Ints] = {}


def xlogx_lookup(size: int, shift: int) -> Ints:
    """N log N in units of 2**-shift for N below the size and below LOOKUP_SIZE."""
    size = min(size, LOOKUP_SIZE)
    known = _lookups.get((size, shift))
    if known is None:
        n = np.arange(size, dtype=np.float64)
        n[1:] *= np.log(n[1:])
        known = np.floor(np.ldexp(n, shift) + 0.5).astype(np.int64)
        if len(_lookups) >= 16:
            _lookups.clear()
        _lookups[size, shift] = known
    return known
