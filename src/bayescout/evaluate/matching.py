"""Match two networks over the same variables: express one in the positions and states of the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import NetworkError
from bayescout.graph.labels import check_same_nodes, quoted
from bayescout.network import Network

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FamilyTable:
    """P(child | parents) over the states of another network.

    scope      the family's positions, ascending; the axes of the arrays
    child      the position of the child
    table      probabilities, 0 for a state unknown to the network
    undefined  1.0 where the parents' values were never seen, so that the uniform distribution is used
    """

    scope: tuple[int, ...]
    child: int
    table: Floats
    undefined: Floats


def require_networks(truth: Any, learned: Any) -> None:
    """Raise unless both are networks with parameters, of one kind, over the same labels."""
    for role, network in (("the truth", truth), ("the learned network", learned)):
        if not isinstance(network, Network):
            raise NetworkError(
                f"{role} must be a network with parameters, not {type(network).__name__}; "
                f"estimate them with bayescout.fit(graph, data)"
            )
    if truth.kind != learned.kind:
        names = ("Gaussian" if network.is_gaussian else network.kind for network in (truth, learned))
        one, other = sorted(names, reverse=True)
        raise NetworkError(f"one network is {one} and the other {other}; they have no common scale")
    check_same_nodes(learned.nodes, truth.nodes, "the learned network", "the truth")


def families(network: Network, states: Sequence[Sequence[Any]], nodes: Sequence[Any]) -> list[FamilyTable]:
    """The network's tables in the order of `nodes`, over the given states of these.

    A state unknown to the network has probability 0 as a child's. As a parent's it gives the child
    probability 1: the parent's own 0 already makes it impossible.
    """
    place = {label: i for i, label in enumerate(nodes)}
    moved = [place[label] for label in network.nodes]
    known = [
        _positions(label, own, states[i])
        for label, own, i in zip(network.nodes, network.discrete_states, moved, strict=True)
    ]
    made = []
    for child, parents in enumerate(network.dag.parents):
        family = (*parents, child)
        table = _taken(network.tables[child], [known[v] for v in family], 1.0)
        table[..., known[child] < 0] = 0.0
        undefined = _taken(network.undefined[child].astype(np.float64), [known[p] for p in parents], 0.0)
        axes = np.argsort([moved[v] for v in family], kind="stable").tolist()
        over = np.broadcast_to(undefined[..., None], table.shape)
        scope = tuple(sorted(moved[v] for v in family))
        made.append(FamilyTable(scope, moved[child], table.transpose(axes), over.transpose(axes)))
    return sorted(made, key=lambda one: one.child)


def _positions(label: Any, own: Sequence[Any], wanted: Sequence[Any]) -> NDArray[np.int64]:
    """The code in `own` of each wanted state, by value and type; -1 if it is not there."""
    position = {(type(state), state): code for code, state in enumerate(own)}
    found = np.array([position.get((type(state), state), -1) for state in wanted], dtype=np.int64)
    if (found < 0).all():
        raise NetworkError(
            f"node {label!r} has the states {quoted(wanted)} in the truth and {quoted(own)} in the learned "
            f"network: none in common; recode the data the network was fitted to"
        )
    return found


def _taken(array: Floats, codes: Sequence[NDArray[np.int64]], absent: float) -> Floats:
    """The entries at these codes of each axis; `absent` where a code is -1."""
    if not codes:
        return array.copy()
    taken = array[np.ix_(*(np.maximum(one, 0) for one in codes))]
    for axis, one in enumerate(codes):
        taken[(slice(None),) * axis + (one < 0,)] = absent
    return taken
