"""The steps of a search as a picture to step through: `<!-- replay: hill-climb -->` on a page.

The search is run when the site is built, on the rows of asia that the pages use, and the graph after each
step is put into the page. Variables stand in a circle, so that no line passes through another variable.
Without scripts the page shows the last step.
"""

from __future__ import annotations

import functools
import html
import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import bayescout as bs

MARK = re.compile(r"<!-- replay: (\S+) -->")
CIRCLE = ("asia", "tub", "either", "lung", "smoke", "bronc", "dysp", "xray")
"""The variables of asia, so that most of its arcs are between neighbours."""

WIDTH, HEIGHT, CHART = 560, 300, 54
RADII, BOX = (215, 118), (66, 26)
BOW = 0.09
"""How far a line bends, as a share of its length: the two directions of one pair do not cover each other."""

MOST = 60
"""The most steps of a replay; of more, those at equal distances."""

STEPS = 150
"""Where searches over populations are stopped."""

TESTS = ("pc", "cpc")
"""Searches that have no graph before their last step, but edges that are left."""

CLASSES = ("ges", "imap", "imap-pruned", *TESTS)
"""Searches that go from one equivalence class to another: arcs that may be turned have no head."""

Line = tuple[str, str, bool]
"""Two variables, and whether the line between them has a head."""


@dataclass(frozen=True)
class Frame:
    """What a search has after a step: its score in nats, None before it has one, and its lines."""

    step: int
    score: float | None
    lines: frozenset[Line]


@functools.cache
def rows() -> Any:
    return bs.load_network("asia").sample(1000, seed=1)


def frames(search: str) -> list[Frame]:
    """The steps of a search that change the graph, with its first and its last; at most `MOST`."""
    found: list[Frame] = []
    for frame in steps(search):
        if len(found) > 1 and found[-1].lines == found[-2].lines:
            found.pop()
        found.append(frame)
    if len(found) <= MOST:
        return found
    return [found[round(i * (len(found) - 1) / (MOST - 1))] for i in range(MOST)]


def steps(search: str) -> Iterator[Frame]:
    known = bs.Knowledge(order=rows().names) if search == "k2" else None
    session = bs.Session(rows(), search, "bic", known, seed=1, max_steps=STEPS)
    for seen in session:
        if search in TESTS and not seen.stop_reason:
            names = session._task.table.names
            left = [(names[a], names[b]) for a, b in session._run.state.edges]
            yield Frame(seen.step, None, lines_of([], left))
        elif search in CLASSES:
            found = seen.dag.cpdag()
            yield Frame(seen.step, seen.score, lines_of(found.arcs(), found.edges()))
        else:
            yield Frame(seen.step, seen.score, lines_of(seen.dag.arcs(), []))


def lines_of(arcs: Iterable[tuple[Any, Any]], edges: Iterable[tuple[Any, Any]]) -> frozenset[Line]:
    return frozenset(
        [(str(a), str(b), True) for a, b in arcs]
        + [(*sorted((str(a), str(b)), key=CIRCLE.index), False) for a, b in edges]
    )


# ---- the picture


def place(name: str) -> tuple[float, float]:
    turn = 2 * math.pi * CIRCLE.index(name) / len(CIRCLE) - math.pi / 2
    return WIDTH / 2 + RADII[0] * math.cos(turn), HEIGHT / 2 + RADII[1] * math.sin(turn)


def path(line: Line) -> str:
    """A bent line from the edge of one box to that of the other."""
    (x1, y1), (x2, y2) = place(line[0]), place(line[1])
    bow = BOW if line[2] else 0.0
    middle = (x1 + x2) / 2 - bow * (y2 - y1), (y1 + y2) / 2 + bow * (x2 - x1)
    begin, end = leaving((x1, y1), middle, 0), leaving((x2, y2), middle, 4 if line[2] else 0)
    return f"M{begin[0]:.1f} {begin[1]:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {end[0]:.1f} {end[1]:.1f}"


def leaving(centre: tuple[float, float], towards: tuple[float, float], gap: float) -> tuple[float, float]:
    """Where a straight line from the centre of a box leaves it, and a little further."""
    dx, dy = towards[0] - centre[0], towards[1] - centre[1]
    share = min(BOX[i] / 2 / abs(d) if d else math.inf for i, d in enumerate((dx, dy)))
    share += gap / math.hypot(dx, dy)
    return centre[0] + share * dx, centre[1] + share * dy


def box(name: str) -> str:
    x, y = place(name)
    left, top = x - BOX[0] / 2, y - BOX[1] / 2
    return (
        f'<g><rect x="{left:.1f}" y="{top:.1f}" width="{BOX[0]}" height="{BOX[1]}" rx="6"/>'
        f'<text x="{x:.1f}" y="{y + 4.5:.1f}">{html.escape(name)}</text></g>'
    )


def picture(search: str, shown: list[Frame]) -> str:
    """The replay as markup: a drawing with every line of any step, and the steps as JSON for the script."""
    lines = sorted(set().union(*(frame.lines for frame in shown)))
    last = shown[-1]
    shapes = [("there" if line in last.lines else "away") + (" arc" if line[2] else "") for line in lines]
    drawn = "".join(
        f'<path class="{shape}" d="{path(line)}"/>' for shape, line in zip(shapes, lines, strict=True)
    )
    boxes = "".join(map(box, CIRCLE))
    told = {
        "lines": [f"{a} {'→' if arc else '–'} {b}" for a, b, arc in lines],
        "frames": [
            [frame.step, frame.score, [i for i, line in enumerate(lines) if line in frame.lines]]
            for frame in shown
        ],
    }
    data = json.dumps(told, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    name = html.escape(search)
    return f"""<div class="replay" role="group" aria-label="Replay of {name}">
<div class="replay-bar"><b>{name}</b> <span>1,000 rows of asia, BIC</span>
<button type="button" data-go="first" aria-label="First step">|◀</button>
<button type="button" data-go="back" aria-label="One step back">◀</button>
<button type="button" data-go="play" aria-label="Play">▶ play</button>
<button type="button" data-go="on" aria-label="One step on">▶</button>
<input type="range" min="0" max="{len(shown) - 1}" value="{len(shown) - 1}" aria-label="Step">
</div>
<svg viewBox="0 0 {WIDTH} {HEIGHT + CHART}" role="img" aria-label="The graph after a step of {name}">
<g class="replay-lines">{drawn}</g><g class="replay-heads"></g>{boxes}
<g class="replay-chart" transform="translate(0 {HEIGHT})"></g>
</svg>
<p class="replay-told" aria-live="polite">Step {last.step}.</p>
<script type="application/json">{data}</script>
</div>
"""


def fill(app: Any, docname: str, source: list[str]) -> None:
    source[0] = MARK.sub(lambda mark: f"```{{raw}} html\n{picture(mark[1], frames(mark[1]))}```\n", source[0])


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", fill)
    app.add_js_file("replay.js", loading_method="defer")
    app.add_css_file("replay.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
