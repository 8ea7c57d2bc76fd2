"""Threads over which work is split; results do not depend on their number."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

from bayescout.errors import SettingError


def check_workers(workers: int | None) -> int:
    """The number of threads: by default, every core this process may use."""
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if workers < 1:
        raise SettingError(f"workers must be at least 1, not {workers}")
    return workers


@lru_cache(maxsize=4)
def pool_of(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="bayescout")


if hasattr(os, "register_at_fork"):
    # A forked process inherits the pool but not its threads, and would wait for them for ever.
    os.register_at_fork(after_in_child=pool_of.cache_clear)
