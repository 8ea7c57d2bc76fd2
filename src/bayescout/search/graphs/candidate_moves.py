"""The neighbourhood of a graph under single-arc moves between candidates, for wide tables.

The same moves, gains and ties as `moves`, in memory proportional to the candidates. With all pairs as
candidates it is the same to the bit. See docs/decisions/wide-tables.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayescout.arrays import Bools, Ints, Parents
from bayescout.kernels.moves import ADD, REMOVE, REVERSE
from bayescout.scores.entry_gains import Entries, EntryGains, EntryRows
from bayescout.search.frame.candidates import arcs_of, coparents, moves_per_step, ordered, outside, widened
from bayescout.search.frame.overlooked import overlooked
from bayescout.search.frame.problem import MIN_GAIN, Generator, Pairs, ParentSets, Problem
from bayescout.search.graphs.moves import Move
from bayescout.statistics.screening import Neighbourhood

LEAST_WATCHES = 1 << 10

NONE = np.empty(0, dtype=np.int64)
_sum = np.add.reduce


class CandidateMoves:
    """A graph, and the gain of every single-arc move from it between candidates.

    The candidates grow in `widen`, when no move gains any more. `joined` are the pairs that were added to
    those of the screening, and `looked_at` the graph for which all pairs were last looked at.
    """

    def __init__(
        self,
        problem: Problem,
        parents: ParentSets,
        remember: bool = True,
        joined: Pairs = (),
        looked_at: ParentSets = (),
    ) -> None:
        assert problem.screening is not None
        self.problem, self.remember = problem, remember
        self.parents: list[Parents] = list(parents)
        self.looked_at = looked_at
        known = problem.screening.neighbourhood(problem.check)
        self.joined = (*joined, *ordered(outside(widened(known, joined), arcs_of(parents))))
        every = np.arange(problem.n)
        self._lay_out(widened(known, self.joined))
        self._rows.fill(every, self.parents, self.gains, remember)
        self._settle(every)

    @property
    def graph(self) -> ParentSets:
        return tuple(self.parents)

    @property
    def score(self) -> float:
        return float(_sum(self.gains.locals))

    @property
    def is_partial(self) -> bool:
        """True if some pair is no candidate."""
        return self.candidates.n_pairs < self.problem.n * (self.problem.n - 1) // 2

    @property
    def per_step(self) -> int:
        """The moves of one step."""
        return moves_per_step(self.problem.n)

    # ---- setting up

    def _lay_out(self, candidates: Neighbourhood) -> None:
        """Make the lists for these candidates; gains are to be filled."""
        from bayescout.kernels import climbing as kernels

        n, m, rules = self.problem.n, len(candidates.ends), self.problem.rules
        starts, ends = candidates.starts, candidates.ends
        owners, mirrors = np.empty(m, np.int32), np.empty(m, np.int32)
        kernels.find_mirrors(starts, ends, owners, mirrors)
        allowed, required = (np.asarray(held[ends, owners], bool) for held in (rules.allowed, rules.required))
        self.candidates = candidates
        self.entries = Entries(starts, ends, allowed, required, np.asarray(rules.max_parents))
        self.gains = EntryGains(np.zeros(m, bool), np.full(m, -np.inf), np.zeros(n))
        self._rows = EntryRows(self.problem.scorer, self.entries)
        self._keys: Ints = owners.astype(np.int64) * n + ends
        above, below = arcs_of(self.parents)
        self.gains.joined[np.searchsorted(self._keys, below * n + above)] = True
        arrays: list[Any] = [
            *(starts, ends, owners, mirrors, self.gains.joined, self.gains.values),
            *(np.full(m, -np.inf), np.zeros(m, np.int8), np.zeros(m, np.int8)),
            np.full(max(2, 1 << max(0, m - 1).bit_length()), -1, np.int32),
            *_lists(starts, self.gains.joined, owners, mirrors),
            *(np.full(n, -1, np.int64), *_watches(max(LEAST_WATCHES, n)), np.zeros((2, n), np.int64)),
            *(np.zeros((2, n), np.int32), np.zeros((2, n), np.int32), np.array([0, 0, -1, 0])),
        ]
        self.climb = kernels.Climb(*arrays)
        self._chosen = np.empty(2, dtype=np.int64)

    def _lay_out_wider(self, candidates: Neighbourhood) -> None:
        """The same with further candidates; only gains of children that have some are filled."""
        keys, gains, starts = self._keys, self.gains, self.entries.starts
        self._lay_out(candidates)
        self.gains.values[np.searchsorted(self._keys, keys)] = gains.values
        self.gains.locals[:] = gains.locals
        wider = np.flatnonzero(np.diff(self.entries.starts) > np.diff(starts))
        self._rows.fill(wider, self.parents, self.gains, self.remember)
        self._settle(np.arange(self.problem.n))

    def _settle(self, children: Ints) -> None:
        """Take over the new gains of some children."""
        from bayescout.kernels.climbing import settle

        settle(self.climb, children)

    # ---- choosing

    def best(self, banned: Pairs = ()) -> Move | None:
        """The legal move that gains most; of equals the first. Pairs that are banned are not touched."""
        from bayescout.kernels.climbing import MORE_WATCHES, best_entry

        passed = self._entries_of(banned)
        while True:
            gain = best_entry(self.climb, passed, self._chosen)
            kind, entry = self._chosen.tolist()
            if kind != MORE_WATCHES:
                break
            self._grow_watches()
        if gain == -np.inf:
            return None
        return Move(kind, int(self.climb.owners[entry]), int(self.climb.ends[entry]), gain)

    def gaining(self) -> Move | None:
        """The best move if it gains; before it is None the candidates are widened as far as that serves."""
        while True:
            best = self.best()
            if best is not None and best.gain > MIN_GAIN:
                return best
            if not self.widen():
                return None

    def _entries_of(self, pairs: Pairs) -> Ints:
        """The entries of pairs, in both directions, as far as they are candidates."""
        if not pairs:
            return NONE
        n = self.problem.n
        wanted = np.unique([key for a, b in pairs for key in (a * n + b, b * n + a)])
        places = np.minimum(np.searchsorted(self._keys, wanted), max(0, len(self._keys) - 1))
        return places[self._keys[places] == wanted] if len(self._keys) else NONE

    def _entry(self, child: int, parent: int) -> int:
        return int(np.searchsorted(self._keys, child * self.problem.n + parent))

    def _grow_watches(self) -> None:
        nexts, watchers = self.climb.nexts, self.climb.watchers
        more = _watches(2 * len(nexts))
        more[0][: len(nexts)], more[1][: len(nexts)] = nexts, watchers
        self.climb = self.climb._replace(nexts=more[0], watchers=more[1])

    # ---- changing

    def apply(self, move: Move) -> None:
        """Make the move and update gains."""
        from bayescout.kernels.climbing import make_move

        kind, child, parent, _ = move
        make_move(self.climb, kind, self._entry(child, parent))
        changed = [child]
        if kind == ADD:
            self._set(child, tuple(sorted((*self.parents[child], parent))))
        else:
            self._set(child, tuple([p for p in self.parents[child] if p != parent]))
        if kind == REVERSE:
            self._set(parent, tuple(sorted((*self.parents[parent], child))))
            changed.append(parent)
        self._settle(np.array(changed))

    def _set(self, child: int, own: Parents) -> None:
        self.parents[child] = own
        self._rows.update(child, own, self.gains, self.remember)

    def moved_to(self, parents: ParentSets) -> CandidateMoves:
        """The neighbourhood of another graph between the same candidates."""
        from bayescout.kernels.climbing import make_move

        changed = [c for c, (a, b) in enumerate(zip(self.parents, parents, strict=True)) if a != b]
        for kind in (REMOVE, ADD):
            for child in changed:
                before, after = self.parents[child], parents[child]
                one, other = (before, after) if kind == REMOVE else (after, before)
                for parent in one:
                    if parent not in other:
                        make_move(self.climb, kind, self._entry(child, parent))
        for child in changed:
            self._set(child, tuple(sorted(parents[child])))
        if changed:
            self._settle(np.array(changed))
        return self

    def perturb(self, moves: int, rng: Generator) -> None:
        """Make random legal removals and reversals, as `Moves.perturb`."""
        from bayescout.kernels.climbing import legal_reversals

        arcs, flags = sum(map(len, self.parents)), np.empty(len(self._keys), dtype=bool)
        for _ in range(min(moves, max(1, arcs // 2))):
            removals = np.flatnonzero(self.gains.joined & (self.gains.values > -np.inf))
            legal_reversals(self.climb, flags)
            reversals = np.flatnonzero(flags)
            count = len(removals) + len(reversals)
            if not count:
                return
            drawn = int(rng.integers(count))
            kind = REMOVE if drawn < len(removals) else REVERSE
            entry = int(removals[drawn] if kind == REMOVE else reversals[drawn - len(removals)])
            self.apply(Move(kind, int(self.climb.owners[entry]), int(self.climb.ends[entry]), 0.0))

    # ---- more candidates

    def widen(self) -> bool:
        """Add candidates that matter given the graph; return False if there are none.

        First parents of a common child: given it, they depend on each other. When there are no more of these,
        pairs that were screened out, but whose arc would gain as the graph now is.
        """
        if not self.is_partial:
            return False
        found = outside(self.candidates, coparents(self.parents))
        if not len(found):
            found = self._overlooked()
        if not len(found):
            return False
        self.joined = (*self.joined, *ordered(found))
        self._lay_out_wider(widened(self.candidates, self.joined))
        return True

    def _overlooked(self) -> Ints:
        """The pairs that are no candidates and of which an arc would gain, (k, 2)."""
        graph, before = self.graph, self.looked_at
        self.looked_at = graph
        return overlooked(self.problem, graph, before, self.gains.locals, self.candidates)


def _watches(size: int) -> list[Any]:
    return [np.empty(size, np.int64), np.empty(size, np.int64)]


def _lists(starts: Ints, joined: Bools, owners: Any, mirrors: Any) -> list[Any]:
    """The arcs into and from each variable, and how many there are, for `Climb`."""
    n, arcs = len(starts) - 1, np.flatnonzero(joined)
    made: list[Any] = []
    for some in (arcs, np.sort(mirrors[arcs])):
        own = owners[some]
        counts = np.bincount(own, minlength=n).astype(np.int64)
        place = np.arange(len(some)) - np.repeat(np.cumsum(counts) - counts, counts)
        listed = np.full(len(joined), -1, np.int32)
        listed[starts[own] + place] = some
        made.append((listed, counts))
    return [made[0][0], made[1][0], made[0][1], made[1][1]]
