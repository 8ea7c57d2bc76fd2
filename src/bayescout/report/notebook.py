"""The display of a graph, a network or a result in a notebook: its drawing and a few facts."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from bayescout.graph.dag import Dag
from bayescout.graph.labels import counted
from bayescout.graph.pdag import Pdag
from bayescout.plots.drawing import draw_graph
from bayescout.plots.svg import to_svg
from bayescout.plots.text import one_line
from bayescout.report.render import rendered

MAX_NODES = 300
"""The largest graph drawn without being asked for: no page shows a larger one well."""

Facts = list[tuple[str, str]]


def graph_html(graph: Dag | Pdag) -> str:
    return _page(graph, _size(graph))


def network_html(model: Any) -> str:
    """The HTML of a network."""
    facts = [("network", one_line(model.name))] if model.name else []
    facts += [*_size(model.dag), ("parameters", f"{model.n_parameters:,}")]
    if model.n_undefined:
        facts.append(("undefined rows", f"{model.n_undefined:,}"))
    return _page(model.dag, facts)


def result_html(result: Any) -> str:
    reason = result.stopped.replace("_", " ")
    facts = [
        (str(result.settings.score), f"{result.score:,.3f} nats"),
        *_size(result.dag),
        ("search", f"{result.settings.search}, seed {result.seed}"),
        ("stopped", f"{reason} after {counted(result.counters.iterations, 'step')}"),
        ("seconds", f"{result.seconds:.3g}"),
    ]
    if result.settings.prior_told:
        facts.append(("structure prior", result.settings.prior_told))
    if result.data is not None:
        facts.append(("data", str(result.data)))
    if result.found_by is not None:
        facts.append(("found by", result.found_by))
    facts.append(("optimality", result.optimality or "not known; bayescout.gap(result) looks for a bound"))
    return _page(result.dag, facts)


def _size(graph: Dag | Pdag) -> Facts:
    if isinstance(graph, Pdag):
        edges = [("directed", f"{len(graph.directed):,}"), ("undirected", f"{len(graph.undirected):,}")]
    else:
        most = max((len(parents) for parents in graph.parents), default=0)
        edges = [("arcs", f"{graph.n_arcs:,}"), ("most parents", f"{most:,}")]
    return [("nodes", f"{len(graph):,}"), *edges]


def _page(graph: Dag | Pdag, facts: Facts) -> str:
    drawing = Markup()
    if len(graph) <= MAX_NODES:
        svg = to_svg(draw_graph(graph))
        drawing = Markup(svg.replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1))
    nodes = counted(len(graph), "node")
    return rendered("notebook.html", {"drawing": drawing, "facts": facts, "nodes": nodes})
