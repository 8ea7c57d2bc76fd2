"""Draws given evidence: shares and moments against exact answers; what is impossible is never drawn."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayescout.errors import BayescoutWarning, NetworkError, TooLargeError
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, GaussianNetwork, buckets
from bayescout.network.node import CHUNK
from tests.network.asia_network import asia
from tests.network.drawn_networks import (
    discrete_networks,
    gaussian_networks,
    labelled,
    mixed_networks,
    mixed_observations,
    observations,
)
from tests.network.test_mixed_inference import switch
from tests.reference import questions as reference
from tests.strategies import examples

N = 4000


def allowance(p, n):
    """Six standard deviations of a share, and one row."""
    return 6 * np.sqrt(p * (1 - p) / n) + 1 / n


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(120))
@given(data=st.data())
def test_shares_of_complete_rows_are_their_probabilities(data):
    network = data.draw(discrete_networks(most=5))
    evidence = data.draw(observations(network, most=3))
    cells = reference.observed(reference.table(network), evidence)
    if not cells.any():
        with pytest.raises(NetworkError, match="probability zero"):
            network.sample(2, evidence={**labelled(network, evidence)} or {network.nodes[0]: "v0"})
        return
    cells /= cells.sum()
    assume(evidence)
    rows = network.sample(N, seed=data.draw(st.integers(0, 9)), evidence=labelled(network, evidence))
    assert rows.names == network.nodes
    found = np.zeros_like(cells)
    np.add.at(found, tuple(rows.codes), 1 / N)
    assert not found[cells == 0].any()
    assert (np.abs(found - cells) <= allowance(cells, N)).all()


@settings(deadline=None, max_examples=examples(60))
@given(data=st.data())
def test_moments_of_gaussian_rows_are_those_of_the_query(data):
    network = data.draw(gaussian_networks(most=5))
    evidence = {label: float(data.draw(st.integers(-3, 3))) for label in network.nodes[:2]}
    rows = network.sample(N, seed=1, evidence=evidence)
    answer = network.query(list(network.nodes), evidence)
    spread = np.sqrt(np.maximum(np.diagonal(np.atleast_2d(answer.covariance)), 1e-12))
    off = (rows.values.mean(axis=1) - answer.means) / spread
    free = [i for i, label in enumerate(network.nodes) if label not in evidence]
    assert np.abs(off[free]).max(initial=0) < 6 / np.sqrt(N)
    scaled = np.atleast_2d(np.cov(rows.values))[np.ix_(free, free)] / np.outer(spread[free], spread[free])
    expected = answer.covariance[np.ix_(free, free)] / np.outer(spread[free], spread[free])
    assert np.abs(scaled - expected).max(initial=0) < 9 / np.sqrt(N)
    for i, label in enumerate(network.nodes):
        if label in evidence:
            assert (rows.values[i] == evidence[label]).all()


@settings(deadline=None, max_examples=examples(80))
@given(data=st.data())
def test_rows_of_mixed_networks_have_the_distributions_of_queries(data):
    network = data.draw(mixed_networks(most=5))
    evidence = data.draw(mixed_observations(network, most=2))
    assume(evidence)
    try:
        answers = network.marginals(evidence)
    except NetworkError:
        with pytest.raises(NetworkError):
            network.sample(2, evidence=evidence)
        return
    rows = network.sample(N, seed=3, evidence=evidence)
    for label, answer in answers.items():
        if label in evidence:
            assert set(rows.column(label)) == {evidence[label]}
        elif hasattr(answer, "probabilities"):
            shares = np.bincount(rows.array(label), minlength=len(answer)) / N
            assert (np.abs(shares - answer.probabilities) <= allowance(answer.probabilities, N)).all()
        else:
            assert rows.array(label).mean() == pytest.approx(
                answer.mean, abs=6 * np.sqrt(answer.variance / N) + 1e-9
            )


def test_states_and_numbers_are_drawn_together():
    """The mean of a number given a state, and not only each by itself."""
    from tests.network.test_mixed_inference import clinic

    rows = clinic().sample(20_000, seed=5, evidence={"u": 10}).to_pandas()
    for state in ("no", "yes"):
        own = rows.loc[rows["ill"] == state, "age"]
        answer = clinic().query("age", {"u": 10, "ill": state})
        assert own.mean() == pytest.approx(answer.mean, abs=6 * np.sqrt(answer.variance / len(own)))
        assert own.var() == pytest.approx(answer.variance, rel=0.1)


def test_rows_obey_what_is_determined():
    rows = switch().sample(500, seed=2, evidence={"z": 3.0}).to_pandas()
    fresh = switch().query(["s", "x"], {"z": 3.0})
    assert set(rows["s"]) == {state for state, p in fresh.discrete.items() if p > 0}
    assert (rows["z"] == 3).all()


def test_numbers_that_cannot_be_together_are_refused():
    model = GaussianNetwork(Dag.from_arcs([("x", "y")], "xy"), [0, 0], [[], [2]], [1, 0])
    assert model.sample(3, evidence={"y": 4}).values[0].tolist() == pytest.approx([2, 2, 2])
    for ask in (lambda e: model.sample(3, evidence=e), model.conflict, model.marginals):
        with pytest.raises(NetworkError, match=r"x=1.*, y=3.* cannot happen together"):
            ask({"x": 1, "y": 3})


def test_the_same_seed_gives_the_same_rows_and_chunks_do_not_matter():
    model = asia()
    one = model.sample(CHUNK + 10, seed=4, evidence={"dysp": "yes"})
    assert np.array_equal(one.codes, model.sample(CHUNK + 10, seed=4, evidence={"dysp": "yes"}).codes)
    assert not np.array_equal(one.codes, model.sample(CHUNK + 10, seed=5, evidence={"dysp": "yes"}).codes)
    assert np.array_equal(model.sample(50, seed=1).codes, model.sample(50, seed=1, evidence={}).codes)


def test_soft_evidence_and_actions_are_drawn_from():
    model = asia().do(smoke="no")
    soft = {"dysp": {"yes": 9.0, "no": 1.0}}
    rows = model.sample(20_000, seed=1, evidence={"xray": "yes"}, soft=soft)
    assert rows.names == model.nodes
    for label, answer in model.marginals({"xray": "yes"}, soft=soft).items():
        shares = np.bincount(rows.array(label), minlength=2) / 20_000
        assert (np.abs(shares - answer.probabilities) <= allowance(answer.probabilities, 20_000)).all()
    rows = asia().sample(20_000, seed=1, jeffrey={"lung": {"yes": 0.5, "no": 0.5}})
    assert (rows.array("lung") == 0).mean() == pytest.approx(0.5, abs=0.02)


def test_what_was_never_seen_is_said():
    dag = Dag.from_arcs([("a", "b")], "ab")
    wider = DiscreteNetwork(
        dag,
        (("x", "y"), ("u", "v")),
        [[0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]]],
        [np.array(False), np.array([False, True])],
    )
    with pytest.warns(BayescoutWarning, match="the sample uses parent configurations of 'b'"):
        wider.sample(3, evidence={"b": "u"})


def test_a_network_too_large_says_so(monkeypatch):
    monkeypatch.setattr(buckets, "MAX_ENTRIES", 3)
    with pytest.raises(TooLargeError, match="observe more variables"):
        asia().sample(3, evidence={"dysp": "yes"})
