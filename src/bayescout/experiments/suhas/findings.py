"""The document's findings, compared with the records."""

from __future__ import annotations

from itertools import pairwise
from statistics import mean

from bayescout.experiments.comparisons import LEVEL, mann_whitney
from bayescout.experiments.parts import finding, share
from bayescout.experiments.suhas.names import EXTENSIONS, FORMS
from bayescout.experiments.suhas.view import FORM_TITLES, View, beats, reached
from bayescout.experiments.summary import Finding

ALMOST = 0.95
"""Share of the way to the reference's fitness from which on it counts as approached."""

GOOD_PRECISION = 0.8
"""Precision of the document's sample network."""


def findings(view: View) -> tuple[Finding, ...]:
    """Every statement of the document that the records can test."""
    return (
        mean_rises(view),
        maximum_never_falls(view),
        approaches_reference(view),
        sometimes_better(view),
        *(alpha_trades(view, form) for form in FORMS),
        precision_is_good(view),
        fills_with_rows(view),
        extensions_help(view),
    )


def _smallest(view: View) -> int:
    return view.nodes[0]


def mean_rises(view: View) -> Finding:
    """Figure 4."""
    traces = [
        record.measures["trace"]["mean"] for form in FORMS for record in view.fitness(_smallest(view), form)
    ]
    rose = sum(trace[-1] > trace[0] for trace in traces)
    falls = sum(any(b < a for a, b in pairwise(trace)) for trace in traces)
    return finding(
        "The average fitness rises with the generations, with slumps at some intervals.",
        f"It ends higher than it began in {share(rose, len(traces))} runs, and falls at times in "
        f"{share(falls, len(traces))}.",
        rose == len(traces) and falls > 0,
    )


def maximum_never_falls(view: View) -> Finding:
    """Figure 5."""
    traces = [
        record.measures["trace"]["best_in_population"]
        for nodes in view.nodes
        for form in FORMS
        for record in view.fitness(nodes, form)
    ]
    never = sum(all(b >= a for a, b in pairwise(trace)) for trace in traces)
    return finding(
        "The maximum fitness never falls.",
        f"It never falls in {share(never, len(traces))} runs (the fittest individual is always kept).",
        never == len(traces),
    )


def approaches_reference(view: View) -> Finding:
    """The text under figure 5."""
    parts, means = [], []
    for form in FORMS:
        some = [x for x in map(reached, view.fitness(_smallest(view), form)) if x is not None]
        if some:
            means.append(mean(some))
            parts.append(f"{FORM_TITLES[form]}: {100 * means[-1]:.1f}%")
    return finding(
        "The networks approach the fitness of the reference network (9.90 in the document).",
        f"Of the way from the unconnected network to the reference, {'; '.join(parts) or 'unknown'}.",
        bool(means) and min(means) >= ALMOST,
    )


def sometimes_better(view: View) -> Finding:
    """The text under figure 5."""
    some = [record for form in FORMS for record in view.fitness(_smallest(view), form)]
    better = sum(map(beats, some))
    return finding(
        "In some runs the fittest network is at least as fit as the reference.",
        f"In {share(better, len(some))}.",
        better > 0,
    )


def alpha_trades(view: View, form: str) -> Finding:
    """Figure 6."""
    alphas = view.study.chosen_alphas(form)
    groups = [view.alpha(_smallest(view), form, alpha) for alpha in alphas]
    known = [
        (a, g.mean("population_precision"), g.mean("population_recall"))
        for a, g in zip(alphas, groups, strict=True)
    ]
    points = [(a, p, r) for a, p, r in known if p is not None and r is not None]
    (low, p_low, r_low), (high, p_high, r_high) = points[0], points[-1]
    middle = max(points, key=lambda point: point[1])
    return finding(
        f"Increasing α lowers recall and raises precision ({FORM_TITLES[form]}).",
        f"From α = {low:g} to {high:g} recall goes from {r_low:.2f} to {r_high:.2f} and precision from "
        f"{p_low:.2f} to {p_high:.2f}, with the highest, {middle[1]:.2f}, at {middle[0]:g}.",
        r_high < r_low and p_high > p_low,
        "Beyond some α only the strongest dependencies are left, whose direction the data do not tell, and "
        "precision counts a reversed arc as wrong.",
    )


def precision_is_good(view: View) -> Finding:
    """The conclusion, and figure 3."""
    form = FORMS[0]
    rates = {nodes: view.fitness(nodes, form).mean("precision") for nodes in view.nodes}
    shown = "; ".join(f"{n} nodes: {'-' if p is None else format(p, '.2f')}" for n, p in rates.items())
    return finding(
        "The solutions have very good precision on average (the sample network: 0.8).",
        f"{shown}.",
        all(p is not None and p >= GOOD_PRECISION for p in rates.values()),
        "Equivalent networks are equally fit, so arcs that can be turned are right by chance alone; and "
        "larger networks are not found in 100 generations of 100.",
    )


def fills_with_rows(view: View) -> Finding:
    """The document's reason for the second form."""
    few, many = view.study.many_rows[0], view.study.many_rows[-1]
    arcs = {(form, rows): view.rows(rows, form).mean("arcs") or 0.0 for form in FORMS for rows in (few, many)}
    nodes = _smallest(view)
    full = nodes * (nodes - 1) / 2
    standard = arcs[FORMS[0], many]
    shown = "; ".join(
        f"{FORM_TITLES[form]}: {arcs[form, few]:.1f} arcs with {few:,} rows, {arcs[form, many]:.1f} with "
        f"{many:,}"
        for form in FORMS
    )
    return finding(
        "On really large data sets the standard form converges to fully connected networks.",
        f"{shown}; a full graph has {full:g}.",
        standard >= 0.95 * full,
        "Its charge grows with ln N, which is enough: information that is not there does not grow with N.",
    )


def extensions_help(view: View) -> Finding:
    """The document's closing proposals, for which it has no results."""
    form, nodes = FORMS[0], view.nodes[-1]
    groups = {
        extension: [x for x in map(reached, view.fitness(nodes, form, extension)) if x is not None]
        for extension in EXTENSIONS
    }
    none = groups["none"]
    better = [
        name
        for name, some in groups.items()
        if some and none and mean(some) > mean(none) and mann_whitney(some, none) < LEVEL
    ]
    shown = ", ".join(f"{name} {100 * mean(some):.1f}%" for name, some in groups.items() if some)
    return finding(
        "Variable population size, time to live and epidemics would improve the method (proposed, not run).",
        f"Reached on {nodes} nodes: {shown}; better than without by more than chance: "
        f"{', '.join(better) or 'none'}.",
        bool(better),
        "They score more networks, but the fittest of many generations are alike in either case.",
    )
