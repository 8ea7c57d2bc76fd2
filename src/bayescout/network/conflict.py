"""Conflict of evidence: whether findings go together, in the sense of Jensen et al. (1991).

$$ \\operatorname{conf}(e) = \\log \\frac{\\prod_i P(e_i)}{P(e)} $$

Findings that come from one coherent case make one another more probable, so that the quotient is below one.
A positive conflict says that they are less probable together than if they had nothing to do with one another:
a finding may be wrong, or the case may be one that the network does not cover well.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayescout.data.table import Label
from bayescout.display import Grid, Shown
from bayescout.errors import SettingError
from bayescout.network import inference, mixed_inference
from bayescout.network.buckets import log_evidence
from bayescout.network.elimination import Array
from bayescout.network.headings import Evidence, heading

if TYPE_CHECKING:
    from bayescout.network.network import Network

MOST_PAIRS = 10
"""The most pairs that are shown; `pairs` has all."""


class ConflictingPair(NamedTuple):
    """Two variables and the conflict of their findings, in nats."""

    one: Label
    other: Label
    conflict: float


class Surprise(NamedTuple):
    """A variable, what its finding adds to the conflict in nats, and the conflict of all other findings."""

    node: Label
    adds: float
    without: float


@dataclass(frozen=True, eq=False, repr=False)
class Conflict(Shown):
    """The conflict of evidence in nats, and where it comes from; `float(conflict)` is the number.

    value     log of the product of the findings' probabilities over that of all together
    log_evidence  log of the probability, or density, of all findings together
    pairs     the conflict of every two findings, the largest first
    findings  for each finding log P(finding) - log P(finding | all others): how much less the others let
              expect it, which is what the conflict falls by when it is left out; the largest first

    Findings that determine one another, by nodes without noise, have a conflict of minus infinity.
    """

    value: float
    pairs: tuple[ConflictingPair, ...]
    findings: tuple[Surprise, ...]
    evidence: Evidence = ()
    done: Evidence = ()
    log_evidence: float = 0.0

    def __float__(self) -> float:
        return self.value

    def _text(self, label: Label) -> str:
        return heading((), ((label, dict(self.evidence)[label]),))[5:-1]

    def _grid(self) -> Grid:
        lines = [(f"{self._text(a)}, {self._text(b)}", "pair", c) for a, b, c in self.pairs[:MOST_PAIRS]]
        lines += [(self._text(node), "adds", adds) for node, adds, _ in self.findings]
        most = max([abs(c) for *_, c in lines if math.isfinite(c)], default=0.0) or 1.0
        rows = tuple((kind, text, f"{c:+.4f}") for text, kind, c in lines)
        bars = tuple((0.0, min(1.0, max(0.0, c) / most)) for *_, c in lines)
        apart = "positive: the findings may not belong together"
        notes = [apart if self.value > 0 else "not positive: the findings go together"]
        if len(self.pairs) > MOST_PAIRS:
            notes.append(f"and {len(self.pairs) - MOST_PAIRS:,} more pairs")
        given = heading((), self.evidence, self.done)[5:-1]
        title = f"conflict of {given}: {self.value:+.4f} nats"
        return Grid(title, ("", "finding", "conflict"), rows, 1, bars, tuple(notes))

    def _columns(self) -> dict[Hashable, Sequence[Any]]:
        return {
            "one": [pair.one for pair in self.pairs],
            "other": [pair.other for pair in self.pairs],
            "conflict": [pair.conflict for pair in self.pairs],
        }


def conflict(network: Network, evidence: Mapping[int, Any], labels: Mapping[int, Label]) -> Conflict:
    """The conflict of all findings; `labels` names the variable that each is of."""
    if not evidence:
        raise SettingError("a conflict is of evidence, and none was given; give at least two findings")
    nodes = list(evidence)
    whole = _log(network, evidence, nodes)
    if not np.isfinite(whole[0]):
        kind = inference if network.is_discrete else mixed_inference
        raise kind.impossible(network, evidence)
    single = {n: _log(network, evidence, [n]) for n in nodes}
    apart = np.sum(list(single.values()), axis=0)
    pairs = [
        ConflictingPair(
            labels[a], labels[b], _number(single[a] + single[b] - _log(network, evidence, [a, b]))
        )
        for a, b in combinations(nodes, 2)
    ]
    findings = []
    for n in nodes:
        rest = _log(network, evidence, [m for m in nodes if m != n])
        adds, without = single[n] - (whole - rest), apart - single[n] - rest
        findings.append(Surprise(labels[n], _number(adds), _number(without)))
    return Conflict(
        _number(apart - whole),
        tuple(sorted(pairs, key=lambda pair: -pair.conflict)),
        tuple(sorted(findings, key=lambda one: -one.adds)),
        log_evidence=_number(whole),
    )


def _log(network: Network, evidence: Mapping[int, Any], nodes: Sequence[int]) -> Array:
    """The log-probability of some findings, and how many of their densities are infinite."""
    return np.array(log_evidence(network, {n: evidence[n] for n in nodes}))


def _number(pair: Array) -> float:
    """A sum of such pairs as a number: infinite unless infinite densities cancel."""
    return float(pair[0]) if pair[1] == 0 else math.copysign(math.inf, pair[1])
