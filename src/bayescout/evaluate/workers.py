"""Worker processes that end with the process that started them, however and whenever it ends."""

from __future__ import annotations

import os
import platform
import signal
import threading
import time
import warnings
from collections.abc import Generator, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeVar

Made = TypeVar("Made")

PR_SET_PDEATHSIG = 1
"""The option of Linux's prctl by which a process is sent a signal when its parent ends."""

LOOK_SECONDS = 0.2
"""How often a worker looks whether its parent is there, where the system does not tell it."""


@lru_cache(maxsize=1)
def be_a_worker(home: int) -> None:
    """Leave Ctrl-C, which reaches every process of a terminal, to the parent `home`, and end with it.

    A worker does this first of all, before it is given anything to do: one that waits for its first run
    would otherwise outlive a parent that is killed meanwhile, and hold its standard output.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.name != "posix":
        return  # a process is told nothing of its parent there; loky ends idle workers after some minutes
    _end_by_signal()
    if os.getppid() != home:  # it ended before it could be watched
        os._exit(1)
    threading.Thread(target=_end_with, args=(home,), daemon=True).start()


def _end_by_signal() -> None:
    """On Linux: be killed at once when the parent ends, even in the middle of compiled code."""
    if platform.system() != "Linux":
        return
    import ctypes

    with suppress(OSError, AttributeError):  # a C library without it: the thread looks instead
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _end_with(parent: int) -> None:
    """End this process soon after its parent: nobody is left to take its record."""
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)


def each_of(found: Generator[Made]) -> Iterator[Made]:
    """What `joblib.Parallel` generates; when this is closed early, the tasks left are given up."""
    try:
        yield from found
    finally:
        with warnings.catch_warnings():
            # Closed early on purpose: joblib need not say so.
            warnings.simplefilter("ignore")
            found.close()


def first_of_all() -> dict[str, Any]:
    """Arguments of `joblib.Parallel` that make workers of the processes it starts for this one.

    Empty where `joblib.parallel_config` sends the work elsewhere: a cluster looks after its own.
    """
    from joblib.parallel import LokyBackend, get_active_backend

    backend, _ = get_active_backend()
    if not isinstance(backend, LokyBackend):
        return {}
    return {"initializer": be_a_worker, "initargs": (os.getpid(),)}
