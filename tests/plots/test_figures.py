"""Figures of matplotlib: every type draws, nothing is cut, and nothing of the user's is touched."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import bayescout as bs
from bayescout.errors import DataError, GraphError, MissingExtraError, SettingError
from bayescout.graph.dag import Dag
from bayescout.plots import (
    draw,
    draw_graph,
    figure_of,
    figures,
    plot_boxes,
    plot_histogram,
    plot_network,
    plot_strengths,
    plot_trace,
    save,
)
from bayescout.plots.distributions import bin_edges
from bayescout.plots.values import (
    Boxes,
    Drawings,
    Drawn,
    Histograms,
    Lines,
    Panel,
    PointPanel,
    Points,
    Series,
    SummaryTable,
)

ARCS = Dag.from_arcs([("a", "b"), ("b", "c"), ("a", "$c_1$ & more")])
TABLE = SummaryTable("t", "t", ("a", "yes", "no"), (("yes", 0.25, 0.75), ("no", None, None)))


def floats(values):
    return tuple(float(value) for value in values)


def normal(n, centre=-106_000.0):
    return floats(np.random.default_rng(n).normal(centre, 100, n))


def series(label, n, **more):
    return Series(label, floats(range(1, n + 1)), normal(n), **more)


def banded(label, n):
    y = normal(n)
    return Series(label, floats(range(n)), y, floats(v - 50 for v in y), floats(v + 50 for v in y))


REFERENCES = (("the generating network", -105_900.0), ("a bound", -105_700.0))
LONG = "a caption that is a good deal longer than the graph is wide"
RUNS = (*(series(f"run {k}", 40, faint=True) for k in range(9)), banded("mean", 40))
EMPTY = Series("s", (), ())


def gaps(*x):
    return (Panel("", (Series("GES", x, (3.0, 2.0, 1.0)),)),)


SIZES = range(4, 21)
FIGURES = {
    "lines": Lines(
        "l", "All runs and their mean", "step", "BIC (nats)",
        (Panel("many", RUNS, REFERENCES), Panel("few", tuple(series(f"method {k}", 12) for k in range(8)))),
    ),
    "log": Lines("l", "By rows", "rows", "KL", gaps(500.0, 1000.0, 8000.0), log_x=True),
    "log with zero": Lines("l", "", "rows", "KL", gaps(0.0, 10.0, 100.0), log_x=True),
    "wide numbers": Lines(
        "l", "Three", "evaluations", "K2",
        tuple(Panel("", (Series("s", floats(range(0, most, 999)), normal(-(-most // 999))),))
              for most in (300_000, 340_000, 2_600_000)),
    ),
    "one point": Lines("l", "One", "x", "y", (Panel("", (Series("s", (1.0,), (2.0,), (1.0,), (3.0,)),)),)),
    "no lines": Lines("l", "None", "x", "y", (Panel("empty", (EMPTY,), REFERENCES), Panel("", ()))),
    "no panels": Lines("l", "None", "x", "y", ()),
    "panels": Lines("l", "Four", "x", "y", tuple(Panel(f"{k} nodes", (series("s", 3),)) for k in range(4))),
    "histograms": Histograms(
        "h", "Final scores", "score",
        (("many", normal(200)), ("one", (-106_000.0,)), ("none", ()), ("equal", (-1e5,) * 9)), REFERENCES,
    ),
    "whole numbers": Histograms("h", "", "steps", (("", floats([3, 4, 4, 9])),)),
    "no histograms": Histograms("h", "", "x", ()),
    "boxes": Boxes("b", "Test scores", "nats", (("A", normal(100)), ("B", (-1e5,)), ("C", ())), REFERENCES),
    "many boxes": Boxes(
        "b", "", "F", tuple((f"alarm, {k}000 rows, I-map with BDeu", normal(20 + k)) for k in range(12))
    ),
    "no boxes": Boxes("b", "", "F", ()),
    "pairs of boxes": Boxes(
        "b", "Divergence", "KL", tuple((f"{m}\n{n:,} rows", normal(30, 10.0**k))
        for k, n in enumerate((500, 1000, 5000)) for m in ("GES", "I-map")), per_panel=2,
    ),
    "thin lines": Lines(
        "l", "By rows", "rows", "gain",
        (Panel("", (*(Series(f"{n} nodes", (1.0, 2.0), (0.1 * n, 0.001 * n), faint=True) for n in SIZES),
                    Series("mean over all sizes", (1.0, 2.0), (0.5, 0.01)))),), log_x=True,
    ),
    "points": Points(
        "p", "Ours against printed",
        (PointPanel("turns", (("GA", ((10.0, 12.0), (200.0, 180.0))), ("UMDA", ((30.0, 300.0),))), "log"),
         PointPanel("distance", (("GA", ((-1000.0, -20.0), (5.0, 4.0), (0.0, 0.0))),), "symlog"),
         PointPanel("F", (("GES", ((0.9, 0.8),)),))),
    ),
    "no points": Points("p", "None", (PointPanel("F", ()),)),
    "drawings": Drawings(
        "d", "Local maxima",
        (Drawn("found 31 times", ARCS), Drawn(LONG, ARCS, ARCS.reverse("a", "b")),
         Drawn("with tables", ARCS, None, (("b", TABLE),))),
    ),
    "no drawings": Drawings("d", "None", ()),
}  # fmt: skip


def rendered(figure):
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return canvas.get_renderer()


def ticks(axes):
    """The tick labels of x and of y that are drawn: matplotlib keeps more, beyond the ends of the axis."""
    for k, (axis, (low, high)) in enumerate(((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim()))):
        labels = axis.get_ticklabels() if axis.get_visible() else []
        yield [tick for tick in labels if tick.get_text() and low <= tick.get_position()[k] <= high]


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_draws_and_cuts_no_words(name):
    figure = draw(FIGURES[name])
    assert isinstance(figure, mpl.figure.Figure)
    renderer = rendered(figure)
    hidden = {
        id(tick) for axes in figure.axes for tick in (*axes.get_xticklabels(), *axes.get_yticklabels())
    } - {id(tick) for axes in figure.axes for labels in ticks(axes) for tick in labels}
    width, height = figure.get_size_inches() * figure.dpi
    for text in figure.findobj(mpl.text.Text):
        if text.get_text().strip() and id(text) not in hidden:
            box = text.get_window_extent(renderer)
            assert box.x0 >= -1, text
            assert box.x1 <= width + 1, text
            assert box.y0 >= -1, text
            assert box.y1 <= height + 1, text
    for axes in figure.axes:
        across, _ = ticks(axes)
        turned = any(tick.get_rotation() for tick in across)
        seen = [tick.get_window_extent(renderer) for tick in across]
        assert turned or all(left.x1 < right.x0 for left, right in pairwise(seen))


def test_a_graph_too_large_to_be_read_is_not_drawn(monkeypatch):
    monkeypatch.setattr(figures, "MOST_DRAWN", 2)
    dag = Dag.from_arcs([("a", "b")], ["a", "b", "c"])
    for drawn in (dag.plot, dag.to_svg):
        with pytest.raises(GraphError, match=r"3 nodes are too many .* result.open\(\) shows a page"):
            drawn()
    assert "c" in dag._repr_html_()


def test_values_that_are_not_finite_are_refused():
    nan = float("nan")
    for figure in (
        Lines("l", "", "", "", (Panel("", (Series("s", (1.0,), (nan,)),)),)),
        Lines("l", "", "", "", (Panel("", (Series("s", (1.0,), (1.0,), (nan,), (1.0,)),)),)),
        Lines("l", "", "", "", (Panel("", (Series("s", (1.0,), (1.0,)),), (("r", -float("inf")),)),)),
        Histograms("h", "", "", (("p", (1.0, nan)),)),
        Boxes("b", "", "", (("g", (1.0, float("inf"))),)),
    ):
        with pytest.raises(DataError, match="cannot be drawn"):
            draw(figure)
    with pytest.raises(SettingError, match="not a figure"):
        draw(TABLE)


def test_bars_hold_every_value():
    for values in ([1.0], [2.0] * 5, [0.1, 0.2, 0.9], list(normal(500)), [3.0, 4.0, 40.0], [1e-300, 2e-300],
                   [1e6 + k * 1e-10 for k in range(50)]):  # fmt: skip
        edges = bin_edges(values)
        assert edges[0] <= min(values)
        assert max(values) <= edges[-1]
        assert all(a < b for a, b in pairwise(edges))
        assert np.histogram(values, edges)[0].sum() == len(values)
    assert bin_edges([3.0, 5.0]) == [2.5, 3.5, 4.5, 5.5]


def test_no_edge_stands_at_a_value_with_mass():
    """Arc ratios: many of exactly 1, the others spread; NumPy's edges would begin at the least value."""
    rng = np.random.default_rng(0)
    for least in (0.5, 1.0):
        values = [1.0] * 200 + [least] * 50 + [float(x) for x in rng.uniform(least, 3.0, 400)]
        edges = bin_edges(values)
        width = edges[1] - edges[0]
        for heavy in (1.0, least):
            assert min(abs(edge - heavy) for edge in edges) > width / 8
        assert np.histogram(values, edges)[0].sum() == len(values)


def test_the_value_with_the_most_mass_is_well_inside_its_bar():
    rng = np.random.default_rng(1)
    ratios = [k / m for m in range(4, 40) for k in rng.integers(m // 2, 2 * m, 20)]
    values = [1.0] * 300 + [float(x) for x in ratios]
    edges = bin_edges(values)
    assert min(abs(edge - 1.0) for edge in edges) > (edges[1] - edges[0]) / 4


def test_labels_of_boxes_stand_upright_where_they_fit():
    own = floats([1.0, 2.0, 3.0])
    few = draw(Boxes("b", "", "y", tuple((f"order sampling {k} (100)", own) for k in range(4))))
    many = draw(Boxes("b", "", "y", tuple((f"order sampling {k} (100)", own) for k in range(9))))
    two = draw(Boxes("b", "", "y", tuple((f"order unknown\n{k} nodes", own) for k in range(6))))
    for figure, turned in ((few, 0), (many, 35), (two, 0)):
        assert {tick.get_rotation() for tick in figure.axes[0].get_xticklabels()} == {turned}
    assert two.axes[0].get_xticklabels()[5].get_text() == "order unknown\n5 nodes"


def test_panels_share_their_axes_and_bars():
    values = (floats([1.5, 2.5, 2.75, 9.25]), floats([30.5, 31.25]))
    figure = draw(Histograms("h", "", "x", (("one", values[0]), ("two", values[1]))))
    one, two = figure.axes
    assert one.get_xlim() == two.get_xlim()
    assert one.get_ylim() == two.get_ylim()
    assert [bar.get_x() for bar in one.patches] == [bar.get_x() for bar in two.patches]
    pair = (
        Panel("a", (Series("s", (1.0, 2.0), (0.0, 1.0)),)),
        Panel("b", (Series("s", (1.0, 2.0), (5.0, 9.0)),)),
    )
    low, high = draw(Lines("l", "", "x", "y", pair)).axes
    assert low.get_ylim() == high.get_ylim()
    low, high = draw(Lines("l", "", "x", "y", pair, shared="x")).axes
    assert low.get_ylim() != high.get_ylim()
    far = (pair[0], Panel("b", (Series("s", (100.0, 200.0), (5.0, 9.0)),)))
    low, high = draw(Lines("l", "", "x", "y", far, shared="y", log_x=True)).axes
    assert low.get_ylim() == high.get_ylim()
    assert low.get_xlim() != high.get_xlim()


def test_a_method_has_one_colour_everywhere_and_figures_one_legend():
    series = tuple(Series(name, (1.0, 2.0), (0.0, 1.0)) for name in ("UMDA", "PBIL"))
    figure = draw(Lines("l", "", "x", "y", (Panel("a", series), Panel("b", series[::-1]))))
    colours = [{line.get_label(): line.get_color() for line in axes.get_lines()} for axes in figure.axes]
    assert colours[0] == colours[1]
    assert len(figure.legends) == 1
    assert all(axes.get_legend() is None for axes in figure.axes)
    alone = draw(Lines("l", "", "x", "y", (Panel("a", series[1:]),)))
    assert alone.axes[0].get_lines()[0].get_color() == colours[0]["PBIL"]
    boxes = draw(Boxes("b", "", "y", (("PBIL\n500", (1.0, 2.0)), ("UMDA\n500", (1.0, 3.0)))))
    edges = [mpl.colors.to_hex(patch.get_edgecolor()).upper() for patch in boxes.axes[0].patches]
    assert edges == [colours[0]["PBIL"], colours[0]["UMDA"]]


def test_a_legend_of_several_rows_reads_from_left_to_right():
    names = [f"an algorithm with a long name, {k}" for k in range(6)]
    series = tuple(Series(name, (1.0, 2.0), (0.0, 1.0)) for name in names)
    figure = draw(Lines("l", "", "x", "y", (Panel("", series),)))
    figure.draw_without_rendering()
    places = {}
    for text in figure.legends[0].get_texts():
        box = text.get_window_extent()
        places[text.get_text()] = (-round(box.y0), box.x0)
    assert len({row for row, _ in places.values()}) > 1
    assert sorted(places, key=places.__getitem__) == names


def test_three_panels_are_little_wider_than_one():
    """A page scales a wide figure down, and its words with it."""
    panel = Panel("", (Series("s", (0.0, 123_456.0), (0.0, 1.0)),))
    one, three = (draw(Lines("l", "", "x", "y", (panel,) * count)) for count in (1, 3))
    assert one.get_figwidth() < three.get_figwidth() < 1.4 * one.get_figwidth()
    three.draw_without_rendering()
    for axes in three.axes:
        boxes = [tick.get_window_extent() for tick in axes.get_xticklabels() if tick.get_text()]
        assert all(a.x1 < b.x0 for a, b in pairwise(boxes))


def test_a_scale_that_is_linear_near_zero_is_labelled_on_both_sides():
    pairs = ((-1284.0, -0.5), (-32_408.0, 5.6), (4.1, 4.7), (257.0, 104.0), (436.0, 451.0), (0.1, 0.7))
    figure = draw(Points("p", "", (PointPanel("score", (("GA", pairs),), "symlog"),)))
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert [*axes.get_xticks()] == [-10_000.0, -100.0, 0.0, 100.0]
    boxes = [tick.get_window_extent() for tick in axes.get_xticklabels()]
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))


def test_boxes_per_pair_have_scales_of_their_own():
    axes = draw(FIGURES["pairs of boxes"]).axes
    assert len(axes) == 3
    assert len({one.get_ylim() for one in axes}) == 3


def test_thin_lines_are_labelled():
    (axes,) = draw(FIGURES["thin lines"]).axes
    words = {text.get_text() for text in axes.texts}
    assert {f"{n} nodes" for n in range(4, 21)} <= words


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_at_least_800_pixels_wide(name):
    assert draw(FIGURES[name]).get_figwidth() * 96 >= 800


# ---- the user's matplotlib


def test_settings_of_the_user_stay_and_do_not_matter(tmp_path):
    before = dict(mpl.rcParams)
    save(FIGURES["boxes"], tmp_path / "plain")
    assert dict(mpl.rcParams) == before
    loud = {"font.size": 30, "axes.grid": False, "savefig.dpi": 20, "xtick.direction": "in"}
    with mpl.rc_context(loud | {"boxplot.showmeans": True}):
        save(FIGURES["boxes"], tmp_path / "loud")
    for ending in ("svg", "png"):
        assert (tmp_path / f"plain.{ending}").read_bytes() == (tmp_path / f"loud.{ending}").read_bytes()
    text = (tmp_path / "plain.svg").read_text(encoding="utf-8")
    assert "<dc:date>" not in text


def test_saving_a_drawing_twice_gives_the_same_bytes(tmp_path):
    for stem in ("one", "two.five"):
        paths = save(FIGURES["drawings"], tmp_path / stem)
        assert [path.name for path in paths] == [f"{stem}.svg", f"{stem}.png"]
    for ending in ("svg", "png"):
        assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.five.{ending}").read_bytes()


def test_pyplot_is_never_loaded():
    code = (
        "import sys, bayescout as bs; m = bs.load_network('asia'); assert 'matplotlib' not in sys.modules;"
        "m._repr_html_(); assert 'matplotlib' not in sys.modules;"
        "m.plot(cpts=True)._repr_svg_(); print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "False"


def test_without_matplotlib_the_way_out_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'bayescout\[plot\]'"):
        ARCS.plot()
    assert "<svg" in ARCS._repr_html_()


def test_a_figure_shows_itself_and_can_be_pickled():
    figure = ARCS.plot()
    assert "<svg" in figure._repr_svg_()
    assert pickle.loads(pickle.dumps(figure))._repr_svg_() == figure._repr_svg_()


def test_dollars_are_letters():
    figure = ARCS.plot()
    (text,) = [text for text in figure.findobj(mpl.text.Text) if "$" in text.get_text()]
    assert not text.get_parse_math()


# ---- networks, traces, strengths


def test_the_canvas_has_what_the_drawing_has():
    truth = Dag.from_arcs([("b", "a"), ("c", "b")], nodes=ARCS.nodes)
    drawing = draw_graph(ARCS, truth)
    figure = figure_of(drawing)
    patches = figure.axes[0].patches
    assert sum(type(patch).__name__ == "FancyBboxPatch" for patch in patches) == 4
    assert sum(type(patch).__name__ == "Polygon" for patch in patches) == 3
    curves = [patch for patch in patches if type(patch).__name__ == "PathPatch"]
    assert len(curves) == len(drawing.arcs) + len(drawing.legend)
    assert figure.get_figwidth() == pytest.approx(drawing.width / 96)
    shown = {text.get_text() for text in figure.axes[0].texts}
    assert shown == {*ARCS.nodes, *(key.text for key in drawing.legend)}


def test_words_on_the_canvas_stay_in_their_boxes():
    figure = plot_network(bs.load_network("asia"), cpts=True)
    renderer = rendered(figure)
    axes = figure.axes[0]
    boxes = [
        patch.get_window_extent(renderer)
        for patch in axes.patches
        if type(patch).__name__ == "FancyBboxPatch"
    ]
    for text in axes.texts:
        own = text.get_window_extent(renderer)
        assert any(
            box.x0 <= own.x0 and own.x1 <= box.x1 and box.y0 <= own.y0 and own.y1 <= box.y1 for box in boxes
        ), text.get_text()


@pytest.fixture(scope="module")
def learned():
    model = bs.load_network("asia")
    return bs.learn(model.sample(500, seed=1), top=1, search="hill-climb", score="bic"), model


def test_a_result_plots_its_network_and_its_trace(learned):
    result, model = learned
    figure = result.plot(truth=model)
    assert any("missing" in text.get_text() for text in figure.axes[0].texts)
    trace = result.plot(kind="trace", x="evaluations", truth=-1200.0)
    line, reference = trace.axes[0].lines
    assert line.get_ydata().tolist() == [step.best for step in result.trace]
    assert line.get_xdata().tolist() == [step.evaluations for step in result.trace]
    assert reference.get_ydata()[0] == -1200.0
    with pytest.raises(SettingError, match="'network' or 'trace'"):
        result.plot(kind="tree")


def test_several_traces_are_told_apart(learned):
    result, model = learned
    other = bs.learn(model.sample(500, seed=1), "tabu", seed=3, score="bic")
    labels = [line.get_label() for line in plot_trace([result, other, result]).axes[0].lines]
    assert labels == ["hill-climb, seed 0", "tabu", "hill-climb, seed 0"]
    named = plot_trace({"first": result, "second": other}).axes[0].lines
    assert [line.get_label() for line in named] == ["first", "second"]
    assert len({(line.get_marker(), line.get_color()) for line in named}) == 2
    with pytest.raises(SettingError, match="one of 'step'"):
        plot_trace(result, x="moon")
    with pytest.raises(SettingError, match="not from a int"):
        plot_trace([3])


def test_models_and_classes_plot(learned):
    result, model = learned
    assert result.cpdag.plot(truth=model).axes
    assert result.fit(prior="laplace").plot(cpts=True).axes
    assert bs.load_network("ecoli70").plot().axes
    with pytest.raises(SettingError, match="fit one first"):
        plot_network(model.dag, cpts=True)
    with pytest.raises(GraphError, match="must be a Dag"):
        plot_network(3)
    with pytest.raises(GraphError, match="the truth"):
        model.plot(truth=3)


def test_strengths_are_bars():
    figure = plot_strengths({("a", "b"): (0.5, 0.25), ("c", "d"): 0.75}, threshold=0.6)
    names = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert names == ["c → d", "b → a"]
    assert [bar.get_width() for bar in figure.axes[0].patches] == [0.75, 0.5]
    assert rendered(plot_strengths({}))
    for wrong in (1.5, "half", True, len):
        with pytest.raises(SettingError, match="from 0 to 1"):
            plot_strengths({}, threshold=wrong)


def test_histograms_and_boxes_from_mappings():
    assert len(plot_histogram({"a": [1, 2], "b": [3]}).axes) == 2
    assert len(plot_boxes({"a": [1, 2], "b": [3]}, references=[("r", 2)]).legends) == 1


# ---- notebooks


def test_notebooks_show_a_drawing_and_facts(learned):
    result, model = learned
    page = result._repr_html_()
    assert page.count("<svg ") == 1
    assert f"{result.score:,.3f}" in page
    assert "hill-climb" in page
    assert "parameters" in model._repr_html_()
    assert "undirected" in model.dag.cpdag()._repr_html_()
    assert "&lt;b&gt;" in Dag.empty(["<b>"])._repr_html_()
    scored = replace(
        result, settings=replace(result.settings, score_name="<script>", score_settings=None)
    )._repr_html_()
    assert "<script" not in scored
    assert "&lt;script&gt;" in scored
    large = Dag.empty(range(301))._repr_html_()
    assert "<svg" not in large
    assert "plot()" in large
