"""Settings as options of the command line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

FLAGS = {
    "missing": "--missing",
    "missing_values": "--na",
    "kinds": "--kind",
    "drop": "--drop",
    "separator": "--separator",
    "bins": "--discretise",
    "order": "--order",
    "max_parents": "--max-parents",
    "prior": "--prior",
}
"""The options of settings that have one of their own; those of a search are given with --option."""


def as_option(name: str, value: Any) -> str:
    """Such as `--missing drop`, `--kind age=continuous` or `--option parents=greedy`."""
    flag = FLAGS.get(name)
    if flag is None:
        return f"--option {name}={value}"
    if value is ...:
        return f"{flag} FILE"
    values = [f"{key}={item}" for key, item in value.items()] if isinstance(value, Mapping) else value
    listed = values if isinstance(values, list | tuple) else [values]
    return " ".join(f"{flag} {shlex.quote(str(item))}" for item in listed)
