"""The tables of the study."""

from __future__ import annotations

from itertools import product

from bayescout.experiments.comparisons import daggers
from bayescout.experiments.parts import plus_minus, share
from bayescout.experiments.records import Records
from bayescout.experiments.suhas.names import ALPHA, EXTENSIONS, FORMS
from bayescout.experiments.suhas.view import FORM_TITLES, ORDERS, View, beats, reached
from bayescout.plots.values import Cell, SummaryTable


def _reached(records: Records) -> tuple[float, ...]:
    return tuple(x for x in map(reached, records) if x is not None)


def _percent(numbers: tuple[float, ...], mark: str = "") -> str:
    return plus_minus([100 * x for x in numbers], 1, mark)


def fitness(view: View) -> SummaryTable:
    """Fitness and correctness of the best networks, by the size of the networks."""
    rows: list[tuple[Cell, ...]] = []
    for nodes, form, order in product(view.nodes, FORMS, ORDERS):
        some = view.fitness(nodes, form, order=order)
        rows.append(
                (
                    nodes, FORM_TITLES[form], ALPHA[form], order, _percent(_reached(some)),
                    share(sum(map(beats, some)), len(some)),
                    plus_minus(some.numbers("precision")), plus_minus(some.numbers("recall")),
                    plus_minus(some.numbers("adjacency_precision")),
                    plus_minus(some.numbers("adjacency_recall")),
                    some.mean("arcs"),
                )
            )  # fmt: skip
    return SummaryTable(
        "fitness",
        "The best network of a run against the reference",
        (
            "nodes", "fitness", "α", "order", "reached (%)", "at least as fit as the reference",
            "precision", "recall",
            "precision, adjacencies", "recall, adjacencies", "arcs",
        ),
        tuple(rows),
        "Reached: 0 is the fitness of the unconnected network, 100 that of the reference. The document's "
        "sample network has precision 0.8 and recall 0.5. Mean ± standard deviation over all runs.",
        (("arcs", 1),),
    )  # fmt: skip


def by_alpha(view: View) -> SummaryTable:
    """Precision and recall by α, of the last generation as in the document and of the best network."""
    rows: list[tuple[Cell, ...]] = []
    for nodes in view.nodes:
        for form in FORMS:
            for order in ORDERS:
                for alpha in view.study.chosen_alphas(form):
                    some = view.alpha(nodes, form, alpha, order)
                    if some:
                        rows.append((nodes, FORM_TITLES[form], order, alpha, *_rates(some)))
    return SummaryTable(
        "alpha",
        "Precision and recall by α",
        (
            "nodes", "fitness", "order", "α", "precision", "recall", "best network's precision",
            "best network's recall", "best network's arcs",
        ),
        tuple(rows),
        "Precision and recall are means over the last generation, as in the document, then over the runs; a "
        "network without arcs has no precision.",
        (
            *((f"{whose}{name}", 3) for whose in ("", "best network's ") for name in ("precision", "recall")),
            ("best network's arcs", 1),
        ),
    )  # fmt: skip


def _rates(some: Records) -> tuple[Cell, ...]:
    names = ("population_precision", "population_recall", "precision", "recall", "arcs")
    return tuple(some.mean(name) for name in names)


def extensions(view: View) -> SummaryTable:
    """The effects of the proposed extensions."""
    rows: list[tuple[Cell, ...]] = []
    for nodes in view.nodes:
        for form in FORMS:
            groups = [view.fitness(nodes, form, extension) for extension in EXTENSIONS]
            marks = daggers([_reached(group) for group in groups])
            for extension, group, mark in zip(EXTENSIONS, groups, marks, strict=True):
                sizes = [size for record in group for size in record.measures["trace"]["size"]]
                rows.append(
                    (
                        nodes, FORM_TITLES[form], extension, _percent(_reached(group), mark),
                        plus_minus(group.numbers("precision")), plus_minus(group.numbers("recall")),
                        sum(sizes) / len(sizes), group.mean("operations"),
                    )
                )  # fmt: skip
    settings = "; ".join(
        f"{name}: {', '.join(f'{key}={value:g}' for key, value in how.items())}"
        for name, how in EXTENSIONS.items()
        if how
    )
    return SummaryTable(
        "extensions",
        "The proposed extensions",
        (
            "nodes", "fitness", "extension", "reached (%)", "precision", "recall", "mean size",
            "networks scored",
        ),
        tuple(rows),
        f"† differs from the best mean of its nodes and fitness (Mann-Whitney, 5%). Settings: {settings}.",
        (("mean size", 0), ("networks scored", 0)),
    )  # fmt: skip


def by_rows(view: View) -> SummaryTable:
    """The number of arcs under each form of the fitness as the sample grows."""
    rows: list[tuple[Cell, ...]] = []
    for form in FORMS:
        for count in view.study.many_rows:
            some = view.rows(count, form)
            rows.append(
                (
                    FORM_TITLES[form], f"{count:,}", plus_minus(some.numbers("arcs"), 1),
                    plus_minus(some.numbers("precision")), plus_minus(some.numbers("recall")),
                )
            )  # fmt: skip
    nodes = view.nodes[0]
    return SummaryTable(
        "rows",
        f"The two forms of the fitness by rows, {nodes} nodes",
        ("fitness", "rows", "arcs of the best network", "precision", "recall"),
        tuple(rows),
        f"A full graph has {nodes * (nodes - 1) // 2} arcs, the references {round(1.6 * nodes)}.",
    )
