"""Hypothesis strategies: two networks over the same variables, listed in different orders."""

import numpy as np
from hypothesis import strategies as st

from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, GaussianNetwork
from tests.network.drawn_networks import discrete_networks, gaussian_networks


@st.composite
def other_dags(draw, nodes):
    """A graph over the same labels in another order."""
    labels = draw(st.permutations(nodes))
    order = draw(st.permutations(range(len(labels))))
    parents = [()] * len(labels)
    for place, node in enumerate(order):
        before = order[:place]
        parents[node] = tuple(draw(st.sets(st.sampled_from(before), max_size=3))) if before else ()
    return Dag(tuple(labels), tuple(parents))


@st.composite
def discrete_pairs(draw, most=4, zeros=True):
    """Truth and another network: other graph, other order of nodes and of states, zeros unless refused."""
    truth = draw(discrete_networks(most))
    states = dict(zip(truth.nodes, truth.states, strict=True))
    dag = draw(other_dags(truth.nodes))
    own = tuple(tuple(draw(st.permutations(states[label]))) for label in dag.nodes)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    low, high = (0, draw(st.sampled_from([3, 1000]))) if zeros else (1, 10)
    tables = []
    for child, parents in enumerate(dag.parents):
        cells = rng.integers(low, high, size=tuple(len(own[v]) for v in (*parents, child))).astype(float)
        cells[cells.sum(axis=-1) == 0] = 1.0
        tables.append(cells / cells.sum(axis=-1, keepdims=True))
    return truth, DiscreteNetwork(dag, own, tuple(tables))


@st.composite
def gaussian_pairs(draw, most=5):
    truth = draw(gaussian_networks(most))
    dag = draw(other_dags(truth.nodes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    weights = tuple(rng.uniform(-2, 2, len(parents)) for parents in dag.parents)
    p = len(dag)
    return truth, GaussianNetwork(dag, rng.uniform(-3, 3, p), weights, rng.uniform(0.1, 2, p))
