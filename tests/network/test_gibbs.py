"""Gibbs sampling of empty cells: its draws have the distribution that exact sums and integrals give."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from bayescout.data.table import MissingReport, Table
from bayescout.graph.dag import Dag
from bayescout.network import ConditionalGaussian, LinearGaussian, Network, Tabular
from bayescout.network.gibbs import Chain

YES_NO = ("no", "yes")


def mixed() -> Network:
    """Two discrete nodes, and three continuous ones below them."""
    dag = Dag(("a", "b", "x", "y", "z"), ((), (0,), (0,), (1, 2), (2, 3)))
    return Network(
        dag,
        (
            Tabular(YES_NO, np.array([0.3, 0.7])),
            Tabular(YES_NO, np.array([[0.6, 0.4], [0.2, 0.8]])),
            ConditionalGaussian([0.0, 1.5], [[], []], [1.0, 0.5]),
            ConditionalGaussian([1.0, -1.0], [[0.5], [-0.8]], [0.7, 0.4]),
            LinearGaussian(0.2, [0.6, 1.1], 0.9),
        ),
    )


def repeated(network: Network, row: dict[str, float], copies: int) -> Table:
    """Many rows with the same cells, the others missing."""
    states = tuple(one.states for one in network.distributions)
    codes = [
        np.full(copies, row.get(n, len(s)), dtype=np.uint8)
        for n, s in zip(network.nodes, states, strict=True)
        if s is not None
    ]
    values = [
        np.full(copies, row.get(n, np.nan)) for n, s in zip(network.nodes, states, strict=True) if s is None
    ]
    return Table(
        network.nodes,
        states,
        np.array(codes, dtype=np.uint8).reshape(-1, copies),
        np.array(values, dtype=np.float64).reshape(-1, copies),
        None,
        MissingReport("keep"),
    )


def drawn(network: Network, table: Table, sweeps: int) -> Table:
    chain, rng = Chain.of_table(table), np.random.default_rng(7)
    chain.begin(network, rng)
    chain.sweep(network, rng, sweeps)
    return chain.completed(table)


def joint(network: Network, states: tuple[int, ...]) -> tuple[float, np.ndarray, np.ndarray]:
    """Probability of the states of a and b, and mean and covariance of x, y, z given them."""
    a, b = states
    weight = network.distributions[0].table[a] * network.distributions[1].table[a, b]
    x, y, z = network.distributions[2:]
    lower = np.array([[1, 0, 0], [-y.coefficients[b][0], 1, 0], [-z.coefficients[0], -z.coefficients[1], 1]])
    inverse = np.linalg.inv(lower)
    noise = np.diag([x.variances[a], y.variances[b], z.variance])
    mean = inverse @ np.array([x.intercepts[a], y.intercepts[b], z.intercept])
    return float(weight), mean, inverse @ noise @ inverse.T


def test_draws_of_cells_of_both_kinds_have_their_posterior() -> None:
    network = mixed()
    row = {"z": 1.3, "b": 1}
    table = drawn(network, repeated(network, row, 40_000), 25)
    weights, means, second = [], [], []
    for a in (0, 1):
        weight, mean, cov = joint(network, (a, 1))
        gain = cov[:2, 2] / cov[2, 2]
        own = mean[:2] + gain * (row["z"] - mean[2])
        left = cov[:2, :2] - np.outer(gain, cov[2, :2])
        density = math.exp(-0.5 * (row["z"] - mean[2]) ** 2 / cov[2, 2]) / math.sqrt(cov[2, 2])
        weights.append(weight * density)
        means.append(own)
        second.append(left + np.outer(own, own))
    share = np.array(weights) / sum(weights)
    mean = share @ np.array(means)
    cov = np.tensordot(share, np.array(second), 1) - np.outer(mean, mean)
    assert (table.array("b") == 1).all()
    assert (table.array("z") == 1.3).all()
    assert table.array("a").mean() == pytest.approx(share[1], abs=0.01)
    got = np.array([table.array("x"), table.array("y")])
    assert got.mean(axis=1) == pytest.approx(mean, abs=0.03)
    assert np.cov(got) == pytest.approx(cov, abs=0.05)


def test_draws_of_states_have_their_posterior() -> None:
    rng = np.random.default_rng(3)
    dag = Dag(tuple("abcd"), ((), (0,), (0,), (1, 2)))
    shapes = ((3,), (3, 2), (3, 2), (2, 2, 4))
    tables = [rng.dirichlet(np.ones(shape[-1]), shape[:-1]) for shape in shapes]
    nodes = tuple(Tabular(tuple(range(t.shape[-1])), t) for t in tables)
    network = Network(dag, nodes)
    table = drawn(network, repeated(network, {"d": 2}, 60_000), 15)
    expected = np.zeros((3, 2, 2))
    for a, b, c in itertools.product(range(3), range(2), range(2)):
        expected[a, b, c] = tables[0][a] * tables[1][a, b] * tables[2][a, c] * tables[3][b, c, 2]
    expected /= expected.sum()
    found = np.zeros_like(expected)
    np.add.at(found, tuple(table.array(name) for name in "abc"), 1 / table.n_rows)
    assert found == pytest.approx(expected, abs=0.01)


def test_draws_of_numbers_have_their_posterior() -> None:
    dag = Dag(tuple("xyz"), ((), (0,), (1,)))
    network = Network(
        dag, (LinearGaussian(1, [], 2), LinearGaussian(0, [0.5], 1), LinearGaussian(-1, [2], 0.5))
    )
    table = drawn(network, repeated(network, {"x": 0.0, "z": 1.0}, 40_000), 20)
    precision = 1 / 1 + 4 / 0.5
    mean = (0.0 + 2 * (1.0 + 1) / 0.5) / precision
    assert table.array("y").mean() == pytest.approx(mean, abs=0.01)
    assert table.array("y").var() == pytest.approx(1 / precision, rel=0.05)


def test_draws_do_not_depend_on_the_number_of_workers() -> None:
    network = mixed()
    discrete = Network(Dag(("a", "b"), ((), (0,))), network.distributions[:2])
    table = repeated(discrete, {"b": 1}, 10_000)
    found = []
    for workers in (1, 2):
        chain, rng = Chain.of_table(table, workers), np.random.default_rng(0)
        chain.begin(discrete, rng)
        chain.sweep(discrete, rng, 2)
        found.append(chain.completed(table).codes)
    assert (found[0] == found[1]).all()


def test_impossible_and_certain_values_give_numbers() -> None:
    dag = Dag(("a", "x", "y"), ((), (0,), (1,)))
    network = Network(
        dag,
        (
            Tabular(YES_NO, np.array([0.0, 1.0])),
            ConditionalGaussian([0.0, 1.0], [[], []], [0.0, 1.0]),
            LinearGaussian(0, [1], 0),
        ),
    )
    for row in ({"y": 5.0}, {"a": 0, "y": 5.0}, {"a": 0, "x": 3.0}, {}):
        table = drawn(network, repeated(network, row, 50), 5)
        assert np.isfinite(table.values).all()
        assert table.codes.max() <= 1
