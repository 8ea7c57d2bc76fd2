"""The command that predicts raw rows with a network: predict."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescout.cli.common import label_named, print_json, separator_given
from bayescout.cli.options import CellOptions, Json, NetworkArgument
from bayescout.cli.outputs import TABLE_ENDING, Output, check_outputs
from bayescout.cli.terminal import line, say
from bayescout.data.files import atomic_write
from bayescout.data.read import SEPARATORS, read_cells
from bayescout.data.table import Table
from bayescout.data.write import written_as
from bayescout.errors import FormatError
from bayescout.formats import open_network
from bayescout.graph.labels import counted, quoted
from bayescout.network import Network

if TYPE_CHECKING:
    import polars as pl


def predict(
    network: NetworkArgument,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="The rows, raw and with empty cells if need be: .csv, .tsv, .parquet, .arrow; - is csv from "
            "standard input.",
        ),
    ],
    target: Annotated[str, typer.Option(metavar="NODE", help="The node to predict.")],
    cells: CellOptions,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The data to write: .csv, .tsv, .parquet, .arrow."
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of each state of the target.")
    ] = False,
    json: Json = False,
) -> None:
    """Predict a node for each row of data: the data's columns and the prediction, as csv without a file."""
    check_outputs([Output("--output", output, _frame_ending)], reads=(network, data))
    model = open_network(network)
    node = label_named(target, model.nodes)
    table = cells.rows_of(model, data, but=node)
    found = _predictions(model, node, table, proba)
    _say_empty(table)
    frame = (
        None
        if json and output is None
        else _beside(read_cells(data, separator_given(cells.separator)), found)
    )
    if output is not None and frame is not None:
        _write(frame, output)
    if json:
        _print(network, data, node, table, output, found)
    elif output is not None:
        line(f"{counted(table.n_rows, 'row')} with {quoted(list(found), 3)} written to {output}")
    elif frame is not None:
        for place, part in enumerate(frame.iter_slices(10_000)):
            sys.stdout.write(part.write_csv(include_header=place == 0))


COMMANDS = (predict,)


def _predictions(model: Network, target: Any, table: Table, proba: bool) -> dict[str, list[Any]]:
    """The columns of the answer: the prediction, and the probability of each state if asked for."""
    name = f"predicted_{target}"
    if not proba:
        return {name: list(model.predict(table, target))}
    probabilities = model.predict_proba(table, target)
    states = model.distributions[model.dag.index(target)].states or ()
    found: dict[str, list[Any]] = {name: [states[code] for code in probabilities.argmax(axis=1).tolist()]}
    columns = probabilities.T.tolist()
    return found | {f"P({target}={state})": column for state, column in zip(states, columns, strict=True)}


def _say_empty(table: Table) -> None:
    """Tell on standard error how many cells were empty."""
    cells = sum(count for _, count in table.missing.counts)
    if cells:
        shown = ", ".join(f"{name!r} ({count:,})" for name, count in table.missing.counts[:8])
        more = f" and {len(table.missing.counts) - 8} more columns" if len(table.missing.counts) > 8 else ""
        say(f"{counted(cells, 'empty cell')} in {counted(table.n_rows, 'row')}, summed out: {shown}{more}")


def _beside(frame: pl.DataFrame, found: dict[str, list[Any]]) -> pl.DataFrame:
    """The data with the predictions as further columns; a name that is taken gets a number."""
    import polars as pl

    made = []
    for name, values in found.items():
        free, number = name, 1
        while free in frame.columns:
            number += 1
            free = f"{name}_{number}"
        typed = all(type(value) is type(values[0]) for value in values)
        plain = typed and type(values[0]) in (str, int, float, bool)
        made.append(pl.Series(free, values if plain else [str(value) for value in values]))
    return frame.with_columns(made)


def _frame_ending(path: str) -> None:
    """Check for a format of data that holds any column."""
    if TABLE_ENDING(path) is not None and written_as(path)[0] in (".dat", ".data", ".txt"):
        raise FormatError("a data file has no place for empty cells; write .csv, .tsv or .parquet", path)


def _write(frame: pl.DataFrame, output: str) -> None:
    import gzip

    suffix, packed = written_as(output)
    with atomic_write(output) as stream:
        if suffix in SEPARATORS:
            text = frame.write_csv(separator=SEPARATORS[suffix]).encode()
            stream.write(gzip.compress(text, mtime=0) if packed else text)
        elif suffix in (".parquet", ".pq"):
            frame.write_parquet(stream)
        else:
            frame.write_ipc(stream)


def _print(
    network: str, data: str, target: Any, table: Table, output: str | None, found: dict[str, list[Any]]
) -> None:
    """The predictions as JSON; those written to a file are not repeated."""
    described = {
        "network": network,
        "data": data,
        "target": target,
        "rows": table.n_rows,
        "empty_cells": [[name, count] for name, count in table.missing.counts],
        "output": output,
    }
    print_json(described if output is not None else {**described, "predictions": found})
