"""Commands that learn structures: learn, searches."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

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
    as_setting,
    missing_facts,
    open_table,
    print_json,
    say_missing,
    split_arc,
    table_options,
)
from bayescout.cli.outputs import GRAPH_ENDING, LastSteps, Output, any_ending, check_outputs, page_ending
from bayescout.cli.terminal import line
from bayescout.data.table import Table
from bayescout.errors import SettingError
from bayescout.formats import check_can_hold
from bayescout.graph.dag import Dag
from bayescout.network.fit import check_prior

Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="A setting of the search, such as restarts=20; may be repeated.",
    ),
]
ScoreOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--score-option", metavar="KEY=VALUE", help="A setting of the score, such as ess=10; may be repeated."
    ),
]
SearchOption = Annotated[
    str, typer.Option(help="The search; `bayescout searches` lists them and their settings.")
]
ScoreOption = Annotated[
    str, typer.Option(help="The score; `bayescout scores` lists them and their settings.")
]
Require = Annotated[
    list[str] | None,
    typer.Option(metavar="ARC", help="An arc that must be there, in quotes: 'a->b'; may be repeated."),
]
Forbid = Annotated[
    list[str] | None,
    typer.Option(metavar="ARC", help="An arc that must not be there, in quotes: 'a->b'; may be repeated."),
]
Tiers = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="One tier a line, names separated by commas, earliest first: no arc leads to an earlier one.",
    ),
]
Order = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="All names, separated by commas or lines, parents before children."),
]
MaxParents = Annotated[int | None, typer.Option(metavar="NUMBER", help="The most parents a node may have.")]
MaxTime = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="Stop a search after so long, with the best network so far."),
]
MaxSteps = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", help="Stop a search after so many steps, with the best network so far."),
]
Prior = Annotated[
    str, typer.Option(help="For the parameters of the network that is written: mle, laplace or bdeu.")
]


def learn(
    data: Annotated[
        str,
        typer.Argument(
            help="A data file: csv, tsv, parquet, arrow, or white-space separated; or scored sets, .jkl."
        ),
    ],
    search: SearchOption = "hill-climb",
    score: ScoreOption = "bic",
    option: Options = None,
    score_option: ScoreOptions = None,
    require: Require = None,
    forbid: Forbid = None,
    tiers: Tiers = None,
    order: Order = None,
    max_parents: MaxParents = None,
    start: Annotated[
        str | None,
        typer.Option(help="Where to begin: empty (the default), random, or a structure or network file."),
    ] = None,
    seed: Seed = 0,
    max_time: MaxTime = None,
    max_steps: MaxSteps = None,
    top: Annotated[int, typer.Option(min=1, help="How many of the best networks to keep and show.")] = 1,
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="NUMBER", help="Threads that count; all cores by default.")
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Where the run is kept as it goes; called again, it goes on from there."
        ),
    ] = None,
    prior: Prior = "bdeu",
    gap: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Find, in so long at most, how far from optimal the network can be."
        ),
    ] = None,
    separator: Separator = None,
    missing: MissingOption = Missing.error,
    na: MissingValues = None,
    kind: KindOption = None,
    discretise: Discretise = None,
    drop: Drop = None,
    output: OutputOption = None,
    report: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="An HTML page to write, to look at and explore the result with."),
    ] = None,
    json: Json = False,
) -> None:
    """Learn the structure of a network from data."""
    from bayescout.cli.render import console, result_grids
    from bayescout.formats.jkl import is_jkl, read_jkl
    from bayescout.learn import learn as learn_structure

    check_outputs(
        [
            Output("--output", output, GRAPH_ENDING),
            Output("--report", report, page_ending),
            Output("--checkpoint", checkpoint, any_ending),  # read and written: it is the run's own
        ],
        reads=(data, tiers, order, start),
    )
    check_prior(prior)
    if gap is not None and not gap > 0:
        raise SettingError(f"--gap must be a positive number of seconds, not {gap:g}")
    method, formula = search_given(search, option), score_given(score, score_option)
    table: Table | None = None
    if is_jkl(data):
        _refuse_for_sets(
            output,
            gap is not None and search != "optimal",
            separator,
            missing is not Missing.error,
            na,
            kind,
            discretise,
            drop,
        )
        names: tuple[Any, ...] = read_jkl(data).names
    else:
        table = open_table(data, discretise, table_options(data, separator, missing, na, kind, drop))
        names = table.names
    if output:
        check_can_hold(output, names, None if table is None else table.states)
    result = learn_structure(
        data if table is None else table,
        search=method,
        score=formula if score_option else score,
        knowledge=knowledge_given(names, require, forbid, tiers, order, max_parents),
        start=_start(start),
        seed=seed,
        max_time=max_time,
        max_steps=max_steps,
        top=top,
        workers=workers,
        progress=sys.stderr.isatty() and not json,
        checkpoint=checkpoint,
    )
    last = LastSteps()
    found = None
    if result.stop_reason == "interrupted":
        last.interrupted.append("this is the best network so far")
    elif gap is not None:
        found = _gap(result, gap, sys.stderr.isatty() and not json, last)
    written = {
        "output": last.write(output, lambda path: write_learned(result.dag, table, path, prior)),
        "report": last.write(report, result.report),
    }
    if json:
        facts = (
            {} if found is None else {"bound": found.bound, "gap": found.gap, "certificate": found.to_dict()}
        )
        print_json(_with_top(result) | facts | (missing_facts(table) if table else {}) | written)
    else:
        if table is not None:
            say_missing(table)
        for part in result_grids(result):
            console().print(part)
        if found is not None:
            line(found)
        for path in filter(None, written.values()):
            line(f"written to {path}")
    last.close()


def searches(json: Json = False) -> None:
    """List the searches."""
    from bayescout.cli.render import console, grid
    from bayescout.search import SEARCHES

    rows: list[dict[str, Any]] = [
        {
            "name": name,
            "settings": {f.name: getattr(made(), f.name) for f in fields(made())},
            "summary": (made.__doc__ or "").splitlines()[0],
        }
        for name, made in SEARCHES.items()
    ]
    if json:
        print_json({"searches": rows})
        return
    shown = [
        (row["name"], ", ".join(f"{k}={v}" for k, v in row["settings"].items()), row["summary"])
        for row in rows
    ]
    console().print(grid("Searches", ["name", "settings", "what it does"], shown))


COMMANDS = (learn, searches)


def settings_given(pairs: list[str] | None) -> dict[str, Any]:
    """key=value texts as settings."""
    found = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise SettingError(f"an option is key=value, not {pair!r}")
        found[key.strip().replace("-", "_")] = as_setting(value.strip())
    return found


def search_given(name: str, option: list[str] | None) -> Any:
    from bayescout.search import search_named

    return search_named(name, **settings_given(option))


def score_given(name: str, option: list[str] | None) -> Any:
    from bayescout.scores import formula_named

    return formula_named(name, **settings_given(option))


def knowledge_given(
    names: tuple[Any, ...],
    require: list[str] | None,
    forbid: list[str] | None,
    tiers: str | None,
    order: str | None,
    max_parents: int | None,
) -> Any:
    from bayescout.search import Knowledge

    lines = [] if tiers is None else _read(tiers).splitlines()
    ordered = None if order is None else _read(order).replace("\n", ",").split(",")
    return Knowledge(
        required=tuple(split_arc(arc, names) for arc in require or ()),
        forbidden=tuple(split_arc(arc, names) for arc in forbid or ()),
        tiers=tuple(_labels(line.split(","), names) for line in lines if line.strip()),
        order=None if ordered is None else _labels(ordered, names),
        max_parents=max_parents,
    )


def _labels(texts: list[str], names: tuple[Any, ...]) -> tuple[Any, ...]:
    from bayescout.cli.common import label_named

    return tuple(label_named(text.strip(), names) for text in texts if text.strip())


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"{path}: cannot be read: {error}") from None


def _start(start: str | None) -> Any:
    from bayescout.formats import open_structure

    return start if start in (None, "empty", "random") else open_structure(start)


def _refuse_for_sets(output: str | None, gap: bool, *given: Any) -> None:
    """Scored parent sets have no rows: nothing to read in another way, nor to estimate parameters from."""
    from bayescout.formats import format_of

    if any(given):
        raise SettingError(
            "a .jkl file holds scores and no rows; --separator, --missing, --na, --kind, --discretise and "
            "--drop are for tables"
        )
    if gap:
        raise SettingError(
            "--gap scores networks anew, and a .jkl file has no rows for that; --search optimal tells how "
            "far from the best its network can be"
        )
    if (
        output
        and format_of(output).holds == "network"
        and not output.lower().removesuffix(".gz").endswith(".json")
    ):
        raise SettingError(
            f"{output}: a .jkl file has no rows to estimate parameters from; write the structure alone, as "
            f".dot or .txt, and give it and your data to bayescout fit"
        )


def write_learned(dag: Dag, table: Table | None, output: str, prior: str) -> None:
    """A network with parameters, or the structure alone where the format holds no more."""
    from bayescout.formats import format_of, write_network, write_structure
    from bayescout.network import fit

    if table is None or format_of(output).holds == "structure":
        write_structure(dag, output)
    else:
        write_network(fit(dag, table, prior=prior if table.is_discrete else "mle"), output)


def _gap(result: Any, seconds: float, progress: bool, last: LastSteps) -> Any:
    """How far from optimal the network is, as far as Ctrl-C lets it be found; the network itself is whole."""
    from bayescout.exact import gap

    kept = "the network is whole, the search for its gap was cut short"
    found = last.do(lambda: gap(result, max_time=seconds, progress=progress), kept)
    if found is not None and found.stop_reason == "interrupted":
        last.interrupted.append(kept)
    return found


def _with_top(result: Any) -> dict[str, Any]:
    found: dict[str, Any] = result.summary()
    if len(result.top) > 1:
        found["top"] = [
            {"score": entry.score, "arcs": [list(arc) for arc in entry.dag.arcs()]} for entry in result.top
        ]
    return found
