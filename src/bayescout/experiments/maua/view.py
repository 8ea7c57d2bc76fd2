"""The records of the study by data set and approach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayescout.experiments.maua.names import HANDCRAFTED
from bayescout.experiments.records import Record, Records
from bayescout.experiments.study import Declared

if TYPE_CHECKING:
    from bayescout.experiments.maua.study import Maua


@dataclass(frozen=True, eq=False)
class View:
    """The records, with the selections and figures that the study uses."""

    study: Maua
    records: Records

    def sets(self) -> Iterator[Declared]:
        """The data sets that have runs."""
        for (data,), _ in self.records.groups("data"):
            yield data

    def largest(self) -> list[Declared]:
        """The data set with the most rows for each network."""
        last: dict[str, Declared] = {}
        for data in self.sets():
            known = last.get(data["name"])
            if known is None or data["train"].get("rows", 0) >= known["train"].get("rows", 0):
                last[data["name"]] = data
        return list(last.values())

    def of(self, data: Declared, approach: str) -> Records:
        return self.records.where(data=data, approach=approach)

    def handcrafted(self, data: Declared) -> Record | None:
        found = self.of(data, HANDCRAFTED)
        return found[0] if found else None

    def reference(self, data: Declared, measure: str) -> float | None:
        """A measure of the handcrafted network, its parameters estimated from the training rows."""
        own = self.handcrafted(data)
        return None if own is None else float(own.measures[measure][0])


def title(data: Declared) -> str:
    rows = data["train"].get("rows")
    return data["name"] if rows is None else f"{data['name']}, {rows:,} rows"


def slug(data: Declared) -> str:
    """A name of the data set for file names."""
    rows = data["train"].get("rows")
    return "own" if rows is None else f"{data['name']}-{rows}"


def pooled(records: Records, measure: str) -> tuple[Any, ...]:
    """A measure of all networks that all runs kept."""
    return tuple(value for record in records for value in record.measures[measure])


def bests(records: Records, measure: str) -> tuple[Any, ...]:
    """A measure of the network with the best training score of each run."""
    return tuple(record.measures[measure][0] for record in records)
