"""Which layer a node is drawn in: parents above children, arcs short in total."""

from __future__ import annotations

from collections.abc import Sequence

from bayescout.plots.spacing import leftmost

Pair = tuple[int, int]


def assign(size: int, arcs: Sequence[Pair]) -> list[int]:
    """For each node a layer from 0 with every arc leading down and the arcs' total length least.

    Of equally good layers a node takes the least crowded that its neighbours leave it, the highest of these.
    """
    layer = leftmost(size, [(a, b, 1) for a, b in arcs], [(a, b, 0, 1) for a, b in arcs])
    parents: list[list[int]] = [[] for _ in range(size)]
    children: list[list[int]] = [[] for _ in range(size)]
    for a, b in arcs:
        parents[b].append(a)
        children[a].append(b)
    crowd = [0] * (max(layer, default=0) + 1)
    for own in layer:
        crowd[own] += 1
    for node in range(size):
        if len(parents[node]) != len(children[node]) or not parents[node]:
            continue
        first = max(layer[p] for p in parents[node]) + 1
        last = min(layer[c] for c in children[node])
        best = min(range(first, last), key=lambda k: (crowd[k] - (k == layer[node]), k))
        crowd[layer[node]] -= 1
        crowd[best] += 1
        layer[node] = best
    return layer
