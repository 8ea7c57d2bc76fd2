"""The table that every part of bayescout works on: checked once, frozen, trusted afterwards."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import first_repeated
from bayescout.data.intervals import interval_labels
from bayescout.data.interventions import Interventions
from bayescout.data.reading import ColumnReading, ColumnReadings, Notes, sentence
from bayescout.errors import DataError, UnknownNameError, warn

if TYPE_CHECKING:
    import polars as pl

Label = Hashable
Kind = Literal["discrete", "continuous"]
States = tuple[Label, ...]
MissingPolicy = Literal["error", "drop", "state", "keep"]


class OpenStates(tuple[Label, ...]):
    """Declared states of a column that may hold other values too, which become states after these."""


MAX_STATES = 65_536
"""The most states one column can have: codes are uint8 or uint16."""

APART = 10
"""Columns are apart if the rows that have both are fewer than this part of those that chance would give."""

CONSTANT = "constant"
"""What is said once of columns that have a single value."""

BLOCK_CELLS = 1 << 21
"""Cells of which a copy is small."""

MOST_WEIGHT = 1e100
"""Limit on the sum of row weights: products with it must stay in the range of a float."""


def narrowest(states: int) -> type[np.unsignedinteger[Any]]:
    """The type of the codes of a table whose widest column has that many states."""
    return np.uint8 if states <= 256 else np.uint16


def lock(*arrays: NDArray[Any] | None) -> None:
    """Make arrays read-only; unpickled arrays are writeable."""
    for array in arrays:
        if array is not None:
            array.flags.writeable = False


def check_weights(weights: NDArray[np.float64], n_rows: int) -> None:
    """Raise unless there is one finite, non-negative weight per row, not all zero."""
    if weights.shape != (n_rows,):
        raise DataError(
            f"{' x '.join(map(str, weights.shape))} weights for {n_rows} rows: give one weight a row"
        )
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise DataError(
            f"the weight of row {bad[0]} (counting from 0) is {weights[bad[0]]}: "
            f"weights must be finite and not negative"
        )
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if total > MOST_WEIGHT:
        raise DataError(f"the weights sum to {total:g}, more than {MOST_WEIGHT:g}: rescale them")
    if n_rows and not weights.any():
        raise DataError("every weight is 0: at least one row must count")


def _one_nan(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values with one bit pattern for every NaN, so that equal tables have equal digests."""
    other = np.isnan(values) & (values.view(np.uint64) != np.float64(np.nan).view(np.uint64))
    return np.where(other, np.nan, values) if other.any() else values


@dataclass(frozen=True)
class MissingReport:
    """The missing cells of the data and how they were treated.

    `counts` holds (column, number of missing cells) for the columns that had any or, under the policy
    "keep", have any now; `rows_dropped` is not zero only under the policy "drop".
    """

    policy: MissingPolicy = "error"
    counts: tuple[tuple[Label, int], ...] = ()
    rows_dropped: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Named columns, each discrete (codes into its states) or continuous (floats).

    names    one label per column, of any hashable type
    states   for each column its states in order, or None if it is continuous
    codes    (d, n) uint8 or uint16, C order: the discrete columns, in table order
    values   (c, n) float64 or float32, C order: the continuous columns, in table order. Many columns of
             float32 stay so, in half the memory, if no cell is missing; `array` and `doubles` give them in
             float64, in which all is computed
    weights  (n,) float64 row weights, or None if every row counts once
    missing  report of the cells missing in the source; they are missing here only under the policy "keep"
    notes    why the columns were read as they are, and which were left out; see `columns` and `reading`
    copies   how many rows stand for one row of the data, with its weight in equal shares: several draws of
             missing cells; where it matters how many rows there are, they count once
    interventions  the variables that were set from outside, row by row; None if none ever was

    A missing cell is the code after the last state, or NaN; `missing_cells` says which they are.
    Arrays are read-only. Build a table with `bayescout.as_table` or `bayescout.read_table`, which
    take any data; this constructor takes the arrays as they are, and checks shapes and ranges.
    """

    names: tuple[Label, ...]
    states: tuple[States | None, ...]
    codes: NDArray[Any]
    values: NDArray[Any]
    weights: NDArray[np.float64] | None = None
    missing: MissingReport = field(default_factory=MissingReport)
    notes: Notes = field(default_factory=Notes)
    copies: int = 1
    interventions: Interventions | None = None

    def __post_init__(self) -> None:
        if self.weights is not None:
            object.__setattr__(self, "weights", np.asarray(self.weights, dtype=np.float64))
        self._check_shapes()
        counts = self._check_ranges() if self.n_rows else ()
        if self.missing.policy == "keep":
            object.__setattr__(self, "missing", MissingReport("keep", counts))
            if counts and not self._finite().all():  # numbers drawn for missing cells are not to be rounded
                object.__setattr__(self, "values", _one_nan(self.doubles()))
        lock(self.codes, self.values, self.weights)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"notes": Notes(), "interventions": None} | state)
        lock(self.codes, self.values, self.weights)

    def _check_shapes(self) -> None:
        twice = first_repeated(self.names)
        if twice is not None:
            name = self.names[twice]
            raise DataError(f"column name {name!r} occurs more than once; rename one of the columns")
        if len(self.states) != len(self.names):
            raise DataError(f"{len(self.names)} names but {len(self.states)} state lists")
        discrete = sum(s is not None for s in self.states)
        if self.codes.shape[0] != discrete or self.values.shape[0] != len(self.names) - discrete:
            raise DataError("codes and values do not have one row for each discrete and continuous column")
        if self.codes.dtype not in (np.uint8, np.uint16) or self.values.dtype not in (
            np.float64,
            np.float32,
        ):
            raise DataError("codes must be uint8 or uint16 and values float64 or float32")
        if self.codes.shape[1] != self.values.shape[1]:
            raise DataError(f"{self.codes.shape[1]} rows of codes but {self.values.shape[1]} rows of values")
        if self.weights is not None:
            check_weights(self.weights, self.n_rows)
        if self.interventions is not None and self.interventions.of_row.shape != (self.n_rows,):
            raise DataError(
                f"interventions of {len(self.interventions.of_row):,} rows for {self.n_rows:,} rows"
            )

    def _check_ranges(self) -> tuple[tuple[Label, int], ...]:
        """The columns with missing cells and the number of these; raises if another cell is out of range."""
        counts = []
        finite = self._finite()
        if finite.all() and not len(self.codes):
            return ()
        largest = iter(self.codes.max(axis=1, initial=0).tolist())
        for name, states, slot in zip(self.names, self.states, self._slots, strict=True):
            if states is None:
                missing = 0 if finite[slot] else self._check_values(name, self.values[slot])
            else:
                missing = self._check_codes(name, len(states), self.codes[slot], next(largest))
            if missing:
                counts.append((name, missing))
        return tuple(counts)

    def _finite(self) -> NDArray[np.bool_]:
        """For each continuous column, True if all its values are finite."""
        found = np.empty(len(self.values), dtype=np.bool_)
        for begin, end in self.column_blocks():
            np.isfinite(self.values[begin:end]).all(axis=1, out=found[begin:end])
        return found

    def _check_codes(self, name: Label, states: int, codes: NDArray[Any], largest: int) -> int:
        if largest < states:
            return 0
        if largest > states or not states or self.missing.policy != "keep":
            raise DataError(f"column {name!r} has the code {largest}, but only {states} states")
        return int((codes == states).sum())

    def _check_values(self, name: Label, values: NDArray[Any]) -> int:
        finite = np.isfinite(values)
        if finite.all():
            return 0
        bad = np.isinf(values) if self.missing.policy == "keep" else ~finite
        if bad.any():
            at = int(np.argmax(bad))
            raise DataError(
                f"column {name!r} holds {values[at]} in row {at} (counting from 0): the values of a table "
                f"must be finite; as_table takes missing ones"
            )
        return int((~finite).sum())

    @property
    def n_rows(self) -> int:
        return int(self.codes.shape[1])

    @property
    def n_columns(self) -> int:
        return len(self.names)

    def __len__(self) -> int:
        return self.n_rows

    def require_room(self, beside: int = 0) -> None:
        """Refuse work that takes so many bytes per row, if rows are past memory; these are in it."""

    @property
    def total_weight(self) -> float:
        """The number of rows, or the sum of their weights."""
        return float(self.n_rows) if self.weights is None else float(self.weights.sum())

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The kind of each column: "discrete" or "continuous"."""
        return tuple("continuous" if states is None else "discrete" for states in self.states)

    @property
    def is_discrete(self) -> bool:
        """True if every column is discrete, so that `codes[i]` is column i."""
        return all(states is not None for states in self.states)

    @cached_property
    def discrete_columns(self) -> NDArray[np.bool_]:
        """For each column, True if it is discrete."""
        found = np.array([states is not None for states in self.states], dtype=np.bool_)
        lock(found)
        return found

    @property
    def is_continuous(self) -> bool:
        """True if every column is continuous, so that `values[i]` is column i."""
        return all(states is None for states in self.states)

    @property
    def has_missing(self) -> bool:
        """True if any cell is missing; see `require_complete`."""
        return self.missing.policy == "keep" and bool(self.missing.counts)

    @cached_property
    def cardinalities(self) -> NDArray[np.int64]:
        """The number of states of each column; 0 for a continuous one."""
        return np.array([0 if s is None else len(s) for s in self.states], dtype=np.int64)

    @cached_property
    def n_codes(self) -> NDArray[np.int64]:
        """The number of codes of each column: its states, and one more if it has missing cells."""
        if not self.has_missing:
            return self.cardinalities
        having = {name for name, _ in self.missing.counts}
        more = [s is not None and name in having for name, s in zip(self.names, self.states, strict=True)]
        return self.cardinalities + np.array(more, dtype=np.int64)

    @cached_property
    def _positions(self) -> dict[Label, int]:
        return {name: index for index, name in enumerate(self.names)}

    @cached_property
    def _slots(self) -> tuple[int, ...]:
        """The row of each column in `codes` or in `values`."""
        slots, discrete, continuous = [], 0, 0
        for states in self.states:
            if states is None:
                slots.append(continuous)
                continuous += 1
            else:
                slots.append(discrete)
                discrete += 1
        return tuple(slots)

    def index(self, name: Label) -> int:
        """The position of a column, by its label."""
        try:
            return self._positions[name]
        except (KeyError, TypeError):
            raise UnknownNameError("column", name, self.names, "the table") from None

    def array(self, name: Label) -> NDArray[Any]:
        """The codes or the floats of one column, without a copy unless these are in float32."""
        i = self.index(name)
        slot = self._slots[i]
        return self.doubles(slot, slot + 1)[0] if self.states[i] is None else np.asarray(self.codes[slot])

    def doubles(self, begin: int = 0, end: int | None = None) -> NDArray[np.float64]:
        """Some continuous columns, or all, in float64: a copy if they are in float32."""
        return np.asarray(self.values[begin:end], dtype=np.float64)

    def column_blocks(self) -> Iterator[tuple[int, int]]:
        """Begin and end of blocks of continuous columns of which a copy is small."""
        step = max(1, BLOCK_CELLS // max(1, self.n_rows))
        for begin in range(0, len(self.values), step):
            yield begin, min(len(self.values), begin + step)

    def limits(self, name: Label) -> tuple[float, float] | None:
        """The least and the greatest value of a continuous column; None if it has none."""
        values = self.array(name)
        if self.has_missing:
            values = values[~np.isnan(values)]
        return (float(values.min()), float(values.max())) if len(values) else None

    def missing_cells(self, name: Label) -> NDArray[np.bool_]:
        """For each row, True if the cell of one column is missing."""
        states, array = self.states[self.index(name)], self.array(name)
        return np.asarray(np.isnan(array) if states is None else array == len(states))

    def signed_codes(self, name: Label) -> NDArray[Any]:
        """The codes of one discrete column with -1 where a cell is missing, as data frames have them."""
        codes = self.array(name)
        return np.where(self.missing_cells(name), -1, codes.astype(np.int32)) if self.has_missing else codes

    def column(self, name: Label) -> list[Any]:
        """The original values of one column; None for a missing cell."""
        states = self.states[self.index(name)]
        cells = self.array(name).tolist()
        if states is None:
            return [None if cell != cell else cell for cell in cells] if self.has_missing else list(cells)
        found = (*states, None)
        return [found[code] for code in cells]

    def to_dict(self) -> dict[Label, list[Any]]:
        """Every column as a list of its original values."""
        return {name: self.column(name) for name in self.names}

    def save(
        self,
        path: str | os.PathLike[str],
        weights: str | None = None,
        interventions: str | None = None,
    ) -> None:
        """Write the table to a file by its extension; see `bayescout.write_table`."""
        from bayescout.data.write import write_table

        write_table(self, path, weights, interventions)

    def to_polars(self) -> pl.DataFrame:
        """Convert to a polars frame; text states become an Enum, so none is lost. Weights are left out."""
        from bayescout.data.write import to_polars

        return to_polars(self)

    def to_pandas(self) -> Any:
        """Convert to a pandas frame; discrete columns become categoricals with all states. No weights."""
        from bayescout.data.write import to_pandas

        return to_pandas(self)

    @cached_property
    def _told(self) -> set[str]:
        return set()

    def warn_once(self, topic: str, message: str) -> None:
        """Warn about these data, once per topic for this table and the tables taken from it."""
        if topic not in self._told:
            self._told.add(topic)
            warn(message)

    def told_as(self, other: Table) -> Table:
        """This table; what was said of another one counts as said of it."""
        self._told.update(other._told)
        return self

    def _taken(self, **changed: Any) -> Table:
        """A table taken from this one: its cells are in range, and what was said is not said again."""
        if self.has_missing:  # what is missing is counted anew
            table = replace(self, **changed)
        else:
            table = object.__new__(Table)
            table.__setstate__({f.name: getattr(self, f.name) for f in fields(self)} | changed)
            table._check_shapes()
        table.__dict__["_told"] = self._told
        return table

    def select(self, names: Sequence[Label]) -> Table:
        """The named columns only, in the given order."""
        where = [self.index(name) for name in names]
        discrete = [self._slots[i] for i in where if self.states[i] is not None]
        continuous = [self._slots[i] for i in where if self.states[i] is None]
        return self._taken(
            names=tuple(self.names[i] for i in where),
            states=tuple(self.states[i] for i in where),
            codes=self.codes[discrete],
            values=self.values[continuous],
            interventions=None if self.interventions is None else self.interventions.select(names),
        )

    def reordered(self, order: Sequence[int]) -> Table:
        """The columns in another order, given by their positions; how they were read is known already."""
        table = self.select([self.names[i] for i in order])
        table.__dict__["columns"] = ColumnReadings(self.columns[i] for i in order)
        return table

    def with_notes(self, notes: Notes) -> Table:
        """The same columns, of which something else was noted when they were read."""
        return self._taken(notes=notes)

    def take(self, rows: NDArray[Any]) -> Table:
        """The given rows only (indices or a boolean mask), states unchanged."""
        return self._taken(
            codes=np.ascontiguousarray(self.codes[:, rows]),
            values=np.ascontiguousarray(self.values[:, rows]),
            weights=None if self.weights is None else self.weights[rows],
            notes=replace(self.notes, marks=()),
            interventions=None if self.interventions is None else self.interventions.take(rows),
        )

    def unset(self, name: Label) -> Table | None:
        """The rows in which a variable was not set from outside; None if there are none.

        The table itself if it never was. The same object for variables that were set in the same rows.
        """
        if self.interventions is None or name not in self.interventions.set_anywhere:
            return self
        free = ~self.interventions.acted(name)
        kept = self.__dict__.setdefault("_unset", {})
        mark = free.tobytes()
        if mark not in kept:
            kept[mark] = self.take(free) if free.any() else None
        found: Table | None = kept[mark]
        return found

    def unweighted(self) -> Table:
        """The same rows, each counting once."""
        return self._taken(weights=None)

    def observational(self) -> Table:
        """The rows in which nothing was set from outside."""
        return self if self.interventions is None else self.take(self.interventions.within(()))

    @cached_property
    def fingerprint(self) -> str:
        """A digest of names, states, cells and weights: equal tables, equal digest.

        The width of codes and numbers does not count: a column has the same digest alone as when selected
        from a table with wider codes.
        """
        digest = hashlib.sha256()
        for name, states in zip(self.names, self.states, strict=True):
            digest.update(f"{name!r}:{states!r};".encode())
        codes = self.codes.astype(narrowest(int(self.n_codes.max(initial=0))), copy=False)
        digest.update(f"{codes.dtype}{codes.shape}".encode())
        digest.update(np.ascontiguousarray(codes).data)
        digest.update(f"float64{self.values.shape}".encode())
        for begin, end in self.column_blocks():
            digest.update(np.ascontiguousarray(self.doubles(begin, end)).data)
        if self.weights is None:
            digest.update(b"-")
        else:
            digest.update(f"float64{self.weights.shape}".encode())
            digest.update(np.ascontiguousarray(self.weights).data)
        if self.interventions is not None:
            digest.update(self.interventions.content.encode())
            digest.update(np.ascontiguousarray(self.interventions.of_row).data)
        return digest.hexdigest()

    @cached_property
    def cuts(self) -> dict[Label, tuple[float, ...]]:
        """The cut points of the columns that were cut into intervals; networks fitted to them keep these."""
        noted = {name: (points, interval_labels(points)) for name, points in self.notes.cuts}
        found = {name: noted[name] for name in self.names if name in noted}
        own = {name: self.states[self.index(name)] for name in found}
        return {
            name: points
            for name, (points, labels) in found.items()
            if (own[name] or ())[: len(labels)] == labels
        }

    @cached_property
    def missing_states(self) -> dict[Label, Label]:
        """The state that stands for missing cells, for the columns that have one; networks keep these."""
        noted = dict(self.notes.missing_states)
        pairs = zip(self.names, self.states, strict=True)
        return {name: noted[name] for name, own in pairs if name in noted and noted[name] in (own or ())}

    @cached_property
    def apart(self) -> tuple[tuple[Label, Label, int], ...]:
        """Pairs of columns that are hardly ever observed in the same row, and how many rows have both.

        Those are pairs without such a row, or with less than a tenth of the rows that would have both if
        cells were missing at random. The data do not tell how two such columns depend on each other.
        """
        if not self.has_missing:
            return ()
        names = [name for name, count in self.missing.counts if count < self.n_rows]
        there = np.array([~self.missing_cells(name) for name in names]).reshape(len(names), self.n_rows)
        both = np.zeros((len(names), len(names)))
        for start in range(0, self.n_rows, 1 << 16):
            some = there[:, start : start + (1 << 16)].astype(np.float32)  # counts below 2^24 are exact
            both += some @ some.T
        alone = np.diagonal(both)
        found = np.argwhere(np.triu(both * (APART * self.n_rows) < np.outer(alone, alone), 1))
        return tuple((names[i], names[j], int(both[i, j])) for i, j in found.tolist())

    @cached_property
    def columns(self) -> ColumnReadings:
        """How each column was read: a value that prints as a table, with one `ColumnReading` per column."""
        missing, why = dict(self.missing.counts), self.notes.why()
        limits = iter(self._all_limits())
        found = []
        for name, states in zip(self.names, self.states, strict=True):
            count, (reason, close) = missing.get(name, 0), why.get(name, ("", False))
            if states is None:
                found.append(ColumnReading(name, "continuous", None, *next(limits), count, reason, close))
            else:
                cuts = self.cuts.get(name)
                found.append(ColumnReading(name, "discrete", states, None, None, count, reason, close, cuts))
        return ColumnReadings(found)

    def _all_limits(self) -> Iterator[tuple[float | None, float | None]]:
        """The least and the greatest value of each continuous column."""
        if self.has_missing or not self.n_rows or not len(self.values):
            for name, states in zip(self.names, self.states, strict=True):
                if states is None:
                    yield self.limits(name) or (None, None)
            return
        for begin, end in self.column_blocks():
            block = self.values[begin:end]
            yield from zip(block.min(axis=1).tolist(), block.max(axis=1).tolist(), strict=True)

    @property
    def reading(self) -> str:
        """How the data were read, in one sentence: rows, kinds, missing cells, columns left out."""
        return sentence(self)

    def __iter__(self) -> Iterator[Label]:
        return iter(self.names)

    def __repr__(self) -> str:
        discrete = int(self.discrete_columns.sum())
        missing = sum(count for _, count in self.missing.counts) if self.has_missing else 0
        return (
            f"<Table: {self.n_rows:,} rows, {self.n_columns} columns "
            f"({discrete} discrete, {self.n_columns - discrete} continuous)"
            f"{f', {missing:,} cells missing' if missing else ''}>"
        )

    def _repr_html_(self) -> str:
        return self.columns.html(self.reading)
