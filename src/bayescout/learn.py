"""The main entry point: learn a network's structure from data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from os import PathLike
from typing import TYPE_CHECKING, Any

from bayescout.errors import SettingError

if TYPE_CHECKING:
    from bayescout.data.discretise import Choice
    from bayescout.result import Result
    from bayescout.scores import PriorLike, ScoreLike
    from bayescout.search import Search
    from bayescout.search.frame.knowledge import KnowledgeLike
    from bayescout.search.frame.outcome import Callback, Limits, Step
    from bayescout.statistics.engine import Engine
    from bayescout.wide import ScreenLike


def learn(
    data: Any,
    search: str | Search = "auto",
    score: ScoreLike | None = None,
    knowledge: KnowledgeLike | None = None,
    start: Any = None,
    seed: int = 0,
    max_time: float | None = None,
    max_steps: int | None = None,
    top: int = 1,
    workers: int | None = None,
    progress: bool = False,
    callback: Callback | None = None,
    checkpoint: str | PathLike[str] | None = None,
    engine: str | Engine | None = None,
    missing: str = "em",
    discretise: Choice | None = None,
    structure_prior: PriorLike | None = None,
    interventions: Any = None,
    memory: int | float | str | None = None,
    screen: ScreenLike = None,
) -> Result:
    """Learn the structure of a Bayesian network from data.

    data        a frame, an array, a path or a `Table`; `as_table` takes options for kinds and missing values.
                Or scored parent sets, from `read_jkl` or as a path to a .jkl file: they come with their
                scores, only listed sets are chosen, and searches over whole sets do best (`optimal`,
                `memetic`)
    search      a name of `bayescout.search.SEARCHES`, or an instance with settings; "auto" runs several in
                turn, as many as the numbers of variables and rows allow
    score       a name of `bayescout.scores.SCORES`, an instance, a function of counts, or your own object;
                None or "auto" is for categories bdeu with an ess of 3, or qnml if it makes the data more
                probable, and bic for all other tables
    knowledge   required and forbidden arcs, tiers, an order, limits on parents; always obeyed. `Knowledge`, a
                dict of its fields, or a file (`Knowledge.read`)
    start       None or "empty" (the required arcs), "random", or a graph to begin with
    seed        of everything random: same inputs, same answer, to the bit
    max_time    seconds of learning, once data and compiled code are loaded; max_steps steps: the best so
                far is returned and `stop_reason` says why. A search that is slow to begin answers, when the
                time is over, with no less than greedy climbing from the start (then `own_score` is its own)
    top         the number of the best distinct networks met that are kept
    workers     threads that count; no effect on the answer
    missing     what is done about missing cells: "em" draws each from its distribution given the row's other
                cells, under a network that is learned in turn, and scores the completed table; "drop" leaves
                out rows, "state" gives missing cells a state of their own, "error" refuses them
    discretise  cut continuous columns into intervals first: a number of them, "mdl", "hartemink" or another
                method of `bayescout.discretise` ("hartemink:4", "mdl:species"), {column: number or cut
                points}, or a `Discretiser`; None cuts nothing. The fitted network keeps the cuts
    structure_prior  how probable graphs are before the data: "uniform" (the default with a score that is
                named), "sparse" (the default with none: arcs are rare; "sparse:2" expects two parents per
                variable), "friedman-koller", a charge per arc in nats, an instance of
                `bayescout.scores.PRIORS`, or your own object with `family(child, parents)`. Beliefs about
                single arcs are in the knowledge. Its log is part of the score
    interventions  the variables that were set from outside, row by row: a column's name, one entry per row,
                or {variable: rows}, as in `as_table`. Such a row leaves the family of what was set in it
    memory      the most that may be resident, such as "2 GB", where `data` are not in memory yet: several
                Parquet or Arrow files (a folder, "rows/*.parquet"), a lazy frame, a DuckDB relation, an Arrow
                dataset; what does not fit is kept on disk as codes. Default: half of what is free; no effect
                on the answer
    screen      the pairs of columns that a search looks at: "auto" (the default) screens tables of more than
                500 columns where the search can, "none" looks at all, "arc" leaves out pairs whose arc gains
                less by itself than it is charged, and a number those of which it gains fewer nats. What was
                left out is in `Result.screened`. auto, ges, boss, hill-climb and tabu can do it; ges and
                boss not where variables were set from outside
    engine      the source of the data's statistics: a name of `bayescout.statistics.engines.ENGINES` or
                your own; None is the one in memory; no effect on the answer
    progress    show a progress line on standard error
    callback    called with each `Step` of the trace; a true return value stops the run
    checkpoint  a file from which a killed run continues, to the bit, when it is called again; written
                every so often, so that it costs a tenth of the time at most, and when the run ends

    Column order, row order and names do not change the graph that is learned.
    """
    from bayescout.search.frame.run import drive
    from bayescout.search.frame.watch import compiling_seconds
    from bayescout.task import Task

    if callback is not None and not callable(callback):
        raise SettingError(f"callback must be a function of a step, not {callback!r}")
    task = Task.of(
        data, search, score, knowledge, start, seed, max_time, max_steps, top, workers, engine, missing,
        discretise, structure_prior, interventions, memory, screen, resumable=checkpoint is not None,
    )  # fmt: skip
    # cells that were drawn in part cannot be drawn again, so a checkpoint of them would be of no use
    store = None if checkpoint is None or task.interrupted else task.checkpoint(checkpoint)
    shown = _Shown(progress, callback, task.limits)
    with store or nullcontext(), shown as observe:
        begin = task.clock + compiling_seconds()
        outcome = drive(
            task.search, task.problem, task.rng, task.limits, observe, store, begin, task.interrupted
        )
        shown.tell(outcome.trace[-1:])
    return task.result(outcome, task.seconds)


class _Shown:
    """The callback to use, and a progress line while it runs, with the share of a budget if there is one."""

    def __init__(self, progress: bool, callback: Callback | None, limits: Limits) -> None:
        self.progress, self.callback = progress, callback
        self.limits = limits
        self.line: Any = None
        self.task: Any = None

    def tell(self, steps: Iterable[Step]) -> None:
        """Show steps in the line, if there is one; the last of a run may come after the last callback."""
        for step in steps if self.line is not None else ():
            share = self._share(step)
            budget = {} if share is None else {"total": 1.0, "completed": share}
            told = f"step {step.step:,}  best {step.best:,.3f}  arcs {step.arcs:,}"
            self.line.update(self.task, description=told, **budget)

    def _share(self, step: Step) -> float | None:
        """The share of the time or the steps that is spent, whichever is more; None without a limit."""
        given = ((step.seconds, self.limits.max_time), (step.step, self.limits.max_steps))
        shares = [min(1.0, spent / most) for spent, most in given if most]
        return max(shares) if shares else None

    def __enter__(self) -> Callable[[Any], Any] | None:
        if not self.progress:
            return self.callback
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

        from bayescout.progress import progress_line

        columns: list[Any] = [SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()]
        if self.limits.max_time or self.limits.max_steps:
            columns += [BarColumn(bar_width=20), TextColumn("{task.percentage:.0f}% of the budget")]
        self.line = progress_line(*columns)
        self.line.start()
        self.task = self.line.add_task("learning", total=None)

        def observe(step: Step) -> Any:
            self.tell([step])
            return self.callback(step) if self.callback is not None else None

        return observe

    def __exit__(self, *_: object) -> None:
        if self.line is not None:
            self.line.stop()
