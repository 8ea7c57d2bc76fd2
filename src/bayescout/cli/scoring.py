"""Commands that score structures: score, scores."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any

import typer

from bayescout.cli.common import missing_facts, print_json, say_reading
from bayescout.cli.options import Base, DataOptions, Json, LogBase, StructureArgument, scores_from
from bayescout.errors import SettingError
from bayescout.scores import DEFAULT_PRIOR


def score(
    structure: StructureArgument,
    scores: Annotated[
        str,
        typer.Option(
            "--score",
            help="Names of scores, separated by commas; `bayescout scores` lists them.",
            autocompletion=scores_from,
        ),
    ] = "bic",
    structure_prior: Annotated[
        str,
        typer.Option(
            metavar="NAME|NUMBER",
            help="Added to the scores: uniform, sparse, sparse:2, friedman-koller, or nats per arc.",
        ),
    ] = DEFAULT_PRIOR,
    log_base: LogBase = Base.e,
    nodes: Annotated[bool, typer.Option("--nodes", help="Show each node's part as well.")] = False,
    *,
    data: DataOptions,
    json: Json = False,
) -> None:
    """Score a structure on data: log-likelihood, penalty and parameters apart."""
    from bayescout.scores import formula_named, prior_named
    from bayescout.scores.network_score import score_parts

    names = [name.strip() for name in scores.split(",") if name.strip()]
    if not names:
        raise SettingError("--score names no score; such as --score bic,k2,bdeu")
    for name in names:
        formula_named(name)
    prior = prior_named(structure_prior)
    dag, table = data.open_for(structure)
    found = [score_parts(dag, table, name, structure_prior=prior) for name in names]
    if json:
        print_json(
            {
                "structure": structure,
                "rows": table.total_weight,
                "log_base": log_base.value,
                **missing_facts(table),
                "scores": [_in_base(parts.to_dict(), log_base) for parts in found],
            }
        )
        return
    say_reading(table)
    _print(found, log_base, nodes)


def scores(json: Json = False) -> None:
    """List the scores."""
    from bayescout.cli.render import console, grid
    from bayescout.scores import SCORES

    rows = []
    for name, formula in SCORES.items():
        made: Any = formula()
        settings = {field.name: getattr(made, field.name) for field in fields(made)}
        rows.append(
            {
                "name": name,
                "data": {"both": "discrete, Gaussian, mixed", "continuous": "Gaussian"}.get(
                    made.kinds, made.kinds
                ),
                "equivalent": made.equivalent,
                "settings": settings,
                "summary": (formula.__doc__ or "").splitlines()[0],
            }
        )
    if json:
        print_json({"scores": rows})
        return
    shown = [
        (
            row["name"],
            row["data"],
            "yes" if row["equivalent"] else "no",
            ", ".join(f"{k}={v}" for k, v in row["settings"].items()),
            row["summary"],
        )
        for row in rows
    ]
    console().print(grid("Scores", ["name", "data", "equivalent", "settings", "what it is"], shown))


COMMANDS = (score, scores)

_IN_NATS = ("score", "log_likelihood", "penalty", "log_prior")


def _in_base(parts: dict[str, Any], base: Base) -> dict[str, Any]:
    """The parts, and those of each node, with their logarithms in another base."""
    changed = base.of(parts, _IN_NATS)
    if "nodes" in parts:
        changed["nodes"] = [_in_base(node, base) for node in parts["nodes"]]
    return changed


def _print(found: list[Any], base: Base, nodes: bool) -> None:
    from bayescout.cli.render import console, grid

    unit = base.nats

    def shown(parts: Any) -> list[str]:
        penalty = "-" if parts.penalty is None else f"{parts.penalty / unit:,.3f}"
        return [
            f"{parts.log_likelihood / unit:,.3f}",
            penalty,
            *([f"{parts.log_prior / unit:,.3f}"] if weighed else []),
            f"{parts.parameters:,.0f}",
            f"{parts.score / unit:,.3f}",
        ]

    weighed = any(parts.log_prior for parts in found)
    figures = ["log-likelihood", "penalty", *(["prior"] if weighed else []), "parameters", "score"]
    out = console()
    out.print(
        grid(
            f"Scores, {base.told}, larger is better",
            ["name", *figures],
            [(p.score_name, *shown(p)) for p in found],
            len(figures),
        )
    )
    for parts in found if nodes else ():
        rows = [(node.node, ", ".join(map(str, node.parents)), *shown(node)) for node in parts.nodes]
        out.print(
            grid(f"{parts.score_name}, node by node", ["node", "parents", *figures], rows, len(figures))
        )
