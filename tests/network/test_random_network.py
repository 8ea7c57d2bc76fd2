"""Random networks: settings kept, distributions as said."""

import numpy as np
import pytest

from bayescout.errors import SettingError, TooLargeError
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, GaussianNetwork, random_network


def test_nodes_arcs_and_states_are_as_asked():
    model = random_network(nodes=8, arcs=12, states=3, max_parents=2, seed=4)
    assert isinstance(model, DiscreteNetwork)
    assert (len(model.dag), model.dag.n_arcs) == (8, 12)
    assert max(len(p) for p in model.dag.parents) == 2
    assert set(model.states) == {("s0", "s1", "s2")}
    assert random_network(nodes=("a", 2), states=[1, 4]).sizes == (1, 4)
    drawn = random_network(nodes=60, arcs=0, states=(2, 4), seed=1).sizes
    assert set(drawn) == {2, 3, 4}


def test_the_seed_decides_everything():
    first, again, other = (random_network(nodes=6, arcs=7, seed=s) for s in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)
    dag = Dag.from_arcs([("a", "b")])
    assert random_network(dag=dag, seed=1).dag == dag
    assert not random_network(dag=dag, seed=1).equals(random_network(dag=dag, seed=2))


def test_rows_are_uniform_numbers_over_their_sum_or_dirichlet():
    """With two states u / (u + v) has variance log 2 - 2/3 + ... : below 1/12, which Dirichlet(1) has."""
    dag = Dag.from_arcs([(f"p{i}", "c") for i in range(13)])
    plain = random_network(dag=dag, seed=3).tables[dag.index("c")][..., 0]
    flat = random_network(dag=dag, seed=3, concentration=1.0).tables[dag.index("c")][..., 0]
    sharp = random_network(dag=dag, seed=3, concentration=0.05).tables[dag.index("c")][..., 0]
    # E[(u/(u+v))^2] = (1 - log 2) by integration, so the variance is 3/4 - log 2.
    assert plain.var() == pytest.approx(0.75 - np.log(2), rel=0.05)
    assert flat.var() == pytest.approx(1 / 12, rel=0.05)
    assert sharp.var() == pytest.approx(0.25 / 1.1, rel=0.05)
    for rows in (plain, flat, sharp):
        assert rows.mean() == pytest.approx(0.5, abs=0.02)


def test_a_tiny_concentration_is_still_a_distribution():
    model = random_network(nodes=6, arcs=8, states=4, concentration=1e-6, seed=1)
    assert model.sample(20).n_rows == 20


def test_gaussian_coefficients_and_variances_lie_in_their_ranges():
    model = random_network(
        nodes=40, arcs=200, kind="gaussian", coefficients=(0.5, 2.0), variances=(0.1, 0.3), seed=2
    )
    assert isinstance(model, GaussianNetwork)
    weights = np.concatenate(model.coefficients)
    assert 0.5 <= weights.min() < 0.6
    assert 1.9 < weights.max() <= 2.0
    assert model.variances.min() >= 0.1
    assert model.variances.max() <= 0.3
    plain = random_network(nodes=3, kind="gaussian")
    assert plain.variances.tolist() == [1, 1, 1]
    assert plain.intercepts.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"states": 0}, "from 1 to"),
        ({"states": True}, "from 1 to"),
        ({"states": (3, 2)}, "empty range"),
        ({"states": [2, 2]}, "2 numbers for 5 nodes"),
        ({"states": "22222"}, "states must be"),
        ({"states": (2, 2.5)}, "from 1 to"),
        ({"concentration": 0}, "concentration"),
        ({"concentration": float("nan")}, "concentration"),
        ({"kind": "other"}, "discrete, gaussian or mixed"),
        ({"kind": "mixed", "variances": -1}, "negative"),
        ({"kind": "gaussian", "coefficients": (1, -1)}, "empty range"),
        ({"kind": "gaussian", "coefficients": (1, float("inf"))}, "finite"),
        ({"kind": "gaussian", "variances": -1}, "negative"),
        ({"seed": -1}, "seed"),
        ({"arcs": 100}, "arcs"),
    ],
)
def test_bad_settings_are_refused(settings, words):
    with pytest.raises(SettingError, match=words):
        random_network(**settings)


def test_a_table_too_large_is_refused_before_it_is_drawn():
    with pytest.raises(TooLargeError, match="over the limit"):
        random_network(nodes=30, density=1.0, states=3)


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ({"nodes": 5}, "nodes"),
        ({"arcs": 1}, "arcs"),
        ({"density": 0.5}, "density"),
        ({"nodes": 2, "max_parents": 0}, "nodes, max_parents"),
    ],
)
def test_a_graph_and_how_to_draw_one_are_not_both_given(setting, named):
    with pytest.raises(SettingError, match=f"^{named} and dag are both given"):
        random_network(dag=Dag.from_arcs([("a", "b")]), **setting)


def test_five_nodes_unless_said():
    assert len(random_network().dag) == 5
