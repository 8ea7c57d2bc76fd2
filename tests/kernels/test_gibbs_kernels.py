"""The kernel of Gibbs sampling beside products of probabilities, cell by cell."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.kernels.gibbs import sweep
from bayescout.network import Network
from bayescout.network.gibbs import FLOOR, _families


def slow_sweep(network: Network, gaps: np.ndarray, uniform: np.ndarray, cells: np.ndarray) -> None:
    """The same, from the definition: P(cell | all others) as the normalised product of all families."""
    for (row, node), number in zip(gaps.T.tolist(), uniform.tolist(), strict=True):
        weights = []
        for state in range(network.sizes[node]):
            cells[row, node] = state
            product = 1.0
            for v, parents in enumerate(network.dag.parents):
                where = tuple(cells[row, [*parents, v]])
                product *= max(float(network.tables[v][where]), FLOOR)
            weights.append(product)
        ends = np.cumsum(weights)
        cells[row, node] = int((ends[:-1] <= number * ends[-1]).sum())


@given(st.integers(0, 10_000))
def test_a_sweep_draws_what_the_definition_gives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = bs.random_network(
        nodes=int(rng.integers(1, 7)), density=0.5, states=(1, 4), concentration=0.3, seed=seed
    )
    cells = np.array([[rng.integers(size) for size in network.sizes] for _ in range(5)], dtype=np.int32)
    rows, nodes = np.nonzero(rng.random(cells.shape) < 0.6)
    gaps = np.stack([rows, nodes]).astype(np.int64)
    uniform = rng.random(len(rows))
    expected, found = cells.copy(), cells.copy()
    slow_sweep(network, gaps, uniform, expected)
    tables = np.concatenate([np.maximum(table, FLOOR).ravel() for table in network.tables])
    sweep(_families(network), tables, gaps, uniform, found)
    assert (found == expected).all()


def test_a_product_of_many_small_probabilities_does_not_vanish() -> None:
    children = [f"c{i}" for i in range(200)]
    dag = bs.Dag.from_arcs([("a", child) for child in children], nodes=["a", *children])
    small = np.array([[1e-8, 1 - 1e-8], [2e-8, 1 - 2e-8]])
    network = bs.DiscreteNetwork(dag, (("n", "y"),) * 201, (np.array([0.5, 0.5]), *[small] * 200))
    cells = np.zeros((50, 201), dtype=np.int32)
    gaps = np.stack([np.arange(50), np.zeros(50, dtype=np.int64)])
    tables = np.concatenate([table.ravel() for table in network.tables])
    sweep(_families(network), tables, gaps, np.linspace(0.01, 0.99, 50), cells)
    assert (cells[:, 0] == 1).all()
