"""Commands that put one question to data or networks: independence, divergence, held-out."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from bayescout.cli.common import label_named, open_graph, print_json, say_reading
from bayescout.cli.options import Base, DataOptions, Json, LogBase, NetworkArgument, Seed, StructureArgument
from bayescout.cli.terminal import line
from bayescout.errors import SettingError
from bayescout.formats import open_network
from bayescout.graph.dag import Dag
from bayescout.network import Network


def independence(
    data: DataOptions,
    x: Annotated[str, typer.Argument(metavar="X", help="A column.")],
    y: Annotated[str, typer.Argument(metavar="Y", help="Another column.")],
    given: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column that is held fixed; may be repeated."),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="g2 or chi2 for categories, fisher-z for numbers, dg for both; by default what fits.",
        ),
    ] = None,
    alpha: Annotated[float, typer.Option(help="The level at which independence is rejected.")] = 0.05,
    *,
    json: Json = False,
) -> None:
    """Test whether two columns are independent, given others."""
    from bayescout.evaluate import independence_test

    table = data.open()
    one, other, *others = (label_named(text, table.names) for text in (x, y, *(given or ())))
    found = independence_test(table, one, other, others, test, alpha)
    if json:
        print_json(found.to_dict())
        return
    say_reading(table)
    line(found)


def divergence(
    truth: NetworkArgument,
    learned: NetworkArgument,
    method: Annotated[
        str,
        typer.Option(help="exact, sampled, or auto: exact unless its tables would be too large."),
    ] = "auto",
    samples: Annotated[int, typer.Option(min=2, help="Rows drawn from the truth, if sampled.")] = 100_000,
    seed: Seed = 0,
    log_base: LogBase = Base.e,
    json: Json = False,
) -> None:
    """Measure the Kullback-Leibler divergence of a learned network from the true one."""
    from bayescout.evaluate import divergence as measured

    found = measured(open_network(truth), open_network(learned), samples, seed, method)  # type: ignore[arg-type]
    if json:
        facts = log_base.of(found.to_dict(), ("value", "standard_error"))
        print_json({"truth": truth, "learned": learned, **facts, "log_base": log_base.value})
        return
    line(found)
    if log_base is not Base.e:
        line(f"{found.value / log_base.nats:.6g} in {log_base.told}")


def held_out(
    structure: StructureArgument,
    data: DataOptions,
    train: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The rows to estimate parameters from; without it, those of the network are used.",
        ),
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            help="For the estimates: mle, laplace or bdeu; by default laplace for categories, else mle."
        ),
    ] = None,
    log_base: LogBase = Base.e,
    json: Json = False,
) -> None:
    """Measure the log-likelihood of rows that a network was not fitted to."""
    from bayescout.evaluate import held_out as measured

    if data.discretise is not None:
        raise SettingError(
            "--discretise would cut the two tables at different points; cut the data first, and give both"
        )
    if train is None and prior is not None:
        raise SettingError(
            "--prior is for estimates from --train FILE; without it the network's own are used"
        )
    graph = open_graph(structure)
    settings = _as_in(graph)
    known = None if train is None else replace(data, data=train).open(**settings)
    table = data.open(**settings)
    found = measured(graph, known, table, prior=prior)
    if json:
        facts = log_base.of(found.to_dict(), ("total", "finite_total", "mean"))
        print_json({"structure": structure, "train": train, **facts, "log_base": log_base.value})
        return
    say_reading(table)
    line(found)
    if log_base is not Base.e:
        unit = log_base.nats
        line(f"{found.total / unit:,.3f} in {log_base.told}, {found.mean / unit:.4f} per row")


def _as_in(graph: Network | Dag) -> dict[str, Any]:
    """The columns to read, which are the nodes, and the states that a network declares for them."""
    if isinstance(graph, Dag):
        return {"columns": list(graph.nodes)}
    declared = {
        label: node.declared
        for label, node in zip(graph.nodes, graph.distributions, strict=True)
        if node.declared is not None
    }
    return {"columns": list(graph.nodes), "states": declared or None}


COMMANDS = (independence, divergence, held_out)
