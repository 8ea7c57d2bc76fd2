"""Local scores remembered by child and parent set, within a byte limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bayescout.arrays import Family, Floats, Ints
from bayescout.errors import SettingError
from bayescout.scores.checks import check_families

DEFAULT_BYTES = 256 << 20
"""The default limit of a cache."""

ENTRY_BYTES, PARENT_BYTES = 200, 36
"""Bytes, about, per dictionary entry with its key and number, and per parent in the key."""


class ScoreCache:
    """Single values by family, and rows of extensions by family; the oldest are dropped when it is full.

    A row holds the score of (child, parents + x) at position x, or NaN if it is not yet computed;
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

    def row(self, child: int, parents: tuple[int, ...]) -> Floats | None:
        """The row of extensions of a family, if there is one; values written into it are remembered."""
        return self._rows.get((child, parents))

    def store_row(self, child: int, parents: tuple[int, ...], candidates: Ints, values: Floats) -> None:
        """Remember new extensions of a family that has no row yet."""
        self._make_room(self._row_bytes)
        if self._bytes + self._row_bytes <= self.limit:
            row = np.full(self._n, np.nan)
            row[candidates] = values
            self._rows[child, parents] = row
            self._bytes += self._row_bytes

    def fetch(self, families: Sequence[Family], compute: Callable[[list[Family]], Floats]) -> Floats:
        """The values of families in their order; those not remembered are checked and computed once."""
        keys = [(child, tuple(sorted(parents))) for child, parents in families]
        found, fresh = self.look_up(keys)
        if fresh:
            check_families(fresh, self._n)
            computed = dict(zip(fresh, compute(fresh).tolist(), strict=True))
            self.remember(computed)
            found |= computed
        return np.array([found[key] for key in keys], dtype=np.float64)

    def look_up(self, keys: Sequence[Family]) -> tuple[dict[Family, float], list[Family]]:
        """The remembered values among these families, and the distinct others in order of appearance."""
        known, rows = self._values, self._rows
        found: dict[Family, float] = {}
        fresh: dict[Family, None] = {}
        for key in keys:
            value = known.get(key)
            if value is None and key not in fresh:
                child, parents = key
                row = rows.get((child, parents[:-1])) if parents else None
                if row is not None and not np.isnan(row[parents[-1]]):
                    value = float(row[parents[-1]])
            if value is None:
                fresh[key] = None
            else:
                found[key] = value
        self.hits += len(keys) - len(fresh)
        return found, list(fresh)

    def remember(self, values: dict[Family, float]) -> None:
        """Keep newly computed values, as far as there is room."""
        self.evaluations += len(values)
        size = sum(ENTRY_BYTES + PARENT_BYTES * len(parents) for _, parents in values)
        self._make_room(size)
        if self._bytes + size <= self.limit:
            self._values.update(values)
            self._bytes += size

    def _make_room(self, size: int) -> None:
        """Forget the older half of everything when the limit would be passed."""
        if self._bytes + size <= self.limit:
            return
        self._values = dict(list(self._values.items())[len(self._values) // 2 + 1 :])
        self._rows = dict(list(self._rows.items())[len(self._rows) // 2 + 1 :])
        self._bytes = sum(ENTRY_BYTES + PARENT_BYTES * len(parents) for _, parents in self._values)
        self._bytes += len(self._rows) * self._row_bytes
