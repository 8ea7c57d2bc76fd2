"""Write a drawing as SVG text: self-contained, safe for any label, and usable by a page's script.

Every node is a `<g class="node" data-node data-index>` and every arc a `<g class="arc KIND" data-parent
data-child data-source data-target>`, each with a `<title>` that browsers show on hover. Index, source and
target are positions, which are unique even if labels look alike. An arc has a wide transparent line on top,
which makes it easy to point at.
"""

from __future__ import annotations

from math import hypot
from xml.sax.saxutils import escape, quoteattr

from bayescout.plots import palette
from bayescout.plots.drawing import KEY_FONT, KEY_LINE, Drawing, DrawnArc, DrawnNode, Key
from bayescout.plots.layout import BOX_HEIGHT, FONT_SIZE, Point
from bayescout.plots.palette import Stroke
from bayescout.plots.tables import CELL_GAP, ROW_HEIGHT, TABLE_FONT
from bayescout.plots.text import FONT, one_line

HEAD_LENGTH, HEAD_WIDTH = 8.0, 3.6


def to_svg(drawing: Drawing) -> str:
    """The SVG text of a drawing; the same drawing gives the same text."""
    width, height = _n(drawing.width), _n(drawing.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="bayescout-graph" role="img" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" font-family={quoteattr(FONT)}>',
        f"<title>{escape(drawing.title)}</title>",
        f'<rect class="paper" width="{width}" height="{height}" fill="{palette.PAPER}"/>',
        '<g class="arcs">',
        *(_arc(arc, drawing) for arc in drawing.arcs),
        '</g><g class="nodes">',
        *(_node(node) for node in drawing.nodes),
        "</g>",
    ]
    if drawing.legend:
        parts += ['<g class="legend">', *(_key(key) for key in drawing.legend), "</g>"]
    return "\n".join([*parts, "</svg>\n"])


def _n(number: float) -> str:
    """A coordinate with at most two decimals."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _xy(point: Point) -> str:
    return f"{_n(point[0])},{_n(point[1])}"


# ---- arcs


def arrow(points: tuple[Point, ...], width: float) -> tuple[tuple[Point, ...], tuple[Point, ...]]:
    """A route shortened at its end, and the triangle of its arrowhead there, larger for a wider line.

    Routes of a layout arrive straight down or up; others have their head along the way that they arrive.
    """
    (x, y), before = points[-1], points[-2]
    length = HEAD_LENGTH + max(0.0, width - 1.3) * 1.5
    half = HEAD_WIDTH + max(0.0, width - 1.3) * 0.9
    far = hypot(x - before[0], y - before[1])
    dx, dy = ((before[0] - x) / far, (before[1] - y) / far) if far else (0.0, -1.0)
    base_x, base_y = x + dx * length, y + dy * length
    side_x, side_y = (-half * dy, half * dx) if dy > 0 else (half * dy, -half * dx)
    end = (x + dx * (length - 1.0), y + dy * (length - 1.0))
    return (*points[:-1], end), (
        (x, y),
        (base_x + side_x, base_y + side_y),
        (base_x - side_x, base_y - side_y),
    )


def _path(points: tuple[Point, ...]) -> str:
    curves = zip(points[1::3], points[2::3], points[3::3], strict=True)
    return f"M{_xy(points[0])}" + "".join(f"C{_xy(a)} {_xy(b)} {_xy(c)}" for a, b, c in curves)


def _strokes(stroke: Stroke) -> str:
    dash = f' stroke-dasharray="{" ".join(map(_n, stroke.dash))}"' if stroke.dash else ""
    return f'fill="none" stroke="{stroke.colour}" stroke-width="{_n(stroke.width)}"{dash}'


def _arc(arc: DrawnArc, drawing: Drawing) -> str:
    parent, child = (quoteattr(one_line(drawing.nodes[end].label)) for end in (arc.source, arc.target))
    line, head = arrow(arc.points, arc.stroke.width) if arc.directed else (arc.points, ())
    names = f"arc {arc.kind}{'' if arc.directed else ' undirected'}"
    shapes = f'<path class="line" d="{_path(line)}" {_strokes(arc.stroke)}/>'
    if head:
        corners = " ".join(map(_xy, head))
        shapes += f'<polygon class="head" points="{corners}" fill="{arc.stroke.colour}"/>'
    return (
        f'<g class="{names}" data-parent={parent} data-child={child} '
        f'data-source="{arc.source}" data-target="{arc.target}"><title>{escape(arc.tooltip)}</title>{shapes}'
        f'<path class="hit" d="{_path(arc.points)}" fill="none" stroke="transparent" stroke-width="10" '
        f'pointer-events="stroke"/></g>'
    )


# ---- nodes


def _node(node: DrawnNode) -> str:
    box = node.box
    left, top = box.x - box.width / 2, box.y - box.height / 2
    middle = top + BOX_HEIGHT / 2 if node.table else box.y
    text = _text(box.x, middle, node.text, FONT_SIZE, "middle")
    table = _table(node, left, top) if node.table else ""
    return (
        f'<g class="node" data-node={quoteattr(one_line(node.label))} data-index="{node.index}">'
        f"<title>{escape(node.tooltip)}</title>"
        f'<rect x="{_n(left)}" y="{_n(top)}" width="{_n(box.width)}" height="{_n(box.height)}" rx="5" '
        f'fill="{palette.BOX_FILL}" stroke="{palette.BOX_EDGE}"/>{text}{table}</g>'
    )


def _text(x: float, y: float, text: str, size: float, anchor: str) -> str:
    """One line of text, with capitals centred on y in any viewer, whatever its support for baselines."""
    return (
        f'<text x="{_n(x)}" y="{_n(y + size * 0.36)}" font-size="{_n(size)}" text-anchor="{anchor}" '
        f'fill="{palette.INK}">{escape(text)}</text>'
    )


def _table(node: DrawnNode, left: float, top: float) -> str:
    return "".join(
        f'<path d="M{_n(left)},{_n(y)}h{_n(node.box.width)}" stroke="{palette.BOX_EDGE}" stroke-width="0.6"/>'
        for y in (top + BOX_HEIGHT, top + BOX_HEIGHT + ROW_HEIGHT + 2)
    ) + "".join(_text(x, y, text, TABLE_FONT, anchor) for x, y, text, anchor in table_cells(node))


def table_cells(node: DrawnNode) -> list[tuple[float, float, str, str]]:
    """The (x, y, text, anchor) of every cell of a node's table, y at the middle of its line."""
    table = node.table
    if table is None:
        return []
    widths = table.widths
    wide = sum(widths) + CELL_GAP * max(0, len(widths) - 1)
    top = node.box.y - node.box.height / 2 + BOX_HEIGHT + 1
    cells = []
    for k, line in enumerate((table.columns, *table.rows)):
        x = node.box.x - wide / 2
        y = top + (k + 0.5) * ROW_HEIGHT + (2 if k else 0)
        for column, (text, width) in enumerate(zip(line, widths, strict=True)):
            left = column < table.leading
            cells.append((x if left else x + width, y, text, "start" if left else "end"))
            x += width + CELL_GAP
    if table.more:
        cells.append((node.box.x, top + (table.lines - 0.5) * ROW_HEIGHT + 2, table.more_text, "middle"))
    return cells


def _key(key: Key) -> str:
    line = f'<path d="M{_n(key.x)},{_n(key.y)}h{_n(KEY_LINE)}" {_strokes(key.stroke)}/>'
    return line + _text(key.x + KEY_LINE + 8, key.y, key.text, KEY_FONT, "start")
