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
from bayescout.data.numerals import LIKE_THOUSANDS
from bayescout.data.text import TextColumn

if TYPE_CHECKING:
    import polars as pl

Mask = NDArray[np.bool_]

PLAIN = r"\A[+-]?(?:[0-9]{1,40}\.[0-9]{0,40}|\.[0-9]{1,40}|0|[1-9][0-9]{0,14})(?:[eE][+-]?[0-9]{1,2})?\z"
"""The pattern of a number without spaces around it, which is finite as a float, and exact if it is whole."""

PLAIN_COMMA = r"\A[+-]?[0-9]{1,40},[0-9]{1,40}(?:[eE][+-]?[0-9]{1,2})?\z"
"""The same of a number with a decimal comma."""


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
    """Add the cells of columns that hold numbers, empty cells and marks alone; returns their names."""
    import polars as pl

    cells = pl.concat([texts.alias("") for texts in batch])
    bare = cells.str.strip_chars(" ") if cells.str.contains(" ", literal=True).any() else cells

    def told(by_cell: pl.Series) -> Mask:
        found: Mask = by_cell.fill_null(False).to_numpy().reshape(len(columns), -1)
        return found

    marks = columns[0].marks
    marked = {mark: told(cells == mark) for mark in dict.fromkeys(map(str, marks.declared))}
    present = ~np.logical_or.reduce([told(cells == ""), *marked.values()])
    plain = told(bare.str.contains(PLAIN)) & present
    points = told(bare.str.contains(".", literal=True)) & plain
    commas, thousands = np.zeros_like(plain), np.zeros_like(plain)
    if columns[0].commas and bare.str.contains(",", literal=True).any():
        commas = told(bare.str.contains(PLAIN_COMMA)) & present
        thousands = told(bare.str.contains(rf"\A{LIKE_THOUSANDS}\z"))
        bare = bare.str.replace(",", ".", literal=True)
    decimals = told(bare.str.contains("[.eE]")) & plain if whole or commas.any() else points
    numbers = bare.cast(pl.Float64, strict=False).to_numpy(writable=True).reshape(plain.shape)
    numbers[~(plain | commas)] = np.nan
    odd = (told(cells.is_not_null()) & present & ~plain & ~commas).sum(axis=1)
    if odd.any():
        usual = {mark: told(cells.is_in([mark, IN_QUOTES + mark])) for mark in sorted(marks.usual)}
        odd -= sum(found.sum(axis=1) for found in usual.values())
        marked |= usual
    wide = _distinct(numbers) > DISTINCT
    if whole:  # else a text may follow, and the file had to be read again
        # -999.0 does not affect the type where -999 means missing.
        wide |= (decimals & ~np.isin(numbers, marks.numbers)).any(axis=1) | commas.any(axis=1)
    added: set[object] = set()
    for place, column in enumerate(columns):
        clash = commas[place].any() and (decimals[place].any() or column.points)
        clash |= column.decimal_commas and points[place].any()
        if not odd[place] and not clash and (wide[place] or column.floats is not None):
            of_mark = {mark: int(found[place].sum()) for mark, found in marked.items()}
            like = bool(thousands[place][commas[place]].all()) if commas[place].any() else None
            column.add_plain(numbers[place], bool(points[place].any()), of_mark, like)
            added.add(column.name)
    return added


def _distinct(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many different numbers each row holds."""
    ordered = np.sort(numbers, axis=1)
    found: NDArray[np.int64] = (np.diff(ordered, axis=1) > 0).sum(axis=1) + ~np.isnan(ordered[:, 0])
    return found
