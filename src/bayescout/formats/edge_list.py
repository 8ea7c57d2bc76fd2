"""Edge lists: a csv file with the columns parent and child, one arc per line.

The columns may also be called from and to, or source and target, and further columns are skipped. A line
with a parent alone is a node; the writer puts all nodes so in front if the arcs alone would not give them in
order.
"""

from __future__ import annotations

import csv
import io
import re

from bayescout.errors import FormatError
from bayescout.formats.graph_draft import GraphDraft, check_graph
from bayescout.formats.text import Source
from bayescout.graph.dag import Dag

_HEADS = (("parent", "child"), ("from", "to"), ("source", "target"))


def read(text: str, path: str) -> Dag:
    """The graph of an edge list, its nodes in order of appearance."""
    draft = GraphDraft(Source(text, path))
    lines = csv.reader(io.StringIO(text, newline=""))
    try:
        head = [cell.strip().lower() for cell in next(lines, [])]
        columns = next((pair for pair in _HEADS if set(pair) <= set(head)), None)
        if columns is None:
            raise FormatError(
                "is no edge list: its first line names the columns parent and child, or from and to", path, 1
            )
        one, other = (head.index(column) for column in columns)
        for cells in lines:
            _row(
                [cells[place] if place < len(cells) else "" for place in (one, other)],
                draft,
                lines.line_num,
                path,
            )
    except csv.Error as error:
        raise FormatError(f"is not csv: {error}", path, lines.line_num) from None
    if not draft.places:
        raise FormatError("no arc is listed; write one line per arc, parent,child", path)
    return draft.dag()


def _row(ends: list[str], draft: GraphDraft, line: int, path: str) -> None:
    parent, child = ends
    if not parent and not child:
        return
    if not parent:
        raise FormatError(
            f"child {child[:40]!r} has no parent; a node alone stands in the first column", path, line
        )
    if child:
        draft.arc(parent, child)
    else:
        draft.place(parent)


def write(dag: object) -> str:
    """The edge list of a graph; names that are not text, or empty, are refused."""
    dag = check_graph(dag, "an edge list")
    if not len(dag):
        raise FormatError("a graph without nodes has no edge list; write it as .json")
    for label in dag.nodes:
        if type(label) is not str or not label or re.search(r"[\x00\r]", label):
            raise FormatError(f"node {label!r} cannot keep its name in an edge list; write .json instead")
    arcs = [(dag.nodes[p], dag.nodes[child]) for child, parents in enumerate(dag.parents) for p in parents]
    met = dict.fromkeys(label for arc in arcs for label in arc)
    rows = arcs if tuple(met) == dag.nodes else [*((label, "") for label in dag.nodes), *arcs]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADS[0])
    writer.writerows(rows)
    return text.getvalue()
