"""The JSON in which linear-Gaussian benchmark networks are distributed; read only.

{"nodes": [...], "arcs": [[parent, child], ...], "cpds": {"y": {"parents": ["x"],
 "coefficients": {"(Intercept)": [1.0], "x": [0.5]}, "variance": [0.25]}, ...}}
"""

from __future__ import annotations

import numpy as np

from bayescout.errors import FormatError, NetworkError
from bayescout.formats.json_document import Part
from bayescout.formats.text import cycles_of
from bayescout.graph.dag import Dag
from bayescout.network import GaussianNetwork, Network

INTERCEPT = "(Intercept)"


def read_document(document: Part) -> Network:
    """The network of a document that has already been parsed."""
    names = [str(label) for label in document.get("nodes").labels()]
    cpds = document.get("cpds")
    known = set(names)
    for name in cpds.members():
        if name not in known:
            cpds.get(name).fail("is not of a node in 'nodes'")
    parents = {name: _parents(cpds.get(name), known) for name in names}
    dag = _dag(document, names, parents)
    intercepts = np.array([_one(cpds.get(name).get("coefficients").get(INTERCEPT)) for name in names])
    variances = np.array([_one(cpds.get(name).get("variance")) for name in names])
    coefficients = tuple(
        np.array(
            [_one(cpds.get(name).get("coefficients").get(names[p])) for p in dag.parents[child]], dtype=float
        )
        for child, name in enumerate(names)
    )
    try:
        return GaussianNetwork(dag, intercepts, coefficients, variances)
    except NetworkError as error:
        raise FormatError(str(error), document.file) from None


def _parents(cpd: Part, known: set[str]) -> tuple[str, ...]:
    """The parents of one node, which are also the names of its coefficients."""
    listed = cpd.get("parents")
    parents = tuple(item.text() for item in listed.items())
    for parent, item in zip(parents, listed.items(), strict=True):
        if parent not in known:
            item.fail(f"names {parent!r}, which is not a node")
    weights = cpd.get("coefficients")
    if set(weights.members()) != {INTERCEPT, *parents} or len(set(parents)) < len(parents):
        weights.fail(f"must have {INTERCEPT!r} and one member for each parent")
    return parents


def _dag(document: Part, names: list[str], parents: dict[str, tuple[str, ...]]) -> Dag:
    arcs = [(parent, child) for child in names for parent in parents[child]]
    if "arcs" in document.members():
        listed = [tuple(item.labels()) for item in document.get("arcs").items()]
        if set(listed) != set(arcs):
            document.get("arcs").fail("do not agree with the parents listed in 'cpds'")
    with cycles_of(f"{document.file}: the network"):
        return Dag.from_arcs(arcs, names)


def _one(value: Part) -> float:
    """A number, or the number in a list of one."""
    if isinstance(value.value, list):
        return value.numbers(1)[0]
    return value.number()
