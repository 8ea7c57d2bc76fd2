"""Histograms, box plots, and points against printed values on matplotlib axes."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np

from bayescout.plots import palette
from bayescout.plots.charts import (
    LEAST_WIDTH,
    PANEL_HEIGHT,
    PANEL_WIDTH,
    empty,
    entitled,
    finite,
    legend,
    lettered,
    new_figure,
    numbers,
    panels,
    references,
)
from bayescout.plots.text import one_line, shortened, text_width, wrapped
from bayescout.plots.values import Boxes, Histograms, PointPanel, Points

MAX_BINS = 40
HEAVY = 0.01
"""Share of the values from which on a single value has mass, and no edge may stand at it."""

WIDER, WIDTHS = 0.25, 126
"""By how much bars may be wider than they would be, and how many widths up to that are tried."""

LABEL_SIZE = 9.5
"""Font size of labels along an axis, a little larger than drawn."""

PANEL_TITLE_SIZE = 12.0
"""Font size of the titles of panels, a little larger than drawn."""

FEW_DECADES = 1.5
"""Range in decades up to which a logarithmic axis has ticks at 1, 2 and 5 of each."""

Group = tuple[str, list[float]]


# ---- histograms


def draw_histograms(figure: Histograms) -> Any:
    """Draw one panel per set of values, all with the same bars and axes."""
    drawn, axes = panels(len(figure.panels), figure.title, share_x=True, share_y=True)
    sets = [finite(values, f"panel {label!r} of figure {figure.name!r}") for label, values in figure.panels]
    pooled = [value for values in sets for value in values]
    edges = bin_edges(pooled) if pooled else []
    places = palette.places(label.split(",")[0] for label, _ in figure.panels)
    for (label, _), found, one in zip(figure.panels, sets, axes, strict=False):
        lettered(one, label, figure.x_label, "count")
        if not found:
            empty(one)
            continue
        colour = palette.SERIES[places[label.split(",")[0]] % len(palette.SERIES)]
        shade = palette.mixed(colour, palette.PAPER, 0.45)
        one.hist(found, bins=edges, color=shade, edgecolor=colour, linewidth=0.9)
        references(one, figure.references, upright=True)
        one.yaxis.get_major_locator().set_params(integer=True)
        one.locator_params(axis="x", nbins=5)
        one.grid(axis="x", visible=False)
        numbers(one.xaxis)
    if not figure.panels:
        empty(axes[0])
    legend(drawn)
    return drawn


def bin_edges(values: list[float]) -> list[float]:
    """The edges of the bars: one bar per whole number over a short range, otherwise NumPy's rule.

    Edges keep away from values that occur often, such as a ratio of exactly 1: a bar's share of such a
    value must not be a matter of rounding.
    """
    low, high = min(values), max(values)
    if all(value.is_integer() for value in values) and high - low < MAX_BINS:
        return [low - 0.5 + k for k in range(int(high - low) + 2)]
    if high - low <= MAX_BINS * math.ulp(max(abs(low), abs(high))):  # too near for bars of their own
        margin = max(abs(low) * 1e-3, 0.5)
        return [low - margin, low + margin]
    edges = np.histogram_bin_edges(values, "auto")
    if len(edges) - 1 > MAX_BINS:
        edges = np.linspace(low, high, MAX_BINS + 1)
    found = off_mass(values, [float(edge) for edge in edges])
    return found if all(a < b for a, b in pairwise(found)) else [low, math.nextafter(high, math.inf)]


def off_mass(values: list[float], edges: list[float]) -> list[float]:
    """The edges, moved together so that values that occur often are inside a bar.

    The most frequent value is in the middle of its bar. Bars are made up to a quarter wider, by as much as
    keeps the other frequent values farthest from the edges.
    """
    often = max(2, HEAVY * len(values))
    counts = {value: times for value, times in Counter(values).items() if times >= often}
    if not counts or not edges[1] > edges[0]:
        return edges
    middle = min(counts, key=lambda value: (-counts[value], value))
    widths = (edges[1] - edges[0]) * (1 + WIDER * np.arange(WIDTHS) / (WIDTHS - 1))
    shares = np.mod((np.array(list(counts)) - middle)[:, None] / widths + 0.5, 1.0)
    width = float(widths[np.minimum(shares, 1.0 - shares).min(axis=0).argmax()])
    first = middle - width * (math.floor((middle - min(values)) / width + 0.5) + 0.5)
    first -= width if first > min(values) else 0.0  # by rounding
    count = math.ceil((max(values) - first) / width)
    return [first + k * width for k in range(count + 1 + (first + count * width < max(values)))]


# ---- box plots


def draw_boxes(figure: Boxes) -> Any:
    """Draw quartiles with a line at the median, whiskers to 1.5 times their distance, the rest as points."""
    groups = [
        (label, finite(own, f"group {label!r} of figure {figure.name!r}")) for label, own in figure.groups
    ]
    places = palette.places(label.split("\n")[0] for label, _ in groups)
    if figure.per_panel:
        drawn = _draw_pairs(figure, groups, places)
    else:
        width = max(LEAST_WIDTH, 0.85 * len(groups) + 1.2)
        drawn = new_figure(width, PANEL_HEIGHT + 0.5, layout="constrained")
        drawn.get_layout_engine().set(w_pad=0.1, h_pad=0.09)
        entitled(drawn, figure.title)
        axes = drawn.subplots()
        lettered(axes, y_label=figure.y_label)
        _draw_groups(axes, groups, [_in_lines(label) for label, _ in groups], places)
        references(axes, figure.references, upright=False)
    legend(drawn)
    return drawn


def _draw_pairs(figure: Boxes, groups: list[Group], places: dict[str, int]) -> Any:
    """Boxes in panels with scales of their own, as few boxes would be squashed on a common one."""
    size = figure.per_panel
    parts = [groups[k : k + size] for k in range(0, len(groups), size)]
    drawn, axes = panels(len(parts), figure.title)
    for part, one in zip(parts, axes, strict=True):
        titles = [label.partition("\n")[2] for label, _ in part]
        lettered(one, titles[0], y_label=figure.y_label)
        _draw_groups(one, part, [one_line(label.split("\n")[0]) for label, _ in part], places)
        references(one, figure.references, upright=False)
    return drawn


def _draw_groups(axes: Any, groups: list[Group], labels: list[str], places: dict[str, int]) -> None:
    """The boxes of one panel, each in the colour of its method."""
    if any(own for _, own in groups):
        _draw_boxes(axes, groups, places)
    else:
        empty(axes)
    names = [label if own else f"{label} (none)" for label, (_, own) in zip(labels, groups, strict=True)]
    shown = ["\n".join(shortened(line, 40) for line in name.split("\n")) for name in names]
    axes.set_xticks(range(1, len(labels) + 1), shown)
    axes.set_xlim(0.4, max(1, len(labels)) + 0.6)
    axes.grid(axis="x", visible=False)
    numbers(axes.yaxis)
    widest = max((text_width(line, LABEL_SIZE) for name in shown for line in name.split("\n")), default=0.0)
    columns = axes.get_subplotspec().get_gridspec().ncols
    if widest > 0.9 * 72 * (axes.figure.get_figwidth() / columns - 1.0) / max(1, len(labels)):
        axes.set_xticks(range(1, len(labels) + 1), [" ".join(name.split("\n")) for name in shown])
        axes.tick_params(axis="x", rotation=35)
        for tick in axes.get_xticklabels():
            tick.set(ha="right", rotation_mode="anchor")


def _in_lines(label: str) -> str:
    """A label of one line or two, each without line breaks of its own."""
    first, _, second = label.partition("\n")
    return "\n".join(one_line(part) for part in (first, second) if part.strip())


def _draw_boxes(axes: Any, groups: list[Group], places: dict[str, int]) -> None:
    found = axes.boxplot(
        [own for _, own in groups], widths=0.55, patch_artist=True,
        medianprops={"color": palette.INK, "linewidth": 2.0},
        whiskerprops={"color": palette.LINE}, capprops={"color": palette.LINE},
        flierprops={"markersize": 3.5, "markeredgecolor": palette.LINE, "markerfacecolor": "none"},
    )  # fmt: skip
    for (label, _), box in zip(groups, found["boxes"], strict=True):
        colour = palette.SERIES[places[label.split("\n")[0]] % len(palette.SERIES)]
        box.set(facecolor=palette.mixed(colour, palette.PAPER, 0.6), edgecolor=colour, linewidth=1.2)


# ---- agreement


def draw_points(figure: Points) -> Any:
    """Draw ours against printed values on equal axes, with the line on which they are the same.

    One legend below all panels, or one below each where panels show different groups.
    """
    count = max(1, len(figure.panels))
    width = max(LEAST_WIDTH, 0.75 * PANEL_WIDTH * count)
    labels = [tuple(label for label, _ in panel.groups) for panel in figure.panels]
    apart = len(set(labels)) > 1
    height = 0.75 * PANEL_WIDTH + 0.7 + (0.2 * max(map(len, labels)) if apart else 0.0)
    drawn = new_figure(width, height, layout="constrained")
    drawn.get_layout_engine().set(w_pad=0.1, h_pad=0.09)
    entitled(drawn, figure.title)
    axes = drawn.subplots(1, count, squeeze=False).ravel().tolist()
    every = palette.places(label for own in labels for label in own)
    room = 72 * width / count - 24
    for panel, own, one in zip(figure.panels, labels, axes, strict=False):
        _draw_point_panel(figure, panel, one, palette.places(own) if apart else every)
        one.set_title("\n".join(wrapped(one_line(panel.title), PANEL_TITLE_SIZE, room)))
        if apart and one.get_legend_handles_labels()[0]:
            one.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18))
    if not figure.panels:
        empty(axes[0])
    if not apart:
        legend(drawn)
    return drawn


def _draw_point_panel(figure: Points, panel: PointPanel, axes: Any, places: dict[str, int]) -> None:
    lettered(axes, panel.title, "printed in the document", "ours")
    where = f"panel {panel.title!r} of figure {figure.name!r}"
    values = finite([value for _, own in panel.groups for pair in own for value in pair], where)
    if not values:
        empty(axes)
        return
    for label, own in panel.groups:
        k = places[label]
        colour, marker = palette.SERIES[k % len(palette.SERIES)], palette.MARKERS[k % len(palette.MARKERS)]
        xs, ys = [said for said, _ in own], [ours for _, ours in own]
        axes.plot(
            xs, ys, linestyle="none", marker=marker, markersize=5.0, color=colour, alpha=0.85,
            markeredgecolor=palette.PAPER, markeredgewidth=0.5, label=one_line(label), zorder=2.5,
        )  # fmt: skip
    _scale(axes, panel, values)
    low = min(axes.get_xlim()[0], axes.get_ylim()[0])
    high = max(axes.get_xlim()[1], axes.get_ylim()[1])
    axes.plot([low, high], [low, high], color=palette.FAINT, linewidth=1.0, zorder=1.5)
    axes.set(xlim=(low, high), ylim=(low, high), box_aspect=1)


def _scale(axes: Any, panel: PointPanel, values: list[float]) -> None:
    """The scale that a panel asks for, on both axes, with ticks that do not overlap."""
    from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

    if panel.scale == "log" and min(values) > 0:
        axes.set(xscale="log", yscale="log")
        decades = math.log10(max(values) / min(values))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < FEW_DECADES else (1,)))
            axis.set_minor_formatter(NullFormatter())
            numbers(axis)
    elif panel.scale == "symlog" and any(values):
        sizes = sorted(abs(value) for value in values if value)
        near, top = sizes[len(sizes) // 4], math.floor(math.log10(sizes[-1]))
        powers = [10.0**k for k in range(top, math.ceil(math.log10(near)) - 1, -2)]
        ticks = [-power for power in powers] + [0.0] + powers[::-1]
        for axis in (axes.xaxis, axes.yaxis):
            getattr(axes, f"set_{axis.axis_name}scale")("symlog", linthresh=near)
            axis.set_ticks([tick for tick in ticks if min(values) <= tick <= max(values)])
            axis.set_minor_locator(NullLocator())
            numbers(axis)
    else:
        numbers(axes.xaxis)
        numbers(axes.yaxis)
