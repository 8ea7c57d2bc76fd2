"""The k most probable assignments, complete and of some nodes, against enumeration."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayescout.errors import NetworkError, SettingError, TooLargeError, UnknownNameError, WrongKindError
from bayescout.graph.dag import Dag
from bayescout.network import GaussianNetwork, buckets, random_network
from tests.network.asia_network import asia
from tests.network.drawn_networks import (
    discrete_networks,
    labelled,
    mixed_networks,
    mixed_observations,
    observations,
)
from tests.network.test_mixed_inference import clinic, coded
from tests.reference import networks as mixed_reference
from tests.reference import questions as reference
from tests.strategies import examples


@given(data=st.data())
def test_the_best_assignments_are_those_of_enumeration(data):
    network = data.draw(discrete_networks())
    evidence = data.draw(observations(network))
    nodes = data.draw(
        st.one_of(
            st.none(), st.lists(st.integers(0, len(network.dag) - 1), unique=True, min_size=1, max_size=4)
        )
    )
    k = data.draw(st.sampled_from([1, 2, 5, 1000]))
    labels = None if nodes is None else [network.nodes[n] for n in nodes]
    axes = list(range(len(network.dag))) if nodes is None else nodes
    cells = reference.observed(reference.table(network), evidence)
    if not cells.any():
        with pytest.raises(NetworkError, match="probability zero"):
            network.explanations(labelled(network, evidence), k, labels)
        return
    expected = reference.best(cells, axes)
    found = network.explanations(labelled(network, evidence), k, labels)
    assert len(found) == min(k, len(expected))
    assert [p for _, p in found] == pytest.approx([p for _, p in expected[: len(found)]], abs=1e-12)
    by_codes = dict(expected)
    codes = [tuple(network.states[n].index(one.values[network.nodes[n]]) for n in axes) for one in found]
    assert len(set(codes)) == len(codes)
    assert [by_codes[one] for one in codes] == pytest.approx([p for _, p in found], abs=1e-12)
    best = network.most_probable(labelled(network, evidence), labels)
    assert list(best) == [network.nodes[n] for n in axes]
    top = tuple(network.states[n].index(best[network.nodes[n]]) for n in axes)
    assert by_codes[top] == pytest.approx(expected[0][1], abs=1e-12)


def test_the_best_of_some_is_not_a_part_of_the_best_of_all():
    model = asia()
    whole = model.most_probable({"xray": "yes"})
    assert (whole["lung"], whole["bronc"]) == ("yes", "yes")
    assert model.most_probable({"xray": "yes"}, nodes=["lung", "bronc"]) == {"lung": "no", "bronc": "no"}
    joint = model.query(["lung", "bronc"], {"xray": "yes"})
    found = model.explanations({"xray": "yes"}, k=4, nodes=["lung", "bronc"])
    assert [p for _, p in found] == pytest.approx(sorted(joint.values(), reverse=True))
    assert model.most_probable({"xray": "yes"}, nodes=["xray"]) == {"xray": "yes"}
    assert model.most_probable({"xray": "yes"}, nodes="lung") == {"lung": "no"}


def test_ties_go_to_lower_states_and_are_always_the_same():
    model = random_network(dag=Dag.empty("abc"), states=2, seed=1)
    even = model.changed(model.dag, [type(n)(n.states, [0.5, 0.5]) for n in model.distributions], ())
    found = [tuple(one.values.values()) for one in even.explanations(k=8)]
    assert found[0] == tuple(states[0] for states in even.states)
    assert len(set(found)) == 8
    assert found == [tuple(one.values.values()) for one in even.explanations(k=8)]


def test_explanations_of_a_larger_network_are_in_order_and_right():
    import bayescout as bs

    model = bs.load_network("alarm")
    found = model.explanations({"HRBP": "HIGH", "PRESS": "LOW"}, k=30)
    shares = [p for _, p in found]
    assert shares == sorted(shares, reverse=True)
    assert found[0].values == model.most_probable({"HRBP": "HIGH", "PRESS": "LOW"})
    quotients = [model.probability(one.values) / one.probability for one in found]
    assert quotients == pytest.approx([quotients[0]] * 30)
    assert len({tuple(one.values.items()) for one in found}) == 30


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(150))
@given(data=st.data())
def test_states_of_mixed_networks_are_ranked_with_numbers_integrated_out(data):
    network = data.draw(mixed_networks())
    evidence = data.draw(mixed_observations(network))
    posterior = mixed_reference.mixed_posterior(network, coded(network, evidence))
    assume(posterior and sum(p for _, p, *_ in posterior) > 1e-250)
    discrete = [n for n, one in enumerate(network.distributions) if one.states is not None]
    nodes = data.draw(st.lists(st.sampled_from(discrete), unique=True, min_size=1))
    whole = sum(p for _, p, *_ in posterior)
    totals = {}
    for codes, p, *_ in posterior:
        key = tuple(codes[n] for n in nodes)
        totals[key] = totals.get(key, 0.0) + p / whole
    expected = sorted((p for p in totals.values() if p > 0), reverse=True)
    found = network.explanations(evidence, 4, [network.nodes[n] for n in nodes])
    shares = [p for p in expected[:4] if p > 1e-12]
    assert [p for _, p in found][: len(shares)] == pytest.approx(shares, rel=1e-7, abs=1e-12)
    complete = network.explanations(evidence, 2)
    assert complete[0].values == pytest.approx(network.most_probable(evidence))


def test_numbers_of_an_explanation_are_means_given_its_states():
    model = clinic()
    first, second = model.explanations({"u": 10})
    assert first.values == pytest.approx({"ill": "yes", "age": 46, "t": 2, "u": 10})
    assert second.values["age"] == pytest.approx(model.query("age", {"u": 10, "ill": "no"}).mean)
    assert model.most_probable({"u": 10}, nodes=["age"]) == {"age": pytest.approx(51.3671, abs=1e-4)}
    both = model.most_probable({"u": 10}, nodes=["age", "ill"])
    assert both == {"age": pytest.approx(46), "ill": "yes"}


def test_a_gaussian_network_has_one_peak():
    model = GaussianNetwork(Dag.from_arcs([("x", "y")], "xy"), [1, 0], [[], [2]], [1, 1])
    assert model.most_probable() == pytest.approx({"x": 1, "y": 2})
    assert model.most_probable({"y": 4}, nodes=["x"]) == pytest.approx({"x": 1.8})
    assert model.most_probable({"y": 4})["y"] == 4
    with pytest.raises(WrongKindError, match=r"most_probable\(\) gives the values of largest density"):
        model.explanations(k=2)


def test_questions_that_cannot_be_answered_say_why(monkeypatch):
    with pytest.raises(UnknownNameError, match="did you mean 'lung'"):
        asia().most_probable(nodes=["lungs"])
    with pytest.raises(NetworkError, match="name at least one, or leave nodes out"):
        asia().explanations(nodes=[])
    with pytest.raises(SettingError, match="the number of explanations"):
        asia().explanations(k=0)
    monkeypatch.setattr(buckets, "MAX_ENTRIES", 7)
    with pytest.raises(TooLargeError, match=r"a table of 8 entries at variable '\w+', .* observe more"):
        asia().explanations()


def test_explanations_show_what_differs():
    lines = str(asia().explanations({"xray": "yes"}, k=2)).splitlines()
    assert lines == [
        "most probable explanations | xray=yes",
        "     smoke  lung  bronc  either  dysp  probability",
        "  1  yes    yes   yes    yes     yes      0.235139  ████▊",
        "  2  no     no    no     no      no       0.138564  ██▊",
        "  the same in all: asia=no, tub=no, xray=yes",
    ]
    frame = asia().explanations(k=3).to_pandas()
    assert list(frame.columns) == [*asia().nodes, "probability"]
    assert np.all(np.diff(frame["probability"]) <= 0)
