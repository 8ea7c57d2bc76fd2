"""The one decorator of every kernel, so that compile options are decided once.

Kernels take and return plain arrays, release the GIL, and are compiled once per machine:
the machine code is kept on disk beside the source (or in the user's cache folder).
"""

from __future__ import annotations

import logging
import time

import numba
from numba.core import event

log = logging.getLogger("bayescout")

_OPTIONS = {"nogil": True, "fastmath": False, "boundscheck": False}


def kernel(function):
    """Compile a function when first called, and keep the machine code on disk where that can be written."""
    try:
        return numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # numba found no folder that it may write: compile anew in every process
        return numba.njit(**_OPTIONS)(function)


class _Compiling(event.Listener):
    """Says once a process that kernels are being compiled, and counts the seconds; loading is silent."""

    def __init__(self) -> None:
        self.told = False
        self._past = 0.0
        self._depth = 0
        self._begin = 0.0

    @property
    def seconds(self) -> float:
        """So far, what is being compiled now included."""
        return self._past + (time.perf_counter() - self._begin if self._depth else 0.0)

    def on_start(self, event: event.Event) -> None:
        if not self.told:
            self.told = True
            log.warning("bayescout: compiling its kernels for this machine (once, a few seconds)")
        if self._depth == 0:
            self._begin = time.perf_counter()
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._past += time.perf_counter() - self._begin


compiling = _Compiling()
event.register("numba:compile", compiling)
