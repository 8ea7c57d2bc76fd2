"""The divergence of networks of both kinds: against quadrature, and against those of one kind."""

from __future__ import annotations

import numpy as np
import pytest

import bayescout as bs
from bayescout.errors import NetworkError, TooLargeError
from bayescout.graph.dag import Dag
from bayescout.network import ConditionalGaussian, LinearGaussian, Network, Tabular


def model(share=0.4, levels=(0.0, 2.0), noise=(1.0, 2.0), states="uv", order=("c", "x")):
    dag = Dag.from_arcs([("c", "x")], order)
    nodes = {
        "c": Tabular(tuple(states), [share, 1 - share]),
        "x": ConditionalGaussian(list(levels), np.zeros((2, 0)), list(noise)),
    }
    return Network(dag, [nodes[label] for label in order])


def test_it_is_the_integral_of_the_log_ratio():
    truth, learned = model(), model(0.5, (0.5, 1.5), (2.0, 1.0))
    grid = np.linspace(-30, 30, 20_001)
    expected = 0.0
    for state in "uv":
        rows = {"c": [state] * len(grid), "x": grid}
        own, other = truth.row_log_likelihood(rows), learned.row_log_likelihood(rows)
        expected += np.trapezoid(np.exp(own) * (own - other), grid)
    found = bs.divergence(truth, learned, samples=200_000)
    assert not found.exact
    assert found.standard_error < 0.01
    assert float(found) == pytest.approx(expected, abs=4 * found.standard_error)
    assert str(bs.divergence(truth, learned, samples=200_000)) == str(found)


def test_of_equal_networks_it_is_zero_whatever_the_order_of_nodes_and_states():
    flipped = model(0.6, (2.0, 0.0), (2.0, 1.0), "vu", ("x", "c"))
    assert float(bs.divergence(model(), flipped, samples=1000)) == pytest.approx(0, abs=1e-12)


def test_what_the_learned_network_rules_out_is_named():
    never = bs.divergence(model(), model(share=0.0), samples=2000)
    assert not never.is_finite
    assert (never.impossible[0].node, never.impossible[0].state) == ("c", "u")
    assert never.impossible[0].probability == pytest.approx(0.4, abs=0.05)
    unknown = bs.divergence(model(), model(states="uw"), samples=2000)
    assert [(event.node, event.state) for event in unknown.impossible] == [("c", "v")]


def test_an_exact_one_and_one_without_a_density_are_refused_with_the_way_out():
    with pytest.raises(TooLargeError, match=r"estimated from rows.*method='sampled'"):
        bs.divergence(model(), model(), method="exact")
    with pytest.raises(NetworkError, match="positive variance"):
        bs.divergence(model(), model(noise=(0.0, 1.0)), samples=100)
    gaussian = Network(Dag.from_arcs([("c", "x")]), [LinearGaussian(0, [], 1), LinearGaussian(0, [1], 1)])
    with pytest.raises(NetworkError, match="one network is"):
        bs.divergence(model(), gaussian)
