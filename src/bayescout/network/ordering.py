"""Elimination orders: greedy by what the next step costs, and drawn anew where the tables are large.

The order decides the size of every table, by factors of ten and more, and finding the best is hard. One
greedy order takes far less time than the tables of a large network; so further ones are tried, by other
criteria and with their costs blurred at random (a fixed seed), as long as trying takes a small part of the
time that the tables will.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import combinations
from math import prod
from random import Random

from bayescout.network.elimination import Graph, Plan, Scope, interaction_graph

ENTRIES_PER_NODE = 2**14
"""The table entries computed in the time in which a greedy order treats one node."""

BLUR = 3.0
"""Costs are multiplied by random numbers from 1 to 1 + BLUR in the orders that are drawn."""

MOST = 64
"""The most orders tried after the first."""

SEED = 0

Cost = Callable[[int, Graph, Sequence[int]], float]


def search(scopes: Sequence[Scope], sizes: Sequence[int], keep: Iterable[int] = ()) -> Plan:
    """The order of the fewest table entries, of those tried, to eliminate every variable but `keep`.

    Of equals the first: by weight, by weighted fill, by fill, then by the last two in turns with costs
    blurred.
    """
    kept = tuple(sorted(set(keep)))
    best = greedy(scopes, sizes, kept, weight)
    price = (1 + len(best.order)) * ENTRIES_PER_NODE
    rng = Random(SEED)
    spent, attempts = price, 0
    while spent < best.total and attempts < MOST:
        criterion = fill if attempts % 2 else weighted_fill
        found = greedy(scopes, sizes, kept, criterion, rng if attempts > 1 else None)
        best = found if found.total < best.total else best
        attempts += 1
        spent += price
    return best


def weight(variable: int, graph: Graph, sizes: Sequence[int]) -> float:
    """The entries of the table that eliminating the variable makes."""
    return sizes[variable] * prod([sizes[other] for other in graph[variable]])


def weighted_fill(variable: int, graph: Graph, sizes: Sequence[int]) -> float:
    """The total weight of the edges that eliminating the variable would add."""
    around = graph[variable]
    total = 0
    for one in around:
        absent = around - graph[one]
        if len(absent) > 1:  # the variable `one` is always among them
            total += sizes[one] * (sum([sizes[other] for other in absent]) - sizes[one])
    return total // 2


def fill(variable: int, graph: Graph, sizes: Sequence[int]) -> float:
    """The number of edges that eliminating the variable would add."""
    around = graph[variable]
    return sum(len(around - graph[one]) - 1 for one in around) // 2


def greedy(
    scopes: Sequence[Scope], sizes: Sequence[int], keep: Scope, cost: Cost, rng: Random | None = None
) -> Plan:
    """Eliminate the variable of least cost, of equals the lowest; `rng` blurs the costs."""
    graph = interaction_graph(scopes, keep)
    far = cost is not weight

    def costing(variable: int) -> float:
        found = cost(variable, graph, sizes)
        return found if rng is None else found * (1 + BLUR * rng.random())

    costs = {v: costing(v) for v in sorted(graph) if v not in keep}
    heap = [(recorded, v) for v, recorded in costs.items()]
    heapify(heap)
    order: list[int] = []
    peak = total = prod(sizes[v] for v in keep)
    at = None
    while heap:
        recorded, variable = heappop(heap)
        if costs.get(variable) != recorded:
            continue  # an outdated entry of a variable whose cost has changed, or that is gone
        del costs[variable]
        made = int(weight(variable, graph, sizes))
        total += made
        if made > peak:
            peak, at = made, variable
        order.append(variable)
        for other in sorted(eliminate(graph, variable, far)):
            if other in costs:
                costs[other] = costing(other)
                heappush(heap, (costs[other], other))
    return Plan(tuple(order), peak, total, at)


def eliminate(graph: Graph, variable: int, far: bool) -> set[int]:
    """Take a variable out and join its neighbours; returns those whose cost may have changed.

    far  True: also the variables two of whose neighbours were joined, as fill depends on these
    """
    around = graph.pop(variable)
    touched = set(around)
    if far:
        for a, b in combinations(sorted(around), 2):
            if b not in graph[a]:
                touched |= graph[a] & graph[b]
    for other in around:
        graph[other] |= around
        graph[other] -= {variable, other}
    touched.discard(variable)
    return touched
