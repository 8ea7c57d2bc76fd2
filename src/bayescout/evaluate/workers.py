"""Worker processes that end when the process that started them ends, in whatever way."""

from __future__ import annotations

import multiprocessing
import os
import platform
import signal
import sys
import threading
import time
import warnings
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from multiprocessing.util import Finalize
from typing import Any, TypeVar

Made = TypeVar("Made")

PR_SET_PDEATHSIG = 1
"""The option of Linux's prctl that sends a process a signal when its parent ends."""

ROUND = 4
"""Tasks per worker of a round, where a backend answers once all of a round are done."""

LOOK_SECONDS = 0.2
"""Interval at which a worker checks for its parent, if the system does not notify it."""


@lru_cache(maxsize=1)
def be_a_worker(home: int, told: bool = False) -> None:
    """Leave Ctrl-C, which reaches every process of a terminal, to the parent `home`, and end with it.

    told  the parent has said that kernels are compiled, which need not be said again

    A worker does this first, before it gets any work: otherwise a worker that waits for its first run
    would outlive a parent that is killed meanwhile, and keep its standard output open.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if told:
        from bayescout.kernels.jit import compiling

        compiling.told = True
    if os.name != "posix":
        return  # no way to notice the parent's end there; loky ends idle workers after some minutes
    _end_by_signal()
    if os.getppid() != home:  # the parent ended before it could be watched
        os._exit(1)
    threading.Thread(target=_end_with, args=(home,), daemon=True).start()


def _end_by_signal() -> None:
    """On Linux, arrange to be killed when the parent ends, even within compiled code."""
    if platform.system() != "Linux":
        return
    import ctypes

    with suppress(OSError, AttributeError):  # a C library without it: the thread checks instead
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _end_with(parent: int) -> None:
    """End this process soon after its parent, since nothing is left to receive its record."""
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)


def in_parallel(tasks: Iterable[Any], workers: int | None, ordered: bool = True) -> Iterator[Any]:
    """The results of tasks made by `joblib.delayed`, as they come; or in their order, as soon as they can.

    A backend that only answers once all are done, such as joblib's Ray, is given them in rounds.
    """
    from joblib import Parallel, effective_n_jobs
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    if backend.supports_return_generator:
        way = "generator" if ordered else "generator_unordered"
        yield from each_of(Parallel(n_jobs=workers, return_as=way, **first_of_all())(tasks))
        return
    parallel, rest = Parallel(n_jobs=workers), iter(tasks)
    size = ROUND * max(1, effective_n_jobs(workers))
    while some := list(islice(rest, size)):
        yield from parallel(some)


def each_of(found: Generator[Made]) -> Iterator[Made]:
    """The results of `joblib.Parallel`; if this is closed early, the remaining tasks are abandoned."""
    try:
        yield from found
    finally:
        with warnings.catch_warnings():
            # Closed early on purpose: joblib's warning is not needed.
            warnings.simplefilter("ignore")
            found.close()


def first_of_all() -> dict[str, Any]:
    """Arguments of `joblib.Parallel` that set up the processes it starts as workers of this one.

    Empty if `joblib.parallel_config` sends the work elsewhere: a cluster manages its own workers.
    """
    from joblib.parallel import LokyBackend, get_active_backend

    backend, _ = get_active_backend()
    if not isinstance(backend, LokyBackend):
        return {}
    _end_idle_workers_first(os.getpid())
    kernels = sys.modules.get("bayescout.kernels.jit")
    told = kernels is not None and kernels.compiling.told
    return {"initializer": be_a_worker, "initargs": (os.getpid(), told)}


@lru_cache(maxsize=1)
def _end_idle_workers_first(home: int) -> None:
    """In a process of `multiprocessing`, end idle workers before it ends.

    Such a process waits for those that it started before it does anything else at its end, and idle workers
    stay for some minutes.
    """
    if multiprocessing.parent_process() is not None:
        Finalize(None, _end_idle_workers, exitpriority=100)


def _end_idle_workers() -> None:
    from joblib.externals.loky import reusable_executor

    executor = reusable_executor._executor
    if executor is not None:
        executor.shutdown(wait=True, kill_workers=True)
