"""Importance sampling of discrete configurations, where summing over all of them takes too much.

Unobserved discrete variables are drawn in topological order; observed ones have a weight, the probability
of their state given the drawn ones. Given a drawn configuration the continuous part is exact, so only the
sum over configurations is estimated.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import generator
from bayescout.network.elimination import Array
from bayescout.network.mixed_problem import Problem
from bayescout.network.tabular import Tabular, draw_states, limits

DRAWS = 2**14
"""Configurations drawn for one answer."""

LEAST_EFFECTIVE = 100.0
"""Fewer effective draws than this give no answer."""


@dataclass(frozen=True)
class Drawn:
    """The different configurations that were drawn.

    codes   for each unobserved discrete node one code per configuration
    logs    (u,) the logarithm of the weight of one draw: the probability of the discrete evidence
    counts  (u,) how often each was drawn
    """

    codes: Mapping[int, NDArray[Any]]
    logs: Array
    counts: Array


def drawn(problem: Problem, tables: Collection[int], draws: int, seed: int) -> Drawn:
    """Draw the unobserved ones of some discrete nodes, given the evidence of the first row."""
    rng = generator(seed)
    codes = {n: np.full(draws, observed[0]) for n, observed in problem.fixed.items()}
    logs = np.zeros(draws)
    for node in (n for n in problem.network.dag.order_indices if n in tables):
        one = problem.network.distributions[node]
        assert isinstance(one, Tabular)
        config = one.configurations([codes[p] for p in problem.network.dag.parents[node]], draws)
        if node in problem.fixed:
            with np.errstate(divide="ignore"):
                logs += np.log(one.table.reshape(-1, len(one.states))[config, codes[node]])
        else:
            codes[node] = np.empty(draws, dtype=np.intp)
            draw_states(rng.random(draws), limits(one.table), config, codes[node])
    free = [n for n in tables if n not in problem.fixed]
    whole = np.stack([codes[n] for n in free])
    _, first, counts = np.unique(whole, axis=1, return_index=True, return_counts=True)
    return Drawn({n: codes[n][first] for n in free}, logs[first], counts.astype(np.float64))


def standard_errors(weights: Array, counts: Array, quantities: Array) -> Array:
    """The standard error of each weighted mean; `weights` (u,) of all draws of a configuration sum to one.

    quantities  (u, j)  the value of each quantity in each configuration
    """
    off = quantities - weights @ quantities
    return np.asarray(np.sqrt(((weights[:, None] * off) ** 2 / counts[:, None]).sum(axis=0)))


def effective(weights: Array, counts: Array) -> Array:
    """For each row of (n, u) weights the number of equally weighted draws that would be worth as much."""
    return np.asarray(1.0 / (weights**2 / counts).sum(axis=1))
