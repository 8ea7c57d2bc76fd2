"""Kullback-Leibler divergence of a learned network's distribution from the true one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import require_count
from bayescout.errors import SettingError, TooLargeError
from bayescout.evaluate import marginals
from bayescout.evaluate.distance import LISTED, Divergence, Impossible
from bayescout.evaluate.gaussian import gaussian_divergence, gaussian_sampled
from bayescout.evaluate.matching import FamilyTable, families, require_networks
from bayescout.evaluate.mixed import mixed_divergence, refuse_exact
from bayescout.network import Network

Floats = NDArray[np.float64]
Method = Literal["auto", "exact", "sampled"]
METHODS: tuple[Method, ...] = ("auto", "exact", "sampled")


def divergence(
    truth: Network,
    learned: Network,
    samples: int = 100_000,
    seed: int = 0,
    method: Method = "auto",
) -> Divergence:
    r"""The Kullback-Leibler divergence of a learned network from the true one, in nats.

    $$ KL = \sum_i \sum_{u} P(x_i, u_i) \log P(x_i | u_i) - \sum_i \sum_{v} P(x_i, v_i) \log Q(x_i | v_i) $$

    with the parents u in the truth P and v in the learned network Q. Discrete networks: P of every family
    comes from exact inference in the truth or, if that needs too large tables, the divergence is the mean of
    $\log P - \log Q$ over `samples` rows drawn from the truth; `exact` says which. Gaussian networks:
    always exact. Networks of both kinds: always sampled, with densities of rows. `method` "exact" refuses
    where "auto" would sample; "sampled" always samples.
    States are matched by value; a state that only the truth has is impossible in the learned network.
    """
    require_networks(truth, learned)
    if method not in METHODS:
        raise SettingError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    require_count("samples", samples, 2)
    if truth.is_gaussian:
        return (
            gaussian_sampled(truth, learned, samples, seed)
            if method == "sampled"
            else gaussian_divergence(truth, learned)
        )
    if truth.is_mixed:
        if method == "exact":
            raise refuse_exact()
        return mixed_divergence(truth, learned, samples, seed)
    mine = families(truth, truth.discrete_states, truth.nodes)
    others = families(learned, truth.discrete_states, truth.nodes)
    if method != "sampled":
        try:
            return _exact(truth, mine, others)
        except TooLargeError:
            if method == "exact":
                raise
    return _sampled(truth, mine, others, samples, seed)


# ---- exact


def _exact(truth: Network, mine: list[FamilyTable], others: list[FamilyTable]) -> Divergence:
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
    # Below zero only by rounding, since a divergence is never negative.
    return Divergence(max(math.fsum(terms), 0.0), exact=True, unseen=unseen)


def _expected_logs(weights: Floats, table: Floats) -> list[float]:
    """The terms P log Q that are not zero or infinite."""
    used = (weights != 0) & (table > 0)
    products: Floats = weights[used] * np.log(table[used])
    return list(products.tolist())


def _ruled_out(truth: Network, family: FamilyTable, masses: Floats) -> list[Impossible]:
    """The events of a family possible in truth but not in the learned network; the `LISTED` most probable."""
    found: list[Impossible] = []
    if not masses.any():
        return found
    for place in np.argsort(-masses, axis=None, kind="stable")[:LISTED].tolist():
        cell = np.unravel_index(place, masses.shape)
        if masses[cell] == 0:
            break
        values = {v: int(code) for v, code in zip(family.scope, cell, strict=True)}
        own = truth.discrete_states[family.child][values[family.child]]
        given = tuple(
            (truth.nodes[v], truth.discrete_states[v][code])
            for v, code in values.items()
            if v != family.child
        )
        found.append(Impossible(truth.nodes[family.child], own, given, float(masses[cell])))
    return found


def _worst(causes: Sequence[Impossible]) -> tuple[Impossible, ...]:
    return tuple(sorted(causes, key=lambda event: -event.probability)[:LISTED])


# ---- sampled


def _sampled(
    truth: Network, mine: list[FamilyTable], others: list[FamilyTable], samples: int, seed: int
) -> Divergence:
    codes = truth.sample(samples, seed).codes
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
