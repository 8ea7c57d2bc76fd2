"""Networks to other libraries' models and back, with as much of these libraries as is used.

`make peers` does the same with the libraries themselves.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import networkx
import numpy as np
import pytest
from format_strategies import same_network

import bayescout as bs
from bayescout.errors import FormatError, MissingExtraError


class PgmpyModel(networkx.DiGraph):
    """A model of pgmpy: a graph of networkx with CPDs."""

    name = ""

    def add_cpds(self, cpd):
        self.graph.setdefault("cpds", []).append(cpd)

    def get_cpds(self):
        return self.graph.get("cpds", [])


def tabular_cpd(variable, size, values, evidence, sizes, states):
    """A row per state and a column per configuration, of which the last parent is fastest."""
    values = np.asarray(values)
    assert values.shape == (size, int(np.prod(sizes, dtype=int)))
    return SimpleNamespace(
        variable=variable,
        variables=[variable, *evidence],
        values=values.reshape(size, *sizes),
        state_names=states,
    )


def linear_cpd(variable, beta, std, evidence):
    return SimpleNamespace(variable=variable, beta=beta, std=std, evidence=evidence)


class PyagrumNet:
    """A BayesNet of pyAgrum: tables whose first axis is the last parent and whose last is the node."""

    def __init__(self, name):
        self.name, self.labels, self.found, self.tables = name, [], [], {}

    def properties(self):
        return ["name"]

    def property(self, _):
        return self.name

    def add(self, variable):
        self.labels.append(variable)

    def names(self):
        return {name for name, _ in self.labels}

    def nodes(self):
        return set(range(len(self.labels)))

    def arcs(self):
        place = {name: number for number, (name, _) in enumerate(self.labels)}
        return {(place[a], place[b]) for a, b in self.found}

    def addArc(self, parent, child):
        self.found.append((parent, child))

    def variable(self, which):
        name, states = self.labels[which] if isinstance(which, int) else (which, dict(self.labels)[which])
        return SimpleNamespace(name=lambda: name, labels=lambda: states)

    def cpt(self, name):
        states = dict(self.labels)
        order = [name, *(parent for parent, child in self.found if child == name)]
        shape = tuple(len(states[one]) for one in reversed(order))
        table = self.tables.setdefault(name, np.zeros(shape))
        return Cpt(table, tuple(order))


class Cpt:
    def __init__(self, table, names):
        self.table, self.names = table, names

    def __setitem__(self, key, values):
        assert values.shape == self.table.shape
        self.table[key] = values

    def toarray(self):
        return self.table


@pytest.fixture
def libraries(monkeypatch):
    """The two libraries, as far as they are used."""
    modules = {
        "pgmpy": {},
        "pgmpy.factors": {},
        "pgmpy.factors.continuous": {"LinearGaussianCPD": linear_cpd},
        "pgmpy.factors.discrete": {"TabularCPD": tabular_cpd},
        "pgmpy.models": {
            "DiscreteBayesianNetwork": PgmpyModel,
            "LinearGaussianBayesianNetwork": PgmpyModel,
        },
        "pyagrum": {"BayesNet": PyagrumNet, "LabelizedVariable": lambda name, _, states: (name, states)},
    }
    for name, held in modules.items():
        module = ModuleType(name)
        vars(module).update(held)
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.usefixtures("libraries")
def test_discrete_networks_come_back():
    network = bs.random_network(6, arcs=9, states=(2, 4), seed=3)
    same_network(bs.as_network(network.to_pgmpy()), network)
    same_network(bs.as_network(network.to_pyagrum()), network)


@pytest.mark.usefixtures("libraries")
def test_gaussian_networks_come_back():
    network = bs.random_network(5, arcs=6, kind="gaussian", seed=2)
    found = bs.as_network(network.to_pgmpy())
    assert found.dag == network.dag
    assert found.intercepts.tolist() == network.intercepts.tolist()
    assert [c.tolist() for c in found.coefficients] == [c.tolist() for c in network.coefficients]
    assert found.variances == pytest.approx(network.variances, rel=1e-14)
    with pytest.raises(FormatError, match="discrete nodes only; discretise first"):
        network.to_pyagrum()


@pytest.mark.usefixtures("libraries")
def test_axes_and_states_of_a_cpd_may_be_in_any_order():
    network = bs.random_network(4, arcs=5, states=3, seed=1)
    model = network.to_pgmpy()
    for cpd in model.get_cpds():
        cpd.variables.reverse()
        cpd.values = cpd.values.T
        for parent in set(cpd.variables) - {cpd.variable}:
            axis = cpd.variables.index(parent)
            cpd.values = np.flip(cpd.values, axis)
            cpd.state_names = cpd.state_names | {parent: cpd.state_names[parent][::-1]}
    same_network(bs.as_network(model), network)
    model.get_cpds().pop()
    with pytest.raises(FormatError, match="no CPD for"):
        bs.as_network(model)


def test_a_library_that_is_missing_names_its_extra(monkeypatch):
    network = bs.load_network("asia")
    for name in ("pgmpy", "pyagrum", "igraph"):
        monkeypatch.setitem(sys.modules, name, None)
        call = network.dag.to_igraph if name == "igraph" else getattr(network, f"to_{name}")
        with pytest.raises(MissingExtraError, match=rf"bayescout\[{name}\]"):
            call()


def test_text_for_bnlearn_and_names_are_networks():
    network = bs.load_network("asia")
    same_network(bs.as_network(network.to_rbnlearn()), network)
    same_network(bs.as_network("asia"), network)
    assert bs.as_network(network) is network
    with pytest.raises(FormatError, match="no such file; unknown shipped network 'asai'; did you"):
        bs.as_network("asai")
    with pytest.raises(FormatError, match="the BIF text, line 2: expected"):
        bs.as_network("network asia {\n variable")
    with pytest.raises(FormatError, match=r"a network is needed: .* not Dag"):
        bs.as_network(network.dag)
