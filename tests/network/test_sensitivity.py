"""Sensitivity to parameters against networks in which they are changed."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayescout.errors import NetworkError, SettingError, UnknownNameError, WrongKindError
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, GaussianNetwork
from tests.network.asia_network import asia
from tests.network.drawn_networks import discrete_networks, labelled, observations
from tests.network.test_mixed_inference import clinic
from tests.reference import questions as reference
from tests.strategies import examples


def changed(network, node, row, k, x):
    """The network with one entry of a table changed, and its row with it."""
    tables = [np.array(t) for t in network.tables]
    cells = tables[node].reshape(-1, tables[node].shape[-1])
    cells[row] = reference.changed_row(cells[row].tolist(), k, x)
    return DiscreteNetwork(network.dag, network.states, tables)


def by_enumeration(network, event, evidence):
    """P(event | evidence), NaN if the evidence is impossible."""
    cells = reference.observed(reference.table(network), evidence)
    whole = cells.sum()
    return float(reference.observed(cells, event).sum() / whole) if whole > 0 else math.nan


@settings(deadline=None, max_examples=examples(60))
@given(data=st.data())
def test_every_parameter_moves_the_query_as_enumeration_says(data):
    network = data.draw(discrete_networks(most=4))
    evidence = data.draw(observations(network, most=2))
    free = [n for n in range(len(network.dag)) if n not in evidence]
    assume(free)
    targets = data.draw(st.lists(st.sampled_from(free), unique=True, min_size=1, max_size=2))
    event = {n: data.draw(st.integers(0, len(network.states[n]) - 1)) for n in targets}
    if math.isnan(by_enumeration(network, event, evidence)):
        with pytest.raises(NetworkError, match="probability zero"):
            network.sensitivity(labelled(network, event), labelled(network, evidence))
        return
    found = network.sensitivity(labelled(network, event), labelled(network, evidence), spread=0.5)
    assert found.probability == pytest.approx(by_enumeration(network, event, evidence))
    seen = {(one.node, one.state, tuple(s for _, s in one.given)): one for one in found}
    for node, own in enumerate(network.dag.parents):
        states = [network.states[p] for p in own]
        shape = [len(s) for s in states]
        for row in range(int(np.prod(shape, dtype=int))):
            where = np.unravel_index(row, shape) if shape else ()
            given_states = tuple(s[int(i)] for s, i in zip(states, where, strict=True))
            for k, state in enumerate(network.states[node]):
                if len(network.states[node]) == 1 or (len(network.states[node]) == 2 and k == 1):
                    continue
                one = seen.get((network.nodes[node], state, given_states))
                value = float(network.tables[node].reshape(-1, len(network.states[node]))[row, k])
                for x in (0.0, 0.3, 1.0):
                    expected = by_enumeration(changed(network, node, row, k, x), event, evidence)
                    if one is None:  # what has no effect need not be listed
                        assert math.isnan(expected) or expected == pytest.approx(found.probability)
                    elif math.isnan(expected):
                        assert math.isnan(one.at(x))
                    else:
                        assert one.at(x) == pytest.approx(expected, abs=1e-9)
                if one is not None:
                    odds = [value / (value + (1 - value) * 1.5), 1.5 * value / (1.5 * value + 1 - value)]
                    assert (one.value, one.low, one.high) == pytest.approx(
                        (value, *(one.at(x) for x in odds)), nan_ok=True
                    )
                    assert one.at(value) == pytest.approx(found.probability)
                    step = 1e-6 if value < 0.5 else -1e-6
                    slope = (one.at(value + step) - one.at(value)) / step
                    assert one.derivative == pytest.approx(slope, rel=1e-2, abs=1e-3)
    swings = [one.swing for one in found]
    assert all(a >= b - 1e-8 for a, b in pairwise(swings))


def test_a_worked_example():
    """A disease of prevalence p and a test: P(ill | +) = .9 p / (.9 p + .2 (1 - p)), by hand."""
    dag = Dag.from_arcs([("ill", "test")], ["ill", "test"])
    model = DiscreteNetwork(dag, (("yes", "no"), ("+", "-")), [[0.1, 0.9], [[0.9, 0.1], [0.2, 0.8]]])
    found = model.sensitivity("ill=yes | test=+")
    assert found.probability == pytest.approx(1 / 3)
    by_name = {one.name: one for one in found}
    assert set(by_name) == {"P(ill=yes)", "P(test=+ | ill=yes)", "P(test=+ | ill=no)"}
    prevalence = by_name["P(ill=yes)"]
    for x in (0.0, 0.25, 0.5, 1.0):
        assert prevalence.at(x) == pytest.approx(0.9 * x / (0.9 * x + 0.2 * (1 - x)))
    assert prevalence.derivative == pytest.approx(0.18 / 0.27**2)
    assert by_name["P(test=+ | ill=no)"].derivative == pytest.approx(-0.09 * 0.9 / 0.27**2)
    # odds times 1.1 move the odds of the answer by the same factor
    assert prevalence.high / (1 - prevalence.high) == pytest.approx(1.1 * 0.5)
    assert prevalence.low / (1 - prevalence.low) == pytest.approx(0.5 / 1.1)
    with pytest.raises(SettingError, match="from 0 to 1"):
        prevalence.at(1.5)


def test_text_mappings_and_actions_are_the_same_question():
    text = asia().sensitivity("lung=yes | xray=yes, dysp=no")
    named = asia().sensitivity({"lung": "yes"}, {"xray": "yes", "dysp": "no"})
    assert [one.name for one in text] == [one.name for one in named]
    assert text.probability == named.probability
    acted = asia().sensitivity("lung=yes | do(smoke=yes), xray=yes")
    assert acted.title == "P(lung=yes | do(smoke=yes), xray=yes)"
    assert acted.probability == pytest.approx(asia().do(smoke="yes").query("lung | xray=yes")["yes"])
    both = asia().sensitivity("lung=yes, bronc=no | xray=yes")
    assert both.probability == pytest.approx(asia().query(["lung", "bronc"], {"xray": "yes"})["yes", "no"])


def test_soft_evidence_is_no_parameter():
    found = asia().sensitivity("lung=yes", soft={"xray": {"yes": 3, "no": 1}})
    assert found.probability == pytest.approx(asia().query("lung", soft={"xray": {"yes": 3, "no": 1}})["yes"])
    assert {one.node for one in found} <= set(asia().nodes)


def test_parameters_that_do_not_bear_are_left_out():
    nodes = {one.node for one in asia().sensitivity("lung=yes | smoke=yes")}
    assert nodes == {"lung"}


def test_states_of_a_mixed_network_depend_on_its_tables():
    found = clinic().sensitivity("ill=yes | t=2.5")
    assert [one.name for one in found] == ["P(ill=no)"]
    a, b = (clinic().query("ill", {"t": 2.5})[state] for state in ("yes", "no"))
    ratio = a / b * 9  # of the densities
    assert found[0].at(0.5) == pytest.approx(ratio / (1 + ratio))
    assert "regressions are left out" in str(found)


def test_the_tornado_is_shown_and_drawn():
    found = asia().sensitivity("lung=yes | xray=yes")
    lines = str(found).splitlines()
    assert lines[0] == "P(lung=yes | xray=yes) = 0.488711, by parameter"
    assert lines[1].split() == ["parameter", "value", "derivative", "low", "high"]
    assert "odds of the parameter divided and multiplied by 1.1" in lines[-1]
    figure = found.plot()
    axes = figure.axes[0]
    labels = [tick.get_text() for tick in axes.get_yticklabels()]
    assert labels[0] == found[0].name
    assert len(labels) == sum(one.swing > 0 for one in found)
    frame = found.to_pandas()
    assert list(frame.columns) == ["parameter", "value", "derivative", "low", "high"]
    assert len(frame) == len(found)


@pytest.mark.parametrize(
    ("event", "options", "error", "message"),
    [
        ("lung | xray=yes", {}, SettingError, "target 'lung' in event .* has no value"),
        ("lung=maybe", {}, UnknownNameError, "unknown state 'maybe'"),
        ({}, {}, SettingError, "text such as .* or a mapping"),
        (3, {}, SettingError, "text such as .* or a mapping"),
        ({"lung": "yes"}, {"evidence": {"lung": "no"}}, SettingError, "asked for and observed"),
        ("lung=yes", {"spread": 0}, SettingError, "spread is a number above 0"),
        ("lung=yes", {"spread": math.inf}, SettingError, "spread is a number above 0"),
        ("xray=yes | lung=yes, either=no", {}, NetworkError, "probability zero: lung=yes, either=no"),
    ],
)
def test_events_that_cannot_be_used_are_refused(event, options, error, message):
    with pytest.raises(error, match=message):
        asia().sensitivity(event, **options)


def test_numbers_have_no_states_to_be_sensitive():
    model = GaussianNetwork(Dag.from_arcs([("x", "y")], "xy"), [0, 0], [[], [1]], [1, 1])
    with pytest.raises(WrongKindError, match="'x' is continuous; ask for a discrete variable"):
        model.sensitivity({"x": 1.0})
