"""The loop that all searches share: budgets, the trace, the best so far, checkpoints, Ctrl-C."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bayescout.checks import is_real, require_count
from bayescout.errors import SettingError
from bayescout.search.checkpoint import Checkpoint
from bayescout.search.problem import Generator, ParentSets, Problem, Search, State, arcs_in


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
) -> Run:
    """Run a search to its end, or to the first of the limits, Ctrl-C and a callback that says stop."""
    run, state, spent = Run(), None, 0.0
    if checkpoint is not None:
        run, state, spent = _resumed(checkpoint, search, problem, rng)
    begin, compiled = time.perf_counter() - spent, compiling_seconds()
    with CtrlC() as interrupt:
        try:
            while True:
                if state is None:
                    state = search.start(problem, rng)
                else:
                    waited = compiling_seconds() - compiled
                    run.stop_reason = _reason_to_stop(
                        run, state, limits, time.perf_counter() - begin - waited
                    )
                    if run.stop_reason:
                        break
                    state = search.advance(problem, state, rng)
                step = _record(run, state, problem, time.perf_counter() - begin, limits.top)
                if checkpoint is not None:
                    checkpoint.save(_saved(run, state, problem, rng))
                if callback is not None and callback(step):
                    run.stop_reason = "callback"
                    break
                if interrupt.pressed:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            if not run.top:
                raise
            run.stop_reason = "interrupted"
    assert state is not None
    _conclude(run, search, problem, state)
    run.top = worth_showing(run.top, problem, limits.top)
    return run


def _conclude(run: Run, search: Search, problem: Problem, state: State) -> None:
    """Settle the answer: the last state's, or what the search makes of it where it was stopped early."""
    conclude = getattr(search, "conclude", None)
    if conclude is not None and not state.done:
        with problem.score.suspended():
            state = conclude(problem, state)
        run.top = [(state.score, state.parents)]
    run.answer = state


class CtrlC:
    """Ctrl-C noted rather than raised, so that the step in hand is finished; the second one is raised.

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


def compiling_seconds() -> float:
    """What compiling kernels has taken in this process, which is not counted against a budget."""
    module = sys.modules.get("bayescout.kernels.jit")
    return 0.0 if module is None else float(module.compiling.seconds)


def _reason_to_stop(run: Run, state: State, limits: Limits, seconds: float) -> str:
    if state.done:
        return "converged"
    if limits.max_steps is not None and len(run.trace) > limits.max_steps:
        return "max_steps"
    if limits.max_time is not None and seconds >= limits.max_time:
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
    return {
        "state": state.to_json(),
        "random": rng.bit_generator.state,
        "asked": problem.score.asked,
        "top": run.top,
        "trace": run.trace,
        "bound": run.bound,
    }


def _resumed(
    checkpoint: Checkpoint, search: Search, problem: Problem, rng: Generator
) -> tuple[Run, State | None, float]:
    saved = checkpoint.load()
    if saved is None:
        return Run(), None, 0.0
    rng.bit_generator.state = saved["random"]
    problem.score.asked = saved["asked"]
    trace = [Step(*values) for values in saved["trace"]]
    top = [(score, as_graph(graph)) for score, graph in saved["top"]]
    run = Run(trace, top, bound=saved.get("bound"))
    return run, search.state.from_json(saved["state"]), trace[-1].seconds


def as_graph(lists: Sequence[Sequence[int]]) -> ParentSets:
    return tuple(tuple(own) for own in lists)
