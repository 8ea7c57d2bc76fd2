"""The shape of a saved result; see `Result.save`."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from bayescout.statistics.dependencies import DependencyRecord

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


class SavedClass(Struct):
    """The equivalence class that a search ended in."""

    directed: Pairs
    undirected: Pairs


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
    found_class: SavedClass | None = None
    dependencies: DependencyRecord | None = None
