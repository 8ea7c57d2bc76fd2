"""Inference in mixed networks against enumeration, matrix algebra, quadrature and samples."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, NetworkError, SettingError, TooLargeError, WrongKindError
from bayescout.graph.dag import Dag
from bayescout.network import (
    ConditionalGaussian,
    GaussianMixture,
    LinearGaussian,
    MixedDistribution,
    Network,
    Tabular,
    mixed_inference,
    mixed_problem,
    mixed_rows,
)
from tests.network.drawn_networks import (
    discrete_networks,
    gaussian_networks,
    labelled,
    mixed_networks,
    mixed_observations,
    observations,
)
from tests.reference import networks as reference
from tests.strategies import examples


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


@settings(deadline=None, max_examples=examples(300))
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


@settings(deadline=None, max_examples=examples(150))
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


@settings(deadline=None, max_examples=examples(100))
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


@settings(deadline=None, max_examples=examples(100))
@given(data=st.data())
def test_the_density_of_evidence_is_that_of_enumeration(data):
    network = data.draw(mixed_networks())
    evidence = coded(network, data.draw(mixed_observations(network)))
    whole = sum(p for _, p, *_ in reference.mixed_posterior(network, evidence))
    assume(whole == 0 or whole > 1e-250)
    columns = {node: np.array([value, value]) for node, value in evidence.items()}
    logs, orders = mixed_rows.log_evidence(network, columns, 2)
    assert np.exp(logs) == pytest.approx([whole, whole], rel=1e-7)
    assert not orders.any()


# ---- quadrature: no algebra of normal distributions at all


@settings(deadline=None, max_examples=10)
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


# ---- the two kinds alone


@settings(deadline=None)
@given(data=st.data())
def test_without_continuous_nodes_it_is_discrete_inference(data):
    network = data.draw(discrete_networks())
    evidence = data.draw(observations(network))
    targets = data.draw(
        st.lists(st.sampled_from(range(len(network.dag))), unique=True, min_size=1, max_size=2)
    )
    labels = [network.nodes[t] for t in targets]
    if reference.conditional(network, targets, evidence) is None:
        with pytest.raises(NetworkError, match="probability zero"):
            mixed_inference.answer(network, targets, evidence)
        return
    expected = network.query(labels, labelled(network, evidence))
    answer = mixed_inference.answer(network, targets, evidence)
    assert answer.probabilities == pytest.approx(expected.probabilities, abs=1e-12)
    assert str(answer) == str(expected)
    best = mixed_inference.most_probable(network, evidence)
    assert network.probability(best) == pytest.approx(reference.largest_probability(network, evidence))


@settings(deadline=None)
@given(data=st.data())
def test_without_discrete_nodes_it_is_gaussian_conditioning(data):
    network = data.draw(gaussian_networks())
    order = data.draw(st.permutations(range(len(network.dag))))
    cut = data.draw(st.integers(1, len(order)))
    evidence = {node: data.draw(st.floats(-5, 5)) for node in order[cut:]}
    mean, covariance = reference.gaussian_conditional(network, order[:cut], evidence)
    answer = mixed_inference.answer(network, order[:cut], evidence)
    scale = np.abs(mean).max() + np.abs(covariance).max()
    assert np.atleast_1d(answer.mean) == pytest.approx(mean, abs=1e-7 * scale)
    assert answer.covariance == pytest.approx(covariance, abs=1e-7 * scale)
    assert len(answer.weights) == 1


# ---- nodes without noise


def softened(network, noise):
    """The network with this variance wherever it has none."""
    made = []
    for one in network.distributions:
        if isinstance(one, ConditionalGaussian):
            variances = np.where(one.variances == 0, noise, one.variances)
            one = ConditionalGaussian(one.intercepts, one.coefficients, variances, discrete=one.discrete)
        elif isinstance(one, LinearGaussian) and one.variance == 0:
            one = LinearGaussian(one.intercept, one.coefficients, noise)
        made.append(one)
    return Network(network.dag, made)


@settings(deadline=None)
@given(data=st.data())
def test_no_noise_is_the_limit_of_little_noise(data):
    """Whole numbers everywhere, so that evidence agrees with determined values often."""
    network = data.draw(mixed_networks(degenerate=True))
    evidence = data.draw(mixed_observations(network, most=3))
    codes = coded(network, evidence)
    columns = {node: np.array([value]) for node, value in codes.items()}
    near = softened(network, 1e-8)
    logs = mixed_rows.log_evidence(near, columns, 1)[0][0]
    if logs < -1e6:
        with pytest.raises(NetworkError, match="probability zero"):
            network.marginals(evidence)
        return
    answers, expected = network.marginals(evidence), near.marginals(evidence)
    discrete = [label for label, answer in expected.items() if hasattr(answer, "probabilities")]
    for label in discrete:
        assert np.isfinite(answers[label].probabilities).all()
        assert answers[label].probabilities.sum() == pytest.approx(1)
        if expected[label].probabilities.max() > 0.99:
            assert answers[label].probabilities == pytest.approx(expected[label].probabilities, abs=0.01)
    # Where the evidence leaves several states, how determined values weigh is a matter of definition.
    if all(expected[label].probabilities.max() > 0.9999 for label in discrete):
        for label in set(answers) - set(discrete):
            assert answers[label].mean == pytest.approx(expected[label].mean, abs=0.05)
            assert answers[label].variance == pytest.approx(expected[label].variance, abs=0.05)


def switch():
    """x is 0 if off, and noise if on; y is x and noise; z is exactly 2 x."""
    dag = Dag.from_arcs([("s", "x"), ("x", "y"), ("x", "z")], ["s", "x", "y", "z"])
    return Network(
        dag,
        [
            Tabular(("off", "on"), [0.5, 0.5]),
            ConditionalGaussian([0, 0], np.zeros((2, 0)), [0, 4]),
            LinearGaussian(0, [1], 1),
            LinearGaussian(1, [2], 0),
        ],
    )


def test_a_value_that_is_determined_in_one_state_decides_for_it():
    model = switch()
    assert model.query("s", {"x": 0})["off"] == 1
    assert model.query("s", {"x": 0.25})["off"] == 0
    assert model.query("s", {"z": 1})["off"] == 1
    assert model.query("s", {"z": 1, "y": 30})["off"] == 1
    assert model.query("s | z=2")["on"] == 1
    assert model.query("x | z=2").mean == pytest.approx(0.5)
    assert model.query("x | z=2").variance == pytest.approx(0, abs=1e-12)
    assert model.query("y", {"z": 3, "x": 1}).variance == pytest.approx(1)


def test_evidence_that_contradicts_what_is_determined_is_refused_by_name():
    model = switch()
    with pytest.raises(NetworkError, match=r"probability zero: x=1.0, z=4.0 cannot happen together"):
        model.query("s", {"y": 0.5, "x": 1.0, "z": 4.0})
    with pytest.raises(NetworkError, match=r"s=off, x=1.0 cannot happen together"):
        model.query("y", {"s": "off", "x": 1.0})
    with pytest.raises(NetworkError, match=r"probability zero: s=off, x=1.0"):
        model.most_probable({"s": "off", "x": 1.0})
    rows = {"x": [1.0, 1.0, 0.0], "z": [3.0, 4.0, 1.0]}
    with pytest.warns(BayescoutWarning, match=r"1 of 3 rows have evidence of probability zero, .* row 1 "):
        shares = model.predict_proba(rows, "s")
    assert shares.tolist() == [[0, 1], [0.5, 0.5], [1, 0]]
    with pytest.warns(BayescoutWarning, match="1 of 3 rows"):
        assert model.predict(rows, "y").tolist() == pytest.approx([1, 0, 0])


def test_a_point_mass_has_a_distribution_function_and_no_density():
    answer = switch().query("x")
    assert answer.cdf(-1e-9) == pytest.approx(0.25, abs=1e-6)
    assert answer.cdf(0) == pytest.approx(0.75)
    assert answer.quantile(0.5) == pytest.approx(0, abs=1e-9)
    with pytest.raises(NetworkError, match="point mass at 0, and no density"):
        answer.density(0)
    with pytest.raises(NetworkError, match=r"variance 0 .* in row 1"):
        switch().row_log_likelihood({"s": ["on", "off"], "x": [1.0, 0.0], "y": [1, 1], "z": [3, 1]})


def test_accurate_sensors_are_combined_without_loss():
    """Two readings of x with noise of 1e-10 standard deviations: their average, and half the variance."""
    dag = Dag.from_arcs([("s", "x"), ("x", "a"), ("x", "b")], ["s", "x", "a", "b"])
    sensor = LinearGaussian(0, [1], 1e-20)
    model = Network(
        dag,
        [Tabular("uv", [0.5, 0.5]), ConditionalGaussian([0, 1], np.zeros((2, 0)), [1, 1]), sensor, sensor],
    )
    answer = model.query("x", {"a": 0.5, "b": 0.5 + 1e-10})
    assert answer.mean == pytest.approx(0.5 + 5e-11, abs=1e-15)
    assert answer.variance == pytest.approx(5e-21, rel=1e-3)
    assert model.query("s", {"a": 0.5, "b": 0.5})["u"] == pytest.approx(0.5)


def test_evidence_beyond_numbers_is_refused():
    with pytest.raises(NetworkError, match="rescale"):
        switch().query("s", {"y": 1e300})
    assert switch().query("s", {"y": 1e6})["on"] == 1


# ---- shapes of answers


def clinic():
    """A disease, a test that measures it, and a second one that also depends on age."""
    dag = Dag.from_arcs([("ill", "t"), ("ill", "u"), ("age", "u")], ["ill", "age", "t", "u"])
    return Network(
        dag,
        [
            Tabular(("no", "yes"), [0.9, 0.1]),
            LinearGaussian(50, [], 100),
            ConditionalGaussian([0.0, 2.0], np.zeros((2, 0)), [1.0, 4.0]),
            ConditionalGaussian([1.0, 1.0], [[0.1], [0.2]], [1.0, 1.0]),
        ],
        "clinic",
    )


def test_a_continuous_answer_is_a_mixture():
    answer = clinic().query("t")
    assert isinstance(answer, GaussianMixture)
    assert (answer.mean, answer.variance) == pytest.approx((0.2, 0.9 * 1 + 0.1 * 4 + 0.09 * 4))
    assert answer.deviation == pytest.approx(math.sqrt(answer.variance))
    assert [weight for weight, _ in answer.components] == pytest.approx([0.9, 0.1])
    assert [(one.mean, one.variance) for _, one in answer.components] == [(0, 1), (2, 4)]
    density = 0.9 * math.exp(-0.5) / math.sqrt(2 * math.pi) + 0.1 * math.exp(-1 / 8) / math.sqrt(8 * math.pi)
    assert answer.density(1) == pytest.approx(density)
    assert answer.cdf(0) == pytest.approx(0.9 * 0.5 + 0.1 * 0.15865525)
    assert answer.cdf(answer.quantile(0.3)) == pytest.approx(0.3)
    assert str(answer).splitlines() == [
        "P(t)",
        "     mean  variance  deviation",
        "  t   0.2      1.66    1.28841",
        "  0.9000 of N(0, 1)",
        "  0.1000 of N(2, 4)",
    ]
    assert repr(answer) == str(answer)
    with pytest.raises(SettingError, match="between 0 and 1"):
        answer.quantile(1)
    both = clinic().query(["t", "u"])
    assert both.mean == pytest.approx([0.2, 6.5])
    assert "a mixture of 2 normal distributions" in str(both)
    with pytest.raises(SettingError, match="for one variable, and the answer is over 2"):
        both.density(0)


def test_states_and_numbers_asked_for_together():
    answer = clinic().query(["ill", "t"], {"age": 60})
    assert isinstance(answer, MixedDistribution)
    assert answer.variables == ("ill", "t")
    assert answer.discrete["yes"] == pytest.approx(0.1)
    assert (answer["yes"].mean, answer["yes"].variance) == pytest.approx((2, 4))
    assert answer.to_dict()["no"] == {
        "probability": pytest.approx(0.9),
        "given": {"t": {"mean": 0, "variance": 1}},
    }
    assert str(answer).splitlines()[:3] == [
        "P(ill, t | age=60.0)",
        "  ill  probability     mean  variance",
        "  no      0.900000  t     0         1  ██████████████████",
    ]
    observed = clinic().query(["ill", "t"], {"ill": "yes", "t": 3})
    assert observed["no"] is None
    assert (observed["yes"].mean, observed["yes"].variance) == (3, 0)


def test_text_questions_have_numbers_and_states():
    answer = clinic().query("ill | t=2.5, age=40")
    assert answer["yes"] == pytest.approx(1 / (1 + 9 * math.exp(-3.125) / (0.5 * math.exp(-0.03125))))
    assert str(answer).startswith("P(ill | t=2.5, age=40.0)\n")


def test_the_most_probable_states_and_the_means_given_them():
    assert clinic().most_probable() == {"ill": "no", "age": 50, "t": 0, "u": 6}
    found = clinic().most_probable({"t": 6})
    assert found == {"ill": "yes", "age": 50, "t": 6, "u": 11}


def test_what_a_continuous_node_has_not_is_refused():
    model = clinic()
    with pytest.raises(WrongKindError, match="'t' is continuous and has no probabilities of states: predict"):
        model.predict_proba({"ill": ["no"]}, "t")
    with pytest.raises(WrongKindError, match="all gaussian, and this one is mixed"):
        model.joint()
    with pytest.raises(WrongKindError, match="'ill' is discrete and has no equation"):
        model.equation("ill")


def test_an_answer_with_too_many_states_is_refused():
    names = [f"s{i}" for i in range(40)]
    dag = Dag.from_arcs([("s0", "y")], [*names, "y"])
    level = ConditionalGaussian([0.0, 1.0], np.zeros((2, 0)), [1.0, 1.0])
    many = Network(dag, [*(Tabular("uv", [0.5, 0.5]) for _ in names), level])
    with pytest.raises(TooLargeError, match="probabilities, over the limit"):
        many.query(names, dict.fromkeys(names, "u"))


# ---- estimates


def wide(n=6, states=4):
    """A sum of n switches with noise: exact, but made to be too large by a lower limit."""
    names = [f"s{i}" for i in range(n)]
    dag = Dag.from_arcs([(name, "y") for name in names] + [("y", "z")], [*names, "y", "z"])
    rng = np.random.default_rng(3)
    tables = [Tabular(tuple(range(states)), rng.dirichlet(np.ones(states))) for _ in names]
    level = np.indices((states,) * n).sum(axis=0).astype(float)
    node = ConditionalGaussian(level, np.zeros((*level.shape, 0)), np.ones(level.shape))
    return Network(dag, [*tables, node, LinearGaussian(0, [1], 1)])


def test_estimates_are_near_the_exact_answer_within_the_stated_error(monkeypatch):
    model = wide()
    questions = [(["s0"], {"z": 9.0}), (["y"], {"z": 9.0, "s1": 2}), (["s2", "y"], {"z": 8.0})]
    rows = {"z": [7.0, 9.5, 11.0], "s1": [0, 2, 2]}
    exact = [model.query(*question) for question in questions]
    predicted = model.predict_proba(rows, "s0"), model.predict(rows, "y")
    monkeypatch.setattr(mixed_problem, "MAX_ENTRIES", 1000)
    with pytest.warns(BayescoutWarning, match="'s0' is an estimate from 16,384 draws"):
        found = model.query(*questions[0])
    assert 0 < found.error < 0.02
    assert found.probabilities == pytest.approx(exact[0].probabilities, abs=5 * found.error)
    assert "standard error at most" in str(found)
    with pytest.warns(BayescoutWarning, match="estimate"):
        found = model.query(*questions[1])
    with pytest.warns(BayescoutWarning, match="estimate"):
        assert found.mean == model.query(*questions[1]).mean
    assert found.mean == pytest.approx(exact[1].mean, abs=5 * found.error * found.deviation)
    assert found.variance == pytest.approx(exact[1].variance, rel=0.1)
    with pytest.warns(BayescoutWarning, match="estimate"):
        found = model.query(*questions[2])
    assert found.discrete.probabilities == pytest.approx(exact[2].discrete.probabilities, abs=5 * found.error)
    with pytest.warns(BayescoutWarning, match="estimate"):
        assert model.predict_proba(rows, "s0") == pytest.approx(predicted[0], abs=0.05)
    with pytest.warns(BayescoutWarning, match="estimate"):
        assert model.predict(rows, "y") == pytest.approx(predicted[1], abs=0.1)


def test_an_estimate_without_enough_draws_is_refused_or_said_to_be_rough(monkeypatch):
    model = wide()
    monkeypatch.setattr(mixed_problem, "MAX_ENTRIES", 1000)
    with pytest.warns(BayescoutWarning, match="estimate"), pytest.raises(TooLargeError, match="improbable"):
        model.query("s0", {"z": 60.0})
    with pytest.warns(BayescoutWarning) as caught:
        model.predict({"z": [60.0, 9.0]}, "s0")
    assert any("1 of 2 rows" in str(one.message) and "rough" in str(one.message) for one in caught)


def test_a_sum_over_many_switches_is_an_estimate_by_itself():
    """Twenty-two states of four values each: no table has room."""
    names = [f"s{i}" for i in range(22)]
    arcs = [(name, f"y{i}") for i, name in enumerate(names)] + [(f"y{i}", f"y{i + 1}") for i in range(21)]
    dag = Dag.from_arcs(arcs)
    made = []
    for label in dag.nodes:
        if label in names:
            made.append(Tabular(tuple("abcd"), [0.1, 0.2, 0.3, 0.4]))
        elif label == "y0":
            made.append(ConditionalGaussian([0, 1, 2, 3], np.zeros((4, 0)), np.ones(4)))
        else:
            place = dag.parents_of(label).index(f"s{label[1:]}")
            node = ConditionalGaussian([0, 1, 2, 3], np.ones((4, 1)), np.ones(4), discrete=(place,))
            made.append(node)
    with pytest.warns(BayescoutWarning, match="22 discrete ones"):
        answer = Network(dag, made).query("y21")
    assert answer.mean == pytest.approx(22 * 2, abs=5 * answer.error * answer.deviation)
    assert answer.variance == pytest.approx(22 * 2, rel=0.1)


def test_an_unrelated_part_that_is_too_large_does_not_matter(monkeypatch):
    dag = Dag.from_arcs([("a", "x"), *((f"s{i}", "y") for i in range(6))])
    whole = wide()
    parts = dict(zip(whole.nodes, whole.distributions, strict=True))
    small = {
        "a": Tabular("uv", [0.5, 0.5]),
        "x": ConditionalGaussian([0.0, 1.0], np.zeros((2, 0)), [1.0, 1.0]),
    }
    model = Network(dag, [small.get(label, parts.get(label)) for label in dag.nodes])
    monkeypatch.setattr(mixed_problem, "MAX_ENTRIES", 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.query("a", {"x": 0.5, "y": 3.0})["u"] == pytest.approx(0.5)


def test_answers_agree_with_samples_of_a_larger_network():
    model = bs.random_network(nodes=14, arcs=20, kind="mixed", states=3, seed=2)
    table = model.sample(200_000, seed=5)
    marginals = model.marginals()
    for label in model.nodes:
        column = table.array(label)
        if table.states[table.index(label)] is None:
            error = marginals[label].deviation / math.sqrt(len(column))
            assert column.mean() == pytest.approx(marginals[label].mean, abs=5 * error)
            assert column.var() == pytest.approx(marginals[label].variance, rel=0.03)
        else:
            shares = np.bincount(column, minlength=3) / len(column)
            assert shares == pytest.approx(marginals[label].probabilities, abs=0.01)


def test_rows_in_one_batch_and_in_many_have_the_same_answers(monkeypatch):
    model = bs.random_network(nodes=10, arcs=14, kind="mixed", seed=7)
    target = model.dag.order()[0]
    table = model.sample(500, seed=1)
    frame = {label: table.column(label) for label in model.nodes if label not in (target, model.nodes[-1])}
    whole = model.predict_proba(frame, target)
    monkeypatch.setattr(mixed_problem, "BATCH_ENTRIES", 64)
    assert np.array_equal(whole, model.predict_proba(frame, target))
