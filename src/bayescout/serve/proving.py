"""How far the graph of a run is at most from the best: a bound that an exact search finds within a time."""

from __future__ import annotations

from typing import Any

from bayescout.optimality import gap
from bayescout.serve.subject import Subject


def prove(values: dict[str, Any], _: Any) -> dict[str, Any]:
    """The bound on every network that keeps the run's knowledge, and what is said of it; None without one."""
    found = gap(Subject.of(values).result, max_time=values["max_time"], workers=values["workers"])
    return {"bound": found.to_dict()["bound"], "told": str(found)}
