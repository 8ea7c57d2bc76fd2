"""The order of the nodes within each layer, chosen for few crossings of lines."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

Pair = tuple[int, int]
ROUNDS = 24
PATIENCE = 8
"""Rounds without a better order after which a start is abandoned."""
EFFORT = 500_000
"""Most pairs of neighbours compared in all; a count, not a time, so the answer is the same everywhere."""


class Layers:
    """Vertices in layers, and the lines between adjacent layers."""

    def __init__(self, layer: Sequence[int], lines: Sequence[Pair], effort: int = EFFORT) -> None:
        """`lines` are (upper, lower) pairs of vertices in adjacent layers."""
        self.layer = layer
        self.count = max(layer, default=-1) + 1
        self.above: list[list[int]] = [[] for _ in layer]
        self.below: list[list[int]] = [[] for _ in layer]
        for upper, lower in lines:
            self.below[upper].append(lower)
            self.above[lower].append(upper)
        self.effort = effort

    def ordered(self) -> list[list[int]]:
        """The vertices of each layer from left to right.

        Weighted medians down and up, each followed by exchanges of neighbours, from four starts; the
        order with the fewest crossings is kept, the first of equals (Gansner and others 1993).
        """
        walks = [self._walked(from_top) for from_top in (True, False)]
        turned = [[row[::-1] for row in order] for order in walks]
        return min((self._improved(start) for start in (*walks, *turned)), key=self.crossings)

    def crossings(self, order: list[list[int]]) -> int:
        """The number of pairs of lines that cross, with straight lines between layers."""
        place = self.places(order)
        total = 0
        for row in order:
            seen: list[int] = []
            for vertex in row:
                ends = [place[lower] for lower in self.below[vertex]]
                total += sum(len(seen) - bisect_left(seen, end + 1) for end in ends)
                for end in ends:
                    insort(seen, end)
        return total

    def places(self, order: list[list[int]]) -> list[int]:
        place = [0] * len(self.layer)
        for row in order:
            for k, vertex in enumerate(row):
                place[vertex] = k
        return place

    # ---- a start

    def _walked(self, from_top: bool) -> list[list[int]]:
        """Vertices in the order of a depth-first walk, so that trees begin without crossings."""
        order: list[list[int]] = [[] for _ in range(self.count)]
        ahead, behind = (self.below, self.above) if from_top else (self.above, self.below)
        seen = [False] * len(self.layer)
        sources = [v for v in range(len(self.layer)) if not behind[v]]
        sources.sort(key=lambda v: self.layer[v] if from_top else -self.layer[v])
        stack = sources[::-1]
        while stack:
            vertex = stack.pop()
            if seen[vertex]:
                continue
            seen[vertex] = True
            order[self.layer[vertex]].append(vertex)
            stack.extend(reversed(behind[vertex]))
            stack.extend(reversed(ahead[vertex]))
        return order

    # ---- improvement

    def _improved(self, order: list[list[int]]) -> list[list[int]]:
        best, least = order, self.crossings(order)
        waited = 0
        for turn in range(ROUNDS):
            if not least or waited >= PATIENCE or self.effort <= 0:
                break
            order = self._swept(order, down=turn % 2 == 0, leftwards=turn % 4 >= 2)
            order = self._exchanged(order, equals=turn % 4 >= 2)
            found = self.crossings(order)
            waited += 1
            if found < least:
                best, least, waited = order, found, 0
        return best

    def _swept(self, order: list[list[int]], down: bool, leftwards: bool) -> list[list[int]]:
        """Sort each layer by the medians of its neighbours in the layer before; ties stay or are reversed."""
        order = [list(row) for row in order]
        place = self.places(order)
        near = self.above if down else self.below
        turns = range(1, self.count) if down else range(self.count - 2, -1, -1)
        for k in turns:
            row = order[k]
            middle = {v: _median(sorted(place[n] for n in near[v])) for v in row}
            movable = [v for v in row if middle[v] >= 0]
            if leftwards:
                movable.reverse()
            movable.sort(key=middle.__getitem__)
            taken = iter(movable)
            order[k] = [next(taken) if middle[v] >= 0 else v for v in row]
            for position, vertex in enumerate(order[k]):
                place[vertex] = position
        return order

    def _exchanged(self, order: list[list[int]], equals: bool) -> list[list[int]]:
        """Exchange neighbours while that removes crossings; first, with `equals`, one pass that adds none.

        The free exchanges lead off a plateau on which no single exchange helps.
        """
        order = [list(row) for row in order]
        place = self.places(order)
        if equals:
            for row in order:
                self._exchange_in(row, place, 0)
        waiting = [True] * len(order)
        while any(waiting):
            for k, row in enumerate(order):
                if waiting[k] and self._exchange_in(row, place, 1):
                    waiting[max(0, k - 1) : k + 2] = [True] * len(waiting[max(0, k - 1) : k + 2])
                waiting[k] = False
        return order

    def _exchange_in(self, row: list[int], place: list[int], least: int) -> bool:
        """Exchange neighbours in one layer where that saves `least` crossings; changes `row` and `place`.

        With 1 the layer is settled: after an exchange the previous pair is compared again. With 0 there is
        one pass, since free exchanges would never end.
        """
        ups = {v: sorted(place[n] for n in self.above[v]) for v in row}
        downs = {v: sorted(place[n] for n in self.below[v]) for v in row}
        changed = False
        k = 0
        while k < len(row) - 1:
            left, right = row[k], row[k + 1]
            self.effort -= 1
            if _saved(ups[left], ups[right]) + _saved(downs[left], downs[right]) >= least:
                row[k], row[k + 1] = right, left
                changed = True
                k += 1 if least == 0 or k == 0 else -1
            else:
                k += 1
        for k, vertex in enumerate(row):
            place[vertex] = k
        return changed


def _saved(left: list[int], right: list[int]) -> int:
    """Crossings of two vertices' lines minus those after an exchange of the two; both lists sorted."""
    if not left or not right or left[-1] < right[0]:
        return -len(left) * len(right)
    return sum(bisect_left(right, end) - (len(right) - bisect_left(right, end + 1)) for end in left)


def _median(places: list[int]) -> float:
    """The median place; of two middle ones, a mean weighted to the denser side; -1 if there is none."""
    count = len(places)
    if count == 0:
        return -1
    middle = count // 2
    if count % 2:
        return places[middle]
    if count == 2:
        return (places[0] + places[1]) / 2
    left, right = places[middle - 1] - places[0], places[-1] - places[middle]
    if left + right == 0:
        return (places[middle - 1] + places[middle]) / 2
    return (places[middle - 1] * right + places[middle] * left) / (left + right)
