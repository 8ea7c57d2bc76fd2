"""The memory that work on large tables may take, and what a machine has."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bayescout.checks import as_plain
from bayescout.errors import SettingError, TooLargeError

SHARE = 0.5
"""The default limit: what this process holds, and this share of what is free."""

LEAST = 320 << 20
"""The least memory beside what the process holds: its reader, a block of rows, the code to be loaded."""

GROUP = Path("/sys/fs/cgroup")
"""Where the control group of this process says what it may have."""

UNITS = {
    "": 1, "B": 1,
    "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40,
}  # fmt: skip


@dataclass(frozen=True)
class Budget:
    """The most bytes that may be resident, and those that this process holds already."""

    limit: int
    held: int

    @classmethod
    def of(cls, memory: int | float | str | None) -> Budget:
        """The budget of `memory`: bytes, a text such as "2 GB", or None for a share of what is free."""
        held = resident()
        if memory is None:
            return cls(held + max(LEAST, int(SHARE * available())), held)
        limit = in_bytes(memory)
        if limit < held + LEAST:
            raise TooLargeError(
                f"memory={memory!r} is {in_units(limit)}, but this process holds {in_units(held)} already, "
                f"and scanning rows takes at least {in_units(LEAST)} more: give it "
                f"{in_units(1.05 * (held + LEAST))}"
            )
        return cls(limit, held)

    @property
    def spare(self) -> int:
        """Bytes that may be taken beside those held at the start."""
        return self.limit - self.held


def in_bytes(memory: int | float | str) -> int:
    """The bytes that a setting means; GB are thousands of millions, GiB powers of 1024."""
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", memory)
        if found is not None and found[2].upper() in UNITS:
            return int(float(found[1]) * UNITS[found[2].upper()])
    else:
        number = as_plain(memory)
        if number is not None and number >= 1:
            return int(number)
    raise SettingError(f'memory must be bytes or a text such as "2 GB" or "500 MB", not {memory!r}')


def in_units(size: float) -> str:
    """A number of bytes for people: 7.4 GB."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:,.0f} {unit}" if unit == "bytes" or size >= 100 else f"{size:,.1f} {unit}"
        size /= 1000
    raise AssertionError("the last unit returns")


def resident() -> int:
    """The bytes of this process that are in memory, or 0 if unknown."""
    with suppress(OSError, ValueError, IndexError):
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    return 0


def available() -> int:
    """The bytes that this process could still take, by the machine and by its control group."""
    found = [1 << 62]
    with suppress(OSError, ValueError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found += [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
    group = group_room()
    if group is not None:
        found.append(group)
    if len(found) == 1:
        with suppress(OSError, ValueError, AttributeError):
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)
    return 4 << 30 if len(found) == 1 else min(found)


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def group_room() -> int | None:
    """What is left under the limit of a control group, as containers have; None without one.

    Pages of files that were read count as used there, but are given back when others need the memory.
    """
    with suppress(OSError, ValueError):
        most = int((GROUP / "memory.max").read_text(encoding="ascii"))
        used = int((GROUP / "memory.current").read_text(encoding="ascii"))
        lines = (GROUP / "memory.stat").read_text(encoding="ascii").splitlines()
        pages = dict(line.split() for line in lines)
        return max(0, most - used + int(pages["inactive_file"]) + int(pages["active_file"]))
    return None
