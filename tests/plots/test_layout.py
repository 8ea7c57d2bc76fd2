"""Laws of the layout: nothing overlaps, parents are above, lines lead from box to box and through none."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise, permutations, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.graph.dag import Dag
from bayescout.graph.pdag import Pdag
from bayescout.plots import draw_graph, to_svg
from bayescout.plots.crossings import Layers
from bayescout.plots.layers import assign
from bayescout.plots.layout import USUAL, arc_pairs, label_size, layered
from bayescout.plots.spacing import centred, leftmost
from tests.graph.drawn_graphs import dags, pdags
from tests.strategies import examples


def sides(box):
    return (
        box.x - box.width / 2,
        box.y - box.height / 2,
        box.x + box.width / 2,
        box.y + box.height / 2,
    )


def along(points, steps=24):
    """Places on a route, by de Casteljau's construction."""
    for k in range(0, len(points) - 1, 3):
        curve = points[k : k + 4]
        for step in range(steps + 1):
            t, ends = step / steps, list(curve)
            while len(ends) > 1:
                ends = [(a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t) for a, b in pairwise(ends)]
            yield ends[0]


def check_laws(layout, down):
    """`down` are the pairs that must lead from a higher box to a lower one."""
    boxes = [sides(box) for box in layout.boxes]
    for i, (left, top, right, bottom) in enumerate(boxes):
        assert 0 <= left < right <= layout.width
        assert 0 <= top < bottom <= layout.height
        for other in boxes[:i]:
            apart = left >= other[2] or right <= other[0] or top >= other[3] or bottom <= other[1]
            assert apart, f"boxes overlap: {layout.boxes[i]}"
    for parent, child in down:
        assert boxes[parent][3] < boxes[child][1]
    for route in layout.routes:
        check_route(route, boxes, layout)


def check_route(route, boxes, layout):
    start, end = boxes[route.source], boxes[route.target]
    upper, lower = (start, end) if start[1] < end[1] else (end, start)
    first, last = route.points[0], route.points[-1]
    higher, deeper = (first, last) if start[1] < end[1] else (last, first)
    assert higher[1] == pytest.approx(upper[3])
    assert deeper[1] == pytest.approx(lower[1])
    assert upper[0] <= higher[0] <= upper[2]
    assert lower[0] <= deeper[0] <= lower[2]
    assert route.points[1][0] == pytest.approx(first[0])
    assert route.points[-2][0] == pytest.approx(last[0])
    for x, y in along(route.points):
        assert 0 <= x <= layout.width
        assert 0 <= y <= layout.height
        for left, top, right, bottom in boxes:
            inside = left + 0.01 < x < right - 0.01 and top + 0.01 < y < bottom - 0.01
            assert not inside, "a line runs through a box"


SIZES = st.tuples(st.floats(1, 300), st.floats(1, 200))


@settings(max_examples=25)
@given(st.data())
def test_laws_of_a_dag(data):
    dag = data.draw(dags(max_nodes=9, labels=lambda n: st.just(tuple(range(n)))))
    size = {node: data.draw(SIZES) for node in dag.nodes}
    layout = layered(dag, size.__getitem__)
    assert [(route.source, route.target) for route in layout.routes] == arc_pairs(dag)
    check_laws(layout, arc_pairs(dag))


@settings(max_examples=25)
@given(pdags(max_nodes=7))
def test_laws_of_a_partially_directed_graph(pdag):
    layout = layered(pdag)
    assert len(layout.routes) == pdag.n_edges
    check_laws(layout, pdag.directed)


def test_a_graph_without_an_extension_is_drawn_too():
    square = Pdag(tuple("abcd"), (), ((0, 1), (1, 2), (2, 3), (0, 3)))
    check_laws(layered(square), ())


@settings(max_examples=25)
@given(dags(min_nodes=2, max_nodes=7), st.data())
def test_further_lines_may_lead_up_and_come_once(dag, data):
    near = set(arc_pairs(dag))
    free = [(a, b) for a, b in permutations(range(len(dag)), 2) if (a, b) not in near and (b, a) not in near]
    more = data.draw(st.lists(st.sampled_from(free), max_size=4, unique_by=frozenset)) if free else []
    layout = layered(dag, more=more)
    check_laws(layout, arc_pairs(dag))
    assert [(route.source, route.target) for route in layout.routes] == [*arc_pairs(dag), *more]


@pytest.mark.parametrize("name", ["asia", "alarm", "hailfinder", "win95pts", "hepar2"])
def test_laws_of_known_networks(name):
    dag = bs.load_network(name).dag
    layout = layered(dag)
    check_laws(layout, arc_pairs(dag))
    assert layout.width < 1900, "a page should hold it"


def test_large_networks_are_laid_out_too():
    dag = bs.load_network("andes").dag
    layout = layered(dag)
    boxes = [sides(box) for box in layout.boxes]
    for i, a in enumerate(boxes):
        assert all(a[0] >= b[2] or a[2] <= b[0] or a[1] >= b[3] or a[3] <= b[1] for b in boxes[:i])


def test_lines_go_round_a_taller_box_beside_their_own():
    """A low box between tall ones, joined to what is far below them on either side."""
    arcs = [("tall", "x"), ("low", "x"), ("low", "y"), ("low", "z"), ("also tall", "z")]
    dag = Dag.from_arcs(arcs, nodes=["tall", "low", "also tall", "x", "y", "z"])
    layout = layered(dag, lambda node: (150, 150) if "tall" in node else (20, 10))
    check_laws(layout, arc_pairs(dag))


def test_components_of_any_height_stand_side_by_side():
    chains = [(f"{k}.{i}", f"{k}.{i + 1}") for k in range(12) for i in range(1 + k % 5)]
    dag = Dag.from_arcs(chains, nodes=[f"{k}.{i}" for k in range(12) for i in range(2 + k % 5)] + ["alone"])
    layout = layered(dag)
    check_laws(layout, arc_pairs(dag))
    assert layout.width > layout.height / 3


def test_many_leaves_do_not_make_one_endless_row():
    star = Dag.from_arcs([("centre", f"leaf {k}") for k in range(60)])
    layout = layered(star)
    check_laws(layout, arc_pairs(star))
    assert layout.width < 60 * (label_size("leaf 10")[0] + USUAL.boxes) / 3


def test_single_nodes_stand_in_rows_below():
    dag = Dag.from_arcs([("a", "b")], nodes=["alone", "a", "b", *range(30)])
    layout = layered(dag)
    lowest = max(sides(layout.boxes[i])[3] for i in (1, 2))
    assert all(sides(layout.boxes[i])[1] > lowest for i in (0, *range(3, 33)))
    assert len({layout.boxes[i].y for i in range(3, 33)}) > 1
    assert layered(Dag.empty([])).boxes == ()


def test_the_same_in_every_process():
    code = (
        "import bayescout as bs; from bayescout.plots import draw_graph, to_svg;"
        "print(to_svg(draw_graph(bs.load_network('insurance').dag)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True, timeout=60,
        env=os.environ | {"PYTHONHASHSEED": "7", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.stdout.rstrip("\n") == to_svg(draw_graph(bs.load_network("insurance").dag)).rstrip("\n")


# ---- numbers on a line


@st.composite
def spacings(draw):
    size = draw(st.integers(1, 4))
    pairs = [(a, b) for a in range(size) for b in range(a + 1, size)]
    some = st.lists(st.sampled_from(pairs), max_size=4) if pairs else st.just([])
    gaps = [(a, b, draw(st.integers(0, 2))) for a, b in draw(some)]
    links = [(a, b, draw(st.integers(-1, 1)), draw(st.integers(1, 3))) for a, b in draw(some)]
    return size, gaps, links


def cost(places, links):
    return sum(weight * abs(places[b] - places[a] - offset) for a, b, offset, weight in links)


@settings(max_examples=examples(40))
@given(spacings())
def test_the_leftmost_is_the_least_of_all_best(problem):
    size, gaps, links = problem
    found = leftmost(size, gaps, links)
    allowed = [
        places
        for places in product(range(8), repeat=size)
        if all(places[b] - places[a] >= gap for a, b, gap in gaps)
    ]
    least = min(cost(places, links) for places in allowed)
    best = [places for places in allowed if cost(places, links) == least]
    assert tuple(found) in best
    assert all(mine <= other for places in best for mine, other in zip(found, places, strict=True))
    middle = centred(size, gaps, links)
    assert cost(middle, links) == pytest.approx(least)
    assert all(middle[b] - middle[a] >= gap - 1e-9 for a, b, gap in gaps)


def test_a_parent_stands_in_the_middle_of_its_children():
    layout = layered(Dag.from_arcs([("p", "a"), ("p", "b")]), lambda _: (40, 20))
    p, a, b = layout.boxes
    assert p.x == pytest.approx((a.x + b.x) / 2)


@settings(max_examples=30)
@given(dags(max_nodes=5))
def test_layers_make_the_arcs_as_short_as_can_be(dag):
    arcs = arc_pairs(dag)
    layer = assign(arcs, [(50, 50)] * len(dag))
    assert all(layer[a] < layer[b] for a, b in arcs)
    shortest = min(
        (
            sum(tried[b] - tried[a] for a, b in arcs)
            for tried in product(range(len(dag)), repeat=len(dag))
            if all(tried[a] < tried[b] for a, b in arcs)
        ),
        default=0,
    )
    assert sum(layer[b] - layer[a] for a, b in arcs) == shortest


def test_a_node_that_may_choose_takes_the_emptier_layer():
    arcs = [(0, 1), (1, 2), (2, 3), (0, 4), (4, 3), (0, 5), (0, 6)]
    assert assign(arcs, [(50, 50)] * 7) == [0, 1, 2, 3, 2, 1, 1]


# ---- crossings


def crossings_seen(layout):
    """Pairs of curves between the same two heights that change sides."""
    spans = {}
    for route in layout.routes:
        stops = route.points[::3]
        for (x, y), (to_x, to_y) in pairwise(sorted(stops, key=lambda stop: stop[1])):
            spans.setdefault((y, to_y), []).append((x, to_x))
    return sum(
        (a - c) * (b - d) < 0
        for lines in spans.values()
        for k, (a, b) in enumerate(lines)
        for c, d in lines[:k]
    )


@pytest.mark.parametrize(
    ("name", "most"), [("alarm", 8), ("hailfinder", 2), ("win95pts", 198), ("hepar2", 327)]
)
def test_known_networks_stay_as_clear_as_they_are(name, most):
    """What is printed in docs/decisions/layout.md."""
    page = (Path(__file__).parents[2] / "docs" / "decisions" / "layout.md").read_text(encoding="utf-8")
    assert f"| {name} | {most} |" in page
    assert crossings_seen(layered(bs.load_network(name).dag)) <= most


@st.composite
def layerings(draw, most=4):
    sizes = draw(st.lists(st.integers(1, most), min_size=2, max_size=3))
    layer = [k for k, size in enumerate(sizes) for _ in range(size)]
    pairs = [(a, b) for a in range(len(layer)) for b in range(len(layer)) if layer[b] == layer[a] + 1]
    return layer, draw(st.lists(st.sampled_from(pairs), unique=True, max_size=14))


def crossings_by_pairs(order, lines):
    place = {vertex: k for row in order for k, vertex in enumerate(row)}
    layer = {vertex: k for k, row in enumerate(order) for vertex in row}
    return sum(
        (place[a] - place[c]) * (place[b] - place[d]) < 0
        for i, (a, b) in enumerate(lines)
        for c, d in lines[:i]
        if layer[a] == layer[c]
    )


def in_order(layer):
    return [[v for v, own in enumerate(layer) if own == k] for k in range(max(layer) + 1)]


@given(layerings())
def test_crossings_are_counted(drawn):
    layer, lines = drawn
    layers = Layers(layer, lines)
    for order in (in_order(layer), layers.ordered()):
        assert layers.crossings(order) == crossings_by_pairs(order, lines)
        assert sorted(v for row in order for v in row) == list(range(len(layer)))


@given(layerings(most=3))
def test_small_layers_have_the_fewest_crossings_or_nearly(drawn):
    layer, lines = drawn
    layers = Layers(layer, lines)
    rows = in_order(layer)
    least = min(crossings_by_pairs(order, lines) for order in product(*(permutations(row) for row in rows)))
    assert layers.crossings(layers.ordered()) <= least + 1


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=25))
def test_trees_have_none(draws):
    arcs = [(draw % (child + 1), child + 1) for child, draw in enumerate(draws)]
    depth = [0]
    for parent, _ in arcs:
        depth.append(depth[parent] + 1)
    layers = Layers(depth, arcs)
    assert layers.crossings(layers.ordered()) == 0


@pytest.mark.parametrize("name", ["alarm", "insurance", "win95pts", "hepar2"])
def test_no_worse_than_means_of_neighbours(name):
    """The textbook's method: each layer by the mean place of its parents, then of its children, ten times."""
    dag = bs.load_network(name).dag
    layer = assign(arc_pairs(dag), [(90, 60)] * len(dag))
    lines = [(a, b) for a, b in arc_pairs(dag) if layer[b] == layer[a] + 1]
    layers = Layers(layer, lines)
    order = in_order(layer)
    least = layers.crossings(order)
    for turn in range(20):
        near = layers.above if turn % 2 == 0 else layers.below
        place = layers.places(order)
        for k in range(len(order)) if turn % 2 == 0 else reversed(range(len(order))):
            mean = {
                v: sum(place[n] for n in near[v]) / len(near[v]) if near[v] else place[v] for v in order[k]
            }
            order[k] = sorted(order[k], key=mean.__getitem__)
            place = layers.places(order)
        least = min(least, layers.crossings(order))
    assert layers.crossings(layers.ordered()) <= least
