"""Joint probabilities of a few variables of a discrete network, and their cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import TooLargeError
from bayescout.network import Network, inference, parts
from bayescout.network.elimination import plan

MAX_COST = 2**28
"""The most table entries, in total, for an exact answer: a few seconds."""


def cost(network: Network, scope: Sequence[int]) -> int:
    """The number of entries of all tables needed for P(scope)."""
    nodes = parts.ancestral(network, scope)
    scopes = [tuple(sorted((*network.dag.parents[node], node))) for node in nodes]
    return plan(scopes, network.sizes, scope).total


def refuse_costly(network: Network, scopes: Sequence[Sequence[int]], what: str) -> None:
    """Raise `TooLargeError` if the exact joint probabilities of these scopes cost too much."""
    spent = 0
    for scope in scopes:
        spent += cost(network, scope)
        if spent > MAX_COST or len(scope) > inference.MAX_TARGETS:
            raise TooLargeError(
                f"{what} needs tables of more than {MAX_COST:,} entries or {inference.MAX_TARGETS} axes"
            )


def joint(network: Network, scope: Sequence[int]) -> NDArray[np.float64]:
    """P(scope), one axis per variable."""
    return inference.query(network, scope, {})
