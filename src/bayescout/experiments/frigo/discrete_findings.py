"""The statements of the chapter on discrete networks, compared with the records."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product
from typing import TYPE_CHECKING

from bayescout.experiments.frigo.printed import KLD_OF_GES
from bayescout.experiments.frigo.runs import BELIEVED, COLLIDER, COLLIDER_SCORES
from bayescout.experiments.frigo.scores import BDEU, BIC, CHICKERING, DOUBLE, TITLES
from bayescout.experiments.frigo.view import (
    Measure,
    View,
    collider_gains,
    gain,
    numbers,
    of,
    overall,
    spread,
)
from bayescout.experiments.records import Record, deviation, mean
from bayescout.experiments.summary import Finding, Reason
from bayescout.experiments.verdicts import judged, tally, true_in

if TYPE_CHECKING:
    from bayescout.experiments.frigo.discrete import FrigoDiscrete

SMALL, ENOUGH = 500, 1800
"""The most rows that the document calls a low sample size, and those from which on the two are level."""

CLOSE = 0.05
FACTOR = 2.0
LEVEL = 0.05
"""The significance level of the tests, which the document compares their false discovery rate with."""

MISSED = 0.06
"""Mean information in missed dependencies that the document names for its smallest graphs and samples."""

NEARER = gain("imap", "kld", smaller=True)
"""How much nearer to the truth I-map is than GES, in nats."""

EXCEPTED = ("alarm", 5000)
"""The case that the document itself excepts (caption of its figure 4.12)."""


KNOWN_SCORES = (CHICKERING, BDEU)
"""The scores on known networks: the one that is judged, and the one beside it."""

COLLIDER_RUN = "the collider, table of shares"
KNOWN_RUN = "known networks, table of means"


def findings(study: FrigoDiscrete, view: View) -> tuple[Finding, ...]:
    """The statements of the chapter."""
    return (
        collider_ahead(study, view),
        collider_gain(study, view),
        collider_level(study, view),
        gain_of_bdeu(view),
        converges(view, CHICKERING, BDEU),
        level_by_nodes(view),
        nearer_on_small_samples(view, CHICKERING, BDEU),
        gain_of_bic(view),
        converges(view, DOUBLE, BIC),
        nearer_on_small_samples(view, DOUBLE, BIC),
        divergences(view),
        weaker_with_rows(view),
        strong_with_few_rows(view),
        few_false_discoveries(view),
        false_discoveries_by_size(view),
        nearly_the_same(study, view),
        *nearer_on_known(study, view),
    )


def _beside(score: str, cells: dict[str, bool]) -> str:
    return f" With {TITLES[score]}: {tally(cells)}."


# ---- the collider


def collider_ahead(study: FrigoDiscrete, view: View) -> Finding:
    gains = {score: collider_gains(study.collider_rows, view.records, score) for score in COLLIDER_SCORES}
    own = {
        score: {f"{rows:,} rows": value > 0 for rows, value in some.items() if rows < ENOUGH}
        for score, some in gains.items()
    }
    behind = [
        f"{study.sets * abs(value):.0f} at {rows:,} rows"
        for rows, value in gains[BDEU].items()
        if rows < ENOUGH and value <= 0
    ]
    return judged(
        f"On the collider I-map is ahead of GES (BDeu) while there are fewer than {ENOUGH:,} rows.",
        true_in(own[BDEU], "sample sizes", f"With {TITLES[BDEU]}") + _beside(CHICKERING, own[CHICKERING]),
        own[BDEU],
        unit="sample sizes",
        why=(
            Reason(
                f"Data sets of {study.sets:,} by which GES is ahead, where it is: {', '.join(behind)}.",
                COLLIDER_RUN,
            ),
        ),
    )


def collider_level(study: FrigoDiscrete, view: View) -> Finding:
    own, listed = {}, []
    for score in COLLIDER_SCORES:
        gains = collider_gains(study.collider_rows, view.records, score)
        late = {rows: value for rows, value in gains.items() if rows >= ENOUGH}
        own[score] = {f"{rows:,} rows": abs(value) < CLOSE for rows, value in late.items()}
        points = ", ".join(f"{100 * value:+.0f} at {rows:,} rows" for rows, value in late.items())
        listed.append(f"{TITLES[score]}: {points}")
    return judged(
        f"On the collider the difference is very small from {ENOUGH:,} rows on.",
        f"Points by {'; '.join(listed)}.{_beside(CHICKERING, own[CHICKERING])}",
        own[BDEU],
        unit="sample sizes",
        rule=f"less than {100 * CLOSE:.0f} points.",
    )


def collider_gain(study: FrigoDiscrete, view: View) -> Finding:
    gains = {
        score: {
            rows: value
            for rows, value in collider_gains(study.collider_rows, view.records, score).items()
            if rows <= SMALL
        }
        for score in COLLIDER_SCORES
    }
    cells = {
        score: {f"{rows:,} rows": 0.2 <= value <= 0.3 for rows, value in own.items()}
        for score, own in gains.items()
    }
    listed = "; ".join(
        f"{TITLES[score]}: " + ", ".join(f"{100 * value:.0f} at {rows:,} rows" for rows, value in own.items())
        for score, own in gains.items()
    )
    outside = [
        f"{100 * (value - min(max(value, 0.2), 0.3)):+.1f} at {rows:,} rows"
        for rows, value in gains[BDEU].items()
        if not 0.2 <= value <= 0.3
    ]
    return judged(
        "From 100 to 500 rows the gain is 20 to 30 points.",
        f"Points by {listed}.{_beside(CHICKERING, cells[CHICKERING])}",
        cells[BDEU],
        unit="sample sizes",
        why=(
            Reason(f"Points outside that range, with {TITLES[BDEU]}: {', '.join(outside)}.", COLLIDER_RUN),
            _believed(study, view),
        ),
    )


def _believed(study: FrigoDiscrete, view: View) -> Reason:
    """Why the gain is small with few rows: tests that are not believed."""
    rows = min(study.collider_rows)

    def right(part: str) -> int:
        some = view.records.where(part=part, rows=rows, score=BDEU)
        return sum(record.measures["right"]["imap"] for record in some)

    return Reason(
        f"With few rows many chi-squared tests are not believed, because some cell is expected to hold "
        f"fewer than five rows, and I-map knows of few dependencies: at {rows:,} rows it is right on "
        f"{right(COLLIDER):,} of {study.sets:,} data sets. With G², believed whatever the counts, it is "
        f"right on {right(BELIEVED):,}.",
        "the collider with G²",
    )


# ---- random networks


def _gain_cells(view: View, score: str, low: float, high: float) -> dict[str, bool]:
    gains = view.gains_at(min(view.rows), score)
    return {f"{nodes} nodes": low <= value < high for nodes, value in gains.items()}


def _listed_gains(view: View, score: str) -> str:
    gains = view.gains_at(min(view.rows), score)
    return ", ".join(f"{value:+.2f} ({nodes} nodes)" for nodes, value in gains.items())


def gain_of_bdeu(view: View) -> Finding:
    """Figures 4.2 and 4.3."""
    cells = {score: _gain_cells(view, score, 0.25, 0.45) for score in (CHICKERING, BDEU)}
    first = min(view.rows)
    return judged(
        "With BDeu I-map raises the adjacency F of GES most on small samples, by 0.3 to 0.4.",
        f"At {first:,} rows, {TITLES[CHICKERING]}: {_listed_gains(view, CHICKERING)}; {TITLES[BDEU]}: "
        f"{_listed_gains(view, BDEU)}.{_beside(BDEU, cells[BDEU])}",
        cells[CHICKERING],
        unit="numbers of nodes",
        rule=f"at {first:,} rows and rounded to one digit, as the document gives it.",
    )


def gain_of_bic(view: View) -> Finding:
    """Figures 4.5 and 4.6."""
    cells = {score: _gain_cells(view, score, math.nextafter(0.1, 1), math.inf) for score in (DOUBLE, BIC)}
    first = min(view.rows)
    return judged(
        "With BIC I-map raises the adjacency F of GES by more than 0.1 on small samples.",
        f"At {first:,} rows, {TITLES[DOUBLE]}: {_listed_gains(view, DOUBLE)}; {TITLES[BIC]}: "
        f"{_listed_gains(view, BIC)}.{_beside(BIC, cells[BIC])}",
        cells[DOUBLE],
        unit="numbers of nodes",
        rule=f"at {first:,} rows.",
    )


def converges(view: View, score: str, plain: str) -> Finding:
    last = max(view.rows)
    cells = {
        own: {f"{n} nodes": abs(value) < CLOSE for n, value in view.gains_at(last, own).items()}
        for own in (score, plain)
    }
    average = view.mean(gain("imap", "f"), score, rows=last) or 0.0
    return judged(
        f"With {TITLES[plain]} the two converge by {last:,} rows.",
        f"The mean difference of F there is {average:+.3f} with {TITLES[score]}. "
        f"{true_in(cells[score], 'numbers of nodes')}{_beside(plain, cells[plain])}",
        cells[score],
        unit="numbers of nodes",
        rule=f"the mean F differs by less than {CLOSE:g}.",
    )


def level_by_nodes(view: View) -> Finding:
    """The text on figure 4.2."""
    own = {
        score: {n: view.mean(gain("imap", "f"), score, nodes=n) or 0.0 for n in view.nodes}
        for score in (CHICKERING, BDEU)
    }
    cells = {
        score: {f"{n} nodes": abs(x - sum(means.values()) / len(means)) < CLOSE for n, x in means.items()}
        for score, means in own.items()
    }
    listed = ", ".join(f"{value:+.3f} ({nodes} nodes)" for nodes, value in own[CHICKERING].items())
    return judged(
        "With BDeu the improvement of F does not depend on the number of nodes.",
        f"Mean gain over all sample sizes, {TITLES[CHICKERING]}: {listed}.{_beside(BDEU, cells[BDEU])}",
        cells[CHICKERING],
        unit="numbers of nodes",
        rule=f"within {CLOSE:g} of the mean over all.",
    )


def nearer_on_small_samples(view: View, score: str, plain: str) -> Finding:
    """Figures 4.4 and 4.7."""
    cells, text = {}, ""
    few, many = min(view.nodes), max(view.nodes)
    for one in (score, plain):
        by_rows = {rows: view.mean(NEARER, one, rows=rows) or 0.0 for rows in view.rows}
        by_nodes = {nodes: view.mean(NEARER, one, nodes=nodes) or 0.0 for nodes in (few, many)}
        most = max(by_rows, key=by_rows.__getitem__)
        cells[one] = {"small samples": most <= SMALL, "large graphs": by_nodes[many] > by_nodes[few]}
        if one == score:
            text = (
                f"Mean gain in nats with {TITLES[score]}: greatest at {most:,} rows, {by_rows[most]:.4f}; "
                f"{by_nodes[few]:.4f} with {few} nodes and {by_nodes[many]:.4f} with {many}."
            )
    return judged(
        f"With {TITLES[plain]} the improvement in divergence is greatest on small samples, and greater on "
        f"larger graphs.",
        f"{text}{_beside(plain, cells[plain])}",
        cells[score],
        unit="parts of the statement",
        rule=f"a small sample has at most {SMALL} rows.",
    )


def divergences(view: View) -> Finding:
    """Table 4.8."""
    pairs = {score: view.pairs(KLD_OF_GES, of("ges", "kld"), score) for score in (BIC, DOUBLE)}
    score = min(pairs, key=lambda own: spread(pairs[own]) or math.inf)
    ratios = {title: own / said for title, (said, own) in pairs[score].items()}
    cells = {title: 1 / FACTOR <= ratio <= FACTOR for title, ratio in ratios.items()}
    text = "No cell of the table was run."
    if ratios:
        other = next(one for one in pairs if one != score)
        low, high = min(ratios.values()), max(ratios.values())
        text = (
            f"{TITLES[score]} fits better (mean |ln ratio| {spread(pairs[score]):.2f}; {TITLES[other]} "
            f"{spread(pairs[other]):.2f}): our divergences are {mean(list(ratios.values())):.2f} times those "
            f"printed on average, from {low:.2f} to {high:.2f} in single cells."
        )
    return judged(
        "GES with BIC has the divergences of table 4.8.",
        text,
        cells,
        rule=f"within a factor of {FACTOR:g}.",
        why=(Reason("The document's random probabilities and its estimate of divergence from samples may "
                    "differ from ours, which is exact."),),
    )  # fmt: skip


def missed_information(record: Record) -> float | None:
    found: dict[str, float] = record.measures["missed"]
    return found["mean"]


def weaker_with_rows(view: View) -> Finding:
    """Figure 4.9."""
    first, last = min(view.rows), max(view.rows)
    cells, parts = {}, []
    for nodes in view.nodes:
        begin, end = (view.mean(missed_information, nodes=nodes, rows=rows) or 0.0 for rows in (first, last))
        cells[f"{nodes} nodes"] = end < begin
        parts.append(f"{begin:.4f} and {end:.4f} ({nodes} nodes)")
    return judged(
        "The more data, the weaker the dependencies that GES misses.",
        f"Mean information in nats at {first:,} and {last:,} rows: {', '.join(parts)}.",
        cells,
        unit="numbers of nodes",
    )


def strong_with_few_rows(view: View) -> Finding:
    """The text on figure 4.9."""
    nodes, rows = min(view.nodes), min(view.rows)
    found = view.mean(missed_information, nodes=nodes, rows=rows) or 0.0
    return judged(
        f"With 4 nodes and 100 rows the mean information in missed dependencies is above {MISSED:g}.",
        f"{found:.4f} nats ({found / math.log(2):.4f} bits) with {nodes} nodes and {rows} rows.",
        found > MISSED,
        why=(Reason("The document's random probabilities may be further from uniform than ours."),),
    )


def few_false_discoveries(view: View) -> Finding:
    """Figure 4.10."""
    rates = view.cells(overall("fdr"))
    cells = {title: rate < LEVEL for title, rate in rates.items()}
    worst = max(rates, key=rates.__getitem__)
    least = min(view.nodes)
    small = {title: ok for title, ok in cells.items() if title.startswith(f"{least} nodes")}
    return judged(
        "The false discovery rate always stays below the significance level of 5%.",
        f"The highest mean is {rates[worst]:.3f} ({worst}). Below the level are {tally(small)} sizes with "
        f"{least} nodes, and {tally(cells)} of all.",
        cells,
        unit="sizes",
        why=(Reason("Small graphs have few true dependencies to find, so false ones are a larger share."),),
    )


def false_discoveries_by_size(view: View) -> Finding:
    """The text on figure 4.10."""
    by_nodes = [view.mean(overall("fdr"), nodes=n) or 0.0 for n in (min(view.nodes), max(view.nodes))]
    by_rows = [view.mean(overall("fdr"), rows=r) or 0.0 for r in (min(view.rows), max(view.rows))]
    return judged(
        "The false discovery rate does not grow with the number of nodes, but with the rows.",
        f"{by_nodes[0]:.3f} with {min(view.nodes)} nodes and {by_nodes[1]:.3f} with {max(view.nodes)}; "
        f"{by_rows[0]:.3f} at {min(view.rows):,} rows and {by_rows[1]:.3f} at {max(view.rows):,}.",
        {"not with nodes": by_nodes[1] <= by_nodes[0], "with rows": by_rows[1] > by_rows[0]},
        unit="parts of the statement",
        why=(_no_trend(view),),
    )


def _no_trend(view: View) -> Reason:
    """The lowest and the highest rate at any number of rows."""
    rates = {rows: view.mean(overall("fdr"), rows=rows) or 0.0 for rows in view.rows}
    low, high = (choose(rates, key=rates.__getitem__) for choose in (min, max))
    return Reason(
        f"Between sample sizes the rate goes up and down, lowest at {low:,} rows, {rates[low]:.3f}, and "
        f"highest at {high:,}, {rates[high]:.3f}.",
        "the tests, figure 4.10",
    )


# ---- known networks


def _on_known(
    study: FrigoDiscrete, view: View, measure: Measure, networks: Iterable[str]
) -> dict[str, dict[tuple[str, int], float]]:
    """The mean of a measure on each known network at each number of rows, by score."""
    return {
        score: {
            (network, rows): value
            for network, rows in product(networks, study.network_rows)
            if (value := mean(numbers(view.known(network, rows, score), measure))) is not None
        }
        for score in KNOWN_SCORES
    }


def nearly_the_same(study: FrigoDiscrete, view: View) -> Finding:
    """Figures 4.12 and 4.14."""
    apart = _on_known(study, view, gain("imap", "f"), study.networks)
    cells = {
        score: {
            f"{n} {rows:,}": abs(value) < CLOSE for (n, rows), value in own.items() if (n, rows) != EXCEPTED
        }
        for score, own in apart.items()
    }
    listed = "; ".join(
        f"{TITLES[score]}: " + ", ".join(f"{n} {rows:,} {value:+.3f}" for (n, rows), value in own.items())
        for score, own in apart.items()
    )
    return judged(
        "On alarm and insurance the two have nearly the same F (but for alarm with 5,000 rows, figure 4.12).",
        f"Mean difference of adjacency F, positive for I-map: {listed}.{_beside(BDEU, cells[BDEU])}",
        cells[CHICKERING],
        unit="samples",
        rule=f"the mean F differs by less than {CLOSE:g}.",
    )


def nearer_on_known(study: FrigoDiscrete, view: View) -> tuple[Finding, ...]:
    """Figures 4.11 and 4.13."""
    found = []
    for network, claim, sizes in (
        ("alarm", "On alarm I-map has a slightly lower divergence with 500 rows (figure 4.11).", (500,)),
        ("insurance", "On insurance I-map has the lower divergence in all settings (figure 4.13).", None),
    ):
        gains = {
            score: {rows: value for (_, rows), value in own.items()}
            for score, own in _on_known(study, view, NEARER, [network]).items()
        }
        cells = {
            score: {f"{rows:,} rows": value > 0 for rows, value in own.items() if rows in (sizes or own)}
            for score, own in gains.items()
        }
        if network not in study.networks or not cells[CHICKERING]:
            continue
        listed = "; ".join(
            f"{TITLES[score]}: " + ", ".join(f"{value:+.4f} at {rows:,} rows" for rows, value in own.items())
            for score, own in gains.items()
        )
        own = gains[CHICKERING]
        named = {rows: value for rows, value in own.items() if rows in (sizes or own)}
        found.append(
            judged(
                claim,
                f"Mean divergence of GES less that of I-map, in nats: {listed}.{_beside(BDEU, cells[BDEU])}",
                cells[CHICKERING],
                unit="sample sizes",
                why=(_beside_the_spread(view, network, named),),
            )
        )
    return tuple(found)


def _beside_the_spread(view: View, network: str, gains: Mapping[int, float]) -> Reason:
    """The differences in divergence as shares of how much that of GES differs between samples."""
    spreads = {rows: deviation(numbers(view.known(network, rows), of("ges", "kld"))) for rows in gains}
    shares = [abs(gains[rows]) / spread for rows, spread in spreads.items() if spread]
    return Reason(
        f"The differences are at most {100 * max(shares, default=0.0):.0f}% of the standard deviation of the "
        f"divergence of GES between samples.",
        KNOWN_RUN,
    )


def fits_together(study: FrigoDiscrete, view: View) -> str:
    """The sentence on whether one setting fits the collider and the smallest random networks together."""
    least, parts, both = min(view.nodes), [], []
    for score in COLLIDER_SCORES:
        gains = collider_gains(study.collider_rows, view.records, score)
        low = [value for rows, value in gains.items() if rows <= SMALL]
        inside = sum(0.2 <= value <= 0.3 for value in low)
        four = view.gains_at(min(view.rows), score).get(least, 0.0)
        if inside == len(low) and 0.25 <= four < 0.45:
            both.append(TITLES[score])
        parts.append(
            f"{TITLES[score]} gains 20 to 30 points in {inside} of {len(low)} sample sizes of the collider, "
            f"and {four:+.2f} with {least} nodes"
        )
    end = f"{' and '.join(both)} fits both" if both else "none fits both together"
    return (
        f"The document gives no parameters, so several were run. {'; '.join(parts)}: {end}. For BIC, the "
        f"last column shows which charge fits table 4.8, and the gains show which fits figure 4.5."
    )
