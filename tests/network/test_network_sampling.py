"""Samples: their frequencies, and that they never change."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bayescout.errors import BayescoutWarning, SettingError, TooLargeError
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, random_network, sampling
from bayescout.network.node import CHUNK
from bayescout.network.sampling import MAX_SAMPLE
from bayescout.network.tabular import draw_states, limits
from tests.network.asia_network import asia
from tests.network.drawn_networks import discrete_networks
from tests.reference import networks as reference


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_joint_frequencies_follow_the_network(seed):
    """A chi-square test of all joint cells; the seed is fixed, so it cannot fail by chance."""
    model = random_network(nodes=4, arcs=4, states=(2, 3), seed=seed)
    n = 20_000
    table = model.sample(n, seed=seed + 100)
    joint = reference.joint(model)
    seen = Counter(map(tuple, table.codes.T.tolist()))
    observed = [seen[codes] for codes in joint]
    expected = [n * p for p in joint.values()]
    kept = [(o, e) for o, e in zip(observed, expected, strict=True) if e >= 5]
    statistic = sum((o - e) ** 2 / e for o, e in kept)
    assert stats.chi2.sf(statistic, len(kept) - 1) > 0.001


@given(network=discrete_networks(), seed=st.integers(0, 1000))
def test_only_possible_rows_are_drawn(network, seed):
    joint = reference.joint(network)
    for row in network.sample(30, seed).codes.T.tolist():
        assert joint[tuple(row)] > 0


def test_a_state_of_probability_zero_is_not_drawn_even_at_the_ends():
    out = np.empty(2, dtype=np.uint8)
    ends = limits(np.array([0.0, 0.5, 0.5, 0.0]))
    draw_states(np.array([0.0, np.nextafter(1.0, 0.0)]), ends, np.zeros(2, dtype=np.intp), out)
    assert out.tolist() == [1, 2]


def test_a_sample_is_a_function_of_network_size_and_seed():
    model = asia()
    table = model.sample(CHUNK + 5, seed=3)
    assert table.fingerprint == model.sample(CHUNK + 5, seed=3).fingerprint
    assert table.fingerprint != model.sample(CHUNK + 5, seed=4).fingerprint
    assert table.states == model.states
    # Pinned: rows must be the same on every machine and in every release.
    assert [int(column.sum()) for column in asia().sample(1000, seed=7).codes] == [
        992,
        991,
        517,
        944,
        524,
        935,
        899,
        533,
    ]


def test_a_long_sample_does_not_repeat_itself():
    table = random_network(nodes=10, arcs=0, states=9, seed=1).sample(2 * CHUNK)
    assert not np.array_equal(table.codes[:, :CHUNK], table.codes[:, CHUNK:])


def test_many_states_fit_their_codes():
    dag = Dag.empty("a")
    model = DiscreteNetwork(dag, (tuple(range(300)),), (np.full(300, 1 / 300),))
    table = model.sample(20_000)
    assert table.codes.dtype == np.uint16
    assert set(table.codes[0].tolist()) == set(range(300))


@pytest.mark.parametrize("n", [-1, 1.5, "3", True])
def test_a_size_that_is_no_count_is_refused(n):
    with pytest.raises(SettingError, match="number of rows"):
        asia().sample(n)


@pytest.mark.parametrize("seed", [-1, 0.5, None, True])
def test_a_seed_that_is_no_count_is_refused(seed):
    with pytest.raises(SettingError, match="seed"):
        asia().sample(3, seed)


def test_an_empty_sample_is_a_table():
    assert asia().sample(0).n_rows == 0


def test_drawing_from_an_undefined_row_warns_and_not_drawing_from_one_does_not():
    dag = Dag.from_arcs([("a", "b")])
    rows = np.array([[0.9, 0.1], [0.5, 0.5]])
    mask = (np.array(False), np.array([False, True]))
    reached = DiscreteNetwork(dag, ((0, 1),) * 2, (np.array([0.5, 0.5]), rows), mask)
    with pytest.warns(BayescoutWarning, match="the sample uses parent configurations of 'b'"):
        reached.sample(50)
    never = DiscreteNetwork(dag, ((0, 1),) * 2, (np.array([1.0, 0.0]), rows), mask)
    assert never.sample(50).n_rows == 50


@pytest.mark.parametrize("seed", [0, 1])
def test_gaussian_samples_have_the_mean_and_covariance_of_the_joint(seed):
    model = random_network(nodes=5, arcs=6, kind="gaussian", variances=(0.5, 2.0), seed=seed)
    n = 40_000
    values = model.sample(n, seed=seed).values
    mean, covariance = model.joint()
    deviations = np.sqrt(np.diagonal(covariance))
    assert np.abs((values.mean(axis=1) - mean) / deviations).max() < 5 / np.sqrt(n)
    scaled = (np.cov(values, bias=True) - covariance) / np.outer(deviations, deviations)
    assert np.abs(scaled).max() < 8 / np.sqrt(n)


@pytest.mark.parametrize("kind", ["discrete", "gaussian"])
@pytest.mark.parametrize("rows", [10**12, 10**30])
def test_a_sample_too_large_is_refused_with_its_size(kind, rows):
    model = random_network(nodes=4, kind=kind)
    with pytest.raises(
        TooLargeError, match=rf"{rows:,} rows of 4 columns needs .* GiB, over the limit of 64 GiB"
    ):
        model.sample(rows)


def test_the_limit_is_a_line(monkeypatch):
    monkeypatch.setattr(sampling, "MAX_SAMPLE", 400)
    assert random_network(nodes=4, kind="discrete").sample(100).n_rows == 100
    assert random_network(nodes=1, kind="gaussian").sample(50).n_rows == 50
    for kind, rows in (("discrete", 101), ("gaussian", 13)):
        with pytest.raises(TooLargeError, match="over the limit"):
            random_network(nodes=4, kind=kind).sample(rows)
    assert MAX_SAMPLE >= 10**9 * 37


@pytest.mark.parametrize("kind", ["discrete", "gaussian"])
def test_a_machine_without_room_is_said(kind, monkeypatch):
    def full(*_, **__):
        raise MemoryError

    model = random_network(nodes=4, kind=kind)
    monkeypatch.setattr(sampling.np, "empty", full)
    with pytest.raises(TooLargeError, match=r"10 rows of 4 columns needs .* more than this machine can give"):
        model.sample(10)


def test_gaussian_samples_do_not_depend_on_how_they_are_added_up():
    """One stream of normal numbers, node by node in order, whatever the chunks."""
    model = random_network(nodes=4, arcs=5, kind="gaussian", variances=(0.5, 2.0), seed=3)
    n = CHUNK + 7
    rng = np.random.Generator(np.random.PCG64(11))
    expected = np.empty((4, n))
    for node in model.dag.order_indices:
        column = rng.standard_normal(n) * np.sqrt(model.variances[node]) + model.intercepts[node]
        for parent, weight in zip(model.dag.parents[node], model.coefficients[node], strict=True):
            column += weight * expected[parent]
        expected[node] = column
    assert np.array_equal(model.sample(n, seed=11).values, expected)
