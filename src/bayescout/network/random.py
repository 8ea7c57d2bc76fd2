"""Random networks: a random graph with random tables, a random linear structural model, or both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayescout.checks import generator
from bayescout.data.table import MAX_STATES, Label
from bayescout.errors import SettingError
from bayescout.graph.accept import as_dag
from bayescout.graph.dag import Dag
from bayescout.graph.random import random_dag
from bayescout.network.conditional_gaussian import ConditionalGaussian
from bayescout.network.constructors import DiscreteNetwork, GaussianNetwork
from bayescout.network.fit import is_number, refuse_large
from bayescout.network.linear_gaussian import LinearGaussian
from bayescout.network.network import Network
from bayescout.network.node import NodeDistribution
from bayescout.network.tabular import Tabular

PARAMETERS = 1
"""Added to the seed's entropy, so that parameters and graph use unrelated random numbers."""


def random_network(
    nodes: int | Iterable[Label] | None = None,
    arcs: int | None = None,
    density: float | None = None,
    states: int | Sequence[int] = 2,
    max_parents: int | None = None,
    kind: Literal["discrete", "gaussian", "mixed"] = "discrete",
    concentration: float | None = None,
    coefficients: tuple[float, float] = (-1.0, 1.0),
    variances: float | tuple[float, float] = 1.0,
    seed: int = 0,
    dag: Any = None,
) -> Network:
    """A random network; `dag` gives the graph, otherwise `random_dag` draws it with this seed.

    nodes, arcs, density, max_parents
                   of the graph to draw: see `random_dag`; 5 nodes by default
    kind           of a mixed network the first half of the nodes, in topological order, is discrete
                   (one more than half if their number is odd), the rest continuous
    states         of discrete nodes: their number, a (low, high) pair to draw each node's number
                   from, both included, or a list with one number per node. They are labelled s0, s1, ...
    concentration  None: each row of a table is uniform numbers divided by their sum; a number:
                   each row is a symmetric Dirichlet draw (1 is uniform over distributions, less is
                   more deterministic)
    coefficients   of continuous nodes: uniform in this range; intercepts are 0 or, given discrete parents,
                   drawn from the same range for each configuration
    variances      of the noise: one number for all, or a range to draw from
    """
    rng = generator(seed, PARAMETERS)
    if concentration is not None and not (is_number(concentration) and concentration > 0):
        raise SettingError(f"concentration must be a positive number or None, not {concentration!r}")
    graph = _graph(dag, seed, nodes=nodes, arcs=arcs, density=density, max_parents=max_parents)
    if kind == "discrete":
        return _discrete(graph, states, concentration, rng)
    if kind == "gaussian":
        return _gaussian(graph, coefficients, variances, rng)
    if kind == "mixed":
        return _mixed(graph, states, concentration, (coefficients, variances), rng)
    raise SettingError(f"unknown kind {kind!r}; choose discrete, gaussian or mixed")


def _graph(dag: Any, seed: int, **settings: Any) -> Dag:
    """The given graph, or one drawn; settings for drawing cannot be combined with a given graph."""
    given = {name: value for name, value in settings.items() if value is not None}
    if dag is None:
        return random_dag(seed=seed, **given)
    if given:
        raise SettingError(
            f"{', '.join(given)} and dag are both given: they say how to draw a graph; give one"
        )
    return as_dag(dag)


def _discrete(
    dag: Dag, states: int | Sequence[int], concentration: float | None, rng: np.random.Generator
) -> Network:
    sizes = _sizes(len(dag), states, rng)
    for child in range(len(dag)):
        refuse_large(dag, sizes, child)
    tables = tuple(
        _table([sizes[p] for p in parents], sizes[child], concentration, rng)
        for child, parents in enumerate(dag.parents)
    )
    return DiscreteNetwork(dag, tuple(tuple(f"s{k}" for k in range(size)) for size in sizes), tables)


def _table(
    shape: list[int], size: int, concentration: float | None, rng: np.random.Generator
) -> NDArray[np.float64]:
    if concentration is not None and size > 1:
        return rng.dirichlet([concentration] * size, size=tuple(shape))
    # 1 - [0, 1) is (0, 1]: no row can sum to zero.
    weights = 1.0 - rng.random((*shape, size))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _sizes(n: int, states: object, rng: np.random.Generator) -> list[int]:
    """The number of states of each node; a tuple of two is a range, any other sequence has one per node."""
    if isinstance(states, Integral):
        sizes = [_count(states)] * n
    elif isinstance(states, tuple) and len(states) == 2:
        low, high = (_count(value) for value in states)
        if low > high:
            raise SettingError(f"states={states} is an empty range; give (fewest, most)")
        sizes = rng.integers(low, high, size=n, endpoint=True).tolist()
    elif isinstance(states, list | tuple):
        sizes = [_count(value) for value in states]
    else:
        raise SettingError(f"states must be a number, a (low, high) pair or a list, not {states!r}")
    if len(sizes) != n:
        raise SettingError(f"states lists {len(sizes)} numbers for {n} nodes; give one a node")
    return sizes


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= int(value) <= MAX_STATES:
        raise SettingError(f"a node has from 1 to {MAX_STATES:,} states, not {value!r}")
    return int(value)


def _gaussian(
    dag: Dag,
    coefficients: tuple[float, float],
    variances: float | tuple[float, float],
    rng: np.random.Generator,
) -> Network:
    weights = tuple(_uniform("coefficients", coefficients, len(parents), rng) for parents in dag.parents)
    noise = _noise(variances, len(dag), rng)
    return GaussianNetwork(dag, np.zeros(len(dag)), weights, noise)


def _mixed(
    dag: Dag, states: int | Sequence[int], concentration: float | None, ranges: Any, rng: np.random.Generator
) -> Network:
    """Tables for the first half of a topological order, regressions for the rest."""
    sizes = _sizes(len(dag), states, rng)
    coefficients, variances = ranges
    discrete = set(dag.order_indices[: (len(dag) + 1) // 2])
    cards = [size if node in discrete else 1 for node, size in enumerate(sizes)]
    made: list[NodeDistribution] = []
    for child, parents in enumerate(dag.parents):
        refuse_large(dag, cards, child)
        shape = tuple(sizes[p] for p in parents if p in discrete)
        if child in discrete:
            labels = tuple(f"s{k}" for k in range(sizes[child]))
            made.append(Tabular(labels, _table(list(shape), sizes[child], concentration, rng)))
            continue
        q, k = prod(shape), len(parents) - len(shape)
        weights = _uniform("coefficients", coefficients, q * k, rng)
        noise = _noise(variances, q, rng)
        if not shape:
            made.append(LinearGaussian(0.0, weights, noise[0]))
            continue
        where = tuple(place for place, p in enumerate(parents) if p in discrete)
        starts = _uniform("coefficients", coefficients, q, rng).reshape(shape)
        arrays = (starts, weights.reshape(*shape, k), noise.reshape(shape))
        made.append(ConditionalGaussian(*arrays, discrete=where))
    return Network(dag, tuple(made))


def _noise(variances: object, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    noise = _uniform("variances", variances, n, rng)
    if (noise < 0).any():
        raise SettingError(f"variances must not be negative, not {variances!r}")
    return noise


def _uniform(name: str, limits: object, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    if is_number(limits):
        limits = (limits, limits)
    if not isinstance(limits, Sequence) or len(limits) != 2 or not all(is_number(x) for x in limits):
        raise SettingError(f"{name} must be a (low, high) pair of finite numbers, not {limits!r}")
    low, high = float(limits[0]), float(limits[1])
    if low > high:
        raise SettingError(f"{name}={limits!r} is an empty range; give (low, high)")
    return rng.uniform(low, high, size=n)
