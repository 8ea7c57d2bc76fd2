"""Hypothesis strategies: small networks, their evidence and their rows."""

import numpy as np
from hypothesis import strategies as st

from bayescout.data.table import Table
from bayescout.graph.dag import Dag
from bayescout.network import (
    ConditionalGaussian,
    DiscreteNetwork,
    GaussianNetwork,
    LinearGaussian,
    Network,
    Tabular,
)


@st.composite
def small_dags(draw, most=6):
    """Random arcs along a random order, so that parents need not come first in the list."""
    n = draw(st.integers(1, most))
    order = draw(st.permutations(range(n)))
    parents = [()] * n
    for place, node in enumerate(order):
        before = order[:place]
        parents[node] = tuple(draw(st.sets(st.sampled_from(before), max_size=3))) if before else ()
    return Dag(tuple(f"n{i}" for i in range(n)), tuple(parents))


@st.composite
def discrete_networks(draw, most=6):
    """One to three states a node; small whole weights, so that zeros and ties come often."""
    dag = draw(small_dags(most))
    sizes = [draw(st.integers(1, 3)) for _ in dag.nodes]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    high = draw(st.sampled_from([2, 3, 1000]))
    tables = []
    for child, parents in enumerate(dag.parents):
        cells = rng.integers(0, high, size=tuple(sizes[v] for v in (*parents, child))).astype(float)
        cells[cells.sum(axis=-1) == 0] = 1.0
        tables.append(cells / cells.sum(axis=-1, keepdims=True))
    states = tuple(tuple(f"v{k}" for k in range(size)) for size in sizes)
    return DiscreteNetwork(dag, states, tuple(tables))


@st.composite
def gaussian_networks(draw, most=6):
    dag = draw(small_dags(most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    weights = tuple(rng.uniform(-2, 2, len(parents)) for parents in dag.parents)
    return GaussianNetwork(dag, rng.uniform(-3, 3, len(dag)), weights, rng.uniform(0.1, 2, len(dag)))


@st.composite
def observations(draw, network, most=4):
    """{node: code} for some nodes."""
    nodes = draw(st.lists(st.integers(0, len(network.dag) - 1), unique=True, max_size=most))
    return {node: draw(st.integers(0, len(network.states[node]) - 1)) for node in nodes}


def labelled(network, codes):
    """{node: code} as {label: state}."""
    return {network.nodes[node]: network.states[node][code] for node, code in codes.items()}


def discrete_table(names, states, rows, weights=None):
    """A table from rows of codes."""
    codes = np.array(rows, dtype=np.uint8).reshape(len(rows), len(names)).T
    return Table(tuple(names), tuple(states), np.ascontiguousarray(codes), np.empty((0, len(rows))), weights)


def continuous_table(names, columns, weights=None):
    values = np.array(columns, dtype=float)
    none = np.empty((0, values.shape[1]), dtype=np.uint8)
    return Table(tuple(names), (None,) * len(names), none, values, weights)


@st.composite
def mixed_networks(draw, most=6, degenerate=False):
    """Discrete and continuous nodes in any order of the list; some tables have zeros, some nodes no noise."""
    n = draw(st.integers(2, most))
    order = draw(st.permutations(range(n)))
    n_discrete = draw(st.integers(1, n - 1))
    discrete = set(order[:n_discrete])
    parents = [()] * n
    for place, node in enumerate(order):
        before = [v for v in order[:place] if node not in discrete or v in discrete]
        parents[node] = tuple(draw(st.sets(st.sampled_from(before), max_size=3))) if before else ()
    dag = Dag(tuple(f"n{i}" for i in range(n)), tuple(parents))
    sizes = {node: draw(st.integers(1, 3)) for node in discrete}
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    high = draw(st.sampled_from([2, 1000]))
    noises = draw(st.sampled_from([(0.0, 1.0), (0.0,)])) if degenerate else (0.1, 1.0, 2.0)
    return Network(dag, [_mixed_node(dag, node, sizes, rng, high, noises) for node in range(n)])


def _mixed_node(dag, node, sizes, rng, high, noises):
    own = dag.parents[node]
    shape = tuple(sizes[p] for p in own if p in sizes)
    k = len(own) - len(shape)
    if node in sizes:
        cells = rng.integers(0, high, size=(*shape, sizes[node])).astype(float)
        cells[cells.sum(axis=-1) == 0] = 1.0
        return Tabular(tuple(f"v{i}" for i in range(sizes[node])), cells / cells.sum(axis=-1, keepdims=True))
    numbers = (
        rng.integers(-2, 3, shape).astype(float),
        rng.integers(-2, 3, (*shape, k)).astype(float),
        rng.choice(noises, shape),
    )
    if not shape:
        return LinearGaussian(*numbers)
    return ConditionalGaussian(*numbers, discrete=tuple(i for i, p in enumerate(own) if p in sizes))


@st.composite
def mixed_observations(draw, network, most=4):
    """{label: state or number} for some nodes."""
    nodes = draw(st.lists(st.integers(0, len(network.dag) - 1), unique=True, max_size=most))
    found = {}
    for node in nodes:
        states = network.distributions[node].states
        value = st.integers(-4, 4).map(float) if states is None else st.sampled_from(states)
        found[network.nodes[node]] = draw(value)
    return found
