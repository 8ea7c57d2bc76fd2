"""Soft evidence: findings that change what is believed of a variable without settling it.

A finding by likelihoods ("virtual evidence", Pearl 1988) says how probable it is given each state; a child of
the variable that was observed to happen says the same, so every question works on the network with such
children (`Softened`). Of a continuous variable, it is a measurement with normal error.

A finding by Jeffrey's rule says what the distribution of the variable is afterwards. With one of these the
likelihoods are the quotients of that and of what was believed before; with several they are found by
iterative proportional fitting, so that all hold at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescout.data.table import Label
from bayescout.errors import NetworkError, SettingError, UnknownNameError
from bayescout.graph.dag import Dag
from bayescout.graph.labels import quoted
from bayescout.network import inference, mixed_inference
from bayescout.network.distribution import Distribution, MixedDistribution
from bayescout.network.elimination import Array
from bayescout.network.headings import Evidence, SoftFinding
from bayescout.network.linear_gaussian import LinearGaussian, finite_number
from bayescout.network.node import NodeDistribution
from bayescout.network.tabular import Tabular

if TYPE_CHECKING:
    from bayescout.network.network import Network

TOLERANCE = 1e-12
"""The largest difference from the distribution asked for where Jeffrey's rule is done."""

MOST_ROUNDS = 1000
"""Rounds of iterative proportional fitting before the distributions count as not possible together."""

SUM_TOLERANCE = 1e-6
"""The largest deviation from one of the sum of a distribution that is given."""

HAPPENED = ("observed", "otherwise")

Findings = Mapping[Label, Any]


@dataclass(frozen=True)
class Virtual:
    """The label of a child that stands for soft evidence."""

    of: Label

    def __str__(self) -> str:
        return f"soft evidence of {self.of}"

    __repr__ = __str__


@dataclass(frozen=True)
class Softened:
    """A network whose last nodes stand for soft evidence, and all evidence, codes or numbers.

    width  the number of nodes of the network that was asked
    """

    network: Network
    evidence: dict[int, Any]
    width: int
    findings: dict[Label, SoftFinding]

    @property
    def given(self) -> Evidence:
        """The evidence in labels, states and findings."""
        return self.shown(mixed_inference.shown(self.network, self.evidence))

    @property
    def labels(self) -> dict[int, Label]:
        """For each observed node the variable that its finding is of."""
        names = {n: self.network.nodes[n] for n in self.evidence}
        return {n: name.of if isinstance(name, Virtual) else name for n, name in names.items()}

    def restored(self, answer: Any) -> Any:
        """An answer of the network as one of the network that was asked."""
        if not self.findings:
            return answer
        if isinstance(answer, MixedDistribution):
            others = tuple(None if one is None else self.restored(one) for one in answer.continuous)
            return replace(answer, discrete=self.restored(answer.discrete), continuous=others)
        return replace(answer, evidence=self.shown(answer.evidence))

    def shown(self, evidence: Evidence) -> Evidence:
        """Evidence in which findings are named after their variables."""
        return tuple(
            (label.of, self.findings[label.of]) if isinstance(label, Virtual) else (label, value)
            for label, value in evidence
        )


def softened(
    network: Network, evidence: Mapping[int, Any], soft: Findings | None, jeffrey: Findings | None
) -> Softened:
    """The network and the evidence with the findings as children of their variables."""
    plain = Softened(network, dict(evidence), len(network.dag), {})
    if not soft and not jeffrey:
        return plain
    for name, given in (("soft", soft), ("jeffrey", jeffrey)):
        if given is not None and not isinstance(given, Mapping):
            raise SettingError(
                f"{name} takes a mapping from variables to findings, as in "
                f"{name}={{'smoke': {{'yes': 0.8, 'no': 0.2}}}}, not {given!r}"
            )
    for label in (*(soft or {}), *(jeffrey or {})):
        if network.dag.index(label) in evidence:
            raise SettingError(f"{label!r} is observed, and has soft evidence too; give one of both")
    both = [label for label in soft or {} if label in (jeffrey or {})]
    if both:
        raise SettingError(f"{both[0]!r} has a finding in soft= and one in jeffrey=; give one of both")
    for label, finding in (soft or {}).items():
        plain = _with_likelihood(plain, label, finding)
    return _with_jeffrey(plain, dict(jeffrey or {})) if jeffrey else plain


# ---- likelihoods


def _with_likelihood(asked: Softened, label: Label, finding: Any) -> Softened:
    node = asked.network.dag.index(label)
    states = asked.network.distributions[node].states
    if states is None:
        mean, variance = _measurement(label, finding)
        shown = SoftFinding((("mean", mean), ("variance", variance)))
        return _joined(asked, node, LinearGaussian(0.0, [1.0], variance), mean, shown)  # type: ignore[arg-type]
    weights = _weights(asked.network, node, finding, "likelihood")
    shown = SoftFinding(tuple(zip(states, weights.tolist(), strict=True)))
    return _joined(asked, node, _happened(weights), 0, shown)


def _happened(weights: Array) -> Tabular:
    """The child that is observed with these probabilities, up to a factor."""
    shares = weights / weights.max()
    return Tabular(HAPPENED, np.stack([shares, 1.0 - shares], axis=1))


def _joined(asked: Softened, node: int, child: NodeDistribution, value: Any, shown: SoftFinding) -> Softened:
    """The network with one more observed child."""
    network = asked.network
    label = network.nodes[node]
    dag = Dag((*network.nodes, Virtual(label)), (*network.dag.parents, (node,)))
    wider = network.changed(dag, (*network.distributions, child), network.done)
    evidence = {**asked.evidence, len(network.dag): value}
    return Softened(wider, evidence, asked.width, {**asked.findings, label: shown})


def _measurement(label: Label, finding: Any) -> tuple[float, float]:
    """The mean and the variance of a measurement of a continuous variable."""
    if not isinstance(finding, Mapping) or set(finding) != {"mean", "variance"}:
        raise SettingError(
            f"soft evidence of {label!r}, which is continuous, is a measurement with normal error: "
            f"{{'mean': 1.5, 'variance': 0.2}}, not {finding!r}"
        )
    mean, variance = (finite_number(label, finding[name]) for name in ("mean", "variance"))
    if not variance > 0:
        raise SettingError(
            f"the variance of the measurement of {label!r} must be above zero, not {variance:g}; an exact "
            f"value is ordinary evidence"
        )
    return mean, variance


def _weights(network: Network, node: int, finding: Any, what: str) -> Array:
    """One number per state, from a mapping of states or a distribution."""
    label, one = network.nodes[node], network.distributions[node]
    assert one.states is not None
    if isinstance(finding, Distribution) and len(finding.variables) == 1:
        finding = finding.to_dict()
    if not isinstance(finding, Mapping):
        raise SettingError(
            f"the {what} of {label!r} is a number for each state, as in "
            f"{{{', '.join(f'{state!r}: ...' for state in one.states[:3])}}}, not {finding!r}"
        )
    found = {one.encode(label, state): value for state, value in finding.items()}
    absent = [state for code, state in enumerate(one.states) if code not in found]
    if absent:
        raise UnknownNameError("state", absent[0], list(finding), f"the {what} of {label!r}; give all states")
    weights = np.array([finite_number(label, found[code]) for code in range(len(one.states))])
    if (weights < 0).any() or not weights.any():
        raise SettingError(
            f"the {what} of {label!r} must be at least zero for every state and above zero for one, not "
            f"{finding!r}"
        )
    return weights


# ---- Jeffrey's rule


def _with_jeffrey(asked: Softened, targets: dict[Label, Any]) -> Softened:
    """Likelihoods under which each variable has the distribution that was asked for."""
    network = asked.network
    nodes = [network.dag.index(label) for label in targets]
    wanted = [_distribution(network, node, targets[network.nodes[node]]) for node in nodes]
    weights = [np.ones(len(goal)) for goal in wanted]
    for _ in range(MOST_ROUNDS):
        worst = 0.0
        for k, node in enumerate(nodes):
            current = _joint_of(asked, nodes, weights, wanted)
            found = _posterior(current, node)
            gap = float(np.abs(found - wanted[k]).max())
            worst = max(worst, gap)
            if gap > TOLERANCE:
                weights[k] = _moved(network, node, weights[k], found, wanted[k])
        if worst <= TOLERANCE:
            return _joint_of(asked, nodes, weights, wanted)
    raise NetworkError(
        f"the distributions of {quoted([network.nodes[n] for n in nodes])} were not reached together in "
        f"{MOST_ROUNDS:,} rounds, and are {worst:.2g} off: the network does not allow them at once; "
        f"change one"
    )


def _joint_of(asked: Softened, nodes: list[int], weights: list[Array], wanted: list[Array]) -> Softened:
    for node, own, goal in zip(nodes, weights, wanted, strict=True):
        states = asked.network.distributions[node].states
        assert states is not None
        shown = SoftFinding(tuple(zip(states, goal.tolist(), strict=True)), is_posterior=True)
        asked = _joined(asked, node, _happened(own), 0, shown)
    return asked


def _posterior(asked: Softened, node: int) -> Array:
    find = inference.answer if asked.network.is_discrete else mixed_inference.answer
    found: Any = find(asked.network, (node,), asked.evidence)
    return np.asarray(found.probabilities)


def _moved(network: Network, node: int, weights: Array, found: Array, wanted: Array) -> Array:
    """The likelihoods multiplied by the quotients of the two distributions."""
    never = (found == 0) & (wanted > 0)
    if never.any():
        label, states = network.nodes[node], network.distributions[node].states
        assert states is not None
        raise NetworkError(
            f"{label}={states[int(np.argmax(never))]} has probability zero given the evidence, so it cannot "
            f"get the probability {float(wanted[never][0]):g} by Jeffrey's rule; correct the distribution of "
            f"{label!r}"
        )
    quotient = np.divide(wanted, found, out=np.zeros_like(found), where=found > 0)
    return np.asarray(weights * quotient / (weights * quotient).max())


def _distribution(network: Network, node: int, finding: Any) -> Array:
    """The distribution asked for, with a sum of one."""
    label = network.nodes[node]
    if network.distributions[node].states is None:
        raise SettingError(
            f"Jeffrey's rule is for variables with states, and {label!r} is continuous; "
            f"soft={{{label!r}: {{'mean': ..., 'variance': ...}}}} is a measurement of it"
        )
    found = _weights(network, node, finding, "distribution")
    if abs(found.sum() - 1) > SUM_TOLERANCE:
        raise SettingError(
            f"the distribution of {label!r} in jeffrey= sums to {found.sum():.6g}, not to 1; divide it by "
            f"its sum, or give likelihoods in soft="
        )
    return np.asarray(found / found.sum())
