"""The gains of additions and removals between candidates, remembered by parent set.

As `gain_rows`, in memory proportional to the candidates: one number for each variable and each of its
candidates. Both give the same numbers to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayescout.arrays import Bools, Floats, Ints, Parents
from bayescout.scores.gain_rows import FILL_ROWS, ROW_BYTES, Filling, gained
from bayescout.scores.scorer import Scorer


@dataclass(frozen=True, eq=False)
class Entries:
    """Each variable with each of its candidates: an arc that may be, from the candidate to the variable.

    starts    (n + 1,) int64   where the entries of each child begin
    ends      (m,) int32       the candidate of each entry, rising
    allowed   (m,) bool        the arc may be in the graph
    required  (m,) bool        it must be
    limits    (n,) int64       the most parents of each child
    """

    starts: Ints
    ends: NDArray[np.int32]
    allowed: Bools
    required: Bools
    limits: Ints

    def of(self, child: int) -> slice:
        """The entries of a child."""
        return slice(int(self.starts[child]), int(self.starts[child + 1]))


@dataclass(frozen=True, eq=False)
class EntryGains:
    """Arcs between candidates, and the gain of adding or removing each; updated in place.

    joined  (m,) bool      the arc is in the graph
    values  (m,) float64   the gain of removing it if it is there, else of adding it; -inf where that is not
                           allowed
    locals  (n,) float64   the score of each family
    """

    joined: Bools
    values: Floats
    locals: Floats


class EntryRows(Filling):
    """Gains by child: by one compiled call if the scorer has a compiled path, else by its `extensions`."""

    def __init__(self, scorer: Scorer, entries: Entries) -> None:
        n = len(entries.limits)
        sizes = np.diff(entries.starts)
        owners = np.repeat(np.arange(n), sizes)
        allowed = np.bincount(owners, entries.allowed, minlength=n).astype(np.int64)
        super().__init__(scorer, allowed.tolist(), entries.limits.tolist())
        self.entries = entries
        self._known: dict[tuple[int, Parents], tuple[Floats, float]] = {}
        self._most = max(16, int(ROW_BYTES // (8 * max(1.0, sizes.mean() if n else 1.0) + 400)))
        if self._kernel is not None:
            from bayescout.kernels.neighbours import fill_entries

            self._fill_entries = fill_entries
            self._data = self._kernel.arrays
            self._lists = (
                entries.starts, entries.ends, entries.allowed, entries.required, entries.limits
            )  # fmt: skip
            self._one = np.empty(1, dtype=np.int64)

    def update(self, child: int, own: Parents, gains: EntryGains, remember: bool = True) -> None:
        """Fill the gains of one child, whose parents have changed."""
        scorer, where = self.scorer, self.entries.of(child)
        scorer.hooks.between()
        scorer.asked += self._neighbours(child, own)
        known = self._known.get((child, own)) if self._known else None
        if known is not None:
            gains.values[where], gains.locals[child] = known
            return
        if self._is_small(child, own):
            self._one[0] = child
            graph = (gains.joined, gains.values, gains.locals)
            scorer.compiled += self._fill_entries(self._data, self._lists, graph, self._one)
            self._add_prior(child, own, gains)
        else:
            with scorer.suspended():
                self._fill(child, own, gains)
        if remember:
            self._remember(child, own, gains)

    def fill(self, children: Ints, parents: Sequence[Parents], gains: EntryGains, remember: bool) -> None:
        """Fill the gains of some children; those with a compiled path take few calls."""
        compiled = [child for child in children.tolist() if self._is_small(child, parents[child])]
        graph = (gains.joined, gains.values, gains.locals)
        for some in self._batches(compiled):
            self.scorer.hooks.between()
            self.scorer.compiled += self._fill_entries(self._data, self._lists, graph, some)
            for child in some.tolist():
                own = parents[child]
                self.scorer.asked += self._neighbours(child, own)
                self._add_prior(child, own, gains)
                if remember:
                    self._remember(child, own, gains)
        done = set(compiled)
        for child in children.tolist():
            if child not in done:
                self.update(child, parents[child], gains, remember)

    def _batches(self, children: Sequence[int]) -> list[Ints]:
        """Children filled between two checks of the clock."""
        if self._kernel is None or not len(children):
            return []
        mean = max(1.0, sum(self._allowed) / len(self._allowed))
        together = max(1, int(FILL_ROWS // (self._kernel.n_rows * mean)))
        return [np.array(children[i : i + together]) for i in range(0, len(children), together)]

    def _add_prior(self, child: int, own: Parents, gains: EntryGains) -> None:
        """Add the structure prior to what compiled code has filled."""
        prior = self.scorer.prior
        if prior is None:
            return
        where = self.entries.of(child)
        joined, values = gains.joined[where], gains.values[where]
        if prior.steps is not None:
            here, more, less = prior.steps[len(own)]
            gains.locals[child] += here
            values += np.where(joined, less, more)
            return
        here = prior.many([(child, own)])[0]
        gains.locals[child] += here
        open_ = np.flatnonzero(~joined & (values > -np.inf))
        if len(open_):
            values[open_] += (
                prior.extensions(child, own, self.entries.ends[where][open_].astype(np.int64)) - here
            )
        if own:
            values[joined] += prior.many(_fewer(child, own)) - here

    def _fill(self, child: int, own: Parents, gains: EntryGains) -> None:
        """Fill the gains of a child by `extensions` and `many`: for any score and any size of family."""
        scorer, entries, where = self.scorer, self.entries, self.entries.of(child)
        found = scorer.many([(child, own), *_fewer(child, own)])
        joined, ends, values = gains.joined[where], entries.ends[where], gains.values[where]
        gains.locals[child] = found[0]
        values[:] = -np.inf
        if len(own) < entries.limits[child]:
            free = np.flatnonzero(entries.allowed[where] & ~joined)
            if len(free):
                after = scorer.extensions_once(child, own, ends[free].astype(np.int64))
                values[free] = gained(after, found[0])
        if own:
            lost = gained(found[1:], found[0], still=1.0)
            values[joined] = np.where(entries.required[where][joined], -np.inf, lost)

    def _remember(self, child: int, own: Parents, gains: EntryGains) -> None:
        if len(self._known) >= self._most:
            self._known = dict(list(self._known.items())[len(self._known) // 2 :])
        self._known[child, own] = gains.values[self.entries.of(child)].copy(), float(gains.locals[child])


def _fewer(child: int, own: Parents) -> list[tuple[int, Parents]]:
    """The family without each parent."""
    return [(child, (*own[:i], *own[i + 1 :])) for i in range(len(own))]
