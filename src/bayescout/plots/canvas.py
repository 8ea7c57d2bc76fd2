"""Show a drawing on matplotlib axes: the same value that `to_svg` writes."""

from __future__ import annotations

from typing import Any

from bayescout.plots import palette
from bayescout.plots.drawing import KEY_FONT, KEY_LINE, Drawing, DrawnArc, DrawnNode, Key
from bayescout.plots.layout import BOX_HEIGHT, FONT_SIZE, Point
from bayescout.plots.palette import Stroke
from bayescout.plots.svg import arrow, table_cells
from bayescout.plots.tables import ROW_HEIGHT, TABLE_FONT

ANCHORS = {"start": "left", "middle": "center", "end": "right"}


class Canvas:
    """Axes in the units of a drawing; `points` is the size of one unit on paper."""

    def __init__(self, axes: Any, drawing: Drawing, points: float) -> None:
        self.axes, self.drawing, self.points = axes, drawing, points

    def paint(self) -> None:
        self.axes.set_axis_off()
        self.axes.set(xticks=[], yticks=[])
        self.axes.set_xlim(0, self.drawing.width)
        self.axes.set_ylim(self.drawing.height, 0)
        for arc in self.drawing.arcs:
            self._arc(arc)
        for node in self.drawing.nodes:
            self._node(node)
        for key in self.drawing.legend:
            self._key(key)

    def _arc(self, arc: DrawnArc) -> None:
        from matplotlib.patches import Polygon

        line, head = arrow(arc.points, arc.stroke.width) if arc.directed else (arc.points, ())
        self._curve(line, arc.stroke)
        if head:
            self.axes.add_patch(Polygon(head, facecolor=arc.stroke.colour, edgecolor="none"))

    def _curve(self, points: tuple[Point, ...], stroke: Stroke) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        codes = [Path.MOVETO] + [Path.CURVE4] * (len(points) - 1)
        self._stroked(PathPatch(Path(points, codes), fill=False, capstyle="butt"), stroke)

    def _stroked(self, patch: Any, stroke: Stroke) -> None:
        """Add a patch with its stroke; matplotlib's dashes are in line widths, ours in units of length."""
        patch.set_edgecolor(stroke.colour)
        patch.set_linewidth(stroke.width * self.points)
        if stroke.dash:
            patch.set_linestyle((0, tuple(length / stroke.width for length in stroke.dash)))
        self.axes.add_patch(patch)

    def _node(self, node: DrawnNode) -> None:
        from matplotlib.patches import FancyBboxPatch

        box = node.box
        left, top = box.x - box.width / 2, box.y - box.height / 2
        rounded = FancyBboxPatch(
            (left, top), box.width, box.height, boxstyle="round,pad=0,rounding_size=5",
            facecolor=palette.BOX_FILL, edgecolor=palette.BOX_EDGE, linewidth=self.points,
        )  # fmt: skip
        self.axes.add_patch(rounded)
        middle = top + BOX_HEIGHT / 2 if node.table else box.y
        self._text(box.x, middle, node.text, FONT_SIZE, "middle")
        for x, y, text, anchor in table_cells(node):
            self._text(x, y, text, TABLE_FONT, anchor)
        if node.table:
            for y in (top + BOX_HEIGHT, top + BOX_HEIGHT + ROW_HEIGHT + 2):
                rule = Stroke(palette.BOX_EDGE, 0.6)
                self._curve(((left, y), (left, y), (left + box.width, y), (left + box.width, y)), rule)

    def _text(self, x: float, y: float, text: str, size: float, anchor: str) -> None:
        self.axes.text(
            x, y + size * 0.36, text, fontsize=size * self.points, ha=ANCHORS[anchor], va="baseline",
            color=palette.INK,
        )  # fmt: skip

    def _key(self, key: Key) -> None:
        end = key.x + KEY_LINE
        self._curve(((key.x, key.y), (key.x, key.y), (end, key.y), (end, key.y)), key.stroke)
        self._text(key.x + KEY_LINE + 8, key.y, key.text, KEY_FONT, "start")
