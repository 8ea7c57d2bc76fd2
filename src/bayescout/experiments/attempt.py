"""One run, wherever it is done: measured, timed, limited, and its failure turned into a record."""

from __future__ import annotations

import os
import platform
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.metadata import version
from typing import Any

from bayescout.errors import BayescoutError
from bayescout.experiments.records import Record
from bayescout.experiments.study import Declared, Study, key_of, plain


class OverLimitError(Exception):
    """A run took longer than it may."""


def attempt(study: Study, run: Declared, home: int) -> Record:
    """The record of a run; `home` is the process that runs the study.

    An error is recorded and not raised, so that the other runs go on; only Ctrl-C goes through.
    """
    if os.getpid() != home and threading.current_thread() is threading.main_thread():
        be_a_worker(os.getppid())
    begin, cpu = time.perf_counter(), time.process_time()
    measures: dict[str, Any] = {}
    reason = None
    try:
        with time_limit(study.seconds_allowed()):
            measures = plain(study.measure(run))
    except OverLimitError:
        reason = f"over the limit of {study.seconds_allowed():g} s a run"
    except MemoryError as error:
        reason = f"out of memory{f': {error}' if str(error) else ''}"
    except BayescoutError as error:
        reason = str(error)
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return Record(
        key=key_of(study.name, run),
        study=study.name,
        run=run,
        measures=measures,
        reason=reason,
        seconds=round(time.perf_counter() - begin, 6),
        cpu_seconds=round(time.process_time() - cpu, 6),
        versions=versions(),
    )


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """The versions that a result may depend on."""
    from bayescout import __version__

    return {
        "bayescout": __version__,
        "numpy": version("numpy"),
        "numba": version("numba"),
        "python": platform.python_version(),
    }


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise `OverLimitError` in the block when the time is up; compiling kernels does not count.

    By an alarm, which only the main thread of a process can have, and only where there are alarms; in a
    worker that is a thread there is no limit.
    """
    main = threading.current_thread() is threading.main_thread()
    if seconds is None or not main or not hasattr(signal, "setitimer"):
        yield
        return

    from bayescout.search.driver import compiling_seconds

    begin, compiled = time.perf_counter(), compiling_seconds()

    def ring(number: int, frame: Any) -> None:
        if time.perf_counter() - begin - (compiling_seconds() - compiled) >= seconds:
            raise OverLimitError

    before = signal.signal(signal.SIGALRM, ring)
    # Again every second: an exception thrown into running code can be caught there or lost in a destructor.
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# ---- being a worker

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
