"""The figures of the study: best score by networks evaluated, final scores, and the networks drawn."""

from __future__ import annotations

from itertools import product

from bayescout.experiments.blanco import printed
from bayescout.experiments.blanco.names import ALGORITHMS, COUNTED, FAR_ABOVE, K2, ORDERS
from bayescout.experiments.blanco.view import DIGITS, SCORE_TITLES, View, gaps, shown
from bayescout.experiments.parts import drawn
from bayescout.experiments.records import Record, Records, mean
from bayescout.experiments.tools import network_of
from bayescout.plots.values import Boxes, Drawings, Lines, Panel, PointPanel, Points, Series

FAR = 3.0
"""How many times as far from the scores as they are apart the generating network's is still drawn."""


def followed(view: View) -> str:
    """The network whose runs the document follows, or the last if it was not run."""
    return "alarm" if "alarm" in view.networks else view.networks[-1]


def typical(records: Records) -> Record:
    """The run with the median final score; of two middle ones the better."""
    ranked = sorted(records, key=lambda record: record.measures["score"])
    return ranked[len(ranked) // 2]


def course(view: View, order: str, by: str) -> Lines:
    """Figures 7 and 8: the best score by networks evaluated, in a typical run."""
    network = followed(view)
    groups = {name: view.of(network, by, order, name) for name in ALGORITHMS}
    groups["UMDA, corrected"] = view.corrected(network, by, order)
    series = tuple(_series(name, typical(some), by) for name, some in groups.items() if some)
    number = {"given": 7, "none": 8}[order]
    known = "with the order" if order == "given" else "without an order"
    return Lines(
        f"course-{order}-{by}",
        f"Figure {number}: best score by networks evaluated, {network} {known}, {SCORE_TITLES[by]}",
        "networks evaluated",
        "best score",
        (Panel("", series, (("generating network", view.reference(network, by)),)),),
        "For each algorithm the run in the middle by its final score.",
    )


def _series(label: str, record: Record, by: str) -> Series:
    own = record.measures["course"]
    return Series(label, tuple(map(float, own["networks"])), tuple(shown(by, x) for x in own["best"]))


def final_scores(view: View, network: str, by: str, order: str) -> Boxes:
    """Differences of the final scores from the generating network's."""
    reference = view.reference(network, by)
    groups: list[tuple[str, tuple[float, ...]]] = []
    for name in ALGORITHMS:
        groups.append((name, tuple(gaps(view.of(network, by, order, name), by))))
        if name == "UMDA":
            groups.append(("UMDA, corrected", tuple(gaps(view.corrected(network, by, order), by))))
    own = tuple(score - reference for score in view.scores(network, by, order, K2))
    groups.append(("K2\neach order" if order == "none" else K2, own))
    known = "with the order" if order == "given" else "without an order"
    line, note = _line_at_zero([value for _, values in groups for value in values])
    return Boxes(
        f"final-{network}-{by}-{order}",
        f"Final scores on {network} {known}: {SCORE_TITLES[by]}",
        f"{SCORE_TITLES[by]} less the generating network's",
        tuple(groups),
        line,
        note,
    )


def _line_at_zero(values: list[float]) -> tuple[tuple[tuple[str, float], ...], str]:
    """The line at the generating network's score; a note instead where it would squash the boxes."""
    low, high = min(values), max(values)
    nearest = low if low > 0 else -high
    if nearest <= FAR * (high - low):
        return (("generating network", 0.0),), ""
    side = "above" if low > 0 else "below"
    said = f"every score is {nearest:,.0f} or more {side}"
    return (), f"The generating network's own score, at 0, is not drawn: {said}."


def agreement(view: View) -> Points | None:
    """Generations, and distances from the generating network's score, against the printed ones."""
    turns: dict[str, list[tuple[float, float]]] = {}
    scores: dict[str, list[tuple[float, float]]] = {}
    for network, by, order, name in product(view.networks, COUNTED, ORDERS, ALGORITHMS):
        said = printed.mean_of(printed.cell(network, order, name, by)[1])
        gap = printed.gap(network, order, name, by)
        if said is None or gap is None:
            continue
        groups = {name: view.of(network, by, order, name)}
        if name == "UMDA":
            groups["UMDA, corrected"] = view.corrected(network, by, order)
        for label, some in groups.items():
            turns.setdefault(label, []).append((said, mean(some.numbers("iterations")) or 0.0))
            if (network, by) != FAR_ABOVE:
                scores.setdefault(label, []).append((gap, mean(gaps(some, by)) or 0.0))
    if not turns:
        return None
    return Points(
        "agreement",
        "Ours against the printed values, one point per cell of tables 1-3",
        (
            PointPanel("generations", _grouped(turns), "log"),
            PointPanel("score less the generating network's", _grouped(scores), "symlog"),
        ),
        "Entropy is left out, whose limit on parents is ours; of the scores also water with BIC, where all "
        "are tens of thousands above the generating network.",
    )


def _grouped(
    pairs: dict[str, list[tuple[float, float]]],
) -> tuple[tuple[str, tuple[tuple[float, float], ...]], ...]:
    return tuple((label, tuple(own)) for label, own in pairs.items())


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
