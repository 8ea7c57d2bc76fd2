"""The value of a next observation: how much each unobserved variable would tell about a target.

The measure is the mutual information given the evidence, in nats: the expected fall of the target's entropy
when the variable is observed. The variable with the largest is the next best question.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayescout.data.table import Label
from bayescout.display import Grid, Shown
from bayescout.errors import SettingError, TooLargeError, WrongKindError
from bayescout.graph.labels import quoted
from bayescout.network import conditioning, inference, mixed_inference
from bayescout.network.distribution import Distribution, GaussianMixture
from bayescout.network.elimination import Array
from bayescout.network.headings import Evidence, heading

if TYPE_CHECKING:
    from bayescout.network.network import Network

MOST_COMPONENTS = 1000
"""The most normal distributions of mixtures between which information is integrated."""

ROUNDING = 1e-13
"""Information below this many nats is rounding."""

REACH, STEP, POINTS = 9.0, 0.5, 8
"""Integrals go up to so many deviations from every mean, in steps of so many, with so many points each."""


class Observation(NamedTuple):
    """A variable, its information about the target in nats, and the share of the target's entropy."""

    node: Label
    information: float
    share: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Information(Shown):
    """What observing each variable would tell about the target, the most telling first.

    A sequence of `Observation`; `best` is the next best question.

    entropy   of the target given the evidence, in nats; None if the target is continuous
    left_out  continuous nodes whose information about a continuous target is not computed
    """

    target: Label
    found: tuple[Observation, ...]
    entropy: float | None
    evidence: Evidence = ()
    done: Evidence = ()
    left_out: tuple[Label, ...] = ()

    @property
    def best(self) -> Label | None:
        """The variable that tells most; None if none tells anything."""
        return self.found[0].node if self.found and self.found[0].information > 0 else None

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Observation]:
        return iter(self.found)

    def __getitem__(self, node: Label) -> float:
        """The information of one variable."""
        return self.to_dict()[node]

    def to_dict(self) -> dict[Label, float]:
        """The information of each variable in nats."""
        return {one.node: one.information for one in self.found}

    def _grid(self) -> Grid:
        finite = [one.information for one in self.found if math.isfinite(one.information)]
        most = self.entropy or max(finite, default=0.0) or 1.0
        rows = tuple(
            (str(one.node), f"{one.information:.6f}", "" if one.share is None else f"{100 * one.share:.1f}%")
            for one in self.found
        )
        bars = tuple((0.0, min(1.0, one.information / most)) for one in self.found)
        notes = [] if self.entropy is None else [f"entropy of {self.target}: {self.entropy:.6f} nats"]
        if self.left_out:
            notes.append(f"left out, as they and the target are continuous: {quoted(self.left_out, 5)}")
        what = heading((self.target,), self.evidence, self.done)[2:-1]
        columns = ("observe", "nats", "share" if self.entropy is not None else "")
        return Grid(f"information about {what}", columns, rows, 2, bars, tuple(notes))

    def _columns(self) -> dict[Hashable, Sequence[Any]]:
        return {
            "node": [one.node for one in self.found],
            "information": [one.information for one in self.found],
            "share": [one.share for one in self.found],
        }


def information(
    network: Network, target: int, evidence: Mapping[int, Any], nodes: Sequence[int] | None, width: int
) -> Information:
    """The information of the nodes, by default all of the first `width` that are not observed."""
    if target in evidence:
        raise SettingError(
            f"{network.nodes[target]!r} is observed, so nothing more can be learned about it; ask about "
            f"another variable"
        )
    chosen = range(width) if nodes is None else nodes
    asked = [n for n in chosen if n != target and n not in evidence]
    entropy = None
    left_out: list[int] = []
    if network.is_gaussian:
        found = _gaussian(network, target, evidence, asked)
    elif network.is_mixed:
        found, left_out = _mixed(network, target, evidence, asked)
        if left_out and nodes is not None:
            raise WrongKindError(
                f"the information between two continuous variables of a mixed network is not computed, and "
                f"{network.nodes[left_out[0]]!r} and the target {network.nodes[target]!r} are so; ask "
                f"for a discrete target, or of discrete nodes"
            )
    else:
        found = _discrete(network, target, evidence, asked)
    if network.distributions[target].states is not None:
        find = inference.answer if network.is_discrete else mixed_inference.answer
        one: Any = find(network, (target,), evidence)
        entropy = float(-_plogp(one.probabilities).sum()) + 0.0
    place = {n: i for i, n in enumerate(asked)}
    ranked = sorted(found.items(), key=lambda pair: (-pair[1], place[pair[0]]))
    observations = tuple(
        Observation(network.nodes[n], worth, worth / entropy if entropy else None) for n, worth in ranked
    )
    others = tuple(network.nodes[n] for n in left_out)
    return Information(network.nodes[target], observations, entropy, left_out=others)


def _plogp(shares: Array) -> Array:
    return np.where(shares > 0, shares * np.log(np.where(shares > 0, shares, 1.0)), 0.0)


# ---- discrete


def _discrete(
    network: Network, target: int, evidence: Mapping[int, int], nodes: Sequence[int]
) -> dict[int, float]:
    """All marginals given each state of the target, or one joint per node if those are fewer."""
    size = network.sizes[target]
    if len(nodes) <= size:
        return {n: of_joint(inference.query(network, (target, n), evidence)) for n in nodes}
    prior = inference.query(network, (target,), evidence)
    rows = {
        code: inference.marginals(network, {**evidence, target: code})
        for code in range(size)
        if prior[code] > 0
    }
    return {n: of_joint(np.array([prior[code] * own[n] for code, own in rows.items()])) for n in nodes}


def of_joint(joint: Array) -> float:
    """The mutual information of two variables from their joint distribution."""
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    quotient = np.divide(joint, apart, out=np.ones_like(joint), where=joint > 0)
    return _above_rounding(float((joint * np.log(quotient)).sum()))


def _above_rounding(information: float) -> float:
    """The information, zero if it is no more than rounding."""
    return information if information > ROUNDING else 0.0


# ---- Gaussian


def _gaussian(
    network: Network, target: int, evidence: Mapping[int, float], nodes: Sequence[int]
) -> dict[int, float]:
    """-log(1 - r^2) / 2 with the partial correlation r given the evidence."""
    conditioning.answer(network, (target,), evidence)  # refuses evidence that cannot be
    found = {}
    for some in conditioning.in_parts(network, nodes):
        cells = conditioning.condition(network, (target, *some), list(evidence)).covariance
        for i, n in enumerate(some, 1):
            found[n] = of_normal(float(cells[0, 0]), float(cells[i, i]), float(cells[0, i]))
    return found


def of_normal(one: float, other: float, across: float) -> float:
    """The mutual information of two normal variables from their variances and covariance."""
    if not (one > 0 and other > 0):
        return 0.0
    left = 1 - across / one * (across / other)
    return _above_rounding(-0.5 * math.log(left)) if left > 1e-14 else math.inf


# ---- mixed


def _mixed(
    network: Network, target: int, evidence: Mapping[int, Any], nodes: Sequence[int]
) -> tuple[dict[int, float], list[int]]:
    """The information of each node, and the nodes that it cannot be computed for."""
    found, left_out = {}, []
    for n in nodes:
        answer: Any = mixed_inference.answer(network, (target, n), evidence)
        if isinstance(answer, Distribution):
            found[n] = of_joint(answer.probabilities)
        elif isinstance(answer, GaussianMixture):
            if len(answer.weights) == 1:
                cells = answer.covariances[0]
                found[n] = of_normal(float(cells[0, 0]), float(cells[1, 1]), float(cells[0, 1]))
            else:
                left_out.append(n)
        else:
            shares = answer.discrete.probabilities
            given = [
                (float(p), one) for p, one in zip(shares, answer.continuous, strict=True) if one is not None
            ]
            found[n] = of_mixtures(given)
    return found, left_out


def of_mixtures(given: Sequence[tuple[float, GaussianMixture]]) -> float:
    """The mutual information of a state and a number, from the shares of states and the mixtures given these.

    The density of the number is integrated between all points that are whole steps of a component's deviation
    from its mean, so that narrow components are seen; point masses are summed.
    """
    weights = np.concatenate([p * one.weights for p, one in given])
    owner = np.repeat(np.arange(len(given)), [len(one.weights) for _, one in given])
    means = np.concatenate([one.means[:, 0] for _, one in given])
    deviations = np.concatenate([np.sqrt(one.covariances[:, 0, 0]) for _, one in given])
    if len(weights) > MOST_COMPONENTS:
        raise TooLargeError(
            f"the distribution of the continuous variable is a mixture of {len(weights):,} normal "
            f"distributions, over the limit of {MOST_COMPONENTS:,} for its information; observe more "
            f"variables"
        )
    shares = np.array([p for p, _ in given])
    point = deviations == 0
    total = 0.0
    for at in np.unique(means[point]):
        here = point & (means == at)
        mass = np.bincount(owner[here], weights[here], minlength=len(given)).astype(np.float64)
        total += float(_pointwise(mass[:, None], shares)[0])
    if not point.all():
        spread = ~point
        xs, steps = _integration_points(means[spread], deviations[spread])
        for some in np.array_split(np.arange(len(xs)), max(1, len(xs) * len(weights) // 2**22)):
            scaled = (xs[None, some] - means[spread][:, None]) / deviations[spread][:, None]
            height = (weights[spread] / (deviations[spread] * math.sqrt(2 * math.pi)))[:, None]
            parts = height * np.exp(-0.5 * scaled**2)
            cells = np.stack([parts[owner[spread] == k].sum(axis=0) for k in range(len(given))])
            total += float(_pointwise(cells, shares) @ steps[some])
    return _above_rounding(total)


def _pointwise(cells: Array, shares: Array) -> Array:
    """Sum f log(f / (p g)) over states, with f of state and number, g of the number, p of the state."""
    apart = shares[:, None] * cells.sum(axis=0)
    quotient = np.divide(cells, apart, out=np.ones_like(cells), where=(cells > 0) & (apart > 0))
    return np.asarray((cells * np.log(quotient)).sum(axis=0))


def _integration_points(means: Array, deviations: Array) -> tuple[Array, Array]:
    """Gauss-Legendre points and weights between all ends of steps."""
    offsets = np.arange(-REACH, REACH + STEP, STEP)
    ends = np.unique((means[:, None] + deviations[:, None] * offsets).ravel())
    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    middle, half = (ends[1:] + ends[:-1]) / 2, (ends[1:] - ends[:-1]) / 2
    xs = (middle[:, None] + half[:, None] * nodes).ravel()
    return xs, (half[:, None] * weights).ravel()
