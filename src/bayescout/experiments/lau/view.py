"""The records of the study by data set, start, score and method, and the document's printed values."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from statistics import mean
from typing import TYPE_CHECKING

from bayescout.experiments.lau import data as sets
from bayescout.experiments.lau.names import CLIMB, STARTS
from bayescout.experiments.parts import held
from bayescout.experiments.records import Record, Records
from bayescout.experiments.study import Declared
from bayescout.graph.dag import Dag

if TYPE_CHECKING:
    from bayescout.data.table import Table

NAMES = ("A", "B")
CORRECTED, PLAIN, BD = "bic-laplace", "bic", "k2"
SCORE_TITLES = {CORRECTED: "BIC, corrected", PLAIN: "BIC", BD: "BD"}
START_TITLES = {"empty": "unconnected", "random": "random", "full": "full"}
EQUAL = 1e-6
"""Scores closer than this, in nats, are the same."""

ITERATIONS = {("A", "empty"): 5.52, ("A", "random"): 6.00, ("B", "empty"): 21.04, ("B", "random"): 25.94}
OPERATIONS = {("A", "empty"): 75, ("A", "random"): 89, ("B", "empty"): 698, ("B", "random"): 762}
PER_ITERATION = {
    ("A", "empty"): 13.57, ("A", "random"): 14.83, ("B", "empty"): 33.19, ("B", "random"): 29.38,
}  # fmt: skip
BIC_ITERATIONS = {("A", "empty"): 5, ("A", "random"): 5, ("B", "empty"): 21, ("B", "random"): 24}
BD_ITERATIONS = {("A", "empty"): 7, ("A", "random"): 7.5, ("B", "empty"): 21, ("B", "random"): 25}
PARAMETERS = {
    ("A", "empty"): ("7", "8 or 9"), ("A", "random"): ("7", "8 or 9"),
    ("B", "empty"): ("20", "22"), ("B", "random"): ("21", "21"),
}  # fmt: skip
MEDIANS = {
    ("A", "empty"): (7, 8), ("A", "random"): (7, 8), ("B", "empty"): (20, 22), ("B", "random"): (21, 21),
}  # fmt: skip
"""The document's figures: means with corrected BIC, with BD, and the parameters found with each."""


@dataclass(frozen=True, eq=False)
class View:
    """The records, with the selections and figures that the study uses."""

    records: Records

    @cached_property
    def data(self) -> dict[str, Declared]:
        """The data sets by their names."""
        return {record.run["data"]["name"]: record.run["data"] for record in self.records}

    def others(self, name: str) -> list[str]:
        """The names of the other data sets like A or B."""
        return [own for own in self.data if own != name and own.startswith(name)]

    def of(self, name: str, **declared: str) -> Records:
        return self.records.where(data=self.data[name], **declared)

    def climbs(self, name: str, score: str = CORRECTED, start: str | None = None) -> Records:
        """Single first ascents from one kind of start, or from the document's two."""
        some = self.of(name, method=CLIMB, score=score)
        starts = STARTS if start is None else (start,)
        return Records(record for record in some if record.run["start"] in starts)

    def table(self, name: str) -> Table:
        return sets.table_of(self.data[name])

    def reference(self, name: str) -> Dag | None:
        return sets.reference_of(self.data[name])

    def first_scores(self, name: str, start: str) -> list[float]:
        """The scores at which first ascents with corrected BIC begin."""
        return [record.measures["trace"]["score"][0] for record in self.climbs(name, start=start)]

    def mean_scores(self, name: str, start: str) -> list[float]:
        """Their mean score after each iteration; a run that has ended stays at its final score."""
        traces = [record.measures["trace"]["score"] for record in self.climbs(name, start=start)]
        return [mean(scores) for scores in zip(*held(traces), strict=True)]

    def best(self, name: str, score: str) -> float:
        """The best score that any run of the study found."""
        return max(self.of(name, score=score).numbers("score"))

    def at_best(self, name: str, score: str, records: Records) -> int:
        """The number of these records that reached the best score."""
        best = self.best(name, score)
        return sum(found > best - EQUAL for found in records.numbers("score"))

    def at_class(self, name: str, score: str, records: Records) -> int:
        """The number of these records that end in a graph equivalent to the best one."""
        best = max(self.of(name, score=score), key=lambda record: record.measures["score"]).dag
        known = {dag: dag.equivalent(best) for dag in {record.dag for record in records}}
        return sum(known[record.dag] for record in records)

    def maxima(self, name: str, score: str) -> list[Maximum]:
        """The distinct graphs that first ascents ended in, the best first."""
        climbs = self.climbs(name, score)
        counts = Counter((record.dag, record.run["start"]) for record in climbs)
        first: dict[Dag, Record] = {}
        for record in climbs:
            first.setdefault(record.dag, record)
        found = [
            Maximum(
                dag,
                record.measures["score"],
                record.measures["parameters"],
                counts[dag, "empty"],
                counts[dag, "random"],
            )
            for dag, record in first.items()
        ]
        return sorted(found, key=lambda m: (-m.score, -(m.unconnected + m.random), m.dag.parents))


@dataclass(frozen=True)
class Maximum:
    """A graph that first ascents ended in, and their number for each kind of start."""

    dag: Dag
    score: float
    parameters: int
    unconnected: int
    random: int

    @property
    def bits(self) -> float:
        return bits(self.score)


def bits(nats: float) -> float:
    """Nats converted to bits, the document's unit."""
    return nats / math.log(2)


def in_bits(records: Records, measure: str = "score") -> tuple[float, ...]:
    return tuple(map(bits, records.numbers(measure)))
