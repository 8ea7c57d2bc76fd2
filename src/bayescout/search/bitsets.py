"""Sets of variables as bits in words: bit v of word v // 64 is set where v is a member."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Masks = NDArray[np.uint64]


def members_of(mask: Masks) -> tuple[int, ...]:
    """The set bits of a mask of one or more words, rising."""
    raw = np.frombuffer(mask.astype("<u8").tobytes(), dtype=np.uint8)
    return tuple(np.unpackbits(raw, bitorder="little").nonzero()[0].tolist())


def mask_words(n: int) -> int:
    return max(1, (n + 63) // 64)


def masks_of(sets: Sequence[Sequence[int]], n: int) -> Masks:
    """One row of words for each set of variables below n."""
    masks = np.zeros((len(sets), mask_words(n)), dtype=np.uint64)
    for i, members in enumerate(sets):
        for v in members:
            masks[i, v >> 6] |= np.uint64(1 << (v & 63))
    return masks
