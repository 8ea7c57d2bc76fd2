"""Cut continuous columns into intervals; the cuts are kept, so that new data are cut at the same points."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayescout.data.encode import Data, as_table
from bayescout.data.intervals import cut, interval_labels
from bayescout.data.reading import cut_notes
from bayescout.data.table import MAX_STATES, Label, Table, narrowest
from bayescout.errors import BayescoutWarning, DataError, SettingError, UnknownNameError

Method = Literal["quantile", "width", "kmeans"]
Floats = NDArray[np.float64]
Bins = int | Mapping[Any, int]
Cuts = Mapping[Any, Sequence[float]]

DEFAULT_BINS = 3
MAX_LLOYD_STEPS = 10_000


@dataclass(frozen=True)
class Discretiser:
    """The cut points of each column, ascending; k cuts make k + 1 intervals.

    A value v falls in the interval (a, b] with a < v <= b; a value outside the range that the cuts
    were made from falls in the first or the last interval.
    """

    columns: tuple[tuple[Label, tuple[float, ...]], ...]

    def __post_init__(self) -> None:
        for name, cuts in self.columns:
            _check_cuts(name, cuts)

    @classmethod
    def fit(
        cls,
        data: Data,
        method: Method = "quantile",
        bins: Bins = DEFAULT_BINS,
        cuts: Cuts | None = None,
        columns: Sequence[Label] | None = None,
    ) -> Discretiser:
        """Choose cuts from data; see `discretise` for the arguments."""
        return _fit(data, method, bins, cuts, columns)[0]

    @property
    def cuts(self) -> dict[Label, tuple[float, ...]]:
        """The cut points by column."""
        return dict(self.columns)

    def labels(self, name: Label) -> tuple[str, ...]:
        """The states of one column, such as "(-inf, 1.5]", "(1.5, 3.2]", "(3.2, inf)"."""
        cuts = self.cuts
        if name not in cuts:
            raise UnknownNameError("column", name, cuts, "the discretiser")
        return interval_labels(cuts[name])

    def apply(self, data: Data) -> Table:
        """The data with these columns cut, and every other column as it was."""
        return self._apply(as_table(data, kinds={name: "continuous" for name, _ in self.columns} or None))

    def _apply(self, table: Table) -> Table:
        cuts = self.cuts
        states, codes = [], []
        for name, old in zip(table.names, table.states, strict=True):
            if name in cuts:
                states.append(interval_labels(cuts[name]))
                codes.append(cut(cuts[name], table.array(name)))
            else:
                states.append(old)  # type: ignore[arg-type]
                if old is not None:
                    codes.append(table.array(name))
        widest = max((len(s) for s in states if s is not None), default=0) + table.has_missing
        matrix = np.empty((len(codes), table.n_rows), dtype=narrowest(widest))
        for row, cells in zip(matrix, codes, strict=True):
            row[:] = cells
        left = [table.array(n) for n, s in zip(table.names, states, strict=True) if s is None]
        values = np.array(left, dtype=np.float64).reshape(len(left), table.n_rows)
        notes = cut_notes(table.notes, cuts)
        return Table(table.names, tuple(states), matrix, values, table.weights, table.missing, notes)


def discretise(
    data: Data,
    method: Method = "quantile",
    bins: Bins = DEFAULT_BINS,
    cuts: Cuts | None = None,
    columns: Sequence[Label] | None = None,
) -> Table:
    """Cut continuous columns into intervals; discrete columns pass unchanged.

    method   "quantile": intervals of equal frequency (row weights count); tied values stay
             together, so heavy ties give fewer intervals, with a warning. "width": equal width
             between the least and the greatest value. "kmeans": Lloyd's iteration in one
             dimension, started from the equal-frequency intervals, so it is deterministic.
    bins     number of intervals, one for all columns or {name: number} (3 for a column not named)
    cuts     {name: cut points}: used as given
    columns  which columns; by default every continuous one and those in `cuts`

    To cut new data at the same points, keep `Discretiser.fit(...)` and use its `apply`.
    """
    discretiser, table = _fit(data, method, bins, cuts, columns)
    return discretiser._apply(table)


def _fit(
    data: Data, method: Method, bins: Bins, cuts: Cuts | None, columns: Sequence[Label] | None
) -> tuple[Discretiser, Table]:
    if method not in _METHODS:
        raise SettingError(f"method must be one of {', '.join(map(repr, _METHODS))}, not {method!r}")
    given = _given(cuts)
    asked = [*dict.fromkeys([*(columns or ()), *given])]
    table = as_table(data, kinds=dict.fromkeys(asked, "continuous") or None)
    names = [
        n for n in table.names if n in asked or (columns is None and table.states[table.index(n)] is None)
    ]
    number = _bins_of(names, bins, table)
    chosen = {n: given[n] if n in given else _choose(table, n, method, number[n]) for n in names}
    fewer = [n for n in names if n not in given and len(chosen[n]) + 1 < number[n]]
    if fewer:
        shown = ", ".join(f"{name!r} ({len(chosen[name]) + 1} of {number[name]})" for name in fewer[:8])
        warnings.warn(
            f"fewer intervals than asked for, since values tie: {shown}", BayescoutWarning, stacklevel=3
        )
    return Discretiser(tuple(chosen.items())), table


def _given(cuts: Cuts | None) -> dict[Label, tuple[float, ...]]:
    """The user's cut points as checked numbers."""
    if cuts is not None and not isinstance(cuts, Mapping):
        raise SettingError(f"cuts must map columns to cut points, as in {{'x': [0.5, 1.5]}}, not {cuts!r}")
    given = {}
    for name, points in (cuts or {}).items():
        try:
            if isinstance(points, str | bytes | Set | Mapping):
                raise TypeError
            given[name] = tuple(float(cut) for cut in points)
        except (TypeError, ValueError):
            raise SettingError(
                f"the cuts of column {name!r} must be a list of numbers, as in [0.5, 1.5], not {points!r}"
            ) from None
        _check_cuts(name, given[name])
    return given


def _bins_of(names: Sequence[Label], bins: Bins, table: Table) -> dict[Label, int]:
    if isinstance(bins, Mapping):
        for name in bins:
            table.index(name)
            if name not in names:
                raise SettingError(f"bins are given for column {name!r}, which is not to be discretised")
        number = {name: bins.get(name, DEFAULT_BINS) for name in names}
    else:
        number = dict.fromkeys(names, bins)
    for value in [*number.values(), *([bins] if isinstance(bins, int) else [])]:
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or not 2 <= value <= MAX_STATES:
            raise SettingError(f"bins must be a whole number from 2 to {MAX_STATES:,}, not {value!r}")
    return number


def _check_cuts(name: Label, cuts: Sequence[float]) -> None:
    if not np.isfinite(cuts).all() or any(b <= a for a, b in pairwise(cuts)):
        raise SettingError(f"the cuts of column {name!r} must be finite and ascending, not {list(cuts)}")
    if len(cuts) >= MAX_STATES:
        raise SettingError(
            f"column {name!r} is given {len(cuts):,} cuts; at most {MAX_STATES - 1:,} are allowed"
        )


def _choose(table: Table, name: Label, method: Method, bins: int) -> tuple[float, ...]:
    values = table.array(name)
    weights = np.ones(len(values)) if table.weights is None else table.weights
    order = np.argsort(values, kind="stable")
    counted = weights[order] > 0
    if table.has_missing:
        counted &= ~table.missing_cells(name)[order]
    if not counted.any():
        raise DataError(f"column {name!r} has no values to choose cuts from: leave it out, or give its cuts")
    cuts = _METHODS[method](values[order][counted], weights[order][counted], bins)
    return tuple(float(cut) for cut in cuts)


def _quantile_cuts(values: Floats, weights: Floats, bins: int) -> list[float]:
    """The cuts, for each j after the first value at which j / bins of the weight is reached."""
    reached = np.cumsum(weights) * bins
    total = weights.sum()
    cuts: list[float] = []
    for part in range(1, bins):
        last = int(np.searchsorted(reached, part * total, side="left"))
        after = int(np.searchsorted(values, values[min(last, len(values) - 1)], side="right"))
        if after < len(values):
            cuts.append(_between(float(values[after - 1]), float(values[after])))
    return list(dict.fromkeys(cuts))


def _between(low: float, high: float) -> float:
    """The midpoint of two values, never the upper one itself, which belongs above the cut."""
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


def _width_cuts(values: Floats, weights: Floats, bins: int) -> list[float]:
    low, high = float(values[0]), float(values[-1])
    cuts = [low * (1 - part / bins) + high * (part / bins) for part in range(1, bins)]
    return [cut for cut in dict.fromkeys(cuts) if low <= cut < high]


def _kmeans_cuts(values: Floats, weights: Floats, bins: int) -> list[float]:
    """Lloyd's iteration on sorted values: a cluster is a run of them, its sum a difference of prefix sums."""
    middle = float(values[len(values) // 2])
    with np.errstate(over="ignore", invalid="ignore"):
        spread = values - middle  # keeps the prefix sums from cancelling
        sums = np.concatenate([[0.0], np.cumsum(spread * weights)])
    if not np.isfinite(spread).all() or not np.isfinite(sums).all():
        raise DataError(
            f"values from {values[0]} to {values[-1]} are too far apart for kmeans: use 'quantile'"
        )
    mass = np.concatenate([[0.0], np.cumsum(weights)])
    ends = np.searchsorted(values, _quantile_cuts(values, weights, bins), side="right")
    for _ in range(MAX_LLOYD_STEPS):
        edges = np.unique(np.concatenate([[0], ends, [len(values)]]))
        centres = np.diff(sums[edges]) / np.diff(mass[edges])
        moved = np.searchsorted(spread, (centres[:-1] + centres[1:]) / 2, side="right")
        if np.array_equal(moved, edges[1:-1]):
            break
        ends = moved
    edges = np.unique(np.concatenate([[0], ends, [len(values)]]))[1:-1]
    return [
        _between(float(values[end - 1]), float(values[end])) for end in edges if values[end - 1] < values[end]
    ]


_METHODS = {"quantile": _quantile_cuts, "width": _width_cuts, "kmeans": _kmeans_cuts}
