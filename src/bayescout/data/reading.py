"""How the columns of a table were read: a line for each, and one sentence for all."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from bayescout.display import Grid
from bayescout.errors import printable
from bayescout.graph.labels import counted, quoted

if TYPE_CHECKING:
    from bayescout.data.table import Table

WORDS: dict[Literal["discrete", "continuous"], str] = {
    "discrete": "categorical",
    "continuous": "continuous",
}

MOST_WIDTH = 44
"""The most characters of a column's states, or of a name, in one line."""

MOST_LINES = 200
"""The most columns that are printed."""


@dataclass(frozen=True, slots=True)
class ColumnReading:
    """How one column was read.

    states     of a discrete column, in order; None if it is continuous
    low, high  of a continuous column; None if it is discrete, or has no values
    missing    number of cells that are missing, or were
    reason     why it was read so; `close` if a person might well decide otherwise
    cuts       the cut points of a column that was cut into intervals; else None
    """

    name: Hashable
    kind: Literal["discrete", "continuous"]
    states: tuple[Hashable, ...] | None = None
    low: float | None = None
    high: float | None = None
    missing: int = 0
    reason: str = ""
    close: bool = False
    cuts: tuple[float, ...] | None = None

    @property
    def values(self) -> str:
        """The states, or the range, in few words."""
        if self.states is not None:
            return _states_in_words(self.states)
        return "no values" if self.low is None else f"{self.low:.6g} to {self.high:.6g}"

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}


_FIELDS = tuple(one.name for one in fields(ColumnReading))


class ColumnReadings(tuple[ColumnReading, ...]):
    """The readings of all columns, which print as a table with one line per column."""

    __slots__ = ()

    def lines(self) -> list[tuple[str, str, str, str, str]]:
        """Name, kind, values, missing cells and reason of each column, as shown to people."""
        return [
            (
                shortened(printable(one.name)),
                WORDS[one.kind],
                printable(one.values),
                f"{one.missing:,}" if one.missing else "-",
                printable(one.reason) + (" (a close call)" if one.close else ""),
            )
            for one in self
        ]

    def __repr__(self) -> str:
        lines = [("column", "kind", "values", "missing", "why"), *self.lines()[:MOST_LINES]]
        widths = [max(len(line[i]) for line in lines) for i in range(4)]
        shown = [
            "  ".join(
                cell.rjust(width) if place == 3 else cell.ljust(width)
                for place, (cell, width) in enumerate(zip(line, [*widths, 0], strict=True))
            ).rstrip()
            for line in lines
        ]
        more = len(self) - MOST_LINES
        return "\n".join([*shown, *([f"and {counted(more, 'column')} more"] if more > 0 else [])])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return self.html()

    def html(self, title: str = "Columns as read") -> str:
        """The same as an HTML table."""
        rows = tuple((name, kind, values, why, missing) for name, kind, values, missing, why in self.lines())
        return Grid(title, ("column", "kind", "values", "why", "missing"), rows, numbers=1).html()


@dataclass(frozen=True)
class Notes:
    """What was noted when a table was read, and its cells do not tell.

    reasons   (column, reason, close) for the columns that one is known of
    left_out  (column, reason) for the columns of the source that are not in the table
    marks     (column, text, cells) for texts of a file that count as missing
    cuts      (column, cut points) for the columns that were cut into intervals; see `Table.cuts`
    commas    the columns of numbers in text that have decimal commas
    strange   (column, cells, first of them) for cells that are no numbers and count as missing
    separator  of the cells of a text file, where it is not the one that the ending says
    missing_states  (column, state) for the columns in which a state stands for missing cells
    """

    reasons: tuple[tuple[Hashable, str, bool], ...] = ()
    left_out: tuple[tuple[Hashable, str], ...] = ()
    marks: tuple[tuple[Hashable, str, int], ...] = ()
    cuts: tuple[tuple[Hashable, tuple[float, ...]], ...] = ()
    missing_states: tuple[tuple[Hashable, Hashable], ...] = ()
    commas: tuple[Hashable, ...] = ()
    strange: tuple[tuple[Hashable, int, Hashable], ...] = ()
    separator: str = ""

    def why(self) -> dict[Hashable, tuple[str, bool]]:
        return {name: (reason, close) for name, reason, close in self.reasons}

    def marked(self, names: Sequence[Hashable]) -> list[tuple[str, int]]:
        """The texts that count as missing in these columns, with the number of cells, most first."""
        known, sums = set(names), dict[str, int]()
        for name, mark, cells in self.marks:
            if name in known:
                sums[mark] = sums.get(mark, 0) + cells
        return sorted(sums.items(), key=lambda pair: (-pair[1], pair[0]))


def cut_notes(notes: Notes, cuts: Mapping[Hashable, tuple[float, ...]]) -> Notes:
    """The notes of a table, with the intervals of columns in place of why they were continuous."""
    reasons = [reason for reason in notes.reasons if reason[0] not in cuts]
    told = [
        (name, f"cut into {counted(len(points) + 1, 'interval')}", False) for name, points in cuts.items()
    ]
    kept = [pair for pair in notes.cuts if pair[0] not in cuts]
    return replace(notes, reasons=(*reasons, *told), cuts=(*kept, *cuts.items()))


@dataclass(frozen=True)
class DataReading:
    """How the data of a result were read: the sentence, the rows, each column, and the columns left out."""

    summary: str
    rows: int
    columns: ColumnReadings
    left_out: tuple[tuple[Hashable, str], ...] = ()

    def __str__(self) -> str:
        return self.summary

    @property
    def used(self) -> str:
        """The sentence without the columns that were left out."""
        return self.summary.removesuffix(f"; {_left_out_in_words(self.left_out)}")

    def to_dict(self) -> dict[str, Any]:
        """The values that the command line prints as JSON."""
        return {
            "summary": self.summary,
            "rows": self.rows,
            "columns": [one.to_dict() for one in self.columns],
            "left_out": [list(pair) for pair in self.left_out],
        }


def sentence(table: Table, warned: bool = False) -> str:
    """`5,000 rows; 4 categorical, 3 continuous; 212 cells missing (0.6%)`, and the columns left out.

    With `warned`, without what reading the table has just said in warnings: columns left out, and marks.
    """
    kinds, left_out = table.kinds, table.notes.left_out
    counts = [f"{kinds.count(kind):,} {word}" for kind, word in WORDS.items() if kind in kinds]
    if table.cuts:
        counts[0] += f" ({len(table.cuts):,} cut into intervals)"
    parts = [counted(table.n_rows, "row"), ", ".join(counts) or "no columns"]
    parts.append(_missing_in_words(table, warned))
    if table.interventions is not None:
        parts.append(table.interventions.told)
    if table.notes.separator:
        parts.append(f"cells separated by {table.notes.separator!r}")
    commas = [name for name in table.notes.commas if name in table.names]
    if commas:
        parts.append(f"decimal commas in {quoted(commas, 6)}")
    if table.apart:
        parts.append(f"hardly ever observed together: {pairs_in_words(table.apart)}")
    if left_out and not warned:
        parts.append(_left_out_in_words(left_out))
    return "; ".join(parts)


def _missing_in_words(table: Table, warned: bool) -> str:
    report = table.missing
    cells = sum(count for _, count in report.counts)
    if not cells:
        return "no cells missing"
    rows = table.n_rows + report.rows_dropped
    share = cells / (rows * table.n_columns)
    marks = [] if warned else table.notes.marked(table.names)
    details = [
        f"{share:.1%}" if share >= 0.0005 else "under 0.1%",
        *([marks_in_words(marks)] if marks else []),
    ]
    told = f"{counted(cells, 'cell')} missing ({'; '.join(details)})"
    if report.policy == "drop":
        return f"{told}, {report.rows_dropped:,} of {rows:,} rows left out for it"
    return f"{told}, as states of their own" if report.policy == "state" else told


def _left_out_in_words(columns: Sequence[tuple[Hashable, str]]) -> str:
    return f"{counted(len(columns), 'column')} left out: {in_words(columns)}"


def in_words(columns: Sequence[tuple[Hashable, str]], limit: int = 6) -> str:
    """`'id' (identifies rows), 'born' (dates)`."""
    shown = ", ".join(f"{name!r} ({reason})" for name, reason in columns[:limit])
    return shown + (f" and {len(columns) - limit:,} more" if len(columns) > limit else "")


def pairs_in_words(pairs: Sequence[tuple[Hashable, Hashable, int]], limit: int = 6) -> str:
    """`'a' and 'b' (0 rows), 'a' and 'c' (2 rows)`."""
    shown = ", ".join(f"{one!r} and {two!r} ({counted(rows, 'row')})" for one, two, rows in pairs[:limit])
    return shown + (f" and {len(pairs) - limit:,} more pairs" if len(pairs) > limit else "")


def marks_in_words(marks: Sequence[tuple[str, int]], limit: int = 6) -> str:
    """`'NA' 200, '?' 12`."""
    shown = ", ".join(f"{mark!r} {cells:,}" for mark, cells in marks[:limit])
    return shown + (f" and {len(marks) - limit:,} more" if len(marks) > limit else "")


def _states_in_words(states: Sequence[Hashable]) -> str:
    """`3: no, some, many`, or as many of the states as fit."""
    shown: list[str] = []
    for state in states:
        text = str(state)
        if sum(map(len, shown)) + 2 * len(shown) + len(text) > MOST_WIDTH:
            shown.append("...")
            break
        shown.append(text)
    return f"{len(states):,}: {', '.join(shown)}"


def shortened(text: str) -> str:
    """As much of a text as fits in a column."""
    return text if len(text) <= MOST_WIDTH else text[: MOST_WIDTH - 3] + "..."
