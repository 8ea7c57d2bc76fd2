"""The tables of the study, the document's values beside ours."""

from __future__ import annotations

from collections.abc import Mapping

from bayescout.experiments.blanco import printed
from bayescout.experiments.blanco.names import ALGORITHMS, DOCUMENT, K2, ORDERS, OURS, SCORES
from bayescout.experiments.blanco.view import DIGITS, ORDER_TITLES, SCORE_TITLES, View, reached, shown
from bayescout.experiments.comparisons import daggers
from bayescout.experiments.parts import plus_minus
from bayescout.experiments.records import Records
from bayescout.experiments.tools import data_of, network_of, parameters_of, scored
from bayescout.plots.values import Cell, SummaryTable


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
        "Base-10 logarithms, but for the entropy, which is in nats a row with its sign turned. BIC as "
        "printed: the log-likelihood in base 10 less ½ log2 N a parameter; BIC: base 10 in both parts. The "
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
    return SummaryTable(
        f"results-{network}",
        f"{number}{network}, final scores and generations",
        (
            "order", "score", "algorithm", "document", "ours", "less generating, document",
            "less generating, ours", "generations, document", "generations, ours",
        ),
        tuple(rows),
        f"Mean ± standard deviation of {view.study.repeats} runs; of K2 without an order, of "
        f"{view.study.individuals} random orders a variable. † differs from the best of GA, UMDA and PBIL "
        f"(Mann-Whitney, 5%). Less generating: the mean less the generating network's own score.",
    )  # fmt: skip


def _rows(view: View, network: str, by: str, order: str) -> list[tuple[Cell, ...]]:
    trio = view.trio(network, by, order)
    marks = [*daggers([some.numbers("score") for some in trio.values()]), ""]
    slower = [*daggers([some.numbers("iterations") for some in trio.values()], larger=False), ""]
    found: list[tuple[Cell, ...]] = []
    for algorithm, mark, slow in zip((*ALGORITHMS, K2), marks, slower, strict=True):
        scores = view.scores(network, by, order, algorithm)
        said, generations = printed.cell(network, order, algorithm, by)
        gap, own = printed.gap(network, order, algorithm, by), view.gap(network, by, scores)
        found.append(
            (
                ORDER_TITLES[order], SCORE_TITLES[by], algorithm, said or None,
                plus_minus(scores, DIGITS[by], mark), _signed(gap, by), _signed(own, by),
                generations or None,
                None if algorithm == K2 else plus_minus(trio[algorithm].numbers("iterations"), 1, slow),
            )
        )  # fmt: skip
    return found


def _signed(gap: float | None, by: str) -> str | None:
    return None if gap is None else f"{gap:+,.{DIGITS[by]}f}"


def settings(view: View, network: str) -> SummaryTable:
    """The document's settings against ours: distance from the generating network's score, frequency, cost."""
    rows: list[tuple[Cell, ...]] = []
    for order in ORDERS:
        for by in SCORES:
            for algorithm in ALGORITHMS:
                theirs, own = (view.of(network, by, order, algorithm, how) for how in (DOCUMENT, OURS))
                if own:
                    gaps = [_gaps(some, by) for some in (theirs, own)]
                    rows.append(
                        (
                            ORDER_TITLES[order], SCORE_TITLES[by], algorithm,
                            plus_minus(gaps[0], 1), plus_minus(gaps[1], 1),
                            _count(theirs), _count(own),
                            _pair(theirs, own, "iterations", 0), _pair(theirs, own, "cpu_seconds", 2),
                        )
                    )  # fmt: skip
    return SummaryTable(
        f"settings-{network}",
        f"The document's settings against ours, {network}",
        (
            "order", "score", "algorithm", "less generating, document's", "less generating, ours",
            "reached, document's", "reached, ours", "generations", "CPU s",
        ),
        tuple(rows),
        "Runs with the document's settings, and with ours: UMDA and PBIL with correction=0.1, distinct, "
        "patience=10, the GA with distinct, patience=3. Less generating: the final score less the generating "
        "network's own, base-10 logarithms, mean ± standard deviation. Reached: runs that end there or "
        "above.",
    )  # fmt: skip


def _pair(theirs: Records, own: Records, measure: str, digits: int) -> str:
    return f"{theirs.mean(measure) or 0.0:,.{digits}f} / {own.mean(measure) or 0.0:,.{digits}f}"


def _gaps(records: Records, by: str) -> list[float]:
    return [shown(by, r.measures["score"] - r.measures["reference"]) for r in records]


def _count(records: Records) -> str:
    return f"{sum(map(reached, records))} of {len(records)}"


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
        "The best-scoring networks against the generating ones, with the document's settings",
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
