"""Exact posteriors in the shipped networks against the frozen answers of another library."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import bayescout as bs
from bayescout.network import calibration, inference
from bayescout.network.clusters import entries
from bayescout.network.parts import Component, reduced

FROZEN = json.loads((Path(__file__).parent.parent / "peers" / "posteriors.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.slow] * n.startswith("munin")) for n in sorted(FROZEN["networks"])],
)
@pytest.mark.parametrize("case", [0, 1], ids=["prior", "observed"])
def test_posteriors_are_those_of_pyagrum(name, case):
    model = bs.load_network(name)
    asked = FROZEN["networks"][name][case]
    found = model.marginals(asked["evidence"], exact=True)
    assert len(found) == len(model.nodes)
    for node, expected in asked["posteriors"].items():
        # pyAgrum keeps the entries of tables in single precision
        assert np.allclose(found[node].probabilities, expected, rtol=1e-5, atol=2e-6), node


@pytest.mark.parametrize("name", ["link", "barley", "water"])
def test_what_is_predicted_is_what_is_taken(name):
    """Memory above what the network itself has, by the interpreter's own count."""
    model = bs.load_network(name)
    everything = Component(tuple(range(len(model.dag))), tuple(range(len(model.dag))))
    clusters = inference.clustered(model, everything, {}, ())
    factors = [reduced(model, node, {}) for node in everything.nodes]
    predicted = calibration.predicted_bytes(clusters, model.sizes)
    tables = 8 * sum(entries(one.scope, model.sizes) for one in clusters)
    tracemalloc.start()
    found = calibration.marginals(clusters, factors)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == len(model.dag)
    assert predicted / 4 < taken < predicted, (predicted, taken)
    assert taken < tables / 2


def test_the_answer_does_not_depend_on_the_memory_given():
    model = bs.load_network("insurance")
    whole = model.marginals({"Age": "Adult"})
    for memory in (2**24, 2**33):
        other = model.marginals({"Age": "Adult"}, memory=memory, exact=True)
        assert all(np.array_equal(whole[n].probabilities, other[n].probabilities) for n in model.nodes)
