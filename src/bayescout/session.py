"""A search that can be watched, paused, taken back, steered and saved, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from bayescout.data.discretise import Choice
from bayescout.errors import FormatError, SettingError
from bayescout.graph.dag import Dag
from bayescout.result import Result, labelled_graph
from bayescout.result_settings import Settings
from bayescout.scores import PriorLike, ScoreLike
from bayescout.search import Knowledge, Search
from bayescout.search.frame.knowledge import as_knowledge
from bayescout.search.frame.problem import ParentSets
from bayescout.search.frame.repair import nearest_graph
from bayescout.search.frame.run import Run
from bayescout.statistics.engine import Engine
from bayescout.task import Task
from bayescout.wide import ScreenLike


@dataclass(frozen=True)
class Snapshot:
    """The state of a search after a step.

    step         the number of the step, from 0
    dag          the graph in hand
    score        its score, and `best` that of the best graph so far
    bound        an upper bound on the score of any graph, if known
    stop_reason  why the search has ended; empty while it has not
    operations   those considered so far; `evaluations` are the families asked for
    seconds      spent on steps
    facts        further numbers from the search
    """

    step: int
    dag: Dag
    score: float
    best: float
    bound: float | None
    stop_reason: str
    operations: int
    evaluations: int
    seconds: float
    facts: dict[str, float]


class Session:
    """Learning step by step: `for snapshot in session` runs the search of `learn` with the same arguments.

    Between two steps it can wait for any time, show what it has (`snapshot`, `result`), be taken
    `back`, be given other knowledge, and be saved. It ends where `learn` would, with the same answer to the
    bit; max_time counts the time of steps alone. `checkpoint` is a file that `save`, or a run of `learn`,
    wrote: the session goes on from there.

        session = bs.Session(data, "tabu")
        for snapshot in session:
            if snapshot.score > -1000:
                session.pause()
        session.back(3)
        session.change_knowledge(bs.Knowledge(forbidden=[("a", "b")]))
        result = session.run()
    """

    def __init__(
        self,
        data: Any,
        search: str | Search = "auto",
        score: ScoreLike | None = None,
        knowledge: Knowledge | None = None,
        start: Any = None,
        seed: int = 0,
        max_time: float | None = None,
        max_steps: int | None = None,
        top: int = 1,
        workers: int | None = None,
        checkpoint: str | PathLike[str] | None = None,
        engine: str | Engine | None = None,
        missing: str = "em",
        discretise: Choice | None = None,
        structure_prior: PriorLike | None = None,
        interventions: Any = None,
        memory: int | float | str | None = None,
        screen: ScreenLike = None,
    ) -> None:
        task = self._task = Task.of(
            data, search, score, knowledge, start, seed, max_time, max_steps, top, workers, engine, missing,
            discretise, structure_prior, interventions, memory, screen, resumable=True,
        )  # fmt: skip
        if task.interrupted:  # there is no session yet that could answer
            raise KeyboardInterrupt
        self._run = Run(task.search, task.problem, task.rng, task.limits, history=True)
        self._paused = False
        if checkpoint is not None:
            if not Path(checkpoint).exists():
                raise FormatError("there is no such checkpoint; Session.save writes one", checkpoint)
            with task.checkpoint(checkpoint) as store:
                self._run.resume(store)

    # ---- steps

    def __iter__(self) -> Iterator[Snapshot]:
        """Snapshots, one after each step, until the search ends or `pause` is called; then iterate again."""
        while not self._paused and (found := self.step()) is not None:
            yield found
        self._paused = False

    def step(self) -> Snapshot | None:
        """Take one step; None once the search has ended, and `stop_reason` says why.

        A step that Ctrl-C or the end of max_time meets is given up; nothing of it stays. Ctrl-C also ends the
        iteration; iterated again, the search goes on.
        """
        with self._run.running():
            step = self._run.step()
        if step is None:
            return None
        if self._run.interrupted:
            self._run.stop_reason, self._paused = "interrupted", True
        return self.snapshot()

    def pause(self) -> None:
        """End the iteration after the step in hand; it may be called from another thread."""
        self._paused = True

    def interrupt(self) -> None:
        """Give up the step in hand, as Ctrl-C does; it may be called from another thread."""
        self._run.interrupted = True

    def run(self) -> Result:
        """Run to the end and return what `learn` returns."""
        for _ in self:
            pass
        return self.result()

    # ---- state and result

    @property
    def steps(self) -> int:
        """Steps taken, the first state not counted."""
        return max(0, len(self._run.trace) - 1)

    @property
    def stop_reason(self) -> str:
        """Why the search ended; empty while it has not."""
        return self._run.stop_reason

    @property
    def settings(self) -> Settings:
        """Search, score, prior, knowledge and start, as a result has them."""
        return self._task.settings

    @property
    def knowledge(self) -> Knowledge:
        return self._task.settings.knowledge

    @property
    def begun_with(self) -> Dag | str:
        """The graph that the search began with, or "empty" or "random"."""
        start = self._task.problem.start
        return start if isinstance(start, str) else self._labelled(start)

    def snapshot(self) -> Snapshot:
        """The state of the search now; if no step was taken yet, the first is taken."""
        if self._run.state is None and self.step() is None:
            raise SettingError("the search was ended before its first step; give it more time")
        run, last = self._run, self._run.trace[-1]
        assert run.state is not None
        return Snapshot(
            last.step,
            self._labelled(run.state.parents),
            last.score,
            last.best,
            run.bound,
            "converged" if run.state.done else run.stop_reason,
            last.operations,
            last.evaluations,
            last.seconds,
            last.facts,
        )

    def result(self) -> Result:
        """The result if the search ended here; it can go on. Its `stop_reason` is then "paused"."""
        run = self._run
        reason = run.stop_reason or ("converged" if run.state is not None and run.state.done else "paused")
        before = run.stop_reason
        run.stop_reason = reason
        try:
            with run.concluding():
                outcome = run.outcome()
        finally:
            run.stop_reason = before
        return self._task.result(outcome, outcome.trace[-1].seconds)

    # ---- steering

    def back(self, steps: int = 1) -> Snapshot:
        """Go back some steps; going on from there repeats them to the bit.

        At most to where the session began, was resumed or was given other knowledge.
        """
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 0:
            raise SettingError(f"steps must be a whole number of at least 0, not {steps!r}")
        self.snapshot()
        self._run.back(steps)
        return self.snapshot()

    def change_knowledge(self, knowledge: Knowledge) -> Snapshot:
        """Go on under other knowledge, from the graph in hand or the nearest one that keeps the knowledge.

        The search begins there as from a start graph, and its trace goes on; it cannot go back to before it.
        """
        knowledge = as_knowledge(knowledge)
        if knowledge.beliefs != self.knowledge.beliefs:
            raise SettingError(
                "beliefs are part of the score, which a session keeps: begin another one with them, and with "
                "the graph in hand as its start"
            )
        self.snapshot()
        task, run, state = self._task, self._run, self._run.state
        assert state is not None
        rules = task.rules(knowledge)
        graph = nearest_graph(state.parents, rules, task.problem.scorer)
        problem = replace(task.problem, rules=rules, start=graph, _kept={})
        settings = replace(task.settings, knowledge=knowledge, start="given")
        before = run.copied()
        self._task = replace(task, problem=problem, settings=settings)
        try:
            run.begin_again(problem)
            return self.snapshot()
        except BaseException:  # as a search that cannot begin under it: all is as it was
            self._task = task
            run.restore(before)
            raise

    def save(self, path: str | PathLike[str]) -> None:
        """Write a checkpoint from which `Session` or `learn` with the same arguments goes on, to the bit.

        After `change_knowledge` those are the current knowledge and, as `start`, `begun_with`.
        """
        self.snapshot()
        with self._task.checkpoint(path) as store:
            store.write(self._run.saved())

    def _labelled(self, parents: ParentSets) -> Dag:
        return labelled_graph(parents, self._task.table.names, self._task.names)

    def __repr__(self) -> str:
        ended = f", {self.stop_reason}" if self.stop_reason else ""
        best = f", best {self._run.trace[-1].best:,.3f}" if self._run.trace else ""
        return f"<Session: {self._task.settings.search}, {self.steps:,} steps{best}{ended}>"
