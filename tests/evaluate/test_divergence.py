"""Divergences against sums over the whole joint, closed forms, and what makes them infinite."""

import json
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutWarning, GraphError, NetworkError, SettingError, TooLargeError
from bayescout.evaluate import divergence, gaussian, marginals
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, GaussianNetwork
from tests.evaluate.drawn_pairs import discrete_pairs, gaussian_pairs
from tests.network.drawn_networks import discrete_networks, gaussian_networks
from tests.reference import networks as reference
from tests.strategies import entangled_data


def by_labels(network):
    """{(label, state) of every node: probability}."""
    return {
        frozenset((n, s[c]) for n, s, c in zip(network.nodes, network.states, codes, strict=True)): p
        for codes, p in reference.joint(network).items()
    }


def over_the_joint(truth, learned):
    """The sum of P log(P / Q) over every assignment."""
    other = by_labels(learned)
    total = 0.0
    for assignment, p in by_labels(truth).items():
        if p > 0:
            q = other.get(assignment, 0.0)
            total += p * math.log(p / q) if q > 0 else math.inf
    return total


def coin(name, *probabilities, states=("no", "yes")):
    return DiscreteNetwork(Dag((name,), ((),)), (states,), (np.array(probabilities),))


@given(pair=discrete_pairs())
def test_exact_is_the_sum_over_the_joint(pair):
    found = divergence(*pair)
    assert found.exact
    assert found.standard_error == 0
    assert float(found) == pytest.approx(over_the_joint(*pair), abs=1e-9)
    assert found.value >= 0
    assert math.isinf(found.value) == bool(found.impossible)


@given(pair=discrete_pairs())
def test_what_makes_it_infinite_has_mass_in_truth_and_none_in_the_learned(pair):
    truth, learned = pair
    for event in divergence(truth, learned).impossible:
        values = dict(event.given) | {event.node: event.state}
        node = learned.dag.index(event.node)
        family = [learned.nodes[v] for v in (*learned.dag.parents[node], node)]
        assert set(values) == set(family)
        codes = tuple(learned.states[learned.dag.index(label)].index(values[label]) for label in family)
        assert learned.tables[node][codes] == 0
        mass = sum(p for assignment, p in by_labels(truth).items() if assignment >= set(values.items()))
        assert event.probability == pytest.approx(mass)
        assert mass > 0


@given(network=discrete_networks())
def test_a_network_does_not_diverge_from_itself(network):
    assert divergence(network, network).value == 0.0


@given(network=gaussian_networks())
def test_nor_does_a_gaussian_one(network):
    assert divergence(network, network).value == pytest.approx(0.0, abs=1e-12)


@given(table=entangled_data(max_columns=4, max_rows=60))
def test_equivalent_graphs_fitted_to_the_same_rows_do_not_diverge(table):
    """A complete graph and the same with its first arc, which is covered, turned round."""
    n = table.n_columns
    dag = Dag(table.names, tuple(tuple(range(i)) for i in range(n)))
    turned = dag.reverse_covered(*next(arc for arc in dag.arcs() if dag.is_covered(*arc)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)  # the truth has rows without data
        found = divergence(bs.fit(dag, table), bs.fit(turned, table))
    assert found.value == pytest.approx(0.0, abs=1e-12)


def test_by_hand():
    truth, learned = coin("x", 0.25, 0.75), coin("x", 0.5, 0.5)
    expected = 0.25 * math.log(0.5) + 0.75 * math.log(1.5)
    assert divergence(truth, learned).value == pytest.approx(expected, rel=1e-15)
    assert divergence(learned, truth).value == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(2 / 3))


def test_a_sample_agrees_with_the_exact_value():
    truth = bs.load_network("asia")
    learned = bs.fit(Dag.empty(truth.nodes), truth.sample(500, seed=1), prior="laplace")
    exact = divergence(truth, learned)
    sampled = divergence(truth, learned, samples=20_000, seed=3, method="sampled")
    assert not sampled.exact
    assert sampled.rows == 20_000
    assert abs(sampled.value - exact.value) < 4 * sampled.standard_error
    assert 0 < sampled.standard_error < 0.05
    assert sampled == divergence(truth, learned, samples=20_000, seed=3, method="sampled")
    assert sampled != divergence(truth, learned, samples=20_000, seed=4, method="sampled")


def test_the_standard_error_is_that_of_the_mean():
    """One coin: the log-ratio is one of two numbers, so its variance is known."""
    truth, learned = coin("x", 0.3, 0.7), coin("x", 0.6, 0.4)
    low, high = math.log(0.5), math.log(0.7 / 0.4)
    deviation = math.sqrt(0.3 * 0.7) * (high - low)
    found = divergence(truth, learned, samples=40_000, method="sampled")
    assert found.standard_error == pytest.approx(deviation / math.sqrt(40_000), rel=0.02)


def test_where_tables_would_be_too_large_it_samples_and_says_so(monkeypatch):
    truth = bs.load_network("asia")
    monkeypatch.setattr(marginals, "MAX_COST", 10)
    found = divergence(truth, truth, samples=100)
    assert not found.exact
    assert found.rows == 100
    assert "100 sampled rows" in str(found)
    with pytest.raises(TooLargeError, match="divergence needs tables of more than 10 entries"):
        divergence(truth, truth, method="exact")


def test_a_state_that_the_learned_network_lacks_is_infinite_and_named():
    truth = coin("x", 0.2, 0.5, 0.3, states=("a", "b", None))
    for method, near in (("exact", 1e-12), ("sampled", 0.02)):
        found = divergence(truth, coin("x", 0.5, 0.5, states=("b", "a")), method=method)
        assert found.value == math.inf
        assert not found.is_finite
        (event,) = found.impossible
        assert (event.node, event.state, event.given) == ("x", None, ())
        assert event.probability == pytest.approx(0.3, abs=near)
        assert "rules out x=None" in str(found)
        as_json = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert as_json["value"] is None
        assert as_json["infinite"] is True


def test_a_state_that_never_happens_may_be_lacking():
    truth = coin("x", 0.5, 0.5, 0.0, states=("a", "b", "c"))
    assert divergence(truth, coin("x", 0.5, 0.5, states=("b", "a"))).value == 0.0


def test_a_state_of_another_type_is_another_state():
    truth = coin("x", 0.5, 0.5, states=(0, 1))
    with pytest.raises(NetworkError, match="none in common"):
        divergence(truth, coin("x", 0.5, 0.5, states=("0", "1")))
    with pytest.raises(NetworkError, match="none in common"):
        divergence(truth, coin("x", 0.5, 0.5, states=(False, True)))


def test_a_parents_lacking_state_is_blamed_on_the_parent():
    def chain(states, first, second):
        dag = Dag.from_arcs([("a", "b")])
        return DiscreteNetwork(dag, (states, ("n", "y")), (np.array(first), np.array(second)))

    truth = chain(("r", "s"), [0.5, 0.5], [[0.5, 0.5], [0.1, 0.9]])
    learned = chain(("r",), [1.0], [[0.5, 0.5]])
    (event,) = divergence(truth, learned).impossible
    assert (event.node, event.state) == ("a", "s")


def test_only_some_events_are_listed_the_most_probable_first():
    states = tuple(range(300))
    truth = coin("x", *([1 / 300] * 299), 1 / 300, states=states)
    learned = coin("x", 1.0, *([0.0] * 299), states=states)
    found = divergence(truth, learned)
    assert len(found.impossible) == 100
    assert "and many more" in str(found)
    truth = coin("x", 0.1, 0.2, 0.7, states=("a", "b", "c"))
    found = divergence(truth, coin("x", 1.0, 0.0, 0.0, states=("a", "b", "c")))
    assert [event.state for event in found.impossible] == ["c", "b"]
    assert str(found).endswith("rules out x=c (probability 0.7) and 1 more")


def test_rows_without_data_count_as_uniform_and_are_reported():
    """The training rows never show a = 1, so P(b | a = 1) is undefined; truth has a = 1 one time in four."""
    dag = Dag.from_arcs([("a", "b")])
    states = ((0, 1), (0, 1))
    truth = DiscreteNetwork(dag, states, (np.array([0.75, 0.25]), np.array([[0.5, 0.5], [0.5, 0.5]])))
    learned = DiscreteNetwork(
        dag,
        states,
        (np.array([0.75, 0.25]), np.array([[0.5, 0.5]] * 2)),
        (np.array(False), np.array([False, True])),
    )
    exact = divergence(truth, learned)
    assert exact.value == 0.0
    assert exact.unseen == pytest.approx(0.25)
    sampled = divergence(truth, learned, samples=4000, method="sampled")
    assert sampled.unseen == pytest.approx(0.25, abs=0.03)


# ---- Gaussian


@given(pair=gaussian_pairs(), numbers=st.integers(1, 20))
def test_gaussian_a_few_columns_at_a_time_is_the_same(pair, numbers):
    whole = divergence(*pair)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gaussian, "BLOCK_NUMBERS", numbers)
        assert divergence(*pair).value == pytest.approx(whole.value, rel=1e-9, abs=1e-12)


@given(pair=gaussian_pairs())
def test_gaussian_is_the_closed_form_of_two_normals(pair):
    truth, learned = pair
    mean, covariance = reference.gaussian_joint(truth)
    other_mean, other = reference.gaussian_joint(learned)
    order = [learned.dag.index(label) for label in truth.nodes]
    other_mean, other = other_mean[order], other[np.ix_(order, order)]
    inverse = np.linalg.inv(other)
    shift = other_mean - mean
    expected = 0.5 * (
        np.trace(inverse @ covariance)
        - len(mean)
        + shift @ inverse @ shift
        + np.linalg.slogdet(other)[1]
        - np.linalg.slogdet(covariance)[1]
    )
    found = divergence(truth, learned)
    assert found.exact
    assert found.value >= 0
    assert found.value == pytest.approx(expected, rel=1e-6, abs=1e-8)


def normal(name, mean, variance):
    return GaussianNetwork(Dag((name,), ((),)), np.array([mean]), (np.array([]),), np.array([variance]))


def test_gaussian_by_hand():
    assert divergence(normal("x", 0, 1), normal("x", 3, 1)).value == pytest.approx(4.5)
    expected = 0.5 * (math.log(4) + 1 / 4 - 1)
    assert divergence(normal("x", 0, 1), normal("x", 0, 4)).value == pytest.approx(expected)


def test_gaussian_sample_agrees():
    truth, learned = normal("x", 0, 1), normal("x", 0.5, 2)
    exact = divergence(truth, learned).value
    sampled = divergence(truth, learned, samples=20_000, method="sampled")
    assert not sampled.exact
    assert abs(sampled.value - exact) < 4 * sampled.standard_error


def line(noise, slope=1.0):
    dag = Dag.from_arcs([("x", "y")])
    return GaussianNetwork(dag, np.zeros(2), (np.array([]), np.array([slope])), np.array([1.0, noise]))


def test_without_noise_in_one_network_only_it_is_infinite():
    for truth, learned in ((line(1.0), line(0.0)), (line(0.0), line(1.0)), (line(0.0), line(0.0, slope=2))):
        found = divergence(truth, learned)
        assert found.value == math.inf
        assert [event.node for event in found.impossible] == ["y"]
        assert "y has no noise in one network, and the other does not agree" in str(found)
        json.dumps(found.to_dict(), allow_nan=False)


def test_the_same_certainty_in_both_is_no_divergence():
    assert divergence(line(0.0), line(0.0)).value == 0.0
    wide = GaussianNetwork(line(0.0).dag, np.zeros(2), line(0.0).coefficients, np.array([4.0, 0.0]))
    assert divergence(line(0.0), wide).value == pytest.approx(0.5 * (math.log(4) + 0.25 - 1))


def test_the_same_certainty_by_another_node_is_refused():
    turned = GaussianNetwork(
        Dag.from_arcs([("y", "x")], ["x", "y"]),
        np.zeros(2),
        (np.array([1.0]), np.array([])),
        np.array([0.0, 1.0]),
    )
    with pytest.raises(NetworkError, match="no noise in one network only"):
        divergence(line(0.0), turned)


# ---- what is refused


def test_what_cannot_be_compared_is_refused():
    asia, x = bs.load_network("asia"), coin("x", 0.5, 0.5)
    with pytest.raises(NetworkError, match=r"must be a network with parameters, not Dag; .*fit"):
        divergence(asia, asia.dag)
    with pytest.raises(NetworkError, match="discrete and the other Gaussian"):
        divergence(x, normal("x", 0, 1))
    with pytest.raises(GraphError, match="same nodes"):
        divergence(x, coin("y", 0.5, 0.5))
    with pytest.raises(SettingError, match="samples must be a whole number of at least 2"):
        divergence(x, x, samples=1)
    with pytest.raises(SettingError, match="method must be one of auto, exact, sampled"):
        divergence(x, x, method="guess")


@given(seed=st.integers(0, 5))
def test_more_rows_bring_the_learned_network_nearer(seed):
    truth = bs.random_network(nodes=4, arcs=4, states=2, seed=seed)
    few, many = (bs.fit(truth, truth.sample(n, seed=1), prior="laplace") for n in (50, 50_000))
    assert divergence(truth, many).value < divergence(truth, few).value
