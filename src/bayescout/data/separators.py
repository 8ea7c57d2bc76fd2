"""The separator of a text file whose user names none: that of its ending, unless it cannot be meant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayescout.data.blocks import Block, TextFormat, outside_quotes

OTHERS = ";\t,|"
"""The separators that are tried, in this order, where that of the ending does not fit."""

LOOKED_AT = 1 << 20
"""Bytes of the file in which its first two rows are looked for."""


def with_found_separator(form: TextFormat, first: Block) -> TextFormat:
    """The format with another separator where that of the ending cannot be meant.

    Commas are not meant if the line of names and the first row hold unlike numbers of them, or none; another
    is if both hold it, and equally often. Cells in quotes do not count. A file of which only one reading is
    possible is never read differently: with unlike numbers it would be refused.
    """
    if not form.open or form.loose:
        return form
    lines = first.lines[:LOOKED_AT]
    cells, outside = np.frombuffer(lines, dtype=np.uint8), outside_quotes(lines)
    ends = np.flatnonzero((cells == ord("\n")) & outside)[:2].tolist()
    if len(ends) < 2:
        return form

    def counts(separator: str) -> tuple[int, int]:
        found = (cells == ord(separator)) & outside
        return int(found[: ends[0]].sum()), int(found[ends[0] : ends[1]].sum())

    names, row = counts(form.separator)
    if names == row > 0:
        return form
    for other in OTHERS:
        names, row = counts(other)
        if other != form.separator and names == row > 0:
            return replace(form, separator=other, found=True)
    return form
