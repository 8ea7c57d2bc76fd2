"""Discrete Bayesian networks: a graph and a conditional probability table a node."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.encode import same_states
from bayescout.data.table import Label, States, Table, lock
from bayescout.errors import BayescoutWarning, NetworkError, UnknownNameError, printable
from bayescout.graph.dag import Dag
from bayescout.graph.labels import counted, graph_size, is_hashable
from bayescout.network.cpt import Cpt
from bayescout.network.likelihood import LogLikelihood

if TYPE_CHECKING:
    from os import PathLike

    from bayescout.network.distribution import Distribution
    from bayescout.network.encode import Matched

ROW_SUM_TOLERANCE = 1e-6
"""How far from one a row of a conditional probability table may sum."""

MAX_PARENTS = 63
"""A table has one axis a parent and one for the node; NumPy allows 64."""


@dataclass(frozen=True, eq=False, repr=False)
class DiscreteNetwork:
    """A DAG with P(node | parents) as one table a node.

    states     for each node its states, in order
    tables     tables[i] has one axis a parent, in the order of `dag.parents[i]`, and the
               node's own states on the last axis, which sums to one
    undefined  for each node a mask over its parent configurations, shape
               `tables[i].shape[:-1]`, true where maximum likelihood has no data to
               estimate from; such a row holds the uniform distribution and is shown as `---`

    Arrays, or lists of numbers, are copied; those of the network are read-only.
    """

    dag: Dag
    states: tuple[States, ...]
    tables: tuple[NDArray[np.float64], ...]
    undefined: tuple[NDArray[np.bool_], ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        for label, parents in zip(self.dag.nodes, self.dag.parents, strict=True):
            if len(parents) > MAX_PARENTS:
                raise NetworkError(too_many_parents(label, len(parents)))
        tables = tuple(as_array(table, np.float64, "table") for table in self.tables)
        masks = tuple(as_array(mask, np.bool_, "mask of undefined rows") for mask in self.undefined)
        object.__setattr__(self, "states", tuple(tuple(states) for states in self.states))
        object.__setattr__(self, "tables", tables)
        object.__setattr__(
            self, "undefined", masks or tuple(np.zeros(table.shape[:-1], dtype=bool) for table in tables)
        )
        if not len(self.dag) == len(self.states) == len(self.tables) == len(self.undefined):
            raise NetworkError(
                f"{len(self.dag)} nodes but {len(self.states)} state lists and {len(self.tables)} tables"
            )
        for child in range(len(self.dag)):
            self._check_node(child)
        lock(*self.tables, *self.undefined)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        lock(*self.tables, *self.undefined)

    def _check_node(self, child: int) -> None:
        label, table = self.dag.nodes[child], self.tables[child]
        shape = tuple(len(self.states[i]) for i in (*self.dag.parents[child], child))
        if table.shape != shape or self.undefined[child].shape != shape[:-1]:
            raise NetworkError(f"the table of {label!r} has shape {table.shape}; its states ask for {shape}")
        if len(set(self.states[child])) != len(self.states[child]):
            raise NetworkError(f"node {label!r} has a state twice: {self.states[child]}")
        if not np.all(table >= 0):
            raise NetworkError(f"the table of {label!r} has an entry that is negative or not a number")
        sums: NDArray[Any] = table.sum(axis=-1)
        off = np.abs(sums - 1)
        if off.size and off.max() > ROW_SUM_TOLERANCE:
            worst = np.unravel_index(int(off.argmax()), off.shape)
            where = ", ".join(
                f"{self.dag.nodes[p]}={self.states[p][int(k)]}"
                for p, k in zip(self.dag.parents[child], worst, strict=True)
            )
            raise NetworkError(
                f"P({label}{' | ' + where if where else ''}) sums to {float(sums[worst]):.6g}, not to 1; "
                f"correct the row or divide it by its sum"
            )

    # ---- size and names

    @property
    def nodes(self) -> tuple[Label, ...]:
        return self.dag.nodes

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of states of each node."""
        return tuple(len(states) for states in self.states)

    @cached_property
    def log_floors(self) -> tuple[float, ...]:
        """For each table the logarithm of its smallest entry above zero."""
        return tuple(float(np.log(table[table > 0].min())) if table.size else 0.0 for table in self.tables)

    @property
    def n_parameters(self) -> int:
        """Free parameters: for each parent configuration one less than the node's states."""
        return sum(table[..., 0].size * (table.shape[-1] - 1) for table in self.tables)

    @property
    def n_undefined(self) -> int:
        """Rows of all tables that the data left undefined."""
        return sum(int(mask.sum()) for mask in self.undefined)

    def cpt(self, node: Label) -> Cpt:
        """The table of one node, to be read: `print(model.cpt("lung"))`."""
        i = self.dag.index(node)
        parents = self.dag.parents[i]
        return Cpt(
            node=node,
            states=self.states[i],
            parents=tuple(self.nodes[p] for p in parents),
            parent_states=tuple(self.states[p] for p in parents),
            probabilities=self.tables[i],
            undefined=self.undefined[i],
        )

    def state_index(self, node: int, state: Any) -> int:
        """The code of a state of a node, by the state's value."""
        states = self.states[node]
        if not is_hashable(state) or state not in states:
            raise UnknownNameError("state", state, states, f"node {self.nodes[node]!r}")
        return states.index(state)

    # ---- probabilities

    def probability(self, assignment: Mapping[Label, Any]) -> float:
        """P(assignment) of a state for every node."""
        return math.exp(self.log_probability(assignment))

    def log_probability(self, assignment: Mapping[Label, Any]) -> float:
        """log P(assignment) of a state for every node, in nats; minus infinity where it is impossible."""
        codes = {self.dag.index(label): 0 for label in assignment}
        absent = [label for i, label in enumerate(self.nodes) if i not in codes]
        if absent:
            raise NetworkError(
                f"the assignment has no value for node {absent[0]!r}; give one for every node, or use query()"
            )
        codes = {
            self.dag.index(label): self.state_index(self.dag.index(label), s)
            for label, s in assignment.items()
        }
        total = 0.0
        for node, table in enumerate(self.tables):
            p = float(table[tuple(codes[v] for v in (*self.dag.parents[node], node))])
            if p == 0:
                return -math.inf
            total += math.log(p)
        return total

    def row_log_likelihood(self, data: Any) -> NDArray[np.float64]:
        """log P(row) for each row, in nats; minus infinity for a row that is impossible.

        A parent configuration that maximum likelihood left undefined counts as uniform;
        `log_likelihood` says how many rows meet one.
        """
        from bayescout.network.likelihood import discrete_rows

        return discrete_rows(self, self._matched(data).columns)[0]

    def log_likelihood(self, data: Any) -> LogLikelihood:
        """The log-likelihood of the data in nats, rows weighted, with unseen and impossible rows counted."""
        from bayescout.network.likelihood import discrete_rows, summed, warn_impossible

        matched = self._matched(data)
        rows, unseen = discrete_rows(self, matched.columns)
        found = summed(rows, matched.weights, unseen)
        if found.impossible_rows:
            counted = np.isneginf(rows) & (True if matched.weights is None else matched.weights > 0)
            warn_impossible(self, matched.columns, np.flatnonzero(counted), len(rows))
        return found

    def _matched(self, data: Any) -> Matched:
        """The codes of every node's column; one that is absent is refused."""
        from bayescout.network.encode import match_nodes

        return match_nodes(self.dag, data, self.states)

    # ---- samples

    def sample(self, n: int, seed: int = 0) -> Table:
        """n rows drawn from the network; the same seed gives the same rows everywhere."""
        from bayescout.network.inference import warn_undefined
        from bayescout.network.sampling import discrete_codes

        codes, undefined = discrete_codes(self, n, seed)
        warn_undefined(self, undefined, "the sample")
        return Table(self.nodes, self.states, codes, np.empty((0, codes.shape[1])))

    # ---- questions

    def query(self, targets: Any, evidence: Mapping[Label, Any] | None = None) -> Distribution:
        """P(targets | evidence), exactly.

        `targets` is a label, a list of labels, or text: `model.query("lung | smoke=yes, xray=no")`.
        In text, labels and states are matched as they print; a name with a comma, bar or equals sign goes
        in double quotes.
        """
        from bayescout.network import inference
        from bayescout.network.distribution import Distribution

        nodes, observed = self._read(targets, evidence)
        return Distribution(
            variables=tuple(self.nodes[i] for i in nodes),
            states=tuple(self.states[i] for i in nodes),
            probabilities=inference.query(self, nodes, observed),
            evidence=self._shown(observed),
        )

    def marginals(self, evidence: Mapping[Label, Any] | None = None) -> dict[Label, Distribution]:
        """P(node | evidence) of every node, all in one pass."""
        from bayescout.network import inference
        from bayescout.network.distribution import Distribution

        observed = self._observed(evidence)
        shown = self._shown(observed)
        found = inference.marginals(self, observed)
        return {
            label: Distribution((label,), (states,), values, shown)
            for label, states, values in zip(self.nodes, self.states, found, strict=True)
        }

    def most_probable(self, evidence: Mapping[Label, Any] | None = None) -> dict[Label, Any]:
        """The complete assignment of largest probability that agrees with the evidence."""
        from bayescout.network import inference

        codes = inference.most_probable(self, self._observed(evidence))
        return {
            label: states[code] for label, states, code in zip(self.nodes, self.states, codes, strict=True)
        }

    def predict_proba(self, data: Any, target: Label) -> NDArray[np.float64]:
        """P(target | the row's other columns), one row of the answer a row of data.

        Nodes without a column are summed out; columns that are no node's are left out, with a warning. A
        row whose evidence is impossible in the network gets the target's distribution without evidence,
        and a warning counts such rows.
        """
        from bayescout.network import inference
        from bayescout.network.encode import match_evidence

        node = self.dag.index(target)
        matched = match_evidence(self.dag, data, self.states, node)
        answers, impossible = inference.predict(self, node, matched.columns, matched.n_rows)
        if impossible.any():
            warnings.warn(
                f"{int(impossible.sum()):,} of {matched.n_rows:,} rows have evidence of probability zero, "
                f"the first is row {int(np.argmax(impossible))} (counting from 0); {target!r} is predicted "
                f"there without evidence: fit with prior='laplace' to leave nothing impossible",
                BayescoutWarning,
                stacklevel=2,
            )
        return answers

    def predict(self, data: Any, target: Label) -> list[Any]:
        """The most probable state of the target for each row; of equals, the one listed first."""
        states = self.states[self.dag.index(target)]
        return [states[code] for code in self.predict_proba(data, target).argmax(axis=1).tolist()]

    def _read(
        self, targets: Any, evidence: Mapping[Label, Any] | None
    ) -> tuple[tuple[int, ...], dict[int, int]]:
        from bayescout.network.question import match_text, read_question

        nodes, observed = read_question(self.dag, targets, evidence)
        codes = {}
        for node, (value, is_text) in observed.items():
            where = f"node {self.nodes[node]!r}"
            known = self.states[node]
            codes[node] = (
                match_text("state", value, known, where) if is_text else self.state_index(node, value)
            )
        return nodes, codes

    def _observed(self, evidence: Mapping[Label, Any] | None) -> dict[int, int]:
        pairs = [(self.dag.index(label), state) for label, state in (evidence or {}).items()]
        return {node: self.state_index(node, state) for node, state in pairs}

    def _shown(self, observed: Mapping[int, int]) -> tuple[tuple[Label, Any], ...]:
        return tuple((self.nodes[node], self.states[node][code]) for node, code in observed.items())

    # ---- files and text

    def save(self, path: str | PathLike[str]) -> None:
        """Write the network; the ending of the path chooses the format (.bif, .json, ...)."""
        from bayescout.formats import write_network

        write_network(self, path)

    def equals(self, other: object, tolerance: float = 0.0) -> bool:
        """Whether graph, states and undefined rows are the same and no probability differs by more."""
        return (
            isinstance(other, DiscreteNetwork)
            and self.dag == other.dag
            and all(same_states(a, b) for a, b in zip(self.states, other.states, strict=True))
            and all(np.array_equal(a, b) for a, b in zip(self.undefined, other.undefined, strict=True))
            and all(
                bool(np.all(np.abs(a - b) <= tolerance))
                for a, b in zip(self.tables, other.tables, strict=True)
            )
        )

    def summary(self) -> str:
        """Size, parameters and undefined rows in a few lines."""
        sizes = self.sizes or (0,)
        lines = [
            f"{printable(self.name) or 'discrete network'}: {graph_size(len(self.dag), self.dag.n_arcs)}",
            f"  states        {min(sizes)}{f' to {max(sizes)}' if max(sizes) > min(sizes) else ''} a node",
            f"  parents       at most {max((len(p) for p in self.dag.parents), default=0)}",
            f"  parameters    {self.n_parameters:,}",
            f"  undefined     {self.n_undefined:,} rows of the tables",
        ]
        return "\n".join(lines)

    def plot(self, cpts: bool = False, truth: Any = None, strengths: Any = None) -> Any:
        """A matplotlib figure of the network, with its conditional probabilities in the boxes where asked."""
        from bayescout.plots.figures import plot_network

        return plot_network(self, truth, strengths, cpts)

    def _repr_html_(self) -> str:
        from bayescout.report.notebook import network_html

        return network_html(self)

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        size = graph_size(len(self.dag), self.dag.n_arcs)
        return f"<DiscreteNetwork{name}: {size}, {counted(self.n_parameters, 'parameter')}>"


def too_many_parents(label: Label, count: int) -> str:
    """Why a node's table cannot be made, and what to do; parents of one state are the ones to leave out."""
    return (
        f"node {label!r} has {count} parents, and a table has room for {MAX_PARENTS}; leave out those of one "
        f"state, which say nothing"
    )


def as_array(values: Any, kind: type[Any], what: str) -> NDArray[Any]:
    """A copy of the values as an array, so that nobody else can change it."""
    try:
        return np.array(values, dtype=kind, order="C")
    except (TypeError, ValueError):
        raise NetworkError(f"a {what} of the network is not numbers in rows of equal length") from None
