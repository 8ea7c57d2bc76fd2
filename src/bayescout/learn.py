"""The front door: learn a network's structure from data."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, is_dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from bayescout.checks import generator
from bayescout.errors import BayescoutWarning, DataError, GraphError, SettingError

if TYPE_CHECKING:
    from bayescout.data.table import Table
    from bayescout.formats.jkl import ScoredSets
    from bayescout.graph.dag import Dag
    from bayescout.result import Result
    from bayescout.scores import ScoreLike
    from bayescout.search import Knowledge, Search
    from bayescout.search.frame.problem import ParentSets
    from bayescout.search.frame.session import Callback


def learn(
    data: Any,
    search: str | Search = "hill-climb",
    score: ScoreLike = "bic",
    knowledge: Knowledge | None = None,
    start: Any = None,
    seed: int = 0,
    max_time: float | None = None,
    max_steps: int | None = None,
    top: int = 1,
    workers: int | None = None,
    progress: bool = False,
    callback: Callback | None = None,
    checkpoint: str | PathLike[str] | None = None,
) -> Result:
    """Learn the structure of a Bayesian network from data.

    data        a frame, an array, a path or a `Table`; `as_table` takes options for kinds and missing values.
                Or scored parent sets, of `read_jkl` or as a path to a .jkl file: they have their scores
                with them, only listed sets are chosen, and searches over whole sets do best (`optimal`,
                `memetic`)
    search      a name of `bayescout.search.SEARCHES`, or an instance with settings
    score       a name of `bayescout.scores.SCORES`, an instance, a function of counts, or your own object
    knowledge   required and forbidden arcs, tiers, an order, limits on parents; always obeyed
    start       None or "empty" (the required arcs), "random", or a graph to begin with
    seed        of everything random: same inputs, same answer, to the bit
    max_time    seconds of learning, once data and compiled code are loaded; max_steps steps: the best so
                far is returned and `stop_reason` says why. A search that is slow to begin answers, when the
                time is over, with no less than greedy climbing from the start (then `own_score` is its own)
    top         how many of the best distinct networks met are kept
    workers     threads that count; no effect on the answer
    progress    show a progress line on standard error
    callback    called with each `Step` of the trace; a true answer stops the run
    checkpoint  a file from which a run that was killed goes on, to the bit, when it is called again; written
                every so often, so that it costs a tenth of the time at most, and when the run ends

    Column order, row order and names do not change the graph that is learned.
    """
    from bayescout.data import as_table
    from bayescout.result import LISTED, Result, Settings
    from bayescout.scores import bind
    from bayescout.search import CountingScore, Knowledge, Problem, name_of, search_named
    from bayescout.search.frame.checkpoint import Checkpoint
    from bayescout.search.frame.session import Limits, drive
    from bayescout.search.frame.watch import compiling_seconds
    from bayescout.search.parent_sets.listed import ListedScore, narrowed, without_rows

    begin = time.perf_counter()
    method = search_named(search) if isinstance(search, str) else _instance(search)
    limits = Limits(max_time, max_steps, top)
    rng = generator(seed)
    knowledge = Knowledge() if knowledge is None else knowledge
    if not isinstance(knowledge, Knowledge):
        raise SettingError(f"knowledge is Knowledge(required=[...], ...), not a {type(knowledge).__name__}")
    if callback is not None and not callable(callback):
        raise SettingError(f"callback must be a function of a step, not {callback!r}")
    listed = _scored_sets(data, score)
    if listed is not None:
        score = ListedScore(listed)
    given = as_table(data) if listed is None else without_rows(listed)
    from bayescout.kernels import counting, moves, neighbours  # noqa: F401 - before the clock begins

    clock = time.perf_counter() - compiling_seconds()
    table = _canonical(given, score)
    rules = knowledge.compile(table.names)
    if listed is not None:
        rules = narrowed(rules, listed)
    bound = bind(score, table, workers)
    problem = Problem(CountingScore(bound), rules, _start(start, table, rules))
    settings = Settings(
        search=name_of(method),
        search_settings=settings_of(method),
        score=score if isinstance(score, str) else repr(score) if listed is None else LISTED,
        knowledge=knowledge,
        start="empty" if start is None else start if isinstance(start, str) else "given",
        seed=seed,
    )
    store = None
    if checkpoint is not None:
        fingerprint = table.fingerprint if listed is None else listed.fingerprint
        identity = settings.to_json() | {"data": fingerprint, "start": repr(problem.start), "top": top}
        store = Checkpoint(checkpoint, identity)
    with store or nullcontext(), _Shown(progress, callback, limits) as observe:
        run = drive(method, problem, rng, limits, observe, store, clock + compiling_seconds())
    if run.too_large:
        warnings.warn(f"parent sets were left out: {run.too_large}", BayescoutWarning, stacklevel=2)
    result = Result.of_run(run, problem, table, given.names, settings, bound, time.perf_counter() - begin)
    return result if listed is None else replace(result, table=None, scores=None)


def settings_of(search: Search) -> dict[str, Any]:
    """The settings of a search as a plain dict."""
    return asdict(search) if is_dataclass(search) else {}


def _scored_sets(data: Any, score: ScoreLike) -> ScoredSets | None:
    """The scored parent sets that stand in for data, where that is what was given."""
    from bayescout.formats.jkl import ScoredSets, is_jkl, read_jkl

    if isinstance(data, str | PathLike) and is_jkl(data):
        data = read_jkl(data)
    if not isinstance(data, ScoredSets):
        return None
    if not data.names:
        raise DataError("the list of parent sets has no variables; there is nothing to learn")
    if score != "bic":
        raise SettingError(f"scored parent sets have their scores with them; leave out the score {score!r}")
    return data


def _instance(search: Any) -> Search:
    if isinstance(search, type):
        raise SettingError(f"give an instance of the search, {search.__name__}(), not the class")
    if not (hasattr(search, "start") and hasattr(search, "advance")):
        raise SettingError(f"a search is a name or has start and advance, not {type(search).__name__}")
    found: Search = search
    return found


def _canonical(table: Table, score: ScoreLike) -> Table:
    """The table with its columns in canonical order.

    A user's own score object knows the columns by their position, so for it they stay where they are.
    """
    from bayescout.scores import Formula
    from bayescout.search.frame.canonical import canonical_order

    if table.n_columns == 0:
        raise DataError("the table has no columns; there is nothing to learn")
    if not isinstance(score, (str, Formula)) and hasattr(score, "local"):
        return table
    return table.select([table.names[i] for i in canonical_order(table)])


def _start(start: Any, table: Table, rules: Any) -> ParentSets | str:
    """Where to begin, in positions of the table; a graph must keep the knowledge."""
    if start is None:
        return "empty"
    if isinstance(start, str):
        if start not in ("empty", "random"):
            raise SettingError(f'start must be "empty", "random" or a graph, not {start!r}')
        return start
    dag: Dag = getattr(start, "dag", start)
    if set(dag.nodes) != set(table.names):
        odd = set(dag.nodes) ^ set(table.names)
        raise GraphError(f"the start graph and the table differ in {sorted(map(str, odd))[0]!r}")
    parents = dag.reordered(table.names).parents
    broken = rules.broken_by(parents)
    if broken:
        raise GraphError(f"the start graph breaks the knowledge: it {_named(broken, table.names)}")
    return parents


def _named(message: str, names: Sequence[Any]) -> str:
    """A message of `Rules.broken_by` with labels for positions."""
    return message.format(*names)


class _Shown:
    """The callback to use, and a progress line while it runs."""

    def __init__(self, progress: bool, callback: Callback | None, limits: Any) -> None:
        self.progress, self.callback, self.limits = progress, callback, limits
        self.line: Any = None

    def __enter__(self) -> Callable[[Any], Any] | None:
        if not self.progress:
            return self.callback
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        self.line = Progress(*columns, console=Console(stderr=True), transient=True)
        self.line.start()
        task = self.line.add_task("learning", total=None)

        def observe(step: Any) -> Any:
            self.line.update(
                task, description=f"step {step.step:,}  best {step.best:,.3f}  arcs {step.arcs:,}"
            )
            return self.callback(step) if self.callback is not None else None

        return observe

    def __exit__(self, *_: object) -> None:
        if self.line is not None:
            self.line.stop()
