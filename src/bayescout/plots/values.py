"""Tables and figures as plain values: studies return them, reports print them, `figures.draw` draws them.

Each has a `name` (of its files), a `title` and a `note` (a sentence or two under it; may be empty).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal

from bayescout.graph.dag import Dag

Cell = str | int | float | None
Reference = tuple[str, float]
"""A labelled value drawn as a line across a figure, such as the generating network's score."""


@dataclass(frozen=True)
class SummaryTable:
    """Rows under column heads; a cell of None is shown as a dash.

    digits   decimals of the floats of a column, for people; of a column not named, as many as they need
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    digits: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Series:
    """One line of a figure; `low` and `high`, if given, bound a band around it."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    faint: bool = False
    """True for one of many runs, drawn thin and without a legend entry."""


@dataclass(frozen=True)
class Panel:
    """One set of axes with lines on it."""

    title: str
    series: tuple[Series, ...]
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True)
class Lines:
    """Lines over axes with a common meaning, in one panel or several side by side."""

    name: str
    title: str
    x_label: str
    y_label: str
    panels: tuple[Panel, ...]
    note: str = ""
    log_x: bool = False
    shared: Literal["both", "x", "y"] = "both"
    """The axes that panels share; panels of different scores share no vertical one."""


@dataclass(frozen=True)
class Histograms:
    """Distributions of values, one panel each, all with the same bins and axes."""

    name: str
    title: str
    x_label: str
    panels: tuple[tuple[str, tuple[float, ...]], ...]
    references: tuple[Reference, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Boxes:
    """Box plots side by side: (label, values) each.

    With `per_panel`, as many boxes as that stand in a panel with a scale of its own, and the part of a label
    after a line break is the panel's title. The first line of a label names the method, which has its colour.
    """

    name: str
    title: str
    y_label: str
    groups: tuple[tuple[str, tuple[float, ...]], ...]
    references: tuple[Reference, ...] = ()
    note: str = ""
    per_panel: int = 0


@dataclass(frozen=True)
class PointPanel:
    """Pairs (printed, ours) of one quantity, in labelled groups, on equal axes with the diagonal."""

    title: str
    groups: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]
    scale: Literal["linear", "log", "symlog"] = "linear"


@dataclass(frozen=True)
class Points:
    """Agreement at a glance: one point per cell, ours against printed; on the diagonal they are equal."""

    name: str
    title: str
    panels: tuple[PointPanel, ...]
    note: str = ""


@dataclass(frozen=True)
class Drawn:
    """A graph to be drawn; with `truth`, if given, its missing, extra and reversed arcs are coloured."""

    caption: str
    dag: Dag
    truth: Dag | None = None
    tables: tuple[tuple[Hashable, SummaryTable], ...] = ()
    """Conditional probability tables to print beside it, by node."""


@dataclass(frozen=True)
class Drawings:
    """Graphs side by side."""

    name: str
    title: str
    graphs: tuple[Drawn, ...]
    note: str = ""


Figure = Lines | Histograms | Boxes | Points | Drawings
