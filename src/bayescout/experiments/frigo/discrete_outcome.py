"""The chapter on discrete networks as a results section."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from bayescout.experiments.frigo.discrete_findings import (
    KNOWN_SCORES,
    SMALL,
    findings,
    fits_together,
    missed_information,
)
from bayescout.experiments.frigo.printed import KLD_OF_GES
from bayescout.experiments.frigo.runs import COLLIDER_SCORES, DISCRETE_SEARCHES, SEARCH_TITLES
from bayescout.experiments.frigo.scores import BDEU, BIC, CHICKERING, DISCRETE_SCORES, DOUBLE, TITLES
from bayescout.experiments.frigo.view import (
    View,
    collider_gains,
    gain,
    line,
    numbers,
    of,
    overall,
    shares,
    spread,
)
from bayescout.experiments.parts import plus_minus
from bayescout.experiments.records import Records, mean
from bayescout.experiments.summary import Outcome, Section
from bayescout.plots.values import Cell, Lines, Panel, PointPanel, Points, SummaryTable

if TYPE_CHECKING:
    from bayescout.experiments.frigo.discrete import FrigoDiscrete

INTRODUCTION = """\
The document constrains greedy equivalence search (GES) by the dependencies that chi-squared tests find in \
the data: in I-map, a graph must d-connect what a test at 5% finds dependent. Its experiments are repeated \
here: a ternary collider with {sets:,} data sets at each of {collider} sample sizes; {graphs} random binary \
networks of at most two arcs per node for each number of nodes ({nodes}) and rows ({rows}); {samples} \
samples of {networks} at each number of rows. GES is the document's: one growth and one shrink phase. Both \
searches see the same data. The document estimates divergence from samples; here it is computed exactly, \
for networks fitted with Laplace's correction.

The document gives no parameters of its scores. For BDeu it says "following [7]", which is Chickering: an \
equivalent sample size of 10 and a structure prior of 0.001 per free parameter. Findings on random and known \
networks are judged with these; plain BDeu (equivalent sample size 1, no structure prior) stands beside them \
where the two searches are compared. The collider is judged with plain BDeu, which fits it better, and BDeu \
after Chickering stands beside it. BIC is run with its charge of ½ log N per parameter and, as some programs \
have it, with log N. Findings are judged with the latter, which fits the printed gains better, and plain BIC \
stands beside it."""


def outcome(study: FrigoDiscrete, records: Records) -> Outcome:
    """Findings, tables and figures."""
    view = View(records, study.nodes, study.rows, study.network_rows, CHICKERING)
    introduction = INTRODUCTION.format(
        sets=study.sets,
        collider=len(study.collider_rows),
        graphs=study.graphs,
        nodes=", ".join(map(str, study.nodes)),
        rows=", ".join(f"{n:,}" for n in study.rows),
        samples=study.samples,
        networks=" and ".join(study.networks),
    )
    sections = (
        _fits(study, view),
        _collider(study, records),
        *(_improvement(view, score) for score in DISCRETE_SCORES),
        _missed(view),
        _tests(view),
        _known(study, view),
    )
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
    """Table 4.8: our divergences against the printed ones."""
    groups = tuple(
        (TITLES[score], tuple(view.pairs(KLD_OF_GES, of("ges", "kld"), score).values()))
        for score in (BIC, DOUBLE)
    )
    if not any(own for _, own in groups):
        return None
    panel = PointPanel("divergence of GES, table 4.8 (nats)", groups, "log")
    note = "These are the only values that the chapter prints; what its figures show is taken from its text."
    return Points("agreement", "Ours against the printed values, one point per cell", (panel,), note)


def _fits(study: FrigoDiscrete, view: View) -> Section:
    """Which settings of a score fit which of the document's results."""
    body: list[tuple[Cell, ...]] = []
    for score in DISCRETE_SCORES:
        gains = view.gains_at(min(view.rows), score)
        table = view.pairs(KLD_OF_GES, of("ges", "kld"), score) if score in (BIC, DOUBLE) else {}
        ratio = spread(table)
        own = collider_gains(study.collider_rows, view.records, score) if score in COLLIDER_SCORES else {}
        low = {rows: gain for rows, gain in own.items() if rows <= SMALL}
        body.append(
            (
                TITLES[score],
                f"{sum(0.2 <= x <= 0.3 for x in low.values())} of {len(low)}" if low else None,
                "; ".join(f"{nodes}: {gain:+.2f}" for nodes, gain in gains.items()),
                None if ratio is None else f"{ratio:.2f}",
            )
        )
    table_ = SummaryTable(
        "fits",
        "Which settings fit which results",
        (
            "score", "collider: sizes up to 500 rows with a gain of 20 to 30 points",
            f"gain in F at {min(view.rows):,} rows by nodes", "table 4.8: mean |ln ratio|",
        ),
        tuple(body),
        "The document: 20 to 30 points on the collider; 0.3 to 0.4 with BDeu and more than 0.1 with BIC on "
        "random networks.",
    )  # fmt: skip
    return Section("Which settings fit", fits_together(study, view), (table_,))


# ---- the collider


def _collider(study: FrigoDiscrete, records: Records) -> Section:
    panels, body = [], []
    for score in COLLIDER_SCORES:
        own = {search: shares(study.collider_rows, records, search, score) for search in DISCRETE_SEARCHES}
        series = tuple(
            line(
                SEARCH_TITLES[search], study.collider_rows, [own[search].get(r) for r in study.collider_rows]
            )
            for search in DISCRETE_SEARCHES
        )
        panels.append(Panel(TITLES[score], series))
        for rows, gained in collider_gains(study.collider_rows, records, score).items():
            cells = (f"{own['ges'][rows]:.3f}", f"{own['imap'][rows]:.3f}", f"{gained:+.3f}")
            body.append((TITLES[score], f"{rows:,}", *cells))
    table = SummaryTable(
        "collider",
        "Share of graphs with exactly the edges X - Z and Y - Z",
        ("score", "rows", "GES", "I-map", "difference"),
        tuple(body),
    )
    figure = Lines(
        "figure-4-1",
        "Fig. 4.1: the collider X → Z ← Y",
        "rows",
        "share with the right adjacencies",
        tuple(panels),
    )
    text = "Ternary variables, probabilities drawn uniformly and divided by their sum, BDeu."
    return Section("A collider", text, (table,), (figure,))


# ---- random networks


def _improvement(view: View, score: str) -> Section:
    name = TITLES[score]
    f_gain, kld_gain = gain("imap", "f"), gain("imap", "kld", smaller=True)
    f_figure, kld_figure = ("4-2", "4-4") if score in (BDEU, CHICKERING) else ("4-5", "4-7")
    figures = (
        *view.both(
            f"figure-{f_figure}-{score}",
            f"Fig. {f_figure.replace('-', '.')}: gain in F of I-map, {name}",
            "gain in adjacency F",
            f_gain,
            score,
        ),
        *view.both(
            f"figure-{kld_figure}-{score}",
            f"Fig. {kld_figure.replace('-', '.')}: gain in divergence, {name}",
            "divergence of GES less that of I-map",
            kld_gain,
            score,
        ),
    )
    tables = [
        view.matrix(f"f-gain-{score}", f"Gain in adjacency F of I-map over GES, {name}", f_gain, score),
        view.matrix(f"kld-gain-{score}", f"Gain in divergence, {name}", kld_gain, score, digits=4),
    ]
    if score == BIC:
        title = "Table 4.8: divergence of GES with BIC"
        tables.append(view.beside_printed("table-4-8", title, KLD_OF_GES, of("ges", "kld"), (BIC, DOUBLE), 4))
    text = (
        f"The gain of I-map over GES with {name}; positive values favour I-map. The means over all sizes are "
        f"the document's fig. {'4.3' if score in (BDEU, CHICKERING) else '4.6'}."
    )
    return Section(f"Random networks, {name}", text, tuple(tables), figures)


def _missed(view: View) -> Section:
    text = (
        "The conditional mutual information, in the true network, of the dependencies that the graph of GES "
        "denies: of every pair of variables, and of every variable with each one outside its Markov blanket, "
        "given that blanket."
    )
    figures = view.both(
        "figure-4-9",
        "Fig. 4.9: information in missed dependencies",
        "mean information (nats)",
        missed_information,
    )
    return Section("What GES misses", text, (), figures)


def _tests(view: View) -> Section:
    text = (
        "Of the dependencies that tests found during the search, the share that the true network denies by "
        "d-separation."
    )
    figures = view.both(
        "figure-4-10", "Fig. 4.10: false discovery rate", "false discovery rate", overall("fdr")
    )
    title = f"False discovery rate of the tests, {TITLES[view.score]}"
    table = view.matrix("fdr", title, overall("fdr"))
    return Section("The tests", text, (table,), figures)


def _known(study: FrigoDiscrete, view: View) -> Section:
    figures = []
    numbers_of = {"alarm": ("4-11", "4-12"), "insurance": ("4-13", "4-14")}
    for network in study.networks:
        for kind, number in zip(
            ("kld", "f"), numbers_of.get(network, (f"kld-{network}", f"f-{network}")), strict=True
        ):
            label = {"kld": "KL divergence", "f": "adjacency F"}[kind]
            figures.append(
                view.boxes(
                    f"figure-{number}",
                    f"Fig. {number.replace('-', '.')}: {label} on {network}",
                    label,
                    network,
                    {"GES": of("ges", kind), "I-map": of("imap", kind)},
                )
            )
    scores = " and with ".join(TITLES[score] for score in KNOWN_SCORES)
    text = f"Samples of known networks, learned with {scores}. Figures: {TITLES[view.score]}."
    return Section("Known networks", text, (_known_means(study, view),), tuple(figures))


def _known_means(study: FrigoDiscrete, view: View) -> SummaryTable:
    """Means behind the boxes, and the mean difference between the searches."""
    rows: list[tuple[Cell, ...]] = []
    for network, size, score in product(study.networks, study.network_rows, KNOWN_SCORES):
        some = view.known(network, size, score)
        cells: list[Cell] = []
        for kind, digits in (("f", 3), ("kld", 4)):
            means = [numbers(some, of(search, kind)) for search in DISCRETE_SEARCHES]
            apart = mean(numbers(some, gain("imap", kind, smaller=kind == "kld")))
            cells += [plus_minus(own, digits) for own in means]
            cells.append(None if apart is None else f"{apart:+.{digits}f}")
        rows.append((network, f"{size:,}", TITLES[score], *cells))
    return SummaryTable(
        "known",
        "Adjacency F and divergence on known networks",
        (
            "network", "rows", "score", "F of GES", "F of I-map", "gain in F", "divergence of GES",
            "divergence of I-map", "gain in divergence",
        ),
        tuple(rows),
        "Mean ± standard deviation over the samples; gains are positive in favour of I-map.",
    )  # fmt: skip
