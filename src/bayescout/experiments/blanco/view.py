"""The records of the study by network, score, order and algorithm, in the document's units."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from bayescout.experiments.blanco.names import (
    ALGORITHMS,
    APART,
    CORRECTED,
    DOCUMENT,
    FITTED,
    K2,
    LN10,
)
from bayescout.experiments.records import Record, Records, mean

if TYPE_CHECKING:
    from bayescout.experiments.blanco.study import Blanco

SCORE_TITLES = {"bic-printed": "BIC as printed", "bic": "BIC", "k2": "K2", "entropy": "entropy"}
ORDER_TITLES = {"given": "order", "none": "no order"}
DIGITS = {"bic-printed": 1, "bic": 1, "k2": 1, "entropy": 3}
EQUAL = 1e-9
"""Scores closer than this share of their size are the same."""


def shown(by: str, score: float) -> float:
    """A score as the document gives it: base-10 logarithms; entropy, with its sign, in nats per row."""
    return score if by == "entropy" else score / LN10


@dataclass(frozen=True, eq=False)
class View:
    """The records, with the selections and figures that the study uses."""

    study: Blanco
    records: Records

    @property
    def networks(self) -> tuple[str, ...]:
        return self.study.networks

    def of(self, network: str, by: str, order: str, algorithm: str, settings: str = DOCUMENT) -> Records:
        """The runs of one cell of the tables."""
        return self._groups.get((network, by, order, algorithm, settings), Records())

    @cached_property
    def _groups(self) -> dict[tuple[str, ...], Records]:
        found: dict[tuple[str, ...], list[Record]] = {}
        for record in self.records:
            run = record.run
            key = (run["data"]["network"], run["by"], run["order"], run["algorithm"], run["settings"])
            found.setdefault(key, []).append(record)
        return {key: Records(some) for key, some in found.items()}

    def corrected(self, network: str, by: str, order: str, correction: float = FITTED) -> Records:
        """Runs of UMDA with a correction; 0 is UMDA as described."""
        if not correction:
            return self.of(network, by, order, "UMDA")
        some = self.of(network, by, order, "UMDA", CORRECTED)
        return Records(record for record in some if record.run["search"]["correction"] == correction)

    def apart(self, network: str, order: str, algorithm: str, variant: str) -> Records:
        """Runs with K2 of a search with some settings changed; "none" and "correction" are run elsewhere."""
        if variant == "none":
            return self.of(network, "k2", order, algorithm)
        if variant == "correction" and algorithm == "UMDA":
            return self.corrected(network, "k2", order)
        return self.of(network, "k2", order, algorithm, APART).where(variant=variant)

    def scores(
        self, network: str, by: str, order: str, algorithm: str, settings: str = DOCUMENT
    ) -> tuple[float, ...]:
        """Scores of the runs as shown; for K2 with random orders, those of every order."""
        some = self.of(network, by, order, algorithm, settings)
        if algorithm == K2:
            return tuple(shown(by, score) for record in some for score in record.measures["orders"])
        return tuple(shown(by, score) for score in some.numbers("score"))

    def trio(self, network: str, by: str, order: str, correction: float = 0.0) -> dict[str, Records]:
        """The three population searches on one column of the tables, UMDA with a correction or without."""
        found = {name: self.of(network, by, order, name) for name in ALGORITHMS}
        if correction:
            found["UMDA"] = self.corrected(network, by, order, correction)
        return found

    def reference(self, network: str, by: str) -> float:
        """The score of the generating network as shown."""
        return shown(by, self.of(network, by, "given", K2)[0].measures["reference"])

    def gap(self, network: str, by: str, scores: tuple[float, ...]) -> float | None:
        """The mean minus the generating network's score."""
        middle = mean(scores)
        return None if middle is None else middle - self.reference(network, by)

    def best(self, network: str, by: str, order: str) -> Record:
        """The run of the population searches with the best score; of ties the closest to the network."""
        groups = [*self.trio(network, by, order).values(), self.corrected(network, by, order)]
        some = [record for group in groups for record in group]
        return max(some, key=lambda record: (record.measures["score"], -record.measures["hamming"]))


def gaps(records: Records, by: str) -> list[float]:
    """The final scores of runs less the generating network's, as shown."""
    return [shown(by, record.measures["score"] - record.measures["reference"]) for record in records]


def reached(record: Record) -> bool:
    """Return True if a run ends at the score of the generating network or above, up to rounding."""
    reference = record.measures["reference"]
    return bool(record.measures["score"] >= reference - EQUAL * abs(reference))
