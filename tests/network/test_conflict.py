"""Conflict of evidence against its definition."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayescout.errors import NetworkError, SettingError
from bayescout.graph.dag import Dag
from bayescout.network import GaussianNetwork
from tests.network.asia_network import asia
from tests.network.drawn_networks import (
    discrete_networks,
    labelled,
    mixed_networks,
    mixed_observations,
    observations,
)
from tests.network.test_mixed_inference import coded, switch
from tests.reference import networks as mixed_reference
from tests.reference import questions as reference
from tests.strategies import examples


def by_definition(probability, evidence):
    """log(product of P(e_i) / P(e)) with a function from some of the evidence to its probability."""
    apart = sum(math.log(probability({node: value})) for node, value in evidence.items())
    return apart - math.log(probability(evidence))


@given(data=st.data())
def test_the_conflict_is_that_of_enumeration(data):
    network = data.draw(discrete_networks())
    evidence = data.draw(observations(network))
    assume(evidence)
    cells = reference.table(network)
    if not reference.observed(cells, evidence).any():
        with pytest.raises(NetworkError, match="probability zero"):
            network.conflict(labelled(network, evidence))
        return

    def probability(some):
        return float(reference.observed(cells, some).sum())

    found = network.conflict(labelled(network, evidence))
    assert float(found) == pytest.approx(by_definition(probability, evidence), abs=1e-10)
    for one, other, value in found.pairs:
        some = {n: evidence[n] for n in (network.dag.index(one), network.dag.index(other))}
        assert value == pytest.approx(by_definition(probability, some), abs=1e-10)
    assert len(found.pairs) == len(evidence) * (len(evidence) - 1) // 2
    for label, adds, without in found.findings:
        some = {n: code for n, code in evidence.items() if n != network.dag.index(label)}
        rest = by_definition(probability, some) if some else 0.0
        assert without == pytest.approx(rest, abs=1e-10)
        assert adds == pytest.approx(float(found) - rest, abs=1e-10)
    values = [pair.conflict for pair in found.pairs]
    assert values == sorted(values, reverse=True)


@settings(deadline=None, max_examples=examples(100))
@given(data=st.data())
def test_densities_conflict_too(data):
    network = data.draw(mixed_networks())
    evidence = data.draw(mixed_observations(network, most=3))
    assume(evidence)
    codes = coded(network, evidence)

    def probability(some):
        return sum(p for _, p, *_ in mixed_reference.mixed_posterior(network, some))

    assume(probability(codes) > 1e-200)
    assert float(network.conflict(evidence)) == pytest.approx(
        by_definition(probability, codes), rel=1e-6, abs=1e-6
    )


def test_findings_of_one_case_do_not_conflict():
    model = asia()
    assert float(model.conflict({"smoke": "yes", "xray": "yes", "dysp": "yes"})) < 0
    found = model.conflict({"smoke": "no", "xray": "yes", "dysp": "no"})
    assert float(found) > 0
    assert found.pairs[0][:2] == ("smoke", "xray")
    assert found.findings[0].node == "xray"
    assert float(model.conflict({"asia": "yes", "smoke": "no"})) == pytest.approx(0, abs=1e-12)
    assert float(model.conflict({"asia": "yes"})) == pytest.approx(0, abs=1e-12)


def test_gaussian_findings_conflict_against_their_correlation():
    model = GaussianNetwork(Dag.from_arcs([("x", "y")], "xy"), [0, 0], [[], [1]], [1, 0.01])
    assert float(model.conflict({"x": 2, "y": 2})) < 0 < float(model.conflict({"x": 2, "y": -1}))


def test_a_soft_finding_conflicts_whatever_its_scale():
    one = asia().conflict({"xray": "yes"}, soft={"smoke": {"yes": 0.1, "no": 0.9}})
    ten = asia().conflict({"xray": "yes"}, soft={"smoke": {"yes": 1, "no": 9}})
    assert float(one) == pytest.approx(float(ten))
    hard = asia().conflict({"xray": "yes", "smoke": "no"})
    assert 0 < float(one) < float(hard)
    assert one.pairs[0][:2] == ("xray", "smoke")


def test_no_evidence_is_refused():
    with pytest.raises(SettingError, match="give at least two findings"):
        asia().conflict({})


def test_numbers_that_determine_one_another_agree_without_bound():
    """z is 2 x + 1 without noise; x has a point mass if s is off."""
    assert float(switch().conflict({"x": 1.0, "z": 3.0})) == -math.inf
    assert "-inf" in str(switch().conflict({"x": 1.0, "z": 3.0}))
    assert float(switch().conflict({"s": "off", "x": 0.0})) == pytest.approx(math.log(0.5))
    assert float(switch().conflict({"s": "on", "x": 0.0})) == math.inf


def test_the_text_names_pairs_and_findings():
    lines = str(asia().conflict({"xray": "yes", "smoke": "no"})).splitlines()
    assert lines[0].startswith("conflict of xray=yes, smoke=no: +0.47")
    assert lines[2].startswith("  pair  xray=yes, smoke=no   +0.47")
    assert lines[-1] == "  positive: the findings may not belong together"
    assert np.isclose(
        asia().conflict({"xray": "yes", "smoke": "no"}).to_pandas()["conflict"][0], 0.4708, atol=1e-4
    )
