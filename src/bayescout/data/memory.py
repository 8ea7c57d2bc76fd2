"""The memory that is left, and a limit on the address space of this process (`ulimit -v`).

The polars parsers must not reach the limit: Rust code that gets no memory aborts, and no Python code runs
after that. So under a limit as little memory as possible is requested, and a limit that is too low is refused
before parsing begins.
"""

from __future__ import annotations

import ctypes
import math
import sys
from contextlib import suppress
from pathlib import Path

from bayescout.data.past.budget import group_room
from bayescout.errors import TooLargeError

LOADING = 400 << 20
"""Address space that loading polars takes, in bytes."""

PARSING = 256 << 20
"""Address space that parsing one block of text takes, with a margin, in bytes."""

_ARENA_MAX = -8
"""`M_ARENA_MAX` of the C library."""


def limit() -> int | None:
    """The most bytes that this process, and each of its children, may address; None without a limit."""
    try:
        import resource
    except ImportError:  # not a Unix system
        return None
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if soft == resource.RLIM_INFINITY else soft


def free() -> float:
    """The memory that this process can still have, in bytes; infinite if that is not known.

    By the machine, by the control group of a container, and by a limit on the address space.
    """
    found, most, group = math.inf, limit(), group_room()
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                found = float(int(line.split()[1]) << 10)
    if group is not None:
        found = min(found, float(group))
    return found if most is None else min(found, float(max(0, most - _in_use())))


def require(needed: float, takes: str, ways: str, of: str = "") -> float:
    """Refuse work that takes more bytes than are free; returns what is free.

    takes  what takes them, with its verb
    ways   what can be done instead
    of     what of the work takes them, if not all of it
    """
    left = free()
    if needed > left:
        raise TooLargeError(
            f"{takes} {needed / 2**30:,.1f} GB{of}, and {left / 2**30:,.1f} GB are free: {ways}"
        )
    return left


def prepare_to_parse(path: Path) -> None:
    """Under a limit, keep threads from reserving an arena each, and refuse if too little is left."""
    most = limit()
    if most is None:
        return
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
    needed = PARSING + (0 if "polars" in sys.modules else LOADING)
    if most - _in_use() < needed:
        raise TooLargeError(
            f"{path}: this process may address {most >> 20:,} MB, and {needed >> 20:,} MB more than now "
            f"are needed to read text: raise the limit, with ulimit -v for instance"
        )


def _in_use() -> int:
    """The bytes of address space in use, or 0 if unknown."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmSize:"):
                return int(line.split()[1]) << 10
    return 0
