"""The runs of a user's own study, and its summary."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from bayescout.experiments.study import Declared, Measures, Study, canonical, grid
from bayescout.experiments.tools import data_of, facts_of, learned, truth_of

if TYPE_CHECKING:
    from bayescout.experiments.records import Records
    from bayescout.experiments.summary import Outcome

TRIAL_SECONDS = 1.0
"""Longest trial run of a search, made to estimate the time of the study."""


@dataclass(frozen=True)
class Own(Study):
    """A grid of your own: data, searches, scores, starts and seeds from one TOML file."""

    name: ClassVar[str] = "own"
    title: ClassVar[str] = "A study of one's own"
    source: ClassVar[str] = ""

    declaration: str
    """The declaration read and checked by `read_study`, as JSON text."""
    folder: str = "."
    """The folder of the files it names; not part of a run, so that a study can be moved with its files."""

    @property
    def declared(self) -> dict[str, Any]:
        return _parsed(self.declaration)

    def files(self) -> list[str]:
        """The files that the study reads."""
        return [
            os.path.join(self.folder, data[key]) for data in self.declared["data"] for key in _files_in(data)
        ]

    def seconds_allowed(self) -> float | None:
        limit: float | None = self.declared["limits"].get("max_seconds")
        return limit

    def runs(self) -> Iterable[Declared]:
        said = self.declared
        more: dict[str, Any] = {
            name: value for name, value in said["limits"].items() if name in ("max_time", "max_steps")
        }
        for name in ("knowledge", "structure_prior"):
            if said.get(name):
                more[name] = said[name]
        cells = grid(
            data=said["data"],
            search=said["searches"],
            score=said["scores"],
            start=said["starts"],
            seed=said["seeds"],
        )
        return ({**cell, **more} for cell in cells)

    def measure(self, run: Declared) -> Measures:
        run = {**run, "data": placed(run["data"], self.folder)}
        result = learned(run)
        found = facts_of(result, trace=("best", "evaluations"))
        truth = truth_of(run)
        if truth is not None:
            from bayescout.graph.compare import compare

            against = compare(result.dag, truth)
            names = ("shd", "shd_cpdag", "precision", "recall", "f1", "adjacency_f1", "hamming")
            found |= {name: getattr(against, name) for name in names}
        return found

    def cost(self, run: Declared) -> float:
        """The time of a trial of the search and score on the first data, scaled by cells and column pairs."""
        first = canonical(placed(self.declared["data"][0], self.folder))
        own = canonical(placed(run["data"], self.folder))
        trial = {
            name: run[name] for name in ("search", "score", "knowledge", "structure_prior") if name in run
        }
        seconds = _trial(first, canonical(trial)) * _size(own) / _size(first)
        return min(seconds, float(run.get("max_time", math.inf)))

    def outcome(self, records: Records) -> Outcome:
        from bayescout.experiments.own.outcome import outcome

        return outcome(self.declared["title"], records)


def placed(data: Declared, folder: str) -> Declared:
    """The declaration of data, with the paths of its files joined to a folder."""
    return {**data, **{name: os.path.join(folder, data[name]) for name in _files_in(data)}}


def _files_in(data: Declared) -> list[str]:
    """The keys of a declaration of data that name files."""
    named = [name for name in ("network", "truth") if f"{name}_digest" in data]
    return [*named, *(["file"] if "file" in data else [])]


@lru_cache(maxsize=2)
def _parsed(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return found


@lru_cache(maxsize=256)
def _trial(data: str, rest: str) -> float:
    """CPU seconds of one run, or of its first second."""
    run = {"data": json.loads(data), **json.loads(rest), "max_time": TRIAL_SECONDS}
    try:
        learned({**run, "max_steps": 1})  # loads compiled code before the timing starts
        begin = time.process_time()
        learned(run)
    except Exception:  # the run itself will record the error
        return 0.0
    return time.process_time() - begin


@lru_cache(maxsize=256)
def _size(data: str) -> float:
    table = data_of(json.loads(data))
    return float(table.n_rows) * table.n_columns**2
