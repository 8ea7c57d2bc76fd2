"""The clock of a run: it ends the step in hand when the time is over or Ctrl-C was pressed."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable

EARLY = 0.1
"""The share of a run's time after which `early` is called."""


class StepAbandoned(Exception):
    """Raised to abandon the step in hand; the state before it stands."""


class Watch:
    """The clock, checked by searches and scores between pieces of work of some hundredths of a second each.

    `check` abandons the step in hand once the run's seconds are over or `interrupted` returns True. When a
    tenth of them is over it calls `early`, once, wherever the search is. Seconds of compiling kernels never
    count. A watch that was not started never does anything.
    """

    def __init__(self) -> None:
        self._begin = time.perf_counter()
        self._compiled = compiling_seconds()
        self._limit = math.inf
        self._early: Callable[[], None] | None = None
        self._interrupted: Callable[[], bool] = bool
        self._due = math.inf

    def start(
        self,
        limit: float | None,
        spent: float = 0.0,
        begin: float | None = None,
        interrupted: Callable[[], bool] = bool,
        early: Callable[[], None] | None = None,
    ) -> None:
        """Start the clock with `limit` seconds in all; `begin` is when it began.

        A resumed run has already `spent` some seconds.
        """
        self._begin = (time.perf_counter() if begin is None else begin) - spent
        self._compiled = compiling_seconds()
        self._limit = math.inf if limit is None else limit
        self._interrupted = interrupted
        self._early = early if limit is not None else None
        self._due = self._begin + self._limit * (1.0 if self._early is None else EARLY)

    def extend(self, limit: float) -> None:
        """Extend the limit to so many seconds since the beginning, and ignore Ctrl-C from now on."""
        self._limit, self._early, self._interrupted = limit, None, bool
        self._due = self._begin + limit

    @property
    def seconds(self) -> float:
        """Seconds since the beginning, with those spent before the run was resumed."""
        return time.perf_counter() - self._begin - (compiling_seconds() - self._compiled)

    @property
    def left(self) -> float:
        """Seconds until the limit."""
        return self._limit - self.seconds

    @property
    def is_over(self) -> bool:
        return self.seconds >= self._limit

    def check(self) -> None:
        """Return, or abandon the step in hand."""
        if self._interrupted():
            raise StepAbandoned
        if time.perf_counter() >= self._due:
            self._act()

    def _act(self) -> None:
        seconds = self.seconds
        if seconds >= self._limit:
            raise StepAbandoned
        if self._early is not None and seconds >= EARLY * self._limit:
            made, self._early = self._early, None
            made()
        share = 1.0 if self._early is None else EARLY
        waited = compiling_seconds() - self._compiled
        self._due = self._begin + share * self._limit + waited


def compiling_seconds() -> float:
    """Seconds of compiling kernels in this process; they do not count against a budget."""
    module = sys.modules.get("bayescout.kernels.jit")
    return 0.0 if module is None else float(module.compiling.seconds)
