"""A graph and the distribution of each node given its parents: sizes, names, kinds and parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayescout.data.reading import Notes, cut_notes
from bayescout.data.table import Label, States, lock
from bayescout.display import Lines
from bayescout.errors import NetworkError, WrongKindError, printable
from bayescout.graph.dag import Dag
from bayescout.graph.labels import counted, graph_size, quoted
from bayescout.network.conditional_gaussian import ConditionalGaussian
from bayescout.network.cpt import Cpt
from bayescout.network.headings import Evidence
from bayescout.network.linear_gaussian import LinearGaussian
from bayescout.network.node import NodeDistribution, Parameters
from bayescout.network.tabular import Tabular

Kind = TypeVar("Kind", bound=NodeDistribution)


@dataclass(frozen=True, eq=False, repr=False)
class ParameterisedGraph:
    """What a network is made of, without what it answers; see `Network`."""

    dag: Dag
    distributions: tuple[NodeDistribution, ...]
    name: str = ""
    done: Evidence = ()

    kind_without_nodes: ClassVar[str] = Tabular.kind

    def __post_init__(self) -> None:
        object.__setattr__(self, "distributions", tuple(self.distributions))
        if len(self.dag) != len(self.distributions):
            raise NetworkError(
                f"{counted(len(self.dag), 'node')} but {counted(len(self.distributions), 'distribution')}; "
                f"give one per node"
            )
        for i, (label, distribution) in enumerate(zip(self.nodes, self.distributions, strict=True)):
            distribution.check(label, self._given(i))

    def __getstate__(self) -> dict[str, Any]:
        return {"dag": self.dag, "distributions": self.distributions, "name": self.name, "done": self.done}

    # ---- size and names

    @property
    def nodes(self) -> tuple[Label, ...]:
        return self.dag.nodes

    @cached_property
    def kind(self) -> str:
        """The kind of all nodes, "discrete" or "gaussian", or "mixed"."""
        kinds = {distribution.kind for distribution in self.distributions} or {self.kind_without_nodes}
        return kinds.pop() if len(kinds) == 1 else "mixed"

    @property
    def is_discrete(self) -> bool:
        return self.kind == Tabular.kind

    @property
    def is_gaussian(self) -> bool:
        return self.kind == LinearGaussian.kind

    @property
    def is_mixed(self) -> bool:
        """True if discrete and continuous nodes are together, all of kinds that inference knows."""
        known = (Tabular, LinearGaussian, ConditionalGaussian)
        return self.kind == "mixed" and all(isinstance(one, known) for one in self.distributions)

    @cached_property
    def cuts(self) -> dict[Label, tuple[float, ...]]:
        """The cut points of the nodes that were cut into intervals: raw numbers are turned into these."""
        pairs = zip(self.nodes, self.distributions, strict=True)
        return {label: one.cuts for label, one in pairs if isinstance(one, Tabular) and one.cuts is not None}

    @cached_property
    def missing_states(self) -> dict[Label, Label]:
        """The state of the nodes that have one for missing cells: empty cells are turned into these."""
        pairs = zip(self.nodes, self.distributions, strict=True)
        return {
            label: one.missing_state
            for label, one in pairs
            if isinstance(one, Tabular) and one.missing_state is not None
        }

    @cached_property
    def notes(self) -> Notes:
        """What tables made by the network note of its nodes: their cuts and states for missing cells."""
        return replace(cut_notes(Notes(), self.cuts), missing_states=tuple(self.missing_states.items()))

    @property
    def n_parameters(self) -> int:
        """The free parameters of all nodes."""
        return sum(distribution.n_parameters for distribution in self.distributions)

    @property
    def n_undefined(self) -> int:
        """The parent configurations of all nodes that the data left undefined."""
        return sum(distribution.n_undefined for distribution in self.distributions)

    def parameters(self, node: Label) -> Parameters:
        """The parameters of one node with their labels, for display."""
        i = self.dag.index(node)
        return self.distributions[i].parameters(node, self._given(i))

    def _given(self, i: int) -> dict[Label, NodeDistribution]:
        """The parents of a node and their distributions."""
        return {self.nodes[parent]: self.distributions[parent] for parent in self.dag.parents[i]}

    def _all(self, kind: type[Kind]) -> tuple[Kind, ...]:
        """The distributions if all are of this kind: the one place where other networks are refused."""
        if self.kind != kind.kind:
            pairs = zip(self.nodes, self.distributions, strict=True)
            others = [label for label, one in pairs if one.kind != kind.kind]
            raise WrongKindError(
                f"this needs a network whose nodes are all {kind.kind}, and this one is {self.kind}"
                f"{': see ' if others else ''}{quoted(others, 3)}; networks of every kind have sample, "
                f"log_likelihood and parameters"
            )
        return tuple(one for one in self.distributions if isinstance(one, kind))

    @cached_property
    def states(self) -> tuple[States | None, ...]:
        """For each node its states, in order; None for a continuous node, as in a table."""
        return tuple(node.states for node in self.distributions)

    # ---- of discrete networks

    @cached_property
    def discrete_states(self) -> tuple[States, ...]:
        """For each node its states, if every node is discrete; other networks are refused."""
        return tuple(node.states for node in self._all(Tabular))

    @cached_property
    def tables(self) -> tuple[NDArray[np.float64], ...]:
        """For each node P(node | parents): one axis per parent, then the node's own states."""
        return tuple(node.table for node in self._all(Tabular))

    @cached_property
    def undefined(self) -> tuple[NDArray[np.bool_], ...]:
        """For each node a mask over its parent configurations, True where the data showed none."""
        return tuple(node.undefined for node in self._all(Tabular))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of states of each node."""
        return tuple(len(states) for states in self.discrete_states)

    @cached_property
    def log_floors(self) -> tuple[float, ...]:
        """For each table the logarithm of its smallest entry above zero."""
        return tuple(node.log_floor for node in self._all(Tabular))

    def cpt(self, node: Label) -> Cpt:
        """The table of one discrete node, for display: `print(model.cpt("lung"))`."""
        i = self.dag.index(node)
        found = self.distributions[i]
        if self.kind == "mixed" and isinstance(found, Tabular):
            return found.parameters(node, self._given(i))
        return self._all(Tabular)[i].parameters(node, self._given(i))

    # ---- of Gaussian networks

    @cached_property
    def intercepts(self) -> NDArray[np.float64]:
        """(p,) the intercept of each node."""
        return _locked([node.intercept for node in self._all(LinearGaussian)])

    @cached_property
    def variances(self) -> NDArray[np.float64]:
        """(p,) the variance of each node's noise."""
        return _locked([node.variance for node in self._all(LinearGaussian)])

    @cached_property
    def coefficients(self) -> tuple[NDArray[np.float64], ...]:
        """For each node one number per parent, in the order of `dag.parents[i]`."""
        return tuple(node.coefficients for node in self._all(LinearGaussian))

    def equation(self, node: Label) -> str:
        """`y = 1.5 + 0.3 x - 2 z + N(0, 0.25)`; with discrete parents one line per configuration of these."""
        i = self.dag.index(node)
        if self.is_mixed and self.distributions[i].states is not None:
            raise WrongKindError(f"node {node!r} is discrete and has no equation: cpt() shows its table")
        if self.is_mixed:
            return Lines(self.parameters(node))
        return Lines(self._all(LinearGaussian)[i].parameters(node, self._given(i)))

    # ---- comparison and text

    def equals(self, other: object, tolerance: float = 0.0) -> bool:
        """Return True if graph, kind and states are the same and no parameter differs by more."""
        return (
            isinstance(other, ParameterisedGraph)
            and self.dag == other.dag
            and self.kind == other.kind
            and all(
                a.equals(b, tolerance) for a, b in zip(self.distributions, other.distributions, strict=True)
            )
        )

    def summary(self) -> str:
        """Size, parameters and undefined rows in a few lines."""
        kind = "Gaussian" if self.is_gaussian else self.kind
        lines = [f"{printable(self.name) or f'{kind} network'}: {graph_size(len(self.dag), self.dag.n_arcs)}"]
        sizes = [len(one.states) for one in self.distributions if one.states is not None]
        low, high = min(sizes, default=0), max(sizes, default=0)
        span = f"{low}{f' to {high}' if high > low else ''}"
        if self.is_discrete:
            lines.append(f"  states        {span} a node")
        elif self.kind == "mixed":
            lines.append(f"  discrete      {counted(len(sizes), 'node')} of {span} states")
            lines.append(f"  continuous    {counted(len(self.dag) - len(sizes), 'node')}")
        if self.done:
            lines.append(f"  set           {', '.join(printable(f'{k}={v}') for k, v in self.done)}")
        if self.cuts:
            lines.append(f"  cut           {counted(len(self.cuts), 'node')}, from numbers")
        if self.missing_states:
            lines.append(f"  missing       a state of {counted(len(self.missing_states), 'node')}")
        lines.append(f"  parents       at most {max((len(p) for p in self.dag.parents), default=0)}")
        lines.append(f"  parameters    {self.n_parameters:,}")
        if not self.is_gaussian:
            where = "rows of the tables" if self.is_discrete else "parent configurations"
            lines.append(f"  undefined     {self.n_undefined:,} {where}")
        return Lines("\n".join(lines))

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        name += printable(f" do({', '.join(f'{k}={v}' for k, v in self.done)})") if self.done else ""
        size = graph_size(len(self.dag), self.dag.n_arcs)
        return f"<{type(self).__name__}{name}: {size}, {counted(self.n_parameters, 'parameter')}>"


def _locked(numbers: list[float]) -> NDArray[np.float64]:
    found = np.array(numbers, dtype=np.float64)
    lock(found)
    return found
