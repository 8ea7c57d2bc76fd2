"""The graphs of the page as positions: the learned one, its class, the truth, and the best networks."""

from __future__ import annotations

from typing import Any

from bayescout.errors import GraphError
from bayescout.graph.dag import Dag
from bayescout.graph.labels import check_same_nodes
from bayescout.graph.pdag import Pdag
from bayescout.plots.crossings import EFFORT
from bayescout.plots.layout import CLOSE, USUAL, Box, Layout, Route, label_size, layered
from bayescout.plots.text import one_line, shortened, text_width
from bayescout.report.facts import in_words
from bayescout.result import Result

MOST_TOP = 100
"""The most of the best networks that are listed."""

MOST_POINTS = 1500
"""The most points of the trace; in a longer one every interval keeps its ends and extremes."""

SAME, EXTRA, REVERSED, MISSING = 0, 1, 2, 3
Pair = tuple[int, int]
Edge = tuple[int, int, int, int]
"""(parent, child, 1 if undirected, the difference from the reference)."""


def as_reference(truth: Any, dag: Dag) -> Dag | Pdag:
    """The true graph with its nodes in the order of the learned one's."""
    graph = truth if isinstance(truth, Dag | Pdag) else getattr(truth, "dag", None)
    if not isinstance(graph, Dag | Pdag):
        raise GraphError(
            f"truth must be a Dag, a Pdag, or have a `dag`; {type(truth).__name__} is none of these"
        )
    check_same_nodes(dag.nodes, graph.nodes, "the result", "the truth")
    return graph.reordered(dag.nodes)


def marks(graph: Dag | Pdag) -> dict[Pair, int]:
    """For each edge, 1 if it is undirected; the parent first, or the lower position."""
    if isinstance(graph, Pdag):
        return dict.fromkeys(graph.directed, 0) | dict.fromkeys(graph.undirected, 1)
    return {(parent, child): 0 for child, own in enumerate(graph.parents) for parent in own}


def against(graph: Dag | Pdag, reference: Dag | Pdag) -> list[Edge]:
    """Every edge of either graph once: those of the first graph, then those only in the other.

    An edge of both counts as reversed if it points the other way, or is directed in only one of them.
    """
    mine, other = marks(graph), marks(reference)
    edges = []
    for (a, b), undirected in mine.items():
        known = (a, b) in other or (b, a) in other
        kind = SAME if other.get((a, b)) == undirected else REVERSED if known else EXTRA
        edges.append((a, b, undirected, kind))
    edges += [
        (a, b, undirected, MISSING)
        for (a, b), undirected in other.items()
        if (a, b) not in mine and (b, a) not in mine
    ]
    return edges


def graph_data(result: Result, names: tuple[str, ...], reference: Dag | Pdag | None) -> dict[str, Any]:
    """All data from which the script draws graphs."""
    dag = result.dag
    true = None
    if reference is not None:
        true = against(dag if isinstance(reference, Dag) else result.cpdag, reference)
    wanted = [(a, b) for a, b, _, kind in true or () if kind == MISSING]
    layout = _layout(dag, names, wanted)
    return {
        "names": names,
        "labels": [shortened(one_line(name)) for name in names],
        "size": [round(layout.width, 1), round(layout.height, 1)],
        "boxes": [[round(v, 1) for v in (box.x, box.y, box.width, box.height)] for box in layout.boxes],
        "routes": [
            [route.source, route.target, [round(v, 1) for point in route.points for v in point]]
            for route in layout.routes
        ],
        "dag": list(marks(dag)),
        "class": [[*pair, undirected] for pair, undirected in marks(result.cpdag).items()],
        "truth": true,
        "top": [_difference(entry.dag, dag) for entry in result.top[:MOST_TOP]],
    }


FONT_SIZE, BOX_HEIGHT = 13.0, 22
"""Of a drawing that is to be read at once; a larger one is moved about in, and has room."""


def _layout(dag: Dag, names: tuple[str, ...], more: list[Pair], effort: int = EFFORT) -> Layout:
    close = len(dag) <= FLAT_BEYOND
    size = close_size if close else label_size
    sizes = {label: size(name) for label, name in zip(dag.nodes, names, strict=True)}
    return layered(dag, sizes.__getitem__, more, CLOSE if close else USUAL, effort)


def close_size(name: str) -> tuple[float, float]:
    """A box hardly larger than its label."""
    return 2 * CLOSE.padding + text_width(shortened(one_line(name)), FONT_SIZE), BOX_HEIGHT


FLAT_BEYOND = 150
WIDEST = 2.6
"""Of a graph with more nodes: the width of its layout in heights beyond which its layers are moved apart."""


def placed(dag: Dag, names: tuple[str, ...], effort: int = EFFORT) -> dict[str, Any]:
    """A layout for a page, by names: positions and sizes of boxes, and the curves of the arcs."""
    found = _layout(dag, names, [], effort)
    stretch = max(1.0, found.width / (WIDEST * found.height)) if len(dag) > FLAT_BEYOND else 1.0
    return {
        "positions": {n: [round(b.x, 1), round(b.y * stretch, 1)] for n, b in _by(names, found)},
        "sizes": {n: [b.width, b.height] for n, b in _by(names, found)},
        "routes": [_route(route, names, found.boxes, stretch) for route in found.routes],
        "size": [round(found.width, 1), round(found.height * stretch, 1)],
    }


def _by(names: tuple[str, ...], layout: Layout) -> list[tuple[str, Box]]:
    return list(zip(names, layout.boxes, strict=True))


def _route(route: Route, names: tuple[str, ...], boxes: tuple[Box, ...], stretch: float) -> list[Any]:
    """The curve between layers moved apart; its ends stay at their boxes, which keep their height."""
    ys = [y * stretch for _, y in route.points]
    down = 1 if boxes[route.target].y >= boxes[route.source].y else -1
    less = down * (1 - stretch) / 2
    for end, box, side in ((0, boxes[route.source], 1), (-1, boxes[route.target], -1)):
        ys[end] += side * less * box.height
        ys[end + side] += side * less * box.height
    points = [round(v, 1) for (x, _), y in zip(route.points, ys, strict=True) for v in (x, y)]
    return [names[route.source], names[route.target], points]


def _difference(dag: Dag, best: Dag) -> list[list[Pair]]:
    """The arcs that are extra, reversed and missing compared with the best network."""
    edges = against(dag, best)
    return [[(a, b) for a, b, _, kind in edges if kind == wanted] for wanted in (EXTRA, REVERSED, MISSING)]


def trace_data(result: Result) -> dict[str, Any]:
    """The trace by columns, thinned if it is long."""
    trace = result.trace
    kept = thinned([step.score for step in trace], MOST_POINTS)
    steps = [trace[i] for i in kept]
    return {
        "step": [step.step for step in steps],
        "seconds": [round(step.seconds, 6) for step in steps],
        "score": [step.score for step in steps],
        "best": [step.best for step in steps],
        "arcs": [step.arcs for step in steps],
        "facts": [[f"{name} {value}" for name, value in in_words(step.facts)] for step in steps],
        "all": len(trace),
    }


def thinned(values: list[float], most: int) -> list[int]:
    """Positions to keep: all, or of every interval the first, the lowest and the highest, and the end."""
    if len(values) <= most:
        return list(range(len(values)))
    stretches = most // 3 - 1
    kept = {len(values) - 1}
    for k in range(stretches):
        stretch = range(k * len(values) // stretches, (k + 1) * len(values) // stretches)
        kept |= {stretch[0], min(stretch, key=values.__getitem__), max(stretch, key=values.__getitem__)}
    return sorted(kept)
