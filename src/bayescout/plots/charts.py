"""Lines and arc strengths on matplotlib axes, and the parts that all charts share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

from bayescout.errors import DataError
from bayescout.plots import palette
from bayescout.plots.strengths import Strengths, one_way
from bayescout.plots.style import DPI, TITLE_STYLE
from bayescout.plots.text import one_line, shortened, text_width, wrapped
from bayescout.plots.values import Lines, Panel, Reference, Series

PANEL_WIDTH, PANEL_HEIGHT = 4.6, 3.3
NARROW_WIDTH = 3.4
"""Width of each of three panels side by side: a page scales a wider figure down, and its words with it."""
LEAST_WIDTH = 8.4
"""Least width of a figure of a study in inches: more than 800 pixels at 96 per inch."""
LABEL_GAP = 0.045
"""Least distance between the labels of thin lines, as a share of the height of the axes."""
SINGLE_RUNS = "run "
"""How labels of single runs begin; they share one entry of the legend."""
TITLE_SIZE, LEGEND_SIZE = 13.0, 9.0  # a little larger than drawn: bold letters are wider
LEGEND_HANDLE = 50.0
"""Width of the line before a legend label, with the gaps, in points."""
MAX_COLUMNS = 3
MAX_ARCS = 40
"""Most arcs in the chart of strengths, which shows the strongest."""
X_TICKS, NARROW_TICKS = 5, 3
"""Most steps between ticks along a panel: more numbers of six digits would overlap."""
REFERENCE_DASHES: tuple[tuple[float, ...], ...] = ((4, 2), (1, 1.5), (6, 2, 1, 2), (9, 3))


# ---- common parts


def new_figure(width: float, height: float, layout: Literal["constrained"] | None = None) -> Any:
    """An empty figure of a size in inches."""
    from bayescout.plots.shown import ShownFigure

    return ShownFigure(figsize=(width, height), dpi=DPI, layout=layout, facecolor=palette.PAPER)


def panels(count: int, title: str, share_x: bool = False, share_y: bool = False) -> tuple[Any, list[Any]]:
    """A figure with this many axes, up to three side by side, which may share their scales."""
    columns = 2 if count == 4 else max(1, min(MAX_COLUMNS, count))  # two and two, not three and one
    rows = max(1, -(-count // columns))
    each = NARROW_WIDTH if columns == MAX_COLUMNS else PANEL_WIDTH
    width = max(LEAST_WIDTH, each * columns + 0.3)
    figure = new_figure(width, PANEL_HEIGHT * rows + 0.8, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.09)
    found = figure.subplots(rows, columns, squeeze=False, sharex=share_x, sharey=share_y)
    axes = found.ravel().tolist()
    for spare in axes[max(1, count) :]:
        spare.remove()
    for one in axes[: max(1, count)]:
        one.tick_params(labelbottom=True, labelleft=True)
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
        place = axis.axes.get_subplotspec()
        narrow = place is not None and place.get_gridspec().ncols == MAX_COLUMNS
        axis.set_major_locator(
            MaxNLocator(nbins=NARROW_TICKS if narrow else X_TICKS, steps=[1, 2, 2.5, 5, 10])
        )
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.7g}".replace("-", "\N{MINUS SIGN}")))


def empty(axes: Any) -> None:
    """Write that there is nothing to show, instead of empty axes with ticks."""
    axes.set(xlabel="", ylabel="")
    axes.xaxis.set_visible(False)  # and not without ticks: other axes may share them
    axes.yaxis.set_visible(False)
    axes.text(0.5, 0.5, "no values", transform=axes.transAxes, ha="center", va="center", color=palette.LINE)


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


def legend(figure: Any) -> None:
    """One legend below all panels, where it hides nothing, in as many columns as fit."""
    found: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if not found:
        return
    widest = max(text_width(label, LEGEND_SIZE) for label in found) + LEGEND_HANDLE
    room = 72 * figure.get_figwidth() - 40
    columns = max(1, min(len(found), int(room // widest)))
    labels = list(found)
    in_rows = [label for column in range(columns) for label in labels[column::columns]]  # it fills columns
    handles = [found[label] for label in in_rows]
    figure.legend(handles, in_rows, loc="outside lower center", ncols=columns, handlelength=3.2)


# ---- lines


def draw_lines(figure: Lines) -> Any:
    """Draw every panel with its series, bands and references, under one legend."""
    share_x, share_y = figure.shared in ("both", "x"), figure.shared in ("both", "y")
    drawn, axes = panels(len(figure.panels), figure.title, share_x, share_y)
    bold = [s.label for panel in figure.panels for s in panel.series if not s.faint and s.x]
    places = palette.places(bold)
    for panel, one in zip(figure.panels, axes, strict=False):
        _draw_panel(figure, panel, one, places)
    if not figure.panels:
        empty(axes[0])
    for panel, one in zip(figure.panels, axes, strict=False):
        _label_thin(panel, one)
    legend(drawn)
    return drawn


def _draw_panel(figure: Lines, panel: Panel, axes: Any, places: dict[str, int]) -> None:
    lettered(axes, panel.title, figure.x_label, figure.y_label)
    thin = [series for series in panel.series if series.faint]
    for series in panel.series:
        where = f"series {series.label!r} of figure {figure.name!r}"
        xs, ys = finite(series.x, where), finite(series.y, where)
        if series.faint:
            _draw_thin(series, xs, ys, axes, thin.index(series) / max(1, len(thin) - 1))
        elif xs:
            _draw_series(series, xs, ys, axes, places[series.label])
    if not any(series.x for series in panel.series):
        empty(axes)
        return
    references(axes, panel.references, upright=False)
    numbers(axes.yaxis)
    numbers(axes.xaxis)
    if figure.log_x:
        shown = (panel,) if figure.shared == "y" else figure.panels
        _logarithmic(axes, sorted({float(x) for p in shown for series in p.series for x in series.x}))


def _draw_thin(series: Series, xs: list[float], ys: list[float], axes: Any, share: float) -> None:
    """A thin line: single runs are grey with one entry in the legend, others get darker in their order."""
    if series.label.startswith(SINGLE_RUNS):
        known = axes.get_legend_handles_labels()[1]
        label = None if "single runs" in known else "single runs"
        axes.plot(xs, ys, color=palette.FAINT, linewidth=0.7, zorder=1.5, label=label)
    else:
        colour = palette.mixed(palette.SKY, palette.LINE, share)
        axes.plot(xs, ys, color=colour, linewidth=0.9, zorder=1.5)


def _label_thin(panel: Panel, axes: Any) -> None:
    """Write the labels of thin lines to the right of their ends, one above the other where ends are near."""
    thin = [s for s in panel.series if s.faint and s.x and not s.label.startswith(SINGLE_RUNS)]
    if not thin:
        return
    low, high = axes.get_ylim()
    ends = sorted(((s.y[-1] - low) / (high - low), k, s.label) for k, s in enumerate(thin))
    places = [place for place, _, _ in ends]
    for k in range(1, len(places)):
        places[k] = max(places[k], places[k - 1] + LABEL_GAP)
    over = max(0.0, places[-1] - 1.0)
    for place, (_, k, label) in zip(places, ends, strict=True):
        colour = palette.mixed(palette.SKY, palette.LINE, max(0.4, k / max(1, len(thin) - 1)))
        axes.text(
            1.01, place - over, one_line(label), transform=axes.transAxes, fontsize=7.0, va="center",
            color=colour,
        )  # fmt: skip


def _logarithmic(axes: Any, values: list[float]) -> None:
    """Make the x axis logarithmic, with a tick at every value if they are few and far enough apart."""
    from matplotlib.ticker import LogLocator, NullFormatter

    if values and values[0] > 0:
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

    The part towards the low end has another colour than that towards the high end, and is hatched.
    """
    shown = rows[:MAX_ARCS]
    ends = [finite((low, high), f"the bar {name!r}") for name, low, high in shown]
    drawn = new_figure(7.0, 1.2 + 0.26 * max(3, len(shown)), layout="constrained")
    drawn.get_layout_engine().set(w_pad=0.1, h_pad=0.09)
    axes = drawn.subplots()
    lettered(axes, x_label=x_label)
    entitled(drawn, title)
    places = range(len(shown))
    ways = (("parameter down", 0, palette.VERMILLION, "////"), ("parameter up", 1, palette.BLUE, ""))
    for label, end, colour, hatch in ways:
        widths = [pair[end] - centre for pair in ends]
        shade = palette.mixed(colour, palette.PAPER, 0.35)
        axes.barh(
            places, widths, left=centre, color=shade, edgecolor=colour, linewidth=0.8, hatch=hatch,
            label=label,
        )  # fmt: skip
    axes.axvline(centre, color=palette.BLACK, linewidth=1.2, zorder=3)
    axes.set_yticks(places, [shortened(one_line(name), 48) for name, *_ in shown])
    axes.set_ylim(max(1, len(shown)) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    if shown:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2)
    else:
        empty(axes)
    return drawn
