"""The result of learning, for people: the data as read, the network, its arcs by worth, what to do next."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table as Columns
from rich.text import Text

from bayescout.cli.render import console, grid, label
from bayescout.data.table import Table
from bayescout.errors import printable
from bayescout.explain import Explanation
from bayescout.result import Result
from bayescout.result_top import unlike

MOST_COLUMNS = 24
"""The most columns of which each has a line of its own."""

MOST_DRAWN = 24
"""The most nodes of a network that is drawn in the terminal."""

MOST_NODES = 500
"""The most nodes of which each has a line of its own, and the worth of arcs is told."""

MOST_ARCS = 40
"""The most arcs that are listed by their worth."""

OF_CELLS = ("--na", "--separator")
"""Options of `learn` that say how the cells of a text are read."""

OF_LEARN_ALONE = (
    "-o", "--output", "--report", "--log-base", "--start", "--top", "--checkpoint", "--screen", "--engine",
    "--gap",
)  # fmt: skip
"""Options of `learn`, each with a value, that a resampling has no use for."""


def learned_grids(
    result: Result, table: Table | None, unit: float = 1.0, logs: str = "natural logarithms"
) -> Iterator[Any]:
    """The parts, in the order they are printed.

    Scores are shown in units of so many nats, which are the logarithms named.
    """
    if table is not None and table.n_columns <= MOST_COLUMNS:
        yield Group(label("Columns as read", "bold"), "", _columns(table), "")
    yield grid("Learned", ["", ""], _figures(result, unit, logs), numbers=1)
    yield _network(result)
    if result.dag.n_arcs and result.scored_table is not None and len(result.dag) <= MOST_NODES:
        yield _arcs(result, unit, logs)
    if len(result.top) > 1:
        rows = [
            (*unlike(one.dag, result.dag), one.dag.n_arcs, f"{one.score / unit:,.3f}") for one in result.top
        ]
        yield grid("The best networks", ["with", "without", "arcs", "score"], rows, numbers=2)


def _columns(table: Table) -> Any:
    """The columns as read; on a narrow terminal values and reasons wrap within their own columns."""
    text = printable_lines(str(table.columns))
    if max(map(len, text.split("\n"))) <= console().width:
        return Text(text)
    shown = Columns(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for name, justify in (("column", "left"), ("kind", "left"), ("values", "left"), ("missing", "right")):
        shown.add_column(name, justify=justify, no_wrap=name in ("kind", "missing"))  # type: ignore[arg-type]
    shown.add_column("why")
    for line in table.columns.lines():
        shown.add_row(*map(label, line))
    return shown


def printable_lines(text: str) -> str:
    """Text of several lines in which terminal codes have no effect."""
    return "\n".join(printable(line) for line in text.split("\n"))


def _figures(result: Result, unit: float, logs: str) -> list[tuple[str, Any]]:
    """What was done, and how near to the best it is known to be."""
    figures: list[tuple[str, Any]] = [
        ("search", result.settings.search),
        (f"score ({result.settings.score}{'' if unit == 1 else ', ' + logs})", f"{result.score / unit:,.3f}"),
        ("arcs", result.dag.n_arcs),
        ("seconds", f"{result.seconds:.3g}"),
        ("steps", f"{result.counters.iterations:,}"),
        ("operations", f"{result.counters.operations:,}"),
        ("families scored", f"{result.counters.evaluations:,}"),
        ("stopped", result.stop_reason),
    ]
    if result.settings.prior_told:
        figures.insert(2, ("structure prior", result.settings.prior_told))
    if result.own_score is not None:
        figures += [
            ("found by", "greedy climbing"),
            (f"best of {result.settings.search}", f"{result.own_score / unit:,.3f}"),
        ]
    if result.found_by is not None:
        figures.append(("found by", result.found_by))
    if result.screened is not None:
        figures.append(("screened", str(result.screened)))
    if result.prior_note:
        figures.append(("structure prior", result.prior_note))
    figures.append(("optimality", result.optimality or "not known; --gap 60 looks for a bound"))
    if result.ends_in_class or result.told:
        directed, free = len(list(result.cpdag.arcs())), len(list(result.cpdag.edges()))
        figures.append(("equivalence class", f"{directed} arcs directed, {free} reversible"))
    if result.dependencies is not None:
        made = result.dependencies
        covered = "" if made.covered is None else f", {made.covered:,} covered"
        told = f"{made.tested:,}: {made.rejected:,} rejected{covered}, {made.inconclusive:,} inconclusive"
        figures.append(("independence tests", told))
    return figures


def _network(result: Result) -> Any:
    """The graph as a drawing if it is small and the terminal can show it, else the parents of each node."""
    if result.dag.n_arcs > 0 and len(result.dag) <= MOST_DRAWN and _has_lines():
        from bayescout.plots.lines import drawn

        lines = drawn(result.dag)
        if max(map(len, lines)) < console().width:
            told = label("Network", "bold"), " (parents above their children)"
            return Group(Text.assemble(*told), "", *(Text(f" {line}") for line in lines), "")
    nodes = result.dag.nodes[:MOST_NODES]
    rows = [(node, ", ".join(str(parent) for parent in result.dag.parents_of(node))) for node in nodes]
    more = f", the first {MOST_NODES} of {len(result.dag):,} nodes" if len(nodes) < len(result.dag) else ""
    return grid(f"Network{more}", ["node", "parents"], rows)


def _has_lines() -> bool:
    try:
        "◄─│╮╯┤┼┴".encode(sys.stdout.encoding or "utf-8")
    except (UnicodeError, LookupError):
        return False
    return True


def _arcs(result: Result, unit: float, logs: str) -> Any:
    """The arcs by what the score loses without them."""
    found = [result.explain(parent, child) for parent, child in result.dag.arcs()]
    found.sort(key=lambda one: one.remove or 0.0)
    rows = [
        (
            f"{one.parent} -> {one.child}",
            _direction(one),
            f"{-(one.remove or 0.0) / unit:,.2f}",
        )
        for one in found[:MOST_ARCS]
    ]
    more = f", the first {MOST_ARCS} of {len(found)}" if len(found) > MOST_ARCS else ""
    shown_in = "" if unit == 1.0 else f", in {logs}"
    return grid(f"Arcs by worth{shown_in}{more}", ["arc", "direction", "worth"], rows, numbers=1)


def _direction(one: Explanation) -> str:
    """Who says which way an arc points."""
    if one.required or one.forbidden:
        return "as the model needs it" if one.barred else "as is known"
    return "told by the data" if one.compelled else "may be turned"


def resampled(given: Sequence[str]) -> list[str]:
    """The words after `bootstrap` for those that were given after `learn`: all but its own options."""
    kept: list[str] = []
    words = iter(given)
    for word in words:
        name, equals, _ = word.partition("=")
        if name in OF_LEARN_ALONE:
            if not equals:
                next(words, None)
        elif not (word.startswith("-o") and not word.startswith("--")):
            kept.append(word)
    return kept


def predicted(given: Sequence[str]) -> list[str]:
    """Of the words given after `learn`, those that say how cells are read: new rows are read likewise."""
    kept: list[str] = []
    words = iter(given)
    for word in words:
        name, equals, _ = word.partition("=")
        if name in OF_CELLS:
            kept += [word] if equals else [word, next(words, "")]
    return kept


def next_steps(data: str, output: str | None, report: str | None) -> list[str]:
    """Commands that follow, as far as they were not given."""
    given = sys.argv[1:] if sys.argv[1:2] == ["learn"] else ["learn", data]
    learn = shlex.join(["bayescout", *given])
    lines = []
    if output is None:
        lines.append((f"{learn} -o network.json", "keep the network, with its probabilities"))
    else:
        asked = f'bayescout query {shlex.quote(output)} "NODE | OTHER=STATE"'
        lines.append((asked, "ask it; do(OTHER=STATE) to act"))
        cells = predicted(given[1:])
        rows = shlex.join(["bayescout", "predict", output, "NEW.csv", "--target", "NODE", *cells])
        lines.append((rows, "predict rows"))
    if report is None:
        lines.append((f"{learn} --report page.html", "a page to explore it"))
    lines.append((shlex.join(["bayescout", "bootstrap", *resampled(given[1:])]), "how sure each arc is"))
    width = max(len(head) for head, _ in lines)
    if width + max(len(told) for _, told in lines) + 5 > console().width:
        return [part for head, told in lines for part in (f"# {told}", head)]
    return [f"{head:<{width}}   {told}" for head, told in lines]
