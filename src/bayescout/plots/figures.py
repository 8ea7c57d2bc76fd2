"""Matplotlib figures: networks, traces, strengths, and every figure of a study.

Nothing here touches pyplot or the user's settings; functions return a matplotlib `Figure`, which a
notebook shows by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from bayescout.checks import as_plain
from bayescout.errors import GraphError, SettingError
from bayescout.graph.dag import Dag
from bayescout.graph.pdag import Pdag
from bayescout.plots.canvas import Canvas
from bayescout.plots.charts import LEAST_WIDTH, draw_lines, draw_strengths, draw_tornado, new_figure
from bayescout.plots.distributions import draw_boxes, draw_histograms, draw_points
from bayescout.plots.drawing import Drawing, draw_graph
from bayescout.plots.strengths import as_strengths
from bayescout.plots.style import TITLE_STYLE, house_style, save_files
from bayescout.plots.tables import NodeTable, cpt_table
from bayescout.plots.text import one_line, text_width, wrapped
from bayescout.plots.values import Boxes, Drawings, Drawn, Figure, Histograms, Lines, Panel, Points, Series

POINTS = 0.75
"""Points per unit of a drawing: 96 units per inch, as in browsers."""
LARGEST = 60.0
"""Largest width or height of a drawing in inches; a larger one is scaled down."""
MOST_DRAWN = 5000
"""The most nodes of a drawing; with 6,000 it took half a minute of processor time."""
ROW_WIDTH = 16.0
CAPTION_FONT, LEAST_CAPTION = 9.5, 2.4
TITLE = 0.45
TRACE_AXES = {"step": "step", "evaluations": "families scored", "seconds": "seconds"}


# ---- networks


def as_drawing(source: Any, truth: Any = None, strengths: Any = None, cpts: bool = False) -> Drawing:
    """The drawing of a graph, a network or a result."""
    graph = _graph(source, "what is drawn")
    real = None if truth is None else _graph(truth, "the truth")
    if len(graph.nodes) > MOST_DRAWN:
        raise GraphError(
            f"{len(graph.nodes):,} nodes are too many for one drawing, the most is {MOST_DRAWN:,}: "
            f"result.open() shows a page around one node at a time"
        )
    tables = None
    if cpts:
        if not hasattr(source, "parameters"):
            raise SettingError("only a network with parameters has tables to draw; fit one first")
        tables = {node: cpt_table(source, node) for node in graph.nodes}
    return draw_graph(graph, real, strengths, tables)


def _graph(source: Any, role: str) -> Dag | Pdag:
    graph = source if isinstance(source, Dag | Pdag) else getattr(source, "dag", None)
    if isinstance(graph, Dag | Pdag):
        return graph
    raise GraphError(f"{role} must be a Dag, a Pdag, or have a `dag`; a {type(source).__name__} has none")


def plot_network(source: Any, truth: Any = None, strengths: Any = None, cpts: bool = False) -> Any:
    """Draw a Dag, a Pdag, a network or a result.

    truth      a graph to compare with: missing, extra and reversed arcs are marked and counted
    strengths  confidence in the arcs, as a bootstrap gives it: wider and darker lines
    cpts       print the conditional probabilities of a network in its boxes
    """
    return figure_of(as_drawing(source, truth, strengths, cpts))


def figure_of(drawing: Drawing) -> Any:
    """A drawing as a matplotlib figure of its own."""
    with house_style():
        points = _points([drawing])
        figure = new_figure(max(1.0, drawing.width * points / 72), max(0.5, drawing.height * points / 72))
        axes = figure.add_axes((0, 0, drawing.width * points / 72 / figure.get_figwidth(), 1))
        Canvas(axes, drawing, points).paint()
        return figure


def _points(drawings: Iterable[Drawing]) -> float:
    longest = max((max(drawing.width, drawing.height) for drawing in drawings), default=1.0)
    return min(POINTS, LARGEST * 72 / longest)


# ---- traces and strengths


def plot_trace(results: Any, x: str = "step", truth: float | None = None) -> Any:
    """Plot the best score so far of one or several searches against steps, families scored or seconds.

    Give several as a mapping of names to results, or as a sequence of results, named by their search; `truth`
    is a score drawn as a line across, such as that of the generating network.
    """
    if x not in TRACE_AXES:
        raise SettingError(f"x must be one of {', '.join(map(repr, TRACE_AXES))}, not {x!r}")
    named = _named(results)
    lines = tuple(
        Series(
            name,
            tuple(float(getattr(step, x)) for step in result.trace),
            tuple(float(step.best) for step in result.trace),
        )
        for name, result in named
    )
    scores = sorted({str(result.settings.score) for _, result in named})
    if truth is not None and (isinstance(truth, bool) or not isinstance(truth, int | float)):
        raise SettingError(
            f"the truth of a trace is a score, not a {type(truth).__name__}; give its score on the data"
        )
    references = () if truth is None else (("truth", float(truth)),)
    panel = Panel("", lines, references)
    return draw(Lines("trace", "Best score so far", TRACE_AXES[x], f"{' / '.join(scores)} (nats)", (panel,)))


def _named(results: Any) -> list[tuple[str, Any]]:
    if hasattr(results, "trace"):
        return [(results.settings.search, results)]
    pairs = list(results.items()) if hasattr(results, "items") else [(None, result) for result in results]
    for _, result in pairs:
        if not hasattr(result, "trace"):
            raise SettingError(
                f"a trace is drawn from results of learn(), not from a {type(result).__name__}"
            )
    searches = [result.settings.search for _, result in pairs]
    named = []
    for k, (name, result) in enumerate(pairs):
        own = searches[k] if searches.count(searches[k]) == 1 else f"{searches[k]}, seed {result.seed}"
        named.append((own if name is None else str(name), result))
    return named


def plot_strengths(strengths: Any, threshold: float | None = None, title: str = "Arc strength") -> Any:
    """Plot one bar per arc, for the strongest arcs of a bootstrap, with the share that has its direction."""
    found = as_strengths(strengths)
    least = None if threshold is None else as_plain(threshold)
    if threshold is not None and (least is None or not 0 <= least <= 1):
        raise SettingError(
            f"threshold is a share of resamples from 0 to 1, such as strengths.threshold(), not {threshold!r}"
        )
    with house_style():
        return draw_strengths(found, least, title)


def plot_tornado(rows: Any, centre: float, title: str = "", x_label: str = "") -> Any:
    """Plot how far each of several changes moves a value: (name, value when down, value when up)."""
    with house_style():
        return draw_tornado(list(rows), centre, title, x_label)


# ---- the figures of a study


def draw(figure: Figure) -> Any:
    """Draw a figure of a study as a matplotlib figure."""
    with house_style():
        if isinstance(figure, Lines):
            return draw_lines(figure)
        if isinstance(figure, Histograms):
            return draw_histograms(figure)
        if isinstance(figure, Boxes):
            return draw_boxes(figure)
        if isinstance(figure, Points):
            return draw_points(figure)
        if isinstance(figure, Drawings):
            return _draw_drawings(figure)
    raise SettingError(
        f"a {type(figure).__name__} is not a figure of a study: Lines, Histograms, Boxes, Points, Drawings"
    )


def plot_histogram(panels: Any, title: str = "", x_label: str = "", references: Any = ()) -> Any:
    """Plot histograms of several sets of values, from a mapping of names to values."""
    groups = tuple((str(name), tuple(values)) for name, values in panels.items())
    return draw(Histograms("histogram", title, x_label, groups, tuple(references)))


def plot_boxes(groups: Any, title: str = "", y_label: str = "", references: Any = ()) -> Any:
    """Plot boxes side by side, from a mapping of names to values."""
    named = tuple((str(name), tuple(values)) for name, values in groups.items())
    return draw(Boxes("boxes", title, y_label, named, tuple(references)))


class _Tile:
    """One graph of several: its drawing, its caption in lines, and the inches they take."""

    def __init__(self, graph: Drawn, drawing: Drawing, points: float) -> None:
        self.drawing, self.points = drawing, points
        self.own = (drawing.width * points / 72, drawing.height * points / 72)
        self.lines = wrapped(one_line(graph.caption), CAPTION_FONT, max(self.own[0], LEAST_CAPTION) * 72 - 18)
        words = max((text_width(line, CAPTION_FONT) / 72 + 0.3 for line in self.lines), default=0.0)
        self.width = max(self.own[0], words)
        self.above = (len(self.lines) * CAPTION_FONT * 1.3 + 6) / 72
        self.height = self.own[1] + self.above + 0.15

    def put(self, figure: Any, left: float, top: float) -> None:
        """Draw the tile with its upper left corner at (left, top), in inches from the figure's lower left."""
        width, height = figure.get_size_inches()
        under = top - self.above - self.own[1]
        axes = figure.add_axes((left / width, under / height, self.own[0] / width, self.own[1] / height))
        Canvas(axes, self.drawing, self.points).paint()
        for k, line in enumerate(self.lines):
            down = (k * 1.3 + 1) * CAPTION_FONT / 72
            figure.text((left + 0.13) / width, (top - down) / height, line, fontsize=CAPTION_FONT)


def _draw_drawings(figure: Drawings) -> Any:
    """Draw graphs in rows at one scale, each with its caption above, in the middle of the figure."""
    drawings = [_drawn(graph) for graph in figure.graphs]
    points = _points(drawings)
    rows: list[list[_Tile]] = [[]]
    for graph, drawing in zip(figure.graphs, drawings, strict=True):
        tile = _Tile(graph, drawing, points)
        if rows[-1] and sum(other.width for other in rows[-1]) + tile.width > ROW_WIDTH:
            rows.append([])
        rows[-1].append(tile)
    heights = [max((tile.height for tile in row), default=0.3) for row in rows]
    widest = max(sum(tile.width for tile in row) for row in rows)
    width = max(LEAST_WIDTH, widest)
    top = sum(heights)
    drawn = new_figure(width, top + TITLE)
    drawn.suptitle(one_line(figure.title), y=1 - 0.12 / (top + TITLE), va="top", **TITLE_STYLE)
    for row, height in zip(rows, heights, strict=True):
        left = (width - widest) / 2
        for tile in row:
            tile.put(drawn, left, top)
            left += tile.width
        top -= height
    return drawn


def _drawn(graph: Drawn) -> Drawing:
    tables = {
        node: NodeTable.of(table.columns, table.rows, leading=_leading(table.rows))
        for node, table in graph.tables
    }
    return draw_graph(graph.dag, graph.truth, tables=tables)


def _leading(rows: Any) -> int:
    """The number of first columns that hold text (parents' states); the rest are numbers, or dashes."""
    count = 0
    for column in zip(*rows, strict=True):
        if any(isinstance(cell, float) or cell is None for cell in column):
            break
        count += 1
    return count


def save(figure: Any, stem: str | PathLike[str]) -> tuple[Path, Path]:
    """Write a figure of a study, or of matplotlib, as `stem.svg` and `stem.png`; always the same bytes."""
    drawn = draw(figure) if isinstance(figure, Lines | Histograms | Boxes | Points | Drawings) else figure
    return save_files(drawn, Path(stem))
