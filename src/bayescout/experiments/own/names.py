"""Names of the searches, scores and data of a user's own study in its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayescout.experiments.study import Declared
from bayescout.experiments.tools import named


def label_of(declared: Any) -> str:
    """The name of a search, a score or data in tables."""
    if isinstance(declared, Mapping) and "name" not in declared:
        return data_label(declared)
    name, settings = named(declared)
    shown = ", ".join(f"{key}={value}" for key, value in settings.items())
    return f"{name} ({shown})" if shown else name


def data_label(data: Declared) -> str:
    """The name of a data set without the seed of its sample."""
    if "file" in data:
        return str(data["file"]).rsplit("/", 1)[-1]
    if "network" in data:
        source = str(data["network"]).rsplit("/", 1)[-1]
    else:
        source = ", ".join(f"{key} {value}" for key, value in data["random"].items())
    return f"{source}, {data['rows']:,} rows"
