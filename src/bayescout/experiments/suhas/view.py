"""The records of the study by part, size, form of the fitness, α and extension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayescout.experiments.records import Record, Records
from bayescout.experiments.suhas.names import ALPHA, BY_ALPHA, BY_ROWS, FITNESS

if TYPE_CHECKING:
    from bayescout.experiments.suhas.study import Suhas

FORM_TITLES = {"mi-bic": "N·MI − α·ln N·size", "mi-normalised": "MI − α·size / 2ⁿ"}

ORDERS = ("known", "unknown")


@dataclass(frozen=True, eq=False)
class View:
    """The records, with the selections and figures that the study uses."""

    study: Suhas
    records: Records

    @property
    def nodes(self) -> tuple[int, ...]:
        return self.study.nodes

    def fitness(self, nodes: int, form: str, extension: str = "none", order: str = "unknown") -> Records:
        """Runs that are followed by generation."""
        score = {"name": form, "alpha": ALPHA[form]}
        return self.records.where(part=FITNESS, nodes=nodes, extension=extension, score=score, order=order)

    def first_network(self, records: Records) -> Records:
        """The records on the first random network, which a figure can show with one reference."""
        return Records(record for record in records if record.run["data"]["seed"] == 0)

    def alpha(self, nodes: int, form: str, alpha: float, order: str = "unknown") -> Records:
        return self.records.where(
            part=BY_ALPHA, nodes=nodes, order=order, score={"name": form, "alpha": alpha}
        )

    def rows(self, rows: int, form: str) -> Records:
        score = {"name": form, "alpha": ALPHA[form]}
        some = self.records.where(part=BY_ROWS, score=score)
        return Records(record for record in some if record.run["data"]["rows"] == rows)


def reached(record: Record) -> float | None:
    """The best network's fitness on a scale from the unconnected network (0) to the reference (1)."""
    low, high = record.measures["unconnected"], record.measures["reference"]
    return float((record.measures["score"] - low) / (high - low)) if high > low else None


def beats(record: Record) -> bool:
    """Return True if the best network is at least as fit as the reference, up to rounding."""
    return bool(record.measures["score"] >= record.measures["reference"] - 1e-9)
