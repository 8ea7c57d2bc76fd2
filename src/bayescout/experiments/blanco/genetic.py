"""Findings on the genetic algorithm with an order, whose printed means cannot be reproduced."""

from __future__ import annotations

from statistics import mean

from bayescout.experiments.blanco import columns, printed
from bayescout.experiments.blanco.columns import Column
from bayescout.experiments.blanco.names import (
    DOCUMENT,
    FITTED,
    HALF,
    ORDERS,
    SETTINGS_RUNS,
    SPARSE,
    SPARSE_PARENTS,
)
from bayescout.experiments.blanco.view import View, gaps, shown
from bayescout.experiments.records import deviation
from bayescout.experiments.summary import Finding, Reason
from bayescout.experiments.verdicts import judged, true_in, untested


def findings(view: View) -> tuple[Finding, ...]:
    """The statements on the GA with an order."""
    return ahead_with_order(view), ga_prefers_no_order(view), ga_stops_early(view)


def first_generation(view: View, network: str, by: str, settings: str = DOCUMENT) -> float:
    """The lowest best score of a random first generation, of the GA with the order, less the target."""
    some = view.of(network, by, "given", "GA", settings)
    return min(shown(by, r.measures["course"]["best"][0] - r.measures["reference"]) for r in some)


def last_generation(view: View, network: str, settings: str) -> float:
    """The lowest K2 score that the GA with the order ends at, less the target."""
    return min(gaps(view.of(network, "k2", "given", "GA", settings), "k2"))


def _proof(view: View) -> tuple[Reason, ...]:
    """The printed means of the GA with an order lie below what a random first generation has."""
    firsts, below = [], 0
    known = [name for name in columns.names_of(view) if name[0] in printed.REFERENCES]
    for network, by in known:
        said = printed.gap(network, "given", "GA", by)
        assert said is not None
        first = first_generation(view, network, by)
        below += said < first
        firsts.append(f"{columns.title(network, by)} {said:+,.0f} and {first:+,.0f}")
    text = (
        f"The document's GA with an order cannot be reproduced. Its printed mean, and the lowest score "
        f"that the best of a random first generation has here, both less the generating network's "
        f"score: {'; '.join(firsts)}. The printed mean is lower in {below} of {len(known)} columns, but "
        f"a search that keeps the best of parents and offspring cannot end below its first generation."
    )
    return Reason(text, "the first generations of the GA with an order"), _other_densities(view)


def _other_densities(view: View) -> Reason:
    """Whether the GA can end at the printed mean if its first generation has another density."""
    parts: dict[str, list[str]] = {SPARSE: [], HALF: []}
    below, ends = 0, 0
    for network in (name for name in view.networks if name in printed.REFERENCES):
        said = printed.gap(network, "given", "GA", "k2")
        assert said is not None
        for settings, listed in parts.items():
            first = first_generation(view, network, "k2", settings)
            last = last_generation(view, network, settings)
            listed.append(f"{network} {first:+,.0f} and {last:+,.0f}")
            below, ends = below + (said < last), ends + 1
    return Reason(
        f"The document does not say how dense its first generation is, so that two more densities were run. "
        f"The lowest score of its best, and the lowest at the end, with K2 and less the generating "
        f"network's: with {SPARSE_PARENTS:g} parents per node {'; '.join(parts[SPARSE])}; with every arc "
        f"there with probability one half {'; '.join(parts[HALF])}. The printed mean is below the "
        f"end in {below} of {ends} of these cases.",
        "the GA with the order from sparse and from half-full first generations",
    )


def ahead_with_order(view: View) -> Finding:
    """With an order, the genetic algorithm is far behind."""
    names = columns.names_of(view)
    cells = columns.our_cells(view, names, "given", columns.ga_is_behind, FITTED)
    return untested(
        "With the order UMDA and PBIL score higher than the GA, which differs from the best in every column.",
        true_in(cells, "columns", "Of our own GA"),
        _proof(view),
        columns.document_cells(names, "given", columns.ga_is_behind),
    )


def ga_prefers_no_order(view: View) -> Finding:
    def prefers(pair: tuple[Column, Column]) -> bool:
        return pair[1].scores["GA"] > pair[0].scores["GA"]

    cells = {
        columns.title(*name): prefers(tuple(columns.ours(view, *name, order) for order in ORDERS))  # type: ignore[arg-type]
        for name in columns.names_of(view)
    }
    pairs = {name: [columns.document(*name, order) for order in ORDERS] for name in columns.names_of(view)}
    said = {columns.title(*name): prefers(pair) for name, pair in pairs.items() if None not in pair}  # type: ignore[arg-type]
    return untested(
        "The GA scores higher without an order than with it, in all cases.",
        true_in(cells, "columns", "Of our own GA"),
        (Reason("It is about the same means of the GA with an order, which cannot be reproduced.",
                "the first generations of the GA with an order"),),
        said,
    )  # fmt: skip


def ga_stops_early(view: View) -> Finding:
    """The document's supposition on its stopping rule, taken apart from distinct individuals."""

    def gain(network: str, variant: str) -> float:
        own, plain = (view.apart(network, "given", "GA", how) for how in (variant, "none"))
        return mean(gaps(own, "k2")) - mean(gaps(plain, "k2"))

    def spread(network: str) -> float:
        return deviation(gaps(view.apart(network, "given", "GA", "none"), "k2")) or 0.0

    gains = {network: gain(network, "patience") for network in view.networks}
    runs = [len(view.apart(view.networks[0], "given", "GA", how)) for how in ("patience", "none")]
    other = "; ".join(f"{network} {gain(network, 'distinct'):+,.1f}" for network in view.networks)
    listed = "; ".join(f"{network} {value:+,.1f}" for network, value in gains.items())
    return judged(
        "With a less strict stopping rule the GA could do better with the order (supposed, not run).",
        f"Change of its mean K2 score by a patience of 3 generations alone: {listed}. By distinct "
        f"individuals alone: {other}.",
        {network: value > 0 for network, value in gains.items()},
        unit="networks",
        rule=f"a higher mean, of {runs[0]} runs with it and {runs[1]} without.",
        why=(
            Reason(
                f"Changes of this size may be chance: the standard deviation of the runs without it is "
                f"{'; '.join(f'{network} {spread(network):,.1f}' for network in gains)}.",
                SETTINGS_RUNS,
            ),
        ),
    )
