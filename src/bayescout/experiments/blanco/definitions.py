"""Findings on units and definitions, which are listed apart and not counted."""

from __future__ import annotations

from bayescout.experiments.blanco import printed
from bayescout.experiments.blanco.names import K2, UNBOUNDED
from bayescout.experiments.blanco.view import View
from bayescout.experiments.summary import Finding, Reason
from bayescout.experiments.verdicts import judged, set_apart

ROWS = 10_000
"""Rows of the document's data: its scores are comparable only with scores of as many rows."""

UNITS, ENTROPY = "a matter of units", "a matter of definition: the limit on parents is ours"


def units_of_bic(view: View) -> Finding | None:
    """The real values printed under tables 1-3."""
    known = [name for name in view.networks if name in printed.REFERENCES]
    if not known or view.study.rows != ROWS:
        return None
    parts, one, two = [], [], []
    for name in known:
        said = printed.REFERENCES[name]["bic-printed"]
        single, mixed = view.reference(name, "bic"), view.reference(name, "bic-printed")
        one.append(abs(single / said - 1))
        two.append(abs(mixed / said - 1))
        parts.append(f"{name}: printed {said:,.0f}; {single:,.0f} and {mixed:,.0f}")
    found = judged(
        "BIC charges ½ log N for each parameter.",
        "The generating networks' BIC with base 10 in both parts, and with base 10 in the log-likelihood and "
        f"base 2 in the charge: {'; '.join(parts)}.",
        max(one) <= max(two),
        why=(Reason(
            f"Only with two bases are the printed values met, within {100 * max(two):.1f}%; that charges 3.3 "
            f"times as much as BIC does. With one base they are off by up to {100 * max(one):.0f}%.",
            "the generating networks' scores"),),
    )  # fmt: skip
    return set_apart(found, UNITS)


def entropy_has_no_charge(view: View) -> Finding:
    """The third score, as defined."""
    parts, full = [], {}
    for name in view.networks:
        (record,) = view.of(name, "entropy", "given", K2, UNBOUNDED)
        nodes, arcs = record.run["nodes"], record.measures["arcs"]
        full[name] = 2 * arcs / (nodes * (nodes - 1))
        parts.append(f"{name} {arcs:,} of {nodes * (nodes - 1) // 2:,}")
    found = judged(
        "Entropy finds sparse networks (asia: 7 arcs; with the order, no better than the generating "
        "network).",
        f"Arcs of the K2 algorithm with the order and no limit on parents: {'; '.join(parts)}.",
        {name: value < 0.5 for name, value in full.items()},
        unit="networks",
        rule="sparse is less than half of all arcs.",
        why=(Reason("As defined, entropy is the log-likelihood per row, which any arc raises; the document "
                    "does not say what limits its arcs.", "the K2 algorithm without a limit on parents"),),
    )  # fmt: skip
    return set_apart(found, ENTROPY)
