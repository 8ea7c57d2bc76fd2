"""Commands about acting: adjust, effect."""

from __future__ import annotations

from typing import Annotated

import typer

from bayescout.cli.common import label_named, open_graph, print_json, say_reading
from bayescout.cli.options import DataOptions, Json, StructureArgument
from bayescout.cli.terminal import line
from bayescout.graph.dag import Dag

Cause = Annotated[str, typer.Argument(metavar="X", help="The variable acted on.")]
Outcome = Annotated[str, typer.Argument(metavar="Y", help="The variable that may change.")]
Latent = Annotated[
    list[str] | None,
    typer.Option(metavar="NODE", help="A node of the graph that was not measured; may be repeated."),
]
AsClass = Annotated[
    bool,
    typer.Option("--class", help="Take the graph's equivalence class, as for one that was learned."),
]


def adjust(
    structure: StructureArgument,
    x: Cause,
    y: Outcome,
    latent: Latent = None,
    as_class: AsClass = False,
    json: Json = False,
) -> None:
    """List what to adjust for to learn the effect of X on Y, front doors and instruments."""
    from bayescout.causal import adjustment_sets

    dag = _dag(structure)
    one, other, *hidden = (label_named(text, dag.nodes) for text in (x, y, *(latent or ())))
    found = adjustment_sets(dag.cpdag() if as_class else dag, one, other, hidden)
    if json:
        print_json(found.to_dict())
        return
    for text in str(found).splitlines():
        line(text)


def effect(
    structure: StructureArgument,
    data: DataOptions,
    x: Cause,
    y: Outcome,
    adjusted: Annotated[
        list[str] | None,
        typer.Option(
            "--adjust",
            metavar="NODE",
            help="A node to adjust for, in place of the most precise set; may be repeated.",
        ),
    ] = None,
    latent: Latent = None,
    as_class: AsClass = False,
    json: Json = False,
) -> None:
    """Estimate the effect of X on Y from data in which nobody acted."""
    from bayescout.causal import effect as estimated

    dag = _dag(structure)
    one, other, *hidden = (label_named(text, dag.nodes) for text in (x, y, *(latent or ())))
    chosen = None if adjusted is None else [label_named(text, dag.nodes) for text in adjusted]
    table = data.open(columns=[label for label in dag.nodes if label not in hidden])
    found = estimated(dag.cpdag() if as_class else dag, table, one, other, chosen, hidden)
    if json:
        print_json(found.to_dict())
        return
    say_reading(table)
    for text in str(found).splitlines():
        line(text)


def _dag(structure: str) -> Dag:
    graph = open_graph(structure)
    return graph if isinstance(graph, Dag) else graph.dag


COMMANDS = (adjust, effect)
