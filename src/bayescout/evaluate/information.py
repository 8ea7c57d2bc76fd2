"""Conditional mutual information, and the dependences that a graph or tests miss, with their information."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import require_count
from bayescout.errors import NetworkError, SettingError, printable
from bayescout.evaluate import marginals
from bayescout.evaluate.error_rates import dependences
from bayescout.evaluate.json_values import json_label, json_value
from bayescout.graph.accept import as_dag
from bayescout.graph.dag import Dag
from bayescout.graph.labels import Label, check_same_nodes, counted
from bayescout.graph.separation import d_separated
from bayescout.network import Network, inference, sampling
from bayescout.network.conditioning import condition
from bayescout.statistics.independence import Finding, Question

Floats = NDArray[np.float64]

MAX_JOINT = 2**24
"""The most table entries, in total, for one exact conditional mutual information."""

ROUNDING = 1e-13
"""A residual variance below this share of the variance is rounding: the variable is determined."""


@dataclass(frozen=True)
class Information:
    """A conditional mutual information in nats; `float()` gives the value.

    `exact` is True, or the value is the mean over `rows` values of the given variables drawn from the
    network, with its standard error.
    """

    value: float
    exact: bool = True
    standard_error: float = 0.0
    rows: int = 0

    def __float__(self) -> float:
        return self.value

    def to_dict(self) -> dict[str, Any]:
        return {
            "value": json_value(self.value),
            "exact": self.exact,
            "standard_error": self.standard_error,
            "rows": self.rows,
        }


def mutual_information(
    network: Network, a: Label, b: Label, given: Iterable[Label] = (), samples: int = 1000, seed: int = 0
) -> Information:
    r"""I(a; b | given) of a network's own distribution, in nats.

    $$ I = \sum_{xyz} P(x, y, z) \log \frac{P(x, y | z)}{P(x | z) P(y | z)} $$

    and $-\frac12 \log(1 - \rho^2)$ with the partial correlation ρ in a Gaussian network, infinite if one
    determines the other. Exact, unless the joint table of a discrete network would be too large: then it
    is the mean over `samples` draws of the given variables, each exact.
    """
    _check(network, samples)
    dag = network.dag
    one, two, rest = dag.index(a), dag.index(b), dag.indices(given)
    return _information(network, Question(one, two, tuple(sorted(rest))), samples, seed)


def _check(network: Any, samples: int) -> None:
    if not isinstance(network, Network):
        raise NetworkError(
            f"a network with parameters is needed, not {type(network).__name__}; "
            f"estimate them with bayescout.fit(graph, data)"
        )
    require_count("samples", samples, 2)


def _information(network: Network, question: Question, samples: int, seed: int) -> Information:
    a, b, given = question
    if d_separated(network.dag, [a], [b], given):
        return Information(0.0)
    if network.is_gaussian:
        return Information(_gaussian(network, a, b, given))
    scope = (a, b, *given)
    if len(scope) <= inference.MAX_TARGETS and marginals.cost(network, scope) <= MAX_JOINT:
        table = marginals.joint(network, scope)
        return Information(_of_table(table.reshape(*table.shape[:2], -1)))
    return _over_draws(network, question, samples, seed)


def _of_table(joint: Floats) -> float:
    """The information between the first two axes of P(a, b, z), given the last."""
    with_a, with_b = joint.sum(axis=1, keepdims=True), joint.sum(axis=0, keepdims=True)
    alone = joint.sum(axis=(0, 1), keepdims=True)
    used = joint > 0
    ratio = np.log(joint, out=np.zeros_like(joint), where=used)
    for part, sign in ((with_a, -1), (with_b, -1), (alone, 1)):
        ratio += sign * np.log(part, out=np.zeros_like(part), where=part > 0)
    return max(math.fsum((joint[used] * ratio[used]).tolist()), 0.0)


def _over_draws(network: Network, question: Question, samples: int, seed: int) -> Information:
    """The mean of I(a; b | z) over drawn z; each distinct z is computed once."""
    a, b, given = question
    codes = sampling.draw(network, samples, seed)[0]
    distinct, counts = np.unique(codes[list(given)].T, axis=0, return_counts=True)
    values = np.array(
        [
            _of_table(inference.query(network, (a, b), dict(zip(given, row, strict=True)))[..., None])
            for row in distinct.tolist()
        ]
    )
    mean = float(values @ counts) / samples
    spread = float(np.square(values - mean) @ counts) / (samples - 1)
    return Information(mean, False, math.sqrt(spread / samples), samples)


def _gaussian(network: Network, a: int, b: int, given: Sequence[int]) -> float:
    """-1/2 log(1 - rho^2), from the share of the variance of b that a explains."""
    whole, before, after = (
        float(condition(network, (b,), evidence).covariance[0, 0]) for evidence in ((), given, (*given, a))
    )
    none = ROUNDING * whole
    if before <= none:
        return 0.0
    return math.inf if after <= none else max(0.5 * math.log(before / after), 0.0)


# ---- missed dependences


@dataclass(frozen=True)
class MissedDependence:
    """A missed dependence of a and b, given the others."""

    a: Label
    b: Label
    given: tuple[Label, ...]
    information: Information

    def to_dict(self) -> dict[str, Any]:
        given = [json_label(label) for label in self.given]
        named = {"a": json_label(self.a), "b": json_label(self.b), "given": given}
        return {**named, **self.information.to_dict()}


@dataclass(frozen=True, repr=False)
class MissedDependences:
    """The true dependences that a graph or tests miss, the strongest first.

    `asked` is the number of true dependences among the questions.
    """

    items: tuple[MissedDependence, ...]
    asked: int

    def __len__(self) -> int:
        return len(self.items)

    @property
    def mean(self) -> float:
        """The mean information missed, in nats; 0 if none is."""
        return self.total / len(self.items) if self.items else 0.0

    @property
    def total(self) -> float:
        values = [item.information.value for item in self.items]
        return math.fsum(values) if all(map(math.isfinite, values)) else math.inf

    def to_dict(self) -> dict[str, Any]:
        return {
            "missed": len(self.items),
            "asked": self.asked,
            "mean": json_value(self.mean),
            "total": json_value(self.total),
            "items": [item.to_dict() for item in self.items],
        }

    def __str__(self) -> str:
        head = f"{len(self.items):,} of {counted(self.asked, 'true dependence')} missed"
        lines = [f"{head}, on average {self.mean:.4g} nats" if self.items else head]
        for item in self.items[:8]:
            given = ", ".join(str(label) for label in item.given)
            asked = printable(f"I({item.a}; {item.b}{' | ' + given if given else ''})")
            lines.append(f"  {asked} = {item.information.value:.4g}")
        if len(self.items) > 8:
            lines.append(f"  ... {len(self.items) - 8:,} more")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<MissedDependences: {str(self).splitlines()[0]}>"


def missed_by_graph(
    truth: Network,
    learned: Any,
    questions: Sequence[Question] | None = None,
    samples: int = 1000,
    seed: int = 0,
) -> MissedDependences:
    """The dependences of the true network that a learned graph denies by d-separation, with their strength.

    Without `questions` (positions of the truth's nodes) those of Frigo (2009) are used: every pair given
    nothing, and each node with every node outside its Markov blanket in the learned graph, given the blanket.
    """
    _check(truth, samples)
    dag = as_dag(learned)
    check_same_nodes(dag.nodes, truth.nodes, "the learned graph", "the truth")
    dag = dag.reordered(truth.nodes)
    asked = blanket_questions(dag) if questions is None else list(questions)
    real = [q for q, holds in zip(asked, dependences(truth.dag, asked), strict=True) if holds]
    kept = dependences(dag, real)
    return _measured(
        truth, [q for q, has in zip(real, kept, strict=True) if not has], len(real), samples, seed
    )


def missed_by_tests(
    truth: Network,
    questions: Sequence[Question],
    findings: Sequence[Finding],
    names: Sequence[Hashable] | None = None,
    samples: int = 1000,
    seed: int = 0,
) -> MissedDependences:
    """The dependences of the true network that tests did not find, with their strength.

    `questions` hold positions: of the columns `names`, or of the truth's own nodes.
    """
    _check(truth, samples)
    if len(questions) != len(findings):
        raise SettingError(
            f"{len(questions):,} questions but {len(findings):,} findings; give one finding a question"
        )
    place = range(len(truth.dag)) if names is None else [truth.dag.index(name) for name in names]
    pairs = zip(dependences(truth.dag, questions, names), questions, findings, strict=True)
    real = [(question, finding) for holds, question, finding in pairs if holds]
    missed = [
        Question(place[a], place[b], tuple(sorted(place[v] for v in given)))
        for (a, b, given), finding in real
        if finding.answer != "dependent"
    ]
    return _measured(truth, missed, len(real), samples, seed)


def _measured(
    truth: Network, missed: Sequence[Question], asked: int, samples: int, seed: int
) -> MissedDependences:
    nodes = truth.nodes
    items = [
        MissedDependence(
            nodes[q.a], nodes[q.b], tuple(nodes[v] for v in q.given), _information(truth, q, samples, seed)
        )
        for q in missed
    ]
    items.sort(key=lambda item: -item.information.value)
    return MissedDependences(tuple(items), asked)


def blanket_questions(dag: Dag) -> list[Question]:
    """Every pair given nothing, and each node with all outside its Markov blanket, given it; each once."""
    nodes = range(len(dag))
    asked = dict.fromkeys(Question(a, b) for a in nodes for b in nodes[a + 1 :])
    for a in nodes:
        blanket = dag.indices(dag.markov_blanket(dag.nodes[a]))
        for b in nodes:
            if b != a and b not in blanket and Question(b, a, blanket) not in asked:
                asked[Question(a, b, blanket)] = None
    return list(asked)
