"""The study as a results section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescout.experiments.maua import figures, tables
from bayescout.experiments.maua.findings import findings
from bayescout.experiments.maua.view import View, title
from bayescout.experiments.records import Records
from bayescout.experiments.study import Declared
from bayescout.experiments.summary import Outcome, Section

if TYPE_CHECKING:
    from bayescout.experiments.maua.study import Maua

INTRODUCTION = """\
The document is an assignment: learn networks with BIC by sampling orders and by greedy search over orders \
with restarts, keep the 100 best, and compare them on unseen data with a handcrafted network. It prints no \
results, so "the document" lists its statements and its questions, turned into statements; the answers are \
computed here. {data} Parents are chosen greedily among the predecessors of a node. Order \
sampling draws {orders:,} orders. Order climbing is one climb from a random order by the best swap of \
neighbours. Restarts adds {restarts:,} more climbs in the same run. Insertion, which is ours, lets a node \
move to any place in the order, with {insertions} restarts. Each is run {repeats} times."""

SIMULATED = """\
The document's network is the student's own; {networks}, made by experts, stand for it here, with {test:,} \
test rows and training sets of {rows} rows (the document: about 10,000 each)."""


def outcome(study: Maua, records: Records) -> Outcome:
    """Findings, tables and figures."""
    view = View(study, records)
    simulated = SIMULATED.format(
        networks=" and ".join(study.networks),
        test=study.test_rows,
        rows=" and ".join(f"{rows:,}" for rows in study.rows),
    )
    introduction = INTRODUCTION.format(
        data=f"The data are {study.train} and {study.test}." if study.train else simulated,
        **{name: getattr(study, name) for name in ("orders", "restarts", "insertions", "repeats")},
    )
    sections = (*(_data(view, data) for data in view.sets()), _unseen(view))
    return Outcome(
        study.name, study.title, study.source, introduction, findings(view), sections, None, study.size()
    )


def _data(view: View, data: Declared) -> Section:
    text = (
        f"The {view.study.top} networks of each approach with the highest BIC on the training rows, and "
        f"their log-likelihood on rows that no approach has seen. A single climb meets fewer networks."
    )
    own = tuple(
        make(view, data, measure)
        for measure in figures.MEASURES
        for make in (figures.histograms, figures.boxes)
    )
    return Section(f"Learned on {title(data)}", text, (tables.compared(view, data),), own)


def _unseen(view: View) -> Section:
    text = (
        "Test rows for which training gave no probabilities, the effort, and whether the network with the "
        "highest training score is also the best on unseen rows."
    )
    return Section(
        "Unseen configurations and effort", text, (tables.unseen(view), tables.effort(view)),
        (figures.by_rank(view),),
    )  # fmt: skip
