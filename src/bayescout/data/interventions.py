"""Interventions: which variables were set from outside in each row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.graph.labels import counted, quoted

Label = Any


@dataclass(frozen=True, eq=False)
class Interventions:
    """The variables that were set from outside, row by row: rows of an experiment, not observed as they came.

    targets  the distinct sets of variables, each in the order of the table's columns; () is nothing
    of_row   (n,) the position in `targets` of each row's set
    """

    targets: tuple[tuple[Label, ...], ...]
    of_row: NDArray[np.int32]

    def __post_init__(self) -> None:
        self.of_row.flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.of_row.flags.writeable = False

    @property
    def set_anywhere(self) -> frozenset[Label]:
        """The variables that were set in some row."""
        met = np.unique(self.of_row).tolist()
        return frozenset(name for place in met for name in self.targets[place])

    def acted(self, name: Label) -> NDArray[np.bool_]:
        """For each row, True if the variable was set in it."""
        having = np.array([name in own for own in self.targets], dtype=np.bool_)
        return np.asarray(having[self.of_row])

    def within(self, names: Iterable[Label]) -> NDArray[np.bool_]:
        """For each row, True if no variable but these was set in it."""
        allowed = set(names)
        having = np.array([allowed.issuperset(own) for own in self.targets], dtype=np.bool_)
        return np.asarray(having[self.of_row])

    def take(self, rows: NDArray[Any]) -> Interventions | None:
        """Those of the given rows; None if nothing was set in them."""
        return distinct(self.targets, self.of_row[rows])

    def select(self, names: Sequence[Label]) -> Interventions | None:
        """Those on the given variables alone, in their order; None if there are none."""
        return distinct([[name for name in names if name in own] for own in self.targets], self.of_row)

    @property
    def told(self) -> str:
        """What was set, in words: in how many rows, and which variables."""
        rows = int((~self.within(())).sum())
        return f"{counted(rows, 'row')} of interventions, on {quoted(sorted(self.set_anywhere, key=str), 6)}"

    @property
    def content(self) -> str:
        """The sets as text, which with `of_row` tells these interventions from others."""
        return ";".join(",".join(map(repr, own)) for own in self.targets)


def distinct(targets: Sequence[Sequence[Label]], of_row: NDArray[Any]) -> Interventions | None:
    """Interventions with each set once, in order of their first rows; None if nothing was set in any."""
    place: dict[tuple[Label, ...], int] = {}
    met, first = np.unique(of_row, return_index=True)
    lookup = np.zeros(len(targets), dtype=np.int32)
    for k in met[np.argsort(first)].tolist():
        lookup[k] = place.setdefault(tuple(targets[k]), len(place))
    return Interventions(tuple(place), lookup[of_row]) if any(place) else None
