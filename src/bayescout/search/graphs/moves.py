"""The neighbourhood of a graph under single-arc moves, with every gain kept up to date."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayescout.arrays import Bools, Ints, Parents
from bayescout.kernels.moves import (
    ADD,
    REMOVE,
    REVERSE,
    add_to_reach,
    best_move,
    fill_reach,
    first_improving,
    is_reversible,
)
from bayescout.scores.gain_rows import Gains
from bayescout.search.frame.problem import MIN_GAIN, Generator, Pairs, ParentSets, Problem, State, as_matrix

NO_ARCS = np.empty(0, dtype=np.int64)
_sum = np.add.reduce


class Move(NamedTuple):
    """One arc added, removed or reversed; `gain` is the change of the score."""

    kind: int
    child: int
    parent: int
    gain: float


class Moves:
    """A graph, and the gain of every single-arc move from it.

    Only the rows of children whose parents change are scored again; reachability is kept as a matrix, so
    the legality of a move is a look-up. Set `remember` for a search that may come back to a parent set.
    """

    is_partial = False
    per_step = 1
    joined: Pairs = ()
    looked_at: ParentSets = ()

    def __init__(self, problem: Problem, parents: ParentSets, remember: bool = True) -> None:
        self.problem = problem
        self._n = n = problem.n
        self.parents: list[Parents] = list(parents)
        self.gains = Gains.of_graph(as_matrix(parents, n))
        self.adjacent: Bools = self.gains.adjacent
        self.reach: Bools = np.empty((n, n), dtype=bool)
        self.remember = remember
        # child * n + parent of every arc, in rising order
        self._arcs = array("q", [child * n + parent for child, own in enumerate(parents) for parent in own])
        self._rows = problem.gain_rows
        self._chosen = np.empty(3, dtype=np.int64)
        self._nothing_banned = np.zeros((n, n), dtype=bool)
        self._arrays = self.gains.arrays
        fill_reach(self.adjacent, self.reach)
        self._rows.fill(self.parents, self.gains, remember)

    @property
    def graph(self) -> ParentSets:
        return tuple(self.parents)

    @property
    def score(self) -> float:
        return float(_sum(self.gains.locals))

    # ---- choosing

    def best(self, banned: Pairs = ()) -> Move | None:
        """The legal move that gains most; of equals the first. Pairs that are banned are not touched."""
        ban = self._nothing_banned
        if banned:
            ban = np.zeros((self._n, self._n), dtype=bool)
            for one, other in banned:
                ban[one, other] = ban[other, one] = True
        arcs = np.frombuffer(self._arcs, dtype=np.int64) if self._arcs else NO_ARCS
        gain = best_move(self._arrays, arcs, self.reach, ban, self._chosen)
        if gain == -np.inf:
            return None
        kind, child, parent = self._chosen.tolist()
        return Move(kind, child, parent, gain)

    def gaining(self) -> Move | None:
        """The best move if it gains."""
        best = self.best()
        return best if best is not None and best.gain > MIN_GAIN else None

    def widen(self) -> bool:
        """Return False: there are no more arcs to look at."""
        return False

    def first(self, operators: Ints, least: float) -> tuple[Move | None, int]:
        """The first legal operator that gains more than `least`, and the number considered."""
        position = int(first_improving(self._arrays, self.reach, operators, least))
        if position < 0:
            return None, len(operators)
        return self.move_of(int(operators[position])), position + 1

    def move_of(self, operator: int) -> Move:
        """The move with this number, (kind * n + child) * n + parent; its gain is -inf when illegal."""
        n = self._n
        kind, child, parent = operator // (n * n), operator // n % n, operator % n
        added, removed = self.gains.added, self.gains.removed
        if kind == ADD:
            gain = -np.inf if self.reach[child, parent] else added[child, parent]
        elif kind == REMOVE:
            gain = removed[child, parent]
        elif self.adjacent[parent, child] and is_reversible(self.adjacent, self.reach, parent, child):
            gain = removed[child, parent] + added[parent, child]
        else:
            gain = -np.inf
        return Move(kind, child, parent, float(gain))

    def legal_operators(self, additions: bool = True) -> Ints:
        """The numbers of every legal move, or of those that add no arc."""
        n, gains = self._n, self.gains
        added = np.flatnonzero((gains.added > -np.inf) & ~self.reach) if additions else np.empty(0, np.int64)
        removals = np.flatnonzero(gains.removed > -np.inf)
        turned = (gains.removed > -np.inf) & (-np.inf < gains.added.T)
        reversals = [
            child * n + parent
            for child, parent in np.argwhere(turned).tolist()
            if is_reversible(self.adjacent, self.reach, parent, child)
        ]
        found = [added, removals + REMOVE * n * n, np.array(reversals, dtype=np.int64) + REVERSE * n * n]
        return np.concatenate(found)

    # ---- changing

    def apply(self, move: Move) -> None:
        """Make the move and update gains and reachability."""
        kind, child, parent, _ = move
        if kind == ADD:
            self._add(parent, child)
            add_to_reach(self.reach, parent, child)
            return
        if kind == REVERSE:
            self._rows.ask([(child, self._without(child, parent)), (parent, self._with(parent, child))])
        self._remove(parent, child)
        if kind == REVERSE:
            self._add(child, parent)
        fill_reach(self.adjacent, self.reach)

    def _add(self, parent: int, child: int) -> None:
        arc = child * self._n + parent
        self._arcs.insert(bisect_left(self._arcs, arc), arc)
        self.adjacent[parent, child] = True
        self._set_row(child, self._with(child, parent))

    def _remove(self, parent: int, child: int) -> None:
        del self._arcs[bisect_left(self._arcs, child * self._n + parent)]
        self.adjacent[parent, child] = False
        self._set_row(child, self._without(child, parent))

    def _with(self, child: int, parent: int) -> Parents:
        return tuple(sorted((*self.parents[child], parent)))

    def _without(self, child: int, parent: int) -> Parents:
        return tuple([p for p in self.parents[child] if p != parent])

    def _set_row(self, child: int, own: Parents) -> None:
        self.parents[child] = own
        self._rows.update(child, own, self.gains, self.remember)

    def moved_to(self, parents: ParentSets) -> Moves:
        """The neighbourhood of another graph; only children whose parents differ are scored again."""
        changed = [c for c, (a, b) in enumerate(zip(self.parents, parents, strict=True)) if a != b]
        self._rows.ask([(child, tuple(sorted(parents[child]))) for child in changed])
        for child in changed:
            self._set_parents(child, parents[child])
        if changed:
            fill_reach(self.adjacent, self.reach)
        return self

    def perturb(self, moves: int, rng: Generator) -> None:
        """Make so many random legal removals and reversals, at most half as many as there are arcs.

        Additions are left out: they are most of the legal moves, nearly all useless and undone at once.
        """
        for _ in range(min(moves, max(1, len(self._arcs) // 2))):
            legal = self.legal_operators(additions=False)
            if not len(legal):
                return
            self.apply(self.move_of(int(legal[rng.integers(len(legal))])))

    def _set_parents(self, child: int, parents: Sequence[int]) -> None:
        first = child * self._n
        begin, end = bisect_left(self._arcs, first), bisect_left(self._arcs, first + self._n)
        own = tuple(sorted(parents))
        self._arcs[begin:end] = array("q", [first + parent for parent in own])
        self.adjacent[:, child] = False
        for parent in parents:
            self.adjacent[parent, child] = True
        self._set_row(child, own)


def moves_of(problem: Problem, state: State, remember: bool = True) -> Moves:
    """The neighbourhood of a state's graph, for the next state to change."""
    return problem.scratch(state, lambda: Moves(problem, state.parents, remember))
