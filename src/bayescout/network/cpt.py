"""One node's conditional probability table, for display."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Label, States
from bayescout.display import MOST_HTML_ROWS, Grid, Shown, own_name


@dataclass(frozen=True, eq=False, repr=False)
class Cpt(Shown):
    """P(node | parents), with the labels of its numbers.

    probabilities  one axis per parent, then the node's own states
    undefined      one axis per parent: True where the data never showed the parents' values
    """

    node: Label
    states: States
    parents: tuple[Label, ...]
    parent_states: tuple[States, ...]
    probabilities: NDArray[np.float64]
    undefined: NDArray[np.bool_]

    @property
    def title(self) -> str:
        """`P(node | parents)`."""
        given = ", ".join(str(parent) for parent in self.parents)
        return f"P({self.node}{' | ' + given if given else ''})"

    @property
    def columns(self) -> tuple[Label, ...]:
        """The parents, then the states."""
        return (*self.parents, *self.states)

    @property
    def leading(self) -> int:
        return len(self.parents)

    @property
    def n_rows(self) -> int:
        """The number of parent configurations."""
        return prod(len(states) for states in self.parent_states)

    def rows(self) -> Iterator[tuple[dict[Label, Label], tuple[float, ...] | None]]:
        """(parent values, probabilities or None if undefined), the last parent varying fastest."""
        table = self.probabilities.reshape(-1, len(self.states))
        masks = self.undefined.ravel().tolist()
        for values, row, masked in zip(product(*self.parent_states), table, masks, strict=True):
            assignment = dict(zip(self.parents, values, strict=True))
            yield assignment, None if masked else tuple(row.tolist())

    def lines(self) -> Iterator[tuple[Any, ...]]:
        """The parents' values and the probabilities, None if undefined."""
        for assignment, row in self.rows():
            yield (*assignment.values(), *((None,) * len(self.states) if row is None else row))

    def to_dict(self) -> dict[str, Any]:
        rows = [{"given": list(given.values()), "probabilities": row} for given, row in self.rows()]
        return {"parents": list(self.parents), "states": list(self.states), "rows": rows}

    def _grid(self) -> Grid:
        lines = list(islice(self.lines(), MOST_HTML_ROWS))
        rows = tuple(
            (
                *map(str, line[: self.leading]),
                *("---" if p is None else f"{p:.4f}" for p in line[self.leading :]),
            )
            for line in lines
        )
        shades = tuple(line[self.leading :] for line in lines)
        names = tuple(map(str, self.columns))
        rest = self.n_rows - len(rows)
        return Grid(self.title, names, rows, len(self.states), more=rest, shades=shades)

    def _columns(self) -> dict[Hashable, Sequence[Any]]:
        """One row per configuration of the parents and state."""
        cells = [
            (values, state, p)
            for values, numbers in ((line[: self.leading], line[self.leading :]) for line in self.lines())
            for state, p in zip(self.states, numbers, strict=True)
        ]
        found: dict[Hashable, Sequence[Any]] = {
            parent: [values[i] for values, _, _ in cells] for i, parent in enumerate(self.parents)
        }
        name = own_name("probability", (*self.parents, self.node))
        return {**found, self.node: [state for _, state, _ in cells], name: [p for *_, p in cells]}
