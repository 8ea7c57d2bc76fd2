"""Bayesian networks: a graph whose every node has a distribution given its parents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayescout.data.reading import Notes, cut_notes
from bayescout.data.table import Label, States, Table, lock
from bayescout.errors import NetworkError, WrongKindError, printable
from bayescout.graph.dag import Dag
from bayescout.graph.labels import counted, graph_size, quoted
from bayescout.network import acting, likelihood, sampling
from bayescout.network.asking import Way
from bayescout.network.conditional_gaussian import ConditionalGaussian
from bayescout.network.cpt import Cpt
from bayescout.network.distribution import Answer, Evidence
from bayescout.network.encode import Matched, match_evidence, match_nodes
from bayescout.network.likelihood import LogLikelihood
from bayescout.network.linear_gaussian import LinearGaussian
from bayescout.network.node import NodeDistribution, Parameters
from bayescout.network.question import read_question
from bayescout.network.tabular import Tabular

if TYPE_CHECKING:
    from os import PathLike

Kind = TypeVar("Kind", bound=NodeDistribution)


@dataclass(frozen=True, eq=False, repr=False)
class Network:
    """A DAG with the distribution of each node given its parents.

    distributions  one per node, in the order of `dag.nodes`: `Tabular` for a discrete node,
                   `LinearGaussian` for a continuous one, `ConditionalGaussian` for one with discrete
                   parents, or another `NodeDistribution`

    Sampling and likelihoods work for nodes of any kind, inference for these three. Parameters by name need
    every node to be a table (`is_discrete`) or every node a regression (`is_gaussian`). `done` holds what
    `do` has set, as (node, value).
    `DiscreteNetwork` and `GaussianNetwork` make such networks from arrays.
    """

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

    # ---- of discrete networks

    @cached_property
    def states(self) -> tuple[States, ...]:
        """For each node its states, in order."""
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
        return tuple(len(states) for states in self.states)

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

    def marginals(
        self,
        evidence: Mapping[Label, Any] | None = None,
        nodes: Iterable[Label] | None = None,
        *,
        exact: bool = False,
        method: str = "auto",
        memory: int | None = None,
        draws: int | None = None,
        seed: int = 0,
    ) -> dict[Label, Any]:
        """The distribution of every node of a discrete or mixed network, or of some, given the evidence.

        Nodes that do not bear on those asked for cost nothing. The options are as in `query`.
        """
        from bayescout.network import inference, mixed_inference

        asked = None if nodes is None else [self.dag.index(label) for label in nodes]
        find = mixed_inference.all_marginals if self.is_mixed else inference.all_marginals
        found = find(self, self._observed(evidence), asked, Way(exact, method, memory, draws, seed))
        return {label: acting.said(one, self.done) for label, one in found.items()}

    def most_probable(self, evidence: Mapping[Label, Any] | None = None) -> dict[Label, Any]:
        """The complete assignment of largest probability that agrees with the evidence.

        In a mixed network: the most probable states of all discrete nodes together, whatever the others
        are, and the means of the continuous ones given these and the evidence.
        """
        from bayescout.network import inference, mixed_inference

        if self.is_mixed:
            return mixed_inference.most_probable(self, self._observed(evidence))
        codes = inference.most_probable(self, self._observed(evidence))
        return {
            label: states[code] for label, states, code in zip(self.nodes, self.states, codes, strict=True)
        }

    def predict_proba(self, data: Any, target: Label) -> NDArray[np.float64]:
        """P(target | the row's other columns), one row of the answer per row of data.

        Nodes without a column and empty cells are summed out; columns of no node are left out, and values
        that are no state of their node count as empty, each with a warning. A row whose evidence is
        impossible in the network gets the target's distribution without evidence, and a warning counts
        such rows.
        """
        from bayescout.network import incomplete, inference, mixed_rows

        node = self.dag.index(target)
        if self.is_mixed and self.distributions[node].states is None:
            raise WrongKindError(
                f"node {target!r} is continuous and has no probabilities of states: predict() gives its "
                f"mean, query() its distribution"
            )
        matched = self.matched(data, node)
        if self.is_mixed:
            return mixed_rows.predict_proba(self, node, matched)
        answer = inference.predict_rows if matched.empty is None else incomplete.predict_rows
        return answer(self, node, matched)

    def posteriors(
        self, data: Any, nodes: Iterable[Label] | None = None, *, memory: int | None = None
    ) -> dict[Label, NDArray[np.float64]]:
        """P(node | the row's cells) of every node of a discrete network, or of some: (rows, states) for each.

        Rows in which the same cells are observed are answered together. Nodes without a column and empty
        cells are summed out, as in `predict_proba`; an observed node has all its mass on its state. Rows of
        impossible evidence get NaN, and a warning counts them.
        """
        from bayescout.network.posteriors import posteriors

        asked = [self.dag.index(label) for label in (self.nodes if nodes is None else nodes)]
        matched = match_evidence(self.dag, data, self.states, None)
        found = posteriors(self, matched.columns, matched.n_rows, asked, Way(exact=True, memory=memory))
        return {self.nodes[n]: found[n] for n in asked}

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
            return str(self.parameters(node))
        return str(self._all(LinearGaussian)[i].parameters(node, self._given(i)))

    def joint(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean vector and the covariance matrix of all nodes, in the order of `nodes`."""
        from bayescout.network import conditioning

        return conditioning.joint(self)

    # ---- probabilities

    def probability(self, assignment: Mapping[Label, Any]) -> float:
        """The probability, or density, of a value for every node."""
        return math.exp(self.log_probability(assignment))

    def log_probability(self, assignment: Mapping[Label, Any]) -> float:
        """The logarithm of that in nats; minus infinity if the assignment is impossible."""
        given = {self.dag.index(label): value for label, value in assignment.items()}
        absent = [label for i, label in enumerate(self.nodes) if i not in given]
        if absent:
            raise NetworkError(
                f"the assignment has no value for node {absent[0]!r}; give one for every node, or use query()"
            )
        values = {i: self.distributions[i].encode(self.nodes[i], value) for i, value in given.items()}
        total = 0.0
        for i, parents in enumerate(self.dag.parents):
            total += self.distributions[i].log_density(self.nodes[i], values[i], [values[p] for p in parents])
        return total

    def row_log_likelihood(self, data: Any) -> NDArray[np.float64]:
        """The log-probability, or log-density, of each row in nats; minus infinity if it is impossible.

        Empty cells of a row are summed out, or integrated out: the answer is that of its observed cells. A
        value that is no state of its node counts as missing, with a warning. A parent configuration that
        maximum likelihood left undefined counts as uniform; `log_likelihood` counts the rows with one.
        """
        return self._row_terms(self.matched(data))[0]

    def log_likelihood(self, data: Any) -> LogLikelihood:
        """The log-likelihood of the data in nats, rows weighted, with unseen and impossible rows counted.

        Empty cells are summed out row by row, as in `row_log_likelihood`.
        """
        matched = self.matched(data)
        rows, unseen = self._row_terms(matched)
        likelihood.warn_impossible(self, matched, rows)
        return likelihood.summed(rows, matched.weights, unseen)

    def _row_terms(self, matched: Matched) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        if matched.empty is None:
            return likelihood.row_terms(self, matched.columns)
        from bayescout.network import incomplete

        return incomplete.matched_terms(self, matched)

    def matched(self, data: Any, target: int | None = None) -> Matched:
        """The codes or numbers of every node's column, or of every column there is except the target's.

        Empty cells are among them: see `Matched`.
        """
        states = [distribution.declared for distribution in self.distributions]
        if target is None:
            return match_nodes(self.dag, data, states)
        return match_evidence(self.dag, data, states, target)

    # ---- samples

    def sample(self, n: int, seed: int = 0) -> Table:
        """n rows drawn from the network; the same seed gives the same rows everywhere."""
        codes, values, undefined = sampling.draw(self, n, seed)
        if undefined:
            from bayescout.network.parts import warn_undefined

            warn_undefined(self, undefined, "the sample")
        states = tuple(one.states for one in self.distributions)
        return Table(self.nodes, states, codes, values, notes=self.notes)

    # ---- questions

    def query(
        self,
        targets: Any,
        evidence: Mapping[Label, Any] | None = None,
        *,
        exact: bool = False,
        method: str = "auto",
        memory: int | None = None,
        draws: int | None = None,
        seed: int = 0,
    ) -> Answer:
        """The distribution of the targets given the evidence: exactly, if the tables fit into memory.

        A `Distribution` of discrete targets; a `GaussianDistribution` of those of a Gaussian network; in a
        mixed network a `GaussianMixture` of continuous targets and a `MixedDistribution` of both kinds. If a
        mixed network has too many discrete configurations to sum over, the answer is an estimate from
        samples, always the same: a warning says so, and `answer.error` how far it may be off.
        `targets` is a label, a list of labels, or text: `model.query("lung | smoke=yes, xray=no")`,
        `model.query("y | x=1.5, z=0")`, `model.query("lung | do(smoke=yes), age=old")`. In
        text, labels and states are matched as they print; a name with a comma, bar or equals sign, or one
        that begins with `do(`, goes in double quotes. Impossible evidence is refused.

        exact   True: refuse what does not fit, instead of estimating it
        method  "auto", or "sample": estimate the answer even if the exact one fits
        memory  the most bytes for tables of a discrete network; half of the memory that is free by default.
                It decides what is refused or estimated, and never changes an exact answer
        draws   the number of samples of an estimate, whose errors `answer.errors` gives
        seed    of the samples
        """
        way = Way(exact, method, memory, draws, seed)
        nodes, observed, acts = read_question(self.dag, targets, evidence)
        if acts:
            return self._acted(acts)._answer(nodes, observed, way)
        return self._answer(nodes, observed, way)

    def _answer(self, nodes: tuple[int, ...], observed: Mapping[int, tuple[Any, bool]], way: Way) -> Answer:
        from bayescout.network import conditioning, inference, mixed_inference

        values = self._encoded(observed)
        if self.is_gaussian:
            return acting.said(conditioning.answer(self, nodes, values), self.done)
        if self.is_mixed:
            return acting.said(mixed_inference.answer(self, nodes, values, way), self.done)
        return acting.said(inference.answer(self, nodes, values, way), self.done)

    def _encoded(self, values: Mapping[int, tuple[Any, bool]]) -> dict[int, Any]:
        """Codes or numbers of values, each with True if it was written as text."""
        return {
            node: self.distributions[node].encode(self.nodes[node], value, is_text)
            for node, (value, is_text) in values.items()
        }

    def do(self, values: Mapping[Label, Any] | None = None, /, **by_name: Any) -> Network:
        """The network in which variables are set from outside: `model.do(smoke="yes").query("lung")`.

        Arcs into them are cut and everything else stays (the mutilated network of Pearl 2009), so that
        all questions, samples and predictions are of what happens if we act. Names that are no Python words
        go in a mapping: `model.do({"blood pressure": "high"})`. In text: `query("lung | do(smoke=yes)")`.
        """
        chosen = acting.actions(values, by_name)
        return self._acted({self.dag.index(label): (value, False) for label, value in chosen.items()})

    def _acted(self, acts: Mapping[int, tuple[Any, bool]]) -> Network:
        return acting.mutilated(self, self._encoded(acts))

    def predict(self, data: Any, target: Label) -> Any:
        """For each row the most probable state of the target, or its mean, given the other columns.

        Of equally probable states the one listed first. Nodes without a column and empty cells are summed
        out; columns of no node are left out, and values that are no state of their node count as empty, each
        with a warning; a warning counts rows whose evidence is impossible.
        """
        node = self.dag.index(target)
        if self.is_gaussian:
            from bayescout.network import conditioning, incomplete

            matched = self.matched(data, node)
            answer = conditioning.predict_rows if matched.empty is None else incomplete.predict_mean_rows
            return answer(self, node, matched)
        states = self.distributions[node].states if self.is_mixed else self.states[node]
        if states is None:
            from bayescout.network import mixed_rows

            return mixed_rows.predict_means(self, node, self.matched(data, node))
        return [states[code] for code in self.predict_proba(data, target).argmax(axis=1).tolist()]

    def impute(
        self, data: Any, method: str = "most-probable", n: int = 1, seed: int = 0
    ) -> Table | list[Table]:
        """The data with every empty cell filled; observed cells stay as they are.

        - `"most-probable"`: the jointly most probable values of a row's empty cells given its other cells,
          which need not be the most probable one by one; for numbers, their mean
        - `"mean"`: of numbers only, the same
        - `"sample"`: drawn from the joint distribution of the row's empty cells given the others; the same
          seed gives the same draws, and `n` above 1 a list of n tables, each drawn by itself

        The answer has the columns of the data that are nodes, in their order; others are left out, and values
        that are no state of their node count as empty, each with a warning. Nodes without a column are
        filled too, and not shown. A warning counts rows of probability zero.
        """
        from bayescout.network import impute

        tables = impute.impute(self, data, method, n, seed)
        return tables if n > 1 else tables[0]

    def _observed(self, evidence: Mapping[Label, Any] | None) -> dict[int, Any]:
        pairs = [(self.dag.index(label), value) for label, value in (evidence or {}).items()]
        return {node: self.distributions[node].encode(self.nodes[node], value) for node, value in pairs}

    # ---- files and text

    def save(self, path: str | PathLike[str]) -> None:
        """Write the network; the ending of the path chooses the format (.bif, .json, ...)."""
        from bayescout.formats import write_network

        write_network(self, path)

    def equals(self, other: object, tolerance: float = 0.0) -> bool:
        """Return True if graph, kind and states are the same and no parameter differs by more."""
        return (
            isinstance(other, Network)
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
        return "\n".join(lines)

    def plot(self, cpts: bool = False, truth: Any = None, strengths: Any = None) -> Any:
        """A matplotlib figure of the network, with the parameters of each node in its box if asked for."""
        from bayescout.plots.figures import plot_network

        return plot_network(self, truth, strengths, cpts)

    def _repr_html_(self) -> str:
        from bayescout.report.notebook import network_html

        return network_html(self)

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        name += printable(f" do({', '.join(f'{k}={v}' for k, v in self.done)})") if self.done else ""
        size = graph_size(len(self.dag), self.dag.n_arcs)
        return f"<{type(self).__name__}{name}: {size}, {counted(self.n_parameters, 'parameter')}>"


def _locked(numbers: list[float]) -> NDArray[np.float64]:
    found = np.array(numbers, dtype=np.float64)
    lock(found)
    return found
