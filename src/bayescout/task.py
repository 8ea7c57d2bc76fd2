"""A learning task: data, score, knowledge and search, brought together and checked before any work."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import Any

from bayescout.checks import generator, require_choice
from bayescout.choosing import choose
from bayescout.completion import Completion, completed
from bayescout.data import as_table
from bayescout.data.absent import require_complete
from bayescout.data.acting import refuse_interventions
from bayescout.data.discretise import Choice, as_plain_choice, cut_by
from bayescout.data.reading import pairs_in_words
from bayescout.data.table import Table
from bayescout.errors import DataError, GraphError, SettingError, warn
from bayescout.formats.jkl import ScoredSets, is_jkl, read_jkl
from bayescout.graph.dag import Dag
from bayescout.result import Result
from bayescout.result_settings import LISTED, Settings
from bayescout.scores import (
    AUTO_PRIOR,
    PRIORS,
    SCORES,
    Formula,
    PriorLike,
    ScoreLike,
    Scorer,
    bind,
    default_scores,
    family_prior,
    formula_named,
    is_auto,
)
from bayescout.scores.prior import as_prior
from bayescout.search import SEARCHES, Knowledge, Problem, Search, search_named
from bayescout.search.frame import watch
from bayescout.search.frame.canonical import canonical_table
from bayescout.search.frame.checkpoint import Checkpoint
from bayescout.search.frame.knowledge import KnowledgeLike, Rules, as_knowledge
from bayescout.search.frame.outcome import Limits, Outcome
from bayescout.search.frame.problem import Generator, ParentSets
from bayescout.search.frame.wide_rules import compile_wide
from bayescout.search.parent_sets.listed import ListedScore, narrowed, without_rows
from bayescout.settings import Named
from bayescout.statistics.engine import Engine
from bayescout.statistics.mixed import conditional_arcs
from bayescout.wide import (
    ScreenLike,
    is_screened,
    require_dense_room,
    require_matrix_room,
    settled_screen,
    wide_problem,
    without_constants,
)
from bayescout.wording import setting

MISSING = ("em", "drop", "state", "error")
"""The ways to learn from data with missing cells."""


@dataclass(frozen=True)
class Task:
    """A problem in integers, the search for it, and the names for its result.

    table       its columns in canonical order, which the problem's positions refer to; with missing cells
                if the data have any, which are drawn in the table that is scored (`completion`)
    names       the columns in the order given
    score_mark  tells a score, or a prior, of the user's own from another one in a checkpoint
    listed      the scored parent sets that replace data, if they do
    begin       when the task was given, by `time.perf_counter`, less the time spent compiling by then
    clock       when learning began, likewise
    interrupted  True if Ctrl-C was pressed before the search: there is no time for it
    """

    search: Search
    problem: Problem
    rng: Generator
    limits: Limits
    table: Table
    names: tuple[Any, ...]
    settings: Settings
    score_mark: str
    listed: ScoredSets | None
    completion: Completion | None
    begin: float
    clock: float
    interrupted: bool = False

    @classmethod
    def of(
        cls,
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
        engine: str | Engine | None = None,
        missing: str = "em",
        discretise: Choice | None = None,
        structure_prior: PriorLike | None = None,
        interventions: Any = None,
        memory: int | float | str | None = None,
        screen: ScreenLike = None,
        resumable: bool = False,
    ) -> Task:
        """The task of `learn` with the same arguments.

        If it is to be `resumable`, missing cells are drawn without regard to the clock.
        """
        begin = time.perf_counter() - watch.compiling_seconds()
        method = search_named(search) if isinstance(search, str) else _instance(search)
        limits, screen = Limits(max_time, max_steps, top), settled_screen(screen)
        rng = generator(seed)
        knowledge = as_knowledge(knowledge)
        listed = _scored_sets(data, score)
        automatic = listed is None and is_auto(score)
        prior = as_prior(AUTO_PRIOR if automatic and structure_prior is None else structure_prior)
        if isinstance(score, str) and not automatic:
            score = formula_named(score)  # a wrong name is told before any work
        if listed is not None:
            if interventions is not None:
                raise SettingError("scored parent sets have no rows; leave out the interventions")
            given = without_rows(listed)
        else:
            asked = {"discretise": discretise, "interventions": interventions, "memory": memory}
            given = _table_of(
                _on_engine(data, engine, missing, asked), missing, discretise, interventions, memory
            )
            if score is None or not _is_own(score):
                given = without_constants(given, screen, engine)
        candidates = _scores_for(score, given, listed)
        chosen = candidates[0]
        from bayescout.kernels import counting, moves, neighbours  # noqa: F401 - before the clock begins

        clock = time.perf_counter() - watch.compiling_seconds()
        table = _canonical(given, chosen, workers)
        narrow = listed is None and is_screened(screen, table, chosen, method, engine)
        if narrow and not (knowledge.beliefs or table.has_missing):
            rules: Rules = compile_wide(knowledge, table.names)
        else:
            if narrow:
                require_matrix_room(table)
            else:
                require_dense_room(table)
            rules = _rules(knowledge, table, listed)  # checked before any work
        completion = None
        if isinstance(chosen, Formula) and chosen.kind_for(table) == "mixed":
            rules = rules.within(conditional_arcs(table), table.names)
            knowledge.check_believed(rules.allowed, table.names)
        if table.has_missing and not _is_own(chosen):
            _warn_apart(given)
            until = None if resumable else _until(clock, max_time, 0.5)
            completion = completed(table, rules, seed, workers, until)
        scored = table if completion is None else completion.table
        weighed = family_prior(prior, table.names, knowledge)
        cut_short = completion is not None and completion.interrupted

        def problem_of(formula: Any) -> Problem:
            if narrow:
                begin_at = partial(_start, start, table)
                return wide_problem(screen, scored, formula, workers, weighed, rules, begin_at, engine)
            scorer = bind(formula, scored, workers, engine, weighed)
            legal = rules if scorer.legal is None else _rules(knowledge, table, listed, scorer)
            begun = _start(start, table, legal)
            if cut_short and completion is not None and start is None:
                begun = begun if legal.broken_by(completion.graph) else completion.graph
            return Problem(scorer, legal, begun)

        if len(candidates) > 1 and not cut_short:
            choice = choose(candidates, problem_of, None if resumable else _until(clock, max_time, 0.25))
            chosen, problem, cut_short = choice.score, choice.problem, choice.interrupted
        else:
            problem = problem_of(chosen)
        searching = Named.of(method, SEARCHES)
        scoring = Named(LISTED, None) if listed is not None else Named.of(chosen, SCORES)
        weighing = Named.of(prior, PRIORS)
        settings = Settings(
            search=searching.name,
            search_settings=searching.settings or {},
            score_name=scoring.name,
            score_settings=scoring.settings,
            knowledge=knowledge,
            start="empty" if start is None else start if isinstance(start, str) else "given",
            seed=seed,
            missing=missing,
            discretise=as_plain_choice(discretise),
            prior_name=weighing.name,
            prior_settings=weighing.settings,
            screen=None if screen == "auto" else screen,
        )
        return cls(
            method,
            problem,
            rng,
            limits,
            table,
            given.names,
            settings,
            f"{scoring.mark}{weighing.mark}",
            listed,
            completion,
            begin,
            clock,
            cut_short,
        )

    def rules(self, knowledge: Knowledge) -> Rules:
        """Other knowledge as rules of this task's problem."""
        if self.problem.screening is not None and not (knowledge.beliefs or self.table.has_missing):
            return compile_wide(knowledge, self.table.names).within(
                self.problem.scorer.legal, self.table.names
            )
        return _rules(knowledge, self.table, self.listed, self.problem.scorer)

    def checkpoint(self, path: str | PathLike[str]) -> Checkpoint:
        """The file to which a run of this task is saved, and from which it is resumed."""
        data = self.table.fingerprint if self.listed is None else self.listed.fingerprint
        if self.completion is not None:
            data = f"{data} {self.completion.table.fingerprint}"
        more = {
            "data": data,
            "start": repr(self.problem.start),
            "top": self.limits.top,
            "score_mark": self.score_mark,
        }
        return Checkpoint(path, self.settings.to_json() | more)

    @property
    def seconds(self) -> float:
        """Seconds since the task was given; those of compiling kernels do not count."""
        return time.perf_counter() - watch.compiling_seconds() - self.begin

    def result(self, outcome: Outcome, seconds: float) -> Result:
        """The outcome of a run, with names; a warning says what was left out."""
        if outcome.too_large:
            warn(f"parent sets were left out: {outcome.too_large}")
        result = Result.of_run(outcome, self.problem.scorer, self.table, self.names, self.settings, seconds)
        if self.completion is not None:
            short = self.completion.cut_short and result.stop_reason == "converged"
            reason = "max_time" if short else result.stop_reason  # other cells would have been drawn
            result = replace(result, completed=self.completion.table, stop_reason=reason)
        if self.problem.screening is not None:
            answer = outcome.answer
            joined: Any = getattr(answer, "all_joined", None) or getattr(answer, "joined", ())
            result = replace(result, screened=self.problem.screening.told(len(joined)))
        return result if self.listed is None else replace(result, table=None, scores=None, data=None)


def _scored_sets(data: Any, score: ScoreLike | None) -> ScoredSets | None:
    """The scored parent sets that replace data, if they were given; else None."""
    if isinstance(data, str | PathLike) and is_jkl(data):
        data = read_jkl(data)
    if not isinstance(data, ScoredSets):
        return None
    if not data.names:
        raise DataError("the list of parent sets has no variables; there is nothing to learn")
    if not is_auto(score):
        raise SettingError(f"scored parent sets have their scores with them; leave out the score {score!r}")
    return data


def _scores_for(score: Any, table: Table, listed: ScoredSets | None) -> Sequence[Any]:
    """The score of listed sets, the one that was given, or those that the data are to choose from."""
    if listed is not None:
        return (ListedScore(listed),)
    return default_scores(table) if is_auto(score) else (score,)


def _on_engine(data: Any, engine: Any, missing: str, asked: Mapping[str, Any]) -> Any:
    """The data, read by the engine if it has a place of its own for rows of this kind."""
    if not hasattr(engine, "table_of") or not engine.takes(data):
        return data
    for name, value in asked.items():
        if value is not None:
            raise SettingError(f"rows that the engine reads cannot have {name}: leave it out")
    return engine.table_of(data, "keep" if missing == "em" else missing)


def _table_of(
    data: Any,
    missing: str,
    discretise: Choice | None = None,
    interventions: Any = None,
    memory: int | float | str | None = None,
) -> Table:
    """The data as a table, cut if asked for; under "em" with the missing cells in it."""
    require_choice("missing", missing, MISSING)
    policy: Any = "keep" if missing == "em" else missing
    if interventions is not None:
        data, memory = as_table(data, interventions=interventions, memory=memory), None
    if discretise is not None:  # before missing cells are states, which numbers have no room for
        data, memory = cut_by(data if memory is None else as_table(data, memory=memory), discretise), None
    table = as_table(data, missing=policy, memory=memory)
    if missing == "error":
        require_complete(table)
    if table.has_missing:
        refuse_interventions(
            table, "learning with missing cells", f"{setting('missing', 'drop')} leaves these rows out"
        )
    return table


def _warn_apart(table: Table) -> None:
    """Warn of columns between which arcs would come from the drawn cells alone."""
    if table.apart:
        one, two, _ = table.apart[0]
        ruled_out = setting("forbidden", [(one, two), (two, one)])
        table.warn_once(
            "apart",
            f"columns hardly ever observed in the same row: {pairs_in_words(table.apart)}; data do not tell "
            f"how they depend on each other, and an arc between them is a guess; {ruled_out} rules it out",
        )


def _is_own(score: ScoreLike) -> bool:
    """Return True for a user's own score object, which has its own data and knows columns by position."""
    return not isinstance(score, Formula) and hasattr(score, "local")


def _until(clock: float, max_time: float | None, share: float) -> float | None:
    """When this share of the time is over, by `time.perf_counter`; the rest is for the search."""
    return None if max_time is None else clock + watch.compiling_seconds() + share * max_time


def _rules(
    knowledge: Knowledge, table: Table, listed: ScoredSets | None, scorer: Scorer | None = None
) -> Rules:
    """The knowledge in positions of the table, with the arcs that the score's model cannot have forbidden."""
    rules = knowledge.compile(table.names)
    if scorer is not None:
        rules = rules.within(scorer.legal, table.names)
        knowledge.check_believed(rules.allowed, table.names)
    return rules if listed is None else narrowed(rules, listed)


def _instance(search: Any) -> Search:
    if isinstance(search, type):
        raise SettingError(f"give an instance of the search, {search.__name__}(), not the class")
    if not (hasattr(search, "start") and hasattr(search, "advance")):
        raise SettingError(f"a search is a name or has start and advance, not {type(search).__name__}")
    found: Search = search
    return found


def _canonical(table: Table, score: ScoreLike, workers: int | None) -> Table:
    """The table with its columns in canonical order.

    A user's own score object identifies the columns by position, so for it they stay in place.
    """
    if table.n_columns == 0:
        raise DataError("the table has no columns; there is nothing to learn")
    if _is_own(score):
        return table
    return canonical_table(table, workers)


def _start(start: Any, table: Table, rules: Rules) -> ParentSets | str:
    """The start: "empty", "random", or a graph in positions of the table that keeps the knowledge."""
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
    """A message of `Rules.broken_by` with labels in place of positions."""
    return message.format(*names)
