"""The operators that reverse an arc or direct an edge, with the gains of both its ends."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bayescout.arrays import Family
from bayescout.search.bitsets import bits
from bayescout.search.classes.operators import ClassMove, Operators, differences
from bayescout.search.classes.patterns import Pattern, cliques_within


class Reversals(Operators):
    """Turn y -> x or y - x into x -> y (Hauser & Buehlmann 2012, propositions 31 and 34).

    For an arc, the clique is NA ∪ T as for an insertion, and with the neighbours of x it blocks every other
    semi-directed path from y to x. For an edge, it is the neighbours of y that become its parents: at least
    one is not adjacent to x, and those in NA separate them from the rest of NA. The gain is the sum of the
    gains of both families.
    """

    def _stale(self, changed: int, step: ClassMove) -> Iterable[int]:
        """The nodes that changed, and those with a neighbour or child that did, as its family counts too."""
        stale = changed
        for node in bits(changed):
            stale |= self.pattern.parents[node] | self.pattern.undirected[node]
        return bits(stale)

    def _score(self, nodes: Iterable[int]) -> None:
        asked: list[tuple[int, list[int], list[tuple[int, int]]]] = []
        families: list[Family] = []
        for y in nodes:
            cliques = cliques_within(self.pattern.undirected[y], self.adjacent)
            places = []
            for row, clique in enumerate(cliques):
                for x in bits(self._turnable(y, clique)):
                    places.append((row, x))
                    families += self._families(x, y, clique)
            asked.append((y, cliques, places))
        values = self.problem.scorer.many(families)
        found = iter(differences(values[::4] + values[2::4], values[1::4] + values[3::4]).tolist())
        for y, cliques, places in asked:
            gains = np.full((len(cliques), self.n), -np.inf)
            for place in places:
                gains[place] = next(found)
            self._store(y, cliques, gains)

    def _turnable(self, y: int, clique: int) -> int:
        """The nodes x whose arc from y, or edge with y, can be reversed with this clique."""
        found = self.pattern.children[y] & self._apart(y, clique)
        for x in bits(self.pattern.undirected[y] & ~clique):
            if clique & ~self.adjacent[x] and self._separated(x, y, clique):
                found |= 1 << x
        if (self.pattern.parents[y] | clique).bit_count() >= self.most:
            return 0
        return found & ~self.held[y]

    def _families(self, x: int, y: int, clique: int) -> list[Family]:
        """The families of y after and before, then those of x after and before."""
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
        """Return True if, among y's neighbours, the clique within NA separates its others from the rest."""
        undirected, around = self.pattern.undirected, self.adjacent[x]
        rest = undirected[y] & around & ~clique
        seen = ~undirected[y] | clique | 1 << x
        frontier = bits(clique & ~around) if rest else []
        while frontier:
            step = undirected[frontier.pop()] & ~seen
            if step & rest:
                return False
            seen |= step
            frontier += bits(step)
        return True

    def _obstacle(self, x: int, y: int, clique: int) -> int:
        if self.pattern.undirected[y] >> x & 1:
            return 0
        return self.here.semi_directed_path(y, x, clique | self.pattern.undirected[x], length=2)

    def _apply(self, pattern: Pattern, x: int, y: int, clique: int) -> None:
        if self.pattern.children[y] >> x & 1:
            for node in bits(clique & ~self.adjacent[x]):
                pattern.direct(node, y)
        else:
            for node in bits(self.pattern.undirected[y] & ~(1 << x)):
                pattern.direct(*((node, y) if clique >> node & 1 else (y, node)))
            for node in bits(self.pattern.undirected[x] & ~(1 << y)):
                pattern.direct(*((node, x) if clique >> node & 1 else (x, node)))
        pattern.direct(x, y)
