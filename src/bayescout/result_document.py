"""The shape of a saved result; see `Result.save`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from bayescout.data.reading import ColumnReading, ColumnReadings, DataReading
from bayescout.errors import FormatError
from bayescout.formats.labels import decode_label, encode_label
from bayescout.statistics.dependencies import DependencyRecord
from bayescout.statistics.screening import Screened

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


def data_to_json(data: DataReading | None) -> dict[str, Any] | None:
    """How the data were read, as JSON; a label of a type that files do not keep becomes its text."""
    if data is None:
        return None
    columns = [
        one.to_dict()
        | {
            "name": _encoded(one.name),
            "states": None if one.states is None else [_encoded(state) for state in one.states],
        }
        for one in data.columns
    ]
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
