"""How sure each arc is: the run repeated on rows drawn again and again, in a process of its own."""

from __future__ import annotations

import os
import warnings
from typing import Any

from bayescout.checks import require_count
from bayescout.evaluate import bootstrap
from bayescout.search import SEARCHES
from bayescout.serve.subject import Subject
from bayescout.settings import make_named

MOST_RUNS = 1000


def strengths(values: dict[str, Any], tell: Any) -> dict[str, Any]:
    """The strengths of all arcs found, and the averaged network; `tell` is told of every run."""
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        averaged = found.averaged()
    return {
        "arcs": [[str(one.parent), str(one.child), *one[2:]] for one in found.table()],
        "threshold": found.threshold(),
        "averaged": [[str(a), str(b)] for a, b in averaged.arcs()],
        "done": runs,
        "of": runs,
    }
