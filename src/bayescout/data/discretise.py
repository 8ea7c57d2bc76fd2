"""Cut continuous columns into intervals; the cuts are kept, so that new data are cut at the same points."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayescout.data.description_length import between, mdl_cuts
from bayescout.data.encode import Data, as_table
from bayescout.data.hartemink import merged_ends
from bayescout.data.intervals import cut, interval_labels
from bayescout.data.reading import cut_notes
from bayescout.data.table import MAX_STATES, Label, Table, narrowest
from bayescout.display import Grid, Shown
from bayescout.errors import DataError, SettingError, UnknownNameError, warn
from bayescout.graph.labels import counted, quoted

Method = Literal["quantile", "width", "kmeans", "mdl", "hartemink"]
Floats = NDArray[np.float64]
Bins = int | Mapping[Any, int]
Cuts = Mapping[Any, Sequence[float]]

DEFAULT_BINS = 3
MAX_LLOYD_STEPS = 10_000
INITIAL_BINS = 20
"""Intervals of equal frequency that "hartemink" begins with."""

BYTES_OF_CELL = 8
"""Memory that cutting takes per cell beside the cells, about."""


@dataclass(frozen=True, repr=False)
class Discretiser(Shown):
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
        target: Label | None = None,
    ) -> Discretiser:
        """Choose cuts from data; see `discretise` for the arguments."""
        return _fit(data, method, bins, cuts, columns, target)[0]

    def _grid(self) -> Grid:
        rows = tuple(
            (str(name), f"{len(cuts) + 1}", ", ".join(f"{cut:.6g}" for cut in cuts))
            for name, cuts in self.columns
        )
        return Grid(f"cuts of {counted(len(rows), 'column')}", ("column", "intervals", "cut at"), rows)

    def _columns(self) -> dict[Hashable, list[Any]]:
        pairs = [(name, cut) for name, cuts in self.columns for cut in cuts]
        return {"column": [name for name, _ in pairs], "cut": [cut for _, cut in pairs]}

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
        table.require_room(BYTES_OF_CELL * table.n_columns)
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
        return Table(
            table.names,
            tuple(states),
            matrix,
            values,
            table.weights,
            table.missing,
            notes,
            interventions=table.interventions,
        )


def discretise(
    data: Data,
    method: Method = "quantile",
    bins: Bins = DEFAULT_BINS,
    cuts: Cuts | None = None,
    columns: Sequence[Label] | None = None,
    target: Label | None = None,
) -> Table:
    """Cut continuous columns into intervals; discrete columns pass unchanged.

    method   "quantile": intervals of equal frequency (row weights count); tied values stay
             together, so heavy ties give fewer intervals, with a warning. "width": equal width
             between the least and the greatest value. "kmeans": Lloyd's iteration in one
             dimension, started from the equal-frequency intervals, so it is deterministic. "mdl": cuts
             that tell about a discrete column, as many as save description length (Fayyad & Irani);
             `bins` is not used. "hartemink": 20 intervals of equal frequency, neighbours merged with
             the least loss of mutual information with all other columns, until `bins` are left.
    bins     number of intervals, one for all columns or {name: number} (3 for a column not named)
    cuts     {name: cut points}: used as given
    columns  which columns; by default every continuous one and those in `cuts`
    target   for "mdl" the discrete column to tell about; None is, for each column, the discrete one about
             which its cuts save most

    Missing cells stay missing, and are not counted.
    To cut new data at the same points, keep `Discretiser.fit(...)` and use its `apply`.
    """
    discretiser, table = _fit(data, method, bins, cuts, columns, target)
    return discretiser._apply(table)


def _fit(
    data: Data,
    method: Method,
    bins: Bins,
    cuts: Cuts | None,
    columns: Sequence[Label] | None,
    target: Label | None,
) -> tuple[Discretiser, Table]:
    check_method(method)
    if target is not None and method != "mdl":
        raise SettingError(f"a target is for method 'mdl', and {method!r} has no use for {target!r}")
    given = _given(cuts)
    asked = [*dict.fromkeys([*(columns or ()), *given])]
    table = as_table(data, kinds=dict.fromkeys(asked, "continuous") or None)
    table.require_room(BYTES_OF_CELL * table.n_columns)
    names = [
        n for n in table.names if n in asked or (columns is None and table.states[table.index(n)] is None)
    ]
    number = _bins_of(names, bins, table)
    free = {name: number[name] for name in names if name not in given}
    if method == "mdl":
        chosen = _informative(table, list(free), target)
    elif method == "hartemink":
        chosen = _merged(table, free, given)
    else:
        chosen = {name: _choose(table, name, method, wanted) for name, wanted in free.items()}
    _warn_few(chosen, free, method)
    return Discretiser(tuple((name, given[name] if name in given else chosen[name]) for name in names)), table


def check_method(method: object) -> None:
    if method not in METHODS:
        raise SettingError(f"method must be one of {', '.join(map(repr, METHODS))}, not {method!r}")


def _warn_few(chosen: Mapping[Label, tuple[float, ...]], wanted: Mapping[Label, int], method: Method) -> None:
    """Warn of columns with fewer intervals than asked for, or under "mdl" with one."""
    least = dict.fromkeys(wanted, 2) if method == "mdl" else wanted
    fewer = [name for name in chosen if len(chosen[name]) + 1 < least[name]]
    if not fewer:
        return
    if method == "mdl":
        told = (
            f"no cut of {quoted(fewer)} tells enough about a discrete column, so that one interval holds all "
            f"values: leave such columns out, or cut them by another method"
        )
    else:
        shown = ", ".join(f"{name!r} ({len(chosen[name]) + 1} of {wanted[name]})" for name in fewer[:8])
        told = f"fewer intervals than asked for, since values tie: {shown}"
    warn(told)


# ---- cuts of one column that look at others


def _informative(
    table: Table, names: Sequence[Label], target: Label | None
) -> dict[Label, tuple[float, ...]]:
    """For each column the cuts that tell about the target, or about the column that they tell most about."""
    others = [n for n, own in zip(table.names, table.states, strict=True) if own is not None]
    if target is not None and target not in others:
        table.index(target)
        raise SettingError(f"the target {target!r} of method 'mdl' must be a discrete column")
    if names and not others:
        raise SettingError(
            "method 'mdl' cuts columns by what they tell about a discrete one, and there is none; use "
            "'hartemink' or 'quantile'"
        )
    found = {}
    for name in names:
        values, weights, order = _present(table, name)
        tried = []
        for other in others if target is None else [target]:
            there = ~table.missing_cells(other)[order] if table.has_missing else slice(None)
            codes = table.array(other)[order].astype(np.int64)
            cuts, saved = mdl_cuts(values[there], codes[there], weights[there])
            tried.append((-saved, tuple(cuts)))  # of equals the same, whatever the order of columns
        found[name] = min(tried)[1]
    return found


def _merged(
    table: Table, wanted: Mapping[Label, int], given: Mapping[Label, tuple[float, ...]]
) -> dict[Label, tuple[float, ...]]:
    """Many intervals of equal frequency, merged until as many are left as wanted."""
    if wanted and table.n_columns < 2:
        raise SettingError(
            "method 'hartemink' keeps what columns tell about one another, and there is one; use 'quantile'"
        )
    first = {n: _choose(table, n, "quantile", max(INITIAL_BINS, bins)) for n, bins in wanted.items()}
    codes, sizes = [], []
    for name, states in zip(table.names, table.states, strict=True):
        cuts = first.get(name, given.get(name))
        if cuts is not None or states is not None:
            column = table.array(name)
            found = column.astype(np.int64) if cuts is None else cut(cuts, column)
            codes.append(np.where(table.missing_cells(name), -1, found))
            sizes.append(len(states or ()) if cuts is None else len(cuts) + 1)
    # continuous columns that are not cut have no intervals to compare with
    used = [
        n
        for n, own in zip(table.names, table.states, strict=True)
        if own is not None or n in first or n in given
    ]
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    places = {used.index(name): bins for name, bins in wanted.items()}
    ends = merged_ends(codes, sizes, places, weights)
    return {used[place]: tuple(first[used[place]][end - 1] for end in own) for place, own in ends.items()}


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
    values, weights, _ = _present(table, name)
    return tuple(float(point) for point in _METHODS[method](values, weights, bins))


def _present(table: Table, name: Label) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """The values of a column that are there and count, ascending; their weights, and their rows."""
    values = table.array(name)
    weights = np.ones(len(values)) if table.weights is None else table.weights
    order = np.argsort(values, kind="stable")
    counted = weights[order] > 0
    if table.has_missing:
        counted &= ~table.missing_cells(name)[order]
    if not counted.any():
        raise DataError(f"column {name!r} has no values to choose cuts from: leave it out, or give its cuts")
    rows = order[counted]
    return values[rows], weights[rows], rows


def _quantile_cuts(values: Floats, weights: Floats, bins: int) -> list[float]:
    """The cuts, for each j after the first value at which j / bins of the weight is reached."""
    reached = np.cumsum(weights) * bins
    total = weights.sum()
    cuts: list[float] = []
    for part in range(1, bins):
        last = int(np.searchsorted(reached, part * total, side="left"))
        after = int(np.searchsorted(values, values[min(last, len(values) - 1)], side="right"))
        if after < len(values):
            cuts.append(between(float(values[after - 1]), float(values[after])))
    return list(dict.fromkeys(cuts))


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
        between(float(values[end - 1]), float(values[end])) for end in edges if values[end - 1] < values[end]
    ]


_METHODS = {"quantile": _quantile_cuts, "width": _width_cuts, "kmeans": _kmeans_cuts}
METHODS = (*_METHODS, "mdl", "hartemink")
"""The ways to choose cuts."""


# ---- cuts as a setting

Choice = int | str | Mapping[Any, Any] | Discretiser
"""A number of intervals, a method, {column: number or cut points}, or cuts that were chosen before."""


def cut_by(data: Data, choice: Choice) -> Table:
    """The data cut as the setting `discretise` says.

    3                     every continuous column into so many intervals of equal frequency
    "hartemink"           by a method; "hartemink:4" into so many intervals
    "mdl", "mdl:species"  by what the columns tell about any discrete column, or about this one
    {"age": 4, "x": [0]}  these columns alone, into so many intervals, or at these points
    Discretiser(...)      at its cuts
    """
    if isinstance(choice, Discretiser):
        return choice.apply(data)
    if isinstance(choice, Mapping):
        number = {n: int(one) for n, one in choice.items() if _is_whole(one)}
        points = {n: one for n, one in choice.items() if n not in number}
        return discretise(data, bins=number, cuts=points, columns=list(choice))
    if not isinstance(choice, str):
        return discretise(data, bins=choice)
    method, colon, rest = choice.partition(":")
    if method not in METHODS:
        raise SettingError(
            f"discretise is a number, {', '.join(METHODS)}, such as 'hartemink:4' or 'mdl:species', or "
            f"{{column: number or cuts}}, not {choice!r}"
        )
    chosen: Any = method
    if not colon:
        return discretise(data, chosen)
    if method == "mdl":
        table = as_table(data)
        target = next((name for name in table.names if str(name) == rest), rest)
        return discretise(table, chosen, target=target)
    return discretise(data, chosen, bins=int(rest) if rest.isdecimal() else rest)  # type: ignore[arg-type]


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def as_plain_choice(choice: Choice | None) -> Any:
    """The setting as plain values for a result's settings; columns as pairs, since names may be anything."""
    if isinstance(choice, Discretiser):
        return [[name, list(points)] for name, points in choice.columns]
    if isinstance(choice, Mapping):
        return [
            [name, int(one) if _is_whole(one) else [float(point) for point in one]]
            for name, one in choice.items()
        ]
    return choice
