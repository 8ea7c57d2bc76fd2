"""Networks of pgmpy and pyAgrum, and graphs of igraph, from ours and back.

Each library is imported when it is asked for. Tables go over exactly: pgmpy and pyAgrum keep them as floats.
Labels and states become text for pyAgrum, which has no other; pgmpy and igraph take them as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayescout.errors import FormatError, MissingExtraError
from bayescout.formats import bif
from bayescout.formats.labels import distinct_texts
from bayescout.formats.registry import open_network
from bayescout.graph.accept import as_dag
from bayescout.graph.dag import Dag
from bayescout.network import DiscreteNetwork, GaussianNetwork, Network

# ---- pgmpy


def to_pgmpy(network: Network) -> Any:
    """A `DiscreteBayesianNetwork` or, of a Gaussian network, a `LinearGaussianBayesianNetwork` of pgmpy."""
    try:
        from pgmpy.factors.continuous import LinearGaussianCPD
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.models import DiscreteBayesianNetwork, LinearGaussianBayesianNetwork
    except ImportError:
        raise MissingExtraError("pgmpy", "pgmpy") from None
    if network.is_mixed:
        raise FormatError("pgmpy has no networks of both discrete and continuous nodes; discretise first")
    model = DiscreteBayesianNetwork() if network.is_discrete else LinearGaussianBayesianNetwork()
    model.add_nodes_from(network.nodes)
    model.add_edges_from(network.dag.arcs())
    for child, label in enumerate(network.nodes):
        given = [network.nodes[p] for p in network.dag.parents[child]]
        if network.is_gaussian:
            weights = [float(network.intercepts[child]), *network.coefficients[child].tolist()]
            model.add_cpds(LinearGaussianCPD(label, weights, float(network.variances[child]) ** 0.5, given))
            continue
        table = network.tables[child]
        states = {one: list(network.discrete_states[network.dag.index(one)]) for one in (label, *given)}
        values = table.reshape(-1, table.shape[-1]).T
        model.add_cpds(TabularCPD(label, table.shape[-1], values, given, list(table.shape[:-1]), states))
    return model


def from_pgmpy(model: Any) -> Network:
    """The network of a model of pgmpy, with a CPD for every node."""
    dag = as_dag(model)
    found = {one.variable: one for one in model.get_cpds()}
    absent = [label for label in dag.nodes if label not in found]
    if absent:
        raise FormatError(f"the model has no CPD for {absent[0]!r}; fit it, or take its graph with as_dag")
    cpds = [found[label] for label in dag.nodes]
    if all(hasattr(one, "beta") for one in cpds):
        weights = [_linear(one, [dag.nodes[p] for p in dag.parents[i]]) for i, one in enumerate(cpds)]
        deviations = [float(one.std) for one in cpds]
        return GaussianNetwork(
            dag, [w[0] for w in weights], [w[1:] for w in weights], [d * d for d in deviations]
        )
    states, tables = [], []
    for child, one in enumerate(cpds):
        order = [*(dag.nodes[p] for p in dag.parents[child]), one.variable]
        if set(order) != set(one.variables):
            raise FormatError(f"the CPD of {one.variable!r} does not have the parents that its node has")
        axes = [list(one.variables).index(label) for label in order]
        tables.append(np.array(np.asarray(one.values, dtype=np.float64).transpose(axes), order="C"))
        states.append(tuple(one.state_names[one.variable]))
    return DiscreteNetwork(
        dag, *_same_states(dag, cpds, states, tables), name=getattr(model, "name", "") or ""
    )


def _linear(cpd: Any, parents: list[Any]) -> list[float]:
    """The intercept and the coefficients, in the order of these parents."""
    own = dict(zip(cpd.evidence, list(cpd.beta)[1:], strict=True))
    return [float(cpd.beta[0]), *(float(own[label]) for label in parents)]


def _same_states(dag: Dag, cpds: list[Any], states: list[Any], tables: list[Any]) -> tuple[Any, Any]:
    """The tables with the states of each parent in the order that the parent's own CPD has."""
    for child, one in enumerate(cpds):
        for axis, parent in enumerate(dag.parents[child]):
            listed = list(one.state_names[dag.nodes[parent]])
            if set(listed) != set(states[parent]):
                raise FormatError(
                    f"the CPD of {dag.nodes[child]!r} has other states for {dag.nodes[parent]!r} than its own"
                )
            tables[child] = tables[child].take([listed.index(s) for s in states[parent]], axis=axis)
    return states, tables


# ---- pyAgrum


def to_pyagrum(network: Network) -> Any:
    """A `BayesNet` of pyAgrum; labels and states are its texts."""
    try:
        import pyagrum
    except ImportError:
        raise MissingExtraError("pyagrum", "pyagrum") from None
    if not network.is_discrete:
        raise FormatError("a BayesNet of pyAgrum has discrete nodes only; discretise first")
    model = pyagrum.BayesNet(network.name)
    names = distinct_texts(network.nodes)
    for name, states in zip(names, network.discrete_states, strict=True):
        model.add(pyagrum.LabelizedVariable(name, name, distinct_texts(states)))
    for child, parents in enumerate(network.dag.parents):
        for parent in parents:
            model.addArc(names[parent], names[child])
    for child, name in enumerate(names):
        table = network.tables[child]
        axes = range(table.ndim - 2, -1, -1)  # its last parent varies slowest
        model.cpt(name)[:] = np.array(table.transpose(*axes, table.ndim - 1), order="C")
    return model


def from_pyagrum(model: Any) -> Network:
    """The network of a `BayesNet` of pyAgrum, its nodes in the order of their numbers."""
    dag = as_dag(model)
    states = [tuple(model.variable(str(label)).labels()) for label in dag.nodes]
    tables = []
    for child, label in enumerate(dag.nodes):
        cpt = model.cpt(str(label))
        own = list(reversed(list(cpt.names)))
        axes = [own.index(str(dag.nodes[p])) for p in dag.parents[child]] + [own.index(str(label))]
        tables.append(np.array(np.asarray(cpt.toarray(), dtype=np.float64).transpose(axes), order="C"))
    name = model.property("name") if hasattr(model, "property") and "name" in model.properties() else ""
    return DiscreteNetwork(dag, states, tables, name=name)


# ---- igraph


def to_igraph(dag: Dag) -> Any:
    """A directed `igraph.Graph` whose vertices have the labels as their names."""
    try:
        import igraph
    except ImportError:
        raise MissingExtraError("igraph", "igraph") from None
    arcs = [(parent, child) for child, parents in enumerate(dag.parents) for parent in parents]
    return igraph.Graph(len(dag), arcs, directed=True, vertex_attrs={"name": list(dag.nodes)})


# ---- anything


def as_network(model: Any) -> Network:
    """The network of one of ours, of a model of pgmpy or pyAgrum, of a shipped name, a file or BIF text."""
    if isinstance(model, Network):
        return model
    if isinstance(model, str) and "{" in model and "\n" in model:
        return bif.read(model, "the BIF text")
    if isinstance(model, str) or hasattr(model, "__fspath__"):
        return open_network(model)
    if hasattr(model, "get_cpds"):
        return from_pgmpy(model)
    if hasattr(model, "cpt") and hasattr(model, "variable"):
        return from_pyagrum(model)
    own = getattr(model, "network", None)
    if isinstance(own, Network):
        return own
    raise FormatError(
        f"a network is needed: one of bayescout, pgmpy or pyAgrum, a shipped name or a file, not "
        f"{type(model).__name__}"
    )
