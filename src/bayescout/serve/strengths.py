"""How sure each arc is: the run repeated on rows drawn again and again, in a process of its own."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from bayescout.checks import require_count
from bayescout.evaluate import bootstrap
from bayescout.evaluate.strengths import ArcStrengths
from bayescout.search import SEARCHES
from bayescout.serve.subject import Kept, Subject
from bayescout.settings import make_named

MOST_RUNS = 1000

COUNTED = Kept(2)


def strengths(values: dict[str, Any], tell: Any) -> dict[str, Any]:
    """The strengths of all arcs found, both ways round; `tell` is told of every run."""
    subject = Subject.of(values)
    settings, table = subject.settings, subject.table.select(subject.labels)
    runs = require_count("runs", values["runs"], 1, most=MOST_RUNS)
    method: Any = settings.search  # by its name alone "auto" leaves out its longest parts
    if method != "auto":
        method = make_named("search", SEARCHES, settings.search, settings.search_settings)
    found = bootstrap(
        table,
        runs,
        method,
        settings.made_score(),
        settings.seed,
        workers=max(1, (os.cpu_count() or 1) - 1),
        progress=lambda done, of: tell(done=done, of=of),
        knowledge=settings.knowledge,
        structure_prior=settings.made_prior(),
        missing=settings.missing,
        max_time=values.get("max_time"),
    )
    return {
        "arcs": [[str(one.parent), str(one.child), *one[2:]] for one in found.table()],
        "threshold": found.threshold(),
        "done": runs,
        "of": runs,
    }


def averaged(values: dict[str, Any], _: Any) -> dict[str, Any]:
    """The network of the arcs above a threshold, and those that would close a cycle in it."""
    path = Path(values["strengths"])
    counted: ArcStrengths = COUNTED.get(
        (path, path.stat().st_mtime_ns), lambda: _counted(path, values["nodes"])
    )
    threshold = values["threshold"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dag = counted.averaged(threshold)
    pairs = [[str(a), str(b)] for a, b in dag.arcs()]
    return {"averaged": pairs, "left_out": [[str(a), str(b)] for a, b in counted.left_out(threshold)]}


def _counted(path: Path, names: list[str]) -> ArcStrengths:
    """The strengths in a file, which has every pair in both directions."""
    found = json.loads(path.read_text(encoding="utf-8"))
    nodes, graphs = tuple(names), found["of"]
    place = {name: i for i, name in enumerate(nodes)}
    votes = np.zeros((len(nodes), len(nodes)), dtype=np.int64)
    for parent, child, share, way in found["arcs"]:
        votes[place[parent], place[child]] = round(2 * graphs * share * way)
    return ArcStrengths(nodes, graphs, votes)
