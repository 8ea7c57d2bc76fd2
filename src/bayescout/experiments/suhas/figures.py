"""The figures of the study."""

from __future__ import annotations

from collections.abc import Sequence

from bayescout.experiments.parts import drawn, mean_series
from bayescout.experiments.records import Records
from bayescout.experiments.suhas.names import ALPHA, EXTENSIONS, FORMS
from bayescout.experiments.suhas.view import FORM_TITLES, ORDERS, View
from bayescout.experiments.tools import network_of
from bayescout.plots.values import Boxes, Drawings, Lines, Panel, Series

CURVES = {
    "mean": ("Mean fitness", "mean fitness of the generation"),
    "best_in_population": ("Maximum fitness", "fitness of the fittest"),
}
RATES = (
    ("precision", "population_precision"),
    ("recall", "population_recall"),
    ("precision, adjacencies", "population_adjacency_precision"),
    ("recall, adjacencies", "population_adjacency_recall"),
)
ONE_NETWORK = "Mean of the runs on the first network, with a standard deviation to either side."


def _traces(records: Records, column: str) -> list[Sequence[float]]:
    return [record.measures["trace"][column] for record in records]


def by_generation(view: View, column: str, form: str) -> Lines:
    """Mean or maximum fitness by generation, with the reference network's as a line."""
    title, label = CURVES[column]
    panels = []
    for nodes in view.nodes:
        groups = {order: view.first_network(view.fitness(nodes, form, order=order)) for order in ORDERS}
        reference = (("reference network", float(groups["known"][0].measures["reference"])),)
        series = tuple(
            mean_series(f"order {order}", _traces(some, column), band=True) for order, some in groups.items()
        )
        panels.append(Panel(f"{nodes} nodes", series, reference))
    name = f"{'mean' if column == 'mean' else 'maximum'}-fitness-{form}"
    return Lines(
        name,
        f"{title} by generation: {FORM_TITLES[form]}, α = {ALPHA[form]:g}",
        "generation",
        label,
        tuple(panels),
        ONE_NETWORK,
        shared="x",
    )


def precision_and_recall(view: View) -> Lines:
    """Precision and recall of the last generation by α: smallest networks, with and without the order."""
    nodes = view.nodes[0]
    panels = tuple(
        Panel(f"{FORM_TITLES[form]}, order {order}", _rate_series(view, nodes, form, order))
        for form in FORMS
        for order in ORDERS
    )
    return Lines(
        "precision-recall",
        f"Precision and recall against α, {nodes} nodes",
        "α",
        "mean over the last generation",
        panels,
        "With the order known arcs can only go forward, as in the document's gene of n(n-1)/2 bits, and the "
        "lines of adjacencies are those of arcs.",
        log_x=True,
        shared="y",
    )


def larger_networks(view: View) -> Lines:
    """Precision and recall for every size of network."""
    form = FORMS[0]
    panels = tuple(
        Panel(f"{nodes} nodes", _rate_series(view, nodes, form, "unknown")) for nodes in view.nodes
    )
    return Lines(
        "precision-recall-nodes",
        f"Precision and recall against α by the size of the network: {FORM_TITLES[form]}",
        "α",
        "mean over the last generation",
        panels,
        "The order of the variables is unknown.",
        log_x=True,
    )


def _rate_series(view: View, nodes: int, form: str, order: str) -> tuple[Series, ...]:
    """Precision and recall by α, of arcs and, where a direction may be wrong, of adjacencies."""
    found = []
    for label, measure in RATES[:2] if order == "known" else RATES:
        points = [
            (alpha, view.alpha(nodes, form, alpha, order).mean(measure))
            for alpha in view.study.chosen_alphas(form)
        ]
        known = [(alpha, value) for alpha, value in points if value is not None]
        found.append(Series(label, tuple(a for a, _ in known), tuple(v for _, v in known)))
    return tuple(found)


def extensions(view: View, column: str, form: str) -> Lines:
    """Maximum fitness, or the size of the population, by generation with each of the extensions."""
    panels = []
    for nodes in view.nodes:
        groups = {name: view.first_network(view.fitness(nodes, form, name)) for name in EXTENSIONS}
        series = tuple(mean_series(name, _traces(some, column)) for name, some in groups.items())
        fit = column != "size"
        reference = (("reference network", float(groups["none"][0].measures["reference"])),) if fit else ()
        panels.append(Panel(f"{nodes} nodes", series, reference))
    what = "Population size" if column == "size" else "Maximum fitness"
    return Lines(
        f"extensions-{'size' if column == 'size' else 'fitness'}-{form}",
        f"{what} by generation with the proposed extensions: {FORM_TITLES[form]}",
        "generation",
        "individuals" if column == "size" else "fitness of the fittest",
        tuple(panels),
        "Mean of the runs on the first network.",
        shared="both" if column == "size" else "x",
    )


def rates_by_nodes(view: View, measure: str) -> Boxes:
    """Precision or recall of the best networks by size."""
    groups = tuple(
        (f"order {order}\n{nodes} nodes", view.fitness(nodes, FORMS[0], order=order).numbers(measure))
        for nodes in view.nodes
        for order in ORDERS
    )
    return Boxes(
        f"{measure}-nodes",
        f"{measure.capitalize()} of the best network",
        measure,
        groups,
        note=f"With fitness {FORM_TITLES[FORMS[0]]}, α = {ALPHA[FORMS[0]]:g}.",
    )


def sample(view: View) -> Drawings:
    """The network that the rows come from, and a learned one."""
    record = view.first_network(view.fitness(view.nodes[0], FORMS[0], order="known"))[0]
    truth = network_of(record.run["data"]).dag
    rates = ", ".join(
        f"{name} {'-' if record.measures[name] is None else format(record.measures[name], '.2f')}"
        for name in ("precision", "recall")
    )
    return Drawings(
        "sample",
        "A generator network and a sample solution",
        (drawn("generator", truth), drawn(f"solution: {rates}", record.dag, truth=truth)),
    )
