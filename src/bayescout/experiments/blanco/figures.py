"""The figures of the study: best score by networks evaluated, final scores, and the networks drawn."""

from __future__ import annotations

from bayescout.experiments.blanco.names import ALGORITHMS, DOCUMENT, K2, OURS
from bayescout.experiments.blanco.view import DIGITS, SCORE_TITLES, View, shown
from bayescout.experiments.parts import drawn
from bayescout.experiments.records import Record, Records
from bayescout.experiments.tools import network_of
from bayescout.plots.values import Boxes, Drawings, Lines, Panel, Series

SETTINGS_TITLES = {DOCUMENT: "the document's settings", OURS: "our settings"}


def followed(view: View) -> str:
    """The network whose runs the document follows, or the last if it was not run."""
    return "alarm" if "alarm" in view.networks else view.networks[-1]


def typical(records: Records) -> Record:
    """The run with the median final score; of two middle ones the better."""
    ranked = sorted(records, key=lambda record: record.measures["score"])
    return ranked[len(ranked) // 2]


def course(view: View, order: str, settings: str, scores: tuple[str, ...]) -> Lines:
    """Figures 7 and 8: the best score by networks evaluated, in a typical run."""
    network = followed(view)
    panels = []
    for by in scores:
        series = tuple(
            _series(name, typical(view.of(network, by, order, name, settings)), by) for name in ALGORITHMS
        )
        panels.append(Panel(SCORE_TITLES[by], series, (("generating network", view.reference(network, by)),)))
    number = {"given": "Figure 7: ", "none": "Figure 8: "}[order] if settings == DOCUMENT else ""
    begin = "best score" if number else "Best score"
    known = "with the order" if order == "given" else "without an order"
    return Lines(
        f"course-{order}-{settings}",
        f"{number}{begin} by networks evaluated, {network} {known}, {SETTINGS_TITLES[settings]}",
        "networks evaluated",
        "best score",
        tuple(panels),
        "For each algorithm the run in the middle by its final score.",
    )


def _series(label: str, record: Record, by: str) -> Series:
    own = record.measures["course"]
    return Series(label, tuple(map(float, own["networks"])), tuple(shown(by, x) for x in own["best"]))


def final_scores(view: View, network: str, by: str, order: str) -> Boxes:
    """Differences of the final scores from the generating network's, with both settings."""
    reference = view.reference(network, by)
    groups = []
    for settings in (DOCUMENT, OURS):
        for name in ALGORITHMS:
            label = name if settings == DOCUMENT else f"{name}, ours"
            groups.append((label, view.scores(network, by, order, name, settings)))
    groups.append(("K2, each order" if order == "none" else K2, view.scores(network, by, order, K2)))
    known = "with the order" if order == "given" else "without an order"
    return Boxes(
        f"final-{network}-{by}-{order}",
        f"Final scores on {network} {known}: {SCORE_TITLES[by]}",
        f"{SCORE_TITLES[by]} less the generating network's",
        tuple((label, tuple(score - reference for score in scores)) for label, scores in groups),
        (("generating network", 0.0),),
    )


def drawings(view: View, network: str) -> Drawings:
    """Figures 4-6: the generating network, and the best ones found with the order."""
    truth = network_of({"network": network}).dag
    graphs = [drawn(f"generating network: {truth.n_arcs} arcs", truth)]
    for by in ("bic-printed", "k2"):
        best = view.best(network, by, "given")
        own = best.measures
        graphs.append(
            drawn(
                f"{best.run['algorithm']}, {SCORE_TITLES[by]} {shown(by, own['score']):,.{DIGITS[by]}f}: "
                f"{own['arcs']} arcs, {own['missing']} missing, {own['extra']} extra",
                best.dag,
                truth=truth,
            )
        )
    return Drawings(
        f"drawn-{network}",
        f"{network}: the generating network and the best found with the order",
        tuple(graphs),
    )
