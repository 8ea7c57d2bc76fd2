"""Cells of a text file that are plain numbers, in many columns at a time.

A wide table has too many columns to look at the cells of each by themselves. What is found here is what a
`TextColumn` would find; the cells of columns that hold anything else are left to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayescout.data.blocks import IN_QUOTES
from bayescout.data.kinds import DISTINCT
from bayescout.data.text import TextColumn

if TYPE_CHECKING:
    import polars as pl

PLAIN = r"\A[+-]?(?:[0-9]{1,40}\.[0-9]{0,40}|\.[0-9]{1,40}|0|[1-9][0-9]{0,14})(?:[eE][+-]?[0-9]{1,2})?\z"
"""The pattern of a number without spaces around it, which is finite as a float, and exact if it is whole."""


def add_batch(columns: Sequence[TextColumn | None], batch: Sequence[pl.Series], whole: bool) -> None:
    """Add one batch of cells to each column; None stands for one that is skipped.

    whole  True if there are no other batches
    """
    pairs = [(one, texts) for one, texts in zip(columns, batch, strict=True) if one is not None]
    plain = [(one, texts) for one, texts in pairs if one.may_be_plain(texts)]
    added = _add_plain([one for one, _ in plain], [texts for _, texts in plain], whole) if plain else set()
    for column, texts in pairs:
        if column.name not in added:
            column.add(texts)


def _add_plain(columns: Sequence[TextColumn], batch: Sequence[pl.Series], whole: bool) -> set[object]:
    """Add the cells of columns that hold numbers, empty cells and usual marks alone; returns their names."""
    import polars as pl

    cells = pl.concat([texts.alias("") for texts in batch])

    def told(by_cell: pl.Series) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = by_cell.fill_null(False).to_numpy().reshape(len(columns), -1)
        return found

    plain = told(cells.str.contains(PLAIN))
    points = told(cells.str.contains(".", literal=True)) & plain
    numbers = cells.cast(pl.Float64, strict=False).to_numpy(writable=True).reshape(plain.shape)
    numbers[~plain] = np.nan
    odd = (told(cells != "") & ~plain).sum(axis=1)
    marks = columns[0].marks.usual if odd.any() else ()
    counts = {mark: told(cells.is_in([mark, IN_QUOTES + mark])).sum(axis=1) for mark in sorted(marks)}
    odd -= sum(counts.values())
    wide = _distinct(numbers) > DISTINCT
    if whole:  # else a text may follow, and the file had to be read again
        wide |= (plain & told(cells.str.contains("[.eE]"))).any(axis=1)
    added: set[object] = set()
    for place, column in enumerate(columns):
        if not odd[place] and (wide[place] or column.floats is not None):
            of_mark = {mark: int(found[place]) for mark, found in counts.items()}
            column.add_plain(numbers[place], bool(points[place].any()), of_mark)
            added.add(column.name)
    return added


def _distinct(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many different numbers each row holds."""
    ordered = np.sort(numbers, axis=1)
    found: NDArray[np.int64] = (np.diff(ordered, axis=1) > 0).sum(axis=1) + ~np.isnan(ordered[:, 0])
    return found
