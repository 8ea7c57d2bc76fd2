"""Trees of clusters: what an elimination order makes, before any table is there.

Each step of an elimination is a cluster, the variable and its neighbours; what remains after the sum, its
separator, goes to the cluster that next eliminates one of these. A cluster that lies within the one that
sends to it is merged with it: what is left are the cliques of a junction tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from bayescout.network.elimination import Scope

ROOT = -1


@dataclass(frozen=True, slots=True)
class Cluster:
    """Some variables, and where they stand in the tree.

    scope      its variables, ascending
    separator  those it shares with its parent, ascending; the others are summed out here
    parent     a later cluster, or `ROOT`
    children   earlier clusters
    factors    the positions of the factors that are multiplied here
    keeps      True for the cluster of the variables that are kept
    """

    scope: Scope
    separator: Scope
    parent: int
    children: tuple[int, ...]
    factors: tuple[int, ...]
    keeps: bool = False


def tree(scopes: Sequence[Scope], order: Sequence[int], keep: Scope = ()) -> list[Cluster]:
    """The clusters of an elimination, children before parents.

    Variables to keep, and factors without variables, are in a last cluster, where all roots send to.
    """
    position = {variable: place for place, variable in enumerate(order)}
    last = len(order)
    homes = [min((position.get(v, last) for v in scope), default=last) for scope in scopes]
    separators = _separators(scopes, order, position, homes)
    parents = [min((position.get(v, last) for v in own), default=last) for own in separators]
    merged, ends = _merged(separators, parents)
    firsts = sorted((place for place in range(last) if merged[place] == place), key=ends.__getitem__)
    number = {first: i for i, first in enumerate(firsts)}
    number[last] = len(firsts) if keep or last in homes or not last else ROOT
    made = [
        (
            tuple(sorted((order[first], *separators[first]))),
            separators[ends[first]],
            number[merged[parents[ends[first]]]],
        )
        for first in firsts
    ]
    made += [(keep, (), ROOT)] if number[last] != ROOT else []
    children: list[list[int]] = [[] for _ in made]
    for child, (_, _, parent) in enumerate(made):
        if parent != ROOT:
            children[parent].append(child)
    factors: list[list[int]] = [[] for _ in made]
    for factor, home in enumerate(homes):
        factors[number[merged[home]]].append(factor)
    return [
        Cluster(scope, separator, parent, tuple(below), tuple(own), i == number[last])
        for i, ((scope, separator, parent), below, own) in enumerate(
            zip(made, children, factors, strict=True)
        )
    ]


JOINED = 1024
"""The most entries of a table that small clusters are joined in: calls take longer than they do."""


def joined(clusters: Sequence[Cluster], sizes: Sequence[int], most: int = JOINED) -> list[Cluster]:
    """The tree with clusters joined to their parents as long as the tables stay small."""
    into = list(range(len(clusters)))
    scopes = [set(own.scope) for own in clusters]
    factors = [list(own.factors) for own in clusters]
    for i, own in enumerate(clusters):
        up = own.parent
        if up == ROOT or clusters[up].keeps:
            continue
        both = scopes[i] | scopes[up]
        if prod([sizes[v] for v in both]) <= most:
            into[i], scopes[up] = up, both
            factors[up] += factors[i]
    left = [i for i, home in enumerate(into) if home == i]
    if len(left) == len(clusters):
        return list(clusters)
    for i in reversed(range(len(clusters))):  # parents before children
        into[i] = into[into[i]]
    number = {i: place for place, i in enumerate(left)}
    parents = [ROOT if (up := clusters[i].parent) == ROOT else number[into[up]] for i in left]
    children: list[list[int]] = [[] for _ in left]
    for place, parent in enumerate(parents):
        if parent != ROOT:
            children[parent].append(place)
    return [
        Cluster(
            tuple(sorted(scopes[i])),
            clusters[i].separator,
            parents[place],
            tuple(children[place]),
            tuple(sorted(factors[i])),
            clusters[i].keeps,
        )
        for place, i in enumerate(left)
    ]


def _merged(separators: Sequence[Scope], parents: Sequence[int]) -> tuple[list[int], list[int]]:
    """For each step the first step of its cluster, and for each first step the last one.

    A step whose table is no more than what one before it sends to it belongs to the same cluster.
    """
    last = len(separators)
    merged, ends = list(range(last + 1)), list(range(last + 1))
    for place, up in enumerate(parents):
        if up < last and merged[up] == up and len(separators[place]) == len(separators[up]) + 1:
            merged[up] = merged[place]
            ends[merged[place]] = up
    return merged, ends


def _separators(
    scopes: Sequence[Scope], order: Sequence[int], position: dict[int, int], homes: Sequence[int]
) -> list[Scope]:
    """For each step the other variables in its table, ascending."""
    last = len(order)
    held: list[set[int]] = [set() for _ in range(last + 1)]
    for scope, home in zip(scopes, homes, strict=True):
        held[home].update(scope)
    separators: list[Scope] = []
    for place, variable in enumerate(order):
        others = held[place] - {variable}
        separators.append(tuple(sorted(others)))
        held[min((position.get(v, last) for v in others), default=last)] |= others
        held[place] = set()
    return separators


def entries(scope: Scope, sizes: Sequence[int]) -> int:
    """The entries of a table."""
    return prod([sizes[v] for v in scope])
