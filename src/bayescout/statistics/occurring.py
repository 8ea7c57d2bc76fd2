"""Configurations of parents that occur in some rows, and counts that are merged with those of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Ints
from bayescout.statistics.counts import KEY_BITS

Occurring = tuple[Ints, Ints]
"""The keys of the configurations, (configurations, words), and their counts, (configurations, states)."""


def packing(cards: Sequence[int]) -> tuple[Ints, int]:
    """The first bit of each variable in the key of a configuration, and the words of a key."""
    shifts, used = [], 0
    for r in cards:
        width = max(1, int(r - 1).bit_length())
        if used % 64 + width > KEY_BITS:
            used += 64 - used % 64
        shifts.append(used)
        used += width
    return np.array(shifts, dtype=np.int64), used // 64 + 1


def nothing_yet(cards: Sequence[int], states: int) -> Occurring:
    """No configuration of variables with so many states each."""
    return np.empty((0, packing(cards)[1]), dtype=np.int64), np.empty((0, states), dtype=np.int64)


def occurring_in(codes: NDArray[Any], cards: Sequence[int], states: int) -> Occurring:
    """The configurations in some rows.

    codes   (k + 1, n) of the parents and, last, the child; or (k, n) if states is 1: rows are counted
    cards   (k,) states of each parent
    """
    from bayescout.kernels import counting

    shifts, words = packing(cards)
    keys = np.empty((words, codes.shape[1]), dtype=np.int64)
    counting.pack_cells(codes, np.arange(len(cards)), shifts, keys)
    ids = np.empty(codes.shape[1], dtype=np.int32)
    distinct = int(counting.densify(keys, ids))
    first = np.empty(distinct, dtype=np.int64)
    first[ids[::-1]] = np.arange(len(ids))[::-1]
    cells = ids.astype(np.int64) * states + (codes[-1] if states > 1 else 0)
    counts = np.bincount(cells, minlength=distinct * states).reshape(distinct, states)
    return np.ascontiguousarray(keys[:, first].T), counts.astype(np.int64)


def merged(one: Occurring, two: Occurring) -> Occurring:
    """The distinct configurations of both, and the sums of their counts."""
    every = np.concatenate([one[0], two[0]])
    distinct, places = _distinct_rows(every)
    total = np.zeros((len(distinct), one[1].shape[1]), dtype=np.int64)
    np.add.at(total, places[: len(one[0])], one[1])
    np.add.at(total, places[len(one[0]) :], two[1])
    return distinct, total


def _distinct_rows(keys: Ints) -> tuple[Ints, NDArray[np.intp]]:
    if keys.shape[1] == 1:
        found, places = np.unique(keys[:, 0], return_inverse=True)
        return found[:, None], places.ravel()
    found, places = np.unique(keys, axis=0, return_inverse=True)
    return found, places.ravel()


def unpacked(keys: Ints, cards: Sequence[int], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The codes of configurations from their keys, (k, configurations)."""
    codes = np.empty((len(cards), len(keys)), dtype=dtype)
    for column, (shift, r) in enumerate(zip(packing(cards)[0].tolist(), cards, strict=True)):
        mask = (1 << max(1, int(r - 1).bit_length())) - 1
        codes[column] = (keys[:, shift >> 6] >> (shift & 63)) & mask
    return codes
