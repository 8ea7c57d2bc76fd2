"""The study as a results section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescout.experiments.blanco import figures, printed, tables
from bayescout.experiments.blanco.findings import findings
from bayescout.experiments.blanco.names import DOCUMENT, ORDERS, OURS
from bayescout.experiments.blanco.view import View
from bayescout.experiments.records import Records
from bayescout.experiments.summary import Outcome, Section

if TYPE_CHECKING:
    from bayescout.experiments.blanco.study import Blanco

INTRODUCTION = """\
The document learns networks by two estimation of distribution algorithms, UMDA and PBIL, and holds them \
against an elitist genetic algorithm and the K2 algorithm, under three scores, with an order of the \
variables that fits the generating network and without any. Here {rows:,} rows are sampled once from each \
of {networks}; every combination of search, score and order is run {repeats} times on them, with \
populations of {individuals} individuals a variable{size}. The K2 \
algorithm is run once with the order and with {individuals} random orders a variable without.

The document's rows are not available, so its absolute values are not ours: what can be compared is the \
distance to the score of the generating network on the same rows. Its BIC is printed in two bases, which is \
a charge 3.3 times that of BIC; both are run. Its entropy, as defined, is the log-likelihood a row and has \
no charge at all, so that it would fill every graph; here, and not in the document, a node may then have \
as many parents as a node of the generating network has at most. The document does not say how dense its \
first population is: here a node has two parents in the mean."""


INDIVIDUALS = 10
SMALLER = "so this is a check of the study, not the comparison itself"


def outcome(study: Blanco, records: Records) -> Outcome:
    """Findings, tables and figures."""
    view = View(study, records)
    introduction = INTRODUCTION.format(
        rows=study.rows,
        networks=", ".join(study.networks),
        repeats=study.repeats,
        individuals=study.individuals,
        size="" if study.individuals == INDIVIDUALS else f" (the document: {INDIVIDUALS}; {SMALLER})",
    )
    sections = (_references(view), _results(view), _structures(view), _course(view), _settings(view))
    return Outcome(study.name, study.title, study.source, introduction, findings(view), sections)


def _references(view: View) -> Section:
    text = (
        "A search that recovers the generating network scores as much as that network does on the same rows; "
        "a little more is common, as rows rarely speak for every weak arc."
    )
    return Section("The scores to reach", text, (tables.references(view),))


def _results(view: View) -> Section:
    text = (
        "With the document's settings: the better half selected, no correction of the shares, and the end as "
        "soon as the sum of scores stays the same for one generation."
    )
    return Section(
        "Final scores and generations", text, tuple(tables.results(view, name) for name in view.networks)
    )


def _structures(view: View) -> Section:
    text = (
        "The best-scoring networks against the generating ones. Without an order arcs may also be turned "
        "where equivalent networks turn them, which the Hamming distance counts as two differences."
    )
    own = tuple(figures.drawings(view, name) for name in view.networks)
    return Section("The networks found", text, (tables.structures(view),), own)


def _course(view: View) -> Section:
    text = (
        "How fast the best network of a population improves. Every generation evaluates as many networks as "
        "the population has individuals."
    )
    own = tuple(figures.course(view, order, DOCUMENT, printed.SCORES) for order in ORDERS)
    return Section("Best score by networks evaluated", text, (), own)


def _settings(view: View) -> Section:
    text = (
        "The same searches with settings of ours, which are not the document's: no share of an arc goes to "
        "zero or one, copies of an individual make room for others, and a few generations without change are "
        "waited for. The three are changed together."
    )
    own = tuple(figures.final_scores(view, name, "k2", order) for name in view.networks for order in ORDERS)
    course = tuple(figures.course(view, order, OURS, ("bic-printed", "bic", "k2")) for order in ORDERS)
    return Section(
        "Other settings", text, tuple(tables.settings(view, name) for name in view.networks), (*own, *course)
    )
