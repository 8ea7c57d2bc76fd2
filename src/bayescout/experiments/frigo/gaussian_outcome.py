"""The chapter on continuous networks as a results section."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from bayescout.experiments.frigo.gaussian_findings import findings
from bayescout.experiments.frigo.printed import F_OF_GES
from bayescout.experiments.frigo.runs import GAUSSIAN_SEARCHES, SEARCH_TITLES
from bayescout.experiments.frigo.scores import GAUSSIAN_SCORES, QUARTER, TITLES
from bayescout.experiments.frigo.view import Measure, View, gain, line, numbers, of, overall
from bayescout.experiments.parts import plus_minus
from bayescout.experiments.records import Records
from bayescout.experiments.summary import Outcome, Section
from bayescout.plots.values import Boxes, Cell, Histograms, Lines, Panel, PointPanel, Points, SummaryTable

if TYPE_CHECKING:
    from bayescout.experiments.frigo.gaussian import FrigoGaussian

INTRODUCTION = """\
On linear-Gaussian data the document finds that GES with BIC adds too many arcs. Its I-map grows only by \
arcs that cover a dependency (Fisher's z at 5%), then removes arcs whose ends are independent, \
unconditionally or given all other variables. I-map pruned stops there; I-map grows and shrinks once more. \
The data are {graphs} random models for each number of nodes ({nodes}) and rows ({rows}), of at most two \
arcs per node, with coefficients uniform in [-1, 1] and noise of variance 1, and {samples} models on the \
graphs of {networks} at each number of rows. GES is the document's: one growth and one shrink phase.

The document does not give the charge of its BIC. With BIC as it is usually defined, GES adds far fewer \
needless arcs than in the document; with a quarter of the charge per parameter it adds about as many. All \
models are therefore learned with both charges. Findings are judged with the quarter, and plain BIC stands \
beside it; only table 5.8 is judged with plain BIC, which fits it better. No charge tried fits both."""

SCORE, F, RATIO = "score", "f", "ratio"


def outcome(study: FrigoGaussian, records: Records) -> Outcome:
    """Findings, tables and figures."""
    view = View(records, study.nodes, study.rows, study.network_rows, QUARTER)
    introduction = INTRODUCTION.format(
        graphs=study.graphs,
        nodes=f"{min(study.nodes)} to {max(study.nodes)}",
        rows=", ".join(f"{n:,}" for n in study.rows),
        samples=study.samples,
        networks=" and ".join(study.networks),
    )
    sections = (_tests(view), _ges(view), _pruned(view), _imap(view), _known(study, view))
    return Outcome(
        study.name,
        study.title,
        study.source,
        introduction,
        findings(study, view),
        sections,
        _agreement(view),
        study.size(),
    )


def _agreement(view: View) -> Points | None:
    """Table 5.8: our adjacency F of GES against the printed one."""
    groups = tuple(
        (TITLES[score], tuple(view.pairs(F_OF_GES, of("ges", F), score).values()))
        for score in GAUSSIAN_SCORES
    )
    if not any(own for _, own in groups):
        return None
    panel = PointPanel("adjacency F of GES, table 5.8", groups)
    note = "These are the only values that the chapter prints; what its figures show is taken from its text."
    return Points("agreement", "Ours against the printed values, one point per cell", (panel,), note)


def _tests(view: View) -> Section:
    text = (
        "False acceptance: of the true dependencies that were tested, the share that the tests took for "
        "independencies. False discovery: of the dependencies that the tests found, the share that is not "
        "there."
    )
    figures = (
        *view.both("figure-5-2", "Fig. 5.2: false acceptance rate", "false acceptance rate", overall("far")),
        *view.both("figure-5-3", "Fig. 5.3: false discovery rate", "false discovery rate", overall("fdr")),
    )
    return Section("The tests", text, (), figures)


def _ges(view: View) -> Section:
    text = (
        "Arcs learned for each true one; above 1 the graph is too dense. The mean by nodes is the document's "
        "fig. 5.5."
    )
    figures = tuple(
        figure
        for score in GAUSSIAN_SCORES
        for figure in view.both(
            f"figure-5-4-{score}",
            f"Fig. 5.4: arcs of GES for each true one, {TITLES[score]}",
            "arc ratio",
            of("ges", RATIO),
            score,
        )
    )
    table = view.beside_printed(
        "table-5-8", "Table 5.8: adjacency F of GES", F_OF_GES, of("ges", F), GAUSSIAN_SCORES, 3
    )
    return Section("GES", text, (table,), figures)


def _pruned(view: View) -> Section:
    measure = gain("imap-pruned", F)
    figures = (
        *view.both("figure-5-6", "Fig. 5.6: gain in F of I-map pruned", "gain in adjacency F", measure),
        _histograms(view, "figure-5-9", "Fig. 5.9: arc ratios of GES and I-map pruned", "imap-pruned"),
        *view.both(
            "figure-5-10",
            "Fig. 5.10: arcs of I-map pruned for each true one",
            "arc ratio",
            of("imap-pruned", RATIO),
        ),
    )
    tables = tuple(
        view.matrix(
            f"f-gain-pruned-{score}",
            f"Gain in adjacency F of I-map pruned over GES, {TITLES[score]}",
            measure,
            score,
        )
        for score in GAUSSIAN_SCORES
    )
    text = (
        "Positive gains favour I-map pruned. The mean by nodes is the document's fig. 5.7. Figures: a "
        "quarter of the charge."
    )
    return Section("I-map pruned", text, tables, figures)


def _imap(view: View) -> Section:
    boxes = Boxes(
        "figure-5-11",
        "Fig. 5.11: adjacency F of all runs",
        "adjacency F",
        tuple((SEARCH_TITLES[s], numbers(view.random(), of(s, F))) for s in GAUSSIAN_SEARCHES),
    )
    per_row = {search: _score_per_row(search) for search in ("ges", "imap")}
    series = tuple(
        line(SEARCH_TITLES[s], view.rows, [view.mean(m, rows=rows) for rows in view.rows])
        for s, m in per_row.items()
    )
    trend = Lines(
        "figure-5-12",
        "Fig. 5.12: BIC of GES and I-map",
        "rows",
        "BIC for each row (nats)",
        (Panel("", series),),
        log_x=True,
    )
    ratios = _histograms(view, "figure-5-13", "Fig. 5.13: arc ratios of GES and I-map", "imap")
    tables = (
        view.matrix("f-gain-imap", "Gain in adjacency F of I-map over GES", gain("imap", F)),
        view.matrix(
            "kld-gain-imap",
            "Gain in divergence of I-map over GES",
            gain("imap", "kld", smaller=True),
            digits=4,
        ),
    )
    return Section(
        "I-map",
        "The variant that covers every dependency found. Tables and figures: a quarter of the charge.",
        tables,
        (boxes, trend, ratios),
    )


def _score_per_row(search: str) -> Measure:
    return lambda record: record.measures[search][SCORE] / record.run["rows"]


def _histograms(view: View, name: str, title: str, search: str) -> Histograms:
    panels = tuple((SEARCH_TITLES[s], numbers(view.random(), of(s, RATIO))) for s in ("ges", search))
    return Histograms(name, title, "arcs learned for each true one", panels, (("as many", 1.0),))


def _known(study: FrigoGaussian, view: View) -> Section:
    figures = []
    first = {("imap-pruned", F): 14, ("imap-pruned", SCORE): 16, ("imap", F): 18, ("imap", SCORE): 20}
    for (search, measure), number in first.items():
        for place, network in enumerate(study.networks):
            label = {F: "adjacency F", SCORE: "BIC (nats)"}[measure]
            title = f"Fig. 5.{number + place}: {label} on {network}, GES and {SEARCH_TITLES[search]}"
            shown = {SEARCH_TITLES[s]: of(s, measure) for s in ("ges", search)}
            figures.append(view.boxes(f"figure-5-{number + place}", title, label, network, shown))
    text = (
        f"Linear-Gaussian models on the graphs of known networks; larger BIC is better. Figures: "
        f"{TITLES[view.score]}, in the searches and on the axes."
    )
    return Section("Known networks", text, (_known_means(study, view),), tuple(figures))


def _known_means(study: FrigoGaussian, view: View) -> SummaryTable:
    """Means behind the boxes, with both charges."""
    body: list[tuple[Cell, ...]] = []
    for network, rows, score in product(study.networks, study.network_rows, GAUSSIAN_SCORES):
        some = view.known(network, rows, score)
        cells: list[Cell] = []
        for measure, digits in ((F, 3), (RATIO, 2), (SCORE, 1)):
            cells += [plus_minus(numbers(some, of(search, measure)), digits) for search in GAUSSIAN_SEARCHES]
        body.append((network, f"{rows:,}", TITLES[score], *cells))
    heads = [
        f"{what} of {SEARCH_TITLES[search]}" for what in ("F", "arcs", "BIC") for search in GAUSSIAN_SEARCHES
    ]
    return SummaryTable(
        "known",
        "Adjacency F, arcs and BIC on known networks",
        ("network", "rows", "score", *heads),
        tuple(body),
        "Mean ± standard deviation over the samples. Arcs: learned for each true one. BIC: in nats, with the "
        "charge of the row.",
    )
