"""The report: a result as one self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import os
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from bayescout.errors import SettingError
from bayescout.evaluate.json_values import json_value
from bayescout.formats.text import write_text
from bayescout.graph.compare import Comparison, compare
from bayescout.graph.dag import Dag
from bayescout.graph.labels import counted, graph_size
from bayescout.graph.pdag import Pdag
from bayescout.network import Network
from bayescout.report import parameters
from bayescout.report.asking import model_data
from bayescout.report.data_part import described
from bayescout.report.evidence import tests_data, tests_tile
from bayescout.report.modules import joined
from bayescout.report.neighbourhoods import MOST_DRAWN, page_values
from bayescout.report.provenance import provenance, version
from bayescout.report.render import rendered
from bayescout.report.views import (
    EXTRA,
    MISSING,
    MOST_POINTS,
    MOST_TOP,
    REVERSED,
    against,
    as_reference,
    graph_data,
    trace_data,
)
from bayescout.report.wording import number, shown, text
from bayescout.report.worth import Worth, worth
from bayescout.result import Result, says_nothing

TITLE = "Learned network"

STOPPED = {
    "converged": ("by itself", "The search came to its own end."),
    "max_time": ("time limit", "The time limit was reached; this is the best network so far."),
    "max_steps": ("step limit", "The limit on steps was reached; this is the best network so far."),
    "interrupted": ("interrupted", "The run was interrupted; this is the best network so far."),
    "callback": ("by a callback", "A callback ended the run; this is the best network so far."),
}


def write_report(
    result: Result,
    path: str | os.PathLike[str],
    truth: Any = None,
    model: Any = None,
    title: str | None = None,
) -> None:
    """Write the page; see `Result.report`."""
    if title is not None and not isinstance(title, str):
        raise SettingError(f"title must be text, not {type(title).__name__}")
    reference = None if truth is None else as_reference(truth, result.dag)
    if len(result.dag) > MOST_DRAWN:
        _write_neighbourhoods(result, path, reference, model, title or TITLE)
        return
    network, about = parameters.fitted(result, model)
    subject = subject_of(result, reference)
    script = Markup("(() => {\n%s})();\n") % joined("report.js")
    values = {
        "title": title or TITLE,
        "version": version("bayescout"),
        "script": script,
        "script_source": "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "lead": _lead(result),
        "tiles": tiles(subject),
        "graph_size": graph_size(len(result.dag), result.dag.n_arcs),
        "pairs_note": _pairs_note(subject),
        "arcs": _arcs(subject),
        "likelihood_scale": getattr(getattr(result.scores, "formula", None), "likelihood_scale", False),
        "progress": _progress(result),
        "thinned": len(result.trace) > MOST_POINTS,
        "best": _best(result),
        "kept": f"{len(result.top):,}" if len(result.top) > MOST_TOP else "",
        "about_parameters": about,
        "parameters": [],
        "data": None if result.table is None else described(result.table, result.dag.nodes, subject.names),
        "made": provenance(result),
        "page_data": json_value(page_data(subject, network)),
    }
    if network is not None:
        values["about_parameters"] = f"{counted(network.n_parameters, 'free parameter')}. {about}"
        values["parameters"] = parameters.node_parameters(network, result.dag.nodes, subject.names)
    write_text(path, rendered("report.html", values))


def _write_neighbourhoods(
    result: Result, path: str | os.PathLike[str], reference: Dag | Pdag | None, model: Any, title: str
) -> None:
    """Write the page of a graph too wide to be drawn at once."""
    if model is not None:
        raise SettingError(
            f"a page of {len(result.dag):,} variables shows no parameters: leave out the model, or fit and "
            f"report a part of the variables"
        )
    subject = Subject(result, shown(result.dag.nodes), reference, None)
    values = page_values(result, subject.names, tiles(subject), title, _lead(result))
    write_text(path, rendered("neighbourhoods.html", values))


def subject_of(result: Result, reference: Dag | Pdag | None) -> Subject:
    """A result with what is worked out of it for a page."""
    found = None if result.table is None else worth(result)
    return Subject(result, shown(result.dag.nodes), reference, found)


@dataclass(frozen=True)
class Subject:
    """A result with the values that the page shows of it."""

    result: Result
    names: tuple[str, ...]
    reference: Dag | Pdag | None
    worth: Worth | None

    @property
    def compared(self) -> Comparison | None:
        if self.reference is None:
            return None
        learned = self.result.dag if isinstance(self.reference, Dag) else self.result.cpdag
        return compare(learned, self.reference)


# ---- above the drawing


def _lead(result: Result) -> str:
    rows = "" if result.table is None else f" from {counted(result.table.n_rows, 'row')} of data"
    size = f"{counted(len(result.dag), 'variable')}, {counted(result.dag.n_arcs, 'arc')}"
    how = f"by the search {result.settings.search}"
    if result.own_score is not None:
        how = f"by greedy climbing in a run of the search {result.settings.search}"
    how += f" with the score {result.settings.score}"
    if result.settings.prior_told:
        how += f" and the structure prior {result.settings.prior_told}"
    note = f" The structure prior is {result.prior_note}." if result.prior_note else ""
    return f"{size}, learned{rows} {how}.{note}"


def tiles(subject: Subject) -> list[tuple[str, str, str]]:
    """The name, the figure and a sentence of each tile of the headline."""
    result = subject.result
    ended, sentence = STOPPED.get(result.stop_reason, (result.stop_reason, ""))
    if result.own_score is not None:
        sentence = (
            f"The time limit was reached before {result.settings.search} had got far (its own best scored "
            f"{number(result.own_score)}): this network is that of greedy climbing from the start."
        )
    undecided = len(result.cpdag.undirected)
    made = [
        (f"Score ({result.settings.score})", number(result.score), "nats; larger is better"),
        ("Arcs", f"{result.dag.n_arcs:,}", _direction(undecided, result.dag.n_arcs)),
        ("Time", _seconds(result.seconds), f"{counted(result.counters.iterations, 'step')}, "
         f"{result.counters.evaluations:,} families scored"),
        ("Ended", ended, sentence),
    ]  # fmt: skip
    made.append(_optimality(result))
    tested = tests_tile(result)
    if tested is not None:
        made.append(tested)
    found = subject.compared
    if found is not None:
        made.append(
            (
                "Against the truth",
                f"SHD {found.shd}",
                f"structural Hamming distance: {found.n_missing} missing, {found.n_extra} extra, "
                f"{found.n_reversed} reversed; {found.shd_cpdag} between the equivalence classes",
            )
        )
    return made


def _direction(undecided: int, arcs: int) -> str:
    if not arcs:
        return "the variables are unconnected"
    if not undecided:
        return "the direction of every one is decided"
    return f"the direction of {undecided:,} could be either: see the equivalence class"


def _optimality(result: Result) -> tuple[str, str, str]:
    if result.gap is None:
        return "Optimality", "not known", "No bound is known; bayescout.gap(result) looks for one."
    if result.gap <= 0:
        return "Optimality", "proven", "No network within the limits of the search scores higher."
    if says_nothing(result.score, result.gap):
        return (
            "Optimality",
            "not known",
            "No useful bound yet: more time, or a limit on parents, would give one.",
        )
    said = "No network within the limits scores higher by more than this."
    return "Optimality", f"gap {number(result.gap)}", said


def _seconds(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def _pairs_note(subject: Subject) -> str:
    """A sentence on the pairs that are not joined and what the page has on them."""
    found = subject.worth
    if found is None:
        return "This result has no data with it, so explanations are left out."
    if not found.left_out:
        return "Every pair is explained."
    nearest = f"the {len(found.pairs):,} nearest to being worth an arc"
    explained = f"Of the pairs that are not joined, {nearest} are explained"
    if not found.pairs:
        explained = f"Pairs that are not joined are left out, as {found.why}"
    return f"{explained}; result.explain(a, b) gives any of the other {found.left_out:,}."


# ---- sections


def _arcs(subject: Subject) -> list[dict[str, Any]]:
    """The arcs, the most valuable first if their worth is known."""
    dag, found = subject.result.dag, subject.worth
    if found is None:
        decided = set(subject.result.cpdag.directed)
        ends = [(p, c) for c, own in enumerate(dag.parents) for p in own]
        return [_arc(subject.names, p, c, (p, c) in decided, []) for p, c in ends]
    ranked = sorted(found.arcs, key=lambda arc: (arc["remove"], arc["c"], arc["p"]))
    return [_arc(subject.names, arc["p"], arc["c"], arc["compelled"], _changes(arc)) for arc in ranked]


def _arc(
    names: tuple[str, ...], parent: int, child: int, compelled: bool, changes: list[str]
) -> dict[str, Any]:
    words = f"{names[parent]} \N{RIGHTWARDS ARROW} {names[child]}"
    direction = "decided" if compelled else "either way"
    return {"parent": parent, "child": child, "words": words, "direction": direction, "changes": changes}


def _changes(arc: dict[str, Any]) -> list[str]:
    turned = "not possible" if arc["barred"] else "closes a cycle"
    possible = arc["reverse"] is not None and not arc["barred"]
    return [number(arc["remove"]), number(arc["reverse"]) if possible else turned]


def _progress(result: Result) -> str:
    first = result.trace[0].best if result.trace else result.score
    return f"{counted(len(result.trace), 'point')} from {number(first)} to {number(result.score)}."


def _best(result: Result) -> list[dict[str, Any]]:
    """The best networks, and their differences from the first."""
    found = []
    for entry in result.top[:MOST_TOP]:
        kinds = [kind for *_, kind in against(entry.dag, result.dag)]
        words = {EXTRA: "added", MISSING: "left out", REVERSED: "reversed"}
        differs = [f"{kinds.count(kind)} {word}" for kind, word in words.items() if kind in kinds]
        found.append(
            {
                "score": number(entry.score),
                "difference": number(entry.score - result.score),
                "arcs": entry.dag.n_arcs,
                "against": ", ".join(differs) or "the best",
            }
        )
    return found


def page_data(subject: Subject, network: Network | None) -> dict[str, Any]:
    """The data from which the page's script draws and explains."""
    result, found = subject.result, subject.worth
    table = result.table
    states: list[Any] = [None] * len(result.dag)
    if table is not None:
        listed = [table.states[table.index(node)] for node in result.dag.nodes]
        states = [None if own is None or len(own) > 400 else shown(own) for own in listed]
    compared = subject.compared
    return {
        "graph": graph_data(result, subject.names, subject.reference),
        "trace": trace_data(result),
        "states": states,
        "score": result.score,
        "scoreName": text(result.settings.score),
        "top": [entry.score for entry in result.top[:MOST_TOP]],
        "hasData": found is not None,
        "arcs": [] if found is None else found.arcs,
        "pairs": [] if found is None else found.pairs,
        "tests": tests_data(result, subject.names),
        "model": None if network is None else model_data(network, result.dag),
        "truthNote": None if compared is None else _truth_note(compared),
    }


def _truth_note(found: Comparison) -> str:
    return (
        f"{found.n_missing} of {counted(found.true_arcs, 'true arc')} missing, {found.n_extra} extra, "
        f"{found.n_reversed} reversed; precision {found.precision:.3f}, recall {found.recall:.3f}. "
        f"Between the equivalence classes {found.shd_cpdag} pairs differ."
    )
