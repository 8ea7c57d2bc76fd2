"""The gains of all additions to and removals from one child's parents, remembered by parent set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from bayescout.arrays import Bools, Family, Floats, Ints, Parents
from bayescout.scores.scorer import Scorer

ROW_BYTES = 128 << 20
"""Memory limit for remembered rows; the older half is forgotten if they would take more."""

ASKED_AT_ONCE = 50_000
"""The most families that are asked for in one go of rows that are far."""

FILL_ROWS = 100_000_000
"""Rows times families of the children filled per call: some hundredths of a second."""


class ArcRules(Protocol):
    """The arcs that are allowed and required, [parent, child], and the most parents of each child."""

    @property
    def allowed(self) -> Bools: ...

    @property
    def required(self) -> Bools: ...

    @property
    def max_parents(self) -> Ints: ...


@dataclass(frozen=True, eq=False)
class Gains:
    """A graph, and the gain of every addition and removal of an arc; rows are updated in place.

    adjacent  (n, n) bool      [parent, child]
    added     (n, n) float64   [child, parent], -inf where not allowed
    removed   (n, n) float64   [child, parent]
    locals    (n,) float64     the score of each family
    tops      (n,) float64     the largest gain of an addition to each child
    """

    adjacent: Bools
    added: Floats
    removed: Floats
    locals: Floats
    tops: Floats
    arrays: tuple[Any, ...] = field(init=False)
    """`graph` of `kernels.neighbours` and `kernels.moves`."""

    def __post_init__(self) -> None:
        arrays = (self.adjacent, self.added, self.removed, self.locals, self.tops)
        object.__setattr__(self, "arrays", arrays)

    @classmethod
    def of_graph(cls, adjacent: Bools) -> Gains:
        """The gains of a graph, none of them computed yet."""
        n = len(adjacent)
        added, removed = (np.full((n, n), -np.inf) for _ in range(2))
        return cls(adjacent, added, removed, np.zeros(n), np.full(n, -np.inf))


Row = tuple[Floats, Floats, float, float]


class Filling:
    """What filling in a child's gains takes.

    allowed  how many parents each child may have
    limits   the most that it may have at once
    """

    def __init__(self, scorer: Scorer, allowed: list[int], limits: list[int]) -> None:
        self.scorer = scorer
        self._allowed, self._limits = allowed, limits
        self._kernel = scorer.kernel
        if self._kernel is not None:
            self._sizes: list[int] = self._kernel.cards.tolist()
            # A family may grow by any candidate, so the one with most states decides if tables stay dense.
            self._room: int = self._kernel.dense_limit // max(self._sizes)

    def _neighbours(self, child: int, own: Parents) -> int:
        """The number of families asked for: the child's own, those with one parent less and one more."""
        parents = len(own)
        return self._allowed[child] + 1 if parents < self._limits[child] else parents + 1

    def _is_small(self, child: int, own: Parents) -> bool:
        """Return True if the compiled path fills in the gains."""
        if self._kernel is None:
            return False
        sizes = self._sizes
        cells = sizes[child]
        for parent in own:
            cells *= sizes[parent]
        return cells <= self._room


class GainRows(Filling):
    """Rows of gains, by one compiled call if the scorer has a compiled path, else by its `extensions`."""

    def __init__(self, scorer: Scorer, rules: ArcRules) -> None:
        super().__init__(scorer, rules.allowed.sum(axis=0).tolist(), rules.max_parents.tolist())
        self.rules = rules
        self._rules = (rules.allowed, rules.required, rules.max_parents)
        self._memory: dict[tuple[int, Parents], Row] = {}
        self._asked: dict[Family, tuple[Floats, Floats]] = {}
        self._most = max(16, ROW_BYTES // (16 * len(self._limits) + 400))
        if self._kernel is not None:
            from bayescout.kernels.neighbours import fill_rows

            self._fill_rows = fill_rows
            self._arrays = self._kernel.arrays
            self._one = np.empty(1, dtype=np.int64)

    def update(self, child: int, own: Parents, gains: Gains, remember: bool = True) -> None:
        """Update the row of one child after a change of its parents."""
        scorer = self.scorer
        scorer.hooks.between()
        scorer.asked += self._neighbours(child, own)
        if self._memory:
            known = self._memory.get((child, own))
            if known is not None:
                gains.added[child], gains.removed[child], gains.locals[child], gains.tops[child] = known
                return
        if self._is_small(child, own):
            self._one[0] = child
            scorer.compiled += self._fill_rows(self._arrays, self._rules, gains.arrays, self._one)
            if scorer.prior is not None:
                self._add_prior([(child, own)], gains)
        else:
            with scorer.suspended():
                self._fill_row(own, gains, child)
        if remember:
            self._remember(own, gains, child)

    def fill(self, parents: Sequence[Parents], gains: Gains, remember: bool = True) -> None:
        """Update every row; those with a compiled path take few calls."""
        keys, known = list(enumerate(parents)), self._memory
        compiled = [c for c, own in keys if not (known and (c, own) in known) and self._is_small(c, own)]
        together = self._children_per_call() if compiled else 1
        for begin in range(0, len(compiled), together):
            self.scorer.hooks.between()
            some = np.array(compiled[begin : begin + together])
            self.scorer.compiled += self._fill_rows(self._arrays, self._rules, gains.arrays, some)
            self._add_prior([keys[child] for child in compiled[begin : begin + together]], gains)
        done = set(compiled)
        most = max(1, ASKED_AT_ONCE // max(1, len(keys))) if self.scorer.far else len(keys)
        for place, (child, own) in enumerate(keys):
            if not place % most:
                self.ask(keys[place : place + most])
            if child not in done:
                self.update(child, own, gains, remember)
                continue
            self.scorer.asked += self._neighbours(child, own)
            if remember:
                self._remember(own, gains, child)

    def ask(self, families: Sequence[Family]) -> None:
        """Score the rows of several parent sets in one go if they are far; `update` finds them then."""
        if not self.scorer.far:
            return
        fresh = [one for one in families if one not in self._memory and not self._is_small(*one)]
        with self.scorer.suspended():
            self._asked = dict(zip(fresh, self._scores_of(fresh), strict=True))

    def _scores_of(self, families: Sequence[Family]) -> list[tuple[Floats, Floats]]:
        """Of each family the scores of it and of it less each parent, and those with each candidate more."""
        here: list[Family] = []
        for child, own in families:
            here += [(child, own), *((child, tuple(q for q in own if q != p)) for p in own)]
        rows = [(child, own, self._candidates(child, own)) for child, own in families]
        found, after = self.scorer.together(here, rows)
        ends = np.cumsum([0, *(len(own) + 1 for _, own in families)]).tolist()
        return [(found[a:b], more) for (a, b), more in zip(pairwise(ends), after, strict=True)]

    def _candidates(self, child: int, own: Parents) -> Ints:
        """The variables that may become a further parent."""
        if len(own) >= self.rules.max_parents[child]:
            return np.empty(0, dtype=np.int64)
        able = self.rules.allowed[:, child].copy()
        able[list(own)] = False
        return np.flatnonzero(able)

    def _children_per_call(self) -> int:
        """The number of rows filled between two checks of the clock."""
        assert self._kernel is not None
        return max(1, FILL_ROWS // (self._kernel.n_rows * max(1, max(self._allowed))))

    def _add_prior(self, families: Sequence[Family], gains: Gains) -> None:
        """Add the structure prior to rows that compiled code has filled."""
        prior = self.scorer.prior
        if prior is None:
            return
        if prior.steps is not None:
            for child, parents in families:
                here, more, less = prior.steps[len(parents)]
                gains.locals[child] += here
                gains.added[child] += more
                gains.removed[child] += less
                gains.tops[child] += more
            return
        own, added, removed = prior.neighbours(families)
        children = [child for child, _ in families]
        gains.locals[children] += own
        gains.added[children] += added
        gains.removed[children] += removed
        gains.tops[children] = gains.added[children].max(axis=1)

    def _fill_row(self, own: Parents, gains: Gains, child: int) -> None:
        """Fill one row by `extensions` and `many`: for any score and any size of family."""
        rules = self.rules
        removable = [p for p in own if not rules.required[p, child]]
        asked = self._asked.pop((child, own), None)
        found, after = self._scores_of([(child, own)])[0] if asked is None else asked
        gains.locals[child] = found[0]
        gains.added[child] = -np.inf
        gains.removed[child] = -np.inf
        if len(after):
            gains.added[child, self._candidates(child, own)] = gained(after, found[0])
        lost = gained(found[1:], found[0], still=1.0)
        for parent, gain in zip(own, lost.tolist(), strict=True):
            if parent in removable:
                gains.removed[child, parent] = gain
        gains.tops[child] = gains.added[child].max()

    def _remember(self, own: Parents, gains: Gains, child: int) -> None:
        if len(self._memory) >= self._most:
            self._memory = dict(list(self._memory.items())[len(self._memory) // 2 :])
        ends = (float(gains.locals[child]), float(gains.tops[child]))
        self._memory[child, own] = (gains.added[child].copy(), gains.removed[child].copy(), *ends)


def gained(after: Floats, before: float, still: float = -np.inf) -> Floats:
    """The gain of each change, also from a family that cannot be scored (-inf).

    From such a family, any change to one that can be scored is an infinite gain; `still` is the gain if
    neither can be scored. It is positive for a removal, so that surplus parents are removed one by one.
    """
    if before > -np.inf:
        return after - before
    return np.where(after > -np.inf, np.inf, still)
