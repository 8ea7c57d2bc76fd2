"""Sets of variables as bits: as Python integers, and as rows of 64-bit words for compiled code.

Bit v of an integer, or bit v % 64 of word v // 64 of a row, is set where v is a member.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Bools, Ints

Words = NDArray[np.uint64]


# ---- integers


def bits(mask: int) -> list[int]:
    """The members of a set, ascending."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def positions(mask: int, n: int) -> Ints:
    """The members of a large set among n variables, ascending."""
    raw = np.frombuffer(mask.to_bytes((n + 7) // 8, "little"), dtype=np.uint8)
    return np.unpackbits(raw, bitorder="little").nonzero()[0]


def mask_of(members: Iterable[int]) -> int:
    """The set with these members."""
    return sum(1 << int(member) for member in members)


def masks_of_rows(table: Bools) -> list[int]:
    """The members of each row of a truth table."""
    raw = np.packbits(table, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in raw]


# ---- words


def word_count(n: int) -> int:
    """The number of words per set of n variables."""
    return max(1, (n + 63) // 64)


def words_of_masks(masks: Sequence[int], n: int) -> Words:
    """Sets of n variables as rows of words."""
    size = 8 * word_count(n)
    raw = bytearray().join([mask.to_bytes(size, "little") for mask in masks])
    return np.frombuffer(raw, dtype=np.uint64).reshape(len(masks), size // 8)


def masks_of_words(rows: Words) -> list[int]:
    """The sets that rows of words hold."""
    raw, size = rows.tobytes(), 8 * rows.shape[1]
    return [int.from_bytes(raw[at : at + size], "little") for at in range(0, len(raw), size)]


def words_of_sets(sets: Sequence[Sequence[int]], n: int) -> Words:
    """One row of words for each list of members below n."""
    rows = np.zeros((len(sets), word_count(n)), dtype=np.uint64)
    for i, members in enumerate(sets):
        for v in members:
            rows[i, v >> 6] |= np.uint64(1 << (v & 63))
    return rows


def members_of(row: Words) -> tuple[int, ...]:
    """The members of one row of words, ascending."""
    raw = np.frombuffer(row.astype("<u8").tobytes(), dtype=np.uint8)
    return tuple(np.unpackbits(raw, bitorder="little").nonzero()[0].tolist())


def bools_of_words(rows: Words, n: int) -> Bools:
    """Rows of words as a truth table (m, n)."""
    raw = np.ascontiguousarray(rows.astype("<u8")).view(np.uint8)
    return np.unpackbits(raw, axis=1, bitorder="little")[:, :n].astype(bool)


def words_of_bools(table: Bools) -> Words:
    """The rows of a truth table (m, n) as rows of words."""
    m, n = table.shape
    wide = np.zeros((m, 64 * word_count(n)), dtype=bool)
    wide[:, :n] = table
    return np.packbits(wide, axis=1, bitorder="little").view("<u8").astype(np.uint64)
