"""The study as a results section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescout.experiments.lau import figures, tables
from bayescout.experiments.lau.findings import findings
from bayescout.experiments.lau.view import BD, CORRECTED, NAMES, PLAIN, View
from bayescout.experiments.records import Records
from bayescout.experiments.summary import Outcome, Section
from bayescout.plots.values import Figure

if TYPE_CHECKING:
    from bayescout.experiments.lau.study import Lau

INTRODUCTION = """\
The document learns networks by randomized first-ascent hill climbing: all operators (add, remove, reverse \
an arc on each ordered pair) are shuffled, the first legal one that raises the score is kept, and the search \
stops when none does. It runs from the unconnected network and from random ones, under BIC and under the \
Bayesian Dirichlet score with (1, 1) priors (BD, which is the K2 score), {repeats} times each, and proposes \
a genetic algorithm. Its data are not available. Unless a user names own files, A is here {rows_a:,} rows of \
the block-lifting robot, which has the structure given in the document, and B {rows_b:,} rows of a random \
network of eight nodes, chosen to be near the document's B: of 400 random networks with nine arcs (seeds 0 \
to 399), it is the one whose best network has 20 or 21 parameters and the score nearest to the document's, \
about -31,603 bits. That is 6.3 bits per row; the structure given with the document's B has 6.9, asia 3.2. \
The document does not say how dense its random starts are: here a node has one parent on average, and full \
graphs are run as a variant. {others}Scores are in bits, as in the document. Wherever the document searches \
by BIC it computes it with Bayesian correction; plain BIC is shown beside it."""

OTHERS = """\
What is said of first ascents is judged on {numbers} as well, with fewer runs: other rows of the robot, and \
other random networks of that size. """


def outcome(study: Lau, records: Records) -> Outcome:
    """Findings, tables and figures."""
    view = View(records)
    introduction = INTRODUCTION.format(
        repeats=study.repeats,
        rows_a=view.table("A").n_rows,
        rows_b=view.table("B").n_rows,
        others=OTHERS.format(numbers=numbers) if (numbers := _others(view)) else "",
    )
    sections = (_given(view), _quality(view), _effort(view), _progress(view), _sizes(view), _genetic(view))
    return Outcome(
        study.name,
        study.title,
        study.source,
        introduction,
        findings(view),
        sections,
        figures.agreement(view),
        study.size(),
    )


def _others(view: View) -> str:
    """How many other data sets like A and like B there are; none like a user's own file."""
    counts = {name: len(view.others(name)) for name in ("A", "B")}
    parts = [f"{number} other data sets like {name}" for name, number in counts.items() if number]
    return " and ".join(parts)


def _given(view: View) -> Section:
    text = (
        "The score of each structure in its parts. The log-likelihood grows with the number of rows, the "
        "penalty only with its logarithm, so the penalty's share falls."
    )
    return Section("The structures given", text, (tables.references(view),), figures.given(view))


def _quality(view: View) -> Section:
    own: list[Figure] = []
    listed = [tables.scores(view)]
    for name in NAMES:
        for score in (CORRECTED, BD, PLAIN):
            own.append(figures.final_scores(view, name, score))
            listed.append(tables.maxima(view, name, score))
        own += [figures.drawings(view, name, score) for score in (CORRECTED, BD)]
    text = (
        "First ascents end in local maxima. Under plain BIC equivalent graphs score the same, so that "
        "several graphs are one maximum; with the correction, and under BD, they differ a little."
    )
    return Section("The networks found", text, tuple(listed), tuple(own))


def _effort(view: View) -> Section:
    own = tuple(
        figures.histograms(view, name, measure) for measure in ("iterations", "operations") for name in NAMES
    )
    text = (
        "An iteration ends with a change that is kept; the last one, which finds none, is counted too. An "
        "operation is one operator considered, legal or not."
    )
    return Section("Iterations and operations", text, (tables.effort(view),), own)


def _progress(view: View) -> Section:
    own = tuple(figures.by_iteration(view, name, score) for name in NAMES for score in (CORRECTED, BD))
    own_tables = (tables.starts(view), tables.by_iteration(view))
    return Section("Scores by iteration", "Every run as a thin line, and their mean.", own_tables, own)


def _sizes(view: View) -> Section:
    own = tuple(figures.histograms(view, name, "parameters") for name in NAMES)
    own += tuple(figures.likelihoods(view, name) for name in NAMES)
    text = "The two scores charge complexity differently, and the more rows there are, the less they differ."
    return Section("Size and fit under BIC and BD", text, (tables.complexity(view),), own)


def _genetic(view: View) -> Section:
    text = (
        "The document's genetic algorithm, its classical variant, and the comparison it proposes: the best "
        "of sixteen first ascents, one from the unconnected and fifteen from random networks."
    )
    return Section("The genetic algorithm", text, (tables.genetic(view),), figures.bred(view))
