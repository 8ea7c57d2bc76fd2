"""What the commands share: opening their arguments, JSON, and the options of tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

from bayescout.cli.terminal import json_line, line
from bayescout.data import discretise, read_table
from bayescout.data.read import names_in
from bayescout.data.table import Table
from bayescout.errors import BayescoutError, SettingError, UnknownNameError
from bayescout.formats import open_network, open_structure
from bayescout.graph.dag import Dag
from bayescout.scores.network_score import aligned
from bayescout.network import Network
from bayescout.statistics.alignment import refuse_missing_nodes

KINDS = ("discrete", "continuous")


class Missing(StrEnum):
    error = "error"
    drop = "drop"
    state = "state"


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
MissingOption = Annotated[
    Missing,
    typer.Option(help="What to do with missing values: refuse them, drop their rows, or give them a state."),
]
MissingValues = Annotated[
    list[str] | None,
    typer.Option(
        "--na", metavar="TEXT", help="A text that means missing, as an empty cell does; may be repeated."
    ),
]
KindOption = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="discrete or continuous, for all columns or for one: age=continuous; may be repeated.",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(metavar="CHARACTER", help="What separates the cells of a text file, such as ';' or '\\t'."),
]
Discretise = Annotated[
    int | None,
    typer.Option(
        min=2, metavar="NUMBER", help="Cut continuous columns into so many intervals, of equally many rows."
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="A column to leave out, such as an identifier; may be repeated."),
]
OutputOption = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="The network to write: .bif or .json; .dot, .txt or .modelstring hold its structure alone.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Of the random numbers: the same seed, the same answer.")]


def open_graph(text: str) -> Network | Dag:
    """A network where the text names one, else a structure."""
    try:
        return open_network(text)
    except BayescoutError:
        return open_structure(text)


def table_options(
    data: str,
    separator: str | None,
    missing: Missing,
    na: list[str] | None,
    kind: list[str] | None,
    drop: list[str] | None = None,
) -> dict[str, Any]:
    """The options of a table as `read_table` takes them."""
    options: dict[str, Any] = {"missing": missing.value, "missing_values": tuple(na or ())}
    if separator is not None:
        separator = options["separator"] = separator.replace("\\t", "\t")
    names = names_in(data, separator) if kind or drop else []
    if kind:
        options["kinds"] = _kinds(kind, names)
    if drop:
        dropped = {label_named(text, names) for text in drop}
        options["columns"] = [name for name in names if name not in dropped]
    return options


def _kinds(texts: list[str], names: list[str]) -> dict[str, str]:
    """The kind of each column it was said of; a name may itself hold an equals sign."""
    found: dict[str, str] = {}
    for text in sorted(texts, key=KINDS.__contains__, reverse=True):  # what is said of all comes first
        name, _, kind = text.rpartition("=")
        if kind not in KINDS or (text not in KINDS and not name):
            raise SettingError(f"--kind is discrete or continuous, or such as age=continuous, not {text!r}")
        found |= dict.fromkeys(names if text in KINDS else [label_named(name.strip(), names)], kind)
    return found


def open_table(data: str, bins: int | None, options: Mapping[str, Any]) -> Table:
    """The table of a file, its continuous columns cut where that is asked for."""
    table = read_table(data, **options)
    return table if bins is None else discretise(table, bins=bins)


def open_aligned(
    structure: str, data: str, bins: int | None, options: Mapping[str, Any]
) -> tuple[Dag, Table]:
    """A structure, and the data with its nodes as columns."""
    graph = open_graph(structure)
    if bins is None and "separator" not in options:
        return aligned(graph, data, **options)
    dag = graph if isinstance(graph, Dag) else graph.dag
    refuse_missing_nodes(dag, names_in(data, options.get("separator")))
    chosen: dict[str, Any] = {"columns": list(dag.nodes)}
    if bins is None and isinstance(graph, Network) and graph.is_discrete:
        chosen["states"] = dict(zip(graph.nodes, graph.states, strict=True))
    return aligned(graph, open_table(data, bins, {**options, **chosen}))


def missing_facts(table: Table) -> dict[str, Any]:
    """What was missing and what was done about it, for JSON."""
    report = table.missing
    if not report.counts:
        return {}
    counts = [[column, count] for column, count in report.counts]
    return {"missing": {"policy": report.policy, "cells": counts, "rows_dropped": report.rows_dropped}}


def say_missing(table: Table) -> None:
    """The same, for people."""
    report = table.missing
    if report.counts:
        cells = sum(count for _, count in report.counts)
        done = (
            f"{report.rows_dropped:,} rows dropped"
            if report.policy == "drop"
            else "given a state of their own"
        )
        line(f"missing values: {cells:,} cells in {len(report.counts)} columns, {done}")


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON object on standard output; numbers JSON does not have become null."""
    json_line(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, int, bool)):
        return value
    return str(value)


def label_named(text: str, names: Sequence[Any]) -> Any:
    """The label that reads as the text."""
    for name in names:
        if str(name) == text:
            return name
    raise UnknownNameError("name", text, names)


def split_arc(text: str, names: Sequence[Any]) -> tuple[Any, Any]:
    """An arc written a->b; a name may itself hold the arrow, so every place is tried."""
    for place in range(len(text)):
        if text.startswith("->", place):
            parent, child = text[:place].strip(), text[place + 2 :].strip()
            known = {str(name) for name in names}
            if (parent in known and child in known) or "->" not in child:
                return label_named(parent, names), label_named(child, names)
    raise SettingError(
        f"an arc is written parent->child, in quotes that keep > from the shell, such as "
        f"'{names[0]}->{names[-1]}', not {text!r}"
    )


def as_setting(text: str) -> Any:
    """A setting's value: a number, true or false, or the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
