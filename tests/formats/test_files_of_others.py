"""Files that other tools wrote, beside the network that they were given; see files/README.md."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from bayescout.errors import BayescoutWarning
from bayescout.formats import bif, read_network, read_structure
from tests.datasets.lookalikes import coronary

FILES = Path(__file__).parent / "files"
TRUTH = read_network(FILES / "small.json")
GRAPHS = sorted(p.name for p in FILES.iterdir() if p.suffix in (".dagitty", ".graphml", ".tetrad"))
TOOLS = ("bnlearn", "pgmpy", "pyagrum")
OF_OTHERS = sorted(p.name for p in FILES.iterdir() if p.stem in TOOLS and p.name not in GRAPHS)
WARNED = {"pyagrum.uai": "pyAgrum's names", "pyagrum.xdsl": "pyAgrum's XDSL", "pgmpy.uai": "as in pgmpy's"}
UNNAMED = {"pgmpy.uai": ("alert", "pump", "rain", "flood", "season")}
DIGITS = {"pyagrum.xdsl": 1e-5, "pyagrum.uai": 1e-5, "pyagrum.dsl": 1e-5, "pyagrum.bifxml": 1e-5}


def joint(network, order):
    """The probability of every assignment, one axis per node in this order, by the chain rule alone."""
    sizes = [len(network.states[network.dag.index(label)]) for label in order]
    cells = np.empty(sizes)
    for codes in np.ndindex(*sizes):
        chosen = dict(zip(order, codes, strict=True))
        product = 1.0
        for child, parents in enumerate(network.dag.parents):
            place = tuple(chosen[network.nodes[p]] for p in (*parents, child))
            product *= network.tables[child][place]
        cells[codes] = product
    return cells


def read(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        network = read_network(FILES / name)
    return network, [str(one.message) for one in caught if issubclass(one.category, BayescoutWarning)]


@pytest.mark.parametrize("name", OF_OTHERS)
def test_the_distribution_is_the_one_that_the_tool_was_given(name):
    network, _ = read(name)
    order = list(TRUTH.nodes)
    labels = order
    if name in UNNAMED:
        labels = [f"x{UNNAMED[name].index(label)}" for label in order]
    assert set(network.nodes) == set(labels)
    theirs = joint(network, labels)
    assert np.abs(theirs - joint(TRUTH, order)).max() <= DIGITS.get(name, 1e-12)


@pytest.mark.parametrize("name", OF_OTHERS)
def test_states_keep_their_names_and_every_table_its_numbers(name):
    network, _ = read(name)
    if name in UNNAMED:
        return
    for label in TRUTH.nodes:
        theirs, ours = network.dag.index(label), TRUTH.dag.index(label)
        if not name.endswith(".uai"):
            assert network.states[theirs] == TRUTH.states[ours]
        assert {network.nodes[p] for p in network.dag.parents[theirs]} == {
            TRUTH.nodes[p] for p in TRUTH.dag.parents[ours]
        }
        axes = [network.dag.parents_of(label).index(parent) for parent in TRUTH.dag.parents_of(label)]
        table = network.tables[theirs].transpose(*axes, len(axes))
        assert np.abs(table - TRUTH.tables[ours]).max() <= DIGITS.get(name, 1e-12)


@pytest.mark.parametrize("name", OF_OTHERS)
def test_an_order_that_is_not_the_format_s_is_told(name):
    _, told = read(name)
    about_order = [one for one in told if "divided by the sum" not in one]
    assert len(about_order) == (name in WARNED)
    if about_order:
        assert WARNED[name] in about_order[0]


def test_names_of_two_words_as_bnlearn_writes_those_of_its_coronary_data():
    truth, theirs = coronary(), read_network(FILES / "coronary-by-bnlearn.bif")
    for network in (theirs, bif.read(bif.write(theirs), "again.bif")):
        assert network.dag == truth.dag
        assert network.states == truth.states
        assert all(np.array_equal(*tables) for tables in zip(network.tables, truth.tables, strict=True))


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_have_the_arcs_that_the_tool_was_given(name):
    dag = read_structure(FILES / name)
    assert set(dag.nodes) == set(TRUTH.nodes)
    assert set(dag.arcs()) == set(TRUTH.dag.arcs())
