"""How a question is to be answered: exactly or by samples, and with how much memory."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path

from bayescout.checks import require_count
from bayescout.data import memory as address_space
from bayescout.data.past.budget import group_room
from bayescout.errors import SettingError

METHODS = ("auto", "sample")

SHARE = 2
"""By default an answer may take one in so many bytes of the memory that is free."""

UNKNOWN = 2 << 30
"""The memory that is taken to be free, in bytes, where the system does not say."""


@dataclass(frozen=True)
class Way:
    """How a question is answered.

    exact   True: refuse what does not fit into memory, instead of estimating it
    method  "auto": exactly if it fits, otherwise from samples; "sample": from samples
    memory  the most bytes for tables; None: half of the memory that is free
    draws   the number of samples of an estimate; None: the default
    seed    of the samples
    """

    exact: bool = False
    method: str = "auto"
    memory: int | None = None
    draws: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise SettingError(f"unknown method {self.method!r}; choose {' or '.join(map(repr, METHODS))}")
        if self.exact and self.method == "sample":
            raise SettingError("exact=True and method='sample' contradict each other; give one")
        if self.memory is not None and not (_is_whole(self.memory) and self.memory > 0):
            raise SettingError(f"memory is a number of bytes above 0, such as 4 * 2**30, not {self.memory!r}")
        if self.draws is not None and require_count("the number of draws", self.draws) < 1:
            raise SettingError("the number of draws must be at least 1, not 0")

    @property
    def limit(self) -> int:
        """The most bytes for tables."""
        return free_memory() // SHARE if self.memory is None else int(self.memory)


AUTO = Way()


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def free_memory() -> int:
    """The bytes that this process can still have, as far as the system says."""
    found = [_system_memory(), group_room()]
    most = address_space.limit()
    found.append(None if most is None else max(0, most - address_space._in_use()))
    known = [size for size in found if size is not None]
    return min(known) if known else UNKNOWN


def _system_memory() -> int | None:
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    return None


def readable(size: int) -> str:
    """A number of bytes in words."""
    for unit, name in ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:,.1f} {name}" if size < 2**60 else f"{size / unit:.2g} {name}"
    return f"{size} bytes"
