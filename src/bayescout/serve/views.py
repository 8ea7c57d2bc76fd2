"""A run as the page draws it: its graph with kinds of arcs and positions, its curve, any of its steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bayescout.data import as_table
from bayescout.errors import SettingError
from bayescout.graph.dag import Dag
from bayescout.report.parameters import node_parameters
from bayescout.report.views import placed
from bayescout.scores import bind
from bayescout.serve.subject import Kept, Subject
from bayescout.serve.traces import TraceReader
from bayescout.serve.wire import settle

READERS, DRAWINGS = Kept(32), Kept(32)
"""By run: its steps; its drawing, with the arcs that it was made of, and whether with all effort."""

HURRIED = 20_000
"""Pairs of neighbours compared for a drawing while a run goes on: 130 arcs take 70 ms, not 300."""


def reader(values: dict[str, Any]) -> TraceReader:
    """The reader of a run's steps; another one if earlier steps were taken back."""
    key = values["trace"], values["epoch"]
    found: TraceReader = READERS.get(key, lambda: TraceReader(Path(values["trace"])))
    return found


def detail(values: dict[str, Any], _: Any) -> dict[str, Any]:
    """What `GET /api/runs/ID` has beyond the run itself.

    running  True if the run goes on: its drawing may be that of an earlier graph, as a layout would be old
             when it is sent
    busy     True if any run does: drawings are then made quickly, and anew when all are still. Searches that
             begin anywhere have their densest graphs early
    """
    subject, run = Subject.of(values), values["trace"]
    running, busy = values.get("running", False), values.get("busy", False)
    drawn, whole, drawing = DRAWINGS.get(run, lambda: (None, False, None))
    if drawing is None or (not running and (drawn != subject.arcs or not (whole or busy))):
        drawn, whole = subject.arcs, not busy
        drawing = subject.placed if whole else subject.placed_with(HURRIED)
        DRAWINGS.put(run, (drawn, whole, drawing))
    return {"nodes": subject.names, "arcs": subject.kinds, "trace": reader(values).points(), **drawing}


def warm(_: dict[str, Any], __: Any) -> None:
    """Load what reading, scoring and laying out need, so that the first drawing does not wait for it."""
    table = as_table({"a": ["x", "y"], "b": ["x", "y"], "c": ["x", "y"]})
    table.to_polars()
    bind("bic", table).many([(2, (0, 1))])
    placed(Dag.from_arcs([("a", "c"), ("b", "c")], nodes="abc"), ("a", "b", "c"))
    settle()


def at(values: dict[str, Any], _: Any) -> dict[str, Any]:
    """The graph of a step."""
    found = reader(values).at(values["step"])
    if found is None:
        raise SettingError(f"the run has no step {values['step']}, or its graph was not kept")
    (step, seconds, score, best), arcs = found
    names = values["nodes"]
    shown = [[names[a], names[b]] for a, b in sorted(arcs)]
    return {"step": step, "seconds": seconds, "score": score, "best": best, "arcs": shown}


def layout(values: dict[str, Any], _: Any) -> dict[str, Any]:
    return Subject.of(values).placed


def node(values: dict[str, Any], _: Any) -> dict[str, Any]:
    """The parameters of a variable, as a table or as a regression."""
    subject = Subject.of(values)
    label = subject.label(values["name"])
    found = node_parameters(subject.network, (label,), (values["name"],))[0]
    columns, rows, figures = list(found.columns), [list(row) for row in found.rows], list(found.figures)
    if found.terms:
        columns, figures = ["parameter", "value"], [1]
        rows = [[f"{words} {parent}".strip(), value] for words, parent, value in found.terms]
    table = {"columns": columns, "rows": rows, "figures": figures} if rows else None
    return {"title": found.title, "cpt": table, "note": found.note}
