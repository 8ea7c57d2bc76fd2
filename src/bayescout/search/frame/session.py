"""The loop that all searches share: budgets, the trace, the best so far, checkpoints, Ctrl-C."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from bayescout.checks import generator, is_real, require_count
from bayescout.errors import SettingError
from bayescout.graph.orders import peel_roots
from bayescout.scores.base import Hooks
from bayescout.search.frame.checkpoint import Checkpoint
from bayescout.search.frame.problem import (
    CountingScore,
    Generator,
    ParentSets,
    Problem,
    Search,
    State,
    arcs_in,
)
from bayescout.search.frame.watch import StepAbandoned, Watch
from bayescout.search.graphs.hill_climb import HillClimb


class Step(NamedTuple):
    """One step of a run, for the trace and for callbacks.

    `score` is that of the graph in hand and `best` that of the best so far; `operations` and
    `evaluations` (families asked for) are counted from the start; `facts` is what the search adds.
    """

    step: int
    score: float
    best: float
    arcs: int
    operations: int
    evaluations: int
    seconds: float
    facts: dict[str, float]


Callback = Callable[[Step], Any]


@dataclass(frozen=True)
class Limits:
    """When to stop before the search does: seconds and steps; and how many networks to keep."""

    max_time: float | None = None
    max_steps: int | None = None
    top: int = 1

    def __post_init__(self) -> None:
        if self.max_time is not None and not (is_real(self.max_time) and self.max_time > 0):
            raise SettingError(f"max_time must be a positive number of seconds, not {self.max_time!r}")
        for name, least in (("max_steps", 0), ("top", 1)):
            value = getattr(self, name)
            if value is not None:
                require_count(name, value, least)


@dataclass
class Run:
    """What a run has come to; plain values, so that it can be saved with its state.

    While it runs, `top` has one more network than is asked for.
    """

    trace: list[Step] = field(default_factory=list)
    top: list[tuple[float, ParentSets]] = field(default_factory=list)
    stop_reason: str = ""
    bound: float | None = None
    answer: State | None = None
    """The last state, or what a search concluded from it."""
    own_score: float | None = None
    """The best that the search itself had met, where the answer is a greedy climb that got further."""
    too_large: str = ""
    """The first family that was left out because its table is too large, in words."""

    @property
    def best(self) -> tuple[float, ParentSets]:
        return self.top[0]


def drive(
    search: Search,
    problem: Problem,
    rng: Generator,
    limits: Limits,
    callback: Callback | None = None,
    checkpoint: Checkpoint | None = None,
    begin: float | None = None,
) -> Run:
    """Run a search to its end, or to the first of the limits, Ctrl-C and a callback that says stop.

    The step in hand is given up when the time is over or Ctrl-C is pressed; the state before it stands.
    `begin` is when the clock began, by `time.perf_counter`.
    """
    run, state, spent, waited = Run(), None, 0.0, 0.0
    if checkpoint is not None:
        run, state, spent, waited = _resumed(checkpoint, search, problem, rng)
    watch, floor = problem.score.watch, Floor(problem)
    early = None if getattr(search, "climbs", False) else floor.climb
    settled = False  # whether state, random numbers and trace are of one moment, which a record can hold
    with CtrlC() as interrupt, _hooked(problem, run):
        watch.start(limits.max_time, spent, waited, begin, lambda: interrupt.pressed, early)
        try:
            while True:
                if state is not None:
                    run.stop_reason = _reason_to_stop(run, state, limits, watch)
                    if run.stop_reason:
                        break
                settled, asked = False, problem.score.asked
                try:
                    state = (
                        search.start(problem, rng) if state is None else search.advance(problem, state, rng)
                    )
                except StepAbandoned:
                    problem.score.asked = asked
                    run.stop_reason = "interrupted" if interrupt.pressed else "max_time"
                    break
                step = _record(run, state, problem, watch.seconds, limits.top)
                settled = True
                if checkpoint is not None and checkpoint.due():
                    checkpoint.save(partial(_saved, run, state, problem, rng))
                if callback is not None and callback(step):
                    run.stop_reason = "callback"
                    break
                if interrupt.pressed:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            if not run.top:
                raise
            run.stop_reason = "interrupted"
        finally:
            if checkpoint is not None and state is not None and settled:
                checkpoint.save(partial(_saved, run, state, problem, rng))
        if state is None:
            state = _at_start(problem)
            _record(run, state, problem, watch.seconds, limits.top)
        _conclude(run, search, problem, state, limits)
        if run.stop_reason == "max_time":
            _raise_to(run, floor, problem)
    run.top = worth_showing(run.top, problem, limits.top)
    if run.too_large:
        run.bound = None  # what could not be counted may be better
    return run


def _at_start(problem: Problem) -> State:
    """The start graph, where the run ended before the search had a first state."""
    graph = problem.rules.required_parents if isinstance(problem.start, str) else problem.start
    problem.score.watch.extend(math.inf)
    return State(graph, problem.total(graph))


def _conclude(run: Run, search: Search, problem: Problem, state: State, limits: Limits) -> None:
    """Settle the answer: the last state's, or what the search makes of it where it was stopped early.

    Where the time is over that has to be quick; if it is not, the answer is the start graph.
    """
    run.answer = state
    conclude = getattr(search, "conclude", None)
    if conclude is None or state.done or type(state) is State:
        return
    watch = problem.score.watch
    if run.stop_reason == "max_time" and limits.max_time is not None:
        watch.extend(1.05 * limits.max_time + 0.1)
    elif run.stop_reason == "interrupted":
        watch.extend(watch.counted + 1.0)
    with problem.score.suspended():
        try:
            state = conclude(problem, state)
        except StepAbandoned:
            state = _at_start(problem)
    run.top = [(state.score, state.parents)]
    run.answer = state


class Floor:
    """Greedy climbing from the start graph: what a run that is stopped early has to reach.

    Searches that take long to get anywhere (a first population, all tests of a level, a hot walk) would
    else answer with next to nothing. It climbs when a tenth of the time is over and the search is not, and
    what it finds is no part of the search: it is the answer only where the time ends the run.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.found: tuple[float, ParentSets] | None = None

    def climb(self) -> None:
        start = "empty" if self.problem.start == "random" else self.problem.start
        score = CountingScore(self.problem.score.score)
        score.watch = self.problem.score.watch
        problem, climb, rng = Problem(score, self.problem.rules, start), HillClimb(), generator(0)
        try:
            state = climb.start(problem, rng)
            while not state.done:
                self.found = state.score, state.parents
                state = climb.advance(problem, state, rng)
            self.found = state.score, state.parents
        except StepAbandoned:
            pass  # with what was found by now


def _raise_to(run: Run, floor: Floor, problem: Problem) -> None:
    """Answer with the greedy climb where the search itself had not got as far."""
    own = run.top[0][0]
    if floor.found is None or not floor.found[0] > own:
        return
    score, graph = floor.found
    last = run.trace[-1]
    run.own_score = own
    run.top = [floor.found, *(entry for entry in run.top if entry[1] != graph)]
    run.answer = State(graph, score)
    seconds = problem.score.watch.seconds
    values = (score, arcs_in(graph), last.operations, last.evaluations, seconds)
    run.trace.append(Step(len(run.trace), score, *values, {"greedy": 1.0}))


@contextmanager
def _hooked(problem: Problem, run: Run) -> Iterator[None]:
    """Let the score look at the clock as it works, and note families that are too large to be counted."""
    score = problem.score.score
    if not hasattr(score, "hooks"):
        yield
        return
    score.hooks = Hooks(problem.check, lambda error: setattr(run, "too_large", run.too_large or str(error)))
    try:
        yield
    finally:
        score.hooks = Hooks()


class CtrlC:
    """Ctrl-C noted rather than raised: the step in hand ends where it next looks; the second one is raised.

    An exception thrown anywhere into running code can be lost in a destructor. A handler of the user's own,
    and threads other than the main one, are left alone.
    """

    def __init__(self) -> None:
        self.pressed = False
        self._installed = False

    def __enter__(self) -> CtrlC:
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)
            self._installed = True
        return self

    def _note(self, number: int, frame: Any) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True

    def __exit__(self, *_: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _reason_to_stop(run: Run, state: State, limits: Limits, watch: Watch) -> str:
    if state.done:
        return "converged"
    if limits.max_steps is not None and len(run.trace) > limits.max_steps:
        return "max_steps"
    if watch.is_over:
        return "max_time"
    return ""


def _record(run: Run, state: State, problem: Problem, seconds: float, top: int) -> Step:
    if state.latest_counts:
        run.top = [(state.score, state.parents)]
    else:
        for score, graph in state.visited():
            _keep(run.top, score, graph, top + 1)  # one to spare, as the start may have to go
    bound = state.upper_bound()
    if bound is not None:
        run.bound = bound if run.bound is None else min(run.bound, bound)
    step = Step(
        len(run.trace),
        state.score,
        run.top[0][0],
        arcs_in(state.parents),
        state.operations,
        problem.score.asked,
        seconds,
        state.facts(),
    )
    run.trace.append(step)
    return step


def _keep(top: list[tuple[float, ParentSets]], score: float, graph: ParentSets, most: int) -> None:
    """Insert a graph among the best distinct ones, best first; of equals the first found stays first."""
    if len(top) >= most and score <= top[-1][0]:
        return
    if any(graph == other for _, other in top):
        return
    place = len(top)
    while place and top[place - 1][0] < score:
        place -= 1
    top.insert(place, (score, graph))
    del top[most:]


def worth_showing(
    top: Sequence[tuple[float, ParentSets]], problem: Problem, most: int
) -> list[tuple[float, ParentSets]]:
    """The best, without the empty graph that the run began with, unless nothing better was found.

    A graph that was given to begin with stays: someone thinks it worth something.
    """
    begun = problem.rules.required_parents if problem.start == "empty" else None
    return [entry for place, entry in enumerate(top) if place == 0 or entry[1] != begun][:most]


# ---- checkpoints


def _saved(run: Run, state: State, problem: Problem, rng: Generator) -> dict[str, Any]:
    """All that a run needs to go on; `waited` is how long of its time kernels were compiled."""
    return {
        "state": state.to_json(),
        "random": rng.bit_generator.state,
        "asked": problem.score.asked,
        "bound": run.bound,
        "waited": problem.score.watch.waited,
        "top": run.top,
        "trace": run.trace,
    }


def _resumed(
    checkpoint: Checkpoint, search: Search, problem: Problem, rng: Generator
) -> tuple[Run, State | None, float, float]:
    """The run so far, its state, its seconds, and how many of them kernels were compiled."""
    saved = checkpoint.load()
    if saved is None:
        return Run(), None, 0.0, 0.0
    try:
        state = search.state.from_json(saved["state"])
        trace = [Step(*values) for values in saved["trace"]]
        top = [(score, as_graph(graph)) for score, graph in saved["top"]]
        if not all(_is_acyclic(graph, problem.n) for graph in (state.parents, *(graph for _, graph in top))):
            raise ValueError("not a graph of this problem")
        rng.bit_generator.state = saved["random"]
        problem.score.asked = saved["asked"]
        run = Run(trace, top, bound=saved["bound"])
        return run, state, float(trace[-1].seconds), float(saved["waited"])
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
        raise checkpoint.not_a_run() from None


def _is_acyclic(graph: ParentSets, n: int) -> bool:
    inside = len(graph) == n and all(0 <= parent < n for own in graph for parent in own)
    return inside and len(peel_roots(graph)) == n


def as_graph(lists: Sequence[Sequence[int]]) -> ParentSets:
    return tuple(tuple(own) for own in lists)
