"""Answers that are estimates: draws for a component of a question, what they are worth, and how to say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayescout.errors import TooLargeError, warn
from bayescout.graph.labels import quoted
from bayescout.network import importance
from bayescout.network.asking import Way
from bayescout.network.elimination import Array
from bayescout.network.importance import Draws
from bayescout.network.ordering import search
from bayescout.network.parts import Codes, Component, free_scope, reduced
from bayescout.wording import setting

if TYPE_CHECKING:
    from bayescout.network.network import Network


@dataclass(frozen=True)
class Estimate:
    """Probabilities, the standard error of each (None: exact), and how they were found ("": exactly)."""

    values: Array
    errors: Array | None
    method: str


def estimate(network: Network, part: Component, evidence: Codes, way: Way) -> Draws | None:
    """Draws of the variables of a component given the evidence; None if that is impossible.

    Refused if a few draws have all the weight.
    """
    scopes = [free_scope(network, node, evidence) for node in part.nodes]
    order = search(scopes, network.sizes).order
    plan = importance.proposal([reduced(network, node, evidence) for node in part.nodes], order)
    if plan.bound == float("-inf"):
        return None
    found = importance.enough_draws(plan, way.draws or importance.DRAWS, way.seed)
    if found.effective < importance.LEAST_EFFECTIVE:
        raise TooLargeError(
            f"an estimate from {found.n:,} draws is worth only {found.effective:.0f} of them, fewer than "
            f"{importance.LEAST_EFFECTIVE:.0f}, as the evidence is improbable or the network very large; "
            f"allow more by {setting('draws', ...)}, observe more variables, or leave evidence out"
        )
    return found


def how(draws: Draws) -> str:
    """How an estimate was made."""
    return (
        f"importance sampling with weighted mini-buckets, {draws.n:,} draws worth {draws.effective:,.0f} "
        f"of the exact distribution"
    )


def warn_estimate(network: Network, targets: Sequence[int], found: Estimate, reason: TooLargeError) -> None:
    """Warn that an answer is an estimate, and why."""
    assert found.errors is not None
    largest = float(found.errors.max())
    warn(
        f"the answer for {quoted([network.nodes[t] for t in targets], 3)} is an estimate ({found.method}; "
        f"standard error at most {largest:.2g}): {reason}; or refuse it by {setting('exact', True)}"
    )
