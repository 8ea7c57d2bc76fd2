"""Climbing over orders by insertion, with the parent sets of every child listed, some moves at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayescout.arrays import Ints
from bayescout.search.frame.problem import MIN_GAIN
from bayescout.search.parent_sets.lists import ParentSetLists

PIECE_WORK = 20_000_000
"""The work between two checks of the clock, in words that are read: some hundredths of a second."""

PLACE_WORK, SET_WORK = 20, 3
"""The work of passing a place of the order, and of reading one word of a listed set."""


class InsertionClimb:
    """A climb from an order: variables are moved to their best places in turn, until none has a better one.

    order   as far as it has come
    chosen  the sets of the children in it, as rows of the lists
    done    True at the end; at once if a child has no set in the order
    """

    def __init__(self, lists: ParentSetLists, order: Ints, turns: Ints) -> None:
        from bayescout.kernels.insertions import choose_all

        self.order, self.chosen = order.copy(), np.empty(len(order), dtype=np.int64)
        choose_all(lists.arrays, self.order, self.chosen)
        self.done = bool((self.chosen < 0).any())
        self._lists, self._turns = lists.indexed, turns
        self._progress = np.zeros(2, dtype=np.int64)
        read = SET_WORK * lists.sets.size // max(1, lists.n) + PLACE_WORK * lists.n
        self._most = max(1, PIECE_WORK // max(1, read))

    def advance(self) -> None:
        """Climb on, for some hundredths of a second."""
        from bayescout.kernels.insertions import climb_order

        self.done = bool(
            climb_order(
                self._lists, self._turns, MIN_GAIN, self._most, self.order, self.chosen, self._progress
            )
        )

    def finish(self, check: Callable[[], None]) -> None:
        """Climb to the end, with checks of the clock."""
        while not self.done:
            check()
            self.advance()
