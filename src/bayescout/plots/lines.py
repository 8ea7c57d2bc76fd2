"""A graph drawn with lines of text: nodes under one another, parents first, with lanes to their children."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bayescout.errors import printable
from bayescout.graph.dag import Dag


@dataclass(frozen=True)
class _Lane:
    """The lane of one parent: its column, and the rows of the parent and of its last child."""

    column: int
    first: int
    last: int


def drawn(dag: Dag) -> list[str]:
    """The lines of the drawing.

    A node's own line goes out to its lane (╮), which runs down and has a branch to each child (◄): ┤ and ┼ go
    on, ╯ and ┴ end there. A lane that only passes a branch is drawn through it (│).
    """
    order = list(dag.order_indices)
    row = {node: place for place, node in enumerate(order)}
    lanes = _lanes(dag, order, row)
    columns = 1 + max((lane.column for lane in lanes.values()), default=-1)
    names = [printable(str(dag.nodes[node])) for node in order]
    width = max(map(len, names), default=0)
    lines = []
    for place, node in enumerate(order):
        parts = list(_lines_of(dag, node, place, lanes, columns))
        heads = [names[place], *[""] * (len(parts) - 1)]
        lines += [f"{head:<{width}} {part}".rstrip() for head, part in zip(heads, parts, strict=True)]
    return lines


def _lanes(dag: Dag, order: list[int], row: dict[int, int]) -> dict[int, _Lane]:
    """The lane of each node that has children, in the first column that is free for all of it."""
    last = {
        p: max(row[c] for c, own in enumerate(dag.parents) if p in own) for own in dag.parents for p in own
    }
    ends: list[int] = []
    found = {}
    for place, node in enumerate(order):
        if node not in last:
            continue
        column = next((c for c, end in enumerate(ends) if end <= place), len(ends))
        ends[column : column + 1] = [last[node]]
        found[node] = _Lane(column, place, last[node])
    return found


def _lines_of(dag: Dag, node: int, place: int, lanes: dict[int, _Lane], columns: int) -> Iterator[str]:
    """The line that comes in from the parents, and the one that goes out to the children."""
    coming = {lanes[p].column: lanes[p].last > place for p in dag.parents[node]}
    if coming:
        passing = {one.column for one in lanes.values() if one.first < place <= one.last} - set(coming)
        yield "◄" + _crossed(columns, passing, coming, max(coming))
    if node in lanes:
        passing = {one.column for one in lanes.values() if one.first < place < one.last}
        yield "─" + _crossed(columns, passing, {}, lanes[node].column, end="╮")
    elif not coming:
        passing = {one.column for one in lanes.values() if one.first < place < one.last}
        yield " " + _crossed(columns, passing, {}, -1)


def _crossed(columns: int, passing: set[int], joined: dict[int, bool], last: int, end: str = "") -> str:
    """A line over the columns up to the last one that it is joined to, and the lanes that pass it."""
    cells = []
    for column in range(columns):
        before = "─" if column <= last else " "
        if column == last:
            mark = end or ("┤" if joined[column] else "╯")
        elif column in joined:
            mark = "┼" if joined[column] else "┴"
        else:
            mark = "│" if column in passing else before if column < last else " "
        cells.append(before + mark)
    return "".join(cells)
