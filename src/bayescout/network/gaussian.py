"""Linear-Gaussian Bayesian networks: a graph and a linear regression a node."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Label, Table, lock
from bayescout.errors import BayescoutWarning, NetworkError, printable
from bayescout.graph.dag import Dag
from bayescout.graph.labels import counted, graph_size
from bayescout.network.discrete import as_array
from bayescout.network.likelihood import LogLikelihood, gaussian_rows, summed

if TYPE_CHECKING:
    from os import PathLike

    from bayescout.network.distribution import GaussianDistribution
    from bayescout.network.encode import Matched


@dataclass(frozen=True, eq=False, repr=False)
class GaussianNetwork:
    """A DAG in which each node is intercept + coefficients · parents + normal noise.

    intercepts    (p,)
    coefficients  for each node one number a parent, in the order of `dag.parents[i]`
    variances     (p,) of the noise, not negative

    Arrays, or lists of numbers, are copied; those of the network are read-only.
    """

    dag: Dag
    intercepts: NDArray[np.float64]
    coefficients: tuple[NDArray[np.float64], ...]
    variances: NDArray[np.float64]
    name: str = ""

    def __post_init__(self) -> None:
        p = len(self.dag)
        for field in ("intercepts", "variances"):
            object.__setattr__(self, field, as_array(getattr(self, field), np.float64, f"list of {field}"))
        copied = tuple(as_array(listed, np.float64, "list of coefficients") for listed in self.coefficients)
        object.__setattr__(self, "coefficients", copied)
        if self.intercepts.shape != (p,) or self.variances.shape != (p,) or len(self.coefficients) != p:
            raise NetworkError(f"{p} nodes need {p} intercepts, variances and coefficient lists")
        for label, parents, weights in zip(self.dag.nodes, self.dag.parents, self.coefficients, strict=True):
            if weights.shape != (len(parents),):
                raise NetworkError(
                    f"node {label!r} has {len(parents)} parents but {weights.size} coefficients"
                )
        for array in (self.intercepts, self.variances, *self.coefficients):
            if not np.all(np.isfinite(array)):
                raise NetworkError("a parameter of the Gaussian network is not a finite number")
        if np.any(self.variances < 0):
            label = self.dag.nodes[int(np.argmin(self.variances))]
            raise NetworkError(f"node {label!r} has a negative variance, {self.variances.min():g}")
        lock(self.intercepts, self.variances, *self.coefficients)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        lock(self.intercepts, self.variances, *self.coefficients)

    # ---- size and names

    @property
    def nodes(self) -> tuple[Label, ...]:
        return self.dag.nodes

    @property
    def n_parameters(self) -> int:
        """Free parameters: for each node an intercept, a variance and one coefficient a parent."""
        return sum(len(parents) + 2 for parents in self.dag.parents)

    # ---- probabilities

    def log_probability(self, assignment: Mapping[Label, float]) -> float:
        """The log-density, in nats, of a value for every node."""
        values = self._numbers({self.dag.index(label): (value, False) for label, value in assignment.items()})
        absent = [label for i, label in enumerate(self.nodes) if i not in values]
        if absent:
            raise NetworkError(
                f"the assignment has no value for node {absent[0]!r}; give one for every node, or use query()"
            )
        return float(gaussian_rows(self, {node: np.array([value]) for node, value in values.items()})[0])

    def probability(self, assignment: Mapping[Label, float]) -> float:
        """The density of a value for every node."""
        return math.exp(self.log_probability(assignment))

    def row_log_likelihood(self, data: Any) -> NDArray[np.float64]:
        """The log-density of each row, in nats."""
        return gaussian_rows(self, self._matched(data).columns)

    def log_likelihood(self, data: Any) -> LogLikelihood:
        """The log-likelihood of the data in nats, rows weighted; no row is ever unseen or impossible."""
        matched = self._matched(data)
        rows = gaussian_rows(self, matched.columns)
        return summed(rows, matched.weights, np.zeros(len(rows), dtype=bool))

    def _matched(self, data: Any) -> Matched:
        """The numbers of every node's column; one that is absent is refused."""
        from bayescout.network.encode import match_nodes

        return match_nodes(self.dag, data, None)

    # ---- samples

    def sample(self, n: int, seed: int = 0) -> Table:
        """n rows drawn from the network; the same seed gives the same rows."""
        from bayescout.network.sampling import gaussian_values

        values = gaussian_values(self, n, seed)
        return Table(
            self.nodes, (None,) * len(self.nodes), np.empty((0, values.shape[1]), dtype=np.uint8), values
        )

    # ---- questions

    def joint(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean vector and the covariance matrix of all nodes, in the order of `nodes`."""
        from bayescout.network.conditioning import joint

        return joint(self)

    def query(self, targets: Any, evidence: Mapping[Label, float] | None = None) -> GaussianDistribution:
        """The normal distribution of the targets given the evidence, exactly.

        `targets` is a label, a list of labels, or text: `model.query("y | x=1.5, z=0")`. Evidence that
        variables without noise of their own rule out is refused.
        """
        from bayescout.network.conditioning import condition
        from bayescout.network.distribution import GaussianDistribution
        from bayescout.network.question import read_question

        nodes, observed = read_question(self.dag, targets, evidence)
        values = self._numbers(observed)
        found = condition(self, nodes, list(values))
        column = np.array(list(values.values()), dtype=np.float64)[:, None]
        if found.contradicts(column).any():
            shown = ", ".join(f"{self.nodes[node]}={value:g}" for node, value in values.items())
            raise NetworkError(
                f"the evidence has density zero: {shown} cannot happen together, as some of these variables "
                f"determine one another; correct a value or leave one out"
            )
        shown_evidence = tuple((self.nodes[node], value) for node, value in values.items())
        variables = tuple(self.nodes[i] for i in nodes)
        return GaussianDistribution(variables, found.mean(column)[:, 0], found.covariance, shown_evidence)

    def predict(self, data: Any, target: Label) -> NDArray[np.float64]:
        """The mean of the target given the row's other columns, for each row.

        Nodes without a column are integrated out; columns that are no node's are left out, with a
        warning. A row whose values rule one another out is
        predicted from the combinations that can vary, and a warning counts such rows.
        """
        from bayescout.network.conditioning import condition
        from bayescout.network.encode import match_evidence

        node = self.dag.index(target)
        matched = match_evidence(self.dag, data, None, node)
        found = condition(self, (node,), list(matched.columns))
        evidence = np.stack(list(matched.columns.values()))
        wrong = found.contradicts(evidence)
        if wrong.any():
            warnings.warn(
                f"{int(wrong.sum()):,} of {matched.n_rows:,} rows have density zero in the network, the "
                f"first is row {int(np.argmax(wrong))} (counting from 0); {target!r} is predicted there from "
                f"what can vary",
                BayescoutWarning,
                stacklevel=2,
            )
        means: NDArray[np.float64] = found.mean(evidence)[0]
        return means

    def _numbers(self, observed: Mapping[int, tuple[Any, bool]]) -> dict[int, float]:
        """The observed values as finite floats."""
        values = {}
        for node, (value, _) in observed.items():
            try:
                values[node] = float(value)
            except (TypeError, ValueError):
                values[node] = math.nan
            if not math.isfinite(values[node]):
                raise NetworkError(f"node {self.nodes[node]!r} needs a finite number, not {value!r}")
        return values

    # ---- files and text

    def save(self, path: str | PathLike[str]) -> None:
        """Write the network; the ending of the path chooses the format."""
        from bayescout.formats import write_network

        write_network(self, path)

    def equals(self, other: object, tolerance: float = 0.0) -> bool:
        """Whether the graph is the same and no parameter differs by more."""
        if not isinstance(other, GaussianNetwork) or self.dag != other.dag:
            return False
        mine = (self.intercepts, self.variances, *self.coefficients)
        theirs = (other.intercepts, other.variances, *other.coefficients)
        return all(bool(np.all(np.abs(a - b) <= tolerance)) for a, b in zip(mine, theirs, strict=True))

    def summary(self) -> str:
        """Size and parameters in a few lines; `equation` gives the regression of a node."""
        lines = [
            f"{printable(self.name) or 'Gaussian network'}: {graph_size(len(self.dag), self.dag.n_arcs)}",
            f"  parents       at most {max((len(p) for p in self.dag.parents), default=0)}",
            f"  parameters    {self.n_parameters:,}",
        ]
        return "\n".join(lines)

    def equation(self, node: Label) -> str:
        """`y = 1.5 + 0.3 x - 2 z + N(0, 0.25)`."""
        i = self.dag.index(node)
        text = f"{node} = {self.intercepts[i]:.6g}"
        for parent, weight in zip(self.dag.parents[i], self.coefficients[i], strict=True):
            text += f" {'-' if weight < 0 else '+'} {abs(weight):.6g} {self.nodes[parent]}"
        return printable(f"{text} + N(0, {self.variances[i]:.6g})")

    def plot(self, cpts: bool = False, truth: Any = None, strengths: Any = None) -> Any:
        """A matplotlib figure of the network, with its regressions in the boxes where asked."""
        from bayescout.plots.figures import plot_network

        return plot_network(self, truth, strengths, cpts)

    def _repr_html_(self) -> str:
        from bayescout.report.notebook import network_html

        return network_html(self)

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        size = graph_size(len(self.dag), self.dag.n_arcs)
        return f"<GaussianNetwork{name}: {size}, {counted(self.n_parameters, 'parameter')}>"
