"""The data in brief: every column with its states and how often they occur."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Table
from bayescout.graph.labels import counted
from bayescout.report.markup import Html, join, number, pairs, shown, tag

MOST_STATES = 12
"""The most states of a column that get a bar; the rest are summed up in a line."""

MOST_COLUMNS = 1000
BINS = 12


def facts_of(table: Table) -> Html:
    """Rows, columns, weights and what was missing."""
    continuous = table.kinds.count("continuous")
    facts: list[tuple[object, object]] = [
        ("rows", f"{table.n_rows:,}"),
        (
            "columns",
            f"{table.n_columns:,} ({table.n_columns - continuous:,} discrete, {continuous:,} continuous)",
        ),
        ("missing values", _missing(table)),
        ("row weights", "none: every row counts once"),
        ("fingerprint", join([tag("code", table.fingerprint[:16]), " (result.table.fingerprint)"])),
    ]
    if table.weights is not None:
        facts[3] = ("row weights", f"yes; they sum to {number(table.total_weight)}, which counts as the rows")
    return pairs(facts)


def _missing(table: Table) -> str:
    report = table.missing
    if not report.counts:
        return "none" if report.policy == "error" else f"none (the policy was {report.policy!r})"
    cells = sum(count for _, count in report.counts)
    where = f"{counted(cells, 'cell')} in {counted(len(report.counts), 'column')}"
    if report.policy == "drop":
        return f"{where}; {counted(report.rows_dropped, 'row')} dropped"
    return f"{where}, given a state of their own"


def column_blocks(table: Table, nodes: tuple[Any, ...], names: tuple[str, ...]) -> list[Html]:
    """One block a column, in the order of `nodes`, with the id that the page's script looks for."""
    blocks = []
    for i, (node, name) in enumerate(zip(nodes[:MOST_COLUMNS], names, strict=False)):
        states = table.states[table.index(node)]
        if states is None:
            body, kind = _histogram(table, node), "continuous"
        else:
            body, kind = _frequencies(table, node, states), counted(len(states), "state")
        head = tag("h4", name, " ", tag("small", kind))
        blocks.append(tag("div", head, body, id=f"column-{i}", class_="column"))
    if len(nodes) > MOST_COLUMNS:
        blocks.append(tag("p", f"The first {MOST_COLUMNS:,} of {len(nodes):,} columns.", class_="note"))
    return blocks


def _frequencies(table: Table, node: Any, states: tuple[Any, ...]) -> Html:
    counts = np.bincount(table.array(node), weights=table.weights, minlength=len(states))
    shares = counts / table.total_weight
    lines = [
        _bar(name, share, f"{share:.1%}", f"{name}: {_count(count)} of {_count(table.total_weight)}")
        for name, share, count in zip(
            shown(states[:MOST_STATES]), shares.tolist(), counts.tolist(), strict=False
        )
    ]
    if len(states) > MOST_STATES:
        rest = len(states) - MOST_STATES
        share = float(shares[MOST_STATES:].sum())
        lines.append(_bar(f"{counted(rest, 'more state')}", share, f"{share:.1%}", "the others together"))
    return tag("div", *lines, class_="bars")


def _count(value: float) -> str:
    return f"{value:,.6g}" if value % 1 else f"{value:,.0f}"


def _histogram(table: Table, node: Any) -> Html:
    """Moments, and equal bins from the smallest to the largest value."""
    values: NDArray[np.float64] = table.array(node)
    weights = table.weights
    mean = float(np.average(values, weights=weights))
    spread = float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))
    low, high = float(values.min()), float(values.max())
    facts = f"mean {mean:.4g}, deviation {spread:.4g}, from {low:.4g} to {high:.4g}"
    if not high > low:
        return tag("p", facts, class_="note")
    place = np.minimum(((values - low) / (high - low) * BINS).astype(np.int64), BINS - 1)
    heights = np.bincount(place, weights=weights, minlength=BINS)
    bars = [
        tag("span", style=f"height:{100 * h / heights.max():.1f}%", title=f"{_count(h)} rows")
        for h in heights.tolist()
    ]
    return join([tag("div", *bars, class_="histogram", aria_hidden="true"), tag("p", facts, class_="note")])


def _bar(name: str, share: float, said: str, title: str) -> Html:
    """A named share as a line with a bar behind its figure."""
    return tag(
        "div",
        tag("span", name, class_="state"),
        tag("span", tag("span", style=f"width:{100 * share:.2f}%"), class_="bar", aria_hidden="true"),
        tag("span", said, class_="share"),
        title=title,
    )
