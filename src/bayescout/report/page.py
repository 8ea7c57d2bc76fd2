"""The report: a result as one self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import os
from dataclasses import dataclass
from typing import Any

from bayescout.errors import SettingError
from bayescout.formats.text import write_text
from bayescout.graph.compare import Comparison, compare
from bayescout.graph.dag import Dag
from bayescout.graph.labels import counted, graph_size
from bayescout.graph.pdag import Pdag
from bayescout.report import data_part, made, parameters
from bayescout.report.evidence import tests_data, tests_tile
from bayescout.report.markup import Html, embedded, grid, html, join, number, page, resource, shown, tag
from bayescout.report.views import MOST_TOP, against, as_reference, graph_data, trace_data
from bayescout.report.worth import Worth, worth
from bayescout.result import Result, says_nothing

SCRIPTS = ("core.js", "graph.js", "panel.js", "trace.js", "page.js")

STOPPED = {
    "converged": ("by itself", "The search came to its own end."),
    "max_time": ("time limit", "The time limit was reached; this is the best network so far."),
    "max_steps": ("step limit", "The limit on steps was reached; this is the best network so far."),
    "interrupted": ("interrupted", "The run was interrupted; this is the best network so far."),
    "callback": ("by a callback", "A callback ended the run; this is the best network so far."),
}

NO_DATA = (
    "The result was read from a file, and files keep no data. Learn again and write the report from that "
    "result to have this part."
)


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
    network, about = parameters.fitted(result, model)
    found = None if result.table is None else worth(result)
    subject = _Subject(result, shown(result.dag.nodes), reference, found)
    script = Html("\n".join(resource(name) for name in SCRIPTS).join(("(() => {\n", "})();\n")))
    parts = {
        "title": title or "Learned network",
        "version": made.version("bayescout"),
        "style": Html(resource("style.css") + resource("report.css")),
        "script": script,
        "script_source": "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "lead": _lead(result),
        "headline": _headline(subject),
        "graph_label": f"The learned network: {graph_size(len(result.dag), result.dag.n_arcs)}",
        "knowledge_note": _pairs_note(subject),
        "arcs": _arcs(subject),
        "progress": _progress(result),
        "best": _best(result),
        "parameters": _parameters(subject, network, about),
        "data": _data(subject),
        "made": made.section(result),
        "json": embedded(_json(subject)),
    }
    write_text(path, page("report.html", parts))


@dataclass(frozen=True)
class _Subject:
    """A result with what is shown of it."""

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
    return f"{size}, learned{rows} {how}."


def _headline(subject: _Subject) -> Html:
    result = subject.result
    ended, sentence = STOPPED.get(result.stop_reason, (result.stop_reason, ""))
    if result.own_score is not None:
        sentence = (
            f"The time limit was reached before {result.settings.search} had got far (its own best scored "
            f"{number(result.own_score)}): this network is that of greedy climbing from the start."
        )
    undecided = len(result.cpdag.undirected)
    tiles: list[tuple[str, object, str]] = [
        (f"Score ({result.settings.score})", number(result.score), "nats; larger is better"),
        ("Arcs", f"{result.dag.n_arcs:,}", _direction(undecided, result.dag.n_arcs)),
        ("Time", _seconds(result.seconds), f"{counted(result.counters.iterations, 'step')}, "
         f"{result.counters.evaluations:,} families scored"),
        ("Ended", ended, sentence),
    ]  # fmt: skip
    if result.gap is not None:
        tiles.append(_optimality(result))
    tested = tests_tile(result)
    if tested is not None:
        tiles.append(tested)
    found = subject.compared
    if found is not None:
        tiles.append(
            (
                "Against the truth",
                f"SHD {found.shd}",
                f"structural Hamming distance: {found.n_missing} missing, {found.n_extra} extra, "
                f"{found.n_reversed} reversed; {found.shd_cpdag} between the equivalence classes",
            )
        )
    return tag("dl", *(_tile(*tile) for tile in tiles), class_="tiles")


def _tile(name: str, value: object, about: str) -> Html:
    said = tag("dd", tag("span", value, class_="figure"), tag("span", about, class_="about"))
    return tag("div", tag("dt", name), said)


def _direction(undecided: int, arcs: int) -> str:
    if not arcs:
        return "the variables are unconnected"
    if not undecided:
        return "the direction of every one is decided"
    return f"the direction of {undecided:,} could be either: see the equivalence class"


def _optimality(result: Result) -> tuple[str, object, str]:
    assert result.gap is not None
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


def _pairs_note(subject: _Subject) -> str:
    """What the page knows of pairs that are not joined."""
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


def _arcs(subject: _Subject) -> Html:
    result, names = subject.result, subject.names
    if not result.dag.n_arcs:
        return tag("p", "The network has no arcs: the search found no dependence worth one.")
    found = subject.worth
    if found is None:
        decided = set(result.cpdag.directed)
        rows = [
            [_arc_button(names, p, c), _said_direction((p, c) in decided)]
            for c, own in enumerate(result.dag.parents)
            for p in own
        ]
        return join([tag("p", NO_DATA, class_="note"), grid(["arc", "direction"], rows)])
    ranked = sorted(found.arcs, key=lambda arc: (arc["remove"], arc["c"], arc["p"]))
    rows = [
        [
            _arc_button(names, arc["p"], arc["c"]),
            _said_direction(arc["compelled"]),
            number(arc["remove"]),
            number(arc["reverse"]) if arc["reverse"] is not None else "closes a cycle",
        ]
        for arc in ranked
    ]
    about = (
        "What the score would change by, in nats, if the arc were taken out or turned round; the most "
        "valuable first. An arc that could point either way can be turned without loss, some only together "
        "with others."
    )
    if getattr(getattr(result.scores, "formula", None), "likelihood_scale", False):
        about += " Scores are logarithms: 3 nats stand for a factor of about 20, 7 nats for about 1,000."
    heads = ["arc", "direction", "without it", "turned round"]
    return join([tag("p", about, class_="note"), grid(heads, rows, numbers=2)])


def _arc_button(names: tuple[str, ...], parent: int, child: int) -> Html:
    words = f"{names[parent]} \N{RIGHTWARDS ARROW} {names[child]}"
    return tag("button", words, type="button", class_="link", data_arc=f"{parent},{child}")


def _said_direction(compelled: bool) -> str:
    return "decided" if compelled else "either way"


def _progress(result: Result) -> Html:
    steps = len(result.trace)
    first = result.trace[0].best if result.trace else result.score
    said = f"{counted(steps, 'point')} from {number(first)} to {number(result.score)}."
    thinned = "" if steps <= 1500 else " Long runs are thinned here; result.trace has every step."
    return tag(
        "p", said + " The thick line is the best score so far, the thin one the network in hand." + thinned,
        class_="note",
    )  # fmt: skip


def _best(result: Result) -> Html:
    if len(result.top) == 1:
        only = (
            "Only one network was kept; learn(..., top=10), or --top 10 on the command line, keeps the ten "
            "best that the search meets, where it meets as many."
        )
        return tag("p", only, class_="note")
    rows = []
    for rank, entry in enumerate(result.top[:MOST_TOP]):
        kinds = [kind for *_, kind in against(entry.dag, result.dag)]
        differs = ", ".join(
            f"{kinds.count(kind)} {word}" for kind, word in ((1, "added"), (3, "left out"), (2, "reversed"))
            if kinds.count(kind)
        )  # fmt: skip
        view = tag("button", "View", type="button", data_top=rank, aria_label=f"View network {rank + 1}")
        scores = number(entry.score), number(entry.score - result.score)
        rows.append([rank + 1, view, *scores, entry.dag.n_arcs, differs or "the best"])
    about = "The best networks that the search met, and how they differ from the first."
    if len(result.top) > MOST_TOP:
        about += f" The first {MOST_TOP} of {len(result.top):,}; result.top has all."
    heads = ["rank", "", "score", "difference", "arcs", "against the best"]
    return join([tag("p", about, class_="note"), grid(heads, rows, [False, False, True, True, True, False])])


def _parameters(subject: _Subject, network: Any, about: str) -> Html:
    if network is None:
        return tag("p", about, class_="note")
    tables = parameters.parameter_tables(network, subject.result.dag.nodes, subject.names)
    said = f"{counted(network.n_parameters, 'free parameter')}. {about}"
    return join([tag("p", said, class_="note"), *tables])


def _data(subject: _Subject) -> Html:
    table, nodes = subject.result.table, subject.result.dag.nodes
    if table is None:
        return tag("p", NO_DATA, class_="note")
    blocks = data_part.column_blocks(table, nodes, subject.names)
    return join([data_part.facts_of(table), tag("div", *blocks, class_="columns")])


def _json(subject: _Subject) -> dict[str, Any]:
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
        "scoreName": html(result.settings.score),
        "top": [entry.score for entry in result.top[:MOST_TOP]],
        "hasData": found is not None,
        "arcs": [] if found is None else found.arcs,
        "pairs": [] if found is None else found.pairs,
        "tests": tests_data(result, subject.names),
        "truthNote": None if compared is None else _truth_note(compared),
    }


def _truth_note(found: Comparison) -> str:
    return (
        f"{found.n_missing} of {counted(found.true_arcs, 'true arc')} missing, {found.n_extra} extra, "
        f"{found.n_reversed} reversed; precision {found.precision:.3f}, recall {found.recall:.3f}. "
        f"Between the equivalence classes {found.shd_cpdag} pairs differ."
    )
