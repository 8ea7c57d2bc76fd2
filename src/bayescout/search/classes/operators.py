"""The operators between neighbouring equivalence classes, with every gain kept up to date.

For each node y the operators on it are a table: one row for each clique among its undirected neighbours,
one column for each other node x. Only the tables of nodes whose neighbourhood changed are scored again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import compress

import numpy as np

from bayescout.arrays import Family, Floats
from bayescout.search.bitsets import bits, masks_of_rows, positions
from bayescout.search.classes.patterns import (
    ClassPosition,
    Extension,
    Pattern,
    cliques_within,
    member_keeping,
    telling_words,
)
from bayescout.search.frame.problem import MIN_GAIN, Problem

EVERYTHING = -1
"""The set of all nodes."""


@dataclass(frozen=True)
class ClassMove:
    """An operator on x and y with its clique and gain, the class it leads to and a member of that class."""

    x: int
    y: int
    clique: int
    gain: float
    pattern: Pattern
    member: Extension


@dataclass
class NodeOperators:
    """The operators on one node: a gain for each clique and each other node, -inf where there is none.

    `asleep` holds operators known to be invalid now: (place, gain, the nodes whose change may alter that).
    """

    cliques: list[int]
    gains: Floats
    asleep: list[tuple[int, float, int]]

    def falling(self) -> tuple[list[int], list[float]]:
        """The places and their gains, by falling gain; of equals the lower place first."""
        places = np.argsort(-self.gains, kind="stable")
        places = places[self.gains[places] > -np.inf]
        return places.tolist(), self.gains[places].tolist()


class Operators:
    """All operators of one phase from one class."""

    def __init__(self, problem: Problem, pattern: Pattern) -> None:
        self.problem = problem
        self.rules = problem.rules
        self.n = problem.n
        # One limit for all nodes holds for every member of a class or for none.
        self.most = int(self.rules.max_parents.max(initial=0))
        alike = bool((self.rules.max_parents == self.most).all())
        self.free = alike and not self.rules.required.any() and _all_allowed(problem)
        self.joinable = masks_of_rows(self.rules.allowed | self.rules.allowed.T)
        self.may_enter = masks_of_rows(self.rules.allowed.T)
        self.may_leave = masks_of_rows(self.rules.allowed)
        self.held = masks_of_rows(self.rules.required)
        self.loose = masks_of_rows(~(self.rules.required | self.rules.required.T))
        self.tables = [NodeOperators([], np.empty(0), []) for _ in range(self.n)]
        self.watched = [0] * self.n
        self.tops: Floats = np.full(self.n, -np.inf)
        self.telling = telling_words(problem.scorer)
        self.here = ClassPosition(pattern, self.telling)
        self._score(range(self.n))

    @property
    def pattern(self) -> Pattern:
        """The class in hand."""
        return self.here.pattern

    @property
    def adjacent(self) -> list[int]:
        """The nodes adjacent to each node."""
        return self.here.adjacent

    # ---- choosing

    def best(self) -> ClassMove | None:
        """The valid operator that gains most; of equals the one with the lowest y, then clique, then x."""
        while True:
            y = int(self.tops.argmax())
            if not self.tops[y] > MIN_GAIN:
                return None
            step = self._tried(y, int(self.tables[y].gains.argmax()))
            if step is not None:
                return step

    def ranked(self) -> Iterator[ClassMove]:
        """Every valid operator, losses too, by falling gain, ties as in `best`; found one at a time.

        Several may lead to the same class. The iterator is valid for one class: call again after `moved`.
        """
        waiting = [(-top, y, 0) for y, top in enumerate(self.tops.tolist()) if top > -np.inf]
        heapify(waiting)
        sorted_places: dict[int, tuple[list[int], list[float]]] = {}
        while waiting:
            _, y, rank = heappop(waiting)
            if y not in sorted_places:
                sorted_places[y] = self.tables[y].falling()
            places, gains = sorted_places[y]
            if rank + 1 < len(places):
                heappush(waiting, (-gains[rank + 1], y, rank + 1))
            step = self._tried(y, places[rank])
            if step is not None:
                yield step

    def set_aside(self, step: ClassMove) -> None:
        """Pass over a step until the class changes."""
        row = self.tables[step.y].cliques.index(step.clique)
        self._sleep(step.y, row * self.n + step.x, EVERYTHING)

    def _tried(self, y: int, place: int) -> ClassMove | None:
        """The step at a place in y's table; None, and put to sleep, if it is not valid now."""
        self.problem.check()
        table = self.tables[y]
        row, x = divmod(place, self.n)
        gain, clique = float(table.gains[place]), table.cliques[row]
        obstacle = self._obstacle(x, y, clique)
        if not obstacle:
            found = self._reached(x, y, clique)
            if found is not None:
                return ClassMove(x, y, clique, gain, *found)
            obstacle = EVERYTHING
        self._sleep(y, place, obstacle)
        return None

    def _reached(self, x: int, y: int, clique: int) -> tuple[Pattern, Extension] | None:
        """The class an operator leads to, with a member that keeps the rules; None if there is none."""
        changed = self.pattern.copy()
        self._apply(changed, x, y, clique)
        around = 1 << x | 1 << y | self.pattern.undirected[x] | self.pattern.undirected[y]
        found = self.here.neighbour(changed, bits(around))
        if found is None:
            return None
        if not self.free:
            member = member_keeping(found[0], self.rules, self.telling)
            return None if member is None else (found[0], member)
        return found if max(map(int.bit_count, found[1].parents)) <= self.most else None

    # ---- updating

    def moved(self, step: ClassMove) -> None:
        """Go to the class a step led to."""
        changed, lost = self.here.move(step.pattern)
        self._score(self._stale(changed, step))
        # A path stays as long as all its arcs do. Above the nodes' bits there is one that is always set, and
        # one per node that says its adjacencies may have changed.
        turned = lost | 1 << self.n | (1 << step.x | 1 << step.y) << self.n + 1
        for y in compress(range(self.n), map(turned.__and__, self.watched)):
            self._wake(y, turned)

    def _stale(self, changed: int, step: ClassMove) -> Iterable[int]:
        """The nodes whose tables depend on what changed: their own arcs, or the arcs of their neighbours.

        Only x and y were joined or separated: the adjacency of no other two nodes has changed.
        """
        undirected = self.pattern.undirected
        return bits(changed | 1 << step.x | 1 << step.y | undirected[step.x] | undirected[step.y])

    def _wake(self, y: int, turned: int) -> None:
        table = self.tables[y]
        asleep, table.asleep, self.watched[y] = table.asleep, [], 0
        for entry in asleep:
            place, gain, watched = entry
            if watched & turned:
                table.gains[place] = gain
                self.tops[y] = max(self.tops[y], gain)
            else:
                table.asleep.append(entry)
                self.watched[y] |= watched

    def _sleep(self, y: int, place: int, watched: int) -> None:
        """Set an invalid operator aside until one of the watched nodes changes."""
        table = self.tables[y]
        table.asleep.append((place, float(table.gains[place]), watched))
        table.gains[place] = -np.inf
        self.tops[y] = table.gains.max()
        self.watched[y] |= watched

    def _score(self, nodes: Iterable[int]) -> None:
        raise NotImplementedError

    def _store(self, y: int, cliques: list[int], gains: Floats) -> None:
        """Store y's table of gains (cliques, n)."""
        flat = gains.ravel()
        self.tables[y] = NodeOperators(cliques, flat, [])
        self.watched[y] = 0
        self.tops[y] = flat.max(initial=-np.inf)

    # ---- validity

    def _obstacle(self, x: int, y: int, clique: int) -> int:
        """The nodes of a path that makes the operator invalid; 0 if there is none."""
        return 0

    def _apply(self, pattern: Pattern, x: int, y: int, clique: int) -> None:
        raise NotImplementedError

    def _apart(self, y: int, clique: int) -> int:
        """The nodes adjacent to none of y's undirected neighbours outside the clique."""
        joined = 0
        for neighbour in bits(self.pattern.undirected[y] & ~clique):
            joined |= self.adjacent[neighbour]
        return ~joined


class Insertions(Operators):
    """Insert x -> y (Chickering 2002, theorem 15).

    The clique is NA ∪ T: the neighbours of y joined to x, and others that become parents of y. Valid when it
    is a clique and blocks every semi-directed path from y to x. It gains s(y, clique, parents, x) less
    s(y, clique, parents).
    """

    def _score(self, nodes: Iterable[int]) -> None:
        asked: list[tuple[int, list[int], list[tuple[int, tuple[int, ...]]]]] = []
        everyone = (1 << self.n) - 1
        for y in nodes:
            parents, undirected = self.pattern.parents[y], self.pattern.undirected[y]
            others = everyone & self.joinable[y] & ~self.adjacent[y] & ~(1 << y)
            cliques, rows = [], []
            for clique in cliques_within(undirected, self.adjacent):
                candidates = others & self._apart(y, clique)
                if candidates and (parents | clique).bit_count() < self.most:
                    cliques.append(clique)
                    rows.append((candidates, tuple(bits(parents | clique))))
            asked.append((y, cliques, rows))
        found, extended = self.problem.scorer.together(
            [(y, base) for y, _, rows in asked for _, base in rows],
            [(y, base, positions(candidates, self.n)) for y, _, rows in asked for candidates, base in rows],
        )
        bases, more = iter(found.tolist()), iter(extended)
        for y, cliques, rows in asked:
            gains = np.full((len(rows), self.n), -np.inf)
            for row, (candidates, _) in zip(gains, rows, strict=True):
                row[positions(candidates, self.n)] = next(more)
                row -= _finite(next(bases))
            self._store(y, cliques, gains)

    def _obstacle(self, x: int, y: int, clique: int) -> int:
        return self._forbidden(x, y, clique) or self.here.semi_directed_path(y, x, clique)

    def _forbidden(self, x: int, y: int, clique: int) -> int:
        """A bit that watches the adjacencies of x, if the arcs that must follow break the rules; else 0.

        With a parent that is not adjacent to x there is a v-structure: x and the members of the clique not
        adjacent to x are then certainly parents of y, and y is a parent of its other neighbours.
        """
        parents, undirected = self.pattern.parents[y], self.pattern.undirected[y]
        apart = ~self.adjacent[x]
        if self.free or not (parents | clique) & apart:
            return 0
        broken = (clique & apart | 1 << x) & ~self.may_enter[y] or undirected & ~clique & ~self.may_leave[y]
        return 1 << x + self.n + 1 if broken else 0

    def _apply(self, pattern: Pattern, x: int, y: int, clique: int) -> None:
        pattern.direct(x, y)
        for node in bits(clique & ~self.adjacent[x]):
            pattern.direct(node, y)


class Deletions(Operators):
    """Delete x -> y or x - y (Chickering 2002, theorem 17).

    The clique is NA \\ H: those neighbours of y joined to x that stay parents of y; the others, H, become
    children of both. Always valid. It gains s(y, clique, parents less x) less s(y, clique, parents, x).
    """

    def _score(self, nodes: Iterable[int]) -> None:
        asked: list[tuple[int, list[int], list[tuple[int, int]]]] = []
        families: list[Family] = []
        for y in nodes:
            parents = self.pattern.parents[y]
            joined = (parents | self.pattern.undirected[y]) & self.loose[y]
            cliques = cliques_within(self.pattern.undirected[y], self.adjacent) if joined else []
            places = []
            for row, clique in enumerate(cliques):
                removable = joined
                for node in bits(clique):
                    removable &= self.adjacent[node]
                for x in bits(removable):
                    places.append((row, x))
                    families.append((y, tuple(bits((parents | clique) & ~(1 << x)))))
                    families.append((y, tuple(bits(parents | clique | 1 << x))))
            asked.append((y, cliques, places))
        values = self.problem.scorer.many(families)
        found = iter(differences(values[::2], values[1::2]).tolist())
        for y, cliques, places in asked:
            gains = np.full((len(cliques), self.n), -np.inf)
            for place in places:
                gains[place] = next(found)
            self._store(y, cliques, gains)

    def _apply(self, pattern: Pattern, x: int, y: int, clique: int) -> None:
        pattern.cut(x, y)
        for node in bits(self.pattern.undirected[y] & self.adjacent[x] & ~clique):
            pattern.direct(y, node)
            if pattern.undirected[x] >> node & 1:
                pattern.direct(x, node)


def _all_allowed(problem: Problem) -> bool:
    allowed = problem.rules.allowed
    return bool(allowed.sum() == problem.n * (problem.n - 1))


def _finite(score: float) -> float:
    """The score for comparisons: a family that cannot be scored is worse than any, not undefined."""
    return score if score > -np.inf else float(np.finfo(np.float64).min)


def differences(after: Floats, before: Floats) -> Floats:
    """The gain of each family: -inf if the new family cannot be scored."""
    return np.where(after == -np.inf, -np.inf, after - np.maximum(before, np.finfo(np.float64).min))
