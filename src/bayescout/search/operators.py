"""The operators between neighbouring equivalence classes, with every gain kept up to date.

For each node y the operators on it are a table: one row for each clique among its undirected friends, one
column for each other node x. Only the tables of nodes whose neighbourhood changed are scored again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from bayescout.search.classes import (
    Extension,
    Pattern,
    bits,
    cliques_within,
    completed,
    extension_of,
    mask_of,
    member_keeping,
    positions,
    semi_directed_path,
)
from bayescout.search.problem import Problem
from bayescout.statistics.families import Family, Floats

MIN_GAIN = 1e-6
"""A gain below this is rounding."""

EVERYTHING = -1
"""The set of all nodes."""


@dataclass(frozen=True)
class Step:
    """An operator on x and y with its clique and gain, the class it leads to and a member of that class."""

    x: int
    y: int
    clique: int
    gain: float
    pattern: Pattern
    member: Extension


@dataclass
class Table:
    """The operators on one node: a gain for each clique and each other node, -inf where there is none.

    `asleep` holds what is known not to be valid now: (place, gain, the nodes whose change may alter that).
    """

    cliques: list[int]
    gains: Floats
    asleep: list[tuple[int, float, int]]

    def falling(self) -> tuple[list[int], list[float]]:
        """The places by falling gain, of equals the lower first, and their gains."""
        places = np.argsort(-self.gains, kind="stable")
        places = places[self.gains[places] > -np.inf]
        return places.tolist(), self.gains[places].tolist()


class Operators:
    """All operators of one phase from one class."""

    def __init__(self, problem: Problem, pattern: Pattern) -> None:
        self.problem = problem
        self.rules = problem.rules
        self.n = problem.n
        self.free = not (self.rules.required.any() or not _all_allowed(problem))
        self.limits: list[int] = self.rules.max_parents.tolist()
        either = self.rules.allowed | self.rules.allowed.T
        self.joinable = [mask_of(np.flatnonzero(row)) for row in either]
        fixed = self.rules.required | self.rules.required.T
        self.loose = [~mask_of(np.flatnonzero(row)) for row in fixed]
        self.tables = [Table([], np.empty(0), []) for _ in range(self.n)]
        self.tops: Floats = np.full(self.n, -np.inf)
        self._settle(pattern)
        self._score(range(self.n))

    def _settle(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.adjacent = pattern.adjacent()

    # ---- choosing

    def best(self) -> Step | None:
        """The valid operator that gains most; of equals that of the lowest y, then clique, then x."""
        while True:
            y = int(self.tops.argmax())
            if not self.tops[y] > MIN_GAIN:
                return None
            step = self._tried(y, int(self.tables[y].gains.argmax()))
            if step is not None:
                return step

    def ranked(self) -> Iterator[Step]:
        """Every valid operator, losses too, by falling gain and of equals as `best`; found as it is asked.

        Several may lead to one class. It ends with the class it was asked of: ask again after `moved`.
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

    def _tried(self, y: int, place: int) -> Step | None:
        """The step of a place in y's table; where it is not valid now it is put to sleep."""
        table = self.tables[y]
        row, x = divmod(place, self.n)
        gain, clique = float(table.gains[place]), table.cliques[row]
        obstacle = self._obstacle(x, y, clique)
        if not obstacle:
            found = self._reached(x, y, clique)
            if found is not None:
                return Step(x, y, clique, gain, *found)
            obstacle = EVERYTHING
        table.asleep.append((place, gain, obstacle))
        table.gains[place] = -np.inf
        self.tops[y] = table.gains.max()
        return None

    def _reached(self, x: int, y: int, clique: int) -> tuple[Pattern, Extension] | None:
        """The class an operator leads to, with a member that keeps the rules; None where there is none."""
        changed = self.pattern.copy()
        self._apply(changed, x, y, clique)
        dag = extension_of(changed)
        if dag is None:
            return None
        reached = completed(dag)
        if self.free and all(
            own.bit_count() <= most for own, most in zip(dag.parents, self.limits, strict=True)
        ):
            return reached, dag
        member = None if self.free else member_keeping(reached, self.rules)
        return None if member is None else (reached, member)

    # ---- keeping up

    def moved(self, step: Step) -> None:
        """Take up the class a step led to."""
        before, after = self.pattern, step.pattern
        self._settle(after)
        self._score(self._stale(before, step))
        turned = 0
        for node in range(self.n):
            if before.children[node] != after.children[node] or before.friends[node] != after.friends[node]:
                turned |= 1 << node
        for y, table in enumerate(self.tables):
            if table.asleep:
                self._wake(y, table, turned)

    def _stale(self, before: Pattern, step: Step) -> Iterable[int]:
        """The nodes whose tables depend on what changed: their own arcs, or the arcs of their friends.

        Only x and y were joined or parted, so two friends, or a friend and another node, are those two.
        """
        ends, after = 1 << step.x | 1 << step.y, self.pattern
        return [
            node
            for node in range(self.n)
            if before.parents[node] != after.parents[node]
            or before.friends[node] != after.friends[node]
            or ends & (after.friends[node] | 1 << node)
        ]

    def _wake(self, y: int, table: Table, turned: int) -> None:
        still = []
        for entry in table.asleep:
            place, gain, watched = entry
            if watched & turned:
                table.gains[place] = gain
                self.tops[y] = max(self.tops[y], gain)
            else:
                still.append(entry)
        table.asleep = still

    def _score(self, nodes: Iterable[int]) -> None:
        raise NotImplementedError

    def _store(self, y: int, cliques: list[int], gains: Floats) -> None:
        """A table of gains (cliques, n)."""
        flat = gains.ravel()
        self.tables[y] = Table(cliques, flat, [])
        self.tops[y] = flat.max(initial=-np.inf)

    # ---- what an operator is

    def _obstacle(self, x: int, y: int, clique: int) -> int:
        """The nodes of a path that makes the operator invalid; 0 where there is none."""
        return 0

    def _apply(self, pattern: Pattern, x: int, y: int, clique: int) -> None:
        raise NotImplementedError

    def _apart(self, y: int, clique: int) -> int:
        """The nodes joined to none of y's friends outside the clique."""
        joined = 0
        for friend in bits(self.pattern.friends[y] & ~clique):
            joined |= self.adjacent[friend]
        return ~joined


class Insertions(Operators):
    """Insert x -> y (Chickering 2002, theorem 15).

    The clique is NA ∪ T: the friends of y joined to x, and others that become parents of y. Valid when it is
    a clique and blocks every semi-directed path from y to x. It gains s(y, clique, parents, x) less
    s(y, clique, parents).
    """

    def _score(self, nodes: Iterable[int]) -> None:
        asked: list[tuple[int, list[int], list[tuple[int, tuple[int, ...]]]]] = []
        everyone = (1 << self.n) - 1
        for y in nodes:
            parents, friends = self.pattern.parents[y], self.pattern.friends[y]
            others = everyone & self.joinable[y] & ~self.adjacent[y] & ~(1 << y)
            cliques, rows = [], []
            for clique in cliques_within(friends, self.adjacent):
                candidates = others & self._apart(y, clique)
                if candidates and (parents | clique).bit_count() < self.limits[y]:
                    cliques.append(clique)
                    rows.append((candidates, tuple(bits(parents | clique))))
            asked.append((y, cliques, rows))
        bases = iter(
            self.problem.score.many([(y, base) for y, _, rows in asked for _, base in rows]).tolist()
        )
        for y, cliques, rows in asked:
            gains = np.full((len(rows), self.n), -np.inf)
            for row, (candidates, base) in zip(gains, rows, strict=True):
                places = positions(candidates, self.n)
                row[places] = self.problem.score.extensions(y, base, places)
                row -= _finite(next(bases))
            self._store(y, cliques, gains)

    def _obstacle(self, x: int, y: int, clique: int) -> int:
        return semi_directed_path(self.pattern, y, x, clique)

    def _apply(self, pattern: Pattern, x: int, y: int, clique: int) -> None:
        pattern.direct(x, y)
        for node in bits(clique & ~self.adjacent[x]):
            pattern.direct(node, y)


class Deletions(Operators):
    """Delete x -> y or x - y (Chickering 2002, theorem 17).

    The clique is NA \\ H: those friends of y joined to x that stay parents of y; the others, H, become
    children of both. Always valid. It gains s(y, clique, parents less x) less s(y, clique, parents, x).
    """

    def _score(self, nodes: Iterable[int]) -> None:
        asked: list[tuple[int, list[int], list[tuple[int, int]]]] = []
        families: list[Family] = []
        for y in nodes:
            parents = self.pattern.parents[y]
            joined = (parents | self.pattern.friends[y]) & self.loose[y]
            cliques = cliques_within(self.pattern.friends[y], self.adjacent) if joined else []
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
        values = self.problem.score.many(families)
        differences = iter(_differences(values[::2], values[1::2]).tolist())
        for y, cliques, places in asked:
            gains = np.full((len(cliques), self.n), -np.inf)
            for place in places:
                gains[place] = next(differences)
            self._store(y, cliques, gains)

    def _apply(self, pattern: Pattern, x: int, y: int, clique: int) -> None:
        pattern.cut(x, y)
        for node in bits(self.pattern.friends[y] & self.adjacent[x] & ~clique):
            pattern.direct(y, node)
            if pattern.friends[x] >> node & 1:
                pattern.direct(x, node)


class Turns(Operators):
    """Turn y -> x or y - x into x -> y (Hauser & Buehlmann 2012, propositions 31 and 34).

    Of an arc, the clique is NA ∪ T as for an insertion, and with the friends of x blocks every other
    semi-directed path from y to x. Of an edge, it is the friends of y that become its parents: at least one
    not joined to x, and apart from the rest of NA without x and y. It gains what the families of both gain.
    """

    def _stale(self, before: Pattern, step: Step) -> Iterable[int]:
        """All: the family of x counts too, and turns are few."""
        return range(self.n)

    def _score(self, nodes: Iterable[int]) -> None:
        asked: list[tuple[int, list[int], list[tuple[int, int]]]] = []
        families: list[Family] = []
        for y in nodes:
            cliques = cliques_within(self.pattern.friends[y], self.adjacent)
            places = []
            for row, clique in enumerate(cliques):
                for x in bits(self._turnable(y, clique)):
                    places.append((row, x))
                    families += self._families(x, y, clique)
            asked.append((y, cliques, places))
        values = self.problem.score.many(families)
        differences = iter(_differences(values[::4] + values[2::4], values[1::4] + values[3::4]).tolist())
        for y, cliques, places in asked:
            gains = np.full((len(cliques), self.n), -np.inf)
            for place in places:
                gains[place] = next(differences)
            self._store(y, cliques, gains)

    def _turnable(self, y: int, clique: int) -> int:
        """The nodes x whose arc from y, or edge with y, can be turned with this clique."""
        found = self.pattern.children[y] & self._apart(y, clique)
        for x in bits(self.pattern.friends[y] & ~clique):
            if clique & ~self.adjacent[x] and self._separated(x, y, clique):
                found |= 1 << x
        if (self.pattern.parents[y] | clique).bit_count() >= self.limits[y]:
            return 0
        return found & ~mask_of(np.flatnonzero(self.rules.required[y]))

    def _families(self, x: int, y: int, clique: int) -> list[Family]:
        """After and before for y, then after and before for x."""
        own = self.pattern.parents[y] | clique
        if self.pattern.children[y] >> x & 1:
            after = self.pattern.parents[x] & ~(1 << y)
        else:
            after = self.pattern.parents[x] | clique & self.adjacent[x]
        return [
            (y, tuple(bits(own | 1 << x))),
            (y, tuple(bits(own))),
            (x, tuple(bits(after))),
            (x, tuple(bits(after | 1 << y))),
        ]

    def _separated(self, x: int, y: int, clique: int) -> bool:
        """Whether x and y cut the clique off from the rest of NA along undirected edges."""
        rest = self.pattern.friends[y] & self.adjacent[x] & ~clique
        seen = clique | 1 << x | 1 << y
        frontier = bits(clique) if rest else []
        while frontier:
            step = self.pattern.friends[frontier.pop()] & ~seen
            if step & rest:
                return False
            seen |= step
            frontier += bits(step)
        return True

    def _obstacle(self, x: int, y: int, clique: int) -> int:
        if self.pattern.friends[y] >> x & 1:
            return 0
        return semi_directed_path(self.pattern, y, x, clique | self.pattern.friends[x], length=2)

    def _apply(self, pattern: Pattern, x: int, y: int, clique: int) -> None:
        if self.pattern.children[y] >> x & 1:
            for node in bits(clique & ~self.adjacent[x]):
                pattern.direct(node, y)
        else:
            for node in bits(self.pattern.friends[y] & ~(1 << x)):
                pattern.direct(*((node, y) if clique >> node & 1 else (y, node)))
            for node in bits(self.pattern.friends[x] & ~(1 << y)):
                pattern.direct(*((node, x) if clique >> node & 1 else (x, node)))
        pattern.direct(x, y)


def _all_allowed(problem: Problem) -> bool:
    allowed = problem.rules.allowed
    return bool(allowed.sum() == problem.n * (problem.n - 1))


def _finite(score: float) -> float:
    """What to compare with: a family that cannot be scored is worse than any, not undefined."""
    return score if score > -np.inf else float(np.finfo(np.float64).min)


def _differences(after: Floats, before: Floats) -> Floats:
    return np.where(after == -np.inf, -np.inf, after - np.maximum(before, np.finfo(np.float64).min))
