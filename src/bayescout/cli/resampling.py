"""Commands that learn repeatedly: bootstrap, cross-validate."""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescout.cli.common import missing_facts, print_json, say_reading
from bayescout.cli.learning import write_learned
from bayescout.cli.options import (
    BudgetOptions,
    ColumnOptions,
    Json,
    OutputOption,
    Prior,
    Processes,
    SearchOptions,
    flag,
)
from bayescout.cli.outputs import GRAPH_ENDING, LastSteps, Output, check_outputs, csv_ending
from bayescout.cli.terminal import line
from bayescout.errors import Interrupted
from bayescout.formats import check_can_hold
from bayescout.network.fit import LEARNED_PRIOR, check_prior

if TYPE_CHECKING:
    from bayescout.data.table import Table
    from bayescout.evaluate import ArcStrengths, CrossValidation
    from bayescout.graph.dag import Dag


@dataclass(frozen=True, kw_only=True)
class BootstrapRun:
    """Limits of every run of `bootstrap`, and the use made of the runs."""

    budget: BudgetOptions
    threshold: float | None = flag(
        "Arcs stronger than this make the network; estimated from the strengths if left out.", min=0, max=1
    )
    workers: Processes = None
    prior: Prior = LEARNED_PRIOR


@dataclass(frozen=True, kw_only=True)
class BootstrapOutputs:
    """The outputs of `bootstrap`."""

    output: OutputOption = None
    strengths: str | None = flag("A csv file to write the strengths of the arcs to.", "FILE")
    json: Json = False


def bootstrap(
    runs: Annotated[int, typer.Option(min=1, help="How many tables to draw and learn from.")] = 100,
    *,
    search: SearchOptions,
    run: BootstrapRun,
    data: ColumnOptions,
    out: BootstrapOutputs,
) -> None:
    """Learn from rows drawn again and again: how sure each arc is, and the network most runs agree on."""
    from bayescout.evaluate import ArcStrengths
    from bayescout.evaluate import bootstrap as resample

    check_outputs(
        [Output("--output", out.output, GRAPH_ENDING), Output("--strengths", out.strengths, csv_ending)],
        reads=(data.data, search.tiers, search.order, search.beliefs, search.knowledge),
    )
    check_prior(run.prior)
    method, formula, weighing = search.method(), search.formula(), search.weighing()
    table = data.open()
    if out.output:
        check_can_hold(out.output, table.names, table.states)
    last = LastSteps()
    try:
        found = resample(
            table,
            runs=runs,
            search=method,
            score=formula,
            structure_prior=weighing,
            workers=run.workers,
            progress=sys.stderr.isatty() and not out.json,
            knowledge=search.known(table.names),
            **vars(run.budget),
        )
    except Interrupted as stopped:
        if not stopped.done:
            raise
        found = ArcStrengths.of_graphs(stopped.done)
        last.interrupted.append(f"this is what the first {len(stopped.done):,} of {runs:,} runs came to")
    _finish(found, table, run, out, last)


def _finish(
    found: ArcStrengths, table: Table, run: BootstrapRun, out: BootstrapOutputs, last: LastSteps
) -> None:
    """Write and print the strengths and the network."""
    used = found.threshold() if run.threshold is None else run.threshold
    agreed = found.averaged(used)
    written = {
        "output": last.write(out.output, lambda path: write_learned(agreed, table, path, run.prior)),
        "strengths": last.write(out.strengths, lambda path: _write_strengths(found, path)),
    }
    if out.json:
        network = {"network": [list(arc) for arc in agreed.arcs()], "used_threshold": used}
        print_json(found.to_dict() | network | {"seed": run.budget.seed} | missing_facts(table) | written)
    else:
        say_reading(table)
        _show_strengths(found, agreed, used)
        for path in filter(None, written.values()):
            line(f"written to {path}")
    last.close()


def cross_validate(
    folds: Annotated[int, typer.Option(min=2, help="How many parts, each left out in turn.")] = 10,
    *,
    search: SearchOptions,
    budget: BudgetOptions,
    workers: Processes = None,
    prior: Annotated[
        str | None,
        typer.Option(
            help="For the parameters: mle, laplace or bdeu; by default laplace, mle for continuous data."
        ),
    ] = None,
    data: ColumnOptions,
    json: Json = False,
) -> None:
    """Learn without one part of the rows after the other: how well networks predict rows not learned from."""
    from bayescout.evaluate import cross_validate as validate

    if prior is not None:
        check_prior(prior)
    method, formula, weighing = search.method(), search.formula(), search.weighing()
    table = data.open()
    found = validate(
        table,
        search=method,
        score=formula,
        structure_prior=weighing,
        folds=folds,
        prior=prior,
        workers=workers,
        progress=sys.stderr.isatty() and not json,
        knowledge=search.known(table.names),
        **vars(budget),
    )
    if json:
        print_json(found.to_dict() | missing_facts(table))
        return
    say_reading(table)
    _show_folds(found)


COMMANDS = (bootstrap, cross_validate)


def _write_strengths(found: ArcStrengths, path: str) -> None:
    from bayescout.data.files import atomic_write

    with atomic_write(path, text=True) as stream:
        lines = csv.writer(stream, lineterminator="\n")
        lines.writerow(["parent", "child", "strength", "direction"])
        lines.writerows(found.table())


def _show_strengths(found: ArcStrengths, agreed: Dag, threshold: float) -> None:
    """Print every edge once, the more frequent direction first, and the network above the threshold."""
    from bayescout.cli.render import console, grid

    edges: dict[frozenset[Any], Any] = {}
    for row in found.table():
        edges.setdefault(frozenset(row[:2]), row)
    kept = {frozenset(arc) for arc in agreed.arcs()}
    rows = [
        (
            f"{row.parent} {'->' if row.direction > 0.5 else '-'} {row.child}",
            "yes" if edge in kept else "",
            f"{row.strength:.3f}",
            f"{row.direction:.3f}",
        )
        for edge, row in edges.items()
    ]
    out = console()
    title = f"Over {found.runs:,} runs: the share with the edge, and of these the share with this direction"
    out.print(grid(title, ["arc", "kept", "strength", "direction"], rows, numbers=2))
    parents = [(node, ", ".join(map(str, agreed.parents_of(node)))) for node in agreed.nodes]
    out.print(grid(f"Network of the arcs stronger than {threshold:.3f}", ["node", "parents"], parents))


def _show_folds(found: CrossValidation) -> None:
    from bayescout.cli.render import console, grid

    rows = [
        (
            number,
            f"{fold.held_out.rows:,}",
            fold.dag.n_arcs,
            f"{fold.held_out.mean:.4f}",
            fold.held_out.n_unseen,
            fold.held_out.impossible_rows,
        )
        for number, fold in enumerate(found)
    ]
    title = f"Log-likelihood of a row not learned from: {found.mean:.4f} ± {found.standard_error:.4f} nats"
    columns = ["fold", "rows", "arcs", "nats a row", "unseen", "impossible"]
    console().print(grid(title, columns, rows, numbers=5))
