"""Commands that learn structures: learn, searches."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from bayescout.cli.common import missing_facts, print_json, say_reading
from bayescout.cli.options import (
    Base,
    BudgetOptions,
    ColumnOptions,
    Json,
    LogBase,
    Missing,
    OutputOption,
    Prior,
    Processes,
    SearchOptions,
    argument,
    flag,
)
from bayescout.cli.outputs import GRAPH_ENDING, LastSteps, Output, any_ending, check_outputs, page_ending
from bayescout.cli.terminal import line, say
from bayescout.data.table import Table
from bayescout.errors import SettingError
from bayescout.formats import check_can_hold
from bayescout.graph.dag import Dag
from bayescout.network.fit import LEARNED_PRIOR, check_prior

if TYPE_CHECKING:
    from bayescout.result import Result


@dataclass(frozen=True, kw_only=True)
class LearnRun:
    """The start and limits of a run of `learn`, and further work on its network."""

    start: str | None = flag("Where to begin: empty (the default), random, or a structure or network file.")
    budget: BudgetOptions
    top: int = flag("How many of the best networks to keep and show.", default=1, min=1)
    workers: int | None = flag("Threads that count; all cores by default.", "NUMBER", min=1)
    checkpoint: str | None = flag(
        "Where the run is kept as it goes; called again, it goes on from there.", "FILE"
    )
    screen: str | None = flag(
        "Pairs of columns to leave out of a wide table: auto (the default), none, arc (those whose arc gains "
        "less by itself than it is charged), or the nats that it must gain.",
        "RULE",
    )
    engine: str | None = flag(
        "What counts: memory, or gpu, which sorts out the pairs of a wide table; by default a GPU is used "
        "from 10,000 columns on, if there is one.",
        "NAME",
    )
    prior: Prior = LEARNED_PRIOR
    gap: float | None = flag("Find, in so long at most, how far from optimal the network can be.", "SECONDS")


@dataclass(frozen=True, kw_only=True)
class LearnData(ColumnOptions):
    """A table, or scored parent sets."""

    data: str = argument(
        "A data file: csv, tsv, parquet, arrow, or white-space separated; - is csv from standard input; a "
        "folder of Parquet or Arrow files, or a quoted pattern such as 'rows/*.parquet'; or scored sets, "
        ".jkl."
    )


@dataclass(frozen=True, kw_only=True)
class LearnOutputs:
    """The outputs of `learn`."""

    output: OutputOption = None
    report: str | None = flag("An HTML page to write, to look at and explore the result with.", "FILE")
    log_base: LogBase = Base.e
    json: Json = False

    @property
    def progress(self) -> bool:
        return sys.stderr.isatty() and not self.json


def learn(search: SearchOptions, run: LearnRun, data: LearnData, out: LearnOutputs) -> None:
    """Learn the structure of a network from data."""
    from bayescout.learn import learn as learn_structure

    check_outputs(
        [
            Output("--output", out.output, GRAPH_ENDING),
            Output("--report", out.report, page_ending),
            Output("--checkpoint", run.checkpoint, any_ending),  # read and written: it is the run's own
        ],
        reads=(data.data, search.tiers, search.order, search.beliefs, search.knowledge, run.start),
    )
    check_prior(run.prior)
    if run.gap is not None and not run.gap > 0:
        raise SettingError(f"--gap must be a positive number of seconds, not {run.gap:g}")
    method, formula, prior = search.method(), search.formula(), search.weighing()
    table, names = _opened(search, run, data, out)
    if out.output:
        check_can_hold(out.output, names, None if table is None else table.states)
    result = learn_structure(
        data.data if table is None else table,
        search=method,
        score=formula if search.score_option else search.score,
        structure_prior=prior,
        knowledge=search.known(names),
        start=_start(run.start),
        **vars(run.budget),
        top=run.top,
        workers=run.workers,
        progress=out.progress,
        checkpoint=run.checkpoint,
        screen=run.screen,
        engine=run.engine,
        missing="em" if data.missing is Missing.keep else data.missing.value,
    )
    if result.completed is not None and not out.json:
        say(
            "missing cells were drawn given the other cells of their rows, and the score is of the completed "
            "table; --missing drop or state do otherwise"
        )
    if data.discretise is not None:
        result = replace(result, settings=replace(result.settings, discretise=data.cuts()))
    _finish(result, data.data, table, run, out)


def _opened(
    search: SearchOptions, run: LearnRun, data: LearnData, out: LearnOutputs
) -> tuple[Table | None, tuple[Any, ...]]:
    """The table, if there are rows, and the names of the variables."""
    from bayescout.formats.jkl import is_jkl, read_jkl

    if is_jkl(data.data):
        _refuse_for_sets(data, out.output, run.gap is not None and search.search != "optimal")
        return None, read_jkl(data.data).names
    table = data.open()
    if not out.json:
        say_reading(table)
    return table, table.names


def _finish(result: Result, data: str, table: Table | None, run: LearnRun, out: LearnOutputs) -> None:
    """Find the gap, write and print, as far as asked for."""
    from bayescout.cli.learned import learned_grids, next_steps
    from bayescout.cli.render import console

    last = LastSteps()
    found = None
    if result.stop_reason == "interrupted":
        last.interrupted.append("this is the best network so far")
    elif run.gap is not None:
        found = _gap(result, run.gap, out.progress, last)
    written = {
        "output": last.write(out.output, lambda path: write_learned(result.dag, table, path, run.prior)),
        "report": last.write(out.report, result.report),
    }
    if out.json:
        facts = (
            {} if found is None else {"bound": found.bound, "gap": found.gap, "certificate": found.to_dict()}
        )
        shown = _in_base(_with_top(result) | facts, out.log_base)
        print_json(shown | (missing_facts(table) if table else {}) | written)
    else:
        for part in learned_grids(result, table, out.log_base.nats, out.log_base.told):
            console().print(part)
        if found is not None:
            line(found)
        for path in filter(None, written.values()):
            line(f"written to {path}")
        if table is not None and sys.stdout.isatty():
            line("next:")
            for told in next_steps(data, out.output, out.report):
                line(f"  {told}")
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


def warm_up(workers: Processes = None, json: Json = False) -> None:
    """Compile everything that learning needs on this machine, on all cores; once is enough."""
    import time

    from bayescout.warming import JOBS, warm_up

    say(f"compiling for {len(JOBS)} kinds of learning, about a minute on two cores; what is ready is left")
    begin = time.perf_counter()
    kernels = warm_up(workers, lambda done: say(f"{done.ready} of {len(JOBS)} ready: {done.job}"))
    seconds = time.perf_counter() - begin
    if json:
        print_json({"kernels": kernels, "seconds": seconds})
    elif kernels:
        line(
            f"ready: {kernels} kernels compiled in {seconds:.0f} s; this machine does not compile them again"
        )
    else:
        line("nothing to do: everything was compiled before")


COMMANDS = (learn, searches, warm_up)


def _start(start: str | None) -> Any:
    from bayescout.formats import open_structure

    return start if start in (None, "empty", "random") else open_structure(start)


def _refuse_for_sets(data: LearnData, output: str | None, gap: bool) -> None:
    """Refuse options that need rows: scored parent sets have none to read or to estimate parameters from."""
    from bayescout.formats import format_of

    other = data.missing not in (Missing.em, Missing.keep)
    beside = (data.separator, data.memory, data.na, data.kind, data.discretise, data.drop, data.interventions)
    if other or any(beside):
        raise SettingError(
            "a .jkl file holds scores and no rows; --separator, --memory, --missing, --na, --kind, "
            "--discretise, --drop and --interventions are for tables"
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
    """Write a network with parameters, or the structure alone if the format holds no more."""
    from bayescout.formats import format_of, write_network, write_structure
    from bayescout.network import fit

    if table is None or format_of(output).holds == "structure":
        write_structure(dag, output)
    else:
        write_network(fit(dag, table, prior="mle" if table.is_continuous else prior), output)


def _gap(result: Any, seconds: float, progress: bool, last: LastSteps) -> Any:
    """The gap to the optimum, as far as it is found before Ctrl-C; the network itself is complete."""
    from bayescout.optimality import gap

    kept = "the network is whole, the search for its gap was cut short"
    found = last.do(lambda: gap(result, max_time=seconds, progress=progress), kept)
    if found is not None and found.stop_reason == "interrupted":
        last.interrupted.append(kept)
    return found


def _in_base(facts: dict[str, Any], base: Base) -> dict[str, Any]:
    """The facts of a result with their scores in another base, which is named."""
    if base is Base.e:
        return facts
    found = base.of(facts, ("score", "own_score", "bound", "gap"))
    for entry in found.get("top", ()):
        entry["score"] /= base.nats
    return found | {"log_base": base.value}


def _with_top(result: Any) -> dict[str, Any]:
    found: dict[str, Any] = result.summary()
    if len(result.top) > 1:
        found["top"] = [
            {"score": entry.score, "arcs": [list(arc) for arc in entry.dag.arcs()]} for entry in result.top
        ]
    return found
