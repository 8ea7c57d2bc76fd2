"""The shape of a saved result; see `Result.save`."""

from __future__ import annotations

import io
import json
from collections.abc import Hashable, Iterator
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from bayescout.data.files import atomic_write
from bayescout.data.reading import ColumnReading, ColumnReadings, DataReading
from bayescout.errors import FormatError
from bayescout.formats.labels import decode_label, encode_label
from bayescout.graph.dag import Dag
from bayescout.graph.pdag import Pdag
from bayescout.statistics.dependencies import DependencyRecord
from bayescout.statistics.screening import Screened

if TYPE_CHECKING:
    import polars as pl

FORMAT, VERSION = "bayescout-result", 1

Count = Annotated[int, Meta(ge=0)]
Parents = tuple[tuple[int, ...], ...]
Pairs = tuple[tuple[int, int], ...]


class SavedSettings(Struct, forbid_unknown_fields=True):
    """The settings with which the network was learned."""

    search: str
    search_settings: dict[str, Any]
    score: str
    knowledge: dict[str, Any]
    start: str
    seed: Count
    score_settings: dict[str, Any] | UnsetType | None = UNSET
    missing: str = "error"
    discretise: int | str | tuple[tuple[Any, int | tuple[float, ...]], ...] | None = None
    structure_prior: str = "uniform"
    structure_prior_settings: dict[str, Any] | None = {}
    screen: str | float | None = None


class SavedClass(Struct):
    """The equivalence class that a search ended in."""

    directed: Pairs
    undirected: Pairs


class SavedColumn(Struct):
    """How a column was read; see `ColumnReading`."""

    name: Any
    kind: Literal["discrete", "continuous"]
    states: tuple[Any, ...] | None
    low: float | None
    high: float | None
    missing: Count
    reason: str
    close: bool
    cuts: tuple[float, ...] | None = None


class SavedData(Struct):
    """How the data were read; see `DataReading`."""

    summary: str
    rows: Count
    columns: tuple[SavedColumn, ...]
    left_out: tuple[tuple[Any, str], ...]


class Head(Struct):
    """What tells a saved result from other JSON, and its settings as they stand there."""

    format: Any
    version: Any
    settings: dict[str, Any]

    @property
    def is_ours(self) -> bool:
        return (self.format, self.version) == (FORMAT, VERSION)


class SavedResult(Struct, rename={"found_class": "class"}):
    """A saved result: nodes are labels as in `formats/labels.py`; graphs are positions."""

    nodes: tuple[Any, ...]
    score: float
    parents: Parents
    top: tuple[tuple[float, Parents], ...]
    trace: tuple[tuple[Count, float, float, Count, Count, Count, float, dict[str, float]], ...]
    counters: dict[str, Count]
    stop_reason: str
    seconds: Annotated[float, Meta(ge=0)]
    settings: SavedSettings
    bound: float | None
    own_score: float | None = None
    one_way: Pairs = ()
    told: Pairs = ()
    found_class: SavedClass | None = None
    dependencies: DependencyRecord | None = None
    data: SavedData | None = None
    fingerprint: str | None = None
    screened: Screened | None = None


ARCS_ALONE = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
"""Endings of files that hold the arcs of a result alone."""


def json_text(document: dict[str, Any]) -> Iterator[str]:
    """A document as JSON, one part after the other: all of it at once would be in memory many times."""
    for place, (key, value) in enumerate(document.items()):
        yield f"{', ' if place else '{'}{json.dumps(key)}: "
        yield json.dumps(value)
    yield "}"


def label_series(*columns: tuple[str, list[Hashable]]) -> pl.DataFrame:
    """A frame of labels: text, or integers if all are; any other label is its text."""
    import polars as pl

    found = {}
    for name, labels in columns:
        kinds = set(map(type, labels))
        if kinds == {int}:
            with suppress(OverflowError, TypeError):
                found[name] = pl.Series(name, labels, dtype=pl.Int64)
                continue
        texts = labels if kinds <= {str} else [str(label) for label in labels]
        found[name] = pl.Series(name, texts, dtype=pl.String)
    return pl.DataFrame(found)


def arcs_frame(dag: Dag, cpdag: Pdag) -> pl.DataFrame:
    """The arcs of a graph, by child then parent, and whether all graphs of its class have each."""
    import polars as pl

    undecided = set(cpdag.undirected)
    undecided |= {(two, one) for one, two in undecided}
    pairs = [(parent, child) for child, own in enumerate(dag.parents) for parent in own]
    decided = pl.Series("decided", [pair not in undecided for pair in pairs], dtype=pl.Boolean)
    ends = [[dag.nodes[pair[end]] for pair in pairs] for end in (0, 1)]
    return label_series(("parent", ends[0]), ("child", ends[1])).with_columns(decided)


def write_frame(frame: pl.DataFrame, path: str | PathLike[str]) -> None:
    """Write a frame as Parquet or Arrow."""
    content = io.BytesIO()
    if Path(path).suffix.lower() in (".parquet", ".pq"):
        frame.write_parquet(content)
    else:
        frame.write_ipc(content)
    with atomic_write(path) as stream:
        stream.write(content.getbuffer())


def data_to_json(data: DataReading | None) -> dict[str, Any] | None:
    """How the data were read, as JSON; a label of a type that files do not keep becomes its text."""
    if data is None:
        return None
    columns = []
    for one in data.columns:
        column = one.to_dict()
        column["name"] = _encoded(one.name)
        if one.states is not None:
            column["states"] = [_encoded(state) for state in one.states]
        columns.append(column)
    left_out = [[_encoded(name), reason] for name, reason in data.left_out]
    return {"summary": data.summary, "rows": data.rows, "columns": columns, "left_out": left_out}


def data_from_saved(saved: SavedData | None) -> DataReading | None:
    """The reading that `data_to_json` wrote; results of older versions have none."""
    if saved is None:
        return None
    columns = ColumnReadings(
        ColumnReading(
            decode_label(one.name),
            one.kind,
            None if one.states is None else tuple(map(decode_label, one.states)),
            *(one.low, one.high, one.missing, one.reason, one.close, one.cuts),
        )
        for one in saved.columns
    )
    left_out = tuple((decode_label(name), reason) for name, reason in saved.left_out)
    return DataReading(saved.summary, saved.rows, columns, left_out)


def _encoded(label: Hashable) -> Any:
    try:
        return encode_label(label)
    except FormatError:
        return str(label)
