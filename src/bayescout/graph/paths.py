"""Paths between two nodes of a DAG, one by one: along the arcs, or along edges whatever their direction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from bayescout.graph.orders import reach

if TYPE_CHECKING:
    from bayescout.graph.dag import Dag

Path = tuple[int, ...]
Onward = Callable[[Path], list[int]]


def directed_paths(dag: Dag, start: int, end: int) -> Iterator[Path]:
    """Every path from start to end along the arcs, in the order of the nodes' positions."""
    leads = reach(dag.parents, [end])
    yield from _simple_paths(
        start, end, lambda path: [child for child in dag.children[path[-1]] if leads[child]]
    )


def trails(dag: Dag, start: int, end: int, given: Collection[int] | None = None) -> Iterator[Path]:
    """Every path between two nodes that visits no node twice, arcs taken in either direction.

    With `given`, only those that are active: each collider is observed or has an observed descendant, and
    no other node between the ends is observed.
    """
    observed = frozenset(() if given is None else given)
    opened = reach(dag.parents, sorted(observed))

    def onward(path: Path) -> list[int]:
        here = path[-1]
        near = sorted({*dag.parents[here], *dag.children[here]})
        if given is None or len(path) == 1:
            return near
        into = path[-2] in dag.parents[here]
        return [
            node
            for node in near
            if (opened[here] if into and node in dag.parents[here] else here not in observed)
        ]

    yield from _simple_paths(start, end, onward)


def _simple_paths(start: int, end: int, onward: Onward) -> Iterator[Path]:
    """Depth first, without recursion: long paths are no deeper than memory."""
    stack = [iter([start])]
    path: list[int] = []
    seen: set[int] = set()
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            if path:
                seen.discard(path.pop())
        elif node == end and path:
            yield (*path, end)
        elif node not in seen and node != end:
            path.append(node)
            seen.add(node)
            stack.append(iter(onward(tuple(path))))
