"""Commands that make, show and use networks: fit, sample, impute, query, compare, convert, show, networks."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from bayescout.cli.common import (
    evidence_given,
    findings_given,
    label_named,
    missing_facts,
    open_graph,
    print_json,
    say_reading,
)
from bayescout.cli.options import (
    CellOptions,
    DataOptions,
    Json,
    NetworkArgument,
    OutputOption,
    Seed,
    StructureArgument,
    WayOptions,
)
from bayescout.cli.outputs import (
    GRAPH_ENDING,
    TABLE_ENDING,
    LastSteps,
    Output,
    check_outputs,
    network_ending,
)
from bayescout.cli.terminal import line, say
from bayescout.data.table import Table
from bayescout.formats import FORMATS, check_can_hold, format_of, open_network, write_network, write_structure
from bayescout.formats import networks as shipped
from bayescout.graph.compare import compare as compare_graphs
from bayescout.graph.dag import Dag
from bayescout.network import GaussianMixture, MixedDistribution, Network
from bayescout.network import fit as fit_network
from bayescout.network.fit import check_prior
from bayescout.plots.saving import check_svg, is_svg

ENDINGS = " ".join(ending for entry in FORMATS.values() for ending in entry.extensions)
"""The endings of all formats, for the help of `convert`."""

MANY_NODES = 12
"""A network with more nodes than this shows its tables only when asked for."""


def fit(
    structure: StructureArgument,
    output: OutputOption = None,
    prior: Annotated[
        str,
        typer.Option(
            help="mle: shares of the data; laplace: one more of each; bdeu: --ess rows more, spread evenly."
        ),
    ] = "mle",
    ess: Annotated[float, typer.Option(help="Equivalent sample size of the bdeu prior.")] = 1.0,
    *,
    data: DataOptions,
    json: Json = False,
) -> None:
    """Estimate the parameters of a given structure from data."""
    check_outputs([Output("--output", output, network_ending)], reads=(structure, data.data))
    check_prior(prior, ess)
    dag, table = data.open_for(structure)
    if output:
        check_can_hold(output, table.names, table.states)
    model = fit_network(dag, table, prior=prior, ess=ess, missing=data.missing.value)
    last = LastSteps()
    written = last.write(output, lambda path: write_network(model, path))
    if json:
        print_json(
            {
                **_described(model),
                "rows": table.n_rows,
                "prior": prior,
                **missing_facts(table),
                "output": written,
            }
        )
    else:
        _show(model, [])
        say_reading(table)
        if written:
            line(f"written to {written}")
    last.close()


def sample(
    network: NetworkArgument,
    n: Annotated[int, typer.Option("-n", "--rows", min=1, help="How many rows.")] = 1000,
    seed: Seed = 0,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The data to write: .csv, .tsv, .parquet, .arrow."
        ),
    ] = None,
    given: Annotated[
        str | None,
        typer.Option(metavar="EVIDENCE", help='Draw given evidence, such as "smoke=yes, xray=no".'),
    ] = None,
    json: Json = False,
) -> None:
    """Draw rows from a network; without a file, as csv on standard output."""
    check_outputs([Output("--output", output, TABLE_ENDING)], reads=(network,))
    model = open_network(network)
    table = model.sample(n, seed=seed, evidence=None if given is None else evidence_given(model, given))
    _hand_over(table, {"network": network, "rows": n, "seed": seed, "output": output}, json)


def impute(
    network: NetworkArgument,
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="The rows to fill: .csv, .tsv, .parquet, .arrow.")
    ],
    cells: CellOptions,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The data to write: .csv, .tsv, .parquet, .arrow."
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="most-probable: the jointly most probable values of a row's empty cells; sample: drawn from "
            "their distribution; mean: of numbers."
        ),
    ] = "most-probable",
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Fill the empty cells of data with a network; without a file, as csv on standard output."""
    from bayescout.network.impute import check_method

    check_outputs([Output("--output", output, TABLE_ENDING)], reads=(network, data))
    check_method(method, 1)
    model = open_network(network)
    table = model.impute(cells.rows_of(model, data), method=method, seed=seed)
    assert isinstance(table, Table)  # a list only where several are asked for
    described = {"network": network, "rows": table.n_rows, "method": method, "seed": seed, "output": output}
    _hand_over(table, described, json)


def _hand_over(table: Table, described: dict[str, Any], json: bool) -> None:
    """Write rows to the file described, or print them: as JSON with what is described, or as csv."""
    output = described["output"]
    if output:
        table.save(output)
    if json:
        print_json(described if output else {**described, "data": table.to_dict()})
    elif output:
        line(f"{table.n_rows:,} rows of {table.n_columns} columns written to {output}")
    else:
        from bayescout.data.write import write_csv

        write_csv(table, sys.stdout.buffer)


def query(
    network: NetworkArgument,
    question: Annotated[
        str,
        typer.Argument(
            help='In quotes: nodes | evidence, such as "lung | smoke=yes, xray=no", or "lung | '
            'do(smoke=yes)" for what happens if we act.'
        ),
    ],
    soft: Annotated[
        list[str] | None,
        typer.Option(
            help='Likelihoods of the states of a node, such as "smoke: yes=0.8, no=0.3"; repeatable.'
        ),
    ] = None,
    jeffrey: Annotated[
        list[str] | None,
        typer.Option(
            help='The distribution of a node afterwards, such as "smoke: yes=0.7, no=0.3"; repeatable.'
        ),
    ] = None,
    information: Annotated[
        bool,
        typer.Option("--information", help="Rank the other nodes by what they tell of the target."),
    ] = False,
    *,
    way: WayOptions,
    json: Json = False,
) -> None:
    """Answer P(nodes | evidence): exactly, or if that is too large by an estimate, which is said."""
    from bayescout.cli.render import answer_grid, console, information_grid

    model = open_network(network)
    findings: dict[str, Any] = {
        "soft": findings_given(model, "--soft", soft),
        "jeffrey": findings_given(model, "--jeffrey", jeffrey),
    }
    answer = model.query(question, **findings, **way.settings())
    ranked = model.information(question, None, None, **findings) if information else None
    if json:
        told = {} if ranked is None else {"information": [list(one[:2]) for one in ranked]}
        print_json({"network": network, "query": question, **_answer(answer), **told})
        return
    console().print(answer_grid(answer, f"P({question})"))
    if ranked is not None:
        console().print(information_grid(ranked))


def compare(
    learned: StructureArgument,
    truth: StructureArgument,
    json: Json = False,
) -> None:
    """Measure how far a structure is from the true one."""
    from bayescout.cli.render import comparison_grids, console

    found = compare_graphs(open_graph(learned), open_graph(truth))
    if json:
        print_json(found.to_dict())
        return
    for table in comparison_grids(found):
        console().print(table)


def convert(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="A network or structure file, or a shipped name.")
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="OUT", help=f"The file to write, in the format of its ending: {ENDINGS}; .svg: a picture."
        ),
    ],
    json: Json = False,
) -> None:
    """Write a network or structure in another format, or draw it as .svg.

    Names and states that the format cannot carry are changed by one rule, and kept in the file for us.
    A format of structures leaves the parameters out, and says so.
    """
    drawn = is_svg(target)
    check_outputs([Output("OUT", target, check_svg if drawn else GRAPH_ENDING)], reads=(source,))
    graph = open_graph(source)
    structure_only = drawn or format_of(target).holds == "structure"
    if drawn:
        graph.to_svg(target)
    elif isinstance(graph, Dag):
        write_structure(graph, target)
    elif structure_only:
        write_structure(graph.dag, target)
    else:
        write_network(graph, target)
    dropped = structure_only and not isinstance(graph, Dag)
    if json:
        print_json({"input": source, "output": target, "parameters_dropped": dropped})
        return
    line(f"written to {target}")
    if dropped:
        say(f"note: {target} holds the structure only; the parameters were left out")


def show(
    network: NetworkArgument,
    nodes: Annotated[
        list[str] | None, typer.Argument(help="The nodes whose tables to show; of a small network, all.")
    ] = None,
    json: Json = False,
) -> None:
    """Show a network: its size, and the tables of its nodes."""
    model = open_network(network)
    chosen = [label_named(text, model.nodes) for text in nodes or []]
    if json:
        tables = [_table_of(model, node) for node in chosen]
        print_json(_described(model) | ({"tables": tables} if tables else {}))
        return
    _show(model, chosen)


def networks(json: Json = False) -> None:
    """List the benchmark networks that come with bayescout."""
    from dataclasses import asdict

    from bayescout.cli.render import console, grid

    infos = shipped()
    if json:
        print_json({"networks": [asdict(info) for info in infos]})
        return
    rows = [
        (i.name, i.kind, i.nodes, i.arcs, f"{i.parameters:,}", i.max_in_degree, i.max_cardinality or "-")
        for i in infos
    ]
    columns = ["name", "kind", "nodes", "arcs", "parameters", "most parents", "most states"]
    console().print(grid("Benchmark networks", columns, rows, numbers=5))


COMMANDS = (fit, sample, impute, query, compare, convert, show, networks)


def _show(model: Network, nodes: list[Any]) -> None:
    from rich.text import Text

    from bayescout.cli.render import console, equations_grid, parameter_grids

    out = console()
    out.print(Text(model.summary()))
    out.print()
    if model.is_gaussian:
        out.print(equations_grid(model, nodes or list(model.nodes)))
        return
    if not nodes and len(model.nodes) > MANY_NODES:
        out.print("bayescout show NETWORK NODE ... shows the tables of its nodes", markup=False)
    for node in nodes or (model.nodes if len(model.nodes) <= MANY_NODES else ()):
        for part in parameter_grids(model.parameters(node), out.width):
            out.print(part)


def _table_of(model: Network, node: Any) -> dict[str, Any]:
    """One node's parameters as JSON; undefined probabilities are null."""
    return {"node": node, **model.parameters(node).to_dict()}


def _described(model: Network) -> dict[str, Any]:
    """A network as JSON: graph and size."""
    described: dict[str, Any] = {
        "name": model.name,
        "kind": model.kind,
        "nodes": list(model.nodes),
        "arcs": [list(arc) for arc in model.dag.arcs()],
        "parameters": model.n_parameters,
    }
    if not model.is_gaussian:
        described["undefined_rows"] = model.n_undefined
    return described


def _answer(answer: Any) -> dict[str, Any]:
    """An answer as JSON; of an estimate also its standard error."""
    error = {"error": answer.error} if getattr(answer, "error", 0) else {}
    head = {"variables": list(answer.variables), **error}
    if isinstance(answer, MixedDistribution):
        names = list(map(str, answer.discrete.variables))
        return head | {
            "answer": [
                {"states": dict(zip(names, states, strict=True)), "probability": p}
                | ({"given": None} if found is None else {"given": found.to_dict()} | _components(found))
                for states, p, found in answer.rows()
            ]
        }
    if isinstance(answer, GaussianMixture):
        return head | {"answer": answer.to_dict()} | _components(answer)
    if hasattr(answer, "probabilities"):
        rows = [
            {"states": dict(zip(map(str, answer.variables), states, strict=True)), "probability": p}
            for states, p in answer.rows()
        ]
        return head | {"answer": rows}
    return head | {"answer": answer.to_dict()}


def _components(answer: GaussianMixture) -> dict[str, Any]:
    """The normal distributions of a mixture as JSON, the heaviest first."""
    return {
        "components": [
            {"weight": weight, "means": one.means.tolist(), "covariance": one.covariance.tolist()}
            for weight, one in answer.components
        ]
    }
