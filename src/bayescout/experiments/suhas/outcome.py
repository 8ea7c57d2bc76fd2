"""The study as a results section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescout.experiments.records import Records
from bayescout.experiments.suhas import figures, tables
from bayescout.experiments.suhas.findings import findings
from bayescout.experiments.suhas.names import FORMS
from bayescout.experiments.suhas.view import View
from bayescout.experiments.summary import Outcome, Section

if TYPE_CHECKING:
    from bayescout.experiments.suhas.study import Suhas

INTRODUCTION = """\
The document breeds networks, as adjacency matrices, by Holland's genetic algorithm: the fittest share is \
kept, the rest is bred from it row by row, genes are flipped at random, cycles are repaired. The fitness is \
the mutual information of each variable with its parents less a charge for the size of the network, in two \
forms. The data are {rows:,} rows from random networks of {nodes} nodes with 1.6 arcs per node (the document \
has 5 nodes and 8 arcs). Every combination is run {repeats} times on each of {networks} networks, with \
{population} individuals for {generations} generations. The document gives neither its α nor the shares kept \
and mutated; those here are the defaults of the search. In the first generation a node has two parents on \
average, or half of the arcs that are possible are there, if that is fewer. Its crossover works on a gene of \
n(n-1)/2 bits, which requires a known order, so everything is run and judged with the order known as well as \
unknown. The document prints no table. What it says is read from its text and figures, so there is no \
picture of agreement."""


def outcome(study: Suhas, records: Records) -> Outcome:
    """Findings, tables and figures."""
    view = View(study, records)
    settings = study.settings()
    introduction = INTRODUCTION.format(**settings | {"nodes": ", ".join(map(str, study.nodes))})
    sections = (_fitness(view), _alpha(view), _nodes(view), _rows(view), _extensions(view))
    return Outcome(
        study.name, study.title, study.source, introduction, findings(view), sections, None, study.size()
    )


def _fitness(view: View) -> Section:
    own = tuple(figures.by_generation(view, column, form) for form in FORMS for column in figures.CURVES)
    text = (
        "Mean and maximum fitness of the generations, and how near the fittest network comes to the "
        "reference."
    )
    return Section("Fitness by generation", text, (tables.fitness(view),), (figures.sample(view), *own))


def _alpha(view: View) -> Section:
    text = (
        "The charge α trades recall for precision. With the order of the variables known, arcs can only go "
        "forward, and direction is no longer a matter of chance."
    )
    return Section(
        "Precision and recall against α",
        text,
        (tables.by_alpha(view),),
        (figures.precision_and_recall(view),),
    )


def _nodes(view: View) -> Section:
    text = "The document had to stay at 5 nodes and asks for larger networks."
    own = (
        figures.larger_networks(view),
        figures.rates_by_nodes(view, "precision"),
        figures.rates_by_nodes(view, "recall"),
    )
    return Section("Larger networks", text, (), own)


def _rows(view: View) -> Section:
    text = (
        "The document proposes the second form because it expects the first to fill the graph when there "
        "are many rows. The second divides its charge by the number of joint states, which leaves almost no "
        "charge with 20 nodes."
    )
    return Section("The two forms by rows", text, (tables.by_rows(view),))


def _extensions(view: View) -> Section:
    text = (
        "Variable population size, a time to live drawn by fitness, and epidemics; the populations are "
        "larger than the canonical one, so more networks are scored."
    )
    own = tuple(figures.extensions(view, column, FORMS[0]) for column in ("best_in_population", "size"))
    return Section("Extensions", text, (tables.extensions(view),), own)
