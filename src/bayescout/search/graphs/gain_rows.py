"""The gains of all additions to and removals from one child's parents, remembered by parent set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.search.frame.knowledge import Rules

ROW_BYTES = 128 << 20
"""What remembered rows may take; the older half is forgotten when they would take more."""

Floats = NDArray[np.float64]

Graph = tuple[NDArray[np.bool_], Floats, Floats, Floats, Floats]
"""adjacent[parent, child], gains[child, parent], removals[child, parent], locals[child] and tops[child], the
largest gain of each row"""

Row = tuple[Floats, Floats, float, float]

FILL_ROWS = 200_000_000
"""Rows times families of the children that are filled in one call: some hundredths of a second."""


class Rows:
    """Rows of gains, by one compiled call where the score allows it, else through the score's own methods.

    A search that never comes back to a parent set may set `remembers` to False and save the copies.
    """

    def __init__(self, score: Any, rules: Rules) -> None:
        self.score = score
        self.rules = rules
        self._rules = (rules.allowed, rules.required, rules.max_parents)
        self.remembers = True
        self._memory: dict[tuple[int, tuple[int, ...]], Row] = {}
        self._allowed: list[int] = rules.allowed.sum(axis=0).tolist()
        self._limits: list[int] = rules.max_parents.tolist()
        self._most = max(16, ROW_BYTES // (16 * rules.n + 400))
        bound = score.score
        self._data = bound.for_kernel() if hasattr(bound, "for_kernel") else None
        if self._data is not None:
            from bayescout.kernels.neighbours import fill_rows

            self._fill_rows = fill_rows
            self._sizes: list[int] = bound.statistics.cards.tolist()
            # A family may grow by any candidate, so the widest one decides whether its tables stay dense.
            self._room: int = int(bound.statistics.dense_limit) // max(self._sizes)
            self._one = np.empty(1, dtype=np.int64)

    def update(self, child: int, own: tuple[int, ...], graph: Graph) -> None:
        """Bring the row of one child up to date with its parents."""
        self.score.watch.check()
        self.score.asked += self._neighbours(child, own)
        known = self._memory.get((child, own))
        if known is not None:
            _, gains, removals, local_scores, tops = graph
            gains[child], removals[child], local_scores[child], tops[child] = known
            return
        if self._is_small(child, own):
            self._one[0] = child
            self.score.compiled += self._fill_rows(self._data, self._rules, graph, self._one)
        else:
            with self.score.suspended():
                self._fill_row(own, graph, child)
        self._remember(own, graph, child)

    def fill(self, parents: Sequence[tuple[int, ...]], graph: Graph) -> None:
        """Bring every row up to date, what can be compiled in one call."""
        keys = list(enumerate(parents))
        compiled = [c for c, own in keys if (c, own) not in self._memory and self._is_small(c, own)]
        together = self._children_a_call() if compiled else 1
        for begin in range(0, len(compiled), together):
            self.score.watch.check()
            some = np.array(compiled[begin : begin + together])
            self.score.compiled += self._fill_rows(self._data, self._rules, graph, some)
        done = set(compiled)
        for child, own in keys:
            if child in done:
                self.score.asked += self._neighbours(child, own)
                self._remember(own, graph, child)
            else:
                self.update(child, own, graph)

    def _children_a_call(self) -> int:
        """How many rows are filled between two looks at the clock."""
        rows = int(self.score.score.statistics.n_rows)
        return max(1, FILL_ROWS // (rows * max(1, max(self._allowed))))

    def _neighbours(self, child: int, own: tuple[int, ...]) -> int:
        """The families that a row is made of: the child's own, less a parent, and more one."""
        more = self._allowed[child] - len(own) if len(own) < self._limits[child] else 0
        return 1 + len(own) + more

    def _is_small(self, child: int, own: tuple[int, ...]) -> bool:
        if self._data is None:
            return False
        cells = int(math.prod([self._sizes[p] for p in own]) * self._sizes[child])
        return cells <= self._room

    def _fill_row(self, own: tuple[int, ...], graph: Graph, child: int) -> None:
        """One row through `extensions` and `many`: for any score and any size of family."""
        adjacent, gains, removals, local_scores, tops = graph
        rules, score = self.rules, self.score
        removable = [p for p in own if not rules.required[p, child]]
        fewer = [(child, tuple(q for q in own if q != p)) for p in own]
        found = score.many([(child, own), *fewer])
        local_scores[child] = found[0]
        gains[child] = -np.inf
        removals[child] = -np.inf
        if len(own) < rules.max_parents[child]:
            candidates = np.flatnonzero(rules.allowed[:, child] & ~adjacent[:, child])
            if len(candidates):
                gains[child, candidates] = _gained(score.extensions(child, own, candidates), found[0])
        lost = _gained(found[1:], found[0], still=1.0)
        for parent, gain in zip(own, lost.tolist(), strict=True):
            if parent in removable:
                removals[child, parent] = gain
        tops[child] = gains[child].max()

    def _remember(self, own: tuple[int, ...], graph: Graph, child: int) -> None:
        if not self.remembers:
            return
        if len(self._memory) >= self._most:
            self._memory = dict(list(self._memory.items())[len(self._memory) // 2 :])
        _, gains, removals, local_scores, tops = graph
        ends = (float(local_scores[child]), float(tops[child]))
        self._memory[child, own] = (gains[child].copy(), removals[child].copy(), *ends)


def _gained(after: Floats, before: float, still: float = -np.inf) -> Floats:
    """What changes gain, also from a family that cannot be scored (-inf), as one that a run is given may be.

    From such a one any that can be is a gain without limit; `still` is the gain where neither can. A removal
    counts as one there, so that too many parents are taken away one by one.
    """
    if before > -np.inf:
        return after - before
    return np.where(after > -np.inf, np.inf, still)
