"""The document's statements and questions, compared with the records."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

from bayescout.experiments.comparisons import LEVEL, mann_whitney
from bayescout.experiments.maua.names import APPROACHES, CLIMBING, INSERTION, RESTARTS, SAMPLING
from bayescout.experiments.maua.view import View, bests, pooled, title
from bayescout.experiments.parts import share
from bayescout.experiments.study import Declared
from bayescout.experiments.summary import Finding, Reason
from bayescout.experiments.verdicts import judged, set_apart

CORRELATED = 0.8
"""Rank correlation from which on training and test are said to rank networks alike."""

ENOUGH = 0.01
"""Most nats per row that estimated parameters lose against the true ones if the data are enough."""

BETTER = "higher in BIC and in test log-likelihood, and beyond chance (Mann-Whitney, 5%)."
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
    parts, cells = [], {}
    for data in view.largest():
        own = view.reference(data, "train")
        if own is None:
            return None
        best = {a: max(bests(view.of(data, a), "train")) for a in APPROACHES}
        theirs = max(best[a] for a in THEIRS)
        cells[title(data)] = theirs >= own
        parts.append(f"{title(data)}: {theirs - own:+,.1f}, with insertions {best[INSERTION] - own:+,.1f}")
    return judged(
        "On simulated data the outcome should indicate that the implementation is correct: the generating "
        "network's BIC should be reached.",
        f"The best BIC that sampling, climbing or restarts found less the generating network's, in nats: "
        f"{'; '.join(parts)}.",
        cells,
        unit="data sets",
        why=(Reason("Climbs by swaps of neighbours end after a handful of moves. Letting a node move to any "
                    "place in the order makes up for most of it.", "the runs with insertions"),),
    )  # fmt: skip


def _duel(view: View, claim: str, one: str, other: str, why: tuple[Reason, ...] = ()) -> Finding:
    """The best networks of two approaches on training and test, data set by data set."""
    parts, cells = [], {}
    for data in view.sets():
        gains, sure = [], []
        for measure in ("train", "test"):
            values = [bests(view.of(data, approach), measure) for approach in (one, other)]
            gains.append(mean(values[0]) - mean(values[1]))
            sure.append(mann_whitney(*values) < LEVEL)
        cells[title(data)] = min(gains) > 0 and all(sure)
        shown = [f"{g:+,.1f}{'' if s else ' (not significant)'}" for g, s in zip(gains, sure, strict=True)]
        parts.append(f"{title(data)}: {shown[0]} and {shown[1]}")
    work = [mean([view.of(d, a).mean("evaluations") or 0.0 for d in view.sets()]) for a in (one, other)]
    text = (
        f"Mean gain in BIC and in test log-likelihood, in nats: {'; '.join(parts)}. Families asked for: "
        f"{work[0]:,.0f} and {work[1]:,.0f}."
    )
    return judged(claim, text, cells, unit="data sets", rule=f"better is {BETTER}", why=why)


def climbing_beats_sampling(view: View) -> Finding:
    claim = (
        f"Greedy search over orders is better than sampling them: a single climb than "
        f"{view.study.orders:,} sampled orders."
    )
    why = Reason(
        "A climb by swaps of neighbours ends after few families; the best of many random orders scores "
        "higher.",
        "order climbing and order sampling",
    )
    return _duel(view, claim, CLIMBING, SAMPLING, (why,))


def restarts_beat_sampling(view: View) -> Finding:
    claim = (
        f"Greedy search with {view.study.restarts:,} restarts is better than {view.study.orders:,} sampled "
        f"orders."
    )
    work = [mean([view.of(d, a).mean("evaluations") or 0.0 for d in view.sets()]) for a in THEIRS]
    share_of = work[THEIRS.index(RESTARTS)] / work[THEIRS.index(SAMPLING)]
    why = Reason(
        f"A climb by swaps of neighbours ends after a handful of moves, so that {view.study.restarts:,} of "
        f"them come little further than random orders, for {share_of:.2f} times the families.",
        "order sampling and restarts",
    )
    return _duel(view, claim, RESTARTS, SAMPLING, (why,))


def restarts_help(view: View) -> Finding:
    return _duel(view, "Multiple restarts improve on a single climb.", RESTARTS, CLIMBING)


def insertion_helps(view: View) -> Finding:
    claim = (
        f"Results can be improved: letting a node move to any place of the order ({view.study.insertions} "
        f"restarts) is better than swaps of neighbours ({view.study.restarts:,} restarts)."
    )
    return _duel(view, claim, INSERTION, RESTARTS)


def training_predicts(view: View) -> Finding:
    found = {
        title(data): rank_correlation(*(_all(view, data, measure) for measure in ("train", "test")))
        for data in view.sets()
    }
    listed = "; ".join(f"{name}: {rho:.2f}" for name, rho in found.items())
    return judged(
        "Networks with a better training score generalise better: the score is a guide to unseen data.",
        f"Rank correlation of BIC and test log-likelihood over all networks kept: {listed}.",
        {name: rho >= CORRELATED for name, rho in found.items()},
        unit="data sets",
        rule=f"a rank correlation of at least {CORRELATED:g}.",
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
    parts, cells = [], {}
    for data in view.sets():
        own = view.reference(data, "test")
        if own is None:
            return None
        rates = {a: _share_above(pooled(view.of(data, a), "test"), own) for a in APPROACHES}
        cells[title(data)] = min(rates.values()) > 0.5
        parts.append(f"{title(data)}: {100 * max(rates.values()):.0f}%")
    return judged(
        "The learned networks are as good as the handcrafted one on unseen data.",
        f"Share of the networks kept that are at least as good, highest of any approach: {'; '.join(parts)}.",
        cells,
        unit="data sets",
        rule="more than half of the networks kept, of every approach.",
        why=(Reason("Here the handcrafted network is the one that the rows come from; one made by hand for "
                    "other data may be easier to beat."),),
    )  # fmt: skip


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
    return judged(
        "There are enough data: with parameters from the largest training set the handcrafted network loses "
        "little against its own.",
        f"Loss in nats per test row: {'; '.join(parts)}.",
        {name: losses[name] <= ENOUGH for name in largest},
        unit="data sets",
        rule=f"little is at most {ENOUGH:g} nats per test row.",
        why=(Reason("In large tables of probabilities some parent configurations still have few rows or "
                    "none.",
                    "unseen configurations, in the last table"),),
    )  # fmt: skip


def always_finite(view: View) -> Finding:
    infinite = total = 0
    for data in view.sets():
        impossible = _all(view, data, "impossible")
        infinite, total = infinite + sum(x > 0 for x in impossible), total + len(impossible)
    found = judged(
        "The test log-likelihood with N_ijk / N_ij from the training rows compares networks.",
        f"It is −∞ for {share(infinite, total)} networks kept, so it does not rank them; with Laplace's "
        f"correction it is finite for all.",
        infinite == 0,
        why=(Reason("A value that training never showed with its parents' values has probability zero by "
                    "maximum likelihood.", "unseen configurations, in the last table"),),
    )  # fmt: skip
    return set_apart(found, "a matter of definition")
