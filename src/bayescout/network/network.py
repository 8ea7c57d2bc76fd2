"""Bayesian networks: a graph whose every node has a distribution given its parents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Label, Table
from bayescout.errors import NetworkError, WrongKindError
from bayescout.graph.dag import Dag
from bayescout.network import acting, likelihood, sampling
from bayescout.network.asking import Way
from bayescout.network.distribution import Answer
from bayescout.network.encode import Matched, match_evidence, match_nodes, match_present
from bayescout.network.headings import Evidence
from bayescout.network.likelihood import LogLikelihood
from bayescout.network.node import NodeDistribution
from bayescout.network.parameterised import ParameterisedGraph
from bayescout.network.question import read_event, read_question

if TYPE_CHECKING:
    from os import PathLike

    from bayescout.network.conflict import Conflict
    from bayescout.network.explanations import Explanations
    from bayescout.network.marginals import Marginals
    from bayescout.network.next_question import Information
    from bayescout.network.sensitivity import Sensitivity
    from bayescout.network.soft_evidence import Softened

Findings = Mapping[Label, Any]
"""What is known of variables, by their labels."""


@dataclass(frozen=True, eq=False, repr=False)
class Network(ParameterisedGraph):
    """A DAG with the distribution of each node given its parents.

    distributions  one per node, in the order of `dag.nodes`: `Tabular` for a discrete node,
                   `LinearGaussian` for a continuous one, `ConditionalGaussian` for one with discrete
                   parents, or another `NodeDistribution`

    Sampling and likelihoods work for nodes of any kind, inference for these three. Parameters by name need
    every node to be a table (`is_discrete`) or every node a regression (`is_gaussian`). `done` holds what
    `do` has set, as (node, value).
    `DiscreteNetwork` and `GaussianNetwork` make such networks from arrays.
    """

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

        Empty cells of a row are summed out, or integrated out: the answer is that of its observed cells. So
        is a node without a column, in every row, with a warning. A value that is no state of its node counts
        as missing, with a warning. A parent configuration that maximum likelihood left undefined counts as
        uniform; `log_likelihood` counts the rows with one. What was set from outside in a row
        (`as_table(data, interventions=...)`) is given, and adds nothing to it.
        """
        return self._row_terms(self._matched_present(data))[0]

    def log_likelihood(self, data: Any) -> LogLikelihood:
        """The log-likelihood of the data in nats, rows weighted, with unseen and impossible rows counted.

        Empty cells, and nodes without a column, are summed out row by row, as in `row_log_likelihood`.
        """
        matched = self._matched_present(data)
        rows, unseen = self._row_terms(matched)
        likelihood.warn_impossible(self, matched, rows)
        return likelihood.summed(rows, matched.weights, unseen)

    def _matched_present(self, data: Any) -> Matched:
        return match_present(self.dag, data, [one.declared for one in self.distributions])

    def _row_terms(self, matched: Matched) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        if matched.empty is None:
            return likelihood.row_terms(self, matched.columns, matched.acted)
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

    def matched_evidence(self, data: Any) -> Matched:
        """As `matched`, of the columns that there are, at least one."""
        return match_evidence(self.dag, data, [one.declared for one in self.distributions], None)

    # ---- samples

    def sample(
        self,
        n: int,
        seed: int = 0,
        evidence: Findings | None = None,
        *,
        soft: Findings | None = None,
        jeffrey: Findings | None = None,
    ) -> Table:
        """n rows drawn from the network, given the evidence; the same seed gives the same rows everywhere.

        Rows given evidence are independent draws from the exact distribution, with what is observed in its
        columns. `soft` and `jeffrey` are as in `query`.
        """
        if evidence or soft or jeffrey:
            from bayescout.network.conditional_sampling import draw

            asked = self._softened(evidence, soft, jeffrey)
            codes, values, undefined = draw(asked.network, n, seed, asked.evidence, len(self.dag))
        else:
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
        evidence: Findings | None = None,
        *,
        soft: Findings | None = None,
        jeffrey: Findings | None = None,
        exact: bool = False,
        method: str = "auto",
        memory: int | None = None,
        draws: int | None = None,
        seed: int = 0,
    ) -> Any:
        """The distribution of the targets given the evidence: exactly, if the tables fit into memory.

        A `Distribution` of discrete targets; a `GaussianDistribution` of those of a Gaussian network; in a
        mixed network a `GaussianMixture` of continuous targets and a `MixedDistribution` of both kinds. If a
        mixed network has too many discrete configurations to sum over, the answer is an estimate from
        samples, always the same: a warning says so, and `answer.error` how far it may be off.
        `targets` is a label, a list of labels, or text: `model.query("lung | smoke=yes, xray=no")`,
        `model.query("y | x=1.5, z=0")`, `model.query("lung | do(smoke=yes), age=old")`. In
        text, labels and states are matched as they print; a name with a comma, bar or equals sign, or one
        that begins with `do(`, goes in double quotes. Impossible evidence is refused.

        soft     findings by likelihoods (virtual evidence): `{"smoke": {"yes": 0.8, "no": 0.3}}` is something
                 that happens with probability 0.8 if smoke is yes, and 0.3 if it is no; only their quotients
                 matter. Of a continuous variable, `{"mean": 1.5, "variance": 0.2}` is a measurement of 1.5
                 whose error is normal with this variance.
        jeffrey  findings by Jeffrey's rule: `{"smoke": {"yes": 0.7, "no": 0.3}}` is what smoke's distribution
                 is afterwards, given all other evidence. Several hold at once, found by iterative
                 proportional fitting: of all distributions that agree with them, the one closest to the
                 network's.
        exact   True: refuse what does not fit, instead of estimating it
        method  "auto", or "sample": estimate the answer even if the exact one fits
        memory  the most bytes for tables of a discrete network; half of the memory that is free by default.
                It decides what is refused or estimated, and never changes an exact answer
        draws   the number of samples of an estimate, whose errors `answer.errors` gives
        seed    of the samples
        """
        way = Way(exact, method, memory, draws, seed)
        nodes, observed, acts = read_question(self.dag, targets, evidence)
        model = self._acted(acts) if acts else self
        asked = model._softened_codes(model._encoded(observed), soft, jeffrey)
        found: Answer = asked.restored(asked.network._answer(nodes, asked.evidence, way))
        return found

    def _answer(self, nodes: tuple[int, ...], values: Mapping[int, Any], way: Way) -> Answer:
        from bayescout.network import conditioning, inference, mixed_inference

        if self.is_gaussian:
            return acting.said(conditioning.answer(self, nodes, values), self.done)
        if self.is_mixed:
            return acting.said(mixed_inference.answer(self, nodes, values, way), self.done)
        return acting.said(inference.answer(self, nodes, values, way), self.done)

    def marginals(
        self,
        evidence: Findings | None = None,
        nodes: Iterable[Label] | None = None,
        *,
        soft: Findings | None = None,
        jeffrey: Findings | None = None,
        exact: bool = False,
        method: str = "auto",
        memory: int | None = None,
        draws: int | None = None,
        seed: int = 0,
    ) -> Marginals:
        """The distribution of every node, or of some, given the evidence: a dict, shown as one table of bars.

        Nodes that do not bear on those asked for cost nothing. The options are as in `query`.
        """
        from bayescout.network import conditioning, inference, mixed_inference
        from bayescout.network.marginals import Marginals

        asked = self._softened(evidence, soft, jeffrey)
        chosen = list(range(len(self.dag))) if nodes is None else [self.dag.index(label) for label in nodes]
        found: Mapping[Label, Answer]
        if self.is_gaussian:
            found = conditioning.all_marginals(asked.network, asked.evidence, chosen)
        else:
            find = mixed_inference.all_marginals if self.is_mixed else inference.all_marginals
            way = Way(exact, method, memory, draws, seed)
            found = find(asked.network, asked.evidence, chosen, way)
        labels = [self.nodes[i] for i in chosen]
        answers = {label: acting.said(asked.restored(found[label]), self.done) for label in labels}
        return Marginals(answers, asked.given, self.done)

    def most_probable(
        self,
        evidence: Findings | None = None,
        nodes: Sequence[Label] | None = None,
        *,
        soft: Findings | None = None,
        jeffrey: Findings | None = None,
    ) -> dict[Label, Any]:
        """The assignment of largest probability that agrees with the evidence: of all nodes, or of some.

        With `nodes`, these together are as probable as can be and all others are summed out (marginal
        MAP), which is in general not a part of the complete assignment. In a mixed network: the most probable
        states of the discrete nodes together, whatever the others are, and the means of the continuous ones
        given these and the evidence. In a Gaussian network: the means.
        """
        from bayescout.network import conditioning, inference, mixed_inference
        from bayescout.network.explanations import explanations

        asked = self._softened(evidence, soft, jeffrey)
        chosen = self._positions(nodes)
        if nodes is not None and not self.is_gaussian:
            if any(self.distributions[n].states is not None for n in chosen):
                return explanations(asked.network, asked.evidence, 1, chosen)[0].values
            return {self.nodes[n]: asked.network._mean(n, asked.evidence) for n in chosen}
        if self.is_gaussian:
            means = conditioning.most_probable(asked.network, asked.evidence, chosen)
            return {self.nodes[n]: mean for n, mean in means.items()}
        if self.is_mixed:
            found = mixed_inference.most_probable(asked.network, asked.evidence)
            return {label: found[label] for label in self.nodes}
        codes = inference.most_probable(asked.network, asked.evidence)
        return {self.nodes[n]: self.discrete_states[n][codes[n]] for n in chosen}

    def explanations(
        self,
        evidence: Findings | None = None,
        k: int = 5,
        nodes: Sequence[Label] | None = None,
        *,
        soft: Findings | None = None,
        jeffrey: Findings | None = None,
    ) -> Explanations:
        """The k most probable assignments of all nodes, or of some, with their probabilities.

        The probabilities are given the evidence. Exact; fewer than k if no more are possible. With `nodes`,
        all others are summed out.
        """
        from dataclasses import replace

        from bayescout.network.explanations import explanations

        asked = self._softened(evidence, soft, jeffrey)
        found = explanations(asked.network, asked.evidence, k, self._positions(nodes))
        return replace(found, evidence=asked.given)

    def conflict(self, evidence: Findings, *, soft: Findings | None = None) -> Conflict:
        """Whether the findings belong together: log(product of P(finding) / P(all findings)), in nats.

        A positive conflict (Jensen et al. 1991) says that they are less probable together than if they were
        independent. The answer names the pairs of findings that disagree most, and what each adds.
        """
        from dataclasses import replace

        from bayescout.network.conflict import conflict

        asked = self._softened(evidence, soft, None)
        found = conflict(asked.network, asked.evidence, asked.labels)
        return replace(found, evidence=asked.given, done=self.done)

    def information(
        self,
        target: Any,
        evidence: Findings | None = None,
        nodes: Sequence[Label] | None = None,
        *,
        soft: Findings | None = None,
        jeffrey: Findings | None = None,
    ) -> Information:
        """What observing each other node would tell about the target: the next best question first.

        The mutual information with the target given the evidence, in nats; `information(...).best` is the
        node that tells most. `nodes` are those that can be observed, by default all. The target is a label,
        or text as in `query`: `model.information("lung | xray=yes")`.
        """
        from dataclasses import replace

        from bayescout.network.next_question import information

        targets, observed, acts = read_question(self.dag, target, evidence)
        if len(targets) > 1:
            raise NetworkError("information is about one target, and the question has several; ask of each")
        model = self._acted(acts) if acts else self
        asked = model._softened_codes(model._encoded(observed), soft, jeffrey)
        chosen = None if nodes is None else self._positions(nodes)
        found = information(asked.network, targets[0], asked.evidence, chosen, len(self.dag))
        return replace(found, evidence=asked.given, done=model.done)

    def sensitivity(
        self,
        event: Any,
        evidence: Findings | None = None,
        *,
        soft: Findings | None = None,
        spread: float = 0.1,
    ) -> Sensitivity:
        """How a probability depends on every parameter: `model.sensitivity("lung=yes | xray=yes")`.

        The odds p / (1 - p) of each entry of a table are divided and multiplied by 1 + `spread`, and the
        other entries of its row change in proportion. The answer ranks the parameters by how far that moves
        the probability, with derivatives and the exact function of each, shows the tornado as a table, and
        draws it with `plot()`. The event is text as in a question, with values for its targets, or a mapping
        such as `{"lung": "yes"}`.
        """
        from dataclasses import replace

        from bayescout.network.sensitivity import sensitivity

        wanted, observed, acts = read_event(self.dag, event, evidence)
        model = self._acted(acts) if acts else self
        asked = model._softened_codes(model._encoded(observed), soft, None)
        codes = model._encoded(wanted)
        found = sensitivity(asked.network, codes, asked.evidence, spread, len(self.dag))
        return replace(found, evidence=asked.given, done=model.done)

    def _positions(self, nodes: Sequence[Label] | None) -> list[int]:
        """The positions of some nodes, by default all; a string is one label."""
        if nodes is None:
            return list(range(len(self.dag)))
        chosen = [nodes] if isinstance(nodes, str) else list(nodes)
        if not chosen:
            raise NetworkError("no nodes were named; name at least one, or leave nodes out for all")
        return list(dict.fromkeys(self.dag.index(label) for label in chosen))

    def _mean(self, node: int, evidence: Mapping[int, Any]) -> float:
        found: Any = self._answer((node,), evidence, Way())
        return float(found.mean)

    def _softened(
        self, evidence: Findings | None, soft: Findings | None, jeffrey: Findings | None
    ) -> Softened:
        return self._softened_codes(self._observed(evidence), soft, jeffrey)

    def _softened_codes(
        self, evidence: Mapping[int, Any], soft: Findings | None, jeffrey: Findings | None
    ) -> Softened:
        """The network and the evidence, soft evidence as observed children."""
        from bayescout.network.soft_evidence import softened

        return softened(self, evidence, soft, jeffrey)

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

    def changed(self, dag: Dag, distributions: Sequence[NodeDistribution], done: Evidence) -> Network:
        """A network of this name with another graph and its distributions."""
        return Network(dag, tuple(distributions), self.name, done)

    def _acted(self, acts: Mapping[int, tuple[Any, bool]]) -> Network:
        return acting.mutilated(self, self._encoded(acts))

    def posteriors(
        self,
        data: Any,
        nodes: Iterable[Label] | None = None,
        *,
        exact: bool = False,
        method: str = "auto",
        memory: int | None = None,
        draws: int | None = None,
        seed: int = 0,
    ) -> dict[Label, NDArray[np.float64]]:
        """P(node | the row's cells) of every node, or of some: (rows, states) for each.

        Of a continuous node it is (rows, 2): its mean and its variance. Rows in which the same cells are
        observed are answered together. Nodes without a column and empty cells are summed out, as in
        `predict_proba`; an observed node has all its mass on its state or number. Rows of impossible evidence
        get NaN, and a warning counts them. The options are as in `query`: a warning counts the rows that
        were estimated, one by one, as an exact answer would have been too large.
        """
        from bayescout.network import posteriors

        asked = [self.dag.index(label) for label in (self.nodes if nodes is None else nodes)]
        matched = self.matched_evidence(data)
        if self.is_gaussian:
            found = posteriors.of_numbers(self, matched.columns, matched.n_rows, asked)
        elif self.is_mixed:
            found = posteriors.of_both(self, matched, asked)
        else:
            way = Way(exact, method, memory, draws, seed)
            found = posteriors.posteriors(self, matched.columns, matched.n_rows, asked, way)
        return {self.nodes[n]: found[n] for n in asked}

    def predict_proba(self, data: Any, target: Label) -> NDArray[np.float64]:
        """P(target | the row's other columns), one row of the answer per row of data, one column per state.

        The states are in the order of `states[nodes.index(target)]`. Nodes without a column and empty cells
        are summed out; columns of no node are left out, and values that are no state of their node count as
        empty, each with a warning. A row whose evidence is impossible in the network gets the target's
        distribution without evidence, and a warning counts such rows.
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
        states = self.distributions[node].states if self.is_mixed else self.discrete_states[node]
        if states is None:
            from bayescout.network import mixed_rows

            return mixed_rows.predict_means(self, node, self.matched(data, node))
        return [states[code] for code in self.predict_proba(data, target).argmax(axis=1).tolist()]

    def impute(self, data: Any, method: str = "most-probable", n: int = 1, seed: int = 0) -> Any:
        """The data with every empty cell filled, as a table; observed cells stay as they are.

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

    def to_pgmpy(self) -> Any:
        """A model of pgmpy with the same tables, or the same regressions of a Gaussian network."""
        from bayescout.formats.neighbours import to_pgmpy

        return to_pgmpy(self)

    def to_pyagrum(self) -> Any:
        """A BayesNet of pyAgrum with the same tables; labels and states become text."""
        from bayescout.formats.neighbours import to_pyagrum

        return to_pyagrum(self)

    def to_rbnlearn(self) -> str:
        """The text of a file that R's bnlearn reads with `read.bif`."""
        from bayescout.formats.bif import write

        return write(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the network; the ending of the path chooses the format (.bif, .json, ...)."""
        from bayescout.formats import write_network

        write_network(self, path)

    def plot(self, cpts: bool = False, truth: Any = None, strengths: Any = None) -> Any:
        """A matplotlib figure of the network, with the parameters of each node in its box if asked for."""
        from bayescout.plots.figures import plot_network

        return plot_network(self, truth, strengths, cpts)

    def to_svg(
        self,
        path: str | PathLike[str] | None = None,
        cpts: bool = False,
        truth: Any = None,
        strengths: Any = None,
    ) -> str:
        """The drawing as SVG text, also written to `path` if given; needs no matplotlib."""
        from bayescout.plots.saving import svg_of

        return svg_of(self, path, truth, strengths, cpts)

    def _repr_html_(self) -> str:
        from bayescout.report.notebook import network_html

        return network_html(self)
