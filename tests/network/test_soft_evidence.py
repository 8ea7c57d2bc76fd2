"""Soft evidence against enumeration: likelihoods, Jeffrey's rule, measurements."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayescout.errors import NetworkError, SettingError, UnknownNameError
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, GaussianNetwork
from tests.network.asia_network import asia
from tests.network.drawn_networks import (
    discrete_networks,
    gaussian_networks,
    labelled,
    mixed_networks,
    mixed_observations,
    observations,
)
from tests.reference import questions as reference
from tests.strategies import examples


@st.composite
def findings(draw, network, evidence, most=3, least=0):
    """{node: likelihoods} of nodes that are not observed; zeros occur."""
    free = [i for i in range(len(network.dag)) if i not in evidence]
    nodes = draw(st.lists(st.sampled_from(free), unique=True, max_size=most)) if free else []
    found = {}
    for node in nodes:
        size = len(network.states[node])
        weights = draw(st.lists(st.integers(least, 4), min_size=size, max_size=size))
        found[node] = [float(w) for w in weights] if any(weights) else [1.0] * size
    return found


def named(network, found):
    """{node: numbers} as {label: {state: number}}."""
    return {network.nodes[n]: dict(zip(network.states[n], own, strict=True)) for n, own in found.items()}


@given(data=st.data())
def test_likelihoods_multiply_the_joint_distribution(data):
    network = data.draw(discrete_networks())
    evidence = data.draw(observations(network, most=2))
    soft = data.draw(findings(network, evidence))
    cells = reference.observed(reference.table(network), evidence)
    for node, weights in soft.items():
        cells = reference.weighted(cells, node, weights)
    given_labels, soft_labels = labelled(network, evidence), named(network, soft)
    if not cells.any():
        with pytest.raises(NetworkError, match="probability zero"):
            network.query(network.nodes[0], given_labels, soft=soft_labels)
        return
    marginals = network.marginals(given_labels, soft=soft_labels)
    assert list(marginals) == list(network.nodes)
    for node, label in enumerate(network.nodes):
        expected = reference.marginal(cells, [node]) / cells.sum()
        assert marginals[label].probabilities == pytest.approx(expected, abs=1e-12)
        asked = network.query(label, given_labels, soft=soft_labels)
        assert asked.probabilities == pytest.approx(expected, abs=1e-12)
    found = network.most_probable(given_labels, soft=soft_labels)
    codes = tuple(network.states[n].index(found[label]) for n, label in enumerate(network.nodes))
    assert cells[codes] == pytest.approx(cells.max())


@given(data=st.data())
def test_jeffreys_rule_mixes_the_answers_given_each_state(data):
    network = data.draw(discrete_networks())
    evidence = data.draw(observations(network, most=2))
    cells = reference.observed(reference.table(network), evidence)
    assume(cells.any())
    node = data.draw(st.sampled_from([n for n in range(len(network.dag)) if n not in evidence] or [None]))
    assume(node is not None)
    before = reference.marginal(cells, [node]) / cells.sum()
    goal = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(before), max_size=len(before))), float)
    goal[before == 0] = 0
    assume(goal.any())
    goal /= goal.sum()
    answers = network.marginals(labelled(network, evidence), jeffrey=named(network, {node: goal.tolist()}))
    assert answers[network.nodes[node]].probabilities == pytest.approx(goal, abs=1e-11)
    for target, label in enumerate(network.nodes):
        joint = reference.marginal(cells, [node, target]) if target != node else np.diag(before)
        given_each = np.divide(
            joint, joint.sum(axis=1, keepdims=True), out=np.zeros_like(joint), where=joint > 0
        )
        assert answers[label].probabilities == pytest.approx(goal @ given_each, abs=1e-10)


@settings(deadline=None, max_examples=examples(40))
@given(data=st.data())
def test_several_distributions_hold_at_once(data):
    """The same as fitting the table of all assignments; positive tables, so that there is an answer."""
    network = data.draw(discrete_networks(most=4))
    tables = [(t + 0.2) / (t + 0.2).sum(axis=-1, keepdims=True) for t in network.tables]
    network = DiscreteNetwork(network.dag, network.states, tables)
    nodes = (
        data.draw(st.lists(st.integers(0, len(network.dag) - 1), unique=True, min_size=2, max_size=3))
        if len(network.dag) > 1
        else [0]
    )
    goals = {}
    for node in nodes:
        size = len(network.states[node])
        weights = np.array(data.draw(st.lists(st.integers(1, 5), min_size=size, max_size=size)), float)
        goals[node] = weights / weights.sum()
    expected = reference.fitted(reference.table(network), goals)
    found = network.marginals(jeffrey=named(network, {n: g.tolist() for n, g in goals.items()}))
    for node, goal in goals.items():
        assert found[network.nodes[node]].probabilities == pytest.approx(goal, abs=1e-10)
    for node, label in enumerate(network.nodes):
        assert found[label].probabilities == pytest.approx(reference.marginal(expected, [node]), abs=1e-8)


def cloth():
    """Jeffrey's cloth seen by candlelight (1983), and whether it is sold."""
    dag = Dag.from_arcs([("colour", "sold")], ["colour", "sold"])
    states = (("green", "blue", "violet"), ("yes", "no"))
    return DiscreteNetwork(dag, states, [[0.3, 0.3, 0.4], [[0.4, 0.6], [0.4, 0.6], [0.8, 0.2]]])


def test_the_cloth_by_candlelight():
    model = cloth()
    assert model.query("sold")["yes"] == pytest.approx(0.56)
    seen = {"green": 0.7, "blue": 0.25, "violet": 0.05}
    answer = model.query("sold", jeffrey={"colour": seen})
    assert answer["yes"] == pytest.approx(0.42)
    assert str(answer).startswith("P(sold | colour~P(green: 0.7, blue: 0.25, violet: 0.05))\n")
    assert model.query("colour", jeffrey={"colour": seen}).to_dict() == pytest.approx(seen)
    # the quotients of likelihoods that say the same
    soft = {state: share / prior for (state, share), prior in zip(seen.items(), (0.3, 0.3, 0.4), strict=True)}
    assert model.query("sold", soft={"colour": soft})["yes"] == pytest.approx(0.42)
    # an answer of another network is a distribution too
    assert model.query("sold", jeffrey={"colour": model.query("colour", {"sold": "no"})})["yes"] < 0.56


def test_only_quotients_of_likelihoods_matter():
    once = asia().query("lung", {"xray": "yes"}, soft={"smoke": {"yes": 0.8, "no": 0.3}})
    twice = asia().query("lung", {"xray": "yes"}, soft={"smoke": {"yes": 800, "no": 300}})
    assert once.probabilities == pytest.approx(twice.probabilities)
    assert str(once).startswith("P(lung | xray=yes, smoke~(yes: 0.8, no: 0.3))")
    same = asia().query("lung", {"xray": "yes"}, soft={"smoke": {"yes": 1, "no": 1}})
    assert same.probabilities == pytest.approx(asia().query("lung | xray=yes").probabilities)
    certain = asia().query("lung", soft={"smoke": {"yes": 1, "no": 0}})
    assert certain.probabilities == pytest.approx(asia().query("lung | smoke=yes").probabilities)


def test_soft_evidence_goes_with_actions():
    acted = asia().do(smoke="yes").query("dysp", soft={"bronc": {"yes": 3, "no": 1}})
    asked = asia().query("dysp | do(smoke=yes)", soft={"bronc": {"yes": 3, "no": 1}})
    assert acted.probabilities == pytest.approx(asked.probabilities)
    assert "do(smoke=yes), bronc~(yes: 3, no: 1)" in str(asked)


@settings(deadline=None, max_examples=examples(80))
@given(data=st.data())
def test_a_measurement_is_a_child_that_was_observed(data):
    network = data.draw(gaussian_networks())
    node = data.draw(st.integers(0, len(network.dag) - 1))
    variance = data.draw(st.sampled_from([0.01, 1.0, 50.0]))
    dag = Dag((*network.nodes, "seen"), (*network.dag.parents, (node,)))
    wider = GaussianNetwork(
        dag,
        [*network.intercepts, 0],
        [*network.coefficients, [1.0]],
        [*network.variances, variance],
    )
    soft = {network.nodes[node]: {"mean": 1.5, "variance": variance}}
    for label in network.nodes:
        found, expected = network.query(label, soft=soft), wider.query(label, {"seen": 1.5})
        assert (found.mean, found.variance) == pytest.approx((expected.mean, expected.variance))


@settings(deadline=None, max_examples=examples(80))
@given(data=st.data())
def test_soft_states_of_a_mixed_network_mix_its_answers(data):
    network = data.draw(mixed_networks(most=5))
    evidence = data.draw(mixed_observations(network, most=2))
    free = [
        label
        for label, one in zip(network.nodes, network.distributions, strict=True)
        if one.states is not None and label not in evidence
    ]
    assume(free)
    label = data.draw(st.sampled_from(free))
    try:
        prior = network.query(label, evidence)
    except NetworkError:
        return
    likelihood = {state: float(i + 1) for i, state in enumerate(prior.states[0])}
    posterior = {state: p * likelihood[state] for state, p in prior.items()}
    whole = sum(posterior.values())
    found = network.marginals(evidence, soft={label: likelihood})
    fixed = network.marginals(evidence, jeffrey={label: {s: p / whole for s, p in posterior.items()}})
    for other in network.nodes:
        if hasattr(found[other], "probabilities"):
            expected = sum(
                p / whole * network.query(other, {**evidence, label: state}).probabilities
                for state, p in posterior.items()
                if p > 0
            )
            for answers in (found, fixed):
                assert answers[other].probabilities == pytest.approx(expected, abs=1e-9)
        else:
            expected = sum(
                p / whole * network.query(other, {**evidence, label: state}).mean
                for state, p in posterior.items()
                if p > 0
            )
            for answers in (found, fixed):
                assert answers[other].mean == pytest.approx(expected, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"soft": {"smoke": {"yes": 0.5}}}, UnknownNameError, "'no' in the likelihood of 'smoke'; give all"),
        ({"soft": {"smoke": {"yes": 0.5, "no": -1}}}, SettingError, "at least zero for every state"),
        ({"soft": {"smoke": {"yes": 0, "no": 0}}}, SettingError, "above zero for one"),
        ({"soft": {"smoke": 0.5}}, SettingError, "a number for each state, as in {'yes': ..., 'no': ...}"),
        ({"soft": [0.5]}, SettingError, "soft takes a mapping"),
        ({"soft": {"xray": {"yes": 1, "no": 2}}}, SettingError, "'xray' is observed, and has soft evidence"),
        ({"soft": {"smok": {"yes": 1, "no": 2}}}, UnknownNameError, "did you mean 'smoke'"),
        ({"jeffrey": {"smoke": {"yes": 0.5, "no": 0.6}}}, SettingError, "sums to 1.1, not to 1"),
        ({"jeffrey": {"smoke": {"maybe": 0.5, "no": 0.5}}}, UnknownNameError, "unknown state 'maybe'"),
        (
            {"soft": {"smoke": {"yes": 1, "no": 2}}, "jeffrey": {"smoke": {"yes": 0.5, "no": 0.5}}},
            SettingError,
            "give one of both",
        ),
    ],
)
def test_findings_that_cannot_be_used_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        asia().query("lung", {"xray": "yes"}, **options)


@pytest.mark.slow
def test_findings_that_cannot_be_are_refused():
    model = asia()
    with pytest.raises(NetworkError, match="either=no has probability zero given the evidence"):
        model.query("xray", {"lung": "yes"}, jeffrey={"either": {"yes": 0.5, "no": 0.5}})
    with pytest.raises(NetworkError, match="probability zero: lung=yes, soft evidence of either=observed"):
        model.query("xray", {"lung": "yes"}, soft={"either": {"yes": 0, "no": 1}})
    with pytest.raises(
        NetworkError, match=r"does not allow them at once|probability zero given the evidence"
    ):
        model.query("xray", jeffrey={"lung": {"yes": 0.6, "no": 0.4}, "either": {"yes": 0.3, "no": 0.7}})


def test_continuous_findings_say_what_they_take():
    model = GaussianNetwork(Dag.from_arcs([("x", "y")], "xy"), [0, 0], [[], [1]], [1, 1])
    with pytest.raises(
        SettingError, match=r"a measurement with normal error: \{'mean': 1.5, 'variance': 0.2\}"
    ):
        model.query("x", soft={"y": {"high": 1}})
    with pytest.raises(SettingError, match="variance of the measurement of 'y' must be above zero, not 0"):
        model.query("x", soft={"y": {"mean": 1, "variance": 0}})
    with pytest.raises(SettingError, match="Jeffrey's rule is for variables with states"):
        model.query("x", jeffrey={"y": {"mean": 1, "variance": 2}})
    assert model.query("x", soft={"y": {"mean": 2, "variance": 1}}).mean == pytest.approx(2 / 3)
