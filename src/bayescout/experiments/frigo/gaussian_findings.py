"""The statements of the chapter on continuous networks, compared with the records."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING

from bayescout.experiments.frigo.printed import F_OF_GES
from bayescout.experiments.frigo.scores import BIC, GAUSSIAN_SCORES, QUARTER, TITLES
from bayescout.experiments.frigo.view import Measure, View, gain, numbers, of, overall
from bayescout.experiments.records import Record, mean
from bayescout.experiments.summary import Finding, Reason
from bayescout.experiments.verdicts import judged, tally, true_in

if TYPE_CHECKING:
    from bayescout.experiments.frigo.gaussian import FrigoGaussian

LARGE = 9
"""Number of nodes from which on, according to the document, pruning pays."""

CLOSE, RIGHT, LEVEL = 0.05, 0.2, 0.05
FEW_ROWS, FEW_NODES, LEVEL_FROM = 200, 5, 8
SIMILAR = 1.0
"""Percent of a score by which two that count as similar may differ."""

RUN, KNOWN_RUN = "random models with both charges", "known graphs with both charges"


def findings(study: FrigoGaussian, view: View) -> tuple[Finding, ...]:
    """The statements of the chapter."""
    return (
        overfits(study, view),
        as_printed(view),
        pruned_gains(view),
        pruned_ratio(view),
        imap_near(view),
        imap_sparser(view),
        score_near(view),
        rates(view),
        rates_by_nodes(view),
        better_on_known(
            study, view, "imap-pruned", "I-map pruned has the better adjacency F at every size.", 0
        ),
        better_on_known(study, view, "imap", "I-map has the better adjacency F at every size but one.", 1),
        score_on_known(
            study, view, "imap-pruned", "the BIC of I-map pruned is below that of GES.", lambda x: x < 0
        ),
        score_on_known(
            study,
            view,
            "imap",
            "the BIC of I-map is similar to that of GES.",
            lambda x: abs(x) < SIMILAR,
            f"similar is within {SIMILAR:g}%.",
        ),
    )


def _beside(cells: dict[str, bool]) -> str:
    return f" With {TITLES[BIC]}: {tally(cells)}."


def overfits(study: FrigoGaussian, view: View) -> Finding:
    """Figures 5.4 and 5.5."""
    text, cells = [], {}
    few, many = min(view.nodes), max(view.nodes)
    for score in GAUSSIAN_SCORES:
        small, large = (view.mean(of("ges", "ratio"), score, nodes=n) or 0.0 for n in (few, many))
        most = max(view.cells(of("ges", "ratio"), score).values())
        cells[score] = {"too many arcs": large > 1, "more on larger graphs": large > small, "twice": most > 2}
        text.append(
            f"{TITLES[score]}: {small:.2f} arcs for each true one with {few} nodes, {large:.2f} with {many}, "
            f"at most {most:.2f}"
        )
    return judged(
        "GES gives too many arcs, the more the larger the graph, at places more than twice as many.",
        f"{'; '.join(text)}.{_beside(cells[BIC])}",
        cells[QUARTER],
        unit="parts of the statement",
        why=(_denser_on_known(study, view),),
    )


def _denser_on_known(study: FrigoGaussian, view: View) -> Reason:
    """The most arcs that GES gives on the known graphs, which are larger than the random ones."""
    ratios = _known(study, view, QUARTER, of("ges", "ratio"))
    most = max(ratios, key=ratios.__getitem__)
    return Reason(
        f"On the known graphs, which are larger, GES gives up to {ratios[most]:.2f} arcs for each true one "
        f"with {TITLES[QUARTER]} ({most} rows).",
        KNOWN_RUN,
    )


def as_printed(view: View) -> Finding:
    """Table 5.8."""
    pairs = {score: view.pairs(F_OF_GES, of("ges", "f"), score) for score in GAUSSIAN_SCORES}

    def off(score: str) -> float:
        return mean([abs(own - said) for said, own in pairs[score].values()]) or math.inf

    best = min(GAUSSIAN_SCORES, key=off)
    listed = "; ".join(
        f"{TITLES[score]} differs by {off(score):.3f} on average "
        f"({mean([own - said for said, own in pairs[score].values()]) or 0.0:+.3f} with sign)"
        for score in GAUSSIAN_SCORES
        if pairs[score]
    )
    return judged(
        "Adjacency F of GES as printed in table 5.8.",
        f"{listed or 'No cell of the table was run'}; judged with {TITLES[best]}.",
        {title: abs(own - said) <= CLOSE for title, (said, own) in pairs[best].items()},
        rule=f"within {CLOSE:g} of the printed value.",
        why=(
            Reason(
                "The document gives only the most arcs of its random graphs; how many they have may differ."
            ),
        ),
    )


def pruned_gains(view: View) -> Finding:
    """Figures 5.6 and 5.7."""
    cells: dict[str, dict[str, bool]] = {}
    text = []
    for score in GAUSSIAN_SCORES:
        large = {
            n: view.mean(gain("imap-pruned", "f"), score, nodes=n) or 0.0 for n in view.nodes if n >= LARGE
        }
        single = {
            title: value
            for title, value in view.cells(gain("imap-pruned", "f"), score).items()
            if int(title.split()[0]) >= LARGE
        }
        cells[score] = {f"{n} nodes": value > 0 for n, value in large.items()}
        if large:
            most, best = max(large), max(single, key=single.__getitem__)
            text.append(
                f"{TITLES[score]}: {large[most]:+.3f} on average with {most} nodes, at best "
                f"{single[best]:+.3f} "
                f"({best})"
            )
    return judged(
        f"I-map pruned has the better adjacency F on graphs of {LARGE} nodes and more, by up to 0.18.",
        f"{'; '.join(text) or 'No such graphs were run'}.{_beside(cells[BIC])}",
        cells[QUARTER],
        unit="numbers of nodes",
        why=(Reason("Where GES has few needless arcs there is little to prune, and pruning removes true arcs "
                    "too.", RUN),),
    )  # fmt: skip


def pruned_ratio(view: View) -> Finding:
    """Figure 5.10."""
    means = {r: view.mean(of("imap-pruned", "ratio"), rows=r) or 0.0 for r in view.rows}
    cells = {
        f"{rows:,} rows": value < 1 if rows <= FEW_ROWS else abs(value - 1) <= RIGHT
        for rows, value in means.items()
    }
    listed = ", ".join(f"{rows:,}: {value:.2f}" for rows, value in means.items())
    return judged(
        "I-map pruned gives about the right number of arcs, too few at 100 and 200 rows.",
        f"Arcs for each true one by rows: {listed}.",
        cells,
        unit="sample sizes",
        rule=f"about right is within {RIGHT:g} of 1.",
    )


def imap_near(view: View) -> Finding:
    """Figure 5.11."""
    means = {score: view.mean(gain("imap", "f"), score) or 0.0 for score in GAUSSIAN_SCORES}
    listed = "; ".join(f"{TITLES[score]}: {value:+.3f}" for score, value in means.items())
    return judged(
        "I-map's adjacency F is little different from that of GES.",
        f"The mean difference over all runs: {listed}.",
        abs(means[QUARTER]) < CLOSE,
        rule=f"the mean differs by less than {CLOSE:g}.",
        why=(
            Reason(
                f"It depends on how many needless arcs GES has: with {TITLES[BIC]}, under which it has few, "
                f"the difference is {means[BIC]:+.3f}.",
                RUN,
            ),
        ),
    )


def imap_sparser(view: View) -> Finding:
    """Figure 5.13."""
    text, cells = [], {}
    for score in GAUSSIAN_SCORES:
        own = {search: view.mean(of(search, "ratio"), score) or 0.0 for search in ("imap", "ges")}
        text.append(f"{own['imap']:.2f} arcs for each true one against {own['ges']:.2f} ({TITLES[score]})")
        by_nodes = {
            n: [view.mean(of(search, "ratio"), score, nodes=n) or 0.0 for search in ("imap", "ges")]
            for n in view.nodes
        }
        cells[score] = {f"{n} nodes": imap < ges for n, (imap, ges) in by_nodes.items()}
    return judged(
        "I-map's graphs have fewer arcs than those of GES.",
        f"{'; '.join(text)}. {true_in(cells[QUARTER], 'numbers of nodes')}{_beside(cells[BIC])}",
        cells[QUARTER],
        unit="numbers of nodes",
    )


def rates(view: View) -> Finding:
    """Figures 5.2 and 5.3."""
    far = {r: view.mean(overall("far"), rows=r) or 0.0 for r in view.rows}
    first, last = min(far), max(far)
    fdr = view.mean(overall("fdr")) or 0.0
    return judged(
        "False acceptance falls as rows grow; false discovery stays low.",
        f"False acceptance {far[first]:.3f} at {first:,} rows and {far[last]:.3f} at {last:,}; false "
        f"discovery {fdr:.3f} on average.",
        {"false acceptance falls": far[last] < far[first], "false discovery is low": fdr < LEVEL},
        unit="parts of the statement",
        rule=f"low is less than the level of the tests, {LEVEL:g}.",
    )


def rates_by_nodes(view: View) -> Finding:
    """The captions of figures 5.2 and 5.3."""
    large = [nodes for nodes in view.nodes if nodes >= LEVEL_FROM] or [max(view.nodes)]
    far = {n: view.mean(overall("far"), nodes=n) or 0.0 for n in (large[0], large[-1])}
    fdr = {n: view.mean(overall("fdr"), nodes=n) or 0.0 for n in view.nodes}
    worst = max(fdr, key=fdr.__getitem__)
    return judged(
        f"From {LEVEL_FROM} nodes on the false acceptance rate does not depend on the number of nodes; false "
        f"discovery is highest on graphs of {FEW_NODES} nodes or fewer.",
        f"False acceptance {far[large[0]]:.3f} with {large[0]} nodes and {far[large[-1]]:.3f} with "
        f"{large[-1]}; false discovery highest with {worst} nodes, {fdr[worst]:.3f}.",
        {
            "false acceptance is level": abs(far[large[-1]] - far[large[0]]) < CLOSE,
            "false discovery falls with nodes": worst <= FEW_NODES,
        },
        unit="parts of the statement",
        rule=f"does not depend is a difference below {CLOSE:g}.",
        why=(
            Reason(
                "On larger graphs more of the true dependencies are between nodes far apart, and too weak "
                "for the tests."
            ),
        ),
    )


def score_near(view: View) -> Finding:
    """Figure 5.12."""

    def less(rows: int) -> float:
        own, ges = (view.mean(_score_of(name), rows=rows) or 0.0 for name in ("imap", "ges"))
        return 100 * (ges - own) / abs(ges)

    found = {rows: less(rows) for rows in view.rows}
    listed = ", ".join(f"{rows:,}: {value:.2f}" for rows, value in found.items())
    return judged(
        "I-map pays a relatively small penalty in BIC for its simpler graphs.",
        f"Percent of the BIC of GES by which that of I-map is lower, by rows: {listed}.",
        {f"{rows:,} rows": value < SIMILAR for rows, value in found.items()},
        unit="sample sizes",
        rule=f"relatively small is less than {SIMILAR:g}%.",
    )


def _score_of(search: str) -> Measure:
    return lambda record: record.measures[search]["score"]


def _known(study: FrigoGaussian, view: View, score: str, measure: Measure) -> dict[str, float]:
    """The mean of a measure on each known graph at each number of rows."""
    return {
        f"{network} {rows:,}": mean(numbers(view.known(network, rows, score), measure)) or 0.0
        for network, rows in product(study.networks, study.network_rows)
    }


def _listed_known(study: FrigoGaussian, view: View, measure: Measure, digits: str) -> str:
    """The mean of a measure on known graphs, with both charges."""
    parts = []
    for score in GAUSSIAN_SCORES:
        own = _known(study, view, score, measure)
        parts.append(f"{TITLES[score]}: " + ", ".join(f"{title} {x:{digits}}" for title, x in own.items()))
    return "; ".join(parts)


def better_on_known(study: FrigoGaussian, view: View, search: str, claim: str, excepted: int) -> Finding:
    """Figures 5.14, 5.15, 5.18 and 5.19; the document excepts so many settings."""
    measure = gain(search, "f")
    cells = {
        score: {title: x > 0 for title, x in _known(study, view, score, measure).items()}
        for score in GAUSSIAN_SCORES
    }
    enough = sum(cells[QUARTER].values()) >= len(cells[QUARTER]) - excepted
    return judged(
        f"On the graphs of alarm and insurance {claim}",
        f"Mean difference to GES: {_listed_known(study, view, measure, '+.3f')}. "
        f"{true_in(cells[QUARTER], 'samples')}{_beside(cells[BIC])}",
        enough if excepted else cells[QUARTER],
        unit="samples",
        why=(Reason("Where GES has few needless arcs there is little to gain.", KNOWN_RUN),),
    )


def score_on_known(
    study: FrigoGaussian, view: View, search: str, claim: str, test: Callable[[float], bool], rule: str = ""
) -> Finding:
    """Figures 5.16, 5.17, 5.20 and 5.21."""
    cells = {
        score: {title: test(x) for title, x in _known(study, view, score, _percent(search)).items()}
        for score in GAUSSIAN_SCORES
    }
    return judged(
        f"On the graphs of alarm and insurance {claim}",
        f"Mean difference to GES in percent of its BIC, negative where that of GES is higher: "
        f"{_listed_known(study, view, _percent(search), '+.2f')}. "
        f"{true_in(cells[QUARTER], 'samples')}{_beside(cells[BIC])}",
        cells[QUARTER],
        unit="samples",
        rule=rule,
    )


def _percent(search: str) -> Measure:
    """The score of a search less that of GES, in percent of the size of the latter."""

    def found(record: Record) -> float:
        own, ges = (record.measures[name]["score"] for name in (search, "ges"))
        return float(100 * (own - ges) / abs(ges))

    return found
