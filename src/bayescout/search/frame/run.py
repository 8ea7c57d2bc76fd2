"""A search in progress, and the loop that all searches share: budgets, trace, best so far, checkpoints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from bayescout.errors import TooLargeError
from bayescout.graph.orders import peel_roots
from bayescout.scores.scorer import Hooks
from bayescout.search.frame.checkpoint import Checkpoint
from bayescout.search.frame.floor import Floor
from bayescout.search.frame.interrupts import CtrlC
from bayescout.search.frame.outcome import (
    Callback,
    Limits,
    Outcome,
    ScoredGraph,
    Step,
    keep_best,
    worth_showing,
)
from bayescout.search.frame.problem import Generator, ParentSets, Problem, Search, State, arcs_in
from bayescout.search.frame.watch import StepAbandoned

RECENT = 64
"""Moments kept for going back; earlier ones are reached by repeating the run from its start."""


@dataclass(frozen=True)
class Moment:
    """Everything that a run needs to go on from a step, as values."""

    state: State
    random: Any
    asked: int
    steps: int
    top: tuple[ScoredGraph, ...]
    bound: float | None


class Run:
    """A search in progress: its state, random numbers, trace and the best so far.

    `step` takes one step. With `history` the run can go `back`, and an abandoned step leaves no trace.
    `top` has one graph more than is asked for, as the start graph may be dropped.
    """

    def __init__(
        self,
        search: Search,
        problem: Problem,
        rng: Generator,
        limits: Limits,
        checkpoint: Checkpoint | None = None,
        history: bool = False,
    ) -> None:
        self.search = search
        self.problem = problem
        self.rng = rng
        self.limits = limits
        self.state: State | None = None
        self.trace: list[Step] = []
        self.top: list[ScoredGraph] = []
        self.bound: float | None = None
        self.stop_reason = ""
        self.too_large = ""
        self._floor = Floor(problem)
        self._interrupt = CtrlC()
        self._spent = 0.0
        self._exact = history or checkpoint is not None
        self._moments: dict[int, Moment] | None = {} if history else None
        if checkpoint is not None:
            self.resume(checkpoint)

    # ---- steps

    @contextmanager
    def running(self, begin: float | None = None) -> Iterator[None]:
        """Run the clock, note Ctrl-C and let the scorer check both; `begin` is when the clock began."""
        watch = self.problem.watch
        climbs = getattr(self.search, "climbs", False) or self._floor.begun
        early = None if climbs else self._floor.climb
        with CtrlC() as self._interrupt:
            interrupt = self._interrupt
            watch.start(self.limits.max_time, self._spent, begin, lambda: interrupt.pressed, early)
            with self._hooked():
                try:
                    yield
                finally:
                    self._spent = watch.seconds

    @contextmanager
    def _hooked(self) -> Iterator[None]:
        """Let the scorer check the clock as it works, and note families too large to be counted."""
        scorer = self.problem.scorer
        scorer.hooks = Hooks(self.problem.watch.check, self._leave_out)
        try:
            yield
        finally:
            scorer.hooks = Hooks()

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed while it was running."""
        return self._interrupt.pressed

    @interrupted.setter
    def interrupted(self, pressed: bool) -> None:
        self._interrupt.pressed = self._interrupt.pressed or pressed

    def _leave_out(self, error: TooLargeError) -> None:
        self.too_large = self.too_large or str(error)

    def step(self) -> Step | None:
        """Take one step; None if the run is at its end, and `stop_reason` says why.

        The step in hand is abandoned when the time is over or Ctrl-C is pressed; the state before it stands.
        """
        self.stop_reason = "" if self.state is None else self._reason_to_stop(self.state)
        if self.stop_reason:
            return None
        try:
            return self._record(self._advanced())
        except StepAbandoned:
            self.stop_reason = "interrupted" if self._interrupt.pressed else "max_time"
            return None

    def _advanced(self) -> State:
        """The next state; a step that ends in an error leaves nothing behind."""
        scorer, rng = self.problem.scorer, self.rng
        asked = scorer.asked
        random = rng.bit_generator.state if self._exact else None
        try:
            if self.state is None:
                return self.search.start(self.problem, rng)
            return self.search.advance(self.problem, self.state, rng)
        except BaseException:
            scorer.asked = asked
            if random is not None:
                rng.bit_generator.state = random
            raise

    def _reason_to_stop(self, state: State) -> str:
        if state.done:
            return "converged"
        if self.limits.max_steps is not None and len(self.trace) > self.limits.max_steps:
            return "max_steps"
        if self._interrupt.pressed:
            return "interrupted"
        timed = self.limits.max_time is not None
        return "max_time" if timed and self.problem.watch.is_over else ""

    def _record(self, state: State) -> Step:
        self.state = state
        top, trace, problem = self.top, self.trace, self.problem
        if state.answers_with_last:
            self.top = top = [(state.score, state.parents)]
        else:
            for score, graph in state.visited():
                keep_best(top, score, graph, self.limits.top + 1)
        bound = state.upper_bound()
        if bound is not None:
            self.bound = bound if self.bound is None else min(self.bound, bound)
        step = Step(
            len(trace),
            state.score,
            top[0][0],
            arcs_in(state.parents),
            state.operations,
            problem.scorer.asked,
            problem.watch.seconds,
            state.facts(),
        )
        trace.append(step)
        if self._moments is not None:
            self._moments[len(self.trace)] = self._moment()
            if len(self._moments) > RECENT:
                del self._moments[sorted(self._moments)[1]]
        return step

    # ---- back

    def _moment(self) -> Moment:
        assert self.state is not None
        random = self.rng.bit_generator.state
        asked = self.problem.scorer.asked
        return Moment(self.state, random, asked, len(self.trace), tuple(self.top), self.bound)

    def back(self, steps: int = 1) -> None:
        """Go back so many steps, to the first at most; taken again, the steps come out the same."""
        if self._moments is None:
            raise ValueError("a run without history cannot go back")
        wanted = max(min(self._moments), len(self.trace) - steps)
        moment = self._moments[max(place for place in self._moments if place <= wanted)]
        self._moments = {place: kept for place, kept in self._moments.items() if place <= moment.steps}
        self.state, self.top, self.bound = moment.state, list(moment.top), moment.bound
        self.rng.bit_generator.state = moment.random
        self.problem.scorer.asked = moment.asked
        seconds = [step.seconds for step in self.trace]
        del self.trace[moment.steps :]
        self.problem.watch.extend(math.inf)
        with self._hooked():
            while len(self.trace) < wanted:
                step = self._record(self._advanced())
                self.trace[-1] = step._replace(seconds=seconds[step.step])
        self._spent, self.stop_reason = self.trace[-1].seconds, ""

    def begin_again(self, problem: Problem) -> None:
        """Go on with other rules, from the graph that `problem` starts with; the trace goes on too.

        Graphs that break the rules are no longer among the best, and there is no way back before this.
        """
        self.problem, self._floor = problem, Floor(problem)
        self.top = [entry for entry in self.top if problem.rules.broken_by(entry[1]) is None]
        self.state, self.bound, self.stop_reason = None, None, ""
        self._moments = None if self._moments is None else {}

    def copied(self) -> dict[str, Any]:
        """Everything that a step or `begin_again` changes, for `restore`."""
        lists = {"trace": list(self.trace), "top": list(self.top)}
        moments = None if self._moments is None else dict(self._moments)
        random, asked = self.rng.bit_generator.state, self.problem.scorer.asked
        return {"run": vars(self) | lists | {"_moments": moments}, "random": random, "asked": asked}

    def restore(self, copied: dict[str, Any]) -> None:
        """Be as when it was copied."""
        vars(self).update(copied["run"])
        self.rng.bit_generator.state, self.problem.scorer.asked = copied["random"], copied["asked"]

    # ---- the end

    @contextmanager
    def concluding(self) -> Iterator[None]:
        """Note families too large to count, with no clock on the scoring that `outcome` does."""
        self.problem.watch.start(None, self._spent)
        with self._hooked():
            yield

    def outcome(self) -> Outcome:
        """The outcome of the run if it ends here; the run itself can go on."""
        before = self.copied() if self.state is None else None
        if self.state is None:  # the run ended before the search had a first state
            self._record(_start_state(self.problem))
        assert self.state is not None
        bound = None if self.too_large else self.bound  # what could not be counted may be better
        answer, top = self._concluded(self.state)
        found = Outcome(tuple(self.trace), top, self.stop_reason, bound, answer, None, self.too_large)
        if self.stop_reason == "max_time":
            found = self._raised_to_floor(found)
        if before is not None:
            self.restore(before)
        return replace(found, top=worth_showing(found.top, self.problem, self.limits.top))

    def _concluded(self, state: State) -> tuple[State, tuple[ScoredGraph, ...]]:
        """The answer: the last state's, or the one that the search concludes from it if stopped early.

        Once the time is over that has to be quick; if it is not, the answer is the start graph.
        """
        conclude = getattr(self.search, "conclude", None)
        if conclude is None or state.done or type(state) is State:
            return state, tuple(self.top)
        watch = self.problem.watch
        if self.stop_reason == "max_time" and self.limits.max_time is not None:
            watch.extend(1.05 * self.limits.max_time + 0.1)
        elif self.stop_reason == "interrupted":
            watch.extend(watch.seconds + 1.0)
        with self.problem.scorer.suspended():
            try:
                state = conclude(self.problem, state)
            except StepAbandoned:
                state = _start_state(self.problem)
        return state, ((state.score, state.parents),)

    def _raised_to_floor(self, found: Outcome) -> Outcome:
        """Answer with the greedy climb if it scores more than the search itself."""
        own, climbed = found.top[0][0], self._floor.found
        if climbed is None or not climbed[0] > own:
            return found
        score, graph = climbed
        last, seconds = found.trace[-1], self.problem.watch.seconds
        values = (score, arcs_in(graph), last.operations, last.evaluations, seconds)
        step = Step(len(found.trace), score, *values, {"greedy": 1.0})
        return replace(
            found,
            trace=(*found.trace, step),
            top=(climbed, *(entry for entry in found.top if entry[1] != graph)),
            answer=State(graph, score),
            own_score=own,
        )

    # ---- checkpoints

    def save(self, checkpoint: Checkpoint) -> None:
        """Save the run to a checkpoint; without a step there is nothing to save."""
        if self.state is not None:
            checkpoint.save(self.saved)

    def saved(self) -> dict[str, Any]:
        """All values that a run needs to go on."""
        assert self.state is not None
        return {
            "state": self.state.to_json(),
            "random": self.rng.bit_generator.state,
            "asked": self.problem.scorer.asked,
            "bound": self.bound,
            "too_large": self.too_large,
            "top": self.top,
            "trace": self.trace,
        }

    def resume(self, checkpoint: Checkpoint) -> None:
        """Go on with the run that a checkpoint holds, if it holds one."""
        saved = checkpoint.load()
        if saved is None:
            return
        try:
            state = self.search.state.from_json(saved["state"])
            trace = [Step(*values) for values in saved["trace"]]
            top = [(score, as_graph(graph)) for score, graph in saved["top"]]
            graphs = (state.parents, *(graph for _, graph in top))
            if not all(_is_acyclic(graph, self.problem.n) for graph in graphs):
                raise ValueError("not a graph of this problem")
            self.rng.bit_generator.state = saved["random"]
            self.problem.scorer.asked = saved["asked"]
            self._spent = float(trace[-1].seconds)
            if not isinstance(saved["too_large"], str):
                raise TypeError
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
            raise checkpoint.not_a_run() from None
        self.state, self.trace, self.top, self.bound = state, trace, top, saved["bound"]
        self.too_large = saved["too_large"]
        if self._moments is not None:
            self._moments[len(trace)] = self._moment()


def drive(
    search: Search,
    problem: Problem,
    rng: Generator,
    limits: Limits,
    callback: Callback | None = None,
    checkpoint: Checkpoint | None = None,
    begin: float | None = None,
    interrupted: bool = False,
) -> Outcome:
    """Run a search to its end, or until a limit, Ctrl-C or a callback stops it.

    `begin` is when the clock began, by `time.perf_counter`; `interrupted` if Ctrl-C was pressed before.
    """
    run = Run(search, problem, rng, limits, checkpoint)
    with run.running(begin):
        run.interrupted = interrupted
        try:
            while (step := run.step()) is not None:
                if checkpoint is not None and checkpoint.due():
                    run.save(checkpoint)
                if callback is not None and callback(step):
                    run.stop_reason = "callback"
                    break
        except KeyboardInterrupt:
            if not run.top:
                raise
            run.stop_reason = "interrupted"
        finally:
            if checkpoint is not None:
                run.save(checkpoint)
        return run.outcome()


def _start_state(problem: Problem) -> State:
    """The state of the start graph, scored without regard to the clock."""
    graph = problem.rules.required_parents if isinstance(problem.start, str) else problem.start
    problem.watch.extend(math.inf)
    return State(graph, problem.total(graph))


def _is_acyclic(graph: ParentSets, n: int) -> bool:
    inside = len(graph) == n and all(0 <= parent < n for own in graph for parent in own)
    return inside and len(peel_roots(graph)) == n


def as_graph(lists: Sequence[Sequence[int]]) -> ParentSets:
    return tuple(tuple(own) for own in lists)
