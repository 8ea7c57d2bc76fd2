"""The parts of a question to a discrete network: what bears on it, tables at the evidence, components.

Nodes that are neither asked for, observed, nor ancestors of those sum to one and are left out (barren).
Evidence then fixes its variables, which cuts the rest into components.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescout.errors import warn
from bayescout.graph.labels import quoted
from bayescout.graph.orders import reach
from bayescout.network.elimination import BATCH, Factor, Scope

if TYPE_CHECKING:
    from bayescout.network.network import Network

Codes = Mapping[int, Any]
"""For each observed node the code of its state, or one code per row of a batch."""


@dataclass(frozen=True)
class Component:
    """Nodes whose reduced tables are linked by unobserved variables, and those variables."""

    nodes: tuple[int, ...]
    variables: tuple[int, ...]


def ancestral(network: Network, nodes: Iterable[int]) -> list[int]:
    """The nodes and all their ancestors, ascending."""
    return [node for node, reached in enumerate(reach(network.dag.parents, nodes)) if reached]


def with_constants(network: Network, nodes: Iterable[int], evidence: Codes) -> dict[int, Any]:
    """The evidence, with nodes of a single state added: they cannot be otherwise."""
    fixed = {node: 0 for node in nodes if len(network.discrete_states[node]) == 1}
    return {**fixed, **evidence}


def free_scope(network: Network, node: int, evidence: Codes) -> Scope:
    """The unobserved variables of the node's table, ascending."""
    return tuple(v for v in sorted((*network.dag.parents[node], node)) if v not in evidence)


def components(network: Network, nodes: Sequence[int], evidence: Codes) -> list[Component]:
    """The nodes' tables grouped by shared unobserved variables; observed-only tables stand alone."""
    home: dict[int, int] = {}
    members: list[list[int]] = []
    for node in nodes:
        scope = free_scope(network, node, evidence)
        touched = sorted({home[v] for v in scope if v in home})
        if not touched:
            members.append([])
            touched = [len(members) - 1]
        first, *rest = touched
        members[first].append(node)
        for other in rest:
            members[first] += members[other]
            members[other] = []
            home.update({v: first for v, group in home.items() if group == other})
        home.update(dict.fromkeys(scope, first))
    variables: list[list[int]] = [[] for _ in members]
    for variable, group in home.items():
        variables[group].append(variable)
    return [
        Component(tuple(sorted(group)), tuple(sorted(own)))
        for group, own in zip(members, variables, strict=True)
        if group
    ]


def reduced(network: Network, node: int, evidence: Codes) -> Factor:
    """The node's table at the evidence, as a factor over its unobserved variables.

    Codes that are arrays, one code per row, give the factor a leading batch axis.
    """
    family = (*network.dag.parents[node], node)
    observed = [axis for axis, v in enumerate(family) if v in evidence]
    scope = free_scope(network, node, evidence)
    table = network.tables[node].transpose(*observed, *(family.index(v) for v in scope))
    codes = tuple(evidence[family[axis]] for axis in observed)
    batched = any(isinstance(code, np.ndarray) for code in codes)
    values = np.asarray(table[codes], dtype=np.float64)
    return Factor((BATCH, *scope) if batched else scope, values, network.log_floors[node])


def meets_undefined(network: Network, node: int, evidence: Codes) -> bool:
    """Return True if a row that maximum likelihood left undefined agrees with the evidence."""
    mask = network.undefined[node]
    if not mask.any():
        return False
    parents = network.dag.parents[node]
    observed = [axis for axis, v in enumerate(parents) if v in evidence]
    others = [axis for axis in range(len(parents)) if axis not in observed]
    codes = tuple(evidence[parents[axis]] for axis in observed)
    return bool(np.any(mask.transpose(*observed, *others)[codes]))


def warn_undefined(network: Network, nodes: Iterable[int], what: str) -> None:
    """Give one warning for each kind of nodes, which names those whose undefined rows are involved."""
    involved = list(nodes)
    for is_discrete, taken in (
        (True, "taken as uniform: fit with prior='laplace' to estimate them"),
        (False, "given the regression over all rows: merge states, or take parents away"),
    ):
        own = [n for n in involved if (network.distributions[n].states is not None) == is_discrete]
        if own:
            warn(
                f"{what} uses parent configurations of {quoted([network.dag.nodes[n] for n in own], 5)} that "
                f"the data never showed; they are {taken}"
            )
