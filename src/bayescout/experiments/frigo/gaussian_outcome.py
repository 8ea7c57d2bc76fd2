"""The chapter on continuous networks as a results section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescout.experiments.frigo.printed import F_OF_GES
from bayescout.experiments.frigo.runs import GAUSSIAN_SEARCHES
from bayescout.experiments.frigo.view import Measure, View, gain, line, numbers, of, overall
from bayescout.experiments.parts import finding
from bayescout.experiments.records import Records, mean
from bayescout.experiments.summary import Finding, Outcome, Section
from bayescout.plots.values import Boxes, Histograms, Lines, Panel

if TYPE_CHECKING:
    from bayescout.experiments.frigo.gaussian import FrigoGaussian

INTRODUCTION = """\
On linear-Gaussian data the document finds that GES with BIC gives too many arcs, and lets I-map grow only \
by arcs that cover a dependency (Fisher's z at 5%), prunes arcs whose ends are independent, by themselves or \
given all others, and either stops there (I-map pruned) or grows and shrinks once more (I-map). {graphs} \
random models of at most two arcs a node, coefficients uniform in [-1, 1] and noise of variance 1, for each \
number of nodes ({nodes}) and rows ({rows}); {samples} models on the graphs of {networks} at each size."""

TITLES = {"ges": "GES", "imap": "I-map", "imap-pruned": "I-map pruned"}
BIC, F, RATIO = "score", "f", "ratio"
LARGE = 9
"""Number of nodes from which on, according to the document, pruning pays."""


def outcome(study: FrigoGaussian, records: Records) -> Outcome:
    """Findings, tables and figures."""
    view = View(records, study.nodes, study.rows, study.network_rows)
    introduction = INTRODUCTION.format(
        graphs=study.graphs,
        nodes=f"{min(study.nodes)} to {max(study.nodes)}",
        rows=", ".join(f"{n:,}" for n in study.rows),
        samples=study.samples,
        networks=" and ".join(study.networks),
    )
    sections = (_tests(view), _ges(view), _pruned(view), _imap(view), _known(study, view))
    return Outcome(study.name, study.title, study.source, introduction, findings(study, view), sections)


def _tests(view: View) -> Section:
    text = (
        "Of the true dependencies asked about, the share that tests accepted as independencies (false "
        "acceptance), and of the dependencies found the share that is not there (false discovery)."
    )
    figures = (
        *view.both("figure-5-2", "Fig. 5.2: false acceptance rate", "false acceptance rate", overall("far")),
        *view.both("figure-5-3", "Fig. 5.3: false discovery rate", "false discovery rate", overall("fdr")),
    )
    return Section("The tests", text, (), figures)


def _ges(view: View) -> Section:
    text = "Arcs learned for each true one: above 1 the graph is too dense. The mean by nodes is fig. 5.5."
    figures = view.both(
        "figure-5-4", "Fig. 5.4: arcs of GES for each true one", "arc ratio", of("ges", RATIO)
    )
    table = view.beside_printed(
        "table-5-8", "Table 5.8: adjacency F of GES", F_OF_GES, of("ges", F), "bic", 3
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
    table = view.matrix("f-gain-pruned", "Gain in adjacency F of I-map pruned over GES", measure)
    return Section(
        "I-map pruned",
        "Positive is in favour of I-map pruned. The mean by nodes is fig. 5.7.",
        (table,),
        figures,
    )


def _imap(view: View) -> Section:
    boxes = Boxes(
        "figure-5-11",
        "Fig. 5.11: adjacency F of all runs",
        "adjacency F",
        tuple((TITLES[s], numbers(view.random(), of(s, F))) for s in GAUSSIAN_SEARCHES),
    )
    per_row = {search: _score_per_row(search) for search in ("ges", "imap")}
    series = tuple(
        line(TITLES[s], view.rows, [view.mean(m, rows=rows) for rows in view.rows])
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
    return Section("I-map", "The variant that covers every dependency found.", tables, (boxes, trend, ratios))


def _score_per_row(search: str) -> Measure:
    return lambda record: record.measures[search][BIC] / record.run["rows"]


def _histograms(view: View, name: str, title: str, search: str) -> Histograms:
    panels = tuple((TITLES[s], numbers(view.random(), of(s, RATIO))) for s in ("ges", search))
    return Histograms(name, title, "arcs learned for each true one", panels, (("as many", 1.0),))


def _known(study: FrigoGaussian, view: View) -> Section:
    figures = []
    first = {("imap-pruned", F): 14, ("imap-pruned", BIC): 16, ("imap", F): 18, ("imap", BIC): 20}
    for (search, measure), number in first.items():
        for place, network in enumerate(study.networks):
            label = {F: "adjacency F", BIC: "BIC (nats)"}[measure]
            title = f"Fig. 5.{number + place}: {label} on {network}, GES and {TITLES[search]}"
            shown = {TITLES[s]: of(s, measure) for s in ("ges", search)}
            figures.append(view.boxes(f"figure-5-{number + place}", title, label, network, shown))
    text = "Linear-Gaussian models on the graphs of known networks; larger BIC is better."
    return Section("Known networks", text, (), tuple(figures))


# ---- findings


def findings(study: FrigoGaussian, view: View) -> tuple[Finding, ...]:
    """The statements of the chapter."""
    return (
        _overfits(view),
        _of_table(view),
        _pruned_gains(view),
        _pruned_ratio(view),
        _imap_near(view),
        _imap_sparser(view),
        _rates(view),
        _on_known(study, view),
    )


def _overfits(view: View) -> Finding:
    means = {n: view.mean(of("ges", RATIO), nodes=n) or 0.0 for n in view.nodes}
    few, many = min(means), max(means)
    cells = [view.mean(of("ges", RATIO), nodes=n, rows=r) or 0.0 for n in view.nodes for r in view.rows]
    holds = means[many] > means[few] and max(cells) > 2
    return finding(
        "GES gives too many arcs, the more the larger the graph, at places more than twice as many.",
        f"{means[few]:.2f} arcs for each true one with {few} nodes, {means[many]:.2f} with {many}; at most "
        f"{max(cells):.2f}.",
        holds,
        "Perhaps because our GES turns and deletes until nothing changes.",
    )


def _of_table(view: View) -> Finding:
    pairs = view.pairs(F_OF_GES, of("ges", F), "bic")
    apart = mean([own - printed for own, printed in pairs]) or 0.0
    size = mean([abs(own - printed) for own, printed in pairs]) or 0.0
    return finding(
        "Adjacency F of GES as printed in table 5.8.",
        f"Ours differ by {size:.3f} on average ({apart:+.3f} with sign) over {len(pairs)} cells.",
        size <= 0.06,
        "The document does not say how many arcs its random graphs have below the limit.",
    )


def _pruned_gains(view: View) -> Finding:
    measure = gain("imap-pruned", F)
    large = {n: view.mean(measure, nodes=n) or 0.0 for n in view.nodes if n >= LARGE}
    best = max((view.mean(measure, nodes=n, rows=r) or 0.0 for n in large for r in view.rows), default=0.0)
    better = sum(value > 0 for value in large.values())
    holds = bool(large) and better == len(large)
    return finding(
        f"I-map pruned has the better adjacency F on graphs of {LARGE} nodes and more, by up to 0.18.",
        f"On average at {better} of {len(large)} sizes; at best by {best:+.3f}.",
        holds,
        "Perhaps because our GES gives few needless arcs, and pruning also removes true ones.",
    )


def _pruned_ratio(view: View) -> Finding:
    means = {r: view.mean(of("imap-pruned", RATIO), rows=r) or 0.0 for r in view.rows}
    large = [value for rows, value in means.items() if rows > 200]
    small = [value for rows, value in means.items() if rows <= 200]
    holds = all(0.8 <= value <= 1.2 for value in large) and all(value < 1 for value in small)
    told = ", ".join(f"{rows:,}: {value:.2f}" for rows, value in means.items())
    return finding(
        "I-map pruned gives about the right number of arcs, too few at 100 and 200 rows.",
        f"Arcs for each true one by rows: {told}.",
        holds,
        "It stays away from 1 at some sizes.",
    )


def _imap_near(view: View) -> Finding:
    difference = view.mean(gain("imap", F)) or 0.0
    return finding(
        "I-map's adjacency F is little different from that of GES.",
        f"The mean difference is {difference:+.3f}.",
        abs(difference) < 0.05,
        "Perhaps because dependencies are at times covered by arcs that are not the true ones.",
    )


def _imap_sparser(view: View) -> Finding:
    ges, imap = (view.mean(of(search, RATIO)) or 0.0 for search in ("ges", "imap"))
    return finding(
        "I-map's graphs have fewer arcs than those of GES.",
        f"{imap:.2f} arcs for each true one against {ges:.2f}.",
        imap < ges,
        "Perhaps because our GES has few needless arcs, and covering every dependency found adds some.",
    )


def _rates(view: View) -> Finding:
    far = {r: view.mean(overall("far"), rows=r) or 0.0 for r in view.rows}
    first, last = min(far), max(far)
    fdr = view.mean(overall("fdr")) or 0.0
    holds = far[last] < far[first] and fdr < 0.05
    return finding(
        "False acceptance falls as rows grow; false discovery stays low.",
        f"False acceptance {far[first]:.3f} at {first:,} rows and {far[last]:.3f} at {last:,}; false "
        f"discovery {fdr:.3f} on average.",
        holds,
        "Perhaps because sparse graphs have few true dependencies, so that false ones weigh more.",
    )


def _on_known(study: FrigoGaussian, view: View) -> Finding:
    told, better = [], True
    for network in study.networks:
        for rows in study.network_rows:
            difference = mean(numbers(view.known(network, rows), gain("imap-pruned", F))) or 0.0
            better &= difference > 0
            told.append(f"{network} {rows:,}: {difference:+.3f}")
    return finding(
        "On the graphs of alarm and insurance I-map pruned has the better adjacency F at every size.",
        f"Mean difference to GES: {'; '.join(told)}.",
        better,
        "Perhaps because GES has few needless arcs there and pruning costs true ones.",
    )
