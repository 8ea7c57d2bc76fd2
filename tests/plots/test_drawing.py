"""Drawings: what is marked as what, and SVG that any label survives."""

from __future__ import annotations

from collections import Counter
from math import hypot
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import GraphError, SettingError
from bayescout.graph.dag import Dag
from bayescout.graph.pdag import Pdag
from bayescout.plots import draw_graph, palette, to_svg
from bayescout.plots.layout import FONT_SIZE, label_size
from bayescout.plots.strengths import as_strengths, one_way
from bayescout.plots.svg import HEAD_LENGTH, arrow, table_cells
from bayescout.plots.tables import MAX_ROWS, ROW_HEIGHT, TABLE_FONT, cpt_table
from bayescout.plots.text import MAX_CHARACTERS, one_line, shortened, text_width, wrapped
from tests.graph.drawn_graphs import dags, pdags

SVG = "{http://www.w3.org/2000/svg}"
TRUTH = Dag.from_arcs([("a", "b"), ("b", "c"), ("d", "c"), ("e", "a")])
LEARNED = Dag.from_arcs([("a", "b"), ("c", "b"), ("a", "d"), ("d", "c")], nodes="abcde")


def groups(text, name):
    """The groups of a class in parsed SVG."""
    return [g for g in ElementTree.fromstring(text).iter(f"{SVG}g") if name in g.get("class", "").split()]


def title(group):
    return group.find(f"{SVG}title").text or ""


# ---- labels


ODD = [
    "<b>&\"'</b>", "]]>", "<script>alert(1)</script>", "a" * 80, "日本語", "🙂", "é\n\tñ", "\x00\x1b", "$x$",
    "\ud800", "", " ",
]  # fmt: skip


def test_odd_labels_survive():
    dag = Dag.from_arcs([(ODD[0], label) for label in ODD[1:]])
    text = to_svg(draw_graph(dag))
    assert "<script>" not in text
    nodes = groups(text, "node")
    assert [node.get("data-node") for node in nodes] == [one_line(label) for label in ODD]
    assert [title(node) for node in nodes] == [one_line(label) for label in ODD]
    assert [node.get("data-index") for node in nodes] == [str(i) for i in range(len(ODD))]
    assert {arc.get("data-parent") for arc in groups(text, "arc")} == {ODD[0]}
    text.encode("utf-8")


@settings(max_examples=25)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=2, unique=True))
def test_any_text_can_be_a_label(labels):
    text = to_svg(draw_graph(Dag.empty(labels)))
    assert [title(node) for node in groups(text, "node")] == [one_line(label) for label in labels]
    text.encode("utf-8")


@settings(max_examples=25)
@given(dags())
def test_labels_of_any_type_and_positions_that_tell_them_apart(dag):
    text = to_svg(draw_graph(dag))
    assert len(groups(text, "node")) == len(dag)
    found = {(int(arc.get("data-source")), int(arc.get("data-target"))) for arc in groups(text, "arc")}
    assert found == {(p, child) for child, ps in enumerate(dag.parents) for p in ps}


def test_long_labels_are_shortened_and_the_tooltip_has_them_whole():
    label = "the first words of a label and its last"
    (node,) = groups(to_svg(draw_graph(Dag.empty([label]))), "node")
    shown = node.find(f"{SVG}text").text
    assert len(shown) == MAX_CHARACTERS
    assert shown.startswith("the first words")
    assert shown.endswith("s last")
    assert title(node) == label
    assert shortened("x" * MAX_CHARACTERS) == "x" * MAX_CHARACTERS


@pytest.mark.parametrize(
    "label", ["HYPOVOLEMIA", "ScenRelAMCIN", "WWWWWWWW", "iiiiiiii", "x_1 (m/s²)", "Ångström"]
)
def test_a_label_fits_its_box(label):
    """Measured with the font itself."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    real = TextPath((0, 0), label, size=FONT_SIZE, prop=FontProperties(family="DejaVu Sans"))
    right = real.get_extents().x1
    assert right <= text_width(label, FONT_SIZE) * 1.02
    assert right < label_size(label)[0] - 8


def test_letters_of_other_scripts_have_their_width():
    assert text_width("日本語", 10) >= 30
    assert text_width("e\u0301", 10) == text_width("e", 10)


def test_words_are_wrapped():
    lines = wrapped("one two three four", 10, text_width("one two", 10))
    assert lines == ["one two", "three", "four"]
    assert wrapped("", 10, 50) == []


# ---- learned against true


def test_every_arc_is_what_the_comparison_says():
    drawing = draw_graph(LEARNED, TRUTH)
    names = LEARNED.nodes
    kinds = {(names[arc.source], names[arc.target]): arc.kind for arc in drawing.arcs}
    assert kinds == {
        ("a", "b"): "right",
        ("c", "b"): "reversed",
        ("a", "d"): "extra",
        ("d", "c"): "right",
        ("e", "a"): "missing",
    }
    assert [key.text for key in drawing.legend] == ["2 right", "1 missing", "1 extra", "1 reversed"]
    for arc in drawing.arcs:
        assert arc.stroke == palette.ARCS[arc.kind]
    assert palette.ARCS["missing"].dash
    assert len({(stroke.width, stroke.dash) for stroke in palette.ARCS.values()}) == 4  # right = plain


@settings(max_examples=25)
@given(st.data())
def test_counts_agree_with_the_comparison(data):
    names = st.just(tuple("abcdef"))
    one = data.draw(dags(min_nodes=6, max_nodes=6, labels=lambda n: names))
    two = data.draw(dags(min_nodes=6, max_nodes=6, labels=lambda n: names)).reordered("fedcba")
    drawing = draw_graph(one, two)
    said = bs.compare(one, two)
    count = Counter(arc.kind for arc in drawing.arcs)
    assert (count["missing"], count["extra"], count["reversed"]) == (
        said.n_missing,
        said.n_extra,
        said.n_reversed,
    )
    missing = {
        (one.nodes[arc.source], one.nodes[arc.target]) for arc in drawing.arcs if arc.kind == "missing"
    }
    assert missing == set(said.missing)
    pairs = [frozenset((arc.source, arc.target)) for arc in drawing.arcs]
    assert len(pairs) == len(set(pairs)), "a pair is drawn twice"


def test_classes_are_compared_as_classes():
    drawing = draw_graph(LEARNED.cpdag(), TRUTH.reordered("edcba"))
    said = bs.compare(LEARNED.cpdag(), TRUTH)
    count = Counter(arc.kind for arc in drawing.arcs)
    assert count["missing"] == said.n_missing
    assert any(f"{said.n_reversed} otherwise directed" == key.text for key in drawing.legend)
    assert [arc.kind for arc in drawing.arcs if not arc.directed].count("missing") == 1
    undirected = {(arc.source, arc.target) for arc in drawing.arcs if not arc.directed}
    truth = TRUTH.reordered(tuple("abcde")).cpdag()
    for arc in drawing.arcs:
        held = truth if arc.kind == "missing" else LEARNED.cpdag()
        assert ((arc.source, arc.target) in undirected) == ((arc.source, arc.target) in held.undirected)


def test_other_nodes_are_refused():
    with pytest.raises(GraphError, match="same nodes"):
        draw_graph(LEARNED, Dag.from_arcs([("x", "y")]))


@settings(max_examples=25)
@given(pdags())
def test_undirected_edges_have_no_head(pdag):
    arcs = groups(to_svg(draw_graph(pdag)), "arc")
    heads = [arc for arc in arcs if arc.find(f"{SVG}polygon") is not None]
    assert len(heads) == len(pdag.directed)
    assert len(arcs) == pdag.n_edges
    assert sum("undirected" in arc.get("class") for arc in arcs) == len(pdag.undirected)


def test_heads_point_at_the_child_also_upwards():
    chain = Dag.from_arcs([("a", "b"), ("b", "c")])
    drawing = draw_graph(chain, Dag.from_arcs([("c", "a")], nodes="abc"))
    rects = {node.index: node.box for node in drawing.nodes}
    directions = []
    for arc in groups(to_svg(drawing), "arc"):
        corners = arc.find(f"{SVG}polygon").get("points").split()
        (x, y), (_, base), _ = (tuple(map(float, corner.split(","))) for corner in corners)
        child = rects[int(arc.get("data-target"))]
        assert abs(x - child.x) <= child.width / 2
        up = arc.get("data-parent") == "c"
        directions.append(up)
        assert (base > y) == up, "the head points the wrong way"
        assert y == pytest.approx(child.y + (child.height / 2 if up else -child.height / 2), abs=0.02)
    assert sorted(directions) == [False, False, True]


@pytest.mark.parametrize("way", [(0, 1), (0, -1), (1, 0), (-3, 4), (5, -2)])
def test_a_head_lies_along_the_way_its_line_arrives(way):
    points = ((0.0, 0.0), (1.0, 1.0), (30.0 - way[0], 40.0 - way[1]), (30.0, 40.0))
    line, (tip, one, two) = arrow(points, 1.3)
    middle = ((one[0] + two[0]) / 2, (one[1] + two[1]) / 2)
    along = (tip[0] - middle[0], tip[1] - middle[1])
    assert tip == points[-1]
    assert hypot(*along) == pytest.approx(HEAD_LENGTH)
    assert along[0] * way[1] == pytest.approx(along[1] * way[0])
    assert along[0] * way[0] + along[1] * way[1] > 0
    assert hypot(line[-1][0] - tip[0], line[-1][1] - tip[1]) == pytest.approx(HEAD_LENGTH - 1)


# ---- strengths


def test_stronger_arcs_are_wider():
    dag = Dag.from_arcs([("a", "b"), ("b", "c"), ("c", "d")])
    drawing = draw_graph(dag, strengths={("a", "b"): 0.9, ("c", "b"): (0.5, 0.2)})
    widths = [arc.stroke.width for arc in drawing.arcs]
    assert widths[0] > widths[1] > widths[2]
    assert "strength 0.50, direction 0.80" in drawing.arcs[1].tooltip
    assert "strength 0.00" in drawing.arcs[2].tooltip
    assert drawing.legend


def test_strengths_come_from_a_bootstraps_table_too():
    rows = [("a", "b", 0.8, 0.75), ("b", "a", 0.8, 0.25), ("b", "c", 0.3, 0.4)]
    found = as_strengths(SimpleNamespace(table=lambda: rows))
    assert found["a", "b"] == (0.8, 0.75)
    assert one_way(found) == {("a", "b"): (0.8, 0.75), ("c", "b"): (0.3, 0.6)}


AB = ("a", "b")


@pytest.mark.parametrize(
    "wrong", [{AB: 1.5}, {AB: (0.5, -1)}, {"ab": 0.5}, {AB: "x"}, {AB: float("nan")}, {AB: ()}, 3]
)
def test_strengths_that_are_none_are_refused(wrong):
    with pytest.raises(SettingError):
        draw_graph(Dag.from_arcs([("a", "b")]), strengths=wrong)


# ---- tables in boxes


@pytest.mark.parametrize("name", ["asia", "survey", "child", "ecoli70"])
def test_tables_lie_inside_their_boxes(name):
    model = bs.load_network(name)
    drawing = draw_graph(model.dag, tables={node: cpt_table(model, node) for node in model.dag.nodes})
    for node in drawing.nodes:
        box = node.box
        for x, y, text, anchor in table_cells(node):
            wide = text_width(text, TABLE_FONT)
            left = x - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
            assert box.x - box.width / 2 <= left
            assert left + wide <= box.x + box.width / 2
            assert box.y - box.height / 2 < y - ROW_HEIGHT / 2
            assert y + ROW_HEIGHT / 2 <= box.y + box.height / 2


def test_tables_say_what_the_network_says():
    model = bs.load_network("asia")
    table = cpt_table(model, "lung")
    assert table.columns == ("smoke", "yes", "no")
    assert table.rows == (("yes", "0.100", "0.900"), ("no", "0.010", "0.990"))
    alarm = bs.load_network("alarm")
    long = cpt_table(alarm, "CATECHOL")
    assert len(long.rows) == MAX_ROWS
    assert long.more == alarm.cpt("CATECHOL").n_rows - MAX_ROWS
    states = {"x": ["a", "b"], "y": ["p", "q"]}
    data = bs.as_table({"x": ["a", "a"], "y": ["p", "q"]}, states=states)
    assert cpt_table(bs.fit(Dag.from_arcs([("x", "y")]), data), "y").rows[1] == ("b", "---", "---")


def test_gaussian_tables_are_regressions():
    model = bs.load_network("ecoli70")
    node = next(node for node in model.dag.nodes if len(model.dag.parents_of(node)) == 1)
    names = [row[0] for row in cpt_table(model, node).rows]
    assert names == ["intercept", *model.dag.parents_of(node), "variance"]


def test_a_pdag_without_edges_and_a_graph_without_nodes():
    assert ElementTree.fromstring(to_svg(draw_graph(Pdag(("a",))))) is not None
    assert ElementTree.fromstring(to_svg(draw_graph(Dag.empty([])))) is not None
