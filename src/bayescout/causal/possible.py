"""The DAGs of a class as far as the effects of one variable differ between them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations

from bayescout.errors import GraphError
from bayescout.graph.dag import Dag
from bayescout.graph.pdag import Pdag

MOST_NEIGHBOURS = 20
"""The most edges of x whose direction may be open: there may be 2 to this number of ways to direct them."""


def representatives(graph: Pdag, x: int) -> Iterator[Dag]:
    """One DAG for each way in which the open edges at x can point (IDA: Maathuis, Kalisch & Buhlmann 2009).

    The parents chosen for x must be joined to one another, or a collider arises that the class does not
    have. All DAGs in which x has the same parents give x the same effects. In a class that knowledge or
    interventions have narrowed, some ways close a cycle with the edges directed by them: they are left out.
    """
    near = sorted({a + b - x for a, b in graph.undirected if x in (a, b)})
    if len(near) > MOST_NEIGHBOURS:
        raise GraphError(
            f"{graph.nodes[x]!r} has {len(near)} edges whose direction is open, over the limit of "
            f"{MOST_NEIGHBOURS}; give knowledge that directs some, or a DAG"
        )
    adjacent = {frozenset(pair) for pair in (*graph.directed, *graph.undirected)}
    rest = tuple(pair for pair in graph.undirected if x not in pair)
    for size in range(len(near) + 1):
        for chosen in combinations(near, size):
            if all(frozenset(pair) in adjacent for pair in combinations(chosen, 2)):
                turned = tuple((v, x) if v in chosen else (x, v) for v in near)
                with suppress(GraphError):
                    yield Pdag(graph.nodes, (*graph.directed, *turned), rest).to_dag()
