"""The study as a results section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescout.experiments.blanco import figures, tables
from bayescout.experiments.blanco.findings import findings
from bayescout.experiments.blanco.names import CORRECTIONS, COUNTED, FITTED, GRID_RUNS, ORDERS
from bayescout.experiments.blanco.view import View
from bayescout.experiments.records import Records
from bayescout.experiments.summary import Outcome, Section

if TYPE_CHECKING:
    from bayescout.experiments.blanco.study import Blanco

INTRODUCTION = """\
The document learns networks by two estimation of distribution algorithms, UMDA and PBIL, and compares them \
with an elitist genetic algorithm and the K2 algorithm, under three scores, with an order of the variables \
that fits the generating network and without any. Here {rows:,} rows are sampled once from each of \
{networks}; every combination of search, score and order is run {repeats} times on them, with populations \
of {individuals} individuals per variable. The K2 algorithm is run once with the order and with \
{individuals} random orders per variable without.

The document's rows are not available, so its absolute values are not ours: what can be compared is the \
distance to the score of the generating network on the same rows. Its BIC is printed in two bases, which is \
a charge 3.3 times that of BIC; both are run. Its entropy, as defined, is the log-likelihood per row and \
has no charge at all, so that it would fill every graph. Under entropy a node may therefore have no more \
parents here than any node of the generating network has; the document has no such limit. The document does \
not say how dense its first population is: here a node has two parents on average.

The document most likely ran another UMDA than the one it describes: the GA without an order and PBIL need \
about as many generations here as in its tables, but UMDA as described ends far too early. With a \
correction of the estimated arc probabilities, which the document does not mention, it comes much nearer. \
UMDA is therefore run with a small grid of corrections, {few} runs each, and with the one that fits best \
({fitted:g}) at full size. Findings are judged with that one; UMDA as described stands beside it \
everywhere."""


def outcome(study: Blanco, records: Records) -> Outcome:
    """Findings, tables and figures."""
    view = View(study, records)
    introduction = INTRODUCTION.format(
        rows=study.rows,
        networks=", ".join(study.networks),
        repeats=study.repeats,
        individuals=study.individuals,
        fitted=FITTED,
        few=min(GRID_RUNS, study.repeats),
    )
    sections = (
        _references(view), _results(view), _corrections(view), _settings(view), _structures(view),
        _course(view),
    )  # fmt: skip
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


def _references(view: View) -> Section:
    text = (
        "A search that recovers the generating network reaches that network's score on the same rows. A "
        "slightly higher score is common, as a sample rarely supports every weak arc."
    )
    return Section("The scores to reach", text, (tables.references(view),))


def _results(view: View) -> Section:
    text = (
        "With the document's settings: the better half is selected, probabilities are not corrected, and the "
        "search ends as soon as the sum of scores stays the same for one generation."
    )
    return Section(
        "Final scores and generations", text, tuple(tables.results(view, name) for name in view.networks)
    )


def _structures(view: View) -> Section:
    text = (
        "The best-scoring networks compared with the generating ones. Without an order, an arc may also be "
        "reversed as in an equivalent network, which the Hamming distance counts as two differences."
    )
    own = tuple(figures.drawings(view, name) for name in view.networks)
    return Section("The networks found", text, (tables.structures(view),), own)


def _course(view: View) -> Section:
    text = (
        "How fast the best network of a population improves. Every generation evaluates as many networks as "
        "the population has individuals."
    )
    own = tuple(figures.course(view, order, by) for order in ORDERS for by in COUNTED)
    return Section("Best score by networks evaluated", text, (), own)


def _corrections(view: View) -> Section:
    text = (
        f"The correction is added to the counts of both values of each arc, so that no probability becomes "
        f"zero or one. {_fits(view)} The findings are judged with {FITTED:g}."
    )
    return Section("Which UMDA the document ran", text, (tables.corrections(view),))


def _fits(view: View) -> str:
    """The corrections that fit the printed generations and scores best."""
    best = tables.best_correction(view)
    nearest = tables.best_correction(view, tables.score_distance)
    if best is None or nearest is None:
        return "No table of the document is at hand to fit."
    misfits = [(c, tables.misfit(view, c)) for c in CORRECTIONS]
    others = sorted((own, c) for c, own in misfits if own is not None and c != best)[:2]
    near = "; ".join(f"{c:g}: {own:.2f}" for own, c in others)
    text = (
        f"Of those tried, {best:g} fits the printed generations best (misfit "
        f"{tables.misfit(view, best):.2f}; {near}; none: {tables.misfit(view, 0.0):.2f})."
    )
    far = {c: tables.in_tens(tables.score_distance(view, c)) for c in (best, nearest, 0.0)}
    if nearest == best:
        return f"{text} It is also the one whose final scores are nearest to the printed ones."
    most = {c: max(tables.generation_ratios(view, c)) for c in (best, nearest)}
    return (
        f"{text} The printed final scores are nearest with {nearest:g} (distance {far[nearest]}; {best:g}: "
        f"{far[best]}; none: {far[0.0]}), but the search then takes up to {most[nearest]:.1f} times the "
        f"printed generations ({best:g}: {most[best]:.1f})."
    )


def _settings(view: View) -> Section:
    text = (
        "The effect of a correction, of distinct individuals and of patience, each by itself and all "
        "together. Distinct: copies of an individual are replaced by others. Patience: the number of "
        "generations without change after which a search ends."
    )
    own = tuple(
        figures.final_scores(view, name, by, order)
        for name in view.networks
        for by in COUNTED
        for order in ORDERS
    )
    return Section("Settings taken apart", text, (tables.settings(view),), own)
