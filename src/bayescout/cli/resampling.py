"""Commands that learn again and again: bootstrap, cross-validate."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescout.cli.common import (
    Discretise,
    Drop,
    Json,
    KindOption,
    Missing,
    MissingOption,
    MissingValues,
    OutputOption,
    Seed,
    Separator,
    missing_facts,
    open_table,
    print_json,
    say_missing,
    table_options,
)
from bayescout.cli.learning import (
    Forbid,
    MaxParents,
    MaxSteps,
    MaxTime,
    Options,
    Order,
    Prior,
    Require,
    ScoreOption,
    ScoreOptions,
    SearchOption,
    Tiers,
    knowledge_given,
    score_given,
    search_given,
    write_learned,
)
from bayescout.cli.networks import DataArgument
from bayescout.cli.outputs import GRAPH_ENDING, LastSteps, Output, check_outputs, csv_ending
from bayescout.cli.terminal import line
from bayescout.errors import Interrupted
from bayescout.formats import check_can_hold
from bayescout.network.fit import check_prior

if TYPE_CHECKING:
    from bayescout.evaluate import ArcStrengths, CrossValidation
    from bayescout.graph.dag import Dag

Processes = Annotated[
    int | None, typer.Option(min=1, metavar="NUMBER", help="Processes; all cores by default.")
]


def bootstrap(
    data: DataArgument,
    runs: Annotated[int, typer.Option(min=1, help="How many tables to draw and learn from.")] = 100,
    search: SearchOption = "hill-climb",
    score: ScoreOption = "bic",
    option: Options = None,
    score_option: ScoreOptions = None,
    require: Require = None,
    forbid: Forbid = None,
    tiers: Tiers = None,
    order: Order = None,
    max_parents: MaxParents = None,
    seed: Seed = 0,
    max_time: MaxTime = None,
    max_steps: MaxSteps = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Arcs stronger than this make the network; estimated from the strengths if left out.",
        ),
    ] = None,
    workers: Processes = None,
    prior: Prior = "bdeu",
    separator: Separator = None,
    missing: MissingOption = Missing.error,
    na: MissingValues = None,
    kind: KindOption = None,
    discretise: Discretise = None,
    drop: Drop = None,
    output: OutputOption = None,
    strengths: Annotated[
        str | None, typer.Option(metavar="FILE", help="A csv file to write the strengths of the arcs to.")
    ] = None,
    json: Json = False,
) -> None:
    """Learn from rows drawn again and again: how sure each arc is, and the network most runs agree on."""
    from bayescout.evaluate import ArcStrengths
    from bayescout.evaluate import bootstrap as resample

    check_outputs(
        [Output("--output", output, GRAPH_ENDING), Output("--strengths", strengths, csv_ending)],
        reads=(data, tiers, order),
    )
    check_prior(prior)
    method, formula = search_given(search, option), score_given(score, score_option)
    table = open_table(data, discretise, table_options(data, separator, missing, na, kind, drop))
    if output:
        check_can_hold(output, table.names, table.states)
    last = LastSteps()
    try:
        found = resample(
            table,
            runs=runs,
            search=method,
            score=formula,
            seed=seed,
            workers=workers,
            progress=sys.stderr.isatty() and not json,
            knowledge=knowledge_given(table.names, require, forbid, tiers, order, max_parents),
            max_time=max_time,
            max_steps=max_steps,
        )
    except Interrupted as stopped:
        if not stopped.done:
            raise
        found = ArcStrengths.of_graphs(stopped.done)
        last.interrupted.append(f"this is what the first {len(stopped.done):,} of {runs:,} runs came to")
    used = found.threshold() if threshold is None else threshold
    agreed = found.averaged(used)
    written = {
        "output": last.write(output, lambda path: write_learned(agreed, table, path, prior)),
        "strengths": last.write(strengths, lambda path: _write_strengths(found, path)),
    }
    if json:
        network = {"network": [list(arc) for arc in agreed.arcs()], "used_threshold": used}
        print_json(found.to_dict() | network | {"seed": seed} | missing_facts(table) | written)
    else:
        say_missing(table)
        _show_strengths(found, agreed, used)
        for path in filter(None, written.values()):
            line(f"written to {path}")
    last.close()


def cross_validate(
    data: DataArgument,
    folds: Annotated[int, typer.Option(min=2, help="How many parts, each left out in turn.")] = 10,
    search: SearchOption = "hill-climb",
    score: ScoreOption = "bic",
    option: Options = None,
    score_option: ScoreOptions = None,
    require: Require = None,
    forbid: Forbid = None,
    tiers: Tiers = None,
    order: Order = None,
    max_parents: MaxParents = None,
    seed: Seed = 0,
    max_time: MaxTime = None,
    max_steps: MaxSteps = None,
    workers: Processes = None,
    prior: Annotated[
        str | None,
        typer.Option(
            help="For the parameters: mle, laplace or bdeu; by default laplace, mle for continuous data."
        ),
    ] = None,
    separator: Separator = None,
    missing: MissingOption = Missing.error,
    na: MissingValues = None,
    kind: KindOption = None,
    discretise: Discretise = None,
    drop: Drop = None,
    json: Json = False,
) -> None:
    """Learn without one part of the rows after the other: how well networks predict rows not learned from."""
    from bayescout.evaluate import cross_validate as validate

    if prior is not None:
        check_prior(prior)
    method, formula = search_given(search, option), score_given(score, score_option)
    table = open_table(data, discretise, table_options(data, separator, missing, na, kind, drop))
    found = validate(
        table,
        search=method,
        score=formula,
        folds=folds,
        seed=seed,
        prior=prior,
        workers=workers,
        progress=sys.stderr.isatty() and not json,
        knowledge=knowledge_given(table.names, require, forbid, tiers, order, max_parents),
        max_time=max_time,
        max_steps=max_steps,
    )
    if json:
        print_json(found.to_dict() | missing_facts(table))
        return
    say_missing(table)
    _show_folds(found)


COMMANDS = (bootstrap, cross_validate)


def _write_strengths(found: ArcStrengths, path: str) -> None:
    from bayescout.data.files import atomic_write

    with atomic_write(path, text=True) as stream:
        lines = csv.writer(stream, lineterminator="\n")
        lines.writerow(["parent", "child", "strength", "direction"])
        lines.writerows(found.table())


def _show_strengths(found: ArcStrengths, agreed: Dag, threshold: float) -> None:
    """Every edge once, the more frequent direction first, and the network of those above the threshold."""
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
