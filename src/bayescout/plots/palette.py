"""All colours of figures: those of Okabe & Ito (2008), which colour-blind readers can distinguish.

Their orange, yellow and sky blue are too faint for lines on white: brown, violet and a darker sky blue are in
their place. Colour is never the only difference: every kind of arc has a dash or a width of its own, every
series of a figure a marker and a dash. tests/plots/test_palette.py holds how far the colours are apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

BLACK, BLUE, VERMILLION, GREEN, PURPLE = "#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7"
BROWN, VIOLET, SKY = "#5A2D00", "#7A1EE0", "#2F88BC"

SERIES = (BLUE, VERMILLION, GREEN, PURPLE, BROWN, VIOLET, BLACK)
"""Colours of series, in the order of use."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1.5, 1.5), (6, 2, 1.5, 2), (8, 3), (3, 1, 1, 1), (2, 3))

METHODS = {
    "GES": 0, "I-map": 1, "I-map pruned": 2,
    "GA": 0, "UMDA": 1, "UMDA, corrected": 4, "PBIL": 2, "K2": 3,
    "unconnected": 0, "random": 1, "full": 2,
    "order sampling": 0, "order climbing": 1, "restarts": 2, "insertion, ours": 3, "handcrafted, fitted": 4,
    "precision": 0, "recall": 1, "precision, adjacencies": 2, "recall, adjacencies": 3,
}  # fmt: skip
"""Colours and markers of the methods of the studies, so that a method looks the same in every figure."""

PAPER = "#FFFFFF"
INK = "#1A1A1A"
LINE = "#3C4654"
FAINT = "#8A94A3"
GRID = "#E3E7EC"
BOX_FILL, BOX_EDGE = "#EDF2F9", "#4F6179"


def places(labels: Iterable[str]) -> dict[str, int]:
    """The place of each label in `SERIES` and `MARKERS`: its own if it is a method's, else the next free."""
    distinct = list(dict.fromkeys(labels))
    found = {label: METHODS[method] for label in distinct if (method := label.split("\n")[0]) in METHODS}
    taken = set(found.values())
    free = (place for place in count() if place not in taken)
    return {label: found[label] if label in found else next(free) for label in distinct}


@dataclass(frozen=True)
class Stroke:
    """The style of a line: its colour, its width, and its dashes in units of length (none: solid)."""

    colour: str
    width: float
    dash: tuple[float, ...] = ()


ARCS = {
    "plain": Stroke(LINE, 1.3),
    "right": Stroke(LINE, 1.3),
    "extra": Stroke(VERMILLION, 2.4),
    "missing": Stroke(BLUE, 1.8, (7, 4)),
    "reversed": Stroke(PURPLE, 2.0, (9, 3, 2, 3)),
}
"""Strokes by the kind of an arc compared with the truth; `plain` without a truth."""

PALEST = {LINE: FAINT}
"""The colour of an arc of strength 0, where it is not that of strength 1; any paler could not be seen."""


def mixed(one: str, two: str, share: float) -> str:
    """A colour between two others."""
    a, b = (tuple(int(colour[k : k + 2], 16) for k in (1, 3, 5)) for colour in (one, two))
    return "#" + "".join(f"{round(p + (q - p) * share):02X}" for p, q in zip(a, b, strict=True))
