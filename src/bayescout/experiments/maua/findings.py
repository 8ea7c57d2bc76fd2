"""The document's statements and questions, compared with the records."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

from bayescout.experiments.comparisons import LEVEL, mann_whitney
from bayescout.experiments.maua.names import APPROACHES, CLIMBING, INSERTION, RESTARTS, SAMPLING
from bayescout.experiments.maua.view import View, bests, pooled, title
from bayescout.experiments.parts import finding, share
from bayescout.experiments.study import Declared
from bayescout.experiments.summary import Finding

CORRELATED = 0.8
"""Rank correlation from which on training and test are said to rank networks alike."""

ENOUGH = 0.01
"""Most nats per row that estimated parameters lose against the true ones if the data are enough."""

BETTER = "Better means: higher in both on every data set, and beyond chance (Mann-Whitney, 5%)."
THEIRS = (SAMPLING, CLIMBING, RESTARTS)


def findings(view: View) -> tuple[Finding, ...]:
    """Every statement and question of the document that the records can answer."""
    found = [
        is_correct(view),
        climbing_beats_sampling(view),
        restarts_beat_sampling(view),
        restarts_help(view),
        insertion_helps(view),
        training_predicts(view),
        learned_reach_handcrafted(view),
        enough_data(view),
        always_finite(view),
    ]
    return tuple(one for one in found if one is not None)


def is_correct(view: View) -> Finding | None:
    """On simulated data the generating network should be found."""
    parts, holds = [], True
    for data in view.largest():
        own = view.reference(data, "train")
        if own is None:
            return None
        best = {a: max(bests(view.of(data, a), "train")) for a in APPROACHES}
        theirs = max(best[a] for a in THEIRS)
        holds = holds and theirs >= own
        parts.append(f"{title(data)}: {theirs - own:+,.1f}, with insertions {best[INSERTION] - own:+,.1f}")
    return finding(
        "On simulated data the outcome should indicate that the implementation is correct: the generating "
        "network's BIC should be reached.",
        f"The best BIC that sampling, climbing or restarts found less the generating network's, in nats: "
        f"{'; '.join(parts)}.",
        holds,
        "Climbs by swaps of neighbours end after a handful of moves, and parents are chosen greedily. Moving "
        "a node to any place in the order repairs most of it.",
    )


def _duel(view: View, one: str, other: str) -> tuple[str, bool]:
    """The best networks of two approaches on training and test, and True if the first is ahead in both."""
    parts, holds = [], True
    for data in view.sets():
        cells = []
        for measure in ("train", "test"):
            values = [bests(view.of(data, approach), measure) for approach in (one, other)]
            gain = mean(values[0]) - mean(values[1])
            sure = mann_whitney(*values) < LEVEL
            holds = holds and gain > 0 and sure
            cells.append(f"{gain:+,.1f}{'' if sure else ' (not significant)'}")
        parts.append(f"{title(data)}: {cells[0]} and {cells[1]}")
    work = [mean([view.of(d, a).mean("evaluations") or 0.0 for d in view.sets()]) for a in (one, other)]
    return (
        f"Mean gain in BIC and in test log-likelihood, in nats: {'; '.join(parts)}. Families asked for: "
        f"{work[0]:,.0f} and {work[1]:,.0f}.",
        holds,
    )


def climbing_beats_sampling(view: View) -> Finding:
    text, holds = _duel(view, CLIMBING, SAMPLING)
    return finding(
        f"Greedy search over orders is better than sampling them: a single climb than "
        f"{view.study.orders:,} sampled orders.",
        text,
        holds,
        f"A climb by swaps of neighbours soon ends; the best of many random orders is further up. {BETTER}",
    )


def restarts_beat_sampling(view: View) -> Finding:
    text, holds = _duel(view, RESTARTS, SAMPLING)
    return finding(
        f"Greedy search with {view.study.restarts:,} restarts is better than {view.study.orders:,} sampled "
        f"orders.",
        text,
        holds,
        BETTER,
    )


def restarts_help(view: View) -> Finding:
    text, holds = _duel(view, RESTARTS, CLIMBING)
    return finding("Multiple restarts improve on a single climb.", text, holds, BETTER)


def insertion_helps(view: View) -> Finding:
    text, holds = _duel(view, INSERTION, RESTARTS)
    return finding(
        f"Results can be improved: letting a node move to any place of the order ({view.study.insertions} "
        f"restarts) is better than swaps of neighbours ({view.study.restarts:,} restarts).",
        text,
        holds,
        BETTER,
    )


def training_predicts(view: View) -> Finding:
    parts, least = [], 1.0
    for data in view.sets():
        train, test = (_all(view, data, measure) for measure in ("train", "test"))
        rho = rank_correlation(train, test)
        least = min(least, rho)
        parts.append(f"{title(data)}: {rho:.2f}")
    return finding(
        "Networks with a better training score generalise better: the score is a guide to unseen data.",
        f"Rank correlation of BIC and test log-likelihood over all networks kept: {'; '.join(parts)}.",
        least >= CORRELATED,
        f"Asked for: {CORRELATED:g} on every data set.",
    )


def _all(view: View, data: Declared, measure: str) -> list[float]:
    return [value for approach in APPROACHES for value in pooled(view.of(data, approach), measure)]


def rank_correlation(one: Sequence[float], two: Sequence[float]) -> float:
    """Spearman's rank correlation; 0 if either is constant."""
    from scipy.stats import spearmanr

    if len(one) < 2 or min(one) == max(one) or min(two) == max(two):
        return 0.0
    return float(spearmanr(one, two).statistic)


def learned_reach_handcrafted(view: View) -> Finding | None:
    parts, holds = [], True
    for data in view.sets():
        own = view.reference(data, "test")
        if own is None:
            return None
        rates = {a: _share_above(pooled(view.of(data, a), "test"), own) for a in APPROACHES}
        holds = holds and min(rates.values()) > 0.5
        most = max(rates, key=lambda approach: rates[approach])
        parts.append(f"{title(data)}: {100 * rates[most]:.0f}% of {most}, the most of any approach")
    return finding(
        "The learned networks are as good as the handcrafted one on unseen data (more than half of those "
        "kept, of every approach).",
        f"At least as good are {'; '.join(parts)}.",
        holds,
        "The handcrafted network is here the one that the rows come from, which is hard to beat; a network "
        "of one's own making need not be.",
    )


def _share_above(values: Sequence[float], bound: float) -> float:
    return sum(value >= bound for value in values) / len(values)


def enough_data(view: View) -> Finding | None:
    parts, losses = [], {}
    for data in view.sets():
        record = view.handcrafted(data)
        if record is None or record.measures["own"] is None:
            return None
        own = record.measures
        losses[title(data)] = (own["own"] - own["test"][0]) / own["test_rows"]
        parts.append(f"{title(data)}: {losses[title(data)]:.4f}, {own['unseen'][0]} unseen rows")
    largest = [title(data) for data in view.largest()]
    return finding(
        "There are enough data: with parameters from the largest training set the handcrafted network loses "
        f"at most {ENOUGH:g} nats a test row against its own.",
        f"Loss in nats a row: {'; '.join(parts)}.",
        max(losses[name] for name in largest) <= ENOUGH,
        "Large tables of probabilities still have configurations with few rows or none.",
    )


def always_finite(view: View) -> Finding:
    infinite = total = 0
    for data in view.sets():
        impossible = _all(view, data, "impossible")
        infinite, total = infinite + sum(x > 0 for x in impossible), total + len(impossible)
    return finding(
        "The test log-likelihood with N_ijk / N_ij from the training rows compares networks.",
        f"It is −∞ for {share(infinite, total)} networks kept, so it does not rank them; with Laplace's "
        f"correction it is finite for all.",
        infinite == 0,
        "A value that training never showed with its parents' values has probability zero by maximum "
        "likelihood.",
    )
