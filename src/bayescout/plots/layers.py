"""The layer of each node in a drawing: parents above children, lines short in total, no layer too wide."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from bayescout.plots.spacing import leftmost

Pair = tuple[int, int]
Size = tuple[int, int]

FEW_LINES = 2
"""A node with more lines is not moved away from them to make room."""


class WidthLimit(NamedTuple):
    """Largest width of a layer: `breadth` sides of a square that holds all boxes, and never below `least`."""

    least: float = 800
    breadth: float = 1.5


USUAL_LIMIT = WidthLimit()


def assign(arcs: Sequence[Pair], room: Sequence[Size], limit: WidthLimit = USUAL_LIMIT) -> list[int]:
    """The layer of each node, from 0, with every arc leading down and a nearly minimal total length of arcs.

    `room` is the size of each node, with the gaps around it. First the total is minimised; then nodes that
    fit several layers equally well go to the emptiest; then layers that are too wide give nodes without
    children to layers below, and nodes without parents to layers above.
    """
    layer = leftmost(len(room), [(a, b, 1) for a, b in arcs], [(a, b, 0, 1) for a, b in arcs])
    return _Layering(arcs, room, layer, limit).settled()


class _Layering:
    def __init__(
        self, arcs: Sequence[Pair], room: Sequence[Size], layer: list[int], limit: WidthLimit
    ) -> None:
        self.wide = [w for w, _ in room]
        self.layer = layer
        self.parents: list[list[int]] = [[] for _ in room]
        self.children: list[list[int]] = [[] for _ in room]
        for a, b in arcs:
            self.parents[b].append(a)
            self.children[a].append(b)
        self.limit = max(limit.least, limit.breadth * sqrt(sum(w * h for w, h in room)))
        self.used: dict[int, int] = {}
        for node, own in enumerate(layer):
            self.used[own] = self.used.get(own, 0) + self.wide[node]

    def settled(self) -> list[int]:
        for node in range(len(self.layer)):
            self._level(node)
        for k in sorted(self.used):
            self._relieve(k, 1)
        for k in sorted(self.used, reverse=True):
            self._relieve(k, -1)
        top = min(self.layer, default=0)
        return [own - top for own in self.layer]

    def _move(self, node: int, to: int) -> None:
        self.used[self.layer[node]] -= self.wide[node]
        self.used[to] = self.used.get(to, 0) + self.wide[node]
        self.layer[node] = to

    def _level(self, node: int) -> None:
        """Move a node to the emptiest layer between its neighbours if its total line length is unchanged."""
        above, below = self.parents[node], self.children[node]
        if not above or len(above) != len(below):
            return
        first, last = max(self.layer[p] for p in above) + 1, min(self.layer[c] for c in below)
        own = self.layer[node]
        spare = {k: self.used.get(k, 0) - (self.wide[node] if k == own else 0) for k in range(first, last)}
        self._move(node, min(spare, key=lambda k: (spare[k], k)))

    def _relieve(self, k: int, step: int) -> None:
        """While layer k is too wide, move its loose ends to the nearest layer with room, in one direction.

        They are distributed over the layers in turn, so that the children of one parent form columns, and the
        lines to the lower ones pass between the upper ones.
        """
        ahead, behind = (self.children, self.parents) if step > 0 else (self.parents, self.children)
        loose = [
            node
            for node, own in enumerate(self.layer)
            if own == k and not ahead[node] and 0 < len(behind[node]) <= FEW_LINES
        ]
        loose.sort(key=lambda node: len(behind[node]))
        places: dict[int, int] = {}
        for node in loose:
            to = k
            if self.used[k] > self.limit:
                to += step
                while self.used.get(to, 0) + self.wide[node] > self.limit:
                    to += step
            self._move(node, to)
            places[to] = places.get(to, 0) + 1
        dealt = sorted((turn, step * to) for to, count in places.items() for turn in range(count))
        for node, (_, to) in zip(loose, dealt, strict=True):
            self._move(node, step * to)
