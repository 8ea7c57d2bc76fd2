"""Kullback-Leibler divergence: how far a learned network's distribution is from the true one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import require_count
from bayescout.errors import SettingError, TooLargeError, printable
from bayescout.evaluate import marginals
from bayescout.evaluate.json_values import json_label, json_value
from bayescout.evaluate.matching import FamilyTable, families, require_networks
from bayescout.graph.labels import Label
from bayescout.network import DiscreteNetwork, GaussianNetwork
from bayescout.network.inference import warn_undefined
from bayescout.network.sampling import discrete_codes

Floats = NDArray[np.float64]
Method = Literal["auto", "exact", "sampled"]
METHODS: tuple[Method, ...] = ("auto", "exact", "sampled")

LISTED = 100
"""How many impossible events a divergence lists, the most probable first."""


@dataclass(frozen=True)
class Impossible:
    """An event that happens in truth and that the learned network rules out.

    `node` has `state` while its parents in the learned network have the values `given`; `probability`
    is that of the event in truth, or its share of the sampled rows. In Gaussian networks `is_noise` says
    that the node has no noise in one of them and the other does not agree, and there is no state.
    """

    node: Label
    state: Any
    given: tuple[tuple[Label, Any], ...]
    probability: float
    is_noise: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {
            "node": json_label(self.node),
            "state": json_value(self.state),
            "given": [[json_label(label), json_value(state)] for label, state in self.given],
            "probability": self.probability,
            "is_noise": self.is_noise,
        }

    def __str__(self) -> str:
        if self.is_noise:
            return printable(f"{self.node} has no noise in one network, and the other does not agree")
        given = ", ".join(f"{label}={state}" for label, state in self.given)
        event = f"{self.node}={self.state}{' | ' + given if given else ''}"
        return printable(f"{event} (probability {self.probability:.3g})")


@dataclass(frozen=True, repr=False)
class Divergence:
    """KL(truth || learned) in nats; `float()` gives the value.

    value           0 for equal distributions; infinite where the learned network rules out what happens
    exact           whether it was computed, or estimated from rows sampled from the truth. An estimate
                    of a small divergence can come out below zero
    standard_error  of the estimate; 0 when exact
    rows            rows sampled; 0 when exact
    unseen          how many families of a row, on average, meet parents' values for which the learned
                    network has no estimate and uses the uniform distribution
    impossible      the events that make it infinite, the most probable first (at most 100)
    """

    value: float
    exact: bool
    standard_error: float = 0.0
    rows: int = 0
    unseen: float = 0.0
    impossible: tuple[Impossible, ...] = ()

    @property
    def is_finite(self) -> bool:
        return math.isfinite(self.value)

    def __float__(self) -> float:
        return self.value

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; an infinite value is null, and `infinite` says so."""
        return {
            "value": json_value(self.value),
            "infinite": not self.is_finite,
            "exact": self.exact,
            "standard_error": json_value(self.standard_error),
            "rows": self.rows,
            "unseen": self.unseen,
            "impossible": [event.to_dict() for event in self.impossible],
        }

    def __str__(self) -> str:
        how = "exact" if self.exact else f"from {self.rows:,} sampled rows"
        error = "" if self.exact or not self.is_finite else f" ± {self.standard_error:.2g}"
        text = f"KL divergence {self.value:.6g}{error} nats ({how})"
        if not self.impossible:
            return text
        first, more = self.impossible[0], len(self.impossible) - 1
        others = f" and {more} more" if more else ""
        if first.is_noise:
            return f"{text}; {first}{others}"
        if more + 1 == LISTED:
            others = " and many more"
        return f"{text}; the learned network rules out {first}{others}"

    def __repr__(self) -> str:
        return f"<Divergence: {self}>"


def divergence(
    truth: DiscreteNetwork | GaussianNetwork,
    learned: DiscreteNetwork | GaussianNetwork,
    samples: int = 100_000,
    seed: int = 0,
    method: Method = "auto",
) -> Divergence:
    r"""The Kullback-Leibler divergence of a learned network from the true one, in nats.

    $$ KL = \sum_i \sum_{u} P(x_i, u_i) \log P(x_i | u_i) - \sum_i \sum_{v} P(x_i, v_i) \log Q(x_i | v_i) $$

    with the parents u in the truth P and v in the learned network Q. Discrete networks: P of every family
    comes from exact inference in the truth, or, where that needs tables too large, the mean of
    $\log P - \log Q$ over `samples` rows drawn from the truth; `exact` says which. Gaussian networks:
    always exact. `method` "exact" refuses where "auto" would sample; "sampled" always samples.
    States are matched by value; one that only the truth has is impossible in the learned network.
    """
    require_networks(truth, learned)
    if method not in METHODS:
        raise SettingError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    require_count("samples", samples, 2)
    if isinstance(truth, GaussianNetwork) and isinstance(learned, GaussianNetwork):
        from bayescout.evaluate.gaussian import gaussian_divergence, gaussian_sampled

        return (
            gaussian_sampled(truth, learned, samples, seed)
            if method == "sampled"
            else gaussian_divergence(truth, learned)
        )
    assert isinstance(truth, DiscreteNetwork)
    assert isinstance(learned, DiscreteNetwork)
    mine = families(truth, truth.states, truth.nodes)
    others = families(learned, truth.states, truth.nodes)
    if method != "sampled":
        try:
            return _exact(truth, mine, others)
        except TooLargeError:
            if method == "exact":
                raise
    return _sampled(truth, mine, others, samples, seed)


# ---- exact


def _exact(truth: DiscreteNetwork, mine: list[FamilyTable], others: list[FamilyTable]) -> Divergence:
    signed: dict[tuple[int, ...], list[tuple[int, FamilyTable]]] = {}
    for sign, some in ((1, mine), (-1, others)):
        for family in some:
            signed.setdefault(family.scope, []).append((sign, family))
    marginals.refuse_costly(truth, list(signed), "the exact divergence")
    terms: list[float] = []
    causes: list[Impossible] = []
    unseen = 0.0
    for scope, here in signed.items():
        weights = marginals.joint(truth, scope)
        for sign, family in here:
            terms += _expected_logs(sign * weights, family.table)
            if sign < 0:
                unseen += float((weights * family.undefined).sum())
                causes += _ruled_out(truth, family, np.where(family.table == 0, weights, 0.0))
    if causes:
        return Divergence(math.inf, exact=True, unseen=unseen, impossible=_worst(causes))
    # Below zero only by rounding: a divergence never is.
    return Divergence(max(math.fsum(terms), 0.0), exact=True, unseen=unseen)


def _expected_logs(weights: Floats, table: Floats) -> list[float]:
    """The terms P log Q that are not zero or infinite."""
    used = (weights != 0) & (table > 0)
    products: Floats = weights[used] * np.log(table[used])
    return list(products.tolist())


def _ruled_out(truth: DiscreteNetwork, family: FamilyTable, masses: Floats) -> list[Impossible]:
    """The events of a family that happen in truth and not in the learned network; the largest `LISTED`."""
    found: list[Impossible] = []
    if not masses.any():
        return found
    for place in np.argsort(-masses, axis=None, kind="stable")[:LISTED].tolist():
        cell = np.unravel_index(place, masses.shape)
        if masses[cell] == 0:
            break
        values = {v: int(code) for v, code in zip(family.scope, cell, strict=True)}
        own = truth.states[family.child][values[family.child]]
        given = tuple(
            (truth.nodes[v], truth.states[v][code]) for v, code in values.items() if v != family.child
        )
        found.append(Impossible(truth.nodes[family.child], own, given, float(masses[cell])))
    return found


def _worst(causes: Sequence[Impossible]) -> tuple[Impossible, ...]:
    return tuple(sorted(causes, key=lambda event: -event.probability)[:LISTED])


# ---- sampled


def _sampled(
    truth: DiscreteNetwork, mine: list[FamilyTable], others: list[FamilyTable], samples: int, seed: int
) -> Divergence:
    codes, undefined = discrete_codes(truth, samples, seed)
    warn_undefined(truth, undefined, "the sample")
    ratios = np.zeros(samples)
    for family in mine:
        ratios += np.log(_looked_up(family.table, family, codes))
    causes: list[Impossible] = []
    unseen = 0.0
    for family in others:
        found = _looked_up(family.table, family, codes)
        unseen += float(_looked_up(family.undefined, family, codes).sum())
        if not found.all():
            masses = np.zeros(family.table.shape)
            np.add.at(masses, tuple(codes[v][found == 0] for v in family.scope), 1.0 / samples)
            causes += _ruled_out(truth, family, masses)
        ratios -= np.log(np.where(found > 0, found, 1.0))
    if causes:
        return Divergence(math.inf, False, math.inf, samples, unseen / samples, _worst(causes))
    error = float(ratios.std(ddof=1)) / math.sqrt(samples)
    return Divergence(math.fsum(ratios.tolist()) / samples, False, error, samples, unseen / samples)


def _looked_up(table: Floats, family: FamilyTable, codes: NDArray[Any]) -> Floats:
    return np.asarray(table[tuple(codes[v] for v in family.scope)])
