"""Acting on a network: variables set from outside, which cuts them off from their causes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayescout.errors import NetworkError, SettingError
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Label
from bayescout.network.distribution import Answer, MixedDistribution
from bayescout.network.headings import Evidence
from bayescout.network.linear_gaussian import LinearGaussian
from bayescout.network.node import NodeDistribution
from bayescout.network.tabular import Tabular

if TYPE_CHECKING:
    from bayescout.network.network import Network

Some = TypeVar("Some", bound=Answer)


def mutilated(network: Network, values: Mapping[int, Any]) -> Network:
    """The network in which the nodes have these values (codes or numbers), whatever their parents are."""
    parents = tuple(() if i in values else own for i, own in enumerate(network.dag.parents))
    distributions = tuple(
        _fixed(network.nodes[i], one, values[i]) if i in values else one
        for i, one in enumerate(network.distributions)
    )
    fresh = {network.nodes[i]: _shown(network.distributions[i], value) for i, value in values.items()}
    done = tuple({**dict(network.done), **fresh}.items())
    return network.changed(Dag(network.nodes, parents), distributions, done)


def actions(values: Mapping[Label, Any] | None, by_name: Mapping[str, Any]) -> dict[Label, Any]:
    """The values to set, from a mapping and from keywords."""
    if values is not None and not isinstance(values, Mapping):
        raise SettingError(
            f"do takes values by name, do(smoke='yes'), or a mapping, do({{'smoke': 'yes'}}), not {values!r}"
        )
    found: dict[Label, Any] = dict(values or {})
    found.update(by_name)
    if not found:
        raise SettingError("do needs at least one variable and its value, as in do(smoke='yes')")
    return found


def _fixed(label: Label, node: NodeDistribution, value: Any) -> NodeDistribution:
    """A node that has one value, and no parents."""
    if isinstance(node, Tabular):
        table = np.zeros(len(node.states))
        table[value] = 1.0
        return replace(node, table=table, undefined=np.zeros((), dtype=bool))
    if node.states is None:
        return LinearGaussian(float(value), np.empty(0), 0.0)
    raise NetworkError(f"node {label!r} is of a kind that cannot be set: {type(node).__name__}")


def _shown(node: NodeDistribution, value: Any) -> Any:
    return value if node.states is None else node.states[value]


def said(answer: Some, done: Evidence) -> Some:
    """The answer, in which it is said what was set."""
    if not done:
        return answer
    if isinstance(answer, MixedDistribution):
        others = tuple(None if one is None else replace(one, done=done) for one in answer.continuous)
        return replace(answer, discrete=replace(answer.discrete, done=done), continuous=others)
    return replace(answer, done=done)
