"""The record of a run, and collections of records to select from and summarise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, overload

from bayescout.errors import UnknownNameError
from bayescout.experiments.study import canonical
from bayescout.graph.dag import Dag

TIMES = ("seconds", "cpu_seconds")
"""The only fields of a record that differ when a run is repeated."""


@dataclass(frozen=True)
class Record:
    """One run: its declaration, its measures or the reason of failure, its times, and the versions used."""

    key: str
    study: str
    run: Mapping[str, Any]
    measures: Mapping[str, Any] = field(default_factory=dict)
    reason: str | None = None
    """Reason of the failure; None for a run that succeeded."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        return self.reason is not None

    @property
    def dag(self) -> Dag:
        """The graph that `facts_of` recorded."""
        from bayescout.experiments.tools import dag_of

        return dag_of(self.measures)

    def value(self, name: str) -> Any:
        """A measure, or a time, by its name."""
        if name in TIMES:
            return getattr(self, name)
        if name not in self.measures:
            raise UnknownNameError("measure", name, [*self.measures, *TIMES], f"run {self.key}")
        return self.measures[name]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def timeless(self) -> dict[str, Any]:
        """All fields that are the same whenever and wherever the run is done."""
        return {name: value for name, value in self.to_json().items() if name not in TIMES}


class Records(Sequence[Record]):
    """Records in the order of their grid; select them by declared values, then get their measures."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._records = tuple(records)

    @overload
    def __getitem__(self, place: int) -> Record: ...
    @overload
    def __getitem__(self, place: slice) -> Records: ...
    def __getitem__(self, place: int | slice) -> Record | Records:
        if isinstance(place, slice):
            return Records(self._records[place])
        return self._records[place]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def where(self, **declared: Any) -> Records:
        """The records declared with these values."""
        return Records(
            record
            for record in self
            if all(name in record.run and record.run[name] == value for name, value in declared.items())
        )

    def groups(self, *axes: str) -> Iterator[tuple[tuple[Any, ...], Records]]:
        """Pairs of ((values of these axes), their records), in order of appearance."""
        found: dict[str, tuple[tuple[Any, ...], list[Record]]] = {}
        for record in self:
            values = tuple(record.run.get(axis) for axis in axes)
            found.setdefault(canonical(values), (values, []))[1].append(record)
        for values, some in found.values():
            yield values, Records(some)

    def values(self, measure: str) -> tuple[Any, ...]:
        """A measure of every record; times are measures too."""
        return tuple(record.value(measure) for record in self)

    def numbers(self, measure: str) -> tuple[float, ...]:
        """A measure as numbers, without those that are None."""
        return tuple(float(value) for value in self.values(measure) if value is not None)

    def mean(self, measure: str) -> float | None:
        return mean(self.numbers(measure))

    def mean_sd(self, measure: str) -> tuple[float | None, float | None]:
        """Mean and standard deviation (of a sample, with n - 1); None if there are too few."""
        numbers = self.numbers(measure)
        return mean(numbers), deviation(numbers)

    @cached_property
    def failures(self) -> tuple[Record, ...]:
        return tuple(record for record in self if record.failed)

    @cached_property
    def done(self) -> Records:
        return Records(record for record in self if not record.failed)


def mean(numbers: Sequence[float]) -> float | None:
    """The mean, rounded once (fsum), or None if there are no numbers."""
    return math.fsum(numbers) / len(numbers) if numbers else None


def deviation(numbers: Sequence[float]) -> float | None:
    """The standard deviation of a sample, with n - 1, or None for fewer than two numbers."""
    middle = mean(numbers)
    if middle is None or len(numbers) < 2:
        return None
    return math.sqrt(math.fsum((x - middle) ** 2 for x in numbers) / (len(numbers) - 1))
