"""The tables of the study, the document's values beside ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import product

from bayescout.experiments.blanco import printed
from bayescout.experiments.blanco.names import (
    ALGORITHMS,
    CORRECTIONS,
    COUNTED,
    FAR_ABOVE,
    FITTED,
    GRID_RUNS,
    K2,
    ORDERS,
    SCORES,
)
from bayescout.experiments.blanco.view import DIGITS, ORDER_TITLES, SCORE_TITLES, View, gaps, reached, shown
from bayescout.experiments.comparisons import daggers
from bayescout.experiments.parts import plus_minus
from bayescout.experiments.records import mean
from bayescout.experiments.tools import data_of, network_of, parameters_of, scored
from bayescout.plots.values import Cell, SummaryTable

UMDA_CORRECTED = "UMDA, corrected"


def references(view: View) -> SummaryTable:
    """The generating networks' own scores, with which every other score is compared."""
    rows: list[tuple[Cell, ...]] = []
    for network in view.networks:
        data = view.of(network, "k2", "given", K2)[0].run["data"]
        table, dag = data_of(data), network_of(data).dag
        said = printed.REFERENCES.get(network, {})
        rows.append(
            (
                network, f"{parameters_of(dag, table):,}", f"{shown('k2', scored(dag, table)):,.2f}",
                _said(said, "bic-printed"), f"{view.reference(network, 'bic-printed'):,.2f}",
                f"{view.reference(network, 'bic'):,.2f}", _said(said, "k2"),
                f"{view.reference(network, 'k2'):,.2f}", _said(said, "entropy"),
                f"{view.reference(network, 'entropy'):,.2f}",
            )
        )  # fmt: skip
    return SummaryTable(
        "references",
        "The generating networks' own scores",
        (
            "network", "parameters", "log-likelihood", "BIC, document", "BIC as printed", "BIC",
            "K2, document", "K2", "entropy, document", "entropy",
        ),
        tuple(rows),
        "Base-10 logarithms, except for the entropy, which is in nats per row with its sign changed. BIC as "
        "printed: the log-likelihood in base 10 less ½ log2 N per parameter; BIC: base 10 in both parts. The "
        "unit of the document's entropies could not be found: they fit no base.",
    )  # fmt: skip


def _said(values: Mapping[str, float], by: str) -> str | None:
    return f"{values[by]:,.2f}" if by in values else None


def results(view: View, network: str) -> SummaryTable:
    """One of the document's tables 1-3, one row per cell of it."""
    rows: list[tuple[Cell, ...]] = []
    for order in ORDERS:
        for by in SCORES:
            rows += _rows(view, network, by, order)
    places = list(printed.REFERENCES)
    number = f"Table {places.index(network) + 1}: " if network in places else ""
    lost = (
        " The document prints the entropy of the GA with the order without its sign."
        if network == "asia"
        else ""
    )
    return SummaryTable(
        f"results-{network}",
        f"{number}{network}, final scores and generations",
        (
            "order", "score", "algorithm", "document", "ours", "less generating, document",
            "less generating, ours", "generations, document", "generations, ours",
        ),
        tuple(rows),
        f"Mean ± standard deviation of {view.study.repeats} runs; of K2 without an order, of "
        f"{view.study.individuals} random orders per variable. UMDA, corrected: correction={FITTED:g}, not "
        f"described in the document. † differs from the best of GA, UMDA and PBIL (Mann-Whitney, 5%). Less "
        f"generating: the mean less the generating network's own score.{lost}",
    )  # fmt: skip


def _rows(view: View, network: str, by: str, order: str) -> list[tuple[Cell, ...]]:
    trio = view.trio(network, by, order)
    marks = [*daggers([some.numbers("score") for some in trio.values()]), ""]
    slower = [*daggers([some.numbers("iterations") for some in trio.values()], larger=False), ""]
    found: list[tuple[Cell, ...]] = []
    for algorithm, mark, slow in zip((*ALGORITHMS, K2), marks, slower, strict=True):
        scores = view.scores(network, by, order, algorithm)
        turns = None if algorithm == K2 else plus_minus(trio[algorithm].numbers("iterations"), 1, slow)
        found.append(_row(view, (network, by, order, algorithm), algorithm, scores, mark, turns))
        if algorithm == "UMDA" and (own := view.corrected(network, by, order)):
            scores = tuple(shown(by, score) for score in own.numbers("score"))
            turns = plus_minus(own.numbers("iterations"), 1)
            found.append(_row(view, (network, by, order, "UMDA"), UMDA_CORRECTED, scores, "", turns))
    return found


def _row(
    view: View, cell: tuple[str, str, str, str], name: str, scores: tuple[float, ...], mark: str,
    turns: str | None,
) -> tuple[Cell, ...]:  # fmt: skip
    """A row of the results: the document's cell beside ours."""
    network, by, order, algorithm = cell
    said, generations = printed.cell(network, order, algorithm, by)
    gap, own = printed.gap(network, order, algorithm, by), view.gap(network, by, scores)
    return (
        ORDER_TITLES[order], SCORE_TITLES[by], name, said or None, plus_minus(scores, DIGITS[by], mark),
        _signed(gap, by), _signed(own, by), generations or None, turns,
    )  # fmt: skip


def _signed(gap: float | None, by: str) -> str | None:
    return None if gap is None else f"{gap:+,.{DIGITS[by]}f}"


def generation_ratios(view: View, correction: float) -> list[float]:
    """UMDA's mean generations for each of the printed ones, of every counted column."""
    found = []
    for network, by, order in product(view.networks, COUNTED, ORDERS):
        said = printed.mean_of(printed.cell(network, order, "UMDA", by)[1])
        own = view.corrected(network, by, order, correction).mean("iterations")
        if said and own:
            found.append(own / said)
    return found


def misfit(view: View, correction: float) -> float | None:
    """How far UMDA's mean generations are from the printed ones: the mean of |ln ours - ln printed|."""
    return mean([abs(math.log(ratio)) for ratio in generation_ratios(view, correction)])


def score_distance(view: View, correction: float) -> float | None:
    """How far UMDA's mean scores are from the printed ones, both less the generating network's: the mean."""
    off = []
    for network, by, order in product(view.networks, COUNTED, ORDERS):
        said = printed.gap(network, order, "UMDA", by)
        own = mean(gaps(view.corrected(network, by, order, correction), by))
        if (network, by) != FAR_ABOVE and said is not None and own is not None:
            off.append(abs(own - said))
    return mean(off)


def best_correction(view: View, far: Callable[[View, float], float | None] = misfit) -> float | None:
    """The correction with the least misfit; None if no network of the document was run."""
    found = {c: own for c in (0.0, *CORRECTIONS) if (own := far(view, c)) is not None}
    return min(found, key=found.__getitem__) if found else None


def in_tens(distance: float | None) -> str | None:
    """A distance of scores to the nearest ten: these are means of few runs."""
    return None if distance is None else f"{round(distance, -1):,.0f}"


def corrections(view: View) -> SummaryTable:
    """UMDA's generations and scores with each correction, beside the printed ones."""
    rows: list[tuple[Cell, ...]] = []
    for network, by, order in product(view.networks, COUNTED, ORDERS):
        said = printed.mean_of(printed.cell(network, order, "UMDA", by)[1])
        gap = printed.gap(network, order, "UMDA", by)
        cells: list[Cell] = []
        for correction in (0.0, *CORRECTIONS):
            own = view.corrected(network, by, order, correction)
            middle = mean(gaps(own, by))
            cells.append(None if middle is None else f"{own.mean('iterations'):.0f} / {middle:+,.0f}")
        head = None if said is None or gap is None else f"{said:.0f} / {gap:+,.0f}"
        rows.append((network, ORDER_TITLES[order], SCORE_TITLES[by], head, *cells))
    off = [misfit(view, correction) for correction in (0.0, *CORRECTIONS)]
    shown_ = [None if value is None else f"{value:.2f}" for value in off]
    rows.append(("misfit", None, None, None, *shown_))
    far = [in_tens(score_distance(view, correction)) for correction in (0.0, *CORRECTIONS)]
    rows.append(("distance of scores", None, None, None, *far))
    return SummaryTable(
        "corrections",
        "UMDA with each correction: generations / score less the generating network's",
        ("network", "order", "score", "document", "none", *(f"{c:g}" for c in CORRECTIONS)),
        tuple(rows),
        f"Means of {min(GRID_RUNS, view.study.repeats)} runs, but of {view.study.repeats} without a "
        f"correction and with {FITTED:g}. Misfit: the mean over all rows of |ln of our generations less ln "
        f"of the printed ones|; 0.69 is a factor of 2. Distance of scores: the mean over all rows but water "
        f"with BIC of |ours less the printed one|, to the nearest ten.",
    )


def settings(view: View) -> SummaryTable:
    """Correction, distinct individuals and patience, one at a time and together, with K2."""
    rows: list[tuple[Cell, ...]] = []
    for network, order, algorithm in product(view.networks, ORDERS, ALGORITHMS):
        for variant in ("none", "correction", "distinct", "patience", "all"):
            own = view.apart(network, order, algorithm, variant)
            if own:
                reach = f"{sum(map(reached, own))} of {len(own)}"
                rows.append(
                    (
                        network, ORDER_TITLES[order], algorithm, variant, plus_minus(gaps(own, "k2"), 1),
                        reach,
                        plus_minus(own.numbers("iterations"), 0), f"{own.mean('cpu_seconds'):.2f}",
                    )
                )  # fmt: skip
    return SummaryTable(
        "settings",
        "Settings changed one at a time, and together, with K2",
        (
            "network", "order", "algorithm", "changed", "less generating", "reached", "generations", "CPU s",
        ),
        tuple(rows),
        f"Changed: none (as described), correction={FITTED:g}, distinct, patience=10 (the GA: 3), or all of "
        "these that the search has. Less generating: the final score less the generating network's own, in "
        "base-10 logarithms. Reached: runs that end at that score or above.",
    )  # fmt: skip


def structures(view: View) -> SummaryTable:
    """The best networks found, compared with the generating ones."""
    rows: list[tuple[Cell, ...]] = []
    for network in view.networks:
        for order in ORDERS:
            for by in SCORES:
                best = view.best(network, by, order)
                own = best.measures
                trio = view.trio(network, by, order)
                rows.append(
                    (
                        network, ORDER_TITLES[order], SCORE_TITLES[by], best.run["algorithm"],
                        *(str(own[name]) for name in ("arcs", "missing", "extra", "reversed", "hamming")),
                        *(plus_minus(some.numbers("hamming"), 1) for some in trio.values()),
                    )
                )  # fmt: skip
    arcs = ", ".join(f"{name} {network_of({'network': name}).dag.n_arcs}" for name in view.networks)
    return SummaryTable(
        "structures",
        "The best-scoring networks against the generating ones",
        (
            "network", "order", "score", "found by", "arcs", "missing", "extra", "reversed", "Hamming",
            *(f"Hamming, {algorithm}" for algorithm in ALGORITHMS),
        ),
        tuple(rows),
        f"Arcs of the generating networks: {arcs}. Hamming: cells in which the connectivity matrices differ, "
        f"a reversed arc being two. The last columns are means ± standard deviations over all runs. The "
        f"document reports of its closest networks, with the order: asia, none missing with K2 and 1 missing "
        f"with BIC; alarm, 1 missing; water, 36 missing.",
    )  # fmt: skip
