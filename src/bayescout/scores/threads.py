"""Threads over which work is split; results do not depend on their number."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import lru_cache
from typing import TypeVar

from bayescout.data.past.budget import cores
from bayescout.errors import SettingError

AHEAD = 2
"""Items per thread that are begun or wait for a thread."""

Item = TypeVar("Item")
Made = TypeVar("Made")


def check_workers(workers: int | None) -> int:
    """The number of threads: by default, every core this process may use."""
    if workers is None:
        return cores()
    if workers < 1:
        raise SettingError(f"workers must be at least 1, not {workers}")
    return workers


@lru_cache(maxsize=4)
def pool_of(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="bayescout")


def worked(
    work: Callable[[Item], Made], items: Sequence[Item], workers: int, between: Callable[[], None]
) -> list[Made]:
    """The results of work on each item, by so many threads; `between` is called before each, or after it.

    If it raises, no further item is begun, and those in hand are waited for. Few items wait for a thread at
    a time, since `between` may do work of its own on the same threads.
    """
    found: list[Made] = []
    if len(items) <= 1 or workers == 1:
        for item in items:
            between()
            found.append(work(item))
        return found
    between()
    begun: deque[Future[Made]] = deque()
    try:
        for item in items:
            begun.append(pool_of(workers).submit(work, item))
            if len(begun) > AHEAD * workers:
                found.append(begun.popleft().result())
                between()
        while begun:
            found.append(begun.popleft().result())
            between()
    finally:
        wait([one for one in begun if not one.cancel()])
    return found


def worked_on(
    workers: int, work: Callable[[Item], Made], items: Sequence[Item], between: Callable[[], None]
) -> list[Made]:
    """`worked`, with the number of threads first."""
    return worked(work, items, workers, between)


if hasattr(os, "register_at_fork"):
    # A forked process inherits the pool but not its threads, and would wait for them for ever.
    os.register_at_fork(after_in_child=pool_of.cache_clear)
