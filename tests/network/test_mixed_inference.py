"""Inference in mixed networks against enumeration, matrix algebra, quadrature and samples."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayescout.errors import NetworkError
from bayescout.network import (
    GaussianMixture,
    MixedDistribution,
    mixed_inference,
)
from tests.network.drawn_networks import (
    mixed_networks,
    mixed_observations,
)
from tests.reference import networks as reference


def coded(network, evidence):
    """{label: value} as {node: code or number}."""
    return {
        network.dag.index(label): value
        if network.distributions[network.dag.index(label)].states is None
        else network.distributions[network.dag.index(label)].states.index(value)
        for label, value in evidence.items()
    }


def moments(found, node):
    """Mean and variance of a continuous node over the weighted configurations of the reference."""
    whole = sum(p for _, p, *_ in found)
    means = [mean[nodes.index(node)] for _, _, nodes, mean, _ in found]
    variances = [c[nodes.index(node), nodes.index(node)] for _, _, nodes, _, c in found]
    weights = [p / whole for _, p, *_ in found]
    mean = sum(w * m for w, m in zip(weights, means, strict=True))
    return mean, sum(w * (v + (m - mean) ** 2) for w, m, v in zip(weights, means, variances, strict=True))


@settings(deadline=None, max_examples=300)
@given(data=st.data())
def test_every_node_has_the_distribution_that_enumeration_gives(data):
    network = data.draw(mixed_networks())
    evidence = data.draw(mixed_observations(network))
    found = reference.mixed_posterior(network, coded(network, evidence))
    if not found:
        with pytest.raises(NetworkError, match="probability zero"):
            network.query(network.nodes[0], evidence)
        return
    assume(sum(p for _, p, *_ in found) > 1e-250)
    for label, answer in network.marginals(evidence).items():
        node = network.dag.index(label)
        if network.distributions[node].states is None:
            mean, variance = moments(found, node)
            assert isinstance(answer, GaussianMixture)
            assert answer.mean == pytest.approx(mean, rel=1e-8, abs=1e-8)
            assert answer.variance == pytest.approx(variance, rel=1e-7, abs=1e-8)
            continue
        whole = sum(p for _, p, *_ in found)
        for k, p in enumerate(answer.probabilities):
            assert p == pytest.approx(sum(w for codes, w, *_ in found if codes[node] == k) / whole, abs=1e-9)


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_joint_answers_are_those_of_enumeration(data):
    network = data.draw(mixed_networks())
    evidence = data.draw(mixed_observations(network, most=2))
    found = reference.mixed_posterior(network, coded(network, evidence))
    assume(sum(p for _, p, *_ in found) > 1e-250)
    labels = data.draw(st.lists(st.sampled_from(network.nodes), unique=True, min_size=1, max_size=4))
    nodes = [network.dag.index(label) for label in labels]
    states = [n for n in nodes if network.distributions[n].states is not None]
    numbers = [n for n in nodes if n not in states]
    answer = network.query(labels, evidence)
    whole = sum(p for _, p, *_ in found)
    rows = answer.rows() if isinstance(answer, MixedDistribution) else [((), 1.0, answer)]
    if not numbers:
        rows = [(cell, p, None) for cell, p in answer.rows()]
    for cell, p, mixture in rows:
        mine = [
            one
            for one in found
            if all(network.distributions[n].states[one[0][n]] == s for n, s in zip(states, cell, strict=True))
        ]
        share = sum(one[1] for one in mine) / whole
        assert p == pytest.approx(share, abs=1e-9)
        if numbers and share > 0:
            weights = np.array([one[1] for one in mine]) / sum(one[1] for one in mine)
            where = [[one[2].index(n) for n in numbers] for one in mine]
            means = np.array([one[3][w] for one, w in zip(mine, where, strict=True)])
            within = np.array([one[4][np.ix_(w, w)] for one, w in zip(mine, where, strict=True)])
            mean = weights @ means
            off = means - mean
            covariance = np.einsum("m,mij->ij", weights, within + off[:, :, None] * off[:, None, :])
            assert np.atleast_1d(mixture.mean) == pytest.approx(mean, rel=1e-7, abs=1e-7)
            assert mixture.covariance == pytest.approx(covariance, rel=1e-6, abs=1e-6)


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_rows_are_predicted_as_queries_answer_them(data):
    network = data.draw(mixed_networks())
    target = data.draw(st.sampled_from(network.nodes))
    others = [label for label in network.nodes if label != target]
    columns = data.draw(st.lists(st.sampled_from(others), unique=True, min_size=1))
    rows = [network.sample(3, seed=4).column(label) for label in columns]
    frame = dict(zip(columns, rows, strict=True))
    predicted = network.predict(frame, target)
    for i in range(3):
        answer = network.query(target, {label: frame[label][i] for label in columns})
        if isinstance(answer, GaussianMixture):
            assert predicted[i] == pytest.approx(answer.mean, rel=1e-9, abs=1e-9)
        else:
            assert network.predict_proba(frame, target)[i] == pytest.approx(answer.probabilities, abs=1e-12)
            assert answer.probabilities[answer.states[0].index(predicted[i])] == pytest.approx(
                answer.probabilities.max()
            )


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_the_density_of_evidence_is_that_of_enumeration(data):
    network = data.draw(mixed_networks())
    evidence = coded(network, data.draw(mixed_observations(network)))
    whole = sum(p for _, p, *_ in reference.mixed_posterior(network, evidence))
    assume(whole == 0 or whole > 1e-250)
    columns = {node: np.array([value, value]) for node, value in evidence.items()}
    logs, orders = mixed_inference.log_evidence(network, columns, 2)
    assert np.exp(logs) == pytest.approx([whole, whole], rel=1e-7)
    assert not orders.any()


# ---- quadrature: no algebra of normal distributions at all


@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_answers_are_those_of_quadrature(data):
    """The density of complete assignments, summed over states and integrated over at most two nodes."""
    network = data.draw(mixed_networks(most=5))
    continuous = [i for i, one in enumerate(network.distributions) if one.states is None]
    hidden = continuous[: data.draw(st.integers(0, min(2, len(continuous))))]
    evidence = {i: float(data.draw(st.integers(-3, 3))) for i in continuous if i not in hidden}
    grid = np.linspace(-60, 60, 961)
    points = np.meshgrid(*[grid] * len(hidden), indexing="ij") if hidden else []
    n_points = grid.size ** len(hidden)
    columns = {h: point.ravel() for h, point in zip(hidden, points, strict=True)}
    columns |= {i: np.full(n_points, value) for i, value in evidence.items()}
    density = {}
    for codes, p in reference.configurations(network):
        if p > 0:
            cells = columns | {i: np.full(n_points, code) for i, code in codes.items()}
            density[tuple(codes.items())] = np.exp(
                sum(
                    one.log_densities("", cells[i], [cells[v] for v in network.dag.parents[i]])[0]
                    for i, one in enumerate(network.distributions)
                )
            )
    masses = {codes: float(values.sum()) for codes, values in density.items()}
    whole = sum(masses.values())
    assume(whole > 1e-200)
    given_ = {network.nodes[i]: value for i, value in evidence.items()}
    answers = network.marginals(given_)
    for node, one in enumerate(network.distributions):
        answer = answers[network.nodes[node]]
        if one.states is not None:
            for k in range(len(one.states)):
                share = sum(m for codes, m in masses.items() if dict(codes)[node] == k) / whole
                assert answer.probabilities[k] == pytest.approx(share, abs=1e-6)
        elif node in hidden:
            mean = sum((values * columns[node]).sum() for values in density.values()) / whole
            square = sum((values * columns[node] ** 2).sum() for values in density.values()) / whole
            if abs(mean) + 8 * math.sqrt(square - mean**2) < 50:
                assert answer.mean == pytest.approx(mean, abs=1e-5)
                assert answer.variance == pytest.approx(square - mean**2, rel=1e-5)
