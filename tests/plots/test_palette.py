"""Colours of figures: colour-blind readers tell series and arcs apart, and everything is seen on white."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from bayescout.graph.dag import Dag
from bayescout.plots import palette
from bayescout.plots.charts import draw_lines, draw_tornado
from bayescout.plots.drawing import draw_graph
from bayescout.plots.style import house_style
from bayescout.plots.values import Lines, Panel, Series
from tests.reference.vision import VISION, contrast, distance, lab, least_distance, linear

READABLE, SEEN = 4.5, 3.0
APART, SERIES_APART = 20.0, 15.0
"""Least colour differences; series differ in marker and dash too."""

ARCS = [[tuple(arc) for arc in arcs] for arcs in (("ab", "bc", "cd"), ("ab", "cb", "da"))]


# ---- the measures


def test_the_measures_are_those_of_the_standards():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert lab(linear("#ff0000")) == pytest.approx([53.24, 80.09, 67.20], abs=0.02)
    for matrix in VISION.values():  # greys stay as they are
        assert np.sum(matrix, axis=1) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(
    ("vision", "one", "two"),
    [
        ("protanopia", "#ff0000", "#5f5000"),
        ("deuteranopia", "#d06060", "#8a8a52"),
        ("tritanopia", "#00a0a0", "#3c96d2"),
    ],
)
def test_colour_blind_readers_confuse_what_others_do_not(vision, one, two):
    assert distance(one, two, vision) < 0.5 * distance(one, two, "all three kinds of cones")


# ---- colours


def test_series_differ_in_colour_marker_and_dash():
    for one, two in combinations(palette.SERIES, 2):
        assert least_distance(one, two) >= SERIES_APART, (one, two)
    assert len(set(palette.MARKERS)) == len(set(palette.DASHES)) == len(palette.SERIES)
    assert all(contrast(colour, palette.PAPER) >= SEEN for colour in palette.SERIES)


def test_kinds_of_arcs_differ_in_colour_and_in_dash_or_width():
    kinds = {name: stroke for name, stroke in palette.ARCS.items() if name != "plain"}
    for one, two in combinations(kinds.values(), 2):
        assert least_distance(one.colour, two.colour) >= APART
        assert one.dash != two.dash or abs(one.width - two.width) > 1


@pytest.mark.parametrize("strength", [0.0, 0.3, 1.0])
def test_weak_arcs_are_seen(strength):
    graph, truth = (Dag.from_arcs(arcs, nodes="abcd") for arcs in ARCS)
    drawing = draw_graph(graph, truth, dict.fromkeys(graph.arcs(), strength))
    assert {arc.kind for arc in drawing.arcs} == {"right", "reversed", "extra", "missing"}
    for stroke in [arc.stroke for arc in drawing.arcs] + [key.stroke for key in drawing.legend]:
        assert contrast(stroke.colour, palette.PAPER) >= SEEN


def test_words_and_boxes_can_be_read():
    for ground in (palette.PAPER, palette.BOX_FILL):
        for colour in (palette.INK, palette.LINE):
            assert contrast(colour, ground) >= READABLE
        assert contrast(palette.BOX_EDGE, ground) >= SEEN


# ---- figures


def shown(artist):
    from matplotlib.colors import to_hex

    alpha = artist.get_alpha()
    return palette.mixed(palette.PAPER, to_hex(artist.get_color()), 1.0 if alpha is None else alpha)


def test_every_line_and_word_of_a_figure_is_seen():
    pytest.importorskip("matplotlib")
    thin = [
        Series(name, (0.0, 1.0), (k, k + 1.0), faint=True) for k, name in enumerate(("run 1", "p", "q", "r"))
    ]
    bold = [Series(f"s{k}", (0.0, 1.0), (k, k - 1.0)) for k in range(len(palette.SERIES))]
    panels = (Panel("all", (*thin, *bold), (("here", 2.0),)), Panel("none", ()))
    with house_style():
        figure = draw_lines(Lines("n", "t", "x", "y", panels))
    for axes in figure.axes:
        assert all(contrast(shown(line), palette.PAPER) >= SEEN for line in axes.lines)
        assert all(contrast(shown(text), palette.PAPER) >= READABLE for text in axes.texts)
    assert sum(len(axes.texts) for axes in figure.axes) == 4


def test_the_two_ways_of_a_tornado_are_not_told_apart_by_colour_alone():
    pytest.importorskip("matplotlib")
    with house_style():
        figure = draw_tornado([("a", 0.1, 0.6), ("b", 0.5, 0.2)], 0.3, "t", "x")
    (axes,) = figure.axes
    hatches, edges = zip(
        *((bars[0].get_hatch(), bars[0].get_edgecolor()) for bars in axes.containers), strict=True
    )
    assert len(set(hatches)) == len(set(edges)) == 2
