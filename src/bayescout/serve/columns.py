"""How the columns of the data were read, as the page shows them: kinds, states, missing cells, histograms."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from bayescout.data import read_table, write_table
from bayescout.data.read import names_in
from bayescout.data.reading import ColumnReading
from bayescout.data.table import Table
from bayescout.errors import BayescoutWarning, DataError, SettingError, printable
from bayescout.formats import load_network

BINS = 20
MOST_STATES = 200
"""The most states of a column that are listed with their counts."""

KINDS = ("discrete", "continuous", "left out")


def example(values: dict[str, Any], _: Any) -> None:
    """Write rows drawn from a shipped network."""
    rows = values.get("rows") or 5000
    if not isinstance(rows, int) or isinstance(rows, bool) or not 1 <= rows <= 1_000_000:
        raise SettingError(f"rows must be a whole number from 1 to 1,000,000, not {rows!r}")
    write_table(load_network(values["name"]).sample(rows, seed=0), values["path"])


def read(values: dict[str, Any], _: Any) -> dict[str, Any]:
    """Read the data file, write the table as read beside the project, and say how it was read."""
    path, out = values["path"], values["table"]
    kinds, left_out = declared(values.get("kinds") or {}, names_in(path))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        table = read_table(path, kinds=kinds or None, drop=left_out or None)
    if not table.n_columns:
        raise DataError(f"{Path(path).name}: no column can be learned from: {table.reading}")
    write_table(table, out, weights=None)
    notes = [str(one.message) for one in told if issubclass(one.category, BayescoutWarning)]
    notes = [note for note in notes if " left out: " not in note]  # each such column says why by itself
    return described(table, left_out) | {"notes": notes, "fingerprint": table.fingerprint}


def declared(kinds: dict[str, str], names: list[str]) -> tuple[dict[str, Any], list[str]]:
    """The kinds that a person chose, and the columns that they left out."""
    for name, kind in kinds.items():
        if kind not in KINDS:
            raise SettingError(f"the kind of a column is {', '.join(KINDS)}, not {kind!r}")
        if name not in names:
            raise SettingError(f"the data have no column {name!r}")
    left_out = [name for name, kind in kinds.items() if kind == "left out"]
    return {name: kind for name, kind in kinds.items() if kind != "left out"}, left_out


def described(table: Table, left_out: list[str]) -> dict[str, Any]:
    """Every column, the summary, and the columns that are not among the variables."""
    known = dict(table.notes.left_out) | dict.fromkeys(left_out, "left out by you")
    without: list[dict[str, Any]] = [
        {"name": str(name), "kind": "left out", "states": [], "missing": 0, "reading": why, "histogram": None}
        for name, why in known.items()
    ]
    return {
        "rows": table.n_rows,
        "summary": table.reading,
        "columns": [_column(table, one) for one in table.columns] + without,
    }


def _column(table: Table, one: ColumnReading) -> dict[str, Any]:
    states = [] if one.states is None else [str(state) for state in one.states[:MOST_STATES]]
    return {
        "name": str(one.name),
        "kind": one.kind,
        "states": states,
        "missing": one.missing,
        "reading": printable(one.reason) + (" (a close call)" if one.close else ""),
        "values": printable(one.values),
        "histogram": histogram(table, one.name),
    }


def histogram(table: Table, name: Any) -> dict[str, Any]:
    """The rows with each state, or in equal bins of the numbers."""
    found, there = table.array(name), ~table.missing_cells(name)
    states = table.states[table.index(name)]
    if states is not None:
        return {"counts": np.bincount(found[there], minlength=len(states))[:MOST_STATES].tolist()}
    if not there.any():
        return {"edges": [], "counts": []}
    low = float(found[there].min())
    counts, edges = np.histogram(
        found[there] - low, BINS
    )  # from zero: large numbers may lie closely together
    return {"edges": (edges + low).tolist(), "counts": counts.tolist()}
