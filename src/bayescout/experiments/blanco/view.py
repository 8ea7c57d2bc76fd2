"""The records of the study by network, score, order and algorithm, in the document's units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayescout.experiments.blanco.names import ALGORITHMS, DOCUMENT, K2, LN10
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
        some = self.records.where(by=by, order=order, algorithm=algorithm, settings=settings)
        return Records(record for record in some if record.run["data"]["network"] == network)

    def scores(
        self, network: str, by: str, order: str, algorithm: str, settings: str = DOCUMENT
    ) -> tuple[float, ...]:
        """Scores of the runs as shown; for K2 with random orders, those of every order."""
        some = self.of(network, by, order, algorithm, settings)
        if algorithm == K2:
            return tuple(shown(by, score) for record in some for score in record.measures["orders"])
        return tuple(shown(by, score) for score in some.numbers("score"))

    def trio(self, network: str, by: str, order: str, settings: str = DOCUMENT) -> dict[str, Records]:
        """The three population searches on one column of the tables."""
        return {name: self.of(network, by, order, name, settings) for name in ALGORITHMS}

    def reference(self, network: str, by: str) -> float:
        """The score of the generating network as shown."""
        return shown(by, self.of(network, by, "given", K2)[0].measures["reference"])

    def gap(self, network: str, by: str, scores: tuple[float, ...]) -> float | None:
        """The mean minus the generating network's score."""
        middle = mean(scores)
        return None if middle is None else middle - self.reference(network, by)

    def best(self, network: str, by: str, order: str, settings: str = DOCUMENT) -> Record:
        """The run of the population searches with the best score; of ties the closest to the network."""
        some = [record for group in self.trio(network, by, order, settings).values() for record in group]
        return max(some, key=lambda record: (record.measures["score"], -record.measures["hamming"]))


def reached(record: Record) -> bool:
    """Return True if a run ends at the score of the generating network or above, up to rounding."""
    reference = record.measures["reference"]
    return bool(record.measures["score"] >= reference - EQUAL * abs(reference))
