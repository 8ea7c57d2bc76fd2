"""The one decorator of every kernel, so that compile options are decided once.

Kernels take and return plain arrays, release the GIL, and are compiled once per machine:
the machine code is kept on disk beside the source (or in the user's cache folder).
"""

from __future__ import annotations

import logging

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


class _TellOnce(event.Listener):
    """Says once a process that kernels are being compiled; loading them from disk is silent."""

    def __init__(self) -> None:
        self.told = False

    def on_start(self, event: event.Event) -> None:
        if not self.told:
            self.told = True
            log.warning("bayescout: compiling its kernels for this machine (once, a few seconds)")

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _TellOnce())
