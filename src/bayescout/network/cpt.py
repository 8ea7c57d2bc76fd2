"""One node's conditional probability table, for display."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Label, States
from bayescout.errors import printable

MAX_TEXT_ROWS = 64
"""The most rows of a table shown as text; `rows()` always gives all of them."""


@dataclass(frozen=True, eq=False)
class Cpt:
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

    def __str__(self) -> str:
        lines = [[printable(label) for label in self.columns]]
        for line in islice(self.lines(), MAX_TEXT_ROWS):
            cells = ["---" if p is None else f"{p:.4f}" for p in line[self.leading :]]
            lines.append([printable(value) for value in line[: self.leading]] + cells)
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        text = [printable(self.title), *(_aligned(line, widths, len(self.parents)) for line in lines)]
        if self.n_rows > MAX_TEXT_ROWS:
            text.append(f"  ... {self.n_rows - MAX_TEXT_ROWS:,} more rows")
        return "\n".join(text)

    def __repr__(self) -> str:
        return f"<Cpt of {self.node!r}: {self.n_rows:,} rows x {len(self.states)} states>"


def _aligned(line: list[str], widths: list[int], n_parents: int) -> str:
    """Parent values aligned left, numbers aligned right."""
    cells = [
        cell.ljust(width) if i < n_parents else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(line, widths, strict=True))
    ]
    return ("  " + "  ".join(cells)).rstrip()
