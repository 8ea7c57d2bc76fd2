"""Slow twins of the graph algorithms, each from another definition than the one in the package.

Graphs are plain here: n nodes 0..n-1 and a set of (parent, child) pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, permutations, product

import numpy as np

Arcs = frozenset[tuple[int, int]]


def arcs_of(parents: Iterable[Iterable[int]]) -> Arcs:
    return frozenset((p, child) for child, ps in enumerate(parents) for p in ps)


def is_acyclic(n: int, arcs: Arcs) -> bool:
    """No walk of n arcs exists: the n-th power of the adjacency matrix is zero."""
    matrix = np.zeros((n, n), dtype=bool)
    for parent, child in arcs:
        matrix[parent, child] = True
    power = np.eye(n, dtype=bool)
    for _ in range(n):
        power = power @ matrix
    return not power.any()


def all_dags(n: int) -> list[Arcs]:
    """Every DAG on n labelled nodes: each pair has no arc, one, or the other; then drop the cyclic."""
    pairs = list(combinations(range(n), 2))
    graphs = []
    for marks in product((None, False, True), repeat=len(pairs)):
        arcs = frozenset(
            (b, a) if turned else (a, b)
            for (a, b), turned in zip(pairs, marks, strict=True)
            if turned is not None
        )
        if is_acyclic(n, arcs):
            graphs.append(arcs)
    return graphs


def ancestors(arcs: Arcs, node: int) -> set[int]:
    """By recursion on the definition, the node itself left out."""
    parents = {p for p, c in arcs if c == node}
    return parents.union(*(ancestors(arcs, p) for p in parents))


def linear_orders(n: int, arcs: Arcs) -> list[tuple[int, ...]]:
    """Every order in which parents stand before their children."""
    return [o for o in permutations(range(n)) if all(o.index(p) < o.index(c) for p, c in arcs)]


# ---- d-separation


def separated_by_moralising(arcs: Arcs, left: set[int], right: set[int], given: set[int]) -> bool:
    """Lauritzen et al. (1990): separation in the moral graph of the smallest ancestral set."""
    ancestral = left | right | given
    ancestral = ancestral.union(*(ancestors(arcs, node) for node in ancestral))
    kept = [(p, c) for p, c in arcs if p in ancestral and c in ancestral]
    edges = {frozenset(arc) for arc in kept}
    edges |= {frozenset((p, q)) for p, c in kept for q, d in kept if c == d and p != q}
    reached, grown = set(), set(left)
    while grown != reached:
        reached = set(grown)
        grown |= {b for edge in edges for b in edge - given if edge & reached}
    return not reached & right


def separated_by_trails(n: int, arcs: Arcs, a: int, b: int, given: set[int]) -> bool:
    """Pearl's definition: every trail has a blocked node."""
    return not any(_is_active(arcs, trail, given) for trail in _trails(n, arcs, (a,), b))


def _trails(n: int, arcs: Arcs, walked: tuple[int, ...], end: int) -> Iterator[tuple[int, ...]]:
    if walked[-1] == end:
        yield walked
        return
    for step in range(n):
        if step not in walked and ((walked[-1], step) in arcs or (step, walked[-1]) in arcs):
            yield from _trails(n, arcs, (*walked, step), end)


def _is_active(arcs: Arcs, trail: tuple[int, ...], given: set[int]) -> bool:
    for before, node, after in zip(trail, trail[1:], trail[2:], strict=False):
        if (before, node) in arcs and (after, node) in arcs:
            if node not in given and not any(node in ancestors(arcs, g) for g in given):
                return False
        elif node in given:
            return False
    return True


# ---- equivalence


def skeleton(arcs: Arcs) -> frozenset[frozenset[int]]:
    return frozenset(frozenset(arc) for arc in arcs)


def v_structures(arcs: Arcs) -> frozenset[tuple[frozenset[int], int]]:
    bones = skeleton(arcs)
    return frozenset(
        (frozenset((a, b)), c)
        for a, c in arcs
        for b, d in arcs
        if c == d and a != b and frozenset((a, b)) not in bones
    )


def equivalence_classes(graphs: Iterable[Arcs]) -> list[list[Arcs]]:
    """Grouped by skeleton and v-structures."""
    classes: dict[object, list[Arcs]] = {}
    for arcs in graphs:
        classes.setdefault((skeleton(arcs), v_structures(arcs)), []).append(arcs)
    return list(classes.values())


def class_by_reversals(arcs: Arcs) -> set[Arcs]:
    """Chickering (1995): reversing covered arcs leads to all members of the class and to no other."""
    found, waiting = {arcs}, [arcs]
    while waiting:
        graph = waiting.pop()
        for a, b in graph:
            if {p for p, c in graph if c == b} == {a} | {p for p, c in graph if c == a}:
                turned = graph - {(a, b)} | {(b, a)}
                if turned not in found:
                    found.add(turned)
                    waiting.append(turned)
    return found


def union_graph(members: Iterable[Arcs]) -> tuple[Arcs, frozenset[frozenset[int]]]:
    """(directed, undirected): an edge is directed when all the members direct it alike."""
    union = frozenset().union(*members)
    undirected = frozenset(frozenset((a, b)) for a, b in union if (b, a) in union)
    return frozenset(arc for arc in union if frozenset(arc) not in undirected), undirected


def extensions(n: int, directed: Arcs, undirected: Iterable[Iterable[int]]) -> list[Arcs]:
    """Every DAG that directs the undirected edges without a new unshielded collider."""
    edges = [tuple(sorted(edge)) for edge in undirected]
    bones = skeleton(directed) | {frozenset(edge) for edge in edges}
    colliders = {
        (frozenset((a, b)), c)
        for a, c in directed
        for b, d in directed
        if c == d and a != b and frozenset((a, b)) not in bones
    }
    found = []
    for turned in product((False, True), repeat=len(edges)):
        arcs = directed | {(b, a) if t else (a, b) for (a, b), t in zip(edges, turned, strict=True)}
        if is_acyclic(n, arcs) and v_structures(arcs) == colliders:
            found.append(arcs)
    return found
