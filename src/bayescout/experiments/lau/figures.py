"""The figures of the study: histograms, scores by iteration, and the local maxima drawn."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import count
from statistics import mean

from bayescout.experiments.lau import data as sets
from bayescout.experiments.lau.names import FULL, STARTS
from bayescout.experiments.lau.view import (
    BD,
    CORRECTED,
    EQUAL,
    ITERATIONS,
    NAMES,
    OPERATIONS,
    PER_ITERATION,
    SCORE_TITLES,
    START_TITLES,
    View,
    bits,
    in_bits,
)
from bayescout.experiments.parts import drawn, mean_series, run_series
from bayescout.experiments.records import Records
from bayescout.experiments.tools import scored
from bayescout.graph.dag import Dag
from bayescout.graph.random import random_dag
from bayescout.plots.values import Drawings, Histograms, Lines, Panel, PointPanel, Points, Reference

DRAWN = 3
UNDEFINED_NOTE = "Probabilities by maximum likelihood; --- where the data show none of the parents' values."

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
    panels = tuple(
        (START_TITLES[start], in_bits(view.climbs(name, score, start))) for start in (*STARTS, FULL)
    )
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
        for score in (CORRECTED, BD)
        for start in (*STARTS, FULL)
    )
    return Histograms(f"{measure}-{name.lower()}", f"{title}, {name}", label, panels)


def likelihoods(view: View, name: str) -> Histograms:
    panels = tuple(
        (
            f"{START_TITLES[start]}, {SCORE_TITLES[score]}",
            in_bits(view.climbs(name, score, start), "log_likelihood"),
        )
        for score in (CORRECTED, BD)
        for start in (*STARTS, FULL)
    )
    title = f"Log-likelihood of the networks found, {name}"
    return Histograms(f"log-likelihood-{name.lower()}", title, "log-likelihood (bits)", panels)


def by_iteration(view: View, name: str, score: str) -> Lines:
    """The score after every iteration, for every run and the mean."""
    panels = []
    for start in (*STARTS, FULL):
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


def given(view: View) -> tuple[Drawings, ...]:
    """Figures 1 to 6: the structures given with their probabilities, and starts of the search."""
    figures = []
    for number, name in enumerate(NAMES):
        dag = view.reference(name)
        if dag is not None:
            title = f"Figure {number + 1}: network {name} with maximum-likelihood probabilities"
            graph = drawn(sets.title_of(view.data[name]), dag, view.table(name))
            figures.append(Drawings(f"network-{name.lower()}", title, (graph,), UNDEFINED_NOTE))
    for number, name in enumerate(NAMES):
        nodes = view.table(name).names
        sample = _usual_start(nodes)
        graphs = (
            drawn("unconnected", Dag.empty(nodes)),
            drawn(f"random: {sample.n_arcs} arcs", sample),
            drawn("full, our variant", sets.full_graph(nodes, 0)),
        )
        first = 2 * number + 3
        title = f"Figures {first} and {first + 1}: starts of the search on {name}"
        figures.append(Drawings(f"starts-{name.lower()}", title, graphs))
    return tuple(figures)


def _usual_start(nodes: Sequence[Hashable]) -> Dag:
    """The first random start with as many arcs as there are on average: one per node."""
    density = min(1.0, 2 / (len(nodes) - 1))
    starts = (random_dag(nodes, density=density, seed=seed) for seed in count())
    return next(dag for dag in starts if dag.n_arcs == min(len(nodes), len(nodes) * (len(nodes) - 1) // 2))


def bred(view: View) -> tuple[Drawings, ...]:
    """Figures 31 and 32: the best networks that genetic-greedy ended in."""
    figures = []
    for number, name in enumerate(NAMES, start=31):
        some = view.of(name, score=CORRECTED, method="genetic-greedy")
        best = max(some, key=lambda record: record.measures["score"])
        same = sum(record.measures["score"] > best.measures["score"] - EQUAL for record in some)
        caption = f"{bits(best.measures['score']):,.2f} bits, {same} of {len(some)} runs"
        graph = drawn(caption, best.dag, view.table(name), view.reference(name))
        title = f"Figure {number}: output of the genetic algorithm on {name}"
        figures.append(Drawings(f"genetic-{name.lower()}", title, (graph,), UNDEFINED_NOTE))
    return tuple(figures)


def agreement(view: View) -> Points:
    """Iterations, operations and operations per iteration against the printed means."""
    panels = []
    for title, printed, of in (
        ("iterations", ITERATIONS, lambda some: mean(some.numbers("iterations"))),
        ("operations", OPERATIONS, lambda some: mean(some.numbers("operations"))),
        ("operations per iteration", PER_ITERATION, _quotient),
    ):
        groups = tuple(
            (
                START_TITLES[start],
                tuple(
                    (float(printed[name, "random" if start == FULL else start]),
                     float(of(view.climbs(name, start=start))))
                    for name in NAMES
                ),
            )
            for start in (*STARTS, FULL)
        )  # fmt: skip
        panels.append(PointPanel(title, groups, "log"))
    return Points(
        "agreement",
        "Ours against the printed means of first ascents, one point per data set and start",
        tuple(panels),
        "With corrected BIC. Full graphs, a variant of ours, stand against the document's random starts.",
    )


def _quotient(some: Records) -> float:
    return sum(some.numbers("operations")) / sum(some.numbers("iterations"))


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
        UNDEFINED_NOTE,
    )
