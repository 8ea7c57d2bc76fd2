"""The layout of a graph: layers, parents above children, lines that bend around boxes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

from bayescout.errors import GraphError
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Label
from bayescout.graph.orders import peel_roots
from bayescout.graph.pdag import Pdag
from bayescout.plots.crossings import EFFORT, Layers
from bayescout.plots.layers import USUAL_LIMIT, WidthLimit, assign
from bayescout.plots.spacing import centred
from bayescout.plots.text import one_line, shortened, text_width

Point = tuple[float, float]
Pair = tuple[int, int]
Size = tuple[float, float]

FONT_SIZE = 12.0
MARGIN = 12.0
BOX_HEIGHT = 26
WIDEST_LAYER_GAP = 110
COMPONENT_GAP = 36


@dataclass(frozen=True)
class Spacing:
    """How much room a drawing has.

    padding   between a label and the ends of its box
    boxes     least gap between two boxes of a layer; `lines` between a line and its neighbour in a layer
    layers    least gap between two layers
    ports     gap between the ends of two lines at one side of a box
    limit     how wide a layer may become
    """

    padding: int = 10
    boxes: int = 22
    lines: int = 12
    layers: int = 38
    ports: int = 14
    limit: WidthLimit = USUAL_LIMIT


USUAL = Spacing()
CLOSE = Spacing(padding=5, boxes=8, lines=6, layers=26, ports=8, limit=WidthLimit(400, 1.1))
"""For a frame on a screen: as many words at a readable size as can be."""


@dataclass(frozen=True)
class Box:
    """The place of a node: its centre and its size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Route:
    """A line from the box of one node to that of another, as cubic Bézier curves end to end.

    `points` are 1 + 3k: a start, then for each curve two control points and its end. The curve's tangents at
    its ends are vertical.
    """

    source: int
    target: int
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Layout:
    """Boxes in the order of the nodes, routes in the order of the arcs, and the size of the whole.

    x grows to the right and y downwards, from a corner at (0, 0).
    """

    nodes: tuple[Label, ...]
    boxes: tuple[Box, ...]
    routes: tuple[Route, ...]
    width: float
    height: float


def label_size(label: Label) -> Size:
    """A box that holds the label, shortened, on one line."""
    return 2 * USUAL.padding + text_width(shortened(one_line(label)), FONT_SIZE), BOX_HEIGHT


def layered(
    graph: Dag | Pdag,
    size_of: Callable[[Label], Size] = label_size,
    more: Sequence[Pair] = (),
    spacing: Spacing = USUAL,
    effort: int = EFFORT,
) -> Layout:
    """Lay out a graph in layers, every parent above its children (Sugiyama and others 1981).

    Routes are in the order of the graph's directed arcs, its undirected edges, then `more`: further pairs of
    positions to join, such as arcs that the graph lacks, which may lead upwards. With less `effort` it
    is done sooner, and more lines cross.
    """
    own = arc_pairs(graph)
    down = _downwards(graph, own, more)
    sizes = [(round(w + 0.5), round(h + 0.5)) for w, h in map(size_of, graph.nodes)]
    boxes: dict[int, Box] = {}
    routes: dict[Pair, tuple[Point, ...]] = {}
    pieces = [_component(part, sizes, down, spacing, effort) for part in _components(len(graph), down)]
    width, height = _packed(pieces, boxes, routes, spacing)
    found = []
    for a, b in [*own, *more]:
        points = routes[a, b] if (a, b) in routes else routes[b, a][::-1]
        found.append(Route(a, b, points))
    placed = tuple(boxes[i] for i in range(len(graph)))
    return Layout(graph.nodes, placed, tuple(found), width, height)


def arc_pairs(graph: Dag | Pdag) -> list[Pair]:
    """The pairs that a drawing joins: directed arcs, then undirected edges, as positions."""
    if isinstance(graph, Pdag):
        return [*graph.directed, *graph.undirected]
    return [(p, child) for child, ps in enumerate(graph.parents) for p in ps]


# ---- direction of the lines


def _downwards(graph: Dag | Pdag, own: list[Pair], more: Sequence[Pair]) -> list[Pair]:
    """Every joined pair once, the upper end first; together they are acyclic."""
    if isinstance(graph, Pdag):
        place = _places(graph)
        own = [(a, b) if place[a] < place[b] else (b, a) for a, b in own]
    down = list(own)
    seen = set(own)
    for a, b in more:
        if (a, b) in seen or (b, a) in seen:
            continue
        parents: list[list[int]] = [[] for _ in graph.nodes]
        for p, c in [*down, (a, b)]:
            parents[c].append(p)
        pair = (a, b) if len(peel_roots(parents)) == len(graph) else (b, a)
        down.append(pair)
        seen.add(pair)
    return down


def _places(graph: Pdag) -> list[int]:
    """The place of each node in an order of a DAG of the class or, if there is none, of the directed arcs."""
    try:
        order = list(graph.to_dag().order_indices)
    except GraphError:
        parents: list[list[int]] = [[] for _ in graph.nodes]
        for a, b in graph.directed:
            parents[b].append(a)
        order = peel_roots(parents)
    place = [0] * len(order)
    for k, node in enumerate(order):
        place[node] = k
    return place


def _components(size: int, arcs: Sequence[Pair]) -> list[list[int]]:
    """The connected components, each in order; the largest first, then by their first node."""
    root = list(range(size))

    def top(node: int) -> int:
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    for a, b in arcs:
        one, two = top(a), top(b)
        root[max(one, two)] = min(one, two)
    parts: dict[int, list[int]] = {}
    for node in range(size):
        parts.setdefault(top(node), []).append(node)
    return sorted(parts.values(), key=lambda part: (-len(part), part[0]))


# ---- one component


@dataclass(frozen=True)
class _Piece:
    """A component drawn from (0, 0)."""

    boxes: dict[int, Box]
    routes: dict[Pair, tuple[Point, ...]]
    width: float
    height: float


class _Chains:
    """A component's vertices: its nodes, and one bend for every layer that an arc passes."""

    def __init__(
        self, nodes: list[int], arcs: list[Pair], sizes: Sequence[tuple[int, int]], spacing: Spacing
    ) -> None:
        position = {node: k for k, node in enumerate(nodes)}
        inner = [(position[a], position[b]) for a, b in arcs]
        room = [(sizes[node][0] + spacing.boxes, sizes[node][1] + spacing.layers) for node in nodes]
        self.layer = assign(inner, room, spacing.limit)
        self.chains: list[list[int]] = []
        for a, b in inner:
            bends = range(len(self.layer), len(self.layer) + self.layer[b] - self.layer[a] - 1)
            self.layer.extend(range(self.layer[a] + 1, self.layer[b]))
            self.chains.append([a, *bends, b])
        self.lines = [line for chain in self.chains for line in pairwise(chain)]


def _component(
    nodes: list[int],
    sizes: Sequence[tuple[int, int]],
    arcs: Sequence[Pair],
    spacing: Spacing,
    effort: int,
) -> _Piece:
    inside = set(nodes)
    own = [arc for arc in arcs if arc[0] in inside]
    drawn = _Chains(nodes, own, sizes, spacing)
    layers = Layers(drawn.layer, drawn.lines, effort)
    order = layers.ordered()
    extent = [sizes[node] for node in nodes] + [(0, 0)] * (len(drawn.layer) - len(nodes))
    ports = _ports(layers, order, extent, drawn.lines, spacing)
    xs = _across(order, extent, drawn.lines, ports, len(nodes), spacing)
    tops, bottoms = _down(order, extent, drawn.lines, ports, xs, spacing)
    boxes = {
        node: Box(xs[k], (tops[drawn.layer[k]] + bottoms[drawn.layer[k]]) / 2, *sizes[node])
        for k, node in enumerate(nodes)
    }
    routes = {}
    start = 0
    for (a, b), chain in zip(own, drawn.chains, strict=True):
        offsets = ports[start : start + len(chain) - 1]
        start += len(chain) - 1
        # From box to box, and straight down inside a layer, since a taller box may be beside a lower one.
        upper, lower = boxes[a], boxes[b]
        at = [(upper.x + offsets[0][0], upper.y + upper.height / 2, bottoms[drawn.layer[chain[0]]])]
        at += [(xs[v], tops[drawn.layer[v]], bottoms[drawn.layer[v]]) for v in chain[1:-1]]
        at += [(lower.x + offsets[-1][1], tops[drawn.layer[chain[-1]]], lower.y - lower.height / 2)]
        routes[a, b] = _curve(at)
    return _moved_to_corner(boxes, routes)


def _ports(
    layers: Layers,
    order: list[list[int]],
    extent: Sequence[tuple[int, int]],
    lines: list[Pair],
    spacing: Spacing,
) -> list[tuple[int, int]]:
    """For each line, the offsets from the middle at which its upper and lower ends are attached, in order."""
    place = layers.places(order)
    offset: dict[tuple[int, int, bool], int] = {}
    for vertex in range(len(layers.layer)):
        for near, lower in ((layers.below[vertex], False), (layers.above[vertex], True)):
            ends = sorted(near, key=place.__getitem__)
            room = max(0, extent[vertex][0] - 2 * spacing.padding)
            gap = min(spacing.ports, room / max(1, len(ends) - 1))
            for k, other in enumerate(ends):
                offset[vertex, other, lower] = round((k - (len(ends) - 1) / 2) * gap)
    return [(offset[upper, lower, False], offset[lower, upper, True]) for upper, lower in lines]


def _across(
    order: list[list[int]],
    extent: Sequence[tuple[int, int]],
    lines: list[Pair],
    ports: list[tuple[int, int]],
    nodes: int,
    spacing: Spacing,
) -> list[float]:
    """The x of every vertex: neighbours apart, lines as upright as possible, long lines most of all."""
    gaps = []
    for row in order:
        for left, right in pairwise(row):
            between = spacing.boxes if left < nodes and right < nodes else spacing.lines
            gaps.append((left, right, (extent[left][0] + extent[right][0] + 1) // 2 + between))
    links = []
    for (upper, lower), (leaves, arrives) in zip(lines, ports, strict=True):
        weight = (1, 2, 8)[(upper >= nodes) + (lower >= nodes)]
        links.append((upper, lower, leaves - arrives, weight))
    return centred(len(extent), gaps, links)


def _down(
    order: list[list[int]],
    extent: Sequence[tuple[int, int]],
    lines: list[Pair],
    ports: list[tuple[int, int]],
    xs: list[float],
    spacing: Spacing,
) -> tuple[list[float], list[float]]:
    """The top and bottom of every layer; layers are further apart if lines between them run far sideways."""
    layer = {vertex: k for k, row in enumerate(order) for vertex in row}
    widest = [0.0] * len(order)
    for (upper, lower), (leaves, arrives) in zip(lines, ports, strict=True):
        run = abs(xs[lower] + arrives - xs[upper] - leaves)
        widest[layer[upper]] = max(widest[layer[upper]], run)
    tops, bottoms, y = [], [], 0.0
    for row, run in zip(order, widest, strict=True):
        height = max(extent[vertex][1] for vertex in row)
        tops.append(y)
        bottoms.append(y + height)
        y += height + min(WIDEST_LAYER_GAP, max(spacing.layers, 14 + 2.6 * sqrt(run)))
    return tops, bottoms


def _curve(stops: list[tuple[float, float, float]]) -> tuple[Point, ...]:
    """The curve through (x, top, bottom) stops: straight down inside a layer, S-shaped between two."""
    points: list[Point] = [(stops[0][0], stops[0][1])]
    for k, (x, top, bottom) in enumerate(stops):
        if k:
            before, y = points[-1]
            half = (top - y) / 2
            points += [(before, y + half), (x, top - half), (x, top)]
        if bottom > top:
            third = (bottom - top) / 3
            points += [(x, top + third), (x, bottom - third), (x, bottom)]
    return tuple(points)


# ---- the whole


def _moved_to_corner(boxes: dict[int, Box], routes: dict[Pair, tuple[Point, ...]]) -> _Piece:
    left = min([box.x - box.width / 2 for box in boxes.values()] + [x for r in routes.values() for x, _ in r])
    right = max(
        [box.x + box.width / 2 for box in boxes.values()] + [x for r in routes.values() for x, _ in r]
    )
    bottom = max(box.y + box.height / 2 for box in boxes.values())
    return _shifted(_Piece(boxes, routes, right - left, bottom), -left, 0.0)


def _shifted(piece: _Piece, dx: float, dy: float) -> _Piece:
    boxes = {node: Box(box.x + dx, box.y + dy, box.width, box.height) for node, box in piece.boxes.items()}
    routes = {arc: tuple((x + dx, y + dy) for x, y in points) for arc, points in piece.routes.items()}
    return _Piece(boxes, routes, piece.width, piece.height)


def _packed(
    pieces: list[_Piece], boxes: dict[int, Box], routes: dict[Pair, tuple[Point, ...]], spacing: Spacing
) -> tuple[float, float]:
    """Put components side by side in rows, single nodes in their own rows below; fills boxes and routes."""
    joined = [piece for piece in pieces if len(piece.boxes) > 1]
    single = [piece for piece in pieces if len(piece.boxes) == 1]
    area = sum((piece.width + COMPONENT_GAP) * (piece.height + COMPONENT_GAP) for piece in pieces)
    limit = max([sqrt(area * 1.8), *(piece.width for piece in pieces)])
    y = MARGIN
    reached = MARGIN
    for group, gap in ((joined, float(COMPONENT_GAP)), (single, float(spacing.boxes))):
        x, tallest = MARGIN, 0.0
        for piece in group:
            if tallest and x + piece.width > MARGIN + limit:
                x, y, tallest = MARGIN, y + tallest + gap, 0.0
            put = _shifted(piece, x, y)
            boxes |= put.boxes
            routes |= put.routes
            x += piece.width + gap
            tallest = max(tallest, piece.height)
            reached = max(reached, x - gap)
        if tallest:
            y += tallest + COMPONENT_GAP
    return reached + MARGIN, max(y - COMPONENT_GAP, MARGIN) + MARGIN
