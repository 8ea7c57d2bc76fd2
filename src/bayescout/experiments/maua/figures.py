"""The figures of the study: histograms and box plots of the networks kept, beside the handcrafted one."""

from __future__ import annotations

from bayescout.experiments.maua.names import APPROACHES
from bayescout.experiments.maua.view import View, slug, title
from bayescout.experiments.study import Declared
from bayescout.plots.values import Boxes, Histograms, Lines, Panel, Reference, Series

MEASURES = {"train": ("training score", "BIC (nats)"), "test": ("test log-likelihood", "nats")}
FIRST = "The networks kept of the first run of each approach."


def _references(view: View, data: Declared, measure: str) -> tuple[Reference, ...]:
    value = view.reference(data, measure)
    return () if value is None else (("handcrafted", value),)


def _groups(view: View, data: Declared, measure: str) -> tuple[tuple[str, tuple[float, ...]], ...]:
    firsts = {approach: view.of(data, approach)[0] for approach in APPROACHES}
    return tuple(
        (f"{name} ({len(one.measures[measure])})", tuple(one.measures[measure]))
        for name, one in firsts.items()
    )


def histograms(view: View, data: Declared, measure: str) -> Histograms:
    what, label = MEASURES[measure]
    return Histograms(
        f"histogram-{measure}-{slug(data)}",
        f"{what.capitalize()} of the top {view.study.top}: {title(data)}",
        label,
        _groups(view, data, measure),
        _references(view, data, measure),
        FIRST,
    )


def boxes(view: View, data: Declared, measure: str) -> Boxes:
    what, label = MEASURES[measure]
    return Boxes(
        f"box-{measure}-{slug(data)}",
        f"{what.capitalize()}: {title(data)}",
        label,
        _groups(view, data, measure),
        _references(view, data, measure),
        FIRST,
    )


def by_rank(view: View) -> Lines:
    """Test log-likelihood down the list of the networks kept."""
    panels = []
    for data in view.sets():
        series = []
        for approach in APPROACHES:
            values = view.of(data, approach)[0].measures["test"]
            series.append(Series(approach, tuple(float(i + 1) for i in range(len(values))), tuple(values)))
        panels.append(Panel(title(data), tuple(series), _references(view, data, "test")))
    return Lines(
        "rank",
        "Test log-likelihood by rank in training",
        "rank by BIC",
        "test log-likelihood (nats)",
        tuple(panels),
        FIRST,
        shared="x",  # likelihoods of different networks have no common scale
    )
