"""Estimates by importance sampling: within their stated error, and honest about what they are."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, NetworkError, SettingError, TooLargeError
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, importance, random_network
from tests.network.drawn_networks import discrete_networks, labelled, observations
from tests.reference import networks as reference


def covered(model, evidence, seeds, draws):
    """How many of all probabilities of all nodes lie in their 95% intervals, and how many there are."""
    truth = model.marginals(evidence, exact=True)
    inside = total = 0
    for seed in range(seeds):
        found = model.marginals(evidence, method="sample", draws=draws, seed=seed)
        for label, exact in truth.items():
            if label in evidence:
                continue
            off = np.abs(found[label].probabilities - exact.probabilities)
            inside += int((off <= 1.96 * found[label].errors).sum())
            total += off.size
    return inside, total


def unlikely(model, count):
    """Evidence of the least probable states, one after the other, of the last nodes of an order."""
    evidence = {}
    for label in reversed(model.dag.order()):
        if len(evidence) < count:
            shares = model.query(label, evidence).probabilities
            state = int(np.argmin(np.where(shares > 0, shares, 2.0)))
            evidence[label] = model.states[model.dag.index(label)][state]
    return evidence


SLOW_ALARM = pytest.param("alarm", 60, marks=pytest.mark.slow)
SLOW_INSURANCE = pytest.param("insurance", 100, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("name", "entries"), [("asia", 2**16), ("asia", 4), ("alarm", 2**16), SLOW_ALARM, SLOW_INSURANCE]
)
def test_intervals_cover_the_truth_95_times_in_100(name, entries, monkeypatch):
    """Also with buckets so small that the proposal is far from the truth, and unlikely evidence.

    The intervals of one sample depend on each other, so the count scatters more than independent ones would.
    """
    monkeypatch.setattr(importance, "BUCKET_ENTRIES", entries)
    model = bs.load_network(name)
    for evidence in ({}, unlikely(model, 3)):
        inside, total = covered(model, evidence, 20, 4000)
        assert inside / total > 0.92, (inside, total)


@given(data=st.data())
def test_draws_agree_with_enumeration(data):
    """On networks with zeros and single states, from any proposal; what is impossible is never drawn."""
    network = data.draw(discrete_networks())
    evidence = data.draw(observations(network))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importance, "BUCKET_ENTRIES", data.draw(st.sampled_from([1, 4, 2**16])))
        if reference.conditional(network, [0], evidence) is None:
            with pytest.raises((NetworkError, TooLargeError)):
                network.marginals(labelled(network, evidence), method="sample", draws=2000)
            return
        try:
            found = network.marginals(labelled(network, evidence), method="sample", draws=2000)
        except TooLargeError:
            return  # too few draws agree with the evidence, which is said
    for node, label in enumerate(network.nodes):
        expected = np.array(list(reference.conditional(network, [node], evidence).values()))
        answer = found[label]
        assert answer.probabilities.sum() == pytest.approx(1)
        assert (answer.probabilities[expected == 0] == 0).all()
        if answer.errors is None:
            assert answer.probabilities == pytest.approx(expected)
        else:
            assert (np.abs(answer.probabilities - expected) <= 6 * answer.errors).all()


def test_a_joint_of_several_targets_is_estimated_too():
    model = bs.load_network("alarm")
    exact = model.query(["CVP", "BP", "HISTORY"], {"HR": "HIGH", "HISTORY": "TRUE"})
    found = model.query(["CVP", "BP", "HISTORY"], {"HR": "HIGH", "HISTORY": "TRUE"}, method="sample")
    assert np.abs(found.probabilities - exact.probabilities).max() < 4 * found.error
    assert found.error == found.errors.max() > 0 == exact.error
    assert exact.errors is None
    assert exact.method == ""
    assert "importance sampling" in found.method
    assert found.method in str(found)


def test_the_same_seed_gives_the_same_estimate_to_the_bit():
    model = bs.load_network("alarm")
    one, two, other = (model.query("CVP | HR=HIGH", method="sample", seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.probabilities, two.probabilities)
    assert not np.array_equal(one.probabilities, other.probabilities)


def too_large(n=40):
    """A clique of n binary variables, as far as an elimination can see."""
    names = [f"p{i:02}" for i in range(n)]
    pairs = [(a, b) for a in names for b in names if a < b]
    dag = Dag.from_arcs([(x, f"c{a}{b}") for a, b in pairs for x in (a, b)])
    rng = np.random.default_rng(0)
    tables = []
    for parents in dag.parents:
        shares = 0.5 + 0.05 * rng.uniform(-1, 1, (2,) * len(parents))
        tables.append(np.stack([shares, 1 - shares], axis=-1))
    model = DiscreteNetwork(dag, ((0, 1),) * len(dag), tuple(tables))
    return model, {label: 0 for label in model.nodes if label.startswith("c")}


@pytest.mark.slow
def test_what_is_too_large_is_estimated_with_a_warning_and_refused_if_it_must_be_exact():
    model, evidence = too_large()
    with pytest.warns(BayescoutWarning, match=r"estimate .*standard error at most .*exact=True"):
        found = model.query("p00", evidence)
    assert 0 < found.error < 0.05
    with pytest.warns(BayescoutWarning, match="estimate"):
        together = model.marginals(evidence)
    assert abs(together["p00"][0] - found[0]) < 4 * found.error
    with pytest.raises(TooLargeError, match=r"exact answer needs .* of memory"):
        model.query("p00", evidence, exact=True)
    with pytest.raises(TooLargeError, match=r"exact answer needs .* of memory"):
        model.marginals(evidence, exact=True)


def test_sampling_by_name_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bs.load_network("asia").query("lung", method="sample").error > 0


def test_impossible_evidence_is_refused_by_sampling_too():
    with pytest.raises(NetworkError, match="probability zero"):
        bs.load_network("asia").query("smoke", {"tub": "yes", "either": "no"}, method="sample")


def test_an_estimate_that_is_worth_too_little_is_refused(monkeypatch):
    monkeypatch.setattr(importance, "LEAST_EFFECTIVE", 1e9)
    with pytest.raises(TooLargeError, match=r"draws is worth only .*draws="):
        bs.load_network("asia").query("lung", method="sample")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "guess"}, "unknown method 'guess'"),
        ({"method": "sample", "exact": True}, "contradict"),
        ({"memory": 0}, "bytes above 0"),
        ({"memory": "much"}, "bytes above 0"),
        ({"method": "sample", "draws": 0}, "at least 1"),
    ],
)
def test_bad_options_are_refused(options, words):
    model = bs.load_network("asia")
    with pytest.raises(SettingError, match=words):
        model.query("lung", **options)
    with pytest.raises(SettingError, match=words):
        model.marginals(**options)


def test_mixed_networks_take_the_same_options():
    model = random_network(nodes=6, arcs=8, kind="mixed", seed=3)
    label = model.dag.order()[0]
    exact = model.query(label, exact=True)
    found = model.query(label, method="sample")
    assert found.error > 0 == exact.error
    assert np.abs(found.probabilities - exact.probabilities).max() < 5 * found.error
    assert list(model.marginals(nodes=[label])) == [label]
