"""d-separation by reachability, in time linear in the size of the graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from bayescout.errors import GraphError

if TYPE_CHECKING:
    from bayescout.graph.dag import Dag


def d_connected(dag: Dag, sources: Iterable[int], given: Iterable[int]) -> list[bool]:
    """For each node, True if an active trail from a source ends there, given the observed nodes.

    The ball of Shachter (1998). It enters a node from a child ("up") or from a parent ("down").
    It passes an unobserved node: from a child in every direction, from a parent to the children.
    An observed node stops it, except that from a parent it bounces back to the parents.
    So a collider is passed if it or a descendant is observed. Sources count as connected to
    themselves; observed nodes are connected to nothing.
    """
    observed, entered = _ball(dag, sources, given)
    return [one and not seen for one, seen in zip(entered, observed, strict=True)]


def requisite(dag: Dag, sources: Iterable[int], given: Sequence[int]) -> list[int]:
    """The observed nodes that the sources depend on given all of them, in the order of `given`.

    They are those that the ball enters: the sources are independent of all others given these.
    """
    _, entered = _ball(dag, sources, given)
    return [node for node in given if entered[node]]


def _ball(dag: Dag, sources: Iterable[int], given: Iterable[int]) -> tuple[list[bool], list[bool]]:
    """For each node, whether it is observed, and whether the ball enters it."""
    observed = [False] * len(dag)
    for node in given:
        observed[node] = True
    up, down = [False] * len(dag), [False] * len(dag)
    stack = [(source, True) for source in sources]
    while stack:
        node, from_child = stack.pop()
        entered = up if from_child else down
        if entered[node]:
            continue
        entered[node] = True
        if not observed[node]:
            stack += [(child, False) for child in dag.children[node]]
        if from_child != observed[node]:
            stack += [(parent, True) for parent in dag.parents[node]]
    return observed, [one or other for one, other in zip(up, down, strict=True)]


def d_separated(dag: Dag, left: Iterable[int], right: Iterable[int], given: Iterable[int] = ()) -> bool:
    """Return True if `given` blocks every trail between the two sets; the three must be disjoint.

    With an empty left or right side there is no trail to block, so the answer is True.
    """
    left, right, given = set(left), set(right), set(given)
    shared = sorted((left & right) | (left & given) | (right & given))
    if shared:
        names = ", ".join(repr(dag.nodes[i]) for i in shared)
        raise GraphError(f"the sets of a d-separation must not overlap; {names} is in more than one of them")
    connected = d_connected(dag, sorted(left), given)
    return not any(connected[node] for node in right)
