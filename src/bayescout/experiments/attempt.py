"""One run in any process: measured, timed, limited, and its failure turned into a record."""

from __future__ import annotations

import os
import platform
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import version
from typing import Any

from bayescout.errors import BayescoutError
from bayescout.evaluate.workers import be_a_worker
from bayescout.experiments.records import Record
from bayescout.experiments.study import Declared, Study, key_of, strict_json


class OverLimitError(Exception):
    """A run exceeded its time limit."""


def attempt(study: Study, run: Declared, home: int) -> Record:
    """Do one run and return its record; `home` is the process that runs the study.

    An error is recorded and not raised, so that the other runs go on; only Ctrl-C is raised.
    """
    if os.getpid() != home and threading.current_thread() is threading.main_thread():
        be_a_worker(os.getppid())
    begin, cpu = time.perf_counter(), time.process_time()
    measures: dict[str, Any] = {}
    reason = None
    try:
        with time_limit(study.seconds_allowed()):
            measures = strict_json(study.measure(run))
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
    """The versions of Python and the packages that a result may depend on."""
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

    It uses an alarm signal, which only the main thread of a process can have, and not on every system; a
    worker that is a thread has no limit.
    """
    main = threading.current_thread() is threading.main_thread()
    if seconds is None or not main or not hasattr(signal, "setitimer"):
        yield
        return

    from bayescout.search.frame.watch import compiling_seconds

    begin, compiled = time.perf_counter(), compiling_seconds()

    def ring(number: int, frame: Any) -> None:
        if time.perf_counter() - begin - (compiling_seconds() - compiled) >= seconds:
            raise OverLimitError

    before = signal.signal(signal.SIGALRM, ring)
    # Repeated every second: an exception raised in running code can be caught there or lost in a destructor.
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
