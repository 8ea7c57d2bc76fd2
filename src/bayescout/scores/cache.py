"""Local scores remembered by child and parent set, within a byte limit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayescout.errors import SettingError
from bayescout.statistics.families import Family, Floats, Ints

DEFAULT_BYTES = 256 << 20
"""The default limit of a cache."""

ENTRY_BYTES = 200
"""About what a dictionary entry, its key and its number take."""


class ScoreCache:
    """Single values by family, and rows of extensions by family; the oldest go when it is full.

    A row holds the score of (child, parents + x) at position x, not yet computed where it is NaN;
    no NaN ever leaves the cache.
    """

    def __init__(self, limit: int, n_variables: int) -> None:
        if limit < 0:
            raise SettingError(f"the cache limit must not be negative, not {limit}")
        self.limit = limit
        self.hits = 0
        self.evaluations = 0
        self._n = n_variables
        self._row_bytes = ENTRY_BYTES + 8 * n_variables
        self._bytes = 0
        self._values: dict[Family, float] = {}
        self._rows: dict[Family, Floats] = {}
        self._fresh: dict[Family, float] = {}

    def row(self, child: int, parents: tuple[int, ...]) -> Floats | None:
        """The row of extensions of a family, if there is one; what is written into it is remembered."""
        return self._rows.get((child, parents))

    def store_row(self, child: int, parents: tuple[int, ...], candidates: Ints, values: Floats) -> None:
        """Remember new extensions of a family that has no row yet."""
        self._make_room(self._row_bytes)
        if self._row_bytes <= self.limit:
            row = np.full(self._n, np.nan)
            row[candidates] = values
            self._rows[child, parents] = row
            self._bytes += self._row_bytes

    def missing(self, keys: Sequence[Family]) -> list[Family]:
        """The distinct families not remembered, in order of first appearance."""
        known, rows = self._values, self._rows
        fresh: dict[Family, None] = {}
        self._fresh = {}
        for key in keys:
            if key in known or key in fresh:
                continue
            child, parents = key
            row = rows.get((child, parents[:-1])) if parents else None
            if row is not None and not np.isnan(row[parents[-1]]):
                self._fresh[key] = float(row[parents[-1]])
            else:
                fresh[key] = None
        self.hits += len(keys) - len(fresh)
        return list(fresh)

    def store(self, families: Sequence[Family], values: Sequence[float]) -> None:
        """Remember new values."""
        self.evaluations += len(families)
        self._fresh.update(zip(families, values, strict=True))

    def values(self, keys: Sequence[Family]) -> Floats:
        """The values of families, all of them known or just stored."""
        known, fresh = self._values, self._fresh
        out = np.array([known[key] if key in known else fresh[key] for key in keys], dtype=np.float64)
        size = len(fresh) * ENTRY_BYTES
        self._make_room(size)
        if size <= self.limit:
            known.update(fresh)
            self._bytes += size
        self._fresh = {}
        return out

    def _make_room(self, size: int) -> None:
        """Forget the older half of everything when the limit would be passed."""
        if self._bytes + size <= self.limit:
            return
        self._values = dict(list(self._values.items())[len(self._values) // 2 + 1 :])
        self._rows = dict(list(self._rows.items())[len(self._rows) // 2 + 1 :])
        self._bytes = len(self._values) * ENTRY_BYTES + len(self._rows) * self._row_bytes
