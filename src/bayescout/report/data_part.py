"""A summary of the data: every column with its states and their frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescout.data.reading import ColumnReading, ColumnReadings
from bayescout.data.table import Table
from bayescout.graph.labels import counted
from bayescout.report.wording import number, shown, text

MOST_STATES = 12
"""The most states of a column that get a bar; the rest are summed up in one line."""

MOST_COLUMNS = 1000
BINS = 12


class Bar(NamedTuple):
    """A state and its share of the rows: a line with a bar behind its number."""

    name: str
    share: str
    width: str
    title: str


@dataclass(frozen=True)
class Column:
    """A summary of a column: bars of its states, or (height, rows) of equal bins of its values."""

    name: str
    kind: str
    bars: tuple[Bar, ...] = ()
    bins: tuple[tuple[str, str], ...] = ()
    note: str = ""


def described(table: Table, nodes: tuple[Any, ...], names: tuple[str, ...]) -> dict[str, Any]:
    """The facts of a table, how its columns were read, and their values, in the order of `nodes`."""
    read = {one.name: one for one in table.columns}
    columns = [_column(table, read[n], name) for n, name in zip(nodes[:MOST_COLUMNS], names, strict=False)]
    lines = ColumnReadings(read[node] for node in nodes[:MOST_COLUMNS]).lines()
    cut = f"The first {MOST_COLUMNS:,} of {len(nodes):,} columns." if len(nodes) > MOST_COLUMNS else ""
    return {
        "reading": text(table.reading),
        "lines": lines,
        "facts": _facts(table),
        "fingerprint": table.fingerprint[:16],
        "columns": columns,
        "cut": cut,
    }


def _facts(table: Table) -> list[tuple[str, str]]:
    """Rows, columns, weights and missing values."""
    continuous = table.kinds.count("continuous")
    kinds = f"{table.n_columns - continuous:,} discrete, {continuous:,} continuous"
    weights = "none: every row counts once"
    if table.weights is not None:
        weights = f"yes; they sum to {number(table.total_weight)}, which counts as the rows"
    return [
        ("rows", f"{table.n_rows:,}"),
        ("columns", f"{table.n_columns:,} ({kinds})"),
        ("missing values", _missing(table)),
        ("row weights", weights),
    ]


def _missing(table: Table) -> str:
    report = table.missing
    if not report.counts:
        return "none" if report.policy in ("error", "keep") else f"none (the policy was {report.policy!r})"
    cells = sum(count for _, count in report.counts)
    where = f"{counted(cells, 'cell')} in {counted(len(report.counts), 'column')}"
    if report.policy == "drop":
        return f"{where}; {counted(report.rows_dropped, 'row')} dropped"
    if report.policy == "keep":
        return f"{where}; for the search they were drawn, given the other cells of their rows"
    return f"{where}, given a state of their own"


def _column(table: Table, read: ColumnReading, name: str) -> Column:
    if read.states is not None:
        bars = _frequencies(table, read.name, read.states)
        return Column(name, counted(len(read.states), "state"), bars=bars)
    bins, note = _histogram(table, read.name)
    return Column(name, "continuous", bins=bins, note=note)


def _frequencies(table: Table, node: Any, states: tuple[Any, ...]) -> tuple[Bar, ...]:
    counts = np.bincount(table.array(node), weights=table.weights, minlength=len(states))[: len(states)]
    total = float(counts.sum())
    shares = counts / (total or 1.0)
    everything = _count(total)
    bars = [
        _bar(name, share, f"{name}: {_count(count)} of {everything}")
        for name, share, count in zip(
            shown(states[:MOST_STATES]), shares.tolist(), counts.tolist(), strict=False
        )
    ]
    if len(states) > MOST_STATES:
        rest = counted(len(states) - MOST_STATES, "more state")
        bars.append(_bar(rest, float(shares[MOST_STATES:].sum()), "the others together"))
    return tuple(bars)


def _bar(name: str, share: float, title: str) -> Bar:
    return Bar(name, f"{share:.1%}", f"{100 * share:.2f}", title)


def _count(value: float) -> str:
    return f"{value:,.6g}" if value % 1 else f"{value:,.0f}"


def _histogram(table: Table, node: Any) -> tuple[tuple[tuple[str, str], ...], str]:
    """Equal bins from the smallest to the largest value, none if all are equal; the moments in words."""
    values: NDArray[np.float64] = table.array(node)
    weights = table.weights
    if table.has_missing:
        present = ~np.isnan(values)
        values, weights = values[present], None if weights is None else weights[present]
    if not len(values) or (weights is not None and not weights.any()):
        return (), "no values"
    mean = float(np.average(values, weights=weights))
    spread = float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))
    low, high = float(values.min()), float(values.max())
    facts = f"mean {mean:.4g}, deviation {spread:.4g}, from {low:.4g} to {high:.4g}"
    if not high > low:
        return (), facts
    place = np.minimum(((values - low) / (high - low) * BINS).astype(np.int64), BINS - 1)
    heights = np.bincount(place, weights=weights, minlength=BINS)
    return tuple((f"{100 * h / heights.max():.1f}", _count(h)) for h in heights.tolist()), facts
