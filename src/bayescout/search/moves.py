"""The neighbourhood of a graph under single-arc moves, with every gain kept up to date."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescout.graph.orders import peel_roots
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
from bayescout.search.problem import Generator, ParentSets, Problem, as_matrix

Matrix = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Move(NamedTuple):
    """One arc added, removed or reversed; `gain` is what the score changes by."""

    kind: int
    child: int
    parent: int
    gain: float


class Moves:
    """A graph, and the gain of every single-arc move from it.

    Only the rows of children whose parents change are scored again; reachability is kept as a matrix, so
    the legality of a move is a look-up.
    """

    def __init__(self, problem: Problem, parents: ParentSets) -> None:
        n = problem.n
        self.problem = problem
        self.parents: list[tuple[int, ...]] = list(parents)
        self.locals = np.array(problem.score.many(list(enumerate(parents))), dtype=np.float64)
        self.gains: Matrix = np.full((n, n), -np.inf)
        self.removals: Matrix = np.full((n, n), -np.inf)
        self.adjacent: Bools = as_matrix(parents, n)
        self.reach: Bools = np.empty((n, n), dtype=bool)
        self._candidates = [np.flatnonzero(problem.rules.allowed[:, child]) for child in range(n)]
        self._nothing_banned = np.zeros((n, n), dtype=bool)
        self._fill_reach()
        for child in range(n):
            self._score_row(child)

    @property
    def graph(self) -> ParentSets:
        return tuple(self.parents)

    @property
    def score(self) -> float:
        return float(self.locals.sum())

    # ---- choosing

    def best(self, banned: Bools | None = None) -> Move | None:
        """The legal move that gains most; the first of equals."""
        out = np.empty(3, dtype=np.int64)
        ban = self._nothing_banned if banned is None else banned
        gain = best_move(self.gains, self.removals, self.adjacent, self.reach, ban, out)
        if gain == -np.inf:
            return None
        kind, child, parent = out.tolist()
        return Move(kind, child, parent, float(gain))

    def first(self, operators: NDArray[np.int64], least: float) -> tuple[Move | None, int]:
        """The first legal operator that gains more than `least`, and how many were considered."""
        position = int(
            first_improving(self.gains, self.removals, self.adjacent, self.reach, operators, least)
        )
        if position < 0:
            return None, len(operators)
        return self.move_of(int(operators[position])), position + 1

    def move_of(self, operator: int) -> Move:
        """The move with this number, (kind * n + child) * n + parent; its gain is -inf when illegal."""
        n = self.problem.n
        kind, child, parent = operator // (n * n), operator // n % n, operator % n
        if kind == ADD:
            gain = -np.inf if self.reach[child, parent] else self.gains[child, parent]
        elif kind == REMOVE:
            gain = self.removals[child, parent]
        elif self.adjacent[parent, child] and is_reversible(self.adjacent, self.reach, parent, child):
            gain = self.removals[child, parent] + self.gains[parent, child]
        else:
            gain = -np.inf
        return Move(kind, child, parent, float(gain))

    def legal_operators(self, additions: bool = True) -> NDArray[np.int64]:
        """The numbers of every legal move, or of every one that adds no arc."""
        n = self.problem.n
        added = np.flatnonzero((self.gains > -np.inf) & ~self.reach) if additions else np.empty(0, np.int64)
        removals = np.flatnonzero(self.removals > -np.inf)
        turned = (self.removals > -np.inf) & (-np.inf < self.gains.T)
        reversals = [
            child * n + parent
            for child, parent in np.argwhere(turned).tolist()
            if is_reversible(self.adjacent, self.reach, parent, child)
        ]
        found = [added, removals + REMOVE * n * n, np.array(reversals, dtype=np.int64) + REVERSE * n * n]
        return np.concatenate(found)

    # ---- changing

    def apply(self, move: Move) -> None:
        """Make the move and bring gains and reachability up to date."""
        kind, child, parent, _ = move
        if kind == ADD:
            self._add(child, parent)
            add_to_reach(self.reach, parent, child)
            return
        local = self.locals[child] + self.removals[child, parent]
        self._set_parents(child, [p for p in self.parents[child] if p != parent], local)
        if kind == REVERSE:
            self._add(parent, child)
        self._fill_reach()

    def _add(self, child: int, parent: int) -> None:
        local = self.locals[child] + self.gains[child, parent]
        self._set_parents(child, [*self.parents[child], parent], local)

    def moved_to(self, parents: ParentSets) -> Moves:
        """The neighbourhood of another graph; only children whose parents differ are scored again."""
        changed = [c for c, (a, b) in enumerate(zip(self.parents, parents, strict=True)) if a != b]
        for child in changed:
            self._set_parents(child, parents[child], self.problem.score.local(child, parents[child]))
        if changed:
            self._fill_reach()
        return self

    def perturb(self, moves: int, rng: Generator) -> None:
        """Make so many random legal removals and reversals.

        Additions are left out: they are most of the legal moves, nearly all useless and undone at once.
        """
        for _ in range(moves):
            legal = self.legal_operators(additions=False)
            if not len(legal):
                return
            self.apply(self.move_of(int(legal[rng.integers(len(legal))])))

    def _set_parents(self, child: int, parents: Sequence[int], local: float) -> None:
        self.parents[child] = tuple(sorted(parents))
        self.adjacent[:, child] = False
        self.adjacent[list(parents), child] = True
        self.locals[child] = local
        self._score_row(child)

    def _score_row(self, child: int) -> None:
        """The gain of every addition to and removal from one child's parents."""
        own, rules, score = self.parents[child], self.problem.rules, self.problem.score
        self.gains[child] = -np.inf
        self.removals[child] = -np.inf
        if len(own) < rules.max_parents[child]:
            candidates = self._candidates[child]
            if own:
                candidates = candidates[~self.adjacent[candidates, child]]
            if len(candidates):
                found = score.extensions(child, own, candidates)
                self.gains[child, candidates] = found - self.locals[child]
        removable = [p for p in own if not rules.required[p, child]]
        if removable:
            fewer = score.many([(child, tuple(q for q in own if q != p)) for p in removable])
            self.removals[child, removable] = fewer - self.locals[child]

    def _fill_reach(self) -> None:
        order = np.array(peel_roots(self.parents), dtype=np.int64)
        pairs = np.argwhere(self.adjacent)
        bounds = np.searchsorted(pairs[:, 0], np.arange(len(order) + 1))
        fill_reach(np.ascontiguousarray(pairs[:, 1]), bounds, order, self.reach)
