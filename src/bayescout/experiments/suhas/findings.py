"""The document's findings, compared with the records: with the order known, and unknown.

The document's crossover works on a gene of n(n-1)/2 bits, which is a known order; without one a search can
only find arcs up to the direction that the data do not tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from statistics import mean

from bayescout.experiments.comparisons import LEVEL, mann_whitney
from bayescout.experiments.parts import share
from bayescout.experiments.records import Records
from bayescout.experiments.suhas.names import EXTENSIONS, FORMS
from bayescout.experiments.suhas.view import FORM_TITLES, ORDERS, View, beats, reached
from bayescout.experiments.summary import Finding, Reason
from bayescout.experiments.verdicts import judged

ALMOST = 0.95
"""Share of the way to the reference's fitness from which on it counts as approached."""

GOOD_PRECISION = 0.8
"""Precision of the document's sample network."""

FULL = 0.95
"""Share of all arcs from which on a network counts as full."""

RATES = {"last generation": "population_", "best network": ""}
"""Networks whose precision and recall are followed by α, and how their measures begin."""


def findings(view: View) -> tuple[Finding, ...]:
    """Every statement of the document that the records can test."""
    return (
        mean_rises(view),
        maximum_never_falls(view),
        approaches_reference(view),
        sometimes_better(view),
        *(alpha_trades(view, form, order) for form in FORMS for order in ORDERS),
        precision_is_good(view),
        fills_with_rows(view),
        extensions_help(view),
    )


def _smallest(view: View) -> int:
    return view.nodes[0]


def _cases(view: View) -> dict[str, Records]:
    """Runs on the smallest networks, by form of the fitness and order."""
    return {
        f"{FORM_TITLES[form]}, order {order}": view.fitness(_smallest(view), form, order=order)
        for form in FORMS
        for order in ORDERS
    }


def mean_rises(view: View) -> Finding:
    """Figure 4."""
    cells, parts = {}, []
    for title, some in _cases(view).items():
        traces = [record.measures["trace"]["mean"] for record in some]
        rose = sum(trace[-1] > trace[0] for trace in traces)
        falls = sum(any(b < a for a, b in pairwise(trace)) for trace in traces)
        cells[title] = rose == len(traces) and falls > 0
        parts.append(f"{title}: higher in {share(rose, len(traces))}, falls at times in {falls}")
    return judged(
        "The average fitness rises with the generations, with slumps at some intervals.",
        f"Runs that end higher than they began: {'; '.join(parts)}.",
        cells,
        unit="cases",
    )


def maximum_never_falls(view: View) -> Finding:
    """Figure 5."""
    traces = [
        record.measures["trace"]["best_in_population"]
        for nodes in view.nodes
        for form in FORMS
        for order in ORDERS
        for record in view.fitness(nodes, form, order=order)
    ]
    never = sum(all(b >= a for a, b in pairwise(trace)) for trace in traces)
    return judged(
        "The maximum fitness never falls.",
        f"It never falls in {share(never, len(traces))} runs (the fittest individual is always kept).",
        never == len(traces),
    )


def approaches_reference(view: View) -> Finding:
    """The text under figure 5."""
    means = {}
    for title, some in _cases(view).items():
        own = [x for x in map(reached, some) if x is not None]
        if own:
            means[title] = mean(own)
    listed = "; ".join(f"{title}: {100 * value:.1f}%" for title, value in means.items())
    return judged(
        "The networks approach the fitness of the reference network (9.90 in the document).",
        f"Of the way from the unconnected network to the reference: {listed or 'unknown'}.",
        {title: value >= ALMOST for title, value in means.items()},
        unit="cases",
        rule=f"approached is {100 * ALMOST:.0f}% of the way.",
    )


def sometimes_better(view: View) -> Finding:
    """The text under figure 5."""
    cases = _cases(view)
    better = {title: sum(map(beats, some)) for title, some in cases.items()}
    listed = "; ".join(f"{title}: {share(better[title], len(some))}" for title, some in cases.items())
    return judged(
        "In some runs the fittest network is at least as fit as the reference.",
        f"{listed}.",
        {title: count > 0 for title, count in better.items()},
        unit="cases",
    )


def alpha_trades(view: View, form: str, order: str) -> Finding:
    """Figure 6."""
    alphas = view.study.chosen_alphas(form)
    groups = [view.alpha(_smallest(view), form, alpha, order) for alpha in alphas]
    cells, parts = {}, []
    for whose, prefix in RATES.items():
        rates = [
            (a, g.mean(f"{prefix}precision"), g.mean(f"{prefix}recall"))
            for a, g in zip(alphas, groups, strict=True)
        ]
        points = [(a, p, r) for a, p, r in rates if p is not None and r is not None]
        top = max(points, key=lambda point: point[1])
        (low, p_low, r_low), (high, p_high, r_high) = points[0], points[-1]
        cells[f"recall of the {whose}"] = r_high < r_low
        cells[f"precision of the {whose}"] = p_high > p_low
        parts.append(
            f"{whose}: from α = {low:g} to {high:g} recall goes from {r_low:.2f} to {r_high:.2f} and "
            f"precision from {p_low:.2f} to {p_high:.2f}, with the highest, {top[1]:.2f}, at {top[0]:g}"
        )
    reasons = _mutants_or_perfect(groups, cells) if order == "known" else _without_direction(groups)
    return judged(
        f"Increasing α lowers recall and raises precision ({FORM_TITLES[form]}, order {order}).",
        f"{'; '.join(parts)}.",
        cells,
        unit="parts",
        rule="the highest α against the lowest.",
        why=reasons,
    )


def _rates(groups: Iterable[Records], measure: str) -> list[float]:
    return [rate for rate in (some.mean(measure) for some in groups) if rate is not None]


def _mutants_or_perfect(groups: Iterable[Records], cells: dict[str, bool]) -> tuple[Reason, ...]:
    """Why precision may not rise with the order known: mutants, or a precision that is perfect at first."""
    found = []
    best = _rates(groups, "precision")
    if not cells["precision of the last generation"]:
        text = (
            f"The last generation holds children just mutated, whose wrong arcs are the larger a share the "
            f"fewer arcs there are; the precision of the best network {_course(best)}."
        )
        found.append(Reason(text, "the best networks with the order known"))
    if min(best) == 1 and not cells["precision of the best network"]:
        text = "With the order known the best networks have no wrong arc at any α: precision cannot rise."
        found.append(Reason(text, "the best networks with the order known"))
    return tuple(found)


def _without_direction(groups: Iterable[Records]) -> tuple[Reason, ...]:
    """Why precision may not rise without an order."""
    text = (
        f"Without an order the data do not tell the direction of most arcs, and precision counts a reversed "
        f"arc as wrong; counted without direction, that of the best network "
        f"{_course(_rates(groups, 'adjacency_precision'))}."
    )
    return (Reason(text, "the same runs, counted without direction"),)


def _course(rates: list[float]) -> str:
    """The first and the last of some rates, in words."""
    if min(rates) == max(rates):
        return f"is {rates[0]:.2f} at every α"
    return f"goes from {rates[0]:.2f} to {rates[-1]:.2f}"


def precision_is_good(view: View) -> Finding:
    """The conclusion, and figure 3."""
    form = FORMS[0]
    rates = {
        f"{nodes} nodes, order {order}": view.fitness(nodes, form, order=order).mean("precision")
        for nodes in view.nodes
        for order in ORDERS
    }
    listed = "; ".join(f"{title}: {'-' if p is None else format(p, '.2f')}" for title, p in rates.items())
    return judged(
        "The solutions have very good precision on average (the sample network: 0.8).",
        f"{listed}.",
        {title: p is not None and p >= GOOD_PRECISION for title, p in rates.items()},
        unit="cases",
        rule=f"very good is the sample network's {GOOD_PRECISION:g}.",
        why=(Reason("Equivalent networks are equally fit. Without an order, an arc that may point either way "
                    "in them is therefore right only by chance.", "the same runs with the order known"),),
    )  # fmt: skip


def fills_with_rows(view: View) -> Finding:
    """The document's reason for the second form."""
    few, many = view.study.many_rows[0], view.study.many_rows[-1]
    arcs = {(form, rows): view.rows(rows, form).mean("arcs") or 0.0 for form in FORMS for rows in (few, many)}
    nodes = _smallest(view)
    full = nodes * (nodes - 1) / 2
    listed = "; ".join(
        f"{FORM_TITLES[form]}: {arcs[form, few]:.1f} arcs with {few:,} rows, {arcs[form, many]:.1f} with "
        f"{many:,}"
        for form in FORMS
    )
    return judged(
        "On really large data sets the standard form converges to fully connected networks.",
        f"{listed}; a full graph has {full:g}.",
        arcs[FORMS[0], many] >= FULL * full,
        rule=f"full is {100 * FULL:.0f}% of all arcs.",
        why=(Reason("The charge of the standard form grows with ln N, while N·MI of a needless arc stays "
                    "about the same.", "the two forms by rows"),),
    )  # fmt: skip


def extensions_help(view: View) -> Finding:
    """The document's closing proposals, for which it has no results."""
    form, nodes = FORMS[0], view.nodes[-1]
    groups = {
        extension: [x for x in map(reached, view.fitness(nodes, form, extension)) if x is not None]
        for extension in EXTENSIONS
    }
    none = groups["none"]
    better = {
        name: bool(some and none and mean(some) > mean(none) and mann_whitney(some, none) < LEVEL)
        for name, some in groups.items()
        if name != "none"
    }
    listed = ", ".join(f"{name} {100 * mean(some):.1f}%" for name, some in groups.items() if some)
    return judged(
        "Variable population size, time to live and epidemics would improve the method (proposed, not run).",
        f"Of the way to the reference, with {nodes} nodes: {listed}.",
        better,
        unit="extensions",
        rule=f"a higher mean, by more than chance (Mann-Whitney, {100 * LEVEL:.0f}%).",
        why=(Reason("After many generations the fittest are alike, with the extension or without."),),
    )
