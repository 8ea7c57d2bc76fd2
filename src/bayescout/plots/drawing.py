"""A drawing of a graph as a plain value: the positions, colours and texts of all its parts.

`to_svg` and matplotlib's canvas show the same value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bayescout.graph.compare import Comparison, compare
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Label, check_same_nodes
from bayescout.graph.pdag import Pdag
from bayescout.plots import palette
from bayescout.plots.layout import MARGIN, Box, Pair, Point, Size, arc_pairs, label_size, layered
from bayescout.plots.palette import Stroke
from bayescout.plots.strengths import as_strengths, strength_of
from bayescout.plots.tables import NodeTable
from bayescout.plots.text import one_line, shortened, text_width

KEY_HEIGHT = 20.0
KEY_LINE = 30.0
KEY_FONT = 11.0
SMALLEST_LINE, LARGEST_LINE = 0.6, 3.4
"""Line widths of an arc of strength 0 and of strength 1."""


@dataclass(frozen=True)
class DrawnNode:
    """A node's box with its text; `index` is its position in the graph."""

    index: int
    label: Label
    text: str
    tooltip: str
    box: Box
    table: NodeTable | None = None


@dataclass(frozen=True)
class DrawnArc:
    """A line from one node to another; `kind` is one of `palette.ARCS`."""

    source: int
    target: int
    kind: str
    directed: bool
    stroke: Stroke
    tooltip: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Key:
    """A line of the legend: the start of its sample stroke, and its text."""

    text: str
    stroke: Stroke
    x: float
    y: float


@dataclass(frozen=True)
class Drawing:
    """All parts of a drawing, x to the right and y downwards from a corner at (0, 0)."""

    nodes: tuple[DrawnNode, ...]
    arcs: tuple[DrawnArc, ...]
    legend: tuple[Key, ...]
    width: float
    height: float
    title: str


def draw_graph(
    graph: Dag | Pdag,
    truth: Dag | Pdag | None = None,
    strengths: Any = None,
    tables: Mapping[Label, NodeTable] | None = None,
) -> Drawing:
    """The drawing of a graph.

    truth      the graph to compare with: missing arcs are drawn dashed, and extra or reversed ones are
               marked; a legend counts them. If one of the two is a Pdag, both are drawn and compared as
               equivalence classes
    strengths  confidence in the arcs: see `as_strengths`; an arc not in it was never found and has 0
    tables     the table to print in a node's box, by node
    """
    if truth is not None:
        check_same_nodes(graph.nodes, truth.nodes, "the graph", "the truth")
        truth = truth.reordered(graph.nodes)
        if isinstance(graph, Pdag) or isinstance(truth, Pdag):
            graph, truth = _as_class(graph), _as_class(truth)
    compared = None if truth is None else compare(graph, truth)
    missing = [] if compared is None else [(graph.index(a), graph.index(b)) for a, b in compared.missing]
    shown = dict(tables or {})

    def size_of(label: Label) -> Size:
        wide, high = label_size(label)
        if label not in shown:
            return wide, high
        return shown[label].box_size(wide, high)

    layout = layered(graph, size_of, missing)
    nodes = tuple(
        DrawnNode(i, label, shortened(one_line(label)), one_line(label), box, shown.get(label))
        for i, (label, box) in enumerate(zip(layout.nodes, layout.boxes, strict=True))
    )
    marks = _Marks(graph, truth, compared, strengths)
    arcs = tuple(marks.arc(route.source, route.target, route.points) for route in layout.routes)
    legend, width, height = _legend(marks.keys(), layout.width, layout.height)
    return Drawing(nodes, arcs, legend, width, height, marks.title())


def as_placed(
    nodes: Sequence[DrawnNode], arcs: Sequence[DrawnArc], keys: Sequence[tuple[str, Stroke]], title: str
) -> Drawing:
    """A drawing of nodes and arcs that have their places already: moved to the corner, with a legend."""
    boxes = [node.box for node in nodes]
    points = [point for arc in arcs for point in arc.points]
    across = [x for x, _ in points] + [box.x + side * box.width / 2 for box in boxes for side in (-1, 1)]
    down = [y for _, y in points] + [box.y + side * box.height / 2 for box in boxes for side in (-1, 1)]
    left, top = min(across, default=0.0) - MARGIN, min(down, default=0.0) - MARGIN
    width, height = max(across, default=0.0) + MARGIN - left, max(down, default=0.0) + MARGIN - top
    moved = tuple(
        replace(node, box=replace(node.box, x=node.box.x - left, y=node.box.y - top)) for node in nodes
    )
    drawn = tuple(replace(arc, points=tuple((x - left, y - top) for x, y in arc.points)) for arc in arcs)
    legend, width, height = _legend(list(keys), width, height)
    return Drawing(moved, drawn, legend, width, height, title)


def _as_class(graph: Dag | Pdag) -> Pdag:
    return graph.cpdag() if isinstance(graph, Dag) else graph


class _Marks:
    """The kind of every arc (right, missing, extra, reversed), its strength, and its text."""

    def __init__(
        self,
        graph: Dag | Pdag,
        truth: Dag | Pdag | None,
        compared: Comparison | None,
        strengths: Any,
    ) -> None:
        self.graph = graph
        self.compared = compared
        self.strengths = None if strengths is None else as_strengths(strengths)
        undirected = graph.undirected if isinstance(graph, Pdag) else ()
        if isinstance(truth, Pdag):
            undirected = (*undirected, *(pair for pair in truth.undirected if pair not in arc_pairs(graph)))
        self.undirected = frozenset(undirected)
        self.kinds: dict[Pair, str] = {}
        if compared is not None:
            for kind, arcs in (("missing", compared.missing), ("extra", compared.extra)):
                self.kinds |= {self._pair(a, b): kind for a, b in arcs}
            self.kinds |= {self._pair(a, b): "reversed" for a, b in compared.reversed}

    def _pair(self, a: Label, b: Label) -> Pair:
        one, two = self.graph.index(a), self.graph.index(b)
        return min(one, two), max(one, two)

    def arc(self, source: int, target: int, points: tuple[Point, ...]) -> DrawnArc:
        pair = (min(source, target), max(source, target))
        directed = (source, target) not in self.undirected and not (
            self.kinds.get(pair) == "missing" and pair in self.undirected
        )
        default = "plain" if self.compared is None else "right"
        kind = self.kinds.get(pair, default)
        stroke = palette.ARCS[kind]
        a, b = self.graph.nodes[source], self.graph.nodes[target]
        words = f"{one_line(a)} {'→' if directed else '—'} {one_line(b)}"
        if kind in ("missing", "extra", "reversed"):
            words += f" ({self._word(kind)})"
        if self.strengths is not None and kind != "missing":
            strength, direction = strength_of(self.strengths, a, b)
            stroke = _weighted(stroke, strength)
            words += f", strength {strength:.2f}"
            words += "" if direction is None else f", direction {direction:.2f}"
        return DrawnArc(source, target, kind, directed, stroke, words, points)

    def _word(self, kind: str) -> str:
        """The word for a kind; in a class, "reversed" may mean an edge directed in one graph only."""
        return "otherwise directed" if kind == "reversed" and isinstance(self.graph, Pdag) else kind

    def keys(self) -> list[tuple[str, Stroke]]:
        """The texts and strokes of the legend."""
        keys: list[tuple[str, Stroke]] = []
        if self.compared is not None:
            found = self.compared
            right = found.adjacency_true_positives - found.n_reversed
            counts = {"right": right, "missing": found.n_missing, "extra": found.n_extra}
            counts["reversed"] = found.n_reversed
            keys += [(f"{count} {self._word(kind)}", palette.ARCS[kind]) for kind, count in counts.items()]
        if self.strengths is not None:
            plain_stroke = palette.ARCS["plain"]
            keys += [(f"strength {s:g}", _weighted(plain_stroke, s)) for s in (0.25, 0.5, 1.0)]
        return keys

    def title(self) -> str:
        return repr(self.graph).split(":")[1].strip(" >") if len(self.graph) else "a graph without nodes"


def _weighted(stroke: Stroke, strength: float) -> Stroke:
    """The stroke, wider for a stronger arc, and darker if it can be."""
    palest = palette.PALEST.get(stroke.colour, stroke.colour)
    colour = palette.mixed(palest, stroke.colour, strength)
    return Stroke(colour, SMALLEST_LINE + (LARGEST_LINE - SMALLEST_LINE) * strength, stroke.dash)


def _legend(
    keys: list[tuple[str, Stroke]], width: float, height: float
) -> tuple[tuple[Key, ...], float, float]:
    """The legend's keys in rows below the graph, and the size of the whole with them."""
    placed: list[Key] = []
    wide = max([KEY_LINE + 8 + text_width(text, KEY_FONT) + 18 for text, _ in keys], default=0.0)
    width = max(width, 2 * MARGIN + wide)
    x, y = MARGIN, height + KEY_HEIGHT / 2 - 2
    for text, stroke in keys:
        if x + wide > width - MARGIN + 18 and x > MARGIN:
            x, y = MARGIN, y + KEY_HEIGHT
        placed.append(Key(text, stroke, x, y))
        x += wide
    if placed:
        height = placed[-1].y + KEY_HEIGHT / 2 + MARGIN / 2
    return tuple(placed), width, height
