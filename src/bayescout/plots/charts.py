"""Lines, histograms, box plots and arc strengths on matplotlib axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from bayescout.errors import DataError
from bayescout.plots import palette
from bayescout.plots.strengths import Strengths, one_way
from bayescout.plots.style import DPI, TITLE_STYLE
from bayescout.plots.text import one_line, shortened, text_width, wrapped
from bayescout.plots.values import Boxes, Histograms, Lines, Panel, Reference, Series

PANEL_WIDTH, PANEL_HEIGHT = 4.6, 3.3
TITLE_SIZE, LEGEND_SIZE = 13.0, 9.0  # a little larger than drawn: bold letters are wider
LEGEND_HANDLE = 50.0
"""Width of the line before a legend label, with the gaps, in points."""
MAX_COLUMNS = 3
MAX_BINS = 40
MAX_ARCS = 40
"""Most arcs in the chart of strengths, which shows the strongest."""
X_TICKS = 5
"""Most steps between ticks along a panel: more numbers of six digits would overlap."""
REFERENCE_DASHES: tuple[tuple[float, ...], ...] = ((4, 2), (1, 1.5), (6, 2, 1, 2), (9, 3))


# ---- common parts


def new_figure(width: float, height: float, layout: Literal["constrained"] | None = None) -> Any:
    """An empty figure of a size in inches."""
    from bayescout.plots.shown import ShownFigure

    return ShownFigure(figsize=(width, height), dpi=DPI, layout=layout, facecolor=palette.PAPER)


def panels(count: int, title: str) -> tuple[Any, list[Any]]:
    """A figure with this many axes, up to three side by side."""
    columns = max(1, min(MAX_COLUMNS, count))
    rows = max(1, -(-count // columns))
    figure = new_figure(PANEL_WIDTH * columns + 0.3, PANEL_HEIGHT * rows + 0.4, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.09)
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for spare in axes[max(1, count) :]:
        spare.remove()
    entitled(figure, title)
    return figure, axes[: max(1, count)]


def entitled(figure: Any, title: str) -> None:
    """Set the title of a figure, in as many lines as its width requires."""
    if title:
        room = 72 * figure.get_figwidth() - 24
        figure.suptitle("\n".join(wrapped(one_line(title), TITLE_SIZE, room)), **TITLE_STYLE)


def numbers(axis: Any) -> None:
    """Format ticks as whole numbers, as in `-106,084`, without an offset for the reader to add."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    if axis.axis_name == "x" and axis.get_scale() == "linear":
        axis.set_major_locator(MaxNLocator(nbins=X_TICKS, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.7g}".replace("-", "\N{MINUS SIGN}")))


def empty(axes: Any) -> None:
    """Write that there is nothing to show, instead of empty axes with ticks."""
    axes.set(xticks=[], yticks=[])
    axes.text(0.5, 0.5, "no values", transform=axes.transAxes, ha="center", va="center", color=palette.FAINT)


def finite(values: Sequence[float], where: str) -> list[float]:
    """The values as floats; one that is not a finite number is refused."""
    found = [float(value) for value in values]
    for value in found:
        if not math.isfinite(value):
            raise DataError(f"{where} has the value {value}, which cannot be drawn; leave it out")
    return found


def lettered(axes: Any, title: str = "", x_label: str = "", y_label: str = "") -> None:
    axes.set_title(one_line(title))
    axes.set_xlabel(one_line(x_label))
    axes.set_ylabel(one_line(y_label))


def references(axes: Any, lines: Sequence[Reference], upright: bool) -> None:
    """Draw labelled lines across the axes, each with dashes of its own."""
    draw = axes.axvline if upright else axes.axhline
    for k, (label, value) in enumerate(lines):
        finite([value], f"the reference {label!r}")
        dashes = (0, REFERENCE_DASHES[k % len(REFERENCE_DASHES)])
        draw(value, color=palette.BLACK, linewidth=1.2, linestyle=dashes, label=one_line(label), zorder=3)


def legend(axes: Any, count: int) -> None:
    """Put the legend below the axes, where it hides nothing, in as many columns as fit."""
    if count:
        labels = axes.get_legend_handles_labels()[1]
        widest = max(text_width(label, LEGEND_SIZE) for label in labels) + LEGEND_HANDLE
        room = 72 * PANEL_WIDTH - 40
        columns = max(1, min(3, count, int(room // widest)))
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=columns, handlelength=3.2)


# ---- lines


def draw_lines(figure: Lines) -> Any:
    """Draw every panel with its series, bands and references."""
    drawn, axes = panels(len(figure.panels), figure.title)
    for panel, one in zip(figure.panels, axes, strict=False):
        _draw_panel(figure, panel, one)
    if not figure.panels:
        empty(axes[0])
    return drawn


def _draw_panel(figure: Lines, panel: Panel, axes: Any) -> None:
    lettered(axes, panel.title, figure.x_label, figure.y_label)
    bold = 0
    least = math.inf
    for series in panel.series:
        xs = finite(series.x, f"series {series.label!r} of figure {figure.name!r}")
        ys = finite(series.y, f"series {series.label!r} of figure {figure.name!r}")
        least = min([least, *xs])
        if series.faint:
            axes.plot(xs, ys, color=palette.FAINT, linewidth=0.7, alpha=0.55, zorder=1.5)
        elif xs:
            _draw_series(series, xs, ys, axes, bold)
            bold += 1
    if least is math.inf:
        empty(axes)
        return
    references(axes, panel.references, upright=False)
    numbers(axes.yaxis)
    numbers(axes.xaxis)
    if figure.log_x:
        _logarithmic(axes, sorted({float(x) for series in panel.series for x in series.x}))
    legend(axes, bold + len(panel.references))


def _logarithmic(axes: Any, values: list[float]) -> None:
    """Make the x axis logarithmic, with a tick at every value if they are few and far enough apart."""
    from matplotlib.ticker import LogLocator, NullFormatter

    if values[0] > 0:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        if len(values) <= 7 and all(b >= 1.5 * a for a, b in pairwise(values)):
            axes.set_xticks(values)
    else:
        # Zero has no logarithm; near it the scale is linear, so that the point is not lost.
        axes.set_xscale("symlog", linthresh=1)
    axes.xaxis.set_minor_formatter(NullFormatter())
    numbers(axes.xaxis)


def _draw_series(series: Series, xs: list[float], ys: list[float], axes: Any, k: int) -> None:
    colour, marker = palette.SERIES[k % len(palette.SERIES)], palette.MARKERS[k % len(palette.MARKERS)]
    axes.plot(
        xs, ys, color=colour, linewidth=1.8, linestyle=_dashed(k), marker=marker, markersize=4.5,
        markevery=max(1, len(xs) // 12), label=one_line(series.label), zorder=2.5,
    )  # fmt: skip
    if series.low is not None and series.high is not None:
        where = f"the band of series {series.label!r}"
        low, high = finite(series.low, where), finite(series.high, where)
        axes.fill_between(xs, low, high, color=colour, alpha=0.16, linewidth=0, zorder=1.2)


def _dashed(k: int) -> Any:
    dashes = palette.DASHES[k % len(palette.DASHES)]
    return (0, dashes) if dashes else "solid"


# ---- histograms


def draw_histograms(figure: Histograms) -> Any:
    """Draw one panel per set of values; whole numbers over a short range get one bar each."""
    drawn, axes = panels(len(figure.panels), figure.title)
    for k, ((label, values), one) in enumerate(zip(figure.panels, axes, strict=False)):
        found = finite(values, f"panel {label!r} of figure {figure.name!r}")
        lettered(one, label, figure.x_label, "count")
        if found:
            colour = palette.SERIES[k % len(palette.SERIES)]
            shade = palette.mixed(colour, palette.PAPER, 0.45)
            one.hist(found, bins=bin_edges(found), color=shade, edgecolor=colour, linewidth=0.9)
        else:
            empty(one)
            continue
        references(one, figure.references, upright=True)
        one.yaxis.get_major_locator().set_params(integer=True)
        one.locator_params(axis="x", nbins=5)
        one.grid(axis="x", visible=False)
        numbers(one.xaxis)
        legend(one, len(figure.references))
    if not figure.panels:
        empty(axes[0])
    return drawn


def bin_edges(values: list[float]) -> list[float]:
    """The edges of the bars: one bar per whole number over a short range, otherwise NumPy's rule."""
    low, high = min(values), max(values)
    if all(value.is_integer() for value in values) and high - low < MAX_BINS:
        return [low - 0.5 + k for k in range(int(high - low) + 2)]
    if not high > low:
        margin = max(abs(low) * 1e-3, 0.5)
        return [low - margin, low + margin]
    edges = np.histogram_bin_edges(values, "auto")
    if len(edges) - 1 > MAX_BINS:
        edges = np.linspace(low, high, MAX_BINS + 1)
    found = [float(edge) for edge in edges]
    return found if all(a < b for a, b in pairwise(found)) else [low, math.nextafter(high, math.inf)]


# ---- box plots


def draw_boxes(figure: Boxes) -> Any:
    """Draw quartiles with a line at the median, whiskers to 1.5 times their distance, the rest as points."""
    labels = [one_line(label) for label, _ in figure.groups]
    values = [finite(own, f"group {label!r} of figure {figure.name!r}") for label, own in figure.groups]
    turned = sum(len(label) for label in labels) > 11 * max(5, len(labels)) or len(labels) > 8
    drawn = new_figure(max(PANEL_WIDTH, 0.85 * len(labels) + 1.2), PANEL_HEIGHT + 0.5, layout="constrained")
    drawn.get_layout_engine().set(w_pad=0.1, h_pad=0.09)
    axes = drawn.subplots()
    lettered(axes, y_label=figure.y_label)
    entitled(drawn, figure.title)
    if any(values):
        _draw_groups(axes, values)
    else:
        empty(axes)
    names = [label if own else f"{label} (none)" for label, own in zip(labels, values, strict=True)]
    axes.set_xticks(range(1, len(labels) + 1), [shortened(name, 40) for name in names])
    axes.set_xlim(0.4, max(1, len(labels)) + 0.6)
    if turned:
        axes.tick_params(axis="x", rotation=35)
        for tick in axes.get_xticklabels():
            tick.set(ha="right", rotation_mode="anchor")
    references(axes, figure.references, upright=False)
    axes.grid(axis="x", visible=False)
    numbers(axes.yaxis)
    if figure.references:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, handlelength=3.2)
    return drawn


def _draw_groups(axes: Any, values: list[list[float]]) -> None:
    found = axes.boxplot(
        values, widths=0.55, patch_artist=True,
        medianprops={"color": palette.INK, "linewidth": 2.0},
        whiskerprops={"color": palette.LINE}, capprops={"color": palette.LINE},
        flierprops={"markersize": 3.5, "markeredgecolor": palette.LINE, "markerfacecolor": "none"},
    )  # fmt: skip
    for k, box in enumerate(found["boxes"]):
        colour = palette.SERIES[k % len(palette.SERIES)]
        box.set(facecolor=palette.mixed(colour, palette.PAPER, 0.6), edgecolor=colour, linewidth=1.2)


# ---- arc strengths


def draw_strengths(strengths: Strengths, threshold: float | None, title: str) -> Any:
    """Draw one bar per arc, the strongest first, and a point for its direction if known."""
    strongest = list(one_way(strengths).items())[:MAX_ARCS]
    drawn = new_figure(6.2, 1.1 + 0.24 * max(3, len(strongest)), layout="constrained")
    drawn.get_layout_engine().set(w_pad=0.1, h_pad=0.09)
    axes = drawn.subplots()
    lettered(axes, title, "share of the networks")
    places = range(len(strongest))
    bars = palette.mixed(palette.BLUE, palette.PAPER, 0.55)
    axes.barh(places, [own[0] for _, own in strongest], color=bars, edgecolor=palette.BLUE, label="strength")
    known = [(own[1], k) for k, (_, own) in enumerate(strongest) if own[1] is not None]
    if known:
        shares, rows = zip(*known, strict=True)
        axes.plot(shares, rows, "D", color=palette.VERMILLION, markersize=4.5, label="direction")
    names = [f"{shortened(one_line(a))} → {shortened(one_line(b))}" for (a, b), _ in strongest]
    axes.set_yticks(places, names)
    axes.set_ylim(len(strongest) - 0.4, -0.6)
    axes.set_xlim(0, 1.02)
    axes.grid(axis="y", visible=False)
    if threshold is not None:
        references(axes, [(f"threshold {threshold:.2f}", threshold)], upright=True)
    if strongest:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.6 / (0.24 * max(3, len(strongest)))), ncols=3)
    else:
        empty(axes)
    return drawn


# ---- tornado


def draw_tornado(rows: Sequence[tuple[str, float, float]], centre: float, title: str, x_label: str) -> Any:
    """Draw one bar per (name, low, high), the first on top, with a line at the value they all start from.

    The part towards the low end has another colour than that towards the high end.
    """
    shown = rows[:MAX_ARCS]
    ends = [finite((low, high), f"the bar {name!r}") for name, low, high in shown]
    drawn = new_figure(7.0, 1.2 + 0.26 * max(3, len(shown)), layout="constrained")
    drawn.get_layout_engine().set(w_pad=0.1, h_pad=0.09)
    axes = drawn.subplots()
    lettered(axes, x_label=x_label)
    entitled(drawn, title)
    places = range(len(shown))
    for label, end, colour in (("parameter down", 0, palette.ORANGE), ("parameter up", 1, palette.BLUE)):
        widths = [pair[end] - centre for pair in ends]
        shade = palette.mixed(colour, palette.PAPER, 0.35)
        axes.barh(places, widths, left=centre, color=shade, edgecolor=colour, linewidth=0.8, label=label)
    axes.axvline(centre, color=palette.BLACK, linewidth=1.2, zorder=3)
    axes.set_yticks(places, [shortened(one_line(name), 48) for name, *_ in shown])
    axes.set_ylim(max(1, len(shown)) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    if shown:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2)
    else:
        empty(axes)
    return drawn
