"""The drawing that a page shows, as the value from which SVG, PNG and PDF are written."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bayescout.errors import SettingError
from bayescout.plots import palette
from bayescout.plots.drawing import Drawing, DrawnArc, DrawnNode, as_placed
from bayescout.plots.layout import Box
from bayescout.plots.palette import Stroke
from bayescout.plots.text import one_line, shortened

FAINT = 0.12
"""The share of its colour that an arc below the threshold of strength keeps."""

KINDS = {"same": "plain", "extra": "extra", "reversed": "reversed", "missing": "missing"}


def pictured(seen: Mapping[str, Any], names: Sequence[str]) -> Drawing:
    """A drawing from what a page sends: {boxes, lines, legend}, the boxes by name.

    boxes   {name: [x, y, width, height]}
    lines   [{a, b, kind, open, width, faint, points}], variables by name, points as x0, y0, x1, y1, ...
    legend  [[kind, text]]
    """
    try:
        boxes = [Box(*_finite(seen["boxes"][name], 4)) for name in names]
        place = {name: at for at, name in enumerate(names)}
        arcs = [_arc(one, place) for one in seen["lines"]]
        keys = [(one_line(text), palette.ARCS[KINDS[kind]]) for kind, text in seen.get("legend") or ()]
    except (LookupError, TypeError, ValueError) as error:
        raise SettingError(
            f"this is not a drawing of these variables ({type(error).__name__}: {error}); load the page anew"
        ) from None
    nodes = [
        DrawnNode(at, name, shortened(one_line(name)), one_line(name), box)
        for at, (name, box) in enumerate(zip(names, boxes, strict=True))
    ]
    return as_placed(nodes, arcs, keys, f"{len(nodes)} nodes, {len(arcs)} arcs")


def _finite(values: Any, count: int) -> list[float]:
    found = [float(value) for value in values]
    if len(found) != count or not all(map(math.isfinite, found)):
        raise ValueError(f"{count} finite numbers are needed")
    return found


def _arc(line: Mapping[str, Any], place: Mapping[str, int]) -> DrawnArc:
    flat = line["points"]
    if len(flat) < 8 or (len(flat) - 8) % 6:
        raise ValueError("a curve has 1 + 3k points")
    numbers = _finite(flat, len(flat))
    points = tuple(zip(numbers[::2], numbers[1::2], strict=True))
    kind, directed = KINDS[line["kind"]], not line.get("open")
    stroke = palette.ARCS[kind]
    colour = palette.mixed(palette.PAPER, stroke.colour, FAINT) if line.get("faint") else stroke.colour
    width = _finite([line.get("width") or stroke.width], 1)[0]
    words = f"{one_line(line['a'])} {'→' if directed else '—'} {one_line(line['b'])}"
    words += "" if kind == "plain" else f" ({kind})"
    return DrawnArc(
        place[line["a"]], place[line["b"]], kind, directed, Stroke(colour, width, stroke.dash), words, points
    )
