"""Networks of one kind, made from arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayescout.data.table import Label
from bayescout.errors import NetworkError
from bayescout.graph.dag import Dag
from bayescout.network.linear_gaussian import LinearGaussian
from bayescout.network.network import Network
from bayescout.network.node import as_array
from bayescout.network.tabular import MAX_PARENTS, Tabular, too_many_parents


class DiscreteNetwork(Network):
    """A DAG with P(node | parents) as one table per node.

    states     for each node its states, in order
    tables     tables[i] has one axis per parent, in the order of `dag.parents[i]`, and the
               node's own states on the last axis, which sums to one
    undefined  for each node a mask over its parent configurations, shape
               `tables[i].shape[:-1]`, true where maximum likelihood has no data to
               estimate from; such a row holds the uniform distribution and is shown as `---`
    cuts       the cut points of the nodes whose states are intervals of a number; see `Tabular`
    missing_states  of the nodes in which a state stands for missing cells; see `Tabular`

    Arrays, or lists of numbers, are copied; those of the network are read-only.
    """

    def __init__(
        self,
        dag: Dag,
        states: Sequence[Sequence[Any]],
        tables: Sequence[Any],
        undefined: Sequence[Any] = (),
        name: str = "",
        cuts: Mapping[Label, Sequence[float]] | None = None,
        missing_states: Mapping[Label, Label] | None = None,
    ) -> None:
        for label, parents in zip(dag.nodes, dag.parents, strict=True):
            if len(parents) > MAX_PARENTS:
                raise NetworkError(too_many_parents(label, len(parents)))
        masks = tuple(undefined) or (None,) * len(tables)
        if not len(dag) == len(states) == len(tables) == len(masks):
            raise NetworkError(f"{len(dag)} nodes but {len(states)} state lists and {len(tables)} tables")
        points = [(cuts or {}).get(label) for label in dag.nodes]
        empty = [(missing_states or {}).get(label) for label in dag.nodes]
        nodes = (
            Tabular(tuple(own), table, mask, None if of_node is None else tuple(of_node), state)
            for own, table, mask, of_node, state in zip(states, tables, masks, points, empty, strict=True)
        )
        super().__init__(dag, tuple(nodes), name)


class GaussianNetwork(Network):
    """A DAG in which each node is intercept + coefficients · parents + normal noise.

    intercepts    (p,)
    coefficients  for each node one number per parent, in the order of `dag.parents[i]`
    variances     (p,) of the noise, not negative

    Arrays, or lists of numbers, are copied; those of the network are read-only.
    """

    kind_without_nodes = LinearGaussian.kind

    def __init__(
        self, dag: Dag, intercepts: Any, coefficients: Sequence[Any], variances: Any, name: str = ""
    ) -> None:
        p = len(dag)
        intercepts = as_array(intercepts, np.float64, "list of intercepts")
        variances = as_array(variances, np.float64, "list of variances")
        if intercepts.shape != (p,) or variances.shape != (p,) or len(coefficients) != p:
            raise NetworkError(f"{p} nodes need {p} intercepts, variances and coefficient lists")
        nodes = (LinearGaussian(*parts) for parts in zip(intercepts, coefficients, variances, strict=True))
        super().__init__(dag, tuple(nodes), name)
