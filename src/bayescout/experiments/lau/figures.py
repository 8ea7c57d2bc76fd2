"""The figures of the study: histograms, scores by iteration, and the local maxima drawn."""

from __future__ import annotations

from bayescout.experiments.lau.names import STARTS
from bayescout.experiments.lau.view import BD, CORRECTED, SCORE_TITLES, START_TITLES, View, bits, in_bits
from bayescout.experiments.parts import drawn, mean_series, run_series
from bayescout.experiments.tools import scored
from bayescout.plots.values import Drawings, Histograms, Lines, Panel, Reference

DRAWN = 3

MEASURES = {
    "iterations": ("Iterations until no operator helps", "iterations"),
    "operations": ("Operations considered", "operations"),
    "parameters": ("Free parameters of the networks found", "parameters"),
}


def reference_line(view: View, name: str, score: str) -> tuple[Reference, ...]:
    """The score of the structure that the rows come from, in bits."""
    dag = view.reference(name)
    return () if dag is None else (("generating structure", bits(scored(dag, view.table(name), score))),)


def final_scores(view: View, name: str, score: str) -> Histograms:
    panels = tuple((START_TITLES[start], in_bits(view.climbs(name, score, start))) for start in STARTS)
    return Histograms(
        f"final-score-{name.lower()}-{score}",
        f"Final scores on {name} with {SCORE_TITLES[score]}",
        "score (bits)",
        panels,
        reference_line(view, name, score),
    )


def histograms(view: View, name: str, measure: str) -> Histograms:
    """Histograms of a measure for both starts and both scores."""
    title, label = MEASURES[measure]
    panels = tuple(
        (f"{START_TITLES[start]}, {SCORE_TITLES[score]}", view.climbs(name, score, start).numbers(measure))
        for start in STARTS
        for score in (CORRECTED, BD)
    )
    return Histograms(f"{measure}-{name.lower()}", f"{title}, {name}", label, panels)


def likelihoods(view: View, name: str) -> Histograms:
    panels = tuple(
        (
            f"{START_TITLES[start]}, {SCORE_TITLES[score]}",
            in_bits(view.climbs(name, score, start), "log_likelihood"),
        )
        for start in STARTS
        for score in (CORRECTED, BD)
    )
    title = f"Log-likelihood of the networks found, {name}"
    return Histograms(f"log-likelihood-{name.lower()}", title, "log-likelihood (bits)", panels)


def by_iteration(view: View, name: str, score: str) -> Lines:
    """The score after every iteration, for every run and the mean."""
    panels = []
    for start in STARTS:
        traces = [
            [bits(x) for x in record.measures["trace"]["score"]] for record in view.climbs(name, score, start)
        ]
        series = (*run_series(traces), mean_series("mean", traces))
        panels.append(Panel(START_TITLES[start], series, reference_line(view, name, score)))
    return Lines(
        f"score-by-iteration-{name.lower()}-{score}",
        f"Score after each iteration on {name} with {SCORE_TITLES[score]}",
        "iteration",
        "score (bits)",
        tuple(panels),
        "In the mean, a run that has ended stays at its final score.",
    )


def drawings(view: View, name: str, score: str) -> Drawings:
    """The best local maxima with their probabilities, compared with the structure that the rows come from."""
    found = view.maxima(name, score)
    runs = len(view.climbs(name, score))
    graphs = tuple(
        drawn(
            f"{one.bits:,.2f} bits, {one.unconnected + one.random} of {runs} runs",
            one.dag,
            view.table(name),
            view.reference(name),
        )
        for one in found[:DRAWN]
    )
    return Drawings(
        f"drawn-{name.lower()}-{score}",
        f"The best local maxima on {name} with {SCORE_TITLES[score]}",
        graphs,
        "Probabilities by maximum likelihood; --- where the data show none of the parents' values.",
    )
