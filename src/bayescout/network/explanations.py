"""The most probable assignments: of all variables, or of some with the others summed out (marginal MAP).

Maxima are taken in an order that sums the other variables out first, so the answer is exact. The k best are
read back from the same tables by best-first search: the table of a variable says what the best completion of
a partial assignment is worth, so no partial assignment is looked at that does not lead to one of the answers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import exp
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayescout.checks import require_count
from bayescout.data.table import Label
from bayescout.display import Grid, Shown, own_name, probability_text
from bayescout.errors import WrongKindError
from bayescout.network import inference, mixed_inference
from bayescout.network.buckets import Bucket, eliminate, pose, terms_of
from bayescout.network.headings import Evidence, heading
from bayescout.network.mixed_problem import undefined_nodes
from bayescout.network.parts import warn_undefined

if TYPE_CHECKING:
    from bayescout.network.network import Network

MOST_COLUMNS = 12
"""The most variables that have a column where explanations are shown."""


class Explained(NamedTuple):
    """An assignment and its probability given the evidence."""

    values: dict[Label, Any]
    probability: float


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(Shown):
    """The most probable assignments given the evidence, the best first: a sequence of `Explained`."""

    variables: tuple[Label, ...]
    found: tuple[Explained, ...]
    evidence: Evidence = ()
    done: Evidence = ()

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, position: int) -> Explained:
        return self.found[position]

    def __iter__(self) -> Iterator[Explained]:
        return iter(self.found)

    def _grid(self) -> Grid:
        """Variables that differ have a column each; what is the same in all is a note."""
        values = [one.values for one in self.found]
        differing = [v for v in self.variables if any(one[v] != values[0][v] for one in values)]
        shown = differing[:MOST_COLUMNS] if len(values) > 1 else list(self.variables[:MOST_COLUMNS])
        rows = [
            (str(i + 1), *(_shown(one[v]) for v in shown), probability_text(p))
            for i, (one, p) in enumerate(self.found)
        ]
        same = [v for v in self.variables if v not in differing and v not in shown]
        notes = []
        if same and values:
            notes.append("the same in all: " + ", ".join(f"{v}={_shown(values[0][v])}" for v in same[:40]))
        if len(differing) > len(shown) and len(values) > 1:
            notes.append(f"and {len(differing) - len(shown):,} more variables that differ")
        bars = tuple((0.0, one.probability) for one in self.found)
        given = heading(("explanations",), self.evidence, self.done)[2:-1]
        columns = ("", *map(str, shown), "probability")
        return Grid(f"most probable {given}", columns, tuple(rows), 1, bars, tuple(notes))

    def _columns(self) -> dict[Hashable, Sequence[Any]]:
        found: dict[Hashable, Sequence[Any]] = {
            v: [one.values[v] for one in self.found] for v in self.variables
        }
        return {**found, own_name("probability", self.variables): [one.probability for one in self.found]}


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def explanations(network: Network, evidence: Mapping[int, Any], k: int, nodes: Sequence[int]) -> Explanations:
    """The k most probable assignments of the nodes; numbers of a mixed network are means given the states."""
    count = require_count("the number of explanations", k, 1)
    states = [n for n in nodes if network.distributions[n].states is not None]
    numbers = [n for n in nodes if n not in states]
    if numbers and not states:
        raise WrongKindError(
            "explanations are ranked by the probability of states, and the nodes asked for are continuous: "
            "most_probable() gives the values of largest density, query() the distribution, and "
            "sample(evidence=...) draws"
        )
    best = ranked(network, evidence, count, states)
    found = []
    for codes, probability in best:
        given = {n: codes[n] for n in states if n not in evidence}
        means = {n: _mean(network, n, {**evidence, **given}) for n in numbers}
        values = {network.nodes[n]: means[n] if n in means else _state(network, n, codes[n]) for n in nodes}
        found.append(Explained(values, probability))
    shown = mixed_inference.shown(network, evidence)
    return Explanations(tuple(network.nodes[n] for n in nodes), tuple(found), shown, network.done)


def _state(network: Network, node: int, code: int) -> Label:
    states = network.distributions[node].states
    assert states is not None
    return states[code]


def _mean(network: Network, node: int, evidence: Mapping[int, Any]) -> float:
    if node in evidence:
        return float(evidence[node])
    found: Any = mixed_inference.answer(network, (node,), evidence)
    return float(found.mean)


def ranked(
    network: Network, evidence: Mapping[int, Any], k: int, nodes: Sequence[int]
) -> list[tuple[dict[int, int], float]]:
    """(codes of the discrete nodes, probability given the evidence), the most probable first.

    Of equals the one with the lower state comes first, in the reverse of the elimination order.
    """
    problem = pose(network, nodes, evidence)
    warn_undefined(network, undefined_nodes(problem), "the answer")
    fixed = {n: int(codes[0]) for n, codes in problem.fixed.items()}
    terms = terms_of(problem)
    maxima = [n for n in nodes if n not in fixed]
    found = eliminate(problem, terms, maxima)
    if not np.isfinite(found.total):
        kind = inference if network.is_discrete else mixed_inference
        raise kind.impossible(network, evidence)
    whole = eliminate(problem, terms).total
    chosen = [bucket for bucket in found.buckets if bucket.variable in set(maxima)]
    return [
        ({**fixed, **codes}, min(1.0, exp(log - whole)))
        for codes, log in _best_first(chosen[::-1], found.total, k)
    ]


def _best_first(buckets: Sequence[Bucket], total: float, k: int) -> Iterator[tuple[dict[int, int], float]]:
    """(codes, log-probability) of the k best assignments, variables eliminated last chosen first."""
    waiting: list[tuple[float, tuple[int, ...]]] = [(-total, ())]
    for _ in range(k):
        if not waiting:
            return
        cost, codes = heappop(waiting)
        chosen = {bucket.variable: code for bucket, code in zip(buckets, codes, strict=False)}
        for bucket in buckets[len(codes) :]:
            where = tuple(slice(None) if v == bucket.variable else chosen[v] for v in bucket.scope)
            logs = bucket.logs[where]
            best = int(np.argmax(logs))
            for code in np.flatnonzero(np.isfinite(logs)).tolist():
                if code != best:
                    heappush(waiting, (cost + float(logs[best] - logs[code]), (*codes, code)))
            chosen[bucket.variable] = best
            codes = (*codes, best)
        yield chosen, -cost
